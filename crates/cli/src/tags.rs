//! `tag` and `note`: what a user says of runs.

use crate::exit::{ExitCode, Failure};
use crate::runs::{open, whole_id};
use crate::stdio::print;
use crate::texts::labels as texts;
use crate::{args, run_selection};
use tidemark_core::{printable, printable_lines};
use tidemark_store::{Store, check_tag};

/// Puts tags on runs and takes them off; prints what they bear then.
pub fn tag(words: &args::Tag) -> Result<ExitCode, Failure> {
    let mut store = open(&words.store)?;
    let (mut runs, mut add, mut remove) = (Vec::new(), Vec::new(), Vec::new());
    for word in &words.words {
        match word.chars().next() {
            Some('+') => add.push(word[1..].to_string()),
            Some('-') => remove.push(word[1..].to_string()),
            _ => runs.push(word.clone()),
        }
    }
    if words.words.is_empty() {
        let tags: String = store.tags()?.iter().map(|t| line(t)).collect();
        print(&match tags.is_empty() {
            true => format!("{}\n", texts::no_tags_yet(words.lang)),
            false => tags,
        });
        return Ok(ExitCode::Success);
    }
    if runs.is_empty() {
        return Err(Failure::usage(format!(
            "{} needs a run; for example: tidemark tag last {}",
            printable(&words.words.join(" ")),
            printable(&words.words.join(" "))
        )));
    }
    let ids = chosen_runs(&store, &runs)?;
    store.tag(&ids, &add, &remove)?;
    for id in &ids {
        let tags = store.tags_of(id)?;
        let shown = match tags.as_slice() {
            [] => texts::no_tags(words.lang).into(),
            tags => tags.join(" "),
        };
        print(&line(&format!("{id}  {shown}")));
    }
    Ok(ExitCode::Success)
}

/// The runs that words mean. One that means none was perhaps to be a tag.
fn chosen_runs(store: &Store, words: &[String]) -> Result<Vec<String>, Failure> {
    let mut ids: Vec<String> = Vec::new();
    for word in words {
        let found = run_selection::ids(store, std::slice::from_ref(word)).map_err(|failure| {
            let is_group = ["tag:", "study:"].iter().any(|p| word.starts_with(p));
            let could_be_tag = !is_group && check_tag(word).is_ok();
            let (example, shown) = (words.first(), printable(word));
            match example.filter(|first| *first != word && could_be_tag) {
                Some(run) => Failure::usage(format!(
                    "{failure}; use +TAG to add a tag and -TAG to remove one; for example: \
                     tidemark tag {} +{shown}",
                    printable(run)
                )),
                None => failure,
            }
        })?;
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}

fn line(text: &str) -> String {
    format!("{}\n", printable(text))
}

/// Notes something about a run, or prints what was noted.
pub fn note(words: &args::Note) -> Result<ExitCode, Failure> {
    let mut store = open(&words.store)?;
    let id = whole_id(&store, &words.run)?;
    let id = store.resolve(&id)?;
    match &words.text {
        Some(text) => store.set_note(&id, text)?,
        None => {
            let note = store.note_of(&id)?;
            let feed = if note.is_empty() || note.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            print(&format!("{}{feed}", printable_lines(&note)));
        }
    }
    Ok(ExitCode::Success)
}
