//! The databases of a study, as commands and sessions reach them.

use crate::exit::Failure;
use crate::target::from_url;
use tidemark_core::{Protocol, Secret, Target};
use tidemark_study::{Password, Place};

/// A database of a study.
pub struct Reached {
    /// What results call it.
    pub name: String,
    /// The URL for commands; may hold a password.
    pub url: String,
    /// The variable of the password that the URL lacks, with its value, for commands.
    pub variable: Option<(&'static str, Secret)>,
    /// The target of the account that changes settings.
    pub admin: Target,
}

/// Finds out how a study's databases are reached.
///
/// # Errors
/// [`Failure`] of bad usage: a variable that is not set, a URL that is none.
pub fn reach(places: &[Place]) -> Result<Vec<Reached>, Failure> {
    places.iter().map(reach_one).collect()
}

fn reach_one(place: &Place) -> Result<Reached, Failure> {
    let url = address(&place.url)?;
    let target = from_url(&url)?;
    let variable = match &place.password {
        None => None,
        Some(password) => {
            let secret = match password {
                Password::Given(secret) => secret.clone(),
                Password::Variable(name) => variable(place, name)?,
            };
            Some((name_of_variable(target.protocol, place)?, secret))
        }
    };
    let admin = match &place.admin {
        Some(admin) => from_url(admin)?,
        None => match &variable {
            Some((_, password)) => Target {
                password: password.clone(),
                ..target
            },
            None => target,
        },
    };
    Ok(Reached {
        name: place.name.clone(),
        url,
        variable,
        admin,
    })
}

fn variable(place: &Place, name: &str) -> Result<Secret, Failure> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(Secret::new(value)),
        _ => Err(Failure::usage(format!(
            "target {}: password = \"env:{name}\", and {name} is not set in the environment; for \
             example: export {name}=…",
            place.name
        ))),
    }
}

fn name_of_variable(protocol: Protocol, place: &Place) -> Result<&'static str, Failure> {
    match protocol {
        Protocol::Mysql => Ok("MYSQL_PWD"),
        Protocol::Postgres => Ok("PGPASSWORD"),
        Protocol::Sqlite => Err(Failure::usage(format!(
            "target {}: SQLite has no passwords: leave password out",
            place.name
        ))),
    }
}

/// The URL of a target; `up:` names a private server that is to be started.
fn address(url: &str) -> Result<String, Failure> {
    match url.strip_prefix("up:") {
        None => Ok(url.into()),
        Some(engine) => Err(Failure::usage(format!(
            "up:{engine}: private servers can't be started yet; start one yourself and give its \
             URL, as mysql://root@127.0.0.1:3306/sbtest"
        ))),
    }
}
