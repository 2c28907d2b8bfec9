//! PostgreSQL's settings that are lists of names.
//!
//! As one text such a list would become one name with commas in it: the server quotes each value of
//! `SET` and `ALTER SYSTEM SET` by itself (PostgreSQL manual, SET: "a list of … values").

/// The settings whose values the server quotes one by one, and whether it folds names without
/// quotes to lower case, as identifiers (PostgreSQL manual, 20.11 and 20.3). Extensions can have none.
const LISTS: &[(&str, bool)] = &[
    ("local_preload_libraries", false),
    ("search_path", true),
    ("session_preload_libraries", false),
    ("shared_preload_libraries", false),
    ("temp_tablespaces", true),
    ("unix_socket_directories", false),
];

/// Whether a setting is such a list; and if so, whether its names are identifiers.
pub(super) fn of_identifiers(setting: &str) -> Option<bool> {
    let known = LISTS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(setting));
    known.map(|(_, identifiers)| *identifiers)
}

/// The names in a list as a configuration file has it: commas between them, `"` around those that
/// hold more than letters, doubled inside. `None` when it can't be read so.
pub(super) fn read(text: &str, identifiers: bool) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Some(names);
    }
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (word, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                let word = word.trim_end();
                let is_one = !word.is_empty() && !word.contains('"');
                if !is_one || (identifiers && word.contains(char::is_whitespace)) {
                    return None;
                }
                let folded = match identifiers {
                    true => word.to_lowercase(),
                    false => word.to_string(),
                };
                (folded, after)
            }
        };
        names.push(name);
        let after = after.trim_start();
        if after.is_empty() {
            return Some(names);
        }
        rest = after.strip_prefix(',')?.trim_start();
    }
}

/// What a list may be, for messages.
pub(super) const ALLOWED: &str = "use names with commas between them, in double quotes where \
                                  they hold more than letters; for example app, \"Odd Name\"";

/// A list as SQL has it: each name a literal of its own.
pub(super) fn in_sql(
    list: &str,
    identifiers: bool,
    literal: impl Fn(&str) -> String,
) -> Option<String> {
    let names = read(list, identifiers)?;
    if names.is_empty() {
        return Some(literal(""));
    }
    let each: Vec<String> = names.iter().map(|name| literal(name)).collect();
    Some(each.join(", "))
}

/// A name up to its closing quote, and what follows.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_server_reads_them() {
        for (text, identifiers, names) in [
            ("\"$user\", public", true, &["$user", "public"][..]),
            ("$user,Public", true, &["$user", "public"]),
            ("\"Odd, name\" , \"a\"\"b\"", true, &["Odd, name", "a\"b"]),
            (
                "auto_explain, $libdir/Mine",
                false,
                &["auto_explain", "$libdir/Mine"],
            ),
            ("/var/my run", false, &["/var/my run"]),
            ("\"\"", true, &[""]),
            ("", true, &[]),
        ] {
            let read = read(text, identifiers).unwrap();
            assert_eq!(read, names, "{text}");
        }
        for text in ["a,", ",a", "\"a", "a b", "\"a\" b", "a\"b"] {
            assert_eq!(read(text, true), None, "{text}");
        }
    }
}
