//! Studies with an objective: what keeps it, and what does not.

use super::common::many::{document, records};
use super::common::{spoil, well_formed};
use tidemark_core::record::*;
use tidemark_report::{Lang, Many};
use tidemark_stats::Histogram;

fn study(records: &[RunRecord], objective: &str) -> Many {
    let mut many = document("objective", records);
    many.study.as_mut().unwrap().objective = Some(objective.parse().unwrap());
    many
}

fn p95_ms(r: &RunRecord) -> f64 {
    let latency = Histogram::decode(&r.totals.all.service.0).unwrap();
    latency.percentile_ns(95.0) as f64 / 1e6
}

/// Users who wait longer the more they are.
fn made() -> Vec<RunRecord> {
    let threads = [1, 2, 4, 8, 16, 32];
    records(
        &["oltp_read_write"],
        &threads,
        ("size", &[("1k", 1.0)]),
        1,
        6,
    )
}

#[test]
fn points_are_judged_by_the_studys_objective() {
    let mut records = made();
    let limit = (p95_ms(&records[2]) + p95_ms(&records[3])) / 2.0;
    assert!(p95_ms(&records[2]) < limit && limit < p95_ms(&records[3]));
    let objective = format!("p95 < {:.0}us and errors < 1%", limit * 1000.0);
    let many = study(&records, &objective);
    let text = many.markdown(Lang::En).unwrap();
    assert_eq!(text.matches("✓ met").count(), 3, "{text}");
    assert_eq!(text.matches("| missed: p95 ").count(), 3, "{text}");
    assert!(text.contains("transactions/s, at 4 threads.\n"), "{text}");
    assert!(many.html(Lang::Zh).unwrap().contains("（线程数 4）。"));
    // What must not be used neither keeps it nor is judged.
    spoil(&mut records[2]);
    let text = study(&records, &objective).markdown(Lang::En).unwrap();
    assert_eq!(text.matches("✓ met").count(), 2, "{text}");
    assert!(text.contains("transactions/s, at 2 threads.\n"), "{text}");
    // Errors count, too.
    records
        .iter_mut()
        .for_each(|r| r.totals.ignored_errors = r.totals.all.count / 50);
    let many = study(&records, &objective);
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(page.contains("at no measured point") && page.contains("missed: errors 1."));
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    assert!(
        json["study"]["objective"]
            .as_str()
            .unwrap()
            .starts_with("p95 < ")
    );
}

#[test]
fn without_an_objective_nothing_is_judged() {
    let text = document("none", &made()).markdown(Lang::En).unwrap();
    assert!(
        !text.contains("kept") && !text.contains("Objective"),
        "{text}"
    );
}
