//! Files of a new server made once and copied: a server's own programs take seconds of processor time
//! to make them, a copy takes a tenth of a second.

use crate::layout::Layout;
use crate::{Error, SandboxEngine};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, io};
use tidemark_sandbox::{SETTINGS_OF_THE_FILES, Superuser};

/// Names the folder where they are kept for every process of a run of tests. Its owner removes it.
const VARIABLE: &str = "TIDEMARK_TEST_TEMPLATES";

/// Makes a server's files, or copies those that an earlier server of this kind began with.
pub(crate) fn initialise(
    layout: &Layout,
    account: &Superuser<'_>,
    settings: &[(String, String)],
) -> Result<(), Error> {
    let make = || Ok(layout.initialise(account, settings, &mut || true)?);
    let Some(kept) = env::var_os(VARIABLE).filter(|v| !v.is_empty()) else {
        return make();
    };
    let kept = PathBuf::from(kept).join(name(layout.engine, settings));
    // Others wait for the first: they would make the same.
    static MAKING: Mutex<()> = Mutex::new(());
    let making = MAKING.lock();
    if kept.is_dir() {
        drop(making);
        return copy(&kept, &layout.folder);
    }
    make()?;
    // Whole or not at all: another process may look for it at any moment.
    let unfinished = kept.with_extension(format!("{}.part", std::process::id()));
    copy(&layout.folder, &unfinished)?;
    keep(&unfinished, &kept)
}

/// Gives a folder its last name, unless another process was quicker: it has made the same.
fn keep(unfinished: &Path, kept: &Path) -> Result<(), Error> {
    let doing = || Error::io("keeping a server's files");
    match fs::rename(unfinished, kept) {
        Err(_) if kept.is_dir() => fs::remove_dir_all(unfinished).map_err(doing()),
        renamed => renamed.map_err(doing()),
    }
}

/// Of the kind, and of what the files are made by.
fn name(engine: SandboxEngine, settings: &[(String, String)]) -> String {
    let made_by = settings
        .iter()
        .map(|(name, value)| (name.replace('_', "-"), value))
        .filter(|(name, _)| SETTINGS_OF_THE_FILES.contains(&name.as_str()))
        .map(|(name, value)| format!(" {name}={value}"));
    let all: String = std::iter::once(engine.to_string()).chain(made_by).collect();
    all.replace('/', "_")
}

/// What is in one folder into another, with owners and rights.
fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let doing = || Error::io(format!("copying {} to {}", from.display(), to.display()));
    let copied = Command::new("cp")
        .args([OsStr::new("-aT"), from.as_os_str(), to.as_os_str()])
        .output()
        .map_err(doing())?;
    match copied.status.success() {
        true => Ok(()),
        false => Err(doing()(io::Error::other(
            String::from_utf8_lossy(&copied.stderr).into_owned(),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_has_kept_stays() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        for made_by in ["first", "second"] {
            let unfinished = folder.path().join(made_by);
            fs::create_dir(&unfinished).unwrap();
            fs::write(unfinished.join(made_by), "").unwrap();
            keep(&unfinished, &kept).unwrap();
            assert!(!unfinished.exists());
        }
        assert!(kept.join("first").exists() && !kept.join("second").exists());
    }
}
