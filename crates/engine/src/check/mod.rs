//! Checking: a workload's conditions, each with its verdict.
//!
//! Every condition is a query for what breaks it, asked in blocks. While a run goes on all of them
//! are asked in one snapshot, for between two moments a run changes both sides of a condition;
//! otherwise several sessions ask side by side.

mod board;
mod lane;

use crate::control::StopHandle;
use crate::error::EngineError;
use board::Board;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, did_you_mean};
use tidemark_drivers::Connector;
use tidemark_runtime::{Executor, Remote};
use tidemark_workloads::{Check, Sentence, Workload};

/// How conditions are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSpec {
    /// Sessions that ask at the same time. Within a snapshot that the engine can't share there is
    /// one.
    pub threads: usize,
    /// Whether all conditions are asked in one snapshot, as they must be while a run goes on.
    pub snapshot: bool,
    /// Names of the conditions to ask; `None` asks all.
    pub only: Option<Vec<String>>,
}

impl Default for CheckSpec {
    fn default() -> Self {
        Self {
            threads: 1,
            snapshot: false,
            only: None,
        }
    }
}

/// Columns with their values; NULL is none.
pub type ViolatingRow = Vec<(&'static str, Option<String>)>;

/// What is to be said of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionVerdict {
    /// Nothing breaks it.
    Holds,
    /// Something does.
    Violated {
        /// How many rows of the condition's query there are: warehouses, districts, customers or
        /// orders.
        violations: u64,
        /// The first of them.
        first: ViolatingRow,
    },
    /// The target did not answer.
    NotAsked(DbError),
}

impl fmt::Display for ConditionVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionVerdict::Holds => f.write_str("holds"),
            ConditionVerdict::Violated { violations, first } => {
                let times = if *violations == 1 { "time" } else { "times" };
                write!(f, "violated {violations} {times}, first:")?;
                for (nth, (column, value)) in first.iter().enumerate() {
                    let comma = if nth > 0 { "," } else { "" };
                    write!(f, "{comma} {column}={}", value.as_deref().unwrap_or("NULL"))?;
                }
                Ok(())
            }
            ConditionVerdict::NotAsked(error) => write!(f, "could not be checked: {error}"),
        }
    }
}

/// One condition and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionReport {
    /// What it is called by.
    pub name: &'static str,
    /// What it says.
    pub says: Sentence,
    /// Whether it holds.
    pub verdict: ConditionVerdict,
    /// Time that its statements took, in seconds; of those asked side by side, the sum.
    pub seconds: f64,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// Each condition that was asked, in the workload's order.
    pub conditions: Vec<ConditionReport>,
    /// Whether all were asked in one snapshot.
    pub snapshot: bool,
    /// Sessions that asked.
    pub sessions: usize,
    /// Time from the first session to the last answer.
    pub elapsed: Duration,
}

impl CheckReport {
    /// Whether every condition was asked and holds.
    pub fn all_hold(&self) -> bool {
        let held = |c: &ConditionReport| c.verdict == ConditionVerdict::Holds;
        self.conditions.iter().all(held)
    }
}

/// What a check tells while it goes on.
pub trait CheckObserver {
    /// Statements answered so far, of all.
    fn progress(&mut self, done: u64, total: u64);
    /// A condition's verdict; they come as they are found, not in order.
    fn verdict(&mut self, found: &ConditionReport);
}

/// What the sessions tell the caller's thread.
enum CheckEvent {
    /// Where the sessions can be reached, and statements to come.
    Begun(Remote, u64),
    /// One more statement was answered.
    Answered,
    /// A condition is settled.
    Settled(ConditionReport),
}

