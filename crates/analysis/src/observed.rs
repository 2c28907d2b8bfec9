//! What the series of a record say of the measurement: means for rules, and the cost of a transaction.
//!
//! Pure functions over the record, by source and name (docs/observe.md lists them).

use serde::Serialize;
use std::collections::BTreeSet;
use tidemark_core::Protocol;
use tidemark_core::observe::{
    CLIENT_HOST, NETWORK, SERVER_ACTIVITY, SERVER_HOST, SERVER_PROCESS, SERVER_STATUS,
};
use tidemark_core::record::{Phase, RunRecord};
use tidemark_core::series::Series;

/// Series of one source and name.
pub fn series<'r>(
    record: &'r RunRecord,
    source: &'r str,
    name: &'r str,
) -> impl Iterator<Item = &'r Series> {
    let of = move |s: &&Series| s.key.source == source && s.key.name == name;
    record.series.iter().filter(of)
}

/// Whether the database is in the client's own process.
pub fn is_embedded(record: &RunRecord) -> bool {
    let server = record.server.as_ref();
    server.is_some_and(|server| server.engine.is_embedded())
}

/// The source that tells of the database's host: one that is the client's is told of there.
pub fn server_host(record: &RunRecord) -> Option<&'static str> {
    let has = |source: &str| record.series.iter().any(|s| s.key.source == source);
    let is_clients = record.target_on_client == Some(true) || is_embedded(record);
    if has(SERVER_HOST) {
        return Some(SERVER_HOST);
    }
    (is_clients && has(CLIENT_HOST)).then_some(CLIENT_HOST)
}

/// What is told of a client's own process; all else of its host is the same for each client there.
const OF_PROCESS: [&str; 2] = ["threads.", "memory.resident"];

/// Whether a series of a client's host is told of by an earlier client of the same host, so that it would
/// count twice. Hosts are told apart by their names.
pub fn is_told_before(record: &RunRecord, series: &Series) -> bool {
    let key = &series.key;
    let is_own = OF_PROCESS.iter().any(|own| key.name.starts_with(own));
    let Some(client) = key.labels.get("client").filter(|_| !is_own) else {
        return false;
    };
    let clients = record.clients.iter();
    let Some(one) = clients.clone().find(|c| c.name == *client) else {
        return false;
    };
    let tells = |name: &str| {
        record.series.iter().any(|s| {
            let (k, other) = (&s.key, s.key.labels.get("client"));
            k.source == key.source && k.name == key.name && other.is_some_and(|c| c == name)
        })
    };
    let mut before = clients.take_while(|c| c.name != *client);
    before.any(|c| c.host.hostname == one.host.hostname && tells(&c.name))
}

/// What the first reports of PostgreSQL's sessions may lack.
const LAG_MS: i64 = 2000;

/// The measurement as its intervals have it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MeasuredWindow {
    end_ms: i64,
    intervals: Vec<Part>,
}

/// What one of its intervals counted.
#[derive(Debug, Clone, Copy)]
struct Part {
    begin_ms: f64,
    end_ms: f64,
    transactions: f64,
    statements: f64,
    round_trips: f64,
}

/// What something is a cost of.
type Of = fn(&Part) -> f64;
const TRANSACTIONS: Of = |part| part.transactions;
const STATEMENTS: Of = |part| part.statements;
const ROUND_TRIPS: Of = |part| part.round_trips;

