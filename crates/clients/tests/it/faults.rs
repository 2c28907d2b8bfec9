//! What goes wrong: nothing is lost, nothing counts twice, and the policy decides.

use super::server::Server;
use super::{VERSION, agents, follow, patient, plan};
use crate::{ClientsError, ClientsRun, OnLoss, Timing};
use std::time::{Duration, Instant};
use tidemark_core::record::RunRecord;

/// Who has ended is noticed soon; who is only slow is not.
fn quick() -> Timing {
    Timing {
        gone: Duration::from_millis(1200),
        ..patient()
    }
}

#[test]
fn a_lost_client_ends_the_run_or_not_as_the_policy_says() {
    for on_loss in [OnLoss::Fail, OnLoss::Continue] {
        let server = Server::start();
        let nats = server.nats();
        // A load that is to be ended, or lost, has far to go: the host may hold this thread up for long.
        let (whole, far) = (50, 5000);
        let others = match on_loss {
            OnLoss::Fail => far,
            OnLoss::Continue => whole,
        };
        let mut all = agents(&nats, &["a"], others);
        all.push(super::Thread::start(&nats, "b", VERSION, far));
        super::are_there(&nats, 2);
        let run = ClientsRun::begin(nats, plan("r", "a,b", on_loss, quick())).unwrap();
        let mut lost_at = None;
        let told = follow(&run, |client, number| {
            if client == 1 && number >= 3 && lost_at.is_none() {
                lost_at = Some(Instant::now());
                all.pop().unwrap().end().unwrap();
            }
        });
        let told = told.unwrap();
        assert!(told.lost.contains_key(&1), "{told:?}");
        let counted = told.intervals.get(&1).unwrap().len() as u64;
        assert!(counted >= 4 && told.is_whole(1, counted), "{told:?}");
        let others = told.intervals.get(&0).unwrap().len() as u64;
        assert!(told.is_whole(0, others), "{told:?}");
        match on_loss {
            OnLoss::Fail => assert!(others < far, "{told:?}"),
            OnLoss::Continue => assert_eq!(others, whole, "{told:?}"),
        }
    }
}

#[test]
fn an_agent_that_was_restarted_counts_no_second_time() {
    let server = Server::start();
    let nats = server.nats();
    let mut all = agents(&nats, &["a", "b"], 60);
    let plan = plan("r", "a,b", OnLoss::Continue, patient());
    let run = ClientsRun::begin(nats.clone(), plan).unwrap();
    let mut is_again = false;
    let told = follow(&run, |client, number| {
        if client == 1 && number >= 2 && !std::mem::replace(&mut is_again, true) {
            all.pop().unwrap().end().unwrap();
            all.push(super::Thread::start(&nats, "b", VERSION, 60));
        }
    });
    let told = told.unwrap();
    let why = told.lost.get(&1).unwrap();
    assert!(why.contains("restarted") || why.contains("ended"), "{why}");
    let counted = told.intervals.get(&1).unwrap().len() as u64;
    assert!(told.is_whole(1, counted) && counted < 60, "{told:?}");
    assert!(told.is_whole(0, 60), "{told:?}");
}

#[test]
fn a_server_that_is_killed_and_started_again_loses_nothing() {
    let mut server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a", "b", "c"], 60);
    let run = ClientsRun::begin(nats, plan("r", "3", OnLoss::Fail, patient())).unwrap();
    let mut killed = false;
    let told = follow(&run, |_, number| {
        if number == 5 && !std::mem::replace(&mut killed, true) {
            server.kill();
            std::thread::sleep(Duration::from_millis(700));
            server.again();
        }
    });
    let told = told.unwrap();
    assert_eq!(told.lost.len(), 0, "{told:?}");
    assert!((0..3).all(|client| told.is_whole(client, 60)), "{told:?}");
}

#[test]
fn a_server_that_stands_still_for_a_while_loses_nothing() {
    let server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a", "b"], 50);
    let run = ClientsRun::begin(nats, plan("r", "2", OnLoss::Fail, patient())).unwrap();
    let mut stopped = false;
    let told = follow(&run, |_, number| {
        if number == 5 && !std::mem::replace(&mut stopped, true) {
            server.stop();
            std::thread::sleep(Duration::from_secs(2));
            server.go_on();
        }
    });
    let told = told.unwrap();
    assert_eq!(told.lost.len(), 0, "{told:?}");
    assert!((0..2).all(|client| told.is_whole(client, 50)), "{told:?}");
}

