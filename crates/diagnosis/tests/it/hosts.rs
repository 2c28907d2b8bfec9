//! Causes on the hosts: CPU, quotas, neighbours, distance.

use super::common::{Made, mariadb, run, sqlite};
use tidemark_core::record::{ClientHost, ClientPart};
use tidemark_diagnosis::{Cause, Confidence, Lang};

#[test]
fn a_client_whose_threads_are_full_limits() {
    let remote = run().with(|r| r.target_on_client = Some(false));
    let full = remote
        .clone()
        .load(1000, 8.0, 2.0)
        .threads(3.9, 1500.0)
        .busy(0.98)
        .active("CPU", 1.5);
    full.sure(Cause::ClientCpu);
    // Client and server on one full host: that is the host's CPU.
    let shared = full.clone().with(|r| r.target_on_client = Some(true));
    assert!(!shared.finds(Cause::ClientCpu));
    // Part of the latency in the client, and its host idle: nothing is sure.
    let idle = remote.load(1000, 8.0, 5.0).threads(0.5, 20.0).busy(0.2);
    let diagnosis = idle.diagnosis();
    assert!(
        diagnosis
            .findings
            .iter()
            .all(|f| f.confidence < Confidence::High),
        "{diagnosis:#?}"
    );
    assert_ne!(diagnosis.verdict, Cause::ClientCpu);
    // What the client waited was not measured.
    let record = run().record();
    let mut old = record.clone();
    old.totals.all.server = None;
    let diagnosis = tidemark_diagnosis::diagnose(&old);
    assert!(
        diagnosis
            .skipped
            .iter()
            .any(|s| s.cause == Cause::ClientCpu)
    );
}

#[test]
fn threads_that_wait_although_processors_are_idle_have_a_quota() {
    let client = run()
        .load(1000, 8.0, 3.0)
        .threads(0.5, 2000.0)
        .busy(0.4)
        .active("CPU", 1.5);
    let found = client.sure(Cause::CpuQuota);
    assert!(
        found.sentence.en.contains("client"),
        "{}",
        found.sentence.en
    );
    let server = run().server(0.5, 5500.0).busy(0.4);
    let found = server.sure(Cause::CpuQuota);
    assert!(
        found.sentence.en.contains("server"),
        "{}",
        found.sentence.en
    );
    // On a full host they wait for each other.
    assert!(!server.clone().busy(0.97).finds(Cause::CpuQuota));
    assert!(!run().finds(Cause::CpuQuota));
    let stolen = |busy, cores: f64| {
        let core = [("core", "0")];
        run()
            .busy(busy)
            .set("client-host", "cpu.steal", &core, cores)
    };
    assert!(stolen(0.9, 1.0).finds(Cause::CpuQuota) && !stolen(0.9, 0.5).finds(Cause::CpuQuota));
    assert!(
        !stolen(0.6, 1.0).finds(Cause::CpuQuota),
        "of idle processors"
    );
    assert!(run().without("server-process", "").skips(Cause::CpuQuota));
}

