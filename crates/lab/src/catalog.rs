//! What the laboratory tells of tables it does not have.
//!
//! It has the schema of sysbench's OLTP scripts: `sbtest1` to `sbtestN` with (id, k, c, pad), the
//! key on id and an index on k. Only the questions that Tidemark's own catalogue asks are
//! recognised, by their shape; other questions to a catalogue have no rows.

use crate::LabConfig;

/// A result in text form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextResult {
    pub columns: &'static [&'static str],
    /// As many cells as columns each.
    pub rows: Vec<Vec<Option<String>>>,
}

/// The value of every row that nobody asked the catalogue for: a `c` as sysbench makes it.
pub(crate) const C: &str = "68487932199-96439406143-93774651418-41631865787-96406072701-\
     20604855487-25459966574-28203206787-41238978918-19503783441";

/// PostgreSQL's number of table n is this plus n.
const FIRST_OID: u32 = 100_000;

/// The answer to a text that asks for rows; `None` is the one row that every SELECT has.
pub(crate) fn answer(sql: &str, config: &LabConfig) -> Option<TextResult> {
    // A statement of a benchmark names no schema, function or variable that is known here.
    if !sql.bytes().any(|b| matches!(b, b'(' | b'.' | b'@')) {
        return None;
    }
    let there = |n: &u32| (1..=config.tables).contains(n);
    let table = quoted_table(sql).filter(there);
    let oid = || number_after(sql, "relid = ")?.checked_sub(FIRST_OID);
    if sql.contains("information_schema.TABLES") {
        return Some(if sql.contains("TABLE_NAME = ") {
            rows(&["TABLE_NAME", "TABLE_COMMENT"], table, |n| {
                vec![vec![text(format!("sbtest{n}")), text("")]]
            })
        } else {
            all_tables("TABLE_NAME", config)
        });
    }
    if sql.contains("information_schema.COLUMNS") {
        let columns = &["COLUMN_NAME", "COLUMN_TYPE", "nullable", "auto", "default"];
        return Some(rows(columns, table, |_| mysql_columns()));
    }
    if sql.contains("information_schema.STATISTICS") {
        let columns = &["INDEX_NAME", "COLUMN_NAME", "unique"];
        return Some(rows(columns, table, |n| {
            let of = |name: String, column, unique| vec![text(name), text(column), text(unique)];
            vec![
                of("PRIMARY".into(), "id", "1"),
                of(format!("k_{n}"), "k", "0"),
            ]
        }));
    }
    if sql.contains("pg_attribute") {
        let columns = &["attnum", "attname", "type", "nullable", "identity", "expr"];
        return Some(rows(columns, oid().filter(there), postgres_columns));
    }
    if sql.contains("pg_index") {
        let columns = &["relname", "primary", "unique", "indnkeyatts", "indkey"];
        return Some(rows(columns, oid().filter(there), |n| {
            let of = |name, primary: &str, column| {
                [name, primary.into(), primary.into(), "1".into(), column].map(Some)
            };
            vec![
                of(format!("k_{n}"), "0", "2".into()).to_vec(),
                of(format!("sbtest{n}_pkey"), "1", "1".into()).to_vec(),
            ]
        }));
    }
    if sql.contains("pg_class") {
        return Some(if sql.contains("c.relname = ") {
            rows(&["oid", "relname", "comment"], table, |n| {
                vec![vec![
                    text((FIRST_OID + n).to_string()),
                    text(format!("sbtest{n}")),
                    None,
                ]]
            })
        } else {
            all_tables("relname", config)
        });
    }
    if sql.contains("COUNT(*)") {
        let size = text(config.table_size.to_string());
        return Some(rows(&["count"], table, |_| vec![vec![size.clone()]]));
    }
    if sql.contains("MIN(") && sql.contains("MAX(") {
        let size = text(config.table_size.to_string());
        return Some(rows(&["min", "max"], table, |_| {
            vec![vec![text("1"), size.clone()]]
        }));
    }
    if sql.contains("version()") {
        return Some(TextResult {
            columns: &["version"],
            rows: vec![vec![text(crate::postgres::VERSION)]],
        });
    }
    let other_catalog = ["information_schema.", "performance_schema.", "pg_catalog."];
    other_catalog
        .iter()
        .any(|schema| sql.contains(schema))
        .then_some(TextResult {
            columns: &["nothing"],
            rows: Vec::new(),
        })
}

