//! The threads that sample sources while a run goes on.

use crate::source::{Samples, SeriesSource};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_core::record::{Gap, GapKind, LoadTotal, Observed, ServerStatement};
use tidemark_core::series::{Series, SeriesChunk};
use tidemark_runtime::forget_program_text;

/// So many samples are handed over at once: what a client that is killed loses of its series.
const SAMPLES_AT_ONCE: u64 = 5;
/// So many samples make a stretch, which is handed over again while it grows.
const SAMPLES_A_CHUNK: u64 = 300;
/// What the end of a run waits for the last samples of sources that were at rest.
const PATIENCE: Duration = Duration::from_secs(1);
/// A source that has been busy for so long has stalled, and is not waited for.
const STALLED: Duration = Duration::from_millis(400);
/// How often a server is asked whether all sessions that have ended were counted,
const COUNTED_EVERY: Duration = Duration::from_millis(50);
/// and how long after the load's end at the latest.
const COUNTED_WITHIN: Duration = Duration::from_millis(700);
/// Peeks take at most one part in so many of the time.
const PEEKING: u32 = 10;
/// Reading small files, deflating, and TLS.
const STACK: usize = 512 << 10;

/// Takes what was seen; from several threads, one call of a source at a time.
pub type SeriesSink = Arc<dyn Fn(SeriesChunk) + Send + Sync>;

/// Sources that are sampled, each by a thread of its own.
#[derive(Debug)]
pub struct Sampling {
    begun: Instant,
    /// When that is in the record's time.
    first_ms: i64,
    sources: Vec<Sampled>,
    failed: Vec<Observed>,
}

/// What became of the sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SamplingResult {
    /// What each could see.
    pub observed: Vec<Observed>,
    /// Statements by the server's account.
    pub statements: Vec<ServerStatement>,
    /// Counters of a server whose sessions report late, over the whole load.
    pub load_totals: Vec<LoadTotal>,
    /// What went wrong, a line each.
    pub notes: Vec<String>,
}

#[derive(Debug)]
struct Sampled {
    state: Arc<SourceState>,
    /// Whether it was told how its start went.
    is_told: bool,
    stop: Sender<()>,
    ended: Receiver<()>,
}

/// What is known of a source while its thread works.
#[derive(Debug)]
struct SourceState {
    observed: Mutex<Observed>,
    /// What the server said of the whole load at the end.
    account: Mutex<Account>,
    /// Milliseconds from the begin, plus one, at which it began what it is at; 0 while it is idle.
    busy_since: AtomicU64,
}

/// What a source says of the whole load at its end.
#[derive(Debug, Default)]
struct Account {
    statements: Vec<ServerStatement>,
    load_totals: Vec<LoadTotal>,
}

impl SourceState {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When it began what it is at, in milliseconds from the begin; `None` while it is idle.
    fn busy_since(&self) -> Option<u64> {
        self.busy_since.load(Ordering::Acquire).checked_sub(1)
    }

