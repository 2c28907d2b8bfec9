//! Records to files, by the file's ending.

use crate::exit::{ExitCode, Failure};
use crate::user_files;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::borrow::Cow;
use std::path::Path;
use tidemark_core::printable_document;
use tidemark_core::record::RunRecord;
use tidemark_report::{self as report, Authored, Lang, Many, ReportError, RunDigest};

/// What a report can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One self-contained page.
    Html,
    /// Markdown.
    Markdown,
    /// Plain text.
    Text,
    /// Of one run the record itself, of several their figures.
    Json,
    /// A row a run.
    Csv,
}

impl Format {
    /// The format of a file's ending.
    ///
    /// # Errors
    /// [`Failure`] of bad usage for another ending.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("html" | "htm") => Ok(Format::Html),
            Some("md") => Ok(Format::Markdown),
            Some("txt") => Ok(Format::Text),
            Some("json") => Ok(Format::Json),
            Some("csv") => Ok(Format::Csv),
            _ => Err(Failure::usage(format!(
                "{}: unknown report format; use a file name that ends in .html, .md, .txt, .json \
                 or .csv; for example report.html",
                path.display()
            ))),
        }
    }

    /// The format that `--format` names; the command line takes no other words.
    pub fn named(name: &str) -> Self {
        match name {
            "md" => Format::Markdown,
            "txt" => Format::Text,
            "json" => Format::Json,
            "csv" => Format::Csv,
            _ => Format::Html,
        }
    }

    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Markdown => "md",
            Format::Text => "txt",
            Format::Json => "json",
            Format::Csv => "csv",
        }
    }
}

/// What `--lang` may be.
pub const LANGS: [&str; 3] = ["auto", "en", "zh"];

/// Variables that name the language, the first that is set before the others.
const LANG_VARIABLES: [&str; 4] = ["TIDEMARK_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];

/// Reads `--lang`.
pub fn lang_parser() -> impl TypedValueParser<Value = Lang> {
    PossibleValuesParser::new(LANGS).map(|tag| language(&tag))
}

/// The language that `--lang` names, or the environment.
pub fn language(tag: &str) -> Lang {
    match tag {
        "en" => Lang::En,
        "zh" => Lang::Zh,
        _ => {
            let set = LANG_VARIABLES.iter().filter_map(std::env::var_os);
            let set = set.map(|value| value.to_string_lossy().into_owned());
            of_locales(set)
        }
    }
}

/// The language of the first locale that is any: `zh_CN.UTF-8`, `zh`, `C`.
fn of_locales(locales: impl Iterator<Item = String>) -> Lang {
    let mut set = locales.filter(|locale| !locale.is_empty());
    match set.next() {
        Some(locale) if locale.to_lowercase().starts_with("zh") => Lang::Zh,
        _ => Lang::En,
    }
}

/// The report's text.
///
/// # Errors
/// [`Failure`] when the record holds what can't be read.
pub fn render(record: &RunRecord, format: Format, lang: Lang) -> Result<String, Failure> {
    render_with(record, format, lang, &Authored::default())
}

/// As [`render`], with what the report's author writes.
///
/// # Errors
/// As [`render`], and of bad usage for a text that refers to nothing.
pub fn render_with(
    record: &RunRecord,
    format: Format,
    lang: Lang,
    authored: &Authored,
) -> Result<String, Failure> {
    match format {
        Format::Html => report::html_with(record, lang, authored).map_err(of_report),
        Format::Markdown => report::markdown_with(record, lang, authored)
            .map(harmless)
            .map_err(of_report),
        Format::Text => report::text(record, lang).map(harmless).map_err(of_report),
        Format::Json => {
            let failed = |e: &dyn std::fmt::Display| Failure::new(ExitCode::Failed, e.to_string());
            let text = report::json(record).map_err(|e| failed(&e))?;
            // JSON has no infinity: what can't be read again is told now.
            tidemark_store::from_json(&text).map_err(|e| failed(&e))?;
            Ok(text)
        }
        Format::Csv => {
            let runs = vec![RunDigest::of(record).map_err(of_report)?];
            let one = Many {
                runs,
                ..Many::default()
            };
            Ok(one.csv())
        }
    }
}

/// A wrong text of the author's is bad usage.
pub fn of_report(error: ReportError) -> Failure {
    match error {
        ReportError::Authored(wrong) => Failure::usage(format!("text of the report: {wrong}")),
        other => Failure::new(ExitCode::Failed, other.to_string()),
    }
}

/// Text that people look at in a terminal, wherever it was written to: what a server called itself
/// is not obeyed there.
pub fn harmless(text: String) -> String {
    match printable_document(&text) {
        Cow::Owned(harmless) => harmless,
        Cow::Borrowed(_) => text,
    }
}

/// Writes the report's file.
///
/// # Errors
/// [`Failure`] naming the file when it can't be written, or is somebody else's; a half-written file is
/// not left behind.
pub fn write(
    record: &RunRecord,
    path: &Path,
    format: Format,
    lang: Lang,
    overwrite: bool,
) -> Result<(), Failure> {
    let text = render(record, format, lang)?;
    user_files::write(path, text.as_bytes(), format, overwrite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_that_is_set_says_the_language() {
        for (locales, lang) in [
            (&[][..], Lang::En),
            (&["zh_CN.UTF-8"], Lang::Zh),
            (&["", "zh"], Lang::Zh),
            (&["C", "zh_CN.UTF-8"], Lang::En),
            (&["en_US.UTF-8"], Lang::En),
        ] {
            let set = locales.iter().map(|locale| locale.to_string());
            assert_eq!(of_locales(set), lang, "{locales:?}");
        }
        assert_eq!(language("zh"), Lang::Zh);
    }
}
