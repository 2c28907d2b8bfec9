//! What is wanted of a system stands in tables beside what was measured, and is no figure of a run.

use super::documents::import;
use tidemark_core::record::RunRecord;
use tidemark_import::Import;

fn figure(run: &RunRecord, name: &str) -> Option<f64> {
    run.imported.as_ref().unwrap().figure(name).map(|f| f.value)
}

fn option<'r>(run: &'r RunRecord, name: &str) -> Option<&'r str> {
    run.options.get(name).map(|o| o.value.as_str())
}

fn left(import: &Import) -> Vec<(u64, &str)> {
    let ranges = import.leftovers.ranges.iter();
    ranges
        .map(|(line, _, text)| (*line, text.as_str()))
        .collect()
}

#[test]
fn a_column_of_what_is_wanted_is_kept_beside_the_figures() {
    for heading in [
        "Target P99",
        "P99 target",
        "SLO p99 (ms)",
        "目标 P99",
        "要求 P99",
        "P99 阈值",
    ] {
        let table = import(&format!("threads,TPS,{heading}\n16,1000,20\n"));
        let [run] = table.runs.as_slice() else {
            panic!("{heading}: {:?}", table.runs);
        };
        assert_eq!(figure(run, "rate"), Some(1000.0), "{heading}");
        assert_eq!(figure(run, "p99_ms"), None, "{heading}");
        assert_eq!(option(run, heading), Some("20"), "{heading}");
    }
    for heading in ["Expected TPS", "预期 TPS", "goal TPS", "TPS 要求"] {
        let table = import(&format!("threads,{heading},P99 (ms)\n16,1000,20\n"));
        let [run] = table.runs.as_slice() else {
            panic!("{heading}: {:?}", table.runs);
        };
        assert_eq!(figure(run, "rate"), None, "{heading}");
        assert_eq!(figure(run, "p99_ms"), Some(20.0), "{heading}");
    }
    // Beside the figure itself it is no second one.
    let both = import("threads,TPS,P99 (ms),P99 target (ms)\n16,1000,18,20\n");
    assert_eq!(figure(&both.runs[0], "p99_ms"), Some(18.0));
    // A heading that only says so is told.
    let goal = import("threads,TPS,Goal\n16,1000,1200\n");
    assert_eq!(left(&goal), [(2, "Goal: 1200")]);
    // A percentile that the heading sets beside its limit was measured.
    let measured = import("threads,TPS,P99 (target 20 ms)\n16,1000,18\n");
    assert_eq!(figure(&measured.runs[0], "p99_ms"), Some(18.0));
}

#[test]
fn a_table_without_anything_measured_has_no_run() {
    let wanted =
        import("| workload | Target P99 | Expected TPS |\n|---|---|---|\n| read | 20 | 1000 |\n");
    assert_eq!(wanted.runs.len(), 0, "{:?}", wanted.runs);
    assert!(wanted.leftovers.lines > 0);
}

#[test]
fn a_row_of_what_is_wanted_is_no_run() {
    let table = import(
        "| version | TPS | P99 (ms) |\n|---|---|---|\n| 8.0 | 900 | 25 |\n| SLO | 1000 | 20 |\n",
    );
    assert_eq!(table.runs.len(), 1, "{:?}", table.runs);
    assert_eq!(figure(&table.runs[0], "rate"), Some(900.0));
    assert_eq!(left(&table), [(4, "| SLO | 1000 | 20 |")]);
    let systems = import("| system | TPS |\n|---|---|\n| Source | 900 |\n| Target | 1000 |\n");
    assert_eq!(systems.runs.len(), 2, "beside a source: {:?}", systems.runs);
}

#[test]
fn a_column_of_goals_beside_rows_of_figures_is_no_run() {
    let one = import(
        "| 指标 | 目标 | 实测 |\n|---|---|---|\n| TPS | 1000 | 900 |\n| P99 (ms) | 20 | 25 |\n",
    );
    let [run] = one.runs.as_slice() else {
        panic!("{:?}", one.runs);
    };
    assert_eq!(figure(run, "rate"), Some(900.0));
    assert_eq!(figure(run, "p99_ms"), Some(25.0));
    assert_eq!(option(run, "TPS (目标)"), Some("1000"));
    assert_eq!(option(run, "P99 (ms) (目标)"), Some("20"));
    let two =
        import("| Metric | Goal | v1 | v2 |\n|---|---|---|---|\n| TPS | 1000 | 900 | 1100 |\n");
    assert_eq!(two.runs.len(), 2, "{:?}", two.runs);
    let rates: Vec<_> = two.runs.iter().map(|run| figure(run, "rate")).collect();
    assert_eq!(rates, [Some(900.0), Some(1100.0)]);
}
