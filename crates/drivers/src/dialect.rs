//! What differs between engines that speak one protocol.

use crate::Value;
use crate::cluster::Cluster;
use crate::engines::{self, Peculiarities};
use tidemark_core::{Engine, Protocol};

/// A way to load many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkMethod {
    /// `COPY … FROM STDIN`.
    Copy,
    /// Arrays of binary values for one prepared INSERT (MariaDB's `COM_STMT_BULK_EXECUTE`).
    BulkExecute,
    /// `LOAD DATA LOCAL INFILE`.
    LoadData,
    /// `INSERT … VALUES (…), (…), …` as text.
    MultiRowInsert,
    /// A prepared INSERT, one row at a time (embedded engines).
    PreparedInsert,
}

/// Where marks of tables are kept in engines without table comments.
pub(crate) const MARKS_TABLE: &str = "tidemark_marks";

/// How a table's rows are laid over the nodes of a distributed engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitioning {
    /// As the engine does by itself.
    Default,
    /// By the hash of the key.
    Hash,
    /// By ranges of the key.
    Range,
}

/// What can be set so that commits do not wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitWait {
    /// Nothing.
    Fixed,
    /// A setting of sessions, and its value then.
    Session(&'static str, &'static str),
    /// Settings of the server: those of InnoDB's log and of the binary log.
    Logs,
}

/// SQL text that depends on the engine. Workloads ask it, and never for the engine's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    engine: Engine,
}

impl Dialect {
    /// The dialect of an engine.
    pub const fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine it belongs to: for records, not for branching.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// What is peculiar to it.
    pub(crate) fn of_engine(&self) -> &'static Peculiarities {
        engines::of(self.engine)
    }

    /// An identifier in the engine's quotes.
    pub fn quote(&self, identifier: &str) -> String {
        match self.engine.protocol() {
            Protocol::Mysql => format!("`{}`", identifier.replace('`', "``")),
            _ => format!("\"{}\"", identifier.replace('"', "\"\"")),
        }
    }

    /// The statement that begins a transaction which will write. SQLite takes its write lock at
    /// once: a lock taken later can't be waited for (sqlite.org/lang_transaction.html, 2.2).
    pub fn begin(&self) -> &'static str {
        match self.engine.protocol() {
            Protocol::Sqlite => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        }
    }

    /// The statement that begins a transaction which only reads.
    pub fn begin_read(&self) -> &'static str {
        "BEGIN"
    }

    /// The best way to load many rows, if the server's configuration allows it.
    pub fn bulk_method(&self) -> BulkMethod {
        let methods = self.bulk_methods();
        methods
            .first()
            .copied()
            .unwrap_or(BulkMethod::MultiRowInsert)
    }

    /// Every way to load many rows that the engine knows, best first.
    pub fn bulk_methods(&self) -> &'static [BulkMethod] {
        self.of_engine().bulk_methods
    }

    /// The statements that leave a mark on a table: its comment, where the engine has comments.
    pub fn mark_table(&self, table: &str, mark: &str) -> Vec<String> {
        let quoted = self.quote(table);
        let mark = self.literal(Value::Text(mark));
        match self.engine.protocol() {
            Protocol::Mysql => vec![format!("ALTER TABLE {quoted} COMMENT = {mark}")],
            Protocol::Postgres => vec![format!("COMMENT ON TABLE {quoted} IS {mark}")],
            Protocol::Sqlite => {
                let table = self.literal(Value::Text(table));
                vec![
                    format!(
                        "CREATE TABLE IF NOT EXISTS {MARKS_TABLE} (table_name TEXT PRIMARY KEY, \
                         mark TEXT NOT NULL, definition TEXT NOT NULL)"
                    ),
                    format!(
                        "INSERT OR REPLACE INTO {MARKS_TABLE} (table_name, mark, definition) \
                         SELECT name, {mark}, sql FROM sqlite_schema \
                         WHERE type = 'table' AND name = {table} COLLATE NOCASE"
                    ),
                ]
            }
        }
    }

    /// A CREATE TABLE statement with more options (with a blank before them) that leaves the mark, too,
    /// where one can: that saves a statement, which
    /// MariaDB makes as durable as any change of a table. Among options the last one counts.
    pub fn create_with_mark(&self, create: &str, options: &str, mark: &str) -> Option<String> {
        if self.engine.protocol() != Protocol::Mysql {
            return None;
        }
        let mark = self.literal(Value::Text(mark));
        let at = create.find(" PARTITION BY ").unwrap_or(create.len());
        let (table, partitions) = create.split_at(at);
        Some(format!(
            "{}{options} COMMENT={mark}{partitions}",
            table.trim_end()
        ))
    }

    /// Whether making a table is part of a transaction, so that several cost one wait for the disk.
    pub fn makes_tables_in_transactions(&self) -> bool {
        self.of_engine().makes_tables_in_transactions
    }

    /// Whether tables are best made by several sessions at once. On PostgreSQL and SQLite one
    /// transaction is cheaper ([`Dialect::makes_tables_in_transactions`]); the others change what
    /// tables there are one after another, and some fail when two ask.
    pub fn makes_tables_side_by_side(&self) -> bool {
        self.of_engine().makes_tables_side_by_side
    }

    /// What can be set so that commits do not wait for the disk.
    pub fn commit_wait(&self) -> CommitWait {
        self.of_engine().commit_wait
    }

    /// Whether the server tells how many sessions it takes.
    pub fn limits_sessions(&self) -> bool {
        self.of_engine().limits_sessions
    }

    /// How a cluster names its nodes; `None` where the engine is none.
    pub fn cluster(&self) -> Option<&'static Cluster> {
        self.of_engine().cluster.as_ref()
    }

    /// A value as a literal.
    pub fn literal(&self, value: Value<'_>) -> String {
        let mut out = Vec::new();
        self.write_literal(value, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Appends a value as a literal.
    pub fn write_literal(&self, value: Value<'_>, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
            // With an exponent it is a double in MySQL too, which reads digits alone as a DECIMAL of
            // 65 of them at most.
            Value::Float(v) if v.is_finite() => {
                out.extend_from_slice(format!("{v:e}").as_bytes());
            }
            Value::Float(v) => self.write_text(v.to_string().as_bytes(), out),
            Value::Text(v) => self.write_text(v.as_bytes(), out),
            Value::Bytes(v) if self.engine.protocol() == Protocol::Postgres => {
                out.extend_from_slice(b"'\\x");
                write_hex(v, out);
                out.push(b'\'');
            }
            Value::Bytes(v) => {
                out.extend_from_slice(b"x'");
                write_hex(v, out);
                out.push(b'\'');
            }
        }
    }

    /// Quotes double in every engine; backslashes escape only in MySQL's default `sql_mode`, and
    /// not in PostgreSQL's `standard_conforming_strings`.
    fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        let backslash_escapes = self.engine.protocol() == Protocol::Mysql;
        out.push(b'\'');
        for &b in text {
            match b {
                b'\'' => out.extend_from_slice(b"''"),
                b'\\' if backslash_escapes => out.extend_from_slice(b"\\\\"),
                _ => out.push(b),
            }
        }
        out.push(b'\'');
    }
}

