//! One table of options feeds the command line, configuration files, help, docs and validation.

mod values;

pub use values::{OptionValues, Source};

use crate::pacing::parse_duration;
use crate::{Objective, Observe, Rates, ThinkTime, did_you_mean};
use std::fmt;
use std::time::Duration;

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptionKind {
    /// `on`/`off`, `true`/`false`, `yes`/`no`, `1`/`0`; alone it means `on`.
    Bool,
    /// A whole number between two bounds (inclusive); `K`, `M`, `G` multiply by powers of 1024,
    /// as sysbench reads them.
    Int {
        /// Smallest allowed value.
        min: i64,
        /// Largest allowed value.
        max: i64,
    },
    /// A decimal number between two bounds (inclusive).
    Float {
        /// Smallest allowed value.
        min: f64,
        /// Largest allowed value.
        max: f64,
    },
    /// A time between two bounds (inclusive): `250us`, `20ms`, `1.5s`, `10m`; a bare number is
    /// seconds.
    Time {
        /// Shortest allowed.
        min: Duration,
        /// Longest allowed.
        max: Duration,
    },
    /// A pause between two transactions: a time, or `exp:` and a mean.
    ThinkTime,
    /// Arrivals a second: one rate, a range in steps, or a list.
    Rates,
    /// What must be kept, as `p99 < 20ms`.
    Objective,
    /// Sources of observation: `auto`, `off` or a list.
    Observe,
    /// URLs of HTTP servers, separated by commas.
    Urls,
    /// One of the listed words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Any text; never recorded or printed.
    Password,
    /// Comma-separated words.
    List,
}

/// One option: its name, values, default and help, in one place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionSpec {
    /// Kebab-case name without dashes (`table-size`). Underscores are accepted for dashes.
    pub name: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// Default, written as a user would write it; empty for none.
    pub default: &'static str,
    /// One line for `--help`.
    pub help: &'static str,
}

/// A row of an option table.
pub const fn option(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    help: &'static str,
) -> OptionSpec {
    OptionSpec {
        name,
        kind,
        default,
        help,
    }
}

impl OptionSpec {
    /// Checks and normalises one value: sizes are expanded, booleans become `on`/`off`.
    ///
    /// # Errors
    /// [`OptionError::Value`] with the flag, the value, what is allowed and a right example.
    pub fn parse(&self, value: &str) -> Result<String, OptionError> {
        let wrong = |allowed: String, example: String| OptionError::Value {
            name: self.name.into(),
            value: value.into(),
            allowed,
            example: format!("--{}={example}", self.name),
        };
        let example = |fallback: &str| {
            if self.default.is_empty() {
                fallback.to_string()
            } else {
                self.default.to_string()
            }
        };
        match self.kind {
            OptionKind::Bool => match value.to_ascii_lowercase().as_str() {
                "on" | "true" | "yes" | "1" | "" => Ok("on".into()),
                "off" | "false" | "no" | "0" => Ok("off".into()),
                _ => Err(wrong("on or off".into(), "on".into())),
            },
            OptionKind::Int { min, max } => parse_size(value)
                .filter(|n| (min..=max).contains(n))
                .map(|n| n.to_string())
                .ok_or_else(|| {
                    let fits = |d: &str| parse_size(d).is_some_and(|n| (min..=max).contains(&n));
                    let shown = if fits(self.default) {
                        example("1")
                    } else {
                        min.to_string()
                    };
                    wrong(range_words(min, max), shown)
                }),
            OptionKind::Float { min, max } => value
                .parse::<f64>()
                .ok()
                .filter(|n| (min..=max).contains(n))
                .map(|_| value.to_string())
                .ok_or_else(|| {
                    wrong(
                        format!("a number from {min} to {max}"),
                        example(&min.to_string()),
                    )
                }),
            OptionKind::Time { min, max } => parse_duration(value)
                .ok()
                .filter(|t| (min..=max).contains(t))
                .map(|_| value.trim().to_string())
                .ok_or_else(|| {
                    let fits = |t: &&str| {
                        parse_duration(t).is_ok_and(|t| !t.is_zero() && (min..=max).contains(&t))
                    };
                    let least = format!("{min:?}");
                    let shown = [self.default, "20ms", &least].into_iter().find(fits);
                    wrong(
                        format!(
                            "a time from {} to {max:?}, with us, ms, s, m or h (a bare number is \
                             seconds)",
                            if min.is_zero() {
                                "0".into()
                            } else {
                                format!("{min:?}")
                            }
                        ),
                        shown.unwrap_or("0").into(),
                    )
                }),
            OptionKind::ThinkTime => match value.parse::<ThinkTime>() {
                Ok(_) => Ok(value.into()),
                Err(_) => Err(wrong(
                    "a time, or exp: and the mean of an exponential distribution".into(),
                    "exp:12s".into(),
                )),
            },
            OptionKind::Rates => match value.parse::<Rates>() {
                Ok(_) => Ok(value.into()),
                Err(error) => Err(wrong(
                    format!("{} ({error})", Rates::ALLOWED),
                    "1000..20000:1000".into(),
                )),
            },
            OptionKind::Objective if value.is_empty() => Ok(String::new()),
            OptionKind::Objective => match value.parse::<Objective>() {
                Ok(objective) => Ok(objective.to_string()),
                Err(error) => Err(OptionError::Malformed {
                    name: self.name.into(),
                    error: error.to_string(),
                }),
            },
            OptionKind::Observe => match value.parse::<Observe>() {
                Ok(observe) => Ok(observe.to_string()),
                Err(error) => Err(OptionError::Malformed {
                    name: self.name.into(),
                    error: error.to_string(),
                }),
            },
            OptionKind::Urls => {
                let is_url = |url: &&str| url.starts_with("http://") || url.starts_with("https://");
                let urls = value.split(',').map(str::trim);
                let urls: Vec<&str> = urls.filter(|url| !url.is_empty()).collect();
                // One with an account is not repeated here, where its password would be seen.
                match value.contains('@') || urls.iter().all(is_url) {
                    true => Ok(urls.join(",")),
                    false => Err(wrong(
                        "a URL that begins with http:// or https://".into(),
                        "http://db1:9100/metrics".into(),
                    )),
                }
            }
            OptionKind::Choice(words) => {
                if words.contains(&value) {
                    Ok(value.into())
                } else {
                    let hint = did_you_mean(value, words.iter().copied());
                    let allowed = words.join(", ") + &hint;
                    Err(wrong(
                        allowed,
                        example(words.first().copied().unwrap_or("")),
                    ))
                }
            }
            OptionKind::Text | OptionKind::Password | OptionKind::List => Ok(value.into()),
        }
    }
}