#[test]
fn a_quota_that_was_used_up_limits_also_where_threads_wait_little() {
    let quota = |made: &Made, source: &'static str, used_up: f64| {
        let made = made.clone().set(source, "cgroup.quota", &[], 2.0);
        let made = made.set(source, "cgroup.used-up", &[], used_up);
        made.set(source, "cgroup.throttled", &[], 900.0)
    };
    // Less than one and a half times what they had.
    let server = run().server(1.9, 1500.0).active("CPU", 3.4).busy(0.5);
    assert!(!server.finds(Cause::CpuQuota));
    let found = quota(&server, "server-process", 0.9).sure(Cause::CpuQuota);
    let says = &found.sentence.en;
    assert!(
        says.contains("server's CPU quota of 2.00 cores") && says.contains("in 90%"),
        "{says}"
    );
    let metrics: Vec<&str> = found.evidence.iter().map(|e| &*e.metric).collect();
    assert!(
        metrics.contains(&"server-process cgroup.used-up"),
        "{metrics:?}"
    );
    // Used up now and then, or of a server that takes little of the latency.
    assert!(!quota(&server, "server-process", 0.2).finds(Cause::CpuQuota));
    let little = run().server(0.4, 300.0).active("CPU", 0.7).busy(0.5);
    assert!(!quota(&little, "server-process", 0.9).finds(Cause::CpuQuota));
    let client = run().load(1000, 8.0, 3.0).threads(1.5, 1000.0).busy(0.5);
    assert!(!client.finds(Cause::CpuQuota));
    let found = quota(&client, "client-host", 0.9).sure(Cause::CpuQuota);
    assert!(found.sentence.en.contains("client's CPU quota"));
    // Threads that were kept off have the quota beside them as evidence, used up or not.
    let kept = run().server(0.5, 5500.0).busy(0.4);
    let found = quota(&kept, "server-process", 0.3).sure(Cause::CpuQuota);
    // A server that pauses now and then is idle in a part of a second in which its threads wait.
    let every_other: Vec<usize> = (0..super::common::SECONDS as usize).step_by(2).collect();
    let paused = kept.slow(&every_other, 8, 300.0);
    assert!(!paused.finds(Cause::CpuQuota), "{:#?}", paused.diagnosis());
    assert!(found.sentence.en.contains("times as long"));
    let mut evidence = found.evidence.iter();
    assert!(evidence.any(|e| e.metric == "server-process cgroup.throttled"));
}

fn part(name: &str, hostname: &str) -> ClientPart {
    ClientPart {
        name: name.into(),
        host: ClientHost {
            hostname: hostname.into(),
            ..ClientHost::default()
        },
        ..ClientPart::default()
    }
}

/// Of many processors a host tells only the mean of what is stolen.
#[test]
fn means_of_several_clients_hosts_are_each_of_their_own_processors() {
    let stolen = |mean: f64| {
        let mut made = run().without("client-host", "cpu.busy");
        for client in ["c0", "c1"] {
            for core in ["0", "1", "2", "3"] {
                let labels = [("client", client), ("core", core)];
                made = made.set("client-host", "cpu.busy", &labels, 0.95);
            }
            made = made.set("client-host", "cpu.steal", &[("client", client)], mean);
        }
        made.with(|r| {
            r.target_on_client = Some(false);
            r.clients = vec![part("c0", "one"), part("c1", "two")];
        })
    };
    assert!(!stolen(0.15).finds(Cause::CpuQuota));
    assert!(stolen(0.3).finds(Cause::CpuQuota));
}

#[test]
fn quotas_of_several_clients_are_used_up_in_a_share_of_all_periods() {
    let limited = |used_up: f64| {
        let mut made = run().load(1000, 8.0, 3.0).threads(1.5, 1000.0).busy(0.5);
        for client in ["c0", "c1"] {
            let labels = [("client", client)];
            made = made.set("client-host", "cgroup.quota", &labels, 2.0);
            made = made.set("client-host", "cgroup.used-up", &labels, used_up);
        }
        made.with(|r| r.clients = vec![part("c0", "one"), part("c1", "two")])
    };
    // Twice two fifths are not four.
    assert!(!limited(0.4).finds(Cause::CpuQuota));
    let says = limited(0.9).sure(Cause::CpuQuota).sentence.en;
    assert!(
        says.contains("in 90%") && says.contains("4.00 cores"),
        "{says}"
    );
}

