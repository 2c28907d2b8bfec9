//! The matrix that runs make: workloads, series within them, points over a load, repeats.

use super::StudyFactor;
use super::digest::RunDigest;
use super::factors::{all_of_one_study, factors};
use super::server_labels::ServerLabels;
use crate::workload_name;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::record::RateUnit;

/// Factors that are a number of emulated users, or a rate, by the names that studies and options
/// use.
pub(super) const USERS: [&str; 6] = [
    "threads",
    "terminals",
    "sessions",
    "users",
    "connections",
    "clients",
];
pub(super) const RATES: [&str; 2] = ["rate", "target-rate"];
/// What the x axis of a workload's charts is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisKind {
    /// Emulated users in closed loop.
    Users,
    /// Arrivals a second.
    Rate,
    /// Any other number: sizes, warehouses, distances.
    Other,
}

/// The factor that a workload's charts are drawn over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadAxis {
    pub name: String,
    pub kind: AxisKind,
}

/// The order in which a study's file has its factors and their values; empty without a study.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FactorOrder<'m>(pub &'m [StudyFactor]);

impl FactorOrder<'_> {
    /// The place of a factor; behind all others where the file has none.
    pub fn of_factor(&self, name: &str) -> usize {
        let at = self.0.iter().position(|factor| factor.name == name);
        at.unwrap_or(usize::MAX)
    }

    /// In which order factors are told: targets first, for they are what people compare.
    pub fn of_name(&self, name: &str) -> (bool, bool, usize, String) {
        let place = self.of_factor(name);
        (name != "target", name != "version", place, name.into())
    }

    /// The place of a value, and its text with numbers as numbers for those that the file has not.
    pub fn of_value(&self, name: &str, value: &str) -> (usize, (u64, String)) {
        let factor = self.0.iter().find(|factor| factor.name == name);
        let at = factor.and_then(|f| f.values.iter().position(|v| v == value));
        (at.unwrap_or(usize::MAX), natural(value))
    }

    /// What a factor's values change, by the names of a comparison's differences.
    pub fn changes(&self, name: &str) -> &[String] {
        let factor = self.0.iter().find(|factor| factor.name == name);
        factor.map_or(&[], |factor| factor.changes.as_slice())
    }
}

/// All runs, sorted into place.
pub(crate) struct Matrix<'d> {
    pub workloads: Vec<Workload<'d>>,
}

/// The runs of one workload.
pub(crate) struct Workload<'d> {
    pub name: String,
    /// `None` where no number varies.
    pub axis: Option<LoadAxis>,
    /// Other factors that vary.
    pub factors: Vec<String>,
    pub series: Vec<LoadCurve<'d>>,
}

/// Points that differ in the load alone.
pub(crate) struct LoadCurve<'d> {
    /// Values of [`Workload::factors`], in their order.
    pub values: Vec<String>,
    /// In the order of the load.
    pub points: Vec<CurvePoint<'d>>,
}

/// One cell of the matrix with its repeats.
pub(crate) struct CurvePoint<'d> {
    /// The load, as a number and as it is written; `None` without an axis.
    pub load: Option<(f64, String)>,
    /// Every run of it, in the order of the start.
    pub runs: Vec<&'d RunDigest>,
}

impl<'d> CurvePoint<'d> {
    /// The runs that its figures are of: results that may be used; where there are none, results
    /// that must not be, and whoever shows a figure of theirs says so.
    pub fn figured(&self) -> Vec<&'d RunDigest> {
        let of = |is: fn(&RunDigest) -> bool| -> Vec<&'d RunDigest> {
            self.runs.iter().copied().filter(|r| is(r)).collect()
        };
        match of(|r| r.usable) {
            none if none.is_empty() => of(RunDigest::counts),
            usable => usable,
        }
    }

    /// Whether it has a run whose figures may be used.
    pub fn is_usable(&self) -> bool {
        self.runs.iter().any(|r| r.usable)
    }

    /// Results that must not be used.
    pub fn invalid(&self) -> impl Iterator<Item = &'d RunDigest> {
        self.runs
            .iter()
            .copied()
            .filter(|r| r.counts() && !r.usable)
    }

    /// The rules that say so, each once.
    pub fn invalid_rules(&self) -> Vec<&'static str> {
        let mut rules = Vec::new();
        for rule in self.invalid().flat_map(RunDigest::invalid_rules) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    }
}

