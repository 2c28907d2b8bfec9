//! Times in which a diagnosis asks nothing of anybody.

use super::changes::ExperimentChange;
use super::child_runs::NoRun;
use crate::study::interrupt::is_asked_to_end;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidemark_observe::HostSampler;

/// For so long the host is watched before the first run.
const WATCHED_BEFORE: Duration = Duration::from_millis(400);
/// Servers write the log of commits that did not wait once a second.
pub const PAUSE: Duration = Duration::from_secs(1);
/// How often a pause looks whether the user asks for the end.
const LOOK: Duration = Duration::from_millis(50);

/// The share of this host that is busy while nothing is asked of anybody: the lower of two looks, for a
/// server may still be at what was asked before.
pub fn busy_now() -> f64 {
    let look = || {
        let mut host = HostSampler::new();
        sleep(WATCHED_BEFORE);
        host.sample().cpu_busy
    };
    look().min(look())
}

/// Lets the server do what a run of a change leaves to it.
///
/// # Errors
/// [`NoRun::Interrupted`].
pub fn pause(change: &ExperimentChange) -> Result<(), NoRun> {
    let begun = Instant::now();
    while change.leaves_work && begun.elapsed() < PAUSE {
        if is_asked_to_end() {
            return Err(NoRun::Interrupted);
        }
        sleep(LOOK);
    }
    Ok(())
}
