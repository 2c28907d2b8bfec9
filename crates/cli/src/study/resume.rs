//! `study resume`: goes on with what is left.

use super::args;
use super::diagnosing::experiments_asked;
use super::execute::{StudyExecution, number};
use super::file::{self, StudyFile};
use super::interrupt::listen;
use super::invalid_runs::why_unusable;
use super::outcome::{HALF_MADE, MADE_AGAIN, judged};
use super::servers::{servers, shared_with};
use super::start::{absolute, place_of_store, restore_left};
use super::targets::{leave, leave_behind, reach};
use crate::clients;
use crate::exit::{ExitCode, Failure};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tidemark_files::{LONGEST_CONFIGURATION, read_text};
use tidemark_observe::client_host;
use tidemark_report::Lang;
use tidemark_store::{
    ListedState, StepEnd, StepRow, StepState, Store, StoreError, StudyRow, StudyState,
};
use tidemark_study::{JobKind, Reload, Study, StudyPlan, changed_lines, redact};

/// A run whose study was killed is killed with it; so long it is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// So many changed lines of a file are told.
const MOST_LINES: usize = 8;

/// Goes on with an execution.
///
/// # Errors
/// [`Failure`] of bad usage when the file has changed, or another process is at it; as
/// [`StudyExecution::execute`].
pub fn resume(words: &args::Resume) -> Result<ExitCode, Failure> {
    clients::use_for_all(clients::of_words(&words.clients)?);
    let mut store = Store::open_existing(&place_of_store(words.store.store.as_deref())?)?;
    let row = find(&store, &words.study)?;
    // What files say is meant from where the study was begun.
    std::env::set_current_dir(&row.folder)
        .map_err(|e| Failure::usage(format!("{}: the study was started here: {e}", row.folder)))?;
    let read = file_of(&row, words.as_begun)?;
    let rows = store.steps(&row.id)?;
    same_steps(&row, &rows, &read.plan)?;
    let diagnose = experiments_asked(&words.experiments, &read.plan)?;
    let own = servers(&read.plan.places, Path::new(&row.folder));
    let shared = |other: &StudyRow| shared_with(&own, other);
    store.claim_study(&row.id, &client_host().hostname, words.take_over, &shared)?;
    listen();
    tidy(&mut store, &row.id, &read, words)?;
    let states: Vec<StepState> = store.steps(&row.id)?.iter().map(|r| r.state).collect();
    let is_left = !states.iter().all(|s| s.is_over())
        || !store.changed_settings(&row.id)?.is_empty()
        || diagnose.is_some();
    let places = match is_left {
        true => reach(&read.plan.places, &row.id, words.lang)?,
        false => Vec::new(),
    };
    if let Err(failure) = restore_left(&store, &places) {
        // The first failure is what is told.
        let _ = leave(places);
        return Err(failure);
    }
    let mut execution = StudyExecution {
        store,
        id: row.id.clone(),
        study: &read.study,
        plan: &read.plan,
        places: &places,
        folder: PathBuf::from(&row.folder),
        machine: None,
        view: words.view,
        diagnose,
        lang: words.lang,
    };
    if !is_left {
        let code = execution.finish(&states)?;
        leave_behind(&read.plan.places, &row.id)?;
        return Ok(code);
    }
    let executed = execution.execute();
    let left = leave(places);
    let code = executed?;
    left.map(|()| code)
}

/// The execution that is meant: by what the store knows it by, or by its file.
///
/// # Errors
/// [`StoreError::NoSuchStudy`] and what the store tells.
pub fn find(store: &Store, word: &str) -> Result<StudyRow, Failure> {
    match store.study(word) {
        Err(StoreError::NoSuchStudy { .. }) if Path::new(word).is_file() => {
            let path = absolute(Path::new(word))?.display().to_string();
            let mut of_file: Vec<StudyRow> = store.studies()?;
            of_file.retain(|s| s.path == path);
            let unfinished = of_file.iter().position(|s| s.state != StudyState::Ended);
            if of_file.is_empty() {
                return Err(Failure::usage(format!(
                    "{word} has not been run yet: tidemark study run {word}"
                )));
            }
            Ok(of_file.swap_remove(unfinished.unwrap_or(0)))
        }
        found => Ok(found?),
    }
}

