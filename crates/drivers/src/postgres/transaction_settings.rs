//! What a session that shares the server's sessions with others sets for its own transactions.
//!
//! A pooler that gives a server session back after each transaction hands whatever was `SET` in it to
//! the next client, and gives this one another session without it. So nothing is set there for
//! longer than a transaction: `SET x = y` becomes a `SET LOCAL x = y` that goes with every
//! transaction, in its first message (PostgreSQL manual, "SET", and "Multiple Statements in a Simple
//! Query": several statements in one message are one transaction).

use crate::Verb;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    what: String,
    /// The statement that sets it for a session.
    for_good: String,
    /// The one that sets it for a transaction.
    for_now: String,
}

/// Settings that go with every transaction of a session.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Carried {
    settings: Vec<Setting>,
    /// All of them, with semicolons between.
    text: String,
}

impl Carried {
    /// Takes a statement that sets something for a session; false when it does not.
    pub fn take(&mut self, sql: &str) -> bool {
        let Some((what, for_now)) = for_a_transaction(sql) else {
            return false;
        };
        self.settings.retain(|earlier| earlier.what != what);
        self.settings.push(Setting {
            what,
            for_good: sql.into(),
            for_now,
        });
        let each = self.settings.iter().map(|s| s.for_now.as_str());
        let statements: Vec<&str> = each.collect();
        self.text = statements.join(";");
        true
    }

    /// The statements that set all of them for a session.
    pub fn for_good(self) -> impl Iterator<Item = String> {
        self.settings.into_iter().map(|s| s.for_good)
    }

    /// Writes a statement of a message of its own, with what is set for its transaction.
    pub fn write(
        &self,
        out: &mut Vec<u8>,
        verb: Verb,
        in_transaction: bool,
        sql: impl FnOnce(&mut Vec<u8>),
    ) {
        match verb {
            _ if self.text.is_empty() => sql(out),
            Verb::Begin => {
                sql(out);
                out.push(b';');
                out.extend_from_slice(self.text.as_bytes());
            }
            Verb::Read | Verb::Write if !in_transaction => {
                out.extend_from_slice(self.text.as_bytes());
                out.push(b';');
                sql(out);
            }
            _ => sql(out),
        }
    }
}

/// What a statement sets for its session, and the one that sets it for a transaction.
fn for_a_transaction(sql: &str) -> Option<(String, String)> {
    const LEVEL: &str = "SESSION CHARACTERISTICS AS TRANSACTION ";
    let set = sql.strip_prefix("SET ")?;
    if let Some(level) = set.strip_prefix(LEVEL) {
        return Some((LEVEL.into(), format!("SET TRANSACTION {level}")));
    }
    let set = set.strip_prefix("SESSION ").unwrap_or(set);
    let name = set.split(['=', ' ']).next()?;
    let other = ["LOCAL", "TRANSACTION", "CONSTRAINTS", "SESSION"];
    if other.contains(&name) {
        return None;
    }
    let what = name.to_ascii_lowercase();
    // Those are for transactions that begin later (manual, "Client Connection Defaults"); this one's
    // own have the rest of the name.
    let now = match what.strip_prefix("default_transaction_") {
        Some(own) => format!("transaction_{own}{}", &set[name.len()..]),
        None => set.to_string(),
    };
    Some((what, format!("SET LOCAL {now}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(statements: &[&str]) -> Carried {
        let mut carried = Carried::default();
        for sql in statements {
            assert!(carried.take(sql), "{sql}");
        }
        carried
    }

    #[test]
    fn what_is_set_goes_with_each_transaction_and_is_set_for_no_longer() {
        let carried = with(&[
            "SET statement_timeout = 10",
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET SESSION search_path = 'a', 'B c'",
            "SET statement_timeout = 0",
        ]);
        let all = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;\
                   SET LOCAL search_path = 'a', 'B c';SET LOCAL statement_timeout = 0";
        let sent = |carried: &Carried, verb, in_transaction| {
            let mut out = Vec::new();
            carried.write(&mut out, verb, in_transaction, |out| out.push(b'x'));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(sent(&carried, Verb::Read, false), format!("{all};x"));
        assert_eq!(sent(&carried, Verb::Write, false), format!("{all};x"));
        assert_eq!(sent(&carried, Verb::Begin, false), format!("x;{all}"));
        for verb in [Verb::Read, Verb::Write, Verb::Commit, Verb::Rollback] {
            assert_eq!(sent(&carried, verb, true), "x");
        }
        // VACUUM can't be within a transaction.
        assert_eq!(sent(&carried, Verb::Control, false), "x");
        assert_eq!(sent(&Carried::default(), Verb::Begin, false), "x");
    }

    #[test]
    fn defaults_of_transactions_are_set_in_each() {
        let carried = with(&["SET SESSION default_transaction_isolation = 'serializable'"]);
        assert_eq!(
            carried.text,
            "SET LOCAL transaction_isolation = 'serializable'"
        );
    }

    #[test]
    fn what_is_set_for_a_transaction_stays_as_it_is() {
        for sql in [
            "SET LOCAL synchronous_commit = off",
            "SET TRANSACTION SNAPSHOT '1'",
            "SET CONSTRAINTS ALL DEFERRED",
            "SELECT 1",
        ] {
            assert!(!Carried::default().take(sql), "{sql}");
        }
    }
}
