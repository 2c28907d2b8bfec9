//! Tables, keys and partitions as each engine wants them written.

use crate::engines::Splits;
use crate::{Dialect, Partitioning};
use tidemark_core::Protocol;

/// Partitions where an engine wants a number and none was asked for.
const DEFAULT_PARTITIONS: u32 = 8;

/// How a table is split by its integer key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSplit {
    /// The key's definition within CREATE TABLE: `PRIMARY KEY (id)`.
    pub primary_key: String,
    /// What follows the parenthesis of CREATE TABLE; empty or with a leading blank.
    pub suffix: String,
    /// Statements after CREATE TABLE.
    pub after: Vec<String>,
}

/// The engine can't do what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

impl Dialect {
    /// Type of an INTEGER key column that the server fills when an INSERT leaves it out. SQLite
    /// does so for every `INTEGER` primary key (sqlite.org/lang_createtable.html, 5).
    pub fn generated_key_type(&self) -> &'static str {
        match self.engine().protocol() {
            Protocol::Mysql => "INTEGER NOT NULL AUTO_INCREMENT",
            Protocol::Postgres => "SERIAL",
            Protocol::Sqlite => "INTEGER NOT NULL",
        }
    }

    /// Type of a column that holds a date and a time, without a time zone.
    pub fn time_type(&self) -> &'static str {
        match self.engine().protocol() {
            Protocol::Mysql | Protocol::Sqlite => "DATETIME",
            Protocol::Postgres => "TIMESTAMP",
        }
    }

    /// Whether the server can fill a key column that is not the primary key.
    pub fn generates_without_primary_key(&self) -> bool {
        self.engine().protocol() != Protocol::Sqlite
    }

    /// The value that asks for the next generated key; `None` where the column is left out.
    pub fn next_key(&self) -> Option<i64> {
        (self.engine().protocol() == Protocol::Mysql).then_some(0)
    }

    /// The statement that makes the server's next generated key follow `last`, where loading
    /// explicit keys has not done so already.
    pub fn follow_key(&self, table: &str, column: &str, last: u64) -> Option<String> {
        (self.engine().protocol() == Protocol::Postgres && last > 0).then(|| {
            format!("SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {last})")
        })
    }

    /// Whether a primary key is better added after the rows: where the table is a heap beside its
    /// key, the key is then sorted once (PostgreSQL manual, 14.4.3). Where rows are stored by key, it
    /// belongs to CREATE TABLE.
    pub fn adds_primary_key_later(&self) -> bool {
        self.of_engine().adds_primary_key_later
    }

    /// What follows PRIMARY KEY so that rows lie in the order of the key, where an engine has both
    /// kinds (TiDB manual, "Clustered Indexes"); others read it as a comment.
    pub fn clustered_key(&self) -> &'static str {
        self.of_engine().clustered_key
    }

    /// Whether a table's rows are kept in the order of its primary key, which is there from the
    /// beginning: counting the rows of a range of keys reads those alone (MySQL manual, "Clustered
    /// and Secondary Indexes").
    pub fn keeps_rows_by_key(&self) -> bool {
        self.of_engine().keeps_rows_by_key
    }

    /// What a session sets within a transaction that loads rows. PostgreSQL need not wait for the disk
    /// at each commit (manual, "Asynchronous Commit"): what a crash of the server takes back is whole
    /// transactions from the end, each with its line in the journal, and the load goes on with them.
    /// Whoever ends the load commits once as the server is set to, and that waits for all before it.
    pub fn within_load(&self) -> Option<&'static str> {
        self.of_engine().within_load
    }

    /// The statements after a load that give the planner its statistics. PostgreSQL's also set the
    /// visibility map, which index-only scans need, and keep its automatic vacuum from doing both in
    /// the middle of the first run (manual, "Routine Vacuuming"). A third of the usual sample is
    /// enough for generated rows; a server that is set to less keeps to that.
    ///
    /// CockroachDB gathers its own some time after the rows came ("Cost-Based Optimizer", Table
    /// statistics), which may be in the middle of the first run. Its ANALYZE is CREATE STATISTICS
    /// of all columns, since 20.2 ("CREATE STATISTICS", Aliases). YugabyteDB's wants to be told after
    /// data is loaded (YSQL, "ANALYZE", Run ANALYZE regularly), and has nothing to vacuum. SQLite's
    /// reads each index once (sqlite.org/lang_analyze.html, 2), which is little beside making it; so
    /// no `analysis_limit` is set, under which it would keep no samples of values.
    pub fn refresh(&self, table: &str) -> Vec<String> {
        let table = self.quote(table);
        let statements = self.of_engine().refresh.iter();
        statements.map(|s| s.replace("{table}", &table)).collect()
    }

    /// Whether CREATE TABLE can define an index that is not unique.
    pub fn has_inline_indexes(&self) -> bool {
        self.engine().protocol() == Protocol::Mysql
    }

    /// The storage engine's clause of CREATE TABLE, as a comment that only MySQL and its kin read;
    /// empty elsewhere.
    pub fn storage_engine(&self, name: &str) -> String {
        if self.engine().protocol() == Protocol::Mysql && !name.is_empty() {
            format!("/*! ENGINE = {name} */")
        } else {
            String::new()
        }
    }

    /// What follows an INSERT's rows so that rows whose key exists are updated.
    pub fn upsert(&self, key: &[&str], columns: &[&str]) -> String {
        let set = |new: &dyn Fn(&str) -> String| {
            let each = columns.iter().map(|c| format!("{c}={}", new(c)));
            each.collect::<Vec<_>>().join(", ")
        };
        if self.engine().protocol() == Protocol::Mysql {
            format!(
                "ON DUPLICATE KEY UPDATE {}",
                set(&|c| format!("VALUES({c})"))
            )
        } else {
            format!(
                "ON CONFLICT ({}) DO UPDATE SET {}",
                key.join(", "),
                set(&|c| format!("excluded.{c}"))
            )
        }
    }

    /// Statements that read a table by its key and by a secondary column into the server's memory,
    /// after refreshing its statistics. `index` is the name that MySQL knows the key's index by.
    pub fn prewarm(
        &self,
        table: &str,
        key: &str,
        index: &str,
        column: &str,
        rows: u64,
    ) -> Vec<String> {
        match self.engine().protocol() {
            Protocol::Mysql => vec![
                "SET tmp_table_size=2*1024*1024*1024".into(),
                "SET max_heap_table_size=2*1024*1024*1024".into(),
                format!("ANALYZE TABLE {table}"),
                format!(
                    "SELECT AVG({key}) FROM (SELECT * FROM {table} FORCE KEY ({index}) LIMIT {rows}) t"
                ),
                format!(
                    "SELECT COUNT(*) FROM (SELECT * FROM {table} WHERE {column} LIKE '%0%' LIMIT {rows}) t"
                ),
            ],
            protocol => vec![
                format!("ANALYZE {table}"),
                // Counting whole rows keeps PostgreSQL from reading the index alone.
                format!(
                    "SELECT {} FROM (SELECT * FROM {table} ORDER BY {key} LIMIT {rows}) t",
                    if protocol == Protocol::Postgres {
                        "COUNT(t)".to_string()
                    } else {
                        format!("AVG({key})")
                    }
                ),
                format!(
                    "SELECT COUNT(*) FROM (SELECT * FROM {table} WHERE CAST({column} AS TEXT) LIKE '%0%' LIMIT {rows}) t"
                ),
            ],
        }
    }

    /// How a table is split by its integer key, whose values are 1 to `last`. With `partitions` 0
    /// the engine's own number is taken, and 8 where it has none.
    ///
    /// # Errors
    /// [`Unsupported`] when the engine can't split tables.
    pub fn split(
        &self,
        table: &str,
        key: &str,
        how: Partitioning,
        partitions: u32,
        last: u64,
    ) -> Result<TableSplit, Unsupported> {
        let plain = TableSplit {
            primary_key: format!("PRIMARY KEY ({key})"),
            suffix: String::new(),
            after: Vec::new(),
        };
        let wanted = match partitions {
            0 => DEFAULT_PARTITIONS,
            n => n,
        };
        let bounds = |n: u32| even_bounds(n, last);
        let split = match (how, self.of_engine().splits) {
            (Partitioning::Default, _) => plain,
            (_, Splits::No) => return Err(self.no_splits()),
            (Partitioning::Hash, Splits::Yugabyte) => TableSplit {
                primary_key: format!("PRIMARY KEY ({key} HASH)"),
                suffix: when(partitions > 0, format!(" SPLIT INTO {partitions} TABLETS")),
                ..plain
            },
            (Partitioning::Range, Splits::Yugabyte) => TableSplit {
                primary_key: format!("PRIMARY KEY ({key} ASC)"),
                suffix: when(
                    !bounds(partitions).is_empty(),
                    format!(" SPLIT AT VALUES ({})", listed(&bounds(partitions))),
                ),
                ..plain
            },
            (Partitioning::Hash, Splits::Cockroach) => TableSplit {
                primary_key: format!(
                    "PRIMARY KEY ({key}) USING HASH{}",
                    when(partitions > 0, format!(" WITH (bucket_count={partitions})"))
                ),
                ..plain
            },
            (Partitioning::Range, Splits::Cockroach) => TableSplit {
                after: (!bounds(partitions).is_empty())
                    .then(|| {
                        let at = listed(&bounds(partitions));
                        format!("ALTER TABLE {table} SPLIT AT VALUES {at}")
                    })
                    .into_iter()
                    .collect(),
                ..plain
            },
            (Partitioning::Hash, Splits::Postgres) => TableSplit {
                suffix: format!(" PARTITION BY HASH ({key})"),
                after: (0..wanted)
                    .map(|i| {
                        format!(
                            "CREATE TABLE {table}_p{i} PARTITION OF {table} FOR VALUES WITH (MODULUS {wanted}, REMAINDER {i})"
                        )
                    })
                    .collect(),
                ..plain
            },
            (Partitioning::Range, Splits::Postgres) => TableSplit {
                suffix: format!(" PARTITION BY RANGE ({key})"),
                after: postgres_ranges(table, &bounds(wanted)),
                ..plain
            },
            (Partitioning::Hash, Splits::Mysql) => TableSplit {
                suffix: format!(" PARTITION BY HASH({key}) PARTITIONS {wanted}"),
                ..plain
            },
            (Partitioning::Range, Splits::Mysql) => TableSplit {
                suffix: mysql_ranges(key, &bounds(wanted)),
                ..plain
            },
        };
        Ok(split)
    }

    pub(crate) fn no_splits(&self) -> Unsupported {
        Unsupported(format!(
            "{} can't split tables into partitions",
            self.engine()
        ))
    }
}

