//! `delete`: runs are asked for before they go.

use crate::exit::{ExitCode, Failure};
use crate::runs::{minute, open};
use crate::stdio::print;
use crate::texts::labels as texts;
use crate::{args, run_selection};
use std::io::{BufRead, IsTerminal, stdin};
use tidemark_core::printable;
use tidemark_report::Lang;
use tidemark_store::{Filter, RunListing, Store};

/// How many runs are shown before a question.
const SHOWN: usize = 5;
/// So much of a note is shown.
const NOTE: usize = 60;

/// Deletes runs.
pub fn delete(words: &args::Delete) -> Result<ExitCode, Failure> {
    let mut store = open(&words.store)?;
    let mut ids = run_selection::ids(&store, &words.runs)?;
    if let Some(tag) = &words.tag {
        for run in run_selection::tagged(&store, tag)? {
            if !ids.contains(&run.id) {
                ids.push(run.id);
            }
        }
    }
    if !words.yes && !agreed(&store, &ids, words.lang)? {
        print(&format!("{}\n", texts::nothing_deleted(words.lang)));
        return Ok(ExitCode::Success);
    }
    store.delete_all(&ids)?;
    for id in ids {
        print(&format!("{}\n", texts::deleted(words.lang, id)));
    }
    Ok(ExitCode::Success)
}

fn agreed(store: &Store, ids: &[String], lang: Lang) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage(
            "delete needs confirmation, and there is no terminal; add --yes",
        ));
    }
    let mut shown = shown(store, ids)?;
    if ids.len() > SHOWN {
        shown.push(texts::and_more(lang, ids.len() - SHOWN));
    }
    let asked = match ids.len() {
        1 => texts::delete_one(lang).to_string(),
        n => texts::delete_several(lang, n),
    };
    eprint!("{}\n{asked} [y/N] ", shown.join("\n"));
    let mut answer = String::new();
    stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Failure::new(ExitCode::Failed, format!("the reply cannot be read: {e}")))?;
    let answer = answer.trim().to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

/// What the first of them are, newest first.
fn shown(store: &Store, ids: &[String]) -> Result<Vec<String>, Failure> {
    let filter = Filter {
        ids: Some(ids.to_vec()),
        limit: u32::try_from(SHOWN).ok(),
        ..Filter::default()
    };
    Ok(store.list(&filter)?.iter().map(told).collect())
}

fn told(run: &RunListing) -> String {
    let note = run.note.lines().next().unwrap_or_default();
    let cut: String = note.chars().take(NOTE).collect();
    let more = if cut == run.note { "" } else { "…" };
    let note = match cut.as_str() {
        "" => String::new(),
        cut => format!("  \u{201c}{cut}{more}\u{201d}"),
    };
    let started = minute(&run.started_at);
    let line = format!(
        "{}  {started}  {}  {}{note}",
        run.id, run.workload, run.target
    );
    printable(&line).into_owned()
}
