//! What follows a table's rows: indexes, sequences, foreign keys.

use tidemark_core::DbError;
use tidemark_drivers::{Session, catalog};
use tidemark_workloads::TablePlan;

/// Makes the indexes that are missing (an earlier, unfinished load may have made some), and sets
/// sequences.
///
/// # Errors
/// The server's error.
pub(super) async fn indexes(session: &mut Session, plan: &TablePlan) -> Result<(), DbError> {
    let found = catalog::describe_table(session, &plan.name).await?;
    let is_there = |sql: &str| {
        found.as_ref().is_some_and(|table| {
            let has_key = !table.primary_key.is_empty() && makes_primary_key(sql);
            has_key || table.indexes.iter().any(|i| names(sql, &i.name))
        })
    };
    let missing = plan.indexes.iter().filter(|sql| !is_there(sql));
    for sql in missing.chain(&plan.finish) {
        session.query(sql).await?;
    }
    Ok(())
}

/// Whether a table gets indexes beside its primary key.
pub(super) fn has_secondary(plan: &TablePlan) -> bool {
    plan.indexes.iter().any(|sql| !makes_primary_key(sql))
}

fn makes_primary_key(sql: &str) -> bool {
    sql.contains(" PRIMARY KEY ")
}

/// Makes what needs all tables, as far as it is missing: foreign keys.
///
/// # Errors
/// The server's error.
pub(super) async fn after_all(session: &mut Session, plan: &TablePlan) -> Result<(), DbError> {
    let there = catalog::foreign_keys(session, &plan.name).await?;
    let is_there = |sql: &str| there.iter().any(|name| names(sql, name));
    for sql in plan.after_all.iter().filter(|sql| !is_there(sql)) {
        session.query(sql).await?;
    }
    Ok(())
}

/// Whether a statement names something: an index, a constraint.
fn names(sql: &str, name: &str) -> bool {
    sql.split_whitespace().any(|word| word == name)
}
