//! Monitoring that stops, or does not cover the run.

use super::common::{clean, of_rates, only, rules};
use tidemark_analysis::Severity;
use tidemark_core::record::{Outage, RunRecord};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};

fn series(seconds: impl Iterator<Item = i64>) -> Series {
    let key = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Gauge);
    let mut builder = SeriesBuilder::new(key, 0, 1000);
    seconds.for_each(|s| {
        builder.push(s * 1000, 0.5);
    });
    builder.series().unwrap()
}

fn with(seconds: impl Iterator<Item = i64>) -> RunRecord {
    let mut record = clean();
    record.series = vec![series(seconds)];
    record
}

#[test]
fn a_sampler_that_stops_is_told() {
    // 20 s are measured.
    let gap = only(
        &with((0..20).filter(|s| !(8..16).contains(s))),
        "sampler-gaps",
    );
    assert_eq!(gap.severity, Severity::Note);
    let gap = only(
        &with((0..20).filter(|s| !(8..11).contains(s))),
        "sampler-gaps",
    );
    assert_eq!(gap.severity, Severity::Note);
    // One look is late, or every other second is looked at.
    assert_eq!(rules(&with((0..20).filter(|s| *s != 9))), [""; 0]);
    assert_eq!(rules(&with((0..20).step_by(2))), [""; 0]);
    // It stopped in the warm-up and after the end.
    let around = (-30..40).filter(|s| (-3..25).contains(s));
    assert_eq!(rules(&with(around)), [""; 0]);
}

#[test]
fn evidence_of_another_time_is_told() {
    assert_eq!(
        only(&with(0..12), "evidence-outside-run").severity,
        Severity::Note
    );
    assert_eq!(
        only(&with(4..20), "evidence-outside-run").severity,
        Severity::Note
    );
    assert_eq!(
        only(&with(30..50), "evidence-outside-run").severity,
        Severity::Note
    );
    // Taken just after the begin and up to just before the end.
    assert_eq!(rules(&with(1..19)), [""; 0]);
    // A label that came late is beside one that was there all the time.
    let mut record = with(0..20);
    let mut late = series(15..20);
    late.key = late.key.with("core", 7);
    record.series.push(late);
    assert_eq!(rules(&record), [""; 0]);
    let mut short = of_rates(&[1000; 20]);
    short.series = Vec::new();
    assert_eq!(rules(&short), [""; 0]);
}

#[test]
fn a_server_that_was_gone_is_no_gap_of_its_sampler() {
    let mut record = of_rates(&[1000; 20]);
    record.outages = vec![Outage {
        host: "db1".into(),
        start_ms: 8_200,
        length_ms: 3_650.0,
        ended: true,
        first_error: "refused".into(),
    }];
    let is_told = |record: &RunRecord, source: &str| {
        let mut record = record.clone();
        let mut series = series((0..20).filter(|s| !(8..15).contains(s)));
        series.key.source = source.into();
        record.series = vec![series];
        rules(&record).contains(&"sampler-gaps")
    };
    assert!(!is_told(&record, "network") && !is_told(&record, "server-status"));
    assert!(is_told(&record, "client-host") && is_told(&record, "dstat"));
    // One that stayed away for longer than that is.
    record.outages[0].length_ms = 100.0;
    record.outages[0].start_ms = 6_000;
    assert!(is_told(&record, "network"));
    // Two hosts that were gone at one time explain no more than one.
    record.outages[0].start_ms = 7_000;
    let mut other = record.outages[0].clone();
    other.host = "db2".into();
    record.outages.push(other);
    assert!(is_told(&record, "network"));
    record.outages.clear();
    assert!(is_told(&record, "network"));
}

/// Twenty seconds of sysbench's lines, and its histogram with so many events of half a second.
fn imported(slow: u64) -> RunRecord {
    let lines: String = (1..=20)
        .map(|s| {
            format!(
                "[ {s}s ] thds: 8 tps: 1000.00 qps: 1000.00 (r/w/o: 1000.00/0.00/0.00) lat (ms,95%): \
                 9.00 err/s: 0.00 reconn/s: 0.00\n"
            )
        })
        .collect();
    let text = format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 8\n{lines}\
         Latency histogram (values are in milliseconds)\n       value  ------------- distribution \
         ------------- count\n       2.000 |**************************************** {}\n     \
         500.000 |** {slow}\n \n\
         SQL statistics:\n    transactions:                        20000  (1000.00 per sec.)\n\
         General statistics:\n    total time:                          20.0000s\n    \
         total number of events:              20000\n",
        20_000 - slow
    );
    let origin = tidemark_import::Origin::of("doc.md");
    let import = tidemark_import::read(text.as_bytes(), &origin, &mut |_, _, _| {}).unwrap();
    let [run] = import.runs.as_slice() else {
        panic!("{}", import.runs.len())
    };
    run.clone()
}

fn of_monitoring(record: &RunRecord) -> Vec<&'static str> {
    let all = rules(record).into_iter();
    let of_series = ["sampler-gaps", "evidence-outside-run"];
    all.filter(|rule| of_series.contains(rule)).collect()
}

/// Rules that were left out.
fn left_out(record: &RunRecord) -> String {
    let found = tidemark_analysis::findings(record).unwrap();
    let left = found.iter().find(|f| f.rule == "not-judged").unwrap();
    format!("{:?}", left.figure("rules"))
}

#[test]
fn what_was_attached_to_an_imported_run_is_judged() {
    let mut record = imported(0);
    assert!(left_out(&record).contains("evidence-outside-run"));
    record.series = vec![series(0..20)];
    assert_eq!(of_monitoring(&record), [""; 0]);
    assert!(!left_out(&record).contains("evidence-outside-run"));
    record.series = vec![series(0..12)];
    assert_eq!(of_monitoring(&record), ["evidence-outside-run"]);
    record.series = vec![series((0..20).filter(|s| !(8..16).contains(s)))];
    assert_eq!(of_monitoring(&record), ["sampler-gaps"]);
}

#[test]
fn the_tail_of_a_histogram_that_a_tool_printed_is_judged() {
    let is_told = |slow: u64| rules(&imported(slow)).contains(&"heavy-tail");
    assert!(is_told(400));
    assert!(!is_told(1));
    assert!(!left_out(&imported(1)).contains("heavy-tail"));
}
