//! What programs that collect outputs put before each line: a moment, a container's name.

/// A line without the moment before it: `2024-05-01T10:00:00.123Z Threads started!`. Numbers alone
/// behind one are a row of a table.
pub(crate) fn without_moment(text: &str) -> &str {
    let bytes = text.as_bytes();
    if bytes.get(10) != Some(&b'T') || !bytes.first().is_some_and(u8::is_ascii_digit) {
        return text;
    }
    let (moment, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_moment = moment.len() >= 20 && moment.parse::<jiff::Timestamp>().is_ok();
    let has_words = |c: char| c.is_ascii_alphabetic() || matches!(c, '[' | '*' | '=');
    // So are numbers before words.
    let mut cells = rest.split_whitespace();
    let mut is_number = || cells.next().is_some_and(|cell| cell.parse::<f64>().is_ok());
    let is_row = is_number() && is_number();
    match is_moment && !is_row && (rest.trim().is_empty() || rest.contains(has_words)) {
        true => rest,
        false => text,
    }
}

/// The name before a line, and what follows it: `bench-1  | Threads started!`, `[pod/bench-1/main] …`.
pub(crate) fn named(text: &str) -> Option<(&str, &str)> {
    const POD: &str = "[pod/";
    let end = match text.strip_prefix(POD) {
        Some(rest) => POD.len() + rest.find("] ")? + 2,
        None => {
            let at = text.find('|').filter(|at| *at <= 60)?;
            let name = text.get(..at)?.strip_suffix(' ')?.trim_end_matches(' ');
            let is_of_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
            let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.bytes().any(|b| b.is_ascii_alphabetic())
                && name.bytes().all(is_of_name);
            let follows = text.get(at + 1..)?.starts_with(' ');
            Some(at + 2).filter(|_| is_name && follows)?
        }
    };
    text.split_at_checked(end)
}

/// A line without a known name before it. Blanks at its end may be missing.
pub(crate) fn without<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let is_empty = text.trim_end() == name.trim_end();
    text.strip_prefix(name).or(is_empty.then_some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_names_before_lines_are_no_part_of_them() {
        for (text, rest) in [
            ("2024-05-01T10:00:00.1234567Z   read: 5", "  read: 5"),
            ("2024-05-01T10:00:00Z", ""),
            ("2024-05-01T10:00:00+08:00 [ 5s ] thds: 4", "[ 5s ] thds: 4"),
            (
                "2024-05-01T10:00:00Z 100 200",
                "2024-05-01T10:00:00Z 100 200",
            ),
            (
                "2024-05-01T10:00:00Z 8 100.5 ok",
                "2024-05-01T10:00:00Z 8 100.5 ok",
            ),
            (
                "2024-05-01T10:00:00Z 10 sec: 500 operations;",
                "10 sec: 500 operations;",
            ),
            ("2024-05-01T10:00:00Z,8,ok", "2024-05-01T10:00:00Z,8,ok"),
            ("2024-05-01Txx words", "2024-05-01Txx words"),
        ] {
            assert_eq!(without_moment(text), rest);
        }
        for (text, parts) in [
            ("bench-1  |   read: 5", Some(("bench-1  | ", "  read: 5"))),
            (
                "[pod/b-1/main] read: 5",
                Some(("[pod/b-1/main] ", "read: 5")),
            ),
            ("8 | 100", None),
            ("two words | 100", None),
            ("a|b", None),
        ] {
            assert_eq!(named(text), parts);
        }
        assert_eq!(without("bench-1  |", "bench-1  | "), Some(""));
        assert_eq!(without("bench-2  | x", "bench-1  | "), None);
    }
}
