//! Times in which nothing is answered.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tidemark_core::parse_duration;

/// A moment after the start, and how long something lasts from then: `2s:1s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultSpan {
    /// When it begins; for what repeats, how often.
    pub at: Duration,
    /// How long it lasts.
    pub length: Duration,
}

/// Why a span was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: use two times with a colon between them; for example 5s:500ms")]
pub struct SpanError(String);

impl FromStr for FaultSpan {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || SpanError(text.into());
        let (at, length) = text.split_once(':').ok_or_else(fail)?;
        let span = Self {
            at: parse_duration(at).map_err(|_| fail())?,
            length: parse_duration(length).map_err(|_| fail())?,
        };
        if span.length.is_zero() {
            return Err(fail());
        }
        Ok(span)
    }
}

impl fmt::Display for FaultSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{:?}", self.at, self.length)
    }
}

/// The end of the stall that `now` lies in, by the given spans and the one that repeats; all since
/// the start.
pub(crate) fn stalled_until(
    now: Duration,
    stalls: &[FaultSpan],
    every: Option<FaultSpan>,
) -> Option<Duration> {
    let listed = stalls
        .iter()
        .filter(|s| s.at <= now)
        .map(|s| s.at.saturating_add(s.length));
    let repeated = every.and_then(|s| {
        let times = now.as_nanos().checked_div(s.at.as_nanos())?;
        let begun = s.at.checked_mul(u32::try_from(times).ok()?)?;
        (times > 0).then_some(begun.saturating_add(s.length))
    });
    listed.chain(repeated).filter(|end| *end > now).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> FaultSpan {
        text.parse().unwrap()
    }

    #[test]
    fn a_stall_lasts_from_its_start_to_its_end() {
        let ms = Duration::from_millis;
        let stalls = [span("2s:1s"), span("2500ms:1s"), span("10s:100ms")];
        for (now, end) in [
            (1999, None),
            (2000, Some(3000)),
            (2600, Some(3500)),
            (3499, Some(3500)),
            (3500, None),
            (10_099, Some(10_100)),
        ] {
            assert_eq!(stalled_until(ms(now), &stalls, None), end.map(ms), "{now}");
        }
    }

    #[test]
    fn a_stall_that_repeats_does_not_begin_at_once() {
        let ms = Duration::from_millis;
        let every = Some(span("5s:500ms"));
        for (now, end) in [
            (100, None),
            (5000, Some(5500)),
            (5500, None),
            (15_499, Some(15_500)),
        ] {
            assert_eq!(stalled_until(ms(now), &[], every), end.map(ms), "{now}");
        }
    }

    #[test]
    fn a_wrong_span_is_told_with_a_right_one() {
        for text in ["", "1s", "1s:", "1s:0", "x:1s", "1s:1s:1s"] {
            let error = text.parse::<FaultSpan>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{text}: use two times")),
                "{error}"
            );
        }
        assert_eq!(span("2s:1s").to_string(), "2s:1s");
    }
}
