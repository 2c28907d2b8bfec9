//! Which runs of the store a word means: an id, its beginning or end, `last`, and groups.

use crate::documents::STUDY_IDS;
use crate::exit::Failure;
use crate::runs::whole_id;
use tidemark_core::{nearest, printable};
use tidemark_store::{
    DIAGNOSIS_IDS, Filter, ListedState, RunListing, Store, StoreError, StudyElsewhere,
};

/// A group of runs, if the word names one.
///
/// # Errors
/// [`Failure`] of bad usage for a group without runs.
pub fn group(store: &Store, word: &str) -> Result<Option<Vec<RunListing>>, Failure> {
    if let Some(tag) = word.strip_prefix("tag:") {
        return tagged(store, tag).map(Some);
    }
    if let Some(name) = word.strip_prefix("study:") {
        // Half-made runs, which a later one took the place of, are not among them.
        let runs: Vec<RunListing> = store
            .runs_of(&study(store, name)?)?
            .into_iter()
            .map(|of_study| of_study.run)
            .collect();
        if runs.is_empty() {
            return Err(Failure::usage(format!("study {name} has no runs yet")));
        }
        return Ok(Some(runs));
    }
    Ok(None)
}

/// The runs that bear a tag, newest first.
///
/// # Errors
/// [`Failure`] of bad usage when no run bears it, with the nearest one.
pub fn tagged(store: &Store, tag: &str) -> Result<Vec<RunListing>, Failure> {
    let filter = Filter {
        tags: vec![tag.into()],
        ..Filter::default()
    };
    let runs = store.list(&filter)?;
    if runs.is_empty() {
        let known = store.tags()?;
        let near = nearest(tag, known.iter().map(String::as_str));
        let hint = match near {
            Some(near) => format!("; did you mean {near}?"),
            None if known.is_empty() => "; add one with tidemark tag last +NAME".into(),
            None => "; tidemark tag lists them".into(),
        };
        return Err(Failure::usage(format!("no run tagged {tag}{hint}")));
    }
    Ok(runs)
}

/// The whole id of the study's execution that is meant, in this store or elsewhere.
///
/// # Errors
/// [`Failure`] when there is none.
pub fn study(store: &Store, word: &str) -> Result<String, Failure> {
    match store.study(word) {
        Ok(row) => Ok(row.id),
        Err(not_here @ StoreError::NoSuchStudy { .. }) => match elsewhere(store, word)? {
            Some(study) => Ok(study.id),
            None => Err(not_here.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// A study of which only runs are in the store, which is said.
///
/// # Errors
/// [`Failure`] when several may be meant.
pub fn elsewhere(store: &Store, word: &str) -> Result<Option<StudyElsewhere>, Failure> {
    match store.study_elsewhere(word) {
        // A document or a diagnosis is no study that could be here.
        Ok(study) if study.id.starts_with(STUDY_IDS) || study.id.starts_with(DIAGNOSIS_IDS) => {
            Ok(Some(study))
        }
        Ok(study) => {
            eprintln!(
                "tidemark: the study {:?} was executed elsewhere: its runs are in this store, its \
                 file and its steps are not",
                printable(&study.name)
            );
            Ok(Some(study))
        }
        Err(StoreError::NoSuchStudy { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The whole ids of the runs that words mean, each once, in the order given.
///
/// # Errors
/// [`Failure`] when a word means none.
pub fn ids(store: &Store, words: &[String]) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<String> = Vec::new();
    for word in words {
        let found = match group(store, word)? {
            Some(runs) => runs.into_iter().map(|run| run.id).collect(),
            None => vec![store.resolve(&whole_id(store, word)?)?],
        };
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}

/// Those of a group that can be compared; what is left out is said.
pub fn comparable(runs: Vec<RunListing>, name: &str) -> Vec<String> {
    // Of an imported output that is cut the lines that are there are a result, which its finding doubts.
    let has_result = |run: &RunListing| match run.state {
        ListedState::Finished => !run.is_watch,
        _ => run.is_cut_output() && run.transactions_per_s() > 0.0,
    };
    let (good, bad): (Vec<_>, Vec<_>) = runs.into_iter().partition(has_result);
    for run in bad {
        let why = if run.is_watch {
            "a watch, with no load of its own".into()
        } else if run.is_cut_output() {
            "an incomplete output without transactions".into()
        } else {
            run.state.to_string()
        };
        eprintln!("tidemark: {name}: run {} is excluded: it is {why}", run.id);
    }
    good.into_iter().map(|run| run.id).collect()
}
