//! How transactions are kept apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The isolation level of transactions (ISO/IEC 9075-2, "SQL-transactions"), weakest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Reads what others have not committed.
    ReadUncommitted,
    /// Each statement reads what is committed.
    ReadCommitted,
    /// Rows read stay as they were.
    RepeatableRead,
    /// As if one transaction ran after the other.
    Serializable,
}

impl Isolation {
    /// Every level, weakest first.
    pub const ALL: [Isolation; 4] = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];

    /// What options take: the server's own level, or one by name.
    pub const CHOICES: &[&str] = &[
        "default",
        Isolation::ReadUncommitted.name(),
        Isolation::ReadCommitted.name(),
        Isolation::RepeatableRead.name(),
        Isolation::Serializable.name(),
    ];

    /// Its name in options: `read-committed`.
    pub const fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read-uncommitted",
            Isolation::ReadCommitted => "read-committed",
            Isolation::RepeatableRead => "repeatable-read",
            Isolation::Serializable => "serializable",
        }
    }

    /// Its name in SQL: `READ COMMITTED`.
    pub const fn sql(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }

    /// The level of that name in SQL, whatever its case, and with dashes as the MySQL family's
    /// variables have it.
    pub fn in_sql(name: &str) -> Option<Self> {
        let name = name.replace('-', " ");
        Self::ALL
            .into_iter()
            .find(|level| level.sql().eq_ignore_ascii_case(&name))
    }

    /// The level of that name in options; none for any other word, as `default`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_by_their_name_and_stored_under_it() {
        for level in Isolation::ALL {
            assert_eq!(Isolation::named(level.name()), Some(level));
            assert_eq!(Isolation::in_sql(&level.sql().to_lowercase()), Some(level));
            assert_eq!(
                Isolation::in_sql(&level.sql().replace(' ', "-")),
                Some(level)
            );
            let stored = serde_json::to_string(&level).unwrap();
            assert_eq!(stored, format!("\"{level}\""));
            assert_eq!(level.sql(), level.name().replace('-', " ").to_uppercase());
        }
        let choices: Vec<_> = Isolation::CHOICES
            .iter()
            .map(|c| Isolation::named(c))
            .collect();
        assert_eq!(choices[0], None);
        assert_eq!(choices[1..], Isolation::ALL.map(Some));
        assert_eq!(Isolation::named(""), None);
    }
}
