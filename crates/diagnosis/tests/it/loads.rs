//! Causes in the load: rates, connections, stalls.

use super::common::{SECONDS, run};
use tidemark_core::record::{DeadSide, ErrorCount};
use tidemark_core::{ErrorClass, ErrorKind};
use tidemark_diagnosis::Cause;

#[test]
fn more_arrivals_than_are_served_are_overload() {
    let over = run()
        .busy(0.97)
        .threads(1.2, 900.0)
        .server(2.6, 2500.0)
        .active("CPU", 6.5)
        .asked(2000.0, 4000.0)
        .with(|r| r.totals.unserved_arrivals = 30_000);
    let found = over.sure(Cause::Overload);
    assert!(found.sentence.en.contains("2,000"), "{}", found.sentence.en);
    assert!(!over.finds(Cause::OfferedLoad));
    assert!(!run().asked(1000.0, 0.1).finds(Cause::Overload));
    // Of random arrivals some seconds have fewer.
    let fewer = run().rates(vec![47; SECONDS as usize]).asked(50.0, 0.0);
    let said = fewer.sure(Cause::OfferedLoad).sentence;
    assert!(
        said.en
            .contains("47.0 per second where 50.0 were requested"),
        "{said:?}"
    );
    assert!(
        !run().finds(Cause::Overload),
        "a closed loop has no arrivals"
    );
}

#[test]
fn connections_that_were_refused_are_the_limit() {
    let fewer = run().sessions(100).with(|r| {
        r.sessions_opened = Some(8);
        r.fewer_sessions_because = Some("max_connections is 10.".into());
    });
    let found = fewer.sure(Cause::ConnectionLimit);
    assert!(
        found.sentence.en.contains("8 of 100"),
        "{}",
        found.sentence.en
    );
    let refused = |kind| {
        run().with(|r| {
            r.errors = vec![ErrorCount {
                code: "1040".into(),
                class: ErrorClass::Refused,
                kind: Some(kind),
                count: 5000,
                first_message: String::new(),
            }];
        })
    };
    assert!(refused(ErrorKind::TooManySessions).finds(Cause::ConnectionLimit));
    assert!(!refused(ErrorKind::Other).finds(Cause::ConnectionLimit));
}

#[test]
fn a_limit_of_connections_is_as_much_as_more_sessions_would_do() {
    let because = "the server's max_connections is 12";
    let fewer = |made: super::common::Made| {
        made.sessions(64).with(|r| {
            r.sessions_opened = Some(12);
            r.fewer_sessions_because = Some(because.into());
        })
    };
    // 4 ms away: a closed loop of all 64 would do 4 times as much until the host is full.
    let far = run()
        .load(200, 60.0, 59.5)
        .even()
        .busy(0.2)
        .threads(0.2, 10.0)
        .server(0.6, 10.0)
        .active("CPU", 0.7)
        .set("network", "network.min_rtt", &[], 4.0);
    let limited = fewer(far.clone());
    let found = limited.sure(Cause::ConnectionLimit);
    assert!((found.share - (1.0 - 0.2 / 0.85)).abs() < 0.01, "{found:?}");
    assert!(limited.finds(Cause::NetworkDistance) && limited.finds(Cause::TooFewSessions));
    far.clone().sessions(12).sure(Cause::NetworkDistance);
    // Little room: so much less is it worth.
    let found = fewer(run()).sure(Cause::ConnectionLimit);
    assert!((found.share - (1.0 - 0.6 / 0.85)).abs() < 0.01, "{found:?}");
    // A schedule waits for the sessions that are missing;
    let waits = far.clone().asked(400.0, 50.0);
    let waits = fewer(waits).with(|r| r.totals.unserved_arrivals = 6000);
    assert!(waits.finds(Cause::Overload));
    waits.verdict(Cause::ConnectionLimit);
    // or has enough of those that there are.
    let served = fewer(run().asked(1000.0, 0.05));
    served.sure(Cause::OfferedLoad);
    let diagnosis = served.diagnosis();
    let note = diagnosis
        .findings
        .iter()
        .find(|f| f.cause == Cause::ConnectionLimit);
    let note = note.unwrap();
    assert_eq!(
        (note.share, note.confidence),
        (0.0, tidemark_diagnosis::Confidence::Low)
    );
    assert!(note.sentence.en.contains("served all"), "{note:?}");
}

