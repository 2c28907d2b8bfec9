//! Means of series and the cost of a transaction.

use super::common;
use std::collections::BTreeMap;
use tidemark_analysis::costs::{CostKind, compared, costs, statements_each};
use tidemark_analysis::observed::{others_sessions, server_host, sessions};
use tidemark_analysis::{Resources, compare};
use tidemark_core::record::{
    ClientPart, Gap, GapKind, Interval, LoadTotal, Observed, Phase, RunRecord, TypeStats,
};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ServerInfo};

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
        series("network", "network.session-sent", &[], &steady(400.0)),
        series("network", "network.session-received", &[], &steady(600.0)),
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
fn a_gap_of_a_source_is_no_time_of_its_cost() {
    // A server that was restarted in the second and third second: then nothing was told, and little done.
    let seen = [(0, 300.0), (3, 300.0)];
    let mut record = record(vec![series("server-status", "rows.read", &[], &seen)]);
    for interval in &mut record.intervals[2..4] {
        interval.types.get_mut("t").unwrap().count = 10;
    }
    assert_eq!(costs(&record)[0].per_transaction, 3.0);
}

#[test]
fn a_rate_after_a_gap_is_of_the_gap_too() {
    // Nothing was answered in the third second: what comes next is the mean of both.
    let seen = [(0, 300.0), (1, 300.0), (3, 150.0)];
    let mut record = record(vec![series("server-status", "rows.read", &[], &seen)]);
    record.intervals[3].types.get_mut("t").unwrap().count = 0;
    assert_eq!(costs(&record)[0].per_transaction, 3.0);
}

#[test]
fn what_postgresqls_sessions_report_late_is_in_no_cost() {
    // With a second of warm-up the first second of the measurement still lacks some.
    let mut late = vec![(-1, 0.0), (0, 150.0)];
    late.extend((1..21).map(|second| (second, 300.0)));
    let mut record = record(vec![series("server-status", "rows.read", &[], &late)]);
    for second in 4..21 {
        let mut interval = record.intervals[4].clone();
        interval.start_ms = second * 1000;
        record.intervals.push(interval);
    }
    let cost = |record: &RunRecord| costs(record)[0].per_transaction;
    assert!(cost(&record) < 3.0);
    record.server = Some(ServerInfo {
        engine: Engine::Postgres,
        version: "15.18".into(),
    });
    assert_eq!(cost(&record), 3.0);
    // What few seconds counted may be other transactions'.
    record.series = vec![series("server-status", "rows.read", &[], &late[..21])];
    let costs = costs(&record);
    assert!(costs.iter().all(|cost| cost.kind != CostKind::RowsRead));
}

#[test]
fn what_a_client_stays_awake_with_is_no_transactions() {
    let busy = series(
        "client-host",
        "threads.cpu",
        &[("threads", "load")],
        &steady(0.9),
    );
    let mut record = record(vec![busy]);
    let cost = |record: &RunRecord| {
        let costs = costs(record);
        costs.first().map(|cost| cost.per_transaction.round())
    };
    assert_eq!(cost(&record), Some(9000.0));
    // Of five seconds with 500 transactions.
    record.usage.cpu_awake_s = 4.0;
    assert_eq!(cost(&record), Some(1000.0));
    record.usage.cpu_awake_s = 5.0;
    assert_eq!(cost(&record), None);
}

