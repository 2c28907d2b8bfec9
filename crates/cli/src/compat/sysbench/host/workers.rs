//! From options to what the threads of a test do.

use super::options::HostTestRow;
use crate::exit::Failure;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidemark_compat::sysbench::host::{FilesHeader, HostTest};
use tidemark_core::{OptionValues, RunSpec};
use tidemark_engine::{EngineError, Worker, WorkerEvent};
use tidemark_hosttests::files::{
    self, Extra, FileCounts, FilePlan, IoMode, Layout, Mode, SyncMode,
};
use tidemark_hosttests::memory::{self, Operation};
use tidemark_hosttests::{HostError, TestThread, cpu, mutex, threads};

/// A test that can begin.
pub struct HostTestThreads {
    /// One for each thread.
    pub workers: Vec<Box<dyn Worker>>,
    /// What events are called.
    pub kinds: &'static [&'static str],
    /// What `fileio` counts beside its events.
    pub counts: Option<Arc<FileCounts>>,
}

/// A thread's test as the engine knows it.
struct OnThread<T>(T);

impl<T: TestThread> Worker for OnThread<T> {
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<WorkerEvent>, EngineError> {
        let event = self.0.event(cut_off).map_err(engine_error)?;
        Ok(event.map(|event| WorkerEvent {
            kind: event.kind,
            inner: event.inner,
        }))
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.0.finish().map_err(engine_error)
    }
}

fn engine_error(error: HostError) -> EngineError {
    match error {
        HostError::Changed { .. } => EngineError::Check(error.to_string()),
        _ => EngineError::System(error.to_string()),
    }
}

fn boxed<T: TestThread + 'static>(tests: Vec<T>) -> Vec<Box<dyn Worker>> {
    let boxed = |test| Box::new(OnThread(test)) as Box<dyn Worker>;
    tests.into_iter().map(boxed).collect()
}

/// Looks at what only the options together tell.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn check(test: &HostTestRow, options: &OptionValues) -> Result<(), Failure> {
    let block = options.uint("memory-block-size");
    if test.name == "memory" && !block.is_power_of_two() {
        return Err(Failure::usage(format!(
            "--memory-block-size={block}: must be a power of two, 8 or more; for example \
             --memory-block-size={}",
            block.next_power_of_two()
        )));
    }
    if test.name == "fileio" {
        if options.text("file-test-mode").is_empty() {
            return Err(Failure::usage(format!(
                "--file-test-mode is missing; it is one of {}; for example \
                 --file-test-mode=rndrw",
                Mode::WORDS.join(", ")
            )));
        }
        extra(options)?;
    }
    Ok(())
}

/// `--file-extra-flags`.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn extra(options: &OptionValues) -> Result<Extra, Failure> {
    let mut extra = Extra::default();
    for word in options.list("file-extra-flags") {
        match word {
            "sync" => extra.sync = true,
            "dsync" => extra.dsync = true,
            "direct" => extra.direct = true,
            _ => {
                let words = ["sync", "dsync", "direct"];
                let hint = tidemark_core::did_you_mean(word, words);
                return Err(Failure::usage(format!(
                    "--file-extra-flags={word}: must be sync, dsync, direct{hint}; for example \
                     --file-extra-flags=direct"
                )));
            }
        }
    }
    Ok(extra)
}

/// The files that the options name, in the working directory.
pub fn layout(options: &OptionValues) -> Layout {
    Layout {
        folder: Path::new(".").into(),
        count: usize::try_from(options.uint("file-num")).unwrap_or(usize::MAX),
        total: options.uint("file-total-size"),
        block: options.uint("file-block-size"),
    }
}

fn plan(options: &OptionValues, spec: &RunSpec) -> Result<FilePlan, Failure> {
    Ok(FilePlan {
        mode: Mode::of(options.text("file-test-mode")).unwrap_or(Mode::RndRd),
        io: match options.text("file-io-mode") {
            "async" => IoMode::Async,
            "mmap" => IoMode::Mmap,
            _ => IoMode::Sync,
        },
        backlog: usize::try_from(options.uint("file-async-backlog")).unwrap_or(1),
        extra: extra(options)?,
        sync_every: options.uint("file-fsync-freq"),
        sync_all: options.flag("file-fsync-all"),
        sync_end: options.flag("file-fsync-end"),
        sync_mode: match options.text("file-fsync-mode") {
            "fdatasync" => SyncMode::Fdatasync,
            _ => SyncMode::Fsync,
        },
        merged: options.uint("file-merged-requests"),
        ratio: options.float("file-rw-ratio"),
        validate: options.flag("validate"),
        force: options.flag("force"),
        seed: spec.seed,
    })
}

