//! When a row was: its time in the words of the collector.

use super::mapping::ColumnPlace;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, ToSpan};

/// Where a row's time is, and how it is read.
#[derive(Debug, Clone)]
pub struct TimeColumn {
    /// Its columns; of several the texts are put together with a blank between.
    pub places: Vec<ColumnPlace>,
    /// How it is written.
    pub format: TimeFormat,
    /// Where its clock is, if the text does not say.
    pub zone: TimeZone,
    /// Which end of a row's time it is.
    pub stamps: Stamps,
}

/// Which end of its time a row is stamped with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stamps {
    /// Its begin.
    #[default]
    Begin,
    /// Its end, as sar, vmstat and iostat do: it began at the row before.
    End,
}

/// How a time is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970, with or without a fraction.
    Epoch,
    /// Milliseconds since 1970.
    EpochMs,
    /// `2026-11-25T14:03:01Z`, also without a zone.
    Rfc3339,
    /// As strptime takes it; a year or a date that it lacks is the run's.
    Pattern(String),
}

impl TimeFormat {
    /// The format of a mapping.
    ///
    /// # Errors
    /// What is right instead.
    pub fn of(text: &str) -> Result<Self, String> {
        match text {
            "epoch" => Ok(Self::Epoch),
            "epoch-ms" => Ok(Self::EpochMs),
            "rfc3339" => Ok(Self::Rfc3339),
            pattern if pattern.contains('%') => {
                // A pattern of nothing that is known is told at once, not at every row.
                strtime::format(pattern, &jiff::Zoned::now())
                    .map_err(|e| format!("{pattern:?} is no pattern: {e}"))?;
                Ok(Self::Pattern(pattern.into()))
            }
            other => Err(format!(
                "must be epoch, epoch-ms, rfc3339 or a pattern such as \"%Y-%m-%d %H:%M:%S\"{}",
                tidemark_core::did_you_mean(other, ["epoch", "epoch-ms", "rfc3339"])
            )),
        }
    }
}

/// A zone by its name or its distance from UTC.
///
/// # Errors
/// What is right instead.
pub fn zone(name: &str) -> Result<TimeZone, String> {
    if name == "local" {
        return Ok(TimeZone::system());
    }
    DateTimeParser::new().parse_time_zone(name).map_err(|e| {
        format!(
            "{e}; use a name such as \"Asia/Shanghai\", an offset such as \"+08:00\", UTC or local"
        )
    })
}

impl TimeColumn {
    /// Whether a text has no date, so that a day later it is the same.
    pub fn has_no_date(&self) -> bool {
        let TimeFormat::Pattern(pattern) = &self.format else {
            return false;
        };
        let time = strtime::format(pattern, &jiff::Zoned::now());
        let read = time.and_then(|text| strtime::parse(pattern, text));
        read.is_ok_and(|read| {
            read.timestamp().is_none()
                && (read.year(), read.month(), read.day()) == (None, None, None)
        })
    }

    /// Milliseconds since 1970; of a text without a date or a year, those nearest to `near`. A time that a
    /// clock showed twice, for it was put back, is the one that is not before the row `above`, or the one
    /// nearest to `near`. `None` where the text is no such time.
    pub fn moment_ms(&self, text: &str, near: Timestamp, above: Option<i64>) -> Option<i64> {
        let near = Near { run: near, above };
        let moment = match &self.format {
            TimeFormat::Epoch => return epoch(text, 1000.0),
            TimeFormat::EpochMs => return epoch(text, 1.0),
            TimeFormat::Rfc3339 => text
                .parse::<Timestamp>()
                .ok()
                .or_else(|| self.civil(text.parse().ok()?, near))?,
            TimeFormat::Pattern(pattern) => self.by_pattern(pattern, text, near)?,
        };
        Some(moment.as_millisecond())
    }

    fn civil(&self, time: DateTime, near: Near) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(time);
        if let AmbiguousOffset::Fold { before, after } = ambiguous.offset() {
            let both = [before, after].map(|offset| offset.to_timestamp(time).ok());
            return near.of_both(both[0]?, both[1]?);
        }
        ambiguous.compatible().ok()
    }

    fn by_pattern(&self, pattern: &str, text: &str, near: Near) -> Option<Timestamp> {
        let mut read = strtime::parse(pattern, text).ok()?;
        if read.timestamp().is_some() || read.offset().is_some() {
            return read.to_timestamp().ok();
        }
        if let Ok(time) = read.to_datetime() {
            return self.civil(time, near);
        }
        let today = near.run.to_zoned(self.zone.clone()).date();
        let days: Vec<Date> = match (read.year(), read.month(), read.day()) {
            (None, Some(month), Some(day)) => (-1..=1)
                .filter_map(|n| Date::new(today.year().checked_add(n)?, month, day).ok())
                .collect(),
            (None, None, None) => (-1_i64..=1)
                .filter_map(|n| today.checked_add(n.days()).ok())
                .collect(),
            _ => return None,
        };
        let moments = days.into_iter().filter_map(|day| {
            read.set_year(Some(day.year())).ok()?;
            read.set_month(Some(day.month())).ok()?;
            read.set_day(Some(day.day())).ok()?;
            self.civil(read.to_datetime().ok()?, near)
        });
        moments.min_by_key(|moment| near.distance(*moment))
    }
}

/// What tells apart what a time may be.
#[derive(Clone, Copy)]
struct Near {
    run: Timestamp,
    /// Of the row above, in milliseconds.
    above: Option<i64>,
}

/// A row so soon after the one above is of the same table's time.
const SOON_MS: i64 = 2 * 60 * 60 * 1000;

