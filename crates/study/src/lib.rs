//! Studies: matrices of runs, described by a file.
//!
//! [`parse`] reads the file, [`StudyPlan::new`] makes its matrix of cells and the steps (loads and runs)
//! in which it is executed. A step is a command with its options
//! ([`StepCommand`]), from which its job is made; the command line is only for readers. Nothing here does
//! I/O: what commands take is asked of [`Commands`], and who executes the steps is the caller.
//!
//! ```
//! let study = tidemark_study::parse(
//!     "name = \"threads\"
//!      time = \"30s\"
//!      [[target]]
//!      name = \"here\"
//!      url = \"sqlite:a.db\"
//!      [[workload]]
//!      name = \"oltp_read_only\"
//!      [load]
//!      threads = [1, 4, 16]",
//! )?;
//! assert_eq!(study.name, "threads");
//! assert!(tidemark_study::parse("name = 7").is_err());
//! # Ok::<(), tidemark_study::StudyError>(())
//! ```

#[cfg(test)]
extern crate self as tidemark_study;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

mod changed;
mod command;
mod error;
mod family;
mod file;
mod judge;
mod keys;
mod matrix;
mod order;
mod parse;
mod plan;
mod read;
mod redact;
mod syntax;
mod text;
mod time;
mod varied;

pub use changed::changed_lines;
pub use command::{CommandOption, Commands, StepCommand};
pub use error::{Problem, StudyError};
pub use file::{
    During, Existing, Factor, FactorValue, Levels, NamedValue, OnFailure, Password, Price, Reload,
    RunOrder, Study, StudySection, StudyTarget, StudyWorkload,
};
pub use keys::{FileSection, KEYS, Key};
pub use matrix::{LoadLevel, MatrixCell};
pub use parse::{parse, parse_for};
pub use plan::{PlannedStep, StudyPlan};
pub use redact::redact;
pub use text::time_text;
pub use tidemark_core::JobKind;
pub use tidemark_workloads::Family;
pub use varied::Varied;
