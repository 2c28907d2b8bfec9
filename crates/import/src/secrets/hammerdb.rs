//! Passwords in what HammerDB is told, and what it answers: its dictionary calls them `pass`.

use tidemark_core::is_password_name;

/// The command that sets a value of the dictionary.
const SETS: &str = "diset";
/// Bytes behind it that are looked at.
const LONGEST: usize = 200;

/// Where a password begins that a line sets or tells; it ends with the line.
pub(super) fn password(text: &str) -> Option<usize> {
    set(text).or_else(|| told(text)).or_else(|| kept(text))
}

/// `"mysql_pass": "X"` and `<mysql_pass>X</mysql_pass>` of its files.
fn kept(text: &str) -> Option<usize> {
    text.match_indices("pass").find_map(|(at, word)| {
        let name = text[..at].ends_with(['_', 'r']);
        let behind = &text[at + word.len()..];
        let value = match behind.strip_prefix('>') {
            Some(value) => value,
            None => behind
                .strip_prefix('"')?
                .trim_start()
                .strip_prefix(':')?
                .trim_start(),
        };
        (name && !value.is_empty()).then(|| text.len() - value.len())
    })
}

/// `diset connection mysql_pass X`, and `diset('connection','mysql_pass','X')` of its Python.
fn set(text: &str) -> Option<usize> {
    text.match_indices(SETS).find_map(|(at, word)| {
        let from = at + word.len();
        let near = &text[from..];
        let near = &near[..near.floor_char_boundary(LONGEST)];
        let (name, value) = match near.strip_prefix('(') {
            Some(arguments) => {
                let (_, rest) = arguments.split_once(',')?;
                rest.split_once(',')?
            }
            None => {
                let (_, rest) = first_word(near.strip_prefix(char::is_whitespace)?)?;
                first_word(rest)?
            }
        };
        let value = value.trim_start();
        let is_set = is_password(name) && !value.is_empty();
        is_set.then(|| from + near.len() - value.len())
    })
}

/// `Changed connection:mysql_pass from X to Y for MySQL`, `Value X for connection:mysql_pass is the same as …`,
/// and `mysql_pass = X` of the dictionary.
fn told(text: &str) -> Option<usize> {
    let (first, rest) = first_word(text)?;
    let value = match first {
        "Changed" => {
            let (name, value) = first_word(rest)?;
            let value = value.trim_start().strip_prefix("from ")?;
            is_password(name).then_some(value)
        }
        "Value" => {
            let (before, _) = rest.split_once(" is the same ")?;
            let name = before.rsplit(char::is_whitespace).next()?;
            is_password(name).then_some(rest)
        }
        name => {
            let value = rest.trim_start().strip_prefix("= ")?;
            is_password(name).then_some(value)
        }
    };
    let value = value?.trim_start();
    (!value.is_empty()).then(|| text.len() - value.len())
}

/// The first word of a text, and what stands behind it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    text.trim_start().split_once(char::is_whitespace)
}

/// Whether a name of the dictionary is a password's: `mysql_pass`, `pg_superuserpass`, `system_password`.
fn is_password(name: &str) -> bool {
    let name = name.trim().trim_matches(['\'', '"']);
    name.ends_with("_pass") || name.ends_with("userpass") || is_password_name(name)
}

#[cfg(test)]
mod tests {
    use crate::without_secrets;

    #[test]
    fn passwords_of_the_dictionary_are_hidden() {
        for (line, shown) in [
            ("  \"mysql_pass\": \"geheim\",", "  \"mysql_pass\": ***"),
            ("<mysql_pass>geheim</mysql_pass>", "<mysql_pass>***"),
            (
                "diset connection mysql_pass geheim",
                "diset connection mysql_pass ***",
            ),
            (
                "hammerdb>diset tpcc pg_superuserpass {ge heim}",
                "hammerdb>diset tpcc pg_superuserpass ***",
            ),
            (
                "diset tpcc pg_user u; diset  tpcc  pg_pass  geheim",
                "diset tpcc pg_user u; diset  tpcc  pg_pass  ***",
            ),
            (
                "diset connection system_password geheim",
                "diset connection system_password ***",
            ),
            (
                "diset('tpcc', 'maria_pass', 'geheim')",
                "diset('tpcc', 'maria_pass', ***",
            ),
            (
                "Changed tpcc:mysql_pass from mysql to geheim for MySQL",
                "Changed tpcc:mysql_pass from ***",
            ),
            (
                "Value geheim for tpcc:mysql_pass is the same as existing value geheim, no change made",
                "Value ***",
            ),
            (" mysql_pass   = geheim", " mysql_pass   = ***"),
        ] {
            assert_eq!(without_secrets(line), shown);
            assert_eq!(without_secrets(shown), shown);
        }
    }

    #[test]
    fn what_else_it_is_told_stays() {
        for line in [
            "diset connection mysql_host 10.0.0.1",
            "diset tpcc mysql_count_ware 10",
            "diset tpcc mysql_pass ",
            "diset('tpcc','mysql_timeprofile','true')",
            "Changed tpcc:mysql_count_ware from 1 to 10 for MySQL",
            "Value 1 for tpcc:mysql_count_ware is the same as existing value 1, no change made",
            "Changed pass from 1 to 2",
            " mysql_user   = root",
            "pass = 12 of 12",
            "which diset is meant by tests that pass",
        ] {
            assert_eq!(without_secrets(line), line);
        }
    }
}
