//! What a transaction cost the server, the client and the network, and how that compares.

use crate::observed::{
    MeasuredWindow, Of, ROUND_TRIPS, SESSION_BYTES, STATEMENTS, SeriesSum, TRANSACTIONS,
    busiest_interface, is_of_all_sessions, lags, seen, series,
};
use serde::Serialize;
use tidemark_core::Protocol;
use tidemark_core::observe::{CLIENT_HOST, NETWORK, SERVER_HOST, SERVER_PROCESS, SERVER_STATUS};
use tidemark_core::record::RunRecord;
use tidemark_core::series::Series;

/// What a transaction costs something of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostKind {
    /// Microseconds of processors of the server's processes, or of the server's host.
    ServerCpuUs,
    /// Microseconds of processors of the client, less what observing takes and what staying awake for
    /// arrivals does.
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
    /// Whose count it is, of what engines count each in their way.
    #[serde(skip)]
    pub counted_by: Option<Protocol>,
}

/// A source, the series whose means are added up, and what makes the kind's unit of them.
type From = (&'static str, &'static [&'static str], f64);

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

/// Of the whole load, where the server's counters are known for all of it and all of it is the measurement: no
/// end of the time is then wrong by what came late.
fn by_totals(
    record: &RunRecord,
    window: &MeasuredWindow,
    kind: CostKind,
    from: From,
) -> Option<Cost> {
    let (source, names, unit) = from;
    (record.warmup_s == Some(0.0)).then_some(())?;
    let total = |name: &&str| {
        let mut all = record.load_totals.iter();
        all.find(|of| of.source == source && of.name == **name)
    };
    let totals = names.iter().map(|name| Some(total(name)?.total));
    let total = totals.sum::<Option<f64>>()? * unit;
    let statements = window.sum(STATEMENTS);
    Some(Cost {
        kind,
        per_transaction: total / window.sum(TRANSACTIONS),
        per_statement: (statements > 0.0).then(|| total / statements),
        source,
        counted_by: counted_by(record, kind),
    })
}

/// MySQL counts rows of sorting and of temporary tables among those read, PostgreSQL index entries.
fn counted_by(record: &RunRecord, kind: CostKind) -> Option<Protocol> {
    let server = record
        .server
        .as_ref()
        .filter(|_| kind == CostKind::RowsRead);
    server.map(|server| server.engine.protocol())
}

/// Whether the server's counters tell no cost because they lag, and the measurement is too short for that.
pub fn lag_too_much(record: &RunRecord, costs: &[Cost]) -> bool {
    let told = |cost: &Cost| cost.source == SERVER_STATUS;
    let is_seen = series(record, SERVER_STATUS, "rows.read").next().is_some();
    is_seen && lags(record, SERVER_STATUS) && !costs.iter().any(told)
}

/// Where only the series of counters that lag tell, each end of the time may be wrong by a second.
const FEWEST_LAGGING: f64 = 20.0;

/// What a transaction of the measurement took on average, as far as sources told: rates by the
/// transactions a second of the same time; and its round trips. Nothing of runs without transactions.
pub fn costs(record: &RunRecord) -> Vec<Cost> {
    let Some(window) = MeasuredWindow::of(record) else {
        return Vec::new();
    };
    // What observing takes is no transaction's.
    let counts = |s: &Series| s.key.labels.get("threads").is_none_or(|t| t != "observing");
    let cost = |kind, (source, names, unit): &From| {
        if let Some(cost) = by_totals(record, &window, kind, (source, names, *unit)) {
            return Some(cost);
        }
        is_of_all_sessions(record, source).then_some(())?;
        let all = names
            .iter()
            .map(|name| seen(record, &window, source, name, counts));
        let all: Vec<SeriesSum> = all.collect::<Option<_>>()?;
        let is_short = |seen: &SeriesSum| seen.points() < FEWEST_LAGGING;
        if lags(record, source) && all.iter().any(is_short) {
            return None;
        }
        let total = |of: Of| -> Option<f64> {
            let each = all.iter().map(|seen| seen.each(&window, of));
            let total = each.sum::<Option<f64>>()?;
            let awake = match kind {
                CostKind::ClientCpuUs => awake_s(record, &window, of),
                _ => return Some(total * unit),
            };
            (total > awake).then(|| (total - awake) * unit)
        };
        Some(Cost {
            kind,
            per_transaction: total(TRANSACTIONS)?,
            per_statement: total(STATEMENTS),
            source,
            counted_by: counted_by(record, kind),
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

/// Seconds of processors that staying awake for arrivals took for each transaction or statement: known of the
/// whole load alone.
fn awake_s(record: &RunRecord, window: &MeasuredWindow, of: Of) -> f64 {
    let load = MeasuredWindow::of_load(record);
    let all = load.as_ref().unwrap_or(window).sum(of);
    if all > 0.0 {
        record.usage.cpu_awake_s / all
    } else {
        0.0
    }
}

/// `None` where nobody counted them.
fn round_trips(window: &MeasuredWindow) -> Option<Cost> {
    let (trips, statements) = (window.sum(ROUND_TRIPS), window.sum(STATEMENTS));
    (trips > 0.0).then(|| Cost {
        kind: CostKind::RoundTrips,
        per_transaction: trips / window.sum(TRANSACTIONS),
        per_statement: (statements > 0.0).then(|| trips / statements),
        source: SESSIONS,
        counted_by: None,
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
        let key = |c: &Cost| (c.kind, c.source, c.counted_by);
        let same = |c: &&Cost| key(c) == key(of);
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
        counted_by: None,
    })
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