impl<'d> Matrix<'d> {
    pub fn of(runs: &'d [RunDigest], order: FactorOrder<'_>) -> Self {
        let mut of_units: Vec<(String, RateUnit, Vec<&RunDigest>)> = Vec::new();
        for run in runs {
            let (name, unit) = (workload_of(run), run.rate_unit);
            match of_units
                .iter_mut()
                .find(|(n, u, _)| *n == name && *u == unit)
            {
                Some((.., of)) => of.push(run),
                None => of_units.push((name, unit, vec![run])),
            }
        }
        // Rates of several units stand in no table together.
        let names: Vec<String> = of_units.iter().map(|(name, ..)| name.clone()).collect();
        let is_twice = |name: &String| names.iter().filter(|n| *n == name).count() > 1;
        let named = of_units.into_iter().map(|(name, unit, runs)| {
            let suffix = match unit {
                _ if !is_twice(&name) => "",
                RateUnit::Transactions => " (TPS)",
                RateUnit::Statements => " (QPS)",
                RateUnit::NewOrders => " (NOPM)",
            };
            (name + suffix, runs)
        });
        let mut named: Vec<(String, Vec<&RunDigest>)> = named.collect();
        // Studies may be shuffled: the order of time says nothing.
        named.sort_by_key(|(name, _)| order.of_value("workload", name));
        let labels = ServerLabels::of(runs);
        let workloads = named
            .into_iter()
            .map(|(name, runs)| Workload::of(name, runs, order, labels));
        Self {
            workloads: workloads.collect(),
        }
    }
}

/// What a study calls it, which may be shorter or tell two of one workload apart.
fn workload_of(run: &RunDigest) -> String {
    let factor = run.study.as_ref().and_then(|s| s.factors.get("workload"));
    let option = |name: &str| {
        let found = run.options.iter().find(|(n, _)| n == name);
        found.map(|(_, option)| option.value.clone())
    };
    let of_no_study = || workload_name(&run.workload, &option);
    factor.cloned().unwrap_or_else(of_no_study)
}

impl<'d> Workload<'d> {
    fn of(
        name: String,
        runs: Vec<&'d RunDigest>,
        order: FactorOrder<'_>,
        labels: ServerLabels,
    ) -> Self {
        let placed: Vec<(&RunDigest, BTreeMap<String, String>)> = factors(&runs, labels);
        let names: BTreeSet<&String> = placed.iter().flat_map(|(_, f)| f.keys()).collect();
        let value = |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned();
        let varies = |name: &str| {
            let values: BTreeSet<_> = placed.iter().map(|(_, f)| value(f, name)).collect();
            values.len() > 1
        };
        let varying: Vec<String> = names.into_iter().filter(|n| varies(n)).cloned().collect();
        let axis = axis(&varying, &placed);
        let mut factors: Vec<String> = varying;
        factors.retain(|f| axis.as_ref().is_none_or(|a| a.name != *f));
        factors.sort_by_key(|f| order.of_name(f));
        let mut series: Vec<LoadCurve<'d>> = Vec::new();
        for (run, of) in &placed {
            let values: Vec<String> = factors
                .iter()
                .map(|f| value(of, f).unwrap_or("–".into()))
                .collect();
            let load = axis.as_ref().and_then(|a| {
                let text = value(of, &a.name)?;
                Some((number(&text)?.0, text))
            });
            let at = match series.iter().position(|s| s.values == values) {
                Some(at) => at,
                None => {
                    series.push(LoadCurve {
                        values,
                        points: Vec::new(),
                    });
                    series.len() - 1
                }
            };
            let points = &mut series[at].points;
            match points.iter_mut().find(|p| p.load == load) {
                Some(point) => point.runs.push(run),
                None => points.push(CurvePoint {
                    load,
                    runs: vec![run],
                }),
            }
        }
        for one in &mut series {
            let load = |p: &CurvePoint<'_>| p.load.as_ref().map_or(f64::NEG_INFINITY, |(n, _)| *n);
            one.points.sort_by(|a, b| load(a).total_cmp(&load(b)));
            for point in &mut one.points {
                point.runs.sort_by(|a, b| a.id.cmp(&b.id));
            }
        }
        let place = |s: &LoadCurve<'_>| -> Vec<_> {
            let values = factors.iter().zip(&s.values);
            values
                .map(|(name, value)| order.of_value(name, value))
                .collect()
        };
        series.sort_by_key(place);
        Self {
            name,
            axis,
            factors,
            series,
        }
    }

    /// What its throughput counts: all its runs count the same.
    pub fn unit(&self) -> RateUnit {
        let mut runs = self.points().flat_map(|(_, point)| &point.runs);
        runs.next()
            .map_or(RateUnit::Transactions, |run| run.rate_unit)
    }

    pub fn points(&self) -> impl Iterator<Item = (&LoadCurve<'d>, &CurvePoint<'d>)> {
        let each = self.series.iter();
        each.flat_map(|s| s.points.iter().map(move |p| (s, p)))
    }
}

/// Text with its numbers as numbers, so that 9 comes before 10.
fn natural(value: &str) -> (u64, String) {
    let scaled = number(value).map_or(u64::MAX, |(n, _)| (n.max(0.0) * 1000.0) as u64);
    (scaled, value.into())
}

