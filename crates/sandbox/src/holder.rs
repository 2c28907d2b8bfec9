//! Who uses a sandbox: a file for each such process beside the mark, so that nobody ends a server
//! under another's hands.

use crate::home::{Home, SandboxState, may_live};
use crate::{Error, identity, ownership};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tidemark_process::{ProcessId, boot_id};

/// The folder of these files in a sandbox's folder.
pub(crate) const FOLDER: &str = "tidemark-holders";

/// A living process that uses a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// What for, in words for people.
    pub purpose: String,
    /// Which process.
    pub process: ProcessId,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process.pid {
            Some(pid) => write!(f, "process {pid} ({})", self.purpose),
            None => f.write_str(&self.purpose),
        }
    }
}

/// That this process uses a sandbox, as long as this value lives.
#[derive(Debug)]
pub struct Hold {
    file: PathBuf,
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The sandbox may have been removed.
        let _ = fs::remove_file(&self.file);
    }
}

impl Home {
    /// Says that this process uses the running sandbox of this name, and what for: others are then
    /// refused to end it.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::NotRunning`], [`Error::Io`].
    pub fn hold(&self, name: &str, purpose: &str) -> Result<Hold, Error> {
        let _taken = taken(&self.find(name)?.folder);
        // Another process may have ended it a moment ago.
        let there = self.find(name)?;
        match there.state {
            SandboxState::Running { .. } => enter(&there.folder, purpose),
            _ => Err(Error::NotRunning { name: there.name }),
        }
    }
}

/// Keeps whoever else wants to end or to hold the sandbox in this folder waiting, until the value
/// ends. Where a file system has no locks nobody waits.
pub(crate) fn taken(folder: &Path) -> Option<File> {
    if ownership::foreign_folder(folder).is_some() {
        return None;
    }
    let file = File::open(folder).ok()?;
    file.lock().ok().map(|()| file)
}

/// Writes down that this process uses the sandbox in this folder.
pub(crate) fn enter(folder: &Path, purpose: &str) -> Result<Hold, Error> {
    let place = folder.join(FOLDER);
    let doing = || Error::io(format!("writing to {}", place.display()));
    let made = DirBuilder::new().mode(0o700).recursive(true).create(&place);
    made.map_err(doing())?;
    forget_the_dead(&place);
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let holder = Holder {
        purpose: purpose.into(),
        process: ProcessId::own(hostname.trim()),
    };
    let text = serde_json::to_string(&holder).map_err(|e| Error::Io {
        doing: format!("writing to {}", place.display()),
        reason: e.to_string(),
    })?;
    let file = place.join(format!("{}.json", identity::secret()?));
    let hold = Hold { file };
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&hold.file)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(doing())?;
    Ok(hold)
}

/// The other processes that use the sandbox in this folder, as far as can be seen.
pub(crate) fn others(folder: &Path) -> Vec<Holder> {
    let here = boot_id();
    let own = ProcessId::own("");
    let is_own = |p: &ProcessId| {
        p.pid == own.pid && p.pid_started == own.pid_started && p.boot_id == own.boot_id
    };
    let mut all: Vec<Holder> = read(&folder.join(FOLDER))
        .into_iter()
        .map(|(_, holder)| holder)
        .filter(|h| !is_own(&h.process) && may_live(&h.process, here.as_deref()))
        .collect();
    all.sort_by_key(|holder| holder.process.pid);
    all
}

/// What killed processes could not take back.
fn forget_the_dead(place: &Path) {
    let here = boot_id();
    for (file, holder) in read(place) {
        if !may_live(&holder.process, here.as_deref()) {
            let _ = fs::remove_file(file);
        }
    }
}

/// What can be read; a file that is just being written can't.
fn read(place: &Path) -> Vec<(PathBuf, Holder)> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let file = entry.path();
            let text = fs::read_to_string(&file).ok()?;
            Some((file, serde_json::from_str(&text).ok()?))
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use tidemark_process::kill_and_reap;

    fn write(folder: &Path, name: &str, process: ProcessId) {
        let holder = Holder {
            purpose: "study x".into(),
            process,
        };
        let text = serde_json::to_string(&holder).unwrap();
        fs::write(folder.join(FOLDER).join(name), text).unwrap();
    }

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn only_others_that_live_count() {
        let dir = tempfile::tempdir().unwrap();
        let own = enter(dir.path(), "study of this process").unwrap();
        assert!(others(dir.path()).is_empty());
        let mut living = sleeper();
        let of_living = ProcessId::of("h", living.id());
        write(dir.path(), "a", of_living.clone());
        let later = ProcessId {
            pid_started: Some("1".into()),
            ..of_living.clone()
        };
        write(dir.path(), "b", later);
        let restarted = ProcessId {
            boot_id: Some("another pid:[1]".into()),
            ..of_living.clone()
        };
        write(dir.path(), "c", restarted);
        fs::write(dir.path().join(FOLDER).join("d"), "{").unwrap();
        let seen = others(dir.path());
        let said: Vec<String> = seen.iter().map(ToString::to_string).collect();
        assert_eq!(said, [format!("process {} (study x)", living.id())]);
        kill_and_reap(&mut living);
        assert!(others(dir.path()).is_empty());
        drop(own);
        // Who comes next tidies up after those that were killed.
        drop(enter(dir.path(), "study y").unwrap());
        assert_eq!(fs::read_dir(dir.path().join(FOLDER)).unwrap().count(), 1);
    }

    #[test]
    fn a_hold_ends_with_its_value() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (enter(dir.path(), "a"), enter(dir.path(), "b"));
        let held = || fs::read_dir(dir.path().join(FOLDER)).unwrap().count();
        assert_eq!(held(), 2);
        drop(one.unwrap());
        assert_eq!(held(), 1);
        drop(two.unwrap());
        assert_eq!(held(), 0);
    }
}
