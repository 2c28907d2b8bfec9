//! Command lines as a shell takes them.

use tidemark_core::shell_word;

/// Longest line of a command, if a word is no longer.
const COMMAND_WIDTH: usize = 88;

/// A command in lines that are not too long.
pub(crate) fn wrapped(words: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in quoted(words) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > COMMAND_WIDTH {
            text.push_str(" \\\n  ");
            column = 2;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += length;
    }
    text
}

/// A command in one line.
pub(crate) fn line(words: &[String]) -> String {
    quoted(words).join(" ")
}

/// The words of a run's command. A document's command is told by its text, cut at blanks: in its own quotes,
/// which are none of its words'.
pub(crate) fn words_of(command: &[String], is_imported: bool) -> Vec<String> {
    let is_cut = |word: &String| !word.is_empty() && !word.contains(char::is_whitespace);
    let text = (is_imported && command.iter().all(is_cut)).then(|| command.join(" "));
    let words = text.and_then(|text| unquoted(&text));
    words.unwrap_or_else(|| command.to_vec())
}

/// The words of a text as a shell has them; `None` where a quote is not closed.
fn unquoted(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut is_begun) = (None, false);
    for c in text.chars() {
        match (quote, c) {
            (Some(opened), c) if opened == c => quote = None,
            (None, '\'' | '"') => (quote, is_begun) = (Some(c), true),
            (None, ' ') => {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            (_, c) => {
                word.push(c);
                is_begun = true;
            }
        }
    }
    words.extend(is_begun.then_some(word));
    quote.is_none().then_some(words)
}

/// Each word quoted where it must be. Before the command, `NAME=value` assigns only where its name is bare.
fn quoted(words: &[String]) -> Vec<String> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |name: &str| {
        name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
    };
    let mut is_before = true;
    let words = words.iter().map(|word| {
        let assigned = word.split_once('=').filter(|(name, _)| is_name(name));
        let assigned = assigned.filter(|_| is_before);
        is_before = assigned.is_some();
        match assigned {
            Some((name, value)) => format!("{name}={}", shell_word(value)),
            None => shell_word(word),
        }
    });
    words.collect()
}

/// A comment of a shell: whatever a label holds, it ends with its line.
pub(crate) fn comment(text: &str) -> String {
    format!("# {}", text.replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_s_command_keeps_its_quotes_and_assignments() {
        let cut = |text: &str| -> Vec<String> { text.split(' ').map(String::from).collect() };
        for (text, shown) in [
            (
                "PGPASSWORD=*** pgbench -c 4 \"postgresql://u:***@db1/bench\"",
                "PGPASSWORD='***' pgbench -c 4 'postgresql://u:***@db1/bench'",
            ),
            ("A=1 B='x y' pgbench C=*", "A=1 B='x y' pgbench 'C=*'"),
            (
                "pgbench -f 'my script.sql' \"\"",
                "pgbench -f 'my script.sql' ''",
            ),
            // Cut off, or in words already.
            ("pgbench -f \"my script.sql", "pgbench -f '\"my' script.sql"),
        ] {
            assert_eq!(line(&words_of(&cut(text), true)), shown, "{text}");
        }
        let argued = ["tidemark", "--note=\"a\"", "x y"].map(String::from);
        for is_imported in [false, true] {
            let shown = line(&words_of(&argued, is_imported));
            assert_eq!(shown, "tidemark '--note=\"a\"' 'x y'");
        }
        assert_eq!(wrapped(&argued), line(&argued));
    }
}
