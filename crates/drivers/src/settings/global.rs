//! Changing a server's settings for a time, and putting them back.
//!
//! MySQL family: `SET GLOBAL`. PostgreSQL: `ALTER SYSTEM` and a reload (PostgreSQL manual, 20.1.2:
//! the file `postgresql.auto.conf` wins over `postgresql.conf`, and the command line over both).

use crate::{Session, Value};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, Engine, ErrorClass, nearest};
use tidemark_runtime::sleep;

/// How long a server may take to read its files again.
const LONGEST_RELOAD: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

/// Looks whether a setting is there and can be changed while the server runs.
///
/// # Errors
/// [`ErrorClass::Refused`] with the reason: no such setting (with the nearest one), one that needs a
/// restart, one that the server's command line decides; the server's error.
pub async fn can_be_changed(session: &mut Session, name: &str) -> Result<(), DbError> {
    check_name(name)?;
    match session.dialect().engine() {
        Engine::Mysql | Engine::Mariadb | Engine::Tidb => mysql_can(session, name).await,
        Engine::Postgres | Engine::Yugabyte => postgres_can(session, name).await,
        Engine::Sqlite => Err(refused(
            name,
            "SQLite is no server and has no settings of its own; settings of a session are \
             PRAGMAs, as in session = { synchronous = \"NORMAL\" }",
        )),
        Engine::Cockroach => Err(refused(
            name,
            "changing CockroachDB's cluster settings is not offered; change it yourself, and name \
             the cluster as another target",
        )),
    }
}

/// What is to be given to [`restore`] after a setting was changed: its value; `None` when it is to
/// be reset, because nobody had set it (PostgreSQL), or it has none (MySQL's NULL).
///
/// # Errors
/// The server's error, as when the account may not read it.
pub async fn before_change(session: &mut Session, name: &str) -> Result<Option<String>, DbError> {
    check_name(name)?;
    let sql = if is_postgres(session) {
        format!(
            "SELECT setting FROM pg_catalog.pg_file_settings \
             WHERE lower(name) = lower({}) AND sourcefile LIKE '%postgresql.auto.conf' \
             ORDER BY seqno DESC LIMIT 1",
            text(session, name)
        )
    } else {
        format!("SELECT @@GLOBAL.{name}")
    };
    let rows = session.query(&sql).await?;
    Ok((!rows.is_empty()).then(|| rows.text(0, 0)).flatten())
}

/// Changes a setting for all sessions that begin from now on, and looks that it is so.
///
/// # Errors
/// As [`can_be_changed`]; [`ErrorClass::Refused`] when the server makes another value of it.
pub async fn change(session: &mut Session, name: &str, value: &str) -> Result<(), DbError> {
    can_be_changed(session, name).await?;
    put(session, name, Some(value)).await?;
    if is_postgres(session) {
        return Ok(());
    }
    let found = before_change(session, name).await?.unwrap_or_default();
    if is_same(&found, value) {
        return Ok(());
    }
    Err(refused(
        name,
        &format!("asked for {value}, the server made it {found}; ask for a value that it takes"),
    ))
}

/// Puts a setting back to what [`before_change`] told.
///
/// # Errors
/// The server's error.
pub async fn restore(
    session: &mut Session,
    name: &str,
    before: Option<&str>,
) -> Result<(), DbError> {
    check_name(name)?;
    put(session, name, before).await
}

async fn put(session: &mut Session, name: &str, value: Option<&str>) -> Result<(), DbError> {
    if !is_postgres(session) {
        let value = value.map_or("DEFAULT".into(), |v| literal(session, v));
        session
            .query(&format!("SET GLOBAL {name} = {value}"))
            .await?;
        return Ok(());
    }
    let sql = match value {
        Some(value) => format!("ALTER SYSTEM SET {name} = {}", text(session, value)),
        None => format!("ALTER SYSTEM RESET {name}"),
    };
    session.query(&sql).await?;
    reload(session).await
}

/// The postmaster reads its files and tells its sessions after that, so that this session having
/// read them means that those which begin from now on have, too.
async fn reload(session: &mut Session) -> Result<(), DbError> {
    const LOADED: &str = "SELECT pg_catalog.pg_conf_load_time()::text";
    let before = session.query(LOADED).await?.text(0, 0);
    session.query("SELECT pg_catalog.pg_reload_conf()").await?;
    let begun = Instant::now();
    while session.query(LOADED).await?.text(0, 0) == before {
        if begun.elapsed() > LONGEST_RELOAD {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "reload",
                "the server was told to read its configuration files again, and did not",
            ));
        }
        sleep(POLL).await;
    }
    Ok(())
}

