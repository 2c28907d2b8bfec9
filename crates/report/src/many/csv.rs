//! A row a run, for spreadsheets.

use super::RunDigest;
use crate::csv::{line, words};
use std::collections::BTreeSet;
use tidemark_analysis::costs::CostKind;
use tidemark_core::record::{RateUnit, RunState};

/// Columns before and after those of the study's factors.
const FIRST: [&str; 14] = [
    "run_id",
    "started_at",
    "state",
    "reason",
    "workload",
    "target",
    "engine",
    "engine_version",
    "study_id",
    "study",
    "cell",
    "repeat",
    "tags",
    "note",
];
const LAST: [&str; 37] = [
    "sessions",
    "terminals",
    "rate",
    "elapsed_s",
    "transactions",
    "transactions_per_s",
    "statements_per_s",
    "mean_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "errors",
    "reconnects",
    "tpmC",
    "QphH",
    "client_host",
    "invalid_findings",
    "suspect_findings",
    "notes_findings",
    "usable",
    "price",
    "price_currency",
    "price_per_tpmC",
    "client_cpu_percent",
    "efficiency_percent",
    "NOPM",
    "TPM",
    "clients",
    "clients_missing",
    "errors_per_s",
    "server_host_cpu_percent",
    "server_cpu_cores",
    "disk_writes_per_s",
    "flushes_per_s",
    "network_bytes_per_s",
    "round_trips_per_transaction",
];

/// Lines end as RFC 4180 has it, and fields are quoted where they must be.
pub(super) fn text(runs: &[RunDigest]) -> String {
    let factors: BTreeSet<&str> = runs
        .iter()
        .filter_map(|r| r.study.as_ref())
        .flat_map(|s| s.factors.keys().map(String::as_str))
        .collect();
    let columns = factors.iter().map(|f| words(&format!("factor_{f}")));
    let head: Vec<String> = FIRST
        .iter()
        .map(|c| (*c).to_string())
        .chain(columns)
        .chain(LAST.iter().map(|c| (*c).to_string()))
        .collect();
    let mut out = line(&head);
    for run in runs {
        let mut row = first(run);
        row.extend(factors.iter().map(|name| {
            let place = run.study.as_ref();
            let value = place.and_then(|p| p.factors.get(*name));
            words(value.map_or("", String::as_str))
        }));
        row.extend(last(run));
        out += &line(&row);
    }
    out
}

fn first(run: &RunDigest) -> Vec<String> {
    let (state, reason) = match &run.state {
        RunState::Running => ("running", ""),
        RunState::Finished => ("finished", ""),
        RunState::Interrupted => ("interrupted", ""),
        RunState::Failed(reason) => ("failed", reason.as_str()),
    };
    // In JSON's words, as in the store.
    let engine = run
        .server
        .as_ref()
        .map(|s| format!("{:?}", s.engine).to_lowercase());
    let version = run.server.as_ref().map_or("", |s| s.version.as_str());
    let place = run.study.as_ref();
    let tags = run.tags.join(" ");
    [
        run.id.as_str(),
        run.started().unwrap_or_default(),
        state,
        reason,
        &run.workload,
        &run.target,
        engine.as_deref().unwrap_or(""),
        version,
        place.map_or("", |p| p.study.as_str()),
        place.map_or("", |p| p.name.as_str()),
        place.map_or("", |p| p.cell.as_str()),
        &place.map_or(String::new(), |p| p.repeat.to_string()),
        &tags,
        &run.note,
    ]
    .map(words)
    .to_vec()
}

fn last(run: &RunDigest) -> Vec<String> {
    let some = |value: Option<f64>| {
        let value = value.filter(|v| v.is_finite());
        value.map_or(String::new(), |v| v.to_string())
    };
    let latency = run.latency.as_ref();
    let price = run.metrics.price.as_ref();
    let rules = |severity| {
        let found = run.findings.iter().filter(|f| f.severity == severity);
        found.map(|f| f.rule).collect::<Vec<_>>().join(" ")
    };
    use tidemark_analysis::Severity::{Invalid, Note, Suspect};
    vec![
        run.sessions_stated.map_or(String::new(), |n| n.to_string()),
        run.terminals.map_or(String::new(), |n| n.to_string()),
        some(run.rate),
        some(run.elapsed()),
        run.transactions_stated
            .map_or(String::new(), |n| n.to_string()),
        some(run.only_transactions_per_s),
        some(Some(run.statements_per_s)),
        some(latency.and_then(|l| l.mean_ms)),
        some(latency.and_then(|l| l.p50_ms)),
        some(latency.and_then(|l| l.p95_ms)),
        some(latency.and_then(|l| l.p99_ms)),
        some(latency.and_then(|l| l.max_ms)),
        run.errors_stated.map_or(String::new(), |n| n.to_string()),
        run.reconnects.map_or(String::new(), |n| n.to_string()),
        some(run.metrics.tpmc),
        some(run.metrics.qphh),
        words(&run.client.hostname),
        rules(Invalid),
        rules(Suspect),
        rules(Note),
        run.usable.to_string(),
        some(price.map(|p| p.amount)),
        words(price.map_or("", |p| &p.currency)),
        some(price.and_then(|p| p.per_tpmc)),
        some(run.client_cpu_percent),
        some(run.metrics.efficiency_percent),
        some(Some(run.transactions_per_s).filter(|_| run.rate_unit == RateUnit::NewOrders)),
        some(run.metrics.tpm),
        run.clients.to_string(),
        run.clients_missing.to_string(),
        some(errors_per_s(run)),
        some(run.resources.server_host_busy.map(|share| share * 100.0)),
        some(run.resources.server_cores),
        some(run.resources.disk_writes_per_s),
        some(run.resources.flushes_per_s),
        some(run.resources.network_bytes_per_s),
        some(round_trips(run)),
    ]
}

/// Of a transaction; `None` where nobody counted them.
fn round_trips(run: &RunDigest) -> Option<f64> {
    let mut costs = run.costs.iter();
    let of = costs.find(|cost| cost.kind == CostKind::RoundTrips)?;
    Some(of.per_transaction)
}

/// `None` where the errors or the time are not known.
fn errors_per_s(run: &RunDigest) -> Option<f64> {
    let seconds = run.elapsed().filter(|seconds| *seconds > 0.0)?;
    Some(run.errors_stated? as f64 / seconds)
}
