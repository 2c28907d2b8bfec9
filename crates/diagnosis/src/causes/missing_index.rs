//! Statements that read far more rows than they need.

use super::long_transaction;
use crate::number::three;
use crate::outcome::{Confidence, Found, Outcome};
use crate::seen::Seen;
use crate::texts::missing_index as texts;
use crate::thresholds::{BYTES_A_ROW, MOST, ROWS_A_STATEMENT, SHARE};
use crate::{Cause, PartKind, Words};
use tidemark_analysis::observed::{CostKind, costs};

pub(super) fn check(seen: &Seen<'_>) -> Outcome {
    if seen.is_embedded || seen.load.latency.count == 0 {
        return Outcome::NotFound;
    }
    let Some(read) = seen.status("rows.read") else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let each = read.mean() / (seen.load.rate * seen.load.statements.max(1.0));
    // Reading them takes the server's CPU, or waits for pages or rows; all else is no plan's.
    let work = seen.split.mean_ms
        - seen.split.ms(PartKind::Client)
        - seen.split.ms(PartKind::Network)
        - seen.split.ms(PartKind::WaitingForSession);
    let share = seen.split.share(work);
    if each < ROWS_A_STATEMENT || share < SHARE || are_sent(seen, read.mean()) {
        return Outcome::NotFound;
    }
    let mut evidence = vec![
        read.evidence(),
        seen.evidence("rows read by a statement", each, "rows"),
    ];
    evidence.extend(seen.server.as_ref().map(|s| s.cpu.evidence()));
    Outcome::Found(Found {
        share,
        // Dead rows are read, too.
        confidence: match share >= MOST && !long_transaction::are_left(seen) {
            true => Confidence::High,
            false => Confidence::Medium,
        },
        says: Words::of(|lang| texts::says(lang, three(each))),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CommitLog, Cause::NetworkDistance],
    })
}

/// Whether the rows that are read go to the client: a statement that asks for many needs them.
fn are_sent(seen: &Seen<'_>, rows: f64) -> bool {
    let costs = costs(seen.record);
    let bytes = costs.iter().find(|c| c.kind == CostKind::NetworkBytes);
    let rows = rows / seen.load.rate;
    bytes.is_some_and(|bytes| bytes.per_transaction >= BYTES_A_ROW * rows)
}
