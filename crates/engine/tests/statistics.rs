//! What a load leaves for the planner, on real servers and files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod place;

use place::{Place, Quiet};
use tidemark_core::Source;
use tidemark_engine::{LoadSpec, StopHandle, prepare};
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
