//! The document of many runs: what it says, what it must never hold, and how it reads elsewhere.

use super::common::many::{Cell, document, durability, record, records};
use super::common::well_formed;
use std::sync::LazyLock;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many, StepState, StudyStep, Unreadable};

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
            "Each point of the matrix has 3 repeats.",
            "durability=2 compared with durability=1",
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
            "durability: 2 compared with 1",
            "faster",
            "<h2>Findings</h2>",
            "tidemark study run studies/durability.toml",
            "repeats = 3",
            "All runs (84)",
            "Output of the commands",
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
            "诊断结论",
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
fn repeats_are_means_of_their_own_figures_with_intervals() {
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
    // A percentile is each repeat's, as the mean is: the slowest repeat is in both.
    let p99: Vec<f64> = records
        .iter()
        .map(|r| {
            let latency = tidemark_stats::Histogram::decode(&r.totals.all.service.0).unwrap();
            latency.percentile_ns(99.0) as f64 / 1e6
        })
        .collect();
    let value = point["p99_ms"]["value"].as_f64().unwrap();
    assert!(
        (value - p99.iter().sum::<f64>() / 3.0).abs() < 1e-9,
        "{value}"
    );
    assert_eq!(
        point["p99_ms"]["most"].as_f64(),
        p99.iter().copied().reduce(f64::max)
    );
    assert_eq!(point["repeats"], 3);
    assert_eq!(json["format"], "tidemark-report");
    assert_eq!(json["version"], 2);
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
        "Failed or skipped steps: 2;",
        "2 runs without a result",
        "The study is not complete: 1 of 6 steps left.",
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
    assert!(page.contains("Invalid: 2 of 3 runs (") && page.contains("summary-mismatch 2"));
    assert_eq!(page.matches("<code>summary-mismatch</code>").count(), 1);
    assert!(page.contains("In 2 runs: oltp_read_write (2 threads), oltp_read_write (4 threads)."));
    assert!(page.contains("✗ INVALID"));
    // In the middle of a line.
    assert!(page.contains("(done, took 42 s)"), "{page}");
    // The best that is told is one that may be used.
    assert!(
        page.contains("peak throughput") && page.contains("at 8 threads; 95%"),
        "{page}"
    );
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
    let number = |name: &str| first[column(name)].parse::<f64>().unwrap();
    let errors = number("errors") / number("elapsed_s");
    assert!((number("errors_per_s") - errors).abs() < 1e-9);
}

#[test]
fn every_column_is_documented() {
    let docs = include_str!("../../../../docs/reports.md");
    let csv = DURABILITY.csv();
    for column in csv.lines().next().unwrap().split(',') {
        assert!(
            docs.contains(&format!("`{column}`")) || column.starts_with("factor_"),
            "{column}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&DURABILITY.json().unwrap()).unwrap();
    let workload = &json["workloads"][0];
    for field in json.as_object().unwrap().keys() {
        assert!(
            docs.contains(&format!("`{field}")) || field == "tidemark_version",
            "{field}"
        );
    }
    assert_eq!(workload["series"][0]["points"][0]["usable"], true);
    assert_eq!(
        json["comparison"]["pairs"][0]["comparison"]["unusable"],
        serde_json::json!([])
    );
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
    assert!(page.contains("characters are omitted; the store has the full text."));
    assert!(!page.contains("begin xxx"));
}
