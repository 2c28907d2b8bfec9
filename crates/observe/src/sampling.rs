//! The threads that look at sources while a run goes on.

use crate::source::{Samples, SeriesSource};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::series::{Series, SeriesChunk};

/// So many looks are handed over at once: what a client that is killed loses of its series.
const LOOKS_AT_ONCE: u64 = 5;
/// So many looks make a stretch, which is handed over again while it grows.
const LOOKS_A_CHUNK: u64 = 300;
/// What the end of a run waits for a source that is looking.
const PATIENCE: Duration = Duration::from_secs(1);
/// Reading small files and deflating.
const STACK: usize = 256 << 10;

/// Takes what was seen; from several threads, one call of a source at a time.
pub type Sink = Arc<dyn Fn(SeriesChunk) + Send + Sync>;

/// Sources that are looked at, each by a thread of its own.
#[derive(Debug)]
pub struct Sampling {
    sources: Vec<Sampled>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct Sampled {
    name: String,
    stop: Sender<()>,
    ended: Receiver<Vec<String>>,
}

impl Sampling {
    /// Begins to look. The load begins now, which is `warmup` before the measurement.
    pub fn start(sources: Vec<Box<dyn SeriesSource>>, warmup: Duration, sink: &Sink) -> Self {
        let begun = Instant::now();
        let first_ms = -i64::try_from(warmup.as_millis()).unwrap_or(i64::MAX);
        let mut sampling = Self {
            sources: Vec::new(),
            notes: Vec::new(),
        };
        for source in sources {
            let name = source.name().to_string();
            let ((stop, stopped), (end, ended)) = (channel(), channel());
            let looking = Looking {
                samples: Samples::new(&name, source.every()),
                source,
                begun,
                first_ms,
                sink: Arc::clone(sink),
                chunk: 0,
                notes: Vec::new(),
            };
            let spawned = std::thread::Builder::new()
                .name(format!("sample-{name}"))
                .stack_size(STACK)
                .spawn(move || {
                    // Who started it may have given it up.
                    let _nobody = end.send(looking.until(&stopped));
                });
            match spawned {
                Ok(_) => sampling.sources.push(Sampled { name, stop, ended }),
                Err(error) => sampling.notes.push(note(&name, &error)),
            }
        }
        sampling
    }

    /// Looks a last time; what went wrong, a line each. A source that does not come to an end in time
    /// is left alone.
    pub fn end(self) -> Vec<String> {
        let (mut notes, mut ends) = (self.notes, Vec::new());
        for Sampled { name, stop, ended } in self.sources {
            drop(stop);
            ends.push((name, ended));
        }
        let until = Instant::now() + PATIENCE;
        for (name, ended) in ends {
            match ended.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(of_source) => notes.extend(of_source),
                Err(_) => notes.push(note(&name, &"its last look came to no end")),
            }
        }
        notes
    }
}

fn note(source: &str, why: &dyn std::fmt::Display) -> String {
    format!("series of {source}: {why}")
}

/// A thread's side.
struct Looking {
    source: Box<dyn SeriesSource>,
    samples: Samples,
    begun: Instant,
    first_ms: i64,
    sink: Sink,
    chunk: u32,
    notes: Vec<String>,
}

impl Looking {
    fn until(mut self, stopped: &Receiver<()>) -> Vec<String> {
        let every = self.source.every().max(Duration::from_millis(1));
        if let Err(why) = self.source.start() {
            return vec![note(self.source.name(), &why)];
        }
        self.look(None);
        let (mut looks, mut next) = (0_u64, 1_u32);
        loop {
            let due = self.begun + every * next;
            let wait = due.saturating_duration_since(Instant::now());
            let ends = stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            // A look tells of the step that it is nearest to the end of.
            let steps = (self.begun.elapsed() + every / 2).as_nanos() / every.as_nanos();
            let steps = u32::try_from(steps).unwrap_or(u32::MAX);
            let looks_now = steps >= next;
            if looks_now {
                let at = u128::from(steps - 1) * every.as_millis();
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                self.look(Some(self.first_ms.saturating_add(at)));
                looks += 1;
                next = steps.saturating_add(1);
            }
            let whole = looks >= LOOKS_A_CHUNK;
            if ends || whole {
                self.hand_over(self.samples.series());
            } else if looks_now && looks.is_multiple_of(LOOKS_AT_ONCE) {
                self.hand_over(self.samples.unfinished());
            }
            if ends {
                return self.notes;
            }
            if whole {
                self.samples.clear();
                self.chunk += 1;
                looks = 0;
            }
        }
    }

    fn look(&mut self, at_ms: Option<i64>) {
        self.samples.begin(at_ms);
        if let Err(why) = self.source.sample(&mut self.samples) {
            let said = note(self.source.name(), &why);
            // Once, however often.
            if !self.notes.contains(&said) && self.notes.len() < 5 {
                self.notes.push(said);
            }
        }
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
