//! What a page is by itself: it needs no network, no picture is without its words, and its style sheet
//! can be read and told apart.

use super::common::forms::{five_types, one_type};
use super::common::{Shape, run};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_report::{Lang, html};

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
