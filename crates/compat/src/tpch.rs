//! go-tpc's own lines: `Q1: 1.07s`, the mean of each query.

use crate::output_style::{self as output, OutputStyle};
use std::collections::BTreeMap;
use tidemark_core::record::{QueryOutcome, QueryRun, RunRecord};

const HEAD: [&str; 3] = ["Prefix", "Operation", "Avg(s)"];

/// The lines of the queries that ended since the last ones.
pub fn current(queries: &[QueryRun], style: OutputStyle) -> String {
    lines("[Current] ", queries, style)
}

/// The lines of the whole run.
pub fn summary(record: &RunRecord, style: OutputStyle) -> String {
    lines("[Summary] ", &record.queries, style)
}

/// One line for each query, in the order of their names' letters as go-tpc has it: Q1, Q10, Q11.
fn lines(prefix: &str, queries: &[QueryRun], style: OutputStyle) -> String {
    let mut means: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for query in queries.iter().filter(|q| q.outcome == QueryOutcome::Done) {
        let (sum, count) = means.entry(&query.name).or_default();
        *sum += query.took_ms / 1000.0;
        *count += 1;
    }
    if means.is_empty() {
        return String::new();
    }
    let row = |(name, (sum, count)): (&&str, &(f64, u32))| {
        let mean = sum / f64::from(*count);
        vec![prefix.to_string(), name.to_string(), format!("{mean:.2}s")]
    };
    let rows: Vec<Vec<String>> = means.iter().map(row).collect();
    match style {
        OutputStyle::Plain => {
            let line = |row: &Vec<String>| match row.as_slice() {
                [prefix, name, mean] => format!("{prefix}{name}: {mean}\n"),
                _ => String::new(),
            };
            rows.iter().map(line).collect()
        }
        OutputStyle::Table => output::table(&HEAD, &rows),
        OutputStyle::Json => output::json(&HEAD, &rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, took_ms: f64, outcome: QueryOutcome) -> QueryRun {
        QueryRun {
            name: name.into(),
            took_ms,
            outcome,
            ..QueryRun::default()
        }
    }

    #[test]
    fn lines_are_go_tpcs() {
        let queries = [
            run("Q2", 1065.0, QueryOutcome::Done),
            run("Q10", 4.0, QueryOutcome::Done),
            run("Q2", 1075.0, QueryOutcome::Done),
            run("Q3", 9.0, QueryOutcome::TimedOut),
        ];
        assert_eq!(
            current(&queries, OutputStyle::Plain),
            "[Current] Q10: 0.00s\n[Current] Q2: 1.07s\n"
        );
        let json = current(&queries[..1], OutputStyle::Json);
        assert_eq!(
            json.trim_end(),
            r#"[{"Avg(s)":"1.06s","Operation":"Q2","Prefix":"[Current] "}]"#
        );
        assert_eq!(current(&queries[3..], OutputStyle::Table), "");
        let record = RunRecord {
            queries: queries.to_vec(),
            ..RunRecord::default()
        };
        assert!(summary(&record, OutputStyle::Table).contains("[Summary]"));
    }
}
