//! Which of several runs, clients or moments the columns and rows of a table are of.

use super::documents::import;
use super::tables::{figure, figures, left, sessions};
use tidemark_core::record::RunRecord;

#[test]
fn columns_of_one_figure_are_of_several_runs_or_clients() {
    let before = import(
        "| threads | tps (before) | tps (after) | p95 before | p95 after |\n|---|---|---|---|---|\n| 16 | 1000 | 1200 | 20 ms | 15 ms |\n",
    );
    let of = |run: &RunRecord| {
        (
            run.options["variant"].value.clone(),
            figure(run, "rate"),
            figure(run, "p95_ms"),
        )
    };
    let got: Vec<_> = before.runs.iter().map(of).collect();
    assert_eq!(
        got,
        [
            ("before".into(), Some(1000.0), Some(20.0)),
            ("after".into(), Some(1200.0), Some(15.0))
        ]
    );
    assert_eq!(sessions(&before), [16, 16]);
    let clients = import("threads,client1 tps,client2 tps\n64,12000,11800\n32,700,-\n");
    assert_eq!(figures(&clients, "rate"), [Some(23_800.0), None]);
    let peak = import("threads,tps,max tps\n64,12000,15000\n");
    assert_eq!(figures(&peak, "rate"), [Some(12_000.0)]);
    assert_eq!(left(&peak), [(2, "max tps: 15000")]);
}

#[test]
fn merged_cells_have_the_value_above() {
    let import = import(
        "\
| workload | threads | tps |
|---|---|---|
| read_only | 8 | 1000 |
| | 16 | 1800 |
| read_write | 8 | 400 |
",
    );
    let names: Vec<&str> = import.runs.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!(names, ["read_only", "read_only", "read_write"]);
}

#[test]
fn headings_below_groups_of_columns_are_the_headings() {
    let import = import(
        "|  | | 延迟 | |\n|---|---|---|---|\n| 线程数 | TPS | 平均(ms) | 95%(ms) |\n| 16 | 1000 | 16 | 20 |\n",
    );
    assert_eq!(figures(&import, "p95_ms"), [Some(20.0)]);
    assert_eq!(sessions(&import), [16]);
}

#[test]
fn columns_of_two_versions_are_runs_and_their_change_is_kept() {
    let import = import(
        "\
### Point Select

| Threads | v6.0.0 TPS | v6.1.0 TPS | v6.0.0 95% latency (ms) | v6.1.0 95% latency (ms) | TPS improvement (%) |
|:--|:--|:--|:--|:--|:--|
| 300 | 268934.84 | 265353.15 | 1.89 | 1.96 | -1.33 |
| 600 | 365217.96 | 358976.94 | 2.57 | 2.66 | 1.71 |
",
    );
    assert_eq!(left(&import), []);
    assert_eq!(sessions(&import), [300, 300, 600, 600]);
    let of = |at: usize| {
        let run = &import.runs[at];
        (&*run.workload, &*run.options["variant"].value)
    };
    assert_eq!(of(0), ("Point Select", "v6.0.0"));
    assert_eq!(of(1), ("Point Select", "v6.1.0"));
    assert_eq!(
        figures(&import, "rate"),
        [268_934.84, 265_353.15, 365_217.96, 358_976.94].map(Some)
    );
    assert_eq!(
        figures(&import, "p95_ms"),
        [1.89, 1.96, 2.57, 2.66].map(Some)
    );
    assert_eq!(
        figures(&import, "rate_change_percent"),
        [None, Some(-1.33), None, Some(1.71)]
    );
    assert_eq!(figures(&import, "rate_base")[1], Some(268_934.84));
}

#[test]
fn the_heading_above_a_table_may_name_its_figure() {
    let import = import(
        "# MySQL 8.0 and 5.7 (tps)\n\n| Threads | MySQL 5.7 | MySQL 8.0 | Change |\n|---|---|---|---|\n| 16 | 5,000 | 5,500 | +10% |\n",
    );
    assert_eq!(left(&import), []);
    assert_eq!(figures(&import, "rate"), [Some(5000.0), Some(5500.0)]);
    assert_eq!(figures(&import, "rate_change_percent"), [None, Some(10.0)]);
    // Of two figures it can't be told which it is.
    let two = super::documents::import(
        "# TPS and latency\n\n| Threads | MySQL 5.7 | MySQL 8.0 |\n|---|---|---|\n| 16 | 5,000 | 5,500 |\n",
    );
    assert_eq!(two.runs.len(), 0);
}

#[test]
fn headings_of_groups_stand_above_those_of_columns() {
    let import = import(
        "\
| | client 1 | | client 2 | |
|---|---|---|---|---|
| threads | tps | p95 | tps | p95 |
| 64 | 1000 | 80 | 1010 | 79 |
",
    );
    assert_eq!(left(&import), []);
    assert_eq!(sessions(&import), [64]);
    assert_eq!(figures(&import, "rate"), [Some(2010.0)]);
    let turned = super::documents::import(
        "| 指标 | 16线程 | 32线程 |\n|---|---|---|\n| TPS | 812.3 | 1,320 |\n| 95%响应时间(ms) | 25.3 | 31.9 |\n",
    );
    assert_eq!(sessions(&turned), [16, 32]);
    assert_eq!(figures(&turned, "p95_ms"), [Some(25.3), Some(31.9)]);
}