    fn change(&self, change: impl FnOnce(&mut Observed)) {
        change(&mut self.observed.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn observed(&self) -> Observed {
        let observed = self.observed.lock();
        observed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn failed(&self, kind: GapKind, why: &str, second: Option<i64>) {
        self.change(|observed| {
            let gap = Gap::new(kind, why).at(second);
            let is_same = |known: &Gap| (known.kind, &known.detail) == (gap.kind, &gap.detail);
            let failures = observed.gaps.iter().filter(|g| g.kind == GapKind::Failed);
            // Once, however often: when it began.
            if failures.count() < 5 && !observed.gaps.iter().any(is_same) {
                observed.gaps.push(gap);
            }
        });
    }
}

/// The second of the measurement that is so many milliseconds after the sampling began. `None` of the first
/// one: what was so from the begin has no time.
fn second_of(first_ms: i64, after_ms: u64) -> Option<i64> {
    let after_ms = i64::try_from(after_ms).ok().filter(|ms| *ms >= 1000)?;
    Some(first_ms.saturating_add(after_ms).div_euclid(1000))
}

impl Sampling {
    /// Begins to sample. The load begins now, which is `warmup` before the measurement.
    pub fn start(sources: Vec<Box<dyn SeriesSource>>, warmup: Duration, sink: &SeriesSink) -> Self {
        Self::start_every(sources, None, warmup, sink)
    }

    /// The same with a time from sample to sample that is not the sources' own.
    pub fn start_every(
        sources: Vec<Box<dyn SeriesSource>>,
        every: Option<Duration>,
        warmup: Duration,
        sink: &SeriesSink,
    ) -> Self {
        let begun = Instant::now();
        let first_ms = -i64::try_from(warmup.as_millis()).unwrap_or(i64::MAX);
        let mut sampling = Self {
            begun,
            first_ms,
            sources: Vec::new(),
            failed: Vec::new(),
        };
        for mut source in sources {
            let name = source.name().to_string();
            let ((stop, stopped), (end, ended)) = (channel(), channel());
            let state = Arc::new(SourceState {
                observed: Mutex::new(Observed {
                    source: name.clone(),
                    ..Observed::default()
                }),
                account: Mutex::default(),
                busy_since: AtomicU64::new(1),
            });
            let every = match every {
                Some(wanted) => source.at_pace(wanted),
                None => source.every(),
            };
            let every = every.max(Duration::from_millis(1));
            let mut samples = Samples::new(&name, every);
            samples.begin_at(first_ms);
            let looking = Looking {
                samples,
                source,
                every,
                state: Arc::clone(&state),
                begun,
                first_ms,
                sink: Arc::clone(sink),
                chunk: 0,
            };
            let spawned = std::thread::Builder::new()
                .name(format!("sample-{name}"))
                .stack_size(STACK)
                .spawn(move || {
                    looking.until(&stopped);
                    // Who started it may have given it up.
                    let _nobody = end.send(());
                });
            match spawned {
                Ok(_) => sampling.sources.push(Sampled {
                    state,
                    is_told: false,
                    stop,
                    ended,
                }),
                Err(error) => {
                    state.failed(GapKind::Failed, &error.to_string(), None);
                    sampling.failed.push(state.observed());
                }
            }
        }
        sampling
    }

    /// Sources that could not start, and why: those that were not told before.
    pub fn failed_to_start(&mut self) -> Vec<Observed> {
        let untold = self.sources.iter_mut().filter(|source| !source.is_told);
        let failed = untold.filter_map(|source| {
            let observed = source.state.observed();
            let has_failed = !observed.sampled && !observed.gaps.is_empty();
            source.is_told = has_failed || observed.sampled;
            has_failed.then_some(observed)
        });
        failed.collect()
    }

    /// Samples a last time. A source that does not come to an end at once is left behind: the end of a
    /// run waits for none that has stalled.
    pub fn end(self) -> SamplingResult {
        let Self {
            begun,
            first_ms,
            sources,
            failed,
        } = self;
        let mut waiting = Vec::new();
        for source in sources {
            let Sampled {
                state, stop, ended, ..
            } = source;
            let until = match state.busy_since() {
                None => Instant::now() + PATIENCE,
                Some(since) => begun + Duration::from_millis(since) + STALLED,
            };
            drop(stop);
            waiting.push((state, ended, until));
        }
        let last = Instant::now() + PATIENCE;
        let mut all = failed;
        let (mut statements, mut load_totals) = (Vec::new(), Vec::new());
        for (state, ended, mut until) in waiting {
            loop {
                let patience = until.saturating_duration_since(Instant::now());
                if ended.recv_timeout(patience).is_ok() {
                    break;
                }
                let since = state.busy_since();
                // It may have gone on to the next that it has to do.
                let stalls = since.map(|since| begun + Duration::from_millis(since) + STALLED);
                let later = stalls.unwrap_or(last).min(last);
                if later <= until {
                    state.failed(
                        GapKind::Stalled,
                        "",
                        since.and_then(|ms| second_of(first_ms, ms)),
                    );
                    break;
                }
                until = later;
            }
            all.push(state.observed());
            let account = std::mem::take(&mut *state.account());
            statements.extend(account.statements);
            load_totals.extend(account.load_totals);
        }
        let notes = all.iter().flat_map(notes_of).collect();
        SamplingResult {
            observed: all,
            statements,
            load_totals,
            notes,
        }
    }
}

/// What went wrong with a source. What it can't see by its rights or the server's settings is no failure.
fn notes_of(observed: &Observed) -> Vec<String> {
    let said = |gap: &Gap| {
        let why = match gap.kind {
            GapKind::Failed => gap.detail.as_str(),
            GapKind::Stalled => "it had not answered when the run ended",
            _ => return None,
        };
        let at = gap.second.map(|second| format!(" (second {second})"));
        let at = at.unwrap_or_default();
        Some(format!("source {}: {why}{at}", observed.source))
    };
    observed.gaps.iter().filter_map(said).collect()
}

/// A thread's side.
struct Looking {
    source: Box<dyn SeriesSource>,
    every: Duration,
    samples: Samples,
    state: Arc<SourceState>,
    begun: Instant,
    first_ms: i64,
    sink: SeriesSink,
    chunk: u32,
}

impl Looking {
    fn until(mut self, stopped: &Receiver<()>) {
        let every = self.every;
        let mut gaps = Vec::new();
        let started = self.source.start(&mut gaps);
        self.state.change(|observed| {
            observed.sampled = started.is_ok();
            gaps.extend(started.clone().err());
            observed.gaps.extend(gaps);
        });
        if started.is_ok() {
            self.sample(None);
        }
        // What opened the source's session runs no more.
        forget_program_text();
        if started.is_err() {
            return;
        }
        let peek_every = every / (self.source.peeks() + 1);
        let mut next_peek = Instant::now() + peek_every;
        let (mut taken, mut next) = (0_u64, 1_u32);
        loop {
            let due = self.begun + every * next;
            let peeks = self.source.peeks() > 0 && next_peek + peek_every / 2 < due;
            let until = if peeks { next_peek } else { due };
            let wait = until.saturating_duration_since(Instant::now());
            self.idle();
            let ends = stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            let ended = Instant::now();
            if peeks && !ends {
                next_peek = self.peek(peek_every);
                continue;
            }
            // A sample tells of the step that it is nearest to the end of.
            let steps = (self.begun.elapsed() + every / 2).as_nanos() / every.as_nanos();
            let steps = u32::try_from(steps).unwrap_or(u32::MAX);
            let samples_now = steps >= next;
            if samples_now {
                let at = u128::from(steps - 1) * every.as_millis();
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                self.sample(Some(self.first_ms.saturating_add(at)));
                taken += 1;
                next = steps.saturating_add(1);
                next_peek = next_peek.max(Instant::now() + peek_every / 2);
            }
            if ends {
                self.finish();
            }
            let whole = taken >= SAMPLES_A_CHUNK;
            if ends || whole {
                self.hand_over(self.samples.series());
            } else if samples_now && taken.is_multiple_of(SAMPLES_AT_ONCE) {
                self.hand_over(self.samples.unfinished());
            }
            if ends {
                self.count_statements();
                self.count_load(ended);
                return;
            }
            if whole {
                self.samples.clear();
                self.chunk += 1;
                taken = 0;
            }
        }
    }

    fn sample(&mut self, at_ms: Option<i64>) {
        self.busy();
        self.samples.begin(at_ms);
        let began = Instant::now();
        if let Err(why) = self.source.sample(&mut self.samples) {
            self.failed(&why);
            // The next may hang: what there is is handed over.
            if began.elapsed() > STALLED {
                self.hand_over(self.samples.unfinished());
            }
        }
    }

    fn finish(&mut self) {
        self.busy();
        if let Err(why) = self.source.finish(&mut self.samples) {
            self.failed(&why);
        }
    }

    /// What the server says of statements of the whole load.
    fn count_statements(&mut self) {
        self.busy();
        let mut gaps = Vec::new();
        let said = self.source.statements(&mut gaps);
        self.state.change(|observed| observed.gaps.extend(gaps));
        match said {
            Ok(said) => self.state.account().statements = said,
            Err(why) => self.failed(&why),
        }
    }

    /// What it counted over the whole load, which ended then.
    fn count_load(&mut self, ended: Instant) {
        let mut took = Duration::ZERO;
        loop {
            self.busy();
            let began = Instant::now();
            let is_last = began + took + COUNTED_EVERY > ended + COUNTED_WITHIN;
            match self.source.load_totals(is_last) {
                Ok(None) if !is_last => {}
                Ok(totals) => {
                    self.state.account().load_totals = totals.unwrap_or_default();
                    return;
                }
                Err(why) => return self.failed(&why),
            }
            took = began.elapsed();
            self.idle();
            std::thread::sleep(COUNTED_EVERY);
        }
    }

    /// Peeks; when to do it again.
    fn peek(&mut self, every: Duration) -> Instant {
        self.busy();
        let began = Instant::now();
        if let Err(why) = self.source.peek() {
            self.failed(&why);
        }
        let took = began.elapsed();
        (began + every).max(Instant::now() + took * (PEEKING - 1))
    }

    /// What it is at failed.
    fn failed(&self, why: &str) {
        let since = self.state.busy_since().unwrap_or_default();
        let second = second_of(self.first_ms, since);
        self.state.failed(GapKind::Failed, why, second);
    }

    fn busy(&self) {
        let ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.state.busy_since.store(ms + 1, Ordering::Release);
    }

    fn idle(&self) {
        self.state.busy_since.store(0, Ordering::Release);
    }

    fn hand_over(&self, series: Vec<Series>) {
        if !series.is_empty() {
            (self.sink)(SeriesChunk {
                source: self.source.name().into(),
                number: self.chunk,
                series,
            });
        }
    }
}