/// Asks the workload's conditions.
///
/// # Errors
/// [`EngineError::Connect`]; [`EngineError::Statement`] when the snapshot can't be had;
/// [`EngineError::Unsupported`] when the workload has no conditions, or none of a name asked for;
/// [`EngineError::Interrupted`]. A condition that the target refuses to answer is told in the
/// report.
pub fn check(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &CheckSpec,
    stop: &StopHandle,
    observer: &mut dyn CheckObserver,
) -> Result<CheckReport, EngineError> {
    let begun = Instant::now();
    let (send, events) = channel();
    let asking = {
        let connector = connector.clone().unlimited().must_exist();
        let (workload, spec) = (Arc::clone(workload), spec.clone());
        let builder = std::thread::Builder::new().name("checker".into());
        builder.spawn(move || ask(&connector, &workload, &spec, &send))?
    };
    let (mut remote, mut done, mut total) = (None, 0, 0);
    loop {
        match events.recv_timeout(Duration::from_millis(100)) {
            Ok(CheckEvent::Begun(reached, statements)) => {
                (remote, total) = (Some(reached), statements)
            }
            Ok(CheckEvent::Answered) => done += 1,
            Ok(CheckEvent::Settled(found)) => observer.verdict(&found),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        observer.progress(done, total);
        if stop.is_stopped()
            && let Some(remote) = &remote
        {
            // One that can't be woken has ended.
            let _ = remote.abort();
        }
    }
    let asked = asking
        .join()
        .unwrap_or_else(|_| Err(EngineError::System("the checking thread panicked".into())));
    if stop.is_stopped() {
        return Err(EngineError::Interrupted);
    }
    let (conditions, sessions) = asked?;
    Ok(CheckReport {
        conditions,
        snapshot: spec.snapshot,
        sessions,
        elapsed: begun.elapsed(),
    })
}

/// Asks on this thread; the conditions' reports, and the number of sessions.
fn ask(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &CheckSpec,
    events: &Sender<CheckEvent>,
) -> Result<(Vec<ConditionReport>, usize), EngineError> {
    let mut executor = Executor::new()?;
    let remote = executor.remote();
    let board = Board::new(events.clone());
    executor.spawn(lane::first(
        connector.clone(),
        Arc::clone(workload),
        spec.clone(),
        board.clone(),
        remote,
    ));
    executor.run()?;
    drop(executor);
    board.finish()
}

/// The conditions to ask, in the workload's order.
fn chosen(all: Vec<Check>, spec: &CheckSpec, workload: &str) -> Result<Vec<Check>, EngineError> {
    let unsupported = |said| Err(EngineError::Unsupported(said));
    if all.is_empty() {
        return unsupported(format!("{workload} has no conditions to check"));
    }
    let Some(only) = &spec.only else {
        return Ok(all);
    };
    let names = || all.iter().map(|c| c.name);
    if let Some(unknown) = only.iter().find(|o| !names().any(|name| name == *o)) {
        let near = did_you_mean(unknown, names());
        let known: Vec<_> = names().collect();
        return unsupported(format!(
            "{workload} has no condition {unknown}: there are {}{near}",
            known.join(", ")
        ));
    }
    let asked = |check: &Check| only.iter().any(|o| o == check.name);
    Ok(all.into_iter().filter(asked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::ErrorClass;

    fn checks() -> Vec<Check> {
        let one = |name| Check {
            name,
            says: Sentence { en: "", zh: "" },
            sql: "",
            columns: &[],
            units: 1,
            block: 1,
        };
        vec![one("3.3.2.1"), one("3.3.2.2")]
    }

    fn only(names: &[&str]) -> CheckSpec {
        CheckSpec {
            only: Some(names.iter().map(ToString::to_string).collect()),
            ..CheckSpec::default()
        }
    }

    #[test]
    fn conditions_are_chosen_by_name() {
        assert_eq!(
            chosen(checks(), &CheckSpec::default(), "w").unwrap().len(),
            2
        );
        let found = chosen(checks(), &only(&["3.3.2.2"]), "w").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "3.3.2.2");
        let error = chosen(checks(), &only(&["3.3.2.1", "3.3.3.1"]), "w");
        assert_eq!(
            error.unwrap_err().to_string(),
            "w has no condition 3.3.3.1: there are 3.3.2.1, 3.3.2.2; did you mean 3.3.2.1?"
        );
        let none = chosen(Vec::new(), &CheckSpec::default(), "w").unwrap_err();
        assert_eq!(none.to_string(), "w has no conditions to check");
    }

    #[test]
    fn verdicts_name_what_they_found() {
        let violated = ConditionVerdict::Violated {
            violations: 3,
            first: vec![("w_id", Some("1".into())), ("w_ytd", None)],
        };
        assert_eq!(
            violated.to_string(),
            "violated 3 times, first: w_id=1, w_ytd=NULL"
        );
        let error = DbError::new(ErrorClass::Missing, "1146", "no such table");
        assert_eq!(
            ConditionVerdict::NotAsked(error).to_string(),
            "could not be checked: 1146: no such table"
        );
    }
}
