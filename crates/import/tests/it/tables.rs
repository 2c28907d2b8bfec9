//! Tables of results: every cell is surely understood, or told with its line.

use super::documents::import;
use tidemark_core::record::RunRecord;
use tidemark_import::{Became, Import, Origin, read};

/// A figure of the whole run.
pub(super) fn figure(run: &RunRecord, name: &str) -> Option<f64> {
    run.imported.as_ref().unwrap().figure(name).map(|f| f.value)
}

pub(super) fn figures(import: &Import, name: &str) -> Vec<Option<f64>> {
    import.runs.iter().map(|run| figure(run, name)).collect()
}

/// Line and text of everything that was not understood.
pub(super) fn left(import: &Import) -> Vec<(u64, &str)> {
    let ranges = import.leftovers.ranges.iter();
    ranges
        .map(|(line, _, text)| (*line, text.as_str()))
        .collect()
}

pub(super) fn sessions(import: &Import) -> Vec<usize> {
    import.runs.iter().map(|run| run.sessions).collect()
}

#[test]
fn a_cell_is_read_as_a_whole_or_told() {
    let import = import(
        "\
| threads | TPS | vs. baseline | p95 (ms) |
|---|---|---|---|
| 16 | 1000 (+10%) | +10% | 20 (-5%) |
| 32 | 1500 ↑ 50% | 50% | <50 |
| 64 | 1,600/1,700/1,650 | | 41 |
| 128 | 1600~1700 | | 80-90 |
| 3.5 | 5 | | 1 |
| 99999999999999999999 | 5 | | 1 |
| -8 | -100 | | -5 |
",
    );
    assert_eq!(
        figures(&import, "rate"),
        [Some(1000.0), Some(1500.0), None, Some(5.0), Some(5.0)]
    );
    assert_eq!(sessions(&import), [16, 32, 64, 0, 0]);
    assert_eq!(
        left(&import),
        [
            (4, "p95 (ms): <50"),
            (5, "TPS: 1,600/1,700/1,650"),
            (6, "TPS: 1600~1700"),
            (6, "p95 (ms): 80-90"),
            (7, "threads: 3.5"),
            (8, "threads: 99999999999999999999"),
            (9, "threads: -8"),
            (9, "TPS: -100"),
            (9, "p95 (ms): -5"),
        ]
    );
    assert_eq!(import.leftovers.lines, 6);
}

#[test]
fn numbers_are_read_in_the_notation_of_their_table() {
    let blanks = import("| threads | tps |\n|---|---|\n| 8 | 1 800 |\n| 16 | １０，０００ |\n");
    assert_eq!(figures(&blanks, "rate"), [Some(1800.0), Some(10_000.0)]);
    let german = import(
        "| Threads | TPS | avg (ms) |\n|---|---|---|\n| 8 | 1.234,5 | 6,48 |\n| 16 | 2.100 | 7,62 |\n",
    );
    assert_eq!(figures(&german, "rate"), [Some(1234.5), Some(2100.0)]);
    assert_eq!(figures(&german, "mean_ms"), [Some(6.48), Some(7.62)]);
    let csv = import("场景;并发;TPS;平均耗时(ms)\n只读;16;1000,5;15,9\n读写;16;500,2;31,9\n");
    assert_eq!(figures(&csv, "rate"), [Some(1000.5), Some(500.2)]);
    assert_eq!(figures(&csv, "mean_ms"), [Some(15.9), Some(31.9)]);
    // What was read before the table showed its notation is given up.
    let late = import("| threads | tps |\n|---|---|\n| 8 | 1,234 |\n| 16 | 6,48 |\n");
    assert_eq!(figures(&late, "rate"), [Some(6.48)]);
    assert_eq!(left(&late), [(3, "tps: 1,234")]);
    let unsure = import("threads;tps;avg\n8;1,234;5\n");
    assert_eq!(left(&unsure), [(2, "tps: 1,234")]);
    // An unquoted comma of thousands moves every cell behind it.
    let moved = import("threads,tps,avg\n8,1,234,5\n16,900,5\n");
    assert_eq!(figures(&moved, "rate"), [Some(900.0)]);
    assert_eq!(left(&moved), [(2, "8,1,234,5")]);
}

