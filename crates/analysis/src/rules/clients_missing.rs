//! A client of several was not there for a part of the run.

use crate::run::Run;
use crate::texts::clients_missing::{INSTEAD, SAYS};
use crate::thresholds::CLIENT_MISSING_MS;
use crate::{AnalysisError, Figure, Finding, Severity};
use tidemark_core::record::{ClientPart, MissingSpan};

pub(super) const ID: &str = "clients-missing";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let clients = &run.record.clients;
    let missing: Vec<&ClientPart> = clients
        .iter()
        .filter(|c| c.state.is_missing() || c.missing_ms() >= CLIENT_MISSING_MS)
        .collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let sessions: usize = missing.iter().map(|client| client.sessions).sum();
    let which: Vec<String> = missing.iter().map(|client| told(client)).collect();
    Ok(Some(Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("missing", Figure::Count(missing.len() as u64)),
            ("clients", Figure::Count(clients.len() as u64)),
            ("which", Figure::Text(which.join("; "))),
            ("sessions", Figure::Count(sessions as u64)),
            ("all", Figure::Count(run.record.sessions as u64)),
        ],
    }))
}

/// As `b 12.0–60.0 s`.
fn told(client: &ClientPart) -> String {
    let span = |span: &MissingSpan| {
        let start_s = span.start_ms as f64 / 1000.0;
        format!("{start_s:.1}–{:.1} s", start_s + span.length_ms / 1000.0)
    };
    let spans: Vec<String> = client.missing.iter().map(span).collect();
    match spans.is_empty() {
        true => client.name.clone(),
        false => format!("{} {}", client.name, spans.join(", ")),
    }
}
