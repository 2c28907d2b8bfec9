//! Statements by the server's own account: what it knows of each form at the end, less what it knew when
//! the load began.

mod mysql;
mod postgres;

pub(crate) use mysql::MysqlStatements;
pub(crate) use postgres::PostgresStatements;

use std::collections::HashMap;
use tidemark_core::record::ServerStatement;
use tidemark_core::redact_text;

/// So many statements are kept, those with the most time.
const MOST_KEPT: usize = 20;
/// So many are asked for their text: those that observing sends are left out then.
const MOST_ASKED: usize = 40;
/// Longer texts are cut.
const MOST_CHARACTERS: usize = 1000;

/// The server's totals, by whatever tells forms apart there. Without texts.
type Totals = HashMap<String, ServerStatement>;

/// What happened since then, most time first.
fn since(before: &Totals, now: Totals) -> Vec<(String, ServerStatement)> {
    let mut grown: Vec<(String, ServerStatement)> = Vec::new();
    for (key, mut of) in now {
        // Totals that shrank began anew.
        if let Some(then) = before.get(&key).filter(|then| then.count <= of.count) {
            let less = |now: Option<u64>, then: Option<u64>| {
                now.map(|now| now.saturating_sub(then.unwrap_or(0)))
            };
            of.count -= then.count;
            of.time_ms = (of.time_ms - then.time_ms).max(0.0);
            of.rows = of.rows.saturating_sub(then.rows);
            of.rows_examined = less(of.rows_examined, then.rows_examined);
            of.lock_ms = of
                .lock_ms
                .map(|now| (now - then.lock_ms.unwrap_or(0.0)).max(0.0));
            of.pages_requested = less(of.pages_requested, then.pages_requested);
            of.pages_read = less(of.pages_read, then.pages_read);
            of.log_bytes = less(of.log_bytes, then.log_bytes);
        }
        if of.count > 0 {
            grown.push((key, of));
        }
    }
    grown.sort_by(|(_, a), (_, b)| b.time_ms.total_cmp(&a.time_ms));
    grown.truncate(MOST_ASKED);
    grown
}

/// The same with texts, less what only asks the server about itself, as observing does. PostgreSQL keeps what
/// changes an account as it was sent, with its password.
fn with_texts(
    grown: Vec<(String, ServerStatement)>,
    texts: &HashMap<String, String>,
) -> Vec<ServerStatement> {
    let told = grown.into_iter().filter_map(|(key, mut of)| {
        let text = texts.get(&key)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = redact_text(&words.join(" "));
        of.text = match text.char_indices().nth(MOST_CHARACTERS) {
            Some((end, _)) => format!("{}…", text.get(..end)?),
            None => text,
        };
        (!asks_about_the_server(&of.text)).then_some(of)
    });
    told.take(MOST_KEPT).collect()
}

fn asks_about_the_server(text: &str) -> bool {
    const WORDS: [&str; 19] = [
        "performance_schema",
        "information_schema",
        "connection_id",
        "max_statement_time",
        "max_execution_time",
        "show processlist",
        "thread_handling",
        "group_concat_max_len",
        "pg_stat_",
        "pg_locks",
        "pg_backend_pid",
        "pg_get_replication_slots",
        "pg_prepared_xact",
        "pg_wal_lsn_diff",
        "pg_has_role",
        "pg_extension",
        "application_name",
        "statement_timeout",
        "server_version_num",
    ];
    let text = text.to_lowercase();
    let shows = text.starts_with("show ") && text.contains(" status");
    let sets_zone = text.starts_with("set ") && text.contains("time_zone");
    shows || sets_zone || WORDS.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: u64, time_ms: f64) -> ServerStatement {
        ServerStatement {
            count,
            time_ms,
            rows: count * 2,
            pages_read: Some(count * 3),
            ..ServerStatement::default()
        }
    }

    #[test]
    fn what_happened_since_is_told_by_time_and_without_own_statements() {
        let totals = |all: &[(&str, u64, f64)]| -> Totals {
            let all = all.iter();
            all.map(|(key, count, ms)| ((*key).to_string(), of(*count, *ms)))
                .collect()
        };
        let before = totals(&[("a", 10, 5.0), ("b", 1, 1.0), ("reset", 100, 9.0)]);
        let now = totals(&[
            ("a", 12, 6.0),
            ("b", 1, 1.0),
            ("reset", 4, 2.0),
            ("own", 60, 90.0),
        ]);
        let grown = since(&before, now);
        let texts = [
            ("a", "SELECT  1"),
            ("reset", "UPDATE t"),
            ("own", "SHOW GLOBAL STATUS WHERE x"),
        ];
        let texts = texts.map(|(key, text)| (key.to_string(), text.to_string()));
        let told = with_texts(grown, &texts.into());
        let said: Vec<(&str, u64, f64, u64, Option<u64>)> = told
            .iter()
            .map(|s| (s.text.as_str(), s.count, s.time_ms, s.rows, s.pages_read))
            .collect();
        assert_eq!(
            said,
            [
                ("UPDATE t", 4, 2.0, 8, Some(12)),
                ("SELECT 1", 2, 1.0, 4, Some(6))
            ]
        );
    }

    #[test]
    fn a_password_of_an_account_is_not_kept() {
        let text = "ALTER ROLE app  PASSWORD 's3cret word' VALID UNTIL 'infinity'";
        let texts = HashMap::from([("a".to_string(), text.to_string())]);
        let told = with_texts(vec![("a".into(), of(1, 1.0))], &texts);
        let text = &told[0].text;
        assert!(
            text.starts_with("ALTER ROLE app PASSWORD") && !text.contains("s3cret"),
            "{text}"
        );
        assert!(!text.contains("word'"), "{text}");
    }

    #[test]
    fn what_observing_asks_is_not_the_loads() {
        for text in [
            "SELECT greatest((SELECT max(age(xmin)) FROM pg_get_replication_slots()), $1)",
            "SELECT max(age(transaction)) FROM pg_prepared_xact()",
            "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)",
            "SET SESSION `time_zone` = ?",
            "SELECT @@GLOBAL . `thread_handling`",
        ] {
            assert!(asks_about_the_server(text), "{text}");
        }
        assert!(!asks_about_the_server("SELECT `time_zone` FROM `users`"));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "数".repeat(2000);
        let texts = HashMap::from([("a".to_string(), long)]);
        let told = with_texts(vec![("a".into(), of(1, 1.0))], &texts);
        assert_eq!(told[0].text.chars().count(), MOST_CHARACTERS + 1);
    }
}
