//! `audit`: what the rules say of runs, records and documents.

use crate::exit::{ExitCode, Failure};
use crate::runs::{open, record_in};
use crate::stdio::print;
use crate::texts::audit as texts;
use crate::{args, documents, run_selection};
use std::path::{Path, PathBuf};
use tidemark_analysis::{Finding, Severity, findings, missing_client, missing_output};
use tidemark_core::printable;
use tidemark_core::record::RunRecord;
use tidemark_report::findings_with_advice;

/// How many of each severity.
#[derive(Default)]
struct SeverityCounts {
    runs: u64,
    invalid: u64,
    suspect: u64,
    notes: u64,
    watches: u64,
}

/// Judges runs.
///
/// # Errors
/// [`Failure`] for what is not there or can't be read.
pub fn audit(words: &args::Audit) -> Result<ExitCode, Failure> {
    let mut told = SeverityCounts::default();
    for word in &words.what {
        let path = Path::new(word);
        if word == "-" || path.exists() || is_file_name(word) {
            for file in documents::files(&[PathBuf::from(path)])? {
                judge_file(words, &file, path.is_dir(), &mut told)?;
            }
            continue;
        }
        let store = open(&words.store)?;
        for id in run_selection::ids(&store, std::slice::from_ref(word))? {
            let record = store.get(&id)?;
            let name = match record.imported {
                Some(_) => documents::named(&record, words.lang),
                None => texts::named(words.lang, &record.workload, &record.target),
            };
            judge(words, &record, &format!("{id} {name}"), &mut told)?;
        }
    }
    if told.runs == 0 && told.invalid + told.suspect + told.notes == 0 {
        if told.watches > 0 {
            return Err(Failure::usage(format!(
                "{}: nothing in it can be judged: a watch has no transactions; tidemark show prints it",
                words.what.join(" ")
            )));
        }
        return Err(Failure::usage(format!(
            "{}: nothing in it can be judged; tidemark import --explain FILE prints what each line \
             became",
            words.what.join(" ")
        )));
    }
    let total = texts::total(
        words.lang,
        told.runs,
        told.invalid,
        told.suspect,
        told.notes,
    );
    print(&format!("{total}\n"));
    let fails = told.invalid > 0 || words.strict && told.suspect > 0;
    Ok(if fails {
        ExitCode::Check
    } else {
        ExitCode::Success
    })
}

/// Whether a word can only be a file's: no id has a folder or an ending. One that is not there is told
/// as such, and not as a run that no store has.
fn is_file_name(word: &str) -> bool {
    let is_group = ["study:", "tag:"].iter().any(|of| word.starts_with(of));
    !is_group && (word.contains(['/', '\\']) || Path::new(word).extension().is_some())
}

fn judge_file(
    words: &args::Audit,
    file: &Path,
    of_folder: bool,
    told: &mut SeverityCounts,
) -> Result<(), Failure> {
    if documents::is_record(file) {
        let record = match record_in(file) {
            Err(failure) if of_folder => {
                eprintln!("tidemark: {}", failure.message);
                return Ok(());
            }
            record => record?,
        };
        return judge(words, &record, &file.display().to_string(), told);
    }
    let import = match documents::read(file, words.unit, &mut |_, _, _| {}) {
        Err(failure) if of_folder => {
            eprintln!("tidemark: {}", failure.message);
            return Ok(());
        }
        import => import?,
    };
    if import.runs.is_empty() && import.missing.is_empty() {
        let shown = file.display();
        let none = format!("{shown}: no line in it is an output or a table that is known");
        if of_folder {
            eprintln!("tidemark: {none}");
            return Ok(());
        }
        return Err(Failure::usage(none));
    }
    for run in &import.runs {
        judge(words, run, &documents::named(run, words.lang), told)?;
    }
    let not_understood = documents::not_understood(&import, words.lang);
    if !not_understood.is_empty() {
        let shown = printable(&file.display().to_string()).into_owned();
        print(&format!("{shown}: {not_understood}"));
    }
    for said in documents::without_unit(&import, words.lang) {
        print(&format!("{said}\n"));
    }
    for (first, last, tool) in &import.incomplete {
        let said = crate::texts::documents::incomplete(words.lang, first, last, tool);
        print(&format!("{said}\n"));
    }
    let outputs = import.missing.iter();
    let outputs = outputs.map(|(line, text)| missing_output(*line, text));
    let clients = import.missing_clients.iter();
    let clients = clients.map(|(line, number)| missing_client(*line, number));
    let missing: Vec<Finding> = outputs.chain(clients).collect();
    if !missing.is_empty() {
        tell(words, &missing, &file.display().to_string(), told);
    }
    Ok(())
}

fn judge(
    words: &args::Audit,
    record: &RunRecord,
    name: &str,
    told: &mut SeverityCounts,
) -> Result<(), Failure> {
    if record.is_watch() {
        print(&format!(
            "{}\n{}\n",
            printable(name),
            texts::watch(words.lang)
        ));
        told.watches += 1;
        return Ok(());
    }
    let found = findings(record).map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    told.runs += 1;
    tell(words, &found, name, told);
    Ok(())
}

fn tell(words: &args::Audit, found: &[Finding], name: &str, told: &mut SeverityCounts) {
    for finding in found {
        match finding.severity {
            Severity::Invalid => told.invalid += 1,
            Severity::Suspect => told.suspect += 1,
            Severity::Note => told.notes += 1,
        }
    }
    print(&format!("{}\n", printable(name)));
    print(&findings_with_advice(found, words.lang));
}
