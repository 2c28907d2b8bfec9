//! Whether the phases of a workload file can have an efficiency.

use super::job::{Doing, Job, list};
use super::waits::Waits;
use tidemark_report::tpcc::{TERMINALS_PER_WAREHOUSE, is_specified_mix};

/// Why efficiency would mean nothing, if so: that ten terminals a warehouse key and think, and mix
/// their transactions, as TPC-C has it is what it is made of.
pub fn no_efficiency(job: &Job) -> Option<String> {
    let most = job.warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    no_efficiency_of_pauses(job)
        .or_else(|| {
            (job.terminals > most).then(|| {
                format!(
                    "{} terminals are more than the {most} that {} warehouses have",
                    job.terminals, job.warehouses
                )
            })
        })
        .or_else(|| no_efficiency_of_mixes(job))
}

fn no_efficiency_of_mixes(job: &Job) -> Option<String> {
    job.phases.iter().find_map(|phase| match &phase.doing {
        Doing::Run { weights, .. } if !is_specified_mix(weights) => Some(format!(
            "weights {} are no mix of TPC-C's, which has at least 43 % Payment and 4 % of each of \
             the last three",
            list(weights)
        )),
        _ => None,
    })
}

fn no_efficiency_of_pauses(job: &Job) -> Option<String> {
    let full = Waits {
        keying: 1.0,
        think: 1.0,
    };
    job.phases.iter().find_map(|phase| match &phase.doing {
        Doing::Nothing(_) => None,
        Doing::Run { waits, .. } if *waits == full => None,
        Doing::Run { spec, .. } if spec.pacing.is_open_loop() => {
            Some("arrivals on a schedule neither key nor think".into())
        }
        Doing::Run { waits, .. } if waits.any() => Some(format!(
            "terminals key {} times and think {} times as long as TPC-C has it",
            waits.keying, waits.think
        )),
        Doing::Run { .. } => Some(
            "terminals neither key nor think; <useKeyingTime>true</useKeyingTime> and \
             <useThinkTime>true</useThinkTime> make them"
                .into(),
        ),
    })
}
