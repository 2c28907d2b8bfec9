//! What limits each point of a study, and where that changes.

use super::common::many::{Cell, document, law, record};
use tidemark_core::record::*;
use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};
use tidemark_core::{ErrorClass, ErrorKind};
use tidemark_report::Lang;

/// Up to four sessions the injected distance limits, from eight on the server refuses more of them.
fn limited(factors: &[(&str, &str)], from: u64) -> Vec<RunRecord> {
    let runs = [1usize, 2, 4, 8, 16].into_iter().enumerate();
    let runs = runs.map(|(n, threads)| {
        let cell = Cell {
            workload: "oltp_read_write",
            threads,
            factors,
            transactions_per_s: law(60.0, 0.03, 0.0006, threads as f64),
            seconds: 6,
        };
        let mut run = record(&cell, 1, from + n as u64);
        if threads > 4 {
            run.errors = vec![ErrorCount {
                code: "1040".into(),
                class: ErrorClass::Refused,
                kind: Some(ErrorKind::TooManySessions),
                count: run.totals.all.count,
                first_message: String::new(),
            }];
        } else {
            let mean_ms = threads as f64 / cell.transactions_per_s * 1000.0;
            let statements = run.totals.statements;
            let all = statements.read + statements.write + statements.other;
            let each = all as f64 / run.totals.all.count as f64;
            run.inject_rtt_ms = 0.3 * mean_ms / each.max(1.0);
        }
        run
    });
    runs.collect()
}

/// What a page shows, without style and script.
fn seen(page: &str) -> &str {
    let (_, body) = page.split_once("</header>").unwrap();
    body.split("<script>").next().unwrap()
}

#[test]
fn the_curve_names_what_limits_from_where() {
    let many = document("course", &limited(&[], 0));
    let page = many.html(Lang::En).unwrap();
    let course = "network distance at Threads 1 to 4; connection limit at Threads 8 to 16.";
    assert!(page.contains(course), "{}", seen(&page));
    assert!(page.contains(">\nconnection limit"), "no mark on the curve");
    assert!(page.contains("Names mark the loads"));
    let markdown = many.markdown(Lang::En).unwrap();
    assert!(markdown.contains(course), "{markdown}");
    assert!(
        markdown.contains("| 4 threads | network distance |"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    let found = &json["workloads"][0]["series"][0]["bottlenecks"];
    assert_eq!(found[0]["cause"], "network-distance", "{found}");
    assert_eq!(
        (&found[1]["from"], &found[1]["to"]),
        (&"8".into(), &"16".into())
    );
    assert_eq!(json["runs"][0]["diagnosis"]["verdict"], "network-distance");
    let page = many.html(Lang::Zh).unwrap();
    assert!(page.contains("时瓶颈为"), "{}", seen(&page));
}

#[test]
fn a_series_of_one_load_has_no_course() {
    let mut runs = limited(&[("rtt", "0")], 0);
    runs.extend(limited(&[("rtt", "5ms")], 10).into_iter().take(1));
    let many = document("course", &runs);
    let page = many.html(Lang::En).unwrap();
    assert!(page.contains("network distance at Threads 1 to 4; "));
    assert!(page.contains(": network distance.</li>"), "{}", seen(&page));
    assert!(!page.contains("network distance at Threads 1."));
    let page = many.html(Lang::Zh).unwrap();
    assert!(page.contains("：瓶颈为"), "{}", seen(&page));
}

#[test]
fn without_evidence_it_is_said_how_to_get_it() {
    let mut runs = limited(&[], 0);
    for run in &mut runs {
        run.inject_rtt_ms = 0.0;
        run.errors.clear();
    }
    let markdown = document("unknown", &runs).markdown(Lang::En).unwrap();
    assert!(markdown.contains("--observe=auto"), "{markdown}");
    assert!(!markdown.contains("Limited by"), "{markdown}");
}

#[test]
fn two_values_differ_by_the_part_of_the_latency_that_changed() {
    let near = limited(&[("rtt", "0")], 0).into_iter().map(|mut run| {
        run.inject_rtt_ms = 0.0;
        run
    });
    let far = limited(&[("rtt", "5ms")], 10);
    let runs: Vec<RunRecord> = near.chain(far).collect();
    let many = document("distance", &runs);
    let markdown = many.markdown(Lang::En).unwrap();
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    let pairs = json["comparisons"][0]["pairs"].as_array().unwrap();
    let last = pairs
        .iter()
        .find(|p| p["factors"]["threads"] == "16")
        .unwrap();
    assert_eq!(
        last["bottleneck"]["a"]["cause"], "connection-limit",
        "{last}"
    );
    assert!(
        markdown.contains("limited by connection limit on both sides"),
        "{markdown}"
    );
}

/// Runs whose throughput has its peak at 40 sessions; of the server's two processors such a share is busy.
fn retrograde(threads: &[usize], busy: Option<f64>) -> Vec<RunRecord> {
    let runs = threads.iter().zip(0..).map(|(threads, n)| {
        let cell = Cell {
            workload: "oltp_read_write",
            threads: *threads,
            factors: &[],
            transactions_per_s: law(60.0, 0.03, 0.0006, *threads as f64),
            seconds: 6,
        };
        let mut run = record(&cell, 1, n);
        let cores = ["0", "1"].into_iter().filter_map(|core| {
            let key = SeriesKey::new("server-host", "cpu.busy", "cores", Measures::Gauge);
            let mut builder = SeriesBuilder::new(key.with("core", core), 3, 1000);
            for second in 0..6 {
                builder.push(second * 1000, busy.unwrap_or(f64::NAN));
            }
            builder.series()
        });
        run.series.extend(cores);
        run
    });
    runs.collect()
}

#[test]
fn throughput_that_falls_past_its_peak_is_limited_by_coherency() {
    let loads = [1, 4, 8, 16, 32, 64, 128, 256];
    let found = |records: &[RunRecord]| -> (String, serde_json::Value) {
        let many = document("falling", records);
        let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
        let series = json["workloads"][0]["series"][0].clone();
        (many.markdown(Lang::En).unwrap(), series)
    };
    let (markdown, series) = found(&retrograde(&loads, Some(0.4)));
    let last = series["bottlenecks"].as_array().unwrap().last().unwrap();
    assert_eq!(last["cause"], "coherency", "{series}");
    assert_eq!((&last["from"], &last["to"]), (&"128".into(), &"256".into()));
    assert!(series["coherency_needs"].is_null());
    assert!(
        markdown.contains("coherency between sessions at Threads 128 to 256"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| 256 threads | coherency between sessions |"),
        "{markdown}"
    );
    assert!(markdown.contains("From 128 sessions on"), "{markdown}");
    // A full host explains it by itself.
    let (markdown, series) = found(&retrograde(&loads, Some(0.99)));
    assert!(!markdown.contains("coherency between"), "{markdown}");
    assert!(series["coherency_needs"].is_null(), "{series}");
    // What could not be judged is said.
    let (_, series) = found(&retrograde(&loads, None));
    let needs = series["coherency_needs"].as_str().unwrap();
    assert!(needs.contains("--observe-host"), "{needs}");
    let mut few = limited(&[], 0);
    few.remove(0);
    few.remove(0);
    let (markdown, _) = found(&few);
    assert!(
        markdown.contains("coherency between sessions could not be judged. Measure at least four"),
        "{markdown}"
    );
}
