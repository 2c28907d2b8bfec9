//! TPC-H's metrics, from a record alone.

use crate::load::option;
use tidemark_core::record::{QueryOutcome, QueryRun, RunRecord};
use tidemark_core::tpch::fewest_streams;

/// Queries of a stream.
const QUERIES: usize = 22;
/// The refresh functions (clause 2.5).
const REFRESHES: [&str; 2] = ["RF1", "RF2"];
/// A time below the slowest query's divided by this counts as that (clause 5.4.1.4).
const WIDEST_RATIO: f64 = 1000.0;

/// Why there is no metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMetric {
    /// The test was not asked for.
    NotTested,
    /// The data were not changed meanwhile.
    NoRefresh,
    /// These did not end well, or were not run.
    Missing(Vec<String>),
    /// The throughput test had fewer streams than this (clause 5.3.4).
    TooFewStreams(usize),
}

/// What came of a power and a throughput test.
#[derive(Debug, Clone, PartialEq)]
pub struct TpchResults {
    /// The scale factor.
    pub scale: f64,
    /// Power@Size: queries an hour at this size, from the geometric mean of one stream's times
    /// (clause 5.4.1.1).
    pub power: Result<f64, NoMetric>,
    /// Throughput@Size: queries an hour at this size of streams side by side (clause 5.4.2.1).
    pub throughput: Result<f64, NoMetric>,
    /// Streams of the throughput test.
    pub streams: usize,
    /// Seconds of the throughput test: from the first query sent to the last answer, changes of the
    /// data included.
    pub throughput_s: f64,
}

impl TpchResults {
    /// The figures of a record; `None` for one without queries.
    pub fn of(record: &RunRecord) -> Option<Self> {
        if record.queries.is_empty() {
            return None;
        }
        let scale = option(record, "sf").and_then(|sf| sf.parse().ok());
        let scale = scale.unwrap_or(1.0);
        let test = option(record, "test").unwrap_or("queries");
        let refresh = option(record, "refresh") != Some("off");
        // The power test's stream is number 0 (clause 5.3.3), a throughput test's count from 1.
        let (power, others): (Vec<_>, Vec<_>) = record.queries.iter().partition(|q| q.stream == 0);
        let asked = |wanted: &[&str]| wanted.contains(&test);
        let mut numbers: Vec<u64> = others.iter().map(|q| q.stream).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let streams = numbers.len();
        let from = others.iter().map(|q| q.start_ms).fold(f64::MAX, f64::min);
        let end = others.iter().map(|q| q.start_ms + q.took_ms);
        let throughput_s = (end.fold(0.0, f64::max) - from).max(0.0) / 1000.0;
        let judge = |asked: bool, missing: Vec<String>| {
            if !asked {
                Err(NoMetric::NotTested)
            } else if !refresh {
                Err(NoMetric::NoRefresh)
            } else if missing.is_empty() {
                Ok(())
            } else {
                Err(NoMetric::Missing(missing))
            }
        };
        let missing = |of: &[&QueryRun], stream: u64| -> Vec<String> {
            let done = |name: &str| {
                of.iter().any(|q| {
                    q.stream == stream && q.name == name && q.outcome == QueryOutcome::Done
                })
            };
            let names = (1..=QUERIES).map(|n| format!("Q{n}"));
            let names = names.chain(REFRESHES.map(String::from));
            names.filter(|name| !done(name)).collect()
        };
        let all_missing = numbers.iter().flat_map(|n| {
            let of = missing(&others, *n);
            of.into_iter().map(move |name| format!("{name}/{n}"))
        });
        let all_missing: Vec<String> = all_missing.collect();
        let took: Vec<f64> = power.iter().map(|q| q.took_ms / 1000.0).collect();
        Some(Self {
            scale,
            power: judge(asked(&["power", "full"]), missing(&power, 0))
                .map(|()| power_at(scale, &took)),
            throughput: judge(asked(&["throughput", "full"]) && streams > 0, all_missing)
                .map(|()| throughput_at(scale, streams, throughput_s)),
            streams,
            throughput_s,
        })
    }

    /// QphH@Size: the geometric mean of both (clause 5.4.3.1).
    ///
    /// # Errors
    /// Why there is none: one of both is missing, or too few streams ran.
    pub fn composite(&self) -> Result<f64, NoMetric> {
        let power = self.power.clone()?;
        let throughput = self.throughput.clone()?;
        let least = fewest_streams(self.scale);
        if self.streams < least {
            return Err(NoMetric::TooFewStreams(least));
        }
        Ok((power * throughput).sqrt())
    }
}

