//! The threads of a test of files.

use super::aio::AioQueue;
use super::buffer::Buffer;
use super::io::{IoMode, OpenFiles};
use super::ownership::Marker;
use super::prepare::{look, these_are_left};
use super::requests::{FileOperation, Requests};
use super::{FilePlan, Layout, Mode, validation};
use crate::random::Random;
use crate::{HostError, TestEvent, TestThread};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What was done beside the events that are counted.
#[derive(Debug, Default)]
pub struct FileCounts {
    /// Requests that read or wrote, and their bytes: merged ones differ.
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Files synced at the end.
    end_syncs: AtomicU64,
}

impl FileCounts {
    /// Mean bytes of a request.
    pub fn bytes_a_request(&self) -> f64 {
        let requests = self.requests.load(Ordering::Relaxed);
        self.bytes.load(Ordering::Relaxed) as f64 / requests.max(1) as f64
    }

    /// Files synced at the end.
    pub fn end_syncs(&self) -> u64 {
        self.end_syncs.load(Ordering::Relaxed)
    }
}

struct Shared {
    plan: FilePlan,
    block: usize,
    open: OpenFiles,
    /// Files that this sequential write has made.
    made: Vec<PathBuf>,
    requests: Mutex<Requests>,
    counts: Arc<FileCounts>,
    /// Threads that have not finished.
    working: AtomicUsize,
}

/// One thread of the test.
pub struct Files {
    shared: Arc<Shared>,
    buffer: Buffer,
    random: Random,
    queue: Option<AioQueue>,
}

/// The test's threads, and what they count.
///
/// # Errors
/// [`HostError::Missing`] and [`HostError::Size`] of files that are not as the layout says,
/// [`HostError::Foreign`] and [`HostError::Unproven`] of those that would be written and that Tidemark did
/// not make, or may not have made; [`HostError::Unfinished`] naming those that a sequential write made.
pub fn files(
    count: usize,
    layout: &Layout,
    plan: &FilePlan,
) -> Result<(Vec<Files>, Arc<FileCounts>), HostError> {
    layout.check()?;
    if plan.validate && plan.io == IoMode::Async {
        return Err(HostError::Options(
            "--validate does not go with --file-io-mode=async, whose blocks are not looked at; use \
             sync or mmap"
                .into(),
        ));
    }
    let mut made = Vec::new();
    let open = look_at(layout, plan, &mut made).and_then(|()| OpenFiles::new(layout, plan));
    let open = open.map_err(|cause| with_left(&made, cause))?;
    let counts = Arc::<FileCounts>::default();
    let shared = Arc::new(Shared {
        plan: plan.clone(),
        block: layout.block as usize,
        open,
        made,
        requests: Mutex::new(Requests::new(layout, plan)),
        counts: Arc::clone(&counts),
        working: AtomicUsize::new(count),
    });
    let largest = (layout.block * plan.merged.max(1)).min(layout.file_bytes().max(layout.block));
    let one = |thread: usize| {
        let queue = match plan.io {
            IoMode::Async => Some(queue(plan.backlog, largest as usize)?),
            _ => None,
        };
        Ok(Files {
            shared: Arc::clone(&shared),
            buffer: Buffer::new(largest as usize),
            random: Random::new(plan.seed, 1 + thread as u64),
            queue,
        })
    };
    let all = (0..count).map(one).collect::<Result<Vec<_>, HostError>>();
    let all = all.map_err(|cause| with_left(&shared.made, cause))?;
    Ok((all, counts))
}

fn queue(backlog: usize, largest: usize) -> Result<AioQueue, HostError> {
    AioQueue::new(backlog, largest).map_err(|error| HostError::System {
        what: format!(
            "--file-io-mode=async --file-async-backlog={backlog}: io_setup (the system's limit is \
             fs.aio-max-nr)"
        ),
        error,
    })
}

