//! Tests of the machine before a study (`host-tests = "on"`).

use crate::texts::study as texts;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tidemark_core::record::MachineFigures;
use tidemark_hosttests::{HostError, figures};
use tidemark_report::Lang;

/// How long each figure is measured.
const EACH: Duration = Duration::from_secs(1);

/// Tests this machine, with files in the study's folder that are gone afterwards, and says so. Without
/// figures the study goes on.
pub fn test_machine(folder: &Path, lang: Lang) -> Option<MachineFigures> {
    say!("{}", texts::tests_machine(lang));
    match measured(folder) {
        Ok(found) => Some(found),
        Err(error) => {
            eprintln!("tidemark: host-tests: {error}; the study continues without these figures");
            None
        }
    }
}

fn measured(folder: &Path) -> Result<MachineFigures, HostError> {
    let own = tempfile::Builder::new()
        .prefix("tidemark-host-tests-")
        .tempdir_in(folder);
    let own = own.map_err(|error| HostError::File {
        what: "create a folder in",
        path: folder.into(),
        error,
    })?;
    let found = figures(own.path(), EACH, &AtomicBool::new(false))?;
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    Ok(MachineFigures {
        cpu_events_per_s: found.cpu_events_per_s,
        memory_read_mib_per_s: found.memory_read_mib_per_s,
        memory_write_mib_per_s: found.memory_write_mib_per_s,
        fsync_mean_ms: ms(found.fsync_mean),
        fsync_p95_ms: ms(found.fsync_p95),
        folder: folder.display().to_string(),
    })
}