#[test]
fn what_a_whole_load_took_is_divided_by_all_of_its_transactions() {
    let seen = series("server-status", "rows.read", &[], &steady(9e7));
    let written = series("server-status", "log.written", &[], &steady(700.0));
    let mut record = record(vec![seen, written]);
    let total = |name: &str, total: f64| LoadTotal {
        source: "server-status".into(),
        name: name.into(),
        total,
    };
    // Another source may have counters of the same name.
    let mut other = total("log.written", 9e9);
    other.source = "server-nodes".into();
    record.load_totals = vec![other, total("rows.read", 800.0)];
    let of = |record: &RunRecord, kind| {
        let found = costs(record).into_iter().find(|c| c.kind == kind)?;
        Some((found.per_transaction, found.per_statement))
    };
    // With a warm-up they are of something else, too.
    record.warmup_s = Some(1.0);
    assert_eq!(of(&record, CostKind::RowsRead), Some((9e5, None)));
    record.warmup_s = Some(0.0);
    record.intervals.remove(0);
    record.intervals[0].statements.read = 200;
    assert_eq!(of(&record, CostKind::RowsRead), Some((2.0, Some(4.0))));
    assert_eq!(of(&record, CostKind::LogBytes), Some((7.0, Some(14.0))));
    // A day's intervals may have been left in the store.
    record.intervals.clear();
    record.totals.elapsed_s = 4.0;
    record.totals.all.count = 400;
    assert_eq!(of(&record, CostKind::RowsRead), Some((2.0, None)));
}

#[test]
fn a_cost_is_of_the_statements_of_its_own_time_too() {
    let mut record = record(vec![
        series("server-status", "rows.read", &[], &steady(800.0)),
        series(
            "network",
            "network.session-sent",
            &[],
            &[(2, 400.0), (3, 400.0)],
        ),
        series(
            "network",
            "network.session-received",
            &[],
            &[(2, 600.0), (3, 600.0)],
        ),
    ]);
    // Nobody counted them.
    assert!(
        costs(&record)
            .iter()
            .all(|cost| cost.per_statement.is_none())
    );
    assert_eq!(statements_each(&record), None);
    for interval in &mut record.intervals {
        // Four of each transaction; two in the second half.
        let each = if interval.start_ms < 2000 { 400 } else { 200 };
        interval.statements.read = each / 2;
        interval.statements.other = each / 2;
    }
    let all = costs(&record);
    let of = |kind| {
        let found = all.iter().find(|cost| cost.kind == kind).unwrap();
        (found.per_transaction, found.per_statement)
    };
    let (rows, each) = of(CostKind::RowsRead);
    assert!((rows - 8.0).abs() < 1e-9);
    assert!((each.unwrap() - 800.0 / 300.0).abs() < 1e-9);
    assert_eq!(of(CostKind::NetworkBytes), (10.0, Some(5.0)));
    // Two groups of runs are compared by both.
    let run = std::slice::from_ref(&all);
    let beside = compared(run, run);
    let network = beside.iter().find(|c| c.kind == CostKind::NetworkBytes);
    assert_eq!(network.unwrap().of_statement, Some((5.0, 5.0)));
    assert_eq!(statements_each(&record), Some(3.0));
}

#[test]
fn network_bytes_are_the_sessions_own() {
    let host = |interface: &str, bytes: f64| {
        ["network.sent", "network.received"].map(|name| {
            let labels = [("interface", interface)];
            series("client-host", name, &labels, &steady(bytes))
        })
    };
    let sessions = ["network.session-sent", "network.session-received"]
        .map(|name| series("network", name, &[], &steady(200.0)));
    let seen = |all: &[&[Series]], here: Option<bool>, clients: usize| {
        let record = RunRecord {
            target_on_client: here,
            clients: vec![ClientPart::default(); clients],
            ..record(all.concat())
        };
        let costs = costs(&record);
        let cost = costs.iter().find(|c| c.kind == CostKind::NetworkBytes);
        let rate = Resources::of(&record).network_bytes_per_s;
        assert_eq!(cost.is_some(), rate.is_some(), "{costs:?}");
        cost.map(|c| (c.per_transaction, c.source))
    };
    let (lo, eth0) = (host("lo", 9e6), host("eth0", 1000.0));
    // Over loopback goes what others say, too; an embedded database has no network.
    for here in [Some(true), None] {
        assert_eq!(seen(&[&lo, &eth0], here, 0), None);
    }
    assert_eq!(
        seen(&[&lo, &eth0, &sessions], Some(true), 0),
        Some((4.0, "network"))
    );
    // Elsewhere the sessions' own go before the interface's, and loopback is no way there.
    assert_eq!(
        seen(&[&lo, &eth0, &sessions], Some(false), 0),
        Some((4.0, "network"))
    );
    assert_eq!(
        seen(&[&lo, &eth0], Some(false), 0),
        Some((20.0, "client-host"))
    );
    assert_eq!(seen(&[&lo], Some(false), 0), None);
    // Of several clients one tells of its own sessions alone.
    assert_eq!(seen(&[&lo, &sessions], Some(true), 2), None);
}

