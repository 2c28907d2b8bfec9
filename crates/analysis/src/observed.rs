//! What the series of a record say of the measurement.
//!
//! Pure functions over the record, by source and name (docs/observe.md lists them).

use std::collections::BTreeSet;
use tidemark_core::Protocol;
use tidemark_core::observe::{CLIENT_HOST, NETWORK, SERVER_ACTIVITY, SERVER_HOST, SERVER_STATUS};
use tidemark_core::record::{Phase, RunRecord};
use tidemark_core::series::{Measures, Series};

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
pub(crate) struct Part {
    begin_ms: f64,
    end_ms: f64,
    transactions: f64,
    statements: f64,
    round_trips: f64,
}

/// What something is a cost of.
pub(crate) type Of = fn(&Part) -> f64;
pub(crate) const TRANSACTIONS: Of = |part| part.transactions;
pub(crate) const STATEMENTS: Of = |part| part.statements;
pub(crate) const ROUND_TRIPS: Of = |part| part.round_trips;

impl MeasuredWindow {
    pub fn of(record: &RunRecord) -> Option<Self> {
        Self::of_phases(record, &[Phase::Measure])
    }

    /// With its warm-up. `None` also where its intervals are not known.
    pub fn of_load(record: &RunRecord) -> Option<Self> {
        (!record.intervals.is_empty()).then_some(())?;
        Self::of_phases(record, &[Phase::Warmup, Phase::Measure])
    }

    fn of_phases(record: &RunRecord, phases: &[Phase]) -> Option<Self> {
        let measured = record.intervals.iter();
        let measured = measured.filter(|i| phases.contains(&i.phase)).map(|i| {
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
    pub fn sum(&self, of: Of) -> f64 {
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

    /// How many seconds or steps it is of.
    pub fn points(&self) -> f64 {
        self.points
    }

    /// The same where one that began later than another of its source was at nothing before.
    pub fn mean_since(&self, other: &Self) -> f64 {
        self.sum / self.points.max(other.points)
    }

    /// The mean by the transactions or statements of the same time.
    pub fn each(&self, window: &MeasuredWindow, of: Of) -> Option<f64> {
        let rate = window.rate(of, &self.spans);
        (rate > 0.0).then(|| self.mean() / rate)
    }
}

/// Whether a source's counters tell later of what was done: PostgreSQL's sessions report theirs once a second at
/// most (`PGSTAT_MIN_INTERVAL`).
pub(crate) fn lags(record: &RunRecord, source: &str) -> bool {
    let server = record.server.as_ref();
    source == SERVER_STATUS && server.is_some_and(|s| s.engine.protocol() == Protocol::Postgres)
}

/// From when on a source's counters tell of the same time as the load's: of sessions that have just begun, the
/// first seconds lack what comes later.
fn settled_ms(record: &RunRecord, source: &str) -> i64 {
    let begins_ms = record.intervals.first().map_or(0, |first| first.start_ms);
    match lags(record, source) {
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
        let (step_ms, is_rate) = (
            i64::from(series.step_ms),
            series.key.measures == Measures::Rate,
        );
        let mut next_ms = None;
        for point in series.points().ok()? {
            let point = point.ok()?;
            // A rate after a gap is of the gap as well, of whose length nothing is known where a counter began
            // anew.
            let is_after_gap = next_ms.is_some_and(|next| point.at_ms > next);
            next_ms = Some(point.at_ms + step_ms);
            if (settled_ms..window.end_ms).contains(&point.at_ms) && !(is_rate && is_after_gap) {
                seen.sum += point.value;
                points += 1.0;
                let to_ms = point.at_ms + step_ms;
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

/// Bytes over the sessions' own sockets.
pub(crate) const SESSION_BYTES: &[&str] = &["network.session-received", "network.session-sent"];

/// Whether a source tells of the sessions of the whole run: of several clients' sockets only those of one
/// are kept.
pub(crate) fn is_of_all_sessions(record: &RunRecord, source: &str) -> bool {
    source != NETWORK || record.clients.len() < 2
}

/// Sessions that were in a state on average, those of one wait alone where one is given; `CPU` is the
/// wait of sessions that wait for nothing.
pub fn sessions(record: &RunRecord, state: &str, wait: Option<&str>) -> Option<f64> {
    sessions_of(record, "sessions", state, wait)
}

/// Those of others than the run.
pub fn others_sessions(record: &RunRecord, state: &str) -> Option<f64> {
    sessions_of(record, "sessions.others", state, None)
}

fn sessions_of(record: &RunRecord, whose: &str, state: &str, wait: Option<&str>) -> Option<f64> {
    let window = MeasuredWindow::of(record)?;
    let of = |whose: &str, wanted: &dyn Fn(&Series) -> bool| {
        seen(record, &window, SERVER_ACTIVITY, whose, wanted)
    };
    let is = |series: &Series, label: &str, value: &str| {
        series.key.labels.get(label).is_some_and(|v| v == value)
    };
    let all = of("sessions", &|_| true)?;
    let in_state = of(whose, &|s| {
        is(s, "state", state) && wait.is_none_or(|wait| is(s, "wait", wait))
    });
    // A state that nobody was seen in has no series, and one that was seen late fewer points.
    Some(in_state.map_or(0.0, |seen| seen.sum / all.points))
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
