//! The clients that made a run together.

use crate::ReportError;
use crate::csv::{line, words};
use crate::merge::{TypeLatency, per_second};
use crate::number::{percent, seconds, three, whole};
use crate::report_table::ReportTable;
use crate::texts::{Texts, fill};
use tidemark_core::record::{ClientPart, ClientState, RunRecord};

/// What is told of one client.
struct ClientMetrics {
    mean_ms: Option<f64>,
    p95_ms: Option<f64>,
    /// Busy share of its processors, 0 to 1.
    cpu: Option<f64>,
}

impl ClientMetrics {
    fn of(part: &ClientPart) -> Result<Self, ReportError> {
        let latency = TypeLatency::decode(&part.all, &format!("client {}", part.name))?;
        let usage = &part.usage;
        let own = usage.seconds.filter(|s| *s > 0.0 && part.host.cores > 0);
        let own = own.map(|seconds| usage.work_s() / (seconds * part.host.cores as f64));
        // Of nothing there are no latencies.
        let some = |value: Option<f64>| value.filter(|_| part.all.count > 0);
        Ok(Self {
            mean_ms: some(latency.mean_ms()),
            p95_ms: some(latency.percentile_ms(95.0)),
            cpu: usage.host_busy.or(own),
        })
    }
}

/// A row for each client; no rows where there was one.
pub(crate) fn table(record: &RunRecord, t: &'static Texts) -> Result<ReportTable, ReportError> {
    let none = || "–".to_string();
    let row = |part: &ClientPart| {
        let told = ClientMetrics::of(part)?;
        let ms = |value: Option<f64>| value.map_or_else(none, three);
        let missing_s = part.missing_ms() / 1000.0;
        Ok(vec![
            part.name.clone(),
            whole(part.sessions_opened.unwrap_or(part.sessions) as u64),
            three(per_second(part.all.count, part.elapsed_s)),
            ms(told.mean_ms),
            ms(told.p95_ms),
            whole(part.ignored_errors),
            told.cpu.map_or_else(none, |busy| percent(busy, 1.0)),
            ms(part.start_late_ms),
            ms(part.clock_error_ms),
            match missing_s > 0.0 {
                true => seconds(missing_s),
                false => "0".into(),
            },
            part.host.hostname.clone(),
            state(&part.state, t),
        ])
    };
    let rows: Result<Vec<_>, ReportError> = record.clients.iter().map(row).collect();
    let count = whole(record.clients.len() as u64);
    Ok(ReportTable {
        title: t.clients_title,
        says: fill(t.clients_say, &[("clients", &count)]),
        head: vec![
            t.clients_name,
            t.sessions,
            t.per_second,
            t.mean_ms,
            t.p95_ms,
            t.errors,
            t.cpu,
            t.clients_late,
            t.clients_clock,
            t.clients_missing,
            t.host,
            t.state,
        ],
        rows: rows?,
        numbers: 9,
    })
}

fn state(state: &ClientState, t: &Texts) -> String {
    match state {
        ClientState::Finished => t.state_finished.into(),
        ClientState::Interrupted => t.state_interrupted.into(),
        ClientState::Lost(why) => fill(t.clients_lost, &[("why", why)]),
        ClientState::Failed(why) => fill(t.clients_failed, &[("why", why)]),
        ClientState::Absent => t.clients_absent.into(),
    }
}

/// Columns of [`client_table`].
const COLUMNS: [&str; 22] = [
    "run",
    "client",
    "host",
    "cores",
    "state",
    "reason",
    "sessions",
    "sessions_opened",
    "terminals",
    "elapsed_s",
    "transactions",
    "transactions_per_s",
    "mean_ms",
    "p95_ms",
    "errors",
    "reconnects",
    "cpu_percent",
    "start_late_ms",
    "clock_offset_ms",
    "clock_error_ms",
    "longest_lag_ms",
    "missing_s",
];

/// A line for each of the clients that made a run together, under one line of names; empty fields where
/// nothing is known. A run of one client has none.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn client_table(record: &RunRecord) -> Result<String, ReportError> {
    let mut lines = line(&COLUMNS.map(String::from));
    for part in &record.clients {
        let told = ClientMetrics::of(part)?;
        let some = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let (state, reason) = match &part.state {
            ClientState::Finished => ("finished", ""),
            ClientState::Interrupted => ("interrupted", ""),
            ClientState::Lost(why) => ("lost", why.as_str()),
            ClientState::Failed(why) => ("failed", why.as_str()),
            ClientState::Absent => ("absent", ""),
        };
        lines += &line(&[
            words(&record.id),
            words(&part.name),
            words(&part.host.hostname),
            part.host.cores.to_string(),
            state.into(),
            words(reason),
            part.sessions.to_string(),
            part.sessions_opened.unwrap_or(part.sessions).to_string(),
            part.terminals.map_or(String::new(), |n| n.to_string()),
            part.elapsed_s.to_string(),
            part.all.count.to_string(),
            part.throughput().to_string(),
            some(told.mean_ms),
            some(told.p95_ms),
            part.ignored_errors.to_string(),
            part.reconnects.to_string(),
            some(told.cpu.map(|busy| busy * 100.0)),
            some(part.start_late_ms),
            some(part.clock_offset_ms),
            some(part.clock_error_ms),
            part.longest_lag_ms.to_string(),
            (part.missing_ms() / 1000.0).to_string(),
        ]);
    }
    Ok(lines)
}
