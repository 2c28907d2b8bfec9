//! The family's rows of the registry.

use super::Oltp;
use super::bulk::BulkInsert;
use super::options::{BATCH, COMMON, RANDOM_POINTS, RANDOM_RANGES};
use super::plan::{Plan, StatementGroup};
use super::settings::Settings;
use super::sql::OltpStatement;
use crate::{CommandLine, Definition, Family, Runs, Workload};
use std::sync::Arc;
use tidemark_core::{OptionError, OptionSpec, OptionValues};

type Built = Result<Arc<dyn Workload>, OptionError>;
/// A workload's one transaction type, which has its name.
type Name = &'static [&'static str; 1];

const fn oltp(
    name: &'static str,
    summary: &'static str,
    options: &'static [&'static [OptionSpec]],
    build: fn(&OptionValues) -> Built,
) -> Definition {
    Definition {
        name,
        family: "oltp",
        summary,
        options,
        build,
    }
}

/// The family's row of the registry.
pub const FAMILY: Family = Family {
    name: "oltp",
    title: "sysbench OLTP",
    definitions: DEFINITIONS,
    command: CommandLine::SYSBENCH,
    data: "sbtest",
    clashes_with: &[],
    load_s: |options| options.float("tables") * options.float("table-size") / ROWS_PER_S,
    runs: Runs::Transactions,
};

/// Rows that a load makes a second.
const ROWS_PER_S: f64 = 150_000.0;

/// Every workload of the family.
pub const DEFINITIONS: &[Definition] = &[
    oltp(
        "oltp_point_select",
        "One SELECT by primary key",
        &[COMMON],
        |v| single(&["oltp_point_select"], v, StatementGroup::Points(1)),
    ),
    oltp(
        "oltp_read_only",
        "Point and range SELECTs in a transaction",
        &[COMMON],
        |v| transaction(&["oltp_read_only"], v, reads),
    ),
    oltp(
        "oltp_read_write",
        "Point and range SELECTs, UPDATEs, DELETE and INSERT in a transaction",
        &[COMMON],
        |v| transaction(&["oltp_read_write"], v, |s| [reads(s), writes(s)].concat()),
    ),
    oltp(
        "oltp_write_only",
        "UPDATEs, DELETE and INSERT in a transaction",
        &[COMMON],
        |v| transaction(&["oltp_write_only"], v, writes),
    ),
    oltp("oltp_insert", "One INSERT of one row", &[COMMON], |v| {
        single(&["oltp_insert"], v, StatementGroup::InsertText)
    }),
    oltp("oltp_delete", "One DELETE by primary key", &[COMMON], |v| {
        single(&["oltp_delete"], v, StatementGroup::Delete(1))
    }),
    oltp(
        "oltp_update_index",
        "One UPDATE of the indexed column by primary key",
        &[COMMON],
        |v| single(&["oltp_update_index"], v, StatementGroup::UpdateIndex(1)),
    ),
    oltp(
        "oltp_update_non_index",
        "One UPDATE of an unindexed column by primary key",
        &[COMMON],
        |v| {
            single(
                &["oltp_update_non_index"],
                v,
                StatementGroup::UpdateNonIndex(1),
            )
        },
    ),
    oltp(
        "bulk_insert",
        "Rows with ascending keys in large INSERTs, one table per session",
        &[],
        |_| Ok(Arc::new(BulkInsert)),
    ),
    oltp(
        "select_random_points",
        "One SELECT of the rows of many random values of the indexed column",
        &[COMMON, RANDOM_POINTS],
        |v| single(&["select_random_points"], v, StatementGroup::RandomPoints),
    ),
    oltp(
        "select_random_ranges",
        "One SELECT that counts the rows of many random ranges of the indexed column",
        &[COMMON, RANDOM_RANGES],
        |v| single(&["select_random_ranges"], v, StatementGroup::RandomRanges),
    ),
    oltp(
        "oltp_insert_batch",
        "One INSERT of many rows",
        &[COMMON, BATCH],
        |v| single(&["oltp_insert_batch"], v, StatementGroup::InsertBatch),
    ),
    oltp(
        "oltp_upsert_batch",
        "One INSERT of many rows that updates the rows that exist",
        &[COMMON, BATCH],
        upsert_batch,
    ),
];

fn built(name: Name, settings: Settings, steps: Vec<StatementGroup>, transactional: bool) -> Built {
    Ok(Arc::new(Oltp {
        types: name,
        plan: Arc::new(Plan::new(settings, steps, transactional)),
    }))
}

/// A workload of one statement, without a transaction around it.
fn single(name: Name, values: &OptionValues, step: StatementGroup) -> Built {
    built(name, Settings::new(values)?, vec![step], false)
}

fn transaction(
    name: Name,
    values: &OptionValues,
    steps: fn(&Settings) -> Vec<StatementGroup>,
) -> Built {
    let settings = Settings::new(values)?;
    let steps = steps(&settings);
    built(name, settings, steps, true)
}

fn reads(s: &Settings) -> Vec<StatementGroup> {
    let mut steps = vec![StatementGroup::Points(s.point_selects)];
    if s.range_selects {
        steps.extend([
            StatementGroup::Ranges(OltpStatement::SimpleRange, s.simple_ranges),
            StatementGroup::Ranges(OltpStatement::SumRange, s.sum_ranges),
            StatementGroup::Ranges(OltpStatement::OrderRange, s.order_ranges),
            StatementGroup::Ranges(OltpStatement::DistinctRange, s.distinct_ranges),
        ]);
    }
    steps
}

fn writes(s: &Settings) -> Vec<StatementGroup> {
    vec![
        StatementGroup::UpdateIndex(s.index_updates),
        StatementGroup::UpdateNonIndex(s.non_index_updates),
        StatementGroup::DeleteInsert(s.delete_inserts),
    ]
}

fn upsert_batch(values: &OptionValues) -> Built {
    let settings = Settings::new(values)?;
    if settings.secondary {
        return Err(OptionError::Conflict(
            "oltp_upsert_batch finds rows by the primary key: it can't run with --secondary".into(),
        ));
    }
    if u64::from(settings.batch_size) > settings.table_size {
        return Err(OptionError::Conflict(format!(
            "--batch-size={} needs as many different keys: --table-size={} has too few",
            settings.batch_size, settings.table_size
        )));
    }
    built(
        &["oltp_upsert_batch"],
        settings,
        vec![StatementGroup::UpsertBatch],
        false,
    )
}
