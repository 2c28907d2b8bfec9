//! What a study varied: its charts, its sentences, and what they never say.

use super::common::many::{
    Cell, DISTANCE, ISOLATION, document, of_two_factors, queries, record, records, with_factors,
};
use super::common::well_formed;
use regex::Regex;
use tidemark_core::record::RunRecord;
use tidemark_report::{Lang, Many};

const LOADS: [usize; 4] = [2, 8, 32, 64];

/// Headings of the charts.
fn charts(page: &str) -> Vec<String> {
    let heading = Regex::new(r"(?s)<figure[^>]*>\s*<h3>([^<]*)</h3>").unwrap();
    let found = heading.captures_iter(page);
    found.map(|found| found[1].to_string()).collect()
}

fn chart<'p>(page: &'p str, title: &str) -> &'p str {
    let heading = format!("<h3>{title}</h3>");
    let figures = page.split("<figure").skip(1);
    let mut found = figures.filter(|figure| figure.contains(&heading));
    let figure = found
        .next()
        .unwrap_or_else(|| panic!("{title}: {:?}", charts(page)));
    figure.split("</figure>").next().unwrap()
}

fn named(loads: &[usize], repeats: u32) -> Many {
    let records = records(&["oltp_read_write"], loads, ISOLATION, repeats, 6);
    with_factors("levels", &records, &[ISOLATION])
}

fn repeat(
    factors: &[(&str, &str)],
    threads: usize,
    transactions_per_s: f64,
    n: usize,
    number: usize,
) -> RunRecord {
    let cell = Cell {
        workload: "oltp_read_write",
        threads,
        factors,
        transactions_per_s,
        seconds: 6,
    };
    record(&cell, n as u32 + 1, number as u64)
}

#[test]
fn names_have_bars_in_the_order_of_the_file() {
    let page = named(&[16], 3).html(Lang::En).unwrap();
    well_formed(&page);
    let chart = chart(&page, "Throughput over isolation level");
    let bars = chart.split("</svg>").next().unwrap();
    let at: Vec<usize> = ISOLATION
        .1
        .iter()
        .map(|(name, _)| {
            bars.find(&format!(">{name}</text>"))
                .unwrap_or_else(|| panic!("{bars}"))
        })
        .collect();
    assert!(at.is_sorted(), "{at:?}");
    // Every value is written at its bar, and stands in the table.
    assert_eq!(bars.matches("text-anchor=\"start\"").count(), 1 + 4);
    assert!(charts(&page).contains(&"Latency over isolation level".to_string()));
    assert!(chart.contains("Highest: ") && chart.contains("Error bars: "));
}

#[test]
fn charts_of_tpc_c_are_of_tpmc() {
    let records = records(&["tpcc"], &[16], ISOLATION, 2, 6);
    let page = with_factors("levels", &records, &[ISOLATION]);
    let page = page.html(Lang::En).unwrap();
    let chart = chart(&page, "tpmC over isolation level");
    assert!(
        chart.contains("Highest: ") && chart.contains(" tpmC at "),
        "{chart}"
    );
    assert!(!page.contains("<h3>Throughput over isolation level</h3>"));
}

#[test]
fn many_loads_are_lines_over_the_factor() {
    let page = named(&LOADS, 1).html(Lang::En).unwrap();
    well_formed(&page);
    let over = chart(&page, "Throughput over isolation level");
    for load in LOADS {
        assert!(
            over.contains(&format!("</svg> {load} threads</span>")),
            "{over}"
        );
    }
    assert!(charts(&page).contains(&"Throughput over threads".to_string()));
}

