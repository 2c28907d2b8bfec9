//! Which tables are TPC-C's own, whoever made them. Their names are common ones (`orders`,
//! `customer`, `item`), so every column with its type counts, and the keys.

use super::tables::{Shape, Table};
use crate::columns::{self, is_of, is_split_by};
use tidemark_drivers::catalog::{Column, ForeignKey, TableDescription};

/// Indexes that go-tpc or foreign keys add beside those of the shapes.
const FOREIGN_INDEXES: &[(&str, &[&str])] =
    &[("idx_h_w_id", &["h_w_id"]), ("idx_h_c_w_id", &["h_c_w_id"])];

/// Whether a table is one that this workload or go-tpc makes.
pub(super) fn is_benchmark_table(found: &TableDescription) -> bool {
    Table::named(&found.name).is_some_and(|table| {
        let shape = table.shape();
        columns(found, shape) && indexes(found, shape)
    })
}

/// Whether a table has the columns of the one of its name, and no others; keys aside.
pub(super) fn has_columns(found: &TableDescription) -> bool {
    let Some(table) = Table::named(&found.name) else {
        return false;
    };
    let shape = table.shape();
    let numbered =
        |c: &Column| shape.key.is_empty() && NUMBERS.contains(&c.name.as_str()) && c.auto_increment;
    match found.columns.as_slice() {
        [first, there @ ..] | [there @ .., first] if numbered(first) => same(there, shape),
        there => same(there, shape),
    }
}

/// What a table has that none of the benchmark's has. go-tpc splits tables by their warehouse, too.
pub(super) fn additions(found: &TableDescription) -> Vec<String> {
    let shape = Table::named(&found.name).map(Table::shape);
    let is_its_key = |key: &ForeignKey| {
        let own = shape.iter().flat_map(|s| s.foreign);
        let is = |f: &super::tables::ForeignKey| {
            key.parent == f.parent.name() && key.columns == f.columns
        };
        own.into_iter().any(is)
    };
    columns::additions(found, is_its_key, |p| {
        let by = shape.and_then(|s| s.warehouse);
        by.is_some_and(|by| is_split_by(p, by, &["hash", "range", "list"]))
    })
}

fn same(there: &[Column], shape: &Shape) -> bool {
    there.len() == shape.columns.len()
        && there
            .iter()
            .zip(shape.columns)
            .all(|(there, (name, kind))| there.name == *name && is_of(there, kind))
}

/// Columns that number the rows of history, which has no key: some releases of go-tpc add one at
/// either end, and CockroachDB and MySQL do by themselves (`sql_generate_invisible_primary_key`).
const NUMBERS: &[&str] = &["id", "rowid", "my_row_id"];

/// The columns in their order.
fn columns(found: &TableDescription, shape: &Shape) -> bool {
    let same = |there: &[Column]| same(there, shape);
    if !shape.key.is_empty() {
        return found.primary_key == shape.key && same(&found.columns);
    }
    let numbered = |column: &Column| {
        NUMBERS.contains(&column.name.as_str())
            && column.auto_increment
            && found.primary_key == [column.name.as_str()]
    };
    match found.columns.as_slice() {
        there if found.primary_key.is_empty() => same(there),
        [id, there @ ..] if numbered(id) => same(there),
        [there @ .., id] if numbered(id) => same(there),
        _ => false,
    }
}

fn indexes(found: &TableDescription, shape: &Shape) -> bool {
    found.indexes.iter().all(|index| {
        let is = |name: &str, columns: &[&str]| index.name == name && index.columns == columns;
        !index.unique
            && (shape.index.is_some_and(|(name, columns)| is(name, columns))
                || FOREIGN_INDEXES
                    .iter()
                    .any(|(name, columns)| is(name, columns))
                || shape.foreign.iter().any(|f| is(f.name, f.columns)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::TIME;
    use tidemark_drivers::catalog::{Index, normal_type};

    fn described(table: Table) -> TableDescription {
        let shape = table.shape();
        let column = |(name, kind): &(&str, &str)| Column {
            name: (*name).into(),
            type_name: match kind.trim_end_matches(" NOT NULL") {
                TIME => "timestamp".into(),
                other => normal_type(other),
            },
            nullable: !kind.ends_with("NOT NULL"),
            auto_increment: false,
            default: None,
        };
        let index = |(name, columns): (&str, &[&str])| Index {
            name: name.into(),
            columns: columns.iter().map(|c| (*c).to_string()).collect(),
            unique: false,
        };
        TableDescription {
            name: shape.name.into(),
            columns: shape.columns.iter().map(column).collect(),
            primary_key: shape.key.iter().map(|k| (*k).to_string()).collect(),
            indexes: shape.index.map(index).into_iter().collect(),
            ..TableDescription::default()
        }
    }

    #[test]
    fn every_variant_is_recognised() {
        for table in Table::ALL {
            let mut found = described(table);
            assert!(is_benchmark_table(&found), "{found:?}");
            found.indexes.clear();
            for foreign in table.shape().foreign {
                found.indexes.push(Index {
                    name: foreign.name.into(),
                    columns: foreign.columns.iter().map(|c| (*c).to_string()).collect(),
                    unique: false,
                });
            }
            assert!(is_benchmark_table(&found), "{found:?}");
        }
        let id = Column {
            name: "id".into(),
            type_name: "integer".into(),
            nullable: false,
            auto_increment: true,
            default: None,
        };
        for (at, name) in [(0, "id"), (8, "id"), (8, "rowid"), (0, "my_row_id")] {
            let mut history = described(Table::History);
            history.columns.insert(at, id.clone());
            history.columns[at].name = name.into();
            history.primary_key = vec![name.into()];
            assert!(is_benchmark_table(&history));
            history.primary_key.clear();
            assert!(!is_benchmark_table(&history));
        }
    }

    #[test]
    fn any_difference_makes_a_table_the_users() {
        type Change = fn(&mut TableDescription);
        let changes: &[(&str, Change)] = &[
            ("another name", |t| t.name.push('2')),
            ("a column more", |t| {
                let mut more = t.columns[0].clone();
                more.name = "note".into();
                t.columns.push(more);
            }),
            ("a column less", |t| drop(t.columns.pop())),
            ("columns in another order", |t| t.columns.swap(0, 1)),
            ("a column of another name", |t| {
                t.columns[0].name = "key".into()
            }),
            ("a column of another type", |t| {
                t.columns[0].type_name = "text".into()
            }),
            ("a nullable key", |t| t.columns[0].nullable = true),
            ("a default", |t| t.columns[0].default = Some("1".into())),
            ("another key", |t| t.primary_key.push("x".into())),
            ("an index", |t| {
                t.indexes.push(Index {
                    name: "mine".into(),
                    columns: vec![t.columns[0].name.clone()],
                    unique: false,
                })
            }),
            ("a unique index", |t| {
                t.indexes.push(Index {
                    name: "idx_h_w_id".into(),
                    columns: vec!["h_w_id".into()],
                    unique: true,
                })
            }),
        ];
        for table in Table::ALL {
            for (what, change) in changes {
                let mut found = described(table);
                change(&mut found);
                assert!(!is_benchmark_table(&found), "{what}: {}", table.name());
            }
        }
    }
}
