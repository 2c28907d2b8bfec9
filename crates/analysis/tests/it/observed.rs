//! Means of series and the cost of a transaction.

use super::common;
use std::collections::BTreeMap;
use tidemark_analysis::compare;
use tidemark_analysis::observed::{CostKind, costs, server_host, sessions};
use tidemark_core::record::{Interval, Phase, RunRecord, TypeStats};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};

fn series(source: &str, name: &str, labels: &[(&str, &str)], points: &[(i64, f64)]) -> Series {
    let mut key = SeriesKey::new(source, name, "1/s", Measures::Rate);
    for (label, value) in labels {
        key = key.with(label, value);
    }
    let mut builder = SeriesBuilder::new(key, 6, 1000);
    for (second, value) in points {
        builder.push(second * 1000, *value);
    }
    builder.series().unwrap()
}

/// A second of warm-up and four seconds of 100 transactions each.
fn record(series: Vec<Series>) -> RunRecord {
    let interval = |second: i64| Interval {
        start_ms: second * 1000,
        length_ms: 1000.0,
        phase: if second < 0 {
            Phase::Warmup
        } else {
            Phase::Measure
        },
        types: BTreeMap::from([(
            "t".to_string(),
            TypeStats {
                count: 100,
                ..TypeStats::default()
            },
        )]),
        ..Interval::default()
    };
    RunRecord {
        intervals: (-1..4).map(interval).collect(),
        series,
        ..RunRecord::default()
    }
}

fn steady(value: f64) -> Vec<(i64, f64)> {
    (0..4).map(|second| (second, value)).collect()
}

#[test]
fn a_transactions_cost_is_of_the_measurement_alone() {
    let record = record(vec![
        // The warm-up and what came after the measurement don't count.
        series(
            "server-status",
            "rows.read",
            &[],
            &[
                (-1, 9e9),
                (0, 200.0),
                (1, 200.0),
                (2, 400.0),
                (3, 400.0),
                (4, 9e9),
            ],
        ),
        series("server-process", "process.cpu-user", &[], &steady(0.3)),
        series("server-process", "process.cpu-system", &[], &steady(0.1)),
        series(
            "client-host",
            "threads.cpu",
            &[("threads", "load")],
            &steady(0.5),
        ),
        series(
            "client-host",
            "threads.cpu",
            &[("threads", "other")],
            &steady(0.1),
        ),
        series(
            "client-host",
            "threads.cpu",
            &[("threads", "observing")],
            &steady(7.0),
        ),
        series(
            "client-host",
            "network.sent",
            &[("interface", "lo")],
            &steady(1000.0),
        ),
        series(
            "client-host",
            "network.received",
            &[("interface", "lo")],
            &steady(1000.0),
        ),
    ]);
    let costs = costs(&record);
    let of = |kind| {
        let found = costs.iter().find(|c| c.kind == kind);
        found.map(|c| (c.per_transaction * 1e6).round() / 1e6)
    };
    assert_eq!(of(CostKind::RowsRead), Some(3.0));
    assert_eq!(of(CostKind::ServerCpuUs), Some(4000.0));
    assert_eq!(of(CostKind::ClientCpuUs), Some(6000.0));
    assert_eq!(of(CostKind::NetworkBytes), Some(10.0));
    // What no source told has no cost.
    assert_eq!(of(CostKind::LogBytes), None);
    assert_eq!(costs.len(), 4);
}

#[test]
fn a_cost_is_of_the_transactions_of_its_own_time() {
    // A source that began in the third second, when there were a quarter of the transactions.
    let late = [(2, 50.0), (3, 50.0)];
    let mut record = record(vec![series("server-status", "rows.read", &[], &late)]);
    for interval in &mut record.intervals[3..] {
        interval.types.get_mut("t").unwrap().count = 25;
    }
    assert_eq!(costs(&record)[0].per_transaction, 2.0);
}

#[test]
fn half_of_a_cost_is_none() {
    let record = record(vec![series(
        "server-process",
        "process.cpu-user",
        &[],
        &steady(1.0),
    )]);
    assert!(costs(&record).is_empty());
    assert!(costs(&RunRecord::default()).is_empty());
}

#[test]
fn costs_are_compared_where_both_sides_have_them() {
    let all_along = |value: f64| -> Vec<(i64, f64)> { (0..20).map(|n| (n, value)).collect() };
    // A thousand transactions a second.
    let side = |id: &str, rows: f64, more: Vec<Series>| RunRecord {
        id: id.into(),
        series: [
            vec![series("server-status", "rows.read", &[], &all_along(rows))],
            more,
        ]
        .concat(),
        ..common::clean()
    };
    let log = || series("server-status", "log.written", &[], &all_along(5000.0));
    let comparison = compare(
        &[side("a", 2000.0, vec![log()])],
        &[side("b", 3000.0, Vec::new())],
    );
    let costs = comparison.unwrap().costs;
    assert_eq!(costs.len(), 1, "{costs:?}");
    let of = costs[0];
    assert_eq!((of.kind, of.a, of.b), (CostKind::RowsRead, 2.0, 3.0));
    assert_eq!(of.ratio, Some(1.5));
}

#[test]
fn sessions_that_were_seen_late_were_elsewhere_before() {
    let active = |wait: &str, points: &[(i64, f64)]| {
        let labels = [("state", "active"), ("wait", wait)];
        series("server-activity", "sessions", &labels, points)
    };
    let record = record(vec![
        active("CPU", &steady(3.0)),
        active("Lock:tuple", &[(2, 2.0), (3, 2.0)]),
    ]);
    assert_eq!(sessions(&record, "active", None), Some(4.0));
    assert_eq!(sessions(&record, "active", Some("CPU")), Some(3.0));
    // It is a state of its own: over its own seconds two, over all of them one.
    assert_eq!(sessions(&record, "active", Some("Lock:tuple")), Some(1.0));
    assert_eq!(sessions(&record, "active", Some("IO:WalSync")), Some(0.0));
    assert_eq!(sessions(&RunRecord::default(), "active", None), None);
}

#[test]
fn a_local_servers_host_is_the_clients() {
    let mut record = record(vec![series("client-host", "cpu.busy", &[], &steady(1.0))]);
    assert_eq!(server_host(&record), None);
    record.target_on_client = Some(true);
    assert_eq!(server_host(&record), Some("client-host"));
}
