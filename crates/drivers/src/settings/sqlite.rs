//! Settings of SQLite: pragmas of the session and of the file.

use crate::Session;
use tidemark_core::DbError;
use tidemark_core::record::Setting;

/// Pragmas that decide durability, memory and waiting, with SQLite's defaults
/// (sqlite.org/pragma.html).
const PRAGMAS: &[(&str, &str)] = &[
    ("auto_vacuum", "NONE"),
    ("busy_timeout", "0"),
    ("cache_size", "-2000"),
    ("foreign_keys", "0"),
    ("journal_mode", "delete"),
    ("locking_mode", "normal"),
    ("mmap_size", "0"),
    ("page_size", "4096"),
    ("synchronous", "FULL"),
    ("temp_store", "DEFAULT"),
    ("wal_autocheckpoint", "1000"),
];

pub(super) async fn settings(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let mut settings = Vec::with_capacity(PRAGMAS.len());
    for (name, default) in PRAGMAS {
        let rows = session.query(&format!("PRAGMA {name}")).await?;
        if let Some(value) = rows.text(0, 0) {
            settings.push(Setting {
                name: (*name).into(),
                value: word(name, &value),
                default: Some((*default).into()),
            });
        }
    }
    Ok(settings)
}

/// Pragmas that are set by words and told as numbers.
fn word(name: &str, value: &str) -> String {
    let words: &[&str] = match name {
        "synchronous" => &["OFF", "NORMAL", "FULL", "EXTRA"],
        "temp_store" => &["DEFAULT", "FILE", "MEMORY"],
        "auto_vacuum" => &["NONE", "FULL", "INCREMENTAL"],
        _ => &[],
    };
    let number = value.parse::<usize>().ok();
    number
        .and_then(|n| words.get(n).copied())
        .unwrap_or(value)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_words_they_are_set_by() {
        assert_eq!(word("synchronous", "1"), "NORMAL");
        assert_eq!(word("cache_size", "1"), "1");
        assert_eq!(word("synchronous", "9"), "9");
    }
}
