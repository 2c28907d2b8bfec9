//! Statements and what came of them.

use crate::{Dialect, Value};
use tidemark_core::record::StatementCounts;

/// What a statement is for, by its first word: decides how its execution is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Returns rows: SELECT, SHOW, WITH, VALUES, EXPLAIN.
    Read,
    /// Changes rows: INSERT, UPDATE, DELETE, REPLACE, MERGE, COPY, LOAD.
    Write,
    /// Begins a transaction: BEGIN, START TRANSACTION.
    Begin,
    /// Ends a transaction and keeps what it did: COMMIT, END.
    Commit,
    /// Keeps what a transaction did and begins the next: COMMIT AND CHAIN.
    CommitAndChain,
    /// Ends a transaction and takes back what it did: ROLLBACK.
    Rollback,
    /// Everything else: DDL, SET, ROLLBACK to a savepoint or AND CHAIN.
    Control,
}

impl Verb {
    /// The verb of a statement's text.
    pub fn of(sql: &str) -> Verb {
        let word = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let end = word
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(word.len());
        let is = |words: &[&str]| words.iter().any(|w| word[..end].eq_ignore_ascii_case(w));
        if is(&["select", "show", "with", "values", "explain", "table"]) {
            Verb::Read
        } else if is(&[
            "insert", "update", "delete", "replace", "merge", "upsert", "copy", "load",
        ]) {
            Verb::Write
        } else if is(&["begin", "start"]) {
            Verb::Begin
        } else if is(&["commit", "end"]) {
            match ends_transaction(word) {
                true => Verb::Commit,
                false => Verb::CommitAndChain,
            }
        } else if is(&["rollback", "abort"]) && ends_transaction(word) {
            Verb::Rollback
        } else {
            Verb::Control
        }
    }

    /// Whether it keeps what a transaction did: without a reply nobody knows whether that holds.
    pub fn commits(self) -> bool {
        matches!(self, Verb::Commit | Verb::CommitAndChain)
    }
}

/// Whether a COMMIT or ROLLBACK leaves the session outside of any transaction: one to a savepoint does not, nor
/// one that begins the next (`AND CHAIN`).
fn ends_transaction(sql: &str) -> bool {
    let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words = words.filter(|word| !word.is_empty()).skip(1);
    // PostgreSQL's TRANSACTION, and WORK, say nothing.
    let says = |word: &&str| {
        let nothing = ["work", "transaction"];
        !nothing.iter().any(|noise| word.eq_ignore_ascii_case(noise))
    };
    let mut words = words.filter(says);
    let is =
        |word: Option<&str>, wanted: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(wanted));
    match words.next() {
        word if is(word, "to") => false,
        word if is(word, "and") => !is(words.next(), "chain"),
        _ => true,
    }
}

/// Whether a statement may go to a server that takes no writes: a query that is known to change
/// nothing, to lock nothing, and not to ask for what its own connection did before.
pub(crate) fn only_reads(sql: &str) -> bool {
    /// A CTE may write, a SELECT may lock rows or store into a table or variable, and functions
    /// have effects.
    const DOUBTFUL: &[&str] = &[
        "insert",
        "update",
        "delete",
        "merge",
        "replace",
        "into",
        "for",
        "lock",
        "nextval",
        "setval",
        "currval",
        "lastval",
        "last_insert_id",
        "found_rows",
        "row_count",
        "get_lock",
        "release_lock",
    ];
    let mut words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Verb::of(sql) == Verb::Read
        && !words.any(|word| DOUBTFUL.iter().any(|d| word.eq_ignore_ascii_case(d)))
}

/// What came of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it returned a result set, even an empty one.
    pub has_rows: bool,
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
}

/// Adds one execution to the counts, grouped as sysbench groups them: a result set is a read, a
/// change of at least one row a write, all else other.
pub(crate) fn count(counts: &mut StatementCounts, verb: Verb, outcome: Outcome) {
    if outcome.has_rows {
        counts.read += 1;
    } else if outcome.affected > 0 {
        counts.write += 1;
    } else {
        counts.other += 1;
        counts.noop_writes += u64::from(verb == Verb::Write);
    }
}

/// A statement of one session, ready to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// How it is counted.
    pub(crate) verb: Verb,
    pub(crate) form: StatementForm,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StatementForm {
    /// MySQL protocol: the server's statement id, and whether it returns rows.
    Mysql {
        id: u32,
        params: u16,
        has_rows: bool,
    },
    /// PostgreSQL protocol: number in the statement's name (`tm<number>`), result columns.
    Postgres {
        number: u32,
        params: u16,
        columns: u16,
    },
    /// SQLite: index into the session's prepared statements.
    Sqlite { index: usize },
    /// Sent as text with the values written in.
    Text(Template),
    /// Prepared on both connections of a session: on the one that takes writes, and on the other.
    Either(Box<[Statement; 2]>),
}

impl Statement {
    /// Whether it is known to return rows. Of one that is sent as text its first word tells.
    pub fn returns_rows(&self) -> bool {
        match &self.form {
            StatementForm::Mysql { has_rows, .. } => *has_rows,
            StatementForm::Postgres { columns, .. } => *columns > 0,
            StatementForm::Either(both) => both.iter().all(Statement::returns_rows),
            StatementForm::Sqlite { .. } | StatementForm::Text(_) => self.verb == Verb::Read,
        }
    }
}

