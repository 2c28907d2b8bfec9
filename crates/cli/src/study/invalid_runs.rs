//! Runs that ended, and whose figures must not be used all the same.

use tidemark_analysis::{Severity, findings};
use tidemark_report::{Lang, finding_lines};
use tidemark_store::Store;

/// The finding by which the run with this whole id must not be used, in a line; `None` where there
/// is none.
///
/// A record that is gone or can't be read says nothing: reports tell that themselves.
pub fn why_unusable(store: &Store, id: &str, lang: Lang) -> Option<String> {
    let mut found = findings(&store.get(id).ok()?).ok()?;
    found.retain(|finding| finding.severity == Severity::Invalid);
    found.truncate(1);
    let line = finding_lines(&found, lang);
    (!line.is_empty()).then(|| line.trim_end().to_string())
}
