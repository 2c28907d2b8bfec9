//! A sample of every transaction, for those who ask: written by a thread of its own while the run
//! goes on.
//!
//! Each executor, or core, fills a chunk beside its counters, under the same lock, so that what is
//! sampled is what is counted. A full chunk is handed over without waiting: where the writer can't keep up,
//! chunks are dropped and their samples counted as lost, and no transaction waits for a disk.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use tidemark_workloads::{Done, Notes};

/// Samples handed over together: some 160 KiB.
const CHUNK: usize = 4096;
/// Chunks that may wait for the writer: with those being filled, what a slow disk costs in memory.
const WAITING: usize = 64;

/// One transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Its first statement, in microseconds since 1970-01-01 (UTC).
    pub start_us: u64,
    /// From there to its last reply, tries included, in nanoseconds.
    pub latency_ns: u64,
    /// The terminal that ran it, from 0.
    pub terminal: u32,
    /// Its type: an index into the workload's names.
    pub kind: u16,
    /// The run's number among those that share the log, as it was given.
    pub run: u16,
    /// From the moment it was due to its first statement, in microseconds; 0 where it was never due.
    pub wait_us: u32,
    /// Whether it was not begun, because it was too late: it has no latency then.
    pub skipped: bool,
    /// What the workload noted of it.
    pub notes: Notes,
}

/// What became of the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleReport {
    /// Samples written.
    pub written: u64,
    /// Samples that were not: the writer could not keep up, or failed.
    pub lost: u64,
    /// Why the writer failed.
    pub error: Option<String>,
}

/// What comes to the writer.
enum Message {
    Chunk(Vec<Sample>),
    End,
}

/// Takes the samples of one run or several, and writes them on a thread of its own.
pub struct SampleLog {
    chunks: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    failed: Arc<Mutex<Option<String>>>,
    written: JoinHandle<u64>,
}

impl SampleLog {
    /// Starts the thread. `write` is called with samples in the order of their chunks, which is not
    /// that in time, not even of one terminal, and once with none at the end, when it may flush; what
    /// it can't write is lost, and so is all that follows.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn start(
        write: impl FnMut(&[Sample]) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (chunks, incoming) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let failed = Arc::new(Mutex::new(None));
        let (lost_there, failed_there) = (Arc::clone(&lost), Arc::clone(&failed));
        let written = std::thread::Builder::new()
            .name("samples".into())
            .spawn(move || write_all(&incoming, write, &lost_there, &failed_there))?;
        Ok(Self {
            chunks,
            lost,
            failed,
            written,
        })
    }

    /// One executor's way in, for the run of this number.
    pub(crate) fn sampler(&self, run: u16, counts: bool) -> Sampler {
        Sampler {
            chunk: Vec::new(),
            counts,
            run,
            clock: (Instant::now(), since_1970()),
            chunks: self.chunks.clone(),
            lost: Arc::clone(&self.lost),
        }
    }

    /// Waits until everything is written. To be called when the runs have ended.
    pub fn finish(self) -> SampleReport {
        // Who still has a way in, as an executor that hangs, is not waited for.
        let _gone = self.chunks.send(Message::End);
        let written = self.written.join();
        let mut error = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut error = error.take();
        if written.is_err() {
            error.get_or_insert_with(|| "the writing thread panicked".into());
        }
        SampleReport {
            written: written.unwrap_or_default(),
            lost: self.lost.load(Ordering::Acquire),
            error,
        }
    }
}