/// The factor to draw over: users or a rate where one varies, any number with three values else.
fn axis(varying: &[String], placed: &[(&RunDigest, BTreeMap<String, String>)]) -> Option<LoadAxis> {
    let values = |name: &str| -> Option<Vec<f64>> {
        let each = placed.iter().map(|(_, f)| f.get(name).map(String::as_str));
        numbers(&each.collect::<Option<Vec<&str>>>()?)
    };
    let is = |name: &str, of: &dyn Fn(&RunDigest) -> Option<f64>| {
        values(name).is_some_and(|numbers| {
            let mut pairs = numbers.iter().zip(placed);
            pairs.all(|(n, (run, _))| of(run) == Some(*n))
        })
    };
    let users = |run: &RunDigest| (!run.open_loop).then_some(run.users() as f64);
    let rate = |run: &RunDigest| run.rate;
    let named = |name: &String, known: &[&str]| known.contains(&name.as_str());
    let one_study = all_of_one_study(placed.iter().map(|(run, _)| *run));
    let find = |kind, known: &[&str], of: &dyn Fn(&RunDigest) -> Option<f64>| {
        let by_name = varying
            .iter()
            .find(|n| named(n, known) && values(n).is_some());
        // What is no study's factor may equal the load by chance.
        let by_value = varying.iter().find(|n| one_study && is(n, of));
        by_value.or(by_name).map(|name| LoadAxis {
            name: name.clone(),
            kind,
        })
    };
    let found =
        find(AxisKind::Rate, &RATES, &rate).or_else(|| find(AxisKind::Users, &USERS, &users));
    if found.is_some() {
        return found;
    }
    let distinct = |name: &String| {
        let bits = values(name)?.into_iter().map(f64::to_bits);
        Some(bits.collect::<BTreeSet<_>>().len())
    };
    let counted = varying.iter().filter_map(|n| Some((distinct(n)?, n)));
    let (count, name) = counted.max_by_key(|(count, name)| (*count, std::cmp::Reverse(*name)))?;
    (count >= 3).then(|| LoadAxis {
        name: name.clone(),
        kind: AxisKind::Other,
    })
}

/// Values that are numbers of one unit; `None` where one is not.
pub(crate) fn numbers(values: &[&str]) -> Option<Vec<f64>> {
    let each = values.iter().map(|value| number(value));
    let numbers: Vec<(f64, String)> = each.collect::<Option<_>>()?;
    let unit = numbers.first().map(|(_, unit)| unit.clone())?;
    // Zero needs no unit.
    let alike = |(n, u): &(f64, String)| *u == unit || *n == 0.0 || unit.is_empty();
    numbers
        .iter()
        .all(alike)
        .then(|| numbers.iter().map(|(n, _)| *n).collect())
}

/// A number with its unit: `64`, `100k`, `20 ms`, `1.5M`; times are made milliseconds.
pub(crate) fn number(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || "._,".contains(c)))
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let digits = digits.replace(['_', ','], "");
    let value: f64 = digits.parse().ok().filter(|v: &f64| v.is_finite())?;
    let (times, unit) = match unit.trim() {
        "k" | "K" => (1e3, ""),
        "M" | "m" => (1e6, ""),
        "G" | "g" => (1e9, ""),
        "us" | "µs" => (1e-3, "ms"),
        "s" => (1e3, "ms"),
        "min" => (6e4, "ms"),
        "kB" | "KB" | "KiB" => (1024.0, "B"),
        "MB" | "MiB" => (1024.0 * 1024.0, "B"),
        "GB" | "GiB" => (1024.0 * 1024.0 * 1024.0, "B"),
        "TB" | "TiB" => (1024.0 * 1024.0 * 1024.0 * 1024.0, "B"),
        unit => (1.0, unit),
    };
    let words = unit.chars().all(|c| c.is_alphabetic() || "%/".contains(c));
    (words && unit.chars().count() <= 12).then(|| (value * times, unit.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        for (text, value, unit) in [
            ("64", 64.0, ""),
            ("100k", 1e5, ""),
            ("1_000_000", 1e6, ""),
            ("20ms", 20.0, "ms"),
            ("1.5 s", 1500.0, "ms"),
            ("250us", 0.25, "ms"),
            ("5min", 300_000.0, "ms"),
            ("128MB", 134_217_728.0, "B"),
            ("1 GiB", 1_073_741_824.0, "B"),
            ("64 threads", 64.0, "threads"),
        ] {
            let (n, u) = number(text).unwrap();
            assert!((n - value).abs() < 1e-9 && u == unit, "{text}: {n} {u}");
        }
        for text in ["", "on", "10.11.6-MariaDB", "1.2.3", "v8", "sqlite:a.db"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
