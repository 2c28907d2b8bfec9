//! The hosts of a database cluster and what runs on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cluster, as its deployment file and the database itself describe it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// The name of the file that describes it, without its folder; absent where the database alone does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether the database listed its members.
    #[serde(default)]
    pub listed: bool,
    /// Its hosts, in the order of the file.
    pub hosts: Vec<ClusterHost>,
    /// What the file sets, and what of the members' own configuration is not at its default; passwords are
    /// `***`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ComponentSetting>,
}

/// A host of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterHost {
    /// Its name or address.
    pub host: String,
    /// Its logical CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Its disks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<ClusterDisk>,
    /// What runs there.
    pub components: Vec<Component>,
}

/// A disk of a cluster's host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterDisk {
    /// Its device, as the database names it.
    pub device: String,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// A process of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Component {
    /// What it is: `tidb`, `tikv`, `pd`, `tiflash`, `cockroach`, `prometheus`.
    pub kind: String,
    /// The port that it serves clients at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The port of its status and metrics, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_port: Option<u16>,
    /// Its version, where the database says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Whether the file has it.
    #[serde(default)]
    pub in_file: bool,
    /// Whether the database lists it.
    #[serde(default)]
    pub in_database: bool,
}

/// A setting of a component.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentSetting {
    /// The component: `tikv`.
    pub component: String,
    /// The instance that alone has it, as `host:port`; absent where all have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Its name: `raftstore.apply-pool-size`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The component's default, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}
