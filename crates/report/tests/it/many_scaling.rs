//! The scalability law and Little's law in the document of many runs.

use super::common::many::{Cell, document, durability, law, record};
use regex::Regex;
use tidemark_core::record::*;
use tidemark_report::Lang;

#[test]
fn the_law_is_drawn_where_it_is_sound_and_only_there() {
    let sweep = |threads: &[usize], tps: &dyn Fn(f64) -> f64| {
        let records: Vec<RunRecord> = threads
            .iter()
            .enumerate()
            .map(|(n, threads)| {
                let cell = Cell {
                    workload: "oltp_read_write",
                    threads: *threads,
                    factors: &[],
                    transactions_per_s: tps(*threads as f64),
                    seconds: 6,
                };
                record(&cell, 1, n as u64)
            })
            .collect();
        let many = document("sweep", &records);
        (many.html(Lang::En).unwrap(), many.json().unwrap())
    };
    let loads = [1, 2, 4, 8, 16, 32, 64, 128];
    // A peak in range: √(0.97 / 0.0006) = 40.
    let (page, json) = sweep(&loads, &|n| law(60.0, 0.03, 0.0006, n));
    let peak =
        Regex::new(r"The estimated peak is [0-9,.]+ transactions/s at (\d+) threads").unwrap();
    let at: f64 = peak.captures(&page).unwrap_or_else(|| panic!("{page}"))[1]
        .parse()
        .unwrap();
    assert!((34.0..47.0).contains(&at), "{at}");
    assert!(
        page.contains(">\npeak ") && page.contains(">\nknee "),
        "no marks"
    );
    assert!(page.contains("Dashed grey line: fitted Universal Scalability Law."));
    assert!(!page.contains("still rising"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let fit = &json["workloads"][0]["series"][0]["scalability"];
    assert!(
        (fit["contention"]["value"].as_f64().unwrap() - 0.03).abs() < 0.02,
        "{fit}"
    );
    // Straight up: no peak is claimed.
    let (page, _) = sweep(&loads[..5], &|n| 40.0 * n);
    assert!(!peak.is_match(&page) && !page.contains(">\npeak "));
    assert!(
        page.contains("no peak is estimated")
            || page.contains(
                "There is no peak within the \
                                                                  measured range"
            )
    );
    // Of single runs nobody knows what the next one would have made.
    assert!(!page.contains("still rising"), "{page}");
    // Too few loads, and throughputs that follow another law.
    let (page, _) = sweep(&[1, 8, 32], &|n| law(60.0, 0.03, 0.0006, n));
    assert!(page.contains("3 different loads; fitting the USL needs at least four"));
    assert!(!page.contains("fitted Universal Scalability Law"));
    let (page, _) = sweep(&[1, 2, 4, 8, 16, 32], &|n| match n as u64 {
        2 | 8 | 32 => 300.0,
        _ => 60.0,
    });
    assert!(page.contains("so it is not drawn"), "{page}");
    assert!(!page.contains("fitted Universal Scalability Law"));
}

#[test]
fn littles_law_stands_beside_the_figures() {
    let json = durability(8).json().unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for workload in json["workloads"].as_array().unwrap() {
        for series in workload["series"].as_array().unwrap() {
            let points = series["little"].as_array().unwrap();
            assert_eq!(points.len(), 7);
            for p in points {
                let (users, by_figures) = (
                    p["users"].as_f64().unwrap(),
                    p["by_figures"].as_f64().unwrap(),
                );
                assert!((by_figures / users - 1.0).abs() < 0.12, "{p}");
            }
        }
    }
}

#[test]
fn littles_law_adds_the_clients_own_time_only_where_no_latency_has_it() {
    let tps = |n: f64| 40.0 * n;
    let told = |end: LatencyEnd| {
        let mut records = repeated(&[2, 4, 8], 1, &tps);
        for r in &mut records {
            // Twice as many sessions as were at work: the rest of their time passed between.
            r.sessions *= 2;
            r.totals.fairness.between_avg_s = Some(r.totals.elapsed_s / 2.0);
            r.latency_end = end;
        }
        let many = document("a", &records);
        let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
        let points = json["workloads"][0]["series"][0]["little"].clone();
        let points = points.as_array().unwrap().iter().map(|p| {
            let of = |name: &str| p[name].as_f64().unwrap();
            of("by_figures") / of("users")
        });
        let shares: Vec<f64> = points.collect();
        assert_eq!(shares.len(), 3);
        (shares, [Lang::En, Lang::Zh].map(|l| many.html(l).unwrap()))
    };
    let own = "own time between transactions is added";
    let (shares, [en, zh]) = told(LatencyEnd::Session);
    assert!(shares.iter().all(|s| (s - 0.5).abs() < 0.06), "{shares:?}");
    assert!(en.contains("throughput × mean latency, and the actual number of sessions"));
    assert!(!en.contains(own) && !zh.contains("另加了客户端"));
    let (shares, [en, zh]) = told(LatencyEnd::Arrival);
    assert!(shares.iter().all(|s| (s - 1.0).abs() < 0.06), "{shares:?}");
    assert!(en.contains(own) && zh.contains("另加了客户端"));
}

/// Loads with so many repeats each.
fn repeated(threads: &[usize], repeats: u64, tps: &dyn Fn(f64) -> f64) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for n in threads {
        for repeat in 0..repeats {
            let cell = Cell {
                workload: "oltp_read_write",
                threads: *n,
                factors: &[],
                transactions_per_s: tps(*n as f64),
                seconds: 6,
            };
            records.push(record(&cell, repeat as u32 + 1, records.len() as u64));
        }
    }
    records
}

#[test]
fn that_more_was_to_be_had_takes_loads_repeats_and_a_host_with_time_left() {
    let rising = |n: f64| 40.0 * n;
    let said = |records: &[RunRecord]| {
        let text = document("rising", records).markdown(Lang::En).unwrap();
        text.contains("still rising at the highest load")
    };
    let mut enough = repeated(&[4, 8, 16], 3, &rising);
    assert!(said(&enough));
    assert!(!said(&repeated(&[8, 16], 3, &rising)), "two loads");
    assert!(!said(&repeated(&[4, 8, 16], 1, &rising)), "single runs");
    let flat = |n: f64| 40.0 * n.min(8.0);
    assert!(!said(&repeated(&[4, 8, 16], 3, &flat)));
    for r in &mut enough[6..] {
        r.usage.host_busy = Some(0.99);
    }
    assert!(!said(&enough), "a saturated host");
}

#[test]
fn the_highest_throughput_is_told_with_the_loads_that_it_is_not_told_from() {
    let flat = |n: f64| 40.0 * n.min(16.0);
    let records = repeated(&[4, 8, 16, 32, 64], 3, &flat);
    let many = document("flat", &records);
    let text = many.markdown(Lang::En).unwrap();
    assert!(
        text.contains("These runs do not distinguish 16 threads to 64 threads."),
        "{text}"
    );
    let zh = many.markdown(Lang::Zh).unwrap();
    assert!(
        zh.contains("线程数 16 到线程数 64 之间，现有数据不足以区分吞吐量高低。"),
        "{zh}"
    );
    let peak = |n: f64| if n == 16.0 { 900.0 } else { 40.0 * n.min(14.0) };
    let records = repeated(&[4, 8, 16, 32, 64], 3, &peak);
    let text = document("peak", &records).markdown(Lang::En).unwrap();
    assert!(
        !text.contains("do not distinguish") && !text.contains("not distinguish it"),
        "{text}"
    );
}
