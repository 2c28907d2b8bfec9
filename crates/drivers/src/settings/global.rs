//! Changing a server's settings for a time, and putting them back.

mod coupled;
mod mysql;
mod postgres;

pub use coupled::{Moved, Snapshot, moved, moved_since, snapshot};

use crate::engines::Globals;
use crate::{Session, Value};
use tidemark_core::{DbError, ErrorClass, did_you_mean};

/// How often all settings are put back: the server may move one when another is put back, and each
/// time one more has found its place.
const ROUNDS: usize = 4;

/// Looks whether a setting is there and can be changed while the server runs.
///
/// # Errors
/// [`ErrorClass::Refused`] with the reason: no such setting (with the nearest one), one that needs a
/// restart, one that the server's command line decides; the server's error.
pub async fn can_be_changed(session: &mut Session, name: &str) -> Result<(), DbError> {
    check_name(name)?;
    match session.dialect().of_engine().globals {
        Globals::Mysql | Globals::MysqlTable => mysql::can(session, name).await,
        Globals::Postgres => postgres::can(session, name).await,
        Globals::No(why) => Err(refused(name, why)),
    }
}

/// What is to be given to [`restore`] after a setting was changed: its value; `None` when it is to
/// be reset, because nobody had set it (PostgreSQL), or it has none (MySQL's NULL).
///
/// # Errors
/// The server's error, as when the account may not read it.
pub async fn before_change(session: &mut Session, name: &str) -> Result<Option<String>, DbError> {
    check_name(name)?;
    match is_postgres(session) {
        true => postgres::before(session, name).await,
        false => mysql::value(session, name).await,
    }
}

/// Changes a setting for all sessions that begin from now on; one of these can tell whether it
/// [has taken hold](has_taken_hold).
///
/// # Errors
/// As [`can_be_changed`]; the server's error when it does not take the value.
pub async fn change(session: &mut Session, name: &str, value: &str) -> Result<(), DbError> {
    can_be_changed(session, name).await?;
    put(session, name, Some(value)).await
}

/// Looks, on a session that was opened after the change, whether it has the value.
///
/// # Errors
/// [`ErrorClass::Refused`] when the server has made another value of it, or something else wins over
/// it; the server's error.
pub async fn has_taken_hold(session: &mut Session, name: &str, asked: &str) -> Result<(), DbError> {
    check_name(name)?;
    match is_postgres(session) {
        true => postgres::has_taken_hold(session, name, asked).await,
        false => mysql::has_taken_hold(session, name, asked).await,
    }
}

/// A setting and its value before, as [`before_change`] or a [`Snapshot`] told it.
pub type Before = (String, Option<String>);

/// Puts settings back, looks that they are, and tells which are not, each with the reason. The first
/// ones are put back first, and all again as long as one has moved another.
///
/// # Errors
/// The server's error when nothing can be asked of it any more.
pub async fn restore(
    session: &mut Session,
    settings: &[Before],
) -> Result<Vec<(String, String)>, DbError> {
    let mut left: Vec<(String, String)> = Vec::new();
    for _ in 0..ROUNDS {
        let mut refusals = Vec::new();
        for (name, before) in settings {
            let is_left = |(other, _): &(String, String)| other == name;
            if !left.is_empty() && !left.iter().any(is_left) {
                continue;
            }
            check_name(name)?;
            match put(session, name, before.as_deref()).await {
                Err(e) if e.class == ErrorClass::ConnectionLost => return Err(e),
                Err(e) => refusals.push((name, e.to_string())),
                Ok(()) => {}
            }
        }
        // All of them: putting one back may have moved another.
        let mut wrong = Vec::new();
        for (name, before) in settings {
            let refusal = refusals.iter().find(|(of, _)| *of == name);
            let refusal = refusal.map(|(_, said)| said.clone());
            let reason = match differs(session, name, before.as_deref()).await? {
                Some(found) => Some(refusal.unwrap_or(found)),
                // Whether it is reset can't be seen.
                None if before.is_none() && !is_postgres(session) => refusal,
                None => None,
            };
            wrong.extend(reason.map(|reason| (name.clone(), reason)));
        }
        left = wrong;
        if left.is_empty() {
            break;
        }
    }
    Ok(left)
}

/// How a setting differs from its value before.
async fn differs(
    session: &mut Session,
    name: &str,
    before: Option<&str>,
) -> Result<Option<String>, DbError> {
    let found = match before_change(session, name).await {
        Err(e) if e.class != ErrorClass::ConnectionLost => return Ok(Some(e.to_string())),
        found => found?,
    };
    let is_back = match (is_postgres(session), before) {
        (true, _) => postgres::is_as_before(name, found.as_deref(), before),
        // What a variable without a value is reset to is the server's to say.
        (false, None) => true,
        (false, Some(before)) => mysql::is_same(found.as_deref().unwrap_or_default(), before),
    };
    Ok((!is_back).then(|| {
        let found = found.as_deref().unwrap_or("its default");
        format!("the server changed it to {found}")
    }))
}

async fn put(session: &mut Session, name: &str, value: Option<&str>) -> Result<(), DbError> {
    match is_postgres(session) {
        true => postgres::put(session, name, value).await,
        false => mysql::put(session, name, value).await,
    }
}

const RESTART: &str = "it can't be changed while the server runs; start servers with each value and \
                       name them as targets";

fn is_postgres(session: &Session) -> bool {
    session.dialect().of_engine().globals == Globals::Postgres
}

pub(super) fn refused(name: &str, why: &str) -> DbError {
    DbError::new(ErrorClass::Refused, "setting", format!("{name}: {why}"))
}

fn unknown(name: &str, names: &[String]) -> DbError {
    let hint = did_you_mean(name, names.iter().map(String::as_str));
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
        "a setting's name has only letters, digits, _ and .",
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

#[cfg(test)]
mod tests {
    use super::*;

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