/// Power@Size of the times of 22 queries and two refresh functions, in seconds.
fn power_at(scale: f64, took: &[f64]) -> f64 {
    let slowest = took.iter().copied().fold(0.0, f64::max);
    let least = slowest / WIDEST_RATIO;
    let logs = took.iter().map(|t| t.max(least).ln());
    let geometric_mean = (logs.sum::<f64>() / took.len().max(1) as f64).exp();
    3600.0 * scale / geometric_mean
}

fn throughput_at(scale: f64, streams: usize, seconds: f64) -> f64 {
    (streams * QUERIES) as f64 * 3600.0 / seconds * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Source;
    use tidemark_core::record::EffectiveOption;

    fn run(stream: u64, name: &str, start_s: f64, took_s: f64) -> QueryRun {
        QueryRun {
            stream,
            name: name.into(),
            start_ms: start_s * 1000.0,
            took_ms: took_s * 1000.0,
            ..QueryRun::default()
        }
    }

    /// A power test of `took` seconds each, and two streams that take 100 s in all.
    fn record(test: &str, scale: &str, took: f64) -> RunRecord {
        let mut record = RunRecord::default();
        for (name, value) in [("test", test), ("sf", scale)] {
            let option = EffectiveOption {
                value: value.into(),
                source: Source::CommandLine,
            };
            record.options.insert(name.into(), option);
        }
        let names = || {
            (1..=22)
                .map(|n| format!("Q{n}"))
                .chain(REFRESHES.map(String::from))
        };
        let power = names().map(|name| run(0, &name, 0.0, took));
        record.queries.extend(power);
        for stream in [1, 2] {
            let at = 1000.0 + stream as f64;
            record
                .queries
                .extend(names().map(|name| run(stream, &name, at, 1.0)));
        }
        record.queries.push(run(2, "Q1", 1001.0, 100.0));
        record
    }

    #[test]
    fn metrics_follow_the_worked_example() {
        // 24 times of 2 s: 3600 / 2 at scale 1. Two streams in 100 s: 2 * 22 * 3600 / 100.
        let figures = TpchResults::of(&record("full", "1", 2.0)).unwrap();
        let (power, throughput) = (figures.power.clone().unwrap(), figures.throughput.clone());
        assert!((power - 1800.0).abs() < 1e-6, "{power}");
        assert!((throughput.unwrap() - 1584.0).abs() < 1e-6);
        assert!((figures.composite().unwrap() - (1800.0f64 * 1584.0).sqrt()).abs() < 1e-6);
        assert_eq!(figures.streams, 2);
        // Ten times the size at the same speed is ten times the result; two streams are too few for it.
        let larger = TpchResults::of(&record("full", "10", 2.0)).unwrap();
        assert_eq!(larger.composite(), Err(NoMetric::TooFewStreams(3)));
        assert!((larger.power.unwrap() / power - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_geometric_mean_is_of_all_24() {
        // One of 16 s among 23 of 1 s: 16^(1/24).
        let mut took = vec![1.0; 24];
        took[5] = 16.0;
        let power = power_at(1.0, &took);
        assert!((power - 3600.0 / 16f64.powf(1.0 / 24.0)).abs() < 1e-9);
    }

    #[test]
    fn times_below_a_thousandth_of_the_slowest_are_lifted() {
        let mut took = vec![10.0; 24];
        took[0] = 1e-6;
        let lifted = power_at(1.0, &took);
        took[0] = 0.01;
        assert!((lifted - power_at(1.0, &took)).abs() < 1e-9);
    }

    #[test]
    fn there_is_no_metric_of_half_a_test() {
        let mut full = record("full", "1", 1.0);
        full.queries[4].outcome = QueryOutcome::TimedOut;
        full.queries
            .retain(|q| (q.stream, q.name.as_str()) != (2, "RF2"));
        let figures = TpchResults::of(&full).unwrap();
        assert_eq!(figures.power, Err(NoMetric::Missing(vec!["Q5".into()])));
        assert_eq!(
            figures.throughput,
            Err(NoMetric::Missing(vec!["RF2/2".into()]))
        );
        assert_eq!(
            figures.composite(),
            Err(NoMetric::Missing(vec!["Q5".into()]))
        );
        let queries = TpchResults::of(&record("queries", "1", 1.0)).unwrap();
        assert_eq!(queries.power, Err(NoMetric::NotTested));
        assert_eq!(queries.throughput, Err(NoMetric::NotTested));
        let mut without = record("power", "1", 1.0);
        let off = EffectiveOption {
            value: "off".into(),
            source: Source::CommandLine,
        };
        without.options.insert("refresh".into(), off);
        let figures = TpchResults::of(&without).unwrap();
        assert_eq!(figures.power, Err(NoMetric::NoRefresh));
        assert_eq!(figures.throughput, Err(NoMetric::NotTested));
        assert_eq!(TpchResults::of(&RunRecord::default()), None);
    }
}
