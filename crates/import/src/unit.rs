//! Units of latencies whose source states none.

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    /// All, the smallest first.
    pub const ALL: [Self; 4] = [Self::Ns, Self::Us, Self::Ms, Self::S];

    /// As it is written: `us`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "s",
        }
    }

    /// Nanoseconds of one.
    pub(crate) fn ns(self) -> u64 {
        match self {
            Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
            Self::S => 1_000_000_000,
        }
    }

    /// Milliseconds of one.
    pub(crate) fn ms(self) -> f64 {
        match self {
            Self::Ns => 1e-6,
            Self::Us => 1e-3,
            Self::Ms => 1.0,
            Self::S => 1e3,
        }
    }

    /// The unit that a remark names as a word of its own: `Values are in microseconds`, `unit: ns`.
    pub(crate) fn in_words(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        let mut own = lower.split(|c: char| !c.is_alphabetic());
        let names: [(&[&str], Self); 4] = [
            (
                &["ns", "nanos", "nanosecond", "nanoseconds", "纳秒"],
                Self::Ns,
            ),
            (
                &[
                    "us",
                    "µs",
                    "μs",
                    "usec",
                    "micros",
                    "microsecond",
                    "microseconds",
                    "微秒",
                ],
                Self::Us,
            ),
            (
                &[
                    "ms",
                    "msec",
                    "millis",
                    "millisecond",
                    "milliseconds",
                    "毫秒",
                ],
                Self::Ms,
            ),
            // A log's own times are in seconds.
            (&[], Self::S),
        ];
        own.find_map(|word| {
            let of = names.iter().find(|(words, _)| words.contains(&word));
            of.map(|(_, unit)| *unit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn a_unit_is_a_word_of_its_own() {
        for (text, unit) in [
            ("#[Values are in microseconds]", Some(Unit::Us)),
            ("# unit: ns", Some(Unit::Ns)),
            ("#[Logged with jHiccup version 2.0.10]", None),
            ("#[BaseTime: 1441812279.474 (seconds since epoch)]", None),
            ("单位：微秒", Some(Unit::Us)),
        ] {
            assert_eq!(Unit::in_words(text), unit, "{text}");
        }
    }
}
