//! How the tables are made: with keys, partitions and foreign keys, as the options ask and the
//! engine can.

use super::settings::{PartitionType, Settings};
use super::tables::{ForeignKey, Table};
use crate::columns::TIME;
use crate::{Prewarm, TablePlan};
use tidemark_core::OptionError;
use tidemark_drivers::{Cut, Dialect};

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
    let mut lines: Vec<String> = shape
        .columns
        .iter()
        .map(|(column, kind)| format!("{column} {}", sql_type(kind, dialect)))
        .collect();
    let mut key = match shape.key {
        [] => String::new(),
        columns => format!("PRIMARY KEY ({})", columns.join(", ")),
    };
    let (mut suffix, mut after) = (String::new(), Vec::new());
    let cut = shape.warehouse.zip(cut(settings));
    // The key of a partitioned table must be there before its parts.
    let later = dialect.adds_primary_key_later() && cut.is_none();
    if let Some((by, cut)) = cut {
        let split = dialect
            .cut(name, shape.key, by, &cut)
            .map_err(|e| OptionError::Conflict(format!("--parts={}: {e}", settings.parts)))?;
        (key, suffix, after) = (split.primary_key, split.suffix, split.after);
    }
    let mut indexes = Vec::new();
    if key.is_empty() {
    } else if later {
        // The name that the engine itself would give it.
        indexes.push(format!(
            "ALTER TABLE {name} ADD CONSTRAINT {name}_pkey {key}"
        ));
    } else {
        lines.push(key);
    }
    if let Some((index, columns)) = shape.index {
        let columns = columns.join(", ");
        indexes.push(format!("CREATE INDEX {index} ON {name} ({columns})"));
    }
    let create = format!(
        "CREATE TABLE {name} (\n  {}\n) {}{suffix}",
        lines.join(",\n  "),
        dialect.storage_engine("innodb")
    );
    Ok(TablePlan {
        name: name.into(),
        create: std::iter::once(create.trim_end().into())
            .chain(after)
            .collect(),
        columns: shape.names,
        rows: table.units(settings.warehouses),
        unit_bytes: table.unit_bytes(),
        key: table.counted(),
        row_key: shape.key,
        // Keys of partitioned tables hold the column that splits them.
        may_be_numbered: shape.key.is_empty() && settings.parts == 1,
        indexes,
        after_all: foreign_keys(table, settings, dialect)?,
        ..TablePlan::default()
    })
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
    let conflict = |why: &str| {
        let advice = "for example --foreign-keys=off";
        Err(OptionError::Conflict(format!(
            "--foreign-keys=on: {why}; {advice}"
        )))
    };
    if !dialect.adds_foreign_keys() {
        return conflict("this engine cannot add foreign keys to an existing table");
    }
    if settings.parts > 1 && !dialect.partitions_have_foreign_keys() {
        return conflict("this engine has no foreign keys between partitioned tables (--parts)");
    }
    let add = |key: &ForeignKey| {
        let parent = key.parent.shape();
        format!(
            "ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} ({})",
            key.name,
            key.columns.join(", "),
            parent.name,
            parent.key.join(", ")
        )
    };
    let keys: Vec<String> = table.shape().foreign.iter().map(add).collect();
    let together = if dialect.copies_for_foreign_keys() {
        keys.len().max(1)
    } else {
        1
    };
    let alter = |keys: &[String]| format!("ALTER TABLE {} {}", table.name(), keys.join(", "));
    Ok(keys.chunks(together).map(alter).collect())
}

/// How warehouses are dealt to partitions; `None` for whole tables.
fn cut(settings: &Settings) -> Option<Cut> {
    let (parts, warehouses) = (u64::from(settings.parts), settings.warehouses);
    if parts == 1 {
        return None;
    }
    // The first warehouse of each part, and the one after the last.
    let bounds: Vec<u64> = (0..=parts).map(|i| 1 + warehouses * i / parts).collect();
    Some(match settings.partition_type {
        PartitionType::Hash => Cut::Hash(settings.parts),
        PartitionType::Range => Cut::Ranges(bounds[1..bounds.len() - 1].to_vec()),
        PartitionType::ListHash => {
            let of = |part: u64| (1 + part..=warehouses).step_by(settings.parts as usize);
            Cut::Lists((0..parts).map(|part| of(part).collect()).collect())
        }
        PartitionType::ListRange => {
            let ranges = bounds.windows(2).map(|pair| (pair[0]..pair[1]).collect());
            Cut::Lists(ranges.collect())
        }
    })
}

