//! Keeps passwords out of the process list.
//!
//! A password on the command line can be read by every user of the machine for as long as the
//! process lives. Tidemark therefore starts itself again with the passwords moved to an environment
//! variable, which only the same user can read (proc(5), `/proc/pid/environ`), and `***` in their
//! place.

use crate::program;
use std::os::unix::process::CommandExt;
use tidemark_core::redact_url;

/// Carries the original arguments over to the second start, separated by the unit separator.
const VARIABLE: &str = "TIDEMARK_ARGUMENTS";
const SEPARATOR: char = '\u{1f}';
const PASSWORD_OPTIONS: &[&str] = &[
    "mysql-password",
    "pgsql-password",
    "password",
    "private-key",
];
/// Commands whose `-p` is a password.
const WITH_LETTER: &[&str] = &["tpcc", "tpch"];

/// Whether an option of this name, without dashes in front, is one of those that hold a secret.
pub fn is_password_option(name: &str) -> bool {
    PASSWORD_OPTIONS.contains(&name.replace('_', "-").as_str())
}

/// The command line as given; starts the process again when it holds a password. When that
/// fails, the process goes on as it is.
pub fn arguments() -> Vec<String> {
    // What is not UTF-8 can be no option of ours; it is told as it can be shown.
    let shown = |arg: std::ffi::OsString| arg.to_string_lossy().into_owned();
    let given: Vec<String> = std::env::args_os().map(shown).collect();
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

/// The command line as a child process is to be given it: without passwords, and the variable with
/// its value in which [`arguments`] finds them.
pub fn for_child(words: &[String]) -> (Vec<String>, Option<(&'static str, String)>) {
    let redacted = redact(words);
    let carried = (redacted != words).then(|| (VARIABLE, words.join(&SEPARATOR.to_string())));
    (redacted, carried)
}

/// The command line with `***` for every password: for the process list and the record.
pub fn redact(args: &[String]) -> Vec<String> {
    let mut hide_next = false;
    let is_command = |a: &String| WITH_LETTER.contains(&a.as_str());
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
            match value {
                Some("") => arg.clone(),
                Some(_) if is_password => format!("{name}=***"),
                None if is_password => {
                    hide_next = true;
                    arg.clone()
                }
                _ => redact_url(arg),
            }
        })
        .collect()
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
    fn a_property_with_spaces_around_its_name_is_hidden_too() {
        for given in [
            "mysql.password =geheim",
            " pg.password \t= geheim",
            "-pmysql.password =geheim",
            "--prop=mysql.password\u{a0}=geheim",
            "target=mysql://u:geheim@h/db",
        ] {
            let words = ["tidemark", "ycsb", "run", "-p", given].map(String::from);
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
                "tidemark ycsb run pg -p pg.password=ge=heim -p pg.user=u",
                "tidemark ycsb run pg -p pg.password=*** -p pg.user=u",
            ),
            (
                "tidemark ycsb run mysql -pmysql.password=geheim --prop=mysql.password=x",
                "tidemark ycsb run mysql -pmysql.password=*** --prop=mysql.password=***",
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
