//! Keeps passwords out of the process list.
//!
//! A password on the command line can be read by every user of the machine for as long as the
//! process lives. Tidemark therefore starts itself again with the passwords moved to an environment
//! variable, and `***` in their place. What the kernel shows of the environment (proc(5),
//! `/proc/pid/environ`) is overwritten then.

use crate::exit::Failure;
use crate::{frontend, program};
use std::os::unix::process::CommandExt;
use std::sync::OnceLock;
use tidemark_core::{
    is_secret_variable, nearest, printable, redact_target, redact_url, redact_urls, redact_value,
};

/// Carries the original arguments over to the second start, separated by the unit separator.
/// Processes that are started get it no more (`env_remove`).
pub const VARIABLE: &str = "TIDEMARK_ARGUMENTS";
const SEPARATOR: char = '\u{1f}';
const PASSWORD_OPTIONS: &[&str] = &[
    "mysql-password",
    "pgsql-password",
    "password",
    "private-key",
];
const EXAMPLE_ACCOUNT: &str = "user:password@";

/// Whether an option of this name, without dashes in front, is one of those that hold a secret.
pub fn is_password_option(name: &str) -> bool {
    PASSWORD_OPTIONS.contains(&name.replace('_', "-").as_str())
}

/// Whether an option may hold a secret, of whatever tool it is and however it is misspelt.
fn may_be_password_option(name: &str) -> bool {
    let plain = name.trim_start_matches('-').to_ascii_lowercase();
    let like = |known: &&str| nearest(&plain, [*known]).is_some();
    ["pass", "pwd", "secret", "token"]
        .iter()
        .any(|part| plain.contains(part))
        || (plain.contains("pas") && PASSWORD_OPTIONS.iter().any(like))
        || is_password_option(&plain)
}

/// The command line as given, for [`hide`].
static GIVEN: OnceLock<Vec<String>> = OnceLock::new();

/// The command line as given; starts the process again when it holds a password. When that
/// fails, the process goes on as it is.
///
/// # Errors
/// [`Failure`] of bad usage, when a word is not UTF-8: as text it would be another one.
pub fn arguments() -> Result<Vec<String>, Failure> {
    let mut given: Vec<String> = Vec::new();
    for word in std::env::args_os() {
        let text = word.into_string();
        given.push(text.map_err(|word| Failure::usage(not_text(&given, &word.to_string_lossy())))?);
    }
    let words = again_or_whole(given);
    let _first = GIVEN.set(words.clone());
    hide_environment();
    Ok(words)
}

/// What this process was started with is to be read by any program of the same user, scripts among them.
#[allow(unsafe_code)]
fn hide_environment() {
    // SAFETY: the command has not begun, and with it no other thread.
    unsafe { tidemark_process::hide_variables(is_secret_variable) };
}

/// Which word is meant that stands behind these; it may be a password itself.
fn not_text(before: &[String], word: &str) -> String {
    let n = before.len();
    let option = match word.split_once('=') {
        Some((name, _)) => Some(name),
        None => before
            .last()
            .map(String::as_str)
            .filter(|w| !w.contains('=')),
    };
    match option.filter(|name| name.starts_with("--") && !name.contains('\u{fffd}')) {
        Some(name) => {
            format!("{name}: the value is not valid UTF-8; for example {name}=VALUE in UTF-8")
        }
        None => format!("argument {n} is not valid UTF-8"),
    }
}

fn again_or_whole(given: Vec<String>) -> Vec<String> {
    if let Ok(carried) = std::env::var(VARIABLE) {
        let original: Vec<String> = carried.split(SEPARATOR).map(Into::into).collect();
        // Only when it belongs to this process: a child would inherit it.
        if redact(&original) == given {
            return original;
        }
        return given;
    }
    let redacted = redact(&given);
    if redacted != given
        && let (Ok(program), Some((name, rest))) = (program::path(), redacted.split_first())
    {
        let carried = given.join(&SEPARATOR.to_string());
        let _failed = std::process::Command::new(program)
            .arg0(name)
            .args(rest)
            .env(VARIABLE, carried)
            .exec();
    }
    given
}

/// A message as it may leave the process: with `***` for passwords of this command line's words,
/// and of URLs, wherever they were read.
pub fn hide(message: &str) -> String {
    hide_words(message, GIVEN.get().map_or(&[], Vec::as_slice))
}

