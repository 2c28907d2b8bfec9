//! Why a test of the machine could not be made.

use std::path::{Path, PathBuf};

/// Why a test of the machine could not be made.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The operating system refused something.
    #[error("{what} {}: {error}", .path.display())]
    File {
        /// What was to be done.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// Its reason.
        error: std::io::Error,
    },
    /// The operating system refused something that is no file's.
    #[error("{what}: {error}")]
    System {
        /// What was to be done.
        what: String,
        /// Its reason.
        error: std::io::Error,
    },
    /// Somebody else's file is in the way.
    #[error(
        "{} was not made by Tidemark and is left as it is: {instead}", .path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What to do instead.
        instead: String,
    },
    /// A file may be Tidemark's, which nothing proves.
    #[error(
        "{} can't be proved to be Tidemark's, because its file system keeps no time of birth, and is left as \
         it is: {instead}", .path.display()
    )]
    Unproven {
        /// The file.
        path: PathBuf,
        /// What to do instead.
        instead: String,
    },
    /// A file is not there.
    #[error("{} does not exist; run prepare first", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file has another size than the options say.
    #[error(
        "{} has {found} bytes, and --file-total-size and --file-num ask for {expected}; run prepare \
         with the same options", .path.display()
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// What the options say.
        expected: u64,
    },
    /// A file is no longer what was written.
    #[error(
        "validation failed: {} offset {offset}: {how}; the block is not what a test with --validate \
         wrote (files must be prepared with --validate, too)", .path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Where the block begins.
        offset: u64,
        /// How it differs.
        how: String,
    },
    /// Making or writing files ended early.
    #[error("{cause}; {left}")]
    Unfinished {
        /// Why.
        cause: Box<HostError>,
        /// What became of the files that were made until then.
        left: String,
    },
    /// Options that can't be together.
    #[error("{0}")]
    Options(String),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

impl HostError {
    /// A file's error.
    pub(crate) fn file(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |error| HostError::File { what, path, error }
    }
}
