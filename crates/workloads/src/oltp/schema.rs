//! Tables as sysbench makes them.

use super::rows::COLUMNS;
use super::settings::Settings;
use crate::TablePlan;
use tidemark_core::OptionError;
use tidemark_drivers::{Dialect, Partitioning};

/// Name of table number `table` (from 1).
pub(super) fn name(table: u32) -> String {
    format!("sbtest{table}")
}

/// Name of the index that stands in for the primary key with `--secondary`.
pub(super) const SECONDARY: &str = "xid";

/// The plan of table number `number` (from 1).
pub(super) fn table(
    settings: &Settings,
    number: u32,
    dialect: &Dialect,
) -> Result<TablePlan, OptionError> {
    let name = name(number);
    let split = dialect
        .split(
            &name,
            "id",
            settings.partitioning,
            settings.partitions,
            settings.table_size,
        )
        .map_err(|e| OptionError::Conflict(e.to_string()))?;
    let mut indexes = Vec::new();
    // The key of a partitioned table must be there before its parts.
    let later = dialect.adds_primary_key_later() && settings.partitioning == Partitioning::Default;
    let key = if !settings.secondary && later {
        // The name that the engine itself would give it.
        let constraint = format!("{name}_pkey {}", split.primary_key);
        indexes.push(format!("ALTER TABLE {name} ADD CONSTRAINT {constraint}"));
        String::new()
    } else if !settings.secondary {
        format!(",\n  {}", split.primary_key)
    } else if dialect.has_inline_indexes() {
        format!(",\n  KEY {SECONDARY} (id)")
    } else if settings.auto_inc && !dialect.generates_without_primary_key() {
        return Err(OptionError::Conflict(
            "this engine numbers rows by the primary key only: --secondary needs --auto-inc=off"
                .into(),
        ));
    } else {
        indexes.push(format!("CREATE INDEX {SECONDARY}_{number} ON {name}(id)"));
        String::new()
    };
    if settings.create_secondary {
        indexes.push(format!("CREATE INDEX k_{number} ON {name}(k)"));
    }
    let id_type = if settings.auto_inc {
        dialect.generated_key_type()
    } else {
        "INTEGER NOT NULL"
    };
    let create = format!(
        "CREATE TABLE {name}(\n  id {id_type},\n  k INTEGER DEFAULT '0' NOT NULL,\n  \
         c CHAR(120) DEFAULT '' NOT NULL,\n  pad CHAR(60) DEFAULT '' NOT NULL{key}\n) {} {}{}",
        dialect.storage_engine(&settings.storage_engine),
        settings.create_table_options,
        split.suffix
    );
    let finish = settings
        .auto_inc
        .then(|| dialect.follow_key(&name, "id", settings.table_size))
        .flatten();
    Ok(TablePlan {
        create: std::iter::once(create).chain(split.after).collect(),
        columns: COLUMNS,
        rows: settings.table_size,
        unit_bytes: 195,
        key: Some("id"),
        ascending: (!settings.random_keys && !settings.secondary).then_some("id"),
        indexes,
        finish: finish.into_iter().collect(),
        name,
        ..TablePlan::default()
    })
}

/// The plan of `bulk_insert`'s table number `number` (from 1).
pub(super) fn bulk_table(number: u32) -> TablePlan {
    let name = name(number);
    TablePlan {
        create: vec![format!(
            "CREATE TABLE {name} (\n          id INTEGER NOT NULL,\n          k INTEGER DEFAULT '0' NOT NULL,\n          PRIMARY KEY (id))"
        )],
        columns: &["id", "k"],
        key: Some("id"),
        name,
        ..TablePlan::default()
    }
}
