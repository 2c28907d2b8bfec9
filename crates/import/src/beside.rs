//! What only a document's runs together show: figures that rules ask a run for, though its own lines do
//! not state them. They are kept apart from those that are stated.

use std::collections::BTreeMap;
use tidemark_core::record::{DerivedFigure, Imported, RunRecord};
use tidemark_core::tools::Tool;

/// How many times the largest of a table's other rows may be the smallest, where all have the same
/// statements in a transaction: two figures that are counted, and are rounded.
const ALIKE_COUNTED: f64 = 1.02;
/// The same where statements follow from sessions and latencies, whose means are rounded more, and whose
/// sessions work for nine tenths of the time or more.
const ALIKE_MEASURED: f64 = 1.05;
/// Words in headings of what all clients have together.
const TOTALS: [&str; 7] = ["total", "overall", "sum", "合计", "总", "汇总", "全部"];

/// Whether a heading is of what all clients have together.
pub(crate) fn is_total(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    words.any(|word| {
        TOTALS
            .iter()
            .any(|t| word == *t || !t.is_ascii() && word.contains(t))
    })
}

/// Lines that are named of those that a figure was worked out from.
const LINES: usize = 20;

/// Adds to each run what the others say of it.
pub(crate) fn look(runs: &mut [RunRecord]) {
    let mut found = rows(runs);
    found.extend(clients(runs));
    found.extend(loads(runs));
    for (at, mut figure) in found {
        figure.lines.truncate(LINES);
        if let Some(imported) = runs.get_mut(at).and_then(|run| run.imported.as_mut()) {
            imported.beside.push(figure);
        }
    }
}

/// A run's place, and what is said of it.
type Added = (usize, DerivedFigure);

fn added(at: usize, name: &str, value: f64, rounding: f64, lines: Vec<u64>) -> Added {
    let figure = DerivedFigure {
        name: name.into(),
        value,
        rounding,
        lines,
    };
    (at, figure)
}

/// Where runs begin, of the first ones.
fn lines(runs: &[RunRecord], of: impl Iterator<Item = usize>) -> Vec<u64> {
    let imported = of.filter_map(|at| runs.get(at)?.imported.as_ref());
    imported.map(|i| i.first_line).take(LINES).collect()
}

fn value(imported: &Imported, name: &str) -> Option<f64> {
    imported.figure(name).map(|f| f.value).filter(|v| *v > 0.0)
}

/// Statements of a transaction in a row, and by how much rows that have the same may differ.
fn statements_each(run: &RunRecord) -> Option<(f64, f64)> {
    let imported = run.imported.as_ref()?;
    let statements = value(imported, "statement_rate")?;
    if let Some(rate) = value(imported, "rate") {
        return Some((statements / rate, ALIKE_COUNTED));
    }
    let sessions = Some(run.sessions as f64).filter(|s| *s > 0.0)?;
    let mean = value(imported, "mean_ms")?;
    Some((statements * mean / 1000.0 / sessions, ALIKE_MEASURED))
}

/// Rows of one table, of one workload of one system.
fn rows(runs: &[RunRecord]) -> Vec<Added> {
    let mut tables: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    let (mut table, mut last) = (0, None);
    for (at, run) in runs.iter().enumerate() {
        let Some(imported) = run.imported.as_ref().filter(|i| i.tool == "table") else {
            last = None;
            continue;
        };
        let follows = last.is_some_and(|(line, heading)| {
            imported.first_line <= line + 1 && imported.heading == heading
        });
        table += usize::from(!follows);
        last = Some((imported.last_line, imported.heading.as_str()));
        // What is no number tells systems and settings apart.
        let texts = run.options.iter().filter(|(_, o)| {
            let text = o.value.trim_start_matches(['+', '-', '.', '~', '↑', '↓']);
            !text.starts_with(|c: char| c.is_ascii_digit())
        });
        let texts = texts.map(|(name, o)| format!("{name}={}", o.value));
        let mut key = vec![run.workload.clone()];
        key.extend(texts);
        key.extend(run.options.get("variant").map(|o| o.value.clone()));
        tables.entry((table, key.join("\n"))).or_default().push(at);
    }
    let mut found = Vec::new();
    for rows in tables.values() {
        found.extend(unlike_row(runs, rows));
        found.extend(in_order(runs, rows));
    }
    found
}

/// What the other rows have, for each that has other rows.
fn unlike_row(runs: &[RunRecord], rows: &[usize]) -> Vec<Added> {
    let of = |at: &usize| runs.get(*at).and_then(statements_each);
    let all: Vec<(usize, f64, f64)> = rows
        .iter()
        .filter_map(|at| of(at).map(|(each, alike)| (*at, each, alike)))
        .collect();
    let each = all.iter().filter_map(|(at, _, alike)| {
        let others = all.iter().filter(|(other, ..)| other != at);
        let others: Vec<f64> = others.filter(|o| o.2 == *alike).map(|o| o.1).collect();
        let least = others.iter().copied().fold(f64::INFINITY, f64::min);
        let most = others.iter().copied().fold(0.0, f64::max);
        let middle = tidemark_stats::median(&others);
        (others.len() > 1 && most <= alike * least).then(|| {
            let rows = all.iter().map(|o| o.0).filter(|other| other != at);
            let name = "others_statements_each";
            added(*at, name, middle, 0.0, lines(runs, rows))
        })
    });
    each.collect()
}

