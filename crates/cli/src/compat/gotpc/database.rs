//! The database itself: like go-tpc, `prepare` makes the one that the flags name if there is none.

use super::GoTpcWork;
use crate::exit::{ExitCode, Failure};
use crate::loading::say;
use crate::plan::BoundWorkload;
use std::io::Write;
use tidemark_core::{DbError, ErrorKind, Protocol, Source, Target};
use tidemark_drivers::Connector;
use tidemark_runtime::block_on;

/// Makes the database where there is none. A URL's is not made: go-tpc has none, and a mistyped
/// one should be told.
///
/// # Errors
/// [`Failure`] as the server's: no session, no right to make a database.
pub(super) fn ensure(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let by_flags = work.options.source("target") == Source::Default;
    if !by_flags || plan.target.database.is_empty() || !is_absent(plan)? {
        return Ok(());
    }
    let name = &plan.target.database;
    say(out, &format!("Creating database '{name}'..."));
    // Every MySQL server takes sessions without a database, every PostgreSQL has this one.
    let elsewhere = match plan.target.protocol {
        Protocol::Postgres => "postgres",
        _ => "",
    };
    let target = Target {
        database: elsewhere.into(),
        ..plan.target.clone()
    };
    let connector = Connector::new(target, *plan.connector.options())?.unlimited();
    let name = name.clone();
    let made = block_on(async move {
        let mut session = connector.connect(0).await?;
        let sql = format!("CREATE DATABASE {}", session.dialect().quote(&name));
        session.query(&sql).await?;
        session.close().await;
        Ok::<(), DbError>(())
    });
    match waited(made)? {
        Ok(()) => Ok(()),
        // Another client was quicker.
        Err(_) if !is_absent(plan)? => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether the server says that it has no database of that name.
fn is_absent(plan: &BoundWorkload) -> Result<bool, Failure> {
    let connector = plan.connector.clone().unlimited();
    let opened = block_on(async move {
        connector.connect(0).await?.close().await;
        Ok::<(), DbError>(())
    });
    match waited(opened)? {
        Err(error) => Ok(error.kind == ErrorKind::NoDatabase),
        Ok(()) => Ok(false),
    }
}

fn waited<T>(done: std::io::Result<T>) -> Result<T, Failure> {
    done.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}
