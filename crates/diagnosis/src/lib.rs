//! Where the time of a run goes and what limits it: pure functions over a record.
//!
//! [`diagnose`] splits the mean latency into parts that add up to it, looks for each cause of which the
//! record has evidence, and ranks what it finds. Evidence that is missing is listed, never guessed.
//!
//! ```
//! use tidemark_core::record::{EncodedHistogram, RunRecord};
//! use tidemark_diagnosis::{Cause, diagnose};
//! use tidemark_stats::Histogram;
//! let mut latencies = Histogram::new();
//! latencies.record(std::time::Duration::from_millis(2));
//! let mut record = RunRecord { sessions: 1, ..RunRecord::default() };
//! record.totals.elapsed_s = 1.0;
//! record.totals.all.count = 1;
//! record.totals.all.service = EncodedHistogram(latencies.encode());
//! // A latency alone proves nothing.
//! let diagnosis = diagnose(&record);
//! assert_eq!(diagnosis.verdict, Cause::NotEnoughSeen);
//! assert!(diagnosis.sentence.en.contains("--observe"));
//! ```

mod by_type;
mod causes;
mod doubt;
mod exclude;
mod host;
mod load;
mod measured;
mod names;
mod number;
mod outcome;
mod parts;
mod pauses;
mod rank;
mod scaling;
mod seen;
mod series_names;
mod sessions;
mod several;
mod texts;
pub mod thresholds;
mod waits;

#[cfg(test)]
extern crate self as tidemark_diagnosis;
#[cfg(test)]
#[path = "../tests/it/mod.rs"]
mod it;

pub use outcome::{
    Cause, Confidence, Diagnosis, Evidence, Finding, Part, PartKind, Skipped, Split, WaitClass,
};
pub use scaling::{Coherency, CoherencyLimit, LoadSeen, coherency};
pub use series_names::{SERIES_NAMES, SeriesName};
pub use several::{Agreed, Changes, PartChange, Stretch, mean_split, stretches};
pub use texts::{Lang, Words};

use outcome::Outcome;
use seen::Observations;
use tidemark_core::record::RunRecord;

/// Whether a record is one to diagnose: a load that Tidemark measured, of transactions. Watches, imported
/// figures and query streams are not.
pub fn can_diagnose(record: &RunRecord) -> bool {
    !record.is_watch()
        && !record.is_of_machine()
        && record.imported.is_none()
        && record.queries.is_empty()
        && record.sessions > 0
        && record.totals.elapsed_s > 0.0
}

/// What limits a run, and why. Of a record that [can't be diagnosed](can_diagnose) it says that nothing
/// was seen.
pub fn diagnose(record: &RunRecord) -> Diagnosis {
    let seen = can_diagnose(record)
        .then(|| Observations::of(record))
        .flatten();
    let Some(seen) = seen else {
        return Diagnosis {
            verdict: Cause::NotEnoughSeen,
            sentence: Words::of(texts::verdict::nothing),
            parts: Vec::new(),
            findings: Vec::new(),
            skipped: Vec::new(),
            server_busy: None,
        };
    };
    let (mut findings, mut skipped) = (Vec::new(), Vec::new());
    for (cause, check) in causes::ALL {
        match check(&seen) {
            Outcome::Found(found) => findings.push(Finding {
                cause: *cause,
                share: found.share.clamp(0.0, 1.0),
                confidence: found.confidence,
                sentence: found.says,
                evidence: found.evidence,
                excludes: found.excludes,
                next: found.next,
            }),
            Outcome::NotFound => {}
            Outcome::Skipped(needs) => skipped.push(Skipped {
                cause: *cause,
                needs,
            }),
        }
    }
    findings.iter_mut().for_each(|f| doubt::lower(&seen, f));
    let found: Vec<Cause> = findings.iter().map(|f| f.cause).collect();
    exclude::neighbours(&seen, &mut findings, &found);
    let findings = rank::ranked(&seen, rank::of_load(&seen, findings));
    let (verdict, sentence) = rank::verdict(&seen, &findings, &skipped);
    let parts = match record.totals.all.count {
        0 => Vec::new(),
        _ => seen.splits(),
    };
    Diagnosis {
        verdict,
        sentence,
        parts,
        findings,
        skipped,
        server_busy: seen.host_busy(),
    }
}
