//! PostgreSQL: `ALTER SYSTEM` and a reload (PostgreSQL manual, 20.1.2: the file
//! `postgresql.auto.conf` wins over `postgresql.conf`, and the command line over both).

use super::{RESTART, refused, text, unknown};
use crate::Session;
use crate::settings::{names, units};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::sleep;

/// How long a server may take to read its files again.
const LONGEST_RELOAD: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

/// The file that `ALTER SYSTEM` writes.
const FILE: &str = "postgresql.auto.conf";

pub(super) async fn can(session: &mut Session, name: &str) -> Result<(), DbError> {
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
    match context.as_str() {
        "internal" => Err(refused(name, "it is fixed when the server is built")),
        "postmaster" => Err(refused(name, RESTART)),
        _ => match winner(&source) {
            Some(winner) => Err(refused(name, winner)),
            None => can_be_put_back(session, name).await,
        },
    }
}

/// What `ALTER SYSTEM` makes of no name is one that is empty: for a list of files no session could
/// be opened any more.
const NO_FILES: &str = "ALTER SYSTEM cannot write an empty list; it would become the name of a \
                        missing file";

async fn can_be_put_back(session: &mut Session, name: &str) -> Result<(), DbError> {
    let Some(identifiers @ false) = names::of_identifiers(name) else {
        return Ok(());
    };
    let before = before(session, name).await?;
    match before.and_then(|list| names::read(&list, identifiers)) {
        Some(list) if list.iter().all(String::is_empty) => Err(refused(
            name,
            &format!(
                "postgresql.auto.conf has an empty list, which could not be restored: {NO_FILES}"
            ),
        )),
        _ => Ok(()),
    }
}

/// What sets a value that wins over the server's files, by the word of `pg_settings.source`.
fn winner(source: &str) -> Option<&'static str> {
    match source {
        "command line" | "environment variable" => {
            Some("the server's command line or environment sets it, which overrides every change")
        }
        "global" | "database" | "user" | "database user" => Some(
            "it is set for the database or account (ALTER DATABASE, ALTER ROLE), which overrides \
             the server's setting",
        ),
        "client" => Some("every Tidemark session sets it when it connects"),
        _ => None,
    }
}

/// What the file of `ALTER SYSTEM` has, as it stands there.
pub(super) async fn before(session: &mut Session, name: &str) -> Result<Option<String>, DbError> {
    let sql = format!(
        "SELECT setting FROM pg_catalog.pg_file_settings \
         WHERE lower(name) = lower({}) AND sourcefile LIKE '%{FILE}' \
         ORDER BY seqno DESC LIMIT 1",
        text(session, name)
    );
    let rows = session.query(&sql).await?;
    Ok((!rows.is_empty()).then(|| rows.text(0, 0)).flatten())
}

pub(super) async fn put(
    session: &mut Session,
    name: &str,
    value: Option<&str>,
) -> Result<(), DbError> {
    let sql = match value {
        Some(value) => format!(
            "ALTER SYSTEM SET {name} = {}",
            values(session, name, value)?
        ),
        None => format!("ALTER SYSTEM RESET {name}"),
    };
    session.query(&sql).await?;
    reload(session).await
}

/// A value as SQL has it: names of a list each by itself.
fn values(session: &Session, name: &str, value: &str) -> Result<String, DbError> {
    let literal = |value: &str| text(session, value);
    match names::of_identifiers(name) {
        None => Ok(literal(value)),
        Some(false) if value.trim().is_empty() || value.contains("\"\"") => {
            Err(refused(name, NO_FILES))
        }
        Some(identifiers) => names::in_sql(value, identifiers, literal).ok_or_else(|| {
            refused(
                name,
                &format!("{value:?} is not a list of names; {}", names::ALLOWED),
            )
        }),
    }
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
                "the server did not reload its configuration files",
            ));
        }
        sleep(POLL).await;
    }
    Ok(())
}

/// Looks whether a session that was opened after the change has the value. That it comes from the
/// file of `ALTER SYSTEM` says so whatever the server makes of its words.
pub(super) async fn has_taken_hold(
    session: &mut Session,
    name: &str,
    asked: &str,
) -> Result<(), DbError> {
    if crate::postgres::sets_for_itself(name) {
        // What our own sessions set is not what the server gives to others.
        session.query(&format!("RESET {name}")).await?;
    }
    let sql = format!(
        "SELECT setting, coalesce(unit, ''), vartype, source, coalesce(sourcefile, '') \
         FROM pg_catalog.pg_settings WHERE lower(name) = lower({})",
        text(session, name)
    );
    let rows = session.query(&sql).await?;
    let cell = |column: usize| rows.text(0, column).unwrap_or_default();
    let (found, unit, kind, source, file) = (cell(0), cell(1), cell(2), cell(3), cell(4));
    let from_file = source == "configuration file" && (file.is_empty() || file.ends_with(FILE));
    if from_file && units::agrees(&kind, &unit, &found, asked) {
        return Ok(());
    }
    let unit = match unit.as_str() {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    let why = winner(&source).unwrap_or("check which of the server's files sets it");
    Err(refused(
        name,
        &format!(
            "requested {asked}, but new sessions have {found}{unit} (source: {source}): {why}"
        ),
    ))
}

/// Whether what the file has means the value before: lists by their names, however they are quoted.
pub(super) fn is_as_before(name: &str, found: Option<&str>, before: Option<&str>) -> bool {
    if found == before {
        return true;
    }
    match (names::of_identifiers(name), found, before) {
        (Some(identifiers), Some(found), Some(before)) => {
            let of = |list| {
                let mut names = names::read(list, identifiers)?;
                names.retain(|name| !name.is_empty());
                Some(names)
            };
            of(found).is_some() && of(found) == of(before)
        }
        _ => false,
    }
}
