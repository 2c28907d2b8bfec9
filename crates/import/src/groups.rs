//! Columns of one table that state the same figure: of several clients, or of several runs.

use crate::cell::narrow;
use crate::headings::{ColumnMeaning, column};
use crate::labels::client;
use std::collections::BTreeMap;

/// What a column's figure is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Of {
    /// The row's run.
    Row,
    /// One client of the run.
    Client(String),
    /// One of several runs of the row.
    Run(String),
    /// That can't be told.
    Unclear,
}

const TOTALS: [&str; 8] = ["total", "sum", "all", "合计", "总", "总计", "汇总", "总和"];
/// Of a figure over time, not of another run.
const STATISTICS: [&str; 13] = [
    "max", "min", "peak", "avg", "average", "mean", "median", "stddev", "最大", "最小", "峰值",
    "平均", "最高",
];
/// Parts of one run's transactions.
const PARTS: [&str; 19] = [
    "read", "reads", "write", "writes", "select", "insert", "update", "delete", "scan", "other",
    "读", "写", "查询", "插入", "更新", "删除", "query", "commit", "rollback",
];

/// What each column is of.
pub(crate) fn owners(names: &[String], columns: &[ColumnMeaning]) -> Vec<Of> {
    let mut owners = vec![Of::Row; columns.len()];
    let mut same: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, column) in columns.iter().enumerate() {
        match column {
            ColumnMeaning::Figure(name, _) => same.entry(name).or_default().push(at),
            ColumnMeaning::Several(all) => {
                for (name, _) in all {
                    same.entry(name).or_default().push(at);
                }
            }
            _ => {}
        }
    }
    let mut of_runs: Vec<(Vec<usize>, Vec<String>)> = Vec::new();
    let mut alone = Vec::new();
    for (name, at) in same {
        if let [only] = at.as_slice() {
            if name != "elapsed_s" {
                alone.push(*only);
            }
            continue;
        }
        let of_these = || at.iter().filter_map(|at| names.get(*at));
        let told = qualifiers(of_these(), true);
        // What all clients begin with is their word.
        let of_one = of_clients(&qualifiers(of_these(), false)).or_else(|| of_one_run(&told));
        match of_one {
            Some(of_each) => {
                for (at, of) in at.iter().zip(of_each) {
                    owners[*at] = of;
                }
            }
            None => of_runs.push((at, told)),
        }
    }
    // Runs are told apart only where every figure is stated for each of them.
    let are_told = of_runs.windows(2).all(|pair| match pair {
        [(_, a), (_, b)] => a == b,
        _ => true,
    });
    for (at, told) in of_runs {
        for (at, name) in at.into_iter().zip(told) {
            owners[at] = match are_told && alone.is_empty() {
                true => Of::Run(name),
                false => Of::Unclear,
            };
        }
    }
    owners
}

/// Where the columns are of clients and of all of them, what each is of.
fn of_clients(told: &[String]) -> Option<Vec<Of>> {
    let is_total = |name: &String| TOTALS.contains(&name.as_str());
    let clients: Vec<Option<String>> = told.iter().map(|name| client(name)).collect();
    let are_clients = clients
        .iter()
        .zip(told)
        .all(|(c, name)| c.is_some() || is_total(name));
    if clients.iter().any(Option::is_some) && are_clients {
        let totals = told.iter().filter(|n| is_total(n)).count();
        return Some(
            clients
                .into_iter()
                .map(|client| match client {
                    Some(client) => Of::Client(format!("client {client}")),
                    None if totals == 1 => Of::Row,
                    None => Of::Unclear,
                })
                .collect(),
        );
    }
    None
}

