//! The tables (PostgreSQL manual, "pgbench", "Initialization"): those of pgbench, so that what one
//! has loaded the other runs on.

use super::Settings;
use crate::columns::{self, is_of};
use crate::{TablePlan, columns::TIME};
use tidemark_core::{OptionError, Protocol};
use tidemark_drivers::Dialect;
use tidemark_drivers::catalog::{Partitions, TableDescription};

/// Rows of each scaling factor.
pub(super) const BRANCHES: u64 = 1;
pub(super) const TELLERS: u64 = 10;
pub(super) const ACCOUNTS: u64 = 100_000;

/// From this scale on an account's number needs 64 bits.
const WIDE_FROM: u64 = 20_000;

/// The tables' numbers, in their order.
pub(super) const BRANCH: usize = 0;
pub(super) const TELLER: usize = 1;
pub(super) const ACCOUNT: usize = 2;

/// A table.
pub(super) struct TableSchema {
    pub name: &'static str,
    /// Columns and types; a number is wide where there are many accounts.
    columns: &'static [(&'static str, &'static str)],
    /// Columns that a load writes.
    loaded: &'static [&'static str],
    key: Option<&'static str>,
    rows: u64,
    row_bytes: u32,
    /// Columns that refer to other tables.
    refers: &'static [(&'static str, &'static str)],
}

pub(super) const TABLES: [TableSchema; 4] = [
    TableSchema {
        name: "pgbench_branches",
        columns: &[
            ("bid", "INT NOT NULL"),
            ("bbalance", "INT"),
            ("filler", "CHAR(88)"),
        ],
        loaded: &["bid", "bbalance"],
        key: Some("bid"),
        rows: BRANCHES,
        row_bytes: 10,
        refers: &[],
    },
    TableSchema {
        name: "pgbench_tellers",
        columns: &[
            ("tid", "INT NOT NULL"),
            ("bid", "INT"),
            ("tbalance", "INT"),
            ("filler", "CHAR(84)"),
        ],
        loaded: &["tid", "bid", "tbalance"],
        key: Some("tid"),
        rows: TELLERS,
        row_bytes: 15,
        refers: &[("bid", "pgbench_branches")],
    },
    TableSchema {
        name: "pgbench_accounts",
        columns: &[
            ("aid", "INT NOT NULL"),
            ("bid", "INT"),
            ("abalance", "INT"),
            ("filler", "CHAR(84)"),
        ],
        loaded: &["aid", "bid", "abalance", "filler"],
        key: Some("aid"),
        rows: ACCOUNTS,
        row_bytes: 110,
        refers: &[("bid", "pgbench_branches")],
    },
    TableSchema {
        name: "pgbench_history",
        columns: &[
            ("tid", "INT"),
            ("bid", "INT"),
            ("aid", "INT"),
            ("delta", "INT"),
            ("mtime", TIME),
            ("filler", "CHAR(22)"),
        ],
        loaded: &["tid", "bid", "aid", "delta", "mtime", "filler"],
        key: None,
        rows: 0,
        row_bytes: 0,
        refers: &[
            ("bid", "pgbench_branches"),
            ("tid", "pgbench_tellers"),
            ("aid", "pgbench_accounts"),
        ],
    },
];

/// The tables as they are made.
///
/// # Errors
/// [`OptionError::Conflict`] on engines that do not speak PostgreSQL's protocol.
pub(super) fn plans(settings: &Settings, dialect: &Dialect) -> Result<Vec<TablePlan>, OptionError> {
    if dialect.engine().protocol() != Protocol::Postgres {
        return Err(OptionError::Conflict(format!(
            "pgbench runs on PostgreSQL, YugabyteDB and CockroachDB, not on {}",
            dialect.engine()
        )));
    }
    Ok(TABLES
        .iter()
        .map(|table| plan(table, settings, dialect))
        .collect())
}

fn plan(table: &TableSchema, settings: &Settings, dialect: &Dialect) -> TablePlan {
    let name = table.name;
    let later = dialect.adds_primary_key_later();
    let columns = table.columns.iter().map(|(column, kind)| {
        let kind = match (*column, *kind) {
            (_, TIME) => "TIMESTAMP".to_string(),
            ("aid", kind) if settings.scale >= WIDE_FROM => kind.replace("INT", "BIGINT"),
            (_, kind) => kind.to_string(),
        };
        let key = match table.key == Some(*column) && !later {
            true => " PRIMARY KEY",
            false => "",
        };
        format!("{column} {kind}{key}")
    });
    let columns: Vec<String> = columns.collect();
    let unlogged = if settings.unlogged { "UNLOGGED " } else { "" };
    // The history grows only, and is never updated.
    let with = table
        .key
        .map(|_| format!(" WITH (fillfactor={})", settings.fill_factor));
    let space = |word: &str, space: &Option<String>| {
        let space = space.as_ref().map(|name| dialect.quote(name));
        space.map_or_else(String::new, |name| format!(" {word} {name}"))
    };
    let create = format!(
        "CREATE {unlogged}TABLE {name} ({}){}{}",
        columns.join(", "),
        with.unwrap_or_default(),
        space("TABLESPACE", &settings.tablespace)
    );
    let index = table.key.filter(|_| later).map(|key| {
        let space = space("USING INDEX TABLESPACE", &settings.index_tablespace);
        format!("ALTER TABLE {name} ADD CONSTRAINT {name}_pkey PRIMARY KEY ({key}){space}")
    });
    let foreign = table.refers.iter().filter(|_| settings.foreign_keys);
    let foreign = foreign.map(|(column, parent)| {
        format!(
            "ALTER TABLE {name} ADD CONSTRAINT {name}_{column}_fkey FOREIGN KEY ({column}) \
             REFERENCES {parent}"
        )
    });
    TablePlan {
        name: name.into(),
        create: vec![create],
        columns: table.loaded,
        rows: table.rows * settings.scale,
        unit_bytes: table.row_bytes,
        key: table.key,
        may_be_numbered: table.key.is_none(),
        indexes: index.into_iter().collect(),
        after_all: foreign.collect(),
        ..TablePlan::default()
    }
}

