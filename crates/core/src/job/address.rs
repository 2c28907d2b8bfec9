//! Where a job's database is, without its password.

use crate::{Protocol, Secret, Target, TargetError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The target without its password.
    ///
    /// # Errors
    /// [`TargetError`] of a URL that is none.
    pub fn parse(&self) -> Result<Target, TargetError> {
        Target::parse(&self.url)
    }
}
