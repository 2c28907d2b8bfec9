//! What a document states, in its own units, and nothing that it does not state. We wrote all of these
//! documents.

use super::documents::import;
use tidemark_core::record::{RateUnit, RunRecord, RunState};
use tidemark_import::{Became, Import, Origin, read};

pub(super) fn one(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:#?}", import.runs);
    import.runs.remove(0)
}

pub(super) fn figure(run: &RunRecord, name: &str) -> Option<f64> {
    run.imported.as_ref().unwrap().figure(name).map(|f| f.value)
}

pub(super) fn option<'r>(run: &'r RunRecord, name: &str) -> Option<&'r str> {
    run.options.get(name).map(|o| o.value.as_str())
}

/// Each line, what it became, in order.
pub(super) fn explained(text: &str) -> (Import, Vec<(u64, Became)>) {
    let mut told = Vec::new();
    let origin = Origin::of("a.md");
    let import = read(text.as_bytes(), &origin, &mut |line, _, became| {
        told.push((line, became));
    });
    (import.unwrap(), told)
}

pub(super) fn not_understood(told: &[(u64, Became)]) -> Vec<u64> {
    let of = |(line, became): &(u64, Became)| {
        matches!(became, Became::NotUnderstood | Became::TableInPart).then_some(*line)
    };
    told.iter().filter_map(of).collect()
}

#[test]
fn a_rate_keeps_its_unit_and_no_count_is_made_up() {
    let qps = one("| threads | QPS |\n|---|---|\n| 64 | 25600 |\n");
    assert_eq!(qps.rate_unit(), RateUnit::Statements);
    assert_eq!(qps.stated_rate(), Some(25_600.0));
    let both =
        one("| threads | TPS | QPS | time (s) |\n|---|---|---|---|\n| 64 | 100 | 2000 | 60 |\n");
    assert_eq!(both.rate_unit(), RateUnit::Transactions);
    assert_eq!(both.stated_rate(), Some(100.0));
    let tpmc = one("| threads | tpmC |\n|---|---|\n| 64 | 41,200 |\n");
    assert_eq!(tpmc.rate_unit(), RateUnit::NewOrders);
    assert_eq!(tpmc.stated_rate(), Some(41_200.0));
    let hammer = one(
        "Vuser 1:16 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 42123 NOPM from 97911 MySQL TPM\n",
    );
    assert_eq!(hammer.rate_unit(), RateUnit::NewOrders);
    assert_eq!(hammer.stated_rate(), Some(42_123.0));
    for run in [&qps, &both, &tpmc, &hammer] {
        assert_eq!(run.totals.all.count, 0, "{run:#?}");
        assert!(run.totals.types.is_empty());
        assert!(run.is_derived("started_at"));
        assert_eq!(
            run.is_derived("elapsed_s"),
            figure(run, "elapsed_s").is_none()
        );
    }
}

#[test]
fn the_csv_of_our_own_reports_is_read() {
    let begin = "run_id,started_at,state,reason,workload,target,engine,engine_version,study_id,study,cell,\
        repeat,tags,note,factor_durability,sessions,terminals,rate,elapsed_s,transactions,\
        transactions_per_s,statements_per_s,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,errors,reconnects,tpmC,\
        QphH,client_host,invalid_findings,suspect_findings,notes_findings,usable,price,price_currency,\
        price_per_tpmC,client_cpu_percent,efficiency_percent,NOPM,TPM,clients,clients_missing,\
        errors_per_s,server_host_cpu_percent,server_cpu_cores,disk_writes_per_s,flushes_per_s,\
        network_bytes_per_s,round_trips_per_transaction";
    let row = |id: &str, sessions: u32, tps: f64| {
        format!(
            "{id},2026-11-21T10:00:00Z,finished,,oltp_read_only,mysql://u:***@h/db,mariadb,10.11,,,,,a b,\
             \"one, two\",2,{sessions},,,60.02,48750,{tps},12996.8,9.85,9.1,14.25,20.5,101.5,0,3,,,vm,,,\
             overlap,true,,,,12.5,,,,1,0,0,,,,,,"
        )
    };
    let (one, two) = (
        row("01932b7e-0000-7000-8000-000000000001", 8, 812.25),
        row("01932b7e-0000-7000-8000-000000000002", 16, 1203.5),
    );
    let (import, told) = explained(&format!("{begin}\n{one}\n{two}\n"));
    assert_eq!(not_understood(&told), Vec::<u64>::new());
    let [first, second] = import.runs.as_slice() else {
        panic!("{:#?}", import.runs);
    };
    assert_eq!((first.sessions, second.sessions), (8, 16));
    assert!(first.workload.contains("oltp_read_only"), "{first:#?}");
    for (name, value) in [
        ("rate", Some(812.25)),
        ("statement_rate", Some(12_996.8)),
        ("elapsed_s", Some(60.02)),
        ("count", Some(48_750.0)),
        ("p95_ms", Some(14.25)),
        ("ignored_errors", Some(0.0)),
        ("reconnects", Some(3.0)),
        ("tpmc", None),
    ] {
        assert_eq!(figure(first, name), value, "{name}: {first:#?}");
    }
    assert_eq!(option(first, "factor_durability"), Some("2"));
    assert_eq!(
        (option(first, "run_id"), option(first, "clients")),
        (None, None)
    );
    // The same headings in a table of somebody else mean what they always did.
    let other = explained("state,sessions,tps\nfinished,8,100\n").0;
    assert_eq!(figure(&other.runs[0], "rate"), Some(100.0));
}

