//! Property files, and the workloads that are built in.
//!
//! The format is Java's (java.util.Properties, `load`), which YCSB and go-ycsb read. Sixty lines of
//! our own know the number of every line, which messages need.

use crate::exit::{ExitCode, Failure};
use std::path::Path;
use tidemark_core::nearest;
use tidemark_files::{LONGEST_CONFIGURATION, ReadError};

/// The workloads of the paper, by name.
const BUILT_IN: &[(&str, &str)] = &[
    (
        "workloada",
        include_str!("../../../../../workloads/workloada"),
    ),
    (
        "workloadb",
        include_str!("../../../../../workloads/workloadb"),
    ),
    (
        "workloadc",
        include_str!("../../../../../workloads/workloadc"),
    ),
    (
        "workloadd",
        include_str!("../../../../../workloads/workloadd"),
    ),
    (
        "workloade",
        include_str!("../../../../../workloads/workloade"),
    ),
    (
        "workloadf",
        include_str!("../../../../../workloads/workloadf"),
    ),
];

/// What Java takes for blanks within a line.
const BLANKS: [char; 3] = [' ', '\t', '\u{c}'];

/// One property as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it stands, for messages.
    pub place: String,
}

/// The properties of a file, or of the built-in workload that the path names where no file is.
///
/// # Errors
/// [`Failure`] of bad usage when there is neither, with the nearest name, or the file can't be read.
pub fn read(path: &str) -> Result<Vec<Property>, Failure> {
    let text = match tidemark_files::read(path.as_ref(), LONGEST_CONFIGURATION) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => match built_in(path) {
            Some(text) if error.is_missing() => text.to_string(),
            _ => return Err(missing(path, &error)),
        },
    };
    Ok(parse(&text, path))
}

/// That a path names no file and the built-in workload is taken for it; nothing of a bare name, which
/// is how built-in workloads are asked for.
pub fn stand_in(path: &str, properties: &[Property]) -> Option<String> {
    let name = Path::new(path).file_name()?.to_str()?;
    if name == path || built_in(path).is_none() || Path::new(path).exists() {
        return None;
    }
    let distribution = properties.iter().find(|p| p.name == "requestdistribution");
    let distribution = distribution.map_or("uniform", |p| p.value.as_str());
    Some(format!(
        "-P {path}: file not found; the built-in {name} is used \
         (requestdistribution={distribution})"
    ))
}

/// `workloada`, and `workloads/workloada` as YCSB's own commands have it.
fn built_in(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix("./").unwrap_or(path);
    let name = name.strip_prefix("workloads/").unwrap_or(name);
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

fn missing(path: &str, error: &ReadError) -> Failure {
    let name = Path::new(path).file_name().and_then(|n| n.to_str());
    let hint = nearest(name.unwrap_or(path), BUILT_IN.iter().map(|(n, _)| *n))
        .map_or(String::new(), |n| format!("; did you mean -P {n}?"));
    Failure::new(
        ExitCode::Usage,
        format!("-P {path}: {error}; built-in: workloada to workloadf{hint}"),
    )
}

/// Reads the text of a property file.
pub fn parse(text: &str, file: &str) -> Vec<Property> {
    let mut properties = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = line.trim_start_matches(BLANKS);
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut logical = line.to_string();
        // An odd number of backslashes at the end goes on with the next line.
        while ends_in_escape(&logical) {
            logical.pop();
            match lines.next() {
                Some((_, next)) => logical.push_str(next.trim_start_matches(BLANKS)),
                None => break,
            }
        }
        let (name, value) = split(&logical);
        properties.push(Property {
            name: unescaped(name),
            value: unescaped(without_end(value)),
            place: format!("{file}, line {}", number + 1),
        });
    }
    properties
}

/// A name ends at the first `=`, `:` or blank that no backslash stands before.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let ends = |c: char| c == '=' || c == ':' || BLANKS.contains(&c);
    let end = line.char_indices().find(|(_, c)| {
        let ends = !escaped && ends(*c);
        escaped = !escaped && *c == '\\';
        ends
    });
    let Some((end, _)) = end else {
        return (line, "");
    };
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(BLANKS);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (name, value.trim_start_matches(BLANKS))
}

