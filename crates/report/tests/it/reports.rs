//! Reports of a run: what they say, what they must never hold, and records that are hard to report.

use super::common::{Shape, run, well_formed};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::record::*;
use tidemark_report::{Lang, ReportError, html, markdown, text};
use tidemark_stats::Histogram;

type Render = fn(&RunRecord, Lang) -> Result<String, ReportError>;
const FORMS: [(&str, Render); 3] = [("html", html), ("text", text), ("markdown", markdown)];

fn short(shape: Shape) -> Shape {
    Shape {
        seconds: 12,
        warmup_s: 3,
        ..shape
    }
}

fn one_type() -> RunRecord {
    run(&short(Shape::one_type()))
}

fn five_types() -> RunRecord {
    run(&short(Shape::five_types()))
}

/// Every form in every language.
fn all(record: &RunRecord) -> Vec<(String, String)> {
    let mut reports = Vec::new();
    for (form, render) in FORMS {
        for lang in Lang::ALL {
            let report = render(record, lang).unwrap();
            let name = format!("{form} {}", lang.tag());
            assert!(
                !report.contains("NaN") && !report.contains("inf "),
                "{name}"
            );
            if form == "html" {
                well_formed(&report);
            }
            reports.push((name, report));
        }
    }
    reports
}

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
fn a_page_needs_no_network() {
    for lang in Lang::ALL {
        let page = html(&five_types(), lang).unwrap();
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        // An option that is recommended.
        let page = page.replace("--observe-host=http://HOST", "");
        for outside in [
            "http:", "https:", "//cdn", "src=", "href=", "url(", "@import", "fetch(",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}

#[test]
fn each_chart_is_there_as_text_too() {
    let label = Regex::new(r#"role="img" [^>]*aria-label="([^"]{40,})""#).unwrap();
    let caption = Regex::new(r"<figcaption>[^<]{30,}</figcaption>").unwrap();
    for (record, charts) in [(one_type(), 5), (five_types(), 8)] {
        let page = html(&record, Lang::En).unwrap();
        let figures: Vec<&str> = page.split("<figure").skip(1).collect();
        assert_eq!(figures.len(), charts);
        for figure in figures {
            let figure = figure.split("</figure>").next().unwrap();
            assert!(label.is_match(figure), "{figure}");
            assert!(caption.is_match(figure));
            // A bar has a row for each part, other charts one for each point.
            let rows = match figure.contains("Where the mean latency is spent") {
                true => figure.matches("<tr><td").count() + 5,
                false => figure.matches("<tr data-x=\"").count(),
            };
            assert!(rows > 5, "{rows}: {figure}");
            assert!(figure.contains("<th scope=\"col\">"));
        }
    }
}

#[test]
fn every_colour_of_a_drawing_is_replaced_by_the_style_sheet() {
    let page = html(&five_types(), Lang::En).unwrap();
    let (style, body) = page.split_once("</style>").unwrap();
    let used = Regex::new(r##"(fill|stroke)="(#[0-9A-F]{6})""##).unwrap();
    let used: BTreeSet<_> = used
        .captures_iter(body)
        .map(|c| format!("[{}=\"{}\"]", &c[1], &c[2]))
        .collect();
    assert!(used.len() > 8, "{used:?}");
    for selector in used {
        assert!(style.contains(&selector), "{selector}");
    }
}

/// A browser leaves out a rule whose selector it can't read, and says nothing.
#[test]
fn rules_of_the_style_sheet_can_be_read() {
    let css = include_str!("../../templates/report.css");
    // The name of an element begins a compound selector: `:is(td, th)table` is none.
    let glued = Regex::new(r"[)\]][A-Za-z]").unwrap();
    let mut selectors = 0;
    for before in css.split('{') {
        let selector = before.rsplit(['}', ';']).next().unwrap();
        assert!(!glued.is_match(selector), "{selector}");
        selectors += 1;
    }
    assert!(selectors > 100, "{selectors}");
    // Long words break in the text and in columns of words; a figure of a table never does.
    let rule = |selector: &str| {
        let begin = format!("\n{selector} {{");
        let (_, behind) = css.split_once(begin.as_str()).unwrap();
        behind.split('}').next().unwrap()
    };
    for (selector, breaks) in [
        ("main", "anywhere"),
        ("table", "normal"),
        (".sortable :is(td, th).long", "anywhere"),
        (".authored, .authored table", "anywhere"),
    ] {
        let expected = format!("overflow-wrap: {breaks};");
        assert!(rule(selector).contains(&expected), "{selector}");
    }
}

/// WCAG 2.2, 1.4.3: text at least 4.5 to 1. Lines are labelled in their own colours.
#[test]
fn colours_can_be_told_from_their_background() {
    let css = include_str!("../../templates/report.css");
    let palettes: Vec<BTreeMap<&str, &str>> = css
        .split(":root {")
        .skip(1)
        .map(|block| {
            let block = block.split('}').next().unwrap();
            let variables = block.split(';').filter_map(|v| v.trim().split_once(':'));
            variables.map(|(n, v)| (n.trim(), v.trim())).collect()
        })
        .collect();
    assert_eq!(palettes.len(), 3, "light, dark, print");
    for palette in palettes {
        for (name, background) in [
            ("--ink", "--card"),
            ("--ink", "--bg"),
            ("--muted", "--card"),
            ("--muted", "--bg"),
            ("--accent", "--card"),
            ("--bad", "--card"),
            ("--ink", "--warn-bg"),
            ("--ink", "--code"),
            ("--s0", "--card"),
            ("--s1", "--card"),
            ("--s2", "--card"),
            ("--s3", "--card"),
            ("--s4", "--card"),
            ("--s5", "--card"),
        ] {
            let (a, b) = (luminance(palette[name]), luminance(palette[background]));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{name} on {background}: {contrast:.2}");
        }
    }
}

fn luminance(colour: &str) -> f64 {
    let hex: String = match colour.strip_prefix('#').unwrap() {
        short if short.len() == 3 => short.chars().flat_map(|c| [c, c]).collect(),
        long => long.into(),
    };
    let channel = |n: usize| {
        let v = f64::from(u8::from_str_radix(&hex[n..n + 2], 16).unwrap()) / 255.0;
        if v <= 0.04045 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

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
fn an_hour_fits_into_a_small_page_that_says_what_a_point_is() {
    let mut hour = Shape::one_type();
    hour.seconds = 3600;
    hour.warmup_s = 0;
    hour.types[0].1 = 40.0;
    let record = run(&hour);
    let page = html(&record, Lang::En).unwrap();
    assert!(page.len() < 500_000, "{}", page.len());
    assert!(
        page.contains("Each point sums 7 intervals (7 s)."),
        "3,601 intervals into 600 points"
    );
    assert!(page.contains("minutes since the start"));
    // The first shows where the latency is spent.
    let figure = page.split("<figure").nth(2).unwrap();
    assert_eq!(figure.matches("<tr data-x").count(), 514);
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
