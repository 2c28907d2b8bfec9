//! Threads that are kept off processors which are idle: a quota, a binding, or a hypervisor.

use crate::host::{Host, Quota, Tasks};
use crate::number::{percent, three};
use crate::outcome::{Confidence, FindingDetails, Outcome};
use crate::pauses::Pause;
use crate::seen::Observations;
use crate::texts::cpu_quota as texts;
use crate::thresholds::{
    CPU_FULL, FEWEST_PAUSES, KEPT_OFF, LEAST_USED, MOST, READY, ROOM, ROOM_MOSTLY, SHARE, STOLEN,
    SURELY_KEPT_OFF, USED_UP, WAITED_FOR_CPU,
};
use crate::{Cause, Lang, PartKind, WaitClass, Words};

pub(super) fn check(seen: &Observations<'_>) -> Outcome {
    if let Some(found) = stolen(seen) {
        return found;
    }
    if let Some(found) = used_up(seen) {
        return found;
    }
    if let (Some(kept), Some(host), Some(threads)) = (of_client(seen), &seen.client, &seen.threads)
    {
        let says = |lang| texts::client(lang, three(kept), three(idle(host)), host.cores);
        let share = seen.share(PartKind::Client);
        return found(share, kept, Words::of(says), host, threads);
    }
    let (Some(host), Some(server)) = (&seen.host, &seen.server) else {
        return match seen.is_embedded {
            true => Outcome::NotFound,
            false => Outcome::Skipped(Words::of(texts::needs)),
        };
    };
    let queued = seen.split.wait_ms(WaitClass::RunQueue);
    let share = seen
        .split
        .share(queued + seen.split.ms(PartKind::ServerCpu));
    if let Some(kept) = kept_off(server, host, &seen.pauses).filter(|_| share >= SHARE) {
        let says = |lang| texts::server(lang, three(kept), three(idle(host)), host.cores);
        return found(share, kept, Words::of(says), host, server);
    }
    hidden(seen, host, server)
}

/// Time that the client's threads waited for a processor, by the time they had one, where others were
/// idle.
pub(super) fn of_client(seen: &Observations<'_>) -> Option<f64> {
    let kept = kept_off(seen.threads.as_ref()?, seen.client.as_ref()?, &seen.pauses)?;
    (seen.share(PartKind::Client) >= SHARE).then_some(kept)
}

fn kept_off(tasks: &Tasks, host: &Host, pauses: &[Pause]) -> Option<f64> {
    // Of seconds in which processors were idle: in full ones threads wait for each other. Where all paused for
    // a part of a second the rest of it may be full; a quota's own pauses are shorter.
    let is_paused = |at_ms: i64| {
        let at_s = at_ms as f64 / 1000.0;
        pauses
            .iter()
            .any(|p| (p.from_s - p.length_s - 1.0..=p.to_s + 1.0).contains(&at_s))
    };
    let delay = tasks.delay.as_ref()?;
    let (mut had, mut waited, mut seconds) = (0.0, 0.0, 0.0);
    for (at, cpu) in &tasks.cpu.points {
        let busy = host.busy.near(*at).map(|busy| busy / host.cores);
        if let (Some(busy), Some(delay)) = (busy, delay.near(*at))
            && busy < ROOM
            && !is_paused(*at)
        {
            had += cpu;
            waited += delay / 1000.0;
            seconds += 1.0;
        }
    }
    let kept = waited / f64::max(had, 1e-9);
    let has_room = seconds > ROOM_MOSTLY * tasks.cpu.points.len() as f64;
    (kept >= KEPT_OFF && has_room && waited >= WAITED_FOR_CPU * seconds).then_some(kept)
}

/// A quota that was used up in most periods, by the kernel's own account. It is the proof itself, also where
/// threads wait little: those of a host that is otherwise idle run at once until then.
fn used_up(seen: &Observations<'_>) -> Option<Outcome> {
    let of = |tasks: &Option<Tasks>, ms: f64, says: fn(Lang, String, String, String) -> String| {
        let tasks = tasks.as_ref()?;
        let quota = tasks.quota.as_ref()?;
        let (periods, share) = (quota.used_up.mean(), seen.split.share(ms));
        if periods < USED_UP || share < SHARE {
            return None;
        }
        let says = |lang| says(lang, three(quota.cores), percent(periods), percent(share));
        let mut evidence = quota.evidence();
        evidence.push(tasks.cpu.evidence());
        evidence.extend(tasks.delay.as_ref().map(|d| d.evidence()));
        Some(Outcome::Found(FindingDetails {
            share,
            confidence: Confidence::high_if(share >= MOST),
            says: Words::of(says),
            next: Words::of(texts::next),
            evidence,
            excludes: vec![Cause::Neighbour, Cause::TooFewSessions],
        }))
    };
    let in_server = seen.split.wait_ms(WaitClass::RunQueue) + seen.split.ms(PartKind::ServerCpu);
    let in_client = seen.split.ms(PartKind::Client);
    match seen.is_embedded {
        true => of(&seen.threads, in_client + in_server, texts::used_up_client),
        false => of(&seen.threads, in_client, texts::used_up_client)
            .or_else(|| of(&seen.server, in_server, texts::used_up_server)),
    }
}

fn idle(host: &Host) -> f64 {
    (host.cores - host.busy.mean()).max(0.0)
}

fn stolen(seen: &Observations<'_>) -> Option<Outcome> {
    let host = seen.host.as_ref().or(seen.client.as_ref())?;
    let share = host.steal() / host.cores;
    // What is taken of idle processors limits nothing.
    (share >= STOLEN && host.load() >= CPU_FULL).then(|| {
        let evidence = host.stolen_evidence();
        Outcome::Found(FindingDetails {
            share,
            confidence: Confidence::high_if(share >= MOST),
            says: Words::of(|lang| texts::steal(lang, percent(share))),
            next: Words::of(texts::next),
            evidence: evidence.into_iter().collect(),
            excludes: Vec::new(),
        })
    })
}

/// Sessions that could run and don't, where the scheduler does not tell that they wait.
fn hidden(seen: &Observations<'_>, host: &Host, server: &Tasks) -> Outcome {
    let ready = seen.activity.as_ref().and_then(|a| a.cpu).unwrap_or(0.0);
    let used = server.cpu.mean();
    let share = seen.split.share(seen.load.each_ms(ready));
    let is_kept = seen.pauses.len() < FEWEST_PAUSES
        && ready >= READY * used.max(LEAST_USED)
        && host.load() < ROOM;
    if !is_kept || share < SHARE {
        return Outcome::NotFound;
    }
    let (ready, used) = (three(ready), three(used));
    let says = |lang| texts::hidden(lang, &ready, &used, three(idle(host)), host.cores);
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::Medium,
        says: Words::of(says),
        next: Words::of(texts::next),
        evidence: vec![server.cpu.evidence(), host.busy_evidence()],
        excludes: vec![Cause::RowLocks, Cause::CommitLog],
    })
}

fn found(share: f64, kept: f64, says: Words, host: &Host, tasks: &Tasks) -> Outcome {
    let mut evidence = vec![tasks.cpu.evidence(), host.busy_evidence()];
    evidence.extend(tasks.delay.as_ref().map(|d| d.evidence()));
    evidence.extend(tasks.quota.iter().flat_map(Quota::evidence));
    Outcome::Found(FindingDetails {
        share,
        confidence: Confidence::high_if(kept >= SURELY_KEPT_OFF),
        says,
        next: Words::of(texts::next),
        evidence,
        excludes: vec![Cause::ServerCpu, Cause::Neighbour, Cause::RowLocks],
    })
}
