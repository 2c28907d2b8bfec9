//! The other styles of the benchmarks written in Go (`--output table`, `outputstyle=json`): what they
//! print is put into the words of their plain lines, which are read.

use super::FORMATS;
use super::json::JsonValue;
use crate::doc::Doc;
use std::collections::{BTreeMap, HashSet};

/// A name in a heading, as plain lines have it: some versions print capitals.
fn label(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    match lower.as_str() {
        "tpmc" => "tpmC".into(),
        "tpmtotal" => "tpmTotal".into(),
        "ops" | "tpm" => lower.to_uppercase(),
        name if name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "efficiency" => {
            let (first, rest) = name.split_at(1);
            first.to_uppercase() + rest
        }
        name => name.into(),
    }
}

/// The cells of a line in a frame.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// What a line of a table is.
pub(super) enum TableLine {
    /// Its heading.
    Heading,
    /// Its frame.
    Frame,
    /// A row in plain words.
    Row(String),
}

/// Reads a line that begins with `|` or `+`; `names` are those of the heading above, if it was one. A
/// heading is one of these.
pub(super) fn line(
    text: &str,
    names: &mut Vec<String>,
    is_heading: fn(&[String]) -> bool,
) -> Option<TableLine> {
    if text.starts_with('+') {
        return is_heading(names).then_some(TableLine::Frame);
    }
    let cells = cells(text);
    let labels: Vec<String> = cells.iter().map(|name| label(name)).collect();
    if is_heading(&labels) {
        *names = labels;
        return Some(TableLine::Heading);
    }
    if !is_heading(names) || names.len() != cells.len() {
        return None;
    }
    let pairs = names.iter().map(String::as_str).zip(cells);
    Some(TableLine::Row(in_words(&pairs.collect::<Vec<_>>())?))
}

/// Whether names are of a table or an object of go-tpc's.
pub(super) fn is_go_tpc(names: &[String]) -> bool {
    let has = |name: &str| names.iter().any(|n| n == name);
    has("Prefix") && has("Operation") || has("tpmC") && has("efficiency")
}

/// The plain line of these names and values: `[Summary] NEW_ORDER - Takes(s): 60.0, Count: 720`,
/// `[Summary] Q1: 1.07s`, `READ - Takes(s): 10.0`, `tpmC: 720.0, efficiency: 17.3%`.
pub(super) fn in_words(pairs: &[(&str, &str)]) -> Option<String> {
    let value = |name: &str| {
        pairs
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.trim())
    };
    let Some(operation) = value("Operation") else {
        let of_all = ["tpmC", "tpmTotal", "efficiency"].into_iter();
        let all: Vec<String> = of_all
            .filter_map(|name| Some(format!("{name}: {}", value(name)?)))
            .collect();
        return (!all.is_empty()).then(|| all.join(", "));
    };
    let prefix = value("Prefix").map_or(String::new(), |prefix| format!("{prefix} "));
    if let Some(mean) = value("Avg(s)") {
        // Of queries this is the time of each; of others, how long a terminal waited.
        let sign = if operation.starts_with('Q') {
            ":"
        } else {
            " -"
        };
        return Some(format!("{prefix}{operation}{sign} {mean}"));
    }
    let takes = value("Takes(s)")?;
    let others = pairs
        .iter()
        .filter(|(name, _)| !matches!(*name, "Prefix" | "Operation" | "Takes(s)"))
        .map(|(name, value)| format!(", {name}: {}", value.trim()));
    let others: String = others.collect();
    Some(format!("{prefix}{operation} - Takes(s): {takes}{others}"))
}

/// The arrays of objects, one for each type, that they print on a line.
pub(super) fn of_json(values: &[JsonValue], doc: &mut Doc) -> bool {
    let mut taken = false;
    let mut from = 0;
    while let Some(rest) = values.get(from..).filter(|rest| !rest.is_empty()) {
        // A name that comes again is the next object's.
        let mut names = HashSet::new();
        let again = rest.iter().position(|v| !names.insert(v.path.as_str()));
        let object = rest.get(..again.unwrap_or(rest.len())).unwrap_or_default();
        from += object.len().max(1);
        let pairs: Vec<(&str, &str)> = object
            .iter()
            .map(|v| (v.path.as_str(), v.text.as_str()))
            .collect();
        let line = object.first().map_or(0, |v| v.line);
        taken |= take_object(&pairs, line, doc);
    }
    taken
}

/// An object of objects, one for each type by its name.
pub(super) fn of_named_types(values: &[JsonValue], doc: &mut Doc) -> bool {
    let mut objects = BTreeMap::<&str, Vec<(&str, &JsonValue)>>::new();
    for value in values {
        if let Some((of, name)) = value.path.rsplit_once('/') {
            objects.entry(of).or_default().push((name, value));
        }
    }
    let mut taken = false;
    let types = values
        .iter()
        .filter_map(|v| v.path.strip_suffix("/Takes(s)"));
    for of in types {
        // One that is named again is told already.
        let Some(own) = objects.remove(of) else {
            continue;
        };
        let columns = own.iter().filter(|(name, _)| *name != "Operation");
        let columns = columns.map(|(name, v)| (*name, v.text.as_str()));
        let pairs: Vec<(&str, &str)> = std::iter::once(("Operation", of)).chain(columns).collect();
        let line = own.first().map_or(0, |(_, v)| v.line);
        taken |= take_object(&pairs, line, doc);
    }
    taken
}

/// The line that an object of one type is, of the format whose names it has.
fn take_object(pairs: &[(&str, &str)], line: u64, doc: &mut Doc) -> bool {
    let names: Vec<String> = pairs.iter().map(|(name, _)| (*name).into()).collect();
    let format = FORMATS.iter().find(|f| (f.has_object)(&names));
    let line_of = format.zip(in_words(pairs));
    line_of.is_some_and(|(format, words)| (format.take)(&words, line, doc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_plain_lines() {
        let mut names = Vec::new();
        let mut read = |text: &str| match line(text, &mut names, is_go_tpc) {
            Some(TableLine::Row(row)) => row,
            Some(TableLine::Heading) => "heading".into(),
            Some(TableLine::Frame) => "frame".into(),
            None => "none".to_string(),
        };
        assert_eq!(read("+---+---+"), "none");
        assert_eq!(read("| threads | tps |"), "none");
        assert_eq!(
            read("| PREFIX     | OPERATION | TAKES(S) | COUNT | TPM | 99TH(MS) |"),
            "heading"
        );
        assert_eq!(
            read("| [Summary]  | PAYMENT   | 60.0 | 690 | 690.0 | 60.8 |"),
            "[Summary] PAYMENT - Takes(s): 60.0, Count: 690, TPM: 690.0, 99th(ms): 60.8"
        );
        assert_eq!(read("+---+---+"), "frame");
        assert_eq!(read("| tpmC | efficiency |"), "heading");
        assert_eq!(read("| 720.0 | 17.3% |"), "tpmC: 720.0, efficiency: 17.3%");
        assert_eq!(read("| Prefix | Operation | Avg(s) |"), "heading");
        assert_eq!(read("| [Summary] | Q2 | 1.06s |"), "[Summary] Q2: 1.06s");
        assert_eq!(read("| 1 | 2 |"), "none");
    }
}
