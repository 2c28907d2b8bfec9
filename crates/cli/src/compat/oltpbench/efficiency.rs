//! Whether the phases of a workload file can have an efficiency.

use super::execution::FileExecution;
use super::phases::{PhaseAction, list};
use super::waits::WaitScale;
use tidemark_report::tpcc::{SETTLE_S, TERMINALS_PER_WAREHOUSE, is_specified_mix};

/// Why efficiency would mean nothing, if so: that ten terminals a warehouse key and think, and mix
/// their transactions, as TPC-C has it is what it is made of.
pub fn no_efficiency(execution: &FileExecution) -> Option<String> {
    let most = execution.warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    no_efficiency_of_pauses(execution)
        .or_else(|| {
            (execution.terminals > most).then(|| {
                format!(
                    "{} terminals are more than the {most} of {} warehouses",
                    execution.terminals, execution.warehouses
                )
            })
        })
        .or_else(|| no_efficiency_of_mixes(execution))
}

/// What makes efficiency other than it seems: terminals of a phase that had no time to come apart.
pub fn warning(execution: &FileExecution) -> Option<String> {
    let warmups = execution
        .phases
        .iter()
        .filter_map(|phase| match &phase.doing {
            PhaseAction::Run { spec, .. } => Some(spec.warmup.as_secs_f64()),
            PhaseAction::Nothing(_) => None,
        });
    let shortest = warmups.fold(f64::INFINITY, f64::min);
    (shortest < SETTLE_S).then(|| {
        format!(
            "all terminals started together after only {shortest} s of warm-up, so transactions \
             arrive in waves at first; use <warmup>{SETTLE_S}</warmup>, preferably 300"
        )
    })
}

fn no_efficiency_of_mixes(execution: &FileExecution) -> Option<String> {
    execution.phases.iter().find_map(|phase| match &phase.doing {
        PhaseAction::Run { weights, .. } if !is_specified_mix(weights) => Some(format!(
            "weights {} are not a TPC-C mix, which has at least 43 % Payment and 4 % of each of \
             the last three",
            list(weights)
        )),
        _ => None,
    })
}

fn no_efficiency_of_pauses(execution: &FileExecution) -> Option<String> {
    let full = WaitScale {
        keying: 1.0,
        think: 1.0,
    };
    execution
        .phases
        .iter()
        .find_map(|phase| match &phase.doing {
            PhaseAction::Nothing(_) => None,
            PhaseAction::Run { waits, .. } if *waits == full => None,
            PhaseAction::Run { spec, .. } if spec.pacing.is_open_loop() => {
                Some("scheduled arrivals have no keying or think times".into())
            }
            PhaseAction::Run { waits, .. } if waits.any() => Some(format!(
                "keying times are {} times and think times {} times those of TPC-C",
                waits.keying, waits.think
            )),
            PhaseAction::Run { .. } => Some(
                "terminals have no keying or think times; set \
             <useKeyingTime>true</useKeyingTime> and <useThinkTime>true</useThinkTime>"
                    .into(),
            ),
        })
}