#[test]
fn mysqlslap_has_its_queries() {
    let run = one("\
$ mysqlslap -uroot -h10.0.0.5 -P3307 -c8 --number-of-queries=5000 --auto-generate-sql
Benchmark
	Average number of seconds to run all queries: 2.500 seconds
	Number of clients running queries: 8
	Average number of queries per client: 625
");
    assert_eq!(option(&run, "user"), Some("root"));
    assert_eq!(option(&run, "host"), Some("10.0.0.5"));
    assert_eq!(option(&run, "port"), Some("3307"));
    assert!(!run.options.keys().any(|k| k.starts_with("uroot")));
    assert_eq!(run.rate_unit(), RateUnit::Statements);
    assert_eq!((run.totals.all.count, run.totals.elapsed_s), (5000, 2.5));
    assert!(!run.is_derived("count"));
    let run = one(
        "Benchmark\n\tAverage number of seconds to run all queries: 2.0 seconds\n\tNumber of clients running queries: 8\n\tAverage number of queries per client: 100\n",
    );
    assert_eq!(run.totals.all.count, 800);
    assert!(run.is_derived("count"));
}

const SYSBENCH: &str = "\
sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)
Number of threads: 16
Threads started!
[ 10s ] thds: 16 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 14.46 err/s: 0.00 reconn/s: 0.00
# checkpoint here
[ 20s ] thds: 16 tps: 101.00 qps: 2020.00 (r/w/o: 1414.00/404.00/202.00) lat (ms,95%): 14.46 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    transactions:                        2010   (100.50 per sec.)
General statistics:
    total time:                          20.0000s
Threads fairness:
    execution time (avg/stddev):   19.9990/0.00
";

#[test]
fn a_second_output_has_not_the_command_of_the_first() {
    let second = SYSBENCH.replace("16", "32").replace("2010 ", "3010 ");
    let text =
        format!("$ sysbench oltp_read_only --threads=16 --tables=10 run\n{SYSBENCH}{second}");
    let runs = import(&text).runs;
    assert_eq!(runs.len(), 2);
    assert_eq!(option(&runs[0], "tables"), Some("10"));
    assert_eq!(option(&runs[1], "tables"), None);
    assert!(runs[1].command.is_empty());
    assert_eq!(
        (&*runs[0].workload, &*runs[1].workload),
        ("oltp_read_only", "sysbench")
    );
    // A remark between intervals is no heading of anything.
    for run in &runs {
        assert_eq!(run.imported.as_ref().unwrap().heading, "");
        assert_eq!(run.intervals.len(), 2);
    }
    // Behind an output that was cut, it is the heading of the next one.
    let cut: String = SYSBENCH.lines().take(4).map(|l| format!("{l}\n")).collect();
    let runs = import(&format!("{cut}# 64 threads\n{SYSBENCH}")).runs;
    let headings: Vec<_> = runs
        .iter()
        .map(|r| r.imported.as_ref().unwrap().heading.as_str())
        .collect();
    assert_eq!(headings, ["", "64 threads"]);
}

#[test]
fn an_output_without_its_end_is_told() {
    let cut: String = SYSBENCH.lines().take(6).map(|l| format!("{l}\n")).collect();
    let import = import(&cut);
    assert_eq!(import.incomplete, [(1, 6, "sysbench")]);
    assert_eq!(import.runs[0].state, RunState::Interrupted);
    let whole = super::documents::import(SYSBENCH);
    assert_eq!(whole.runs[0].state, RunState::Finished);
    assert!(
        import.runs[0]
            .notes
            .iter()
            .any(|n| n.contains("lines 1 to 6"))
    );
    assert!(super::documents::import(SYSBENCH).incomplete.is_empty());
    // Within its summary.
    let cut: String = SYSBENCH.lines().take(8).map(|l| format!("{l}\n")).collect();
    let import = super::documents::import(&cut);
    assert_eq!(import.incomplete, [(1, 8, "sysbench")]);
    // Whoever quotes a line over time cut nothing off.
    for lines in [10, 11] {
        let cut: String = SYSBENCH
            .lines()
            .take(lines)
            .map(|l| format!("{l}\n"))
            .collect();
        let last = lines as u64;
        let incomplete = |text: &str| super::documents::import(text).incomplete;
        assert_eq!(incomplete(&format!("{cut}\n")), [(1, last, "sysbench")]);
        // Whoever leaves out the rest says so, or quotes a part in a block.
        for quoted in ["...\n", "\nThe rest is like that of the others.\n"] {
            assert!(incomplete(&format!("{cut}{quoted}")).is_empty(), "{quoted}");
        }
        assert!(incomplete(&format!("```\n{cut}```\n")).is_empty());
    }
    let line = SYSBENCH.lines().nth(3).unwrap();
    assert!(super::documents::import(line).incomplete.is_empty());
    // Several of them are an output whose beginning is missing, too.
    let of = |s: u32| line.replacen("[ 10s ]", &format!("[ {s}0s ]"), 1) + "\n";
    let import = super::documents::import(&(1..=4).map(of).collect::<String>());
    assert_eq!(import.runs[0].state, RunState::Interrupted);
    assert_eq!(import.incomplete, [(1, 4, "sysbench")]);
}

#[test]
fn a_line_that_is_cut_off_has_no_figure() {
    // `transactions: 2010` cut within its number.
    let at = SYSBENCH.find("2010   (").unwrap() + 2;
    let cut = import(&SYSBENCH[..at]);
    assert_eq!(figure(&cut.runs[0], "count"), None);
    assert_eq!(cut.leftovers.ranges, [(8, 8, "the line is cut off".into())]);
    // Decimals or figures that a tool always prints are missing.
    let pgbench = "transaction type: <builtin: select only>\nlatency average = 1.500 ms\ntps = 1497.301234 (without initial connection time)";
    for (end, rate) in [(0, Some(1_497.301_234)), (44, None), (41, None)] {
        let run = one(&pgbench[..pgbench.len() - end]);
        assert_eq!(figure(&run, "rate"), rate, "{end}");
    }
    let ycsb = "Run finished, takes 10s\nREAD - Takes(s): 10.0, Count: 50, OPS: 5.0, Avg(us): 800, 99th(us): 3000\nSCAN - Takes(s): 10.0, Count: 50, OPS: 5.0, Avg(us): 8";
    let run = one(ycsb);
    let imported = run.imported.as_ref().unwrap();
    assert!(imported.figure_of("READ", "mean_ms").is_some());
    assert!(imported.figure_of("SCAN", "mean_ms").is_none());
    let late = super::documents::SYSBENCH_1;
    let at = late.find("39.99").unwrap() + 1;
    let run = one(&late[..at]);
    assert_eq!(
        (figure(&run, "min_ms"), figure(&run, "mean_ms")),
        (Some(20.1), None)
    );
    // A whole output needs no end of its last line.
    let whole = one(SYSBENCH.trim_end());
    assert_eq!(figure(&whole, "time_avg_s"), Some(19.999));
}

#[test]
fn the_total_of_go_ycsb_has_its_percentiles() {
    let run = one("\
Run finished, takes 10.0s
READ   - Takes(s): 10.0, Count: 900, OPS: 90.0, Avg(us): 900, Min(us): 1, Max(us): 10000, 95th(us): 1700, 99th(us): 9900
TOTAL  - Takes(s): 10.0, Count: 1000, OPS: 100.0, Avg(us): 1045, Min(us): 1, Max(us): 45111, 95th(us): 2101, 99th(us): 3701
UPDATE - Takes(s): 10.0, Count: 100, OPS: 10.0, Avg(us): 1900, Min(us): 1, Max(us): 45111, 95th(us): 2310, 99th(us): 9900
");
    let all = run.totals.all.quantiles.as_ref().unwrap();
    assert_eq!(all.percentile_ms(99.0), Some(3.701));
    assert_eq!((all.mean_ms, all.max_ms), (Some(1.045), Some(45.111)));
    assert_eq!(run.stated_rate(), Some(100.0));
}

#[test]
fn what_all_clients_have_together_is_of_no_client() {
    let table = |tps: u32| format!("\n| 线程 | TPS |\n|---|---|\n| 64 | {tps} |\n");
    for label in [
        "## 合计",
        "### 两台合计",
        "合计：",
        "Total of both clients:",
    ] {
        let text = format!(
            "# 测试\n## 客户端 1\n{}## 客户端 2\n{}\n{label}\n{}",
            table(10),
            table(11),
            table(21)
        );
        let runs = import(&text).runs;
        let clients: Vec<_> = runs
            .iter()
            .map(|r| r.imported.as_ref().unwrap().client.as_deref())
            .collect();
        assert_eq!(clients, [Some("1"), Some("2"), None], "{label}");
    }
}

#[test]
fn sessions_of_each_client_are_added_up() {
    let run = one(
        "| Threads per client | client 1 TPS | client 2 TPS |\n|---|---|---|\n| 64 | 10 | 11 |\n",
    );
    assert_eq!((run.sessions, run.stated_rate()), (128, Some(21.0)));
    let run = one(
        "| 每客户端线程数 | 客户端1 TPS | 客户端2 TPS | 客户端3 TPS |\n|---|---|---|---|\n| 64 | 10 | 11 | 12 |\n",
    );
    assert_eq!(run.sessions, 192);
    // Of how many clients is not stated.
    let run = one("| Threads per client | TPS |\n|---|---|\n| 64 | 10 |\n");
    assert_eq!(run.sessions, 0);
    assert_eq!(option(&run, "threads-per-client"), Some("64"));
}

#[test]
fn a_log_of_benchbase_may_begin_with_its_phase() {
    let run = one("\
[INFO ] 2026-11-03 12:00:00,010 [main]  ThreadBench - PHASE START :: [Workload=TPCC] [Serial=false] [Time=60] [WarmupTime=0] [Rate=unlimited] [ActiveWorkers=20]
[INFO ] 2026-11-03 12:01:00,120 [main]  DBWorkload - Results(nanoSeconds=60000012345, measuredRequests=48210) = 803.49983 requests/sec (throughput), 800.10 requests/sec (goodput)
");
    assert_eq!((run.sessions, &*run.workload), (20, "TPC-C"));
    assert_eq!(option(&run, "time"), Some("60"));
}

#[test]
fn commands_of_the_java_ycsb_are_read() {
    let tail = "[OVERALL], RunTime(ms), 20000\n[OVERALL], Throughput(ops/sec), 50.0\n[READ], Operations, 1000\n";
    let run = one(&format!(
        "/usr/bin/java -cp conf:lib/core.jar site.ycsb.Client -t -db site.ycsb.db.JdbcDBClient -P workloads/workloadb -p recordcount=1000000 -threads 64 -s\n{tail}"
    ));
    assert_eq!(option(&run, "db"), Some("site.ycsb.db.JdbcDBClient"));
    assert_eq!(option(&run, "recordcount"), Some("1000000"));
    assert_eq!(option(&run, "command"), Some("run"));
    assert_eq!((run.sessions, &*run.workload), (64, "ycsb-b"));
    let run = one(&format!(
        "Command line: -t -db site.ycsb.db.JdbcDBClient -P workloads/workloadb -threads 64 -s\nYCSB Client 0.17.0\n{tail}"
    ));
    assert_eq!(option(&run, "db"), Some("site.ycsb.db.JdbcDBClient"));
}

#[test]
fn the_summary_of_k6_is_read_as_text() {
    let run = one("\
     http_req_duration..............: avg=9.81ms min=1.2ms med=8.9ms max=1.21s p(90)=15.2ms p(95)=19.8ms
       { expected_response:true }...: avg=9.81ms min=1.2ms
     http_req_failed................: 0.50%  60 out of 12000
     iteration_duration.............: avg=50.01ms min=40ms med=49ms max=1m1.5s p(90)=60ms p(95)=70ms
     iterations.....................: 12000  199.9/s
     vus............................: 10     min=10 max=10

running (1m00.0s), 00/10 VUs, 12000 complete and 0 interrupted iterations
");
    assert_eq!((run.sessions, run.totals.all.count), (10, 12_000));
    assert_eq!(
        (run.stated_rate(), run.totals.elapsed_s),
        (Some(199.9), 60.0)
    );
    assert_eq!(
        (figure(&run, "p95_ms"), figure(&run, "max_ms")),
        (Some(70.0), Some(61_500.0))
    );
    assert_eq!(figure(&run, "error_share"), Some(0.5));
    let imported = run.imported.as_ref().unwrap();
    assert_eq!(
        imported.figure_of("http_req", "max_ms").unwrap().value,
        1210.0
    );
}

#[test]
fn figures_in_words_of_no_known_tool_are_told() {
    let text = "\
# wrk
```
  2 threads and 10 connections
Requests/sec:   1234.56
Transfer/sec:      1.20MB
```
- 平均延迟：12 ms
- 结论：TPS 提升 10%
- TPS = 4200

| threads | tps |
|---|---|
| 8 | 100 |
";
    let (import, told) = explained(text);
    assert_eq!(import.runs.len(), 1);
    assert_eq!(not_understood(&told), [4, 5, 7, 9]);
    let lines: Vec<u64> = import.leftovers.ranges.iter().map(|(at, ..)| *at).collect();
    assert_eq!(lines, [4, 7, 9]);
}

#[test]
fn an_output_of_go_ycsb_without_its_end_is_told() {
    let line = |took: u32, count: u32| {
        format!(
            "READ   - Takes(s): {took}.0, Count: {count}, OPS: 20.0, Avg(us): 9000, Min(us): 1, Max(us): 10000, 99th(us): 9900\n"
        )
    };
    let head = "go-ycsb run mysql -P workloads/workloada --threads 4\n";
    let cut = super::documents::import(&format!("{head}{}{}", line(10, 200), line(20, 400)));
    assert_eq!(cut.incomplete, [(2, 3, "go-ycsb")]);
    let quoted = super::documents::import(&format!("{head}{}", line(20, 400)));
    assert!(quoted.incomplete.is_empty());
}

#[test]
fn a_mode_that_a_document_sets_holds_for_its_runs() {
    let of = |set: &str| {
        let run = one(&format!(
            "# A\n```\n{set}\n```\n```\nVuser 1:64 Active Virtual Users configured\n\
             Vuser 1:TEST RESULT : System achieved 12345 NOPM from 28384 MySQL TPM\n```\n"
        ));
        let mode = option(&run, "tidb_txn_mode").map(String::from);
        (
            mode,
            run.imported
                .unwrap()
                .option_lines
                .get("tidb_txn_mode")
                .copied(),
        )
    };
    for set in [
        "set global tidb_txn_mode=\"optimistic\";",
        "mysql> SET @@global.tidb_txn_mode = 'Optimistic' ;",
        "| tidb_txn_mode | optimistic |",
    ] {
        assert_eq!(of(set), (Some("optimistic".into()), Some(3)), "{set}");
    }
    for set in [
        // For which run it was whichever, nobody knows.
        "set global tidb_txn_mode='optimistic';\nset global tidb_txn_mode='pessimistic';",
        "select tidb_txn_mode = 'optimistic';",
        "set global tidb_txn_mode = 'other';",
    ] {
        assert_eq!(of(set), (None, None), "{set}");
    }
}

#[test]
fn what_collectors_put_before_each_line_is_no_part_of_it() {
    let plain = super::documents::SYSBENCH_1;
    let whole = one(plain);
    for begin in [
        "2024-05-01T10:00:00.123Z ",
        "bench-1  | ",
        "[pod/bench-1/main] ",
    ] {
        let lines: Vec<String> = plain.lines().map(|l| format!("{begin}{l}\n")).collect();
        let import = import(&lines.concat());
        assert_eq!(import.runs.len(), 1, "{begin}");
        let figures = |run: &RunRecord| run.imported.as_ref().unwrap().figures.clone();
        assert_eq!(figures(&import.runs[0]), figures(&whole), "{begin}");
        assert_eq!(import.leftovers.lines, 0, "{begin}");
    }
    // Lines of two clients between each other are told.
    let line = "[ 1s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00";
    let two = import(&format!(
        "bench-1  | sysbench 1.0.20 (using system LuaJIT)\nbench-1  | {line}\nbench-2  | {line}\n"
    ));
    assert_eq!((two.runs.len(), two.leftovers.lines), (1, 1));
}

#[test]
fn figures_in_sentences_are_told() {
    let text = "\
# A

TPS: 100, QPS: 2000, P95: 9 ms

tps=100, qps=2000

8 线程：TPS 100，平均延迟 8ms
最终 QPS 达到 12.3 万。

本次提升了 TPS，延迟也降低了
14:01:23,456 [main] INFO Bench : measured tpmC = 12345.67

TPS by threads:

| threads | v1 | v2 |
|---|---|---|
| 8 | 100 | 110 |
";
    let (import, told) = explained(text);
    assert_eq!(not_understood(&told), [3, 5, 7, 8, 11]);
    let rates: Vec<_> = import.runs.iter().map(|run| figure(run, "rate")).collect();
    assert_eq!(rates, [Some(100.0), Some(110.0)]);
}
