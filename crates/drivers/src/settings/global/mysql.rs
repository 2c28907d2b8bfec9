//! MySQL family: `SET GLOBAL`.

use super::{RESTART, literal, refused, text, unknown};
use crate::Session;
use crate::engines::Globals;
use tidemark_core::DbError;

pub(super) async fn can(session: &mut Session, name: &str) -> Result<(), DbError> {
    let rows = session.query("SHOW GLOBAL VARIABLES").await?;
    let names: Vec<String> = (0..rows.len()).filter_map(|i| rows.text(i, 0)).collect();
    if !names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
        return Err(unknown(name, &names));
    }
    if session.dialect().of_engine().globals != Globals::MysqlTable {
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

/// The value; `None` is NULL.
pub(super) async fn value(session: &mut Session, name: &str) -> Result<Option<String>, DbError> {
    let rows = session.query(&format!("SELECT @@GLOBAL.{name}")).await?;
    Ok(rows.text(0, 0))
}

pub(super) async fn put(
    session: &mut Session,
    name: &str,
    value: Option<&str>,
) -> Result<(), DbError> {
    let value = value.map_or("DEFAULT".into(), |v| literal(session, v));
    let sql = format!("SET GLOBAL {name} = {value}");
    session.query(&sql).await.map(drop)
}

pub(super) async fn has_taken_hold(
    session: &mut Session,
    name: &str,
    asked: &str,
) -> Result<(), DbError> {
    let found = value(session, name).await?.unwrap_or_default();
    if is_same(&found, asked) {
        return Ok(());
    }
    Err(refused(
        name,
        &format!("requested {asked}, but the server set {found}; use a value that it accepts"),
    ))
}

/// Whether the server's word for a value means what was asked for.
pub(super) fn is_same(found: &str, asked: &str) -> bool {
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
}
