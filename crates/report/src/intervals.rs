//! A run's intervals for other tools: a table for spreadsheets and data frames, and a log for those
//! of HdrHistogram.

use crate::ReportError;
use crate::csv::{line, words};
use crate::merge::TypeLatency;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, RunRecord};
use tidemark_stats::{Histogram, LogInterval};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Word,
    Count,
    Number,
}

/// A value of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IntervalCell<'a> {
    Word(&'a str),
    Count(u64),
    /// Nothing where nothing was measured; so many decimals are told as text, else all.
    Number(Option<f64>, Option<usize>),
}

impl IntervalCell<'_> {
    pub(crate) fn text(&self) -> String {
        match self {
            IntervalCell::Word(word) => words(word),
            IntervalCell::Count(count) => count.to_string(),
            IntervalCell::Number(None, _) => String::new(),
            IntervalCell::Number(Some(number), Some(decimals)) => format!("{number:.decimals$}"),
            IntervalCell::Number(Some(number), None) => number.to_string(),
        }
    }
}

/// The columns of every run.
const COLUMNS: &[(&str, ColumnKind)] = &[
    ("run", ColumnKind::Word),
    ("workload", ColumnKind::Word),
    ("start_s", ColumnKind::Number),
    ("length_s", ColumnKind::Number),
    ("phase", ColumnKind::Word),
    ("sessions", ColumnKind::Count),
    ("transactions", ColumnKind::Count),
    ("transactions_per_s", ColumnKind::Number),
    ("reads", ColumnKind::Count),
    ("writes", ColumnKind::Count),
    ("other_statements", ColumnKind::Count),
    ("no_op_writes", ColumnKind::Count),
    ("errors", ColumnKind::Count),
    ("reconnects", ColumnKind::Count),
    ("concurrency", ColumnKind::Count),
    ("rate", ColumnKind::Number),
    ("queue_length", ColumnKind::Count),
    ("delayed_arrivals", ColumnKind::Count),
    ("dropped_arrivals", ColumnKind::Count),
    ("outage_ms", ColumnKind::Number),
    ("mean_ms", ColumnKind::Number),
    ("p50_ms", ColumnKind::Number),
    ("p95_ms", ColumnKind::Number),
    ("p99_ms", ColumnKind::Number),
    ("max_ms", ColumnKind::Number),
    ("round_trips", ColumnKind::Number),
];

/// The columns of each transaction type, after its name and a colon.
const OF_TYPE: &[(&str, ColumnKind)] = &[
    ("transactions", ColumnKind::Count),
    ("mean_ms", ColumnKind::Number),
    ("p95_ms", ColumnKind::Number),
    ("p99_ms", ColumnKind::Number),
];

/// The table of a run's intervals.
pub(crate) struct IntervalTable<'a> {
    record: &'a RunRecord,
    /// Transaction types that have columns of their own: all, where there are several.
    types: BTreeSet<&'a str>,
}

impl<'a> IntervalTable<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> Self {
        let names = record.intervals.iter().flat_map(|i| i.types.keys());
        let mut types: BTreeSet<&str> = names.map(String::as_str).collect();
        if types.len() == 1 {
            types.clear();
        }
        Self { record, types }
    }

    /// Each column's name and kind.
    pub(crate) fn columns(&self) -> Vec<(String, ColumnKind)> {
        let all = COLUMNS.iter().map(|(name, kind)| (name.to_string(), *kind));
        let of_types = self.types.iter().flat_map(|of| {
            let column = move |(name, kind): &(&str, ColumnKind)| (format!("{of}:{name}"), *kind);
            OF_TYPE.iter().map(column)
        });
        all.chain(of_types).collect()
    }

    /// A row of cells for each interval.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Result<Vec<IntervalCell<'a>>, ReportError>> {
        self.record.intervals.iter().map(|interval| {
            let types = decoded(interval)?;
            let mut cells = row(self.record, interval, &all(&types));
            for name in &self.types {
                let none = Histogram::new();
                let latencies = types.get(*name).unwrap_or(&none);
                cells.extend([
                    IntervalCell::Count(latencies.count()),
                    ms(latencies, &Histogram::mean_ns),
                    ms(latencies, &|l| l.percentile_ns(95.0) as f64),
                    ms(latencies, &|l| l.percentile_ns(99.0) as f64),
                ]);
            }
            Ok(cells)
        })
    }
}

