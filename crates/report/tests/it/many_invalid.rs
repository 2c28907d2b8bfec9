//! The document of many runs some of which must not be used: they are shown as such, and no figure
//! or sentence is made of them while there is anything else.

use super::common::many::{Cell, document, law, record, records};
use super::common::{spoil, well_formed};
use regex::Regex;
use serde_json::Value;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many};

fn json(many: &Many) -> Value {
    serde_json::from_str(&many.json().unwrap()).unwrap()
}

fn tps(r: &RunRecord) -> f64 {
    r.totals.all.count as f64 / r.totals.elapsed_s
}

/// A series over threads, one run each.
fn sweep(threads: &[usize]) -> Vec<RunRecord> {
    let each = threads.iter().enumerate().map(|(n, threads)| {
        let cell = Cell {
            workload: "oltp_read_write",
            threads: *threads,
            factors: &[],
            transactions_per_s: law(60.0, 0.03, 0.0006, *threads as f64),
            seconds: 6,
        };
        record(&cell, 1, n as u64)
    });
    each.collect()
}

/// Threads with durability 1 and 2, the second 1.4 times as fast, two repeats of each.
fn durability(threads: &[usize]) -> Vec<RunRecord> {
    let factor = ("durability", &[("1", 1.0), ("2", 1.4)][..]);
    records(&["oltp_read_write"], threads, factor, 2, 6)
}

/// Those of a cell.
fn of(records: &[RunRecord], threads: usize, durability: &str) -> Vec<usize> {
    let is = |r: &RunRecord| {
        let factors = &r.study.as_ref().unwrap().factors;
        r.sessions == threads && factors["durability"] == durability
    };
    (0..records.len()).filter(|n| is(&records[*n])).collect()
}

#[test]
fn a_repeat_that_must_not_be_used_is_in_no_figure_of_its_point() {
    let mut records = records(&["oltp_read_write"], &[4], ("size", &[("1k", 1.0)]), 3, 6);
    let good = (tps(&records[0]) + tps(&records[2])) / 2.0;
    spoil(&mut records[1]);
    let many = document("one repeat", &records);
    let told = json(&many);
    let point = &told["workloads"][0]["series"][0]["points"][0];
    let value = point["transactions_per_s"]["value"].as_f64().unwrap();
    assert!((value - good).abs() < 1e-6 * good, "{value} for {good}");
    assert!(point["transactions_per_s"]["half"].as_f64().unwrap() < good / 2.0);
    let p99 = |r: &RunRecord| {
        let latency = tidemark_stats::Histogram::decode(&r.totals.all.service.0).unwrap();
        latency.percentile_ns(99.0) as f64 / 1e6
    };
    let mean = (p99(&records[0]) + p99(&records[2])) / 2.0;
    let value = point["p99_ms"]["value"].as_f64().unwrap();
    assert!((value - mean).abs() < 1e-9, "{value} for {mean}");
    assert_eq!(
        (&point["counted"], &point["usable"]),
        (&2.into(), &true.into())
    );
    assert_eq!(point["invalid"], serde_json::json!([records[1].id]));
    let little = &told["workloads"][0]["series"][0]["little"];
    let usable: Vec<bool> = (0..3).map(|n| told["runs"][n]["usable"] == true).collect();
    assert_eq!(usable, [true, false, true], "{little}");
    let csv = many.csv();
    // Behind it are newer columns.
    let ends: Vec<&str> = csv
        .lines()
        .map(|l| l.rsplit(',').nth(16).unwrap())
        .collect();
    assert_eq!(ends, ["usable", "true", "false", "true"]);
    let [en, zh] = Lang::ALL.map(|lang| many.markdown(lang).unwrap());
    for part in [
        "| 2 / 3 |",
        "✗ 1 of 3 excluded: summary-mismatch",
        "Invalid runs are excluded where a point has valid ones",
        "✗ invalid: repeat 2 (summary-mismatch)",
        "✗ INVALID summary-mismatch",
    ] {
        assert!(en.contains(part), "{part}: {en}");
    }
    assert!(zh.contains("✗ 剔除 1/3 次：summary-mismatch"), "{zh}");
    // The picture over time has it, crossed out.
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert_eq!(page.matches("<path class=\"cross\"").count(), 1);
    assert_eq!(page.matches("<path class=\"upper\"").count(), 3);
}

