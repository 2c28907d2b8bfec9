//! `delete`: runs are asked for before they go.

use crate::exit::{ExitCode, Failure};
use crate::output::print;
use crate::runs::open;
use crate::{args, chosen};
use std::io::{BufRead, IsTerminal, stdin};

/// How many ids are shown before a question.
const SHOWN: usize = 5;

/// Deletes runs.
pub fn delete(words: &args::Delete) -> Result<ExitCode, Failure> {
    let mut store = open(&words.store)?;
    let mut ids = chosen::ids(&store, &words.runs)?;
    if let Some(tag) = &words.tag {
        for run in chosen::tagged(&store, tag)? {
            if !ids.contains(&run.id) {
                ids.push(run.id);
            }
        }
    }
    if !words.yes && !agreed(&ids)? {
        print("nothing was deleted\n");
        return Ok(ExitCode::Success);
    }
    store.delete_all(&ids)?;
    for id in ids {
        print(&format!("deleted run {id}\n"));
    }
    Ok(ExitCode::Success)
}

fn agreed(ids: &[String]) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage(
            "delete asks before it deletes, and there is no terminal to ask at; add --yes",
        ));
    }
    let mut shown = ids.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    if ids.len() > SHOWN {
        shown.push(format!("and {} more", ids.len() - SHOWN));
    }
    let what = match ids.len() {
        1 => "this run".to_string(),
        n => format!("these {n} runs"),
    };
    eprint!("{}\nDelete {what}? [y/N] ", shown.join("\n"));
    let mut answer = String::new();
    stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| Failure::new(ExitCode::Failed, format!("the answer can't be read: {e}")))?;
    let answer = answer.trim().to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}
