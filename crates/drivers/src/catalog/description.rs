//! A table's description, in the same words for every engine.

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as [`normal_type`] writes it: `integer`, `char(120)`.
    pub type_name: String,
    /// Whether it takes NULL.
    pub nullable: bool,
    /// Whether the server fills it when an INSERT leaves it out.
    pub auto_increment: bool,
    /// Its default as the engine shows it; never the generator of an automatic key.
    pub default: Option<String>,
}

/// One index beside the primary key's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns in order; an expression is an empty name.
    pub columns: Vec<String>,
    /// Whether it allows each key once.
    pub unique: bool,
}

/// One foreign key of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its columns in order.
    pub columns: Vec<String>,
    /// The table that it refers to; with its schema or database where that is another one.
    pub parent: String,
}

/// How a table is split into partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partitions {
    /// `hash`, `range`, `list`, or as the engine calls it, in lower case.
    pub method: String,
    /// The columns it is split by; what is no column is an empty name or the expression.
    pub columns: Vec<String>,
}

/// What [`TableDescription::extras`] calls a table that keeps its rows' history.
pub const SYSTEM_VERSIONING: &str = "system versioning";

/// What a table looks like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableDescription {
    /// Its name.
    pub name: String,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The primary key's columns in order; empty without one.
    pub primary_key: Vec<String>,
    /// Its indexes beside the primary key's, by name.
    pub indexes: Vec<Index>,
    /// Its comment: Tidemark's mark, if Tidemark made it.
    pub comment: Option<String>,
    /// What bears the name where that is no table: `a view`, `a sequence`.
    pub no_table: Option<&'static str>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// How it is split; `None` of a whole table.
    pub partitions: Option<Partitions>,
    /// What no benchmark gives a table, in words: `a trigger t`, `a CHECK constraint c`,
    /// [`SYSTEM_VERSIONING`].
    pub extras: Vec<String>,
}

/// The indexes that are neither the primary key's nor unique.
pub fn secondary_indexes(table: &TableDescription) -> impl Iterator<Item = &Index> {
    table.indexes.iter().filter(|i| !i.unique)
}

/// A column type in one spelling, whatever the engine calls it: lower case, `integer`, `bigint`,
/// `smallint`, `char(n)`, `varchar(n)`, `decimal(p,s)`, `float`, `double`, `timestamp`,
/// `timestamptz`; display widths of integers are dropped. What has no such spelling stays as it is.
///
/// ```
/// use tidemark_drivers::catalog::normal_type;
/// assert_eq!(normal_type("INT(11)"), "integer");
/// assert_eq!(normal_type("character(120)"), "char(120)");
/// assert_eq!(normal_type("numeric(12, 2)"), "decimal(12,2)");
/// assert_eq!(normal_type("int(10) unsigned"), "integer unsigned");
/// ```
pub fn normal_type(name: &str) -> String {
    let lower = name.trim().to_ascii_lowercase();
    let (base, size, rest) = match lower.split_once('(') {
        Some((base, after)) => {
            let (size, rest) = after.split_once(')').unwrap_or((after, ""));
            (base.trim(), size.replace(' ', ""), rest.trim())
        }
        None => match lower.strip_suffix(" unsigned") {
            Some(base) => (base.trim(), String::new(), "unsigned"),
            None => (lower.as_str(), String::new(), ""),
        },
    };
    // PostgreSQL writes the precision of times in the middle: `timestamp(3) without time zone`.
    let (base, rest) = match (base, rest) {
        ("timestamp", "without time zone") => ("timestamp", ""),
        ("timestamp", "with time zone") => ("timestamptz", ""),
        other => other,
    };
    let integer = match base {
        "int" | "int4" | "integer" => Some("integer"),
        "int8" | "bigint" => Some("bigint"),
        "int2" | "smallint" => Some("smallint"),
        "tinyint" => Some("tinyint"),
        "mediumint" => Some("mediumint"),
        _ => None,
    };
    let base = match base {
        "character" | "bpchar" => "char",
        "character varying" => "varchar",
        "numeric" => "decimal",
        "double precision" | "float8" => "double",
        "real" | "float4" => "float",
        "timestamp without time zone" => "timestamp",
        "timestamp with time zone" => "timestamptz",
        other => other,
    };
    let mut out = match integer {
        Some(integer) => integer.to_string(),
        None if size.is_empty() => base.to_string(),
        None => format!("{base}({size})"),
    };
    if !rest.is_empty() {
        out.push(' ');
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_one_spelling() {
        for (given, normal) in [
            ("int", "integer"),
            ("INTEGER", "integer"),
            ("bigint(20) unsigned", "bigint unsigned"),
            ("int unsigned", "integer unsigned"),
            ("bpchar(60)", "char(60)"),
            ("CHAR(120)", "char(120)"),
            ("character varying(25)", "varchar(25)"),
            ("double precision", "double"),
            ("real", "float"),
            ("decimal(10,2)", "decimal(10,2)"),
            ("timestamp without time zone", "timestamp"),
            ("timestamp(3) with time zone", "timestamptz(3)"),
            ("text", "text"),
            ("", ""),
            ("enum('a','b')", "enum('a','b')"),
        ] {
            assert_eq!(normal_type(given), normal, "{given}");
        }
    }

    #[test]
    fn unique_indexes_are_not_secondary() {
        let index = |name: &str, unique| Index {
            name: name.into(),
            columns: vec!["k".into()],
            unique,
        };
        let table = TableDescription {
            indexes: vec![index("k_1", false), index("u_1", true)],
            ..TableDescription::default()
        };
        let names: Vec<_> = secondary_indexes(&table).map(|i| &i.name).collect();
        assert_eq!(names, ["k_1"]);
    }
}
