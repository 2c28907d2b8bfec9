//! Which files Tidemark made. A list beside them tells each by what a file can't share with another
//! that takes its name: device, number and time of birth. A file system gives the number of a file that is
//! gone to the next one, so that without a time of birth nothing is proved.

use super::Layout;
use crate::HostError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The list's name.
pub const MARKER: &str = "test_file.tidemark";
/// Its first line.
const HEAD: &str =
    "tidemark fileio 1: files that tidemark sysbench fileio made; cleanup removes them";
/// The line of files whose blocks carry checksums.
const VALIDATED: &str = "validated";
/// Nobody has more files than this.
const LONGEST: u64 = 64 << 20;

/// A file, told from any other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    /// Nanoseconds since 1970; 0 where the file system keeps no such time.
    born: u128,
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        let born = found.created().ok();
        let born = born.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Self {
            device: found.dev(),
            number: found.ino(),
            born: born.map_or(0, |since| since.as_nanos()),
        }
    }

    /// Whether a file that is this is the one that was listed as `listed`.
    fn proves(&self, listed: &Self) -> bool {
        self.born != 0 && self == listed
    }
}

/// The list of the files made in a folder.
#[derive(Debug, Default)]
pub(crate) struct Marker {
    path: PathBuf,
    entries: Vec<(String, Identity)>,
    /// Whether blocks carry checksums.
    pub validated: bool,
}

impl Marker {
    /// The list of a folder, empty where there is none.
    ///
    /// # Errors
    /// [`HostError::Foreign`] when somebody else's file has its name.
    pub fn read(folder: &Path) -> Result<Self, HostError> {
        let path = folder.join(MARKER);
        let mut marker = Self {
            path: path.clone(),
            ..Self::default()
        };
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW);
        let file = match options.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(marker),
            Err(error) => return Err(HostError::file("read", &path)(error)),
        };
        let mut text = String::new();
        let read = file.take(LONGEST).read_to_string(&mut text);
        let is_ours = read.is_ok() && text.lines().next() == Some(HEAD);
        if !is_ours {
            return Err(HostError::Foreign {
                path,
                instead: "use another folder, or remove it yourself".into(),
            });
        }
        for line in text.lines().skip(1) {
            if line == VALIDATED {
                marker.validated = true;
            } else if let Some(entry) = entry(line) {
                marker.entries.push(entry);
            }
        }
        Ok(marker)
    }

    /// Whether it lists nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Names of what it lists, in order.
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether the file at this path, which was looked at without following a link, is one of those.
    pub fn owns(&self, path: &Path, found: &Metadata) -> bool {
        let is = Identity::of(found);
        found.is_file() && self.listed(path).any(|listed| is.proves(listed))
    }

    fn listed(&self, path: &Path) -> impl Iterator<Item = &Identity> {
        let name = path.file_name().unwrap_or_default().to_owned();
        let entries = self.entries.iter();
        entries.filter_map(move |(listed, identity)| (name == **listed).then_some(identity))
    }

    /// Why a file at this path that is not [owned](Self::owns) stays as it is.
    pub fn refusal(&self, path: PathBuf, found: &Metadata, instead: String) -> HostError {
        let is = Identity::of(found);
        let may_be = |listed: &Identity| is.born == 0 && is == *listed;
        let is_listed = self.listed(&path).any(may_be);
        match found.is_file() && is_listed {
            true => HostError::Unproven { path, instead },
            false => HostError::Foreign { path, instead },
        }
    }

    /// Makes a file that was not there, and lists it before anything is written to it.
    ///
    /// # Errors
    /// [`HostError::File`]; the file is gone again then.
    pub fn create(&mut self, layout: &Layout, file: usize) -> Result<File, HostError> {
        let path = layout.path(file);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let made = options
            .open(&path)
            .map_err(HostError::file("create", &path))?;
        let listed = made
            .metadata()
            .map_err(HostError::file("look at", &path))
            .and_then(|found| self.list(&path, &found));
        if let Err(error) = listed {
            // It was made a moment ago, and has nothing in it.
            let _already_gone = std::fs::remove_file(&path);
            return Err(error);
        }
        Ok(made)
    }

    fn list(&mut self, path: &Path, found: &Metadata) -> Result<(), HostError> {
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        let is = Identity::of(found);
        self.append(&format!("{name} {} {} {}", is.device, is.number, is.born))?;
        self.entries.push((name, is));
        Ok(())
    }

    /// Notes that blocks carry checksums.
    pub fn validated(&mut self) -> Result<(), HostError> {
        self.append(VALIDATED)?;
        self.validated = true;
        Ok(())
    }

    fn append(&self, line: &str) -> Result<(), HostError> {
        let mut options = OpenOptions::new();
        options
            .append(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW);
        let written = match options.open(&self.path) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let made = options.create_new(true).open(&self.path);
                made.and_then(|mut file| writeln!(file, "{HEAD}").map(|()| file))
            }
            Err(error) => Err(error),
        }
        .and_then(|mut file| {
            writeln!(file, "{line}")?;
            // What it proves must not be lost before the file that it is of.
            file.sync_all()
        });
        written.map_err(HostError::file("write", &self.path))
    }

    /// Removes the list itself.
    pub fn remove(self) -> Result<(), HostError> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(HostError::file("remove", &self.path)(error))
            }
            _ => Ok(()),
        }
    }
}

fn entry(line: &str) -> Option<(String, Identity)> {
    let mut words = line.split(' ');
    let name = words.next()?.to_string();
    let number = name.strip_prefix("test_file.")?;
    let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    let identity = Identity {
        device: words.next()?.parse().ok()?,
        number: words.next()?.parse().ok()?,
        born: words.next()?.parse().ok()?,
    };
    is_number.then_some((name, identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_proves_nothing() {
        let with = |born| Identity {
            device: 1,
            number: 2,
            born,
        };
        assert!(with(7).proves(&with(7)));
        assert!(!with(8).proves(&with(7)));
        // The next file may have the number of one that is gone.
        assert!(!with(0).proves(&with(0)));
        assert!(!with(7).proves(&with(0)));
    }
}
