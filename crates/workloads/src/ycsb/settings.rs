//! The properties as set, checked.

use super::lengths::{Histogram, Lengths};
use tidemark_core::{OptionError, OptionValues};
use tidemark_files::{LONGEST_CONFIGURATION, read_text};

/// Longest key: the column is a VARCHAR(64).
const LONGEST_KEY: usize = 64;
/// Digits of the largest hash.
const HASH_DIGITS: usize = 19;
/// Longest table name that every engine takes.
const LONGEST_NAME: usize = 63;

/// Which records are chosen how often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RequestDistribution {
    /// All of those loaded alike.
    Uniform,
    /// Some far more often, scattered over the table.
    Zipfian,
    /// The newest most often.
    Latest,
    /// One after the other.
    Sequential,
    /// A share of the records by a share of the operations.
    Hotspot {
        /// Share of the records.
        records: f64,
        /// Share of the operations.
        operations: f64,
    },
    /// The newest most often, by an exponential distribution of their age.
    Exponential {
        /// Percent of the operations …
        percentile: f64,
        /// … that choose among this share of the records.
        records: f64,
    },
}

/// YCSB's properties as set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Name of the table.
    pub table: String,
    /// Records there are before a run inserts more.
    pub record_count: u64,
    /// Number of the first record that is loaded or chosen.
    pub insert_start: u64,
    /// How many are loaded, or chosen where the distribution is of a fixed range.
    pub insert_count: u64,
    /// Records that a run is expected to insert at most, for the range of zipfian choices.
    pub(super) expected_inserts: u64,
    /// Fields of a record.
    pub field_count: usize,
    /// Their greatest length.
    pub field_length: u64,
    pub(super) field_lengths: Lengths,
    pub(super) read_all: bool,
    pub(super) write_all: bool,
    /// Whether values follow from the key and are verified.
    pub integrity: bool,
    /// Shares of READ, UPDATE, INSERT, SCAN and READ_MODIFY_WRITE, in any unit.
    pub(super) proportions: [f64; 5],
    pub(super) request: RequestDistribution,
    pub(super) scan_lengths: Lengths,
    pub(super) ordered: bool,
    pub(super) zero_padding: usize,
    pub(super) key_prefix: String,
    pub(super) force_index: bool,
    pub(super) cluster_index: bool,
    pub(super) disjoint_keys: bool,
}

impl Settings {
    /// Checks the properties and those that depend on each other.
    ///
    /// # Errors
    /// [`OptionError`] with the property, its value, what is allowed and an example.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let proportions = [
            "readproportion",
            "updateproportion",
            "insertproportion",
            "scanproportion",
            "readmodifywriteproportion",
        ]
        .map(|name| values.float(name));
        if proportions.iter().sum::<f64>() <= 0.0 {
            return conflict(
                "readproportion, updateproportion, insertproportion, scanproportion and \
                 readmodifywriteproportion are all 0; for example readproportion=1",
            );
        }
        let (record_count, insert_start) = (values.uint("recordcount"), values.uint("insertstart"));
        let insert_count = match values.uint("insertcount") {
            0 => record_count.saturating_sub(insert_start),
            count => count,
        };
        // A load may be told how much alone.
        let record_count = match record_count {
            0 => insert_start + insert_count,
            count => count,
        };
        if insert_start + insert_count > record_count || insert_start > record_count {
            return conflict(format!(
                "insertstart={insert_start} and insertcount={insert_count} go beyond \
                 recordcount={record_count}; for example recordcount={}",
                insert_start + insert_count
            ));
        }
        let inserts =
            values.uint("operationcount") as f64 * proportions[2] / proportions.iter().sum::<f64>();
        let integrity = values.flag("dataintegrity");
        let field_length = values.uint("fieldlength");
        if integrity && values.text("fieldlengthdistribution") != "constant" {
            return conflict(format!(
                "dataintegrity=true and fieldlengthdistribution={} cannot be combined: a value \
                 that is verified has the length that fieldlength says; for example \
                 fieldlengthdistribution=constant",
                values.text("fieldlengthdistribution")
            ));
        }
        let (least, most) = (values.uint("minscanlength"), values.uint("maxscanlength"));
        if least > most {
            return conflict(format!(
                "minscanlength={least} is more than maxscanlength={most}; for example \
                 maxscanlength={least}"
            ));
        }
        Ok(Self {
            table: table(values.text("table"))?,
            record_count,
            insert_start,
            insert_count,
            // YCSB's margin: the choice is random.
            expected_inserts: (2.0 * inserts) as u64,
            field_count: usize::try_from(values.uint("fieldcount")).unwrap_or(1),
            field_length,
            field_lengths: field_lengths(values, field_length)?,
            read_all: values.flag("readallfields"),
            write_all: values.flag("writeallfields"),
            integrity,
            proportions,
            request: request(values),
            scan_lengths: match values.text("scanlengthdistribution") {
                "zipfian" => Lengths::zipfian(least, most),
                _ => Lengths::Uniform(least, most),
            },
            ordered: values.text("insertorder") == "ordered",
            zero_padding: usize::try_from(values.uint("zeropadding")).unwrap_or(0),
            key_prefix: key_prefix(values)?,
            force_index: values.flag("force-index"),
            cluster_index: values.flag("cluster-index"),
            disjoint_keys: values.flag("disjoint-keys"),
        })
    }
}