#[test]
fn units_stand_in_headings_or_cells() {
    let import = import(
        "\
| Threads | TPS | Latency (s) avg | p99 [ms] | Duration |
|---|---|---|---|---|
| 16 | ~1,000 | 0.016 | 60* | 5 min |
| 32 | 1500 (±20) | 0.0213 | `90` | 00:05:00 |
| 48 | 2万/秒 | 800微秒 | 0.02秒 | 10分钟 |
",
    );
    assert_eq!(
        figures(&import, "elapsed_s"),
        [Some(300.0), Some(300.0), Some(600.0)]
    );
    assert_eq!(
        figures(&import, "mean_ms"),
        [Some(16.0), Some(21.3), Some(0.8)]
    );
    assert_eq!(
        figures(&import, "p99_ms"),
        [Some(60.0), Some(90.0), Some(20.0)]
    );
    assert_eq!(left(&import), []);
}

#[test]
fn headings_name_sessions_or_two_figures() {
    let turned = import(
        "| metric | 8 threads | 16 threads |\n|---|---|---|\n| TPS | 1000 | 1800 |\n| p95 (ms) | 12 | 14-15 |\n",
    );
    assert_eq!(sessions(&turned), [8, 16]);
    assert_eq!(figures(&turned, "rate"), [Some(1000.0), Some(1800.0)]);
    assert_eq!(figures(&turned, "p95_ms"), [Some(12.0), None]);
    assert_eq!(left(&turned), [(4, "p95 (ms): 14-15")]);
    let two = import(
        "| 并发 | TPS/QPS | 平均/P95 (ms) |\n|---|---|---|\n| 16 | 1000/20000 | 16/20 |\n| 32 | 1500 | 21/- |\n",
    );
    let of = |name: &str| figure(&two.runs[0], name);
    assert_eq!(
        [
            of("rate"),
            of("statement_rate"),
            of("mean_ms"),
            of("p95_ms")
        ],
        [Some(1000.0), Some(20_000.0), Some(16.0), Some(20.0)]
    );
    assert_eq!(left(&two), [(4, "TPS/QPS: 1500")]);
}

#[test]
fn a_percentage_of_successes_tells_that_of_errors() {
    let import = import(
        "| 并发 | TPS | 成功率 |\n|---|---|---|\n| 8 | 1000 | 99.9% |\n| 16 | 900 | 100% |\n\
         | 32 | 800 | 98.75 |\n| 64 | 700 | 0.99 |\n| 128 | 600 | 101% |\n",
    );
    assert_eq!(
        figures(&import, "error_share"),
        [Some(0.1), Some(0.0), Some(1.25), None, None]
    );
    assert_eq!(left(&import), [(6, "成功率: 0.99"), (7, "成功率: 101%")]);
}

#[test]
fn a_percentage_of_errors_is_a_rate() {
    let import = import(
        "| threads | TPS | Errors | error rate |\n|---|---|---|---|\n| 8 | 1000 | 12% | |\n| 16 | 900 | 5 | 0.02 |\n",
    );
    assert_eq!(figures(&import, "error_share"), [Some(12.0), None]);
    assert_eq!(figures(&import, "ignored_errors"), [None, Some(5.0)]);
    assert_eq!(left(&import), [(4, "error rate: 0.02")]);
}

#[test]
fn a_quoted_output_has_nothing_that_is_not_understood() {
    let quoted: String = super::documents::SYSBENCH_1
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect();
    let quoted = quoted.replace("> \n", ">\n");
    let import = import(&quoted);
    assert_eq!(figures(&import, "rate"), [Some(100.0)]);
    assert_eq!(left(&import), []);
}

#[test]
fn what_is_listed_is_what_is_explained() {
    let text = "\
threads,tps,p95,depth,remark
8,1000,12,3,warm
16,800 + -,20,4,cold
32,fast,,5,cold

Running the test with following options:
Number of threads: 4
SQL statistics:
    transactions:                        200    (100.00 per sec.)
General statistics:
    total time:                          2.0000s
something that no tool prints
something else
";
    let mut told = Vec::new();
    let import = read(
        text.as_bytes(),
        &Origin::of("a.txt"),
        &mut |line, _, became| {
            if matches!(became, Became::NotUnderstood | Became::TableInPart) {
                told.push(line);
            }
        },
    )
    .unwrap();
    let ranges = &import.leftovers.ranges;
    let mut listed: Vec<u64> = ranges.iter().flat_map(|(a, b, _)| *a..=*b).collect();
    listed.dedup();
    assert_eq!(listed, told);
    assert_eq!(listed, [2, 3, 4, 12, 13]);
    assert_eq!(left(&import)[..2], [(2, "depth: 3"), (3, "tps: 800 + -")]);
    assert_eq!(import.leftovers.lines, 5);
}

