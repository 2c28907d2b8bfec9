//! What is no TOML, in the words of study files.

use crate::error::Problem;
use crate::keys::{self, FileSection};
use crate::read::StudyReader;
use std::collections::BTreeSet;
use toml::de::Error;

/// What the reader of TOML says of a key that was there before.
const TWICE: &str = "duplicate key";

/// Everything that is no TOML. A header that stands twice is told once, with what to write in its
/// place, and what it makes of the keys below it is not told at all.
pub(crate) fn problems(text: &str, reader: &StudyReader, errors: &[Error]) -> Vec<Problem> {
    let lines: Vec<&str> = text.lines().collect();
    let line_of = |error: &Error| error.span().map_or(1, |span| reader.line_of(&span));
    let header_at = |line: usize| header(lines.get(line.checked_sub(1)?)?);
    let is_twice = |error: &&Error| error.message() == TWICE;
    let twice: BTreeSet<usize> = errors
        .iter()
        .filter(is_twice)
        .map(line_of)
        .filter(|line| header_at(*line).is_some())
        .collect();
    // The line of the header that a line stands under.
    let is_header = |line: &usize| lines.get(line - 1).is_some_and(|l| begins_table(l));
    let under = |line: usize| (1..=line).rev().find(is_header);
    let mut told = BTreeSet::new();
    let mut problems = Vec::new();
    for error in errors {
        let line = line_of(error);
        let of_twice = under(line).filter(|l| is_twice(&error) && twice.contains(l));
        let name = of_twice.and_then(|l| Some((l, header_at(l)?)));
        match name {
            None => problems.push(Problem::new(line, format!("no TOML: {}", error.message()))),
            Some((at, name)) => {
                if told.insert(name) {
                    problems.push(Problem::new(at, stands_twice(name)));
                }
            }
        }
    }
    problems
}

/// The name in a line that is `[name]`.
fn header(line: &str) -> Option<&str> {
    let (name, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim();
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_. \"".contains(c);
    let fits = name.chars().all(is_word) && (rest.is_empty() || rest.starts_with('#'));
    Some(name.trim()).filter(|name| fits && !name.is_empty())
}

/// Whether a line is `[name]` or `[[name]]`.
fn begins_table(line: &str) -> bool {
    let inner = line.trim().strip_prefix('[').unwrap_or_default();
    header(line).is_some() || header(&inner.replacen("]]", "]", 1)).is_some()
}

fn stands_twice(name: &str) -> String {
    match keys::find(FileSection::Top, name) {
        Some(key) if key.allowed.contains("[[") => format!(
            "[{name}] appears twice: use {}, with two brackets each; for example {}",
            key.allowed, key.example
        ),
        _ => format!("[{name}] appears twice: write its keys under one of them"),
    }
}
