//! `fileio prepare` and `fileio cleanup`.

use super::super::prepare::outlet;
use super::{failure, workers};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::plan::load_seed;
use crate::record_outputs::say;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidemark_compat::sysbench::host::{prepared, preparing};
use tidemark_core::OptionValues;
use tidemark_hosttests::files;

/// How often it is asked whether the user wants the end.
const LOOK: Duration = Duration::from_millis(20);

/// Makes the files.
///
/// # Errors
/// [`Failure`] when somebody else's file is in the way, or one could not be made.
pub fn prepare(options: &OptionValues) -> Result<ExitCode, Failure> {
    let mut out = outlet(options);
    let (layout, extra) = (workers::layout(options), workers::extra(options)?);
    let flags = options.list("file-extra-flags").into_iter();
    let flags: Vec<String> = flags.map(String::from).collect();
    say(
        &mut out,
        &preparing(layout.count as u64, layout.total, &flags),
    );
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (stop, over) = (Arc::new(stop), Arc::new(over));
    let (stops, ends) = (Arc::clone(&stop), Arc::clone(&over));
    let asked = interrupt::handle();
    let watching = std::thread::spawn(move || {
        while !ends.load(Ordering::Acquire) {
            stops.store(asked.is_stopped(), Ordering::Release);
            std::thread::sleep(LOOK);
        }
    });
    let seed = load_seed(options, "rand-seed");
    let done = files::prepare(
        &layout,
        extra,
        options.flag("validate"),
        seed,
        &stop,
        &mut |path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            say(&mut out, &format!("Creating file {name}\n"));
        },
    );
    over.store(true, Ordering::Release);
    // It ends within moments, and a panic in it changes nothing.
    let _ended = watching.join();
    let done = done.map_err(failure)?;
    if done.kept > 0 {
        let kept = done.kept;
        say(
            &mut out,
            &format!("{kept} existing files of Tidemark's are kept\n"),
        );
    }
    say(&mut out, &prepared(done.bytes, done.took.as_secs_f64()));
    Ok(ExitCode::Success)
}

/// Removes the files that Tidemark made.
///
/// # Errors
/// [`Failure`] naming a file of these names that Tidemark did not make.
pub fn cleanup(options: &OptionValues) -> Result<ExitCode, Failure> {
    say(&mut outlet(options), "Removing test files...\n");
    files::cleanup(&workers::layout(options)).map_err(failure)?;
    Ok(ExitCode::Success)
}