fn range_words(min: i64, max: i64) -> String {
    match (min, max) {
        (i64::MIN, i64::MAX) => "a whole number".into(),
        (min, i64::MAX) => format!("a whole number, {min} or more"),
        (min, max) => format!("a whole number from {min} to {max}"),
    }
}

fn parse_size(value: &str) -> Option<i64> {
    let value = value.trim();
    let (digits, factor) = match value.chars().last()? {
        'k' | 'K' => (&value[..value.len() - 1], 1i64 << 10),
        'm' | 'M' => (&value[..value.len() - 1], 1i64 << 20),
        'g' | 'G' => (&value[..value.len() - 1], 1i64 << 30),
        't' | 'T' => (&value[..value.len() - 1], 1i64 << 40),
        _ => (value, 1),
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}

/// Why an option was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such option here.
    #[error("unknown option --{name}{}", hint(.nearest))]
    Unknown {
        /// As given.
        name: String,
        /// The nearest known option.
        nearest: Option<String>,
    },
    /// The value is not one the option takes.
    #[error("--{name}={value}: must be {allowed}; for example {example}")]
    Value {
        /// The option.
        name: String,
        /// The value given.
        value: String,
        /// What would be taken.
        allowed: String,
        /// A right example.
        example: String,
    },
    /// The value has a grammar of its own, whose error says what is allowed.
    #[error("--{name}={error}")]
    Malformed {
        /// The option.
        name: String,
        /// The value and what is wrong with it.
        error: String,
    },
    /// Options that contradict each other.
    #[error("{0}")]
    Conflict(String),
}

fn hint(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|n| format!("; did you mean --{n}?"))
        .unwrap_or_default()
}

