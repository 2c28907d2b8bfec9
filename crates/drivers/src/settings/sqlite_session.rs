//! PRAGMAs as settings of a session.
//!
//! SQLite takes any PRAGMA without a word: names that it does not know, values that it does not
//! understand, and those that change the file for good (sqlite.org/pragma.html). None of these is what
//! a setting of a session means, so they are refused.

use super::global::{is_number, refused};
use crate::connection::Connection;
use crate::{Dialect, Value};
use tidemark_core::{DbError, Engine, did_you_mean};

/// What is a setting of one connection alone.
const SETTINGS: &[&str] = &[
    "analysis_limit",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "cell_size_check",
    "checkpoint_fullfsync",
    "foreign_keys",
    "fullfsync",
    "hard_heap_limit",
    "ignore_check_constraints",
    "journal_mode",
    "journal_size_limit",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "query_only",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "secure_delete",
    "soft_heap_limit",
    "synchronous",
    "temp_store",
    "threads",
    "trusted_schema",
    "wal_autocheckpoint",
];

/// What is written into the file, and stays there.
const OF_THE_FILE: &[&str] = &[
    "application_id",
    "auto_vacuum",
    "default_cache_size",
    "encoding",
    "legacy_file_format",
    "page_size",
    "schema_version",
    "user_version",
    "writable_schema",
];

/// Words that stand for numbers.
const WORDS: &[(&str, &[&str])] = &[
    ("synchronous", &["OFF", "NORMAL", "FULL", "EXTRA"]),
    ("temp_store", &["DEFAULT", "FILE", "MEMORY"]),
    ("secure_delete", &["OFF", "ON", "FAST"]),
];

/// Sets a PRAGMA for this connection, and looks that it is set.
pub(super) async fn set(
    connection: &mut Connection,
    name: &str,
    value: &str,
) -> Result<(), DbError> {
    let setting = name.to_ascii_lowercase();
    if !SETTINGS.contains(&setting.as_str()) {
        return Err(not_a_setting(connection, name).await?);
    }
    if setting == "journal_mode" {
        refuse_to_change_the_file(connection, value).await?;
    }
    let text = Dialect::new(Engine::Sqlite).literal(Value::Text(value));
    let plain = if is_number(value) { value } else { &text };
    connection
        .query(&format!("PRAGMA {setting} = {plain}"))
        .await?;
    let rows = connection.query(&format!("PRAGMA {setting}")).await?;
    let found = rows.text(0, 0).unwrap_or_default();
    if is_same(&setting, &found, value) {
        return Ok(());
    }
    Err(refused(
        name,
        &format!("requested {value}, but SQLite set {found}; use a value that it accepts"),
    ))
}

async fn not_a_setting(connection: &mut Connection, name: &str) -> Result<DbError, DbError> {
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    if OF_THE_FILE.iter().any(is) {
        return Ok(refused(
            name,
            "it is stored in the database file, so it is not a session setting; create a file \
             that has it, for example with sqlite3, and use that as the target",
        ));
    }
    let rows = connection.query("PRAGMA pragma_list").await?;
    let all: Vec<String> = (0..rows.len()).filter_map(|i| rows.text(i, 0)).collect();
    if all.iter().any(|known| is(&known.as_str())) {
        return Ok(refused(
            name,
            &format!(
                "it is not a session setting; known: {}",
                SETTINGS.join(", ")
            ),
        ));
    }
    let hint = did_you_mean(&name.to_ascii_lowercase(), SETTINGS.iter().copied());
    Ok(refused(name, &format!("SQLite has no such PRAGMA{hint}")))
}

/// Only the write-ahead log is written into the file (sqlite.org/wal.html, "Persistence of WAL
/// Mode"); the other modes are the connection's.
async fn refuse_to_change_the_file(
    connection: &mut Connection,
    value: &str,
) -> Result<(), DbError> {
    let rows = connection.query("PRAGMA journal_mode").await?;
    let now = rows.text(0, 0).unwrap_or_default();
    let is_wal = |mode: &str| mode.eq_ignore_ascii_case("wal");
    if is_wal(&now) == is_wal(value) {
        return Ok(());
    }
    Err(refused(
        "journal_mode",
        &format!(
            "the database file is in mode {now}, and {value} would be stored in it; change the \
             file yourself after its load, for example with sqlite3 bench.db 'PRAGMA \
             journal_mode={value}', and use it as the target"
        ),
    ))
}

/// Whether SQLite's word for a value means what was asked for.
fn is_same(name: &str, found: &str, asked: &str) -> bool {
    let (found, asked) = (number(name, found), number(name, asked));
    match (name, found, asked) {
        // It is told in pages, as many as the cache has at least.
        ("cache_spill", Ok(found), Ok(asked)) => (found > 0) == (asked != 0),
        (_, Ok(found), Ok(asked)) => found == asked,
        (_, Err(found), Err(asked)) => found == asked,
        _ => false,
    }
}

/// The number that a value is or stands for; the word in small letters otherwise.
fn number(name: &str, value: &str) -> Result<i64, String> {
    let value = value.trim();
    if let Ok(number) = value.parse() {
        return Ok(number);
    }
    let words = WORDS.iter().find(|(of, _)| *of == name);
    let at = words.and_then(|(_, words)| words.iter().position(|w| w.eq_ignore_ascii_case(value)));
    if let Some(at) = at {
        return Ok(at as i64);
    }
    let word = value.to_ascii_lowercase();
    match word.as_str() {
        "on" | "yes" | "true" => Ok(1),
        "off" | "no" | "false" => Ok(0),
        _ => Err(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlites_words_are_understood() {
        for (name, found, asked) in [
            ("synchronous", "1", "normal"),
            ("synchronous", "2", "2"),
            ("secure_delete", "2", "fast"),
            ("foreign_keys", "1", "yes"),
            ("cache_spill", "483", "on"),
            ("cache_spill", "0", "off"),
            ("locking_mode", "exclusive", "EXCLUSIVE"),
            ("cache_size", "-2000", "-2000"),
        ] {
            assert!(is_same(name, found, asked), "{name} {found} {asked}");
        }
        for (name, found, asked) in [
            ("synchronous", "1", "banana"),
            ("synchronous", "1", "full"),
            ("foreign_keys", "0", "on"),
            ("busy_timeout", "0", "5s"),
            ("cache_spill", "0", "on"),
            ("locking_mode", "normal", "exclusiv"),
        ] {
            assert!(!is_same(name, found, asked), "{name} {found} {asked}");
        }
    }
}
