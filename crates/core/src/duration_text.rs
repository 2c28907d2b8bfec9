//! Times in JSON as users write them: `10s`, `250us`, `1.5ms`.

use crate::parse_duration;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use std::time::Duration;

/// Writes the shortest text that is read as the same time, to the nanosecond.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&written(*time))
}

/// Reads a time.
///
/// # Errors
/// What is no time, or longer than a year.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(D::Error::custom)
}

/// A time as an option takes it: exact, in the largest unit that leaves no fraction.
pub fn written(time: Duration) -> String {
    let nanos = time.as_nanos();
    if nanos == 0 {
        return "0".into();
    }
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    match units.iter().find(|(_, unit)| nanos.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{name}", nanos / unit),
        None => format!("{nanos}ns"),
    }
}

/// Times that may be absent.
pub mod option {
    use super::{Deserialize, Deserializer, Duration, Error, Serializer, parse_duration, written};

    /// As [`super::serialize`], or `null`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_some(&written(*time)),
            None => to.serialize_none(),
        }
    }

    /// As [`super::deserialize`], or `null`.
    ///
    /// # Errors
    /// As there.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let time = text.map(|text| parse_duration(&text).map_err(D::Error::custom));
        time.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_written_as_users_write_them() {
        for (nanos, text) in [
            (0, "0"),
            (10_000_000_000, "10s"),
            (1_500_000_000, "1500ms"),
            (250_000, "250us"),
            (7, "7ns"),
        ] {
            assert_eq!(written(Duration::from_nanos(nanos)), text);
        }
    }

    proptest! {
        /// A job that is written and read again is the same job.
        #[test]
        fn what_is_written_is_read_as_the_same_time(nanos in 0u64..31_536_000_000_000_000) {
            let time = Duration::from_nanos(nanos);
            prop_assert_eq!(parse_duration(&written(time)), Ok(time));
        }
    }
}
