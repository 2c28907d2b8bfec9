//! The mark in a sandbox's folder: that it is one, what runs in it, and its password.

use crate::{Error, SandboxEngine, ownership};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tidemark_process::ProcessId;

/// The file's name.
pub(crate) const FILE: &str = "tidemark-sandbox.json";

/// What the file holds. Only the account that started the sandbox can read and write it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Marker {
    /// Version of this content.
    pub format: u32,
    /// The sandbox's name.
    pub name: String,
    /// The folder it lies in: a copy elsewhere is no sandbox.
    pub folder: PathBuf,
    /// Whether the folder itself was made for it.
    pub made_folder: bool,
    /// What kind of server.
    pub engine: SandboxEngine,
    /// Its port at 127.0.0.1; 0 before it has one.
    pub port: u16,
    /// The account's password.
    pub password: String,
    /// Who starts it.
    pub starter: ProcessId,
    /// The server, once it was started.
    pub server: Option<ProcessId>,
    /// Whether it answered.
    pub ready: bool,
}

/// Without the password.
impl fmt::Debug for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sandbox {} in {}", self.name, self.folder.display())
    }
}

impl Marker {
    /// Writes it whole or not at all.
    pub fn write(&self) -> Result<(), Error> {
        let path = self.folder.join(FILE);
        let doing = || Error::io(format!("writing {}", path.display()));
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::Io {
            doing: format!("writing {}", path.display()),
            reason: e.to_string(),
        })?;
        let beside = self.folder.join(format!("{FILE}.part"));
        // What an interrupted write left is of no use.
        let _ = fs::remove_file(&beside);
        File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&beside, &path))
            .map_err(doing())
    }

    /// Reads the mark of sandbox `name` in `folder`; why there is none, else.
    ///
    /// A folder for temporary files is open to all: after it was cleared anybody can make a folder of
    /// this name again, with a mark in it. Only what this account alone can have written counts.
    pub fn read(name: &str, folder: &Path) -> Result<Marker, String> {
        if let Some(reason) = ownership::foreign_folder(folder) {
            return Err(reason);
        }
        let text = ownership::text(&folder.join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
        let marker: Marker = serde_json::from_str(&text).map_err(|e| format!("{FILE}: {e}"))?;
        if marker.name != name {
            return Err(format!("{FILE} is of sandbox {}", marker.name));
        }
        if marker.folder != folder {
            return Err(format!("{FILE} is of {}", marker.folder.display()));
        }
        Ok(marker)
    }
}
