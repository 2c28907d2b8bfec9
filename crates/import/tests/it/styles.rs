//! go-tpc and go-ycsb in the styles that their options choose, as tables and as JSON.

use super::documents::import;
use tidemark_core::record::RunRecord;

fn figure(run: &RunRecord, of: &str, name: &str) -> f64 {
    let found = run.imported.as_ref().unwrap().figure_of(of, name);
    found
        .unwrap_or_else(|| panic!("{of} {name}: {run:#?}"))
        .value
}

fn only(text: &str, tool: &str) -> RunRecord {
    let mut import = import(text);
    assert_eq!(import.runs.len(), 1, "{text}: {:#?}", import.runs);
    assert_eq!(import.leftovers.lines, 0, "{:?}", import.leftovers);
    let run = import.runs.remove(0);
    assert_eq!(run.imported.as_ref().unwrap().tool, tool);
    run
}

const TPCC: &str = "\
┌───────────┬───────────┬──────────┬───────┬───────┬─────────┬─────────┬──────────┬──────────┐
│  PREFIX   │ OPERATION │ TAKES(S) │ COUNT │  TPM  │ SUM(MS) │ AVG(MS) │ 90TH(MS) │ MAX(MS)  │
├───────────┼───────────┼──────────┼───────┼───────┼─────────┼─────────┼──────────┼──────────┤
│ [Current] │ NEW_ORDER │ 10.0     │ 120   │ 720.0 │ 9000.0  │ 75.0    │ 96.5     │ 130.0    │
│ [Current] │ PAYMENT   │ 10.0     │ 115   │ 690.0 │ 4002.0  │ 34.8    │ 44.0     │ 62.9     │
└───────────┴───────────┴──────────┴───────┴───────┴─────────┴─────────┴──────────┴──────────┘
Finished
┌───────────┬───────────┬──────────┬───────┬───────┬─────────┬─────────┬──────────┬──────────┐
│  PREFIX   │ OPERATION │ TAKES(S) │ COUNT │  TPM  │ SUM(MS) │ AVG(MS) │ 90TH(MS) │ MAX(MS)  │
├───────────┼───────────┼──────────┼───────┼───────┼─────────┼─────────┼──────────┼──────────┤
│ [Summary] │ NEW_ORDER │ 60.0     │ 720   │ 720.0 │ 54000.0 │ 75.0    │ 96.5     │ 130.0    │
│ [Summary] │ PAYMENT   │ 60.0     │ 690   │ 690.0 │ 24012.0 │ 34.8    │ 44.0     │ 62.9     │
└───────────┴───────────┴──────────┴───────┴───────┴─────────┴─────────┴──────────┴──────────┘
┌───────┬────────────┐
│ TPMC  │ EFFICIENCY │
├───────┼────────────┤
│ 720.0 │ 1399.7%    │
└───────┴────────────┘
";