/// A statement's text cut at its `?` marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<String>,
}

impl Template {
    /// Cuts `sql` at each `?` outside quotes.
    pub fn new(sql: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut quote = None;
        for c in sql.chars() {
            match quote {
                None if c == '?' => {
                    parts.push(String::new());
                    continue;
                }
                None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
                Some(q) if q == c => quote = None,
                _ => {}
            }
            if let Some(last) = parts.last_mut() {
                last.push(c);
            }
        }
        Self { parts }
    }

    /// Number of parameters.
    pub fn params(&self) -> usize {
        self.parts.len() - 1
    }

    /// The text with `$1`, `$2`, … for the parameters.
    pub fn numbered(&self) -> String {
        let mut sql = self.parts[0].clone();
        for (i, part) in self.parts.iter().enumerate().skip(1) {
            sql.push_str(&format!("${i}"));
            sql.push_str(part);
        }
        sql
    }

    /// Appends the text with the values written in as literals.
    pub fn render(&self, dialect: &Dialect, values: &[Value<'_>], out: &mut Vec<u8>) {
        out.extend_from_slice(self.parts[0].as_bytes());
        for (i, part) in self.parts.iter().enumerate().skip(1) {
            let value = values.get(i - 1).copied().unwrap_or(Value::Null);
            // Two dashes begin a comment.
            if out.last() == Some(&b'-') {
                out.push(b' ');
            }
            dialect.write_literal(value, out);
            out.extend_from_slice(part.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_in_quotes_are_text() {
        let t = Template::new("SELECT '?' FROM t WHERE a=? AND b IN (?,?)");
        assert_eq!(t.params(), 3);
        assert_eq!(
            t.numbered(),
            "SELECT '?' FROM t WHERE a=$1 AND b IN ($2,$3)"
        );
    }

    #[test]
    fn a_negative_value_after_a_minus_begins_no_comment() {
        let mut out = Vec::new();
        let dialect = Dialect::new(tidemark_core::Engine::Sqlite);
        Template::new("SELECT 1 -?").render(&dialect, &[Value::Int(-5)], &mut out);
        assert_eq!(out, b"SELECT 1 - -5");
    }

    #[test]
    fn verbs_follow_the_first_word() {
        assert_eq!(Verb::of(" select 1"), Verb::Read);
        assert_eq!(Verb::of("(SELECT 1)"), Verb::Read);
        assert_eq!(Verb::of("DELETE FROM t"), Verb::Write);
        assert_eq!(Verb::of("COMMIT"), Verb::Commit);
        assert_eq!(Verb::of("rollback"), Verb::Rollback);
        for goes_on in [
            "ROLLBACK TO SAVEPOINT s",
            "rollback work to s",
            "ROLLBACK TRANSACTION TO SAVEPOINT to_chain",
            "ROLLBACK AND CHAIN",
        ] {
            assert_eq!(Verb::of(goes_on), Verb::Control, "{goes_on}");
        }
        for keeps in ["COMMIT AND CHAIN", "COMMIT WORK AND CHAIN", "end and chain"] {
            assert_eq!(Verb::of(keeps), Verb::CommitAndChain, "{keeps}");
        }
        for ends in [
            "ROLLBACK;",
            "ROLLBACK WORK",
            "ABORT",
            "ROLLBACK AND NO CHAIN",
            "ROLLBACK RELEASE",
        ] {
            assert_eq!(Verb::of(ends), Verb::Rollback, "{ends}");
        }
        assert_eq!(Verb::of("END TRANSACTION"), Verb::Commit);
        assert_eq!(Verb::of("BEGIN IMMEDIATE"), Verb::Begin);
        assert_eq!(Verb::of("CREATE TABLE t(a INT)"), Verb::Control);
    }

    #[test]
    fn what_may_change_or_lock_something_does_not_only_read() {
        for reads in [
            "SELECT c FROM sbtest1 WHERE id=?",
            "(select DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c)",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            "SELECT update_time, forename FROM t",
        ] {
            assert!(only_reads(reads), "{reads}");
        }
        for writes in [
            "UPDATE t SET a=1",
            "SELECT a FROM t WHERE id=? FOR UPDATE",
            "SELECT a FROM t LOCK IN SHARE MODE",
            "WITH a AS (INSERT INTO t VALUES (1) RETURNING id) SELECT * FROM a",
            "SELECT 1 INTO x",
            "SELECT nextval('s')",
            "SELECT LAST_INSERT_ID()",
            "BEGIN",
            "SET x=1",
        ] {
            assert!(!only_reads(writes), "{writes}");
        }
    }

    #[test]
    fn a_write_that_changes_nothing_counts_as_other() {
        let mut c = StatementCounts::default();
        count(&mut c, Verb::Write, Outcome::default());
        count(&mut c, Verb::Control, Outcome::default());
        count(
            &mut c,
            Verb::Write,
            Outcome {
                affected: 3,
                ..Outcome::default()
            },
        );
        count(
            &mut c,
            Verb::Read,
            Outcome {
                has_rows: true,
                ..Outcome::default()
            },
        );
        assert_eq!((c.read, c.write, c.other, c.noop_writes), (1, 1, 2, 1));
    }
}
