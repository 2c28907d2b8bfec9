//! Statements on rows that engines write differently.

use crate::Dialect;
use tidemark_core::Protocol;

impl Dialect {
    /// What follows a SELECT so that its rows are locked until the transaction ends; nothing where
    /// a transaction that writes has the whole database locked from its beginning.
    pub fn for_update(&self) -> &'static str {
        match self.engine().protocol() {
            Protocol::Sqlite => "",
            _ => " FOR UPDATE",
        }
    }

    /// What follows a table's name in a SELECT so that the server keeps to the primary key; nothing
    /// where there is no such word.
    pub fn by_primary_key(&self) -> &'static str {
        match self.engine().protocol() {
            Protocol::Mysql => " FORCE INDEX(`PRIMARY`)",
            Protocol::Postgres | Protocol::Sqlite => "",
        }
    }

    /// The INSERT of one row that leaves a row of the same key as it is. `table` is written as given.
    ///
    /// ```
    /// # use tidemark_drivers::Dialect;
    /// # use tidemark_core::Engine;
    /// let postgres = Dialect::new(Engine::Postgres).insert_unless_there("t", &["a", "b"]);
    /// assert_eq!(postgres, "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING");
    /// ```
    pub fn insert_unless_there(&self, table: &str, columns: &[&str]) -> String {
        let (verb, after) = match self.engine().protocol() {
            Protocol::Mysql => ("INSERT IGNORE", ""),
            Protocol::Postgres => ("INSERT", " ON CONFLICT DO NOTHING"),
            Protocol::Sqlite => ("INSERT OR IGNORE", ""),
        };
        let marks = vec!["?"; columns.len()].join(", ");
        format!(
            "{verb} INTO {table} ({}) VALUES ({marks}){after}",
            columns.join(", ")
        )
    }

    /// Whether an UPDATE can return its rows (`UPDATE … RETURNING`).
    pub fn update_returns(&self) -> bool {
        self.engine().protocol() != Protocol::Mysql
    }

    /// Whether one parameter can hold a list of any length, which `unnest` makes rows of.
    pub fn has_array_parameters(&self) -> bool {
        self.engine().protocol() == Protocol::Postgres
    }

    /// The condition that integer columns are those of one of `rows` rows of parameters: a
    /// parameter a column, where a parameter can hold a list ([`Dialect::has_array_parameters`]);
    /// else `rows` times one for each column, row by row.
    ///
    /// ```
    /// # use tidemark_drivers::Dialect;
    /// # use tidemark_core::Engine;
    /// let mariadb = Dialect::new(Engine::Mariadb).is_one_of(&["a", "b"], 2);
    /// assert_eq!(mariadb, "(a, b) IN ((?, ?), (?, ?))");
    /// ```
    pub fn is_one_of(&self, columns: &[&str], rows: usize) -> String {
        let left = columns.join(", ");
        if self.has_array_parameters() {
            let arrays = vec!["CAST(? AS INT[])"; columns.len()].join(", ");
            return format!("({left}) IN (SELECT * FROM unnest({arrays}))");
        }
        let row = format!("({})", vec!["?"; columns.len()].join(", "));
        let list = vec![row; rows].join(", ");
        // A list of rows is a table in SQLite, and a list only in MySQL
        // (sqlite.org/rowvalue.html, 2.1).
        match self.engine().protocol() {
            Protocol::Sqlite => format!("({left}) IN (VALUES {list})"),
            _ => format!("({left}) IN ({list})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn rows_are_named_and_locked_as_each_engine_can() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let (condition, lock, returns) = match engine.protocol() {
                Protocol::Mysql => ("(a, b) IN ((?, ?), (?, ?))", " FOR UPDATE", false),
                Protocol::Postgres => (
                    "(a, b) IN (SELECT * FROM unnest(CAST(? AS INT[]), CAST(? AS INT[])))",
                    " FOR UPDATE",
                    true,
                ),
                Protocol::Sqlite => ("(a, b) IN (VALUES (?, ?), (?, ?))", "", true),
            };
            assert_eq!(d.is_one_of(&["a", "b"], 2), condition, "{engine}");
            assert_eq!(d.for_update(), lock, "{engine}");
            assert_eq!(d.update_returns(), returns, "{engine}");
            let hinted = engine.protocol() == Protocol::Mysql;
            assert_eq!(d.by_primary_key().is_empty(), !hinted, "{engine}");
            let lists = engine.protocol() == Protocol::Postgres;
            assert_eq!(d.has_array_parameters(), lists, "{engine}");
        }
    }
}
