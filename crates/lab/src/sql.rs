//! The little that the laboratory understands of a statement.

/// What kind of statement a text is, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementKind {
    /// Nothing but blanks.
    Empty,
    /// Has rows: one of one column, unless it asks for the catalogue.
    Select,
    /// Has rows: none.
    Show,
    Insert,
    Update,
    Delete,
    Begin,
    Commit,
    Rollback,
    /// Anything else succeeds.
    Other,
}

impl StatementKind {
    /// The kind of `sql`.
    pub fn of(sql: &[u8]) -> Self {
        let start = sql
            .iter()
            .position(|b| !b.is_ascii_whitespace() && !matches!(b, b'(' | b';'));
        let Some(rest) = start.and_then(|at| sql.get(at..)) else {
            return StatementKind::Empty;
        };
        let end = rest.iter().position(|b| !b.is_ascii_alphabetic());
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let words: [(&[u8], StatementKind); 13] = [
            (b"SELECT", StatementKind::Select),
            (b"UPDATE", StatementKind::Update),
            (b"INSERT", StatementKind::Insert),
            (b"DELETE", StatementKind::Delete),
            (b"BEGIN", StatementKind::Begin),
            (b"COMMIT", StatementKind::Commit),
            (b"ROLLBACK", StatementKind::Rollback),
            (b"START", StatementKind::Begin),
            (b"END", StatementKind::Commit),
            (b"REPLACE", StatementKind::Insert),
            (b"WITH", StatementKind::Select),
            (b"VALUES", StatementKind::Select),
            (b"SHOW", StatementKind::Show),
        ];
        let known = words.iter().find(|(w, _)| word.eq_ignore_ascii_case(w));
        known.map_or(StatementKind::Other, |(_, kind)| *kind)
    }

    /// Whether it answers with rows.
    pub fn has_rows(self) -> bool {
        matches!(self, StatementKind::Select | StatementKind::Show)
    }

    /// Rows that it says it changed.
    pub fn affected(self) -> u8 {
        u8::from(matches!(
            self,
            StatementKind::Insert | StatementKind::Update | StatementKind::Delete
        ))
    }

    /// Whether a transaction is open after it.
    pub fn transaction_after(self, before: bool) -> bool {
        match self {
            StatementKind::Begin => true,
            StatementKind::Commit | StatementKind::Rollback => false,
            _ => before,
        }
    }
}

/// A prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreparedStatement {
    pub kind: StatementKind,
    pub params: u16,
}

/// The number of `?` outside quotes.
pub(crate) fn question_marks(sql: &[u8]) -> u16 {
    let mut count = 0u16;
    outside_quotes(sql, |rest| {
        count = count.saturating_add(u16::from(rest.first() == Some(&b'?')));
    });
    count
}

/// The largest n of `$n` outside quotes.
pub(crate) fn highest_number(sql: &[u8]) -> u16 {
    let mut highest = 0u16;
    outside_quotes(sql, |rest| {
        if let Some((b'$', digits)) = rest.split_first() {
            let number = digits
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .fold(0u16, |n, b| {
                    n.saturating_mul(10).saturating_add(u16::from(b - b'0'))
                });
            highest = highest.max(number);
        }
    });
    highest
}

fn outside_quotes(sql: &[u8], mut see: impl FnMut(&[u8])) {
    let mut quote = None;
    for (at, &b) in sql.iter().enumerate() {
        match quote {
            Some(q) if q == b => quote = None,
            Some(_) => {}
            None if matches!(b, b'\'' | b'"' | b'`') => quote = Some(b),
            None => see(sql.get(at..).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_tells_the_kind() {
        for (sql, kind) in [
            ("select 1", StatementKind::Select),
            ("\n (SELECT 1)", StatementKind::Select),
            ("SHOW VARIABLES", StatementKind::Show),
            ("REPLACE INTO t VALUES (1)", StatementKind::Insert),
            ("START TRANSACTION", StatementKind::Begin),
            ("commit;", StatementKind::Commit),
            ("SET NAMES utf8", StatementKind::Other),
            (" ; ", StatementKind::Empty),
            ("", StatementKind::Empty),
        ] {
            assert_eq!(StatementKind::of(sql.as_bytes()), kind, "{sql}");
        }
    }

    #[test]
    fn parameters_are_counted_outside_quotes() {
        let sql = b"INSERT INTO `a?` VALUES (?, '?', ?)";
        assert_eq!(question_marks(sql), 2);
        let sql = b"SELECT '$9' FROM t WHERE a=$2 AND b=$1 OR c=$12";
        assert_eq!(highest_number(sql), 12);
        assert_eq!((question_marks(b""), highest_number(b"$")), (0, 0));
    }
}
