//! TPC-C's users when a transaction fails: they are shown the error and think, and nothing that may
//! have been done is done again.

use super::place::{Place, execute};
use super::relay;
use super::relay::Relay;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tidemark_core::record::{Interval, RunState, Totals};
use tidemark_core::{ErrorClass, IgnoreErrors, OptionValues, PreparedMode, RunSpec, Source};
use tidemark_drivers::{ConnectOptions, Connector, catalog};
use tidemark_engine::{
    LoadObserver, LoadSpec, RunObserver, RunResult, Started, StopHandle, create, run,
};
use tidemark_runtime::block_on;
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::{OPTIONS, Tpcc};

/// Hears nothing.
struct Deaf;

impl RunObserver for Deaf {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, _: &Interval) {}
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

impl LoadObserver for Deaf {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

fn tpcc(options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let mut values = OptionValues::defaults([OPTIONS]);
    for (name, value) in [("warehouses", "1")].iter().chain(options) {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    Arc::new(Tpcc::new(&values).unwrap())
}

fn run_on(connector: &Connector, spec: &RunSpec, options: &[(&str, &str)]) -> RunResult {
    let stop = StopHandle::new();
    run(spec, connector, &tpcc(options), &[], &stop, &mut Deaf).unwrap()
}

fn completed(totals: &Totals) -> u64 {
    totals.types.values().map(|stats| stats.count).sum()
}

/// In empty tables every transaction fails that looks for a row, and a Delivery finds an order that
/// is nowhere. A terminal's cycle is a fifth of a second (5.2.5.7, a hundred times as fast).
#[test]
fn a_user_thinks_after_an_error_that_is_ignored() {
    // Beside each other: users think most of the time.
    std::thread::scope(|scope| {
        for (engine, place) in Place::all("tpcc_ignored") {
            scope.spawn(move || think_after_errors(engine, &place));
        }
    });
}

fn think_after_errors(engine: &str, place: &Place) {
    const TERMINALS: usize = 20;
    let options = [("wait", "on"), ("wait-scale", "0.01")];
    let spec = LoadSpec::default();
    create(&place.connector(), &tpcc(&[]), &spec, &mut Deaf).unwrap();
    execute(
        place,
        &["INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (1, 1, 1)"],
    );
    for sessions in [4, TERMINALS] {
        let what = format!("{engine}, {sessions} sessions");
        let spec = RunSpec {
            sessions,
            terminals: TERMINALS,
            time: Some(Duration::from_secs(4)),
            ignore_errors: IgnoreErrors::All,
            ..RunSpec::default()
        };
        let result = run_on(&place.connector(), &spec, &options);
        assert_eq!(result.state, RunState::Finished, "{what}");
        let totals = &result.totals;
        let failed = totals.ignored_errors as f64;
        let cycle = 0.01 * 20.99;
        let most = TERMINALS as f64 * totals.elapsed_s / cycle;
        // Stock-Level counts in an empty table; all others fail, Delivery in the background. A user who does
        // not think makes hundreds of times as many. However busy the machine is, users go on after an error.
        let fewest = 2.0 * TERMINALS as f64;
        assert!(
            (fewest..1.15 * most).contains(&failed),
            "{what}: {failed} errors, of {most} transactions at most: {:?}",
            result.errors.counts()
        );
        assert!(!totals.types.contains_key("DeferredDelivery"), "{what}");
        let errors = result.errors.counts();
        assert!(errors.iter().all(|e| e.code == "tpcc"), "{errors:?}");
    }
}

/// Orders that are there, and those that the districts have numbered.
fn orders(connector: &Connector) -> [u64; 2] {
    let connector = connector.clone();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let there = catalog::row_count(&mut session, "orders").await.unwrap();
        let sql = "SELECT SUM(d_next_o_id - 1) FROM district";
        let numbered = session.query(sql).await.unwrap().int(0, 0).unwrap();
        session.close().await;
        [there, numbered as u64]
    })
    .unwrap()
}

/// Of a commit without an answer it is told that nobody knows; what it did is there once. On a loaded
/// warehouse.
pub fn an_order_whose_commit_has_no_answer_comes_once_and_is_told(engine: &str, place: &Place) {
    let direct = place.connector();
    let before = orders(&direct);

    let mut target = direct.target().clone();
    let (commits, cuts) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&cuts);
    let relay = Relay::before(&target.hosts[0], move |sent| {
        let is_commit = relay::has(sent, "COMMIT");
        let hang_up = is_commit && (commits.fetch_add(1, Ordering::AcqRel) + 1) % 10 == 0;
        counted.fetch_add(u64::from(hang_up), Ordering::AcqRel);
        hang_up
    });
    target.hosts = vec![relay];
    // Words that the relay can read.
    let options = ConnectOptions {
        prepared: PreparedMode::Text,
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target, options).unwrap();
    let spec = RunSpec {
        sessions: 4,
        terminals: 4,
        time: None,
        events: Some(200),
        prepared: PreparedMode::Text,
        ..RunSpec::default()
    };
    let result = run_on(&connector, &spec, &[("weight", "100,0,0,0,0")]);

    assert_eq!(result.state, RunState::Finished, "{engine}");
    let totals = &result.totals;
    let cut = cuts.load(Ordering::Acquire);
    let errors = result.errors.counts();
    let unknown = errors.iter().find(|e| e.code == "commit-unknown");
    let unknown = unknown.unwrap_or_else(|| panic!("{engine}: {errors:?}"));
    assert_eq!(unknown.class, ErrorClass::ConnectionLost);
    assert_eq!(unknown.count, cut, "{engine}: {errors:?}");
    assert!(cut >= 15, "{engine}: {cut}");
    // Each of the 200 was done and counted, or ended so.
    assert_eq!(completed(totals) + cut, 200, "{engine}: {totals:?}");
    let entered = totals.types["NewOrder"].count - totals.notes["rolled_back"] + cut;
    let [there, numbered] = orders(&direct);
    assert_eq!(there - before[0], entered, "{engine}: orders");
    assert_eq!(numbered - before[1], entered, "{engine}: numbers");
}