#[test]
fn clients_of_one_host_see_it_together_and_are_no_neighbours_of_each_other() {
    let made = |hosts: [&'static str; 2], others: f64| {
        let mut made = run().active("CPU", 5.0).server(3.0 - others, 1500.0);
        for name in ["cpu.busy", "threads.cpu", "threads.run-delay"] {
            made = made.without("client-host", name);
        }
        for client in ["c0", "c1"] {
            for core in ["0", "1", "2", "3"] {
                let labels = [("client", client), ("core", core)];
                made = made.set("client-host", "cpu.busy", &labels, 0.99);
            }
            let labels = [("client", client), ("threads", "load")];
            made = made.set("client-host", "threads.cpu", &labels, 0.45).set(
                "client-host",
                "threads.run-delay",
                &labels,
                300.0,
            );
        }
        let programs = [("tidemark", 0.45), ("backup", others)];
        for (program, cores) in programs {
            let labels = [("program", program)];
            made = made.set("server-process", "programs.cpu", &labels, cores);
        }
        made.with(|r| r.clients = vec![part("c0", hosts[0]), part("c1", hosts[1])])
    };
    let one = ["one", "one"];
    assert!(!made(one, 0.0).finds(Cause::Neighbour));
    let found = made(one, 1.6).verdict(Cause::Neighbour);
    let said = &found.sentence.en;
    // Of 3.96 cores that are busy, 0.9 are the clients' and 1.4 the server's.
    for part in ["1.66 of 4 cores", "backup: 1.60", "99"] {
        assert!(said.contains(part), "{said}");
    }
    let found = made(one, 0.4).diagnosis();
    let said = format!("{found:?}");
    assert!(!said.contains("tidemark:"), "{said}");
}

/// The same with a program that uses 1.6 processors and is seen for so many seconds.
fn named_for(made: &Made, seconds: usize) -> Made {
    let of = |program| [("program", program)];
    let made = made.clone();
    let made = made.set("server-process", "programs.cpu", &of("cron"), 0.01);
    made.over_time(
        "server-process",
        "programs.cpu",
        &of("backup"),
        &vec![1.6; seconds],
    )
}

#[test]
fn a_neighbour_is_what_nobody_of_the_run_used_and_made_it_wait() {
    let full = run().busy(0.99).active("CPU", 5.0);
    let made = full.clone().threads(0.6, 300.0).server(1.6, 1500.0);
    let found = made.verdict(Cause::Neighbour);
    // The kernel's threads are among them: no program is named.
    assert_eq!(found.confidence, Confidence::Medium);
    let program = [("program", "backup")];
    let named = made.clone();
    let named = named.set("server-process", "programs.cpu", &program, 1.6);
    let found = named.sure(Cause::Neighbour);
    assert!(
        found.sentence.en.contains("backup: 1.60"),
        "{}",
        found.sentence.en
    );
    // A program that was among the seen ones for half of the time used half as much.
    let half = named_for(&made, super::common::SECONDS as usize / 2).verdict(Cause::Neighbour);
    assert!(
        half.sentence.en.contains("backup: 0.800"),
        "{}",
        half.sentence.en
    );
    // One that runs when nobody else wants to makes nobody wait.
    assert!(
        !full
            .clone()
            .threads(0.6, 10.0)
            .server(1.6, 30.0)
            .finds(Cause::Neighbour)
    );
    assert!(
        !full
            .threads(1.2, 300.0)
            .server(2.6, 1500.0)
            .finds(Cause::Neighbour)
    );
    assert!(made.without("server-process", "").skips(Cause::Neighbour));
}

#[test]
fn a_distance_is_the_same_for_each_transaction() {
    let far = run()
        .load(500, 16.0, 15.9)
        .even()
        .busy(0.2)
        .server(0.5, 10.0)
        .threads(0.2, 10.0)
        .active("CPU", 0.6);
    let pinged = far.clone().set("network", "ping.latency", &[], 1.1);
    let found = pinged.sure(Cause::NetworkDistance);
    assert!(
        found.sentence.en.contains("1.10 ms"),
        "{}",
        found.sentence.en
    );
    // Without a round trip that was measured it may be a pooler's queue.
    let found = far.verdict(Cause::NetworkDistance);
    assert_eq!(found.confidence, Confidence::Medium);
    // Time outside the server that varies from one to the other is a pause or a queue.
    let uneven = far.clone().uneven();
    assert!(!uneven.finds(Cause::NetworkDistance));
    assert!(!run().finds(Cause::NetworkDistance));
    // Without a look at sessions a fixed cost is all that is known.
    let unseen = far.without("server-activity", "");
    let found = unseen.verdict(Cause::NetworkDistance);
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(unseen.uneven().skips(Cause::NetworkDistance));
    let added = run().even().with(|r| r.inject_rtt_ms = 0.4);
    added.sure(Cause::NetworkDistance);
}

