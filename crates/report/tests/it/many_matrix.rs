//! The matrix that a document of many runs finds in them: what is a load, a factor, a pair.

use super::common;
use super::common::load::option;
use super::common::many::{document, durability, records};
use super::common::well_formed;
use regex::Regex;
use std::sync::LazyLock;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many, RunDigest};

/// Made once: it is eighty-four runs.
static DURABILITY: LazyLock<Many> = LazyLock::new(|| durability(8));

#[test]
fn the_change_of_the_only_factor_is_found_and_sure() {
    let page = DURABILITY.markdown(Lang::En).unwrap();
    let said =
        Regex::new(r"higher throughput in (\d+) of 14 pairs \(\+\d\d\.\d% to \+\d\d\.\d%\)\.")
            .unwrap();
    let faster: usize = said.captures(&page).unwrap_or_else(|| panic!("{page}"))[1]
        .parse()
        .unwrap();
    // 40 % more with 1 % of noise.
    assert_eq!(faster, 14);
    assert!(page.contains("The 95% confidence intervals are based on repeats."));
    // The setting itself is named as what was different.
    assert!(
        page.contains("setting innodb\\_flush\\_log\\_at\\_trx\\_commit | 1 | 2"),
        "{page}"
    );
}

#[test]
fn a_comparison_has_a_table_for_each_metric() {
    let text = DURABILITY.markdown(Lang::En).unwrap();
    let head = "| Pair | 1 | 2 | Change | 95% interval | Verdict |\n";
    for metric in ["Transactions/s", "p95 (ms)"] {
        let both = format!("### {metric}\n\n{head}");
        assert!(text.contains(&both), "{both}{text}");
    }
    // Nor a word of figures that there are none of.
    assert!(text.contains("Every value is the mean over the repeats"));
    assert!(!text.contains("tpmC"), "{text}");
}

