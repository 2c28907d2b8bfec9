//! One look at each source, before there is a load: what can be seen.

use crate::source::{Samples, SeriesSource};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tidemark_core::record::{Gap, GapKind, Observed};
use tidemark_runtime::forget_program_text;

/// A session, its statements and small files.
const STACK: usize = 1 << 20;

/// Starts each source and takes one sample, side by side; what each can see, in their order. One that
/// is not done within `patience` is left behind as stalled.
pub fn look(sources: Vec<Box<dyn SeriesSource>>, patience: Duration) -> Vec<Observed> {
    let until = Instant::now() + patience;
    let mut waiting = Vec::new();
    for mut source in sources {
        let name = source.name().to_string();
        let (told, tells) = channel();
        let thread = std::thread::Builder::new().name(format!("look-{name}"));
        let spawned = thread.stack_size(STACK).spawn(move || {
            // Who waits may have gone.
            let _late = told.send(one(source.as_mut()));
        });
        waiting.push((name, spawned.map(|_| tells)));
    }
    let mut all = Vec::with_capacity(waiting.len());
    for (source, tells) in waiting {
        let seen = match tells {
            Ok(tells) => {
                let left = until.saturating_duration_since(Instant::now());
                tells.recv_timeout(left).unwrap_or_else(|late| match late {
                    RecvTimeoutError::Timeout => (false, vec![Gap::new(GapKind::Stalled, "")]),
                    RecvTimeoutError::Disconnected => {
                        (false, vec![Gap::new(GapKind::Failed, "its thread ended")])
                    }
                })
            }
            Err(error) => (false, vec![Gap::new(GapKind::Failed, error.to_string())]),
        };
        let (sampled, gaps) = seen;
        all.push(Observed {
            source,
            sampled,
            gaps,
        });
    }
    forget_program_text();
    all
}

/// Whether it can be sampled, and what it can't see.
fn one(source: &mut dyn SeriesSource) -> (bool, Vec<Gap>) {
    let mut gaps = Vec::new();
    if let Err(gap) = source.start(&mut gaps) {
        gaps.push(gap);
        return (false, gaps);
    }
    let mut samples = Samples::new(source.name(), source.every());
    samples.begin(None);
    if let Err(why) = source.sample(&mut samples) {
        gaps.push(Gap::new(GapKind::Failed, why));
    }
    (true, gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake(&'static str, Duration);

    impl SeriesSource for Fake {
        fn name(&self) -> &str {
            self.0
        }

        fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
            gaps.push(Gap::new(GapKind::SettingOff, "track_io_timing"));
            match self.0 {
                "refused" => Err(Gap::new(GapKind::Refused, "GRANT")),
                _ => Ok(()),
            }
        }

        fn sample(&mut self, _samples: &mut Samples) -> Result<(), String> {
            std::thread::sleep(self.1);
            match self.0 {
                "broken" => Err("no such table".into()),
                _ => Ok(()),
            }
        }
    }

    #[test]
    fn each_source_says_what_it_lacks_and_one_that_hangs_holds_up_nobody() {
        let source =
            |name, ms| -> Box<dyn SeriesSource> { Box::new(Fake(name, Duration::from_millis(ms))) };
        let sources = vec![
            source("well", 0),
            source("refused", 0),
            source("broken", 0),
            source("hangs", 60_000),
        ];
        let begun = Instant::now();
        let seen = look(sources, Duration::from_secs(2));
        assert!(begun.elapsed() < Duration::from_secs(30));
        let kinds = |at: usize| -> Vec<GapKind> { seen[at].gaps.iter().map(|g| g.kind).collect() };
        assert!(seen[0].sampled && kinds(0) == [GapKind::SettingOff]);
        assert!(!seen[1].sampled);
        assert_eq!(kinds(1), [GapKind::SettingOff, GapKind::Refused]);
        assert!(seen[2].sampled);
        assert_eq!(kinds(2), [GapKind::SettingOff, GapKind::Failed]);
        assert!(!seen[3].sampled && kinds(3) == [GapKind::Stalled]);
    }
}