fn hide_words(message: &str, given: &[String]) -> String {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (word, shown) in given.iter().zip(redact(given)) {
        let shown = told(word, &shown);
        let mut add = |word: &str, shown: &str| {
            // A bare password may be any word: putting *** for each would tell where it is.
            if word != shown && shown != "***" {
                pairs.push((word.into(), shown.into()));
                pairs.push((printable(word).into(), shown.into()));
            }
        };
        add(word, &shown);
        add(word.trim_start_matches('-'), shown.trim_start_matches('-'));
        if let (Some((_, value)), Some((_, shown))) = (word.split_once('='), shown.split_once('='))
        {
            add(value, shown);
        }
    }
    pairs.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    let hidden = pairs
        .iter()
        .fold(message.to_string(), |text, (word, shown)| {
            text.replace(word.as_str(), shown)
        });
    // The password of our own examples.
    let parts = hidden.split(EXAMPLE_ACCOUNT).map(redact_urls);
    parts.collect::<Vec<_>>().join(EXAMPLE_ACCOUNT)
}

/// The command line with `***` for every password: for the process list and the record.
pub fn redact(args: &[String]) -> Vec<String> {
    let mut hide_next = false;
    let mut target_next = false;
    let names_target = args.get(1).is_some_and(|word| word == "doctor");
    // A target in the place of a command, as `u/pw@h`.
    let is_first = |arg: &String| {
        arg.contains('@') && args.get(1).is_some_and(|first| std::ptr::eq(first, arg))
    };
    let is_command = |a: &String| frontend::find(a).is_some_and(|f| f.has_password_letter);
    let letter = match args.get(1) {
        // Its flags may stand before the command.
        Some(first) if first.starts_with('-') => args.iter().skip(1).any(is_command),
        first => first.is_some_and(is_command),
    };
    args.iter()
        .map(|arg| {
            // go-tpc's flags take whatever follows; sysbench's options end at the next.
            if std::mem::take(&mut hide_next) && (letter || !arg.starts_with("--")) {
                return "***".into();
            }
            if std::mem::take(&mut target_next) && !arg.starts_with("--") {
                return redact_target(arg);
            }
            if letter && let Some(glued) = arg.strip_prefix("-p") {
                hide_next = glued.is_empty();
                return match glued.strip_prefix('=') {
                    None if glued.is_empty() => arg.clone(),
                    None => "-p***".into(),
                    Some(_) => "-p=***".into(),
                };
            }
            if let Some(shown) = property(arg) {
                return shown;
            }
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (arg.as_str(), None),
            };
            let is_password =
                name.starts_with("--") && is_password_option(name.trim_start_matches('-'));
            // With one dash, or misspelt: it is refused, and told.
            let may_be = is_password || (name.starts_with('-') && may_be_password_option(name));
            match value {
                Some("") => arg.clone(),
                Some(_) if may_be => format!("{name}=***"),
                None if may_be => {
                    hide_next = true;
                    arg.clone()
                }
                Some(value) if is_target(name) => format!("{name}={}", redact_target(value)),
                None if name == "--target" => {
                    target_next = true;
                    arg.clone()
                }
                // A URL of a file stands behind a `=`, too, and is read as the word that it is in.
                _ if arg.starts_with('-') => redact_url(arg),
                _ if names_target || is_first(arg) => redact_target(arg),
                // In the wrong place, or without a scheme.
                _ => redact_value(arg),
            }
        })
        .collect()
}

/// Whether what is assigned to this is a target: the option's name, or the property's.
fn is_target(name: &str) -> bool {
    let name = name.trim();
    name == "--target" || name.strip_prefix("-p").unwrap_or(name).trim() == "target"
}

/// A word of the command line as a message may tell it. What is given for another option may be a
/// target in the wrong place.
fn told(word: &str, shown: &str) -> String {
    if word != shown || !word.starts_with('-') {
        return shown.into();
    }
    let dashes = word.len() - word.trim_start_matches('-').len();
    let value = word.find('=').map_or(dashes, |at| at + 1);
    format!("{}{}", &word[..value], redact_value(&word[value..]))
}