#[test]
fn a_point_that_must_not_be_used_is_in_no_law_and_no_sentence() {
    let loads = [1, 2, 4, 8, 16, 32, 64, 128];
    let clean = sweep(&loads);
    let mut records = clean.clone();
    spoil(&mut records[4]);
    let many = document("one point", &records);
    let (told, without) = (json(&many), {
        let mut without = clean;
        without.remove(4);
        json(&document("without", &without))
    });
    let series = |told: &Value| told["workloads"][0]["series"][0].clone();
    let (told, without) = (series(&told), series(&without));
    assert!(told["scalability"]["peak"]["load"].is_number(), "{told}");
    assert_eq!(told["scalability"], without["scalability"]);
    assert_eq!(told["points"][4]["usable"], false);
    assert_eq!(told["points"][4]["counted"], 1);
    assert_eq!(told["little"][4]["usable"], false);
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    for part in [
        "Excluded as invalid: 1 run.",
        "✗ marks invalid points, which no line or fit includes: 16 threads (summary-mismatch).",
        "✗ before a value: all runs of the point are invalid.",
        "Invalid runs are excluded from all means, fits, comparisons and conclusions",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Three times as much as it did would be the most by far.
    let most = Regex::new("peak throughput [0-9,.]+ transactions/s at (\\d+) threads").unwrap();
    assert_ne!(&most.captures(&page).unwrap()[1], "16");
    let highest = Regex::new("peak [0-9,.]+ transactions/s at (\\d+) threads").unwrap();
    assert_ne!(&highest.captures(&page).unwrap()[1], "16");
    let text = many.markdown(Lang::En).unwrap();
    let row =
        Regex::new(r"(?m)^\| 16 \| 0 / 1 \| ✗ [0-9,.]+ \| ✗ .*✗ INVALID summary-mismatch").unwrap();
    assert!(row.is_match(&text), "{text}");
    // Seven points are joined, and the eighth is a cross: charts over load and over throughput of
    // throughput and p95, three percentiles, Little's law.
    let joined = Regex::new("<polyline [^>]*stroke=\"#0A6C8F\"[^>]*points=\"([^\"]+)\"").unwrap();
    let lengths: Vec<usize> = joined
        .captures_iter(&page)
        .map(|c| c[1].split_whitespace().count())
        .collect();
    assert!(lengths.contains(&7) && !lengths.contains(&8), "{lengths:?}");
    assert!(many.html(Lang::Zh).unwrap().contains("✗ 标出的点数据无效"));
}

#[test]
fn what_must_not_be_used_is_told_as_such_where_there_is_nothing_else() {
    let mut records = sweep(&[2, 4, 8, 16]);
    records.iter_mut().for_each(spoil);
    let many = document("nothing", &records);
    for (lang, part) in [
        (
            Lang::En,
            "These results are invalid, and there are no others",
        ),
        (Lang::Zh, "以上数据无效、不可采用，且没有其他有效压测"),
    ] {
        let page = many.html(lang).unwrap();
        well_formed(&page);
        assert!(page.contains(part) && !page.contains("NaN"), "{page}");
    }
    let told = json(&many);
    let fit = &told["workloads"][0]["series"][0]["scalability"];
    assert!(fit["not_fitted"].is_string(), "{fit}");
    let page = many.html(Lang::En).unwrap();
    assert!(page.contains("Excluded as invalid: 4 runs."));
    assert!(page.contains("✗: invalid, and there are no other results."));
    assert!(!page.contains("Error bars") && !page.contains("highest "));
}

#[test]
fn verdicts_are_of_pairs_that_may_be_used() {
    let mut records = durability(&[2, 8]);
    let one = of(&records, 2, "2")[0];
    spoil(&mut records[one]);
    for n in of(&records, 8, "2") {
        spoil(&mut records[n]);
    }
    let many = document("pairs", &records);
    let told = json(&many);
    let pairs = told["comparison"]["pairs"].as_array().unwrap();
    let verdicts = |pair: &Value| pair["comparison"]["metrics"][0]["verdict"].clone();
    assert_eq!(verdicts(&pairs[1]), "invalid");
    let ratio = pairs[0]["comparison"]["metrics"][0]["ratio"]
        .as_f64()
        .unwrap();
    assert!((ratio - 1.4).abs() < 0.1, "{ratio}");
    assert_eq!(pairs[0]["comparison"]["unusable"][0]["left_out"], true);
    assert_eq!(pairs[1]["comparison"]["unusable"][0]["left_out"], false);
    let text = many.markdown(Lang::En).unwrap();
    for part in [
        "of 1 pair (",
        "1 of 2 pairs cannot be judged: one side has only invalid runs.",
        "| invalid |",
        "Excluded from the pairs as invalid: 1 run.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The change that is told is of the first pair alone.
    let seen = Regex::new(r"not enough data in 1 of 1 pair \(\+[34]\d\.\d% observed\)").unwrap();
    assert!(seen.is_match(&text), "{text}");
    assert!(!text.contains("higher throughput"), "{text}");
    assert!(many.markdown(Lang::Zh).unwrap().contains("| 数据无效 |"));
    // Of no pair at all.
    let mut records = durability(&[2, 8]);
    for threads in [2, 8] {
        for n in of(&records, threads, "2") {
            spoil(&mut records[n]);
        }
    }
    let text = document("none", &records).markdown(Lang::En).unwrap();
    assert!(
        text.contains("no conclusion is possible. In 2 of 2 pairs"),
        "{text}"
    );
    assert!(!text.contains("higher throughput"), "{text}");
}

#[test]
fn queries_that_must_not_be_used_are_in_no_mean() {
    let asked = |number: u64, took_ms: f64| {
        let cell = Cell {
            workload: "tpch",
            threads: 1,
            factors: &[],
            transactions_per_s: 60.0,
            seconds: 6,
        };
        let mut r = record(&cell, number as u32, number);
        r.queries = vec![QueryRun {
            name: "Q1".into(),
            took_ms,
            ..QueryRun::default()
        }];
        r
    };
    let mut records = [asked(1, 2000.0), asked(2, 5000.0)];
    spoil(&mut records[1]);
    let text = document("TPC-H", &records).markdown(Lang::En).unwrap();
    assert!(text.contains("| Q1 | 2.00 |"), "{text}");
    spoil(&mut records[0]);
    let text = document("TPC-H", &records).markdown(Lang::En).unwrap();
    assert!(
        text.contains("| Query | ✗ tpch |") && text.contains("| Q1 | 3.50 |"),
        "{text}"
    );
}

#[test]
fn what_was_cut_off_is_in_no_mean_of_its_picture() {
    let mut records = records(&["oltp_read_write"], &[4], ("size", &[("1k", 1.0)]), 2, 6);
    let mean = tps(&records[0]);
    records[1].state = RunState::Failed("the server went away".into());
    for interval in &mut records[1].intervals {
        interval.types.values_mut().for_each(|t| t.count *= 5);
    }
    let page = document("cut off", &records).html(Lang::En).unwrap();
    let told = Regex::new(r"<span>([0-9,.]+) tx/s \(").unwrap();
    let told: f64 = told.captures(&page).unwrap()[1]
        .replace(',', "")
        .parse()
        .unwrap();
    assert!((told / mean - 1.0).abs() < 0.01, "{told} for {mean}");
    assert!(page.contains("✗ no result: repeat 2"), "{page}");
}