#[test]
fn numbers_stand_on_an_axis_and_each_is_compared_with_the_first() {
    let records = records(&["oltp_read_write"], &[16], DISTANCE, 3, 6);
    let many = with_factors("distance", &records, &[DISTANCE]);
    let page = many.html(Lang::En).unwrap();
    let over = chart(&page, "Throughput over injected network latency");
    // 1 ms is a twentieth of the axis, not a third of it.
    let x: Vec<i32> = Regex::new(r#"data-x="(\d+)""#)
        .unwrap()
        .captures_iter(over)
        .map(|found| found[1].parse().unwrap())
        .collect();
    assert_eq!(x.len(), 4);
    let share = f64::from(x[1] - x[0]) / f64::from(x[3] - x[0]);
    assert!((share - 0.05).abs() < 0.01, "{x:?}");
    let text = many.markdown(Lang::En).unwrap();
    let said = r"Throughput compared with Injected network latency=0ms: 1ms −\d\d\.\d% \([^)]*\); 5ms −\d\d\.\d% \([^)]*\); 20ms −\d\d\.\d% \([^)]*\)\.";
    assert!(Regex::new(said).unwrap().is_match(&text), "{text}");
    assert!(
        text.contains("## Injected network latency: each value compared with 0ms"),
        "{text}"
    );
    assert!(
        text.contains("| Pair | Injected network latency | 0ms | This value |"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    let compared = json["comparisons"].as_array().unwrap();
    let sides = compared.iter().map(|c| [c["a"].as_str(), c["b"].as_str()]);
    let sides: Vec<_> = sides.map(|side| side.map(Option::unwrap)).collect();
    assert_eq!(sides, [["0ms", "1ms"], ["0ms", "5ms"], ["0ms", "20ms"]]);
    assert!(json["comparison"].is_null());
}

#[test]
fn two_factors_make_small_charts_with_one_scale() {
    let records = of_two_factors("oltp_read_write", &LOADS, (ISOLATION, DISTANCE), 1, 6);
    let many = with_factors("two", &records, &[ISOLATION, DISTANCE]);
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    let titles = charts(&page);
    for (value, _) in ISOLATION.1 {
        let title = format!("Throughput over threads: Isolation level={value}");
        assert!(titles.contains(&title), "{titles:?}");
    }
    let tops: Vec<String> = DISTANCE
        .1
        .iter()
        .map(|(value, _)| {
            let title =
                format!("Throughput over isolation level: Injected network latency={value}");
            let small = chart(&page, &title);
            assert!(small.contains("class=\"half\""), "{small}");
            // The longest bar of the fastest group shows what one transaction is worth.
            let bar = Regex::new(r#"<rect x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)""#).unwrap();
            let widths = bar
                .captures_iter(small)
                .map(|found| found[2].parse::<f64>().unwrap());
            format!("{:.0}", widths.fold(0.0, f64::max))
        })
        .collect();
    // Without distance bars are longest: all charts have its scale.
    let widths: Vec<f64> = tops.iter().map(|width| width.parse().unwrap()).collect();
    assert!(widths.windows(2).all(|w| w[0] > w[1] * 1.4), "{widths:?}");
}

#[test]
fn two_points_and_one_bar_are_no_chart() {
    let two = ("isolation", &[("a", 1.0), ("b", 1.1)][..]);
    let one_load = records(&["oltp_read_write"], &[16], two, 2, 6);
    let page = document("two", &one_load).html(Lang::En).unwrap();
    let about = |page: &str| charts(page).iter().any(|title| title.contains(" over "));
    assert!(!about(&page), "{:?}", charts(&page));
    let loads = records(&["oltp_read_write"], &[2, 4], ("x", &[("y", 1.0)]), 2, 6);
    let page = document("two", &loads).html(Lang::En).unwrap();
    assert!(!about(&page), "{:?}", charts(&page));
    assert!(!charts(&page).iter().any(|title| title.contains("Little")));
}

#[test]
fn an_interval_is_cut_and_said_to_be() {
    let page = |last: [f64; 3]| {
        let mut records = Vec::new();
        for (threads, tps) in [(2, [100.0; 3]), (8, [380.0; 3]), (32, last)] {
            for (n, tps) in tps.into_iter().enumerate() {
                records.push(repeat(&[], threads, tps, n, records.len()));
            }
        }
        document("apart", &records).html(Lang::En).unwrap()
    };
    let cut = "An arrowhead: the interval continues beyond the chart.";
    assert!(!page([700.0; 3]).contains(cut));
    let page = page([800.0, 90.0, 90.0]);
    let over = chart(&page, "Throughput over threads");
    assert!(over.contains(cut), "{over}");
}

#[test]
fn what_would_show_a_difference_is_on_the_first_screen() {
    // Repeats that differ by a fifth.
    let same = ["1", "2"]
        .into_iter()
        .enumerate()
        .flat_map(|(side, value)| {
            let tps = [400.0, 480.0, 440.0].into_iter().enumerate();
            tps.map(move |(n, tps)| repeat(&[("durability", value)], 16, tps, n, side * 3 + n))
        });
    let same: Vec<RunRecord> = same.collect();
    let text = document("same", &same).markdown(Lang::En).unwrap();
    let summary = text.split("\n## ").nth(1).unwrap();
    assert!(summary.starts_with("Summary"), "{summary}");
    let said = r"no difference in throughput shown, .* observed \(95% interval .*\)[^.]*\. Showing a throughput difference of 5\.00% would need about \d+ repeats per side";
    assert!(Regex::new(said).unwrap().is_match(summary), "{summary}");
}

#[test]
fn of_many_series_the_first_screen_has_the_best_alone() {
    let records = of_two_factors("oltp_read_write", &[16], (ISOLATION, DISTANCE), 1, 6);
    let many = with_factors("two", &records, &[ISOLATION, DISTANCE]);
    let text = many.markdown(Lang::En).unwrap();
    let summary = text.split("\n## ").nth(1).unwrap();
    assert!(
        summary.contains("This is the highest of 4 series"),
        "{summary}"
    );
    assert_eq!(summary.matches("peak throughput").count(), 1, "{summary}");
    // A sentence for each factor.
    assert_eq!(
        summary.matches("Throughput compared with").count(),
        2,
        "{summary}"
    );
    let zh = many.markdown(Lang::Zh).unwrap();
    assert_eq!(
        zh.split("\n## ")
            .nth(1)
            .unwrap()
            .matches("吞吐量相对")
            .count(),
        2,
        "{zh}"
    );
}

#[test]
fn each_query_has_a_bar() {
    let records = queries(&[("MariaDB", 1.0), ("PostgreSQL", 0.7)]);
    for (lang, title) in [(Lang::En, "Time of each query"), (Lang::Zh, "各查询耗时")] {
        let page = document("TPC-H", &records).html(lang).unwrap();
        well_formed(&page);
        let chart = chart(&page, title);
        assert_eq!(chart.matches("opacity=\"0.7\"").count(), 44, "{chart}");
        assert!(chart.contains(">Q22</text>"));
    }
}

#[test]
fn the_overview_says_which_load_it_is() {
    let mut mixed = records(
        &["oltp_read_write", "oltp_point_select"],
        &[2, 4],
        ("x", &[("y", 1.0)]),
        1,
        6,
    );
    for (n, r) in mixed.iter_mut().enumerate().skip(2) {
        let rate = [500.0, 1000.0][n % 2];
        r.rate = Some(rate);
        let factors = &mut r.study.as_mut().unwrap().factors;
        factors.remove("threads");
        factors.insert("rate".into(), rate.to_string());
    }
    let text = document("mixed", &mixed).markdown(Lang::En).unwrap();
    let overview = |text: &str| text.split("\n## ").nth(2).unwrap().to_string();
    let table = overview(&text);
    assert!(
        table.starts_with("Overview") && table.contains("| Workload | Load | "),
        "{table}"
    );
    for row in [
        r"| oltp\_read\_write | 2 threads | ",
        r"| oltp\_read\_write | 4 threads | ",
        r"| oltp\_point\_select | 500/s | ",
        r"| oltp\_point\_select | 1000/s | ",
    ] {
        assert!(table.contains(row), "{row}: {table}");
    }
    // Of users that nobody knows there is no number.
    let mut unknown = records(&["oltp_read_write"], &[2, 4], ("x", &[("y", 1.0)]), 1, 6);
    for r in &mut unknown {
        r.study = None;
    }
    unknown[0].sessions = 0;
    unknown[0].options.remove("threads");
    let mut many = document("", &unknown);
    (many.study, many.steps) = (None, Vec::new());
    let table = overview(&many.markdown(Lang::En).unwrap());
    assert!(table.contains(r"| oltp\_read\_write | – | "), "{table}");
    assert!(!table.contains(r"| oltp\_read\_write | 0 | "), "{table}");
}
