//! Each hint where it is due, and the nearest case where it is not.

use super::*;
use tidemark_core::record::{EffectiveOption, TableState};
use tidemark_core::{Pacing, RateStep, Source, ThinkTime};
use tidemark_store::TablesOfRun;

fn record(workload: &str, options: &[(&str, &str)]) -> RunRecord {
    let option = |(name, value): &(&str, &str)| {
        let option = EffectiveOption {
            value: (*value).into(),
            source: Source::CommandLine,
        };
        ((*name).to_string(), option)
    };
    RunRecord {
        workload: workload.into(),
        options: options.iter().map(option).collect(),
        ..RunRecord::default()
    }
}

fn table(name: &str, rows: u64, expected: Option<u64>) -> TableState {
    TableState {
        table: name.into(),
        rows,
        expected_rows: expected,
        min_key: None,
        max_key: None,
    }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

fn at_rate(rate: f64, sessions: usize) -> RunSpec {
    RunSpec {
        pacing: Pacing::Rate(rate),
        terminals: sessions,
        sessions,
        time: seconds(10),
        events: None,
        ..RunSpec::default()
    }
}

fn closed(terminals: usize, time: Option<Duration>, events: Option<u64>) -> RunSpec {
    RunSpec {
        pacing: Pacing::Closed,
        terminals,
        sessions: terminals,
        time,
        events,
        ..RunSpec::default()
    }
}

fn rows_told(options: (&str, &str, &str), tables: &[TableState], about: &[TableState]) -> String {
    let (workload, name, value) = options;
    let mut record = record(workload, &[(name, value)]);
    record.tables_before = tables.to_vec();
    rows::of(&record, about).map_or_else(String::new, |other| other.says(Lang::En))
}

#[test]
fn other_rows_are_told_with_what_comes_of_them() {
    let ycsb = ("ycsb", "recordcount", "1000");
    let found = |rows| rows_told(ycsb, &[table("usertable", rows, Some(1000))], &[]);
    assert_eq!(found(1000), "");
    let more = found(1_000_000);
    assert!(
        more.contains("only the first 1000 of them (0.100 %)"),
        "{more}"
    );
    assert!(more.ends_with("-p recordcount=1000000"), "{more}");
    let fewer = found(10);
    assert!(
        fewer.contains("990 of the records to choose from are missing"),
        "{fewer}"
    );

    let sysbench = ("oltp_read_only", "table-size", "1000");
    let found = |rows: [u64; 2]| {
        let tables = [
            table("sbtest1", rows[0], Some(1000)),
            table("sbtest2", rows[1], Some(1000)),
        ];
        rows_told(sysbench, &tables, &[])
    };
    assert_eq!(found([1005, 995]), "");
    assert_eq!(
        found([1000, 500]),
        "--table-size=1000, but table sbtest2 has 500 rows: many statements will match no row"
    );
    assert!(found([2000, 2000]).contains("has 2000 rows, and another table differs, too: "));
    let large = |rows| rows_told(sysbench, &[], &[table("sbtest1", rows, Some(1000))]);
    assert!(
        large(30_000_000).contains(
            "the keys of table sbtest1 span 30000000 values: statements choose among the"
        )
    );
    assert_eq!(large(1050), "");
    assert!(found([0, 1000]).ends_with("table sbtest1 has 0 rows: load the table first"));
}

#[test]
fn of_tpcc_only_warehouses_are_compared() {
    let found = |warehouses| {
        let tables = [
            table("stock", 400_000, Some(200_000)),
            table("warehouse", warehouses, Some(2)),
        ];
        rows_told(("tpcc", "warehouses", "2"), &tables, &[])
    };
    assert_eq!(found(2), "");
    assert!(found(4).starts_with("--warehouses=2, but table warehouse has 4 rows: the other"));
}

#[test]
fn what_no_option_says_is_not_compared() {
    let tables = [table("lineitem", 5, Some(6))];
    assert_eq!(rows_told(("tpch", "sf", "1"), &tables, &[]), "");
}

#[test]
fn too_few_transactions_for_a_percentile_are_told_before() {
    let of = |load: &RunSpec, options: &[(&str, &str)]| {
        samples::of(&record("oltp_read_only", options), load).map(|hint| hint.says(Lang::En))
    };
    let asked = [("percentile", "50,99.9")];
    let told = of(&at_rate(10.0, 1), &asked).unwrap();
    assert!(
        told.contains("percentile 99.9: it has about 100 transactions"),
        "{told}"
    );
    assert!(
        told.ends_with("needs 10000; ask for 1000 s, or for a lower percentile"),
        "{told}"
    );
    assert_eq!(of(&at_rate(1000.0, 1), &asked), None);
    // Asked for nothing: what the 95th needs.
    assert_eq!(of(&at_rate(20.0, 1), &[]), None);
    assert!(of(&at_rate(19.0, 1), &[]).unwrap().contains("needs 200;"));
    let told = of(&closed(4, None, Some(199)), &[]).unwrap();
    assert!(told.contains("ask for 200 transactions,"), "{told}");
    assert_eq!(of(&closed(4, seconds(60), Some(200)), &[]), None);
    // Nobody knows how many there will be.
    assert_eq!(of(&closed(1, seconds(1), None), &asked), None);
    let mut thinking = closed(10, seconds(10), None);
    thinking.think_time = ThinkTime::Exponential(Duration::from_secs(1));
    assert!(
        of(&thinking, &[])
            .unwrap()
            .contains("about 100 transactions")
    );
    thinking.think_time = ThinkTime::Constant(Duration::from_millis(500));
    assert_eq!(of(&thinking, &[]), None);
    assert_eq!(
        samples::of(&record("tpch", &[]), &closed(1, None, Some(1))),
        None
    );
    let wait = record("tpcc", &[("wait", "on"), ("wait-for", "both")]);
    assert!(samples::of(&wait, &closed(10, seconds(60), None)).is_some());
    assert_eq!(samples::of(&wait, &closed(1000, seconds(60), None)), None);
}

#[test]
fn the_default_percentile_is_not_one_that_was_asked_for() {
    let mut record = record("oltp_read_only", &[("percentile", "99.99")]);
    for option in record.options.values_mut() {
        option.source = Source::Default;
    }
    assert_eq!(samples::of(&record, &at_rate(100.0, 1)), None);
}

#[test]
fn tpccs_terminals_are_ten_for_each_warehouse() {
    let of = |wait: &str, terminals| {
        let record = record("tpcc", &[("warehouses", "4"), ("wait", wait)]);
        terminals::of(&record, &closed(terminals, seconds(60), None))
    };
    assert_eq!(of("on", 40), None);
    for terminals in [8, 41] {
        let told = of("on", terminals).unwrap().says(Lang::En);
        assert!(
            told.contains("with keying and think times for 4 warehouses"),
            "{told}"
        );
        assert!(told.ends_with("use 40 terminals"), "{told}");
    }
    assert_eq!(of("off", 40), None);
    assert_eq!(of("off", 8), None);
    let told = of("off", 41).unwrap().says(Lang::En);
    assert!(
        told.contains("41 terminals without keying and think times"),
        "{told}"
    );
    assert!(
        told.ends_with("at most 40 terminals, or 5 warehouses"),
        "{told}"
    );
    let other = record("ycsb", &[("warehouses", "1")]);
    assert_eq!(terminals::of(&other, &closed(100, None, None)), None);
    let scheduled = record("tpcc", &[("warehouses", "1")]);
    assert_eq!(terminals::of(&scheduled, &at_rate(10.0, 100)), None);
}

/// Runs on one table, newest first: rows before and after each.
fn earlier(runs: &[(u64, u64)]) -> Vec<TablesOfRun> {
    let run = |(before, after): &(u64, u64)| TablesOfRun {
        before: vec![table("history", *before, None)],
        after: vec![table("history", *after, None)],
    };
    runs.iter().map(run).collect()
}

fn changed(rows: u64, runs: &[(u64, u64)]) -> Option<Hint> {
    earlier::of(&[table("history", rows, None)], &earlier(runs))
}

#[test]
fn runs_since_the_load_are_counted_by_what_they_left() {
    let runs = [(120, 140), (100, 120), (100, 100)];
    assert_eq!(changed(140, &runs), Some(Hint::Changed { runs: 2 }));
    // Loaded since.
    assert_eq!(changed(100, &runs), None);
    // Loaded between both.
    let reloaded = [(100, 120), (100, 180)];
    assert_eq!(changed(120, &reloaded), Some(Hint::Changed { runs: 1 }));
    // Nothing but reads.
    assert_eq!(changed(100, &[(100, 100), (100, 100)]), None);
    // Too little to be measured.
    assert_eq!(changed(100_010, &[(100_000, 100_010)]), None);
    assert_eq!(changed(100, &[]), None);
}

#[test]
fn runs_on_other_tables_and_without_a_look_say_nothing() {
    let mut runs = earlier(&[(100, 120)]);
    let other = TablesOfRun {
        before: vec![table("usertable", 1, None)],
        after: vec![table("usertable", 9, None)],
    };
    runs.insert(0, other);
    let now = [table("history", 120, None)];
    assert_eq!(earlier::of(&now, &runs), Some(Hint::Changed { runs: 1 }));
    let cut_off = TablesOfRun {
        before: vec![table("history", 100, None)],
        after: Vec::new(),
    };
    assert_eq!(earlier::of(&now, &[cut_off]), None);
}

#[test]
fn a_rate_beyond_what_round_trips_allow_is_told() {
    let millisecond = Some(Duration::from_millis(1));
    let told = reach::of(&at_rate(1300.0, 8), millisecond, 20)
        .unwrap()
        .says(Lang::En);
    assert!(told.contains("a round trip takes 1.00 ms"), "{told}");
    assert!(
        told.contains("at least 20 round trips, so 8 sessions complete at most 400"),
        "{told}"
    );
    // Statements under load may be quicker than one alone.
    assert_eq!(reach::of(&at_rate(1100.0, 8), millisecond, 20), None);
    assert_eq!(reach::of(&at_rate(1000.0, 8), None, 20), None);
    assert_eq!(
        reach::of(&closed(1, seconds(1), None), millisecond, 20),
        None
    );
    let step = |per_second| RateStep {
        per_second,
        hold: Duration::from_secs(1),
    };
    let steps = RunSpec {
        pacing: Pacing::Steps(vec![step(10.0), step(1500.0)]),
        ..at_rate(1.0, 8)
    };
    let told = reach::of(&steps, millisecond, 20).unwrap().says(Lang::En);
    assert!(
        told.starts_with("the rate of a step, 1500 transactions/s,"),
        "{told}"
    );
    assert!(
        told.ends_with("use 30 sessions or more, or a lower rate"),
        "{told}"
    );
}

#[test]
fn one_repeat_is_no_comparison() {
    assert_eq!(Hint::of_study(1), Some(Hint::SingleRepeat));
    assert_eq!(Hint::of_study(3), None);
}

#[test]
fn strict_names_all_hints_and_starts_nothing() {
    let both = [Hint::SingleRepeat, Hint::Changed { runs: 1 }];
    judge(false, &both, Lang::En).unwrap();
    judge(true, &[], Lang::En).unwrap();
    let refused = judge(true, &both, Lang::En).unwrap_err();
    assert_eq!(refused.code, ExitCode::Refused);
    for part in [
        "--strict: nothing was started",
        "repeats = 3",
        "1 earlier run changed",
    ] {
        assert!(refused.message.contains(part), "{}", refused.message);
    }
}