/// Looks whether the files are there, have their size, and may be written where they would be. Files
/// of a sequential write are made, or emptied if they are Tidemark's.
fn look_at(layout: &Layout, plan: &FilePlan, made: &mut Vec<PathBuf>) -> Result<(), HostError> {
    let mut marker = Marker::read(&layout.folder)?;
    let mut absent = Vec::new();
    for file in 0..layout.count {
        let path = layout.path(file);
        let Some(found) = look(&path)? else {
            match plan.mode {
                Mode::SeqWr => absent.push(file),
                _ => return Err(HostError::Missing { path }),
            }
            continue;
        };
        let may_be = found.is_file() && (plan.force || marker.owns(&path, &found));
        if !found.is_file() || plan.mode.writes() && !may_be {
            let instead = "a test that writes overwrites its files; make new ones with tidemark \
                           sysbench fileio prepare in an empty folder, or overwrite these with \
                           --force";
            return Err(marker.refusal(path, &found, instead.into()));
        }
        if plan.mode != Mode::SeqWr && found.len() < layout.file_bytes() {
            return Err(HostError::Size {
                path,
                found: found.len(),
                expected: layout.file_bytes(),
            });
        }
    }
    if plan.mode != Mode::SeqWr {
        return Ok(());
    }
    for file in 0..layout.count {
        if absent.contains(&file) {
            marker.create(layout, file)?;
            made.push(layout.path(file));
            continue;
        }
        let path = layout.path(file);
        let opened = super::io::options(super::Extra::default(), true).open(&path);
        let emptied = opened.and_then(|file| file.set_len(0));
        emptied.map_err(HostError::file("empty", &path))?;
    }
    Ok(())
}

/// An error, with the files that were made before it and stay.
fn with_left(made: &[PathBuf], cause: HostError) -> HostError {
    let made: Vec<&Path> = made.iter().map(PathBuf::as_path).collect();
    match made.is_empty() {
        true => cause,
        false => HostError::Unfinished {
            cause: Box::new(cause),
            left: these_are_left(&made),
        },
    }
}

impl TestThread for Files {
    fn event(&mut self, _cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        let done = self.request();
        done.map_err(|cause| with_left(&self.shared.made, cause))
    }

    fn finish(&mut self) -> Result<(), HostError> {
        let done = self.end();
        done.map_err(|cause| with_left(&self.shared.made, cause))
    }
}

impl Files {
    fn request(&mut self) -> Result<Option<TestEvent>, HostError> {
        let shared = Arc::clone(&self.shared);
        let request = {
            let mut requests = shared
                .requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            requests.next()
        };
        let (file, offset, length) = (request.file, request.offset, request.length as usize);
        if request.kind == FileOperation::Sync {
            shared.open.sync(file)?;
            return Ok(Some(TestEvent::of(FileOperation::Sync as usize)));
        }
        let writes = request.kind == FileOperation::Write;
        match &mut self.queue {
            Some(queue) => shared.open.submit(queue, file, offset, length, writes)?,
            None if writes => self.write(file, offset, length)?,
            None => self.read(file, offset, length)?,
        }
        let counts = &shared.counts;
        counts.requests.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(request.length, Ordering::Relaxed);
        let mut event = TestEvent::of(request.kind as usize);
        if writes && shared.plan.sync_all {
            let begun = Instant::now();
            shared.open.sync(file)?;
            event.inner = Some((FileOperation::Sync as usize, begun.elapsed()));
        }
        Ok(Some(event))
    }

    fn end(&mut self) -> Result<(), HostError> {
        if let Some(queue) = &mut self.queue {
            let drained = queue.drain();
            drained.map_err(|error| HostError::System {
                what: "requests under way at the end".into(),
                error,
            })?;
        }
        let (shared, plan) = (&self.shared, &self.shared.plan);
        let is_last = shared.working.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last && plan.sync_end && plan.mode.writes() && !plan.sync_all {
            for file in 0..shared.open.files.len() {
                shared.open.sync(file)?;
                shared.counts.end_syncs.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn write(&mut self, file: usize, offset: u64, length: usize) -> Result<(), HostError> {
        let shared = &*self.shared;
        let bytes = &mut self.buffer.bytes_mut()[..length];
        if shared.plan.validate {
            let mut at = offset;
            for block in bytes.chunks_mut(shared.block) {
                validation::fill(block, at, &mut self.random);
                at += block.len() as u64;
            }
        }
        shared.open.write(file, offset, bytes)
    }

    fn read(&mut self, file: usize, offset: u64, length: usize) -> Result<(), HostError> {
        let shared = &*self.shared;
        let bytes = &mut self.buffer.bytes_mut()[..length];
        shared.open.read(file, offset, bytes)?;
        if !shared.plan.validate {
            return Ok(());
        }
        let mut at = offset;
        for block in bytes.chunks(shared.block) {
            if let Some(how) = validation::difference(block, at) {
                return Err(HostError::Changed {
                    path: shared.open.paths[file].clone(),
                    offset: at,
                    how,
                });
            }
            at += block.len() as u64;
        }
        Ok(())
    }
}
