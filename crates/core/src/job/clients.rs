//! The hosts that make a run together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a run does when one of its clients is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientLoss {
    /// The others end, and the run failed.
    #[default]
    Fail,
    /// The others go on with their own load.
    Continue,
}

impl ClientLoss {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            ClientLoss::Fail => "fail",
            ClientLoss::Continue => "continue",
        }
    }
}

/// The hosts that make a run together. A credential is named by its file or found in the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// How many agents (`3`), which (`a,b,c`), or how many on this host (`local:3`).
    pub hosts: String,
    /// The NATS server at which they wait, where no variable names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nats: Option<String>,
    /// File with its credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creds: Option<PathBuf>,
    /// File with its certificate authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// What to do when one is lost.
    #[serde(default)]
    pub on_loss: ClientLoss,
}
