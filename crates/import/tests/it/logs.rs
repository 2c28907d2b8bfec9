//! Logs with a line for each transaction or interval, CH-benCHmark, and documents that promise or end
//! in the middle.

use tidemark_core::record::RunRecord;
use tidemark_import::{Became, Import, Origin, read};

fn import(text: &str) -> Import {
    read(text.as_bytes(), &Origin::of("doc.md"), &mut |_, _, _| {}).unwrap()
}

fn only(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:?}", import.runs);
    import.runs.remove(0)
}

fn figure(run: &RunRecord, of: &str, name: &str) -> f64 {
    let found = run.imported.as_ref().unwrap().figure_of(of, name);
    found.unwrap_or_else(|| panic!("{of} {name}")).value
}

#[test]
fn pgbench_transactions_of_two_threads_are_one_run() {
    // The second thread's log begins again at the first second.
    let run = only(
        "0 0 250000 0 1700000000 250000\n0 1 skipped 0 1700000001 0 300\n0 2 1000 0 1700000002 500000 100\n\
         1 0 3000 1 1700000000 400000\n1 1 failed 1 1700000000 410000\n1 2 2000 1 1700000002 250000\n",
    );
    assert_eq!(run.totals.all.count, 4);
    assert_eq!(figure(&run, "", "count"), 4.0);
    assert_eq!(figure(&run, "", "failed"), 1.0);
    assert_eq!(figure(&run, "", "skipped"), 1.0);
    assert_eq!(figure(&run, "script 2", "count"), 2.0);
    assert_eq!(figure(&run, "", "elapsed_s"), 2.5);
    assert_eq!(figure(&run, "", "max_ms"), 250.0);
    let counts: Vec<u64> = run
        .intervals
        .iter()
        .map(|i| i.types["transaction"].count)
        .collect();
    assert_eq!(counts, [2, 0, 2], "a second in which nothing ended is one");
}

#[test]
fn pgbench_aggregates_of_several_threads_and_versions_add_up() {
    let run = only(
        "1700000000 10 50000 260000000 4000 6000 0 0 0 0 0 0 0 0 0\n\
         1700000005 20 100000 520000000 4000 7000 0 0 0 0 3 0 0 1 1\n\
         1700000000 30 150000 760000000 3000 6000 0 0 0 0 0 0 0 0 0\n",
    );
    assert_eq!(run.totals.all.count, 60);
    assert_eq!(figure(&run, "", "elapsed_s"), 10.0);
    assert_eq!(figure(&run, "", "min_ms"), 3.0);
    assert_eq!(figure(&run, "", "mean_ms"), 5.0);
    assert_eq!(figure(&run, "", "failed"), 2.0);
    assert_eq!(figure(&run, "", "skipped"), 3.0);
    let stated = &run.imported.as_ref().unwrap().intervals;
    let rates: Vec<f64> = stated.iter().map(|i| i.rate.unwrap()).collect();
    assert_eq!(rates, [8.0, 4.0]);
    // Of version 13: no lateness, no failures.
    let run = only(
        "1700000000 10 50000 260000000 4000 6000\n1700000001 0 0 0 0 0\n1700000002 5 5 5 1 1\n",
    );
    assert_eq!(run.totals.all.count, 15);
    assert_eq!(run.imported.unwrap().intervals.len(), 3);
}

#[test]
fn lines_of_numbers_that_are_no_log_are_none() {
    assert!(import("1 2 3 4 5 6\n2 3 4 5 6 7\n").runs.is_empty());
    assert!(import("0 0 odd 0 1700000000 250000\n").runs.is_empty());
}

#[test]
fn any_number_of_transactions_takes_bounded_memory() {
    let text: String = (0..20_000u64)
        .map(|n| format!("0 {n} 1000 0 {} 0\n", 1_700_000_000 + n * 7))
        .collect();
    let run = only(&text);
    assert_eq!(run.totals.all.count, 20_000);
    assert!(run.imported.unwrap().intervals.len() <= 8192);
    let done: u64 = run
        .intervals
        .iter()
        .map(|i| i.types["transaction"].count)
        .sum();
    assert_eq!(done, 20_000);
}