fn sql_type<'a>(kind: &'a str, dialect: &Dialect) -> &'a str {
    if kind == TIME {
        dialect.time_type()
    } else {
        kind
    }
}

/// Reads every table by its key and by a column that no index holds.
pub(super) fn prewarm(settings: &Settings, dialect: &Dialect) -> Vec<Prewarm> {
    Table::ALL
        .into_iter()
        .filter(|table| !table.shape().key.is_empty())
        .map(|table| {
            let shape = table.shape();
            let last = shape.names.last().copied().unwrap_or_default();
            // Order lines are at most fifteen to a unit.
            let rows = table.units(settings.warehouses) * 15;
            Prewarm {
                table: shape.name.into(),
                statements: dialect.prewarm(shape.name, shape.key[0], "PRIMARY", last, rows),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::OPTIONS;
    use super::*;
    use tidemark_core::{Engine, OptionValues, Source};

    fn settings(options: &[(&str, &str)]) -> Settings {
        let mut values = OptionValues::defaults([OPTIONS]);
        for (name, value) in options {
            values.set(name, value, Source::CommandLine).unwrap();
        }
        Settings::new(&values).unwrap()
    }

    #[test]
    fn partitions_are_dealt_as_go_tpc_deals_them() {
        let cut = |how| {
            let options = [
                ("warehouses", "10"),
                ("parts", "3"),
                ("partition-type", how),
            ];
            cut(&settings(&options)).unwrap()
        };
        assert_eq!(cut("hash"), Cut::Hash(3));
        assert_eq!(
            cut("list-hash"),
            Cut::Lists(vec![vec![1, 4, 7, 10], vec![2, 5, 8], vec![3, 6, 9]])
        );
        assert_eq!(cut("range"), Cut::Ranges(vec![4, 7]));
        assert_eq!(
            cut("list-range"),
            Cut::Lists(vec![vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9, 10]])
        );
    }

    #[test]
    fn an_engine_without_partitions_says_so() {
        let refused = plans(&settings(&[("parts", "2")]), &Dialect::new(Engine::Sqlite));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("--parts=2: SQLite"), "{message}");
    }

    #[test]
    fn foreign_keys_are_those_of_clause_1_3() {
        let on = [("foreign-keys", "on")];
        for (engine, statements) in [(Engine::Postgres, 10), (Engine::Mariadb, 7)] {
            let plans = plans(&settings(&on), &Dialect::new(engine)).unwrap();
            let all: Vec<&str> = plans
                .iter()
                .flat_map(|p| &p.after_all)
                .map(String::as_str)
                .collect();
            assert_eq!(all.len(), statements, "{engine}");
            let all = all.join("; ");
            assert_eq!(all.matches("ADD CONSTRAINT").count(), 10, "{engine}");
            for key in [
                "ADD CONSTRAINT ol_stock_fkey \
                 FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES stock (s_w_id, s_i_id)",
                "ADD CONSTRAINT no_order_fkey \
                 FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES orders (o_w_id, o_d_id, o_id)",
            ] {
                assert!(all.contains(key), "{engine}: {all}");
            }
        }
    }

    #[test]
    fn an_engine_that_cannot_add_foreign_keys_says_so() {
        for (engine, options, part) in [
            (
                Engine::Sqlite,
                &[("foreign-keys", "on")][..],
                "existing table",
            ),
            (
                Engine::Mysql,
                &[("foreign-keys", "on"), ("parts", "2")],
                "--parts",
            ),
        ] {
            let refused = plans(&settings(options), &Dialect::new(engine));
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn the_catalogue_is_never_split() {
        for engine in Engine::ALL.into_iter().filter(|e| *e != Engine::Sqlite) {
            let plans = plans(&settings(&[("parts", "2")]), &Dialect::new(engine)).unwrap();
            for plan in plans {
                let text = plan.create.join(";");
                let split = ["PARTITION", "SPLIT", "HASH"]
                    .iter()
                    .any(|w| text.contains(w));
                let whole =
                    plan.name == "item" || (plan.name == "history" && engine == Engine::Cockroach);
                assert_eq!(split, !whole, "{engine}: {text}");
            }
        }
    }
}
