//! The servers of a target, reached by the account that changes settings.

use super::interrupt::while_allowed;
use super::targets::Reached;
use crate::exit::{ExitCode, Failure};
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{ConnectOptions, Connector, Session};
use tidemark_runtime::block_on;

/// A target's servers, whose names were looked up just now: in hours a server may move.
pub struct Hosts<'a> {
    place: &'a Reached,
    connector: Connector,
}

impl<'a> Hosts<'a> {
    /// Looks up the names of a target's servers.
    ///
    /// # Errors
    /// [`Failure`] when a name has no address.
    pub fn of(place: &'a Reached) -> Result<Self, Failure> {
        let connector = Connector::new(place.admin.clone(), ConnectOptions::default())?;
        Ok(Self {
            place,
            connector: connector.must_exist(),
        })
    }

    /// Each by its number; a database without servers has one.
    pub fn numbers(&self) -> std::ops::Range<usize> {
        0..self.connector.hosts().len().max(1)
    }

    /// How one is named in the store: names of targets have no slash.
    pub fn key(&self, host: usize) -> String {
        match host {
            0 => self.place.name.clone(),
            host => format!("{}/{host}", self.place.name),
        }
    }

    /// The target's name and the host's number, of what [`Hosts::key`] made.
    pub fn of_key(key: &str) -> (&str, usize) {
        match key.split_once('/') {
            Some((name, host)) => (name, host.parse().unwrap_or(0)),
            None => (key, 0),
        }
    }

    /// The server itself, however a study names it.
    pub fn server(&self, host: usize) -> String {
        let named = self.connector.hosts().get(host);
        named.map_or_else(
            || self.place.admin.to_string(),
            |(host, _)| host.to_string(),
        )
    }

    /// Does something on a session to one; further sessions to it can be had.
    ///
    /// # Errors
    /// [`Failure`] with the target's name: as opening a session, and as `work`.
    pub fn on<T: 'static>(
        &self,
        host: usize,
        work: impl AsyncFnOnce(&mut Session, Opener) -> Result<T, DbError> + 'static,
    ) -> Result<T, Failure> {
        let opener = Opener {
            connector: self.connector.clone(),
            host,
        };
        let name = &self.place.name;
        let asked = async move {
            let mut session = opener.open().await?;
            let done = work(&mut session, opener).await;
            session.close().await;
            done
        };
        let done = block_on(while_allowed(asked));
        let done = done.map(|done| done.unwrap_or_else(|| Err(unanswered())));
        let done = done.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
        done.map_err(|e| {
            let is_away = e.class == ErrorClass::ConnectionLost;
            let mut failure = Failure::from(e);
            if is_away {
                failure.code = ExitCode::Connect;
            }
            failure.message = format!("target {name}: {}", failure.message);
            failure
        })
    }
}

/// Why a server was waited for no longer.
fn unanswered() -> DbError {
    DbError::own(
        ErrorClass::Fatal,
        ErrorKind::Silent,
        "the server had not replied when the study was stopped",
    )
}

/// Opens sessions to one server.
pub struct Opener {
    connector: Connector,
    host: usize,
}

impl Opener {
    /// Opens one.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub async fn open(&self) -> Result<Session, DbError> {
        match self.connector.hosts().is_empty() {
            true => self.connector.connect(0).await,
            false => self.connector.connect_to(self.host).await,
        }
    }
}
