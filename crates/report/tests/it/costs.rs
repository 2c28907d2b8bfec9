//! What stands beside the costs of a transaction.

use super::series::{series, watched};
use tidemark_core::record::RunRecord;
use tidemark_core::{Engine, ServerInfo};
use tidemark_report::{Lang, text};

#[test]
fn whose_work_a_cost_may_be_is_told() {
    const OTHERS: &str = "Other sessions were 25.0% of those at work";
    const FEW: &str = "With so few transactions";
    const LATE: &str = "Costs by these need a measurement of 20 s";
    const MEANS: &str = "means of a short run may differ from its throughput";
    let seen = |source: &str, name: &str, labels: &[(&str, &str)], value: f64| {
        let mut series = series(name, "1/s", labels, |_| value);
        series.key.source = source.into();
        series
    };
    let active = [("state", "active"), ("wait", "CPU")];
    let mut record = watched();
    record.series = vec![
        seen("server-status", "rows.read", &[], 9e5),
        seen("server-activity", "sessions", &active, 3.0),
    ];
    let told = |record: &RunRecord| text(record, Lang::En).unwrap();
    let all = told(&record);
    for said in [OTHERS, FEW, LATE, MEANS] {
        assert!(!all.contains(said), "{said}: {all}");
    }
    let others = seen("server-activity", "sessions.others", &active, 1.0);
    record.series.push(others);
    record.totals.all.count = 900;
    record.totals.elapsed_s = 10.0;
    // Ten seconds after a warm-up.
    record.intervals.truncate(15);
    record.server = Some(ServerInfo {
        engine: Engine::Postgres,
        version: "15.18".into(),
    });
    record
        .series
        .push(seen("server-process", "process.context-switches", &[], 1e4));
    let all = told(&record);
    for said in [OTHERS, FEW, LATE, MEANS] {
        assert!(all.contains(said), "{said}: {all}");
    }
}
