//! Where a job's database is, without its password.

use crate::{Protocol, Secret, Target, TargetError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands in the place of a database's URL where the machine itself is tested.
pub const MACHINE: &str = "host:";

/// A database's address as a job holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetAddress {
    /// The URL, without a password.
    pub url: String,
    /// Where the password is found; absent where none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordReference>,
}

/// A password by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordReference {
    /// The variable of the environment that holds it.
    pub env: String,
}

impl PasswordReference {
    /// The variable that the engine's own clients read; an embedded database has none.
    pub fn of(protocol: Protocol) -> Option<Self> {
        protocol.password_variable().map(|env| Self {
            env: env.to_string(),
        })
    }
}

impl From<&Target> for TargetAddress {
    fn from(target: &Target) -> Self {
        let bare = Target {
            password: Secret::default(),
            ..target.clone()
        };
        Self {
            url: bare.to_string(),
            password: match target.password.is_empty() {
                true => None,
                false => PasswordReference::of(target.protocol),
            },
        }
    }
}

impl TargetAddress {
    /// No database: the machine itself.
    pub fn machine() -> Self {
        Self {
            url: MACHINE.into(),
            password: None,
        }
    }

    /// Whether it is no database's, but stands for the machine itself.
    pub fn is_machine(&self) -> bool {
        self.url == MACHINE
    }

    /// The target without its password.
    ///
    /// # Errors
    /// [`TargetError`] of a URL that is none.
    pub fn parse(&self) -> Result<Target, TargetError> {
        Target::parse(&self.url)
    }
}
