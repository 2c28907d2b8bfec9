//! Findings in words.

use crate::ReportError;
use crate::compare::difference_name;
use crate::number::{three, whole};
use crate::texts::{Lang, Texts, fill};
use tidemark_analysis::{Both, Figure, Finding, Severity, findings};
use tidemark_core::record::RunRecord;

/// Rules that name what was different.
const NAMING: [&str; 2] = ["unequal-conditions", "unlike-repeats"];

/// One finding as people read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The rule's id.
    pub rule: &'static str,
    /// How severe it is, in a word: no colour is needed to tell.
    pub severity: &'static str,
    /// For a style.
    pub class: &'static str,
    /// What was seen.
    pub says: String,
    /// What to do instead.
    pub instead: String,
}

/// What the rules say of a run, the severest first.
pub(crate) fn said(record: &RunRecord, lang: Lang) -> Result<Vec<Said>, ReportError> {
    let found = findings(record)?;
    Ok(found.iter().map(|f| Said::of(f, lang)).collect())
}

/// Findings as lines of text, one each: severity, rule, what was seen; nothing for none. Control
/// characters from outside are left out.
pub fn finding_lines(found: &[Finding], lang: Lang) -> String {
    let t = lang.texts();
    let line = |said: Said| {
        let text: String = said.line(t).chars().filter(|c| !c.is_control()).collect();
        format!("{text}\n")
    };
    found.iter().map(|f| line(Said::of(f, lang))).collect()
}

/// The same with what to do instead, indented below each.
pub fn findings_with_advice(found: &[Finding], lang: Lang) -> String {
    let one = |f: &Finding| {
        let said = Said::of(f, lang);
        let instead: String = said.instead.chars().filter(|c| !c.is_control()).collect();
        let says = finding_lines(std::slice::from_ref(f), lang);
        format!("  {says}      {instead}\n")
    };
    found.iter().map(one).collect()
}

impl Said {
    pub fn of(finding: &Finding, lang: Lang) -> Self {
        let t = lang.texts();
        let (severity, class) = match finding.severity {
            Severity::Invalid => (t.finding_invalid, "invalid"),
            Severity::Suspect => (t.finding_suspect, "suspect"),
            Severity::Note => (t.finding_note, "note"),
        };
        let figures: Vec<(&str, String)> = finding
            .figures
            .iter()
            .map(|(name, figure)| match figure {
                Figure::Text(what) if NAMING.contains(&finding.rule) => (*name, named(what, lang)),
                other => (*name, shown(other, lang)),
            })
            .collect();
        let values: Vec<(&str, &str)> = figures.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let sentence = |both: Both| fill(in_language(both, lang), &values);
        Self {
            rule: finding.rule,
            severity,
            class,
            says: sentence(finding.says),
            instead: sentence(finding.instead),
        }
    }

    /// Without what to do.
    pub fn line(&self, t: &Texts) -> String {
        let values = [
            ("severity", self.severity),
            ("rule", self.rule),
            ("says", self.says.as_str()),
        ];
        fill(t.finding_line, &values)
    }
}

/// Differences by their names in the language.
fn named(what: &str, lang: Lang) -> String {
    let names = what.split(", ").map(|name| difference_name(name, lang));
    names.collect::<Vec<_>>().join(lang.texts().comma)
}

fn in_language(both: Both, lang: Lang) -> &'static str {
    match lang {
        Lang::En => both.en,
        Lang::Zh => both.zh,
    }
}

fn shown(figure: &Figure, lang: Lang) -> String {
    match figure {
        Figure::Count(n) => whole(*n),
        Figure::Number(value) => three(*value),
        Figure::Text(text) => text.clone(),
        Figure::Words(words) => in_language(*words, lang).into(),
        Figure::Composed { en, zh } => match lang {
            Lang::En => en.clone(),
            Lang::Zh => zh.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_in_the_language() {
        let what = "setting sync_binlog, option set-session, isolation";
        assert_eq!(named(what, Lang::En), what);
        let chinese = "参数 sync_binlog、选项 set-session、隔离级别";
        assert_eq!(named(what, Lang::Zh), chinese);
    }
}
