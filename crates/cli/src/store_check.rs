//! `store check`: whether the store's file is whole, and what to do if not.

use crate::args::{self, StoreCommand};
use crate::exit::{ExitCode, Failure};
use crate::progress;
use crate::runs::open;
use crate::stdio::print;
use crate::storing::store_path;
use std::fmt::Write;
use tidemark_core::{counted, printable};
use tidemark_store::{Store, StoreError};

/// Looks after the store's file.
pub fn store(care: &args::StoreCare) -> Result<ExitCode, Failure> {
    match &care.command {
        StoreCommand::Check(store) => check(store),
    }
}

fn check(words: &args::StoreArg) -> Result<ExitCode, Failure> {
    let store = open(words).map_err(|failure| match perhaps_once(words) {
        Some(path) => Failure::new(
            failure.code,
            format!(
                "{failure}\nTo recover what is readable into a new file: sqlite3 {path} .recover \
                 | sqlite3 recovered.db"
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
        let _ = writeln!(text, "{path} is intact: {kept}{newer}");
        print(&text);
        return Ok(ExitCode::Success);
    }
    let _ = writeln!(
        text,
        "{path} is damaged; {kept} can be read{newer}.\nNothing was changed. To recover what is \
         readable into a new file:\n  sqlite3 {path} .recover | sqlite3 recovered.db"
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
