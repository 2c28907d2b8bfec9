//! Private servers of a study: targets whose URL begins with `up:`.

use crate::exit::Failure;

/// A private server.
pub enum Server {}

/// Whether a target is a private server, and no URL.
pub fn is_meant(url: &str) -> bool {
    url.starts_with("up:")
}

/// Looks whether a server can be asked for so.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn check(url: &str) -> Result<(), Failure> {
    Err(Failure::usage(format!(
        "{url}: private servers can't be started yet; start one yourself and give its URL, as \
         mysql://root@127.0.0.1:3306/sbtest"
    )))
}

/// Starts the server of a study's `number`-th target, or finds the one that an earlier process of the
/// study left.
///
/// # Errors
/// [`Failure`] of bad usage, and as its start.
pub fn start(url: &str, _study: &str, _number: usize) -> Result<Server, Failure> {
    check(url)?;
    Err(Failure::usage(url))
}

impl Server {
    /// Its URL, with its password.
    pub fn url(&self) -> String {
        match *self {}
    }

    /// Whether it was started just now.
    pub fn is_new(&self) -> bool {
        match *self {}
    }
}
