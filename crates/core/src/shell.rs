//! Words as a shell takes them.

/// A word quoted for a POSIX shell, where it must be.
///
/// ```
/// assert_eq!(tidemark_core::shell_word("--table-size=1000"), "--table-size=1000");
/// assert_eq!(tidemark_core::shell_word("--password=***"), "'--password=***'");
/// ```
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A command's words as one line.
pub fn shell_line<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<String> = words.iter().map(|w| shell_word(w.as_ref())).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (word, text) in [
            ("--table-size=1000", "--table-size=1000"),
            ("--mysql-password=***", "'--mysql-password=***'"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("it's", r"'it'\''s'"),
            ("mysql://u:***@h/d?x=1&y", "'mysql://u:***@h/d?x=1&y'"),
        ] {
            assert_eq!(shell_word(word), text);
        }
        assert_eq!(shell_line(&["a b", "c"]), "'a b' c");
    }
}