/// Two lower-case digits a byte.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)]);
        out.push(DIGITS[usize::from(b & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stands_before_partitions() {
        let create = "CREATE TABLE t (a INT)  PARTITION BY HASH(a) PARTITIONS 8";
        assert_eq!(
            Dialect::new(Engine::Mariadb)
                .create_with_mark(create, "", "it's")
                .unwrap(),
            "CREATE TABLE t (a INT) COMMENT='it''s' PARTITION BY HASH(a) PARTITIONS 8"
        );
        let plain =
            Dialect::new(Engine::Tidb).create_with_mark("CREATE TABLE t (a INT) ", " X=1", "m");
        assert_eq!(plain.unwrap(), "CREATE TABLE t (a INT) X=1 COMMENT='m'");
        assert!(
            Dialect::new(Engine::Postgres)
                .create_with_mark(create, "", "m")
                .is_none()
        );
    }

    #[test]
    fn identifiers_and_literals_of_each_protocol() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let (quoted, text, bytes) = match engine.protocol() {
                Protocol::Mysql => ("`a``b`", r"'it''s \\ here'", "x'00ff'"),
                Protocol::Postgres => ("\"a`b\"", r"'it''s \ here'", r"'\x00ff'"),
                Protocol::Sqlite => ("\"a`b\"", r"'it''s \ here'", "x'00ff'"),
            };
            assert_eq!(d.quote("a`b"), quoted, "{engine}");
            assert_eq!(d.literal(Value::Text(r"it's \ here")), text, "{engine}");
            assert_eq!(d.literal(Value::Bytes(&[0, 255])), bytes, "{engine}");
            assert_eq!(d.literal(Value::Null), "NULL");
            assert_eq!(d.literal(Value::Float(-1e300)), "-1e300");
            assert_eq!(d.literal(Value::Float(0.5)), "5e-1");
            assert_eq!(d.literal(Value::Float(f64::NAN)), "'NaN'");
            assert_eq!(d.literal(Value::Int(i64::MIN)), "-9223372036854775808");
        }
    }

    #[test]
    fn marks_are_comments_where_there_are_comments() {
        for engine in Engine::ALL {
            let sql = Dialect::new(engine).mark_table("t", "tidemark:it's");
            match engine.protocol() {
                Protocol::Mysql => {
                    assert_eq!(sql, ["ALTER TABLE `t` COMMENT = 'tidemark:it''s'"]);
                }
                Protocol::Postgres => {
                    assert_eq!(sql, [r#"COMMENT ON TABLE "t" IS 'tidemark:it''s'"#]);
                }
                Protocol::Sqlite => {
                    assert!(sql[0].starts_with("CREATE TABLE IF NOT EXISTS tidemark_marks"));
                    assert!(sql[1].contains("'tidemark:it''s'"), "{}", sql[1]);
                }
            }
        }
    }

    #[test]
    fn the_best_way_to_load_is_the_first_of_all() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            assert_eq!(d.bulk_methods().first(), Some(&d.bulk_method()), "{engine}");
        }
    }

    #[test]
    fn only_sqlite_takes_its_write_lock_when_a_transaction_begins() {
        for engine in Engine::ALL {
            let begin = Dialect::new(engine).begin();
            assert_eq!(begin == "BEGIN IMMEDIATE", engine == Engine::Sqlite);
        }
    }

    /// Every engine's words for a table split in two by its key 1 to 100.
    #[test]
    fn tables_are_split_as_each_engine_documents_it() {
        let text = |engine, how| {
            let split = Dialect::new(engine).split("t", "id", how, 2, 100);
            split.map(|s| format!("({}){}; {}", s.primary_key, s.suffix, s.after.join("; ")))
        };
        let mysql = [
            "(PRIMARY KEY (id)) PARTITION BY HASH(id) PARTITIONS 2; ",
            "(PRIMARY KEY (id)) PARTITION BY RANGE(id) (PARTITION p0 VALUES LESS THAN (51), \
             PARTITION p1 VALUES LESS THAN MAXVALUE); ",
        ];
        assert!(text(Engine::Sqlite, Partitioning::Hash).is_err());
        assert!(text(Engine::Sqlite, Partitioning::Range).is_err());
        for (engine, [hash, range]) in [
            (Engine::Mysql, mysql),
            (Engine::Mariadb, mysql),
            (Engine::Tidb, mysql),
            (
                Engine::Postgres,
                [
                    "(PRIMARY KEY (id)) PARTITION BY HASH (id); \
                     CREATE TABLE t_p0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0); \
                     CREATE TABLE t_p1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
                    "(PRIMARY KEY (id)) PARTITION BY RANGE (id); \
                     CREATE TABLE t_p0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (51); \
                     CREATE TABLE t_p1 PARTITION OF t FOR VALUES FROM (51) TO (MAXVALUE)",
                ],
            ),
            (
                Engine::Yugabyte,
                [
                    "(PRIMARY KEY (id HASH)) SPLIT INTO 2 TABLETS; ",
                    "(PRIMARY KEY (id ASC)) SPLIT AT VALUES ((51)); ",
                ],
            ),
            (
                Engine::Cockroach,
                [
                    "(PRIMARY KEY (id) USING HASH WITH (bucket_count=2)); ",
                    "(PRIMARY KEY (id)); ALTER TABLE t SPLIT AT VALUES (51)",
                ],
            ),
        ] {
            assert_eq!(text(engine, Partitioning::Hash).unwrap(), hash, "{engine}");
            assert_eq!(
                text(engine, Partitioning::Range).unwrap(),
                range,
                "{engine}"
            );
        }
    }

    #[test]
    fn upserts_name_the_new_row_as_each_protocol_does() {
        for engine in Engine::ALL {
            let upsert = Dialect::new(engine).upsert(&["id"], &["k", "c"]);
            match engine.protocol() {
                Protocol::Mysql => {
                    assert_eq!(upsert, "ON DUPLICATE KEY UPDATE k=VALUES(k), c=VALUES(c)");
                }
                _ => assert_eq!(
                    upsert,
                    "ON CONFLICT (id) DO UPDATE SET k=excluded.k, c=excluded.c"
                ),
            }
        }
    }
}
