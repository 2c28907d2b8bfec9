//! The document of many runs: what it says, what it must never hold, and how it reads elsewhere.

#![allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking

mod common;

use common::many::{Cell, document, durability, law, record, records};
use common::well_formed;
use regex::Regex;
use std::sync::LazyLock;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many, RunDigest, StepState, StudyStep, Unreadable};

/// Made once: it is eighty-four runs.
static DURABILITY: LazyLock<Many> = LazyLock::new(|| durability(8));

fn both(many: &Many) -> [(String, String); 2] {
    Lang::ALL.map(|lang| (many.html(lang).unwrap(), many.markdown(lang).unwrap()))
}

#[test]
fn a_study_is_told_in_order_in_both_languages() {
    let [en, zh] = both(&DURABILITY);
    for (page, _) in [&en, &zh] {
        well_formed(page);
        assert!(!page.contains("NaN") && !page.contains("inf "));
        assert!(page.len() < 2_000_000, "{}", page.len());
    }
    let order = |text: &str, words: &[&str]| {
        let mut at = 0;
        for word in words {
            let found = text[at..].find(word);
            at += found.unwrap_or_else(|| panic!("{word} is not after what comes before it"));
        }
    };
    order(
        &en.0,
        &[
            "<h1>Durability on and off</h1>",
            "<h2>Summary</h2>",
            "84 runs of oltp_point_select, oltp_read_write on MariaDB",
            "Each point of the matrix was repeated 3 times.",
            "durability=2 beside durability=1",
            "<h2>Environment</h2>",
            "AMD EPYC",
            "innodb_flush_log_at_trx_commit",
            "1 | 2",
            "<h2>oltp_point_select</h2>",
            "Throughput over threads",
            "Little",
            "Universal Scalability Law",
            "Over time",
            "<h2>oltp_read_write</h2>",
            "durability: 1 and 2 compared",
            "faster",
            "<h2>Findings</h2>",
            "tidemark study run studies/durability.toml",
            "repeats = 3",
            "All runs (84)",
            "What the commands printed",
        ],
    );
    order(
        &zh.0,
        &[
            "结论摘要",
            "共 84 次压测",
            "测试环境",
            "吞吐量随线程数变化",
            "利特尔定律",
            "通用可扩展性定律（USL）",
            "durability（1 与 2）对比",
            "审查结论",
            "复现命令",
            "全部压测（84 次）",
        ],
    );
    // Markdown says the same without pictures.
    for words in ["84 runs of", "# Durability on and off", "| 64 |", "± "] {
        assert!(en.1.contains(words), "{words}");
    }
    assert!(!en.1.contains("<svg") && zh.1.contains("吞吐量（TPS）"));
}

#[test]
fn the_change_of_the_only_factor_is_found_and_sure() {
    let page = DURABILITY.markdown(Lang::En).unwrap();
    let said = Regex::new(r"a higher throughput in (\d+) of 14 pairs\.").unwrap();
    let faster: usize = said.captures(&page).unwrap_or_else(|| panic!("{page}"))[1]
        .parse()
        .unwrap();
    // 40 % more with 1 % of noise.
    assert_eq!(faster, 14);
    assert!(page.contains("With 95% confidence intervals from repeats."));
    // The setting itself is named as what was different.
    assert!(
        page.contains("setting innodb\\_flush\\_log\\_at\\_trx\\_commit | 1 | 2"),
        "{page}"
    );
}