fn since_1970() -> Duration {
    // A clock before 1970 is wrong anyway.
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

fn write_all(
    incoming: &Receiver<Message>,
    mut write: impl FnMut(&[Sample]) -> io::Result<()>,
    lost: &AtomicU64,
    failed: &Mutex<Option<String>>,
) -> u64 {
    let mut written = 0;
    let mut error = None;
    while let Ok(Message::Chunk(chunk)) = incoming.recv() {
        if error.is_none() {
            error = write(&chunk).err();
        }
        match error {
            None => written += chunk.len() as u64,
            Some(_) => {
                lost.fetch_add(chunk.len() as u64, Ordering::AcqRel);
            }
        }
    }
    if error.is_none() {
        error = write(&[]).err();
    }
    if let Some(error) = error {
        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
        *failed = Some(error.to_string());
    }
    written
}

/// Where one executor's samples go.
pub(crate) struct Sampler {
    chunk: Vec<Sample>,
    /// Whether transactions count: those of a warm-up don't.
    counts: bool,
    run: u16,
    /// The same moment on both clocks.
    clock: (Instant, Duration),
    chunks: SyncSender<Message>,
    lost: Arc<AtomicU64>,
}

impl Sampler {
    /// Takes one transaction, which was due so long before it began.
    #[inline]
    pub fn take(
        &mut self,
        done: Done,
        terminal: usize,
        begun: Instant,
        service: Duration,
        wait: Duration,
    ) {
        self.add(done, terminal, begun, service, wait, false);
    }

    /// Takes one that was not begun.
    pub fn skip(&mut self, terminal: usize, seen: Instant, wait: Duration) {
        self.add(Done::of(0), terminal, seen, Duration::ZERO, wait, true);
    }

    fn add(
        &mut self,
        done: Done,
        terminal: usize,
        begun: Instant,
        service: Duration,
        wait: Duration,
        skipped: bool,
    ) {
        if !self.counts {
            return;
        }
        if self.chunk.capacity() == 0 {
            self.chunk.reserve_exact(CHUNK);
        }
        let (here, there) = self.clock;
        let start = there + begun.saturating_duration_since(here);
        self.chunk.push(Sample {
            start_us: start.as_micros() as u64,
            latency_ns: u64::try_from(service.as_nanos()).unwrap_or(u64::MAX),
            terminal: terminal as u32,
            kind: done.kind as u16,
            run: self.run,
            wait_us: u32::try_from(wait.as_micros()).unwrap_or(u32::MAX),
            skipped,
            notes: done.notes,
        });
        if self.chunk.len() == CHUNK {
            self.hand_over();
        }
    }

    /// From now on transactions count.
    pub fn begin(&mut self) {
        self.counts = true;
    }

    fn hand_over(&mut self) {
        let full = Message::Chunk(std::mem::take(&mut self.chunk));
        if let Err(
            TrySendError::Full(Message::Chunk(mut chunk))
            | TrySendError::Disconnected(Message::Chunk(mut chunk)),
        ) = self.chunks.try_send(full)
        {
            self.lost.fetch_add(chunk.len() as u64, Ordering::AcqRel);
            chunk.clear();
            self.chunk = chunk;
        }
    }

    /// Hands over what is left, when the load is over and the writer may be waited for.
    pub fn flush(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        let samples = chunk.len() as u64;
        if samples > 0 && self.chunks.send(Message::Chunk(chunk)).is_err() {
            self.lost.fetch_add(samples, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn take(sampler: &mut Sampler, n: usize) {
        let begun = Instant::now();
        for terminal in 0..n {
            sampler.take(
                Done::of(1),
                terminal,
                begun,
                Duration::from_nanos(1500),
                Duration::ZERO,
            );
        }
    }

    #[test]
    fn what_is_taken_is_written_in_order_and_the_end_is_told() {
        let seen = Arc::new(Mutex::new((Vec::new(), 0)));
        let there = Arc::clone(&seen);
        let log = SampleLog::start(move |samples| {
            let mut seen = there.lock().unwrap();
            seen.0.extend_from_slice(samples);
            seen.1 += usize::from(samples.is_empty());
            Ok(())
        })
        .unwrap();
        let now = since_1970().as_micros() as u64;
        let mut sampler = log.sampler(3, true);
        take(&mut sampler, 2 * CHUNK + 5);
        sampler.flush();
        sampler.flush();
        drop(sampler);
        let report = log.finish();
        assert_eq!((report.written, report.lost), (2 * CHUNK as u64 + 5, 0));
        assert_eq!(report.error, None);
        let (samples, ends) = &*seen.lock().unwrap();
        assert_eq!((samples.len(), *ends), (2 * CHUNK + 5, 1));
        for (n, sample) in samples.iter().enumerate() {
            assert_eq!((sample.terminal, sample.kind, sample.run), (n as u32, 1, 3));
            assert_eq!(sample.latency_ns, 1500);
            assert!(sample.start_us >= now && sample.start_us < now + 60_000_000);
        }
    }

    #[test]
    fn a_warm_up_is_not_sampled() {
        let log = SampleLog::start(|_| Ok(())).unwrap();
        let mut sampler = log.sampler(0, false);
        take(&mut sampler, 10);
        sampler.begin();
        take(&mut sampler, 3);
        sampler.flush();
        drop(sampler);
        assert_eq!(log.finish().written, 3);
    }

    #[test]
    fn a_slow_disk_costs_samples_and_no_waiting() {
        let gate = Arc::new(Mutex::new(()));
        let shut = gate.lock().unwrap();
        let there = Arc::clone(&gate);
        let log = SampleLog::start(move |_| {
            let _open = there.lock().unwrap();
            Ok(())
        })
        .unwrap();
        let mut sampler = log.sampler(0, true);
        let taken = (WAITING + 20) * CHUNK;
        // Ends although nothing is written.
        take(&mut sampler, taken);
        drop(shut);
        sampler.flush();
        drop(sampler);
        let report = log.finish();
        assert_eq!(report.written + report.lost, taken as u64);
        assert!(report.lost >= 18 * CHUNK as u64, "{report:?}");
        assert!(report.written >= (WAITING * CHUNK) as u64, "{report:?}");
    }

    #[test]
    fn a_full_disk_is_told_and_what_is_lost_counted() {
        let mut left = 1;
        let log = SampleLog::start(move |_| {
            left -= 1;
            match left {
                0 => Ok(()),
                _ => Err(io::Error::other("no space")),
            }
        })
        .unwrap();
        let mut sampler = log.sampler(0, true);
        take(&mut sampler, 3 * CHUNK);
        sampler.flush();
        drop(sampler);
        let report = log.finish();
        assert_eq!(
            (report.written, report.lost),
            (CHUNK as u64, 2 * CHUNK as u64)
        );
        assert_eq!(report.error.as_deref(), Some("no space"));
    }
}