fn when(condition: bool, text: String) -> String {
    if condition { text } else { String::new() }
}

/// The first key of each part but the first, of `parts` even parts of 1 to `last`; fewer where
/// there are fewer keys than parts, because engines refuse empty ranges.
fn even_bounds(parts: u32, last: u64) -> Vec<u64> {
    let mut bounds: Vec<u64> = (1..u64::from(parts))
        .map(|i| 1 + (u128::from(last) * u128::from(i) / u128::from(parts)) as u64)
        .filter(|bound| *bound > 1)
        .collect();
    bounds.dedup();
    bounds
}

fn listed(bounds: &[u64]) -> String {
    let each = bounds.iter().map(|b| format!("({b})"));
    each.collect::<Vec<_>>().join(", ")
}

fn postgres_ranges(table: &str, bounds: &[u64]) -> Vec<String> {
    let ends: Vec<String> = std::iter::once("MINVALUE".into())
        .chain(bounds.iter().map(u64::to_string))
        .chain(std::iter::once("MAXVALUE".into()))
        .collect();
    ends.windows(2)
        .enumerate()
        .map(|(i, pair)| {
            format!(
                "CREATE TABLE {table}_p{i} PARTITION OF {table} FOR VALUES FROM ({}) TO ({})",
                pair[0], pair[1]
            )
        })
        .collect()
}

