//! What a run's row and its intervals' rows have in their columns.

use crate::RecordError;
use crate::json::readable;
use crate::liveness::now_ms;
use rusqlite::{Connection, named_params, params};
use std::borrow::Cow;
use tidemark_core::record::{Interval, Phase, RunRecord, RunState, TypeStats};
use tidemark_stats::Histogram;

/// SQLite's integers end at 2^63.
pub(crate) fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(crate) fn next_seq(db: &Connection, run_id: &str) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT COALESCE(MAX(seq) + 1, 0) FROM interval WHERE run_id = ?1")?
        .query_row([run_id], |row| row.get(0))
}

/// The columns of a run that its end decides.
pub(crate) struct RunRow<'a> {
    record: &'a RunRecord,
    json: String,
    latency: Percentiles,
}

impl<'a> RunRow<'a> {
    pub fn of(record: &'a RunRecord) -> Result<Self, RecordError> {
        let mut bare = Cow::Borrowed(record);
        if !record.intervals.is_empty() || !record.series.is_empty() {
            let bare = bare.to_mut();
            bare.intervals.clear();
            bare.series.clear();
        }
        Ok(Self {
            record,
            json: readable::<RunRecord>(serde_json::to_string(bare.as_ref())?)?,
            latency: Percentiles::of(std::iter::once(&record.totals.all)),
        })
    }

    pub fn update(&self, db: &Connection) -> rusqlite::Result<usize> {
        let record = self.record;
        let (state, reason) = match &record.state {
            RunState::Running => ("running", None),
            RunState::Finished => ("finished", None),
            RunState::Interrupted => ("interrupted", None),
            RunState::Failed(reason) => ("failed", Some(reason)),
        };
        let totals = &record.totals;
        // A run that has only begun has no totals; NULL says so, where 0 would lie.
        let known = record.state != RunState::Running || totals.elapsed_s > 0.0;
        // A document may state neither a rate nor how long the run was.
        let is_timed = totals.elapsed_s > 0.0 && !record.is_derived("elapsed_s");
        let counted = || is_timed.then(|| totals.all.count as f64 / totals.elapsed_s);
        let untimed = || record.is_derived("elapsed_s").then_some(0.0);
        let per_s = record.stated_rate().or_else(counted).or_else(untimed);
        db.prepare_cached(
            "UPDATE run SET schema_version = :schema_version, state = :state, reason = :reason, \
             engine = :engine, engine_version = :engine_version, sessions = :sessions, \
             rate = :rate, elapsed_s = :elapsed_s, transactions = :transactions, \
             transactions_per_s = :per_s, p50_ms = :p50, p95_ms = :p95, p99_ms = :p99, \
             record = :record WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": record.id,
            ":schema_version": record.schema_version,
            ":state": state,
            ":reason": reason,
            ":engine": record.server.as_ref().map(|s| engine_word(s.engine)),
            ":engine_version": record.server.as_ref().map(|s| s.version.as_str()),
            ":sessions": count(record.sessions as u64),
            ":rate": record.rate,
            ":elapsed_s": known.then_some(totals.elapsed_s),
            ":transactions": known.then(|| count(totals.all.count)),
            ":per_s": per_s,
            ":p50": self.latency.p50_ms,
            ":p95": self.latency.p95_ms,
            ":p99": self.latency.p99_ms,
            ":record": self.json,
        })
    }
}

/// The word of [`tidemark_core::Engine`] in JSON, so that the column and the record agree.
fn engine_word(engine: tidemark_core::Engine) -> String {
    match serde_json::to_value(engine) {
        Ok(serde_json::Value::String(word)) => word,
        _ => engine.to_string(),
    }
}

pub(crate) struct IntervalRow<'a> {
    interval: &'a Interval,
    json: String,
    latency: Percentiles,
}

pub(crate) fn rows(intervals: &[Interval]) -> Result<Vec<IntervalRow<'_>>, RecordError> {
    intervals
        .iter()
        .map(|interval| {
            Ok(IntervalRow {
                interval,
                json: readable::<Interval>(serde_json::to_string(interval)?)?,
                latency: Percentiles::of(interval.types.values()),
            })
        })
        .collect()
}

pub(crate) fn append(
    db: &Connection,
    run_id: &str,
    first_seq: i64,
    rows: &[IntervalRow<'_>],
) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO interval (run_id, seq, start_ms, length_ms, phase, sessions, transactions, \
         \"read\", \"write\", other, ignored_errors, reconnects, queue_length, concurrency, \
         p50_ms, p95_ms, p99_ms, written_ms, detail) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    for (seq, row) in (first_seq..).zip(rows) {
        let i = row.interval;
        insert.execute(params![
            run_id,
            seq,
            i.start_ms,
            i.length_ms,
            match i.phase {
                Phase::Warmup => "warmup",
                Phase::Measure => "measure",
            },
            count(i.sessions),
            count(i.types.values().map(|t| t.count).sum()),
            count(i.statements.read),
            count(i.statements.write),
            count(i.statements.other),
            count(i.ignored_errors),
            count(i.reconnects),
            count(i.queue_length),
            count(i.concurrency),
            row.latency.p50_ms,
            row.latency.p95_ms,
            row.latency.p99_ms,
            now_ms(),
            row.json,
        ])?;
    }
    Ok(())
}

/// Latency percentiles in milliseconds, for the convenience columns: response times where all types
/// have them, service times else. `None` when nothing ended or a histogram can't be read; the JSON
/// beside them stays as it was given.
#[derive(Debug, Default)]
struct Percentiles {
    p50_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
}

impl Percentiles {
    fn of<'t>(types: impl Iterator<Item = &'t TypeStats>) -> Self {
        let types: Vec<&TypeStats> = types.collect();
        // Of several, nothing is known together.
        if let [
            TypeStats {
                quantiles: Some(given),
                ..
            },
        ] = types.as_slice()
        {
            return Self {
                p50_ms: given.percentile_ms(50.0),
                p95_ms: given.percentile_ms(95.0),
                p99_ms: given.percentile_ms(99.0),
            };
        }
        let mut all = Histogram::new();
        for t in types {
            let encoded = t.response.as_ref().unwrap_or(&t.service);
            match Histogram::decode(&encoded.0) {
                Ok(one) => all.merge(&one),
                Err(_) => return Self::default(),
            }
        }
        let ms = |p| (!all.is_empty()).then(|| all.percentile_ns(p) as f64 / 1e6);
        Self {
            p50_ms: ms(50.0),
            p95_ms: ms(95.0),
            p99_ms: ms(99.0),
        }
    }
}
