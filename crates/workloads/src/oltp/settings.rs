//! The family's options as set.

use super::sql::TransactionEnd;
use crate::random::{Distribution, KeyShare, RandOptions};
use tidemark_core::{OptionError, OptionValues};
use tidemark_drivers::Partitioning;

/// The options that shape tables, rows and statements.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub tables: u32,
    pub table_size: u64,
    pub range_size: i64,
    pub point_selects: u32,
    pub range_selects: bool,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
    pub auto_inc: bool,
    pub secondary: bool,
    pub create_secondary: bool,
    pub create_table_options: String,
    pub skip_trx: bool,
    pub storage_engine: String,
    pub partitioning: Partitioning,
    pub partitions: u32,
    pub random_keys: bool,
    pub disjoint_keys: bool,
    /// What every transaction ends with where the user says so.
    pub end: Option<TransactionEnd>,
    pub validate: bool,
    pub rand: RandOptions,
    pub batch_size: u32,
    pub random_points: u32,
    pub number_of_ranges: u32,
    pub delta: i64,
}

impl Settings {
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let count = |name| u32::try_from(values.uint(name)).unwrap_or(u32::MAX);
        // Amazon Redshift has no secondary indexes, and sysbench's help promises both effects.
        let redshift = values.text("pgsql-variant") == "redshift";
        let storage_engine = values.text("mysql-storage-engine").to_string();
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !storage_engine.chars().all(word) {
            return Err(OptionError::Value {
                name: "mysql-storage-engine".into(),
                value: storage_engine,
                allowed: "letters, digits and underscores".into(),
                example: "--mysql-storage-engine=innodb".into(),
            });
        }
        let partitioning = match values.text("partitioning") {
            "hash" => Partitioning::Hash,
            "range" => Partitioning::Range,
            _ => Partitioning::Default,
        };
        let partitions = count("partitions");
        if partitions > 0 && partitioning == Partitioning::Default {
            return Err(OptionError::Conflict(format!(
                "--partitions={partitions} needs a way to split: add --partitioning=hash or --partitioning=range"
            )));
        }
        let end = match values.text("end-with") {
            "commit" => Some(TransactionEnd::Commit),
            "rollback" => Some(TransactionEnd::Rollback),
            _ => None,
        };
        let skip_trx = values.flag("skip-trx");
        if skip_trx && end.is_some() {
            return Err(OptionError::Conflict(format!(
                "--end-with={} needs transactions, which --skip-trx=on omits: leave one of them out",
                values.text("end-with")
            )));
        }
        let settings = Self {
            tables: count("tables"),
            table_size: values.uint("table-size"),
            range_size: values.int("range-size"),
            point_selects: count("point-selects"),
            range_selects: values.flag("range-selects"),
            simple_ranges: count("simple-ranges"),
            sum_ranges: count("sum-ranges"),
            order_ranges: count("order-ranges"),
            distinct_ranges: count("distinct-ranges"),
            index_updates: count("index-updates"),
            non_index_updates: count("non-index-updates"),
            delete_inserts: if redshift { 0 } else { count("delete-inserts") },
            auto_inc: values.flag("auto-inc"),
            secondary: values.flag("secondary"),
            create_secondary: values.flag("create-secondary") && !redshift,
            create_table_options: values.text("create-table-options").to_string(),
            skip_trx,
            storage_engine,
            partitioning,
            partitions,
            random_keys: values.text("key-order") == "random",
            disjoint_keys: values.flag("disjoint-keys"),
            end,
            validate: values.flag("validate"),
            rand: RandOptions::new(values),
            batch_size: count("batch-size"),
            random_points: count("random-points"),
            number_of_ranges: count("number-of-ranges"),
            delta: values.int("delta"),
        };
        if settings.partitioning == Partitioning::Range
            && u64::from(settings.split()) > settings.table_size
        {
            return Err(OptionError::Conflict(format!(
                "--partitions={} ranges are more than the --table-size={} keys",
                settings.split(),
                settings.table_size
            )));
        }
        Ok(settings)
    }

    /// Keys of existing rows, drawn as `--rand-type` says.
    pub fn keys(&self) -> Distribution {
        let last = i64::try_from(self.table_size).unwrap_or(i64::MAX);
        self.rand.over(1, last.max(1))
    }

    /// The keys that are a terminal's own, where no two choose the same.
    pub fn share(&self, number: usize, terminals: usize) -> Option<KeyShare> {
        let share = || KeyShare::new(number, terminals, self.table_size);
        self.disjoint_keys.then(share)
    }

    /// Whether the keys of new rows come from the client.
    pub fn client_keys(&self) -> bool {
        !self.auto_inc || self.random_keys
    }

    /// Number of partitions where one must be named.
    pub fn split(&self) -> u32 {
        if self.partitions == 0 {
            8
        } else {
            self.partitions
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::find;
    use tidemark_core::Source;

    type Options = &'static [(&'static str, &'static str)];

    fn refused(workload: &str, options: Options) -> String {
        let definition = find(workload).unwrap();
        let mut values = definition.defaults();
        for (name, value) in options {
            if let Err(e) = values.set(name, value, Source::CommandLine) {
                return e.to_string();
            }
        }
        (definition.build)(&values).unwrap_err().to_string()
    }

    #[test]
    fn options_that_contradict_each_other_are_refused_by_name() {
        let cases: &[(&str, Options, &str)] = &[
            ("oltp_read_only", &[("tables", "0")], "--tables=0"),
            (
                "oltp_read_only",
                &[("table-size", "abc")],
                "--table-size=abc",
            ),
            (
                "oltp_read_only",
                &[("table-size", "3000000000")],
                "2147483647",
            ),
            (
                "oltp_read_only",
                &[("partitions", "4")],
                "--partitioning=hash",
            ),
            (
                "oltp_read_only",
                &[("partitioning", "range"), ("table-size", "3")],
                "--partitions=8",
            ),
            (
                "oltp_read_only",
                &[("mysql-storage-engine", "innodb */ , x")],
                "--mysql-storage-engine",
            ),
            ("oltp_upsert_batch", &[("secondary", "on")], "--secondary"),
            (
                "oltp_upsert_batch",
                &[("table-size", "9")],
                "--batch-size=10",
            ),
            ("oltp_upsert_batch", &[("batch-size", "9000")], "1 to 8000"),
            ("bulk_insert", &[("tables", "2")], "--tables"),
        ];
        for (workload, options, part) in cases {
            let message = refused(workload, options);
            assert!(message.contains(part), "{workload} {options:?}: {message}");
        }
    }

    #[test]
    fn random_points_and_ranges_read_the_first_of_several_tables() {
        for (name, points) in [
            ("select_random_points", true),
            ("select_random_ranges", false),
        ] {
            let definition = crate::find(name).unwrap();
            let mut values = definition.defaults();
            values
                .set("tables", "3", tidemark_core::Source::CommandLine)
                .unwrap();
            let settings = super::Settings::new(&values).unwrap();
            let step = match points {
                true => crate::oltp::plan::StatementGroup::RandomPoints,
                false => crate::oltp::plan::StatementGroup::RandomRanges,
            };
            let plan = crate::oltp::plan::Plan::new(settings, vec![step], false);
            let tables: Vec<u32> = plan.statements().map(|(_, table)| table).collect();
            assert_eq!(
                (tables.as_slice(), plan.tables),
                ([1].as_slice(), 1),
                "{name}"
            );
            let workload = (definition.build)(&values).unwrap();
            assert_eq!(workload.needs(1).len(), 3, "{name}: all are made");
        }
    }

    #[test]
    fn a_transaction_ends_as_it_is_told() {
        use crate::oltp::plan::{Plan, StatementGroup};
        let end = |words: &[(&str, &str)]| {
            let mut values = crate::find("oltp_update_index").unwrap().defaults();
            for (name, value) in words {
                let set = values.set(name, value, tidemark_core::Source::CommandLine);
                set.unwrap();
            }
            let settings = super::Settings::new(&values).map_err(|e| e.to_string())?;
            let plan = Plan::new(settings, vec![StatementGroup::UpdateIndex(1)], false);
            let dialect = tidemark_drivers::Dialect::new(tidemark_core::Engine::Mariadb);
            let texts = plan.statements().map(|(s, table)| s.text(table, &dialect));
            let texts: Vec<String> = texts.collect();
            assert_eq!(plan.statements_sent() as usize, texts.len());
            Ok::<_, String>(texts.join("; "))
        };
        let update = "UPDATE sbtest1 SET k=k+1 WHERE id=?";
        assert_eq!(end(&[]).unwrap(), update);
        for (word, last) in [("commit", "COMMIT"), ("rollback", "ROLLBACK")] {
            let texts = end(&[("end-with", word)]).unwrap();
            assert_eq!(texts, format!("BEGIN; {last}; {update}"));
            let told = end(&[("end-with", word), ("skip-trx", "on")]).unwrap_err();
            assert!(told.contains(&format!("--end-with={word}")), "{told}");
        }
    }

    #[test]
    fn every_workload_takes_its_defaults() {
        for definition in crate::registry() {
            let built = (definition.build)(&definition.defaults());
            let workload = built.unwrap_or_else(|e| panic!("{}: {e}", definition.name));
            assert_eq!(workload.name(), definition.name);
            if definition.family == "oltp" {
                assert_eq!(workload.transaction_types(), [definition.name]);
            }
        }
    }
}