#[test]
fn connections_that_are_opened_for_each_transaction_take_the_time_between_them() {
    let churn = |between_s: f64| {
        run().with(|r| {
            r.totals.reconnects = 1000 * SECONDS as u64;
            r.totals.fairness.between_avg_s = Some(between_s);
        })
    };
    churn(18.0).sure(Cause::ConnectionChurn);
    // What opens them takes the host's processors.
    churn(13.0).busy(0.98).verdict(Cause::ConnectionChurn);
    churn(5.0).busy(0.98).verdict(Cause::ServerCpu);
    assert!(
        !churn(0.5).finds(Cause::ConnectionChurn),
        "which cost nothing"
    );
    assert!(!run().finds(Cause::ConnectionChurn));
}

#[test]
fn short_pauses_stop_all_sessions_at_once_and_again() {
    let seconds = [3, 9, 15, 21];
    let of = |ms: f64| {
        let falls = |second| {
            if seconds.contains(&second) {
                1000 - ms as u64
            } else {
                1000
            }
        };
        let rates: Vec<u64> = (0..SECONDS as usize).map(falls).collect();
        run().rates(rates).slow(&seconds, 8, ms)
    };
    let paused = of(300.0);
    assert!(paused.finds(Cause::ServerStalls));
    let found = paused.diagnosis().findings;
    let found = found.iter().find(|f| f.cause == Cause::ServerStalls);
    let found = found.unwrap();
    assert!((found.share - 4.0 * 0.3 / 30.0).abs() < 1e-3, "{found:?}");
    assert_eq!(found.evidence[1].from_s, 9.0);
    let longer = of(600.0).diagnosis().findings;
    let longer = longer.iter().find(|f| f.cause == Cause::ServerStalls);
    let says = &longer.unwrap().sentence.en;
    assert!(says.contains("8% of the run: in 4 intervals"), "{says}");
    // Others make up for it in its interval, but each session waited once and as long as the others.
    let made_up_for = run().slow(&seconds, 8, 300.0);
    assert!(made_up_for.finds(Cause::ServerStalls));
    let apart = run().slow(&seconds, 12, 300.0);
    assert!(!apart.finds(Cause::ServerStalls), "of several moments");
    let once = run().slow(&[3], 8, 2000.0);
    assert!(!once.finds(Cause::ServerStalls), "of the hypervisor");
    let some = run().slow(&[3, 9, 15, 21], 4, 600.0);
    assert!(!some.finds(Cause::ServerStalls), "of some sessions");
    let usual = run().load(20, 400.0, 390.0).slow(&[3, 9, 15, 21], 8, 500.0);
    assert!(!usual.finds(Cause::ServerStalls), "as all transactions");
}

#[test]
fn a_stall_is_nobodys_lock() {
    let dead = |side| {
        run().dead(&[(5000, 2000.0), (15_000, 2000.0)]).with(|r| {
            r.dead_times
                .iter_mut()
                .flatten()
                .for_each(|d| d.side = side)
        })
    };
    // While a server is paused, nobody is answered.
    let looks: Vec<f64> = (0..SECONDS)
        .map(|n| if matches!(n, 6 | 16) { f64::NAN } else { 5.0 })
        .collect();
    let label = [("state", "idle")];
    let silent = dead(DeadSide::Target)
        .without("server-activity", "")
        .over_time("server-activity", "sessions", &label, &looks);
    let found = silent.sure(Cause::ServerStalls);
    assert_eq!(found.evidence[0].from_s, 5.0);
    assert_eq!(found.evidence[0].to_s, 7.0);
    assert!(dead(DeadSide::Target).finds(Cause::ServerStalls));
    assert!(!dead(DeadSide::Client).finds(Cause::ServerStalls));
    let locked = dead(DeadSide::Target)
        .active("Lock:relation", 6.0)
        .active("CPU", 1.0);
    assert_eq!(locked.diagnosis().verdict, Cause::LockHeld);
    assert!(
        run()
            .with(|r| r.dead_times = None)
            .skips(Cause::ServerStalls)
    );
}

#[test]
fn scaling_is_not_judged_from_one_run() {
    assert!(run().skips(Cause::Coherency));
    assert!(!run().asked(1000.0, 0.0).skips(Cause::Coherency));
}
