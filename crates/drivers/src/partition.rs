//! Tables split into partitions by one integer column of a key of several.

use crate::Dialect;
use crate::ddl::{TableSplit, Unsupported};
use crate::engines::Splits;
use tidemark_core::Protocol;

/// How the values of a column are dealt to partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// By the engine's hash, into so many.
    Hash(u32),
    /// By ranges: the first value of each part but the first.
    Ranges(Vec<u64>),
    /// By the values of each part.
    Lists(Vec<Vec<u64>>),
}

impl Dialect {
    /// How a table is split by column `by`. `key` are the columns of its primary key, which begins
    /// with `by`; where it is empty the table has none, and is left whole by engines that split by
    /// the key alone.
    ///
    /// - MySQL, MariaDB, TiDB and PostgreSQL split tables by any column of the key.
    /// - YugabyteDB splits by the key's hash or order into tablets, and by lists as PostgreSQL does.
    /// - CockroachDB has hash-sharded keys, split points, and partitions by lists of the key.
    ///
    /// # Errors
    /// [`Unsupported`] where there are no partitions: SQLite.
    pub fn cut(
        &self,
        table: &str,
        key: &[&str],
        by: &str,
        cut: &Cut,
    ) -> Result<TableSplit, Unsupported> {
        let plain = TableSplit {
            primary_key: primary_key(key),
            suffix: String::new(),
            after: Vec::new(),
        };
        let keyless = key.is_empty();
        let rest: String = key.iter().skip(1).map(|c| format!(", {c}")).collect();
        let split = match (self.of_engine().splits, cut) {
            (Splits::No, _) => return Err(self.no_splits()),
            (Splits::Mysql, cut) => TableSplit {
                suffix: format!(" {}", mysql(by, cut)),
                ..plain
            },
            (Splits::Postgres, cut) | (Splits::Yugabyte, cut @ Cut::Lists(_)) => {
                let (suffix, after) = postgres(table, by, cut);
                TableSplit {
                    suffix,
                    after,
                    ..plain
                }
            }
            (Splits::Yugabyte, Cut::Hash(parts)) => TableSplit {
                primary_key: when(!keyless, || format!("PRIMARY KEY ({by} HASH{rest})")),
                suffix: format!(" SPLIT INTO {parts} TABLETS"),
                ..plain
            },
            (Splits::Yugabyte | Splits::Cockroach, _) if keyless => plain,
            (Splits::Yugabyte, Cut::Ranges(bounds)) => TableSplit {
                primary_key: format!("PRIMARY KEY ({by} ASC{rest})"),
                suffix: format!(" SPLIT AT VALUES ({})", points(bounds)),
                ..plain
            },
            (Splits::Cockroach, Cut::Hash(parts)) => TableSplit {
                primary_key: format!(
                    "{} USING HASH WITH (bucket_count={parts})",
                    plain.primary_key
                ),
                ..plain
            },
            (Splits::Cockroach, Cut::Ranges(bounds)) => TableSplit {
                after: vec![format!(
                    "ALTER TABLE {table} SPLIT AT VALUES {}",
                    points(bounds)
                )],
                ..plain
            },
            (Splits::Cockroach, Cut::Lists(lists)) => TableSplit {
                suffix: format!(" PARTITION BY LIST ({by}) ({})", mysql_lists(lists)),
                ..plain
            },
        };
        Ok(split)
    }

    /// Whether tables in partitions can have foreign keys or be referred to by them. MySQL, MariaDB
    /// and TiDB document that they can't.
    pub fn partitions_have_foreign_keys(&self) -> bool {
        self.of_engine().partitions_have_foreign_keys
    }

    /// Whether a foreign key can be added to a table that is there. SQLite's are part of CREATE TABLE
    /// (sqlite.org/lang_altertable.html), and kept by sessions that ask for it only.
    pub fn adds_foreign_keys(&self) -> bool {
        self.engine().protocol() != Protocol::Sqlite
    }

    /// Whether adding a foreign key that is checked copies the table, so that all keys of a table are
    /// best added by one statement (MySQL manual, "Online DDL Operations": `foreign_key_checks` on).
    pub fn copies_for_foreign_keys(&self) -> bool {
        self.of_engine().copies_for_foreign_keys
    }
}

fn when(condition: bool, text: impl FnOnce() -> String) -> String {
    if condition { text() } else { String::new() }
}

fn primary_key(key: &[&str]) -> String {
    when(!key.is_empty(), || {
        format!("PRIMARY KEY ({})", key.join(", "))
    })
}

fn points(bounds: &[u64]) -> String {
    let each = bounds.iter().map(|b| format!("({b})"));
    each.collect::<Vec<_>>().join(", ")
}

fn values(list: &[u64]) -> String {
    let each = list.iter().map(u64::to_string);
    each.collect::<Vec<_>>().join(", ")
}

fn mysql(by: &str, cut: &Cut) -> String {
    match cut {
        Cut::Hash(parts) => format!("PARTITION BY HASH ({by}) PARTITIONS {parts}"),
        Cut::Ranges(bounds) => {
            let ends = bounds.iter().map(|b| format!("({b})"));
            let parts = ends.chain(["MAXVALUE".into()]).enumerate();
            let parts = parts.map(|(i, end)| format!("PARTITION p{i} VALUES LESS THAN {end}"));
            let parts: Vec<_> = parts.collect();
            format!("PARTITION BY RANGE ({by}) ({})", parts.join(", "))
        }
        Cut::Lists(lists) => format!("PARTITION BY LIST ({by}) ({})", mysql_lists(lists)),
    }
}

