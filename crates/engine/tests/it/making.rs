//! Many tables that are made by several sessions, on real servers and files.

use super::place::{Place, Quiet, execute};
use std::sync::Arc;
use tidemark_core::Source;
use tidemark_engine::{LoadFailure, LoadReport, LoadSpec, Replace, StopHandle, create, prepare};
use tidemark_workloads::{Workload, find};

const TABLES: usize = 20;

fn workload() -> Arc<dyn Workload> {
    let definition = find("oltp_read_write").unwrap();
    let mut values = definition.defaults();
    for (name, value) in [("table-size", "100"), ("tables", "20")] {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    (definition.build)(&values).unwrap()
}

fn load(place: &Place, spec: &LoadSpec) -> Result<LoadReport, LoadFailure> {
    let (connector, stop) = (place.connector(), StopHandle::new());
    prepare(&connector, &workload(), spec, &stop, &mut Quiet)
}

/// More sessions than make tables, fewer tables for the last one, tables that are there and that are
/// not.
#[test]
fn tables_are_made_once_each_whatever_is_there() {
    for (name, place) in Place::all("making") {
        let spec = LoadSpec {
            threads: 9,
            chunk_rows: 40,
            ..LoadSpec::default()
        };
        create(&place.connector(), &workload(), &spec, &mut Quiet).unwrap();
        execute(
            &place,
            &[
                // Two that somebody dropped, of which the journal tells still.
                "DROP TABLE sbtest3",
                "DROP TABLE sbtest20",
                // A client that was killed before it wrote a table's lines, and one in between.
                "DELETE FROM tidemark_load_journal WHERE table_name = 'sbtest5'",
                "DELETE FROM tidemark_load_journal \
                 WHERE table_name = 'sbtest6' AND first_row IN (40, -1)",
            ],
        );
        // Chunks of another size fill what is left of the former ones.
        let other = LoadSpec {
            chunk_rows: 30,
            ..spec.clone()
        };
        let loaded = load(&place, &other).unwrap();
        assert_eq!((loaded.rows_loaded, loaded.rows_there), (2000, 0), "{name}");
        assert_eq!(loaded.tables.len(), TABLES, "{name}");
        // Each looked at: its rows, its keys from 1 to 100.
        for table in &loaded.tables {
            let found = (table.rows, table.keys, table.elsewhere);
            assert_eq!(
                found,
                (100, Some((1, 100)), false),
                "{name} {}",
                table.table
            );
        }
        // All are dropped and made anew.
        let others = LoadSpec {
            seed: spec.seed + 1,
            replace: Replace::Benchmark,
            ..spec
        };
        let again = load(&place, &others).unwrap();
        assert_eq!((again.rows_loaded, again.rows_there), (2000, 0), "{name}");
    }
}

/// What a server says of one table ends the load, and nothing of it is taken for a whole table.
#[test]
fn a_table_that_cannot_be_made_ends_the_load() {
    for (name, place) in Place::all("unmade") {
        // In nobody's way until a table is made under the name: a foreign key that the table would
        // have to bear, a type of the name.
        let (in_the_way, out_of_it): (&[&str], &str) = match name {
            "mariadb" => (
                &[
                    "SET foreign_key_checks = 0",
                    "CREATE TABLE in_the_way (a INTEGER, KEY (a), \
                     FOREIGN KEY (a) REFERENCES sbtest7 (nowhere)) ENGINE = InnoDB",
                ],
                "DROP TABLE in_the_way",
            ),
            "postgres" => (&["CREATE TYPE sbtest7 AS ENUM ('a')"], "DROP TYPE sbtest7"),
            _ => continue,
        };
        execute(&place, in_the_way);
        let spec = LoadSpec {
            threads: 4,
            ..LoadSpec::default()
        };
        let failure = load(&place, &spec).unwrap_err();
        assert!(failure.began, "{name}: {failure}");
        assert_eq!(failure.rows_done, 0, "{name}");
        let said = failure.to_string();
        assert!(said.contains("sbtest7"), "{name}: {said}");
        execute(&place, &[out_of_it]);
        let loaded = load(&place, &spec).unwrap();
        assert_eq!((loaded.rows_loaded, loaded.rows_there), (2000, 0), "{name}");
    }
}