#[test]
fn go_tpc_prints_tables_and_json() {
    let json = "\
[{\"90th(ms)\":\"96.5\",\"Avg(ms)\":\"75.0\",\"Count\":\"120\",\"Max(ms)\":\"130.0\",\"Operation\":\"NEW_ORDER\",\"Prefix\":\"[Current] \",\"Sum(ms)\":\"9000.0\",\"TPM\":\"720.0\",\"Takes(s)\":\"10.0\"}]
Finished
[{\"90th(ms)\":\"96.5\",\"Avg(ms)\":\"75.0\",\"Count\":\"720\",\"Max(ms)\":\"130.0\",\"Operation\":\"NEW_ORDER\",\"Prefix\":\"[Summary] \",\"Sum(ms)\":\"54000.0\",\"TPM\":\"720.0\",\"Takes(s)\":\"60.0\"},{\"90th(ms)\":\"44.0\",\"Avg(ms)\":\"34.8\",\"Count\":\"690\",\"Max(ms)\":\"62.9\",\"Operation\":\"PAYMENT\",\"Prefix\":\"[Summary] \",\"Sum(ms)\":\"24012.0\",\"TPM\":\"690.0\",\"Takes(s)\":\"60.0\"}]
[{\"efficiency\":\"1399.7%\",\"tpmC\":\"720.0\"}]
";
    // Older versions draw in ASCII.
    let ascii = TPCC.replace(['┌', '┬', '┐', '├', '┼', '┤', '└', '┴', '┘'], "+");
    let ascii = ascii.replace('─', "-").replace('│', "|");
    for text in [TPCC, &ascii, json] {
        let run = only(text, "go-tpc");
        assert_eq!(run.workload, "tpcc");
        assert_eq!(figure(&run, "NewOrder", "count"), 720.0);
        assert_eq!(figure(&run, "Payment", "mean_ms"), 34.8);
        assert_eq!(figure(&run, "NewOrder", "p90_ms"), 96.5);
        assert_eq!(figure(&run, "", "tpmc"), 720.0);
        let intervals = &run.imported.as_ref().unwrap().intervals;
        assert_eq!(intervals[0].count, Some(120.0));
    }
}

#[test]
fn queries_of_tpch_are_in_tables_too() {
    let run = only(
        "\
+-----------+-----------+--------+
|  PREFIX   | OPERATION | AVG(S) |
+-----------+-----------+--------+
| [Summary] | Q1        | 1.07s  |
| [Summary] | Q10       | 1.01s  |
+-----------+-----------+--------+
",
        "go-tpc",
    );
    assert_eq!(run.workload, "tpch");
    assert_eq!(run.queries.len(), 2);
    assert_eq!(run.queries[1].took_ms, 1010.0);
}

#[test]
fn go_ycsb_prints_capitals() {
    let table = "\
***************** properties *****************
\"recordcount\"=\"1000\"
**********************************************
+-----------+----------+-------+--------+---------+------------+
| OPERATION | TAKES(S) | COUNT |  OPS   | AVG(US) | 99 9TH(US) |
+-----------+----------+-------+--------+---------+------------+
| READ      |     10.0 |  5000 |  500.0 |     800 |       3900 |
+-----------+----------+-------+--------+---------+------------+
Run finished, takes 20.01s
+-----------+----------+-------+--------+---------+------------+
| OPERATION | TAKES(S) | COUNT |  OPS   | AVG(US) | 99.9TH(US) |
+-----------+----------+-------+--------+---------+------------+
| READ      |     20.0 | 10000 |  500.0 |     800 |       3900 |
| UPDATE    |     20.0 | 10020 |  501.0 |    1800 |       8900 |
+-----------+----------+-------+--------+---------+------------+
";
    let json = "\
***************** properties *****************
\"recordcount\"=\"1000\"
**********************************************
[{\"99.9th(us)\":\"3900\",\"Avg(us)\":\"800\",\"Count\":\"5000\",\"OPS\":\"500.0\",\"Operation\":\"READ\",\"Takes(s)\":\"10.0\"}]
Run finished, takes 20.01s
[{\"99.9th(us)\":\"3900\",\"Avg(us)\":\"800\",\"Count\":\"10000\",\"OPS\":\"500.0\",\"Operation\":\"READ\",\"Takes(s)\":\"20.0\"},{\"99.9th(us)\":\"8900\",\"Avg(us)\":\"1800\",\"Count\":\"10020\",\"OPS\":\"501.0\",\"Operation\":\"UPDATE\",\"Takes(s)\":\"20.0\"}]
";
    for text in [table, json] {
        let run = only(text, "go-ycsb");
        assert_eq!(figure(&run, "READ", "count"), 10_000.0);
        assert_eq!(figure(&run, "UPDATE", "mean_ms"), 1.8);
        assert_eq!(figure(&run, "UPDATE", "p99.9_ms"), 8.9);
        assert_eq!(run.imported.as_ref().unwrap().intervals.len(), 1);
    }
}

#[test]
fn what_tools_say_beside_their_figures_is_theirs() {
    let ycsb = only(
        "\
YCSB Client 0.17.0

Loading workload...
Starting test.
DBWrapper: report latency for each error is false and specific error codes to track for latency are: []
2026-11-20 10:00:10:000 10 sec: 51234 operations; 5123.4 current ops/sec; est completion in 10 seconds [READ: Count=51234, Max=20111, Min=100, Avg=2000.5, 90=3000, 99=5000]
[OVERALL], RunTime(ms), 20123
[OVERALL], Throughput(ops/sec), 4969.4
[READ], Operations, 100000
",
        "ycsb",
    );
    assert_eq!(ycsb.totals.all.count, 100_000);
    let profile = only(
        "\
>>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS : MEDIAN ELAPSED TIME : 310200ms
>>>>> PROC: NEWORD
CALLS: 105210\tMIN: 0.600ms\tAVG: 2.300ms\tMAX: 105.200ms\tTOTAL: 242000.100ms
",
        "hammerdb",
    );
    assert_eq!(profile.sessions, 4);
    assert_eq!(figure(&profile, "NewOrder", "mean_ms"), 2.3);
}
