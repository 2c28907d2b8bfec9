//! Documents with outputs of other tools: imported, judged and written as records.

use crate::memory::bounded;
use tidemark_analysis::findings;
use tidemark_core::record::RunRecord;
use tidemark_import::{Origin, read};

/// A line of a few bytes may be a run with its options, figures and findings.
const A_BYTE: usize = 4096;

pub(crate) fn run(data: &[u8]) {
    bounded(data.len(), A_BYTE, || {
        let mut last = 0;
        let mut seen = |line, _: &str, _| {
            assert_eq!(line, last + 1, "every line is told, once and in order");
            last = line;
        };
        let Ok(import) = read(data, &Origin::of("document"), &mut seen) else {
            return;
        };
        assert_eq!(import.lines, last);
        for (first, last, _) in &import.leftovers.ranges {
            assert!(first <= last && *last <= import.lines);
        }
        for run in &import.runs {
            let imported = run.imported.as_ref().unwrap();
            assert!(imported.first_line <= imported.last_line);
            for figure in &imported.figures {
                assert!(figure.value.is_finite() && figure.rounding.is_finite());
                assert!((1..=import.lines).contains(&figure.line), "{figure:?}");
            }
            assert!(run.totals.elapsed_s.is_finite());
            findings(run).unwrap();
            let text = serde_json::to_string(run).unwrap();
            let again: RunRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(again.imported, run.imported);
        }
    });
}
