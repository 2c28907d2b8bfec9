//! Whole documents: several outputs and tables, remarks between them, commands before them.

use tidemark_core::record::{RunRecord, RunState};
use tidemark_import::{Became, Import, Origin, read};

pub(super) fn import(text: &str) -> Import {
    read(text.as_bytes(), &Origin::of("doc.md"), &mut |_, _, _| {}).unwrap()
}

pub(super) fn one(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:#?}", import.runs);
    import.runs.remove(0)
}

/// Value and line of a figure.
pub(super) fn figure(run: &RunRecord, of: &str, name: &str) -> (f64, u64) {
    let figure = run.imported.as_ref().unwrap().figure_of(of, name);
    let figure = figure.unwrap_or_else(|| panic!("no {of} {name}: {run:#?}"));
    (figure.value, figure.line)
}

pub(super) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

pub(super) const SYSBENCH_1: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Report intermediate results every 1 second(s)
Initializing random number generator from current time


Initializing worker threads...

Threads started!

[ 1s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            2800
        write:                           800
        other:                           400
        total:                           4000
    transactions:                        200    (100.00 per sec.)
    queries:                             4000   (2000.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0000s
    total number of events:              200

Latency (ms):
         min:                                   20.10
         avg:                                   39.99
         max:                                   70.25
         95th percentile:                       45.79
         sum:                                 7998.00

Threads fairness:
    events (avg/stddev):           50.0000/0.50
    execution time (avg/stddev):   1.9995/0.00

";

#[test]
fn brackets_of_translated_outputs_are_wide() {
    let run = one(&SYSBENCH_1.replace("(100.00 per sec.)", "（100.00次/秒）  # 每秒事务数"));
    assert_eq!(figure(&run, "", "rate"), (100.0, 21));
}

#[test]
fn several_runs_take_options_from_the_commands_before_them() {
    let block = SYSBENCH_1.split("SQL statistics").nth(1).unwrap();
    let text = format!(
        "# 测试\n```\nthreads=32\ntime=2\n```\n\n### 点查\n命令：\n```\nsysbench --threads=8 --config-file=config oltp_point_select --tables=16 \\\n  --table-size=500000 run\n```\n输出：\n```\nSQL statistics:     [0/1387]{block}```\n\n### 更新\n```\n$ sysbench --threads=64 --config-file=config oltp_update_index run\nSQL statistics{block}```\n"
    );
    let import = import(&text);
    let of = |at: usize| (&*import.runs[at].workload, import.runs[at].sessions);
    assert_eq!(import.runs.len(), 2);
    assert_eq!(
        (of(0), of(1)),
        (("oltp_point_select", 8), ("oltp_update_index", 64))
    );
    let first = &import.runs[0];
    assert_eq!(first.options["table-size"].value, "500000");
    assert_eq!(first.options["time"].value, "2");
    assert_eq!(first.imported.as_ref().unwrap().heading, "点查");
    assert_eq!(first.imported.as_ref().unwrap().option_lines["threads"], 10);
    assert!(import.missing.is_empty());
}

#[test]
fn remarks_between_lines_are_listed_and_spoil_nothing() {
    let text = SYSBENCH_1
        .replace(
            "    queries performed:",
            "-- 执行的语句数\n    queries performed:   // statements",
        )
        .replace(
            "General statistics:",
            "（以下为总体统计）\nGeneral statistics:",
        );
    let import = import(&text);
    assert_eq!(import.runs.len(), 1);
    assert_eq!(import.runs[0].totals.statements.read, 2800);
    let lines: Vec<u64> = import
        .leftovers
        .ranges
        .iter()
        .map(|(first, ..)| *first)
        .collect();
    assert_eq!((lines, import.leftovers.lines), (vec![16, 27], 2));
}

#[test]
fn every_line_says_what_it_became() {
    let mut all = Vec::new();
    let text = "# Test\nsysbench oltp_read_only --threads=4 run\nSQL statistics:\n    transactions: 5 (1.00 per sec.)\nodd words\n    total time: 5.0s\n";
    read(text.as_bytes(), &Origin::of("a"), &mut |line, _, became| {
        all.push((line, became))
    })
    .unwrap();
    use Became::*;
    assert_eq!(
        all,
        [
            (1, Heading),
            (2, Command("sysbench")),
            (3, Output("sysbench")),
            (4, Output("sysbench")),
            (5, NotUnderstood),
            (6, Output("sysbench"))
        ]
    );
}

#[test]
fn tables_are_read_whatever_their_headings_language_and_order() {
    let import = import(
        "\
### oltp_read_write

| 95% latency (ms) | 并发数 | TPS | QPS | 平均延迟（ms） | 备注 |
| ---: | --- | --- | --- | --- | --- |
| 45.79 | 16 | 1,234.5 | 24,690 | 12.95 | |
| 60.5 | **32** | 1.5k | 3万 | 21.3 ms | 重启过 |
| - | 64 | 失败 | N/A | | |

说明文字
",
    );
    assert_eq!(import.runs.len(), 2);
    let [a, b] = &import.runs[..] else { panic!() };
    assert_eq!(
        (a.sessions, figure(a, "", "rate"), figure(a, "", "p95_ms").0),
        (16, (1234.5, 5), 45.79)
    );
    assert_eq!(
        (
            b.sessions,
            figure(b, "", "rate").0,
            figure(b, "", "statement_rate").0
        ),
        (32, 1500.0, 30_000.0)
    );
    assert_eq!(b.options["备注"].value, "重启过");
    assert_eq!(a.workload, "oltp_read_write");
}

#[test]
fn cells_of_several_clients_are_added_and_kept() {
    let import = import(
        "warehouses,terminals,tpmC,efficiency,p99 (ms)\n4000,40000,10000 + 20000 + 20500 = 50500,98.2%,100 + 120 + 110\n",
    );
    let run = &import.runs[0];
    assert_eq!(
        (figure(run, "", "tpmc").0, figure(run, "client 2", "tpmc").0),
        (50_500.0, 20_000.0)
    );
    assert_eq!(figure(run, "client 3", "p99_ms").0, 110.0);
    assert_eq!(figure(run, "", "efficiency").0, 98.2);
    assert_eq!(run.imported.as_ref().unwrap().figure("p99_ms"), None);
}

#[test]
fn a_table_may_lie_on_its_side() {
    let import = import(
        "| Threads | 8 | 16 |\n|---|---|---|\n| TPS | 100.5 | 190 |\n| avg (ms) | 79.5 | 84 |\n",
    );
    let got: Vec<_> = import
        .runs
        .iter()
        .map(|r| (r.sessions, figure(r, "", "rate").0))
        .collect();
    assert_eq!(got, [(8, 100.5), (16, 190.0)]);
}

#[test]
fn clients_of_one_test_are_told_apart() {
    let block = SYSBENCH_1.split("SQL statistics").nth(1).unwrap();
    let text =
        format!("## 128 threads\nClient 1:\nSQL statistics{block}Client 2:\nSQL statistics{block}");
    let import = import(&text);
    let of = |r: &RunRecord| r.imported.as_ref().unwrap().client.clone();
    assert_eq!(
        import.runs.iter().map(of).collect::<Vec<_>>(),
        [Some("1".into()), Some("2".into())]
    );
    assert_ne!(import.runs[0].id, import.runs[1].id);
}

#[test]
fn what_failed_and_what_is_missing_is_told() {
    let import = import(
        "\
sysbench oltp_read_only --threads=8 run
FATAL: mysql_drv_query() returned error 2013 (Lost connection)
./bin/go-ycsb run mysql -P workloads/workloadb -p recordcount=1000
",
    );
    assert!(matches!(&import.runs[0].state, RunState::Failed(why) if why.contains("2013")));
    assert_eq!(import.missing.len(), 1);
    assert_eq!(import.missing[0].0, 3);
}

#[test]
fn the_same_document_makes_the_same_ids() {
    let (a, b) = (import(SYSBENCH_1), import(SYSBENCH_1));
    assert_eq!(a.runs[0].id, b.runs[0].id);
    let other = import(&SYSBENCH_1.replace("39.99", "39.98"));
    assert_ne!(a.runs[0].id, other.runs[0].id);
    assert_eq!(a.runs[0].id.len(), 36);
}
