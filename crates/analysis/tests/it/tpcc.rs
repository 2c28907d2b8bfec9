//! What makes TPC-C and is not there, and whom that flatters.

use super::common::{both_languages_use_the_figures, clean, histogram, option, stats};
use tidemark_analysis::{Finding, Severity, findings};
use tidemark_core::record::{RunRecord, TableState};

/// Ten minutes of a hundred terminals on ten warehouses, as the specification has it.
fn specified() -> RunRecord {
    let mut record = clean();
    record.workload = "tpcc".into();
    record.sessions = 100;
    record.intervals.clear();
    record.totals.elapsed_s = 600.0;
    record.totals.types.clear();
    let counts = [
        ("NewOrder", 1190),
        ("Payment", 1150),
        ("OrderStatus", 110),
        ("Delivery", 110),
        ("StockLevel", 110),
    ];
    let mut all = tidemark_stats::Histogram::new();
    for (name, count) in counts {
        let one = histogram(count, 20.0);
        all.merge(&one);
        record.totals.types.insert(name.into(), stats(&one));
    }
    record.totals.all = stats(&all);
    for (name, count) in [
        ("order_line", 11_900),
        ("remote_line", 119),
        ("remote_payment", 172),
    ] {
        record.totals.notes.insert(name.into(), count);
    }
    option(&mut record, "warehouses", "10");
    option(&mut record, "wait", "on");
    record
}

fn told(change: impl Fn(&mut RunRecord)) -> Option<Finding> {
    let mut record = specified();
    change(&mut record);
    let found = findings(&record).unwrap().into_iter();
    let mut found = found.filter(|f| f.rule == "not-tpcc-like");
    let first = found.next();
    first.iter().for_each(both_languages_use_the_figures);
    assert!(found.next().is_none(), "more than one");
    first
}

fn is_told(change: impl Fn(&mut RunRecord), severity: Severity, words: &str) {
    let found = told(change).expect(words);
    assert_eq!(found.severity, severity, "{words}");
    assert!(found.says.en.contains(words), "{}", found.says.en);
    assert!(found.says.en.contains("flatters"), "{}", found.says.en);
}

fn note(record: &mut RunRecord, name: &str, count: u64) {
    record.totals.notes.insert(name.into(), count);
}

#[test]
fn the_specifications_load_is_like_tpcc() {
    assert_eq!(told(|_| ()), None);
    // By chance.
    assert_eq!(told(|r| note(r, "remote_line", 90)), None);
    assert_eq!(told(|r| note(r, "remote_payment", 200)), None);
    // Of an earlier version, and of one warehouse, beside which there is none.
    assert_eq!(told(|r| r.totals.notes.clear()), None);
    let one = |r: &mut RunRecord| {
        option(r, "warehouses", "1");
        r.sessions = 10;
        note(r, "remote_line", 0);
        note(r, "remote_payment", 0);
    };
    assert_eq!(told(one), None);
}

#[test]
fn remote_warehouses_that_are_too_few_or_too_many_are_told() {
    for (name, count, words) in [
        ("remote_line", 0, "Fewer leave"),
        ("remote_payment", 0, "Fewer leave"),
        ("remote_line", 1200, "More leave"),
        ("remote_payment", 600, "More leave"),
    ] {
        is_told(|r| note(r, name, count), Severity::Suspect, words);
    }
}

#[test]
fn times_that_are_missing_or_short_are_told() {
    is_told(
        |r| option(r, "wait", "off"),
        Severity::Note,
        "neither keyed nor thought",
    );
    is_told(
        |r| option(r, "wait-scale", "0.5"),
        Severity::Note,
        "of the specified times",
    );
    is_told(
        |r| option(r, "wait-for", "think"),
        Severity::Note,
        "either keyed or thought",
    );
}

#[test]
fn warehouses_that_are_too_few_and_other_items_are_told() {
    is_told(
        |r| r.terminals = Some(101),
        Severity::Note,
        "terminals share",
    );
    let items = |rows: u64| {
        move |r: &mut RunRecord| {
            r.tables_before = vec![TableState {
                table: "item".into(),
                rows,
                expected_rows: None,
                min_key: None,
                max_key: None,
            }];
        }
    };
    assert_eq!(told(items(100_000)), None);
    is_told(items(10_000), Severity::Suspect, "Table item has");
}
