//! What the engine reports beside what really happened, as far as a busy machine can't change it: no
//! latency is shorter than the truth, none is missing, and all of them are not longer than sessions
//! lasted. How close they are, on a machine that does
//! nothing else, `bench/accuracy` says.

use super::common::{connectors, decode, drive, lab};
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::{Arrivals, Pacing, RunSpec};
use tidemark_drivers::Connector;
use tidemark_lab::{Lab, LabConfig};
use tidemark_stats::Histogram;

const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Percentiles that can't be: shorter than the truth.
fn too_short(truth: &Histogram, measured: &Histogram) -> Vec<String> {
    let short = PERCENTS.iter().filter_map(|&percent| {
        let truth = truth.percentile_ns(percent) as f64;
        let got = measured.percentile_ns(percent) as f64;
        (got < truth * 0.998).then(|| format!("p{percent}: {got} ns for {truth} ns"))
    });
    short.collect()
}

/// Latencies that can't be: together longer than so many sessions lasted, and the fastest of them far
/// from the truth's.
fn too_long(
    truth: &Histogram,
    measured: &Histogram,
    session_s: f64,
    sessions: usize,
) -> Vec<String> {
    // The last of each session end after the run's time.
    let most = session_s + sessions as f64 * measured.max_ns() as f64 / 1e9;
    let sum = measured.sum_ns() as f64 / 1e9;
    let (least, got) = (truth.min_ns() as f64, measured.min_ns() as f64);
    let told = [
        (sum > most).then(|| format!("{sum} s in sessions of {most} s")),
        (got > least * 1.05 + 5e6).then(|| format!("at least {got} ns for {least} ns")),
    ];
    told.into_iter().flatten().collect()
}

fn measure(delay: &str, pick: impl Fn(&Lab) -> Connector) -> Vec<String> {
    let lab = lab(LabConfig {
        delay: delay.parse().unwrap(),
        ..LabConfig::default()
    });
    let spec = RunSpec {
        terminals: 16,
        sessions: 16,
        time: Some(Duration::from_millis(1500)),
        // A busy machine is the rule for tests: who waits longest goes first.
        yield_to_server: false,
        ..RunSpec::default()
    };
    let result = drive(&spec, &pick(&lab), || {});
    let truth = lab.stop().unwrap();
    assert_eq!(result.totals.all.count, truth.delays.count());
    let server = result.totals.all.server.as_ref().unwrap();
    let (truth, server) = (truth.delays, decode(server));
    let session_s = result.totals.elapsed_s * spec.sessions as f64;
    let long = too_long(&truth, &server, session_s, spec.sessions);
    [too_short(&truth, &server), long].concat()
}

fn is_true(delay: &str) {
    for protocol in 0..2 {
        let wrong = measure(delay, |lab| connectors(lab)[protocol].clone());
        assert!(wrong.is_empty(), "{delay}: {wrong:?}");
    }
}

#[test]
fn constant_delays_are_measured_as_they_are() {
    is_true("constant:5ms");
}

#[test]
fn exponential_delays_are_measured_as_they_are() {
    is_true("exp:5ms");
}

#[test]
fn log_normal_delays_are_measured_as_they_are() {
    is_true("lognormal:median=2ms,sigma=1");
}

#[test]
fn delays_of_two_modes_are_measured_as_they_are() {
    is_true("bimodal:1ms@0.99,50ms@0.01");
}

