//! One client's processors were busy while those of others had nothing to do.

use crate::run::Run;
use crate::texts::one_client_bound::{INSTEAD, SAYS};
use crate::thresholds::{CLIENT_BUSY, CLIENT_FREE};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::record::ClientPart;

pub(super) const ID: &str = "one-client-bound";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let clients = run.record.clients.iter();
    let mut busy: Vec<(&ClientPart, f64)> = clients
        .filter_map(|client| Some((client, busy(client)?)))
        .collect();
    busy.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((free, least)), Some((full, most))) = (busy.first(), busy.last()) else {
        return Ok(None);
    };
    // Clients of one machine have its processors in common.
    let is_one = free.host.hostname == full.host.hostname;
    if is_one || *most < CLIENT_BUSY || *least > CLIENT_FREE {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("client", Figure::Text(full.name.clone())),
            ("busy", Figure::Number(most * 100.0)),
            ("cores", Figure::Count(full.host.cores as u64)),
            ("other", Figure::Text(free.name.clone())),
            ("free", Figure::Number(least * 100.0)),
        ],
    }))
}

/// Share of a client's processors that was busy with whatever ran there, or at least with the load.
fn busy(client: &ClientPart) -> Option<f64> {
    let usage = &client.usage;
    let own = usage.seconds.filter(|s| *s > 0.0 && client.host.cores > 0);
    let own = own.map(|seconds| usage.work_s() / (seconds * client.host.cores as f64));
    usage.host_busy.or(own)
}
