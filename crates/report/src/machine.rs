//! Tests of the machine itself, and what they showed before a study.

use crate::digest::Digest;
use crate::family::Family;
use crate::load::option;
use crate::number::three;
use crate::section::WorkloadSection;
use crate::texts::machine as texts;
use crate::texts::{Lang, Texts, fill};
use tidemark_core::record::MachineFigures;

/// `sysbench memory`.
pub const MEMORY: Family = Family::new("memory", memory);
/// `sysbench fileio`.
pub const FILES: Family = Family::new("fileio", files);

const MIB: f64 = 1024.0 * 1024.0;

/// An option that is a number.
fn number(digest: &Digest<'_>, name: &str) -> f64 {
    let value = option(digest.record, name);
    value.and_then(|v| v.parse().ok()).unwrap_or(0.0)
}

fn memory(digest: &Digest<'_>, lang: Lang) -> Option<WorkloadSection> {
    let t = texts::of(lang);
    let operation = option(digest.record, "memory-oper");
    let moves = digest.record.is_of_machine() && operation != Some("none");
    let mib = digest.transactions_per_s() * number(digest, "memory-block-size") / MIB;
    moves.then(|| WorkloadSection {
        title: t.title,
        facts: vec![(t.transferred, format!("{} MiB/s", three(mib)))],
        ..WorkloadSection::default()
    })
}

fn files(digest: &Digest<'_>, lang: Lang) -> Option<WorkloadSection> {
    let t = texts::of(lang);
    // What is merged differs from request to request.
    let is_plain = number(digest, "file-merged-requests") <= 1.0;
    let of = |kind: &str| {
        let types = digest.types.iter().find(|(name, _)| **name == *kind);
        let count = types.map_or(0, |(_, latency)| latency.count);
        digest.per_second(count) * number(digest, "file-block-size") / MIB
    };
    (digest.record.is_of_machine() && is_plain).then(|| WorkloadSection {
        title: t.title,
        facts: vec![
            (t.read, format!("{} MiB/s", three(of("read")))),
            (t.written, format!("{} MiB/s", three(of("write")))),
        ],
        ..WorkloadSection::default()
    })
}

/// The figures of the machine before a study, in words.
pub(crate) fn facts(figures: &MachineFigures, t: &'static Texts) -> [(&'static str, String); 3] {
    let memory = [
        ("read", &*three(figures.memory_read_mib_per_s)),
        ("write", &*three(figures.memory_write_mib_per_s)),
    ];
    let fsync = [
        ("mean", &*three(figures.fsync_mean_ms)),
        ("p95", &*three(figures.fsync_p95_ms)),
        ("folder", &*figures.folder),
    ];
    let rate = three(figures.cpu_events_per_s);
    [
        (t.machine_cpu, fill(t.machine_cpu_says, &[("rate", &rate)])),
        (t.machine_memory, fill(t.machine_memory_says, &memory)),
        (t.machine_fsync, fill(t.machine_fsync_says, &fsync)),
    ]
}
