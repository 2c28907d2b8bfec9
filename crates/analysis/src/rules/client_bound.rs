//! Sessions that waited for their own host: the client measured itself, or shared its processors with
//! the server. So did transactions that were due, found a free session and were begun late.

use crate::observed::is_embedded;
use crate::run::{Run, decode};
use crate::texts::client_bound::{
    ASLEEP_INSTEAD, LATE, LATE_EMBEDDED, LATE_EMBEDDED_INSTEAD, LATE_INSTEAD, OWN_HOST,
    OWN_HOST_INSTEAD, SAME_HOST, SAME_HOST_INSTEAD,
};
use crate::thresholds::{CLIENT_ASLEEP_MS, CLIENT_SHARE, CLIENT_SHARE_MS, CLIENT_SHARE_SAMPLES};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::Pacing;
use tidemark_core::record::RunRecord;

pub(super) const ID: &str = "client-bound";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    match replies(run) {
        Some(found) => Ok(Some(found)),
        None => starts(run),
    }
}

/// Replies that waited for the client.
fn replies(run: &Run<'_>) -> Option<Finding> {
    let server = run.server.as_ref()?;
    let (whole_ns, server_ns) = (run.service.sum_ns() as f64, server.sum_ns() as f64);
    let client_ns = whole_ns - server_ns - run.totals.all.paused_ms * 1e6;
    let share = client_ns / whole_ns;
    let count = run.service.count();
    let client_ms = client_ns / count as f64 / 1e6;
    // Written as "not above" so that no number is nothing, too.
    let is_small = share.is_nan() || share < CLIENT_SHARE || client_ms < CLIENT_SHARE_MS;
    if is_small || count < CLIENT_SHARE_SAMPLES || server.count() != count {
        return None;
    }
    let same_host = run.record.target_on_client == Some(true);
    let (severity, says, instead) = match same_host {
        true => (Severity::Note, SAME_HOST, SAME_HOST_INSTEAD),
        false => (Severity::Suspect, OWN_HOST, OWN_HOST_INSTEAD),
    };
    let mut figures = vec![
        ("mean", Figure::Number(whole_ns / count as f64 / 1e6)),
        ("server", Figure::Number(server_ns / whole_ns * 100.0)),
        ("client", Figure::Number(share * 100.0)),
        ("cores", Figure::Count(run.record.client.cores as u64)),
    ];
    let busy = run.record.usage.host_busy;
    figures.extend(busy.map(|busy| ("host_busy", Figure::Number(busy * 100.0))));
    Some(Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures,
    })
}

/// Transactions that the client began late although a session was free.
fn starts(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let Some(lateness) = &run.totals.lateness else {
        return Ok(None);
    };
    let late_ns = decode(run.record, lateness)?.sum_ns() as f64;
    let count = run.latency.count();
    let share = late_ns / run.latency.sum_ns() as f64;
    let late_ms = late_ns / count as f64 / 1e6;
    let is_small = share.is_nan() || share < CLIENT_SHARE || late_ms < CLIENT_SHARE_MS;
    if is_small || count < CLIENT_SHARE_SAMPLES {
        return Ok(None);
    }
    let is_timers = late_ms < CLIENT_ASLEEP_MS && sleeps(run.record);
    let (severity, says, instead) = match run.record.target_on_client {
        _ if is_timers => (Severity::Note, LATE, ASLEEP_INSTEAD),
        _ if is_embedded(run.record) => (Severity::Note, LATE_EMBEDDED, LATE_EMBEDDED_INSTEAD),
        Some(true) => (Severity::Note, LATE, LATE_INSTEAD),
        _ => (Severity::Suspect, LATE, LATE_INSTEAD),
    };
    Ok(Some(Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures: vec![
            ("mean", Figure::Number(run.latency.mean_ns() / 1e6)),
            ("late", Figure::Number(late_ms)),
            ("share", Figure::Number(share * 100.0)),
            ("cores", Figure::Count(run.record.client.cores as u64)),
        ],
    }))
}

/// Whether the client sleeps until transactions are due. Only arrivals of an open loop are awaited awake, where
/// that is asked for and each executor has a processor.
fn sleeps(record: &RunRecord) -> bool {
    let load = record.job.as_ref().map(|job| &job.load);
    let is_asked = load.is_none_or(|l| l.pacing != Pacing::Closed && !l.busy_poll.is_zero());
    let is_crowded = record.clients.is_empty() && record.executors > record.client.cores;
    !is_asked || is_crowded
}
