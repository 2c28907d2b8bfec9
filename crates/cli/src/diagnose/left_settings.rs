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
    /// The server, as itself names it: [`Identity::key`].
    pub identity: String,
    /// When it was started, where its name does not tell it from all others: [`Identity::started`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<i64>,
    /// The process that did it.
    pub process: ProcessId,
    /// What it changed.
    pub settings: Vec<LeftSetting>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftSetting {
    /// Its name.
    pub name: String,
    /// Its value before; `None` where it had none.
    pub before: Option<String>,
    /// Its value meanwhile.
    pub to: String,
}

/// A server, as itself names it, however it is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Host name, port and data folder; another server may have the same.
    pub place: String,
    /// The server's own identifier; `None` where it has none.
    pub own: Option<String>,
    /// Seconds since 1970 at its start, of a MariaDB. Its identifier is made of the network address and the
    /// port, which another may have; what SET GLOBAL has changed ends with the process anyway.
    pub started: Option<i64>,
}

/// A file about a server of this place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftFile {
    /// There is none.
    Nothing,
    /// It is about this server.
    Its(Left),
    /// It may be about another one: it is neither obeyed nor removed.
    Doubtful {
        /// What it says.
        left: Left,
        /// Where it is.
        file: PathBuf,
    },
}

impl Identity {
    /// What its file is named by.
    pub fn key(&self) -> String {
        match &self.own {
            Some(own) => format!("{} {own}", self.place),
            None => self.place.clone(),
        }
    }

    /// Whether what is left is of this server and of no other.
    fn has_left(&self, left: &Left) -> bool {
        let is_same = left.identity == self.key();
        // This process has kept its session's lock, and knows whom it asked.
        let is_own = left.process == ProcessId::own("");
        is_same && (is_own || self.own.is_some() && is_same_start(self.started, left.started))
    }
}

/// Whether two times are one start of one process, read in whole seconds.
fn is_same_start(one: Option<i64>, other: Option<i64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.abs_diff(other) <= 1,
        (None, None) => true,
        _ => false,
    }
}

