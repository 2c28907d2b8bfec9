//! What reports of a run say.

use super::common::forms::{all, five_types, one_type};
use super::common::{Shape, run};
use regex::Regex;
use tidemark_core::record::*;
use tidemark_report::{Lang, html, markdown, text};
use tidemark_stats::Histogram;

#[test]
fn the_result_is_said_first() {
    let record = one_type();
    let tps = record.totals.all.count as f64 / record.totals.elapsed_s;
    let en = text(&record, Lang::En).unwrap();
    let mut lines = en.lines();
    assert_eq!(
        lines.next(),
        Some("oltp_read_write on MariaDB 11.4.2-MariaDB-deb12")
    );
    let result = lines.next().unwrap();
    let said = Regex::new(
        r"^([\d,]+) transactions/s; 95% completed within ([\d.]+) ms \(mean ([\d.]+) ms\)\.$",
    )
    .unwrap();
    let said = said.captures(result).unwrap_or_else(|| panic!("{result}"));
    assert_eq!(said[1].replace(',', ""), format!("{tps:.0}"));
    let p95: f64 = said[2].parse().unwrap();
    assert!((5.0..40.0).contains(&p95), "{p95}");
    let mean: f64 = said[3].parse().unwrap();
    assert!((1.0..p95).contains(&mean), "{mean}");
    assert!(en.contains("after 3 s of warm-up"), "{en}");
    assert!(
        en.contains("4 tables hold 400,000 rows, as expected"),
        "{en}"
    );
    let zh = text(&record, Lang::Zh).unwrap();
    assert!(zh.contains(&format!(
        "吞吐量 {} TPS，95% 的事务在 {} ms 内完成（平均 {} ms）。",
        &said[1], &said[2], &said[3]
    )));
    let page = html(&record, Lang::En).unwrap();
    assert!(page.contains(&format!("<strong>{}</strong> transactions/s", &said[1])));
}

#[test]
fn open_loop_is_reported_by_response_time() {
    let record = five_types();
    for (name, report) in all(&record) {
        let kind = if name.contains("en") {
            "scheduled arrival"
        } else {
            "计划到达时刻"
        };
        assert!(report.contains(kind), "{name}");
    }
}

#[test]
fn staying_awake_for_arrivals_is_no_work() {
    let mut record = five_types();
    let [en, zh] = [["of which", "busy polling"], ["其中", "忙轮询"]];
    for (name, report) in all(&record) {
        assert!(!report.contains(en[1]) && !report.contains(zh[1]), "{name}");
    }
    record.usage.cpu_awake_s = 20.0;
    for (name, report) in all(&record) {
        let [part, why] = if name.contains("en") { en } else { zh };
        let said = report.lines().find(|line| line.contains(why));
        let said = said.unwrap_or_else(|| panic!("{name}"));
        // Of 32.5 seconds.
        assert!(
            said.contains(part) && said.contains("20 "),
            "{name}: {said}"
        );
    }
}

#[test]
fn states_other_than_finished_are_said_at_the_top() {
    let mut record = one_type();
    assert!(
        !html(&record, Lang::En)
            .unwrap()
            .contains("class=\"warning\"")
    );
    for (state, said) in [
        (
            RunState::Interrupted,
            "The user stopped this run after 12 s",
        ),
        (
            RunState::Failed("server has gone away".into()),
            "This run failed: server has gone away",
        ),
    ] {
        record.state = state;
        let page = html(&record, Lang::En).unwrap();
        let top = page.split("class=\"headline\"").next().unwrap();
        assert!(top.contains(said), "{said}");
        assert!(
            text(&record, Lang::En)
                .unwrap()
                .contains(&format!("! {said}"))
                || said.starts_with("ended")
        );
    }
}

#[test]
fn tables_that_do_not_hold_what_they_should_are_named() {
    let mut record = one_type();
    record.tables_after[2].rows = 99_873;
    for (name, report) in all(&record) {
        assert!(report.contains("99,873"), "{name}");
        assert!(
            !report.contains(", as expected") && !report.contains("与预期一致"),
            "{name}"
        );
    }
    assert!(html(&record, Lang::En).unwrap().contains("≠ differs"));
}

#[test]
fn each_language_is_its_own() {
    let record = one_type();
    let zh = html(&record, Lang::Zh).unwrap();
    assert!(zh.contains("<html lang=\"zh-CN\">"));
    for word in [
        "Throughput",
        "Latency",
        "session",
        "transaction",
        "Statements",
    ] {
        let body = zh.split("<script>").next().unwrap();
        assert!(!body.contains(word), "{word}");
    }
    let en = html(&record, Lang::En).unwrap();
    assert!(en.contains("<html lang=\"en\">"));
    let chinese = en.chars().find(|c| ('\u{4e00}'..='\u{9fff}').contains(c));
    assert_eq!(chinese, None);
}

#[test]
fn a_single_error_is_told_in_the_singular() {
    let mut record = run(&Shape::one_type());
    record.totals.ignored_errors = 1;
    record.totals.all.count = 50;
    let text = text(&record, Lang::En).unwrap();
    let said = "1 error was ignored; 50 transactions succeeded";
    assert!(text.contains(said), "{text}");
}

/// Service time, of it the time at the server and on the way, and the client's share: the three are in
/// every form, and the means add up.
#[test]
fn a_latency_is_told_with_its_parts() {
    let mut record = one_type();
    let whole = Histogram::decode(&record.totals.all.service.0).unwrap();
    let mut server = Histogram::new();
    for _ in 0..whole.count() {
        server.record(std::time::Duration::from_nanos(
            (whole.mean_ns() * 0.25) as u64,
        ));
    }
    record.totals.all.server = Some(EncodedHistogram(server.encode()));
    let mean = |report: &str, name: &str| -> f64 {
        let line = report.lines().find(|l| l.trim_start().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name}: {report}"));
        let rest = line.trim_start().strip_prefix(name).unwrap();
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let en = text(&record, Lang::En).unwrap();
    let (whole, server, client) = (
        mean(&en, "Service time "),
        mean(&en, "of which server and network"),
        mean(&en, "of which client"),
    );
    assert!((server / whole - 0.25).abs() < 0.01, "{server} of {whole}");
    assert!((server + client - whole).abs() < whole * 0.01, "{client}");
    let zh = text(&record, Lang::Zh).unwrap();
    assert!(zh.contains("其中：客户端"), "{zh}");
    for report in [
        html(&record, Lang::En).unwrap(),
        markdown(&record, Lang::En).unwrap(),
    ] {
        assert!(report.contains("server and network"), "{report}");
    }
}

#[test]
fn a_record_of_before_says_where_its_latencies_end() {
    let mut record = one_type();
    let says = |record: &RunRecord| {
        text(record, Lang::En)
            .unwrap()
            .contains("end when the last reply reaches the client host")
    };
    assert!(!says(&record));
    record.latency_end = LatencyEnd::Arrival;
    assert!(says(&record));
    // As a record that has no word of it.
    let json = serde_json::to_value(&record).unwrap();
    let mut json = json.as_object().unwrap().clone();
    json.remove("latency_end");
    let read: RunRecord = serde_json::from_value(json.into()).unwrap();
    assert_eq!(read.latency_end, LatencyEnd::Arrival);
}