fn mysql_ranges(key: &str, bounds: &[u64]) -> String {
    let parts: Vec<String> = bounds
        .iter()
        .map(|b| format!("({b})"))
        .chain(std::iter::once("MAXVALUE".into()))
        .enumerate()
        .map(|(i, end)| format!("PARTITION p{i} VALUES LESS THAN {end}"))
        .collect();
    format!(" PARTITION BY RANGE({key}) ({})", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    fn split(engine: Engine, how: Partitioning, n: u32) -> TableSplit {
        Dialect::new(engine).split("t", "id", how, n, 100).unwrap()
    }

    #[test]
    fn default_partitioning_is_a_plain_table_everywhere() {
        for engine in Engine::ALL {
            let s = split(engine, Partitioning::Default, 0);
            assert_eq!(s.primary_key, "PRIMARY KEY (id)");
            assert!(s.suffix.is_empty() && s.after.is_empty());
        }
    }

    #[test]
    fn yugabyte_is_split_into_tablets() {
        let hash = split(Engine::Yugabyte, Partitioning::Hash, 16);
        assert_eq!(hash.primary_key, "PRIMARY KEY (id HASH)");
        assert_eq!(hash.suffix, " SPLIT INTO 16 TABLETS");
        let range = split(Engine::Yugabyte, Partitioning::Range, 4);
        assert_eq!(range.primary_key, "PRIMARY KEY (id ASC)");
        assert_eq!(range.suffix, " SPLIT AT VALUES ((26), (51), (76))");
        assert_eq!(split(Engine::Yugabyte, Partitioning::Range, 0).suffix, "");
    }

    #[test]
    fn ranges_cover_every_key() {
        let range = split(Engine::Postgres, Partitioning::Range, 2);
        assert_eq!(range.suffix, " PARTITION BY RANGE (id)");
        assert_eq!(
            range.after,
            [
                "CREATE TABLE t_p0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (51)",
                "CREATE TABLE t_p1 PARTITION OF t FOR VALUES FROM (51) TO (MAXVALUE)"
            ]
        );
        assert_eq!(
            split(Engine::Mariadb, Partitioning::Range, 2).suffix,
            " PARTITION BY RANGE(id) (PARTITION p0 VALUES LESS THAN (51), PARTITION p1 VALUES LESS THAN MAXVALUE)"
        );
        assert_eq!(
            split(Engine::Cockroach, Partitioning::Range, 2).after,
            ["ALTER TABLE t SPLIT AT VALUES (51)"]
        );
    }

    #[test]
    fn fewer_keys_than_parts_make_fewer_ranges() {
        assert_eq!(even_bounds(4, 100), [26, 51, 76]);
        assert_eq!(even_bounds(4, 2), [2]);
        assert!(even_bounds(8, 0).is_empty());
        for engine in Engine::ALL.into_iter().filter(|e| *e != Engine::Sqlite) {
            let none = Dialect::new(engine).split("t", "id", Partitioning::Range, 8, 0);
            let none = none.unwrap();
            let text = format!("{}{}", none.suffix, none.after.join(";"));
            assert!(!text.contains("()"), "{engine}: {text}");
        }
    }

    #[test]
    fn hash_partitions_have_a_number_where_the_engine_wants_one() {
        assert_eq!(
            split(Engine::Tidb, Partitioning::Hash, 0).suffix,
            " PARTITION BY HASH(id) PARTITIONS 8"
        );
        assert_eq!(
            split(Engine::Postgres, Partitioning::Hash, 3).after.len(),
            3
        );
        assert_eq!(
            split(Engine::Cockroach, Partitioning::Hash, 0).primary_key,
            "PRIMARY KEY (id) USING HASH"
        );
        let sqlite = Dialect::new(Engine::Sqlite);
        assert!(sqlite.split("t", "id", Partitioning::Hash, 2, 9).is_err());
    }

    #[test]
    fn statistics_are_refreshed_as_each_engine_says_it() {
        let refresh = |engine| Dialect::new(engine).refresh("t");
        for engine in [Engine::Cockroach, Engine::Yugabyte, Engine::Sqlite] {
            // Of the table alone: ANALYZE without a name is every table of the database.
            assert_eq!(refresh(engine), ["ANALYZE \"t\""], "{engine}");
        }
        for engine in [Engine::Tidb, Engine::Mysql, Engine::Mariadb] {
            assert_eq!(refresh(engine), ["ANALYZE TABLE `t`"], "{engine}");
        }
        let postgres = refresh(Engine::Postgres);
        assert_eq!(postgres[0], "VACUUM \"t\"");
        assert_eq!(postgres[3], "ANALYZE \"t\"");
    }

    #[test]
    fn rows_that_exist_are_updated() {
        assert_eq!(
            Dialect::new(Engine::Mysql).upsert(&["id"], &["k", "c"]),
            "ON DUPLICATE KEY UPDATE k=VALUES(k), c=VALUES(c)"
        );
        assert_eq!(
            Dialect::new(Engine::Sqlite).upsert(&["id"], &["k", "c"]),
            "ON CONFLICT (id) DO UPDATE SET k=excluded.k, c=excluded.c"
        );
    }
}
