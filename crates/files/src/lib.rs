//! Files that are not Tidemark's alone: what users name is read within limits of size and time
//! ([`read`], [`read_text`]), and what is written goes into a new file first and replaces nothing that
//! is not known ([`write()`]).

mod read;
mod write;

pub use read::{LONGEST_CONFIGURATION, ReadError, read, read_text};
pub use write::{New, Replace, Whole, WriteError, permitted, write};
