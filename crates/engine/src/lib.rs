//! The load engine: sessions in closed loop or on a schedule of arrivals, phases, recording, and
//! loading in chunks. No SQL lives here.
//!
//! [`run()`] drives a workload on a target and gives its measurements, interval by interval, to a
//! [`RunObserver`]. Sessions are tasks on executor threads of one per core; sessions of an
//! embedded engine block and get threads of their own. [`run_streams`] has sessions each do a list
//! of queries instead, as analytical benchmarks do.

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
mod load;
mod measure;
mod outages;
mod pool;
mod pulse;
mod recorder;
mod recorders;
mod run;
mod samples;
mod session;
mod steps;
mod streams;
mod tally;

pub use check::{
    CheckObserver, CheckReport, CheckSpec, ConditionReport, Verdict, ViolatingRow, check,
};
pub use control::StopHandle;
pub use error::EngineError;
pub use load::{
    DropFailure, Guard, LoadFailure, LoadObserver, LoadReport, LoadSpec, Replace, TableReport,
    create, drop_tables, is_loaded, is_loaded_by, is_marked_loaded, is_ours, is_unfinished,
    prepare, why_not_ours,
};
pub use recorder::{Due, Origin, Recorder};
pub use run::{RunObserver, RunResult, Started, run, run_sampled};
pub use samples::{Sample, SampleLog, SampleReport};
pub use streams::{
    Changes, PlanOf, Step, StepOutcome, StepResult, Stream, StreamsObserver, StreamsSpec,
    Transaction, Until, plans, run_streams,
};
pub use tally::ErrorTally;