impl MeasuredWindow {
    pub fn of(record: &RunRecord) -> Option<Self> {
        let measured = record.intervals.iter();
        let measured = measured.filter(|i| i.phase == Phase::Measure).map(|i| {
            let count: u64 = i.types.values().map(|t| t.count).sum();
            let begin_ms = i.start_ms as f64;
            Part {
                begin_ms,
                end_ms: begin_ms + i.length_ms,
                transactions: count as f64,
                statements: i.statements.total() as f64,
                round_trips: i.statements.round_trips as f64,
            }
        });
        let mut intervals: Vec<_> = measured.collect();
        // A day's intervals may have been left in the store: a load that never changed has its totals.
        if intervals.is_empty() && record.steps.is_empty() {
            let totals = &record.totals;
            intervals.push(Part {
                begin_ms: 0.0,
                end_ms: totals.elapsed_s * 1000.0,
                transactions: totals.all.count as f64,
                statements: totals.statements.total() as f64,
                round_trips: totals.statements.round_trips as f64,
            });
        }
        let end = intervals.last()?.end_ms;
        let any = intervals.iter().any(|part| part.transactions > 0.0);
        (any && end > 0.0).then_some(Self {
            end_ms: end as i64,
            intervals,
        })
    }

    /// Of all of it.
    fn sum(&self, of: Of) -> f64 {
        self.intervals.iter().map(of).sum()
    }

    /// Transactions or statements a second of some of its time.
    fn rate(&self, of: Of, spans: &[(i64, i64)]) -> f64 {
        let (mut count, mut ms) = (0.0, 0.0);
        for (from, to) in spans {
            let (from, to) = (*from as f64, (*to as f64).min(self.end_ms as f64));
            let of_part = self.intervals.iter().map(|part| {
                let common = (part.end_ms.min(to) - part.begin_ms.max(from)).max(0.0);
                of(part) * common / (part.end_ms - part.begin_ms).max(1e-9)
            });
            count += of_part.sum::<f64>();
            ms += (to - from).max(0.0);
        }
        count / (ms / 1000.0)
    }
}

/// What series of a source and name had in the measurement.
#[derive(Debug, Clone)]
pub(crate) struct SeriesSum {
    /// Of all points of all of them.
    sum: f64,
    /// Points of the longest.
    points: f64,
    /// The time that the longest is of, without its gaps.
    spans: Vec<(i64, i64)>,
}

impl SeriesSum {
    /// The mean of all series, added up: one that began late was at nothing before.
    pub fn mean(&self) -> f64 {
        self.sum / self.points
    }

    /// The same where one that began later than another of its source was at nothing before.
    pub fn mean_since(&self, other: &Self) -> f64 {
        self.sum / self.points.max(other.points)
    }

    /// The mean by the transactions or statements of the same time.
    fn each(&self, window: &MeasuredWindow, of: Of) -> Option<f64> {
        let rate = window.rate(of, &self.spans);
        (rate > 0.0).then(|| self.mean() / rate)
    }
}

/// From when on a source's counters tell of the same time as the load's. PostgreSQL's sessions report theirs once
/// a second at most (`PGSTAT_MIN_INTERVAL`): of those that have just begun, the first seconds lack what comes later.
fn settled_ms(record: &RunRecord, source: &str) -> i64 {
    let server = record.server.as_ref();
    let lags = server.is_some_and(|server| server.engine.protocol() == Protocol::Postgres);
    let begins_ms = record.intervals.first().map_or(0, |first| first.start_ms);
    match source == SERVER_STATUS && lags {
        true => (begins_ms + LAG_MS).max(0),
        false => 0,
    }
}

/// The series that `wanted` takes; `None` where they have no points.
pub(crate) fn seen(
    record: &RunRecord,
    window: &MeasuredWindow,
    source: &str,
    name: &str,
    wanted: impl Fn(&Series) -> bool,
) -> Option<SeriesSum> {
    let mut seen = SeriesSum {
        sum: 0.0,
        points: 0.0,
        spans: Vec::new(),
    };
    let settled_ms = settled_ms(record, source);
    for series in series(record, source, name).filter(|s| wanted(s)) {
        let (mut points, mut spans) = (0.0, Vec::<(i64, i64)>::new());
        for point in series.points().ok()? {
            let point = point.ok()?;
            if (settled_ms..window.end_ms).contains(&point.at_ms) {
                seen.sum += point.value;
                points += 1.0;
                let to_ms = point.at_ms + i64::from(series.step_ms);
                match spans.last_mut().filter(|(_, to)| *to >= point.at_ms) {
                    Some((_, to)) => *to = to_ms,
                    None => spans.push((point.at_ms, to_ms)),
                }
            }
        }
        if points > seen.points {
            (seen.points, seen.spans) = (points, spans);
        }
    }
    (seen.points > 0.0).then_some(seen)
}