#[test]
fn benchbase_raw_rows_are_transactions_of_types() {
    let run = only(
        "Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),Worker Id (start number),Phase Id (index in config file)\n\
         1,NewOrder,1700000000.000000,8000,0,0\n2,Payment,1700000000.500000,2000,1,0\n1,NewOrder,1700000001.500000,4000,0,0\n",
    );
    assert_eq!(run.totals.all.count, 3);
    assert_eq!(run.totals.types["NewOrder"].count, 2);
    assert_eq!(figure(&run, "NewOrder", "mean_ms"), 6.0);
    assert!((figure(&run, "", "elapsed_s") - 1.504).abs() < 1e-6);
    // OLTPBench: no names, microseconds from the begin.
    let run = only(
        "transaction type (index in config file), start time (microseconds),latency (microseconds)\n1,0,8000\n2,2000000,1000\n",
    );
    assert_eq!(run.totals.types["1"].count, 1);
    assert!((figure(&run, "", "elapsed_s") - 2.001).abs() < 1e-6);
}

#[test]
fn benchbase_windows_begin_where_their_row_says() {
    let run = only(
        "Time (seconds),Requests,Throughput (requests/second),Minimum Latency (microseconds),Average Latency (microseconds),95th Percentile Latency (microseconds),Maximum Latency (microseconds)\n\
         0,50,10.000,100,400,900,2000\n5,40,8.000,100,500,1900,3000\n",
    );
    let stated = run.imported.unwrap().intervals;
    assert_eq!(stated.len(), 2);
    assert_eq!((stated[0].end_s, stated[0].length_s), (5.0, Some(5.0)));
    assert_eq!(stated[1].count, Some(40.0));
    assert_eq!(stated[1].mean_ms, Some(0.5));
    assert_eq!(stated[1].more["max_ms"], 3.0);
    assert_eq!(run.totals.all.count, 90);
}

#[test]
fn lines_of_queries_that_go_on_have_no_figure() {
    let text = "[Current] NEW_ORDER - Takes(s): 10.0, Count: 120, TPM: 720.0, Sum(ms): 9000.0, Avg(ms): 75.0\n\
         [Current] Q1     - Count: 1, Sum(ms): 300.0, Avg(ms): 300.0\n\
         [Current] Q5     - \n\
         [Current] Q6\n\
         [Summary] Q1     - Count: 3, Sum(ms): 900.0, Avg(ms): 300.0\n";
    let mut told = Vec::new();
    let mut seen = |_: u64, _: &str, became: Became| told.push(became);
    let import = read(text.as_bytes(), &Origin::of("ch.log"), &mut seen).unwrap();
    let none = Became::NoFigure("go-tpc");
    let line = Became::Output("go-tpc");
    assert_eq!(told, [line, none, none, none, line]);
    assert_eq!(import.leftovers.lines, 0);
    assert_eq!(import.runs.len(), 1);
}

#[test]
fn ch_benchmark_has_transactions_and_queries() {
    let run = only(
        "./go-tpc ch --warehouses 2 run -T 4 -t 1 --time 1m\n\
         [Current] Q1     - Count: 1, Sum(ms): 300.0, Avg(ms): 300.0\n\
         Finished: 4 OLTP workers, 1 OLAP workers\n\
         [Summary] NEW_ORDER - Takes(s): 60.0, Count: 720, TPM: 720.0, Sum(ms): 54000.0, Avg(ms): 75.0, 90th(ms): 96.0\n\
         tpmC: 720.0, tpmTotal: 720.0, efficiency: 2799.4%\n\
         [Summary] Q1     - Count: 3, Sum(ms): 900.0, Avg(ms): 300.0\n\
         [Summary] Q22    - Count: 4, Sum(ms): 400.0, Avg(ms): 100.0\nQphH: 120.5\n",
    );
    assert_eq!(run.workload, "ch");
    assert_eq!(run.totals.all.count, 720, "queries are no transactions");
    assert_eq!(figure(&run, "Q22", "mean_ms"), 100.0);
    assert_eq!(figure(&run, "", "qphh"), 120.5);
    assert_eq!(run.options["acThreads"].value, "1");
    assert_eq!(run.sessions, 4);
}

