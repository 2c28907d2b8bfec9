//! Many tables that are made by several sessions, on real servers and files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod place;

use place::{Place, Quiet, execute};
use std::sync::Arc;
use tidemark_core::Source;
use tidemark_engine::{LoadReport, LoadSpec, Replace, StopHandle, create, prepare};
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

fn load(place: &Place, spec: &LoadSpec) -> Result<LoadReport, String> {
    let (connector, stop) = (place.connector(), StopHandle::new());
    prepare(&connector, &workload(), spec, &stop, &mut Quiet).map_err(|e| e.to_string())
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
        // Two that somebody dropped, of which the journal tells still.
        execute(&place, &["DROP TABLE sbtest3", "DROP TABLE sbtest20"]);
        let loaded = load(&place, &spec).unwrap();
        assert_eq!(loaded.tables.len(), TABLES, "{name}");
        assert!(loaded.tables.iter().all(|t| t.rows == 100), "{name}");
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
        // Not a table, and so in nobody's way until one is made under its name.
        let in_the_way = match name {
            "mariadb" => "CREATE SEQUENCE sbtest7",
            "postgres" => "CREATE TYPE sbtest7 AS (a INTEGER)",
            _ => continue,
        };
        execute(&place, &[in_the_way]);
        let spec = LoadSpec {
            threads: 4,
            ..LoadSpec::default()
        };
        let said = load(&place, &spec).unwrap_err();
        assert!(said.contains("sbtest7"), "{name}: {said}");
        execute(
            &place,
            &[&in_the_way
                .replacen("CREATE", "DROP", 1)
                .replace(" AS (a INTEGER)", "")],
        );
        let loaded = load(&place, &spec).unwrap();
        assert_eq!(loaded.rows_loaded, 2000, "{name}");
    }
}
