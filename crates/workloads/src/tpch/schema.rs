//! How the tables are made: with keys and indexes, as the options ask and the engine can.

use super::settings::Settings;
use super::tables::{ForeignKey, Table};
use crate::{Prewarm, TablePlan};
use tidemark_core::OptionError;
use tidemark_drivers::Dialect;

/// How every table is made, filled and checked.
pub(super) fn plans(settings: &Settings, dialect: &Dialect) -> Result<Vec<TablePlan>, OptionError> {
    Table::ALL
        .into_iter()
        .map(|table| plan(table, settings, dialect))
        .collect()
}

fn plan(table: Table, settings: &Settings, dialect: &Dialect) -> Result<TablePlan, OptionError> {
    let shape = table.shape();
    let name = shape.name;
    let columns = shape.columns.iter();
    let mut lines: Vec<String> = columns
        .map(|(column, kind)| format!("{column} {kind}"))
        .collect();
    let key = format!("PRIMARY KEY ({})", shape.key.join(", "));
    let mut indexes = Vec::new();
    if dialect.adds_primary_key_later() {
        // The name that the engine itself would give it.
        indexes.push(format!(
            "ALTER TABLE {name} ADD CONSTRAINT {name}_pkey {key}"
        ));
    } else {
        lines.push(key);
    }
    if settings.indexes {
        indexes.extend(shape.foreign.iter().filter_map(|key| {
            let columns = key.columns.join(", ");
            Some(format!("CREATE INDEX {} ON {name} ({columns})", key.index?))
        }));
    }
    let create = format!(
        "CREATE TABLE {name} (\n  {}\n) {}",
        lines.join(",\n  "),
        dialect.storage_engine("innodb")
    );
    Ok(TablePlan {
        name: name.into(),
        create: vec![create.trim_end().into()],
        columns: shape.names,
        rows: table.units(settings.scale),
        unit_bytes: table.unit_bytes(),
        key: table.counted(),
        ascending: shape.key.first().copied(),
        row_key: shape.key,
        may_be_numbered: false,
        indexes,
        finish: columnar(name, settings, dialect)?,
        after_all: foreign_keys(table, settings, dialect)?,
    })
}

/// The statement that has a table kept by columns too, where that is asked for.
fn columnar(
    table: &str,
    settings: &Settings,
    dialect: &Dialect,
) -> Result<Vec<String>, OptionError> {
    let replicas = settings.tiflash_replicas;
    if replicas == 0 {
        return Ok(Vec::new());
    }
    match dialect.replicate_by_columns(table, replicas) {
        Some(sql) => Ok(vec![sql]),
        None => Err(OptionError::Conflict(format!(
            "--tiflash-replica={replicas}: TiFlash is a part of TiDB, and this is another engine; for \
             example --tiflash-replica=0"
        ))),
    }
}

/// The statements that add a table's foreign keys, when all tables have their rows.
fn foreign_keys(
    table: Table,
    settings: &Settings,
    dialect: &Dialect,
) -> Result<Vec<String>, OptionError> {
    if !settings.foreign_keys {
        return Ok(Vec::new());
    }
    if !dialect.adds_foreign_keys() {
        return Err(OptionError::Conflict(
            "--foreign-keys=on: this engine cannot add foreign keys to an existing table; for \
             example --foreign-keys=off"
                .into(),
        ));
    }
    let statement = |key: &ForeignKey| {
        let parent = key.parent.shape();
        format!(
            "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
            table.name(),
            key.name,
            key.columns.join(", "),
            parent.name,
            parent.key.join(", ")
        )
    };
    Ok(table.shape().foreign.iter().map(statement).collect())
}

/// Reads every table by its key and by a column that no index holds.
pub(super) fn prewarm(settings: &Settings, dialect: &Dialect) -> Vec<Prewarm> {
    let one = |table: Table| {
        let shape = table.shape();
        let last = shape.names.last().copied().unwrap_or_default();
        // A unit has at most seven rows.
        let rows = table.units(settings.scale) * 7;
        Prewarm {
            table: shape.name.into(),
            statements: dialect.prewarm(shape.name, shape.key[0], "PRIMARY", last, rows),
        }
    };
    Table::ALL.into_iter().map(one).collect()
}
