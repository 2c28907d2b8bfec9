//! What a statement that does nothing proves beside the load: it needs no row, no lock, no log and no disk,
//! so that it waits for the server's processors or for the way alone.

use super::thresholds::{HOST_FREE, NO_CPU_MS, NO_CPU_TIMES, STILL_SESSIONS, STILL_SHARE};
use super::verdict::Proof;
use super::{Baseline, Class, Confidence, Evidence, Experiment, ProvenCause};

/// The server answers nothing at once, though its host has processors free: it is not given them. A tunnel
/// or a proxy on the client's host looks like a server there, so that this is never sure.
pub(super) fn starved(baseline: &Baseline) -> Option<ProvenCause> {
    let (alone, beside) = baseline.ping_ms.zip(baseline.loaded_ping_ms)?;
    let is_late = beside - alone >= NO_CPU_MS && beside >= alone * NO_CPU_TIMES;
    let host = baseline.host?;
    let is_free = host.busy < HOST_FREE && !host.was_full();
    // A client without CPU asks late and hears late.
    let is_client = baseline.is_client_busy();
    (is_late && is_free && !is_client).then_some(ProvenCause {
        class: Class::Cpu,
        proof: Proof::NoCpu,
        gain: None,
        confidence: Confidence::Low,
    })
}

/// Sessions that only read all stand still together, whether the disk has anything to do with it or not,
/// while the server answers: a lock on what they read.
pub(super) fn locked_out(evidence: &Evidence) -> Option<ProvenCause> {
    let baseline = &evidence.baseline;
    let (alone, beside) = baseline.ping_ms.zip(baseline.loaded_ping_ms)?;
    let still = baseline.still?;
    let stands_still = |share: f64| share >= STILL_SHARE;
    let answers = beside - alone < NO_CPU_MS;
    let is_client = baseline.is_client_busy();
    let in_memory = evidence.excluded.contains(&Experiment::OnePercent)
        || evidence
            .still_on_one_percent
            .is_some_and(|share| stands_still(share * 2.0));
    // One slow transaction stops few sessions.
    let are_many = baseline.sessions >= STILL_SESSIONS;
    let is_locked =
        !baseline.writes && stands_still(still) && are_many && answers && !is_client && in_memory;
    is_locked.then_some(ProvenCause {
        class: Class::Contention,
        proof: Proof::LockedOut,
        // What they do in the rest of the time.
        gain: Some(1.0 / (1.0 - still).max(0.01)),
        confidence: Confidence::Medium,
    })
}