/// How many other rows have a mean that is not above their highest percentile, where this one has.
fn in_order(runs: &[RunRecord], rows: &[usize]) -> Vec<Added> {
    let is_in_order = |at: &usize| {
        let imported = runs.get(*at)?.imported.as_ref()?;
        let percentiles = imported.figures.iter().filter(|f| {
            let name = f.name.strip_prefix('p').and_then(|n| n.strip_suffix("_ms"));
            f.of.is_empty() && name.is_some_and(|n| n.parse::<f64>().is_ok())
        });
        let highest = percentiles.map(|f| f.value).reduce(f64::max)?;
        Some(value(imported, "mean_ms")? <= highest)
    };
    let good = || rows.iter().filter(|at| is_in_order(at) == Some(true));
    let count = good().count() as f64;
    let bad = rows.iter().filter(|at| is_in_order(at) == Some(false));
    bad.filter(|_| count > 0.0)
        .map(|at| {
            let of = lines(runs, good().copied());
            added(*at, "others_in_order", count, 0.0, of)
        })
        .collect()
}

/// Figures that clients of a test have together.
const SUMS: [&str; 4] = ["rate", "statement_rate", "tpmc", "nopm"];

/// What the clients of one test have together: its sessions, its figures by name, and where it ends.
#[derive(Default)]
struct ClientsTest {
    sessions: usize,
    clients: usize,
    sums: BTreeMap<&'static str, (usize, f64, f64)>,
    lines: BTreeMap<&'static str, Vec<u64>>,
    last: usize,
}

/// Sums of clients that stand one by one, beside the row that states them.
fn clients(runs: &[RunRecord]) -> Vec<Added> {
    let mut tests: BTreeMap<&str, ClientsTest> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        let Some((own, name)) = run
            .imported
            .as_ref()
            .and_then(|i| Some((i, i.test.as_ref()?)))
        else {
            continue;
        };
        let test = tests.entry(name.as_str()).or_default();
        test.sessions += run.sessions;
        test.clients += 1;
        test.last = at;
        for name in SUMS {
            if let Some(figure) = own.figure(name) {
                let (clients, sum, rounding) = test.sums.entry(name).or_default();
                *clients += 1;
                *sum += figure.value;
                *rounding += figure.rounding;
                test.lines.entry(name).or_default().push(figure.line);
            }
        }
    }
    let mut found = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let is_row = run.imported.as_ref().is_some_and(|i| {
            let is_of_all = i.beside("is_total").is_some() || is_total(&i.heading);
            i.tool == "table" && i.test.is_none() && is_of_all
        });
        if !is_row || run.sessions == 0 {
            continue;
        }
        let is_same = |t: &&ClientsTest| t.sessions == run.sessions && t.last < at;
        let mut same = tests.values().filter(is_same);
        // Of several tests with as many sessions none is known to be the one.
        let (Some(test), None) = (same.next(), same.next()) else {
            continue;
        };
        let whole = test.sums.iter().filter(|(_, (n, ..))| *n == test.clients);
        found.extend(whole.map(|(name, (_, sum, r))| {
            let lines = test.lines.get(name).cloned().unwrap_or_default();
            added(at, &format!("clients_{name}"), *sum, *r, lines)
        }));
    }
    found
}

/// Rows that were loaded, where the command of the load says how many and that of a run does not.
fn loads(runs: &[RunRecord]) -> Vec<Added> {
    let mut loaded: Option<(f64, u64)> = None;
    let mut found = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let Some(imported) = run.imported.as_ref() else {
            continue;
        };
        let tool = Tool::named(&imported.tool);
        if tool.standard_workloads.is_none() || run.command.is_empty() {
            continue;
        }
        let is = |name: &str, value: &str| run.options.get(name).is_some_and(|o| o.value == value);
        let records = run.options.get("recordcount");
        if is("command", "load") || is("dotransactions", "false") {
            let by_hand = run.command.iter().any(|w| w.starts_with("recordcount="));
            let rows = records.and_then(|o| o.value.parse().ok());
            let line = imported.option_lines.get("recordcount").copied();
            let line = line.unwrap_or(imported.first_line);
            loaded = rows.filter(|_| by_hand).map(|rows: f64| (rows, line));
        } else if let (Some((rows, line)), None) = (loaded, records) {
            found.push(added(at, "loaded_records", rows, 0.0, vec![line]));
        }
    }
    found
}