#[test]
fn parts_and_what_disks_can_do_are_no_throughput() {
    let parts = import(
        "| Workload | Read ops/s | Update ops/s |\n|---|---|---|\n| workloada | 17,560 | 17,500 |\n",
    );
    assert_eq!(parts.runs.len(), 0, "{:?}", parts.runs);
    assert_eq!(left(&parts).len(), 2);
    let disks = import(
        "| Instance | vCPU | Price/month | Max IOPS |\n|---|---|---|---|\n| a | 4 | $350 | 12,000 |\n",
    );
    assert_eq!(disks.runs.len(), 0, "{:?}", disks.runs);
    let minutes =
        import("| threads | tpmC | tpmTotal |\n|---|---|---|\n| 64 | 41,200.5 | 91,555 |\n");
    let rate = minutes.runs[0].stated_rate().unwrap();
    assert_eq!(rate.round(), 1526.0);
}

#[test]
fn a_second_heading_below_rows_has_its_own_order() {
    let import = import("threads,tps,p95\n8,100,12\nthreads,p95,tps\n16,14,190\n");
    assert_eq!(figures(&import, "rate"), [Some(100.0), Some(190.0)]);
    assert_eq!(figures(&import, "p95_ms"), [Some(12.0), Some(14.0)]);
    assert_eq!(left(&import), []);
}

#[test]
fn units_may_stand_in_a_row_of_their_own() {
    let import = import(
        "| 线程 | TPS | 平均延迟 | P95 |\n|---|---|---|---|\n| 个 | 万/s | us | (us) |\n| 8 | 1.2 | 800 | 1500 |\n",
    );
    assert_eq!(figures(&import, "rate"), [Some(12_000.0)]);
    assert_eq!(figures(&import, "mean_ms"), [Some(0.8)]);
    assert_eq!(figures(&import, "p95_ms"), [Some(1.5)]);
    assert_eq!(left(&import), []);
}

#[test]
fn a_rate_of_a_minute_is_one_of_a_second() {
    let import = import("threads,Throughput (tx/min),KQPS,TPM\n8,60000,20,70000\n");
    assert_eq!(figures(&import, "rate"), [Some(1000.0)]);
    assert_eq!(figures(&import, "statement_rate"), [Some(20_000.0)]);
    assert_eq!(figures(&import, "tpm"), [Some(70_000.0)]);
}

#[test]
fn the_least_and_the_most_of_a_rate_are_no_latencies() {
    let text = "oltp_read_only TPS of five runs\n\n| Threads | Min | Avg | Max |\n|---|---|---|---|\n| 8 | 90 | 100 | 110 |\n";
    let import = import(text);
    assert_eq!(figures(&import, "rate"), [Some(100.0)]);
    for name in ["mean_ms", "max_ms", "min_ms"] {
        assert_eq!(figures(&import, name), [None], "{name}");
    }
    assert_eq!(import.runs[0].options["Max"].value, "110");
}

#[test]
fn a_share_of_errors_is_no_count_and_a_clock_no_duration() {
    let import = import("Time,threads,TPS,Error (%)\n10:15:00,8,100,0.5\n");
    assert_eq!(figures(&import, "error_share"), [Some(0.5)]);
    assert_eq!(figures(&import, "ignored_errors"), [None]);
    assert_eq!(figures(&import, "elapsed_s"), [None]);
    assert_eq!(import.runs[0].options["Time"].value, "10:15:00");
}

#[test]
fn a_heading_of_csv_may_stand_behind_a_sign() {
    let import = import("# threads,tps,p95\n8,100,12\n16,190,14\n");
    assert_eq!(figures(&import, "rate"), [Some(100.0), Some(190.0)]);
    // A heading of Markdown is one.
    let import = super::documents::import(
        "# threads, tps and p95\n\n| threads | tps |\n|---|---|\n| 8 | 100 |\n",
    );
    let heading = &import.runs[0].imported.as_ref().unwrap().heading;
    assert_eq!(heading, "threads, tps and p95");
}

