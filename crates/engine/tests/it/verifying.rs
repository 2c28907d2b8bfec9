//! What a load makes sure of at its end, and what it leaves for the planner, on real servers and
//! files.

use super::place::{Place, Quiet};
use tidemark_core::Source;
use tidemark_engine::{EngineError, LoadSpec, StopHandle, create, drop_tables, prepare};
use tidemark_runtime::block_on;
use tidemark_workloads::find;

#[test]
fn a_load_leaves_statistics_of_every_table() {
    let definition = find("oltp_read_write").unwrap();
    let mut values = definition.defaults();
    for (name, value) in [("table-size", "300"), ("tables", "2")] {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    let workload = (definition.build)(&values).unwrap();
    for (name, place) in Place::all("statistics") {
        let connector = place.connector();
        let spec = LoadSpec::default();
        let loaded = prepare(&connector, &workload, &spec, &StopHandle::new(), &mut Quiet);
        // The user is told how long it took.
        assert!(!loaded.unwrap().refreshing.is_zero(), "{name}");
        let sql = match name {
            "sqlite" => "SELECT COUNT(DISTINCT tbl) FROM sqlite_stat1 WHERE stat LIKE '300 %'",
            "mariadb" => {
                "SELECT COUNT(DISTINCT table_name) FROM information_schema.statistics \
                 WHERE table_schema = DATABASE() AND index_name = 'PRIMARY' AND cardinality = 300"
            }
            _ => {
                "SELECT COUNT(*) FROM pg_class WHERE reltuples = 300 AND relallvisible > 0 \
                 AND relkind = 'r' AND relnamespace = current_schema()::regnamespace"
            }
        };
        let found = block_on(async move {
            let mut session = connector.connect(0).await.unwrap();
            session.query(sql).await.unwrap().int(0, 0)
        });
        assert_eq!(found.unwrap(), Some(2), "{name}");
    }
}

/// MariaDB's rows are counted chunk by chunk, between the keys at which chunks begin.
#[test]
fn rows_that_nobody_loaded_are_found_wherever_they_are() {
    let definition = find("tpch").unwrap();
    let mut values = definition.defaults();
    values.set("sf", "0.01", Source::CommandLine).unwrap();
    let workload = (definition.build)(&values).unwrap();
    let spec = LoadSpec {
        threads: 2,
        chunk_rows: 1500,
        ..LoadSpec::default()
    };
    let mut places = Place::all("strangers");
    places.retain(|(name, _)| *name == "mariadb");
    for (name, place) in places {
        let connector = place.connector();
        // The first eight of every 32 keys are taken (4.2.3).
        for (key, found) in [(-7, 15_001), (16, 15_001), (99_999, 15_001), (0, 15_000)] {
            create(&connector, &workload, &spec, &mut Quiet).unwrap();
            let row = format!(
                "INSERT INTO orders VALUES ({key}, 1, 'O', 1.00, '1996-01-02', '5-LOW', 'Clerk', 0, 'stray')"
            );
            let asked = connector.clone();
            block_on(async move {
                let mut session = asked.connect(0).await.unwrap();
                if key != 0 {
                    session.simple(&row).await.unwrap();
                }
            })
            .unwrap();
            let loaded = prepare(&connector, &workload, &spec, &StopHandle::new(), &mut Quiet);
            match loaded {
                Ok(report) => {
                    let orders = report.tables.iter().find(|t| t.table == "orders").unwrap();
                    assert_eq!((orders.rows, key), (found, 0), "{name}");
                    assert!(report.tables.iter().all(|t| t.counted_by_chunks), "{name}");
                }
                Err(failure) => {
                    let said = "table orders has 15001 rows, 15000 were loaded";
                    let wrong = matches!(&failure.error, EngineError::Check(why) if why == said);
                    assert!(wrong, "{name}: {key}: {failure}");
                    assert_ne!(key, 0);
                }
            }
            drop_tables(&connector, &workload, 1, false, &StopHandle::new()).unwrap();
        }
    }
}