/// A line for every interval, warm-up included, under one line of names; empty fields where nothing
/// was measured. Latencies are response times where a schedule made transactions due, service times
/// else. Where there are several transaction types, each has columns of its own behind all together.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn interval_table(record: &RunRecord) -> Result<String, ReportError> {
    let table = IntervalTable::of(record);
    let heads: Vec<String> = (table.columns().iter())
        .map(|(name, _)| words(name))
        .collect();
    let mut lines = line(&heads);
    for row in table.rows() {
        let fields: Vec<String> = row?.iter().map(IntervalCell::text).collect();
        lines.push_str(&line(&fields));
    }
    Ok(lines)
}

fn row<'a>(
    record: &'a RunRecord,
    interval: &Interval,
    latencies: &Histogram,
) -> Vec<IntervalCell<'a>> {
    let seconds = interval.length_ms / 1e3;
    let count: u64 = interval.transactions();
    let statements = &interval.statements;
    // An interval of none has none; a run of none has not counted them.
    let is_counted = record.totals.statements.round_trips > 0 || statements.round_trips > 0;
    let round_trips = is_counted.then_some(statements.round_trips as f64);
    let per_s = if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    };
    vec![
        IntervalCell::Word(&record.id),
        IntervalCell::Word(&record.workload),
        IntervalCell::Number(Some(interval.start_ms as f64 / 1e3), Some(3)),
        IntervalCell::Number(Some(seconds), Some(6)),
        IntervalCell::Word(match interval.phase {
            Phase::Warmup => "warmup",
            Phase::Measure => "measure",
        }),
        IntervalCell::Count(interval.sessions),
        IntervalCell::Count(count),
        IntervalCell::Number(Some(per_s), Some(3)),
        IntervalCell::Count(statements.read),
        IntervalCell::Count(statements.write),
        IntervalCell::Count(statements.other),
        IntervalCell::Count(statements.noop_writes),
        IntervalCell::Count(interval.ignored_errors),
        IntervalCell::Count(interval.reconnects),
        IntervalCell::Count(interval.concurrency),
        IntervalCell::Number(interval.rate, None),
        IntervalCell::Count(interval.queue_length),
        IntervalCell::Count(interval.delayed_arrivals),
        IntervalCell::Count(interval.dropped_arrivals),
        IntervalCell::Number(Some(interval.outage_ms), None),
        ms(latencies, &Histogram::mean_ns),
        ms(latencies, &|l| l.percentile_ns(50.0) as f64),
        ms(latencies, &|l| l.percentile_ns(95.0) as f64),
        ms(latencies, &|l| l.percentile_ns(99.0) as f64),
        ms(latencies, &|l| l.max_ns() as f64),
        IntervalCell::Number(round_trips, Some(0)),
    ]
}

/// Milliseconds, of which text has six decimals, which are nanoseconds; nothing where nothing ended.
fn ms(latencies: &Histogram, of: &dyn Fn(&Histogram) -> f64) -> IntervalCell<'static> {
    let measured = (!latencies.is_empty()).then(|| of(latencies) / 1e6);
    IntervalCell::Number(measured, Some(6))
}

/// The measured intervals as an HdrHistogram log: a line for all transactions, and, where there are
/// several types, one more for each with its name as tag. `started` is when the measurement began,
/// since 1970.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn interval_log(record: &RunRecord, started: Duration) -> Result<String, ReportError> {
    let comments = [
        format!("Tidemark run {}", record.id),
        format!("workload {} on {}", record.workload, record.target),
        "latencies in nanoseconds; warm-up is excluded".into(),
    ];
    let comments = comments.map(|c| tidemark_core::printable(&c).into_owned());
    let mut lines = Vec::new();
    let measured = record
        .intervals
        .iter()
        .filter(|i| i.phase == Phase::Measure);
    for interval in measured {
        let start = u64::try_from(interval.start_ms).unwrap_or(0);
        // A length that no clock gives is in no record of ours; one from elsewhere ends no program.
        let length = Duration::try_from_secs_f64(interval.length_ms / 1e3).unwrap_or_default();
        let line = |tag, latencies| LogInterval {
            tag,
            start: Duration::from_millis(start),
            length,
            latencies,
        };
        let types = decoded(interval)?;
        lines.push(line(None, all(&types)));
        if types.len() > 1 {
            lines.extend(
                types
                    .into_iter()
                    .map(|(name, latencies)| line(Some(name.into()), latencies)),
            );
        }
    }
    Ok(tidemark_stats::interval_log(started, &comments, lines))
}

