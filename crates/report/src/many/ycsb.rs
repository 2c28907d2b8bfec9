//! YCSB's standard workloads, which have names.

use super::digest::RunDigest;
use std::collections::BTreeMap;
use tidemark_core::record::EffectiveOption;

/// Shares of reads, updates, inserts, scans and read-modify-writes, and the distribution of requests
/// (Cooper et al. 2010, table 2; the workload files of YCSB).
const STANDARD: [(&str, [f64; 5], &str); 6] = [
    ("a", [0.5, 0.5, 0.0, 0.0, 0.0], "zipfian"),
    ("b", [0.95, 0.05, 0.0, 0.0, 0.0], "zipfian"),
    ("c", [1.0, 0.0, 0.0, 0.0, 0.0], "zipfian"),
    ("d", [0.95, 0.0, 0.05, 0.0, 0.0], "latest"),
    ("e", [0.0, 0.0, 0.05, 0.95, 0.0], "zipfian"),
    ("f", [0.5, 0.0, 0.0, 0.0, 0.5], "zipfian"),
];
const SHARES: [&str; 5] = [
    "readproportion",
    "updateproportion",
    "insertproportion",
    "scanproportion",
    "readmodifywriteproportion",
];

/// `ycsb a` to `ycsb f`; `None` of any other mix.
pub(super) fn standard(run: &RunDigest) -> Option<String> {
    let option = |name: &str| {
        let found = run.options.iter().find(|(n, _)| n == name);
        found.map(|(_, option)| option.value.as_str())
    };
    named(&run.workload, option)
}

/// A workload's name as people say it: `ycsb a` of YCSB's with that mix of operations, else as it is
/// recorded.
pub fn workload_name(workload: &str, options: &BTreeMap<String, EffectiveOption>) -> String {
    let option = |name: &str| options.get(name).map(|option| option.value.as_str());
    named(workload, option).unwrap_or_else(|| workload.into())
}

fn named<'a>(workload: &str, option: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    if workload != "ycsb" {
        return None;
    }
    let of = |(_, shares, requests): &&(&str, [f64; 5], &str)| {
        let same = |(name, share): (&&str, &f64)| {
            option(name).and_then(|v| v.parse::<f64>().ok()) == Some(*share)
        };
        option("requestdistribution") == Some(*requests) && SHARES.iter().zip(shares).all(same)
    };
    let (letter, ..) = STANDARD.iter().find(of)?;
    Some(format!("ycsb {letter}"))
}
