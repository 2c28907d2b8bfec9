use super::*;
use crate::protocol::Lease;
use crate::publisher::Envelope;
use std::sync::mpsc::{Receiver, channel};
use tokio::sync::mpsc::unbounded_channel;

fn coordinator() -> (
    Coordinator,
    Receiver<CoordinatorEvent>,
    UnboundedReceiver<AgentRequest>,
) {
    let (to, requests) = unbounded_channel();
    let seated = Seated {
        facts: ClientFacts {
            agent: "a".into(),
            hostname: "h".into(),
            clock: Offset::default(),
        },
        client: RunClient {
            agent: "a".into(),
            instance: "i".into(),
            hostname: "h".into(),
            lease: lease(),
        },
        to,
    };
    let (send, events) = channel();
    let what = (OnLoss::Fail, Timing::default());
    let coordinator = Coordinator::new(vec![seated], what, true, send);
    (coordinator, events, requests)
}

fn lease() -> Lease {
    Lease {
        run: "r".into(),
        client: 0,
        epoch: 5,
    }
}

fn lost(events: &Receiver<CoordinatorEvent>) -> Option<String> {
    events.try_iter().find_map(|event| match event {
        CoordinatorEvent::Lost { why, .. } => Some(why),
        _ => None,
    })
}

#[test]
fn a_last_message_is_not_waited_for_for_ever() {
    let ended = Status {
        stage: Stage::Ended,
        is_over: true,
        said: 2,
        kept: 2,
        ..Status::default()
    };
    let stuck = Status {
        stage: Stage::Going,
        kept: 1,
        trouble: Some("no space".into()),
        ..ended.clone()
    };
    let silent = Status {
        said: 0,
        kept: 0,
        ..ended.clone()
    };
    for (status, seconds, words) in [
        (silent, 10, "its load has ended without its last message"),
        (ended, 20, "0 of its 2 messages came"),
        (stuck, 60, "1 of its 2 messages are in the stream: no space"),
    ] {
        let (mut coordinator, events, _requests) = coordinator();
        let begun = Instant::now();
        let after = |s| begun + Duration::from_secs(s);
        for second in 0..=seconds {
            coordinator.ended(0, &status, after(second));
        }
        assert_eq!(lost(&events), None);
        coordinator.ended(0, &status, after(seconds + 1));
        let why = lost(&events).unwrap();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_killed_load_is_lost_as_soon_as_all_that_it_said_is_here() {
    let killed = |said, kept| Status {
        stage: Stage::Failed("its load's process ended (signal: 9)".into()),
        is_over: true,
        said,
        kept,
        ..Status::default()
    };
    for (status, is_lost) in [
        (killed(0, 0), true),
        // One message is on its way to the stream, or from there.
        (killed(1, 0), false),
        (killed(1, 1), false),
    ] {
        let (mut coordinator, events, _requests) = coordinator();
        coordinator.status(0, &status, Offset::default());
        let why = lost(&events);
        assert_eq!(why.is_some(), is_lost, "{status:?}: {why:?}");
    }
}

#[test]
fn a_wait_begins_anew_with_each_message_and_after_an_outage() {
    let begun = Instant::now();
    let after = |s| begun + Duration::from_secs(s);
    let mut awaited = Awaited {
        since: begun,
        asked: begun,
        counts: (0, 9),
    };
    let mut silence = |s, came| awaited.silence(after(s), (came, 9)).as_secs();
    assert_eq!((silence(1, 0), silence(2, 0), silence(3, 1)), (1, 2, 0));
    assert_eq!((silence(5, 1), silence(50, 1), silence(51, 1)), (2, 0, 1));
}

#[test]
fn a_message_that_cannot_be_read_is_named() {
    let (mut coordinator, events, _requests) = coordinator();
    let (commands_to, commands) = unbounded_channel();
    let (_updates_to, updates) = unbounded_channel();
    let (parts_to, parts) = unbounded_channel();
    let (_, bad) = Envelope::parts(&lease(), 0, "{", 100).remove(0);
    parts_to.send(bad).unwrap();
    let mut heard = Heard {
        commands,
        updates,
        parts,
    };
    let runtime = crate::runtime().unwrap();
    let why = runtime.block_on(async {
        let work = coordinator.work(&mut heard);
        let told = async {
            loop {
                if let Some(why) = lost(&events) {
                    return why;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let limited = tokio::time::timeout(Duration::from_secs(60), told);
        tokio::select! {
            _ = work => None,
            why = limited => why.ok(),
        }
    });
    drop(commands_to);
    assert!(why.unwrap().contains("its message 0 can't be read"));
}
