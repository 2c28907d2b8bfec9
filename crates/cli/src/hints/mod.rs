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
use crate::looking::TargetHints;
use crate::plan::BoundWorkload;
use crate::texts::hints as texts;
use std::time::Duration;
use tidemark_core::RunSpec;
use tidemark_core::record::RunRecord;
use tidemark_report::Lang;

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

    /// The hint as people read it.
    pub fn says(&self, lang: Lang) -> String {
        match self {
            Hint::Rows(other) => other.says(lang),
            Hint::Samples {
                expected,
                percentile,
                needed,
                enough_s,
            } => {
                let expected = format_args!("{expected:.0}");
                let needed = format_args!("{needed:.0}");
                match enough_s {
                    Some(s) => {
                        let seconds = format_args!("{s:.0}");
                        texts::samples_in_time(lang, percentile, expected, needed, seconds)
                    }
                    None => texts::samples(lang, percentile, expected, needed),
                }
            }
            Hint::Terminals {
                terminals,
                warehouses,
            } => {
                let specified = terminals::specified(*warehouses);
                texts::terminals(lang, terminals, warehouses, specified)
            }
            Hint::NoWaits {
                terminals,
                warehouses,
            } => {
                let specified = terminals::specified(*warehouses);
                let enough = terminals.div_ceil(terminals::specified(1));
                texts::no_waits(lang, terminals, warehouses, specified, enough)
            }
            Hint::Changed { runs } => texts::changed(lang, runs),
            Hint::Unreachable {
                rate,
                is_step,
                sessions,
                round_trip,
                each,
            } => {
                let most = reach::most(*sessions, *round_trip, *each);
                let ms = format_args!("{:.2}", round_trip.as_secs_f64() * 1000.0);
                let needed = format_args!("{:.0}", (*rate / most * *sessions as f64).ceil());
                let most = format_args!("{most:.0}");
                match is_step {
                    true => texts::step_unreachable(lang, rate, ms, each, sessions, most, needed),
                    false => texts::unreachable(lang, rate, ms, each, sessions, most, needed),
                }
            }
            Hint::SingleRepeat => texts::single_repeat(lang).into(),
        }
    }
}

/// Everything that is known before a run begins. `record` is the run's, as it begins.
pub fn before(
    record: &RunRecord,
    load: &RunSpec,
    plan: &BoundWorkload,
    beside: &TargetHints,
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
pub fn judge(strict: bool, hints: &[Hint], lang: Lang) -> Result<(), Failure> {
    if strict && !hints.is_empty() {
        let line = |hint: &Hint| format!("\n  {}", hint.says(lang));
        let lines: Vec<String> = hints.iter().map(line).collect();
        return Err(Failure::new(
            ExitCode::Refused,
            format!("--strict: nothing was started:{}", lines.concat()),
        ));
    }
    for hint in hints {
        eprintln!("{}", texts::hint(lang, hint.says(lang)));
    }
    Ok(())
}
