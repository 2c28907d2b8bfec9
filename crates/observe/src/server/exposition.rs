//! Reading what Prometheus reads: lines of `name{label="value"} number`.

use std::borrow::Cow;

/// One line.
#[derive(Debug, PartialEq)]
pub(super) struct SampleLine<'t> {
    pub name: &'t str,
    labels: &'t str,
    pub value: f64,
}

impl<'t> SampleLine<'t> {
    /// Labels with their values.
    pub fn labels(&self) -> Labels<'t> {
        Labels(self.labels)
    }

    /// A label's value.
    pub fn label(&self, name: &str) -> Option<String> {
        let mut labels = self.labels();
        let (_, value) = labels.find(|(label, _)| *label == name)?;
        Some(value.into_owned())
    }
}

/// Labels of a line that are still to come.
#[derive(Debug, Clone)]
pub(super) struct Labels<'t>(&'t str);

impl<'t> Iterator for Labels<'t> {
    type Item = (&'t str, Cow<'t, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let (label, after) = self.0.split_once('=')?;
        let value = after.trim_start().strip_prefix('"')?;
        let (value, rest) = value.split_at_checked(end_of_value(value)?)?;
        self.0 = rest.get(1..)?;
        Some((label.trim_matches([',', ' ', '\t']), unescaped(value)))
    }
}

/// Where a quoted value ends.
fn end_of_value(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|c| {
        let ends = c == b'"' && !escaped;
        escaped = c == b'\\' && !escaped;
        ends
    })
}

/// Where labels end: values may have braces, too.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().position(|c| {
        if c == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = c == b'\\' && !escaped;
        c == b'}' && !quoted
    })
}

/// A value without the backslashes before quotes, backslashes and line ends.
fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => plain.push(c),
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some(escaped @ ('"' | '\\')) => plain.push(escaped),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
        }
    }
    Cow::Owned(plain)
}

/// The name that a line begins with; `None` of comments.
pub(super) fn name(line: &str) -> Option<&str> {
    let end = line.find(['{', ' ', '\t'])?;
    line.get(..end).filter(|name| !name.starts_with('#'))
}

/// A line that has a number.
pub(super) fn line(text: &str) -> Option<SampleLine<'_>> {
    let name = name(text)?;
    let rest = text.get(name.len()..)?.trim_start();
    let (labels, rest) = match rest.strip_prefix('{') {
        None => ("", rest),
        Some(inside) => {
            let end = end_of_labels(inside)?;
            (inside.get(..end)?, inside.get(end + 1..)?)
        }
    };
    // A time may follow.
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some(SampleLine {
        name,
        labels,
        value,
    })
}

/// The lines that have a number.
pub(super) fn lines(text: &str) -> impl Iterator<Item = SampleLine<'_>> {
    text.lines().filter_map(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_their_labels() {
        let text =
            "# HELP x y\nx 1\nx{cpu=\"0\",mode=\"a\\\"},b\"} 2.5e+03 1700\nbroken{\nnan NaN\n\n";
        let all: Vec<SampleLine> = lines(text).collect();
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].name, all[0].value), ("x", 1.0));
        assert_eq!(all[1].label("cpu").as_deref(), Some("0"));
        assert_eq!(all[1].label("mode").as_deref(), Some("a\"},b"));
        assert_eq!(all[1].label("none"), None);
        assert_eq!(all[1].value, 2500.0);
    }

    #[test]
    fn odd_labels_are_read_as_they_are_meant() {
        let read = |text| -> Vec<(String, String)> {
            let labels = line(text).unwrap().labels();
            labels
                .map(|(l, v)| (l.to_string(), v.into_owned()))
                .collect()
        };
        let pair = |l: &str, v: &str| (l.to_string(), v.to_string());
        assert_eq!(
            read(r#"x{ a="1", b = "2",} 3"#),
            [pair("a", "1"), pair("b", "2")]
        );
        assert_eq!(
            read(r#"x{path="C:\\new",q="\\",text="a\nb{\"=\"}"} 3"#),
            [
                pair("path", "C:\\new"),
                pair("q", "\\"),
                pair("text", "a\nb{\"=\"}"),
            ]
        );
        // An exemplar's braces come after the labels.
        let line = line(r#"x{a="1"} 7 # {trace="}"} 0.5"#).unwrap();
        assert_eq!((line.value, line.label("a").as_deref()), (7.0, Some("1")));
    }

    #[test]
    fn what_is_no_line_is_none() {
        for text in [
            "",
            "x",
            "x{a=\"1\" 3",
            "x{} ",
            "<html> <body>",
            "# x 1",
            "x y",
        ] {
            assert_eq!(line(text), None, "{text}");
        }
        assert_eq!(line("x\t4").unwrap().value, 4.0);
        assert_eq!(line("x{} +Inf").unwrap().value, f64::INFINITY);
    }
}
