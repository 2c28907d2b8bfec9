//! What is observed beside the load: `auto`, `off`, or a list of sources.

use crate::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The machine that makes the load, and the client's threads.
pub const CLIENT_HOST: &str = "client-host";
/// The machine that the database runs on, where that is another one.
pub const SERVER_HOST: &str = "server-host";
/// The database server's processes.
pub const SERVER_PROCESS: &str = "server-process";
/// The counters that the database keeps.
pub const SERVER_STATUS: &str = "server-status";
/// What each node of a cluster tells Prometheus.
pub const SERVER_NODES: &str = "server-nodes";
/// What the database's sessions do and wait for.
pub const SERVER_ACTIVITY: &str = "server-activity";
/// What the database says of statements, and of transactions that wait.
pub const SERVER_STATEMENTS: &str = "server-statements";
/// The way between the client and the database.
pub const NETWORK: &str = "network";
/// Every source, as `--observe` names them.
pub const SOURCES: [&str; 8] = [
    CLIENT_HOST,
    SERVER_HOST,
    SERVER_PROCESS,
    SERVER_STATUS,
    SERVER_NODES,
    SERVER_ACTIVITY,
    SERVER_STATEMENTS,
    NETWORK,
];

/// Which sources are observed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Observe {
    /// Each that can be had.
    #[default]
    Auto,
    /// None.
    Off,
    /// These, of [`SOURCES`].
    Only(Vec<String>),
}

/// Why a text names no sources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{word:?} {wrong}; use auto, off, or a list of {}{hint}; for example \
     client-host,server-status",
    SOURCES.join(", ")
)]
pub struct ObserveError {
    word: String,
    wrong: &'static str,
    hint: String,
}

impl Observe {
    /// Whether nobody chose otherwise.
    pub fn is_auto(&self) -> bool {
        *self == Observe::Auto
    }

    /// The same without one source.
    #[must_use]
    pub fn without(&self, source: &str) -> Self {
        let wanted = SOURCES.iter().filter(|s| **s != source && self.wants(s));
        let wanted: Vec<String> = wanted.map(ToString::to_string).collect();
        match wanted.is_empty() {
            true => Observe::Off,
            false => Observe::Only(wanted),
        }
    }

    /// Whether this source is wanted.
    pub fn wants(&self, source: &str) -> bool {
        match self {
            Observe::Auto => true,
            Observe::Off => false,
            Observe::Only(sources) => sources.iter().any(|s| s == source),
        }
    }
}

impl FromStr for Observe {
    type Err = ObserveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words = text.split(',').map(str::trim).filter(|w| !w.is_empty());
        let words: Vec<&str> = words.collect();
        match words.as_slice() {
            ["auto"] => return Ok(Observe::Auto),
            ["off"] => return Ok(Observe::Off),
            [] => {
                return Err(ObserveError {
                    word: text.into(),
                    wrong: "is no source",
                    hint: String::new(),
                });
            }
            _ => {}
        }
        if let Some(wrong) = words.iter().find(|w| !SOURCES.contains(w)) {
            let is_word = ["auto", "off"].contains(wrong);
            let near = nearest(wrong, SOURCES.iter().copied()).filter(|_| !is_word);
            return Err(ObserveError {
                word: (*wrong).into(),
                wrong: if is_word {
                    "stands alone"
                } else {
                    "is no source"
                },
                hint: near.map_or_else(String::new, |n| format!("; did you mean {n}?")),
            });
        }
        // In one order, so that equal choices are equal.
        let wanted = SOURCES.iter().filter(|s| words.contains(s));
        Ok(Observe::Only(wanted.map(ToString::to_string).collect()))
    }
}

impl fmt::Display for Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observe::Auto => f.write_str("auto"),
            Observe::Off => f.write_str("off"),
            Observe::Only(sources) => f.write_str(&sources.join(",")),
        }
    }
}

impl TryFrom<String> for Observe {
    type Error = ObserveError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Observe> for String {
    fn from(observe: Observe) -> Self {
        observe.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_chosen_by_name() {
        for (text, written) in [
            ("auto", "auto"),
            ("off", "off"),
            ("server-status, client-host", "client-host,server-status"),
        ] {
            let observe: Observe = text.parse().unwrap();
            assert_eq!(observe.to_string(), written);
            assert_eq!(written.parse::<Observe>().unwrap(), observe);
        }
        let only: Observe = "server-status".parse().unwrap();
        assert!(only.wants(SERVER_STATUS) && !only.wants(CLIENT_HOST));
        assert!(Observe::Auto.wants(CLIENT_HOST) && !Observe::Off.wants(CLIENT_HOST));
        let wrong = "server-statu".parse::<Observe>().unwrap_err().to_string();
        assert!(wrong.contains("did you mean server-status?"), "{wrong}");
        let wrong = "off,client-host".parse::<Observe>().unwrap_err();
        assert!(
            wrong
                .to_string()
                .starts_with("\"off\" stands alone; use auto, off, or")
        );
        for nothing in ["", " ", ",", " , "] {
            let wrong = nothing.parse::<Observe>().unwrap_err().to_string();
            assert!(
                wrong.starts_with(&format!("{nothing:?} is no source")),
                "{wrong}"
            );
            assert!(
                wrong.ends_with("for example client-host,server-status"),
                "{wrong}"
            );
        }
    }
}
