//! Targets as URLs name them.

use crate::exit::Failure;
use tidemark_core::{Protocol, Secret, Target};

/// The target a URL names; a password that it lacks is taken from the environment.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn from_url(url: &str) -> Result<Target, Failure> {
    let mut target = Target::parse(url)?;
    if target.password.is_empty()
        && let Some(password) = password_variable(target.protocol)
    {
        target.password = password;
    }
    Ok(target)
}

/// The password of the environment, as each engine's own clients read it.
pub fn password_variable(protocol: Protocol) -> Option<Secret> {
    let name = match protocol {
        Protocol::Mysql => "MYSQL_PWD",
        Protocol::Postgres => "PGPASSWORD",
        Protocol::Sqlite => return None,
    };
    std::env::var(name)
        .ok()
        .filter(|p| !p.is_empty())
        .map(Secret::new)
}
