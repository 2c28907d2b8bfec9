//! Reading what a user names: a file, or a pipe as a shell makes it for `<(command)`, and neither a
//! device nor a pipe without end.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest study, workload, property or configuration file, in bytes. The longest that is known
/// has a hundredth of it.
pub const LONGEST_CONFIGURATION: u64 = 16 << 20;
/// How long a pipe may take to its end: a command behind it may have to ask another host.
const LONGEST_PIPE: Duration = Duration::from_secs(60);

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system says no, or the file is not there.
    #[error("can't be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("can't be read: it is {0}; use a file and a pipe")]
    Kind(&'static str),
    /// It has no end, or is another kind of file.
    #[error("can't be read: it is larger than {} MiB, the maximum here", .0 >> 20)]
    Long(u64),
    /// Whoever writes into the pipe does not end.
    #[error("can't be read: the pipe was not closed within {} s", .0.as_secs())]
    Endless(Duration),
    /// Bytes that are no text.
    #[error("can't be read: it is not UTF-8 text")]
    NoText,
}

impl ReadError {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(e) if e.kind() == ErrorKind::NotFound)
    }
}

/// The text of a file or a pipe of at most `longest` bytes.
///
/// # Errors
/// [`ReadError`]; no path is in its message.
pub fn read_text(path: &Path, longest: u64) -> Result<String, ReadError> {
    String::from_utf8(read(path, longest)?).map_err(|_| ReadError::NoText)
}

/// What is in a file or a pipe of at most `longest` bytes. `/dev/null` is an empty file.
///
/// # Errors
/// As [`read_text`].
pub fn read(path: &Path, longest: u64) -> Result<Vec<u8>, ReadError> {
    read_within(path, longest, LONGEST_PIPE)
}

fn read_within(path: &Path, longest: u64, limit: Duration) -> Result<Vec<u8>, ReadError> {
    // Looked at before it is opened: opening alone can move a tape and wait for a pipe's other end.
    readable(&fs::metadata(path)?)?;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let seen = file.metadata()?;
    let is_pipe = readable(&seen)?;
    if !is_pipe && seen.len() > longest {
        return Err(ReadError::Long(longest));
    }
    let bytes = match is_pipe {
        true => from_pipe(&mut file, longest, limit)?,
        false => {
            let mut bytes = Vec::new();
            // A file can grow, and those of /proc have no length.
            file.take(longest + 1).read_to_end(&mut bytes)?;
            bytes
        }
    };
    match bytes.len() as u64 > longest {
        true => Err(ReadError::Long(longest)),
        false => Ok(bytes),
    }
}

/// Whether it is a pipe; refused when it is neither that nor a file.
fn readable(seen: &Metadata) -> Result<bool, ReadError> {
    let kind = seen.file_type();
    match () {
        () if kind.is_file() => Ok(false),
        () if kind.is_fifo() => Ok(true),
        () if kind.is_dir() => Err(ReadError::Kind("a folder")),
        () if kind.is_socket() => Err(ReadError::Kind("a socket")),
        // What is named where nothing is meant.
        () if fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == seen.rdev()) => Ok(false),
        () => Err(ReadError::Kind("a device")),
    }
}

fn from_pipe(pipe: &mut File, longest: u64, limit: Duration) -> Result<Vec<u8>, ReadError> {
    let end = Instant::now() + limit;
    let mut bytes = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    while bytes.len() as u64 <= longest {
        let left = end.saturating_duration_since(Instant::now());
        let wait = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)], wait) {
            Ok(0) => return Err(ReadError::Endless(limit)),
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(ReadError::Io(error.into())),
            Ok(_) => {}
        }
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(n) => bytes.extend_from_slice(piece.get(..n).unwrap_or_default()),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(e) => return Err(e.into()),
        }
        if Instant::now() >= end {
            return Err(ReadError::Endless(limit));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::process::Command;
    use std::thread;

    fn said(path: &Path) -> String {
        read_within(path, 100, Duration::from_millis(300))
            .unwrap_err()
            .to_string()
    }

    fn fifo(dir: &Path) -> PathBuf {
        let pipe = dir.join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        pipe
    }

    #[test]
    fn files_are_read_to_their_limit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, [b'x'; 100]).unwrap();
        assert_eq!(read_text(&file, 100).unwrap().len(), 100);
        fs::write(&file, [b'x'; 101]).unwrap();
        assert!(said(&file).contains("larger than"));
        fs::write(&file, [0xff]).unwrap();
        assert!(matches!(read_text(&file, 100), Err(ReadError::NoText)));
        assert!(read(&dir.path().join("none"), 1).unwrap_err().is_missing());
        assert!(read(Path::new("/dev/null"), 1).unwrap().is_empty());
        // It has no length beforehand.
        assert!(
            !read(Path::new("/proc/self/stat"), 10_000)
                .unwrap()
                .is_empty()
        );
        assert!(matches!(
            read(Path::new("/proc/self/maps"), 10),
            Err(ReadError::Long(10))
        ));
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        assert!(said(dir.path()).contains("it is a folder"));
        assert!(said(Path::new("/dev/zero")).contains("it is a device"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/dev/urandom", &link).unwrap();
        assert!(said(&link).contains("it is a device"));
        let socket = dir.path().join("socket");
        let _listens = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(said(&socket).contains("it is a socket"));
    }

    #[test]
    fn pipes_are_read_and_waited_for_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = fifo(dir.path());
        // Nobody ever writes.
        assert!(said(&pipe).contains("was not closed"));
        let into = pipe.clone();
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            fs::write(into, "threads=2\n").unwrap();
        });
        assert_eq!(read_text(&pipe, 100).unwrap(), "threads=2\n");
        writer.join().unwrap();
        // Somebody writes without end: too much, or too slowly.
        for (line, expected) in [
            ("yes", "larger than"),
            ("while echo x; do sleep 0.1; done", "was not closed"),
        ] {
            let mut endless = Command::new("sh")
                .args([
                    "-c",
                    &format!("exec 2>/dev/null >'{}'; {line}", pipe.display()),
                ])
                .spawn()
                .unwrap();
            let message = said(&pipe);
            assert!(message.contains(expected), "{message}");
            endless.wait().unwrap();
        }
    }
}