#[test]
fn repeats_are_means_with_intervals_and_percentiles_of_all_together() {
    let cell = Cell {
        workload: "oltp_read_write",
        threads: 4,
        factors: &[("size", "100k")],
        transactions_per_s: 200.0,
        seconds: 8,
    };
    let records: Vec<RunRecord> = (0..3).map(|n| record(&cell, n as u32 + 1, n)).collect();
    let json: serde_json::Value =
        serde_json::from_str(&document("one cell", &records).json().unwrap()).unwrap();
    let point = &json["workloads"][0]["series"][0]["points"][0];
    let tps: Vec<f64> = records
        .iter()
        .map(|r| r.totals.all.count as f64 / r.totals.elapsed_s)
        .collect();
    let mean = tps.iter().sum::<f64>() / 3.0;
    assert!((point["transactions_per_s"]["value"].as_f64().unwrap() - mean).abs() < 1e-6);
    // Student's 97.5 % quantile for two degrees of freedom is 4.303.
    let deviation = (tps.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let half = point["transactions_per_s"]["half"].as_f64().unwrap();
    assert!(
        (half - 4.303 * deviation / 3f64.sqrt()).abs() < 1e-3 * mean,
        "{half}"
    );
    let mut together = tidemark_stats::Histogram::new();
    for r in &records {
        together.merge(&tidemark_stats::Histogram::decode(&r.totals.all.service.0).unwrap());
    }
    let p99 = together.percentile_ns(99.0) as f64 / 1e6;
    assert_eq!(point["p99_ms"]["value"].as_f64().unwrap(), p99);
    assert_eq!(json["format"], "tidemark-report");
    assert_eq!(json["version"], 1);
}

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
    let peak = Regex::new(r"Its peak is at (\d+) threads").unwrap();
    let at: f64 = peak.captures(&page).unwrap_or_else(|| panic!("{page}"))[1]
        .parse()
        .unwrap();
    assert!((34.0..47.0).contains(&at), "{at}");
    assert!(
        page.contains(">\npeak ") && page.contains(">\nknee "),
        "no marks"
    );
    assert!(page.contains("Dashed and grey: the fitted scalability law."));
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
    assert!(page.contains("no peak is claimed") || page.contains("No peak lies in the range"));
    assert!(page.contains("still rising at the highest load"), "{page}");
    // Too few loads, and throughputs that follow another law.
    let (page, _) = sweep(&[1, 8, 32], &|n| law(60.0, 0.03, 0.0006, n));
    assert!(page.contains("3 different loads: the scalability law takes four at least"));
    assert!(!page.contains("the fitted scalability law"));
    let (page, _) = sweep(&[1, 2, 4, 8, 16, 32], &|n| match n as u64 {
        2 | 8 | 32 => 300.0,
        _ => 60.0,
    });
    assert!(page.contains("so it is not drawn"), "{page}");
    assert!(!page.contains("the fitted scalability law"));
}

#[test]
fn littles_law_stands_beside_the_figures() {
    let json = DURABILITY.json().unwrap();
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
    assert!(page.contains("Target: MariaDB and PostgreSQL compared"));
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
fn failures_are_told_and_in_no_figure() {
    let mut records = records(
        &["oltp_read_write"],
        &[2, 4],
        ("size", &[("1k", 1.0)]),
        2,
        6,
    );
    records[3].state = RunState::Failed("the server went away".into());
    let mut many = document("failures", &records);
    many.steps[3].state = StepState::Failed;
    many.steps[3].reason = Some("exit code 1: the server went away".into());
    many.steps.push(StudyStep {
        kind: "load".into(),
        cell: "size=1G".into(),
        state: StepState::Skipped,
        reason: Some("no room".into()),
        ..StudyStep::default()
    });
    many.steps.push(StudyStep::default());
    many.unreadable.push(Unreadable {
        id: "0193dead".into(),
        why: "not JSON".into(),
    });
    let page = many.html(Lang::En).unwrap();
    for words in [
        "Steps that failed or were skipped: 2;",
        "2 runs without a result",
        "The study is not over: 1 of 6 steps left.",
        "exit code 1: the server went away",
        "no room",
        "0193dead",
        "not JSON",
        "1 / 2",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    let point = &json["workloads"][0]["series"][0]["points"][1];
    assert_eq!(
        (
            point["counted"].as_u64(),
            point["runs"].as_array().unwrap().len()
        ),
        (Some(1), 2)
    );
    // Nothing at all is a document, too.
    for lang in Lang::ALL {
        well_formed(&Many::default().html(lang).unwrap());
        Many::default().markdown(lang).unwrap();
    }
}

#[test]
fn findings_are_told_once_with_their_runs() {
    let mut records = records(
        &["oltp_read_write"],
        &[2, 4, 8],
        ("size", &[("1k", 1.0)]),
        1,
        40,
    );
    // A third of the transactions that were recorded are in no interval.
    for r in &mut records[..2] {
        r.totals.all.count *= 3;
        r.totals.types.values_mut().for_each(|t| t.count *= 3);
    }
    let many = document("findings", &records);
    let page = many.html(Lang::En).unwrap();
    assert!(page.contains("Not to be used: 2 of 3 runs (") && page.contains("summary-mismatch 2"));
    assert_eq!(page.matches("<code>summary-mismatch</code>").count(), 1);
    assert!(page.contains("in 2 runs: oltp_read_write (2 threads), oltp_read_write (4 threads)"));
    assert!(page.contains("✗ INVALID"));
    // The best that is told is one that may be used.
    assert!(
        page.contains("at most") && page.contains("at 8 threads; 95%"),
        "{page}"
    );
}

/// What a database, a user or a file may hold.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></style></script></details></title>",
    "javascript:alert(1)//'\"`${alert(1)}",
    "**bold** [x](javascript:alert(1)) ```\n# head | pipe",
    "=HYPERLINK(\"http://evil\")",
];

fn finds(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).unwrap().is_match(text)
}

