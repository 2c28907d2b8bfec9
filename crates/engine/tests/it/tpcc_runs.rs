//! TPC-C on a loaded database: many sessions that get in each other's way lose and double nothing,
//! and terminals with think times enter as many orders as the specification lets them.

use super::place::Place;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::record::{Interval, RunState, Totals};
use tidemark_core::{ErrorClass, IgnoreErrors, Isolation, OptionValues, RunSpec, Source};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_engine::{
    CheckObserver, CheckSpec, ConditionReport, ConditionVerdict, LoadObserver, LoadSpec,
    RunObserver, RunResult, Started, StopHandle, check, prepare, run,
};
use tidemark_runtime::block_on;
use tidemark_stats::Histogram;
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::{OPTIONS, Tpcc};

/// Sums what intervals tell.
#[derive(Default)]
struct Told {
    rolled_back: u64,
    new_orders: u64,
}

impl RunObserver for Told {
    fn started(&mut self, _: &Started) {}
    fn interval(&mut self, interval: &Interval) {
        self.rolled_back += interval.notes["rolled_back"];
        self.new_orders += interval.types.get("NewOrder").map_or(0, |t| t.count);
    }
    fn checkpoint(&mut self, _: f64, _: &Totals) {}
}

impl LoadObserver for Told {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}
    fn progress(&mut self, _: u64, _: u64) {}
    fn indexing(&mut self, _: &str) {}
    fn verifying(&mut self) {}
}

impl CheckObserver for Told {
    fn progress(&mut self, _: u64, _: u64) {}
    fn verdict(&mut self, _: &ConditionReport) {}
}

const WAREHOUSES: u64 = 2;

fn tpcc(options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let mut values = OptionValues::defaults([OPTIONS]);
    let warehouses = WAREHOUSES.to_string();
    for (name, value) in [("warehouses", &*warehouses)].iter().chain(options) {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    Arc::new(Tpcc::new(&values).unwrap())
}

/// What a run changes: orders, those not delivered, payments, and the next order numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    orders: u64,
    new_orders: u64,
    payments: u64,
    numbers: u64,
}

fn counts(connector: &Connector) -> Counts {
    let connector = connector.clone();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let mut found = [0; 4];
        let queries = [
            "SELECT COUNT(*) FROM orders",
            "SELECT COUNT(*) FROM new_order",
            "SELECT COUNT(*) FROM history",
            "SELECT SUM(d_next_o_id - 1) FROM district",
        ];
        for (place, sql) in found.iter_mut().zip(queries) {
            let rows = session.query(sql).await.unwrap();
            *place = rows.int(0, 0).unwrap() as u64;
        }
        session.close().await;
        let [orders, new_orders, payments, numbers] = found;
        Counts {
            orders,
            new_orders,
            payments,
            numbers,
        }
    })
    .unwrap()
}

fn assert_consistent(what: &str, connector: &Connector) {
    let spec = CheckSpec {
        threads: 2,
        snapshot: false,
        only: None,
    };
    let (stop, mut told) = (StopHandle::new(), Told::default());
    let report = check(connector, &tpcc(&[]), &spec, &stop, &mut told).unwrap();
    for found in &report.conditions {
        // It is about the population alone.
        if found.name.starts_with("3.3.2") {
            assert_eq!(
                found.verdict,
                ConditionVerdict::Holds,
                "{what} {}",
                found.name
            );
        }
    }
}

fn count(totals: &Totals, kind: &str) -> u64 {
    totals.types.get(kind).map_or(0, |stats| stats.count)
}

