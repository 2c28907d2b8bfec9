//! Looking at what was loaded: rows, key range, and a sample of values.

use super::decide::mark_loaded;
use super::{LoadSpec, on_session, plans, statement};
use crate::error::EngineError;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tidemark_drivers::{Connector, RowWriter, Sample, Sampler, Session, catalog, journal};
use tidemark_runtime::Executor;
use tidemark_workloads::{TablePlan, Workload};

/// Rows of each table that are compared value by value, spread evenly over the table.
const SAMPLE_ROWS: u64 = 64;

/// One table as it was found after a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// Table name.
    pub table: String,
    /// Rows asked for.
    pub expected_rows: u64,
    /// `COUNT(*)`.
    pub rows: u64,
    /// Smallest and largest key, where the table has one.
    pub keys: Option<(i64, i64)>,
    /// Whether the keys are asked to be 1 to `expected_rows`.
    pub has_key: bool,
    /// Rows of the sample that were compared value by value.
    pub sampled: u64,
    /// Of them, rows that are not what was loaded.
    pub mismatches: u64,
    /// CRC-32 over the sample's values as they were read, in hexadecimal.
    pub checksum: String,
}

impl TableReport {
    /// What is wrong with the table, if anything is.
    pub fn complaint(&self) -> Option<String> {
        let table = &self.table;
        if self.rows != self.expected_rows {
            return Some(format!(
                "table {table} has {} rows, {} were loaded",
                self.rows, self.expected_rows
            ));
        }
        let expected = (1, i64::try_from(self.expected_rows).unwrap_or(i64::MAX));
        if self.has_key && self.rows > 0 && self.keys != Some(expected) {
            return Some(format!(
                "table {table} has the keys {:?}, {expected:?} were loaded",
                self.keys.unwrap_or_default()
            ));
        }
        (self.mismatches > 0).then(|| {
            format!(
                "table {table}: {} of {} sampled rows differ from what was loaded",
                self.mismatches, self.sampled
            )
        })
    }
}

/// Looks at every table, several at a time; those in order are marked as loaded, and the journal is
/// dropped.
///
/// # Errors
/// The server's error. A table that is not in order is told in its report.
pub(super) fn verify(
    connector: &Connector,
    workload: &Arc<dyn Workload>,
    spec: &LoadSpec,
) -> Result<Vec<TableReport>, EngineError> {
    let (seed, threads, terminals) = (spec.seed, spec.threads, spec.terminals);
    let plans = {
        let workload = Arc::clone(workload);
        on_session(connector, async move |session: &mut Session| {
            plans(workload.as_ref(), session, terminals)
        })?
    };
    let lanes = if connector.is_blocking() {
        1
    } else {
        threads.clamp(1, plans.len().max(1))
    };
    let found: Rc<RefCell<Vec<_>>> = Rc::new(RefCell::new(vec![None; plans.len()]));
    let plans = Rc::new(plans);
    let mut executor = Executor::new()?;
    for lane in 0..lanes {
        let (connector, workload) = (connector.clone(), Arc::clone(workload));
        let (plans, found) = (Rc::clone(&plans), Rc::clone(&found));
        executor.spawn(async move {
            let session = connector.connect(lane).await;
            let mut session = match session {
                Ok(session) => session,
                Err(error) => {
                    let error = EngineError::Connect {
                        session: lane,
                        error,
                    };
                    if let Some(slot) = found.borrow_mut().get_mut(lane) {
                        *slot = Some(Err(error));
                    }
                    return;
                }
            };
            for index in (lane..plans.len()).step_by(lanes) {
                let report =
                    look(&mut session, workload.as_ref(), index, &plans[index], seed).await;
                found.borrow_mut()[index] = Some(report);
            }
            session.close().await;
        });
    }
    executor.run()?;
    drop(executor);
    let reports: Result<Vec<_>, _> = found.take().into_iter().flatten().collect();
    let reports = reports?;
    if reports.len() < plans.len() {
        return Err(EngineError::Check("not every table was looked at".into()));
    }
    on_session(connector, async move |session: &mut Session| {
        journal::drop_if_empty(session).await.map_err(statement)
    })?;
    Ok(reports)
}

/// Looks at one table, and marks it when it is in order.
async fn look(
    session: &mut Session,
    workload: &dyn Workload,
    index: usize,
    plan: &TablePlan,
    seed: u64,
) -> Result<TableReport, EngineError> {
    let rows = catalog::row_count(session, &plan.name)
        .await
        .map_err(statement)?;
    let keys = match plan.key {
        None => None,
        Some(key) => catalog::key_range(session, &plan.name, key)
            .await
            .map_err(statement)?,
    };
    let sample = sample(session, workload, index, plan, seed).await?;
    let report = TableReport {
        table: plan.name.clone(),
        expected_rows: plan.rows,
        rows,
        keys,
        has_key: plan.key.is_some(),
        sampled: sample.rows,
        mismatches: sample.mismatches,
        checksum: sample.checksum,
    };
    if report.complaint().is_none() {
        let mark = mark_loaded(plan, seed);
        catalog::mark_table(session, &plan.name, &mark)
            .await
            .map_err(statement)?;
        journal::forget(session, &plan.name)
            .await
            .map_err(statement)?;
    }
    Ok(report)
}

/// Compares rows spread evenly over the table, first and last included.
async fn sample(
    session: &mut Session,
    workload: &dyn Workload,
    index: usize,
    plan: &TablePlan,
    seed: u64,
) -> Result<Sample, EngineError> {
    let key = plan
        .key
        .and_then(|key| plan.columns.iter().position(|c| *c == key));
    let Some(key) = key else {
        return Ok(Sample::default());
    };
    let mut sampler = Sampler::new(&plan.name, plan.columns, key);
    let rows = SAMPLE_ROWS.min(plan.rows);
    for nth in 0..rows {
        let row = if rows > 1 {
            nth * (plan.rows - 1) / (rows - 1)
        } else {
            0
        };
        let mut loaded = Vec::new();
        workload
            .rows(index, row, 1, seed)
            .next_row(&mut RowWriter::tsv(&mut loaded));
        sampler.compare(session, &loaded).await.map_err(statement)?;
    }
    Ok(sampler.finish())
}