fn conflict<T>(what: impl Into<String>) -> Result<T, OptionError> {
    Err(OptionError::Conflict(what.into()))
}

fn request(values: &OptionValues) -> RequestDistribution {
    match values.text("requestdistribution") {
        "zipfian" => RequestDistribution::Zipfian,
        "latest" => RequestDistribution::Latest,
        "sequential" => RequestDistribution::Sequential,
        "hotspot" => RequestDistribution::Hotspot {
            records: values.float("hotspotdatafraction"),
            operations: values.float("hotspotopnfraction"),
        },
        "exponential" => RequestDistribution::Exponential {
            percentile: values.float("exponential.percentile"),
            records: values.float("exponential.frac"),
        },
        _ => RequestDistribution::Uniform,
    }
}

/// A name that needs no quotes, so that other tools' statements find it.
fn table(name: &str) -> Result<String, OptionError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let starts = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if starts && name.bytes().all(plain) && name.len() <= LONGEST_NAME {
        return Ok(name.into());
    }
    Err(OptionError::Value {
        name: "table".into(),
        value: name.into(),
        allowed: format!(
            "a name of letters, digits and underscores that begins with no digit, up to \
             {LONGEST_NAME} of them"
        ),
        example: "--table=usertable".into(),
    })
}

fn key_prefix(values: &OptionValues) -> Result<String, OptionError> {
    let prefix = values.text("keyprefix");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-:.".contains(&b);
    let digits = HASH_DIGITS.max(usize::try_from(values.uint("zeropadding")).unwrap_or(0));
    // A key of digits alone could be taken for a number.
    let starts = prefix
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic());
    if !starts || !prefix.bytes().all(plain) {
        return Err(OptionError::Value {
            name: "keyprefix".into(),
            value: prefix.into(),
            allowed: "letters, digits, and _ - : . after a first letter".into(),
            example: "--keyprefix=user".into(),
        });
    }
    if prefix.len() + digits > LONGEST_KEY {
        return conflict(format!(
            "keyprefix={prefix} and {digits} digits (zeropadding={}) are more than the \
             {LONGEST_KEY} characters of a key; for example keyprefix=user",
            values.uint("zeropadding")
        ));
    }
    Ok(prefix.into())
}

