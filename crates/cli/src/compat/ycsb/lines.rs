//! go-ycsb's own lines: one for each operation, of the run so far or of all of it.
//!
//! Where go-ycsb's percentiles are edges of buckets, these are within 0.1 %.

use std::collections::BTreeMap;
use tidemark_compat::{Column, LatencyUnit, OperationLines, OutputStyle};
use tidemark_core::record::Totals;
use tidemark_report::ycsb::{decoded, with_parts};
use tidemark_report::{Merged, ReportError, TypeLatency, per_second};

const LINES: OperationLines = OperationLines {
    columns: &[
        Column::Seconds,
        Column::Count,
        Column::PerSecond,
        Column::Mean,
        Column::Least,
        Column::Most,
        Column::Percentile(50.0),
        Column::Percentile(90.0),
        Column::Percentile(95.0),
        Column::Percentile(99.0),
        Column::Percentile(99.9),
        Column::Percentile(99.99),
    ],
    unit: LatencyUnit::Microseconds,
};

/// All statements on records together. go-ycsb leaves out the whole of a READ_MODIFY_WRITE, for its
/// parts are counted.
const TOTAL: &str = "TOTAL";

/// The lines of the measurement so far.
pub(super) fn so_far(sum: &Merged, style: OutputStyle) -> String {
    let types = with_parts(&sum.types, &sum.parts);
    operations(sum.length_ms / 1000.0, &types, style)
}

/// The lines of the whole run.
///
/// # Errors
/// [`ReportError::Histogram`].
pub(super) fn summary(totals: &Totals, style: OutputStyle) -> Result<String, ReportError> {
    let types = with_parts(&decoded(&totals.types)?, &decoded(&totals.parts)?);
    Ok(operations(totals.elapsed_s, &types, style))
}

/// What is told of a load: rows travel many at a time, so that none has a latency of its own.
pub(super) fn loaded(rows: u64, seconds: f64) -> String {
    format!(
        "INSERT - Takes(s): {seconds:.1}, Count: {rows}, OPS: {:.1}\n",
        per_second(rows, seconds)
    )
}

fn operations(seconds: f64, types: &BTreeMap<String, TypeLatency>, style: OutputStyle) -> String {
    let mut types = types.clone();
    types.retain(|_, t| t.count > 0);
    if types.is_empty() {
        return String::new();
    }
    let mut total = TypeLatency::default();
    let single = types
        .iter()
        .filter(|(name, _)| *name != "READ_MODIFY_WRITE");
    single.for_each(|(_, t)| total.add(t));
    types.insert(TOTAL.into(), total);
    let types = types.iter().map(|(name, t)| (name.clone(), t));
    LINES.print(None, seconds, types, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::record::EncodedHistogram;
    use tidemark_core::record::TypeStats;
    use tidemark_stats::Histogram;

    fn stats(us: &[u64]) -> TypeStats {
        let mut service = Histogram::new();
        us.iter()
            .for_each(|us| service.record(std::time::Duration::from_micros(*us)));
        TypeStats {
            count: us.len() as u64,
            service: EncodedHistogram(service.encode()),
            ..TypeStats::default()
        }
    }

    fn totals() -> Totals {
        Totals {
            elapsed_s: 2.0,
            types: BTreeMap::from([
                ("READ".into(), stats(&[100, 200, 300])),
                ("READ_MODIFY_WRITE".into(), stats(&[700])),
            ]),
            parts: BTreeMap::from([
                ("READ".into(), stats(&[200])),
                ("UPDATE".into(), stats(&[500])),
            ]),
            ..Totals::default()
        }
    }

    #[test]
    fn lines_are_go_ycsbs_and_parts_count_as_operations() {
        let text = summary(&totals(), OutputStyle::Plain).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "READ   - Takes(s): 2.0, Count: 4, OPS: 2.0, Avg(us): 200, Min(us): 100, Max(us): 300, \
             50th(us): 200, 90th(us): 300, 95th(us): 300, 99th(us): 300, 99.9th(us): 300, \
             99.99th(us): 300"
        );
        assert!(
            lines[1]
                .starts_with("READ_MODIFY_WRITE - Takes(s): 2.0, Count: 1, OPS: 0.5, Avg(us): 700")
        );
        assert!(lines[2].starts_with("TOTAL  - Takes(s): 2.0, Count: 5, OPS: 2.5, "));
        assert!(lines[3].starts_with("UPDATE - Takes(s): 2.0, Count: 1, "));
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn programs_get_json_and_people_tables() {
        let json = summary(&totals(), OutputStyle::Json).unwrap();
        assert!(json.starts_with("[{\"50th(us)\":\"200\","), "{json}");
        assert!(json.contains("\"Operation\":\"READ\","), "{json}");
        let table = summary(&totals(), OutputStyle::Table).unwrap();
        assert!(table.contains("│ OPERATION "), "{table}");
    }

    #[test]
    fn a_run_without_an_operation_has_no_lines() {
        assert_eq!(summary(&Totals::default(), OutputStyle::Plain).unwrap(), "");
    }

    #[test]
    fn a_load_is_told_without_latencies_that_nobody_measured() {
        assert_eq!(
            loaded(1000, 0.5),
            "INSERT - Takes(s): 0.5, Count: 1000, OPS: 2000.0\n"
        );
    }
}
