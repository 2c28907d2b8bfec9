use super::rates::part_of;
use super::*;
use tidemark_clients::Offset;
use tidemark_core::record::{StepPurpose, Totals};
use tidemark_engine::StepPlan;
use tidemark_live::ClientStage;

fn gathering(clients: usize) -> Gathering {
    let mut gathering = Gathering::new(&RunSpec::default(), OnLoss::Continue);
    let facts = (0..clients).map(|n| ClientFacts {
        agent: format!("c{n}"),
        hostname: "h".into(),
        clock: Offset::default(),
    });
    gathering.chosen(facts.collect());
    gathering.held = Some(ClientsRate {
        plan: StepPlan {
            purpose: StepPurpose::Asked,
            rate: Some(300.0),
            hold: Duration::from_secs(1),
        },
        clients,
    });
    gathering
}

fn step(elapsed_s: f64) -> Step {
    Step {
        purpose: StepPurpose::Asked,
        rate: Some(300.0),
        start_ms: 0,
        totals: Totals {
            elapsed_s,
            ..Totals::default()
        },
        verdict: None,
        cut_short: false,
    }
}

#[test]
fn a_rate_is_what_the_clients_make_that_are_left() {
    let mut gathering = gathering(3);
    gathering.told[0].steps.push_back(step(1.0));
    gathering.told[2].steps.push_back(step(1.0));
    assert!(gathering.judged().unwrap().is_none(), "one still holds it");
    gathering.told[1].lost = Some("no answer".into());
    let judged = gathering.judged().unwrap().unwrap();
    assert_eq!((judged.rate, judged.cut_short), (Some(200.0), false));
    // Those that are left are told of a rate that makes the whole of theirs.
    assert_eq!(part_of(Some(300.0), 3, 2), Some(450.0));
    assert_eq!(part_of(Some(0.1), 3, 3), Some(0.1));
}

#[test]
fn a_run_fails_by_a_client_that_is_lost_or_failed() {
    let mut gathering = gathering(2);
    gathering.on_loss = OnLoss::Fail;
    let end = |n: usize| ClientEnd {
        facts: ClientFacts {
            agent: format!("c{n}"),
            hostname: "h".into(),
            clock: Offset::default(),
        },
        late_ns: None,
        lost: None,
    };
    let ends = [end(0), end(1)];
    assert!(gathering.failure(&ends).is_none());
    gathering.told[1].lost = Some("no answer".into());
    let said = gathering.failure(&ends).unwrap().to_string();
    assert!(said.contains("client c1 is lost: no answer"), "{said}");
}

#[test]
fn each_client_is_told_as_it_is_now() {
    let mut gathering = gathering(3);
    let mut latencies = tidemark_stats::Histogram::new();
    latencies.record(Duration::from_millis(3));
    let mut interval = Interval {
        length_ms: 500.0,
        ..Interval::default()
    };
    let stats = tidemark_core::record::TypeStats {
        count: 1,
        service: tidemark_core::record::EncodedHistogram(latencies.encode()),
        ..Default::default()
    };
    interval.types.insert("READ".into(), stats);
    gathering.told[0].started = Some(Started {
        sessions: 1,
        fewer_because: None,
        executors: 1,
        connect_time: Duration::ZERO,
        ahead: Duration::ZERO,
    });
    for told in &mut gathering.told {
        told.now = now_of(&interval, Some(0.5), Some(0.25));
    }
    gathering.told[1].lost = Some("no answer".into());
    let now = gathering.clients_now();
    assert_eq!((now[0].rate, now[0].stage), (2.0, ClientStage::Running));
    assert_eq!((now[0].cpus, now[0].host_busy), (Some(0.5), Some(0.25)));
    let p95 = now[0].p95_ns.unwrap();
    assert!((2_900_000..3_100_000).contains(&p95), "{p95}");
    // Of one that is lost nothing is known any more.
    assert_eq!((now[1].rate, now[1].stage), (0.0, ClientStage::Lost));
    assert_eq!(
        (&*now[2].name, now[2].stage),
        ("c2", ClientStage::Preparing)
    );
}

#[test]
fn a_rate_that_was_held_at_the_end_is_told_as_cut_short() {
    let mut gathering = gathering(2);
    for told in &mut gathering.told {
        let mut own = RunRecord::default();
        own.steps.push(Step {
            cut_short: true,
            ..step(0.4)
        });
        told.record = Some(Box::new(own));
    }
    // It is no rate that was held.
    assert!(gathering.judged().unwrap().is_none());
    let told = gathering.cut_short().unwrap().unwrap();
    assert_eq!((told.rate, told.cut_short), (Some(300.0), true));
    assert_eq!(told.totals.elapsed_s, 0.4);
    assert!(gathering.cut_short().unwrap().is_none());
}
