//! What experiments around a run's job showed, in its reports.

use super::common::many::{Cell, document, law, record};
use tidemark_core::record::{Experiments, MeasuredChange, RunRecord, SkippedChange};
use tidemark_report::{Lang, markdown, text};

/// A run at so many sessions.
fn run(threads: usize, number: u64) -> RunRecord {
    let cell = Cell {
        workload: "oltp_read_write",
        threads,
        factors: &[],
        transactions_per_s: law(60.0, 0.03, 0.0006, threads as f64),
        seconds: 6,
    };
    record(&cell, 1, number)
}

fn made() -> Experiments {
    let change = |experiment: &str, ratio, low, high| MeasuredChange {
        experiment: experiment.into(),
        ratio,
        low,
        high,
        pairs: 5,
    };
    Experiments {
        id: "diagnose-1".into(),
        sessions: 16,
        transactions_per_s: 512.0,
        measured: vec![
            change("sessions-x2", 1.02, 0.99, Some(1.05)),
            change("disjoint-keys", 1.61, 1.55, None),
        ],
        skipped: vec![SkippedChange {
            experiment: "text-protocol".into(),
            reason: "the database <is> embedded".into(),
            reason_zh: "数据库是嵌入式的".into(),
        }],
        verdict: "row-locks".into(),
        confidence: "high".into(),
        sentence: "Limited by contention on rows.".into(),
        sentence_zh: "瓶颈在行争用。".into(),
        ..Experiments::default()
    }
}

#[test]
fn a_run_has_them_below_its_bottleneck() {
    let mut run = run(16, 1);
    assert!(!markdown(&run, Lang::En).unwrap().contains("Experiments"));
    run.experiments = Some(made());
    let en = markdown(&run, Lang::En).unwrap();
    for part in [
        "Experiments",
        "Limited by contention on rows.",
        "| sessions ×2 | +2 % | −1…+5 | 5 |",
        "| disjoint keys | +61 % | +55…∞ | 5 |",
        "text protocol",
        "tidemark runs --study diagnose-1",
    ] {
        assert!(en.contains(part), "{part}: {en}");
    }
    assert!(!en.contains("<is>"), "{en}");
    let zh = text(&run, Lang::Zh).unwrap();
    for part in ["瓶颈在行争用。", "各会话键不相交", "数据库是嵌入式的"] {
        assert!(zh.contains(part), "{part}: {zh}");
    }
}

#[test]
fn a_study_has_them_with_the_load_that_they_are_of() {
    let mut runs = [run(8, 0), run(16, 1)];
    runs[1].experiments = Some(made());
    let many = document("experiments", &runs);
    let markdown = many.markdown(Lang::En).unwrap();
    for part in [
        "16 threads: Limited by contention on rows.",
        "| 16 threads | sessions ×2 | +2 % | −1…+5 | 5 |",
    ] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    assert!(json["runs"][0]["experiments"].is_null());
    assert_eq!(json["runs"][1]["experiments"]["verdict"], "row-locks");
}
