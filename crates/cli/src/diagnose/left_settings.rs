//! What a diagnosis has changed of a server: a file for each server, written before anything is changed and
//! removed when it is back. The files are the user's, whatever store a diagnosis has.

use crate::exit::{ExitCode, Failure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tidemark_core::fnv1a;
use tidemark_drivers::Session;
use tidemark_files::{LONGEST_CONFIGURATION, Replace, read_text, write};
use tidemark_process::ProcessId;

/// Where the files of this user are.
#[derive(Debug, Clone)]
pub struct LeftSettings {
    folder: PathBuf,
}

/// What was changed of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// The server, as itself names it: [`identity`].
    pub identity: String,
    /// The process that did it.
    pub process: ProcessId,
    /// What it changed.
    pub settings: Vec<Row>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its value before; `None` where it had none.
    pub before: Option<String>,
    /// Its value meanwhile.
    pub to: String,
}

/// What no other server says of itself, however it is reached.
///
/// # Errors
/// The server's.
pub async fn identity(session: &mut Session) -> Result<String, tidemark_core::DbError> {
    let sql = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)";
    let rows = session.query(sql).await?;
    Ok(rows.text(0, 0).unwrap_or_default())
}

impl LeftSettings {
    /// In the user's folder of data; of a user who has none, beside the store.
    pub fn of_user(store: &Path) -> Self {
        let folder = tidemark_store::data_folder().map_or_else(
            |_| {
                let mut beside = store.as_os_str().to_owned();
                beside.push("-changed-settings");
                beside.into()
            },
            |data| data.join("changed-settings"),
        );
        Self { folder }
    }

    /// Whether nothing is left of any server.
    pub fn is_empty(&self) -> bool {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names = files.map(|file| file.file_name());
        !names.any(|name| name.to_string_lossy().ends_with(".json"))
    }

    /// What is left of a server.
    ///
    /// # Errors
    /// [`Failure`] naming the file that can't be read.
    pub fn read(&self, identity: &str) -> Result<Option<Left>, Failure> {
        let file = self.file(identity);
        let text = match read_text(&file, LONGEST_CONFIGURATION) {
            Err(e) if e.is_missing() => return Ok(None),
            text => text.map_err(|e| failed(&file, e))?,
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| failed(&file, e))
    }

    /// Writes down what is about to be changed of a server, or what is left of it: it is on the disk when
    /// this returns, whole.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn write(&self, left: &Left) -> Result<(), Failure> {
        let file = self.file(&left.identity);
        fs::create_dir_all(&self.folder).map_err(|e| failed(&self.folder, e))?;
        let text = serde_json::to_string(left).map_err(|e| failed(&file, e))?;
        write(&file, text.as_bytes(), Replace::Anything).map_err(|e| failed(&file, e))
    }

    /// Nothing of a server is changed any more. A file that is gone already is no failure.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn remove(&self, identity: &str) -> Result<(), Failure> {
        let file = self.file(identity);
        match fs::remove_file(&file) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
            done => done.map_err(|e| failed(&file, e)),
        }
    }

    fn file(&self, identity: &str) -> PathBuf {
        // Of a name that may have any length and letters.
        self.folder.join(format!("{:016x}.json", fnv1a(identity)))
    }
}

fn failed(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Failed, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(identity: &str, to: &str) -> Left {
        Left {
            identity: identity.into(),
            process: ProcessId::own("here"),
            settings: vec![Row {
                name: "sync_binlog".into(),
                before: Some("1".into()),
                to: to.into(),
            }],
        }
    }

    #[test]
    fn servers_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let all = LeftSettings {
            folder: folder.path().join("new"),
        };
        assert!(all.is_empty());
        assert_eq!(all.read("a 3306 /a").unwrap(), None);
        all.write(&left("a 3306 /a", "0")).unwrap();
        all.write(&left("b 3306 /b", "2")).unwrap();
        all.write(&left("b 3306 /b", "3")).unwrap();
        // What another one is done with is not what this one has left.
        all.remove("b 3306 /b").unwrap();
        assert_eq!(all.read("b 3306 /b").unwrap(), None);
        let kept = all.read("a 3306 /a").unwrap();
        assert_eq!(kept, Some(left("a 3306 /a", "0")));
        assert!(!all.is_empty());
        // Twice, as by two that saw the same one end.
        all.remove("b 3306 /b").unwrap();
        all.remove("a 3306 /a").unwrap();
        assert!(all.is_empty());
    }

    #[test]
    fn a_file_that_can_not_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let all = LeftSettings {
            folder: folder.path().into(),
        };
        let file = all.file("a");
        fs::write(&file, "{").unwrap();
        let said = all.read("a").unwrap_err().message;
        assert!(said.contains(&file.display().to_string()), "{said}");
    }
}