/// Only the page's own script, no handler, and no link that leaves it.
fn is_harmless(page: &str) {
    well_formed(page);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img") && !finds(r"<[^>]*\son\w+=", page));
    let link = Regex::new(r#"(href|src|xlink:href|action)\s*=\s*"([^"]*)""#).unwrap();
    for found in link.captures_iter(page) {
        assert!(found[2].starts_with("#part-"), "{}", &found[0]);
    }
}

/// No markup but the document's own, outside of code.
fn is_plain(markdown: &str) {
    let fenced = Regex::new(r"(?s)(`{3,})\w+\n.*?\n(`{3,})\n").unwrap();
    let prose = fenced.replace_all(markdown, "");
    assert!(!finds(r"[^\\]<script", &prose), "{prose}");
    assert!(
        !prose.contains("[x](") && !prose.contains("**bold**"),
        "{prose}"
    );
}

#[test]
fn what_comes_from_outside_stays_text() {
    for hostile in HOSTILE {
        let mut r = record(
            &Cell {
                workload: "oltp_read_write",
                threads: 4,
                factors: &[],
                transactions_per_s: 50.0,
                seconds: 3,
            },
            1,
            1,
        );
        let own = |text: &str| format!("{hostile}{text}");
        r.workload = own("workload");
        r.target = own("target");
        r.note = own("note");
        r.tags = vec![own("tag")];
        r.command.push(own("command"));
        r.client.hostname = own("host");
        r.notes = vec![own("unread")];
        r.settings[0].name = own("setting");
        r.settings[0].value = own("value");
        r.server.as_mut().unwrap().version = own("version");
        let stats = r.totals.types.values().next().unwrap().clone();
        r.totals.types.insert(own("type"), stats);
        let place = r.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("value"));
        place.factors.insert("workload".into(), own("name"));
        let mut other = r.clone();
        other.id = format!("{}2", r.id);
        other.state = RunState::Failed(own("reason"));
        let place = other.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("other"));
        place.factors.insert("threads".into(), "8".into());
        let mut third = r.clone();
        third.id = format!("{}3", r.id);
        let place = third.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("third"));
        let mut many = document(&own("title"), &[r, other, third]);
        let study = many.study.as_mut().unwrap();
        study.path = own("path");
        study.file = own("file");
        study.command.push(own("word"));
        for step in &mut many.steps {
            step.output = own("output");
            step.reason = Some(own("reason"));
            step.state = StepState::Failed;
            step.cell = own("cell");
        }
        for (page, markdown) in both(&many) {
            is_harmless(&page);
            is_plain(&markdown);
        }
        let csv = many.csv();
        assert!(!finds(r#"(^|,|\n)"?="#, &csv), "{csv}");
        serde_json::from_str::<serde_json::Value>(&many.json().unwrap()).unwrap();
    }
}

#[test]
fn no_password_is_in_any_form() {
    let mut records = records(&["oltp_read_write"], &[2], ("size", &[("1k", 1.0)]), 1, 3);
    // A record that was written by hand.
    records[0].target = "mysql://root:hunter2@h:3306/db".into();
    let many = document("secret", &records);
    for text in [
        many.html(Lang::En).unwrap(),
        many.markdown(Lang::Zh).unwrap(),
        many.csv(),
        many.json().unwrap(),
    ] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[test]
fn a_row_a_run_has_the_factors_as_columns() {
    let csv = DURABILITY.csv();
    let mut lines = csv.split("\r\n");
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<&str> = lines.filter(|l| !l.is_empty()).collect();
    assert_eq!(rows.len(), 84);
    let column = |name: &str| {
        let at = head.iter().position(|h| *h == name);
        at.unwrap_or_else(|| panic!("{name}: {head:?}"))
    };
    let first: Vec<&str> = rows[0].split(',').collect();
    assert_eq!(first.len(), head.len());
    assert_eq!(first[column("factor_durability")], "1");
    assert_eq!(first[column("factor_threads")], "1");
    assert_eq!(first[column("repeat")], "1");
    assert_eq!(first[column("engine")], "mariadb");
    let tps: f64 = first[column("transactions_per_s")].parse().unwrap();
    assert!((50.0..70.0).contains(&tps), "{tps}");
}

#[test]
fn outputs_have_their_share_of_the_page_and_no_more() {
    let records = records(
        &["oltp_read_write"],
        &[2, 4],
        ("size", &[("1k", 1.0)]),
        2,
        3,
    );
    let mut many = document("outputs", &records);
    many.steps[0].output = format!("begin {} the last line", "x".repeat(3_000_000));
    many.steps[1].output = "short".into();
    let page = many.html(Lang::En).unwrap();
    assert!(page.len() < 900_000, "{}", page.len());
    assert!(page.contains("the last line") && page.contains("short"));
    assert!(page.contains("characters are left out; the store has them."));
    assert!(!page.contains("begin xxx"));
}