#[test]
fn one_session_leaves_the_server_idle() {
    let one = run()
        .sessions(1)
        .load(800, 1.2, 1.1)
        .busy(0.25)
        .server(0.6, 10.0)
        .threads(0.3, 10.0)
        .active("CPU", 0.65);
    let found = one.sure(Cause::TooFewSessions);
    // CPU is told with what there is of it, as charts do.
    let busy = &found.evidence[0];
    assert_eq!((busy.unit.as_str(), busy.cores), ("cores", Some(4.0)));
    let said = |lang| busy.share(lang).unwrap();
    assert_eq!(said(Lang::En), "1.00 of 4 cores (25.0%)");
    assert_eq!(said(Lang::Zh), "1.00 核，共 4 核（25.0%）");
    // Eight sessions on four cores that leave them idle wait for something.
    assert!(!run().busy(0.3).finds(Cause::TooFewSessions));
    // The rate was asked for.
    assert!(!one.clone().asked(800.0, 0.0).finds(Cause::TooFewSessions));
    assert!(one.without("client-host", "").skips(Cause::TooFewSessions));
}

#[test]
fn sessions_that_wait_for_sqlites_write_lock_are_not_too_few() {
    // Two sessions, of which one waits nearly all the time.
    let two = sqlite(500, 4.0)
        .sessions(2)
        .busy(0.3)
        .threads(1.0, 10.0)
        .status("locks.waits", 200.0)
        .status("locks.wait-time", 945.0);
    let found = two.sure(Cause::TableLocks);
    assert!(
        found
            .sentence
            .en
            .contains("write lock: one session writes at a time, and 47%"),
        "{found:?}"
    );
    assert!(found.sentence.zh.contains("写锁"), "{found:?}");
    assert!(found.next.en.contains("one session"), "{found:?}");
    assert!(!two.finds(Cause::TooFewSessions));
    // A run of two seconds is no proof.
    let short = two.clone().lasting(2).verdict(Cause::TableLocks);
    assert_eq!(short.confidence, Confidence::Medium);
    // What half of the latency is, nobody saw.
    let unseen = two.without("server-status", "");
    let diagnosis = unseen.diagnosis();
    assert_eq!(diagnosis.verdict, Cause::NotEnoughSeen, "{diagnosis:#?}");
    // One that waits for nothing could do more beside another.
    let one = sqlite(500, 2.0).sessions(1).busy(0.25).threads(0.95, 5.0);
    one.verdict(Cause::TooFewSessions);
}

#[test]
fn counted_waits_for_locks_are_evidence_without_a_look_at_sessions() {
    let none = mariadb()
        .sessions(2)
        .load(500, 4.0, 3.8)
        .busy(0.45)
        .threads(0.2, 10.0)
        .server(1.5, 10.0)
        .without("server-activity", "");
    assert!(none.finds(Cause::TooFewSessions), "{:#?}", none.diagnosis());
    let some = none.clone().status("locks.wait-time", 600.0);
    assert!(
        !some.finds(Cause::TooFewSessions),
        "{:#?}",
        some.diagnosis()
    );
    // Nor where most of the latency is of nothing that was seen.
    assert!(!none.server(0.6, 10.0).finds(Cause::TooFewSessions));
}