/// The answer to SHOW.
pub(crate) fn show() -> TextResult {
    TextResult {
        columns: &["Variable_name", "Value"],
        rows: Vec::new(),
    }
}

fn rows(
    columns: &'static [&'static str],
    table: Option<u32>,
    make: impl FnOnce(u32) -> Vec<Vec<Option<String>>>,
) -> TextResult {
    TextResult {
        columns,
        rows: table.map(make).unwrap_or_default(),
    }
}

fn text(text: impl Into<String>) -> Option<String> {
    Some(text.into())
}

fn all_tables(column: &'static str, config: &LabConfig) -> TextResult {
    let mut names: Vec<_> = (1..=config.tables).map(|n| format!("sbtest{n}")).collect();
    names.sort_unstable();
    TextResult {
        columns: match column {
            "relname" => &["relname"],
            _ => &["TABLE_NAME"],
        },
        rows: names.into_iter().map(|n| vec![Some(n)]).collect(),
    }
}

fn mysql_columns() -> Vec<Vec<Option<String>>> {
    let column = |name, kind, auto, default: Option<&str>| {
        vec![
            text(name),
            text(kind),
            text("0"),
            text(auto),
            default.map(Into::into),
        ]
    };
    vec![
        column("id", "int", "1", None),
        column("k", "int", "0", Some("0")),
        column("c", "char(120)", "0", Some("")),
        column("pad", "char(60)", "0", Some("")),
    ]
}

fn postgres_columns(n: u32) -> Vec<Vec<Option<String>>> {
    let column = |number, name, kind, default: &str| {
        vec![
            text(number),
            text(name),
            text(kind),
            text("0"),
            text("0"),
            text(default),
        ]
    };
    vec![
        column(
            "1",
            "id",
            "integer",
            &format!("nextval('sbtest{n}_id_seq'::regclass)"),
        ),
        column("2", "k", "integer", "0"),
        column("3", "c", "character(120)", "''::bpchar"),
        column("4", "pad", "character(60)", "''::bpchar"),
    ]
}

/// The n of a whole quoted `sbtestn`.
fn quoted_table(sql: &str) -> Option<u32> {
    let at = sql.find("sbtest")?;
    let quote = sql.get(..at)?.chars().next_back()?;
    let rest = sql.get(at + "sbtest".len()..)?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let number = rest.get(..digits)?;
    let closed = rest.get(digits..)?.starts_with(quote);
    let plain = matches!(quote, '\'' | '"' | '`') && !number.starts_with('0');
    (closed && plain).then(|| number.parse().ok())?
}

/// The number behind the last of these words.
fn number_after(sql: &str, words: &str) -> Option<u32> {
    let at = sql.rfind(words)? + words.len();
    let rest = sql.get(at..)?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_statement_is_no_question_to_the_catalogue() {
        let config = LabConfig::default();
        assert_eq!(answer("SELECT c FROM sbtest1 WHERE id=5", &config), None);
        assert_eq!(answer("SELECT SUM(k) FROM sbtest1", &config), None);
    }

    #[test]
    fn only_whole_names_of_tables_that_are_there_are_known() {
        let config = LabConfig {
            tables: 7,
            table_size: 1000,
            ..LabConfig::default()
        };
        let count = |name: &str| answer(&format!("SELECT COUNT(*) FROM `{name}`"), &config);
        assert_eq!(
            count("sbtest7").map(|r| r.rows),
            Some(vec![vec![text("1000")]])
        );
        for other in ["sbtest8", "sbtest0", "sbtest07", "sbtest7_old", "users"] {
            assert_eq!(count(other).map(|r| r.rows), Some(vec![]), "{other}");
        }
    }
}