/// Sessions that were in a state on average, those of one wait alone where one is given; `CPU` is the
/// wait of sessions that wait for nothing.
pub fn sessions(record: &RunRecord, state: &str, wait: Option<&str>) -> Option<f64> {
    let window = MeasuredWindow::of(record)?;
    let of = |wanted: &dyn Fn(&Series) -> bool| {
        seen(record, &window, SERVER_ACTIVITY, "sessions", wanted)
    };
    let is = |series: &Series, label: &str, value: &str| {
        series.key.labels.get(label).is_some_and(|v| v == value)
    };
    let all = of(&|_| true)?;
    let in_state = of(&|s| is(s, "state", state) && wait.is_none_or(|wait| is(s, "wait", wait)));
    // A state that nobody was seen in has no series, and one that was seen late fewer points.
    Some(in_state.map_or(0.0, |seen| seen.sum / all.points))
}

/// What a transaction costs something of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostKind {
    /// Microseconds of processors of the server's processes, or of the server's host.
    ServerCpuUs,
    /// Microseconds of processors of the client, less what observing takes.
    ClientCpuUs,
    /// Rows that the server read.
    RowsRead,
    /// Pages that it asked its cache for.
    PagesRequested,
    /// Pages that its cache had not.
    PagesRead,
    /// Bytes that it wrote to files, log included.
    BytesWritten,
    /// Bytes of log.
    LogBytes,
    /// Flushes to disk.
    Syncs,
    /// Times that one of its tasks got a processor.
    ContextSwitches,
    /// Bytes over the network, both ways.
    NetworkBytes,
    /// Round trips that its session waited for.
    RoundTrips,
}

impl CostKind {
    /// Every kind, in the order in which they are shown.
    pub const ALL: [Self; 11] = [
        Self::ServerCpuUs,
        Self::ClientCpuUs,
        Self::RowsRead,
        Self::PagesRequested,
        Self::PagesRead,
        Self::BytesWritten,
        Self::LogBytes,
        Self::Syncs,
        Self::ContextSwitches,
        Self::NetworkBytes,
        Self::RoundTrips,
    ];
}

/// Who told of round trips: the run's sessions, which are no source of series.
pub const SESSIONS: &str = "sessions";

/// Statements of a transaction, on average; `None` where they were not counted.
pub fn statements_each(record: &RunRecord) -> Option<f64> {
    let window = MeasuredWindow::of(record)?;
    let each = window.sum(STATEMENTS) / window.sum(TRANSACTIONS);
    (each > 0.0).then_some(each)
}

/// What one transaction took on average.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// Of what.
    pub kind: CostKind,
    /// How much, in the kind's unit.
    pub per_transaction: f64,
    /// Of a statement, transaction control included; absent where they were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_statement: Option<f64>,
    /// The source that told.
    pub source: &'static str,
}

