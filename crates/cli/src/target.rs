//! Targets as URLs name them.

use crate::exit::Failure;
use std::env::VarError;
use tidemark_core::{Protocol, Secret, Target};

/// The target a URL names; a password that it lacks is taken from the environment.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn from_url(url: &str) -> Result<Target, Failure> {
    let mut target = Target::parse(url)?;
    if target.password.is_empty()
        && let Some(password) = password_variable(target.protocol)?
    {
        target.password = password;
    }
    Ok(target)
}

/// The password of the environment, as each engine's own clients read it.
///
/// # Errors
/// As [`text_variable`].
pub fn password_variable(protocol: Protocol) -> Result<Option<Secret>, Failure> {
    let Some(name) = protocol.password_variable() else {
        return Ok(None);
    };
    Ok(text_variable(name)?.map(Secret::new))
}

/// A variable of the environment, unless it is empty.
///
/// # Errors
/// [`Failure`] of bad usage when it is not UTF-8: as text it would be another one.
pub fn text_variable(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|v| !v.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(format!(
            "the environment variable {name} is not valid UTF-8"
        ))),
    }
}
