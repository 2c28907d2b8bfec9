//! What is wrong with a study file.

use std::fmt;

/// One thing that is wrong, where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: usize,
    /// The key, its value, what is allowed, and a right example.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// Everything that is wrong with a study file, by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyError {
    /// What is wrong; never empty.
    pub problems: Vec<Problem>,
}

impl StudyError {
    pub(crate) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort();
        problems.dedup();
        Self { problems }
    }

    /// A line for each problem, as compilers write them: `PATH:LINE: message`.
    pub fn told(&self, path: &str) -> String {
        let line = |p: &Problem| format!("{path}:{}: {}", p.line, p.message);
        let lines: Vec<String> = self.problems.iter().map(line).collect();
        lines.join("\n")
    }
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told("line"))
    }
}

impl std::error::Error for StudyError {}
