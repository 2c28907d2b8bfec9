//! What will make a run's figures misleading, told before it begins; with `--strict` such a run does
//! not begin. Pure functions over what is asked, what was found and what earlier runs left: only
//! [`earlier::runs`] reads the store.

mod earlier;
mod reach;
mod rows;
mod samples;
mod terminals;
#[cfg(test)]
mod tests;

use crate::exit::{ExitCode, Failure};
use crate::looking::Beside;
use crate::plan::BoundWorkload;
use std::fmt;
use std::time::Duration;
use tidemark_core::RunSpec;
use tidemark_core::counted;
use tidemark_core::record::RunRecord;

/// Something that will make figures misleading.
#[derive(Debug, Clone, PartialEq)]
pub enum Hint {
    /// A table has other rows than the run is told.
    Rows(rows::OtherRows),
    /// Fewer transactions are to come than a percentile needs.
    Samples {
        /// Transactions that the length of the run allows.
        expected: f64,
        /// The percentile.
        percentile: f64,
        /// Transactions that it needs.
        needed: f64,
        /// Seconds in which those would complete; none where the run ends by their number.
        enough_s: Option<f64>,
    },
    /// Users key and think, and are not ten for each warehouse.
    Terminals {
        /// How many there are.
        terminals: u64,
        /// Warehouses of this client.
        warehouses: u64,
    },
    /// More users than ten for each warehouse, who neither key nor think.
    NoWaits {
        /// How many there are.
        terminals: u64,
        /// Warehouses of this client.
        warehouses: u64,
    },
    /// Earlier runs changed the tables, and nothing was loaded since.
    Changed {
        /// How many runs.
        runs: usize,
    },
    /// A rate that the network alone makes impossible.
    Unreachable {
        /// Transactions a second that are asked for.
        rate: f64,
        /// Whether it is one of several steps.
        is_step: bool,
        /// Sessions.
        sessions: usize,
        /// The quickest reply to a trivial statement.
        round_trip: Duration,
        /// Round trips of a transaction, at least.
        each: u32,
    },
    /// A study in which every cell is run once.
    SingleRepeat,
}

impl Hint {
    /// Of a study with so many repeats.
    pub fn of_study(repeats: u32) -> Option<Self> {
        (repeats == 1).then_some(Hint::SingleRepeat)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Rows(other) => other.fmt(f),
            Hint::Samples {
                expected,
                percentile,
                needed,
                enough_s,
            } => {
                write!(
                    f,
                    "the run is too short for percentile {percentile}: it has about {expected:.0} \
                     transactions, and the percentile needs {needed:.0}; ask for "
                )?;
                match enough_s {
                    Some(seconds) => write!(f, "{seconds:.0} s")?,
                    None => write!(f, "{needed:.0} transactions")?,
                }
                f.write_str(", or for a lower percentile")
            }
            Hint::Terminals {
                terminals,
                warehouses,
            } => write!(
                f,
                "{terminals} terminals with keying and think times for {}: the specification has ten \
                 per warehouse; use {} terminals",
                counted(*warehouses, "warehouse", "warehouses"),
                terminals::specified(*warehouses)
            ),
            Hint::NoWaits {
                terminals,
                warehouses,
            } => write!(
                f,
                "{terminals} terminals without keying and think times for {}: the specification has \
                 ten per warehouse; more of them wait for each other's rows, and tpmC is not \
                 comparable with published results; use at most {} terminals, or {} warehouses",
                counted(*warehouses, "warehouse", "warehouses"),
                terminals::specified(*warehouses),
                terminals.div_ceil(terminals::specified(1))
            ),
            Hint::Changed { runs } => write!(
                f,
                "{} changed these tables since they were loaded; a fresh prepare makes repeats \
                 comparable",
                counted(*runs as u64, "earlier run", "earlier runs")
            ),
            Hint::Unreachable {
                rate,
                is_step,
                sessions,
                round_trip,
                each,
            } => {
                let most = reach::most(*sessions, *round_trip, *each);
                let needed = (*rate / most * *sessions as f64).ceil();
                let step = if *is_step { " of a step" } else { "" };
                write!(
                    f,
                    "the rate{step}, {rate} transactions/s, cannot be reached: a round trip takes \
                     {:.2} ms and a transaction at least {}, so {} complete at most {most:.0} \
                     transactions/s; use {needed:.0} sessions or more, or a lower rate",
                    round_trip.as_secs_f64() * 1000.0,
                    counted((*each).into(), "round trip", "round trips"),
                    counted(*sessions as u64, "session", "sessions"),
                )
            }
            Hint::SingleRepeat => f.write_str(
                "the study has repeats = 1: it cannot tell a difference from noise; for example \
                 repeats = 3",
            ),
        }
    }
}

/// Everything that is known before a run begins. `record` is the run's, as it begins.
pub fn before(
    record: &RunRecord,
    load: &RunSpec,
    plan: &BoundWorkload,
    beside: &Beside,
) -> Vec<Hint> {
    let tables = &record.tables_before;
    let rows = rows::of(record, &beside.about).map(Hint::Rows);
    let mut hints = Vec::from_iter(rows);
    hints.extend(samples::of(record, load));
    hints.extend(terminals::of(record, load));
    hints.extend(earlier::of(tables, &earlier::runs(record)));
    let each = plan.workload.fewest_round_trips();
    hints.extend(reach::of(load, beside.round_trip, each));
    hints
}

/// Tells hints, a line each, on the error output.
///
/// # Errors
/// [`ExitCode::Refused`] naming all of them, where nothing is to begin with any.
pub fn judge(strict: bool, hints: &[Hint]) -> Result<(), Failure> {
    if strict && !hints.is_empty() {
        let lines: Vec<String> = hints.iter().map(|hint| format!("\n  {hint}")).collect();
        return Err(Failure::new(
            ExitCode::Refused,
            format!("--strict: nothing was started:{}", lines.concat()),
        ));
    }
    for hint in hints {
        eprintln!("HINT: {hint}");
    }
    Ok(())
}