#[test]
fn a_run_without_its_coordinator_is_taken_up_whole() {
    let server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a", "b"], 80);
    let mut plan = plan("r", "2", OnLoss::Fail, patient());
    plan.record = Some(Box::default());
    let run = ClientsRun::begin(nats.clone(), plan).unwrap();
    let mut is_dead = false;
    while !is_dead {
        let event = run.events.recv_timeout(super::LONGEST).unwrap();
        let crate::CoordinatorEvent::Message(_, message) = event else {
            continue;
        };
        is_dead = matches!(*message, crate::Message::Interval { number: 5.., .. });
    }
    // While it lives nobody takes its place.
    let refused = ClientsRun::attach(nats.clone(), None, VERSION)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("still there"), "{refused}");
    run.die();
    let (id, entry, second) = ClientsRun::attach(nats.clone(), None, VERSION).unwrap();
    assert_eq!((id.as_str(), entry.clients.len()), ("r", 2));
    assert_eq!(entry.record.as_deref(), Some(&RunRecord::default()));
    let told = follow(&second, |_, _| {}).unwrap();
    second.kept();
    assert_eq!(told.lost.len(), 0, "{told:?}");
    assert!((0..2).all(|client| told.is_whole(client, 80)), "{told:?}");
    // Its record is written: there is nothing left to take up.
    let nothing = ClientsRun::attach(nats, None, VERSION).err().unwrap();
    assert!(matches!(nothing, ClientsError::Run { .. }), "{nothing}");
}

#[test]
fn a_run_that_outlives_its_entry_is_entered_again() {
    let server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a"], 100_000);
    let timing = Timing {
        entry: Duration::ZERO,
        ..patient()
    };
    let run = ClientsRun::begin(nats.clone(), plan("r", "1", OnLoss::Fail, timing)).unwrap();
    let begun = run.events.recv_timeout(super::LONGEST).unwrap();
    assert!(
        matches!(begun, crate::CoordinatorEvent::Chosen(_)),
        "{begun:?}"
    );
    let again = async {
        let connection = crate::connection::NatsConnection::open(&nats, "test").await?;
        let kept = connection.ensure(&nats).await?;
        // As its age does.
        kept.runs.purge("r").await.unwrap();
        let end = Instant::now() + super::LONGEST;
        while kept.runs.get("r").await.unwrap().is_none() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok::<_, ClientsError>(kept.runs.get("r").await.unwrap())
    };
    let again = crate::runtime().unwrap().block_on(again).unwrap();
    assert!(again.is_some(), "its entry is gone");
    run.die();
}

#[test]
fn a_load_that_nobody_leads_ends_by_itself_and_is_told_to_whoever_comes() {
    let server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a"], 100_000);
    let timing = Timing {
        lease: Duration::from_secs(5),
        ..patient()
    };
    let mut plan = plan("r", "1", OnLoss::Fail, timing);
    plan.record = Some(Box::default());
    let run = ClientsRun::begin(nats.clone(), plan).unwrap();
    loop {
        let event = run.events.recv_timeout(super::LONGEST).unwrap();
        if matches!(event, crate::CoordinatorEvent::Message(_, m) if matches!(*m, crate::Message::Interval { .. }))
        {
            break;
        }
    }
    run.die();
    let died = Instant::now();
    // It ends within its lease, and the agent is free.
    let is_free = || {
        let listed = crate::list(&nats, VERSION).unwrap_or_default();
        listed.iter().any(|a| a.state == crate::ListedState::Free)
    };
    assert!(tidemark_process::wait_until(super::LONGEST, is_free));
    assert!(died.elapsed() >= Duration::from_secs(2));
    let (_, _, second) = ClientsRun::attach(nats, Some("r"), VERSION).unwrap();
    let told = follow(&second, |_, _| {}).unwrap();
    let counted = told.intervals.get(&0).unwrap().len() as u64;
    assert!(told.is_whole(0, counted), "{told:?}");
    assert_eq!(told.ended, [0], "what it measured was told: {told:?}");
}
