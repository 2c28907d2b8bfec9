//! Rates that follow each other, and searches for the highest: what is printed after sysbench's
//! summary, and what the reports say.

use super::common::load::{closed, option, printed, searched, stepped};

use tidemark_report::{Lang, text};
use tidemark_report::{not_found, step};

#[test]
fn steps_are_a_table() {
    let printed = printed(&stepped());
    let row = |rate: &str| {
        let line = printed.lines().find(|l| l.contains(rate)).unwrap();
        line.split_whitespace()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("asked/s")[1..3], ["asked/s", "served/s"]);
    assert_eq!(row(" 2000.00 ")[..3], ["step", "2000.00", "2000.00"]);
    assert_eq!(row("asked/s")[9..], ["delayed", "dropped", "unserved"]);
    assert_eq!(row(" 2000.00 ")[6..], ["2000", "0", "7"]);
    assert!(
        !printed.contains("arrivals asked:"),
        "there were several rates"
    );
}

#[test]
fn a_step_is_said_when_it_ends() {
    let record = searched(true);
    assert_eq!(
        step(&record.steps[2]).unwrap(),
        "climb: 15000.00 asked/s, 15000.00 served/s, p50 75.04, p95 108.79, p99 111.80 ms; \
         missed: p99 112 ms\n"
    );
    let probe = step(&record.steps[0]).unwrap();
    assert!(
        probe.starts_with("probe: no schedule, 15000.00 served/s"),
        "{probe}"
    );
}

#[test]
fn a_search_says_its_result() {
    let kept = printed(&searched(true));
    assert!(
        kept.contains(
            "\nHighest rate that meets p99 < 20ms: 12,400/s, confirmed over 30 s: p99 17.1 ms\n"
        ),
        "{kept}"
    );
    assert!(kept.contains("no, p99 112 ms; client late\n"), "{kept}");
    assert!(kept.contains("probe           -  15000.00"), "{kept}");
    assert!(kept.contains("arrivals asked:                      12400.00"));
    assert!(
        kept.contains("Open loop, at the confirmed rate:\n"),
        "{kept}"
    );
    assert_eq!(not_found(&searched(true)), None);
    assert_eq!(not_found(&closed()), None);
    let refuted = printed(&searched(false));
    assert!(
        refuted.contains("Open loop, at the last rate tried:\n"),
        "{refuted}"
    );
    let why = not_found(&searched(false)).unwrap();
    assert!(refuted.contains(&format!("WARNING: {why}\n")), "{why}");
    for (lang, confirmed, last) in [
        (
            Lang::En,
            "from the confirmation of that rate",
            "from the last rate tried, 12,400",
        ),
        (
            Lang::Zh,
            "取自该速率的复测",
            "取自最后尝试的速率，每秒 12,400",
        ),
    ] {
        let report = |kept| text(&searched(kept), lang).unwrap();
        assert!(report(true).contains(confirmed) && !report(true).contains(last));
        assert!(report(false).contains(last) && !report(false).contains(confirmed));
    }
    assert!(
        refuted.contains(
            "WARNING: no rate that meets p99 < 20ms was confirmed: 12,400/s missed it over 30 s: \
             p99 24.0 ms\n"
        ),
        "{refuted}"
    );
}

#[test]
fn a_search_that_came_to_nothing_says_so() {
    let mut record = searched(true);
    record.steps.truncate(3);
    record.steps[1].verdict.as_mut().unwrap().kept = false;
    let said = printed(&record);
    assert!(
        said.contains("WARNING: no rate met p99 < 20ms; the lowest tried was 10,000/s"),
        "{said}"
    );
    assert!(
        said.contains("Open loop, at the last rate tried:"),
        "{said}"
    );
    record.steps.truncate(1);
    let said = printed(&record);
    assert!(said.contains("Open loop:\n"), "{said}");
    assert!(
        said.contains("WARNING: the search ended after its probe"),
        "{said}"
    );
    assert!(!said.contains("before any rate was tried"), "{said}");
    let report = text(&record, Lang::En).unwrap();
    assert!(report.contains("ended after its probe"), "{report}");
    record.steps.clear();
    let said = printed(&record);
    assert!(said.contains("ended before any rate was tried"), "{said}");
    assert!(
        text(&record, Lang::En)
            .unwrap()
            .contains("before any rate was tried")
    );
    option(&mut record, "find-max", "");
    assert!(!printed(&record).contains("search"));
}
