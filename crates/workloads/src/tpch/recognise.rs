//! Which tables are TPC-H's own, whoever made them. Their names are common ones (`orders`,
//! `customer`, `part`), so every column with its type counts, and the keys.

use super::tables::{Shape, Table};
use crate::columns::{self, is_of};
use tidemark_drivers::catalog::{ForeignKey, TableDescription};

/// Whether a table is one that this workload, go-tpc, or the specification's own `dss.ddl` and
/// `dss.ri` make. go-tpc writes names in upper case, which MySQL keeps.
pub(super) fn is_benchmark_table(found: &TableDescription) -> bool {
    Table::named(&found.name).is_some_and(|table| {
        let shape = table.shape();
        columns(found, shape) && keys(found, shape) && indexes(found, shape)
    })
}

/// Whether a table has the columns of the one of its name, and no others.
pub(super) fn has_columns(found: &TableDescription) -> bool {
    Table::named(&found.name).is_some_and(|table| columns(found, table.shape()))
}

/// What a table has that none of the benchmark's has.
pub(super) fn additions(found: &TableDescription) -> Vec<String> {
    let shape = Table::named(&found.name).map(Table::shape);
    let is_its_key = |key: &ForeignKey| {
        let own = shape.iter().flat_map(|s| s.foreign);
        let is = |f: &super::tables::ForeignKey| {
            key.parent.eq_ignore_ascii_case(f.parent.name()) && same(&key.columns, f.columns)
        };
        own.into_iter().any(is)
    };
    columns::additions(found, is_its_key, |_| false)
}

fn columns(found: &TableDescription, shape: &Shape) -> bool {
    found.columns.len() == shape.columns.len()
        && found
            .columns
            .iter()
            .zip(shape.columns)
            .all(|(there, (name, kind))| {
                there.name.eq_ignore_ascii_case(name) && is_of(there, kind)
            })
}

/// `dss.ddl` alone makes tables without keys.
fn keys(found: &TableDescription, shape: &Shape) -> bool {
    found.primary_key.is_empty() || same(&found.primary_key, shape.key)
}

/// Indexes on the columns of foreign keys, by our names or by the keys' (as MySQL calls an index that
/// it makes for one).
fn indexes(found: &TableDescription, shape: &Shape) -> bool {
    found.indexes.iter().all(|index| {
        !index.unique
            && shape.foreign.iter().any(|key| {
                let named = |name: &str| index.name.eq_ignore_ascii_case(name);
                same(&index.columns, key.columns)
                    && (named(key.name) || key.index.is_some_and(named))
            })
    })
}

fn same(found: &[String], columns: &[&str]) -> bool {
    let equal = |(a, b): (&String, &&str)| a.eq_ignore_ascii_case(b);
    found.len() == columns.len() && found.iter().zip(columns).all(equal)
}
