//! Command lines as a shell takes them.

use tidemark_core::shell_word;

/// Longest line of a command, if a word is no longer.
const COMMAND_WIDTH: usize = 88;

/// A command in lines that are not too long.
pub(crate) fn wrapped(words: &[String]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words.iter().map(|word| shell_word(word)) {
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

/// A comment of a shell: whatever a label holds, it ends with its line.
pub(crate) fn comment(text: &str) -> String {
    format!("# {}", text.replace(char::is_control, " "))
}
