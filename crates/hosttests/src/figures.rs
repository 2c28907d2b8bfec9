//! A machine in five figures, within a few seconds.

use crate::cpu::Cpu;
use crate::files::{self, Extra, FilePlan, IoMode, Layout, Mode, SyncMode};
use crate::memory::{self, Operation};
use crate::{HostError, TestThread};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;
/// What the files of the test of syncs hold: more would only take longer to be made.
const FILE: u64 = 16 << 20;
/// The page of InnoDB, and sysbench's block.
const BLOCK: u64 = 16 << 10;

/// What the tests showed, each of one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostResults {
    /// Searches a second for the prime numbers up to 10,000.
    pub cpu_events_per_s: f64,
    /// Memory read in blocks of 1 MiB, in MiB a second.
    pub memory_read_mib_per_s: f64,
    /// Memory written, likewise.
    pub memory_write_mib_per_s: f64,
    /// Mean time of an fsync after a write of 16 KiB.
    pub fsync_mean: Duration,
    /// Their 95th percentile.
    pub fsync_p95: Duration,
}

/// Tests the machine, each figure for as long as this; files are made in `folder`, which is empty and
/// the caller's to remove.
///
/// # Errors
/// [`HostError`] of files that can't be written, or [`HostError::Interrupted`].
pub fn figures(folder: &Path, each: Duration, stop: &AtomicBool) -> Result<HostResults, HostError> {
    let cpu_events_per_s = rate(&mut Cpu::new(10_000), each, stop)?;
    let memory = |operation| {
        let spec = memory::Spec {
            block: MIB,
            operation,
            random: false,
            global: false,
            huge: false,
            seed: 1,
        };
        let mut test = memory::memory(1, spec)?;
        test.first_mut()
            .map_or(Ok(0.0), |one| rate(one, each, stop))
    };
    let memory_read_mib_per_s = memory(Operation::Read)?;
    let memory_write_mib_per_s = memory(Operation::Write)?;
    let mut syncs = syncs(folder, each, stop)?;
    syncs.sort_unstable();
    let sum: Duration = syncs.iter().sum();
    let at = |share: f64| {
        let rank = (syncs.len() as f64 * share).ceil() as usize;
        syncs
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or_default()
    };
    Ok(HostResults {
        cpu_events_per_s,
        memory_read_mib_per_s,
        memory_write_mib_per_s,
        fsync_mean: sum / u32::try_from(syncs.len().max(1)).unwrap_or(u32::MAX),
        fsync_p95: at(0.95),
    })
}

/// Events a second.
fn rate(test: &mut dyn TestThread, time: Duration, stop: &AtomicBool) -> Result<f64, HostError> {
    let begun = Instant::now();
    let mut count = 0u64;
    while begun.elapsed() < time {
        if test.event(stop)?.is_none() || is_set(stop) {
            return Err(HostError::Interrupted);
        }
        count += 1;
    }
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

fn is_set(stop: &AtomicBool) -> bool {
    stop.load(std::sync::atomic::Ordering::Relaxed)
}

/// How long each sync took.
fn syncs(folder: &Path, time: Duration, stop: &AtomicBool) -> Result<Vec<Duration>, HostError> {
    let layout = Layout {
        folder: folder.into(),
        count: 1,
        total: FILE,
        block: BLOCK,
    };
    files::prepare(&layout, Extra::default(), false, 1, stop, &mut |_| {})?;
    let plan = FilePlan {
        mode: Mode::RndWr,
        io: IoMode::Sync,
        backlog: 1,
        extra: Extra::default(),
        sync_every: 0,
        sync_all: true,
        sync_end: false,
        sync_mode: SyncMode::Fsync,
        merged: 0,
        ratio: 0.0,
        validate: false,
        // They were made a moment ago, also where nothing proves that.
        force: true,
        seed: 1,
    };
    let (mut threads, _) = files::files(1, &layout, &plan)?;
    let begun = Instant::now();
    let mut took = Vec::new();
    while let Some(thread) = threads.first_mut()
        && (took.is_empty() || begun.elapsed() < time)
    {
        if is_set(stop) {
            return Err(HostError::Interrupted);
        }
        let event = thread.event(stop)?;
        took.extend(event.and_then(|event| event.inner).map(|(_, took)| took));
    }
    drop(threads);
    match files::cleanup(&layout) {
        // They go with the folder.
        Ok(_) | Err(HostError::Unproven { .. }) => Ok(took),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_figures_and_keeps_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let each = Duration::from_millis(30);
        let found = figures(folder.path(), each, &AtomicBool::new(false)).unwrap();
        let rates = [
            found.cpu_events_per_s,
            found.memory_read_mib_per_s,
            found.memory_write_mib_per_s,
        ];
        assert!(rates.iter().all(|rate| *rate > 0.0), "{found:?}");
        assert!(found.fsync_p95 >= Duration::from_nanos(1), "{found:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let stopped = figures(folder.path(), each, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(HostError::Interrupted)));
    }
}
