//! Settings that every session of a run or load takes for itself.

use super::global::{check_name, is_number, refused};
use super::{names, sqlite_session};
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
/// The server's error, with the setting's name; [`tidemark_core::ErrorClass::Refused`] for a list
/// that is none, and for a PRAGMA that is no setting of a session or takes another value.
pub(crate) async fn apply(
    connection: &mut Connection,
    settings: &SessionSettings,
) -> Result<(), DbError> {
    let dialect = Dialect::new(connection.server().engine);
    for (name, value) in settings {
        check_name(name)?;
        let set = match dialect.engine().protocol() {
            Protocol::Sqlite => sqlite_session::set(connection, name, value).await,
            _ => match statement(&dialect, name, value) {
                Ok(sql) => connection.query(&sql).await.map(drop),
                Err(error) => Err(error),
            },
        };
        set.map_err(|mut error| {
            error.message = format!("--set-session {name}={value}: {}", error.message);
            error
        })?;
    }
    Ok(())
}

/// What sets a session's setting on a server.
fn statement(dialect: &Dialect, name: &str, value: &str) -> Result<String, DbError> {
    let literal = |value: &str| dialect.literal(Value::Text(value));
    let is_postgres = dialect.engine().protocol() == Protocol::Postgres;
    let value = match names::of_identifiers(name).filter(|_| is_postgres) {
        Some(identifiers) => names::in_sql(value, identifiers, literal)
            .ok_or_else(|| refused(name, &format!("not a list of names; {}", names::ALLOWED)))?,
        // Every other setting takes its value as text (PostgreSQL manual, SET).
        None if is_postgres || !is_number(value) => literal(value),
        None => value.into(),
    };
    Ok(format!("SET SESSION {name} = {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn each_family_has_its_words() {
        let of = |engine, name, value| statement(&Dialect::new(engine), name, value).unwrap();
        assert_eq!(of(Engine::Tidb, "x", "1"), "SET SESSION x = 1");
        assert_eq!(of(Engine::Mariadb, "x", "it's"), "SET SESSION x = 'it''s'");
        assert_eq!(of(Engine::Postgres, "x", "1"), "SET SESSION x = '1'");
        assert_eq!(of(Engine::Postgres, "x", "a, b"), "SET SESSION x = 'a, b'");
        assert_eq!(
            of(Engine::Postgres, "search_path", "a, \"B c\""),
            "SET SESSION search_path = 'a', 'B c'"
        );
        let wrong = statement(&Dialect::new(Engine::Postgres), "search_path", "a,,b");
        let told = wrong.unwrap_err().to_string();
        assert!(told.contains("use names with commas"), "{told}");
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
