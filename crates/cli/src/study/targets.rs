//! The databases of a study, as commands and sessions reach them.

use super::interrupt::is_asked_to_end;
use super::private::{self, PrivateServer};
use crate::exit::Failure;
use crate::target::{from_url, text_variable};
use tidemark_core::{Secret, Target};
use tidemark_report::Lang;
use tidemark_study::{Password, StudyTarget};

/// A database of a study.
pub struct Reached {
    /// What results call it.
    pub name: String,
    /// Its URL; may hold a password.
    pub url: String,
    /// The same with its password, wherever that stands.
    pub target: Target,
    /// The target of the account that changes settings.
    pub admin: Target,
    /// The private server behind it.
    server: Option<PrivateServer>,
}

impl Reached {
    /// One that no study names.
    pub fn by(target: Target) -> Self {
        Self {
            name: target.to_string(),
            url: target.to_string(),
            admin: target.clone(),
            target,
            server: None,
        }
    }

    /// Whether it is a private server that was just started, so that nothing of an earlier process
    /// of the study is in it.
    pub fn is_new(&self) -> bool {
        self.server.as_ref().is_some_and(PrivateServer::is_new)
    }
}

/// Ends what was started for a study.
///
/// # Errors
/// [`Failure`] naming what could not be ended.
pub fn leave(places: Vec<Reached>) -> Result<(), Failure> {
    let servers = places.into_iter().filter_map(|p| p.server);
    let ended: Vec<Result<(), Failure>> = servers.map(PrivateServer::stop).collect();
    ended.into_iter().collect()
}

/// Finds out how the databases of a study's execution are reached, and starts those that are private.
///
/// # Errors
/// [`Failure`] of bad usage: a variable that is not set, a URL that is none; as a server's start.
pub fn reach(places: &[StudyTarget], study: &str, lang: Lang) -> Result<Vec<Reached>, Failure> {
    // What is missing is told before anything is started.
    for place in places {
        secret(place, "password", place.password.as_ref())?;
        secret(place, "admin-password", place.admin_password.as_ref())?;
    }
    let mut reached = Vec::with_capacity(places.len());
    for (place, number) in places.iter().zip(1..) {
        match reach_one(place, study, number, lang) {
            Ok(one) => reached.push(one),
            Err(failure) => {
                // What was started before it has no use now; the first failure is what is told.
                let _ = leave(reached);
                return Err(failure);
            }
        }
    }
    Ok(reached)
}

/// Ends the private servers that an earlier process of a study's execution left, and starts none.
///
/// # Errors
/// [`Failure`] naming what could not be ended.
pub fn leave_behind(places: &[StudyTarget], study: &str) -> Result<(), Failure> {
    let numbered = places.iter().zip(1..);
    let private = numbered.filter(|(place, _)| private::is_meant(&place.url));
    let ended: Vec<Result<(), Failure>> = private
        .map(|(place, number)| private::end_left(&place.url, study, number))
        .collect();
    ended.into_iter().collect()
}

fn reach_one(
    place: &StudyTarget,
    study: &str,
    number: usize,
    lang: Lang,
) -> Result<Reached, Failure> {
    let (url, server) = match private::is_meant(&place.url) {
        true => {
            let server = private::start(&place.url, study, number, lang, is_asked_to_end)?;
            (server.url(), Some(server))
        }
        false => (place.url.clone(), None),
    };
    let mut target = from_url(&url)?;
    if let Some(password) = secret(place, "password", place.password.as_ref())? {
        if target.protocol.password_variable().is_none() {
            return Err(Failure::usage(format!(
                "target {}: SQLite has no passwords: leave password out",
                place.name
            )));
        }
        target.password = password;
    }
    let admin = match &place.admin {
        Some(admin) => {
            let mut admin = from_url(admin)?;
            let given = secret(place, "admin-password", place.admin_password.as_ref())?;
            admin.password = given.unwrap_or(admin.password);
            admin
        }
        None => target.clone(),
    };
    Ok(Reached {
        name: place.name.clone(),
        url,
        target,
        admin,
        server,
    })
}

/// A password that a key of the file gives, or the variable that it names.
fn secret(
    place: &StudyTarget,
    key: &str,
    password: Option<&Password>,
) -> Result<Option<Secret>, Failure> {
    let name = match password {
        None => return Ok(None),
        Some(Password::Given(secret)) => return Ok(Some(secret.clone())),
        Some(Password::Variable(name)) => name,
    };
    match text_variable(name)? {
        Some(value) => Ok(Some(Secret::new(value))),
        None => Err(Failure::usage(format!(
            "target {}: {key} = \"env:{name}\", and {name} is not set in the environment; for \
             example: export {name}=…",
            place.name
        ))),
    }
}
