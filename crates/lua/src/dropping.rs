//! The cleanup of this crate's own modules: a table goes only where it is one of sysbench's.

use tidemark_core::{DbError, Protocol};
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, DropVerdict, SYSTEM_VERSIONING, TableDescription};

/// Columns of sysbench's tables.
const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];
/// Those of them that are texts; the others are integers.
const TEXTS: [&str; 2] = ["c", "pad"];

/// Integers, as descriptions of tables call them.
const INTEGERS: [&str; 5] = ["integer", "bigint", "smallint", "mediumint", "tinyint"];

/// Drops a table that is one of sysbench's; nobody else can change it between the look and the drop where
/// the server has a lock for that. Gives why it stays, if it does; one that is not there is no error.
///
/// # Errors
/// The server's error.
pub(crate) async fn drop_benchmark_table(
    session: &mut Session,
    table: &str,
) -> Result<Option<String>, DbError> {
    let one = [table.to_string()];
    let look = async |session: &mut Session, table: &str| {
        let Some(found) = catalog::describe_table(session, table).await? else {
            return Ok(DropVerdict::Gone);
        };
        if let Some(why) = why_not_sysbenchs(&found) {
            return Ok(DropVerdict::Keep(format!(
                "table {table} is not sysbench's and was not dropped: {why}"
            )));
        }
        // Other servers refuse it themselves.
        if session.dialect().engine().protocol() == Protocol::Sqlite {
            let all = [table.to_string()];
            if let Some(first) = catalog::referrers(session, &all).await?.first() {
                return Ok(DropVerdict::Keep(format!(
                    "table {table} was not dropped: table {} has a foreign key that refers to it",
                    first.shown
                )));
            }
        }
        Ok(DropVerdict::Drop)
    };
    let drops = catalog::drop_proven(session, &one, look, || true).await;
    match (drops.kept, drops.failure) {
        (Some(why), _) => Ok(Some(why)),
        (None, Some((_, error))) => Err(error),
        (None, None) => Ok(None),
    }
}

/// What a table has that none of sysbench's has. Scripts make tables with other lengths, keys, indexes and
/// partitions, so these are not asked for.
fn why_not_sysbenchs(found: &TableDescription) -> Option<String> {
    if let Some(kind) = found.no_table {
        return Some(format!("it is {kind}"));
    }
    let has = |name: &&str| {
        let mut of_name = found.columns.iter().filter(|column| column.name == **name);
        of_name.any(|column| {
            let kind = column.type_name.as_str();
            match TEXTS.contains(name) {
                true => kind.contains("char") || kind.contains("text"),
                false => INTEGERS.contains(&kind.split([' ', '(']).next().unwrap_or_default()),
            }
        })
    };
    if found.columns.len() != COLUMNS.len() || !COLUMNS.iter().all(has) {
        let columns = found.columns.iter();
        let columns: Vec<String> = columns
            .map(|column| format!("{} {}", column.name, column.type_name))
            .collect();
        return Some(format!(
            "it has the columns {}, not id and k (integers), c and pad (texts)",
            columns.join(", ")
        ));
    }
    let extras = found
        .extras
        .iter()
        .filter(|extra| *extra != SYSTEM_VERSIONING);
    let mut additions: Vec<String> = extras.cloned().collect();
    let keys = found.foreign_keys.iter();
    additions.extend(keys.map(|key| format!("a foreign key that refers to {}", key.parent)));
    (!additions.is_empty()).then(|| format!("it has {}", additions.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_drivers::catalog::Column;

    fn table(columns: &[(&str, &str)]) -> TableDescription {
        let column = |(name, type_name): &(&str, &str)| Column {
            name: (*name).into(),
            type_name: (*type_name).into(),
            nullable: false,
            auto_increment: false,
            default: None,
        };
        TableDescription {
            name: "sbtest1".into(),
            columns: columns.iter().map(column).collect(),
            ..TableDescription::default()
        }
    }

    #[test]
    fn tables_of_scripts_are_told_from_others() {
        let sysbenchs = [
            ("id", "integer unsigned"),
            ("k", "integer"),
            ("c", "char(120)"),
            ("pad", "varchar(60)"),
        ];
        assert_eq!(why_not_sysbenchs(&table(&sysbenchs)), None);
        for kind in ["interval", "point"] {
            let mut others = sysbenchs;
            others[1].1 = kind;
            assert!(why_not_sysbenchs(&table(&others)).is_some(), "{kind}");
        }
        let mut others = sysbenchs;
        others[0].1 = "varchar(9)";
        let why = why_not_sysbenchs(&table(&others)).unwrap();
        assert!(why.contains("id varchar(9)"), "{why}");
        let more = [&sysbenchs[..], &[("mine", "integer")]].concat();
        assert!(why_not_sysbenchs(&table(&more)).is_some());
        assert!(why_not_sysbenchs(&table(&sysbenchs[1..])).is_some());
        let mut added = table(&sysbenchs);
        added.extras.push(SYSTEM_VERSIONING.into());
        assert_eq!(why_not_sysbenchs(&added), None);
        added.extras.push("a trigger t".into());
        assert_eq!(
            why_not_sysbenchs(&added).as_deref(),
            Some("it has a trigger t")
        );
        let mut view = table(&sysbenchs);
        view.no_table = Some("a view");
        assert_eq!(why_not_sysbenchs(&view).as_deref(), Some("it is a view"));
    }
}