/// A source, the series whose means are added up, and what makes the kind's unit of them.
type From = (&'static str, &'static [&'static str], f64);

/// Bytes over the sessions' own sockets.
pub(crate) const SESSION_BYTES: &[&str] = &["network.session-received", "network.session-sent"];

/// Whether a source tells of the sessions of the whole run: of several clients' sockets only those of one
/// are kept.
pub(crate) fn is_of_all_sessions(record: &RunRecord, source: &str) -> bool {
    source != NETWORK || record.clients.len() < 2
}

/// Of each kind the first that is there counts.
const KINDS: &[(CostKind, &[From])] = &[
    (
        CostKind::ServerCpuUs,
        &[
            (
                SERVER_PROCESS,
                &["process.cpu-user", "process.cpu-system"],
                1e6,
            ),
            (SERVER_HOST, &["cpu.busy"], 1e6),
        ],
    ),
    (
        CostKind::ClientCpuUs,
        &[(CLIENT_HOST, &["threads.cpu"], 1e6)],
    ),
    (CostKind::RowsRead, &[(SERVER_STATUS, &["rows.read"], 1.0)]),
    (
        CostKind::PagesRequested,
        &[(SERVER_STATUS, &["buffer.requests"], 1.0)],
    ),
    (
        CostKind::PagesRead,
        &[(SERVER_STATUS, &["buffer.misses"], 1.0)],
    ),
    (
        CostKind::BytesWritten,
        &[
            (SERVER_PROCESS, &["process.disk-written"], 1.0),
            (SERVER_STATUS, &["data.written"], 1.0),
            (SERVER_STATUS, &["process.disk-written"], 1.0),
        ],
    ),
    (
        CostKind::LogBytes,
        &[(SERVER_STATUS, &["log.written"], 1.0)],
    ),
    (
        CostKind::Syncs,
        &[
            (SERVER_STATUS, &["log.syncs"], 1.0),
            (SERVER_STATUS, &["data.syncs"], 1.0),
        ],
    ),
    (
        CostKind::ContextSwitches,
        &[(SERVER_PROCESS, &["process.context-switches"], 1.0)],
    ),
    (
        CostKind::NetworkBytes,
        &[
            (SERVER_STATUS, &["network.received", "network.sent"], 1.0),
            (NETWORK, SESSION_BYTES, 1.0),
        ],
    ),
];

/// What a transaction of the measurement took on average, as far as sources told: rates by the
/// transactions a second of the same time; and its round trips. Nothing of runs without transactions.
pub fn costs(record: &RunRecord) -> Vec<Cost> {
    let Some(window) = MeasuredWindow::of(record) else {
        return Vec::new();
    };
    // What observing takes is no transaction's.
    let counts = |s: &Series| s.key.labels.get("threads").is_none_or(|t| t != "observing");
    let cost = |kind, (source, names, unit): &From| {
        is_of_all_sessions(record, source).then_some(())?;
        let all = names
            .iter()
            .map(|name| seen(record, &window, source, name, counts));
        let all: Vec<SeriesSum> = all.collect::<Option<_>>()?;
        let total = |of: Of| -> Option<f64> {
            let each = all.iter().map(|seen| seen.each(&window, of));
            each.sum::<Option<f64>>().map(|total| total * unit)
        };
        Some(Cost {
            kind,
            per_transaction: total(TRANSACTIONS)?,
            per_statement: total(STATEMENTS),
            source,
        })
    };
    let kinds = KINDS.iter();
    let mut all: Vec<Cost> = kinds
        .filter_map(|(kind, from)| from.iter().find_map(|from| cost(*kind, from)))
        .collect();
    if !all.iter().any(|c| c.kind == CostKind::NetworkBytes) {
        all.extend(network(record, &window));
    }
    all.extend(round_trips(&window));
    all
}

/// `None` where nobody counted them.
fn round_trips(window: &MeasuredWindow) -> Option<Cost> {
    let (trips, statements) = (window.sum(ROUND_TRIPS), window.sum(STATEMENTS));
    (trips > 0.0).then(|| Cost {
        kind: CostKind::RoundTrips,
        per_transaction: trips / window.sum(TRANSACTIONS),
        per_statement: (statements > 0.0).then(|| trips / statements),
        source: SESSIONS,
    })
}

/// What a transaction took in one group of runs and in another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComparedCost {
    /// Of what.
    pub kind: CostKind,
    /// The mean of the first group's runs.
    pub a: f64,
    /// Of the second's.
    pub b: f64,
    /// The second by the first; absent where that is nothing.
    pub ratio: Option<f64>,
    /// The same of each statement, where a transaction has several on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_statement: Option<(f64, f64)>,
}

/// What a statement takes is told if it is less than this part of what a transaction takes.
const SEVERAL: f64 = 0.95;

/// The costs that all runs of both groups have, by one source.
pub fn compared(a: &[Vec<Cost>], b: &[Vec<Cost>]) -> Vec<ComparedCost> {
    type Per = fn(&Cost) -> Option<f64>;
    let mean = |runs: &[Vec<Cost>], of: &Cost, per: Per| -> Option<f64> {
        let same = |c: &&Cost| c.kind == of.kind && c.source == of.source;
        let each = runs.iter().map(|run| run.iter().find(same).and_then(per));
        let sum: Option<f64> = each.sum();
        sum.map(|sum| sum / runs.len() as f64)
    };
    let has_several = |c: &Cost| {
        c.per_statement
            .filter(|each| *each < SEVERAL * c.per_transaction)
    };
    let kinds = a.first().into_iter().flatten();
    let each = kinds.filter_map(|of| {
        let of_statement = mean(a, of, has_several).zip(mean(b, of, has_several));
        let whole: Per = |c| Some(c.per_transaction);
        let (a, b) = (mean(a, of, whole)?, mean(b, of, whole)?);
        Some(ComparedCost {
            kind: of.kind,
            a,
            b,
            ratio: (a > 0.0).then(|| b / a),
            of_statement,
        })
    });
    each.collect()
}

/// What went through the client's busiest interface for each transaction, if the database is elsewhere.
fn network(record: &RunRecord, window: &MeasuredWindow) -> Option<Cost> {
    let most = |of: Of| busiest_interface(record, window, |seen| seen.each(window, of));
    Some(Cost {
        kind: CostKind::NetworkBytes,
        per_transaction: most(TRANSACTIONS)?,
        per_statement: most(STATEMENTS),
        source: CLIENT_HOST,
    })
}

/// A figure of the bytes through the client's busiest interface, both ways. A database on the client's
/// host or embedded has none: over loopback goes what other programs say to each other, too.
pub(crate) fn busiest_interface(
    record: &RunRecord,
    window: &MeasuredWindow,
    figure: impl Fn(SeriesSum) -> Option<f64>,
) -> Option<f64> {
    (record.target_on_client == Some(false)).then_some(())?;
    let interfaces = series(record, CLIENT_HOST, "network.sent");
    let interfaces = interfaces.filter(|s| s.key.labels.get("interface").is_none_or(|i| i != "lo"));
    // Several clients of one host all see its interfaces.
    let is_seen_by = |name: &str| {
        let mut seen = series(record, CLIENT_HOST, "network.sent");
        seen.any(|s| s.key.labels.get("client").is_some_and(|c| c == name))
    };
    let mut hosts = BTreeSet::new();
    let seers = record.clients.iter().filter(|c| is_seen_by(&c.name));
    let seers = seers.filter(|c| hosts.insert(c.host.hostname.as_str()));
    let seers: BTreeSet<&str> = seers.map(|c| c.name.as_str()).collect();
    let of = |name: &str, interface: &str| {
        let is_it = |s: &Series| {
            let labels = &s.key.labels;
            labels.get("interface").is_some_and(|i| i == interface)
                && labels
                    .get("client")
                    .is_none_or(|c| seers.contains(c.as_str()))
        };
        figure(seen(record, window, CLIENT_HOST, name, is_it)?)
    };
    let bytes = interfaces.filter_map(|series| {
        let interface = series.key.labels.get("interface")?;
        let sent = of("network.sent", interface)?;
        Some(sent + of("network.received", interface)?)
    });
    bytes.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_shown_in_one_order() {
        let of_others = [CostKind::RoundTrips];
        let kinds: Vec<CostKind> = KINDS
            .iter()
            .map(|(kind, _)| *kind)
            .chain(of_others)
            .collect();
        assert_eq!(kinds, CostKind::ALL);
    }
}
