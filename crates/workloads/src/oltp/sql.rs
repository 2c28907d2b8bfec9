//! Statement texts, as sysbench 1.0.20 sends them.

use tidemark_drivers::Dialect;

/// What a transaction ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionEnd {
    Commit,
    Rollback,
}

/// One kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OltpStatement {
    /// Begins a transaction that writes, or one that only reads.
    Begin {
        read_only: bool,
    },
    End(TransactionEnd),
    Point,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    UpdateIndex,
    UpdateNonIndex,
    Delete,
    Insert,
    /// `IN` with this many values.
    RandomPoints(u32),
    /// This many `BETWEEN`s.
    RandomRanges(u32),
    /// Rows in one INSERT, with or without the key.
    InsertBatch {
        rows: u32,
        keyed: bool,
    },
    /// Rows in one INSERT that updates those that exist.
    UpsertBatch {
        rows: u32,
    },
}

impl OltpStatement {
    /// Whether it is prepared once for each table, or once.
    pub fn names_table(self) -> bool {
        !matches!(self, OltpStatement::Begin { .. } | OltpStatement::End(_))
    }

    /// The text for table number `table` (from 1), with `?` for parameters.
    pub fn text(self, table: u32, dialect: &Dialect) -> String {
        match self {
            OltpStatement::Begin { read_only: true } => dialect.begin_read().into(),
            OltpStatement::Begin { read_only: false } => dialect.begin().into(),
            OltpStatement::End(TransactionEnd::Commit) => "COMMIT".into(),
            OltpStatement::End(TransactionEnd::Rollback) => "ROLLBACK".into(),
            OltpStatement::Point => format!("SELECT c FROM sbtest{table} WHERE id=?"),
            OltpStatement::SimpleRange => {
                format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?")
            }
            OltpStatement::SumRange => {
                format!("SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?")
            }
            OltpStatement::OrderRange => {
                format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            OltpStatement::DistinctRange => {
                format!("SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            OltpStatement::UpdateIndex => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            OltpStatement::UpdateNonIndex => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            OltpStatement::Delete => format!("DELETE FROM sbtest{table} WHERE id=?"),
            OltpStatement::Insert => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
            OltpStatement::RandomPoints(n) => format!(
                "SELECT id, k, c, pad\n          FROM sbtest{table}\n          WHERE k IN ({})",
                repeated("?", ", ", n)
            ),
            OltpStatement::RandomRanges(n) => format!(
                "SELECT count(k)\n          FROM sbtest{table}\n          WHERE {}",
                repeated("k BETWEEN ? AND ?", " OR ", n)
            ),
            OltpStatement::InsertBatch { rows, keyed: true } => {
                let values = repeated("(?, ?, ?, ?)", ", ", rows);
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES {values}")
            }
            OltpStatement::InsertBatch { rows, keyed: false } => {
                let values = repeated("(?, ?, ?)", ", ", rows);
                format!("INSERT INTO sbtest{table} (k, c, pad) VALUES {values}")
            }
            OltpStatement::UpsertBatch { rows } => {
                let values = repeated("(?, ?, ?, ?)", ", ", rows);
                let update = dialect.upsert(&["id"], &["k", "c", "pad"]);
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES {values} {update}")
            }
        }
    }
}

fn repeated(what: &str, between: &str, times: u32) -> String {
    vec![what; times as usize].join(between)
}
