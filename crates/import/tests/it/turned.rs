//! Tables whose rows are the figures and whose columns are the runs: levels of load, or products.

use super::documents::import;
use tidemark_core::record::RunRecord;
use tidemark_import::Import;

/// A figure of each run with its line.
fn figures(import: &Import, name: &str) -> Vec<(f64, u64)> {
    let of = |run: &RunRecord| {
        let figure = run.imported.as_ref().unwrap().figure(name).cloned();
        let figure = figure.unwrap_or_else(|| panic!("no {name}: {run:?}"));
        (figure.value, figure.line)
    };
    import.runs.iter().map(of).collect()
}

fn sessions(import: &Import) -> Vec<usize> {
    import.runs.iter().map(|run| run.sessions).collect()
}

fn variants(import: &Import) -> Vec<Option<&str>> {
    let of = |run: &RunRecord| run.options.contains_key("variant");
    assert!(import.runs.iter().any(of), "{:?}", import.runs);
    let runs = import.runs.iter();
    runs.map(|run| run.options.get("variant").map(|o| o.value.as_str()))
        .collect()
}

/// The first lines of what was not understood.
fn left(import: &Import) -> Vec<u64> {
    let ranges = import.leftovers.ranges.iter();
    ranges.map(|(line, ..)| *line).collect()
}

#[test]
fn columns_of_csv_may_be_levels_of_load() {
    let named = import(
        "metric,16 threads,64 线程\nTPS,100,190\nQPS,2000,3800\navg (ms),79.5,84\np95 (ms),90,99\n",
    );
    assert_eq!(sessions(&named), [16, 64]);
    assert_eq!(figures(&named, "rate"), [(100.0, 2), (190.0, 2)]);
    assert_eq!(
        figures(&named, "statement_rate"),
        [(2000.0, 3), (3800.0, 3)]
    );
    assert_eq!(figures(&named, "mean_ms"), [(79.5, 4), (84.0, 4)]);
    assert_eq!(figures(&named, "p95_ms"), [(90.0, 5), (99.0, 5)]);
    assert_eq!(left(&named), [0; 0]);
    let bare = import("# Results\n\nthreads\t16\t32\t64\nTPS\t100\t190\t-\np95\t9\t8\t7\n");
    assert_eq!(sessions(&bare), [16, 32, 64]);
    assert_eq!(figures(&bare, "p95_ms"), [(9.0, 5), (8.0, 5), (7.0, 5)]);
    // Such a line without a figure below it is none.
    let none = import("threads,16,32\nnotes,17,18\n");
    assert_eq!(none.runs.len(), 0);
}

#[test]
fn blanks_may_part_levels_of_load() {
    let named = import(
        "```\nthreads    16    32    64\n-------  ----  ----  ----\nTPS       100   190   300\navg (ms)  9.5   8.2   7.1\n```\n",
    );
    assert_eq!(sessions(&named), [16, 32, 64]);
    assert_eq!(
        figures(&named, "rate"),
        [(100.0, 4), (190.0, 4), (300.0, 4)]
    );
    assert_eq!(figures(&named, "mean_ms"), [(9.5, 5), (8.2, 5), (7.1, 5)]);
    assert_eq!(left(&named), [0; 0]);
    let frame = import("        16     32\nTPS  100.0  190.0\np95    9.0    8.0\n");
    assert_eq!(variants(&frame), [Some("16"), Some("32")]);
    assert_eq!(figures(&frame, "p95_ms"), [(9.0, 3), (8.0, 3)]);
    let none = import("threads 16 32 64\nwere tried\n");
    assert_eq!(none.runs.len(), 0);
}

#[test]
fn columns_may_be_products_whatever_the_first_one_is_called() {
    let products = import(
        "| 数据库 | MySQL 8.0 | PG 17 |\n|---|---|---|\n| TPS | 100 | 190 |\n| P95 (ms) | 9 | 8 |\n| 连接池 | 5 | 6 |\n",
    );
    assert_eq!(variants(&products), [Some("MySQL 8.0"), Some("PG 17")]);
    assert_eq!(figures(&products, "rate"), [(100.0, 3), (190.0, 3)]);
    assert_eq!(figures(&products, "p95_ms"), [(9.0, 4), (8.0, 4)]);
    // A row that is no figure is told.
    assert_eq!(left(&products), [5, 5]);
    let csv = import("metric,MySQL,PG\nTPS,100,190\n");
    assert_eq!(variants(&csv), [Some("MySQL"), Some("PG")]);
    // Settings are none, whatever they are called.
    let settings = import("| 参数 | A | B |\n|---|---|---|\n| TPS | 100 | 200 |\n");
    assert_eq!(settings.runs.len(), 0, "{:?}", settings.runs);
    assert!(settings.leftovers.lines > 0);
    let tests = import("| 用例 | A | B |\n|---|---|---|\n| 延迟 | 5 | 6 |\n");
    assert_eq!(tests.runs.len(), 0, "{:?}", tests.runs);
}

#[test]
fn bare_numbers_are_sessions_where_the_caption_says_so() {
    let table = |caption: &str, names: &str| {
        import(&format!(
            "{caption}\n\n| 指标 | {names} |\n|---|---|---|\n| TPS | 100 | 190 |\n"
        ))
    };
    let levels = table("### 3.2 不同并发线程数", "16 | 64");
    assert_eq!(sessions(&levels), [16, 64]);
    let versions = table("### MySQL", "8.0 | 8.4");
    assert_eq!(sessions(&versions), [0, 0]);
    assert_eq!(variants(&versions), [Some("8.0"), Some("8.4")]);
}

#[test]
fn a_column_of_changes_is_no_run() {
    let changed = import(
        "| 指标 | v1 | v2 | 提升 |\n|---|---|---|---|\n| TPS | 100 | 110 | 10 |\n| P95 (ms) | 9 | 8 | 11 |\n",
    );
    assert_eq!(variants(&changed), [Some("v1"), Some("v2")]);
    assert_eq!(figures(&changed, "rate"), [(100.0, 3), (110.0, 3)]);
    for columns in [
        "Original | Improved",
        "基准版本 | 对比版本",
        "Before change | After change",
    ] {
        let text = format!(
            "| Metric | {columns} |\n|---|---|---|\n| TPS | 100 | 110 |\n| P95 (ms) | 9 | 8 |\n"
        );
        let states = figures(&import(&text), "rate");
        assert_eq!(states, [(100.0, 3), (110.0, 3)], "{columns}");
    }
    let kept = changed.runs[0].options.get("TPS (提升)");
    assert_eq!(kept.map(|o| o.value.as_str()), Some("10"));
}
