//! Reading tables key by key, so that whatever is wrong is told with its line.

use crate::error::Problem;
use crate::file::NamedValue;
use crate::keys::{self, FileSection, Key};
use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;
use tidemark_core::{did_you_mean, nearest, parse_duration, redact_target, redact_value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A list has at most so many entries: a matrix of more is a slip.
const MOST_ENTRIES: usize = 1000;

/// A file being read.
pub(crate) struct StudyReader {
    /// Where each line begins.
    lines: Vec<usize>,
    problems: RefCell<Vec<Problem>>,
}

/// One table of it.
pub(crate) struct StudyTable<'a, 't> {
    reader: &'a StudyReader,
    section: FileSection,
    values: &'a DeTable<'t>,
    /// Its first line.
    pub line: usize,
}

/// The value of one key.
pub(crate) struct StudyValue<'a, 't> {
    reader: &'a StudyReader,
    key: &'static Key,
    value: &'a Spanned<DeValue<'t>>,
    /// The key's line.
    pub line: usize,
}

impl StudyReader {
    pub fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        Self {
            lines: std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
            problems: RefCell::default(),
        }
    }

    pub fn problem(&self, line: usize, message: impl Into<String>) {
        self.problems.borrow_mut().push(Problem::new(line, message));
    }

    pub fn problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }

    /// The line in which a part of the text begins, from 1.
    pub fn line_of(&self, span: &Range<usize>) -> usize {
        self.lines.partition_point(|begin| *begin <= span.start)
    }

    /// Takes a table, and tells the keys that are none of its section.
    pub fn table<'a, 't>(
        &'a self,
        section: FileSection,
        values: &'a DeTable<'t>,
        line: usize,
    ) -> StudyTable<'a, 't> {
        for key in values.keys() {
            let name = key.get_ref().as_ref();
            if keys::find(section, name).is_none() {
                let known: Vec<&str> = keys::names(section).collect();
                let hint = did_you_mean(name, known.iter().copied());
                self.problem(
                    self.line_of(&key.span()),
                    format!(
                        "{name}: unknown key in {}; known: {}{hint}",
                        section.title(),
                        known.join(", ")
                    ),
                );
            }
        }
        StudyTable {
            reader: self,
            section,
            values,
            line,
        }
    }
}

impl<'a, 't> StudyTable<'a, 't> {
    /// The value of a key, if it is there.
    pub fn get(&self, name: &str) -> Option<StudyValue<'a, 't>> {
        let (key, value) = self.values.get_key_value(name)?;
        Some(StudyValue {
            reader: self.reader,
            key: keys::find(self.section, name)?,
            value,
            line: self.reader.line_of(&key.span()),
        })
    }

    /// The value of a key that must be there.
    pub fn required(&self, name: &str) -> Option<StudyValue<'a, 't>> {
        let found = self.get(name);
        if found.is_none()
            && let Some(key) = keys::find(self.section, name)
        {
            self.reader.problem(
                self.line,
                format!(
                    "{} needs {name}; for example {}",
                    self.section.title(),
                    key.example
                ),
            );
        }
        found
    }

    /// The tables of `[[name]]`, or of a list of tables.
    pub fn tables(&self, name: &str, section: FileSection) -> Vec<StudyTable<'a, 't>> {
        let Some(value) = self.get(name) else {
            return Vec::new();
        };
        let Some(items) = value.value.get_ref().as_array() else {
            value.wrong();
            return Vec::new();
        };
        if items.len() > MOST_ENTRIES {
            value.refuse(&format!("{} of them; at most {MOST_ENTRIES}", items.len()));
            return Vec::new();
        }
        let table = |item: &'a Spanned<DeValue<'t>>| {
            let line = self.reader.line_of(&item.span());
            match item.get_ref().as_table() {
                Some(table) => Some(self.reader.table(section, table, line)),
                None => {
                    value.wrong();
                    None
                }
            }
        };
        items.iter().filter_map(table).collect()
    }

    /// Tells what is wrong with the table as a whole.
    pub fn problem(&self, message: impl Into<String>) {
        self.reader.problem(self.line, message);
    }
}

impl<'a, 't> StudyValue<'a, 't> {
    /// Tells that the value is not what the key takes.
    pub fn wrong(&self) {
        self.refuse(&format!("must be {}", self.key.allowed));
    }

    /// Tells why the value is not taken.
    pub fn refuse(&self, why: &str) {
        let shown = match self.key.name {
            "password" | "admin-password" => "***".into(),
            "url" | "admin" => shown(self.value.get_ref(), redact_target),
            _ => shown(self.value.get_ref(), redact_value),
        };
        self.reader.problem(
            self.line,
            format!(
                "{} = {shown}: {why}; for example {}",
                self.key.name, self.key.example
            ),
        );
    }

    /// Tells what is wrong with a part of the value.
    pub fn problem(&self, line: usize, message: &str) {
        self.reader.problem(line, message);
    }

