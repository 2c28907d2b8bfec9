//! `audit`: what the rules say of runs, records and documents.

use crate::exit::{ExitCode, Failure};
use crate::runs::{open, record_in};
use crate::stdio::print;
use crate::texts::audit as texts;
use crate::{args, documents, run_selection};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use tidemark_analysis::{
    Finding, Severity, copied_output, findings, missing_client, missing_output,
};
use tidemark_core::printable;
use tidemark_core::record::RunRecord;
use tidemark_report::findings_with_advice;

/// So many figures no two runs have in common.
const OUTPUT_FIGURES: usize = 8;

/// How many of each severity, and the outputs that were judged.
#[derive(Default)]
struct SeverityCounts {
    runs: u64,
    invalid: u64,
    suspect: u64,
    notes: u64,
    watches: u64,
    /// By what its figures come to: its file, and how it is named with its line.
    outputs: BTreeMap<String, (PathBuf, String)>,
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
            judge(words, &record, &format!("{id} {name}"), None, &mut told)?;
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
        return judge(words, &record, &file.display().to_string(), None, told);
    }
    let mut import = match documents::read(file, words.unit, &mut |_, _, _| {}) {
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
    // Several files may have one name.
    let of_several = of_folder || words.what.len() > 1;
    for run in &mut import.runs {
        if let Some(imported) = run.imported.as_mut().filter(|_| of_several) {
            imported.file = file.display().to_string();
        }
        let copied = copied(run, file, told);
        let name = documents::named(run, words.lang);
        judge(words, run, &name, copied, told)?;
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

/// An output that another file had already, to the last digit.
fn copied(run: &RunRecord, file: &Path, told: &mut SeverityCounts) -> Option<Finding> {
    let imported = run.imported.as_ref()?;
    let figures = imported.figures.len() + imported.intervals.len();
    // An id has the place in the document before what the figures come to.
    let (_, figures_id) = run.id.split_once('-')?;
    if imported.tool == "table" || figures < OUTPUT_FIGURES {
        return None;
    }
    let path = file.canonicalize().unwrap_or_else(|_| file.into());
    match told.outputs.entry(figures_id.into()) {
        Entry::Vacant(free) => {
            let place = format!("{}:{}", imported.file, imported.first_line);
            free.insert((path, place));
            None
        }
        Entry::Occupied(known) => {
            let (first, place) = known.get();
            (*first != path).then(|| copied_output(imported.first_line, place))
        }
    }
}

fn judge(
    words: &args::Audit,
    record: &RunRecord,
    name: &str,
    more: Option<Finding>,
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
    let found: Vec<Finding> = more.into_iter().chain(found).collect();
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
