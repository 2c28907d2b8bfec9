//! `store check`: whether the store's file is whole, and what to do if not.

use crate::args::{self, StoreCommand};
use crate::exit::{ExitCode, Failure};
use crate::progress;
use crate::runs::open;
use crate::stdio::print;
use crate::storing::store_path;
use crate::texts::{progress as progress_texts, store as texts};
use std::fmt::Write;
use tidemark_core::printable;
use tidemark_store::{Store, StoreError};

/// Looks after the store's file.
pub fn store(care: &args::StoreCare) -> Result<ExitCode, Failure> {
    match &care.command {
        StoreCommand::Check(words) => check(words),
    }
}

fn check(checked: &args::StoreCheck) -> Result<ExitCode, Failure> {
    let (words, lang) = (&checked.store, checked.lang);
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
    let bar = progress::bar(0, progress_texts::runs(lang), lang);
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
        let _ = writeln!(text, "{}", texts::and_more(lang, health.more));
    }
    let newer = match health.newer {
        0 => String::new(),
        n => texts::newer(lang, n),
    };
    let kept = texts::kept(lang, health.runs, health.intervals);
    if health.problems.is_empty() {
        let _ = writeln!(text, "{}", texts::intact(lang, path, kept, newer));
        print(&text);
        return Ok(ExitCode::Success);
    }
    let _ = writeln!(
        text,
        "{}\n  sqlite3 {path} .recover | sqlite3 recovered.db",
        texts::damaged(lang, &path, kept, newer)
    );
    print(&text);
    Ok(ExitCode::Check)
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
