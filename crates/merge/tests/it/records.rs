use super::common::{second, stats};
use tidemark_core::record::{
    ClientHost, ClientState, ClientUsage, EncodedHistogram, Interval, Outage, RunRecord, RunState,
    Totals,
};
use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};
use tidemark_core::{Job, RunSpec, Shard};
use tidemark_merge::{ClientClock, ClientRun, MergeError, record};
use tidemark_stats::Histogram;

const SECONDS: i64 = 5;

fn head(sessions: usize) -> RunRecord {
    let json = r#"{"version":1,"target":{"url":"sqlite:a.db"},"workload":{"name":"oltp_read_only"},"tool":{"name":"sysbench"}}"#;
    let mut job = Job::from_json(json).unwrap();
    job.load = RunSpec {
        sessions,
        terminals: sessions,
        ..RunSpec::default()
    };
    RunRecord {
        id: "whole".into(),
        job: Some(job),
        notes: vec!["of all".into()],
        ..RunRecord::default()
    }
}

/// What a client's n-th second has, in microseconds.
fn micros(client: u32, at: i64) -> Vec<u64> {
    (0..=at as u64)
        .map(|n| 100 + n + u64::from(client) * 10_000)
        .collect()
}

fn series(source: &str) -> tidemark_core::Series {
    let key = SeriesKey::new(source, "cpu.busy", "ratio", Measures::Gauge);
    let mut builder = SeriesBuilder::new(key, 0, 1000);
    builder.push(0, 1.0);
    builder.series().unwrap()
}

fn client(index: u32, of: u32) -> ClientRun {
    let intervals: Vec<Interval> = (0..SECONDS)
        .map(|at| second(at, 2, &micros(index, at)))
        .collect();
    let all: Vec<u64> = (0..SECONDS).flat_map(|at| micros(index, at)).collect();
    let host = ClientHost {
        hostname: format!("host-{}", index / 2),
        cores: 4,
        ..ClientHost::default()
    };
    let own = RunRecord {
        id: format!("part-{index}"),
        sessions: 2,
        executors: 2,
        totals: Totals {
            elapsed_s: SECONDS as f64,
            all: stats(&all),
            types: [("t".to_string(), stats(&all))].into(),
            ..Totals::default()
        },
        usage: ClientUsage {
            cpu_user_s: 1.0,
            seconds: Some(5.0),
            host_busy: Some(0.5),
            ..ClientUsage::default()
        },
        client: host.clone(),
        intervals,
        series: vec![series("client-host"), series("server")],
        notes: vec!["everywhere".into(), format!("only {index}")],
        ..RunRecord::default()
    };
    ClientRun {
        name: format!("c{index}"),
        shard: Shard { index, of },
        host,
        record: Some(own),
        state: ClientState::Finished,
        clock: Some(ClientClock {
            offset_ms: 3.0,
            error_ms: 0.2,
            start_late_ms: 0.1,
        }),
    }
}

#[test]
fn clients_of_one_host_are_no_other_programs_there() {
    let programs = |second: &str| -> Vec<String> {
        let mut clients = [client(0, 2), client(1, 2)];
        let other = clients[1].record.as_mut().unwrap();
        other.client.hostname = second.into();
        let seen = clients[0].record.as_mut().unwrap();
        for program in ["tidemark", "backup"] {
            let key = SeriesKey::new("server-process", "programs.cpu", "cores", Measures::Gauge);
            let mut builder = SeriesBuilder::new(key.with("program", program), 3, 1000);
            builder.push(0, 0.5);
            seen.series.push(builder.series().unwrap());
        }
        let whole = record(head(4), &clients, None).unwrap();
        let named = whole.series.iter();
        let named = named.filter_map(|s| s.key.labels.get("program").cloned());
        named.collect()
    };
    assert_eq!(programs("host-0"), ["backup"]);
    // The other client has a host of its own.
    assert_eq!(programs("elsewhere"), ["tidemark", "backup"]);
}

#[test]
fn one_record_has_all_samples_and_each_clients_part() {
    let clients: Vec<_> = (0..3).rev().map(|index| client(index, 3)).collect();
    let whole = record(head(6), &clients, None).unwrap();
    let samples: Vec<u64> = (0..3)
        .flat_map(|c| (0..SECONDS).flat_map(move |at| micros(c, at)))
        .collect();
    assert_eq!(whole.id, "whole");
    assert_eq!(whole.state, RunState::Finished);
    assert_eq!(
        (whole.sessions, whole.sessions_opened, whole.executors),
        (6, None, 6)
    );
    assert_eq!(whole.totals.all, stats(&samples));
    assert_eq!(whole.totals.types["t"], stats(&samples));
    assert_eq!(whole.totals.elapsed_s, 5.0);
    assert_eq!(whole.intervals.len(), SECONDS as usize);
    for (at, interval) in (0..).zip(&whole.intervals) {
        let of_second: Vec<u64> = (0..3).flat_map(|c| micros(c, at)).collect();
        assert_eq!(
            (interval.sessions, &interval.types["t"]),
            (6, &stats(&of_second))
        );
    }
    let names: Vec<_> = whole.clients.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["c0", "c1", "c2"]);
    for (index, part) in (0..).zip(&whole.clients) {
        let own: Vec<u64> = (0..SECONDS).flat_map(|at| micros(index, at)).collect();
        assert_eq!((&part.all, part.sessions), (&stats(&own), 2));
        assert_eq!((part.missing.len(), part.longest_lag_ms), (0, 0.0));
        assert_eq!(part.throughput(), own.len() as f64 / 5.0);
        assert_eq!(part.clock_error_ms, Some(0.2));
    }
    // Two of the clients are on one machine.
    assert_eq!((whole.client.cores, whole.usage.cpu_user_s), (8, 3.0));
    assert_eq!(
        (whole.usage.host_busy, whole.usage.seconds),
        (Some(0.5), Some(5.0))
    );
    let labels: Vec<_> = whole
        .series
        .iter()
        .map(|s| s.key.labels.get("client").cloned())
        .collect();
    let name = |index: u32| Some(format!("c{index}"));
    assert_eq!(labels, [name(0), None, name(1), name(2)]);
    let notes = [
        "of all",
        "everywhere",
        "client c0: only 0",
        "client c1: only 1",
        "client c2: only 2",
    ];
    assert_eq!(whole.notes, notes);
}

