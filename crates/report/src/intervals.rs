//! A run's intervals for other tools: a table for spreadsheets and data frames, and a log for those
//! of HdrHistogram.

use crate::ReportError;
use crate::csv::{line, words};
use crate::merge::TypeLatency;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tidemark_core::record::{Interval, Phase, RunRecord};
use tidemark_stats::{Histogram, LogInterval};

/// The columns of every run.
const COLUMNS: &[&str] = &[
    "run",
    "workload",
    "start_s",
    "length_s",
    "phase",
    "sessions",
    "transactions",
    "transactions_per_s",
    "reads",
    "writes",
    "other_statements",
    "no_op_writes",
    "errors",
    "reconnects",
    "concurrency",
    "rate",
    "queue_length",
    "delayed_arrivals",
    "dropped_arrivals",
    "outage_ms",
    "mean_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
];

/// The columns of each transaction type, after its name and a colon.
const OF_TYPE: &[&str] = &["transactions", "mean_ms", "p95_ms", "p99_ms"];

/// A line for every interval, warm-up included, under one line of names; empty fields where nothing
/// was measured. Latencies are response times where a schedule made transactions due, service times
/// else. Where there are several transaction types, each has columns of its own behind all together.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn interval_table(record: &RunRecord) -> Result<String, ReportError> {
    let names: BTreeSet<&str> = record
        .intervals
        .iter()
        .flat_map(|i| i.types.keys().map(String::as_str))
        .collect();
    let several = names.len() > 1;
    let of_types = names.iter().filter(|_| several).flat_map(|name| {
        OF_TYPE
            .iter()
            .map(move |column| words(&format!("{name}:{column}")))
    });
    let heads: Vec<String> = COLUMNS
        .iter()
        .map(|c| c.to_string())
        .chain(of_types)
        .collect();
    let mut table = line(&heads);
    for interval in &record.intervals {
        let types = decoded(interval)?;
        let mut fields = row(record, interval, &all(&types));
        for name in names.iter().filter(|_| several) {
            let latencies = types.get(*name);
            let count = latencies.map_or(0, Histogram::count);
            let of = |f: &dyn Fn(&Histogram) -> f64| latencies.map_or(String::new(), |l| ms(l, f));
            fields.extend([
                count.to_string(),
                of(&Histogram::mean_ns),
                of(&|l| l.percentile_ns(95.0) as f64),
                of(&|l| l.percentile_ns(99.0) as f64),
            ]);
        }
        table.push_str(&line(&fields));
    }
    Ok(table)
}

fn row(record: &RunRecord, interval: &Interval, latencies: &Histogram) -> Vec<String> {
    let seconds = interval.length_ms / 1e3;
    let count: u64 = interval.types.values().map(|t| t.count).sum();
    let statements = &interval.statements;
    let per_s = if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    };
    vec![
        words(&record.id),
        words(&record.workload),
        format!("{:.3}", interval.start_ms as f64 / 1e3),
        format!("{seconds:.6}"),
        match interval.phase {
            Phase::Warmup => "warmup".into(),
            Phase::Measure => "measure".into(),
        },
        interval.sessions.to_string(),
        count.to_string(),
        format!("{per_s:.3}"),
        statements.read.to_string(),
        statements.write.to_string(),
        statements.other.to_string(),
        statements.noop_writes.to_string(),
        interval.ignored_errors.to_string(),
        interval.reconnects.to_string(),
        interval.concurrency.to_string(),
        interval.rate.map_or(String::new(), |r| r.to_string()),
        interval.queue_length.to_string(),
        interval.delayed_arrivals.to_string(),
        interval.dropped_arrivals.to_string(),
        interval.outage_ms.to_string(),
        ms(latencies, &Histogram::mean_ns),
        ms(latencies, &|l| l.percentile_ns(50.0) as f64),
        ms(latencies, &|l| l.percentile_ns(95.0) as f64),
        ms(latencies, &|l| l.percentile_ns(99.0) as f64),
        ms(latencies, &|l| l.max_ns() as f64),
    ]
}

/// Milliseconds with six decimals, which are nanoseconds; nothing where nothing ended.
fn ms(latencies: &Histogram, of: &dyn Fn(&Histogram) -> f64) -> String {
    if latencies.is_empty() {
        String::new()
    } else {
        format!("{:.6}", of(latencies) / 1e6)
    }
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
        "latencies in nanoseconds; warm-up is left out".into(),
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
mod tests {
    use super::*;
    use tidemark_core::record::{EncodedHistogram, StatementCounts, TypeStats};

    fn stats(us: &[u64]) -> TypeStats {
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
             2.000000,1.000447,3.000000,3.000000,3.000000,2,2.000000,3.000000,3.000000,0,,,"
        );
        assert!(lines[1].contains(",-1.000,1.000000,warmup,"));
        let one = interval_table(&record(&[("a", &[1000])])).unwrap();
        assert!(!one.contains("a:"), "one type is all");
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
