//! A benchmark run, or the load of its tables, as a value: everything that decides what is done, and no
//! secret.

mod address;
mod clients;
mod preparation;
mod read;
mod settings;

pub use address::{MACHINE, PasswordReference, TargetAddress};
pub use clients::{ClientLoss, Clients};
pub use preparation::{LoadMethod, Preparation};
pub use read::JobError;
pub use settings::{Settings, SettingsError};

use crate::record::MachineFigures;
use crate::{Observe, RunSpec, StudyLoad, StudyPlace, duration_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Version of this schema; readers take their own and older ones.
pub const JOB_VERSION: u32 = 1;

/// A run as it was asked for, by whatever front-end. A record holds it whole, so that the run can be
/// made again. It holds no secret: a password is named by the variable that has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`JOB_VERSION`] of the writer.
    pub version: u32,
    /// The database, or the machine itself.
    pub target: TargetAddress,
    /// What every session does before its first transaction.
    #[serde(default)]
    pub session: SessionSetup,
    /// What is run.
    pub workload: WorkloadChoice,
    /// How its tables are made and filled; absent of a job that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Preparation>,
    /// How load is made.
    #[serde(default)]
    pub load: RunSpec,
    /// The hosts that make it together; absent where this one makes it alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Clients>,
    /// Who watches the run.
    #[serde(default)]
    pub watch: Watch,
    /// Where the record goes.
    #[serde(default)]
    pub outputs: OutputFiles,
    /// In whose words the run is printed.
    pub tool: ToolChoice,
    /// Whether tables that are not this benchmark's are used by a run, or dropped by a load.
    #[serde(default, skip_serializing_if = "is_off")]
    pub force: bool,
    /// Whether a run does not start where a hint says that its figures would mislead.
    #[serde(default, skip_serializing_if = "is_off")]
    pub strict: bool,
    /// The run's place in a study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<StudyPlace>,
    /// Whether all rows of the study's tables are summed before and after the run, or after the load,
    /// because a later load is to replace them.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sum_tables: bool,
    /// Whether rows of tables are counted neither before nor after the run: of short runs, one after
    /// another, that takes longer than they do, and fills the server's cache.
    #[serde(default, skip_serializing_if = "is_off")]
    pub skip_row_counts: bool,
    /// What tests of the machine showed before the run's study; its record tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineFigures>,
    /// What is worth knowing of how the run was asked for, a line each; its record tells it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Makes and fills tables.
    Load,
    /// Measures.
    Run,
}

impl JobKind {
    /// Its word, as a study calls its steps.
    pub fn word(self) -> &'static str {
        match self {
            JobKind::Load => "load",
            JobKind::Run => "run",
        }
    }
}

impl Job {
    /// What it does.
    pub fn kind(&self) -> JobKind {
        match self.prepare {
            Some(_) => JobKind::Load,
            None => JobKind::Run,
        }
    }

    /// The study that a load is made for, with what it may replace.
    pub fn study_load(&self) -> Option<StudyLoad> {
        let left = self.prepare.as_ref()?.left.clone()?;
        Some(StudyLoad {
            study: self.study.as_ref()?.study.clone(),
            left,
            sums: self.sum_tables,
        })
    }
}

fn is_off(flag: &bool) -> bool {
    !flag
}

/// How long a statement outside the measurement may take unless something else is asked for: a long
/// `CREATE INDEX` ends before.
pub const SETUP_TIMEOUT: Duration = Duration::from_secs(86_400);

/// How sessions are set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSetup {
    /// Settings that every session takes for itself, in this order, as `name=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// How long a statement outside the measurement may take; zero is no limit.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub setup_timeout: Duration,
}

impl Default for SessionSetup {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            setup_timeout: SETUP_TIMEOUT,
        }
    }
}

/// A workload of the registry with its settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadChoice {
    /// Its name, as `tidemark workloads` lists it.
    pub name: String,
    /// Its settings by option name; those left out have their defaults.
    #[serde(default)]
    pub settings: Settings,
}

/// The tool whose words are used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolChoice {
    /// The command, as `sysbench` or `tpcc`.
    pub name: String,
    /// What it prints and checks beside, by option name; those left out have their defaults.
    #[serde(default)]
    pub settings: Settings,
}

/// Who watches a run beside the lines of its tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Watch {
    /// Whether a view fills the terminal.
    pub view: bool,
    /// Where metrics are served, as a port or `ADDRESS:PORT`.
    pub metrics: Option<String>,
    /// How long they are served after the end.
    #[serde(with = "duration_text")]
    #[schemars(with = "String")]
    pub metrics_linger: Duration,
    /// What is observed beside the load.
    #[serde(skip_serializing_if = "Observe::is_auto")]
    pub observe: Observe,
    /// URL of the node_exporter on the database's host, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observe_host: Option<String>,
    /// URLs of the cluster's nodes, separated by commas, where the database's own list is not to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observe_nodes: Option<String>,
    /// URL of a Prometheus that is asked for the nodes' metrics, in place of the nodes themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observe_prometheus: Option<String>,
    /// File of the certificate authority of these URLs' `https://`; the system's authorities without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observe_ca: Option<PathBuf>,
    /// TiUP's file that describes the target's cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<PathBuf>,
}

/// Where a run's record goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputFiles {
    /// File of the run store, `off`, or the user's own.
    pub store: Option<String>,
    /// File for the record.
    pub record: Option<PathBuf>,
    /// Files for reports; an ending says the format.
    pub reports: Vec<PathBuf>,
    /// Language of reports: `en` or `zh`.
    pub lang: String,
    /// Whether files go that Tidemark did not write.
    pub overwrite: bool,
    /// Tags that the run gets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its user notes about the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Default for OutputFiles {
    fn default() -> Self {
        Self {
            store: None,
            record: None,
            reports: Vec::new(),
            lang: "en".into(),
            overwrite: false,
            tags: Vec::new(),
            note: String::new(),
        }
    }
}
