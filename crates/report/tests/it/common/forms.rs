//! Every form of a run's report, of the runs that most tests report.

use super::{Shape, run, well_formed};
use tidemark_core::record::RunRecord;
use tidemark_report::{Lang, ReportError, html, markdown, text};

pub type Render = fn(&RunRecord, Lang) -> Result<String, ReportError>;
/// Each form of a report.
pub const FORMS: [(&str, Render); 3] = [("html", html), ("text", text), ("markdown", markdown)];

fn short(shape: Shape) -> Shape {
    Shape {
        seconds: 12,
        warmup_s: 3,
        ..shape
    }
}

/// A short run of one type of transaction.
pub fn one_type() -> RunRecord {
    run(&short(Shape::one_type()))
}

/// A short run of five.
pub fn five_types() -> RunRecord {
    run(&short(Shape::five_types()))
}

/// Every form in every language.
pub fn all(record: &RunRecord) -> Vec<(String, String)> {
    let mut reports = Vec::new();
    for (form, render) in FORMS {
        for lang in Lang::ALL {
            let report = render(record, lang).unwrap();
            let name = format!("{form} {}", lang.tag());
            assert!(
                !report.contains("NaN") && !report.contains("inf "),
                "{name}"
            );
            if form == "html" {
                well_formed(&report);
            }
            reports.push((name, report));
        }
    }
    reports
}
