//! `import` of documents: what other tools printed comes into the store, or into a report at once.

use crate::exit::{ExitCode, Failure};
use crate::render::Format;
use crate::report_files::{ReportFile, of_many, of_one};
use crate::stdio::print;
use crate::storing::store_path;
use crate::texts::documents as texts;
use crate::{args, columns, documents};
use std::path::{Path, PathBuf};
use tidemark_core::record::RunRecord;
use tidemark_core::{counted, printable, printable_lines};
use tidemark_import::{Became, Import, without_secrets};
use tidemark_report::{Authored, Lang, Many, RunDigest};
use tidemark_store::{Store, StoreError};

/// Takes documents into the store.
///
/// # Errors
/// [`Failure`] for the only document that can't be read, or of the store, or of the report.
pub fn import(words: &args::Import, files: &[PathBuf]) -> Result<ExitCode, Failure> {
    let mut reports = Vec::new();
    for out in &words.report {
        let format = format_of(out)?;
        ReportFile::at(out, format, words.overwrite).permitted()?;
        reports.push((out, format));
    }
    let mut runs = Vec::new();
    let mut failures = Vec::new();
    let mut others = 0;
    for file in files {
        let is_named = words.files.iter().any(|word| word == file);
        match one(words, file) {
            Ok(import) => runs.extend(import.runs),
            Err(failure) if is_named => failures.push(failure),
            // A folder may hold anything.
            Err(failure) => {
                eprintln!("tidemark: {}", failure.message);
                others += 1;
            }
        }
    }
    if runs.is_empty() && failures.is_empty() && others > 0 {
        let said = format!(
            "none of the {} in the folder is an output or a table that is known",
            counted(others, "file", "files")
        );
        return Err(Failure::usage(said));
    }
    if let ([_], [only]) = (files, failures.as_slice()) {
        return Err(only.clone());
    }
    for failure in &failures {
        eprintln!("tidemark: {}", failure.message);
    }
    // A report alone stores nothing of its own accord.
    if !words.dry_run && !words.explain {
        store(words, &runs)?;
    }
    for (out, format) in reports.into_iter().filter(|_| !runs.is_empty()) {
        write(&runs, out, format, words)?;
    }
    match failures.first() {
        Some(first) => Err(Failure::new(
            first.code,
            texts::files_failed(words.lang, failures.len()),
        )),
        None => Ok(ExitCode::Success),
    }
}

/// Reads one document and prints what it held.
fn one(words: &args::Import, file: &Path) -> Result<Import, Failure> {
    let import = documents::read(file, words.unit, &mut |line, text, became| {
        if words.explain {
            print(&format!(
                "{line:>6}  {}  {}\n",
                columns::left(&became_words(became, words.lang), 15),
                printable(&without_secrets(text))
            ));
        }
    })?;
    let shown = file.display();
    if import.runs.is_empty() {
        return Err(Failure::usage(format!(
            "{shown}: none of its {} lines is an output or a table that is known; \
             tidemark import --explain {shown} prints what each line became",
            import.lines
        )));
    }
    let lang = words.lang;
    let runs = import.runs.len();
    print(&format!(
        "{}\n",
        texts::found(lang, shown, runs, import.lines)
    ));
    print(&documents::not_understood(&import, lang));
    for said in documents::without_unit(&import, lang).take(documents::RANGES) {
        print(&format!("{said}\n"));
    }
    for (first, last, tool) in import.incomplete.iter().take(documents::RANGES) {
        let said = texts::incomplete(lang, first, last, tool);
        print(&format!("{said}\n"));
    }
    for (line, command) in import.missing.iter().take(documents::RANGES) {
        let said = texts::no_output(lang, line, command);
        print(&printable_lines(&format!("{said}\n")));
    }
    Ok(import)
}

fn became_words(became: Became, lang: Lang) -> String {
    match became {
        Became::Blank => String::new(),
        Became::Output(tool) => tool.into(),
        Became::NoFigure(tool) => texts::became_no_figure(lang, tool),
        Became::Command(tool) => texts::became_command(lang, tool),
        Became::Option => texts::became_option(lang).into(),
        Became::Heading => texts::became_heading(lang).into(),
        Became::Table => texts::became_table(lang).into(),
        Became::TableInPart => texts::became_table_in_part(lang).into(),
        Became::Remark => "-".into(),
        Became::NotUnderstood => texts::became_nothing(lang).into(),
    }
}

fn store(words: &args::Import, runs: &[RunRecord]) -> Result<(), Failure> {
    if runs.is_empty() {
        return Ok(());
    }
    let mut store = Store::open(&store_path(words.store.store.as_deref())?)?;
    let (mut new, mut known) = (0, 0);
    for run in runs {
        let name = printable(&documents::named(run, words.lang)).to_string();
        match store.import(run) {
            Ok(()) => {
                new += 1;
                print(&format!("{}\n", texts::imported(words.lang, &run.id, name)));
            }
            // Its id is made of its figures.
            Err(StoreError::Exists { .. }) => {
                known += 1;
                print(&format!("{}\n", texts::known(words.lang, &run.id, name)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    print(&format!("{}\n", texts::done(words.lang, new, known)));
    Ok(())
}

fn write(
    runs: &[RunRecord],
    out: &Path,
    format: Format,
    words: &args::Import,
) -> Result<(), Failure> {
    let lang = words.lang;
    let file = ReportFile::at(out, format, words.overwrite);
    let written = match runs {
        [one] if format != Format::Csv => {
            of_one(one, format, lang, &Authored::default(), file.folder())?
        }
        _ => {
            let digests = runs.iter().map(RunDigest::of);
            let document = Many {
                version: env!("CARGO_PKG_VERSION").into(),
                runs: digests.collect::<Result<_, _>>()?,
                ..Many::default()
            };
            of_many(&document, format, lang, file.folder())?
        }
    };
    let of_charts = file.write(&written, lang)?;
    print(&format!("{}\n", out.display()));
    for line in of_charts {
        eprintln!("tidemark: {line}");
    }
    Ok(())
}

/// The format of `--report`, told before anything is stored.
fn format_of(out: &Path) -> Result<Format, Failure> {
    match Format::of(out)? {
        Format::Text => Err(Failure::usage(format!(
            "--report={}: use .html, .md, .csv or .json; for example --report=out.html",
            out.display()
        ))),
        format => Ok(format),
    }
}