fn mysql_lists(lists: &[Vec<u64>]) -> String {
    let parts = lists.iter().enumerate();
    let parts = parts.map(|(i, list)| format!("PARTITION p{i} VALUES IN ({})", values(list)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What follows CREATE TABLE, and the statements that make the partitions.
fn postgres(table: &str, by: &str, cut: &Cut) -> (String, Vec<String>) {
    let (how, bounds): (&str, Vec<String>) = match cut {
        Cut::Hash(parts) => (
            "HASH",
            (0..*parts)
                .map(|i| format!("WITH (MODULUS {parts}, REMAINDER {i})"))
                .collect(),
        ),
        Cut::Ranges(bounds) => {
            let ends: Vec<String> = std::iter::once("MINVALUE".into())
                .chain(bounds.iter().map(u64::to_string))
                .chain(["MAXVALUE".into()])
                .collect();
            let pairs = ends.windows(2);
            let pairs = pairs.map(|pair| format!("FROM ({}) TO ({})", pair[0], pair[1]));
            ("RANGE", pairs.collect())
        }
        Cut::Lists(lists) => (
            "LIST",
            lists
                .iter()
                .map(|list| format!("IN ({})", values(list)))
                .collect(),
        ),
    };
    let after = bounds.iter().enumerate().map(|(i, bound)| {
        format!("CREATE TABLE {table}_p{i} PARTITION OF {table} FOR VALUES {bound}")
    });
    (format!(" PARTITION BY {how} ({by})"), after.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    fn text(engine: Engine, key: &[&str], cut: &Cut) -> String {
        let split = Dialect::new(engine).cut("t", key, "w", cut).unwrap();
        format!(
            "({}){}; {}",
            split.primary_key,
            split.suffix,
            split.after.join("; ")
        )
    }

    const KEY: &[&str] = &["w", "d"];

    #[test]
    fn every_engine_splits_in_its_own_words() {
        let mysql = [
            "(PRIMARY KEY (w, d)) PARTITION BY HASH (w) PARTITIONS 2; ",
            "(PRIMARY KEY (w, d)) PARTITION BY RANGE (w) (PARTITION p0 VALUES LESS THAN (3), \
             PARTITION p1 VALUES LESS THAN MAXVALUE); ",
            "(PRIMARY KEY (w, d)) PARTITION BY LIST (w) (PARTITION p0 VALUES IN (1, 3), \
             PARTITION p1 VALUES IN (2)); ",
        ];
        let postgres_list = "(PRIMARY KEY (w, d)) PARTITION BY LIST (w); \
             CREATE TABLE t_p0 PARTITION OF t FOR VALUES IN (1, 3); \
             CREATE TABLE t_p1 PARTITION OF t FOR VALUES IN (2)";
        let cuts = [
            Cut::Hash(2),
            Cut::Ranges(vec![3]),
            Cut::Lists(vec![vec![1, 3], vec![2]]),
        ];
        let refused = |c| Dialect::new(Engine::Sqlite).cut("t", KEY, "w", c).is_err();
        assert!(cuts.iter().all(refused));
        for (engine, expected) in [
            (Engine::Mysql, mysql),
            (Engine::Mariadb, mysql),
            (Engine::Tidb, mysql),
            (
                Engine::Postgres,
                [
                    "(PRIMARY KEY (w, d)) PARTITION BY HASH (w); \
                     CREATE TABLE t_p0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0); \
                     CREATE TABLE t_p1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                    "(PRIMARY KEY (w, d)) PARTITION BY RANGE (w); \
                     CREATE TABLE t_p0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (3); \
                     CREATE TABLE t_p1 PARTITION OF t FOR VALUES FROM (3) TO (MAXVALUE)",
                    postgres_list,
                ],
            ),
            (
                Engine::Yugabyte,
                [
                    "(PRIMARY KEY (w HASH, d)) SPLIT INTO 2 TABLETS; ",
                    "(PRIMARY KEY (w ASC, d)) SPLIT AT VALUES ((3)); ",
                    postgres_list,
                ],
            ),
            (
                Engine::Cockroach,
                [
                    "(PRIMARY KEY (w, d) USING HASH WITH (bucket_count=2)); ",
                    "(PRIMARY KEY (w, d)); ALTER TABLE t SPLIT AT VALUES (3)",
                    "(PRIMARY KEY (w, d)) PARTITION BY LIST (w) (PARTITION p0 VALUES IN (1, 3), \
                     PARTITION p1 VALUES IN (2)); ",
                ],
            ),
        ] {
            for (cut, expected) in cuts.iter().zip(expected) {
                assert_eq!(text(engine, KEY, cut), expected, "{engine}");
            }
        }
    }

    #[test]
    fn tables_without_a_key_are_split_where_that_goes() {
        let range = Cut::Ranges(vec![3]);
        assert_eq!(
            text(Engine::Mariadb, &[], &Cut::Hash(4)),
            "() PARTITION BY HASH (w) PARTITIONS 4; "
        );
        assert_eq!(
            text(Engine::Yugabyte, &[], &Cut::Hash(4)),
            "() SPLIT INTO 4 TABLETS; "
        );
        assert_eq!(text(Engine::Yugabyte, &[], &range), "(); ");
        assert_eq!(text(Engine::Cockroach, &[], &Cut::Hash(4)), "(); ");
    }
}