/// Little's law on a client whose sessions wait for their own host most of the time: a session's whole
/// time is in its latencies, and the time at the server and on the way is a part of each.
#[test]
fn a_latency_is_what_the_session_waited() {
    const SESSIONS: usize = 64;
    let lab = lab(LabConfig {
        delay: "constant:50us".parse().unwrap(),
        ..LabConfig::default()
    });
    for connector in connectors(&lab) {
        let spec = RunSpec {
            terminals: SESSIONS,
            sessions: SESSIONS,
            // All wait for one thread.
            executors: Some(1),
            time: Some(Duration::from_secs(2)),
            ..RunSpec::default()
        };
        let result = drive(&spec, &connector, || {});
        let all = &result.totals.all;
        let (service, server) = (decode(&all.service), decode(all.server.as_ref().unwrap()));
        let waited =
            |h: &Histogram| h.sum_ns() as f64 / 1e9 / result.totals.elapsed_s / SESSIONS as f64;
        let (whole, at_server) = (waited(&service), waited(&server));
        // Sessions begin one after the other, and the last transactions end after the run's time.
        let edge = 0.05 + service.max_ns() as f64 / 1e9 / result.totals.elapsed_s;
        assert!((whole - 1.0).abs() < edge, "{whole}");
        assert_eq!(service.count(), server.count());
        assert!(at_server < whole, "{at_server} of {whole}");
    }
}

/// The comparison itself can fail.
#[test]
fn a_histogram_that_is_wrong_is_found() {
    let of = |micros: u64| {
        let mut h = Histogram::new();
        (0..1000).for_each(|n| h.record(Duration::from_micros(micros + n)));
        h
    };
    assert!(too_short(&of(50_000), &of(50_100)).is_empty());
    assert_eq!(too_short(&of(50_000), &of(49_000)).len(), PERCENTS.len());
    // A thousand latencies of one session.
    let lasted = of(50_000).sum_ns() as f64 / 1e9;
    assert!(too_long(&of(50_000), &of(50_000), lasted, 1).is_empty());
    assert_eq!(too_long(&of(50_000), &of(70_000), lasted, 1).len(), 2);
}

/// Whoever waits politely sees a stall once a session; arrivals on a schedule see it whole
/// (G. Tene, "How NOT to Measure Latency": coordinated omission).
#[test]
fn a_stall_is_seen_whole_in_response_time() {
    const RATE: f64 = 1000.0;
    const TIME: Duration = Duration::from_secs(3);
    const STALL: Duration = Duration::from_secs(1);
    const SESSIONS: usize = 32;
    let lab = Arc::new(lab(LabConfig {
        delay: "constant:200us".parse().unwrap(),
        ..LabConfig::default()
    }));
    for connector in connectors(&lab) {
        let spec = RunSpec {
            terminals: SESSIONS,
            sessions: SESSIONS,
            time: Some(TIME),
            pacing: Pacing::Rate(RATE),
            arrivals: Arrivals::Constant,
            ..RunSpec::default()
        };
        let mut stalling = None;
        let result = drive(&spec, &connector, || {
            let lab = Arc::clone(&lab);
            stalling = Some(std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(1));
                lab.stall_now(STALL);
            }));
        });
        stalling.unwrap().join().unwrap();
        let service = decode(&result.totals.all.service);
        let response = decode(result.totals.all.response.as_ref().unwrap());
        let slow = |h: &tidemark_stats::Histogram| -> u64 {
            let slow = h.occupied().filter(|(ns, _)| *ns > 100_000_000);
            slow.map(|(_, count)| count).sum()
        };
        // An arrival t into the stall waits for what is left of it: 1 s - t.
        let seen = slow(&response);
        assert!(seen as f64 > RATE * 0.9 * 0.85, "{seen}");
        // Each session had one statement in the stall, and a busy machine adds some.
        assert!(slow(&service) < seen / 4, "{} of {seen}", slow(&service));
        assert!(response.max_ns() >= 990_000_000, "{}", response.max_ns());
        for percent in [75.0, 80.0, 90.0, 99.0] {
            let slower = (1.0 - percent / 100.0) * TIME.as_secs_f64();
            let truth = STALL.as_secs_f64() - slower;
            let got = response.percentile_ns(percent) as f64 / 1e9;
            // A hundred arrivals more or less.
            assert!(got > truth - 0.15, "p{percent}: {got} for {truth}");
        }
    }
}