/// Whether the last backslash has nothing behind it that it stands before.
fn ends_in_escape(text: &str) -> bool {
    let backslashes = text.bytes().rev().take_while(|b| *b == b'\\');
    backslashes.count() % 2 == 1
}

/// A value without the blanks at its end, unless a backslash keeps one.
fn without_end(value: &str) -> &str {
    let end = value.trim_end_matches(BLANKS);
    match ends_in_escape(end) {
        true => value.get(..=end.len()).unwrap_or(value),
        false => end,
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let properties = parse(text, "f").into_iter();
        properties.map(|p| (p.name, p.value)).collect()
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let each = pairs.iter();
        each.map(|(n, v)| ((*n).into(), (*v).into())).collect()
    }

    #[test]
    fn files_are_read_as_java_reads_them() {
        let text = "# c\n! c\n\n a=1\nb : 2\nc 3\nd\ne=x\\\n   y\\\n z\nf\\=g=h=i\n\
                    j=\\u0041\\t\\\\\nk=\r\nl=m  \nlast=\\";
        assert_eq!(
            pairs(text),
            owned(&[
                ("a", "1"),
                ("b", "2"),
                ("c", "3"),
                ("d", ""),
                ("e", "xyz"),
                ("f=g", "h=i"),
                ("j", "A\t\\"),
                ("k", ""),
                ("l", "m"),
                ("last", ""),
            ])
        );
        assert_eq!(parse("\na=1", "w")[0].place, "w, line 2");
    }

    #[test]
    fn any_text_is_read_without_a_panic_and_what_is_written_is_read_again() {
        let mut state = 1u64;
        let alphabet = [
            'a', 'é', '=', ':', ' ', '\\', '\n', '#', 'u', '0', '\t', '字',
        ];
        for _ in 0..20_000 {
            let text: String = (0..12)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                })
                .collect();
            for property in parse(&text, "f") {
                let escape = |s: &str| -> String {
                    s.chars()
                        .map(|c| match c {
                            '\n' => "\\n".into(),
                            '\t' => "\\t".into(),
                            '=' | ':' | '\\' | ' ' | '#' | '!' => format!("\\{c}"),
                            c => c.to_string(),
                        })
                        .collect()
                };
                let written = format!("{}={}", escape(&property.name), escape(&property.value));
                assert_eq!(
                    pairs(&written),
                    [(property.name.clone(), property.value.clone())],
                    "{text:?} as {written:?}"
                );
            }
        }
    }

    #[test]
    fn a_path_without_its_file_is_told() {
        let said = |path: &str| stand_in(path, &read(path).unwrap());
        assert_eq!(said("workloada"), None);
        let told = said("workloads/workloada").unwrap();
        assert!(
            told.contains("file not found; the built-in workloada"),
            "{told}"
        );
        assert!(told.contains("requestdistribution=zipfian"), "{told}");
        assert!(said("./workloads/workloadd").unwrap().contains("=latest"));
        for path in [
            "mine/workloada",
            "/workloads/workloada",
            "../workloads/workloada",
        ] {
            assert!(read(path).is_err(), "{path}");
        }
    }

    #[test]
    fn the_paper_s_workloads_are_built_in_and_a_file_wins() {
        for path in ["workloada", "workloads/workloada", "./workloads/workloadf"] {
            let properties = read(path).unwrap();
            assert!(
                properties.iter().any(|p| p.name == "readproportion"),
                "{path}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("workloada");
        std::fs::write(&file, "recordcount=7\n").unwrap();
        assert_eq!(read(file.to_str().unwrap()).unwrap().len(), 1);
        assert_eq!(stand_in(file.to_str().unwrap(), &[]), None);
        // A folder is no file that is missing.
        let named = folder.path().join("workloadb");
        std::fs::create_dir(&named).unwrap();
        assert!(read(named.to_str().unwrap()).is_err());
        let message = read("workloads/worklaoda").unwrap_err().message;
        assert!(message.contains("did you mean -P workloada?"), "{message}");
    }
}
