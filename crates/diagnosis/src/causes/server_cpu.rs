//! The CPU of the database's host: all of it is used, by the run's own work.

use super::{neighbour, network_distance};
use crate::number::three;
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::seen::Observations;
use crate::texts::server_cpu as texts;
use crate::thresholds::{CPU_FULL, CPU_NEAR, MOST, OF_OTHERS, SHARE};
use crate::{Cause, PartKind, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    let Some(host) = &seen.host else {
        return Outcome::Skipped(Words::of(texts::needs));
    };
    let busy = host.load();
    // Fewer sessions than processors, and others beside them, are no limit of the server's.
    let is_own = busy >= CPU_FULL || seen.own_busy().is_some_and(|own| own >= CPU_NEAR);
    if busy < CPU_NEAR
        || !is_own
        || neighbour::others(seen).is_some_and(|others| others > OF_OTHERS * host.busy.mean())
    {
        return Outcome::NotFound;
    }
    let shares_cpu = seen.is_shared && !seen.is_embedded;
    let mut ms = seen.split.ms(PartKind::ServerCpu) + seen.split.wait_ms(WaitClass::RunQueue);
    if shares_cpu {
        ms += seen.split.ms(PartKind::Client);
        // Replies that wait for a processor on their way.
        ms += seen.split.ms(PartKind::Network);
    }
    if seen.server.is_none() && !seen.is_embedded {
        // A cost that is the same for each transaction is no queue for processors.
        let fixed_ms = network_distance::fixed_ms(seen).unwrap_or(0.0);
        ms = ms.max(
            seen.split.mean_ms
                - seen.split.ms(PartKind::ServerWait)
                - seen.split.ms(PartKind::Network).max(fixed_ms),
        );
    }
    let share = seen.split.share(ms);
    let waits = seen.true_waits();
    // A host that is busy while its sessions wait for something else: they would wait on a larger one, too.
    if share < SHARE || waits > share {
        return Outcome::NotFound;
    }
    let (busy_said, cores) = (host.said(), host.cores);
    let says = Words::of(|lang| match (&seen.server, &seen.threads) {
        _ if busy < CPU_FULL => texts::near(lang, &busy_said, cores),
        _ if seen.is_embedded => texts::embedded(lang, &busy_said, cores),
        (Some(server), Some(client)) if seen.is_shared => {
            let (server, client) = (three(server.cpu.mean()), three(client.cpu.mean()));
            texts::shared(lang, &busy_said, cores, server, client)
        }
        (server, _) => {
            let cpu = server.as_ref().map_or(host.busy.mean(), |s| s.cpu.mean());
            texts::own(
                lang,
                &busy_said,
                cores,
                three(seen.load.each_ms(cpu) * 1000.0),
            )
        }
    });
    let next = Words::of(|lang| match shares_cpu {
        true => texts::next_shared(lang),
        false => texts::next_own(lang),
    });
    let mut evidence = vec![host.busy_evidence()];
    for tasks in [&seen.server, &seen.threads].into_iter().flatten() {
        evidence.push(tasks.cpu.evidence());
        evidence.extend(tasks.delay.as_ref().map(|d| d.evidence()));
    }
    evidence.extend(host.io_pressure.as_ref().map(|c| c.evidence()));
    let is_proven = busy >= CPU_FULL && share >= MOST && waits < SHARE;
    // Nobody but what is seen of the host's programs says that it is not others' work.
    let others_seen = seen.others().is_some();
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(is_proven && others_seen),
        says,
        next,
        evidence,
        excludes: vec![
            Cause::TooFewSessions,
            Cause::CommitLog,
            Cause::RowLocks,
            Cause::DiskRate,
        ],
    })
}