#[test]
fn what_is_found_in_some_pairs_is_told_with_them() {
    let factor = ("durability", &[("1", 1.0), ("2", 1.4)][..]);
    let mut records = records(&["oltp_read_write"], &[2, 4, 8], factor, 2, 6);
    // Behind the first pair: the data of one, and the processor of the other.
    for r in &mut records {
        let factors = &r.study.as_ref().unwrap().factors;
        let (threads, second) = (r.sessions, factors["durability"] == "2");
        if threads == 4 {
            r.tables_before = vec![TableState {
                table: "sbtest1".into(),
                rows: if second { 2000 } else { 1000 },
                expected_rows: Some(1000),
                min_key: None,
                max_key: None,
            }];
        }
        if threads == 8 && second {
            r.client.cpu_model = "another CPU".into();
        }
        // The other way round in the first pair and in the last: taken together, both are the same.
        if threads != 4 {
            r.client.kernel = if second == (threads == 8) {
                "6.1"
            } else {
                "6.12"
            }
            .into();
        }
    }
    let many = document("pairs", &records);
    let text = many.markdown(Lang::En).unwrap();
    let carried = Regex::new(
        r"SUSPECT .*The compared runs started from different data.* In 1 of 3 pairs: oltp\\_read\\_write, 4 threads\.",
    )
    .unwrap();
    assert!(carried.is_match(&text), "{text}");
    for row in [
        r"| rows of sbtest1 before | 1000 | 2000 | oltp\_read\_write, 4 threads |",
        r"| setting innodb\_flush\_log\_at\_trx\_commit | 1 | 2 | all 3 |",
        r"| client kernel | 6.1 | 6.12 | oltp\_read\_write, 2 threads |",
        r"| client kernel | 6.12 | 6.1 | oltp\_read\_write, 8 threads |",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(
        text.contains(r"| another CPU | oltp\_read\_write, 8 threads |"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    let differences = json["comparison"]["differences"].as_array().unwrap();
    let rows = differences
        .iter()
        .find(|d| d["what"] == "rows of sbtest1 before");
    assert_eq!(rows.unwrap()["pairs"], serde_json::json!([1]));
    // Single runs are said to be single once, not once a pair.
    let factor = ("durability", &[("1", 1.0), ("2", 1.4)][..]);
    let single = common::many::records(&["oltp_read_write"], &[2, 4], factor, 1, 6);
    let page = document("single", &single).html(Lang::Zh).unwrap();
    assert_eq!(page.matches("[no-repeat]").count(), 1);
    assert!(!page.contains("组中的"), "{page}");
}

#[test]
fn sizes_and_targets_are_told_apart_without_a_load() {
    let records = records(
        &["oltp_read_write"],
        &[8],
        (
            "size",
            &[("10k", 1.0), ("100k", 0.9), ("1M", 0.6), ("10M", 0.4)],
        ),
        1,
        6,
    );
    let page = document("sizes", &records).html(Lang::En).unwrap();
    well_formed(&page);
    assert!(page.contains("Throughput over size"), "{page}");
    // In the order of the sizes, not of the letters.
    let at = |text: &str| page.find(&format!("\"number\">{text}</td>")).unwrap();
    assert!(at("10k") < at("100k") && at("100k") < at("1M") && at("1M") < at("10M"));
    // Users do not vary: no law is spoken of.
    assert!(!page.contains("Scalability</h3>"));
    let two = common::many::records(
        &["oltp_read_write"],
        &[4, 16],
        ("target", &[("MariaDB", 1.0), ("PostgreSQL", 1.2)]),
        1,
        25,
    );
    let page = document("two", &two).html(Lang::En).unwrap();
    assert!(page.contains("Target: PostgreSQL compared with MariaDB"));
    assert!(page.contains("postgres://u:***@10.0.3.12:5432/sbtest"));
    assert!(
        page.contains("[no-repeat]"),
        "single runs are said to be single"
    );
}

#[test]
fn runs_of_no_study_are_told_apart_by_what_differs() {
    let mut records = records(
        &["oltp_read_write"],
        &[2, 4, 8, 16],
        ("x", &[("y", 1.0)]),
        1,
        6,
    );
    for (n, r) in records.iter_mut().enumerate() {
        r.study = None;
        r.tags = vec![format!("tag{n}")];
    }
    let mut many = document("", &records);
    (many.study, many.steps) = (None, Vec::new());
    let page = many.html(Lang::En).unwrap();
    assert!(page.contains("<h1>4 runs: oltp_read_write</h1>"));
    assert!(page.contains("Throughput over threads") && page.contains("tag3"));
    // Another option becomes a factor.
    records[3].options.insert(
        "rand-type".into(),
        EffectiveOption {
            value: "uniform".into(),
            source: tidemark_core::Source::CommandLine,
        },
    );
    many.runs = records.iter().map(|r| RunDigest::of(r).unwrap()).collect();
    assert!(many.html(Lang::En).unwrap().contains("rand-type=uniform"));
}

#[test]
fn what_is_not_shown_is_not_said_to_have_changed() {
    let same = ("durability", &[("1", 1.0), ("2", 1.0)][..]);
    let text = |threads: &[usize], factor, lang| {
        let records = records(&["oltp_read_write"], threads, factor, 3, 25);
        document("pairs", &records).markdown(lang).unwrap()
    };
    let none = text(&[2, 4], same, Lang::En);
    let said =
        r"no difference shown in 2 of 2 pairs \([+−]\d\.\d%(?: to [+−]\d\.\d%)? observed\)\.";
    assert!(Regex::new(said).unwrap().is_match(&none), "{none}");
    assert!(!none.contains("er throughput"), "{none}");
    assert!(none.contains("Values over several runs are geometric means here"));
    let one = text(&[2], same, Lang::En);
    let said = r"no difference in throughput shown, [+−]\d\.\d% observed \(95% interval ";
    assert!(Regex::new(said).unwrap().is_match(&one), "{one}");
    let one = text(&[2], same, Lang::Zh);
    let said = r"吞吐量未显示差异，观测到 [+−]\d\.\d%（95% 置信区间 ";
    assert!(Regex::new(said).unwrap().is_match(&one), "{one}");
    assert!(one.contains("此处多次重复的数据为几何平均"), "{one}");
    let much = ("durability", &[("1", 1.0), ("2", 1.4)][..]);
    let one = text(&[2], much, Lang::En);
    let said = r"higher throughput, \+\d\d\.\d% \(95% interval \+\d\d\.\d% … \+\d\d\.\d%\), \d+ instead of \d+ transactions/s";
    assert!(Regex::new(said).unwrap().is_match(&one), "{one}");
    assert!(!one.contains("no difference"), "{one}");
}

/// Runs of no study: threads, and what is done to each.
fn loose(threads: &[usize], mut change: impl FnMut(usize, &mut RunRecord)) -> Many {
    let mut records = records(&["oltp_read_write"], threads, ("x", &[("y", 1.0)]), 1, 25);
    for (n, r) in records.iter_mut().enumerate() {
        r.study = None;
        change(n, r);
    }
    let mut many = document("", &records);
    (many.study, many.steps) = (None, Vec::new());
    many
}

fn default(record: &mut RunRecord, name: &str, value: &str) {
    option(record, name, value);
    record.options.get_mut(name).unwrap().source = tidemark_core::Source::Default;
}

#[test]
fn runs_of_no_study_beside_a_study_hide_nothing() {
    let factor = ("durability", &[("1", 1.0)][..]);
    let mut records = records(&["oltp_read_write"], &[1, 2, 4, 8], factor, 1, 6);
    for r in &mut records {
        option(r, "tables", "2");
        option(r, "table-size", "5000");
        // Under a name of its own.
        let place = r.study.as_mut().unwrap();
        let threads = place.factors.remove("threads").unwrap();
        place.factors.insert("users".into(), threads);
    }
    let mut one = records[2].clone();
    one.study = None;
    one.id = "01940000-53a0-7c11-8a70-0c1d2e3f4a5b".into();
    // As many tables as threads, by chance.
    option(&mut one, "tables", "4");
    default(&mut one, "table-size", "10000");
    records.push(one);
    let text = document("mixed", &records).markdown(Lang::En).unwrap();
    let row = |parts: &[&str]| text.lines().any(|l| parts.iter().all(|p| l.contains(p)));
    assert!(
        row(&["| durability 01932b7e-0000 | 5000 | 2 | 8 |"]),
        "{text}"
    );
    assert!(row(&["| – | 10000 | 4 | 4 |"]), "{text}");
    assert!(text.contains("Throughput over threads"), "{text}");
    assert!(!text.contains("table-size=–"), "{text}");
}

#[test]
fn tables_are_no_load_of_runs_of_no_study() {
    let many = loose(&[4, 4], |n, r| option(r, "tables", ["4", "8"][n]));
    let text = many.markdown(Lang::En).unwrap();
    assert!(
        text.contains("| tables | Runs | Transactions/s |"),
        "{text}"
    );
    // Both vary and are the same in each run: the load is what is called so.
    let many = loose(&[2, 4, 8], |_, r| {
        let threads = r.sessions.to_string();
        option(r, "tables", &threads);
    });
    let text = many.markdown(Lang::En).unwrap();
    assert!(text.contains("| tables | Threads | Runs |"), "{text}");
}

#[test]
fn runs_of_no_study_that_differ_in_one_thing_are_compared() {
    let named = loose(&[4, 4], |n, r| match n {
        0 => default(r, "range-size", "100"),
        _ => option(r, "range-size", "50"),
    });
    let text = named.markdown(Lang::En).unwrap();
    assert!(text.contains("range-size: 100 compared with 50"), "{text}");
    let far = loose(&[4, 4], |n, r| r.inject_rtt_ms = [0.0, 5.0][n]);
    let text = far.markdown(Lang::En).unwrap();
    assert!(
        text.contains("Injected network latency: 5ms compared with 0ms"),
        "{text}"
    );
}
