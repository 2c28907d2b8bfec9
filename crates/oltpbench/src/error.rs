//! What is wrong with a workload file, and what is only remarkable about it.

use std::fmt;

/// Why a workload file was not taken. No password is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It is no well-formed XML.
    #[error("line {line}, column {column}: {reason}")]
    Malformed {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
        /// What is wrong there.
        reason: String,
    },
    /// Its outermost element is another.
    #[error("line {line}: <{found}>: a workload file begins with <parameters>")]
    Root {
        /// Line, from 1.
        line: u32,
        /// The outermost element's name.
        found: String,
    },
    /// An element's value is not one that it takes.
    #[error(
        "line {line}: <{element}>{value}</{element}>: must be {allowed}; for example {example}"
    )]
    Value {
        /// Line, from 1.
        line: u32,
        /// The element.
        element: String,
        /// Its value.
        value: String,
        /// What would be taken.
        allowed: String,
        /// A right example, as it stands in the file.
        example: String,
    },
    /// An element that is needed is not there.
    #[error("line {line}: <{within}> has no <{element}>; for example {example}")]
    Missing {
        /// Line of the element that lacks it, from 1.
        line: u32,
        /// The element that lacks it.
        within: String,
        /// What is missing.
        element: String,
        /// A right example.
        example: String,
    },
    /// It has more in it than any workload file.
    #[error("it is larger than {limit} bytes")]
    TooLong {
        /// The most that is read.
        limit: usize,
    },
}

/// Something that a file holds and that is not used, or not as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Line, from 1.
    pub line: u32,
    /// What is to be said of it.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}