async fn mysql_can(session: &mut Session, name: &str) -> Result<(), DbError> {
    let rows = session.query("SHOW GLOBAL VARIABLES").await?;
    let names: Vec<String> = (0..rows.len()).filter_map(|i| rows.text(i, 0)).collect();
    if !names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
        return Err(unknown(name, &names));
    }
    if session.dialect().engine() != Engine::Mariadb {
        // The statement itself will tell (error 1238).
        return Ok(());
    }
    let sql = format!(
        "SELECT READ_ONLY FROM information_schema.SYSTEM_VARIABLES \
         WHERE VARIABLE_NAME = {}",
        text(session, &name.to_uppercase())
    );
    match session.query(&sql).await?.text(0, 0).as_deref() {
        Some("YES") => Err(refused(name, RESTART)),
        _ => Ok(()),
    }
}

async fn postgres_can(session: &mut Session, name: &str) -> Result<(), DbError> {
    let sql = format!(
        "SELECT context, source FROM pg_catalog.pg_settings WHERE lower(name) = lower({})",
        text(session, name)
    );
    let rows = session.query(&sql).await?;
    let (context, source) = match (rows.text(0, 0), rows.text(0, 1)) {
        (Some(context), Some(source)) if !rows.is_empty() => (context, source),
        _ => {
            let all = session
                .query("SELECT name FROM pg_catalog.pg_settings")
                .await?;
            let names: Vec<String> = (0..all.len()).filter_map(|i| all.text(i, 0)).collect();
            return Err(unknown(name, &names));
        }
    };
    match (context.as_str(), source.as_str()) {
        ("internal", _) => Err(refused(name, "it is fixed when the server is built")),
        ("postmaster", _) => Err(refused(name, RESTART)),
        (_, "command line" | "environment variable") => Err(refused(
            name,
            "the server's command line or environment sets it, which wins over every change",
        )),
        (_, "database" | "user" | "database user") => Err(refused(
            name,
            "it is set for the database or account (ALTER DATABASE, ALTER ROLE), which wins over \
             the server's own",
        )),
        _ => Ok(()),
    }
}

const RESTART: &str = "it can't be changed while the server runs; start servers with each value and \
                       name them as targets";

fn is_postgres(session: &Session) -> bool {
    matches!(
        session.dialect().engine(),
        Engine::Postgres | Engine::Yugabyte
    )
}

pub(super) fn refused(name: &str, why: &str) -> DbError {
    DbError::new(ErrorClass::Refused, "setting", format!("{name}: {why}"))
}

fn unknown(name: &str, names: &[String]) -> DbError {
    let near = nearest(name, names.iter().map(String::as_str));
    let hint = near.map_or(String::new(), |n| format!("; did you mean {n}?"));
    refused(name, &format!("the server has no such setting{hint}"))
}

/// Names stand in SQL as they are.
pub(crate) fn check_name(name: &str) -> Result<(), DbError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if !name.is_empty() && name.chars().all(is_word) {
        return Ok(());
    }
    Err(refused(
        name,
        "a setting's name has letters, digits, _ and . alone",
    ))
}

fn text(session: &Session, value: &str) -> String {
    session.dialect().literal(Value::Text(value))
}

/// Numbers stay numbers: MySQL takes no text for a numeric variable (error 1232).
pub(crate) fn literal(session: &Session, value: &str) -> String {
    if is_number(value) {
        value.into()
    } else {
        text(session, value)
    }
}

pub(crate) fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.parse::<f64>().is_ok()
}

/// Whether the server's word for a value means what was asked for.
fn is_same(found: &str, asked: &str) -> bool {
    let plain = |value: &str| match value.to_ascii_uppercase().as_str() {
        "ON" | "TRUE" => "1".to_string(),
        "OFF" | "FALSE" => "0".to_string(),
        other => other.to_string(),
    };
    let (found, asked) = (plain(found), plain(asked));
    match (found.parse::<f64>(), asked.parse::<f64>()) {
        (Ok(found), Ok(asked)) => (found - asked).abs() < 1e-9,
        // A list's order is the server's.
        _ => {
            let sorted = |list: &str| {
                let mut words: Vec<String> = list.split(',').map(|w| w.trim().into()).collect();
                words.sort_unstable();
                words
            };
            sorted(&found) == sorted(&asked)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_words_are_understood() {
        for (found, asked) in [
            ("1", "ON"),
            ("0", "off"),
            ("ON", "1"),
            ("0.500000", "0.5"),
            ("row", "ROW"),
            ("A,B", "b,a"),
        ] {
            assert!(is_same(found, asked), "{found} {asked}");
        }
        for (found, asked) in [("2", "1"), ("ROW", "MIXED"), ("A,B", "A"), ("1", "10")] {
            assert!(!is_same(found, asked), "{found} {asked}");
        }
    }

    #[test]
    fn numbers_are_told_from_words() {
        for number in ["0", "-1", "1.5", "20000"] {
            assert!(is_number(number), "{number}");
        }
        for word in ["", "-", "ON", "1e5", "128M", "1.2.3", "1;DROP"] {
            assert!(!is_number(word), "{word}");
        }
        assert!(check_name("innodb_io_capacity").is_ok());
        for name in ["", "a b", "a;b", "a`", "a=1"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
