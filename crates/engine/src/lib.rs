//! The load engine: sessions in closed loop or on a schedule of arrivals, phases, recording, and
//! loading in chunks. No SQL lives here.
//!
//! [`run()`] drives a workload on a target and gives its measurements, interval by interval, to a
//! [`RunObserver`]. Sessions are tasks on executor threads of one per core; sessions of an
//! embedded engine block and get threads of their own. [`run_workers`] measures in the same way what
//! has no sessions at all: tests of the machine. [`run_streams`] has sessions each do a list of queries
//! instead, as analytical benchmarks do. A run that several clients share does this client's part
//! ([`tidemark_core::Shard`]), and a [`Lead`] starts, stops and paces it from outside.
//!
//! ```
//! use tidemark_core::record::{Interval, Totals};
//! use tidemark_core::{RunSpec, Source, Target};
//! use tidemark_drivers::{ConnectOptions, Connector};
//! use tidemark_engine::{
//!     LoadObserver, LoadSpec, RunObserver, Started, StopHandle, prepare, run,
//! };
//!
//! struct Quiet;
//! impl LoadObserver for Quiet {
//!     fn creating(&mut self, _: &str, _: u64, _: u64) {}
//!     fn progress(&mut self, _: u64, _: u64) {}
//!     fn indexing(&mut self, _: &str) {}
//!     fn verifying(&mut self) {}
//! }
//! impl RunObserver for Quiet {
//!     fn started(&mut self, _: &Started) {}
//!     fn interval(&mut self, _: &Interval) {}
//!     fn checkpoint(&mut self, _: f64, _: &Totals) {}
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let target = Target::parse(&format!("sqlite:{}/a.db", folder.path().display()))?;
//! let connector = Connector::new(target, ConnectOptions::default())?;
//! let definition = tidemark_workloads::find("oltp_point_select")?;
//! let mut options = definition.defaults();
//! options.set("table-size", "100", Source::CommandLine)?;
//! let workload = (definition.build)(&options)?;
//! let stop = StopHandle::new();
//! prepare(&connector, &workload, &LoadSpec::default(), &stop, &mut Quiet)?;
//! let spec = RunSpec { events: Some(50), ..RunSpec::default() };
//! let result = run(&spec, &connector, &workload, &[], &stop, &mut Quiet)?;
//! assert_eq!(result.totals.all.count, 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_engine;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod arrivals;
mod check;
mod clock;
mod control;
mod dead_time;
mod error;
mod gate;
mod interval;
mod launch;
mod lead;
mod load;
mod measure;
mod outages;
mod pool;
mod pulse;
mod recorder;
mod recorders;
mod run;
mod run_queue;
mod samples;
mod session;
mod steps;
mod streams;
mod tally;
mod workers;

pub use check::{
    CheckObserver, CheckReport, CheckSpec, ConditionReport, ConditionVerdict, ViolatingRow, check,
};
pub use control::StopHandle;
pub use error::EngineError;
pub use lead::{Lead, LeadEvent, LedStep, lead};
pub use load::{
    DropFailure, Guard, LoadFailure, LoadObserver, LoadReport, LoadSpec, Replace, TableReport,
    create, drop_tables, empty_table, is_being_loaded, is_loaded, is_loaded_by, is_marked_loaded,
    is_ours, is_unfinished, prepare, why_not_ours,
};
pub use recorder::{Due, Origin, Recorder};
pub use run::{RunExtras, RunObserver, RunResult, Started, run, run_beside};
pub use samples::{Sample, SampleLog, SampleReport};
pub use steps::{Conductor, StepPlan};
pub use streams::{
    Changes, PlanOf, StepOutcome, StepResult, Stream, StreamStep, StreamsObserver, StreamsSpec,
    Transaction, Until, plans, run_streams,
};
pub use tally::ErrorTally;
pub use workers::{Worker, WorkerEvent, WorkersSpec, run_workers};