#[test]
fn a_client_that_was_lost_leaves_what_it_told() {
    let mut clients: Vec<_> = (0..3).map(|index| client(index, 3)).collect();
    // The second was heard of for two seconds, the third never.
    clients[1].state = ClientState::Lost("no heartbeat for 2 s".into());
    let told = clients[1].record.take().unwrap().intervals;
    clients[2].state = ClientState::Absent;
    clients[2].record = None;
    let mut live = tidemark_merge::Live::new(3, std::time::Duration::from_secs(1));
    let all = clients[0].record.iter().flat_map(|r| &r.intervals);
    let each = (0..)
        .zip(all)
        .map(|(n, i)| (0, n, i))
        .chain((0..2).zip(&told).map(|(n, i)| (1, n, i)));
    for (client, number, interval) in each {
        live.take(tidemark_merge::Delivery {
            client,
            epoch: 0,
            number,
            interval: interval.clone(),
            errors: Vec::new(),
        })
        .unwrap();
    }
    live.lost(1);
    live.lost(2);
    let merged = live.finish().unwrap();
    let whole = record(head(6), &clients, Some(merged)).unwrap();
    assert_eq!(
        whole.state,
        RunState::Failed("client c1 was lost: no heartbeat for 2 s".into())
    );
    let first: Vec<u64> = (0..SECONDS).flat_map(|at| micros(0, at)).collect();
    let second: Vec<u64> = (0..2).flat_map(|at| micros(1, at)).collect();
    assert_eq!(whole.totals.all, stats(&[first, second.clone()].concat()));
    assert_eq!(whole.totals.elapsed_s, 5.0);
    assert_eq!(
        (whole.sessions, whole.clients[1].all.clone()),
        (6, stats(&second))
    );
    let missing = |at: usize| {
        let spans = whole.clients[at].missing.iter();
        spans
            .map(|m| (m.start_ms, m.length_ms, m.sessions))
            .collect::<Vec<_>>()
    };
    assert_eq!(missing(0), []);
    assert_eq!(missing(1), [(2000, 3000.0, 2)]);
    assert_eq!(missing(2), [(0, 5000.0, 2)]);
    // Whoever decided that the run goes on has decided how it ended.
    let decided = RunRecord {
        state: RunState::Finished,
        ..head(6)
    };
    let whole = record(decided, &clients[..1], None).unwrap();
    assert_eq!(whole.state, RunState::Finished);
}

#[test]
fn what_can_be_no_run_is_none() {
    let twice = [client(0, 2), client(0, 2)];
    assert!(matches!(
        record(head(2), &twice, None),
        Err(MergeError::Twice(0))
    ));
    let mut silent = client(0, 1);
    silent.record = None;
    assert!(matches!(
        record(head(2), &[silent], None),
        Err(MergeError::Nothing)
    ));
    let mut broken = client(1, 2);
    if let Some(record) = &mut broken.record {
        record.totals.all.service = EncodedHistogram("x".into());
    }
    let error = record(head(2), &[client(0, 2), broken], None).unwrap_err();
    assert!(matches!(error, MergeError::Histogram { .. }), "{error}");
}

/// The merged percentile is that of all samples, which no mean of percentiles is.
#[test]
fn percentiles_are_those_of_the_sum() {
    let clients: Vec<_> = (0..3).map(|index| client(index, 3)).collect();
    let whole = record(head(6), &clients, None).unwrap();
    let all = Histogram::decode(&whole.totals.all.service.0).unwrap();
    assert!(all.percentile_ns(50.0) > 10_000_000 && all.percentile_ns(50.0) < 11_000_000);
}

#[test]
fn outages_of_all_clients_are_one_time() {
    let mut clients: Vec<ClientRun> = (0..2).map(|index| client(index, 2)).collect();
    for (client, start_ms) in clients.iter_mut().zip([500, 1000]) {
        let own = client.record.as_mut().unwrap();
        own.totals.outage_s = 1.0;
        own.outages = vec![Outage {
            host: "db".into(),
            start_ms,
            length_ms: 1000.0,
            ended: true,
            first_error: "refused".into(),
        }];
    }
    let whole = record(head(4), &clients, None).unwrap();
    assert_eq!(whole.totals.outage_s, 1.5);
    assert_eq!(whole.outages.len(), 1);
}
