//! A record as a run would write it.

use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::*;
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ErrorClass, ServerInfo, Source, StudyPlace};
use tidemark_stats::Histogram;

#[allow(dead_code)] // Not every test program uses it.
pub const ID: &str = "01932b7e-53a0-7c11-8a70-0c1d2e3f4a5b";

pub fn latencies(values_us: impl IntoIterator<Item = u64>) -> TypeStats {
    let mut h = Histogram::new();
    values_us
        .into_iter()
        .for_each(|us| h.record(Duration::from_micros(us)));
    TypeStats {
        count: h.count(),
        service: EncodedHistogram(h.encode()),
        response: None,
        ..TypeStats::default()
    }
}

#[allow(dead_code)] // Not every test program uses it.
pub fn interval(n: i64) -> Interval {
    Interval {
        start_ms: n * 1000,
        length_ms: 1000.1 + 0.1 * n as f64,
        phase: if n < 0 { Phase::Warmup } else { Phase::Measure },
        sessions: 4,
        statements: StatementCounts {
            read: 1400,
            write: 400,
            other: 200,
            noop_writes: 3,
            round_trips: 1990,
        },
        ignored_errors: 1,
        reconnects: 2,
        queue_length: 0,
        concurrency: 4,
        rate: Some(0.1 + 0.2),
        delayed_arrivals: 7,
        dropped_arrivals: 1,
        outage_ms: 1.0 / 3.0,
        hosts: hosts(),
        parts: BTreeMap::from([("READ".into(), due(500..550))]),
        types: BTreeMap::from([("oltp_read_write".into(), due(1000..1100))]),
        notes: BTreeMap::from([("rolled_back".into(), 2)]),
    }
}

#[allow(dead_code)] // As `interval`.
fn hosts() -> Vec<HostLoad> {
    [
        ("10.0.0.1:3306", HostRole::Any),
        ("10.0.0.2:3306", HostRole::Read),
    ]
    .map(|(host, role)| HostLoad {
        host: host.into(),
        role,
        sessions: 2,
        statements: 1000,
    })
    .to_vec()
}

/// Transactions that were due before they were sent.
fn due(values_us: std::ops::Range<u64>) -> TypeStats {
    let waits = latencies(values_us.clone().map(|us| us / 2)).service;
    TypeStats {
        response: Some(latencies(values_us.clone().map(|us| us * 2)).service),
        wait: Some(waits),
        ..latencies(values_us)
    }
}

fn totals() -> Totals {
    Totals {
        elapsed_s: 2.5,
        all: latencies(1000..1250),
        delayed_arrivals: 21,
        dropped_arrivals: 3,
        lateness: Some(latencies(10..60).service),
        outage_s: 0.1 + 0.2,
        hosts: hosts(),
        notes: BTreeMap::from([("rolled_back".into(), 5)]),
        ..Totals::default()
    }
}

fn steps() -> Vec<Step> {
    [
        StepPurpose::Probe,
        StepPurpose::Asked,
        StepPurpose::Climb,
        StepPurpose::Bisect,
        StepPurpose::Confirm,
    ]
    .map(|purpose| Step {
        purpose,
        rate: (purpose != StepPurpose::Probe).then_some(1000.0 / 3.0),
        start_ms: 10_000,
        totals: totals(),
        verdict: (purpose == StepPurpose::Confirm).then(|| StepVerdict {
            kept: true,
            because: "p99 17.1 ms".into(),
        }),
        cut_short: false,
    })
    .to_vec()
}

/// Series of the processors' business, `points` seconds long.
#[allow(dead_code)] // Not every test program uses it.
pub fn series(core: u32, points: i64) -> Series {
    let key = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate);
    let mut builder = SeriesBuilder::new(key.with("core", core), 2, 1000);
    for n in 0..points {
        builder.push(n * 1000, n as f64 / 100.0);
    }
    builder.series().unwrap()
}