#[test]
fn one_session_of_a_remote_server_may_be_at_what_its_host_is_at() {
    // MariaDB does not tell which of its sessions are on a processor.
    let remote = mariadb()
        .sessions(1)
        .load(500, 2.0, 1.9)
        .busy(0.1)
        .threads(0.1, 1.0)
        .active("Sending data", 0.8)
        .without("server-process", "")
        .with(|r| r.target_on_client = Some(false));
    let host = |busy: f64| {
        ["0", "1", "2", "3"]
            .iter()
            .fold(remote.clone(), |made, core| {
                made.set("server-host", "cpu.busy", &[("core", core)], busy)
            })
    };
    let found = host(0.3).verdict(Cause::TooFewSessions);
    assert_eq!(found.confidence, Confidence::Medium, "{found:?}");
    // On an idle one it waits for something.
    assert!(!host(0.02).finds(Cause::TooFewSessions));
}

#[test]
fn bursts_on_a_full_host_are_no_quota() {
    // Stalls and bursts: idle on average, full whenever there is work.
    let burst = |n: i64| n % 2 == 0;
    let of = |on: f64, off: f64| -> Vec<f64> {
        (0..super::common::SECONDS)
            .map(|n| if burst(n) { on } else { off })
            .collect()
    };
    let label = [("threads", "load")];
    let made = ["0", "1", "2", "3"].iter().fold(run(), |made, core| {
        made.over_time(
            "client-host",
            "cpu.busy",
            &[("core", core)],
            &of(0.98, 0.05),
        )
    });
    let made = made
        .load(1000, 8.0, 3.0)
        .over_time("client-host", "threads.cpu", &label, &of(1.0, 0.02))
        .over_time("client-host", "threads.run-delay", &label, &of(6000.0, 1.0));
    assert!(!made.finds(Cause::CpuQuota), "{:#?}", made.diagnosis());
}

#[test]
fn one_session_far_away_is_kept_by_the_distance_and_more_would_do_more() {
    // 14 statements, each with 70 ms more.
    let far = run()
        .sessions(1)
        .load(1, 990.0, 985.0)
        .even()
        .busy(0.03)
        .threads(0.01, 1.0)
        .server(0.01, 1.0)
        .active("CPU", 0.01)
        .with(|r| r.inject_rtt_ms = 70.0);
    let found = far.sure(Cause::NetworkDistance);
    assert!(found.sentence.en.contains("More sessions"), "{found:?}");
    let all = far.diagnosis().findings;
    let few = all.iter().find(|f| f.cause == Cause::TooFewSessions);
    let few = &few.unwrap().sentence;
    assert!(few.en.contains("for this distance"), "{few:?}");
    assert!(few.zh.contains("网络距离"), "{few:?}");
    // Statements that travel together make fewer round trips, and each of them is longer.
    let together = far
        .clone()
        .with(|r| r.inject_rtt_ms = 140.0)
        .with(|r| r.totals.statements.round_trips = 7 * super::common::SECONDS as u64);
    let said = together.sure(Cause::NetworkDistance).sentence;
    assert!(said.en.contains("each of 7.00 round trips"), "{said:?}");
    assert!(said.zh.contains("每个事务往返 7.00 次"), "{said:?}");
    // Near, nothing is said of a distance.
    let near = run()
        .sessions(1)
        .load(1000, 1.0, 0.95)
        .busy(0.25)
        .threads(0.1, 1.0)
        .server(0.9, 1.0)
        .active("CPU", 0.9);
    let few = near.verdict(Cause::TooFewSessions);
    assert!(!few.sentence.en.contains("distance"), "{few:?}");
}

#[test]
fn a_cost_that_is_the_same_for_each_transaction_is_no_queue_on_a_full_host() {
    let unseen = |made: Made| {
        made.without("server-process", "")
            .without("server-activity", "")
            .busy(0.99)
    };
    let far = unseen(run().load(200, 40.0, 39.9).even())
        .with(|r| r.totals.statements.read = 200 * 30)
        .with(|r| r.totals.statements.write = 0);
    far.verdict(Cause::NetworkDistance);
    assert!(!far.finds(Cause::ServerCpu), "{:#?}", far.diagnosis());
    let queued = unseen(run().load(200, 40.0, 39.9));
    queued.verdict(Cause::ServerCpu);
}
