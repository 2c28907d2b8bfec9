//! What a comparison says beside a judgement of `--fail-if`.

use super::common::many::records;
use tidemark_analysis::compare;
use tidemark_analysis::compare::{RegressionLimit, Verdict};
use tidemark_analysis::costs::{ComparedCost, CostKind};
use tidemark_diagnosis::Changes;
use tidemark_report::{Lang, comparison_markdown, comparison_text};

/// Two values of a factor, with as many repeats of so many seconds; the judgement in a language.
fn judged(times: f64, repeats: u32, seconds: i64, limit: &str, lang: Lang) -> String {
    let factor = ("durability", &[("1", 1.0), ("2", times)][..]);
    let all = records(&["oltp_read_write"], &[4], factor, repeats, seconds);
    let (a, b) = all.split_at(repeats as usize);
    let compared = compare(a, b).unwrap();
    let limit: RegressionLimit = limit.parse().unwrap();
    let judged = [(limit, limit.is_broken_by(&compared))];
    let text = comparison_text(&compared, &Changes::default(), &judged, lang);
    let line = text.lines().last().unwrap().to_string();
    assert!(!line.contains('-'), "one minus in all: {line}");
    let markdown =
        comparison_markdown(&compared, &Changes::default(), &judged, lang).replace('\\', "");
    assert!(markdown.contains(&line), "{line}: {markdown}");
    line
}

#[test]
fn a_judgement_says_what_it_was_made_on() {
    for (times, repeats, seconds, limit, begins, part, zh) in [
        (
            0.5,
            3,
            25,
            "throughput < -3%",
            "FAILED: ",
            "%, a difference is shown)",
            "差异已证实",
        ),
        (
            1.0,
            3,
            25,
            "throughput < -90%",
            "passed: ",
            "not shown with 3 and 3 repeats)",
            "各 3、3 次重复",
        ),
        (
            0.988,
            1,
            60,
            "throughput < -90%",
            "passed: ",
            "not shown by the intervals within",
            "各时段未能证实",
        ),
        (
            0.5,
            1,
            6,
            "throughput < -3%",
            "FAILED: ",
            "%, not enough data)",
            "无法判断",
        ),
    ] {
        let en = judged(times, repeats, seconds, limit, Lang::En);
        assert!(en.starts_with(begins) && en.contains(part), "{en}");
        let zh_said = judged(times, repeats, seconds, limit, Lang::Zh);
        assert!(zh_said.contains(zh), "{zh_said}");
    }
}

#[test]
fn what_an_interval_too_wide_leaves_open_does_not_pass() {
    let factor = ("durability", &[("1", 1.0), ("2", 1.0)][..]);
    let all = records(&["oltp_read_write"], &[4], factor, 3, 25);
    let mut compared = compare(&all[..3], &all[3..]).unwrap();
    for metric in &mut compared.metrics {
        metric.ratio = 1.0;
        (metric.interval, metric.verdict) = (Some((0.1, 10.0)), Verdict::NoDifferenceShown);
    }
    let limit: RegressionLimit = "mean < -5%".parse().unwrap();
    assert!(limit.is_broken_by(&compared));
    for (lang, begins, part) in [
        (
            Lang::En,
            "FAILED: mean < ",
            "% cannot be judged (0.0%, the interval is too wide",
        ),
        (
            Lang::Zh,
            "未通过：mean < ",
            "% 无法判断（0.0%，置信区间过宽",
        ),
    ] {
        let text = comparison_text(&compared, &Changes::default(), &[(limit, true)], lang);
        let line = text.lines().last().unwrap();
        assert!(line.starts_with(begins) && line.contains(part), "{line}");
    }
}

#[test]
fn costs_have_the_minus_of_the_other_changes() {
    let factor = ("durability", &[("1", 1.0), ("2", 1.0)][..]);
    let all = records(&["oltp_read_write"], &[4], factor, 3, 25);
    let mut compared = compare(&all[..3], &all[3..]).unwrap();
    compared.costs = vec![ComparedCost {
        kind: CostKind::ServerCpuUs,
        a: 200.0,
        b: 150.0,
        ratio: Some(0.75),
        of_statement: None,
    }];
    let text = comparison_text(&compared, &Changes::default(), &[], Lang::En);
    assert!(text.contains("−25.0%"), "{text}");
    assert!(!text.contains("per statement"), "{text}");
    compared.costs[0].of_statement = Some((10.0, 7.5));
    let text = comparison_text(&compared, &Changes::default(), &[], Lang::En);
    let row = text.lines().find(|line| line.contains("−25.0%")).unwrap();
    let cells: Vec<&str> = row
        .split("  ")
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .collect();
    assert_eq!(cells[cells.len() - 2..], ["10.0 µs", "7.50 µs"], "{text}");
    assert!(text.contains("A, per statement"), "{text}");
}
