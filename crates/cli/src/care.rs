//! `store check` and `store salvage`: whether the store's file is whole, and what to do if not.

use crate::args::{self, StoreCommand};
use crate::exit::{ExitCode, Failure};
use crate::output::print;
use crate::progress;
use crate::runs::open;
use crate::storing::store_path;
use std::fmt::Write;
use tidemark_core::{counted, printable};
use tidemark_store::{Salvaged, Store, StoreError, salvage};

/// How many runs are named one by one.
const NAMED: usize = 20;

/// Looks after the store's file.
pub fn store(care: &args::StoreCare) -> Result<ExitCode, Failure> {
    match &care.command {
        StoreCommand::Check(store) => check(store),
        StoreCommand::Salvage(words) => rescue(words),
    }
}

fn check(words: &args::StoreArg) -> Result<ExitCode, Failure> {
    let store = open(words).map_err(|failure| match perhaps_once(words) {
        Some(path) => Failure::new(
            failure.code,
            format!(
                "{failure}\nIf it was a store once, look what can be saved: tidemark store salvage \
                 --store {path} saved.db"
            ),
        ),
        None => failure,
    })?;
    let bar = progress::bar(0, "runs");
    let health = store.check(&mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    let path = store.path().display();
    let mut text = String::new();
    // Writing to a String cannot fail.
    for problem in &health.problems {
        let _ = writeln!(text, "{}", printable(problem));
    }
    if health.more > 0 {
        let _ = writeln!(text, "and {} more", health.more);
    }
    let newer = match health.newer {
        0 => String::new(),
        n => format!(
            "; {n} more {} of a newer Tidemark",
            if n == 1 { "is" } else { "are" }
        ),
    };
    let kept = runs_with_intervals(health.runs, health.intervals);
    if health.problems.is_empty() {
        let _ = writeln!(text, "{path} is whole: {kept}{newer}");
        print(&text);
        return Ok(ExitCode::Success);
    }
    let _ = writeln!(
        text,
        "{path} is damaged; {kept} can be read{newer}.\n\
         Nothing was changed. What can be saved goes into a new file with:\n  \
         tidemark store salvage --store {path} saved.db"
    );
    print(&text);
    Ok(ExitCode::Check)
}

fn runs_with_intervals(runs: u64, intervals: u64) -> String {
    format!(
        "{} with {}",
        counted(runs, "run", "runs"),
        counted(intervals, "interval", "intervals")
    )
}

/// The file, if it is one and its first page is not that of a store.
fn perhaps_once(words: &args::StoreArg) -> Option<String> {
    let path = store_path(words.store.as_deref()).ok()?;
    let refused = matches!(
        Store::open_existing(&path),
        Err(StoreError::NotAStore { .. })
    );
    (refused && path.is_file()).then(|| path.display().to_string())
}

fn rescue(words: &args::Salvage) -> Result<ExitCode, Failure> {
    let from = store_path(words.store.store.as_deref())?;
    let bar = progress::bar(0, "pages");
    let saved = salvage(&from, &words.new, &mut |done, all| {
        if done % 64 == 0 {
            bar.set_length(all);
            bar.set_position(done);
        }
    })?;
    bar.finish_and_clear();
    print(&told(&saved));
    // Whoever goes on with it wants to know that it is whole.
    Store::open_existing(&words.new)?;
    print(&format!(
        "The new file is {new}; {from} was left as it is. Look at it, and use it with\n  \
         tidemark runs --store {new}\n",
        new = words.new.display(),
        from = from.display()
    ));
    Ok(ExitCode::Success)
}

fn told(saved: &Salvaged) -> String {
    let mut text = String::new();
    let intervals: u64 = saved.runs.iter().map(|r| r.intervals).sum();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "saved {}, and {}",
        runs_with_intervals(saved.runs.len() as u64, intervals),
        counted(saved.studies, "study", "studies")
    );
    let gaps: Vec<_> = saved.runs.iter().filter(|r| r.missing > 0).collect();
    for run in gaps.iter().take(NAMED) {
        let all = run.intervals + run.missing;
        let id = printable(&run.id);
        let _ = writeln!(
            text,
            "run {id}: {} of {all} intervals are lost",
            run.missing
        );
    }
    if gaps.len() > NAMED {
        let more = counted((gaps.len() - NAMED) as u64, "more run", "more runs");
        let _ = writeln!(text, "and {more} lost intervals");
    }
    for id in saved.lost.iter().take(NAMED) {
        let _ = writeln!(text, "run {}: lost, but for some intervals", printable(id));
    }
    if saved.lost.len() > NAMED {
        let more = (saved.lost.len() - NAMED) as u64;
        let more = counted(more, "more run is", "more runs are");
        let _ = writeln!(text, "and {more} lost");
    }
    if saved.broken_rows > 0 {
        let _ = writeln!(
            text,
            "{} that can't be read, or contradict themselves",
            counted(saved.broken_rows, "piece", "pieces")
        );
    }
    text
}
