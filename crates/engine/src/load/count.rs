//! Counting a chunk's rows before they are committed, while the server still has them in memory: a
//! table larger than its memory would be read from disk to be counted at the end.

use super::board::LoadTask;
use tidemark_core::{DbError, Isolation};
use tidemark_drivers::{RowWriter, Session, catalog, default_level};
use tidemark_workloads::{TablePlan, Workload};

/// Whether a chunk's range of keys is known to hold exactly its rows. The ranges of all chunks cover
/// every key there can be, so that a table had exactly its rows, each range when it was counted.
///
/// # Errors
/// The server's error.
pub(super) async fn holds_its_rows(
    session: &mut Session,
    workload: &dyn Workload,
    task: &LoadTask,
    (first, units): (u64, u64),
    seed: u64,
) -> Result<bool, DbError> {
    let plan = &task.plan;
    let Some(column) = plan.ascending else {
        return Ok(false);
    };
    if !task.transactional || !session.dialect().keeps_rows_by_key() {
        return Ok(false);
    }
    // Reading locks there, and would wait for the chunk behind this one.
    if default_level(session).await? == Some(Isolation::Serializable) {
        return Ok(false);
    }
    let key = |unit| key_of(workload, task.index, plan, unit, seed);
    let next = first.saturating_add(units);
    let (has_lower, has_upper) = (first > 0, next < plan.rows);
    let from = has_lower.then(|| key(first)).flatten();
    let below = has_upper.then(|| key(next)).flatten();
    // A unit without rows has no key.
    if has_lower != from.is_some() || has_upper != below.is_some() {
        return Ok(false);
    }
    let rows = catalog::row_count_between(session, &plan.name, column, (from, below)).await?;
    Ok(rows == task.rows)
}

/// The ascending column of a unit's first row.
fn key_of(
    workload: &dyn Workload,
    index: usize,
    plan: &TablePlan,
    unit: u64,
    seed: u64,
) -> Option<i64> {
    let at = plan
        .columns
        .iter()
        .position(|c| Some(*c) == plan.ascending)?;
    let mut row = Vec::new();
    let mut rows = workload.rows(index, unit, 1, seed);
    if !rows.next_row(&mut RowWriter::tsv(&mut row)) {
        return None;
    }
    let value = row.split(|b| *b == b'\t').nth(at)?;
    std::str::from_utf8(value).ok()?.parse().ok()
}
