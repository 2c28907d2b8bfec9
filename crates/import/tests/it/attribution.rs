//! Which figure belongs to which run, and what is none. We wrote all of these documents.

use super::documents::import;
use std::time::Duration;
use tidemark_core::record::RunRecord;
use tidemark_stats::{Histogram, LogInterval, interval_log};

fn one(text: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{:#?}", import.runs);
    import.runs.remove(0)
}

const YCSB: &str = "\
YCSB Client 0.17.0
Command line: -db site.ycsb.db.JdbcClient -P workloads/workloada -threads 8 -t
2026-11-20 10:00:10:000 10 sec: 500 operations; 50 current ops/sec; est completion in 10 seconds
2026-11-20 10:00:20:000 20 sec: 1000 operations; 50 current ops/sec; est completion in 1 second
2026-11-20 10:00:20:002 20 sec: 1000 operations; 50 current ops/sec;
[OVERALL], RunTime(ms), 20000
[OVERALL], Throughput(ops/sec), 50.0
[READ], Operations, 900
[READ], AverageLatency(us), 9000
[READ], Return=OK, 900
[READ], Return=ERROR, 100
[READ-FAILED], Operations, 100
[READ-FAILED], AverageLatency(us), 1000
[READ-FAILED], MaxLatency(us), 7000
[READ-FAILED], 99thPercentileLatency(us), 5000
[Intended-READ], Operations, 900
[Intended-READ], 99.9PercentileLatency(us), 80000
";

#[test]
fn a_second_that_is_printed_twice_ends_no_run() {
    let run = one(YCSB);
    assert_eq!((run.sessions, run.intervals.len()), (8, 2), "{run:#?}");
    assert_eq!(run.workload, "ycsb-a");
}

#[test]
fn what_failed_is_an_error_and_no_type() {
    let run = one(YCSB);
    let types: Vec<&str> = run.totals.types.keys().map(String::as_str).collect();
    assert_eq!(types, ["READ"]);
    assert_eq!(
        (run.totals.all.count, run.totals.ignored_errors),
        (900, 100)
    );
    let value = |of: &str, name: &str| {
        let imported = run.imported.as_ref().unwrap();
        imported.figure_of(of, name).map(|f| f.value)
    };
    assert_eq!(value("failed", "READ max_ms"), Some(7.0));
    assert_eq!(value("failed", "READ p99_ms"), Some(5.0));
    assert_eq!(value("intended", "READ p99.9_ms"), Some(80.0));
    let run = one("\
Run finished, takes 10.0s
READ - Takes(s): 10.0, Count: 900, OPS: 90.0, Avg(us): 9000, Min(us): 1, Max(us): 10000, 99th(us): 9900
READ_ERROR - Takes(s): 9.0, Count: 80, OPS: 8.0, Avg(us): 9000, Min(us): 1, Max(us): 10000, 99th(us): 9900
READ_ERROR - Takes(s): 10.0, Count: 100, OPS: 10.0, Avg(us): 8000, Min(us): 1, Max(us): 10000, 99th(us): 9900
");
    assert_eq!(
        (run.totals.all.count, run.totals.ignored_errors),
        (900, 100)
    );
    // Each line counts from the begin: the last one is left.
    let imported = run.imported.as_ref().unwrap();
    let failed = imported.figures.iter().filter(|f| f.of == "failed");
    let failed: Vec<(&str, f64)> = failed.map(|f| (&*f.name, f.value)).collect();
    assert_eq!(
        failed,
        [
            ("READ elapsed_s", 10.0),
            ("READ rate", 10.0),
            ("READ mean_ms", 8.0),
            ("READ min_ms", 0.001),
            ("READ max_ms", 10.0),
            ("READ p99_ms", 9.9),
        ]
    );
}

#[test]
fn a_command_is_in_force_below_its_own_heading() {
    let output = "[Summary] NEW_ORDER - Takes(s): 10.0, Count: 450, TPM: 2700.0, Sum(ms): 9000.0, Avg(ms): 20.0, \
                  50th(ms): 20.0, 90th(ms): 25.0, 95th(ms): 27.0, 99th(ms): 30.0, 99.9th(ms): 40.0, Max(ms): 50.0\n\
                  tpmC: 2700.0, tpmTotal: 6000.0, efficiency: 210.0%\n";
    let command = "go-tpc tpcc --warehouses 100 -T 8 run";
    let apart = import(&format!(
        "# Report\n## 8 threads\n{command}\n{output}## 16 threads\n{output}"
    ));
    let sessions: Vec<usize> = apart.runs.iter().map(|r| r.sessions).collect();
    assert_eq!(sessions, [8, 0]);
    let below = import(&format!(
        "# Report\n{command}\n## First\n{output}## Second\n{output}"
    ));
    let sessions: Vec<usize> = below.runs.iter().map(|r| r.sessions).collect();
    assert_eq!(sessions, [8, 8]);
    let clients = import(&format!(
        "# Report\n## Client 1\n{command}\n{output}## Client 2\n{output}"
    ));
    let sessions: Vec<usize> = clients.runs.iter().map(|r| r.sessions).collect();
    assert_eq!(sessions, [8, 8]);
}

#[test]
fn a_command_is_of_no_output_below_the_next_heading_of_its_level() {
    let output = super::documents::SYSBENCH_1;
    let sessions = |text: &str| -> (Vec<bool>, usize) {
        let import = import(text);
        let runs = import.runs.iter();
        let own = runs.map(|run| !run.command.is_empty()).collect();
        (own, import.missing.len())
    };
    let command = "sysbench oltp_read_only --threads=4 --tables=3 run";
    // A command that has no output of its own, whatever it does.
    for verb in ["prepare", "run"] {
        let command = command.replace("run", verb);
        let text = format!("# A\n{command}\n# B\n{output}");
        assert_eq!(sessions(&text), (vec![false], 0), "{verb}");
    }
    // Unless nothing follows that may be its output.
    let text = format!("# A\n{command}\n# B\nsysbench oltp_insert run\n{output}");
    assert_eq!(sessions(&text), (vec![true], 1));
    // Three files in one, the first of which begins with its command.
    let text = format!("{command}\n{output}# B\n{output}# C\n{output}");
    assert_eq!(sessions(&text).0, [true, false, false]);
    // Before the first heading it is for all of them whose own lines do not deny it.
    let sixty_four = command.replace("=4", "=64");
    let text = format!("{sixty_four}\n# A\n{output}# B\n{output}");
    assert_eq!(sessions(&text).0, [true, false]);
    let text = format!(
        "{command}\n# A\n{output}# B\n{}",
        output.replace("70.25", "71.25")
    );
    assert_eq!(sessions(&text).0, [true, true]);
    // A heading that names nothing but the output.
    for heading in ["Output", "2.3 测试结果"] {
        let text = format!("# A\n## Command\n{command}\n## {heading}\n{output}");
        assert_eq!(sessions(&text), (vec![true], 0), "{heading}");
    }
    // Parts of one client end like any other.
    let text = format!("# Client 1\n## 64\n{command}\n{output}## 4\n{output}");
    assert_eq!(sessions(&text).0, [true, false]);
    // Options stay below subheadings, and for the same part of another client.
    let text = format!("# A\n{command}\n## First\n{output}### Again\n{output}## Second\n{output}");
    assert_eq!(sessions(&text).0, [true, true, true]);
    let text = format!("# Client 1\n## x\n{command}\n{output}# Client 2\n## x\n{output}");
    assert_eq!(sessions(&text).0, [true, true]);
}

#[test]
fn a_command_that_a_later_output_denies_is_not_its_own() {
    let output = super::documents::SYSBENCH_1;
    let more = output
        .replace("threads: 4", "threads: 16")
        .replace("70.25", "71.25");
    let repeat = output.replace("70.25", "72.25");
    let command = "sysbench oltp_read_only --threads=4 --tables=3 run";
    let text = format!(
        "一、4 线程\n```\n{command}\n```\n```\n{output}```\n```\n{repeat}```\n二、16 线程\n```\n{more}```\n"
    );
    let runs = import(&text).runs;
    let of = |run: &RunRecord| (run.sessions, run.workload.clone(), run.command.is_empty());
    let all: Vec<_> = runs.iter().map(of).collect();
    assert_eq!(
        all,
        [
            (4, "oltp_read_only".into(), false),
            (4, "oltp_read_only".into(), false),
            (16, "sysbench".into(), true)
        ]
    );
    // The first one's own command is held against it.
    let text = format!("```\n{command}\n{more}```\n");
    assert!(!import(&text).runs[0].command.is_empty());
}

#[test]
fn short_words_within_others_are_no_headings() {
    let run = one("\
| Threads | TPS | Latency (ms) | Partitions | Isolation | Throughput (MB/s) |
|---|---|---|---|---|---|
| 16 | 1600 | 10 | 64 | 2 | 7 |
");
    let of = run.imported.as_ref().unwrap();
    assert_eq!(of.figure_of("", "mean_ms").unwrap().value, 10.0);
    assert_eq!(of.figure_of("", "rate").unwrap().value, 1600.0);
}

#[test]
fn late_transactions_of_tpcc_mysql_count() {
    let run = one("\
***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
option w with value '1'
option c with value '16'
<Raw Results>
  [0] sc:5 lt:205  rt:0  fl:0 avg_rt: 50.0 (5)
<TpmC>
                 630.000 TpmC
");
    assert_eq!(run.totals.types["NewOrder"].count, 210);
}

#[test]
fn the_rate_that_was_asked_of_pgbench_stays() {
    let run = one("\
pgbench -R 1000 -T 10 -c 8 bench
pgbench (15.18)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 8
number of threads: 1
duration: 10 s
number of transactions actually processed: 9990
latency average = 4.000 ms
rate limit schedule lag: avg 0.5 (max 9.0) ms
initial connection time = 5.000 ms
tps = 999.500000 (without initial connection time)
");
    assert_eq!(run.rate, Some(1000.0));
}

#[test]
fn a_digit_within_a_name_is_no_figure() {
    let run = one("Vuser 1:TEST RESULT : System achieved 12345 NOPM from 28000 Db2 TPM\n");
    let of = run.imported.as_ref().unwrap();
    assert_eq!(of.figure_of("", "nopm").unwrap().value, 12345.0);
    assert_eq!(of.figure_of("", "tpm").unwrap().value, 28000.0);
}

#[test]
fn words_about_an_efficiency_are_no_run() {
    for prose in [
        "Efficiency: 87% of linear scaling",
        "TPMC 12,345 is our goal",
    ] {
        let import = import(&format!("{}{prose}\n", super::documents::SYSBENCH_1));
        assert_eq!(import.runs.len(), 1, "{prose}: {:#?}", import.runs);
    }
}

#[test]
fn a_password_before_an_output_is_in_no_record() {
    for command in [
        "$ ./bin/go-tpc tpcc -H h -p geheim --warehouses 10 -T 8 run",
        "tiup bench -U root -p geheim tpcc run",
    ] {
        let import = import(&format!(
            "{command}\ntpmC: 2700.0, tpmTotal: 6000.0, efficiency: 210.0%\n{command}\n"
        ));
        assert_eq!(import.runs.len(), 1);
        assert!(!format!("{import:?}").contains("geheim"), "{import:#?}");
        assert_eq!(import.runs[0].workload, "TPC-C");
    }
}

#[test]
fn a_histogram_log_is_read_with_its_distribution() {
    let mut latencies = Histogram::new();
    for us in 1..=1000 {
        latencies.record(Duration::from_micros(us));
    }
    let line = |tag: Option<&str>, second| LogInterval {
        tag: tag.map(Into::into),
        start: Duration::from_secs(second),
        length: Duration::from_secs(1),
        latencies: latencies.clone(),
    };
    // A part with a tag is in the line of all, too.
    let lines = [line(None, 0), line(Some("read"), 0), line(None, 1)];
    let text = interval_log(Duration::from_secs(1_700_000_000), &[], lines);
    let run = one(&text);
    assert_eq!((run.totals.all.count, run.intervals.len()), (2000, 2));
    let all = Histogram::decode(run.totals.all.service.0.as_str()).unwrap();
    let median = all.percentile_ns(50.0) as f64;
    assert!((median / 500_000.0 - 1.0).abs() < 0.003, "{median}");
}

#[test]
fn the_duration_of_go_ycsb_begins_its_run() {
    let one = |took: &str, count: u32| {
        format!(
            "Run finished, takes {took}\nREAD   - Takes(s): 30.0, Count: {count}, OPS: 16.7, Avg(us): 835, Min(us): 344, Max(us): 10123, 95th(us): 1200\n\n"
        )
    };
    let runs = import(&[one("30.1s", 500), one("1m2.5s", 700)].concat()).runs;
    let of = |run: &RunRecord| (run.totals.elapsed_s, run.totals.all.count);
    let all: Vec<_> = runs.iter().map(of).collect();
    assert_eq!(all, [(30.1, 500), (62.5, 700)]);
}

#[test]
fn lines_of_several_outputs_below_each_other_are_several_runs() {
    let rates = |text: &str| -> Vec<Option<f64>> {
        let runs = import(text).runs;
        runs.iter().map(RunRecord::stated_rate).collect()
    };
    let pgbench =
        "latency average = 10.680 ms\ntps = 1497.301234 (without initial connection time)\n";
    let again = pgbench.replace("1497", "1597");
    assert_eq!(
        rates(&[pgbench, &again].concat()),
        [Some(1_497.301_234), Some(1_597.301_234)]
    );
    let alone = "tps = 1.500000 (without initial connection time)\n".repeat(3);
    assert_eq!(rates(&alone), [Some(1.5); 3]);
    assert_eq!(
        rates("tpmC: 24011.5, tpmTotal: 53321.2, efficiency: 186.2%\ntpmC: 25011.5, tpmTotal: 54321.2, efficiency: 196.2%\n").len(),
        2
    );
    let ycsb = "READ   - Takes(s): 60.0, Count: 500, OPS: 8.3, Avg(us): 835, 99th(us): 3000\n";
    let runs = import(&[ycsb, &ycsb.replace("500", "480")].concat()).runs;
    let counts: Vec<u64> = runs.iter().map(|run| run.totals.all.count).collect();
    assert_eq!(counts, [500, 480]);
    let overall = "[OVERALL], Throughput(ops/sec), 98.5\n".repeat(2);
    assert_eq!(rates(&overall), [Some(98.5); 2]);
    let sysbench = "    transactions:                        600   (10.00 per sec.)\n         95th percentile:                        9.22\n";
    let again = sysbench.replace("(10.00", "(11.00");
    assert_eq!(
        rates(&[sysbench, &again].concat()),
        [Some(10.0), Some(11.0)]
    );
}
