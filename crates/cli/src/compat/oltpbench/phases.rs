//! What one phase of a workload file does.

use super::execution::{FileExecution, in_file, on};
use super::waits::WaitScale;
use crate::exit::Failure;
use crate::native::at_least;
use crate::plan::{native_spec, tpcc_seed};
use std::path::Path;
use std::time::Duration;
use tidemark_core::OptionKind::{Choice, Int, List, Rates};
use tidemark_core::{Arrivals, Isolation, OptionSpec, OptionValues, RunSpec, Source, option};
use tidemark_oltpbench::{LoadPhase, Rate, WorkloadFile};

/// Opening sessions may take so long, or as long as the file allows one to take.
const SHORTEST_INIT: Duration = Duration::from_secs(30);
/// A shorter interval is not measured.
const SHORTEST_INTERVAL_MS: u64 = 100;

/// What a phase's options have beside the command line's: the words of the other commands.
pub(super) const PHASE: &[OptionSpec] = &[
    option("threads", at_least(1), "1", ""),
    option("rate", Rates, "0", ""),
    option("time", at_least(0), "0", ""),
    option("reconnect", at_least(0), "0", ""),
    option("transaction-ids", List, "", ""),
    option("isolation", Choice(Isolation::CHOICES), "default", ""),
    option(
        "phase",
        Int {
            min: 0,
            max: 65_535,
        },
        "0",
        "",
    ),
    option(
        "phases",
        Int {
            min: 0,
            max: 65_535,
        },
        "0",
        "",
    ),
];

/// What one phase does.
#[derive(Debug)]
pub enum PhaseAction {
    /// No load is made for this time.
    Nothing(Duration),
    /// A run of its own.
    Run {
        /// Every option's effective value.
        options: Box<OptionValues>,
        /// What the run is asked to do.
        spec: Box<RunSpec>,
        /// How long terminals pause; none on a schedule.
        waits: WaitScale,
        /// Weights of the transaction types.
        weights: [f64; 5],
    },
}

/// Weights as a workload file has them.
pub fn list(weights: &[f64; 5]) -> String {
    weights.map(|weight| weight.to_string()).join(",")
}

/// One phase.
#[derive(Debug)]
pub struct WorkPhase {
    /// Its number in the file, from 1.
    pub number: u16,
    /// What it does.
    pub doing: PhaseAction,
    /// One line for people.
    pub said: String,
}

impl FileExecution {
    pub(super) fn phase(
        &self,
        given: &OptionValues,
        file: &WorkloadFile,
        work: &LoadPhase,
        index: usize,
        waits: WaitScale,
    ) -> Result<WorkPhase, Failure> {
        let number = u16::try_from(index + 1).unwrap_or(u16::MAX);
        let of = file.works.len();
        let seconds = work.time.as_secs();
        let terminals = work.active_terminals.map_or(self.terminals, u64::from);
        let head = format!("Phase {number} of {of}: {seconds} s");
        if work.rate == Rate::Disabled {
            return Ok(WorkPhase {
                number,
                doing: PhaseAction::Nothing(work.time),
                said: format!("{head}, disabled: no load"),
            });
        }
        if work.weights.iter().any(|w| w.fract() != 0.0) {
            return Err(Failure::usage(format!(
                "--config={}: line {}: the weights of a phase are whole numbers; for example \
                 <weights>45,43,4,4,4</weights>",
                given.text("config"),
                work.line
            )));
        }
        let weights = list(&work.weights);
        let most = waits.most(terminals, &work.weights);
        // Terminals that pause take a rate that they can't reach for what it is: no limit.
        let (scheduled, note) = match work.rate {
            Rate::PerSecond(rate) if waits.any() && rate >= most => (
                None,
                format!(" (above the {most:.1} that {terminals} terminals can reach)"),
            ),
            Rate::PerSecond(rate) if waits.any() => (
                Some(rate),
                " on a schedule, without keying or think times".to_string(),
            ),
            Rate::PerSecond(rate) => (Some(rate), String::new()),
            _ => (None, String::new()),
        };
        let waits = if scheduled.is_some() {
            WaitScale::NONE
        } else {
            waits
        };
        let mut options = self.options.clone();
        let mut set = |name: &str, value: &str| {
            let set = options.set(name, value, Source::ConfigFile);
            set.map_err(|e| in_file(given.text("config"), &e.into()))
        };
        set("weight", &weights)?;
        set("wait", on(waits.any()))?;
        let sessions = self.sessions.min(terminals);
        match scheduled {
            Some(rate) => {
                set("rate", &rate.to_string())?;
                set("threads", &sessions.to_string())?;
                set(
                    "arrivals",
                    match work.arrivals {
                        Arrivals::Poisson => "poisson",
                        Arrivals::Constant => "constant",
                    },
                )?;
            }
            None => {
                set("threads", &terminals.to_string())?;
                set("connections", &sessions.to_string())?;
            }
        }
        pauses(waits, &mut set, given.text("config"))?;
        set("time", &seconds.to_string())?;
        set("phase", &number.to_string())?;
        set("phases", &of.to_string())?;
        let ids: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
        set("transaction-ids", &ids.join(","))?;
        set(
            "reconnect",
            &u64::from(file.new_connection_per_transaction).to_string(),
        )?;
        per_phase_files(&mut options, number, of)?;
        let warmup = match given.source("warmup-time-secs") {
            Source::CommandLine if index == 0 => {
                Duration::from_secs(given.uint("warmup-time-secs"))
            }
            _ => work.warmup,
        };
        let spec = phase_spec(&options, work.time, warmup)?;
        let warmup = match spec.warmup.as_secs() {
            0 => String::new(),
            s => format!(" after {s} s of warm-up"),
        };
        Ok(WorkPhase {
            number,
            said: format!(
                "{head}{warmup}, rate {}{note}, weights {weights}",
                work.rate
            ),
            doing: PhaseAction::Run {
                options: Box::new(options),
                spec: Box::new(spec),
                waits,
                weights: work.weights,
            },
        })
    }
}

