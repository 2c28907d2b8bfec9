//! What else was different: options, settings, versions, hosts, durations, data.

use crate::notation::canonical;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::Engine;
use tidemark_core::record::{Phase, RateUnit, RunRecord, RunState, TableState};

/// What a run has no value of, beside others that have.
const NOT_THERE: &str = "–";
/// Measured times closer than this share are equal.
const SAME_TIME: f64 = 0.05;

/// Something that was not the same in both groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What: `option threads`, `setting innodb_buffer_pool_size`, `server version`.
    pub what: String,
    /// The first group's values, in the order of its runs, each once; none where it has none.
    pub a: Vec<String>,
    /// The second's.
    pub b: Vec<String>,
}

/// What may differ of a run: its own facts, its options, the server's settings.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    named: [Vec<(String, String)>; 2],
    /// Of settings, by name.
    settings: Vec<(String, String)>,
    engine: Option<Engine>,
    pub elapsed_s: f64,
    /// Whether it is of a document, and of a table in one.
    pub is_imported: bool,
    pub is_table: bool,
    /// Of facts that say how many rows a table had, how many its options ask for; `None` where they
    /// don't tell.
    asked_rows: BTreeMap<String, Option<u64>>,
}

impl Facts {
    pub fn of(run: &RunRecord) -> Self {
        Self {
            named: [own_facts(run), options(run)],
            settings: settings(run),
            engine: run.server.as_ref().map(|server| server.engine),
            elapsed_s: run.totals.elapsed_s,
            is_imported: run.imported.is_some(),
            is_table: run.imported.as_ref().is_some_and(|of| of.tool == "table"),
            asked_rows: run
                .tables_before
                .iter()
                .map(|t| (rows_name(t), t.expected_rows))
                .collect(),
        }
    }

    /// The run's own facts (0), or its options (1).
    fn of_kind(&self, kind: usize) -> Vec<(String, String)> {
        self.named.get(kind).cloned().unwrap_or_default()
    }
}

/// Each fact with its values, in the order of the runs, each once.
type Values = BTreeMap<String, Vec<String>>;

/// What was not the same in all runs of both sides, the runs' own facts first, then options, then
/// settings. What varies within a side is told, too: the sides are then no two conditions.
pub(crate) fn between(a: &[&Facts], b: &[&Facts]) -> Vec<Difference> {
    let mut found = Vec::new();
    let same_data = same_data(a.iter().chain(b).copied());
    for kind in 0..2 {
        let of = |facts: &'_ Facts| facts.of_kind(kind);
        let mut differing = differing(&together(a, of), &together(b, of), |_, value| value.into());
        let follows =
            |name: &str| follows_from_options(a.iter().chain(b).copied(), name, same_data);
        differing.retain(|d| !d.what.starts_with(ROWS) || !follows(&d.what));
        found.extend(differing);
    }
    if have_common_settings(a, b) {
        let of = |facts: &'_ Facts| facts.settings.clone();
        let engine = a.iter().chain(b).find_map(|facts| facts.engine);
        let one = |name: &str, value: &str| match engine {
            Some(engine) => canonical(engine, name, value),
            None => value.into(),
        };
        let (mut of_a, mut of_b) = (together(a, of), together(b, of));
        if engines(a, b).len() > 1 {
            of_a.retain(|name, _| of_b.contains_key(name));
            of_b.retain(|name, _| of_a.contains_key(name));
        }
        let differing = differing(&of_a, &of_b, one).into_iter();
        found.extend(differing.map(|d| Difference {
            what: format!("setting {}", d.what),
            ..d
        }));
    }
    found.extend(measured_time(a, b));
    found
}

/// Whether all were to have the same tables with the same rows.
fn same_data<'f>(mut runs: impl Iterator<Item = &'f Facts>) -> bool {
    let first = runs.next().map(|facts| &facts.asked_rows);
    runs.all(|facts| Some(&facts.asked_rows) == first)
}

/// Whether a table's rows are what the options ask for, which tell it by themselves. Of a table of a
/// random number of rows that follows from the others' sizes.
fn follows_from_options<'f>(
    mut runs: impl Iterator<Item = &'f Facts>,
    name: &str,
    same_data: bool,
) -> bool {
    runs.all(|facts| {
        let mut rows = facts.of_kind(0).into_iter().filter(|(n, _)| n == name);
        match (rows.next(), facts.asked_rows.get(name)) {
            (Some((_, rows)), Some(Some(asked))) => rows == asked.to_string(),
            (Some(_), _) => !same_data,
            (None, _) => true,
        }
    })
}

/// Whether the groups' settings can be told beside each other. Of two engines these are the ones
/// that both have, where one came from the other: MySQL and MariaDB, PostgreSQL and YugabyteDB.
/// Others have little but names in common.
pub(super) fn have_common_settings(a: &[&Facts], b: &[&Facts]) -> bool {
    match engines(a, b).as_slice() {
        [] | [_] => true,
        [first, others @ ..] => {
            !first.has_its_own_settings()
                && others
                    .iter()
                    .all(|e| e.protocol() == first.protocol() && !e.has_its_own_settings())
        }
    }
}