/// How a server names itself. MySQL's identifier is `server_uuid`; MariaDB's `server_uid`, which releases
/// before 2024 don't have.
///
/// # Errors
/// The server's.
pub async fn identity(session: &mut Session) -> Result<Identity, tidemark_core::DbError> {
    let sql = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)";
    let rows = session.query(sql).await?;
    let place = rows.text(0, 0).unwrap_or_default();
    let sql = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_uid', 'server_uuid')";
    let rows = session.query(sql).await?;
    let of = |name: &str| {
        let mut numbers = 0..rows.len();
        let row = numbers.find(|row| rows.text(*row, 0).as_deref() == Some(name))?;
        rows.text(row, 1).filter(|value| !value.is_empty())
    };
    let (uuid, uid) = (of("server_uuid"), of("server_uid"));
    let mut started = None;
    if uuid.is_none() && uid.is_some() {
        let sql = "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) \
                   FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'";
        started = session.query(sql).await?.int(0, 0);
    }
    Ok(Identity {
        place,
        own: uuid.or(uid),
        started,
    })
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
    pub fn read(&self, server: &Identity) -> Result<LeftFile, Failure> {
        // Files of earlier releases are named by the place alone.
        let keys = [server.key(), server.place.clone()];
        let keys = &keys[..if server.own.is_some() { 2 } else { 1 }];
        let mut doubtful = LeftFile::Nothing;
        for key in keys {
            let file = self.file(key);
            let Some(left) = self.read_file(&file)? else {
                continue;
            };
            if server.has_left(&left) {
                return Ok(LeftFile::Its(left));
            }
            doubtful = LeftFile::Doubtful { left, file };
        }
        Ok(doubtful)
    }

    fn read_file(&self, file: &Path) -> Result<Option<Left>, Failure> {
        let text = match read_text(file, LONGEST_CONFIGURATION) {
            Err(e) if e.is_missing() => return Ok(None),
            text => text.map_err(|e| failed(file, e))?,
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| failed(file, e))
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
    pub fn remove(&self, server: &Identity) -> Result<(), Failure> {
        let file = self.file(&server.key());
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

    fn server(place: &str, own: &str) -> Identity {
        Identity {
            place: place.into(),
            own: Some(own.into()),
            started: None,
        }
    }

    /// What a process that has ended left.
    fn left(server: &Identity, to: &str) -> Left {
        let mut process = ProcessId::own("here");
        process.pid = None;
        Left {
            identity: server.key(),
            started: server.started,
            process,
            settings: vec![LeftSetting {
                name: "sync_binlog".into(),
                before: Some("1".into()),
                to: to.into(),
            }],
        }
    }

    fn in_folder(folder: &Path) -> LeftSettings {
        LeftSettings {
            folder: folder.join("new"),
        }
    }

    #[test]
    fn servers_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let all = in_folder(folder.path());
        assert!(all.is_empty());
        let (a, b) = (server("a 3306 /a", "1"), server("b 3306 /b", "2"));
        assert_eq!(all.read(&a).unwrap(), LeftFile::Nothing);
        all.write(&left(&a, "0")).unwrap();
        all.write(&left(&b, "2")).unwrap();
        all.write(&left(&b, "3")).unwrap();
        // What another one is done with is not what this one has left.
        all.remove(&b).unwrap();
        assert_eq!(all.read(&b).unwrap(), LeftFile::Nothing);
        assert_eq!(all.read(&a).unwrap(), LeftFile::Its(left(&a, "0")));
        assert!(!all.is_empty());
        // Twice, as by two that saw the same one end.
        all.remove(&b).unwrap();
        all.remove(&a).unwrap();
        assert!(all.is_empty());
    }

    /// Two containers: the same host name, port and data folder.
    #[test]
    fn a_server_of_the_same_place_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let all = in_folder(folder.path());
        let (a, b) = (server("db 3306 /var", "1"), server("db 3306 /var", "2"));
        all.write(&left(&a, "0")).unwrap();
        assert_eq!(all.read(&b).unwrap(), LeftFile::Nothing);
        all.write(&left(&b, "2")).unwrap();
        all.remove(&b).unwrap();
        assert_eq!(all.read(&a).unwrap(), LeftFile::Its(left(&a, "0")));
    }

    #[test]
    fn what_does_not_tell_a_server_from_others_is_doubtful() {
        let folder = tempfile::tempdir().unwrap();
        let all = in_folder(folder.path());
        let nameless = Identity {
            place: "db 3306 /var".into(),
            ..Identity::default()
        };
        all.write(&left(&nameless, "0")).unwrap();
        let doubtful = |server: &Identity| match all.read(server).unwrap() {
            LeftFile::Doubtful { file, .. } => file,
            other => panic!("{other:?}"),
        };
        // The file of an earlier release, and a server that has no identifier.
        assert!(doubtful(&server("db 3306 /var", "1")).exists());
        assert!(doubtful(&nameless).exists());
        // What this process itself wrote is known.
        let mut own = left(&nameless, "0");
        own.process = ProcessId::own("");
        all.write(&own).unwrap();
        assert_eq!(all.read(&nameless).unwrap(), LeftFile::Its(own));
        // MariaDB's identifier is the machine's and the port's: another start is another server.
        let started = |at| Identity {
            started: Some(at),
            ..server("db 3307 /var", "u")
        };
        all.write(&left(&started(1_790_000_000), "0")).unwrap();
        let found = all.read(&started(1_790_000_001)).unwrap();
        assert_eq!(found, LeftFile::Its(left(&started(1_790_000_000), "0")));
        assert!(doubtful(&started(1_790_000_500)).exists());
    }

    #[test]
    fn a_file_that_can_not_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let all = LeftSettings {
            folder: folder.path().into(),
        };
        let a = server("a", "1");
        let file = all.file(&a.key());
        fs::write(&file, "{").unwrap();
        let said = all.read(&a).unwrap_err().message;
        assert!(said.contains(&file.display().to_string()), "{said}");
    }
}
