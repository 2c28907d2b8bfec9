//! Loads into a target of several hosts, each of which may have locks of its own.

use super::relay;
use super::relay::Relay;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tidemark_core::{Source, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::{LoadObserver, LoadSpec, StopHandle, prepare};
use tidemark_testkit::{shared_mariadb, shared_postgres};
use tidemark_workloads::find;

/// Hears nothing.
struct Deaf;

impl LoadObserver for Deaf {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

/// Whether a request asks if another client lives.
fn asks_for_life(sent: &[u8]) -> bool {
    let by_name = relay::has(sent, "tidemark_client") && relay::has(sent, ", 0)");
    by_name || relay::has(sent, "advisory_xact_lock_shared")
}

/// A client holds its lock on the first host: on another one it would be taken for dead, and its
/// work done twice.
#[test]
fn whether_a_client_lives_is_asked_where_it_holds_its_lock() {
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let engine = server.engine();
        let database = server.fresh_database("several_hosts").unwrap();
        let mut target = Target::parse(&database.url()).unwrap();
        let asked = [Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0))];
        let relays = asked.each_ref().map(|count| {
            let count = Arc::clone(count);
            Relay::before(&target.hosts[0], move |sent| {
                count.fetch_add(u64::from(asks_for_life(sent)), Ordering::AcqRel);
                false
            })
        });
        target.hosts = relays.into();
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        let definition = find("oltp_read_write").unwrap();
        let mut values = definition.defaults();
        for (name, value) in [("table-size", "50000"), ("tables", "2")] {
            values.set(name, value, Source::CommandLine).unwrap();
        }
        let tables = (definition.build)(&values).unwrap();
        let client = || {
            let (connector, tables) = (connector.clone(), Arc::clone(&tables));
            let spec = LoadSpec {
                // Loads on the first host, so that the next session is the second one's.
                threads: 1,
                chunk_rows: 500,
                ..LoadSpec::default()
            };
            let stop = StopHandle::new();
            thread::spawn(move || prepare(&connector, &tables, &spec, &stop, &mut Deaf))
        };
        for loaded in [client(), client()] {
            let report = loaded.join().unwrap().unwrap();
            assert!(report.rows_elsewhere > 0, "{engine}: {report:?}");
        }
        let asked = asked.map(|count| count.load(Ordering::Acquire));
        assert!(asked[0] > 0 && asked[1] == 0, "{engine}: {asked:?}");
    }
}
