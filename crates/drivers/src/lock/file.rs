//! A locked file beside an embedded database.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is added to the database's path.
const SUFFIX: &str = "-tidemark-load";

/// A lock that ends with its value, or with the process.
#[derive(Debug)]
pub(super) struct FileLock {
    path: PathBuf,
    /// Locked while it is open.
    _file: File,
}

impl FileLock {
    /// Takes the lock; `None` when somebody else holds it.
    ///
    /// # Errors
    /// When the file can't be made or locked.
    pub fn take(database: &str) -> io::Result<Option<Self>> {
        let path = PathBuf::from(format!("{database}{SUFFIX}"));
        loop {
            // No link is followed: the file behind it is somebody's.
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
                .open(&path)
                .map_err(|e| match e.raw_os_error() {
                    Some(libc::ELOOP) => foreign(&path, "a link"),
                    _ => e,
                })?;
            let metadata = file.metadata()?;
            if !metadata.is_file() || metadata.len() > 0 {
                return Err(foreign(&path, "not an empty file"));
            }
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(e)) => return Err(e),
            }
            // Its former holder may have removed the file between the two: then it locks nobody out.
            if is_at(&file, &path) {
                return Ok(Some(Self { path, _file: file }));
            }
        }
    }

    /// Removes the file and lets go.
    pub fn release(self) {
        // A file that stays is taken by the next one as it is.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A lock of ours is empty: what is not was made by somebody else, and is neither locked nor removed.
fn foreign(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!(
        "{} is {what}, and not Tidemark's lock of a load: move it away",
        path.display()
    ))
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("x.db");
        let database = database.to_str().unwrap();
        let first = FileLock::take(database).unwrap().unwrap();
        assert!(FileLock::take(database).unwrap().is_none());
        first.release();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let second = FileLock::take(database).unwrap().unwrap();
        // As when its process ends.
        drop(second);
        assert!(FileLock::take(database).unwrap().is_some());
    }

    #[test]
    fn a_file_or_link_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("x.db");
        let lock = folder.path().join("x.db-tidemark-load");
        let refused = || FileLock::take(database.to_str().unwrap()).unwrap_err();
        std::fs::write(&lock, "mine").unwrap();
        assert!(refused().to_string().contains("not an empty file"));
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), "mine");
        std::fs::remove_file(&lock).unwrap();
        let other = folder.path().join("other");
        std::os::unix::fs::symlink(&other, &lock).unwrap();
        assert!(refused().to_string().contains("a link"));
        assert!(!other.exists() && lock.is_symlink());
    }
}
