//! What must never be in a document of many runs: markup, scripts and passwords from outside.

use super::common::many::{Cell, document, record, records};
use super::common::well_formed;
use regex::Regex;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many, StepState};

fn both(many: &Many) -> [(String, String); 2] {
    Lang::ALL.map(|lang| (many.html(lang).unwrap(), many.markdown(lang).unwrap()))
}

/// What a database, a user or a file may hold.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]></style></script></details></title>",
    "javascript:alert(1)//'\"`${alert(1)}",
    "**bold** [x](javascript:alert(1)) ```\n# head | pipe",
    "=HYPERLINK(\"http://evil\")",
];

fn finds(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).unwrap().is_match(text)
}

/// Only the page's own script, no handler, and no link that leaves it.
fn is_harmless(page: &str) {
    well_formed(page);
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains("<img"));
    // What stands between quotes is a value, whatever it looks like.
    let values = Regex::new(r#"="[^"]*""#).unwrap();
    let names = values.replace_all(page, "=V");
    assert!(!finds(r"<[^>]*\son\w+=", &names));
    let link = Regex::new(r#"(href|src|xlink:href|action)\s*=\s*"([^"]*)""#).unwrap();
    for found in link.captures_iter(page) {
        assert!(found[2].starts_with("#part-"), "{}", &found[0]);
    }
}

/// No markup but the document's own, outside of code.
fn is_plain(markdown: &str) {
    let fenced = Regex::new(r"(?s)(`{3,})\w+\n.*?\n(`{3,})\n").unwrap();
    let prose = fenced.replace_all(markdown, "");
    assert!(!finds(r"[^\\]<script", &prose), "{prose}");
    assert!(
        !prose.contains("[x](") && !prose.contains("**bold**"),
        "{prose}"
    );
}

#[test]
fn what_comes_from_outside_stays_text() {
    for hostile in HOSTILE {
        let mut r = record(
            &Cell {
                workload: "oltp_read_write",
                threads: 4,
                factors: &[],
                transactions_per_s: 50.0,
                seconds: 3,
            },
            1,
            1,
        );
        let own = |text: &str| format!("{hostile}{text}");
        r.workload = own("workload");
        r.target = own("target");
        r.note = own("note");
        r.tags = vec![own("tag")];
        r.command.push(own("command"));
        r.client.hostname = own("host");
        r.notes = vec![own("unread")];
        r.settings[0].name = own("setting");
        r.settings[0].value = own("value");
        r.server.as_mut().unwrap().version = own("version");
        let stats = r.totals.types.values().next().unwrap().clone();
        r.totals.types.insert(own("type"), stats);
        let place = r.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("value"));
        place.factors.insert("workload".into(), own("name"));
        let mut other = r.clone();
        other.id = format!("{}2", r.id);
        other.state = RunState::Failed(own("reason"));
        let place = other.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("other"));
        place.factors.insert("threads".into(), "8".into());
        let mut third = r.clone();
        third.id = format!("{}3", r.id);
        let place = third.study.as_mut().unwrap();
        place.factors.insert(own("factor"), own("third"));
        let mut many = document(&own("title"), &[r, other, third]);
        let study = many.study.as_mut().unwrap();
        study.path = own("path");
        study.file = own("file");
        study.command.push(own("word"));
        for step in &mut many.steps {
            step.output = own("output");
            step.reason = Some(own("reason"));
            step.state = StepState::Failed;
            step.cell = own("cell");
        }
        for (page, markdown) in both(&many) {
            is_harmless(&page);
            is_plain(&markdown);
        }
        let csv = many.csv();
        assert!(!finds(r#"(^|,|\n)"?="#, &csv), "{csv}");
        serde_json::from_str::<serde_json::Value>(&many.json().unwrap()).unwrap();
    }
}

#[test]
fn no_password_is_in_any_form() {
    let mut records = records(&["oltp_read_write"], &[2], ("size", &[("1k", 1.0)]), 1, 3);
    // A record that was written by hand.
    records[0].target = "mysql://root:hunter2@h:3306/db".into();
    let many = document("secret", &records);
    for text in [
        many.html(Lang::En).unwrap(),
        many.markdown(Lang::Zh).unwrap(),
        many.csv(),
        many.json().unwrap(),
    ] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}
