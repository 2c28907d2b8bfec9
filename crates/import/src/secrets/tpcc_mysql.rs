//! The password in tpcc-mysql's old command line, which tells it by its place:
//! `tpcc_load HOST DATABASE USER PASSWORD WAREHOUSES`, and `tpcc_start` alike.

use super::{HIDDEN, MARKS, end_of_word};
use crate::command::ENDS_OF_COMMANDS;
use std::ops::Range;

/// Its programs begin so,
const BEGIN: &str = "tpcc_";
/// and go on so.
const PROGRAMS: [&str; 2] = ["load", "start"];
/// Words before the password.
const BEFORE: usize = 3;

/// A line with `***` for every such password.
pub(super) fn without_passwords(text: String) -> String {
    if !text.contains(BEGIN) {
        return text;
    }
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    for (at, begin) in text.match_indices(BEGIN) {
        let behind = at + begin.len();
        let name = PROGRAMS
            .iter()
            .find(|name| text[behind..].starts_with(*name));
        if let Some(name) = name.filter(|_| at >= from)
            && let Some(password) = behind_program(&text, behind + name.len())
        {
            shown.push_str(&text[from..password.start]);
            shown.push_str(HIDDEN);
            from = password.end;
        }
    }
    shown + &text[from..]
}

/// Where the password stands behind a program that ends here, if its words have no flags.
fn behind_program(text: &str, end: usize) -> Option<Range<usize>> {
    let mut words = Words { text, at: end };
    if !text[end..].starts_with(char::is_whitespace) {
        return None;
    }
    let host = words.next()?;
    let before = [Some(host.clone()), words.next(), words.next()];
    let password = words.next()?;
    let is_word = |word: &Range<usize>| {
        let word = &text[word.clone()];
        !word.starts_with('-') && !ENDS_OF_COMMANDS.contains(&word)
    };
    let are_words = before.iter().flatten().filter(|word| is_word(word)).count() == BEFORE;
    let is_told = !text[password.clone()].trim_matches(MARKS).is_empty() && is_word(&password);
    // In a sentence no number follows.
    let is_command = match words.next() {
        Some(next) => {
            let begins = |c: char| c.is_ascii_digit() || matches!(c, '$' | '<' | '{' | '[' | '\\');
            let next = text[next].trim_start_matches(['"', '\'']);
            next.starts_with(begins)
        }
        None => is_host(&text[host]),
    };
    (are_words && is_told && is_command).then_some(password)
}

/// Whether a word is seen to be a host.
fn is_host(word: &str) -> bool {
    word == "localhost"
        || word.contains(|c: char| c.is_ascii_digit() || matches!(c, '.' | ':' | '$'))
}

/// Words of a text from a place on; those in quotes may have blanks.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        let word = rest.trim_start();
        let from = self.at + rest.len() - word.len();
        self.at = from + end_of_word(word, true);
        (!word.is_empty()).then_some(from..self.at)
    }
}

#[cfg(test)]
mod tests {
    use crate::without_secrets;

    #[test]
    fn a_password_by_its_place_is_hidden() {
        for (line, shown) in [
            (
                "./tpcc_load localhost tpcc1000 root geheim 1000",
                "./tpcc_load localhost tpcc1000 root *** 1000",
            ),
            (
                "$ tpcc_load 10.0.0.1:3306 tpcc root 'ge heim' 100 1 1 100 &",
                "$ tpcc_load 10.0.0.1:3306 tpcc root *** 100 1 1 100 &",
            ),
            (
                "tpcc_start localhost tpcc root geheim 10 32 10 60 | tee -a out.log",
                "tpcc_start localhost tpcc root *** 10 32 10 60 | tee -a out.log",
            ),
            (
                "tpcc_load $HOST $DB root geheim $WH && tpcc_load h d u geheim \\",
                "tpcc_load $HOST $DB root *** $WH && tpcc_load h d u *** \\",
            ),
            (
                "./tpcc_load 127.0.0.1 tpcc root geheim",
                "./tpcc_load 127.0.0.1 tpcc root ***",
            ),
            (
                "数据加载：tpcc_load 127.0.0.1 tpcc 库 密码 10",
                "数据加载：tpcc_load 127.0.0.1 tpcc 库 *** 10",
            ),
        ] {
            assert_eq!(without_secrets(line), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn what_else_stands_behind_its_programs_stays() {
        for line in [
            "tpcc_load localhost tpcc1000 root \"\" 1000",
            "tpcc_load -h 10.0.0.1 -d tpcc -u root -w 10",
            "tpcc_load is used for loading",
            "the script calls `tpcc_load` in a loop of 10",
            "we ran tpcc_load with the old command line",
            "tpcc_load; tpcc_start",
            "tpcc_load",
            "create_table.sql and add_fkey_idx.sql of tpcc_",
        ] {
            assert_eq!(without_secrets(line), line);
        }
    }
}