/// The study as it was begun. Its file is read again for its passwords, which the store does not
/// have, and must say the same as then.
fn file_of(row: &StudyRow, as_begun: bool) -> Result<StudyFile, Failure> {
    let hides = row.file.contains("***");
    let text = match read_text(row.path.as_ref(), LONGEST_CONFIGURATION) {
        Ok(text) => text,
        Err(_) if !hides => return file::understand(row.file.clone(), &row.path),
        Err(e) => {
            return Err(Failure::usage(format!(
                "{}: {e}; it is needed for its passwords, which are not stored. With password = \
                 \"env:VARIABLE\" a study does not need its file",
                row.path
            )));
        }
    };
    let now = redact(&text);
    if now == row.file {
        return file::understand(text, &row.path);
    }
    let changed = changed_lines(&row.file, &now, MOST_LINES).join("\n  ");
    if !as_begun {
        return Err(Failure::usage(format!(
            "{} has changed since the study started:\n  {changed}\nundo the change, or continue \
             with the original file with --as-begun, or start over: tidemark study run --anew {}",
            row.path, row.path
        )));
    }
    if hides {
        return Err(Failure::usage(format!(
            "{} has changed since the study started, and the original cannot be used because its \
             passwords are not stored:\n  {changed}\nundo these changes",
            row.path
        )));
    }
    file::understand(row.file.clone(), &row.path)
}

/// A newer program may plan a file otherwise than the one that began.
fn same_steps(row: &StudyRow, rows: &[StepRow], plan: &StudyPlan) -> Result<(), Failure> {
    let same = rows.len() == plan.steps.len()
        && rows.iter().zip(&plan.steps).all(|(row, step)| {
            row.kind == step.kind.word() && row.cell == step.cell && row.repeat == step.repeat
        });
    if same {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "this version of Tidemark plans other steps for {} than the version that started the \
         study: resume with that version, or start over: tidemark study run --anew {}",
        row.path, row.path
    )))
}

/// Decides about every step that was begun and has no end, and about those that are to be taken
/// again.
fn tidy(
    store: &mut Store,
    id: &str,
    read: &StudyFile,
    words: &args::Resume,
) -> Result<(), Failure> {
    for (seq, row) in store.steps(id)?.iter().enumerate() {
        match row.state {
            StepState::GoingOn => end_or_again(store, id, seq, row, read)?,
            StepState::Failed | StepState::Skipped if words.retry_failed => {
                again(store, id, seq, &read.study, &read.plan, "it is retried")?;
            }
            StepState::Invalid if words.retry_invalid => {
                if let Some(run) = &row.run_id {
                    store.note_half_made(run, MADE_AGAIN)?;
                }
                let why = "its run is invalid and is repeated";
                again(store, id, seq, &read.study, &read.plan, why)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// A step that was going on when the study was killed: its run may have ended all the same.
fn end_or_again(
    store: &mut Store,
    id: &str,
    seq: usize,
    row: &StepRow,
    read: &StudyFile,
) -> Result<(), Failure> {
    let run = match row.kind.as_str() {
        "run" => ended_run(store, id, row)?,
        _ => None,
    };
    if let Some((run, ListedState::Finished)) = &run {
        let (state, reason) = judged(why_unusable(store, run, Lang::En));
        let end = StepEnd {
            state,
            reason: reason.as_deref(),
            run_id: Some(run),
            output: "(the study was killed after this run ended; its output is lost)\n",
        };
        return Ok(store.step_ends(id, number(seq), end)?);
    }
    if let Some((run, _)) = &run {
        store.note_half_made(run, HALF_MADE)?;
    }
    let why = "the study was killed meanwhile";
    again(store, id, seq, &read.study, &read.plan, why)
}

/// The run of a step, when its process has ended.
fn ended_run(
    store: &Store,
    id: &str,
    row: &StepRow,
) -> Result<Option<(String, ListedState)>, Failure> {
    let begun = Instant::now();
    loop {
        let run = store.run_at(id, &row.cell, row.repeat, row.begun_ms.unwrap_or(0))?;
        match &run {
            Some((run, ListedState::Running)) if begun.elapsed() > LONGEST_WAIT => {
                return Err(Failure::usage(format!(
                    "run {run} of this study is still running in its own process: stop it, or \
                     wait until it ends"
                )));
            }
            Some((_, ListedState::Running)) => std::thread::sleep(Duration::from_millis(50)),
            _ => return Ok(run),
        }
    }
}

/// A step is taken again; where every run has data of its own, these are loaded again, too, for the
/// run may have changed them.
fn again(
    store: &mut Store,
    id: &str,
    seq: usize,
    study: &Study,
    plan: &StudyPlan,
    why: &str,
) -> Result<(), Failure> {
    store.step_waits(id, number(seq), why)?;
    let step = plan.steps.get(seq);
    let load = step.filter(|s| s.kind == JobKind::Run).and_then(|s| s.load);
    if let Some(load) = load.filter(|_| study.reload == Reload::PerRun) {
        store.step_waits(id, number(load), "its run is repeated")?;
    }
    Ok(())
}