#[test]
fn a_column_may_state_the_units_of_its_rows() {
    let one = import(
        "\
| 指标 | 实测 | 单位 | 备注 |
|---|---|---|---|
| 平均延迟 | 800 | µs | 五次之均 |
| P99 | 0.02 + 0.03 | s | |
| TPS | 12.3 | 千/秒 | 峰值 |
| 吞吐量 | 12 | 页/秒 | |
",
    );
    assert_eq!(figures(&one, "mean_ms"), [Some(0.8)]);
    assert_eq!(figures(&one, "rate"), [Some(12_300.0)]);
    let p99 = |of: &str| {
        let imported = one.runs[0].imported.as_ref().unwrap();
        imported.figure_of(of, "p99_ms").map(|f| f.value)
    };
    assert_eq!((p99("client 1"), p99("client 2")), (Some(20.0), Some(30.0)));
    assert_eq!(left(&one), [(6, "吞吐量: 12 页/秒")]);
    let two = import("| metric | v1 | v2 | unit |\n|---|---|---|---|\n| p95 | 900 | 1100 | us |\n");
    assert_eq!(figures(&two, "p95_ms"), [Some(0.9), Some(1.1)]);
}

#[test]
fn a_heading_may_name_its_figures_in_brackets() {
    let import = import(
        "\
| Database | Table size | Sysbench threads | TPS | QPS | Latency(avg / .95) |
|---|---|---|---|---|---|
| TiDB | 10 million | 256 * 4 | 3811 | 76233 | 269.46 ms / 505.20 ms |
| MySQL | 1 million | 64 | 2392 | 47845 | 26.75 / 73.13 |
",
    );
    assert_eq!(figures(&import, "mean_ms"), [Some(269.46), Some(26.75)]);
    assert_eq!(figures(&import, "p95_ms"), [Some(505.2), Some(73.13)]);
    assert_eq!(sessions(&import), [1024, 64]);
    assert_eq!(left(&import), []);
}

#[test]
fn statistics_are_of_the_figure_that_their_row_names() {
    let import = import(
        "\
| Metric | Min | Avg | Max |
|---|---|---|---|
| TPS | 90 | 100 | 110 |
| Latency (us) | 900 | 1200 | 5000 |
| p95 | 1 | 2 | 3 |
",
    );
    assert_eq!(figures(&import, "rate"), [Some(100.0), None]);
    assert_eq!(figures(&import, "mean_ms"), [None, Some(1.2)]);
    assert_eq!(figures(&import, "max_ms"), [None, Some(5.0)]);
    let told: Vec<u64> = left(&import).iter().map(|(line, _)| *line).collect();
    assert_eq!(told, [3, 3, 5, 5, 5]);
    let repeats = super::documents::import(
        "| run | 1 | 2 | avg |\n|---|---|---|---|\n| TPS | 99 | 101 | 100 |\n",
    );
    assert_eq!(figures(&repeats, "rate"), [Some(100.0)]);
    assert_eq!(figures(&repeats, "mean_ms"), [None]);
}

#[test]
fn a_bare_time_in_milliseconds_is_of_no_run() {
    let import = import(
        "| Workload | Threads | Time (ms) | TPS |\n|---|---|---|---|\n| rw | 8 | 8.1 | 987 |\n",
    );
    assert_eq!(figures(&import, "elapsed_s"), [None]);
    assert_eq!(left(&import), [(3, "Time (ms): 8.1")]);
}

#[test]
fn statistics_in_rows_are_of_the_rate_above_the_table() {
    let import = import(
        "### oltp_read_only TPS\n\n| | 8 threads | 16 threads |\n|---|---|---|\n| avg | 100 | 190 |\n| max | 120 | 210 |\n",
    );
    assert_eq!(figures(&import, "rate"), [Some(100.0), Some(190.0)]);
    assert_eq!(figures(&import, "mean_ms"), [None, None]);
    assert_eq!(figures(&import, "max_ms"), [None, None]);
}
