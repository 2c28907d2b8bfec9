//! Tidemark's words as types. No I/O lives here.
//!
//! - [`Target`]: a database to test, named by a URL.
//! - [`Engine`], [`Protocol`]: what answers there.
//! - [`DbError`], [`ErrorClass`], [`ErrorKind`]: how a statement failed, and what may be done about it.
//! - [`OptionSpec`], [`OptionValues`]: one table of options feeds the command line, help, docs and
//!   validation.
//! - [`RunSpec`]: what a run is asked to do.
//! - [`Job`]: a run as a value, whole and without secrets.
//! - [`record::RunRecord`]: everything about one run.
//! - [`series::Series`]: a figure over its time.
//! - [`tools::Tool`]: another tool whose outputs are imported.
//!
//! ```
//! use tidemark_core::{Objective, Protocol, Target};
//! let target = Target::parse("mysql://app:secret@127.0.0.1:3306/shop")?;
//! assert_eq!(target.protocol, Protocol::Mysql);
//! assert_eq!(target.to_string(), "mysql://app:***@127.0.0.1:3306/shop");
//! let slo: Objective = "p99 < 20ms and errors < 1%".parse()?;
//! assert!(slo.limits()[0].is_kept(0.019));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_core;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod config_file;
mod counted;
mod currency;
pub mod duration_text;
mod engine;
mod error;
mod fnv;
mod isolation;
pub mod job;
mod nearest;
mod objective;
pub mod observe;
pub mod options;
mod pacing;
mod printable;
mod rates;
pub mod record;
mod registry;
mod report_place;
mod secret;
pub mod series;
mod shard;
mod shell;
mod spec;
mod study;
mod target;
pub mod tools;
pub mod tpch;

pub use config_file::{ConfigLineError, parse_config_file};
pub use counted::counted;
pub use currency::is_currency;
pub use engine::{Engine, Protocol, ServerInfo};
pub use error::{DbError, ErrorClass, ErrorKind};
pub use fnv::fnv1a;
pub use isolation::Isolation;
pub use job::{Job, JobError, JobKind};
pub use nearest::{did_you_mean, nearest};
pub use objective::{Limit, Measure, Objective, ObjectiveError};
pub use observe::{Observe, ObserveError};
pub use options::{OptionError, OptionKind, OptionSpec, OptionValues, Source, option};
pub use pacing::{
    Arrivals, DurationError, FindMax, Pacing, RateStep, ThinkTime, ThinkTimeError, parse_duration,
};
pub use printable::{printable, printable_document, printable_lines};
pub use rates::{Rates, RatesError};
pub use registry::{Registry, RegistryError};
pub use report_place::ReportPlace;
pub use secret::Secret;
pub use series::{
    Bucket, DIGITS, MOST_POINTS, Measures, Point, Series, SeriesBuilder, SeriesError, SeriesKey,
    join,
};
pub use shard::{MOST_CLIENTS, Shard, ShardError};
pub use shell::{shell_line, shell_word};
pub use spec::{DisconnectPolicy, FewerSessions, IgnoreErrors, PreparedMode, RunSpec};
pub use study::{Contents, LeftBehind, StudyLoad, StudyPlace, TablesUsed, held_the_same};
pub use target::{
    Host, Target, TargetError, TlsMode, is_password_name, is_secret_variable, redact_target,
    redact_text, redact_url, redact_urls, redact_value,
};
