//! Which tables are the family's own, whoever made them.

use super::settings::Settings;
use crate::columns;
use tidemark_drivers::Partitioning;
use tidemark_drivers::catalog::{Column, Index, SYSTEM_VERSIONING, TableDescription};

/// Whether a table is one that sysbench's OLTP scripts or this family make: its name, every
/// column with type and default, its key and its indexes, in any variant that their options give.
pub(super) fn is_benchmark_table(found: &TableDescription) -> bool {
    let Some(number) = table_number(&found.name) else {
        return false;
    };
    match found.columns.as_slice() {
        [_, _] => found.primary_key == ["id"] && found.indexes.is_empty() && has_columns(found),
        _ => has_columns(found) && keys(found, number),
    }
}

/// Whether a table has the columns of one of the scripts' tables, and no others.
pub(super) fn has_columns(found: &TableDescription) -> bool {
    match found.columns.as_slice() {
        [id, k] => integers(id, k),
        [id, k, c, pad] => {
            integers(id, k) && text(c, "c", "char(120)") && text(pad, "pad", "char(60)")
        }
        _ => false,
    }
}

/// What a table has that a script's tables have not, unless the options ask for it.
pub(super) fn additions(found: &TableDescription, settings: &Settings) -> Vec<String> {
    let options = settings.create_table_options.to_ascii_lowercase();
    let split = settings.partitioning != Partitioning::Default || options.contains("partition by");
    let mut additions = columns::additions(
        found,
        |_| false,
        |p| split && columns::is_split_by(p, "id", &["hash", "range"]),
    );
    if options.contains(SYSTEM_VERSIONING) {
        additions.retain(|addition| addition != SYSTEM_VERSIONING);
    }
    additions
}

/// The digits of `sbtestN`.
fn table_number(name: &str) -> Option<&str> {
    let number = name.strip_prefix("sbtest")?;
    let plain = !number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit());
    (plain && !number.is_empty()).then_some(number)
}

/// CockroachDB makes every INTEGER a bigint, so both columns are one or the other.
fn integers(id: &Column, k: &Column) -> bool {
    let zero = |default: &str| bare(default) == "0";
    id.name == "id"
        && k.name == "k"
        && ["integer", "bigint"].contains(&id.type_name.as_str())
        && id.type_name == k.type_name
        && !id.nullable
        && id.default.is_none()
        && !k.nullable
        && k.default.as_deref().is_some_and(zero)
}

fn text(column: &Column, name: &str, type_name: &str) -> bool {
    let empty = |default: &str| bare(default).is_empty();
    column.name == name
        && column.type_name == type_name
        && !column.nullable
        && column.default.as_deref().is_some_and(empty)
}

/// A default without quotes and casts: `'0'`, `0`, `''::bpchar`.
fn bare(default: &str) -> &str {
    default
        .split("::")
        .next()
        .unwrap_or_default()
        .trim_matches('\'')
}

/// The primary key, or with `--secondary` an index in its place; and at most the index on k.
fn keys(found: &TableDescription, number: &str) -> bool {
    let is = |index: &Index, names: [&str; 2], column: &str| {
        !index.unique && index.columns == [column] && names.contains(&index.name.as_str())
    };
    let (k, xid) = (format!("k_{number}"), format!("xid_{number}"));
    let in_place_of_key = |i: &&Index| is(i, ["xid", &xid], "id");
    let of_k = |i: &&Index| is(i, [&k, &k], "k");
    let keyed = if found.primary_key.is_empty() {
        found.indexes.iter().filter(in_place_of_key).count() == 1
    } else {
        found.primary_key == ["id"] && !found.indexes.iter().any(|i| in_place_of_key(&i))
    };
    keyed
        && found.indexes.iter().filter(of_k).count() <= 1
        && found
            .indexes
            .iter()
            .all(|i| of_k(&i) || in_place_of_key(&i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, type_name: &str, default: Option<&str>) -> Column {
        Column {
            name: name.into(),
            type_name: type_name.into(),
            nullable: false,
            auto_increment: false,
            default: default.map(Into::into),
        }
    }

    fn index(name: &str, column: &str) -> Index {
        Index {
            name: name.into(),
            columns: vec![column.into()],
            unique: false,
        }
    }

    fn sysbench() -> TableDescription {
        TableDescription {
            name: "sbtest7".into(),
            columns: vec![
                column("id", "integer", None),
                column("k", "integer", Some("'0'")),
                column("c", "char(120)", Some("''::bpchar")),
                column("pad", "char(60)", Some("")),
            ],
            primary_key: vec!["id".into()],
            indexes: vec![index("k_7", "k")],
            ..TableDescription::default()
        }
    }

    #[test]
    fn every_variant_is_recognised() {
        assert!(is_benchmark_table(&sysbench()));
        let mut bare = sysbench();
        bare.indexes.clear();
        assert!(is_benchmark_table(&bare));
        for name in ["xid", "xid_7"] {
            let mut secondary = sysbench();
            secondary.primary_key.clear();
            secondary.indexes.push(index(name, "id"));
            assert!(is_benchmark_table(&secondary));
        }
        let mut bulk = sysbench();
        bulk.columns.truncate(2);
        bulk.indexes.clear();
        assert!(is_benchmark_table(&bulk));
    }

    #[test]
    fn any_difference_makes_a_table_the_users() {
        type Change = fn(&mut TableDescription);
        let changes: &[(&str, Change)] = &[
            ("another name", |t| t.name = "sbtest".into()),
            ("a number with a zero", |t| t.name = "sbtest07".into()),
            ("a name with more", |t| t.name = "sbtest7_old".into()),
            ("a column more", |t| {
                t.columns.push(column("note", "text", None))
            }),
            ("a column less", |t| drop(t.columns.pop())),
            ("columns in another order", |t| t.columns.swap(2, 3)),
            ("a wider c", |t| t.columns[2].type_name = "char(121)".into()),
            ("a c of another type", |t| {
                t.columns[2].type_name = "varchar(120)".into()
            }),
            ("a nullable k", |t| t.columns[1].nullable = true),
            ("no default of k", |t| t.columns[1].default = None),
            ("a default of c", |t| {
                t.columns[2].default = Some("'x'".into())
            }),
            ("no key", |t| t.primary_key.clear()),
            ("another key", |t| {
                t.primary_key = vec!["id".into(), "k".into()]
            }),
            ("an index on pad", |t| t.indexes.push(index("p", "pad"))),
            ("another table's index", |t| {
                t.indexes[0].name = "k_8".into()
            }),
            ("a unique k", |t| t.indexes[0].unique = true),
            ("two integers of different size", |t| {
                t.columns[0].type_name = "bigint".into()
            }),
        ];
        for (what, change) in changes {
            let mut table = sysbench();
            change(&mut table);
            assert!(!is_benchmark_table(&table), "{what}");
        }
    }
}
