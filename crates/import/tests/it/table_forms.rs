//! Forms that tables of documents have: in HTML, with captions, of workloads and of clients; what is none
//! is told.

use super::documents::import;
use super::reading::{explained, figure, not_understood, one, option};
use tidemark_core::record::{RateUnit, RunRecord};
use tidemark_import::Became;

#[test]
fn a_table_that_is_not_understood_is_told() {
    let text = "\
# Notes

| Instance | vCPU | Price |
|---|---|---|
| a | 4 | $350 |

| Who | What |
|---|---|
| Ann | tables |

| threads | tps |
|---|---|
| 8 | 100 |
";
    let (import, told) = explained(text);
    assert_eq!(not_understood(&told), [3, 4, 5]);
    let lines: Vec<u64> = told.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, (1..=13).collect::<Vec<u64>>());
    assert_eq!(import.leftovers.lines, 3);
    assert_eq!(told[6].1, Became::Remark);
    assert_eq!(told[10].1, Became::Table);
    // The run nearest to them keeps them for its report.
    let left = &import.runs[0].imported.as_ref().unwrap().not_understood;
    assert_eq!((left[0].first, left[0].last), (3, 5));
}

#[test]
fn what_may_be_a_table_is_told_before_what_is_none() {
    for behind in ["[1, 2", "[{\"a\": 1}]", "8,1", "threads: 8", "some words"] {
        let text = format!("# result\n| threads | TPS | latency (ms) x\n{behind}\n");
        let (_, told) = explained(&text);
        let lines: Vec<u64> = told.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3], "{behind}: {told:?}");
    }
}

#[test]
fn captions_name_the_figure_or_its_unit() {
    let runs = import("# R\n\noltp_update_index, TPS\n\n| Threads | v6.5 | v7.1 |\n|---|---|---|\n| 50 | 8,120 | 9,744 |\n").runs;
    let rates: Vec<_> = runs.iter().map(|r| figure(r, "rate")).collect();
    assert_eq!(rates, [Some(8120.0), Some(9744.0)]);
    let run = one(
        "（延迟单位：us）\n\n| 线程 | TPS | 平均 | P95 (ms) |\n|---|---|---|---|\n| 8 | 100 | 800 | 2 |\n",
    );
    assert_eq!(
        (figure(&run, "mean_ms"), figure(&run, "p95_ms")),
        (Some(0.8), Some(2.0))
    );
    for (caption, mean) in [
        ("（延迟单位：秒）", 1200.0),
        ("Unit of latency: s", 1200.0),
        ("单位：TPS 次/秒，延迟 毫秒", 1.2),
        ("（单位：次/秒）", 1.2),
    ] {
        let run = one(&format!(
            "{caption}\n\n| 线程 | TPS | 平均延迟 |\n|---|---|---|\n| 8 | 100 | 1.2 |\n"
        ));
        assert_eq!(figure(&run, "mean_ms"), Some(mean), "{caption}");
    }
}

#[test]
fn rows_may_be_workloads_and_columns_sessions() {
    let import = import(
        "\
### sysbench 结果（单位：QPS）

|  | 8线程 | 16线程 |
|---|---|---|
| point_select | 12000 | 23000 |
| read_only | ~8000 | **15500** |
| write_only | `5000` | <9500 |
",
    );
    let of = |run: &RunRecord| {
        (
            run.workload.clone(),
            run.sessions,
            figure(run, "statement_rate").unwrap(),
        )
    };
    let all: Vec<_> = import.runs.iter().map(of).collect();
    assert_eq!(
        all,
        [
            ("point_select".into(), 8, 12_000.0),
            ("point_select".into(), 16, 23_000.0),
            ("read_only".into(), 8, 8000.0),
            ("read_only".into(), 16, 15_500.0),
            ("write_only".into(), 8, 5000.0),
        ]
    );
    assert_eq!(
        import.leftovers.ranges,
        [(7, 7, "write_only: <9500".into())]
    );
}

#[test]
fn tables_in_html_are_read_or_told() {
    let text = "\
# R
<table>
<tr><th>Threads</th><th>TPS</th><th>p95&nbsp;(ms)</th></tr>
<tr>
  <td>8</td><td><b>1,000</b></td>
  <td>12</td>
</tr>
</table>

<table><tr><td>vCPU</td><td>8</td></tr></table>
";
    let (import, told) = explained(text);
    assert_eq!(import.runs.len(), 1);
    let run = &import.runs[0];
    assert_eq!(
        (run.sessions, figure(run, "rate"), figure(run, "p95_ms")),
        (8, Some(1000.0), Some(12.0))
    );
    assert_eq!(run.imported.as_ref().unwrap().first_line, 7);
    assert_eq!(not_understood(&told), [10]);
    assert_eq!(told.len(), 10);
}

#[test]
fn bold_headings_and_cells_are_read() {
    let runs = import("| **Threads** | **TPS** | Latency avg |\n|:-:|:-:|:-:|\n| **1** | `820` | 1.219 ms |\n| **8** | **6150** | 1300 us |\n| 16 | ~11200 | _1.4_ |\n").runs;
    let rates: Vec<_> = runs
        .iter()
        .map(|r| (r.sessions, figure(r, "rate"), figure(r, "mean_ms")))
        .collect();
    assert_eq!(
        rates,
        [
            (1, Some(820.0), Some(1.219)),
            (8, Some(6150.0), Some(1.3)),
            (16, Some(11_200.0), Some(1.4)),
        ]
    );
}

#[test]
fn rows_may_be_clients_of_one_test() {
    let runs = import("| Client | Threads | TPS |\n|---|---|---|\n| client 1 | 64 | 10 |\n| client 2 | 64 | 11 |\n| Total | 128 | 21 |\n").runs;
    let of = |run: &RunRecord| {
        let imported = run.imported.as_ref().unwrap();
        (
            imported.client.clone(),
            imported.test.is_some(),
            run.sessions,
        )
    };
    let all: Vec<_> = runs.iter().map(of).collect();
    assert_eq!(
        all,
        [
            (Some("1".into()), true, 64),
            (Some("2".into()), true, 64),
            (None, false, 128)
        ]
    );
}

#[test]
fn columns_may_be_versions_of_figures_in_rows() {
    let runs = import("| 指标 | MySQL 8.0 | MySQL 8.4 |\n|--|--|--|\n| NOPM | 120345 | 131002 |\n| TPM | 276801 | 301455 |\n| p99 (ms) | 12 | 11 |\n").runs;
    let of = |run: &RunRecord| (option(run, "variant").map(String::from), run.stated_rate());
    let all: Vec<_> = runs.iter().map(of).collect();
    assert_eq!(
        all,
        [
            (Some("MySQL 8.0".into()), Some(120_345.0)),
            (Some("MySQL 8.4".into()), Some(131_002.0))
        ]
    );
    // HammerDB's transactions a minute are the server's own count.
    assert_eq!(runs[0].rate_unit(), RateUnit::NewOrders);
}

#[test]
fn names_of_columns_that_begin_with_a_number_are_names() {
    let runs = import("# 读写混合（TPS）\n\n| 并发数/实例规格 | 4C8G | 8C16G |\n| ---- | ---- | ---- |\n| 16 | 812 | 1,320 |\n").runs;
    let of = |run: &RunRecord| (run.sessions, option(run, "variant").map(String::from));
    let all: Vec<_> = runs.iter().map(of).collect();
    assert_eq!(all, [(16, Some("4c8g".into())), (16, Some("8c16g".into()))]);
}