/// What a user of the database waited, by type.
fn decoded(interval: &Interval) -> Result<BTreeMap<&str, Histogram>, ReportError> {
    interval
        .types
        .iter()
        .map(|(name, stats)| {
            let place = format!("{name} in the interval at {} ms", interval.start_ms);
            let one = TypeLatency::decode(stats, &place)?;
            Ok((name.as_str(), one.latency().clone()))
        })
        .collect()
}

fn all(types: &BTreeMap<&str, Histogram>) -> Histogram {
    types.values().fold(Histogram::new(), |mut all, one| {
        all.merge(one);
        all
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use super::*;
    use tidemark_core::record::{EncodedHistogram, StatementCounts, TypeStats};

    /// Of transactions that took so many microseconds.
    pub(crate) fn stats(us: &[u64]) -> TypeStats {
        let mut histogram = Histogram::new();
        us.iter()
            .for_each(|us| histogram.record(Duration::from_micros(*us)));
        TypeStats {
            count: us.len() as u64,
            service: EncodedHistogram(histogram.encode()),
            ..TypeStats::default()
        }
    }

    fn record(types: &[(&str, &[u64])]) -> RunRecord {
        let interval = |start_ms, phase| Interval {
            start_ms,
            length_ms: 1000.0,
            phase,
            sessions: 2,
            statements: StatementCounts {
                read: 9,
                round_trips: 7,
                ..StatementCounts::default()
            },
            types: types
                .iter()
                .map(|(name, us)| (name.to_string(), stats(us)))
                .collect(),
            ..Interval::default()
        };
        RunRecord {
            id: "0199".into(),
            workload: "=HYPERLINK(\"x\")".into(),
            intervals: vec![interval(-1000, Phase::Warmup), interval(0, Phase::Measure)],
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_table_has_a_line_an_interval_and_columns_for_each_type() {
        let table = interval_table(&record(&[("a", &[1000, 3000]), ("b,c", &[])])).unwrap();
        let lines: Vec<&str> = table.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].ends_with(
            ",a:transactions,a:mean_ms,a:p95_ms,a:p99_ms,\"b,c:transactions\",\"b,c:mean_ms\",\
             \"b,c:p95_ms\",\"b,c:p99_ms\""
        ));
        assert_eq!(
            lines[2],
            "0199,\"'=HYPERLINK(\"\"x\"\")\",0.000,1.000000,measure,2,2,2.000,9,0,0,0,0,0,0,,0,0,0,0,\
             2.000000,1.000447,3.000000,3.000000,3.000000,7,2,2.000000,3.000000,3.000000,0,,,"
        );
        assert!(lines[1].contains(",-1.000,1.000000,warmup,"));
        let mut one = record(&[("a", &[1000])]);
        let table = interval_table(&one).unwrap();
        assert!(!table.contains("a:"), "one type is all");
        assert!(table.ends_with(",7\r\n"), "{table}");
        for interval in &mut one.intervals {
            interval.statements.round_trips = 0;
        }
        let table = interval_table(&one).unwrap();
        assert!(table.ends_with("00,\r\n"), "nobody counted them: {table}");
    }

    #[test]
    fn a_log_has_all_transactions_and_each_type_and_no_warm_up() {
        let started = Duration::from_secs(1_700_000_000);
        let log = interval_log(&record(&[("a", &[1000, 3000]), ("b", &[5])]), started).unwrap();
        let lines: Vec<&str> = log.lines().filter(|l| !l.starts_with('#')).collect();
        assert_eq!(lines.len(), 3, "{log}");
        assert!(lines[0].starts_with("0.0,1.0,") || lines[0].starts_with("0.000,1.000,"));
        assert!(lines[1].starts_with("Tag=a,") && lines[2].starts_with("Tag=b,"));
        let one = interval_log(&record(&[("a", &[1000])]), started).unwrap();
        assert!(!one.contains("Tag="), "{one}");
    }
}
