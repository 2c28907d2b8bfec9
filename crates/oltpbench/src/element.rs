//! Elements of a workload file, and their values.

use crate::error::{FileError, Remark};
use roxmltree::Node;
use std::ops::RangeInclusive;

/// The benchmark whose elements are read (`bench="tpcc"`), beside those of all.
const BENCH: &str = "tpcc";
/// A longer value is not repeated whole.
const LONGEST_SHOWN: usize = 60;

/// One element.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a>(Node<'a, 'a>);

impl<'a> Element<'a> {
    pub fn new(node: Node<'a, 'a>) -> Self {
        Self(node)
    }

    pub fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// Its line, from 1.
    pub fn line(self) -> u32 {
        self.0.document().text_pos_at(self.0.range().start).row
    }

    /// Its text without that of elements within it, trimmed.
    pub fn text(self) -> String {
        let texts = self.0.children().filter(Node::is_text);
        let text: String = texts.filter_map(|t| t.text()).collect();
        text.trim().into()
    }

    pub fn attribute(self, name: &str) -> Option<&'a str> {
        self.0.attribute(name)
    }

    pub fn attributes(self) -> impl Iterator<Item = &'a str> {
        self.0.attributes().map(|a| a.name())
    }

    fn elements(self) -> impl Iterator<Item = Element<'a>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    /// The elements within that are for this benchmark. Of several of one name, what is said for
    /// this benchmark counts before what is said for all, and then the first, as XPath finds it;
    /// of the names in `many` all count.
    pub fn children(self, many: &[&str], remarks: &mut Vec<Remark>) -> Vec<Element<'a>> {
        let mut chosen: Vec<Element<'a>> = Vec::new();
        for element in self.elements() {
            let own = match element.attribute("bench") {
                None => false,
                Some(bench) if bench.eq_ignore_ascii_case(BENCH) => true,
                Some(_) => continue,
            };
            let name = element.name();
            let before = chosen.iter().position(|c| c.name() == name);
            match before.filter(|_| !many.contains(&name)) {
                None => chosen.push(element),
                Some(at) if own && chosen[at].attribute("bench").is_none() => chosen[at] = element,
                Some(at) => remarks.push(Remark {
                    line: element.line(),
                    text: format!(
                        "duplicate <{name}>, first in line {}; this one is ignored",
                        chosen[at].line()
                    ),
                }),
            }
        }
        chosen
    }

    /// What is wrong with its value.
    pub fn wrong(self, allowed: impl Into<String>, example: &str) -> FileError {
        self.wrong_value(&self.text(), allowed, example)
    }

    /// What is wrong with its value, which is shown as given here.
    pub fn wrong_value(self, value: &str, allowed: impl Into<String>, example: &str) -> FileError {
        let name = self.name();
        FileError::Value {
            line: self.line(),
            element: name.into(),
            value: shown(value),
            allowed: allowed.into(),
            example: format!("<{name}>{example}</{name}>"),
        }
    }

    /// What an element within it that is not there should be like.
    pub fn lacks(self, element: &str, example: &str) -> FileError {
        FileError::Missing {
            line: self.line(),
            within: self.name().into(),
            element: element.into(),
            example: format!("<{element}>{example}</{element}>"),
        }
    }

    /// A whole number.
    pub fn whole(self, range: RangeInclusive<u64>, example: &str) -> Result<u64, FileError> {
        let number = self.text().parse::<u64>().ok();
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            self.wrong(format!("a whole number from {low} to {high}"), example)
        })
    }

    /// A whole number that counts things.
    pub fn count(self, range: RangeInclusive<u32>, example: &str) -> Result<u32, FileError> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        let number = self.whole(wide, example)?;
        // What lies in the range fits.
        Ok(u32::try_from(number).unwrap_or(*range.end()))
    }

    /// A decimal number above 0.
    pub fn positive(self, most: f64, example: &str) -> Result<f64, FileError> {
        let number = self.text().parse::<f64>().ok();
        number
            .filter(|n| *n > 0.0 && *n <= most)
            .ok_or_else(|| self.wrong(format!("a number above 0, and {most} at most"), example))
    }

    /// A yes or no, by the words that Java's configurations take.
    pub fn flag(self, example: &str) -> Result<bool, FileError> {
        match self.text().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Ok(true),
            "false" | "no" | "off" => Ok(false),
            _ => Err(self.wrong("true or false", example)),
        }
    }
}

/// Whether a value may hold a password: a URL, or parameters of one, at the wrong place.
pub(crate) fn is_like_a_url(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["jdbc:", "://", "password"]
        .iter()
        .any(|word| lower.contains(word))
}

/// A value as a message repeats it: in one line, not too long, and nothing that may be a password.
fn shown(value: &str) -> String {
    if is_like_a_url(value) && !value.ends_with(":…") {
        return "…".into();
    }
    let line: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST_SHOWN + 1)
        .collect();
    match line.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
