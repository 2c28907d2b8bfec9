//! Looking at what was loaded: rows, key range, and a sample of values.

use super::LoadSpec;
use super::board::LoadTask;
use super::mark::{self, Mark};
use std::time::{Duration, Instant};
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::catalog::{self, Summed};
use tidemark_drivers::{RowWriter, SampleComparison, Sampler, Session};
use tidemark_workloads::{TablePlan, Workload};

/// Units of each table whose rows are compared value by value, spread evenly over the table.
const SAMPLE_UNITS: u64 = 64;
/// Tables with at most so many rows are compared whole where a drop depends on it.
pub(super) const MOST_COMPARED: u64 = 100_000;

/// One table as it was found after a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// Table name.
    pub table: String,
    /// Rows asked for.
    pub expected_rows: u64,
    /// `COUNT(*)`, or the sum of the chunks' where each was counted before its commit.
    pub rows: u64,
    /// Whether that is the chunks' sum: rows that came or went after their chunk's count are not in it.
    pub counted_by_chunks: bool,
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
    /// Another client of the same load looked at it, and found all in order; then only the rows
    /// are told.
    pub elsewhere: bool,
    /// Time that refreshing the planner's statistics took, where the engine has a statement for it.
    pub refreshed: Option<Duration>,
}

impl TableReport {
    /// Of a table that another client looked at.
    pub(super) fn elsewhere(table: String, rows: u64) -> Self {
        Self {
            table,
            expected_rows: rows,
            rows,
            counted_by_chunks: false,
            keys: None,
            has_key: false,
            sampled: 0,
            mismatches: 0,
            checksum: String::new(),
            elsewhere: true,
            refreshed: None,
        }
    }

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

/// Looks at one table, and marks it when it is in order. Its rows are not counted again where
/// `counted` says how many they are.
///
/// # Errors
/// The server's error. A table that is not in order is told in its report.
pub(super) async fn look(
    session: &mut Session,
    workload: &dyn Workload,
    task: &LoadTask,
    counted: Option<u64>,
    spec: &LoadSpec,
) -> Result<TableReport, DbError> {
    let seed = spec.seed;
    let (index, plan) = (task.index, task.plan.as_ref());
    let refreshed = refresh(session, &plan.name).await?;
    let rows = match counted {
        Some(rows) => rows,
        None => catalog::row_count(session, &plan.name).await?,
    };
    let keys = match plan.key {
        None => None,
        Some(key) => catalog::key_range(session, &plan.name, key).await?,
    };
    let expected_rows = workload.row_count(index, 0, plan.rows, seed);
    let text = catalog::table_mark(session, &plan.name).await?;
    let mark = text.as_deref().and_then(Mark::of);
    // Of a load that went on, or was cut off between this look and its line in the journal, what was
    // there may have been changed in between.
    let resumed = mark.is_some_and(|m| (m.resumed || m.loaded) && m.owner.is_some());
    let units = match resumed && expected_rows <= MOST_COMPARED {
        true => vec![(0, plan.rows)],
        false => spread(plan),
    };
    let sample = compare(session, workload, (index, plan), seed, &units).await?;
    let sample = sample.unwrap_or_default();
    let report = TableReport {
        table: plan.name.clone(),
        expected_rows,
        rows,
        counted_by_chunks: counted.is_some(),
        keys,
        has_key: plan.key.is_some(),
        sampled: sample.rows,
        mismatches: sample.mismatches,
        checksum: sample.checksum,
        elsewhere: false,
        refreshed,
    };
    if report.complaint().is_none() {
        // Others may have made some of the rows.
        let owner = spec.owner();
        let owner = owner.filter(|owner| mark.and_then(|m| m.owner) == Some(owner));
        let owned = match owner {
            Some(owner) => owned(session, &report, spec, owner, resumed).await?,
            None => None,
        };
        let owned = owned.as_ref().map(|(id, c)| (id.as_str(), c.as_str()));
        let mark = mark::loaded(plan, seed, owned);
        catalog::mark_table(session, &plan.name, &mark).await?;
    }
    Ok(report)
}

/// The owner of a table whose rows were all made on its behalf, and the table's contents. A load that
/// went on tells a sum over all rows only if it has compared them all.
async fn owned(
    session: &mut Session,
    report: &TableReport,
    spec: &LoadSpec,
    owner: &str,
    resumed: bool,
) -> Result<Option<(String, String)>, DbError> {
    // Where no later load replaces the table, no drop depends on the sum of many rows.
    let summed = match spec.study.as_ref().is_some_and(|s| s.sums) {
        _ if resumed && report.sampled < report.expected_rows => Summed::UpTo(0),
        true => Summed::All,
        false => Summed::UpTo(spec.summed_rows),
    };
    let contents = catalog::contents_with(session, &report.table, summed).await?;
    // Rows that came since they were counted are not the load's.
    let contents = contents.filter(|c| catalog::rows_in(c) == Some(report.expected_rows));
    Ok(contents.map(|c| (owner.to_string(), c)))
}

/// Refreshes the planner's statistics; `None` where the engine does so by itself, or the account may
/// not.
async fn refresh(session: &mut Session, table: &str) -> Result<Option<Duration>, DbError> {
    let begun = Instant::now();
    let statements = session.dialect().refresh(table);
    for sql in &statements {
        match session.query(sql).await {
            Ok(_) => {}
            Err(e) if matches!(e.class, ErrorClass::ConnectionLost | ErrorClass::Retryable) => {
                return Err(e);
            }
            Err(_) => {
                session.rollback().await?;
                return Ok(None);
            }
        }
    }
    Ok((!statements.is_empty()).then(|| begun.elapsed()))
}

/// A range of units: the first, and how many.
type Units = (u64, u64);

/// Units spread evenly over the table, first and last included.
fn spread(plan: &TablePlan) -> Vec<Units> {
    let units = SAMPLE_UNITS.min(plan.rows);
    let last = plan.rows.saturating_sub(1);
    let place = |nth: u64| nth * last / (units - 1).max(1);
    (0..units).map(|nth| (place(nth), 1)).collect()
}

/// Compares the rows of these units with what the load makes; `None` of a table
/// without a key that finds a row.
///
/// # Errors
/// The server's error.
pub(super) async fn compare(
    session: &mut Session,
    workload: &dyn Workload,
    (index, plan): (usize, &TablePlan),
    seed: u64,
    units: &[Units],
) -> Result<Option<SampleComparison>, DbError> {
    let names = match plan.row_key {
        [] => plan.key.as_slice(),
        key => key,
    };
    let at = |name: &&str| plan.columns.iter().position(|c| c == name);
    let columns: Vec<usize> = names.iter().filter_map(at).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let mut sampler = Sampler::new(&plan.name, plan.columns, &columns);
    let mut row = Vec::new();
    for (first, count) in units {
        let mut rows = workload.rows(index, *first, *count, seed);
        while rows.next_row(&mut RowWriter::tsv(&mut row)) {
            sampler.compare(session, &row).await?;
            row.clear();
        }
    }
    sampler.finish(session).await.map(Some)
}
