//! Which tables are YCSB's own, whoever made them. The name is the user's to choose, so every
//! column with its type counts, and the key.

use super::schema::{KEY, field};
use tidemark_drivers::catalog::{Column, TableDescription};

/// Whether a table is one that this workload, go-ycsb or YCSB makes.
pub(super) fn is_benchmark_table(found: &TableDescription, table: &str) -> bool {
    found.name.eq_ignore_ascii_case(table)
        && has_columns(found)
        && found.primary_key.len() == 1
        && found
            .primary_key
            .iter()
            .all(|k| k.eq_ignore_ascii_case(KEY))
        && found.indexes.is_empty()
}

/// Whether a table has the key's column and fields, however many, and no others.
pub(super) fn has_columns(found: &TableDescription) -> bool {
    let [key, fields @ ..] = found.columns.as_slice() else {
        return false;
    };
    let Some(first) = fields.first() else {
        return false;
    };
    let numbered = |(number, column): (usize, &Column)| {
        column.name.eq_ignore_ascii_case(&field(number))
            && column.type_name == first.type_name
            && column.nullable
            && is_plain(column)
    };
    key.name.eq_ignore_ascii_case(KEY)
        && key.type_name.starts_with("varchar(")
        && is_plain(key)
        && (first.type_name.starts_with("varchar(") || first.type_name == "text")
        && fields.iter().enumerate().all(numbered)
}

/// Without a default; MariaDB shows a column that has none as one whose default is NULL.
fn is_plain(column: &Column) -> bool {
    let default = column.default.as_deref();
    !column.auto_increment && default.is_none_or(|d| d.eq_ignore_ascii_case("null"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::catalog::Index;

    fn column(name: &str, type_name: &str, nullable: bool) -> Column {
        Column {
            name: name.into(),
            type_name: type_name.into(),
            nullable,
            auto_increment: false,
            default: None,
        }
    }

    fn described() -> TableDescription {
        TableDescription {
            name: "usertable".into(),
            columns: vec![
                column("YCSB_KEY", "varchar(64)", false),
                column("FIELD0", "varchar(100)", true),
                column("FIELD1", "varchar(100)", true),
            ],
            primary_key: vec!["YCSB_KEY".into()],
            indexes: Vec::new(),
            ..TableDescription::default()
        }
    }

    #[test]
    fn every_variant_is_recognised() {
        let is = |t: &TableDescription| is_benchmark_table(t, "usertable");
        assert!(is(&described()));
        let mut lower = described();
        lower
            .columns
            .iter_mut()
            .for_each(|c| c.name.make_ascii_lowercase());
        lower.primary_key = vec!["ycsb_key".into()];
        assert!(is(&lower));
        let mut javas = described();
        javas.columns[0].type_name = "varchar(255)".into();
        for field in &mut javas.columns[1..] {
            field.type_name = "text".into();
            field.default = Some("NULL".into());
        }
        assert!(is(&javas));
        // SQLite's key takes NULL.
        let mut sqlite = described();
        sqlite.columns[0].nullable = true;
        assert!(is(&sqlite));
    }

    #[test]
    fn any_difference_makes_a_table_the_users() {
        type Change = fn(&mut TableDescription);
        let changes: &[(&str, Change)] = &[
            ("another name", |t| t.name.push('2')),
            ("a column more", |t| {
                t.columns.push(column("note", "varchar(100)", true))
            }),
            ("no fields", |t| t.columns.truncate(1)),
            ("no columns", |t| t.columns.clear()),
            ("fields in another order", |t| t.columns.swap(1, 2)),
            ("a field left out", |t| t.columns[2].name = "FIELD2".into()),
            ("a field of another type", |t| {
                t.columns[2].type_name = "text".into()
            }),
            ("fields of numbers", |t| {
                t.columns[1..]
                    .iter_mut()
                    .for_each(|c| c.type_name = "integer".into())
            }),
            ("a key of numbers", |t| {
                t.columns[0].type_name = "bigint".into()
            }),
            ("a key of another name", |t| t.columns[0].name = "id".into()),
            ("a field that must be there", |t| {
                t.columns[1].nullable = false
            }),
            ("a default", |t| t.columns[1].default = Some("'x'".into())),
            ("no key", |t| t.primary_key.clear()),
            ("a longer key", |t| t.primary_key.push("FIELD0".into())),
            ("an index", |t| {
                t.indexes.push(Index {
                    name: "mine".into(),
                    columns: vec!["FIELD0".into()],
                    unique: false,
                })
            }),
        ];
        for (what, change) in changes {
            let mut found = described();
            change(&mut found);
            assert!(!is_benchmark_table(&found, "usertable"), "{what}");
        }
    }
}
