//! Writing a file whole or not at all: into a new file beside it, under a name that nobody can know
//! before, which is then moved. Nothing is written through a link, and nothing is replaced that the
//! caller does not know as its own.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;
use tempfile::{Builder, NamedTempFile, TempPath};

/// Tells by its contents whether a file may be replaced.
pub type MayReplace<'a> = &'a dyn Fn(&mut File) -> io::Result<bool>;

/// Which file that is there may be replaced.
#[derive(Clone, Copy)]
pub enum Replace<'a> {
    /// None.
    Nothing,
    /// One that is known.
    Known(MayReplace<'a>),
    /// Any: the user insists.
    Anything,
}

/// Why a file was not written. What was there is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is a file, and it may not be replaced.
    #[error("already exists; not overwritten")]
    There,
    /// There is a file, and it is not known as one of ours.
    #[error("already exists and was not written by Tidemark in this format; not overwritten")]
    Foreign,
    /// It leads elsewhere.
    #[error("it is a symbolic link; use the file itself")]
    Link,
    /// It is something else.
    #[error("it is {0}; use a file")]
    Kind(&'static str),
    /// The system says no.
    #[error("can't be written: {0}")]
    Io(#[from] io::Error),
}

impl WriteError {
    /// Whether something of the user's is in the way.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io(_) | Self::Kind(_))
    }

    /// Whether [`Replace::Anything`] would do it.
    pub fn can_be_insisted(&self) -> bool {
        matches!(self, Self::There | Self::Foreign)
    }
}

/// What a path leads to.
enum There {
    Nothing,
    /// A file that may be replaced, as it was seen.
    File(Metadata),
    /// A pipe or a device, which is made for being written to.
    Stream,
}

/// Writes a file whole or not at all; a pipe or a device is written to as it is.
///
/// # Errors
/// [`WriteError`]; no path is in its message.
pub fn write(path: &Path, bytes: &[u8], replace: Replace<'_>) -> Result<(), WriteError> {
    if matches!(look(path, replace)?, There::Stream) {
        let mut stream = OpenOptions::new().append(true).open(path)?;
        // Between the look and the opening another may have put a file there.
        if stream.metadata()?.is_file() && !is_descriptor(path) {
            return Err(WriteError::Foreign);
        }
        return Ok(stream.write_all(bytes)?);
    }
    let mut new = New::beside(path)?;
    new.write_all(bytes)?;
    new.whole()?.put(path, replace)
}

/// A new file beside the one that it will be, while it is written. It goes with its value.
#[derive(Debug)]
pub struct New(NamedTempFile);

impl New {
    /// Makes it: in the same folder, hidden.
    ///
    /// # Errors
    /// Those of the system.
    pub fn beside(path: &Path) -> io::Result<Self> {
        Builder::new()
            .prefix(".tidemark-")
            .suffix(".new")
            .rand_bytes(12)
            // As any new file, less what the user's mask takes.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder(path))
            .map(Self)
    }

    /// Closes it when all is written and on the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub fn whole(self) -> io::Result<WrittenFile> {
        self.0.as_file().sync_all()?;
        Ok(WrittenFile(self.0.into_temp_path()))
    }
}

impl Write for New {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A file that was written and has no name for users yet. It goes with its value.
#[derive(Debug)]
pub struct WrittenFile(TempPath);

impl WrittenFile {
    /// Moves it where it belongs. A file that is replaced hands its permissions on, and its owner as
    /// far as this process may give it.
    ///
    /// # Errors
    /// [`WriteError`]; no path is in its message.
    pub fn put(self, path: &Path, replace: Replace<'_>) -> Result<(), WriteError> {
        match look(path, replace)? {
            There::Stream => return Err(WriteError::There),
            There::File(seen) => {
                hand_on(&seen, &unfollowed().read(true).open(&self.0)?)?;
                self.0.persist(path).map_err(|e| e.error)?;
            }
            There::Nothing => {
                let put = self.0.persist_noclobber(path);
                put.map_err(|e| match e.error.kind() {
                    ErrorKind::AlreadyExists => WriteError::There,
                    _ => WriteError::Io(e.error),
                })?;
            }
        }
        // Without it the name may be lost with the machine's power, the file not.
        let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Opens what is no link, and waits for no pipe's other end.
fn unfollowed() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options
}

/// Whether [`write()`] would write there now. Nothing is changed, and no pipe's reader is disturbed.
///
/// # Errors
/// As [`write()`].
pub fn permitted(path: &Path, replace: Replace<'_>) -> Result<(), WriteError> {
    match look(path, replace)? {
        There::Stream => Ok(()),
        There::Nothing => Ok(New::beside(path).map(drop)?),
        There::File(_) => {
            // A file that its owner has closed for writing is not replaced either.
            unfollowed().append(true).open(path)?;
            Ok(New::beside(path).map(drop)?)
        }
    }
}

fn look(path: &Path, replace: Replace<'_>) -> Result<There, WriteError> {
    if is_descriptor(path) {
        return Ok(There::Stream);
    }
    let seen = match fs::symlink_metadata(path) {
        Ok(seen) => seen,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(There::Nothing),
        Err(e) => return Err(e.into()),
    };
    let kind = seen.file_type();
    match () {
        () if kind.is_symlink() => Err(WriteError::Link),
        () if kind.is_file() => known(path, replace),
        () if kind.is_fifo() || kind.is_char_device() => Ok(There::Stream),
        () if kind.is_dir() => Err(WriteError::Kind("a folder")),
        () if kind.is_socket() => Err(WriteError::Kind("a socket")),
        () => Err(WriteError::Kind("a disk")),
    }
}

/// Whether a path means something that this process or the shell has opened: `/dev/stdout`, or what
/// `>(command)` stands for. These are links by their nature.
fn is_descriptor(path: &Path) -> bool {
    let standard = ["/dev/stdout", "/dev/stderr"].map(Path::new);
    let folder = path.parent().map(Path::as_os_str);
    standard.contains(&path)
        || (["/dev/fd", "/proc/self/fd"]
            .map(|f| Some(OsStr::new(f)))
            .contains(&folder)
            && path
                .file_name()
                .and_then(OsStr::to_str)
                .is_some_and(|n| n.parse::<u32>().is_ok()))
}

fn known(path: &Path, replace: Replace<'_>) -> Result<There, WriteError> {
    match replace {
        Replace::Nothing => Err(WriteError::There),
        Replace::Anything => Ok(There::File(fs::symlink_metadata(path)?)),
        Replace::Known(is_known) => {
            let mut file = unfollowed().read(true).open(path)?;
            match is_known(&mut file)? {
                true => Ok(There::File(file.metadata()?)),
                false => Err(WriteError::Foreign),
            }
        }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Gives a new file the owner and the permissions of the one it replaces.
fn hand_on(old: &Metadata, new: &File) -> io::Result<()> {
    let own = new.metadata()?;
    let mut mode = old.mode() & 0o777;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        let given = fchown(new, Some(old.uid()), Some(old.gid()))
            .or_else(|_| fchown(new, None, Some(old.gid())));
        if given.is_err() {
            // What the old group could do is not this group's.
            mode &= 0o707;
        }
    }
    new.set_permissions(Permissions::from_mode(mode))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