/// A property that holds a password (`mysql.password=…`, after whatever flag), hidden. Its name may
/// have spaces around it, which its reader drops.
fn property(arg: &str) -> Option<String> {
    let (name, rest) = arg.split_once(".password")?;
    let value = rest.trim_start().strip_prefix('=')?;
    let named = ["mysql", "pg"]
        .iter()
        .any(|database| name.ends_with(database));
    (named && !value.is_empty()).then(|| format!("{name}.password=***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden_wherever_they_stand() {
        let given = [
            "tidemark",
            "--mysql-password=geheim",
            "--pgsql_password=geheim",
            "--mysql-password",
            "geheim",
            "--target=mysql://u:geheim@h/db",
            "mysql://u:ge:heim@h/db",
            "--threads=4",
            "mysql://u@h/db",
            "--mysql-password=",
        ]
        .map(String::from);
        let redacted = redact(&given);
        assert!(redacted.iter().all(|a| !a.contains("heim")), "{redacted:?}");
        assert_eq!(redacted[5], "--target=mysql://u:***@h/db");
        assert_eq!(redacted[7..], given[7..]);
        assert_eq!(redact(&redacted), redacted);
    }

    #[test]
    fn a_target_is_hidden_though_it_is_no_url_or_in_the_wrong_place() {
        for (given, shown) in [
            ("x --target=u:geheim@h/db", "x --target=u:***@h/db"),
            ("x --target u:geheim", "x --target u:***"),
            ("x --target=mysql://u:geheim", "x --target=mysql://u:***"),
            ("doctor u:geheim", "doctor u:***"),
            ("x -p target=u:geheim", "x -p target=u:***"),
            ("x -ptarget=u:geheim", "x -ptarget=u:***"),
            ("u:geheim@h", "u:***@h"),
            ("show mysql://u:geheim", "show mysql://u:***"),
            ("x -mysql-password=geheim", "x -mysql-password=***"),
            ("x --mysql-pasword=geheim", "x --mysql-pasword=***"),
            ("x --pgsql-pass geheim", "x --pgsql-pass ***"),
            ("u/geheim@h", "u/***@h"),
            ("show tag:before study:last", "show tag:before study:last"),
            ("x --rate=1:2@3", "x --rate=1:2@3"),
        ] {
            let words: Vec<String> = format!("tidemark {given}")
                .split(' ')
                .map(Into::into)
                .collect();
            let once = redact(&words);
            assert_eq!(once[1..].join(" "), shown);
            assert_eq!(redact(&once), once);
        }
        let libpq = ["tidemark", "host=h password=geheim"].map(String::from);
        assert_eq!(redact(&libpq)[1], "host=h password=***");
    }

    #[test]
    fn no_message_leaves_with_a_password_of_the_command_line() {
        let given = [
            "tidemark",
            "show",
            "u:geheim@h",
            "--target=v:ge/heim@h/db",
            "--mysql-host=w:geheim@h",
            "-x:geheim@h",
            "y:ge\u{1b}heim@h",
        ];
        let given = given.map(String::from);
        for (message, shown) in [
            ("no run u:geheim@h", "no run u:***@h"),
            ("v:ge/heim@h/db is none", "v:***@h/db is none"),
            ("no host w:geheim@h:3306", "no host w:***@h:3306"),
            ("unknown x:geheim@h", "unknown x:***@h"),
            ("no run y:ge\\u{1b}heim@h", "no run y:***@h"),
            ("a file: mysql://u:geheim@x", "a file: mysql://u:***@x"),
            (
                "for example mysql://user:password@primary/db,mysql://user:password@replica/db",
                "for example mysql://user:password@primary/db,mysql://user:password@replica/db",
            ),
            (
                "--mysql-password needs a value",
                "--mysql-password needs a value",
            ),
        ] {
            assert_eq!(hide_words(message, &given), shown);
        }
    }

    #[test]
    fn a_property_with_spaces_around_its_name_is_hidden_too() {
        for given in [
            "mysql.password =geheim",
            " pg.password \t= geheim",
            "-pmysql.password =geheim",
            "--prop=mysql.password\u{a0}=geheim",
            "target=mysql://u:geheim@h/db",
        ] {
            let words = ["tidemark", "x", "run", "-p", given].map(String::from);
            let once = redact(&words);
            assert!(!once[4].contains("geheim"), "{once:?}");
            assert_eq!(redact(&once), once);
        }
    }

    #[test]
    fn go_tpcs_letter_is_a_password_of_its_command_alone() {
        for (given, redacted) in [
            ("tidemark tpcc -p geheim run", "tidemark tpcc -p *** run"),
            (
                "tidemark tpcc run -pgeheim -P 1",
                "tidemark tpcc run -p*** -P 1",
            ),
            ("tidemark tpcc -p=geheim run", "tidemark tpcc -p=*** run"),
            (
                "tidemark x run pg -p pg.password=ge=heim -p pg.user=u",
                "tidemark x run pg -p pg.password=*** -p pg.user=u",
            ),
            (
                "tidemark x run mysql -pmysql.password=geheim --prop=mysql.password=x",
                "tidemark x run mysql -pmysql.password=*** --prop=mysql.password=***",
            ),
            ("tidemark tpcc -p --geheim run", "tidemark tpcc -p *** run"),
            (
                "tidemark tpcc --password geheim",
                "tidemark tpcc --password ***",
            ),
            (
                "tidemark tpcc --password=geheim",
                "tidemark tpcc --password=***",
            ),
            (
                "tidemark -H h -p geheim tpcc run",
                "tidemark -H h -p *** tpcc run",
            ),
            ("tidemark show -p last", "tidemark show -p last"),
        ] {
            let words: Vec<String> = given.split(' ').map(Into::into).collect();
            let once = redact(&words);
            assert_eq!(once.join(" "), redacted);
            assert_eq!(redact(&once), once);
        }
    }
}
