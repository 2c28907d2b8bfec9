//! Files that are not Tidemark's alone: what users name is read within limits of size and time
//! ([`read`], [`read_text`]), and what is written goes into a new file first and replaces nothing that
//! is not known ([`write()`]).
//!
//! ```
//! use tidemark_files::{Replace, read_text, write};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("report.md");
//! write(&path, b"# Report", Replace::Nothing)?;
//! assert!(write(&path, b"other", Replace::Nothing).is_err_and(|e| e.is_refusal()));
//! assert_eq!(read_text(&path, 1024)?, "# Report");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod read;
mod write;

pub use read::{LONGEST_CONFIGURATION, ReadError, read, read_text};
pub use write::{New, Replace, WriteError, WrittenFile, permitted, write};
