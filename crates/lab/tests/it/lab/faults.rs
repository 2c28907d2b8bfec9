//! Stalls, refusals and outages come as asked.

use crate::it::common::{connectors, lab};
use crate::it::lab::support::{run, wait_until};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidemark_core::ErrorClass;
use tidemark_drivers::Value;
use tidemark_lab::{FaultSpan, LabConfig};

const POINT: &str = "SELECT c FROM sbtest1 WHERE id=?";

#[test]
fn one_session_too_many_is_refused_in_the_servers_words() {
    let lab = lab(LabConfig {
        refuse_after: Some(2),
        ..LabConfig::default()
    });
    for (connector, code) in connectors(&lab).into_iter().zip(["1040", "53300"]) {
        run(async move {
            let first = connector.connect(0).await.unwrap();
            let second = connector.connect(1).await.unwrap();
            let error = connector.connect(2).await.map(drop).unwrap_err();
            assert_eq!(error.class, ErrorClass::Refused);
            assert_eq!(error.code, code);
            assert!(error.message.contains("too many") || error.message.contains("Too many"));
            first.close().await;
            second.close().await;
        });
        wait_until(|| lab.truth().open() == 0);
    }
    let truth = lab.truth();
    assert_eq!((truth.mysql.refused, truth.postgres.refused), (1, 1));
}

#[test]
fn an_outage_ends_all_sessions_and_refuses_new_ones_until_it_is_over() {
    const DOWN: Duration = Duration::from_millis(1500);
    let lab = Arc::new(lab(LabConfig {
        threads: 2,
        ..LabConfig::default()
    }));
    for connector in connectors(&lab) {
        let lab = Arc::clone(&lab);
        run(async move {
            let mut sessions = Vec::new();
            for number in 0..4 {
                sessions.push(connector.connect(number).await.unwrap());
            }
            let begun = Instant::now();
            lab.outage_now(DOWN);
            for session in &mut sessions {
                wait_until(|| lab.truth().open() == 0);
                let error = session.simple("SELECT 1").await.unwrap_err();
                assert_eq!(error.class, ErrorClass::ConnectionLost);
            }
            let error = connector.connect(0).await.map(drop).unwrap_err();
            assert_eq!(error.class, ErrorClass::Refused);
            assert!(begun.elapsed() < DOWN, "too slow a machine for this test");
            while connector.connect(0).await.is_err() {
                std::thread::sleep(Duration::from_millis(5));
                assert!(begun.elapsed() < Duration::from_secs(10));
            }
            assert!(begun.elapsed() >= DOWN);
        });
    }
}

#[test]
fn a_planned_outage_comes_by_itself() {
    let at = |at, length| FaultSpan {
        at: Duration::from_millis(at),
        length: Duration::from_millis(length),
    };
    let lab = lab(LabConfig {
        outages: vec![at(300, 200)],
        ..LabConfig::default()
    });
    let [connector, _] = connectors(&lab);
    let session = run(async move { connector.connect(0).await.unwrap() });
    wait_until(|| lab.truth().open() == 0);
    assert!(lab.elapsed() >= Duration::from_millis(300));
    drop(session);
}

#[test]
fn nothing_is_answered_in_a_stall_and_all_of_it_right_after() {
    const STALL: Duration = Duration::from_millis(300);
    let lab = Arc::new(lab(LabConfig::default()));
    for connector in connectors(&lab) {
        let lab = Arc::clone(&lab);
        run(async move {
            let mut session = connector.connect(0).await.unwrap();
            let point = session.prepare(POINT).await.unwrap();
            session.execute(&point, &[Value::Int(1)]).await.unwrap();
            let begun = Instant::now();
            lab.stall_now(STALL);
            session.execute(&point, &[Value::Int(1)]).await.unwrap();
            assert!(begun.elapsed() >= STALL);
            // A greeting is an answer too.
            let begun = Instant::now();
            lab.stall_now(STALL);
            connector.connect(1).await.unwrap().close().await;
            assert!(begun.elapsed() >= STALL);
        });
    }
}

#[test]
fn answers_that_wait_already_wait_for_the_end_of_the_stall() {
    let stall = FaultSpan {
        at: Duration::from_millis(400),
        length: Duration::from_millis(400),
    };
    let lab = lab(LabConfig {
        delay: "constant:500ms".parse().unwrap(),
        stalls: vec![stall],
        ..LabConfig::default()
    });
    let [connector, _] = connectors(&lab);
    run(async move {
        let mut session = connector.connect(0).await.unwrap();
        let point = session.prepare(POINT).await.unwrap();
        session.execute(&point, &[Value::Int(1)]).await.unwrap();
    });
    // It was due in the stall.
    assert!(lab.elapsed() >= stall.at + stall.length);
}