#[test]
fn round_trips_are_a_cost_where_they_were_counted() {
    let mut record = record(Vec::new());
    for interval in &mut record.intervals {
        interval.statements.read = 2000;
        // The warm-up's do not count.
        interval.statements.round_trips = match interval.phase {
            Phase::Warmup => 9000,
            Phase::Measure => 500,
        };
    }
    let all = costs(&record);
    let [cost] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!((cost.kind, cost.source), (CostKind::RoundTrips, "sessions"));
    assert_eq!(
        (cost.per_transaction, cost.per_statement),
        (5.0, Some(0.25))
    );
    for interval in &mut record.intervals {
        interval.statements.round_trips = 0;
    }
    assert!(costs(&record).is_empty(), "an embedded database has none");
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

fn all_along(value: f64) -> Vec<(i64, f64)> {
    (0..20).map(|n| (n, value)).collect()
}

#[test]
fn costs_are_compared_where_both_sides_have_them() {
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
fn rows_that_engines_count_each_in_their_way_are_not_compared() {
    let side = |id: &str, engine: Engine| {
        let version = "1".into();
        RunRecord {
            id: id.into(),
            server: Some(ServerInfo { engine, version }),
            series: ["rows.read", "data.syncs"]
                .map(|name| series("server-status", name, &[], &all_along(2000.0)))
                .into(),
            ..common::clean()
        }
    };
    let kinds = |a, b| -> Vec<CostKind> {
        let costs = compare(&[side("a", a)], &[side("b", b)]).unwrap().costs;
        costs.iter().map(|cost| cost.kind).collect()
    };
    let both = [CostKind::RowsRead, CostKind::Syncs];
    assert_eq!(kinds(Engine::Mariadb, Engine::Mysql), both);
    assert_eq!(kinds(Engine::Mariadb, Engine::Sqlite), both[1..]);
}

#[test]
fn sessions_of_others_are_told_apart() {
    let active = |name: &str, value: f64| {
        let labels = [("state", "active"), ("wait", "CPU")];
        series("server-activity", name, &labels, &steady(value))
    };
    let mut record = record(vec![active("sessions", 3.0)]);
    assert_eq!(others_sessions(&record, "active"), Some(0.0));
    record.series.push(active("sessions.others", 1.5));
    assert_eq!(others_sessions(&record, "active"), Some(1.5));
    assert_eq!(sessions(&record, "active", None), Some(3.0));
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

#[test]
fn an_embedded_databases_host_is_the_clients() {
    let cores = ["0", "1"].map(|n| series("client-host", "cpu.busy", &[("core", n)], &steady(0.6)));
    let disk = [("device", "sda")];
    let disk = series("client-host", "disk.writes", &disk, &steady(40.0));
    let mut record = record(cores.into_iter().chain([disk]).collect());
    assert_eq!(Resources::of(&record).server_host_busy, None);
    record.server = Some(ServerInfo {
        engine: Engine::Sqlite,
        version: "3.50.4".into(),
    });
    assert_eq!(server_host(&record), Some("client-host"));
    let of = Resources::of(&record);
    assert!(
        of.server_host_busy
            .is_some_and(|busy| (busy - 0.6).abs() < 1e-9)
    );
    assert_eq!(of.disk_writes_per_s, Some(40.0));
    assert_eq!((of.server_cores, of.network_bytes_per_s), (None, None));
}

#[test]
fn a_disk_that_nobody_used_has_no_writes_and_one_that_nobody_read_is_unknown() {
    let mut record = record(vec![
        series("client-host", "cpu.busy", &[], &steady(0.6)),
        series("client-host", "context-switches", &[], &steady(900.0)),
    ]);
    record.target_on_client = Some(true);
    let of = |record: &RunRecord| {
        let of = Resources::of(record);
        (of.disk_writes_per_s, of.flushes_per_s)
    };
    assert_eq!(of(&record), (None, None));
    let mut observed = Observed {
        source: "client-host".into(),
        sampled: true,
        gaps: Vec::new(),
    };
    record.observed = vec![observed.clone()];
    assert_eq!(of(&record), (Some(0.0), Some(0.0)));
    // Elsewhere than on Linux disks are not read.
    let switches = record.series.pop();
    assert_eq!(of(&record), (None, None));
    record.series.extend(switches);
    let gap = Gap::new(GapKind::Failed, "/proc/diskstats: no such file");
    observed.gaps.push(gap);
    record.observed = vec![observed];
    assert_eq!(of(&record), (None, None));
}

#[test]
fn a_disk_that_was_used_late_did_nothing_before() {
    let late = [("disk", "sda")];
    let mut record = record(vec![
        series("client-host", "cpu.busy", &[], &steady(0.6)),
        series("client-host", "disk.writes", &late, &[(3, 500.0)]),
    ]);
    record.target_on_client = Some(true);
    assert_eq!(Resources::of(&record).disk_writes_per_s, Some(125.0));
}

#[test]
fn resources_are_means_of_the_measurement() {
    let core =
        |n: &str, busy: f64| series("server-host", "cpu.busy", &[("core", n)], &steady(busy));
    let disk = |name: &str, device: &str, value: f64| {
        series("server-host", name, &[("device", device)], &steady(value))
    };
    let mut all = vec![
        core("0", 0.2),
        core("1", 0.6),
        disk("disk.writes", "sda", 30.0),
        disk("disk.writes", "sdb", 500.0),
        disk("disk.flushes", "sdb", 90.0),
        series(
            "client-host",
            "network.sent",
            &[("interface", "eth0")],
            &[(-1, 9e9), (0, 100.0), (1, 100.0), (2, 300.0), (3, 300.0)],
        ),
        series(
            "client-host",
            "network.received",
            &[("interface", "eth0")],
            &steady(800.0),
        ),
    ];
    for (node, mode, cores) in [("a", "user", 1.5), ("a", "system", 0.5), ("b", "user", 2.0)] {
        let labels = [("instance", node), ("mode", mode)];
        let cpu = series("server-nodes", "cockroach.cpu", &labels, &steady(cores));
        all.push(cpu);
    }
    let rounded = |of: Option<f64>| of.map(|value| (value * 1e6).round() / 1e6);
    let record = |all: Vec<Series>| RunRecord {
        target_on_client: Some(false),
        ..record(all)
    };
    let of = Resources::of(&record(all.clone()));
    assert_eq!(rounded(of.server_host_busy), Some(0.4));
    assert_eq!(rounded(of.server_cores), Some(4.0));
    assert_eq!(rounded(of.disk_writes_per_s), Some(500.0));
    assert_eq!(rounded(of.flushes_per_s), Some(90.0));
    assert_eq!(rounded(of.network_bytes_per_s), Some(1000.0));
    // What the server itself says goes before.
    all.push(series("server-status", "data.syncs", &[], &steady(77.0)));
    let of = Resources::of(&record(all));
    assert_eq!(rounded(of.flushes_per_s), Some(77.0));
    assert!(Resources::of(&record(Vec::new())).is_empty());
    assert!(Resources::of(&RunRecord::default()).is_empty());
}
