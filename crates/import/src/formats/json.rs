//! JSON of several tools: what is whole is read into values, each of which knows its line, and handed to
//! the tool whose names it has.

use super::{benchbase, hammerdb, k6_json, styles, sysbench_interval};
use crate::doc::Doc;
use crate::scan::{Number, number};

/// A longer document is no summary.
const LONGEST: usize = 1 << 20;
/// Deeper ones are none either.
const DEEPEST: usize = 20;

/// Lines of a JSON document, until it is whole.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    text: String,
    first: u64,
    depth: i64,
    in_string: bool,
    escaped: bool,
    active: bool,
}

/// What became of a line.
pub(crate) enum Collected {
    /// It is no part of JSON.
    No,
    /// The document goes on.
    More,
    /// It is whole; whether anything was known in it.
    Whole(bool),
}

impl Collector {
    /// Takes a line where one began, or begins.
    pub fn take(&mut self, text: &str, line: u64, doc: &mut Doc) -> Collected {
        if !self.active {
            let plain = text.trim_start();
            let begins = plain.starts_with('{')
                && (plain.len() < 3 || plain.contains('"') || plain.trim() == "{")
                || plain.starts_with("[{\"");
            if !begins {
                return Collected::No;
            }
            *self = Self {
                first: line,
                active: true,
                ..Self::default()
            };
        }
        if text.trim_start().starts_with("```") {
            // A fence ends it, whole or not, and is no part of it.
            self.finish(line.saturating_sub(1), doc);
            return Collected::No;
        }
        if !may_be_json(text) {
            // No JSON goes on like that: what was kept is said to be lost, this line is another's.
            self.give_up(doc);
            return Collected::No;
        }
        for c in text.bytes() {
            match (self.in_string, c) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => self.depth -= 1,
                _ => {}
            }
        }
        // No string goes over lines.
        self.in_string = false;
        self.text.push_str(text);
        self.text.push('\n');
        if self.depth > 0 && self.text.len() < LONGEST {
            return Collected::More;
        }
        Collected::Whole(self.finish(line, doc))
    }
}

impl Collector {
    /// At the end of a document that is cut: whatever is known in the beginning counts.
    pub fn end(&mut self, last: u64, doc: &mut Doc) {
        if self.active && self.finish(last, doc) {
            doc.leave_json_open();
        }
    }

    fn finish(&mut self, last: u64, doc: &mut Doc) -> bool {
        self.active = false;
        let text = std::mem::take(&mut self.text);
        let mut values = Vec::new();
        Flat {
            text: text.as_bytes(),
            at: 0,
            line: self.first,
            values: &mut values,
        }
        .value("", 0);
        let known = known(&values, self.first, last, doc);
        if !known {
            for (text, line) in text.lines().zip(self.first..) {
                doc.left(text, line);
            }
        }
        known
    }

    fn give_up(&mut self, doc: &mut Doc) {
        self.active = false;
        let text = std::mem::take(&mut self.text);
        for (text, line) in text.lines().zip(self.first..) {
            doc.left(text, line);
        }
    }
}

/// Whether a line can stand in JSON that is written over lines.
fn may_be_json(text: &str) -> bool {
    let plain = text.trim();
    let Some(first) = plain.chars().next() else {
        return true;
    };
    if first == '[' {
        // `[ 10s ] …` is an interval of sysbench, `[READ], …` a figure of a type.
        let inner = plain.get(1..).unwrap_or_default().trim_start();
        return match number(inner) {
            Some((_, rest)) => {
                let rest = rest.trim_start();
                rest.is_empty() || rest.starts_with([',', ']'])
            }
            None => inner.is_empty() || inner.starts_with(['{', '[', '"', ']', 't', 'f', 'n']),
        };
    }
    matches!(first, '{' | '}' | ']' | '"' | ',' | ':' | '-' | '0'..='9')
        || ["true", "false", "null"]
            .iter()
            .any(|w| plain.starts_with(w))
}

/// A value in a document: the names that lead to it, itself, its line.
pub(super) struct JsonValue {
    pub path: String,
    pub text: String,
    pub line: u64,
}