#[test]
fn clients_of_one_test_below_their_headings_are_one_test() {
    let import = import(
        "\
# point select, 2 clients

## client 1

| threads | tps | avg (ms) |
|---|---|---|
| 64 | 10000 | 6.4 |
| 128 | 11000 | 11.6 |

## client 2

### results

| threads | tps | avg (ms) |
|---|---|---|
| 64 | 10100 | 6.3 |
| 128 | 11100 | 11.5 |
",
    );
    let of = |at: usize| import.runs[at].imported.as_ref().unwrap();
    let clients: Vec<_> = (0..4).map(|at| of(at).client.as_deref()).collect();
    assert_eq!(clients, [Some("1"), Some("1"), Some("2"), Some("2")]);
    assert_eq!(import.runs[0].workload, "point select, 2 clients");
    // The second client's stand below a heading of their own.
    assert_eq!(of(0).test, None);
    let same = super::documents::import(
        "# test\n## client 1\n| threads | tps |\n|---|---|\n| 64 | 10 |\n## client 2\n| threads | tps |\n|---|---|\n| 64 | 11 |\n",
    );
    let tests: Vec<_> = same
        .runs
        .iter()
        .map(|run| run.imported.as_ref().unwrap().test.clone())
        .collect();
    assert!(tests[0].is_some());
    assert_eq!(tests[0], tests[1]);
}

#[test]
fn each_pair_of_columns_may_have_its_change() {
    let import = import(
        "\
| Threads | v6 QPS | v7 QPS | Change (%) | v6 p95 (ms) | v7 p95 (ms) | Change |
|---|---|---|---|---|---|---|
| 32 | 70000 | 91000 | 30.0 | 4.0 | 3.0 | -25% |
",
    );
    let of = |name: &str| figures(&import, name)[1];
    assert_eq!(of("statement_rate_change_percent"), Some(30.0));
    assert_eq!(of("p95_ms_change_percent"), Some(-25.0));
    assert_eq!(of("p95_ms_base"), Some(4.0));
}

#[test]
fn clients_beside_threads_are_not_told_apart() {
    let heads = "| Clients | Threads | TPS |\n|---|---|---|\n";
    let both = import(&format!("{heads}| 3 | 256 | 30000 |\n"));
    assert_eq!(sessions(&both), [0]);
    assert_eq!(left(&both), [(3, "Clients: 3"), (3, "Threads: 256")]);
    // pgbench's threads are no sessions.
    let of_pgbench = import(&format!("# pgbench\n{heads}| 32 | 4 | 30000 |\n"));
    assert_eq!(sessions(&of_pgbench), [32]);
    assert_eq!(left(&of_pgbench), []);
}

#[test]
fn sums_of_clients_are_named_as_derived() {
    let import =
        import("| threads | TPS |\n|---|---|\n| 64 | 100 + 120 |\n| 64 | 100 + 120 = 220 |\n");
    assert_eq!(figures(&import, "rate"), [Some(220.0), Some(220.0)]);
    let derived: Vec<bool> = import.runs.iter().map(|r| r.is_derived("rate")).collect();
    assert_eq!(derived, [true, false]);
}

#[test]
fn columns_of_a_turned_table_may_be_clients() {
    let import = import(
        "|  | client1 | client2 | Total |\n|---|---|---|---|\n| TPS | 100 | 110 | 210 |\n| p95 (ms) | 12 | 13 | - |\n",
    );
    let clients: Vec<_> = import
        .runs
        .iter()
        .map(|r| r.imported.as_ref().unwrap().client.as_deref())
        .collect();
    assert_eq!(clients, [Some("1"), Some("2"), None]);
    assert_eq!(sessions(&import), [0, 0, 0]);
    assert_eq!(
        figures(&import, "rate"),
        [Some(100.0), Some(110.0), Some(210.0)]
    );
}

#[test]
fn what_was_run_may_stand_in_two_columns() {
    let import = import("场景,操作类型,并发,TPS\nA,读,8,100\nB,读,8,160\n");
    let names: Vec<&str> = import.runs.iter().map(|r| r.workload.as_str()).collect();
    assert_eq!(names, ["A 读", "B 读"]);
}

#[test]
fn rows_may_be_moments_of_one_run() {
    let rows = |from: u64| -> String {
        let row = |n: u64| format!("{},16,{},12.5\n", from + 10 * n, 100 + n);
        (0..6).map(row).collect()
    };
    for (heading, from) in [
        ("time (s)", 10),
        ("elapsed", 0),
        ("timestamp", 1_764_150_000),
    ] {
        let import = import(&format!("{heading},threads,tps,p95\n{}", rows(from)));
        let [run] = import.runs.as_slice() else {
            panic!("{heading}: {}", import.runs.len())
        };
        let ends: Vec<f64> = run
            .imported
            .as_ref()
            .unwrap()
            .intervals
            .iter()
            .map(|i| i.end_s)
            .collect();
        assert_eq!(ends, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0], "{heading}");
        assert_eq!((run.sessions, run.totals.elapsed_s), (16, 60.0));
        assert_eq!(run.totals.all.count, 10 * (600 + 15));
        assert!(run.is_derived("count"));
        assert_eq!(left(&import), []);
    }
    for rows in [
        "Time,tps\n10:00:10,100\n10:00:20,101\n10:00:30,102\n10:00:40,103\n10:00:50,104\n",
        "时间,tps\n2026-01-01 10:00:10,100\n2026-01-01 10:00:20,101\n2026-01-01 10:00:30,102\n2026-01-01 10:00:40,103\n2026-01-01 10:00:50,104\n",
    ] {
        let import = import(rows);
        assert_eq!((import.runs.len(), import.runs[0].intervals.len()), (1, 5));
        assert_eq!(left(&import), []);
    }
    // How long each of several loads was measured is no moment.
    let loads = "time,threads,tps\n60,8,100\n60,16,190\n60,32,300\n60,64,400\n60,128,410\n";
    assert_eq!(import(loads).runs.len(), 5);
    // A moment alone says nothing of a run.
    let stamp = import("timestamp,threads,tps\n1764150000,8,100\n");
    assert_eq!(figures(&stamp, "elapsed_s"), [None]);
}
