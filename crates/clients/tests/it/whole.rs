//! Runs without faults.

use super::server::Server;
use super::{Thread, VERSION, agents, follow, patient, plan};
use crate::{ClientsError, ClientsRun, ListedState, OnLoss, list};

#[test]
fn all_begin_together_and_each_interval_comes_once() {
    let server = Server::start();
    let nats = server.nats();
    let _agents = agents(&nats, &["a", "b", "c"], 5);
    let run = ClientsRun::begin(nats.clone(), plan("r1", "3", OnLoss::Fail, patient())).unwrap();
    let told = follow(&run, |_, _| {}).unwrap();
    run.kept();
    assert_eq!(told.lost.len(), 0, "{told:?}");
    assert!((0..3).all(|client| told.is_whole(client, 5)), "{told:?}");
    assert!(told.late_ns.iter().all(Option::is_some), "{told:?}");
    // One host has one clock: the true offset is nothing, and within the error.
    let listed = list(&nats, VERSION).unwrap();
    assert_eq!(listed.len(), 3);
    for agent in &listed {
        let clock = agent.clock.unwrap();
        assert!(clock.ns.abs() <= clock.error_ns, "{clock:?}");
        assert_eq!(agent.state, ListedState::Free);
        assert_eq!(agent.presence.cores, 4);
    }
    // At once again: whoever was released is free.
    let run = ClientsRun::begin(nats, plan("r2", "b,a", OnLoss::Fail, patient())).unwrap();
    let told = follow(&run, |_, _| {}).unwrap();
    assert!(told.is_whole(0, 5) && told.is_whole(1, 5), "{told:?}");
}

#[test]
fn who_is_missing_busy_or_of_another_version_is_named() {
    let server = Server::start();
    let nats = server.nats();
    let mut all = agents(&nats, &["a"], 600);
    all.push(Thread::start(&nats, "old", "0.9", 1));
    super::are_there(&nats, 2);
    let failed = |clients: &str| {
        let plan = plan("r", clients, OnLoss::Fail, patient());
        let run = ClientsRun::begin(nats.clone(), plan).unwrap();
        follow(&run, |_, _| {}).unwrap_err().to_string()
    };
    let said = failed("3");
    assert!(
        said.contains("--clients 3: 1 of 3 agents can be used"),
        "{said}"
    );
    assert!(said.contains("old has version 0.9"), "{said}");
    let said = failed("a,z");
    assert!(said.contains("z is missing"), "{said}");
    let first =
        ClientsRun::begin(nats.clone(), plan("first", "1", OnLoss::Fail, patient())).unwrap();
    let mut told = String::new();
    let mut asked = false;
    let ended = follow(&first, |_, _| {
        if !std::mem::replace(&mut asked, true) {
            told = failed("a");
            first.stop();
        }
    });
    assert!(told.contains("a is part of run first"), "{told}");
    // Stopped by its user, it tells what it has.
    assert_eq!(ended.unwrap().ended, [0]);
}

#[test]
fn two_agents_of_one_name_are_not_there() {
    let server = Server::start();
    let nats = server.nats();
    let _first = agents(&nats, &["a"], 1);
    let mut second = Thread::start(&nats, "a", VERSION, 1);
    let refused = second.thread.take().unwrap().join().unwrap().unwrap_err();
    assert!(refused.to_string().contains("--name=a-2"), "{refused}");
    let mut bad = Thread::start(&nats, "a.b", VERSION, 1);
    let refused = bad.thread.take().unwrap().join().unwrap().unwrap_err();
    assert!(matches!(refused, ClientsError::Usage(_)), "{refused}");
}

#[test]
fn an_agent_does_nothing_but_tidemarks_jobs() {
    let server = Server::start();
    let nats = server.nats();
    let _agent = agents(&nats, &["a"], 1);
    let runtime = crate::runtime().unwrap();
    runtime.block_on(async {
        let connection = crate::connection::NatsConnection::open(&nats, "test")
            .await
            .unwrap();
        let lease = r#"{"run": "r", "client": 0, "epoch": 1}"#;
        for asked in [
            r#"{"run": ["sh", "-c", "reboot"]}"#.to_string(),
            format!(
                r#"{{"take": {{"lease": {lease}, "version": "{VERSION}", "deadline_ms": 1000,
                    "job": {{"command": "reboot"}}}}}}"#
            ),
        ] {
            let subject = crate::protocol::agent_subject("a");
            let reply = connection
                .client
                .request(subject, asked.into())
                .await
                .unwrap();
            let said = String::from_utf8_lossy(&reply.payload).into_owned();
            assert!(
                said.contains("runs Tidemark's jobs and nothing else"),
                "{said}"
            );
        }
    });
}
