//! A study's file, read and understood.

use super::private;
use super::vocabulary::Vocabulary;
use crate::exit::Failure;
use std::path::Path;
use tidemark_files::{LONGEST_CONFIGURATION, read_text};
use tidemark_study::{Study, StudyPlan, parse_for};

/// A study with its steps.
pub struct StudyFile {
    /// The file's text; may hold passwords.
    pub text: String,
    /// What it says.
    pub study: Study,
    /// Its steps.
    pub plan: StudyPlan,
}

/// Reads a study's file.
///
/// # Errors
/// [`Failure`] of bad usage with everything that is wrong, by line.
pub fn read(path: &Path) -> Result<StudyFile, Failure> {
    let shown = path.display().to_string();
    let text = read_text(path, LONGEST_CONFIGURATION)
        .map_err(|e| Failure::usage(format!("{shown}: {e}; examples are in studies/")))?;
    understand(text, &shown)
}

/// Understands a study's text.
///
/// # Errors
/// As [`read`].
pub fn understand(text: String, shown: &str) -> Result<StudyFile, Failure> {
    let wrong = |e: tidemark_study::StudyError| {
        let count = match e.problems.len() {
            1 => "a problem".to_string(),
            n => format!("{n} problems"),
        };
        Failure::usage(format!("the study has {count}:\n{}", e.told(shown)))
    };
    let study = parse_for(&text, &Vocabulary).map_err(wrong)?;
    let plan = StudyPlan::new(&study, &Vocabulary).map_err(wrong)?;
    for place in plan.places.iter().filter(|p| private::is_meant(&p.url)) {
        private::check(&place.url)
            .map_err(|e| Failure::usage(format!("{shown}:{}: {}: {e}", place.line, place.url)))?;
    }
    Ok(StudyFile { text, study, plan })
}
