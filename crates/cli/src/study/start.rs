//! `study run`: begins an execution.

use super::args;
use super::diagnosing::experiments_asked;
use super::execute::StudyExecution;
use super::file::{self, StudyFile};
use super::interrupt::listen;
use super::servers::{servers, shared_with};
use super::settings;
use super::targets::{Reached, leave, reach};
use crate::clients;
use crate::diagnose;
use crate::exit::{ExitCode, Failure};
use crate::hints::{self, Hint};
use crate::runner::{check_authorities, topology_of};
use crate::storing::store_path;
use crate::texts::study as texts;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tidemark_observe::client_host;
use tidemark_report::Lang;
use tidemark_store::{NewStep, NewStudy, Store, StudyRow, StudyState};
use tidemark_study::{StudyPlan, redact as without_passwords, time_text};
use uuid::Uuid;

/// Executes a study from its beginning.
///
/// # Errors
/// [`Failure`] of bad usage before anything is touched; as [`StudyExecution::execute`].
pub fn run(words: &args::Run) -> Result<ExitCode, Failure> {
    clients::use_for_all(clients::of_words(&words.clients)?);
    let read = file::read(&words.file)?;
    let single = Hint::of_study(read.study.repeats);
    hints::judge(words.strict, &Vec::from_iter(single), words.lang)?;
    let diagnose = experiments_asked(&words.experiments, &read.plan)?;
    files_are_there(&read.plan)?;
    let path = absolute(&words.file)?;
    let mut store = Store::open(&place_of_store(words.store.store.as_deref())?)?;
    let folder = std::env::current_dir()
        .map_err(|e| Failure::new(ExitCode::Failed, format!("the current folder: {e}")))?;
    let new = NewStudy {
        id: Uuid::now_v7().to_string(),
        name: read.study.name.clone(),
        path: path.display().to_string(),
        file: without_passwords(&read.text),
        folder: folder.display().to_string(),
        hostname: client_host().hostname,
    };
    listen();
    // Before any server is reached: who comes second must not have touched anything.
    let own = servers(&read.plan.places, &folder);
    let shared = |other: &StudyRow| shared_with(&own, other);
    let steps = new_steps(&read.plan);
    if let Some(other) = store.begin_study(&new, &steps, words.anew, &shared)? {
        return Err(in_the_way(&other));
    }
    match ready(&store, &new.id, &read.plan, words.lang) {
        Ok(places) => {
            tell(&read, &new.id, words.lang);
            let mut execution = StudyExecution {
                store,
                id: new.id,
                study: &read.study,
                plan: &read.plan,
                places: &places,
                folder,
                machine: None,
                view: words.view,
                diagnose,
                lang: words.lang,
            };
            let executed = execution.execute();
            let left = leave(places);
            let code = executed?;
            left.map(|()| code)
        }
        Err(failure) => {
            // It came to nothing; if that can't be written, it is one that can be resumed.
            let _ = store.forget_study(&new.id);
            Err(failure)
        }
    }
}

/// Files that steps read, which are not to fail after hours.
fn files_are_there(plan: &StudyPlan) -> Result<(), Failure> {
    let options = plan.steps.iter().flat_map(|step| &step.command.options);
    let options: BTreeSet<(&str, &str)> = options.map(|o| (&*o.name, &*o.value)).collect();
    options.into_iter().try_for_each(|(name, value)| {
        let file = Some(Path::new(value)).filter(|_| !value.is_empty());
        match name {
            "observe-ca" => check_authorities(file),
            "topology" => topology_of(file).map(drop),
            _ => Ok(()),
        }
    })
}

/// Why a study does not begin beside another execution of its file.
fn in_the_way(other: &StudyRow) -> Failure {
    let id = &other.id;
    match (other.state, other.pid) {
        (StudyState::Running, Some(pid)) => Failure::new(
            ExitCode::Refused,
            format!(
                "process {pid} is running this file ({id}): wait until it ends, or stop it with \
                 Ctrl-C"
            ),
        ),
        _ => Failure::usage(format!(
            "an execution of this file is unfinished ({id}): resume it with\n  tidemark study \
             resume {id}\nor start over with --anew"
        )),
    }
}

/// Reaches the databases, and looks whether the study's settings can be changed there.
fn ready(store: &Store, id: &str, plan: &StudyPlan, lang: Lang) -> Result<Vec<Reached>, Failure> {
    let places = reach(&plan.places, id, lang)?;
    let looked =
        restore_left(store, &places).and_then(|()| look_at_settings(store, id, plan, &places));
    match looked {
        Ok(()) => Ok(places),
        Err(failure) => {
            // The first failure is what is told.
            let _ = leave(places);
            Err(failure)
        }
    }
}

/// Puts back what a diagnosis that was ended has left of the servers: it would be measured as theirs.
///
/// # Errors
/// [`Failure`] when one goes on, or a server does not take its value.
pub fn restore_left(store: &Store, places: &[Reached]) -> Result<(), Failure> {
    let mut servers = places.iter();
    servers.try_for_each(|place| diagnose::restore_left(&place.admin, store.path()))
}

fn tell(read: &StudyFile, id: &str, lang: Lang) {
    let plan = &read.plan;
    let said = texts::begins(
        lang,
        format_args!("{:?}", read.study.name),
        plan.runs(),
        plan.cells,
        time_text(plan.expected()),
        id,
    );
    say!("{said}\n");
}

/// The steps as the store keeps them.
fn new_steps(plan: &StudyPlan) -> Vec<NewStep> {
    let step = |step: &tidemark_study::PlannedStep| NewStep {
        kind: step.kind.word().into(),
        cell: step.cell.clone(),
        repeat: step.repeat,
        command: step.words.clone(),
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
            "a study needs the store: TIDEMARK_STORE=off is not possible; for example \
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

/// Looks whether every setting that the study changes can be changed, before anything is touched.
fn look_at_settings(
    store: &Store,
    study: &str,
    plan: &StudyPlan,
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
