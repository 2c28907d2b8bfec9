//! `workloads`, `runs`, `show`, `report`, `delete`.

use crate::args;
use crate::exit::{ExitCode, Failure};
use crate::render::{self, Format};
use crate::storing::store_path;
use std::path::Path;
use tidemark_core::record::RunRecord;
use tidemark_store::{Filter, Store, StoreError, from_json, to_json};
use tidemark_workloads::registry;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NoSuchRun { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::NoSuchStudy { .. }
            | StoreError::StudyGoesOn { .. }
            | StoreError::StudyElsewhere { .. }
            | StoreError::Absent { .. } => ExitCode::Usage,
            _ => ExitCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    crate::output::print(text);
    Ok(ExitCode::Success)
}

fn open(store: &args::StoreArg) -> Result<Store, Failure> {
    Ok(Store::open_existing(&store_path(store.store.as_deref())?)?)
}

/// Lists the workloads.
pub fn workloads() -> Result<ExitCode, Failure> {
    let width = registry().iter().map(|d| d.name.len()).max().unwrap_or(0);
    let lines: String = registry()
        .iter()
        .map(|d| format!("{:width$}  {}\n", d.name, d.summary))
        .collect();
    print(&lines)
}

/// Lists the runs.
pub fn list(list: &args::List) -> Result<ExitCode, Failure> {
    let path = store_path(list.store.store.as_deref())?;
    let filter = Filter {
        workload: list.workload.clone(),
        limit: Some(list.limit),
        ..Filter::default()
    };
    let runs = match Store::open_existing(&path) {
        Ok(store) => store.list(&filter)?,
        Err(StoreError::Absent { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    if runs.is_empty() && list.workload.is_some() {
        return print("no runs of this workload\n");
    }
    if runs.is_empty() {
        return print("no runs yet; begin with: tidemark demo\n");
    }
    let mut text = format!(
        "{:36}  {:16}  {:11}  {:22}  {:>8}  {:>12}  {:>10}  target\n",
        "id", "started (UTC)", "state", "workload", "sessions", "tx/s", "p95 ms"
    );
    for run in runs {
        let started: String = run.started_at.chars().take(16).collect();
        let p95 = run.p95_ms.map_or("-".into(), |p| format!("{p:.2}"));
        text.push_str(&format!(
            "{:36}  {:16}  {:11}  {:22}  {:>8}  {:>12.2}  {:>10}  {}\n",
            run.id,
            started.replace('T', " "),
            run.state.to_string(),
            run.workload,
            run.sessions,
            run.transactions_per_s(),
            p95,
            run.target
        ));
    }
    print(&text)
}

fn find(store: &args::StoreArg, id: &str) -> Result<RunRecord, Failure> {
    let store = open(store)?;
    let id = whole_id(&store, id)?;
    Ok(store.get(&id)?)
}

/// The id meant: `last` is the newest's.
fn whole_id(store: &Store, id: &str) -> Result<String, Failure> {
    match id {
        "last" => store
            .latest()?
            .ok_or_else(|| Failure::usage("no runs yet; begin with: tidemark demo")),
        id => Ok(id.into()),
    }
}

/// Prints one run.
pub fn show(show: &args::Show) -> Result<ExitCode, Failure> {
    let record = find(&show.store, &show.id)?;
    if show.json {
        let text = to_json(&record).map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
        return print(&text);
    }
    print(&render::render(&record, Format::Text, &show.lang)?)
}

/// The record that a word names: a file written by `--out`, or a run of the store.
///
/// # Errors
/// [`Failure`] when there is none, or it can't be read.
pub fn record_of(store: &args::StoreArg, name: &str) -> Result<RunRecord, Failure> {
    let file = Path::new(name);
    if !(file.extension().is_some_and(|e| e == "json") || file.is_file()) {
        return find(store, name);
    }
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::usage(format!("{shown}: can't be read: {e}")))?;
    from_json(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))
}

/// Writes one run's report.
pub fn report(report: &args::Report) -> Result<ExitCode, Failure> {
    let format = Format::of(&report.out)?;
    let record = record_of(&report.store, &report.run)?;
    render::write(&record, &report.out, format, &report.lang)?;
    print(&format!("{}\n", report.out.display()))
}

/// Deletes one run.
pub fn delete(one: &args::One) -> Result<ExitCode, Failure> {
    let mut store = open(&one.store)?;
    let id = whole_id(&store, &one.id)?;
    let deleted = store.delete(&id)?;
    print(&format!("deleted run {deleted}\n"))
}