/// Where the columns are of one run, what each is of; `None` where they may be of several runs.
fn of_one_run(told: &[String]) -> Option<Vec<Of>> {
    let is_total = |name: &String| TOTALS.contains(&name.as_str());
    let has = |words: &[&str]| told.iter().any(|name| words.contains(&name.as_str()));
    let is_figure = |name: &String| matches!(column(name), ColumnMeaning::Figure(..));
    let is_same = |name: &String| told.iter().filter(|n| *n == name).count() > 1;
    let plain = told.iter().any(String::is_empty);
    let unsure = plain || has(&STATISTICS) || has(&PARTS) || has(&TOTALS);
    if !unsure && !told.iter().any(is_figure) && !told.iter().any(is_same) {
        return None;
    }
    // The one that nothing is added to, or the mean over time, is the run's.
    let is_own = |name: &String| {
        let means = ["avg", "average", "mean", "平均"];
        name.is_empty() || !plain && means.contains(&name.as_str())
    };
    let is_own = |name: &String| is_own(name) || !plain && is_total(name);
    let own = told.iter().filter(|n| is_own(n)).count();
    let of = |name: &String| match own == 1 && is_own(name) {
        true => Of::Row,
        false => Of::Unclear,
    };
    Some(told.iter().map(of).collect())
}

/// What tells headings apart: each without what all begin (where that is asked for) and end with, in
/// whole words.
fn qualifiers<'n>(names: impl Iterator<Item = &'n String>, cut_begin: bool) -> Vec<String> {
    let names: Vec<Vec<char>> = names
        .map(|name| narrow(name).trim().to_lowercase().chars().collect())
        .collect();
    let Some(first) = names.first() else {
        return Vec::new();
    };
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    let mut begin = (0..shortest)
        .take_while(|at| names.iter().all(|n| n.get(*at) == first.get(*at)))
        .count();
    let back = |name: &Vec<char>, at: usize| name.get(name.len().wrapping_sub(at + 1)).copied();
    let mut end = (0..shortest - begin)
        .take_while(|at| names.iter().all(|n| back(n, *at) == back(first, *at)))
        .count();
    // `v6.0.0` is one word.
    let is_word = |c: Option<&char>| {
        c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let cuts = |name: &Vec<char>, at: usize| is_word(name.get(at)) && is_word(name.get(at - 1));
    if !cut_begin {
        begin = 0;
    }
    while begin > 0 && names.iter().any(|n| cuts(n, begin)) {
        begin -= 1;
    }
    while end > 0
        && names
            .iter()
            .any(|n| n.len() > end && cuts(n, n.len() - end))
    {
        end -= 1;
    }
    let signs = |c: char| c.is_whitespace() || c.is_ascii_punctuation();
    names
        .iter()
        .map(|name| {
            let own = name.get(begin..name.len() - end).unwrap_or_default();
            let own: String = own.iter().collect();
            own.trim_matches(signs).to_string()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headings: &str) -> Vec<Of> {
        let names: Vec<String> = headings.split('|').map(|n| n.trim().into()).collect();
        let columns: Vec<ColumnMeaning> = names.iter().map(|n| column(n)).collect();
        owners(&names, &columns)
    }

    fn run(name: &str) -> Of {
        Of::Run(name.into())
    }

    #[test]
    fn columns_of_one_figure_are_of_runs_or_of_clients() {
        use Of::{Row, Unclear};
        assert_eq!(
            of("threads | tps (before) | tps (after) | p95 before | p95 after"),
            [
                Row,
                run("before"),
                run("after"),
                run("before"),
                run("after")
            ]
        );
        assert_eq!(
            of("线程 | 优化前TPS | 优化后TPS"),
            [Row, run("前"), run("后")]
        );
        assert_eq!(
            of("threads | v6.0.0 TPS | v6.1.0 TPS | TPS improvement (%)"),
            [Row, run("v6.0.0"), run("v6.1.0"), Row]
        );
        let client = |n: &str| Of::Client(format!("client {n}"));
        assert_eq!(
            of("threads | client1 tps | client2 tps | total tps"),
            [Row, client("1"), client("2"), Row]
        );
        assert_eq!(of("TPS | Max TPS | avg"), [Row, Unclear, Row]);
        assert_eq!(of("avg tps | peak tps"), [Row, Unclear]);
        assert_eq!(
            of("tps | read latency | write latency"),
            [Row, Unclear, Unclear]
        );
        assert_eq!(of("95% latency | p95"), [Unclear, Unclear]);
        assert_eq!(of("tps a | tps b | p95"), [Unclear, Unclear, Row]);
    }
}