/// Runs, and compares what was counted with what is there.
fn run_and_compare(
    what: &str,
    connector: &Connector,
    spec: &RunSpec,
    options: &[(&str, &str)],
) -> RunResult {
    let before = counts(connector);
    let (stop, mut told) = (StopHandle::new(), Told::default());
    let workload = tpcc(options);
    let result = run(spec, connector, &workload, &[], &stop, &mut told).unwrap();
    assert_eq!(result.state, RunState::Finished, "{what}");
    let totals = &result.totals;
    let notes = &totals.notes;
    assert_eq!(told.new_orders, count(totals, "NewOrder"), "{what}");
    assert_eq!(told.rolled_back, notes["rolled_back"], "{what}");

    let after = counts(connector);
    let entered = count(totals, "NewOrder") - notes["rolled_back"];
    let delivered = if options.contains(&("wait", "on")) {
        assert_eq!(
            count(totals, "Delivery"),
            count(totals, "DeferredDelivery"),
            "{what}"
        );
        count(totals, "DeferredDelivery")
    } else {
        count(totals, "Delivery")
    };
    let expected = Counts {
        orders: before.orders + entered,
        new_orders: before.new_orders + entered + notes["delivery_skipped"] - 10 * delivered,
        payments: before.payments + count(totals, "Payment"),
        numbers: before.numbers + entered,
    };
    assert_eq!(after, expected, "{what}: {notes:?}");
    assert!(entered > 20 && delivered > 0, "{what}: {totals:?}");
    result
}

fn load(connector: &Connector) {
    let spec = LoadSpec {
        threads: 2,
        ..LoadSpec::default()
    };
    let (stop, mut told) = (StopHandle::new(), Told::default());
    prepare(connector, &tpcc(&[]), &spec, &stop, &mut told).unwrap();
}

/// Sixteen sessions for each warehouse, none of which waits.
fn contend(engine: &str, place: &Place) {
    let levels: &[Option<Isolation>] = match engine {
        "postgres" => &[None, Some(Isolation::Serializable)],
        "mariadb" => &[None, Some(Isolation::Serializable)],
        _ => &[None],
    };
    for isolation in levels {
        let what = format!("{engine}, {isolation:?}");
        let options = ConnectOptions {
            isolation: *isolation,
            ..ConnectOptions::default()
        };
        let connector = Connector::new(place.connector().target().clone(), options).unwrap();
        let sessions = if engine == "sqlite" { 4 } else { 32 };
        let spec = RunSpec {
            sessions,
            terminals: sessions,
            time: Some(Duration::from_secs(2)),
            ..RunSpec::default()
        };
        let result = run_and_compare(&what, &connector, &spec, &[]);
        let errors = result.errors.counts();
        assert!(
            errors.iter().all(|e| e.class == ErrorClass::Retryable),
            "{what}: {errors:?}"
        );
        let retried: u64 = errors.iter().map(|e| e.count).sum();
        assert_eq!(retried, result.totals.ignored_errors, "{what}");
        // MariaDB locks what it reads: deadlocks are few there, and may be none.
        if engine == "postgres" && isolation.is_some() {
            assert!(errors.iter().any(|e| e.code == "40001"), "{errors:?}");
        }
    }
}

