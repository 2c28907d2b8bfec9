//! Settings that every session of a run or load takes for itself.

use super::global::{check_name, is_number};
use crate::connection::Connection;
use crate::{Dialect, Value};
use tidemark_core::{DbError, Protocol};

/// Settings by name, in the order in which they are set.
pub type SessionSettings = Vec<(String, String)>;

/// Reads `name=value;name=value`.
///
/// # Errors
/// The part that is no `name=value`.
pub fn parse_session_settings(text: &str) -> Result<SessionSettings, String> {
    let parts = text.split(';').map(str::trim).filter(|p| !p.is_empty());
    parts
        .map(|part| match part.split_once('=') {
            Some((name, value)) if check_name(name.trim()).is_ok() => {
                Ok((name.trim().to_string(), value.trim().to_string()))
            }
            _ => Err(part.to_string()),
        })
        .collect()
}

/// Gives a connection its settings: `SET SESSION`, `SET`, or `PRAGMA`.
///
/// # Errors
/// The server's error, with the setting's name.
pub(crate) async fn apply(
    connection: &mut Connection,
    settings: &SessionSettings,
) -> Result<(), DbError> {
    let dialect = Dialect::new(connection.server().engine);
    for (name, value) in settings {
        check_name(name)?;
        let sql = statement(&dialect, name, value);
        connection.query(&sql).await.map_err(|mut error| {
            error.message = format!("--set-session {name}={value}: {}", error.message);
            error
        })?;
    }
    Ok(())
}

fn statement(dialect: &Dialect, name: &str, value: &str) -> String {
    let text = dialect.literal(Value::Text(value));
    let plain = if is_number(value) { value } else { &text };
    match dialect.engine().protocol() {
        Protocol::Mysql => format!("SET SESSION {name} = {plain}"),
        // Every setting takes its value as text (PostgreSQL manual, SET).
        Protocol::Postgres => format!("SET SESSION {name} = {text}"),
        Protocol::Sqlite => format!("PRAGMA {name} = {plain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn each_family_has_its_words() {
        let of = |engine, value| statement(&Dialect::new(engine), "x", value);
        assert_eq!(of(Engine::Tidb, "1"), "SET SESSION x = 1");
        assert_eq!(of(Engine::Mariadb, "it's"), "SET SESSION x = 'it''s'");
        assert_eq!(of(Engine::Postgres, "1"), "SET SESSION x = '1'");
        assert_eq!(of(Engine::Sqlite, "NORMAL"), "PRAGMA x = 'NORMAL'");
    }

    #[test]
    fn a_list_is_read_part_by_part() {
        assert_eq!(
            parse_session_settings(" a=1; b = x=y ;").unwrap(),
            [
                ("a".to_string(), "1".to_string()),
                ("b".to_string(), "x=y".to_string())
            ]
        );
        assert_eq!(parse_session_settings("a=1;b"), Err("b".into()));
        assert_eq!(parse_session_settings("a b=1"), Err("a b=1".into()));
        assert_eq!(parse_session_settings(""), Ok(vec![]));
    }
}
