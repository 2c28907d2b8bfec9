//! The parts that a table's load is made of.

use super::LoadSpec;
use tidemark_drivers::journal::LoadPart;
use tidemark_workloads::TablePlan;

/// A unit of unknown size.
const UNIT_BYTES: u32 = 200;
/// Few commits are cheap, so chunks aren't smaller, in bytes.
const SMALLEST_CHUNK: u64 = 2 << 20;
/// What a crash takes back should be seconds of work, so they aren't larger.
const LARGEST_CHUNK: u64 = 16 << 20;
/// Chunks for each session, so that all end at about the same time.
const CHUNKS_A_SESSION: u64 = 4;

/// About what a table takes when it is sent.
pub(super) fn bytes(plan: &TablePlan) -> u64 {
    plan.rows.saturating_mul(unit_bytes(plan))
}

pub(super) fn unit_bytes(plan: &TablePlan) -> u64 {
    u64::from(match plan.unit_bytes {
        0 => UNIT_BYTES,
        known => known,
    })
}

/// How many units of a table are loaded together.
pub(super) fn chunk_units(spec: &LoadSpec, plan: &TablePlan, all_bytes: u64) -> u64 {
    match spec.chunk_rows {
        0 => {
            let chunks = CHUNKS_A_SESSION * spec.threads.max(1) as u64;
            let bytes = (all_bytes / chunks).clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
            (bytes / unit_bytes(plan)).max(1)
        }
        given => given,
    }
}

/// The parts that a table lacks: its units that no chunk in `there` holds, in chunks of at most
/// `size`, and all that follows the rows.
pub(super) fn lacking(plan: &TablePlan, there: &[LoadPart], size: u64) -> Vec<LoadPart> {
    let chunks = there.iter().filter_map(|part| match part {
        LoadPart::Chunk { first, units } => Some((*first, *units)),
        _ => None,
    });
    let chunks: Vec<_> = chunks.collect();
    let mut parts: Vec<LoadPart> = missing(plan.rows, &chunks, size.max(1))
        .into_iter()
        .map(|(first, units)| LoadPart::Chunk { first, units })
        .collect();
    let after_all = (!plan.after_all.is_empty()).then_some(LoadPart::AfterAll);
    let others = [Some(LoadPart::Indexes), after_all, Some(LoadPart::Verify)];
    let absent = |part: &LoadPart| !there.contains(part);
    parts.extend(others.into_iter().flatten().filter(absent));
    parts
}

/// The unit numbers of 0 to `rows` that no chunk in `there` holds, in chunks of at most `size`.
fn missing(rows: u64, there: &[(u64, u64)], size: u64) -> Vec<(u64, u64)> {
    let mut there = there.to_vec();
    there.sort_unstable();
    let mut chunks = Vec::new();
    let mut next = 0;
    for (first, count) in there.into_iter().chain([(rows, 0)]) {
        while next < first.min(rows) {
            let count = size.min(first.min(rows) - next);
            chunks.push((next, count));
            next += count;
        }
        next = next.max(first + count);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunks_fill_the_gaps() {
        assert_eq!(missing(10, &[], 4), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(missing(10, &[(4, 4)], 4), [(0, 4), (8, 2)]);
        assert_eq!(missing(10, &[(0, 10)], 4), []);
        assert_eq!(missing(0, &[], 4), []);
    }

    #[test]
    fn what_follows_the_rows_is_added_once() {
        let mut plan = TablePlan::default();
        let none: &[LoadPart] = &[];
        assert_eq!(
            lacking(&plan, none, 5),
            [LoadPart::Indexes, LoadPart::Verify]
        );
        assert_eq!(lacking(&plan, &[LoadPart::Indexes], 5), [LoadPart::Verify]);
        plan.after_all.push("ALTER TABLE a ADD CONSTRAINT f".into());
        plan.rows = 7;
        let chunk = LoadPart::Chunk { first: 0, units: 7 };
        assert_eq!(
            lacking(&plan, none, 10),
            [
                chunk,
                LoadPart::Indexes,
                LoadPart::AfterAll,
                LoadPart::Verify
            ]
        );
    }

    #[test]
    fn chunks_are_of_bytes() {
        let spec = LoadSpec {
            threads: 4,
            ..LoadSpec::default()
        };
        let plan = TablePlan {
            rows: 1_000_000,
            unit_bytes: 1000,
            ..TablePlan::default()
        };
        let units = chunk_units(&spec, &plan, bytes(&plan));
        assert_eq!(units, LARGEST_CHUNK / 1000);
        let small = TablePlan { rows: 100, ..plan };
        assert_eq!(
            chunk_units(&spec, &small, bytes(&small)),
            SMALLEST_CHUNK / 1000
        );
        let given = LoadSpec {
            chunk_rows: 77,
            ..spec
        };
        assert_eq!(chunk_units(&given, &small, 1), 77);
    }

    proptest! {
        #[test]
        fn every_row_is_loaded_exactly_once(
            rows in 0u64..500, size in 1u64..60, taken in prop::collection::vec(any::<bool>(), 0..60),
        ) {
            let all = missing(rows, &[], size);
            let there: Vec<_> = all.iter().zip(taken).filter(|(_, t)| *t).map(|(c, _)| *c).collect();
            // A journal of the older form may be gone on with in chunks of another size.
            let rest = missing(rows, &there, size + 3);
            let mut seen: Vec<u64> =
                there.iter().chain(&rest).flat_map(|(first, count)| *first..first + count).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..rows).collect::<Vec<_>>());
        }
    }
}
