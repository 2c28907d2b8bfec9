//! What limits either side of a comparison, and which parts of the latency changed.

use crate::number::three;
use crate::report_table::ReportTable;
use crate::texts::{Lang, compare as texts, diagnosis as words, fill};
use tidemark_diagnosis::{Cause, Changes};

/// What limits the sides, where it is known of both.
pub(super) fn limits(changes: &Changes, lang: Lang) -> Option<String> {
    let t = texts::of(lang);
    let (a, b) = (changes.a?.cause, changes.b?.cause);
    if [a, b].contains(&Cause::NotEnoughSeen) {
        return None;
    }
    let template = match a == b {
        true => t.limited_alike,
        false => t.limited,
    };
    let values = [("a", a.title(lang.into())), ("b", b.title(lang.into()))];
    Some(fill(template, &values))
}

/// Parts of the mean latency that changed; `None` where none did.
pub(super) fn parts(changes: &Changes, lang: Lang) -> Option<ReportTable> {
    let (t, words) = (texts::of(lang), words::of(lang));
    let rows = changes.parts.iter().map(|of| {
        vec![
            of.part().title(lang.into()).into(),
            three(of.a_ms),
            three(of.b_ms),
            signed(of.b_ms - of.a_ms),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    (!rows.is_empty()).then(|| ReportTable {
        title: t.parts_changed,
        head: vec![words.where_, t.a_ms, t.b_ms, t.change_ms],
        rows,
        says: String::new(),
        numbers: 3,
    })
}

/// Milliseconds more or less.
pub(crate) fn signed(ms: f64) -> String {
    match three(ms.abs()).as_str() {
        "0" => "0".into(),
        shown => format!("{}{shown}", if ms < 0.0 { "−" } else { "+" }),
    }
}
