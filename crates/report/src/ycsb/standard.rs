//! YCSB's standard workloads, which have names.

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
pub(super) fn label(option: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let of = |(_, shares, requests): &&(&str, [f64; 5], &str)| {
        let same = |(name, share): (&&str, &f64)| {
            option(name).and_then(|v| v.parse::<f64>().ok()) == Some(*share)
        };
        option("requestdistribution").as_deref() == Some(*requests)
            && SHARES.iter().zip(shares).all(same)
    };
    let (letter, ..) = STANDARD.iter().find(of)?;
    Some(format!("ycsb {letter}"))
}
