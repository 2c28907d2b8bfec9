//! Options that empty a workload, operations that find nothing, and percentiles that are edges.

use super::common::{clean, found_in, histogram, only, option, rules, set_latencies, stats};
use std::collections::BTreeMap;
use tidemark_analysis::{Figure, Severity};
use tidemark_core::Source;
use tidemark_core::record::RunRecord;

fn ycsb() -> RunRecord {
    let mut record = clean();
    record.workload = "ycsb".into();
    record
}

/// As its workload's file or its defaults say.
fn sourced(record: &mut RunRecord, name: &str, value: &str, source: Source) {
    option(record, name, value);
    record.options.get_mut(name).unwrap().source = source;
}

#[test]
fn options_that_empty_a_measured_workload_are_told() {
    let mut record = ycsb();
    option(&mut record, "maxscanlength", "1");
    assert_eq!(rules(&record), [""; 0], "nothing is scanned");
    option(&mut record, "scanproportion", "0.95");
    let found = only(&record, "degenerate-option");
    assert_eq!(found.severity, Severity::Note);
    assert_eq!(
        found.figure("option"),
        Some(&Figure::Text("maxscanlength".into()))
    );
    option(&mut record, "maxscanlength", "100");
    assert_eq!(rules(&record), [""; 0]);

    let mut record = clean();
    for (name, emptied, whole) in [("range-selects", "off", "on"), ("skip-trx", "on", "off")] {
        option(&mut record, name, emptied);
        only(&record, "degenerate-option");
        sourced(&mut record, name, emptied, Source::Default);
        assert_eq!(rules(&record), [""; 0], "{name}: nobody asked for it");
        option(&mut record, name, whole);
        assert_eq!(rules(&record), [""; 0], "{name}");
    }
    // It has no ranges and no transactions anyway.
    record.workload = "oltp_point_select".into();
    option(&mut record, "range-selects", "off");
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn uniform_keys_are_told_where_the_file_of_a_standard_mix_has_others() {
    let mut record = ycsb();
    sourced(&mut record, "readproportion", "0.5", Source::ConfigFile);
    option(&mut record, "requestdistribution", "uniform");
    only(&record, "degenerate-option");
    option(&mut record, "requestdistribution", "zipfian");
    assert_eq!(rules(&record), [""; 0]);
    // A mix of one's own.
    option(&mut record, "readproportion", "0.5");
    option(&mut record, "requestdistribution", "uniform");
    assert_eq!(rules(&record), [""; 0]);
}

#[test]
fn options_that_empty_an_imported_workload_are_told() {
    let text = |distribution: &str, length: &str| {
        format!(
            "$ go-ycsb run mysql -P workloads/workloade -p requestdistribution={distribution} \
             -p maxscanlength={length} -p recordcount=100000\n\
             SCAN   - Takes(s): 600.0, Count: 300000, OPS: 500.0, Avg(us): 3000, Min(us): 600, \
             Max(us): 12000, 99th(us): 11000\n"
        )
    };
    let told = |text: &str| -> Vec<String> {
        let found = found_in(text).into_iter();
        let found = found.filter(|f| f.rule == "degenerate-option");
        found
            .map(|f| match f.figure("option") {
                Some(Figure::Text(name)) => name.clone(),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!(told(&text("zipfian", "1")), ["maxscanlength"]);
    assert_eq!(told(&text("zipfian", "100")), [""; 0]);
}

#[test]
fn operations_that_found_nothing_are_told_of_measured_runs() {
    let with = |missing: u64, empty: u64| {
        let mut record = ycsb();
        let (reads, scans) = (histogram(18_000, 7.9), histogram(2000, 7.9));
        let mut all = reads.clone();
        all.merge(&scans);
        set_latencies(&mut record, &all);
        record.totals.types = BTreeMap::from([
            ("READ".into(), stats(&reads)),
            ("SCAN".into(), stats(&scans)),
        ]);
        for (name, count) in [("missing_record", missing), ("empty_scan", empty)] {
            record.totals.notes.insert(name.into(), count);
        }
        record
    };
    let told = |record: RunRecord| {
        let found = tidemark_analysis::findings(&record).unwrap().into_iter();
        let mut found = found.filter(|f| f.rule == "not-found");
        found.next().map(|f| {
            super::common::both_languages_use_the_figures(&f);
            (f.severity, f.figure("type").cloned())
        })
    };
    let of = |name: &str| Some((Severity::Suspect, Some(Figure::Text(name.into()))));
    assert_eq!(told(with(9000, 0)), of("READ"));
    assert_eq!(told(with(180, 1000)), of("SCAN"));
    // Keys that were inserted meanwhile.
    assert_eq!(told(with(100, 9)), None);
    // The note says it, whatever the workload is called.
    let mut other = with(9000, 0);
    other.workload = "records_by_key".into();
    assert_eq!(told(other), of("READ"));
}

#[test]
fn percentiles_that_are_edges_of_buckets_are_told() {
    let text = |ms: [&str; 2]| -> String {
        let lines = ["NEW_ORDER", "PAYMENT"].map(|name| {
            format!(
                "[Summary] {name} - Takes(s): 600.0, Count: 90000, TPM: 9000.0, Sum(ms): 6300000, \
                 Avg(ms): 70, 90th(ms): {}, 99th(ms): {}\n",
                ms[0], ms[1]
            )
        });
        lines.concat()
    };
    let told = |ms: [&str; 2]| {
        let mut found = found_in(&text(ms)).into_iter();
        found.find(|f| f.rule == "coarse-histogram")
    };
    let found = told(["112", "160"]).unwrap();
    assert_eq!(found.severity, Severity::Note);
    super::common::both_languages_use_the_figures(&found);
    assert_eq!(told(["112", "161"]), None);
    assert_eq!(told(["96.5", "130.3"]), None);
}