    fn or_wrong<T>(&self, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.wrong();
        }
        value
    }

    pub fn text(&self) -> Option<&'a str> {
        let text = self.value.get_ref().as_str();
        self.or_wrong(text.filter(|t| !t.is_empty()))
    }

    /// A currency, which stands in a command beside its amount.
    pub fn currency(&self) -> Option<String> {
        let text = self.value.get_ref().as_str();
        let fits = |t: &&str| tidemark_core::is_currency(t);
        self.or_wrong(text.filter(fits)).map(Into::into)
    }

    /// A name that stands in cells, and so in commands, pages and paths.
    pub fn name(&self) -> Option<String> {
        let text = self.value.get_ref().as_str();
        let fits = |t: &&str| {
            !t.trim().is_empty()
                && t.chars().count() <= 80
                && !t.contains('/')
                && !t.chars().any(char::is_control)
        };
        self.or_wrong(text.filter(fits)).map(|t| t.trim().into())
    }

    /// A name, or a number that serves as one.
    pub fn label(&self) -> Option<String> {
        match self.value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => {
                word(self.value.get_ref(), ["true", "false"])
            }
            _ => self.name(),
        }
    }

    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = self.value.get_ref().as_str().unwrap_or_default();
        if let Some((_, found)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*found);
        }
        let near = nearest(text, choices.iter().map(|(name, _)| *name));
        let hint = near.map_or(String::new(), |n| format!(", did you mean {n}?"));
        self.refuse(&format!("must be {}{hint}", self.key.allowed));
        None
    }

    pub fn whole(&self, min: u64, max: u64) -> Option<u64> {
        let number = whole(self.value.get_ref()).filter(|n| (min..=max).contains(n));
        self.or_wrong(number)
    }

    pub fn number(&self) -> Option<f64> {
        let found = number(self.value.get_ref()).filter(|n| *n > 0.0 && n.is_finite());
        self.or_wrong(found)
    }

    pub fn time(&self) -> Option<Duration> {
        let time = word(self.value.get_ref(), ["", ""]).and_then(|t| parse_duration(&t).ok());
        self.or_wrong(time)
    }

    /// A time as it was written.
    pub fn time_text(&self) -> Option<String> {
        self.time()?;
        word(self.value.get_ref(), ["", ""])
    }

    /// One, or a list; each once.
    fn list<T: PartialEq>(&self, one: impl Fn(&DeValue<'t>) -> Option<T>) -> Vec<T> {
        let found: Option<Vec<T>> = match self.value.get_ref() {
            DeValue::Array(items) => items.iter().map(|i| one(i.get_ref())).collect(),
            single => one(single).map(|v| vec![v]),
        };
        let fits = |f: &Vec<T>| !f.is_empty() && f.len() <= MOST_ENTRIES;
        let Some(found) = found.filter(fits) else {
            self.wrong();
            return Vec::new();
        };
        let twice = |(at, item): (usize, &T)| found[..at].contains(item);
        if found.iter().enumerate().any(twice) {
            self.refuse("values must be unique");
            return Vec::new();
        }
        found
    }

    pub fn wholes(&self, max: u64) -> Vec<u64> {
        self.list(|v| whole(v).filter(|n| (1..=max).contains(n)))
    }

    pub fn numbers(&self) -> Vec<f64> {
        self.list(|v| number(v).filter(|n| *n > 0.0 && n.is_finite()))
    }

    pub fn texts(&self) -> Vec<String> {
        self.list(|v| v.as_str().map(Into::into))
    }

    pub fn table(&self, section: FileSection) -> Option<StudyTable<'a, 't>> {
        let table = self.or_wrong(self.value.get_ref().as_table())?;
        Some(self.reader.table(section, table, self.line))
    }

    /// Names with values, in the order of the file; `words` stand for true and false.
    pub fn settings(&self, words: [&str; 2]) -> Vec<NamedValue> {
        let Some(table) = self.or_wrong(self.value.get_ref().as_table()) else {
            return Vec::new();
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut found = Vec::new();
        for (key, value) in entries {
            let line = self.reader.line_of(&key.span());
            let name = key.get_ref().as_ref();
            match word(value.get_ref(), words) {
                Some(value) => found.push(NamedValue {
                    line,
                    name: name.into(),
                    value,
                }),
                None => self.reader.problem(
                    line,
                    format!(
                        "{name} in {}: must be a text, a number, true or false, or a list of \
                         these; for example {}",
                        self.key.name, self.key.example
                    ),
                ),
            }
        }
        found
    }
}

/// Numbers as Rust reads them: underscores stand between digits for the eye alone.
fn whole(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(&integer.as_str().replace(['_', '+'], ""), integer.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(_) => whole(value).map(|n| n as f64),
        DeValue::Float(f) => f.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

/// A value as it is written on a command line.
fn word(value: &DeValue<'_>, [yes, no]: [&str; 2]) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str().replace('_', "")),
        DeValue::Integer(_) => whole(value).map(|n| n.to_string()),
        DeValue::Float(f) => Some(f.as_str().replace('_', "")),
        DeValue::Boolean(true) => Some(yes.into()),
        DeValue::Boolean(false) => Some(no.into()),
        DeValue::Array(items) => {
            let one = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
                DeValue::Array(_) | DeValue::Table(_) => None,
                plain => word(plain, [yes, no]),
            };
            let words: Option<Vec<String>> = items.iter().map(one).collect();
            words.map(|w| w.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// A value for a message: short, and without a password.
fn shown(value: &DeValue<'_>, redact: fn(&str) -> String) -> String {
    match value {
        DeValue::String(text) => {
            let cut: String = redact(text).chars().take(60).collect();
            format!("{cut:?}")
        }
        DeValue::Array(items) => {
            let few: Vec<String> = items
                .iter()
                .take(4)
                .map(|i| shown(i.get_ref(), redact))
                .collect();
            let more = if items.len() > 4 { ", …" } else { "" };
            format!("[{}{more}]", few.join(", "))
        }
        DeValue::Table(_) => "{ … }".into(),
        DeValue::Datetime(d) => d.to_string(),
        other => word(other, ["true", "false"]).unwrap_or_default(),
    }
}