/// What the threads of a test do.
///
/// # Errors
/// [`Failure`] when there is no memory, or files are not as they should be.
pub fn workers(
    test: &HostTestRow,
    options: &OptionValues,
    spec: &RunSpec,
) -> Result<HostTestThreads, Failure> {
    let count = spec.terminals;
    let number = |name: &str| usize::try_from(options.uint(name)).unwrap_or(usize::MAX);
    let (workers, kinds, counts) = match test.name {
        "memory" => {
            let spec = memory::Spec {
                block: number("memory-block-size"),
                operation: match options.text("memory-oper") {
                    "read" => Operation::Read,
                    "none" => Operation::None,
                    _ => Operation::Write,
                },
                random: options.text("memory-access-mode") == "rnd",
                global: options.text("memory-scope") == "global",
                huge: options.flag("memory-hugetlb"),
                seed: spec.seed,
            };
            let tests = memory::memory(count, spec).map_err(super::failure)?;
            (boxed(tests), memory::KINDS, None)
        }
        "fileio" => {
            let plan = plan(options, spec)?;
            let (tests, counts) =
                files::files(count, &layout(options), &plan).map_err(super::failure)?;
            (boxed(tests), files::KINDS, Some(counts))
        }
        "threads" => {
            let yields = options.uint("thread-yields");
            let tests = threads::threads(count, yields, number("thread-locks"));
            (boxed(tests), threads::KINDS, None)
        }
        "mutex" => {
            let (locks, loops) = (options.uint("mutex-locks"), options.uint("mutex-loops"));
            let tests = mutex::mutexes(count, number("mutex-num"), locks, loops, spec.seed);
            (boxed(tests), mutex::KINDS, None)
        }
        _ => {
            let one = cpu::Cpu::new(options.uint("cpu-max-prime"));
            (boxed(vec![one; count]), cpu::KINDS, None)
        }
    };
    Ok(HostTestThreads {
        workers,
        kinds,
        counts,
    })
}

/// Events after which a test ends; `None` for none.
pub fn events(test: &HostTestRow, options: &OptionValues, spec: &RunSpec) -> Option<u64> {
    let blocks = options.uint("memory-total-size") / options.uint("memory-block-size").max(1);
    match (test.name, spec.events) {
        ("memory", Some(events)) => Some(events.min(blocks.max(1))),
        ("memory", None) => Some(blocks.max(1)),
        (_, events) => events,
    }
}

/// The test as its output tells it.
pub fn told(test: &HostTestRow, options: &OptionValues) -> HostTest {
    let text = |name: &str| options.text(name).to_string();
    match test.name {
        "memory" => HostTest::Memory {
            block: options.uint("memory-block-size"),
            total: options.uint("memory-total-size"),
            operation: text("memory-oper"),
            scope: text("memory-scope"),
        },
        "fileio" => {
            let flags = options.list("file-extra-flags").into_iter();
            let merged = options.uint("file-merged-requests");
            let block = options.uint("file-block-size");
            HostTest::Files(FilesHeader {
                flags: flags.map(String::from).collect(),
                files: options.uint("file-num"),
                total: options.uint("file-total-size"),
                block,
                mode: text("file-test-mode"),
                events: options.uint("events"),
                ratio: options.float("file-rw-ratio"),
                merged: match text("file-test-mode").starts_with("seq") {
                    true => merged * block,
                    false => 0,
                },
                sync_every: options.uint("file-fsync-freq"),
                sync_all: options.flag("file-fsync-all"),
                sync_end: options.flag("file-fsync-end"),
                io: text("file-io-mode"),
                validate: options.flag("validate"),
            })
        }
        "threads" => HostTest::Threads,
        "mutex" => HostTest::Mutex,
        _ => HostTest::Cpu {
            max_prime: options.uint("cpu-max-prime"),
        },
    }
}
