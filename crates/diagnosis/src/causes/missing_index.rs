//! Statements that read far more rows than they need.

use super::long_transaction;
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::missing_index as texts;
use crate::thresholds::{BYTES_A_ROW, MOST, ROWS_A_STATEMENT, SCANNED, SHARE};
use crate::{Cause, PartKind, WaitClass, Words};
use tidemark_analysis::costs::{CostKind, costs};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if seen.is_embedded || seen.load.latency.count == 0 {
        return Outcome::NotFound;
    }
    let Some(read) = seen.status("rows.read") else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let each = read.mean() / (seen.load.rate * seen.load.statements.max(1.0));
    let share = seen.split.share(work_ms(seen));
    if each < ROWS_A_STATEMENT || share < SHARE || are_sent(seen, read.mean()) {
        return Outcome::NotFound;
    }
    // An aggregate reads many rows of an index that it needs. Whole tables are read for want of one.
    let scanned = seen.status("rows.scanned");
    let part = scanned.as_ref().map_or(0.0, |c| c.mean() / read.mean());
    let is_scan = part >= SCANNED;
    let mut evidence = vec![
        read.evidence(),
        seen.evidence("rows read by a statement", each, "rows"),
    ];
    evidence.extend(scanned.as_ref().map(|c| c.evidence()));
    evidence.extend(seen.server.as_ref().map(|s| s.cpu.evidence()));
    let says = |lang| match is_scan {
        true => texts::says(lang, three(each), percent(part.min(1.0))),
        false => texts::many(lang, three(each)),
    };
    Outcome::Found(FindingDetails {
        share,
        // Dead rows are read, too.
        confidence: Confidence::high_if(
            is_scan && share >= MOST && !long_transaction::are_left(seen),
        ),
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::CommitLog, Cause::NetworkDistance],
    })
}

/// Reading rows takes the server's CPU, or waits for pages or other transactions' rows; all else is no
/// plan's. What a server whose CPU is not seen executes may be all of it.
fn work_ms(seen: &Observations<'_>) -> f64 {
    let waits = [WaitClass::RunQueue, WaitClass::DataRead, WaitClass::RowLock];
    let waits: f64 = waits.iter().map(|class| seen.split.wait_ms(*class)).sum();
    let cpu = match seen.split.ms(PartKind::ServerCpu) {
        cpu if cpu > 0.0 => cpu,
        _ => seen.split.ms(PartKind::Unexplained),
    };
    waits + cpu
}

/// Whether the rows that are read go to the client: a statement that asks for many needs them.
fn are_sent(seen: &Observations<'_>, rows: f64) -> bool {
    let costs = costs(seen.record);
    let bytes = costs.iter().find(|c| c.kind == CostKind::NetworkBytes);
    let rows = rows / seen.load.rate;
    bytes.is_some_and(|bytes| bytes.per_transaction >= BYTES_A_ROW * rows)
}
