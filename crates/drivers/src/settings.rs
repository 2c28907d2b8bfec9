//! A target's settings that matter: those that differ from the engine's default, and those that
//! decide what a benchmark's figures mean whatever their value.
//!
//! Values that may hold secrets, or name places on the server's disks, are left out.

mod charset;
pub mod global;
mod limit;
mod mysql;
mod names;
mod postgres;
mod private;
mod required_keys;
pub(crate) mod session;
mod sqlite;
mod sqlite_session;
mod units;
mod unlimited;

pub use charset::text_options;
pub use limit::{SessionLimit, StatementLimit, session_limit, statement_limit};
pub use required_keys::required_keys;
pub use session::{SessionSettings, parse_session_settings};
pub use unlimited::unlimit;

use crate::Session;
use crate::engines::SettingsReader;
use tidemark_core::DbError;
use tidemark_core::record::Setting;

/// The settings that matter, sorted by name.
///
/// # Errors
/// The server's error, as when the account may not read them.
pub async fn settings_that_matter(session: &mut Session) -> Result<Vec<Setting>, DbError> {
    let mut settings = match session.dialect().of_engine().settings {
        SettingsReader::Mariadb => mysql::mariadb(session).await,
        SettingsReader::Mysql => mysql::mysql(session).await,
        SettingsReader::Tidb => mysql::shown(session, mysql::TIDB).await,
        SettingsReader::Postgres => postgres::settings(session).await,
        SettingsReader::Cockroach => postgres::cockroach(session).await,
        SettingsReader::Sqlite => sqlite::settings(session).await,
    }?;
    settings.retain(|s| !private::is_private(&s.name, &s.value));
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    settings.dedup_by(|a, b| a.name == b.name);
    Ok(settings)
}

/// Names as a list of SQL literals; they are our own words and hold no quotes.
fn listed(names: &[&str]) -> String {
    format!("'{}'", names.join("','"))
}
