//! `study run`: begins an execution.

use super::args;
use super::execute::{Execution, listen};
use super::file::{self, Read};
use super::settings;
use super::targets::{Reached, leave, reach};
use crate::exit::{ExitCode, Failure};
use crate::secrets::redact;
use crate::storing::store_path;
use std::path::{Path, PathBuf};
use tidemark_core::counted;
use tidemark_observe::client_host;
use tidemark_store::{NewStep, NewStudy, Store, StoreError, StudyRow, StudyState};
use tidemark_study::{Plan, redact as without_passwords, time_text};
use uuid::Uuid;

/// Executes a study from its beginning.
///
/// # Errors
/// [`Failure`] of bad usage before anything is touched; as [`Execution::execute`].
pub fn run(words: &args::Run) -> Result<ExitCode, Failure> {
    let read = file::read(&words.file)?;
    let path = absolute(&words.file)?;
    let store = Store::open(&place_of_store(words.store.store.as_deref())?)?;
    if !words.anew
        && let Some(before) = unfinished(&store, &path)?
    {
        return Err(Failure::usage(format!(
            "an execution of this file is unfinished ({}): go on with it by\n  tidemark study \
             resume {}\nor begin anew with --anew",
            before.id, before.id
        )));
    }
    let id = Uuid::now_v7().to_string();
    listen();
    let places = reach(&read.plan.places, &id)?;
    let executed = begun(&read, &places, &path, store, id);
    let left = leave(places);
    let code = executed?;
    left.map(|()| code)
}

/// Writes the execution down, and executes it.
fn begun(
    read: &Read,
    places: &[Reached],
    path: &Path,
    mut store: Store,
    id: String,
) -> Result<ExitCode, Failure> {
    look_at_settings(&store, &id, &read.plan, places)?;
    let folder = std::env::current_dir()
        .map_err(|e| Failure::new(ExitCode::Failed, format!("the current folder: {e}")))?;
    let new = NewStudy {
        id,
        name: read.study.name.clone(),
        path: path.display().to_string(),
        file: without_passwords(&read.text),
        folder: folder.display().to_string(),
        hostname: client_host().hostname,
    };
    store.begin_study(&new, &new_steps(&read.plan))?;
    tell(read, &new.id);
    let mut execution = Execution {
        store,
        id: new.id,
        study: &read.study,
        plan: &read.plan,
        places,
        folder,
    };
    execution.execute()
}

fn tell(read: &Read, id: &str) {
    say!(
        "Study {:?}: {} in {}, about {}\nexecution {id}; Ctrl-C ends it, and \
         `tidemark study resume` goes on\n",
        read.study.name,
        counted(read.plan.runs() as u64, "run", "runs"),
        counted(read.plan.cells as u64, "cell", "cells"),
        time_text(read.plan.expected())
    );
}

/// The steps as the store keeps them.
fn new_steps(plan: &Plan) -> Vec<NewStep> {
    let step = |step: &tidemark_study::Step| NewStep {
        kind: step.kind.word().into(),
        cell: step.cell.clone(),
        repeat: step.repeat,
        command: redact(&step.words),
    };
    plan.steps.iter().map(step).collect()
}

/// The store's file; a study can't do without.
///
/// # Errors
/// [`Failure`] of bad usage when there is to be none.
pub fn place_of_store(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let path = store_path(named)?;
    if path == Path::new("off") {
        return Err(Failure::usage(
            "a study keeps its results in the store: TIDEMARK_STORE=off can't be had; for example \
             --store=runs.db",
        ));
    }
    absolute(&path)
}

/// A path that means the same from everywhere.
///
/// # Errors
/// [`Failure`] when the current folder is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}

fn unfinished(store: &Store, path: &Path) -> Result<Option<StudyRow>, StoreError> {
    let path = path.display().to_string();
    let of_file = |s: &StudyRow| s.path == path && s.state != StudyState::Ended;
    Ok(store.studies()?.into_iter().find(of_file))
}

/// Looks whether every setting that the study changes can be changed, before anything is touched.
fn look_at_settings(
    store: &Store,
    study: &str,
    plan: &Plan,
    places: &[Reached],
) -> Result<(), Failure> {
    for (at, place) in places.iter().enumerate() {
        let of_place = plan.steps.iter().filter(|s| s.place == at);
        let mut wanted: Vec<(String, String)> = of_place.flat_map(|s| s.global.clone()).collect();
        wanted.sort();
        wanted.dedup();
        if !wanted.is_empty() {
            settings::look(store, study, place, &wanted)?;
        }
    }
    Ok(())
}