impl Near {
    fn distance(self, moment: Timestamp) -> u64 {
        moment.as_millisecond().abs_diff(self.run.as_millisecond())
    }

    /// Of the two times of a clock that was put back.
    fn of_both(self, before: Timestamp, after: Timestamp) -> Option<Timestamp> {
        let follows = |moment: &Timestamp| {
            let since = self.above.map(|above| moment.as_millisecond() - above);
            since.is_some_and(|ms| (0..SOON_MS).contains(&ms))
        };
        let both = [before, after];
        let next = both.into_iter().find(follows);
        next.or_else(|| both.into_iter().min_by_key(|moment| self.distance(*moment)))
    }
}

fn epoch(text: &str, ms: f64) -> Option<i64> {
    let value: f64 = text.parse().ok()?;
    let at = value * ms;
    // Some three thousand years.
    (at.is_finite() && at.abs() < 1e14).then(|| at.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(format: &str, at: &str) -> TimeColumn {
        TimeColumn {
            places: Vec::new(),
            format: TimeFormat::of(format).unwrap(),
            zone: zone(at).unwrap(),
            stamps: Stamps::Begin,
        }
    }

    #[test]
    fn times_are_read_in_the_words_of_collectors() {
        let near: Timestamp = "2026-11-25T06:03:00Z".parse().unwrap();
        let moment = |format: &str, at: &str, text: &str| {
            let ms = column(format, at).moment_ms(text, near, None)?;
            Some(Timestamp::from_millisecond(ms).unwrap().to_string())
        };
        let is = |format: &str, at: &str, text: &str, right: &str| {
            assert_eq!(moment(format, at, text).as_deref(), Some(right), "{text}");
        };
        is("epoch", "UTC", "1795586581.5", "2026-11-25T06:03:01.5Z");
        is("epoch-ms", "UTC", "1795586581500", "2026-11-25T06:03:01.5Z");
        is(
            "rfc3339",
            "UTC",
            "2026-11-25T14:03:01+08:00",
            "2026-11-25T06:03:01Z",
        );
        is(
            "rfc3339",
            "+08:00",
            "2026-11-25T14:03:01",
            "2026-11-25T06:03:01Z",
        );
        is(
            "%Y-%m-%d %H:%M:%S",
            "+08:00",
            "2026-11-25 14:03:01",
            "2026-11-25T06:03:01Z",
        );
        // dstat's has no year, sar's no date.
        is(
            "%d-%m %H:%M:%S",
            "UTC",
            "25-11 06:03:01",
            "2026-11-25T06:03:01Z",
        );
        is("%H:%M:%S", "+08:00", "14:03:01", "2026-11-25T06:03:01Z");
        for (format, text) in [
            ("epoch", "NaN"),
            ("epoch", "1e300"),
            ("epoch", ""),
            ("rfc3339", "yesterday"),
            ("%H:%M:%S", "25:00:00"),
            ("%d-%m %H:%M:%S", "31-02 06:03:01"),
            ("%Y %H:%M", "2026 06:03"),
        ] {
            assert_eq!(moment(format, "UTC", text), None, "{format} {text}");
        }
        // Around the turn of a year and of a day it is the nearest.
        let near: Timestamp = "2027-01-01T00:00:10Z".parse().unwrap();
        let ms = column("%d-%m %H:%M:%S", "UTC").moment_ms("31-12 23:59:59", near, None);
        let before: Timestamp = "2026-12-31T23:59:59Z".parse().unwrap();
        assert_eq!(ms, Some(before.as_millisecond()));
        let ms = column("%H:%M:%S", "UTC").moment_ms("23:59:59", near, None);
        assert_eq!(ms, Some(before.as_millisecond()));
    }

    #[test]
    fn an_hour_that_a_clock_showed_twice_is_the_runs() {
        // Berlin's clocks went from 03:00 (+02:00) back to 02:00 (+01:00) at 01:00 UTC.
        let moment = |near: &str, above: Option<&str>| {
            let above = above.map(|at| at.parse::<Timestamp>().unwrap().as_millisecond());
            let column = column("%Y-%m-%d %H:%M:%S", "Europe/Berlin");
            let ms = column.moment_ms("2026-10-25 02:30:00", near.parse().unwrap(), above);
            Timestamp::from_millisecond(ms.unwrap())
                .unwrap()
                .to_string()
        };
        assert_eq!(moment("2026-10-25T00:20:00Z", None), "2026-10-25T00:30:00Z");
        assert_eq!(moment("2026-10-25T01:45:00Z", None), "2026-10-25T01:30:00Z");
        // A run over both: what the row above was tells.
        let run = "2026-10-25T01:00:00Z";
        assert_eq!(
            moment(run, Some("2026-10-25T00:29:59Z")),
            "2026-10-25T00:30:00Z"
        );
        assert_eq!(
            moment(run, Some("2026-10-25T01:29:59Z")),
            "2026-10-25T01:30:00Z"
        );
    }

    #[test]
    fn who_has_no_date_is_known_by_the_format() {
        let has_none = |format: &str| column(format, "UTC").has_no_date();
        assert!(has_none("%H:%M:%S") && has_none("%I:%M:%S %p"));
        assert!(!has_none("%d-%m %H:%M:%S") && !has_none("epoch") && !has_none("%s"));
        assert!(!has_none("%Y-%m-%d %H:%M:%S"));
    }

    #[test]
    fn what_is_no_format_and_no_zone_is_told_with_what_is() {
        let wrong = TimeFormat::of("epcoh").unwrap_err();
        assert!(wrong.contains("did you mean epoch?"), "{wrong}");
        assert!(TimeFormat::of("%!").is_err());
        assert!(zone("Mars/Olympus").unwrap_err().contains("Asia/Shanghai"));
    }
}