/// The engines of both groups, each once.
fn engines(a: &[&Facts], b: &[&Facts]) -> Vec<Engine> {
    let mut engines = Vec::new();
    for engine in a.iter().chain(b).filter_map(|facts| facts.engine) {
        if !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    engines
}

/// What is not the same in all of both, in one notation.
fn differing(of_a: &Values, of_b: &Values, one: impl Fn(&str, &str) -> String) -> Vec<Difference> {
    let names: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let differing = names.into_iter().filter_map(|name| {
        let values = |of: &Values| of.get(name).cloned().unwrap_or_default();
        let (a, b) = (values(of_a), values(of_b));
        let set = |values: &[String]| -> BTreeSet<String> {
            values.iter().map(|value| one(name, value)).collect()
        };
        let what = name.clone();
        let (of_a, of_b) = (set(&a), set(&b));
        let differs = of_a != of_b || of_a.len() > 1;
        differs.then_some(Difference { what, a, b })
    });
    differing.collect()
}

fn together(runs: &[&Facts], of: impl Fn(&Facts) -> Vec<(String, String)>) -> Values {
    let mut together = Values::new();
    let mut having: BTreeMap<String, usize> = BTreeMap::new();
    for (name, value) in runs.iter().flat_map(|facts| of(facts)) {
        *having.entry(name.clone()).or_default() += 1;
        let values = together.entry(name).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    // What some runs of a side have and others have not is not the same in all of them.
    for (name, values) in &mut together {
        if having.get(name).is_some_and(|n| *n < runs.len()) {
            values.push(NOT_THERE.into());
        }
    }
    together
}

fn own_facts(run: &RunRecord) -> Vec<(String, String)> {
    let warmup = run.intervals.iter().filter(|i| i.phase == Phase::Warmup);
    let warmup_s = warmup.map(|i| i.length_ms).fold(0.0, |sum, ms| sum + ms) / 1000.0;
    let mut facts = vec![
        ("workload", run.workload.clone()),
        ("state", state(&run.state).into()),
        ("target", run.target.clone()),
        ("tidemark version", run.tidemark_version.clone()),
        ("sessions", run.sessions.to_string()),
        ("sessions opened", opened(run)),
        ("executor threads", run.executors.to_string()),
        ("client host", run.client.hostname.clone()),
        ("client kernel", run.client.kernel.clone()),
        ("client CPU", run.client.cpu_model.clone()),
        ("client cores", run.client.cores.to_string()),
        ("client memory", run.client.memory_bytes.to_string()),
        ("warm-up (s)", format!("{warmup_s:.0}")),
    ];
    if let Some(server) = &run.server {
        facts.push(("server", server.engine.to_string()));
        let version = crate::setup::version(server.engine, &server.version);
        facts.push(("server version", version.into()));
    }
    let unit = match run.rate_unit() {
        _ if run.imported.is_none() => None,
        RateUnit::Transactions => Some("transactions/s"),
        RateUnit::Statements => Some("statements/s"),
        RateUnit::NewOrders => Some("NOPM"),
    };
    facts.extend(unit.map(|unit| ("throughput in", unit.to_string())));
    if let Some(isolation) = run.isolation {
        facts.push(("isolation", isolation.name().into()));
    }
    let facts = facts
        .into_iter()
        .map(|(name, value)| (name.to_string(), value));
    let tables = run.tables_before.iter();
    let rows = tables.map(|t| (rows_name(t), t.rows.to_string()));
    facts.chain(rows).collect()
}

/// How the name of a fact about a table's rows begins.
const ROWS: &str = "rows of ";

fn rows_name(table: &TableState) -> String {
    format!("{ROWS}{} before", table.table)
}

fn state(state: &RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed(_) => "failed",
    }
}

fn opened(run: &RunRecord) -> String {
    run.sessions_opened.unwrap_or(run.sessions).to_string()
}

fn options(run: &RunRecord) -> Vec<(String, String)> {
    let options = run.options.iter();
    options
        // Runs that are observed otherwise are repeats, but observing costs some throughput (bench/README.md).
        .filter(|(name, _)| crate::setup::matters(name) || *name == "observe")
        .map(|(name, option)| (format!("option {name}"), option.value.clone()))
        .collect()
}

fn settings(run: &RunRecord) -> Vec<(String, String)> {
    let settings = run.settings.iter();
    settings
        .map(|s| (s.name.clone(), s.value.clone()))
        .collect()
}

fn measured_time(a: &[&Facts], b: &[&Facts]) -> Option<Difference> {
    let times = |runs: &[&Facts]| -> Vec<f64> { runs.iter().map(|r| r.elapsed_s).collect() };
    let (a, b) = (times(a), times(b));
    let all = || a.iter().chain(&b).copied();
    let (least, most) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    );
    let shown = |times: &[f64]| times.iter().map(|s| format!("{s:.1}")).collect();
    (most > least * (1.0 + SAME_TIME)).then(|| Difference {
        what: "measured (s)".into(),
        a: shown(&a),
        b: shown(&b),
    })
}