impl JsonValue {
    pub fn number(&self) -> Option<Number> {
        number(self.text.trim()).map(|(n, _)| n)
    }
}

/// Every value has its whole path.
const LONGEST_NAME: usize = 200;

/// Reads as much as is well formed.
struct Flat<'t> {
    text: &'t [u8],
    at: usize,
    line: u64,
    values: &'t mut Vec<JsonValue>,
}

impl Flat<'_> {
    fn blank(&mut self) -> Option<u8> {
        while let Some(b) = self.text.get(self.at) {
            match b {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | b',' | b':' => {}
                other => return Some(*other),
            }
            self.at += 1;
        }
        None
    }

    fn value(&mut self, path: &str, depth: usize) -> Option<()> {
        if depth > DEEPEST || self.values.len() > 50_000 {
            return None;
        }
        let line = self.line;
        match self.blank()? {
            b'{' => {
                self.at += 1;
                loop {
                    if self.blank()? == b'}' {
                        self.at += 1;
                        return Some(());
                    }
                    let name = self.string().filter(|n| n.len() <= LONGEST_NAME)?;
                    let inner = match path.is_empty() {
                        true => name,
                        false => format!("{path}/{name}"),
                    };
                    self.value(&inner, depth + 1)?;
                }
            }
            b'[' => {
                self.at += 1;
                loop {
                    if self.blank()? == b']' {
                        self.at += 1;
                        return Some(());
                    }
                    self.value(path, depth + 1)?;
                }
            }
            b'"' => {
                let text = self.string()?;
                self.values.push(JsonValue {
                    path: path.into(),
                    text,
                    line: self.line,
                });
            }
            _ => {
                let rest = self.text.get(self.at..)?;
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b'\n' | b' ' | b'\r' | b'\t');
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                if end == 0 {
                    return None;
                }
                let text = String::from_utf8_lossy(rest.get(..end)?).into_owned();
                self.at += end;
                self.values.push(JsonValue {
                    path: path.into(),
                    text,
                    line: self.line.max(line),
                });
            }
        }
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        if self.text.get(self.at) != Some(&b'"') {
            return None;
        }
        let begin = self.at + 1;
        let mut at = begin;
        loop {
            match self.text.get(at)? {
                b'\\' => at += 2,
                b'"' => break,
                b'\n' => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        let text = self.text.get(begin..at)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// Whether it is a tool's, which then has taken it.
fn known(values: &[JsonValue], first: u64, last: u64, doc: &mut Doc) -> bool {
    let has = |path: &str| {
        values
            .iter()
            .any(|v| v.path == path || v.path.starts_with(&format!("{path}/")))
    };
    let text = |path: &str| {
        let found = values.iter().find(|v| v.path == path);
        found.map(|v| v.text.as_str())
    };
    // k6 prints one line for each metric and each measurement.
    match text("type") {
        Some("Point") if has("data/time") && has("data/value") => {
            return k6_json::point(values, first, doc);
        }
        Some("Metric") if has("data/contains") => return true,
        _ => {}
    }
    if has("Throughput (requests/second)") || has("Latency Distribution") {
        benchbase::of_json(values, doc.begin("benchbase", first));
    } else if has("metrics")
        && values
            .iter()
            .any(|v| v.path.starts_with("metrics/iteration") || v.path.starts_with("metrics/vus"))
    {
        k6_json::summary(values, doc.begin("k6", first));
    } else if has("Operation") || has("tpmC") {
        return styles::of_json(values, doc);
    } else if values.iter().any(|v| v.path.ends_with("/Takes(s)")) {
        return styles::of_named_types(values, doc);
    } else if has("tps") && has("time") && has("threads") {
        return sysbench_interval::of_json(values, first, doc);
    } else if values
        .iter()
        .any(|v| v.path.to_uppercase().contains("NEWORD/"))
        || has("NOPM")
    {
        hammerdb::of_json(values, doc.run("hammerdb", first));
    } else {
        return false;
    }
    doc.touch(last);
    true
}