#[test]
fn every_figure_of_a_cumulative_line_is_kept() {
    let line = |s: &str, n: u32, max: u32| {
        format!(
            "READ   - Takes(s): {s}, Count: {n}, OPS: 50.0, Avg(us): 800, Min(us): 100, Max(us): {max}, 99th(us): 3000, 99.9th(us): 3900, 99.99th(us): 4000\n"
        )
    };
    let run = only(&[line("10.0", 500, 3950), line("20.0", 1000, 4000)].concat());
    let imported = run.imported.unwrap();
    let more = &imported.intervals[0].more;
    assert_eq!(more["max_ms"], 3.95);
    assert_eq!(more["min_ms"], 0.1);
    assert_eq!(more["p99.9_ms"], 3.9);
    assert_eq!(more["p99.99_ms"], 4.0);
}

#[test]
fn pgbench_progress_keeps_failures_and_lateness() {
    let run = only(
        "progress: 5.0 s, 100.0 tps, lat 9.1 ms stddev 2.3, 4 failed, lag 1.5 ms, 7 skipped\n",
    );
    let more = &run.imported.as_ref().unwrap().intervals[0].more;
    for (name, value) in [
        ("stddev_ms", 2.3),
        ("failed", 4.0),
        ("lag_ms", 1.5),
        ("skipped", 7.0),
    ] {
        assert_eq!(more[name], value, "{name}");
    }
}

#[test]
fn an_empty_block_below_a_command_is_a_promise() {
    let document = |output: &str| {
        format!(
            "```\ngo-ycsb load mysql -P workloads/workloadc -p recordcount=10\n```\noutput:\n```\n{output}```\n"
        )
    };
    assert_eq!(import(&document("\n")).missing.len(), 1);
    let line = "INSERT - Takes(s): 1.0, Count: 10, OPS: 10.0, Avg(us): 800\n";
    assert_eq!(import(&document(line)).missing, []);
    // A load of which nothing is said promises nothing.
    let plain = "```\ngo-ycsb load mysql -P workloads/workloadc\n```\nwords\n";
    assert_eq!(import(plain).missing, []);
}

#[test]
fn a_brace_that_never_closes_swallows_no_output() {
    let text = "{\n  \"a\": 1,\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\
                [ 5s ] thds: 1 tps: 10.00 qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (ms,95%): 1.00 err/s: 0.00 reconn/s: 0.00\n";
    assert_eq!(import(text).runs.len(), 1);
    // One that is cut at a fence leaves the fence to the document.
    let mut became = Vec::new();
    let text = "```\n{\"metrics\": {\n```\n# Heading\n";
    read(text.as_bytes(), &Origin::of("x"), &mut |_, _, b| {
        became.push(b)
    })
    .unwrap();
    assert_eq!(became[3], Became::Heading);
}

#[test]
fn clients_that_the_numbering_promises_are_missed() {
    let block = |client: u32| {
        format!(
            "## client {client}\n\nREAD - Takes(s): 10.0, Count: {client}00, OPS: 10.0, Avg(us): 800\n"
        )
    };
    let of = |clients: &[u32]| {
        let text: String = clients.iter().map(|c| block(*c)).collect();
        let missing = import(&text).missing_clients;
        missing
            .into_iter()
            .map(|(_, n)| n)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(of(&[1, 2, 3]), "");
    assert_eq!(of(&[0, 1]), "");
    assert_eq!(of(&[2, 1]), "");
    assert_eq!(of(&[1, 1, 2, 2]), "");
    assert_eq!(of(&[1, 3]), "2");
    assert_eq!(of(&[2, 3]), "1");
    assert_eq!(of(&[1, 2, 3, 1, 3]), "2");
}
