//! Times in which a host could not be reached.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One outage; without an end while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub host: usize,
    pub start: Instant,
    pub end: Option<Instant>,
    /// What the first refused session was told.
    pub first_error: String,
}

/// What sessions tell of hosts that are gone.
///
/// An outage begins with a session that was lost and could not be opened again at once, and ends
/// with the next one that could: a session that the server merely closed is none.
#[derive(Debug, Default)]
pub(crate) struct Outages(Mutex<Vec<Span>>);

impl Outages {
    fn lock(&self) -> MutexGuard<'_, Vec<Span>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that was lost at `lost` could not be opened again.
    pub fn refused(&self, host: usize, lost: Instant, error: &str) {
        let mut spans = self.lock();
        match open(&mut spans, host) {
            Some(span) => span.start = span.start.min(lost),
            None => {
                // What was lost in an outage that is over, and is refused only now (the server has
                // no place yet), is that outage's rest.
                let last = spans.iter_mut().rev().find(|s| s.host == host);
                match last {
                    Some(span) if span.end.is_some_and(|end| lost <= end) => span.end = None,
                    _ => spans.push(Span {
                        host,
                        start: lost,
                        end: None,
                        first_error: error.into(),
                    }),
                }
            }
        }
    }

    /// A session was opened; whether that ended an outage.
    pub fn back(&self, host: usize, now: Instant) -> bool {
        let mut spans = self.lock();
        let span = open(&mut spans, host);
        span.is_some_and(|span| {
            span.end = Some(now);
            true
        })
    }

    /// Whether a host is out of reach.
    pub fn is_out(&self, host: usize) -> bool {
        open(&mut self.lock(), host).is_some()
    }

    /// All outages, in the order of their start.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = self.lock().clone();
        spans.sort_by_key(|s| s.start);
        spans
    }

    /// How long any host was out of reach between two moments.
    pub fn within(&self, from: Instant, to: Instant) -> Duration {
        let mut covered = Duration::ZERO;
        let mut reached = from;
        for span in self.spans() {
            let start = span.start.max(reached);
            let end = span.end.unwrap_or(to).min(to);
            if end > start {
                covered += end - start;
                reached = end;
            }
        }
        covered
    }
}

fn open(spans: &mut [Span], host: usize) -> Option<&mut Span> {
    spans.iter_mut().find(|s| s.host == host && s.end.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_from_the_first_loss_to_the_first_return() {
        let t = Instant::now();
        let ms = |n: u64| t + Duration::from_millis(n);
        let outages = Outages::default();
        assert!(!outages.back(0, ms(5)));
        assert_eq!(outages.spans(), []);
        outages.refused(0, ms(110), "refused");
        outages.refused(0, ms(100), "reset");
        outages.refused(1, ms(300), "refused");
        assert!(outages.is_out(0) && outages.back(0, ms(400)) && !outages.is_out(0));
        assert_eq!(outages.within(ms(0), ms(1000)), Duration::from_millis(900));
        outages.back(1, ms(500));
        let spans = outages.spans();
        assert_eq!((spans[0].start, spans[0].end), (ms(100), Some(ms(400))));
        assert_eq!(spans[0].first_error, "refused");
        // Two hosts at once are one time.
        assert_eq!(outages.within(ms(0), ms(1000)), Duration::from_millis(400));
        assert_eq!(outages.within(ms(200), ms(450)), Duration::from_millis(250));
        assert_eq!(outages.within(ms(600), ms(700)), Duration::ZERO);
    }

    #[test]
    fn a_late_refusal_prolongs_the_outage_it_belongs_to() {
        let t = Instant::now();
        let ms = |n: u64| t + Duration::from_millis(n);
        let outages = Outages::default();
        outages.refused(0, ms(100), "refused");
        outages.back(0, ms(200));
        outages.refused(0, ms(150), "too many connections");
        outages.back(0, ms(220));
        outages.refused(0, ms(900), "refused");
        let spans = outages.spans();
        assert_eq!(spans.len(), 2);
        assert_eq!((spans[0].start, spans[0].end), (ms(100), Some(ms(220))));
        assert_eq!((spans[1].start, spans[1].end), (ms(900), None));
    }
}
