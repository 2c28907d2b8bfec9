//! A client of several began late, or did not run for a while.

use crate::run::Run;
use crate::texts::client_lagged::{INSTEAD, LATE, SAYS};
use crate::thresholds::{CLIENT_LAG_MS, CLIENT_LAG_SUSPECT_MS, CLIENT_LATE_MS};
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::record::ClientPart;

pub(super) const ID: &str = "client-lagged";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let most = |of: fn(&ClientPart) -> f64| {
        let each = run.record.clients.iter().map(|client| (client, of(client)));
        each.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let lagged = most(|client| client.longest_lag_ms);
    let lagged = lagged.filter(|(_, lag_ms)| *lag_ms >= CLIENT_LAG_MS);
    let late = most(|client| client.start_late_ms.unwrap_or(0.0));
    let late = late.filter(|(_, late_ms)| *late_ms >= CLIENT_LATE_MS);
    let (says, client, ms) = match (lagged, late) {
        // What cost more.
        (Some((client, lag_ms)), late) if late.is_none_or(|(_, late_ms)| late_ms <= lag_ms) => {
            (SAYS, client, lag_ms)
        }
        (_, Some((client, late_ms))) => (LATE, client, late_ms),
        (_, None) => return Ok(None),
    };
    Ok(Some(Finding {
        rule: ID,
        severity: match ms >= CLIENT_LAG_SUSPECT_MS {
            true => Severity::Suspect,
            false => Severity::Note,
        },
        says,
        instead: INSTEAD,
        figures: vec![
            ("client", Figure::Text(client.name.clone())),
            ("seconds", Figure::Number(ms / 1000.0)),
        ],
    }))
}
