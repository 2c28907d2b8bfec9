//! The table: a key and fields, all of text.

use super::Settings;
use super::options::MOST_FIELDS;
use crate::{Prewarm, TablePlan};
use std::sync::LazyLock;
use tidemark_drivers::Dialect;

/// The key's column, as go-ycsb writes it. Engines that keep letters in lower case find it, too.
pub(super) const KEY: &str = "YCSB_KEY";

/// The key's column as a name in quotes, which every engine finds.
const KEY_COLUMN: &str = "ycsb_key";

static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..MOST_FIELDS).map(|i| format!("field{i}")).collect());

/// Key and fields, in their order.
static COLUMNS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let fields = NAMES.iter().map(String::as_str);
    std::iter::once(KEY_COLUMN).chain(fields).collect()
});

/// The column of a field, as go-ycsb writes it.
pub(super) fn field(number: usize) -> String {
    format!("FIELD{number}")
}

/// The names of the columns of so many fields, and the key before them.
fn columns(fields: usize) -> &'static [&'static str] {
    COLUMNS.get(..=fields).unwrap_or(&COLUMNS)
}

/// How the table is made, filled and checked.
pub(super) fn plan(settings: &Settings, dialect: &Dialect) -> TablePlan {
    let name = dialect.quote(&settings.table);
    let later = dialect.adds_primary_key_later();
    let clustered = match settings.cluster_index {
        true => dialect.clustered_key(),
        false => "",
    };
    let key = if later {
        format!("{KEY} VARCHAR(64)")
    } else {
        format!("{KEY} VARCHAR(64) PRIMARY KEY{clustered}")
    };
    let fields = (0..settings.field_count)
        .map(|i| format!("{} VARCHAR({})", field(i), settings.field_length));
    let lines: Vec<String> = std::iter::once(key).chain(fields).collect();
    let create = format!("CREATE TABLE {name} (\n  {}\n)", lines.join(",\n  "));
    let indexes = later.then(|| {
        // The name that the engine itself would give it.
        let constraint = dialect.quote(&format!("{}_pkey", settings.table));
        format!("ALTER TABLE {name} ADD CONSTRAINT {constraint} PRIMARY KEY ({KEY})")
    });
    let unit = 30 + settings.field_count as u64 * (settings.field_length + 2);
    TablePlan {
        name: settings.table.clone(),
        create: vec![create],
        columns: columns(settings.field_count),
        rows: settings.insert_count,
        unit_bytes: u32::try_from(unit).unwrap_or(u32::MAX),
        row_key: columns(0),
        indexes: indexes.into_iter().collect(),
        ..TablePlan::default()
    }
}

/// Reads the table by its key and by a column that no index holds.
pub(super) fn prewarm(settings: &Settings, dialect: &Dialect) -> Prewarm {
    Prewarm {
        table: settings.table.clone(),
        statements: dialect.prewarm(
            &dialect.quote(&settings.table),
            KEY,
            "PRIMARY",
            &field(0),
            settings.record_count,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn tables_are_go_ycsbs_on_every_engine() {
        let asked = settings(&[
            ("recordcount", "10"),
            ("fieldcount", "2"),
            ("fieldlength", "7"),
        ])
        .unwrap();
        for engine in Engine::ALL {
            let plan = plan(&asked, &Dialect::new(engine));
            let create = plan.create.join("; ").replace(['`', '"'], "");
            let key = match engine {
                Engine::Postgres => "YCSB_KEY VARCHAR(64)",
                Engine::Tidb => {
                    "YCSB_KEY VARCHAR(64) PRIMARY KEY /*T![clustered_index] CLUSTERED */"
                }
                _ => "YCSB_KEY VARCHAR(64) PRIMARY KEY",
            };
            assert_eq!(
                create,
                format!(
                    "CREATE TABLE usertable (\n  {key},\n  FIELD0 VARCHAR(7),\n  FIELD1 \
                     VARCHAR(7)\n)"
                ),
                "{engine}"
            );
            assert_eq!(plan.columns, ["ycsb_key", "field0", "field1"]);
            assert_eq!(plan.row_key, ["ycsb_key"]);
            let later = usize::from(engine == Engine::Postgres);
            assert_eq!(plan.indexes.len(), later, "{engine}");
        }
    }

    #[test]
    fn a_table_may_have_as_many_fields_as_the_property_allows() {
        assert_eq!(
            columns(MOST_FIELDS as usize).len(),
            MOST_FIELDS as usize + 1
        );
        assert_eq!(columns(1000).last(), Some(&"field999"));
    }
}
