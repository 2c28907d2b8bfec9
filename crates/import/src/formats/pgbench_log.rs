//! pgbench's logs (`-l`): a line for each transaction, or for each interval (`--aggregate-interval`), of
//! one thread or of several.

use crate::doc::Doc;
use crate::draft::Draft;
use crate::samples::Bucket;
use std::collections::BTreeMap;

const TOOL: &str = "pgbench-log";

/// Seconds since 1970 that a log may have: from 2001 to 2096.
const STAMPS: std::ops::Range<u64> = 1_000_000_000..4_000_000_000;
/// Fields of a line of either kind.
const FIELDS: std::ops::RangeInclusive<usize> = 6..=16;

/// What a transaction has in place of its time, and whether it was never begun.
const WORDS: [(&str, bool); 4] = [
    ("skipped", true),
    ("failed", false),
    ("serialization", false),
    ("deadlock", false),
];

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let mut fields = [0u64; 16];
    let mut word = None;
    let mut count = 0;
    for part in text.split_ascii_whitespace() {
        let Some(field) = fields.get_mut(count) else {
            return false;
        };
        match part.parse() {
            Ok(n) => *field = n,
            Err(_) if count == 2 => {
                let known = WORDS.iter().find(|(w, _)| *w == part);
                let Some((_, is_skipped)) = known else {
                    return false;
                };
                word = Some(*is_skipped);
            }
            Err(_) => return false,
        }
        count += 1;
    }
    if !FIELDS.contains(&count) {
        return false;
    }
    let [a, _, _, _, stamp, micros, ..] = fields;
    if STAMPS.contains(&a) && word.is_none() {
        added_up(run(doc, line), &fields, count, line);
        return true;
    }
    let is_transaction = count <= 8 && STAMPS.contains(&stamp) && micros < 1_000_000;
    if !is_transaction {
        return false;
    }
    let [_, _, took, script, ..] = fields;
    let samples = run(doc, line).samples.get_or_insert_default();
    match word {
        Some(is_skipped) => samples.without_end(is_skipped),
        None => {
            let of = format!("script {}", script.saturating_add(1));
            let end_s = stamp as f64 + micros as f64 / 1e6;
            samples.transaction(&of, end_s, took as f64, line);
        }
    }
    true
}

fn run(doc: &mut Doc, line: u64) -> &mut Draft {
    doc.run(TOOL, line)
}

/// Begin, transactions, then sum, sum of squares, least and most of latencies, the same of lateness,
/// what was skipped and retried, and failures. Before version 14 only what was asked for is there.
fn added_up(run: &mut Draft, fields: &[u64; 16], count: usize, line: u64) {
    let [begin, n, sum, squares, least, most, ..] = fields.map(|f| f as f64);
    let any = n > 0.0;
    let mut more = BTreeMap::from([("squares_ms2", squares / 1e6)]);
    let names = match count {
        // The last one counts what other errors ended, since version 19.
        15 | 16 => &[
            (10, "skipped"),
            (11, "retried"),
            (12, "retries"),
            (13, "failed"),
            (14, "failed"),
            (15, "failed"),
        ][..],
        11 => &[(10, "skipped")],
        8 => &[(6, "retried"), (7, "retries")],
        _ => &[],
    };
    for (at, name) in names {
        if let Some(n) = fields.get(*at) {
            *more.entry(*name).or_default() += *n as f64;
        }
    }
    if count >= 10 {
        more.insert("lag_sum_ms", fields[6] as f64 / 1e3);
    }
    run.samples.get_or_insert_default().added_up(
        begin,
        Bucket {
            line,
            count: n,
            sum_ms: sum / 1e3,
            min_ms: any.then_some(least / 1e3),
            max_ms: any.then_some(most / 1e3),
            more,
        },
    );
}

/// The thread of a log's file: `pgbench_log.1234.2` is the second one's after the first.
pub(crate) fn thread(file: &str) -> Option<&str> {
    let mut parts = file.rsplit('.');
    let (thread, process, rest) = (parts.next()?, parts.next()?, parts.next());
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    (rest.is_some() && digits(thread) && digits(process)).then_some(thread)
}
