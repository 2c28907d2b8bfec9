//! `report`: one run, several, or a study as one document.

use crate::chart_files::ChartFolder;
use crate::exit::{ExitCode, Failure};
use crate::render::Format;
use crate::report_files::{ReportFile, Written, of_many, of_one};
use crate::runs::{record_in, whole_id};
use crate::storing::store_path;
use crate::texts::{progress as texts, reports as said};
use crate::{args, authored, messages, progress, run_selection, stdio};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use tidemark_core::nearest;
use tidemark_core::record::RunRecord;
use tidemark_report::{
    Authored, Lang, Many, RunDigest, StepState, StudyFactor, StudyFacts, StudyStep, Unreadable,
};
use tidemark_store::{self as store, StepRow, Store, StoreError, StudyRow, StudyState};

/// A run, wherever it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RunSource {
    /// A record written by `--out`.
    File(PathBuf),
    /// The whole id of a run of the store.
    Stored(String),
}

/// What a document is made of.
#[derive(Default)]
struct ReportScope {
    /// In the order asked for, each once.
    runs: Vec<RunSource>,
    /// Opened when something of it is asked for.
    store: Option<Store>,
    /// What is known of the study, where one is asked for and nothing else, and steps of all.
    study: Many,
    /// How many studies are among it. Without one, a single run is told whole however it was selected.
    studies: usize,
}

/// Writes the report.
///
/// # Errors
/// [`Failure`] naming what is not there, or the file that can't be written.
pub fn report(words: &args::Report) -> Result<ExitCode, Failure> {
    let (format, out) = destination(words)?;
    let printed = out == Path::new("-");
    let file = (!printed).then(|| ReportFile::at(&out, format, words.overwrite));
    // Before records are read and digested.
    file.as_ref().map_or(Ok(()), ReportFile::permitted)?;
    let asked = ReportScope::of(words)?;
    let authored = asked.authored(words, format)?;
    let folder = file.as_ref().and_then(ReportFile::folder);
    let written = match asked.runs.as_slice() {
        [one] if asked.studies == 0 && format != Format::Csv => {
            of_one(&asked.read(one)?, format, words.lang, &authored, folder)?
        }
        _ => document(words, asked, format, authored, folder)?,
    };
    let of_charts = match &file {
        None => {
            // What is in a field of CSV is kept as it is, unless it would be obeyed.
            stdio::print_data(&written.text);
            Vec::new()
        }
        Some(file) => {
            let of_charts = file.write(&written, words.lang)?;
            stdio::print(&format!("{}\n", out.display()));
            of_charts
        }
    };
    for line in of_charts {
        eprintln!("tidemark: {line}");
    }
    if format == Format::Markdown && folder.is_none() {
        eprintln!("tidemark: {}", said::no_charts(words.lang));
    }
    Ok(ExitCode::Success)
}

/// The format, and the file.
fn destination(words: &args::Report) -> Result<(Format, PathBuf), Failure> {
    let format = match (&words.format, &words.out) {
        (Some(name), _) => Format::named(name),
        (None, Some(out)) if out == Path::new("-") => Format::Markdown,
        (None, Some(out)) => Format::of(out)?,
        (None, None) => Format::Html,
    };
    let out = words.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from(format!("report.{}", format.ending())));
    Ok((format, out))
}

impl ReportScope {
    fn of(words: &args::Report) -> Result<Self, Failure> {
        let mut asked = Self::default();
        for word in &words.what {
            let file = Path::new(word);
            if file.extension().is_some_and(|e| e == "json") || file.is_file() {
                asked.add(RunSource::File(file.into()));
            } else {
                asked.add_named(words, word)?;
            }
        }
        for tag in &words.tag {
            asked.add_tagged(words, tag)?;
        }
        if asked.studies != 1 || words.what.len() + words.tag.len() != 1 {
            // A document of several things is none of them.
            asked.study.study = None;
        }
        Ok(asked)
    }

    /// The text of the study and of `--text`.
    fn authored(&self, words: &args::Report, format: Format) -> Result<Authored, Failure> {
        let shown = matches!(format, Format::Html | Format::Markdown);
        for (flag, given) in [
            ("--title", words.title.is_some()),
            ("--text", words.text.is_some()),
        ] {
            if given && !shown {
                return Err(Failure::usage(format!(
                    "{flag} is for reports in html or md; for example --out report.html"
                )));
            }
        }
        let mut texts = authored::Texts::new();
        if !shown {
            return Ok(Authored::default());
        }
        if let Some(of) = &self.study.study
            && let Ok(study) = tidemark_study::parse(&of.file)
        {
            texts.add_study(&study, &of.path);
        }
        if let Some(path) = &words.text {
            texts.add_file(path)?;
        }
        Ok(texts.titled(words.title.as_deref()))
    }

    fn add(&mut self, place: RunSource) {
        if !self.runs.contains(&place) {
            self.runs.push(place);
        }
    }

