//! Records that are hard to report: hostile words, and what is missing, hardly there or broken.

use super::common::forms::{FORMS, all, five_types, one_type};
use super::common::well_formed;
use regex::Regex;
use std::collections::BTreeMap;
use tidemark_core::record::*;
use tidemark_report::{Lang, html, text};

#[test]
fn what_comes_from_outside_is_escaped() {
    let evil = "<script>alert(1)</script><img src=x onerror=y>\"'&|`*\u{1b}[31m\n# h";
    let mut record = five_types();
    let rename = |types: &mut BTreeMap<String, TypeStats>| {
        let stats = types.remove("NewOrder").unwrap();
        types.insert(evil.into(), stats);
    };
    rename(&mut record.totals.types);
    for i in &mut record.intervals {
        if i.types.contains_key("NewOrder") {
            rename(&mut i.types);
        }
    }
    let evil = evil.to_string();
    record.id = evil.clone();
    record.state = RunState::Failed(evil.clone());
    record.started_at = evil.clone();
    record.tidemark_version = evil.clone();
    record.command = vec![evil.clone()];
    record.workload = evil.clone();
    record.target = evil.clone();
    record.server.as_mut().unwrap().version = evil.clone();
    record.settings[0].name = evil.clone();
    record.settings[0].value = evil.clone();
    record.settings[0].default = Some(evil.clone());
    record.notes = vec![evil.clone()];
    for source in [
        tidemark_core::Source::Default,
        tidemark_core::Source::CommandLine,
    ] {
        let value = EffectiveOption {
            value: evil.clone(),
            source,
        };
        record.options.insert(format!("{source:?}{evil}"), value);
    }
    record.client.hostname = evil.clone();
    record.client.os = evil.clone();
    record.client.kernel = evil.clone();
    record.client.cpu_model = evil.clone();
    record.tables_before[0].table = evil.clone();
    record.tables_after[0].table = evil.clone();
    record.errors[0].code = evil.clone();
    record.errors[0].first_message = evil.clone();
    record.outages = vec![Outage {
        host: evil.clone(),
        start_ms: 0,
        length_ms: 100.0,
        ended: false,
        first_error: evil.clone(),
    }];
    record.totals.hosts = ["a", &evil]
        .map(|host| HostLoad {
            host: host.into(),
            ..HostLoad::default()
        })
        .to_vec();
    for (name, value) in [("find-max", &evil), ("think-time", &evil)] {
        let option = EffectiveOption {
            value: value.clone(),
            source: tidemark_core::Source::Default,
        };
        record.options.insert(name.into(), option);
    }
    record.steps = vec![Step {
        purpose: StepPurpose::Confirm,
        rate: Some(1.0),
        start_ms: 0,
        totals: Totals::default(),
        verdict: Some(StepVerdict {
            kept: true,
            because: evil.clone(),
        }),
        cut_short: false,
    }];
    let code = Regex::new(r"(?s)`{3,}sh\n.*?\n`{3,}\n").unwrap();
    let markup = Regex::new(r"[^\\]<").unwrap();
    for (name, report) in all(&record) {
        if name.starts_with("html") {
            assert_eq!(report.matches("<script").count(), 1, "our own");
            assert!(!report.contains("<img"));
        } else {
            assert!(!report.contains('\u{1b}'), "{name}");
        }
        if name.starts_with("markdown") {
            let outside = code.replace_all(&report, "");
            assert!(!markup.is_match(&outside), "{name}");
            // Our own headings, and not one more.
            let headings = outside.lines().filter(|l| l.starts_with('#')).count();
            assert_eq!(headings, 16, "{name}: {outside}");
        }
    }
}

#[test]
fn a_run_without_an_event_has_no_result() {
    let mut record = one_type();
    record.totals = Totals {
        elapsed_s: 10.0,
        ..Totals::default()
    };
    record
        .totals
        .types
        .insert("oltp_read_write".into(), TypeStats::default());
    for i in &mut record.intervals {
        i.types.clear();
        i.statements = StatementCounts::default();
    }
    for (name, report) in all(&record) {
        let none = if name.contains("en") {
            "No transaction completed"
        } else {
            "没有任何事务完成"
        };
        assert!(report.contains(none), "{name}");
    }
    let page = html(&record, Lang::En).unwrap();
    assert_eq!(
        page.matches("<figure").count(),
        2,
        "nothing to show a distribution of"
    );
}

#[test]
fn a_run_without_intervals_is_reported_by_its_totals() {
    let mut record = one_type();
    record.intervals.clear();
    let page = html(&record, Lang::En).unwrap();
    well_formed(&page);
    assert_eq!(page.matches("<figure").count(), 3);
    record.totals = Totals::default();
    for (name, report) in all(&record) {
        assert!(report.len() > 300, "{name}");
    }
    let page = html(&record, Lang::En).unwrap();
    assert!(page.contains("there is no chart"));
    assert_eq!(page.matches("<figure").count(), 0);
}

#[test]
fn one_interval_and_one_event_are_enough() {
    let mut record = one_type();
    let mut only = record.intervals[5].clone();
    let mut h = tidemark_stats::Histogram::new();
    h.record(std::time::Duration::from_micros(2500));
    let stats = TypeStats {
        count: 1,
        service: EncodedHistogram(h.encode()),
        response: None,
        ..TypeStats::default()
    };
    only.types = BTreeMap::from([("t".into(), stats)]);
    record.intervals = vec![only];
    record.totals = tidemark_report::totals(&record.intervals).unwrap();
    for (name, report) in all(&record) {
        assert!(report.contains("2.50"), "{name}");
    }
    let page = html(&record, Lang::En).unwrap();
    assert!(page.contains("<circle"), "a line needs two points");
}

#[test]
fn a_histogram_that_cannot_be_read_is_an_error() {
    let broken = EncodedHistogram("1:1:1:AAAA".into());
    let mut in_totals = one_type();
    in_totals.totals.all.service = broken.clone();
    let mut in_interval = one_type();
    let types = &mut in_interval.intervals[4].types;
    types.values_mut().next().unwrap().service = broken;
    for (_, render) in FORMS {
        let error = render(&in_totals, Lang::En).unwrap_err();
        assert!(error.to_string().contains("the whole run"), "{error}");
        let error = render(&in_interval, Lang::En).unwrap_err();
        assert!(
            error.to_string().contains("the interval at 1000 ms"),
            "{error}"
        );
    }
}

#[test]
fn a_run_whose_end_was_never_written_is_summed_from_its_intervals() {
    let ended = one_type();
    let mut record = ended.clone();
    record.state = RunState::Running;
    record.totals = Totals::default();
    let report = text(&record, Lang::En).unwrap();
    let result = |r: &str| r.lines().nth(1).map(String::from);
    assert_eq!(result(&report), result(&text(&ended, Lang::En).unwrap()));
    assert!(
        report.contains("summed from its 16 stored intervals"),
        "{report}"
    );
}
