//! Logs of BenchBase and HammerDB: figures that others determine, and lines that are not there. We wrote
//! them.

use super::determined::{bad, planted};
use super::lost::{lost, without};

const BENCHBASE: &str = "\
Benchmark:              TPCC {com.oltpbenchmark.benchmarks.tpcc.TPCCBenchmark}
Isolation:              TRANSACTION_SERIALIZABLE
Scale Factor:           10.0
Terminals:              20

[INFO ] 2026-11-03 12:00:10,323 [main] ThreadBench - PHASE START :: [Workload=TPCC] [Serial=false] [Time=60] [WarmupTime=0] [Rate=unlimited] [ActiveWorkers=20]
[INFO ] 2026-11-03 12:01:10,424 [Thread-2] DBWorkload - Rate limited reqs/s: Results(state=EXIT, nanoSeconds=60000123456, measuredRequests=54000) = 899.9981481638124 requests/sec (throughput), 896.1148228284 requests/sec (goodput)
Completed Transactions:
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01                         [24057] *****
com.oltpbenchmark.benchmarks.tpcc.procedures.Payment/02                          [23230] *****
com.oltpbenchmark.benchmarks.tpcc.procedures.OrderStatus/03                      [ 2160] **
com.oltpbenchmark.benchmarks.tpcc.procedures.Delivery/04                         [ 2160] **
com.oltpbenchmark.benchmarks.tpcc.procedures.StockLevel/05                       [ 2160] **
Aborted Transactions:
com.oltpbenchmark.benchmarks.tpcc.procedures.NewOrder/01                         [  243] **
Rejected Transactions (Server Retry):
<EMPTY>
Unexpected SQL Errors:
<EMPTY>
";

#[test]
fn what_benchbase_counted_follows_from_its_outcomes() {
    planted(
        BENCHBASE,
        "summary-mismatch",
        &[
            ("nanoSeconds=60000123456", "nanoSeconds=70000123456"),
            ("measuredRequests=54000", "measuredRequests=64000"),
            ("= 899.99", "= 799.99"),
            ("896.11", "796.11"),
            ("[24057]", "[34057]"),
            ("[23230]", "[20230]"),
            // All figures of the line but the outcomes.
            (
                "measuredRequests=54000) = 899.9981481638124 requests/sec (throughput), 896.1148228284",
                "measuredRequests=48000) = 799.9983539233 requests/sec (throughput), 796.1148228284",
            ),
        ],
    );
    // Outcomes of the warm-up are counted, its transactions are not measured.
    let warm = BENCHBASE
        .replace("[WarmupTime=0]", "[WarmupTime=10]")
        .replace(
            "measuredRequests=54000) = 899.9981481638124",
            "measuredRequests=46300) = 771.6650788",
        );
    assert_eq!(bad(&warm), [""; 0]);
}

#[test]
fn requests_of_a_window_of_benchbase_are_its_throughput() {
    let mut text = String::from(
        "Time (seconds),Requests,Throughput (requests/second),Minimum Latency (microseconds),\
         Average Latency (microseconds),95th Percentile Latency (microseconds),\
         Maximum Latency (microseconds)\n",
    );
    for (n, requests) in [5000, 5010, 4990, 5005, 4995, 5008].into_iter().enumerate() {
        let (begin, rate) = (n * 5, f64::from(requests) / 5.0);
        text += &format!("{begin},{requests},{rate:.3},100,400,900,2000\n");
    }
    planted(
        &text,
        "summary-mismatch",
        &[
            ("5,5010,1002.000", "5,6010,1002.000"),
            ("5,5010,1002.000", "5,5010,802.000"),
            ("25,5008,1001.600", "25,3008,1001.600"),
        ],
    );
}

const HAMMERDB: &str = "\
Vuser 1:Beginning rampup time of 2 minutes
Vuser 1:Rampup 1 minutes complete ...
Vuser 1:Rampup 2 minutes complete ...
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 5 in minutes
Vuser 1:1 ...,
Vuser 1:2 ...,
Vuser 1:3 ...,
Vuser 1:4 ...,
Vuser 1:5 ...,
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:64 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 302123 NOPM from 702911 PostgreSQL TPM
";

#[test]
fn new_orders_of_hammerdb_are_a_share_of_its_transactions() {
    planted(
        HAMMERDB,
        "summary-mismatch",
        &[
            ("302123 NOPM", "352123 NOPM"),
            ("302123 NOPM", "32123 NOPM"),
            ("702911 PostgreSQL", "602911 PostgreSQL"),
            ("702911 PostgreSQL", "4702911 PostgreSQL"),
            ("Timing test period of 5", "Timing test period of 50"),
        ],
    );
    // Databases that count what is committed more than once.
    let twice = HAMMERDB.replace("702911 PostgreSQL", "1411000 MySQL");
    assert_eq!(bad(&twice), [""; 0]);
    // A short test of few transactions.
    let few = HAMMERDB.replace("302123 NOPM from 702911", "40 NOPM from 81");
    assert_eq!(bad(&few), [""; 0]);
}

#[test]
fn lines_of_benchbase_that_were_lost_are_told() {
    assert_eq!(lost(BENCHBASE), [""; 0]);
    let results = "[INFO ] 2026-11-03 12:01:10,424 [Thread-2] DBWorkload - Rate limited";
    assert_eq!(lost(&without(BENCHBASE, results)), ["missing"]);
    // Whoever quotes the end alone.
    let quoted = without(BENCHBASE, "[INFO ] 2026-11-03 12:00:10,323");
    assert_eq!(lost(&without(&quoted, results)), [""; 0]);
    let json = "{\n\"DBMS Type\": \"POSTGRES\",\n\"terminals\": \"20\",\n\
        \"Elapsed Time (nanoseconds)\": 60000123456,\n\"Measured Requests\": 54000,\n\
        \"Latency Distribution\": {\n\"Minimum Latency (microseconds)\": 501,\n\
        \"25th Percentile Latency (microseconds)\": 9101,\n\"Median Latency (microseconds)\": 18101,\n\
        \"75th Percentile Latency (microseconds)\": 30101,\n\"90th Percentile Latency (microseconds)\": 45101,\n\
        \"95th Percentile Latency (microseconds)\": 58101,\n\"99th Percentile Latency (microseconds)\": 90101,\n\
        \"Maximum Latency (microseconds)\": 211101,\n\"Average Latency (microseconds)\": 22101\n},\n\
        \"Throughput (requests/second)\": 899.99,\n\"Goodput (requests/second)\": 895.99\n}\n";
    assert_eq!(lost(json), [""; 0]);
    for line in [
        "\"Elapsed Time",
        "\"Measured",
        "\"75th",
        "\"Maximum",
        "\"Throughput",
    ] {
        assert_eq!(lost(&without(json, line)), ["missing"], "{line}");
    }
}

#[test]
fn lines_of_hammerdb_that_were_lost_are_told() {
    assert_eq!(lost(HAMMERDB), [""; 0]);
    for line in [
        "Vuser 1:Timing test period",
        "Vuser 1:64 Active",
        "Vuser 1:TEST RESULT",
    ] {
        assert_eq!(lost(&without(HAMMERDB, line)), ["missing"], "{line}");
    }
    // Whoever leaves out how the test went on quotes a part.
    let quoted = without(HAMMERDB, "Vuser 1:Test complete");
    assert_eq!(lost(&without(&quoted, "Vuser 1:64 Active")), [""; 0]);
}