/// Whether a table is one of pgbench's, made by it or by us.
pub(super) fn recognises(found: &TableDescription) -> bool {
    let table = TABLES.iter().find(|table| table.name == found.name);
    table.is_some_and(|table| {
        let key: Vec<&str> = table.key.into_iter().collect();
        found.primary_key == key && found.indexes.is_empty() && has_columns(table, found)
    })
}

/// Whether a table has the columns of the one of its name.
pub(super) fn has_its_columns(found: &TableDescription) -> bool {
    let table = TABLES.iter().find(|table| table.name == found.name);
    table.is_some_and(|table| has_columns(table, found))
}

fn has_columns(table: &TableSchema, found: &TableDescription) -> bool {
    let pairs = table.columns.iter().zip(&found.columns);
    table.columns.len() == found.columns.len()
        && pairs
            .into_iter()
            .all(|((name, kind), column)| column.name == *name && is_of(column, kind))
}

/// What a table has that none of pgbench's has. Its accounts may be split, and each table may refer to
/// those that it belongs to.
pub(super) fn additions(found: &TableDescription) -> Vec<String> {
    let table = TABLES.iter().find(|table| table.name == found.name);
    let refers = table.map_or(&[][..], |table| table.refers);
    let is_split = |partitions: &Partitions| {
        found.name == TABLES[ACCOUNT].name
            && columns::is_split_by(partitions, "aid", &["hash", "range"])
    };
    columns::additions(
        found,
        |key| {
            refers
                .iter()
                .any(|(column, parent)| key.columns == [*column] && key.parent == *parent)
        },
        is_split,
    )
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;
    use tidemark_core::Engine;
    use tidemark_drivers::catalog::{Column, ForeignKey};

    #[test]
    fn tables_are_pgbenchs() {
        let given = [("scale", "3"), ("foreign-keys", "on"), ("fillfactor", "90")];
        let settings = settings(&given).unwrap();
        let plans = plans(&settings, &Dialect::new(Engine::Postgres)).unwrap();
        let create: Vec<&str> = plans.iter().map(|p| p.create[0].as_str()).collect();
        assert_eq!(
            create,
            [
                "CREATE TABLE pgbench_branches (bid INT NOT NULL, bbalance INT, filler CHAR(88)) \
                 WITH (fillfactor=90)",
                "CREATE TABLE pgbench_tellers (tid INT NOT NULL, bid INT, tbalance INT, filler \
                 CHAR(84)) WITH (fillfactor=90)",
                "CREATE TABLE pgbench_accounts (aid INT NOT NULL, bid INT, abalance INT, filler \
                 CHAR(84)) WITH (fillfactor=90)",
                "CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime \
                 TIMESTAMP, filler CHAR(22))",
            ]
        );
        let rows: Vec<u64> = plans.iter().map(|p| p.rows).collect();
        assert_eq!(rows, [3, 30, 300_000, 0]);
        assert_eq!(
            plans[2].indexes,
            ["ALTER TABLE pgbench_accounts ADD CONSTRAINT pgbench_accounts_pkey PRIMARY KEY (aid)"]
        );
        assert_eq!(plans[3].after_all.len(), 3);
        assert!(super::plans(&settings, &Dialect::new(Engine::Mariadb)).is_err());
    }

    fn accounts() -> TableDescription {
        let column = |name: &str, type_name: &str, nullable| Column {
            name: name.into(),
            type_name: type_name.into(),
            nullable,
            auto_increment: false,
            default: None,
        };
        TableDescription {
            name: "pgbench_accounts".into(),
            columns: vec![
                column("aid", "integer", false),
                column("bid", "integer", true),
                column("abalance", "integer", true),
                column("filler", "char(84)", true),
            ],
            primary_key: vec!["aid".into()],
            ..TableDescription::default()
        }
    }

    #[test]
    fn any_difference_makes_a_table_the_users() {
        assert!(recognises(&accounts()));
        type Change = fn(&mut TableDescription);
        let changes: [(&str, Change); 6] = [
            ("another name", |t| t.name.push('2')),
            ("a column more", |t| t.columns.push(t.columns[1].clone())),
            ("a wider filler", |t| {
                t.columns[3].type_name = "char(85)".into()
            }),
            ("no key", |t| t.primary_key.clear()),
            ("a column that is needed", |t| t.columns[1].nullable = false),
            ("columns in another order", |t| t.columns.swap(1, 2)),
        ];
        for (what, change) in changes {
            let mut table = accounts();
            change(&mut table);
            assert!(!recognises(&table), "{what}");
        }
    }

    #[test]
    fn foreign_keys_and_partitions_of_pgbenchs_are_no_additions() {
        let mut table = accounts();
        table.foreign_keys.push(ForeignKey {
            columns: vec!["bid".into()],
            parent: "pgbench_branches".into(),
        });
        table.partitions = Some(Partitions {
            method: "hash".into(),
            columns: vec!["aid".into()],
        });
        assert!(additions(&table).is_empty());
        table.foreign_keys[0].parent = "mine".into();
        table.extras.push("a trigger t".into());
        assert_eq!(additions(&table).len(), 2);
    }
}