/// 5.2.5.7 a hundred times as fast: a terminal's cycle is a fifth of a second.
fn think(engine: &str, place: &Place) {
    const TERMINALS: usize = 20;
    let options = [("wait", "on"), ("wait-scale", "0.01")];
    // Fewer sessions than terminals, and as many.
    for sessions in [4, TERMINALS] {
        let what = format!("{engine}, {sessions} sessions");
        let spec = RunSpec {
            sessions,
            terminals: TERMINALS,
            warmup: Duration::ZERO,
            time: Some(Duration::from_secs(3)),
            ..RunSpec::default()
        };
        let result = run_and_compare(&what, &place.connector(), &spec, &options);
        let totals = &result.totals;
        let cycle = 0.01 * 20.99;
        let most = TERMINALS as f64 * totals.elapsed_s / cycle * 0.45;
        let efficiency = count(totals, "NewOrder") as f64 / most;
        // Server and tests share the machine; nothing but pacing can make it more than all.
        assert!((0.05..1.1).contains(&efficiency), "{what}: {efficiency}");
        // However slow the server is, what is left of a terminal's time is keying and thinking, but for
        // the transaction that it is at when the run ends.
        let (mut ended, mut responding, mut longest) = (0.0, 0.0, 0.0_f64);
        for of_type in totals.types.values().filter_map(|t| t.response.as_ref()) {
            let response = Histogram::decode(&of_type.0).unwrap();
            ended += response.count() as f64;
            responding += response.sum_ns() as f64 / 1e9;
            longest = longest.max(response.max_ns() as f64 / 1e9);
        }
        let pause = (TERMINALS as f64 * totals.elapsed_s - responding) / ended;
        let at_the_end = TERMINALS as f64 * (longest + cycle) / ended;
        let is_asked = (cycle * 0.6..cycle * 1.4 + at_the_end).contains(&pause);
        assert!(is_asked, "{what}: {pause} s, {at_the_end} s more at most");
        // Each was due before it was sent, but what was deferred was not.
        assert!(totals.types["Payment"].response.is_some(), "{what}");
        assert!(totals.types["DeferredDelivery"].response.is_none());
        let shares = ["remote_payment", "by_last_name", "order_line"];
        assert!(shares.iter().all(|note| totals.notes[*note] > 0), "{what}");
    }
}

/// Orders that are gone can't be delivered: with errors passed over the run goes on, and each
/// Delivery's rest is tried once. Leaves tables that no condition holds for.
fn pass_over(engine: &str, place: &Place) {
    const EVENTS: u64 = 20;
    let connector = place.connector();
    let ruin = connector.clone();
    block_on(async move {
        let mut session = ruin.connect(0).await.unwrap();
        let gone = "DELETE FROM orders WHERE o_d_id = 1";
        session.simple(gone).await.unwrap();
    })
    .unwrap();
    let deliver = [("weight", "0,0,0,100,0"), ("delivery", "deferred")];
    let spec = RunSpec {
        sessions: 2,
        terminals: 2,
        warmup: Duration::ZERO,
        time: Some(Duration::from_secs(60)),
        events: Some(EVENTS),
        ignore_errors: IgnoreErrors::All,
        ..RunSpec::default()
    };
    let (stop, mut told) = (StopHandle::new(), Told::default());
    let result = run(&spec, &connector, &tpcc(&deliver), &[], &stop, &mut told).unwrap();
    assert_eq!(result.state, RunState::Finished, "{engine}");
    assert_eq!(count(&result.totals, "Delivery"), EVENTS, "{engine}");
    assert_eq!(count(&result.totals, "DeferredDelivery"), 0, "{engine}");
    let errors = result.errors.counts();
    let other = errors.iter().find(|e| e.code != "tpcc");
    // Two sessions deliver from two warehouses; they may get in each other's way all the same.
    assert!(
        other.is_none_or(|e| e.class == ErrorClass::Retryable),
        "{engine}: {errors:?}"
    );
    let given_up = errors.iter().filter(|e| e.code == "tpcc").map(|e| e.count);
    assert_eq!(given_up.sum::<u64>(), EVENTS, "{engine}: {errors:?}");
}

fn on(engine: &str) {
    let name = format!("tpcc_runs_{engine}");
    let (_, place) = Place::all(&name)
        .into_iter()
        .find(|(found, _)| *found == engine)
        .unwrap();
    load(&place.connector());
    // What one run breaks stays broken: the conditions are asked after the last of a kind.
    contend(engine, &place);
    assert_consistent(&format!("{engine}, contention"), &place.connector());
    think(engine, &place);
    assert_consistent(&format!("{engine}, think times"), &place.connector());
    pass_over(engine, &place);
}

#[test]
fn nothing_is_lost_on_mariadb() {
    on("mariadb");
}

#[test]
fn nothing_is_lost_on_postgres() {
    on("postgres");
}

#[test]
fn nothing_is_lost_on_sqlite() {
    on("sqlite");
}
