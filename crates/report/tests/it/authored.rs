//! Reports with text of their author's.

use super::common::many::{Cell, durability, record};
use super::common::well_formed;
use tidemark_report::{Authored, Lang, Many, ReportError, html_with, markdown_with};

const TEXT: &str = "# Is it worth it?\n\nWe asked **why**.\n\n## 结论\n\nAt 64 threads \
{{tps workload=oltp_point_select threads=64 durability=2}} transactions/s.\n\n\
## Nodes {place=topology}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n\
## Why it stops\n\n<script>x</script> p95 {{p95 workload=oltp_read_write threads=64 durability=1}} ms\n";

fn with(text: &str) -> Many {
    Many {
        authored: Authored::parse(text).unwrap(),
        ..durability(6)
    }
}

#[test]
fn sections_stand_in_their_places_with_figures_of_the_tables() {
    let many = with(TEXT);
    let text = many.markdown(Lang::En).unwrap();
    assert!(text.starts_with("# Is it worth it?\n"), "{text}");
    let heads = [
        "## Summary",
        "## 结论",
        "## Purpose",
        "## Overview",
        "## Environment",
        "## Nodes",
        "## oltp",
        "## Why it stops",
        "## Commands to repeat",
    ];
    let at: Vec<usize> = heads
        .iter()
        .map(|head| {
            text.find(&format!("\n{head}"))
                .unwrap_or_else(|| panic!("{head}: {text}"))
        })
        .collect();
    assert!(at.is_sorted(), "{at:?}");
    // The same figure as in the overview.
    let row = text
        .lines()
        .find(|line| line.contains("oltp\\_point\\_select | 2 | 64 |"))
        .unwrap_or_else(|| panic!("{text}"));
    let figure = row.split('|').nth(4).unwrap().trim();
    assert!(
        text.contains(&format!("At 64 threads {figure} transactions/s.")),
        "{figure}: {text}"
    );
    let page = many.html(Lang::Zh).unwrap();
    well_formed(&page);
    assert!(!page.contains("<script>x") && page.contains("测试目的"));
}

#[test]
fn a_reference_to_nothing_or_to_several_says_what_there_is() {
    for (reference, said) in [
        ("{{tsp}}", "metric \"tsp\" is not known"),
        ("{{tsp}}", "did you mean tps?"),
        ("{{tps}}", "results match; add workload= ("),
        (
            "{{tps workload=oltp_red_only}}",
            "did you mean oltp_read_write?",
        ),
        (
            "{{tps workload=oltp_read_write threads=65 durability=1}}",
            "no result has threads=65; there are 1, 16, 2",
        ),
        (
            "{{tps thread=64}}",
            "no result has \"thread\"; results have workload, threads, durability; did you mean threads?",
        ),
        (
            "{{tpmC workload=oltp_read_write threads=64 durability=1}}",
            "tpmC is not known of that result",
        ),
    ] {
        let error = with(&format!("One.\n\n{reference}\n"))
            .markdown(Lang::En)
            .unwrap_err();
        let ReportError::Authored(wrong) = &error else {
            panic!("{error}");
        };
        assert_eq!(wrong.line, 3);
        assert!(wrong.why.contains(said), "{reference}: {wrong}");
    }
}

#[test]
fn a_heading_has_figures_too() {
    let many = with(
        "## {{tps workload=oltp_read_write threads=64 durability=2}} TPS <b>at</b> most\n\nYes.\n",
    );
    let text = many.markdown(Lang::En).unwrap();
    let heading = text.lines().find(|line| line.ends_with("most"));
    let heading = heading.unwrap_or_else(|| panic!("{text}"));
    assert!(
        !heading.contains("{{") && heading.contains("TPS"),
        "{heading}"
    );
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(
        page.contains("TPS &#60;b&#62;at&#60;/b&#62; most</h2>"),
        "{page}"
    );
    let wrong = with("One.\n\n## {{tsp}}\n\nTwo.\n").markdown(Lang::En);
    let ReportError::Authored(wrong) = wrong.unwrap_err() else {
        panic!("another error");
    };
    assert_eq!(wrong.line, 3);
}

#[test]
fn a_study_that_has_not_run_yet_has_dashes() {
    let mut many = with("At {{tps workload=oltp_read_write threads=128}}.\n");
    many.authored.sections[0].lenient = true;
    assert!(many.markdown(Lang::En).unwrap().contains("At –."));
}

#[test]
fn a_report_of_one_run_has_them_too() {
    let cell = Cell {
        workload: "oltp_read_write",
        threads: 8,
        factors: &[],
        transactions_per_s: 400.0,
        seconds: 6,
    };
    let run = record(&cell, 1, 1);
    let authored = Authored::parse("## Conclusion\n\n{{tps}} and {{mean threads=8}}.\n").unwrap();
    let text = markdown_with(&run, Lang::En, &authored).unwrap();
    assert!(
        !text.contains("{{") && text.contains("## Conclusion"),
        "{text}"
    );
    well_formed(&html_with(&run, Lang::En, &authored).unwrap());
    // And nothing changes without one.
    let none = Authored::default();
    let plain = tidemark_report::markdown(&run, Lang::En).unwrap();
    assert_eq!(markdown_with(&run, Lang::En, &none).unwrap(), plain);
}
