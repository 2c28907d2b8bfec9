//! Sessions that waited for their own host: the client measured itself, or shared its processors with
//! the server.

use crate::run::Run;
use crate::texts::client_bound::{OWN_HOST, OWN_HOST_INSTEAD, SAME_HOST, SAME_HOST_INSTEAD};
use crate::thresholds::{CLIENT_SHARE, CLIENT_SHARE_MS, CLIENT_SHARE_SAMPLES};
use crate::{AnalysisError, Figure, Finding, Severity};

pub(super) const ID: &str = "client-bound";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let Some(server) = &run.server else {
        return Ok(None);
    };
    let (whole_ns, server_ns) = (run.service.sum_ns() as f64, server.sum_ns() as f64);
    let share = 1.0 - server_ns / whole_ns;
    let count = run.service.count();
    let client_ms = (whole_ns - server_ns) / count as f64 / 1e6;
    // Written as "not above" so that no number is nothing, too.
    let is_small = share.is_nan() || share < CLIENT_SHARE || client_ms < CLIENT_SHARE_MS;
    if is_small || count < CLIENT_SHARE_SAMPLES || server.count() != count {
        return Ok(None);
    }
    let same_host = run.record.target_on_client == Some(true);
    let (severity, says, instead) = match same_host {
        true => (Severity::Note, SAME_HOST, SAME_HOST_INSTEAD),
        false => (Severity::Suspect, OWN_HOST, OWN_HOST_INSTEAD),
    };
    let mut figures = vec![
        ("mean", Figure::Number(whole_ns / count as f64 / 1e6)),
        ("server", Figure::Number((1.0 - share) * 100.0)),
        ("client", Figure::Number(share * 100.0)),
        ("cores", Figure::Count(run.record.client.cores as u64)),
    ];
    let busy = run.record.usage.host_busy;
    figures.extend(busy.map(|busy| ("host_busy", Figure::Number(busy * 100.0))));
    Ok(Some(Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures,
    }))
}