    /// A run of the store, a study with its runs, or a group of runs.
    fn add_named(&mut self, words: &args::Report, name: &str) -> Result<(), Failure> {
        let store = self.store(words)?;
        if let Some(tag) = name.strip_prefix("tag:") {
            return self.add_tagged(words, tag);
        }
        if let Some(study) = name.strip_prefix("study:") {
            return match store.study(study) {
                Ok(row) => self.add_study(words, row),
                Err(not_here @ StoreError::NoSuchStudy { .. }) => {
                    match self.add_elsewhere(words, study)? {
                        true => Ok(()),
                        false => Err(not_here.into()),
                    }
                }
                Err(error) => Err(error.into()),
            };
        }
        let id = whole_id(store, name)?;
        let not_a_run = match store.resolve(&id) {
            Ok(id) => {
                self.add(RunSource::Stored(id));
                return Ok(());
            }
            Err(error @ (StoreError::NoSuchRun { .. } | StoreError::Ambiguous { .. })) => error,
            Err(error) => return Err(error.into()),
        };
        match store.study(name) {
            Ok(row) => self.add_study(words, row),
            Err(StoreError::NoSuchStudy { .. }) => match self.add_elsewhere(words, name)? {
                true => Ok(()),
                false => Err(unknown(self.store(words)?, name, &not_a_run)?),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn add_tagged(&mut self, words: &args::Report, tag: &str) -> Result<(), Failure> {
        for run in run_selection::tagged(self.store(words)?, tag)? {
            self.add(RunSource::Stored(run.id));
        }
        Ok(())
    }

    fn add_study(&mut self, words: &args::Report, row: StudyRow) -> Result<(), Failure> {
        let steps = self.store(words)?.steps(&row.id)?;
        for step in &steps {
            if let Some(run) = &step.run_id {
                self.add(RunSource::Stored(run.clone()));
            }
        }
        self.study.study = Some(facts(row));
        self.study.steps.extend(steps.into_iter().map(step));
        self.studies += 1;
        Ok(())
    }

    /// The runs of a study that was executed elsewhere, if one is called so.
    fn add_elsewhere(&mut self, words: &args::Report, name: &str) -> Result<bool, Failure> {
        let store = self.store(words)?;
        let Some(study) = run_selection::elsewhere(store, name)? else {
            return Ok(false);
        };
        for of_study in store.runs_of(&study.id)? {
            self.add(RunSource::Stored(of_study.run.id));
        }
        Ok(true)
    }

    fn store(&mut self, words: &args::Report) -> Result<&Store, Failure> {
        if self.store.is_none() {
            let path = store_path(words.store.store.as_deref())?;
            self.store = Some(Store::open_existing(&path)?);
        }
        self.store
            .as_ref()
            .ok_or_else(|| Failure::new(ExitCode::Failed, "no store"))
    }

    fn read(&self, place: &RunSource) -> Result<RunRecord, Failure> {
        match (place, &self.store) {
            (RunSource::File(file), _) => record_in(file),
            (RunSource::Stored(id), Some(store)) => Ok(store.get(id)?),
            // A place in the store was found there.
            (RunSource::Stored(id), None) => Err(Failure::usage(format!("{id}: no such run"))),
        }
    }
}

/// What a name is not, with the nearest that there is.
fn unknown(store: &Store, name: &str, not_a_run: &StoreError) -> Result<Failure, Failure> {
    // Several runs may begin so: that says it.
    let studies = store.studies()?;
    let elsewhere = store.studies_elsewhere()?;
    let names = studies.iter().map(|s| s.name.as_str());
    let names: Vec<&str> = names
        .chain(elsewhere.iter().map(|s| s.name.as_str()))
        .collect();
    Ok(match nearest(name, names) {
        Some(near) => Failure::usage(format!(
            "{name:?}: no run has this id, and no study this name or id; did you mean the study \
             {near:?}?"
        )),
        None => Failure::usage(format!("{not_a_run}; tidemark study status lists studies")),
    })
}

fn facts(row: StudyRow) -> StudyFacts {
    // A file that an older Tidemark took may be none to this one; its runs are told all the same.
    let study = tidemark_study::parse(&row.file).ok();
    let varied = study.as_ref().map(|study| study.varied());
    StudyFacts {
        command: ["tidemark", "study", "run", &row.path]
            .map(String::from)
            .to_vec(),
        open: row.state != StudyState::Ended,
        objective: study.and_then(|study| study.objective),
        factors: varied
            .unwrap_or_default()
            .into_iter()
            .map(|of| StudyFactor {
                name: of.name,
                values: of.values,
                changes: of.changes,
            })
            .collect(),
        id: row.id,
        name: row.name,
        path: row.path,
        file: row.file,
    }
}

fn step(row: StepRow) -> StudyStep {
    let took_ms = row.begun_ms.zip(row.ended_ms).map(|(from, to)| to - from);
    StudyStep {
        kind: row.kind,
        cell: row.cell,
        repeat: row.repeat,
        command: row.command,
        state: match row.state {
            store::StepState::Waiting => StepState::Waiting,
            store::StepState::GoingOn => StepState::GoingOn,
            // The document judges the run itself.
            store::StepState::Done | store::StepState::Invalid => StepState::Done,
            store::StepState::Failed => StepState::Failed,
            store::StepState::Skipped => StepState::Skipped,
        },
        reason: row.reason,
        run_id: row.run_id,
        took_s: took_ms.map(|ms| ms as f64 / 1000.0),
        output: row.output,
    }
}

fn document(
    words: &args::Report,
    asked: ReportScope,
    format: Format,
    authored: Authored,
    folder: Option<&ChartFolder>,
) -> Result<Written, Failure> {
    if format == Format::Text {
        return Err(Failure::usage(
            "--format=txt is for one run; for several use html, md, csv or json; for example \
             --format md --out -",
        ));
    }
    let mut document = asked.study.clone();
    (document.runs, document.unreadable) = digests(&asked, words.lang)?;
    let has_nothing = document.runs.is_empty() && document.unreadable.is_empty();
    if has_nothing && !asked.runs.is_empty() {
        return Err(Failure::usage(
            "a watch has no transactions for a table of runs; report it alone, as html, md, txt or json; for \
             example: tidemark report last --out watch.html",
        ));
    }
    document.version = env!("TIDEMARK_VERSION").into();
    document.authored = authored;
    if matches!(format, Format::Html | Format::Markdown) {
        // What programs read stays as the store has it.
        let reasons = document.steps.iter_mut().flat_map(|s| &mut s.reason);
        reasons.for_each(|why| *why = messages::reason(why, words.lang).into_owned());
    }
    of_many(&document, format, words.lang, folder)
}

/// Records digested at a time: each takes some megabytes.
const MOST_DIGESTED: usize = 8;

type Digests = (Vec<RunDigest>, Vec<Unreadable>);

/// Reads records one by one and digests them meanwhile, one on each core, so that a few are in memory
/// at most.
fn digests(asked: &ReportScope, lang: Lang) -> Result<Digests, Failure> {
    let bar = progress::bar(asked.runs.len() as u64, texts::runs(lang), lang);
    let result = thread::scope(|scope| {
        let (records, to_digest) = sync_channel(1);
        let to_digest = Arc::new(Mutex::new(to_digest));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let digesting: Vec<_> = (0..cores.min(MOST_DIGESTED))
            .map(|_| Arc::clone(&to_digest))
            .map(|records| scope.spawn(move || digest(&records)))
            .collect();
        // With the last of them its end is dropped, and what is sent then is not waited for.
        drop(to_digest);
        let mut unreadable = Vec::new();
        for place in &asked.runs {
            match read(asked, place)? {
                Ok(record) if record.is_watch() => eprintln!(
                    "tidemark: run {} is excluded: it is a watch, with no load of its own",
                    record.id
                ),
                Ok(record) => {
                    // It takes all that it is given until this end is dropped.
                    drop(records.send(record));
                }
                Err(one) => unreadable.push(one),
            }
            bar.inc(1);
        }
        drop(records);
        let mut digests = Vec::new();
        for one in digesting {
            let (some, more) = one
                .join()
                .map_err(|_| Failure::new(ExitCode::Failed, "a record could not be digested"))?;
            digests.extend(some);
            unreadable.extend(more);
        }
        digests.sort_by(|a, b| a.id().cmp(b.id()));
        unreadable.sort_by(|a, b| a.id.cmp(&b.id));
        Ok((digests, unreadable))
    });
    bar.finish_and_clear();
    result
}

/// A record that can't be read is told in the document; a store that can't be is a failure.
fn read(asked: &ReportScope, place: &RunSource) -> Result<Result<RunRecord, Unreadable>, Failure> {
    match (place, &asked.store) {
        (RunSource::Stored(id), Some(store)) => match store.get(id) {
            Ok(record) => Ok(Ok(record)),
            Err(error @ (StoreError::Record { .. } | StoreError::NoSuchRun { .. })) => {
                let (id, why) = (id.clone(), error.to_string());
                Ok(Err(Unreadable { id, why }))
            }
            Err(error) => Err(error.into()),
        },
        (place, _) => asked.read(place).map(Ok),
    }
}

fn digest(records: &Mutex<Receiver<RunRecord>>) -> Digests {
    let (mut digests, mut unreadable) = (Vec::new(), Vec::new());
    // The lock is held for the waiting, not for the work.
    while let Some(record) = records.lock().ok().and_then(|next| next.recv().ok()) {
        match RunDigest::of(&record) {
            Ok(digest) => digests.push(digest),
            Err(error) => unreadable.push(Unreadable {
                id: record.id,
                why: error.to_string(),
            }),
        }
    }
    (digests, unreadable)
}