/// What a phase is asked to do.
///
/// # Errors
/// [`Failure`] of bad usage.
pub(super) fn phase_spec(
    options: &OptionValues,
    time: Duration,
    warmup: Duration,
) -> Result<RunSpec, Failure> {
    let spec = native_spec(options, tpcc_seed(options))?;
    Ok(RunSpec {
        time: Some(time),
        warmup,
        init_timeout: SHORTEST_INIT.max(spec.connect_timeout),
        reconnect_every: options.uint("reconnect"),
        interval: match options.uint("interval-monitor") {
            every @ 1..1000 => Duration::from_millis(every.max(SHORTEST_INTERVAL_MS)),
            _ => spec.interval,
        },
        ..spec
    })
}

/// Pauses in the words of the workload's options.
fn pauses(
    waits: WaitScale,
    set: &mut impl FnMut(&str, &str) -> Result<(), Failure>,
    config: &str,
) -> Result<(), Failure> {
    let (scale, only) = match (waits.keying, waits.think) {
        (0.0, 0.0) => return Ok(()),
        (keying, 0.0) => (keying, Some("keying")),
        (0.0, think) => (think, Some("think")),
        (keying, think) if keying == think => (keying, None),
        (keying, think) => {
            return Err(Failure::usage(format!(
                "--config={config}: keying times are {keying} times and think times {think} \
                 times those of TPC-C, clause 5.2.5.7: must be one multiple for both, or one of \
                 them alone"
            )));
        }
    };
    set("wait-scale", &scale.to_string())?;
    match only {
        Some(only) => set("wait-for", only),
        None => Ok(()),
    }
}

/// Files of a run are named after its phase where there are several.
fn per_phase_files(options: &mut OptionValues, number: u16, of: usize) -> Result<(), Failure> {
    if of == 1 {
        return Ok(());
    }
    for name in ["out", "report"] {
        let source = options.source(name);
        let files = options.text(name).split(',').filter(|f| !f.is_empty());
        let named: Vec<String> = files.map(|file| of_phase(file, number)).collect();
        options.set(name, &named.join(","), source)?;
    }
    Ok(())
}

/// `report.html` is `report.2.html` of the second phase.
pub(super) fn of_phase(file: &str, number: u16) -> String {
    let path = Path::new(file);
    match path.extension().and_then(|e| e.to_str()) {
        Some(ending) => {
            let ending = format!("{number}.{ending}");
            path.with_extension(ending).display().to_string()
        }
        None => format!("{file}.{number}"),
    }
}