impl fmt::Display for OptionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self.kind {
            OptionKind::Bool => "[=on|off]".to_string(),
            OptionKind::Int { .. } => "=N".into(),
            OptionKind::Float { .. } => "=N.N".into(),
            OptionKind::Time { .. } => "=TIME".into(),
            OptionKind::ThinkTime => "=[exp:]TIME".into(),
            OptionKind::Rates => "=N|FROM..TO:STEP|LIST".into(),
            OptionKind::Objective => "=OBJECTIVE".into(),
            OptionKind::Observe => "=auto|off|LIST".into(),
            OptionKind::Choice(words) => format!("={{{}}}", words.join(",")),
            OptionKind::Text | OptionKind::Password | OptionKind::Urls => "=STRING".into(),
            OptionKind::List => "=[LIST,...]".into(),
        };
        write!(f, "--{}{value}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[OptionSpec] = &[
        OptionSpec {
            name: "table-size",
            kind: OptionKind::Int {
                min: 1,
                max: i64::MAX,
            },
            default: "10000",
            help: "Rows per table",
        },
        OptionSpec {
            name: "skip-trx",
            kind: OptionKind::Bool,
            default: "off",
            help: "",
        },
        OptionSpec {
            name: "pw",
            kind: OptionKind::Password,
            default: "",
            help: "",
        },
        OptionSpec {
            name: "inject-rtt",
            kind: OptionKind::Time {
                min: Duration::ZERO,
                max: Duration::from_secs(60),
            },
            default: "0",
            help: "",
        },
        OptionSpec {
            name: "think-time",
            kind: OptionKind::ThinkTime,
            default: "0",
            help: "",
        },
        OptionSpec {
            name: "rate",
            kind: OptionKind::Rates,
            default: "0",
            help: "",
        },
        OptionSpec {
            name: "find-max",
            kind: OptionKind::Objective,
            default: "",
            help: "",
        },
        OptionSpec {
            name: "rand-type",
            kind: OptionKind::Choice(&["uniform", "zipfian"]),
            default: "uniform",
            help: "",
        },
    ];

    #[test]
    fn sizes_and_underscores_are_read_as_sysbench_does() {
        let mut v = OptionValues::defaults([TABLE]);
        v.set("table_size", "2K", Source::CommandLine).unwrap();
        assert_eq!(v.uint("table-size"), 2048);
        assert_eq!(v.source("table-size"), Source::CommandLine);
    }

    #[test]
    fn a_bad_value_names_flag_value_range_and_example() {
        let mut v = OptionValues::defaults([TABLE]);
        let e = v
            .set("table-size", "abc", Source::CommandLine)
            .unwrap_err()
            .to_string();
        for part in ["--table-size=abc", "1 or more", "--table-size=10000"] {
            assert!(e.contains(part), "{e}");
        }
        let e = v
            .set("rand-type", "zipf", Source::CommandLine)
            .unwrap_err()
            .to_string();
        assert!(e.contains("did you mean zipfian"), "{e}");
    }

    #[test]
    fn times_rates_and_objectives_are_checked_when_they_are_set() {
        let mut v = OptionValues::defaults([TABLE]);
        let mut set = |name: &str, value: &str| v.set(name, value, Source::CommandLine);
        for (name, value, said) in [
            (
                "inject-rtt",
                "20 parsecs",
                "a time from 0 to 60s, with us, ms",
            ),
            ("inject-rtt", "2m", "for example --inject-rtt=20ms"),
            ("think-time", "gauss:1s", "for example --think-time=exp:12s"),
            ("rate", "fast", "from 0.0001 to 1000000 or 0, from..to:step"),
            ("rate", "1..2:0", "a step must be above 0"),
            ("find-max", "p99", "--find-max=p99: \"p99\" has no <"),
        ] {
            let e = set(name, value).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
            assert!(e.contains(&format!("--{name}={value}")), "{e}");
        }
        set("inject-rtt", "20ms").unwrap();
        set("rate", "1000..3000:1000").unwrap();
        set("find-max", "p99<20ms").unwrap();
        assert_eq!(v.time("inject-rtt"), Duration::from_millis(20));
        assert_eq!(v.time("think-time"), Duration::ZERO);
        assert_eq!(v.text("find-max"), "p99 < 20ms");
    }

    #[test]
    fn an_unknown_option_names_the_nearest() {
        let mut v = OptionValues::defaults([TABLE]);
        let e = v
            .set("tabel-size", "1", Source::CommandLine)
            .unwrap_err()
            .to_string();
        assert_eq!(e, "unknown option --tabel-size; did you mean --table-size?");
    }

    #[test]
    fn passwords_are_not_shown() {
        let mut v = OptionValues::defaults([TABLE]);
        v.set("pw", "geheim", Source::CommandLine).unwrap();
        assert!(v.shown().all(|(_, value, _)| value != "geheim"));
    }
}
