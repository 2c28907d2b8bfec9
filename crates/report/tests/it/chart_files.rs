//! Charts of a Markdown document as files of their own.

use super::common::many::durability;
use super::common::{Shape, run, well_formed};
use std::collections::BTreeSet;
use tidemark_report::{
    Authored, Illustrated, Lang, is_unchanged_chart, markdown, markdown_illustrated,
};

fn of_run(lang: Lang) -> Illustrated {
    let record = run(&Shape {
        seconds: 10,
        ..Shape::five_types()
    });
    markdown_illustrated(&record, lang, &Authored::default(), "a b-files").unwrap()
}

fn of_study(lang: Lang) -> Illustrated {
    durability(3)
        .markdown_illustrated(lang, "a b-files")
        .unwrap()
}

#[test]
fn each_chart_is_a_file_that_the_document_links_once() {
    for lang in Lang::ALL {
        for document in [of_run(lang), of_study(lang)] {
            assert!(document.charts.len() >= 3, "{}", document.charts.len());
            let names: BTreeSet<&str> = document.charts.iter().map(|c| &*c.name).collect();
            assert_eq!(names.len(), document.charts.len());
            for chart in &document.charts {
                let link = format!("](a%20b-files/{})\n", chart.name);
                assert_eq!(document.markdown.matches(&link).count(), 1, "{link}");
                well_formed(&chart.svg);
                assert!(
                    chart
                        .svg
                        .starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")
                );
                assert!(is_unchanged_chart(&chart.svg), "{}", chart.svg);
                // Its own ground, before anything that is drawn on it.
                let ground = chart.svg.find("fill=\"#FFFFFF\"").unwrap();
                assert!(chart.svg.find("<text").is_none_or(|text| ground < text));
                for runs in ["<script", "href", "onload", "url(", "foreignObject"] {
                    assert!(!chart.svg.contains(runs), "{runs}: {}", chart.svg);
                }
            }
            assert_eq!(document.markdown.matches("\n![").count(), names.len());
            assert!(
                !document.markdown.contains("\n## \n"),
                "a heading without words"
            );
        }
    }
}

#[test]
fn a_chart_file_holds_its_legend() {
    let page = durability(3).html(Lang::En).unwrap();
    let legend = page.split("<p class=\"legend\">").nth(1).unwrap();
    let name = legend.split("</svg> ").nth(1).unwrap();
    let name = name.split("</span>").next().unwrap();
    let line = format!("fill=\"#4D5C69\">{name}</text>");
    let charts = of_study(Lang::En).charts;
    assert!(charts.iter().any(|c| c.svg.contains(&line)), "{line}");
}

#[test]
fn without_a_folder_there_are_no_pictures() {
    let record = run(&Shape::one_type());
    for text in [
        markdown(&record, Lang::En).unwrap(),
        durability(3).markdown(Lang::En).unwrap(),
    ] {
        assert!(!text.contains("!["), "{text}");
    }
}