pub fn record(id: &str, state: RunState) -> RunRecord {
    let ended = state != RunState::Running;
    RunRecord {
        study: Some(StudyPlace {
            study: "0191".into(),
            name: "sweep".into(),
            cell: "threads=8".into(),
            factors: [("threads".to_string(), "8".to_string())].into(),
            repeat: 2,
        }),
        tags: vec!["before".into(), "nightly".into()],
        note: "as delivered".into(),
        schema_version: SCHEMA_VERSION,
        id: id.into(),
        tidemark_version: "0.1.0".into(),
        started_at: "2026-11-21T20:05:23.123Z".into(),
        load_began_at: Some("2026-11-20T10:00:02Z".into()),
        latency_end: LatencyEnd::Session,
        state,
        job: None,
        imported: None,
        watched_s: None,
        command: vec!["tidemark".into(), "sysbench".into(), "run".into()],
        workload: "oltp_read_write".into(),
        target: "mysql://sbtest:***@127.0.0.1:3306/sbtest".into(),
        target_on_client: Some(true),
        server: Some(ServerInfo {
            engine: Engine::Mariadb,
            version: "11.4.2-MariaDB".into(),
        }),
        isolation: Some(tidemark_core::Isolation::ReadCommitted),
        settings: vec![Setting {
            name: "innodb_flush_log_at_trx_commit".into(),
            value: "2".into(),
            default: Some("1".into()),
        }],
        notes: vec!["pg_settings: permission denied".into()],
        machine: Some(MachineFigures {
            cpu_events_per_s: 1_234.5,
            fsync_mean_ms: 0.1 + 0.2,
            folder: "/var/lib/studies".into(),
            ..MachineFigures::default()
        }),
        topology: Some(Topology {
            file: Some("topology.yaml".into()),
            listed: true,
            ..Topology::default()
        }),
        options: BTreeMap::from([(
            "threads".into(),
            EffectiveOption {
                value: "4".into(),
                source: Source::CommandLine,
            },
        )]),
        clients: vec![ClientPart {
            name: "b".into(),
            index: 1,
            state: ClientState::Lost("no heartbeat".into()),
            clock_error_ms: Some(0.1 + 0.2),
            missing: vec![MissingSpan {
                start_ms: 7,
                length_ms: 1.5,
                sessions: 2,
            }],
            ..ClientPart::default()
        }],
        sessions: 4,
        executors: 2,
        rate: Some(0.1 + 0.2),
        seed: u64::MAX,
        client: ClientHost {
            hostname: "client1".into(),
            ..ClientHost::default()
        },
        usage: ClientUsage {
            cpu_user_s: 1.0 / 3.0,
            cpu_system_s: 0.7,
            cpu_awake_s: 0.0,
            max_resident_bytes: 12 << 20,
            seconds: Some(10.0),
            host_busy: Some(0.25),
            waiting_threads: Some(0.5),
        },
        tables_before: vec![],
        tables_after: vec![TableState {
            table: "sbtest1".into(),
            rows: 10_000,
            expected_rows: Some(10_000),
            min_key: Some(1),
            max_key: None,
        }],
        intervals: vec![],
        totals: if ended { totals() } else { Totals::default() },
        errors: vec![ErrorCount {
            code: "1213".into(),
            class: ErrorClass::Retryable,
            kind: None,
            count: 3,
            first_message: "Deadlock found".into(),
        }],
        sessions_opened: ended.then_some(3),
        fewer_sessions_because: ended.then(|| "the server's max_connections is 3".into()),
        warmup_s: Some(2.5),
        terminals: Some(100_000),
        inject_rtt_ms: 20.0,
        steps: if ended { steps() } else { vec![] },
        ping_before: Ping::of(&[0.25, 0.5]),
        server_statements: vec![ServerStatement {
            text: "SELECT c FROM sbtest1 WHERE id = ?".into(),
            count: 1000,
            time_ms: 12.5,
            rows_examined: Some(1000),
            ..ServerStatement::default()
        }],
        load_totals: vec![LoadTotal {
            source: "server-status".into(),
            name: "rows.read".into(),
            total: 1000.5,
        }],
        server_disks: vec![Disk {
            device: "vda".into(),
            rotational: Some(false),
            holds: "/var/lib/mysql".into(),
            ..Disk::default()
        }],
        observed: vec![Observed {
            source: "server-status".into(),
            sampled: true,
            gaps: vec![Gap::new(GapKind::SettingOff, "track_io_timing = on")],
        }],
        queries: vec![QueryRun {
            stream: 1,
            name: "Q1".into(),
            start_ms: 0.5,
            took_ms: 1070.25,
            rows: 4,
            outcome: QueryOutcome::TimedOut,
            answer: AnswerVerdict::Wrong("row 1".into()),
            parameters: vec!["90".into()],
        }],
        plans: BTreeMap::from([("Q1".into(), "Seq Scan on lineitem".into())]),
        experiments: ended.then(|| Experiments {
            id: "diagnose-1".into(),
            sessions: 3,
            transactions_per_s: 1.0 / 3.0,
            ping_ms: Some(0.1),
            later_ms: 1.5,
            measured: vec![MeasuredChange {
                experiment: "sessions-x2".into(),
                ratio: 1.1,
                low: 1.0 / 3.0,
                high: None,
                pairs: 4,
            }],
            skipped: vec![SkippedChange {
                experiment: "later-replies".into(),
                reason: "no time left".into(),
                reason_zh: "没有剩余时间".into(),
            }],
            verdict: "row-locks".into(),
            confidence: "medium".into(),
            sentence: "Limited by contention on rows.".into(),
            sentence_zh: "瓶颈在行争用。".into(),
            rules_out: vec!["client-cpu".into()],
            interrupted: true,
        }),
        series: match ended {
            true => vec![series(0, 3), series(1, 4)],
            false => vec![],
        },
        contents_before: BTreeMap::from([("sbtest1".into(), "3f2a".into())]),
        contents_after: BTreeMap::from([("sbtest1".into(), "91bc".into())]),
        dead_times: Some(vec![DeadTime {
            start_ms: 2000,
            length_ms: 900.0,
            side: DeadSide::Client,
            ..DeadTime::default()
        }]),
        outages: vec![Outage {
            host: "10.0.0.2:3306".into(),
            start_ms: -300,
            length_ms: 1400.7,
            ended: false,
            first_error: "2002: Connection refused".into(),
        }],
    }
}