fn field_lengths(values: &OptionValues, most: u64) -> Result<Lengths, OptionError> {
    Ok(match values.text("fieldlengthdistribution") {
        "uniform" => Lengths::Uniform(1, most),
        "zipfian" => Lengths::zipfian(1, most),
        "histogram" => {
            let file = values.text("fieldlengthhistogram");
            let wrong = |why: String| {
                OptionError::Conflict(format!(
                    "fieldlengthhistogram={file}: {why}; for example a file whose lines are \
                     'BlockSize<tab>10' and '0<tab>5'"
                ))
            };
            let text = read_text(file.as_ref(), LONGEST_CONFIGURATION)
                .map_err(|e| wrong(e.to_string()))?;
            let histogram = Histogram::parse(&text).map_err(wrong)?;
            if histogram.longest() > most {
                return conflict(format!(
                    "fieldlengthhistogram={file} has lengths up to {}, and fieldlength={most}: for \
                     example fieldlength={}",
                    histogram.longest(),
                    histogram.longest()
                ));
            }
            Lengths::Histogram(histogram)
        }
        _ => Lengths::Constant(most),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tidemark_core::Source;

    pub fn settings(options: &[(&str, &str)]) -> Result<Settings, OptionError> {
        let mut values = OptionValues::defaults([super::super::OPTIONS]);
        for (name, value) in options {
            values.set(name, value, Source::CommandLine)?;
        }
        Settings::new(&values)
    }

    #[test]
    fn defaults_are_ycsbs() {
        let s = settings(&[("recordcount", "1000")]).unwrap();
        assert_eq!(s.table, "usertable");
        assert_eq!(
            (s.record_count, s.insert_start, s.insert_count),
            (1000, 0, 1000)
        );
        assert_eq!((s.field_count, s.field_length), (10, 100));
        assert_eq!(s.proportions, [0.95, 0.05, 0.0, 0.0, 0.0]);
        assert_eq!(s.request, RequestDistribution::Uniform);
        assert_eq!(s.scan_lengths, Lengths::Uniform(1, 1000));
        assert!(s.read_all && !s.write_all && !s.integrity && !s.ordered);
        assert_eq!((s.zero_padding, s.key_prefix.as_str()), (1, "user"));
    }

    #[test]
    fn counts_follow_from_each_other() {
        let s = settings(&[("recordcount", "100"), ("insertstart", "40")]).unwrap();
        assert_eq!((s.insert_start, s.insert_count), (40, 60));
        let s = settings(&[("insertcount", "70")]).unwrap();
        assert_eq!((s.record_count, s.insert_count), (70, 70));
        let s = settings(&[
            ("recordcount", "100"),
            ("operationcount", "1000"),
            ("insertproportion", "0.25"),
            ("readproportion", "0.75"),
            ("updateproportion", "0"),
        ]);
        assert_eq!(s.unwrap().expected_inserts, 500);
    }

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        for (options, part) in [
            (
                &[("readproportion", "0"), ("updateproportion", "0")][..],
                "are all 0",
            ),
            (&[("readproportion", "1.5")], "readproportion=1.5"),
            (
                &[("recordcount", "10"), ("insertstart", "11")],
                "insertstart=11",
            ),
            (
                &[
                    ("recordcount", "10"),
                    ("insertstart", "5"),
                    ("insertcount", "6"),
                ],
                "for example recordcount=11",
            ),
            (
                &[
                    ("dataintegrity", "true"),
                    ("fieldlengthdistribution", "uniform"),
                ],
                "dataintegrity=true",
            ),
            (
                &[("minscanlength", "5"), ("maxscanlength", "4")],
                "minscanlength=5",
            ),
            (&[("table", "a b")], "--table=usertable"),
            (&[("table", "1a")], "table=1a"),
            (&[("table", "a;drop")], "letters, digits"),
            (&[("keyprefix", "")], "keyprefix="),
            (&[("keyprefix", "1")], "after a first letter"),
            (
                &[("keyprefix", "users"), ("zeropadding", "60")],
                "zeropadding=60",
            ),
            (
                &[
                    ("fieldlengthdistribution", "histogram"),
                    ("fieldlengthhistogram", "/no/such/file"),
                ],
                "fieldlengthhistogram=/no/such/file",
            ),
            (&[("fieldcount", "0")], "fieldcount=0"),
            (&[("requestdistribution", "zipf")], "did you mean zipfian?"),
            (&[("insertorder", "random")], "hashed, ordered"),
        ] {
            let message = settings(options).unwrap_err().to_string();
            assert!(message.contains(part), "{options:?}: {message}");
        }
    }

    #[test]
    fn a_histogram_must_fit_the_fields() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hist.txt");
        std::fs::write(&file, "BlockSize\t50\n0\t1\n2\t1\n").unwrap();
        let with = |length: &str| {
            settings(&[
                ("fieldlengthdistribution", "histogram"),
                ("fieldlengthhistogram", file.to_str().unwrap()),
                ("fieldlength", length),
            ])
        };
        assert!(matches!(
            with("150").unwrap().field_lengths,
            Lengths::Histogram(_)
        ));
        let message = with("149").unwrap_err().to_string();
        assert!(message.contains("for example fieldlength=150"), "{message}");
    }
}
