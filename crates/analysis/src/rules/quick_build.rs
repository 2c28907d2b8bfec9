//! A client that was built to be quick to build.

use crate::run::Run;
use crate::texts::quick_build::{INSTEAD, SAYS};
use crate::{AnalysisError, Finding, Severity};

pub(super) const ID: &str = "quick-build";

/// How such a build's version ends: build metadata of semantic versioning (semver.org, 10).
const MARK: &str = "+quick";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let is_quick = run.record.tidemark_version.ends_with(MARK);
    Ok(is_quick.then_some(Finding {
        rule: ID,
        severity: Severity::Note,
        says: SAYS,
        instead: INSTEAD,
        figures: Vec::new(),
    }))
}
