//! Dead time: stretches in which no transaction ended though some were to be expected, and time in
//! which the client did not run.

use crate::run::{Run, decode, load_end_ms};
use crate::thresholds::{
    DEAD_LATENCIES, DEAD_LONGER, DEAD_SHORTEST_S, DEAD_USUAL, DEADLOCK_LONGEST_S, STALLED_EXPECTED,
};
use crate::{Both, Figure, Finding, LoadKind, Severity, option};
use tidemark_core::record::{DeadSide, DeadTime, RunRecord};
use tidemark_core::{Protocol, ThinkTime};

/// A stretch of time, in seconds from the start of the measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DeadSpan {
    pub start_s: f64,
    pub end_s: f64,
}

impl DeadSpan {
    pub fn new(start_ms: i64, length_ms: f64) -> Self {
        let start_s = start_ms as f64 / 1000.0;
        Self {
            start_s,
            end_s: start_s + length_ms / 1000.0,
        }
    }

    pub fn length_s(self) -> f64 {
        self.end_s - self.start_s
    }

    /// How much of it another one covers.
    pub fn within(self, other: DeadSpan) -> f64 {
        (self.end_s.min(other.end_s) - self.start_s.max(other.start_s)).max(0.0)
    }
}

/// The dead time that a record holds.
#[derive(Debug, Default)]
pub(crate) struct Dead {
    /// The client ran, and nothing ended.
    pub target: Vec<DeadSpan>,
    /// The same until the server broke a deadlock, which explains it.
    pub deadlocked: Vec<DeadSpan>,
    /// The client did not run.
    pub client: Vec<DeadSpan>,
}

impl Dead {
    /// What a run's record holds; `None` where nobody looked.
    pub fn of(run: &Run<'_>) -> Option<Self> {
        let all = run.record.dead_times.as_ref()?;
        let spans = |which: &dyn Fn(&&DeadTime) -> bool| -> Vec<DeadSpan> {
            let spans = all.iter().filter(which);
            spans
                .map(|d| DeadSpan::new(d.start_ms, d.length_ms))
                .collect()
        };
        let candidates = spans(&|d| d.side == DeadSide::Target);
        let client = spans(&|d| d.side == DeadSide::Client);
        // Others look for a deadlock at once, so that nobody waits for that.
        let server = run.record.server.as_ref();
        let waits = server.is_some_and(|s| s.engine.protocol() == Protocol::Postgres);
        let is_wait = |d: &DeadTime| d.deadlocks > 0 && d.length_ms <= DEADLOCK_LONGEST_S * 1000.0;
        let by_deadlock = spans(&|d| waits && is_wait(d));
        let every: Vec<DeadSpan> = candidates.iter().chain(&client).copied().collect();
        // Time without a host is told as an outage.
        let outages = outages(run);
        let away = |span: DeadSpan| outages.iter().map(|o| span.within(*o)).sum::<f64>();
        let long = candidates.iter().copied();
        let long: Vec<DeadSpan> = long
            .filter(|span| span.length_s() - away(*span) >= DEAD_SHORTEST_S)
            .collect();
        let mut target = unexpected(run, &long, &every);
        target.retain(|span| is_longer_than_usual(run, span.length_s(), &every));
        let (deadlocked, target) = target.into_iter().partition(|s| by_deadlock.contains(s));
        Some(Self {
            target,
            deadlocked,
            client,
        })
    }

    fn seconds_within(&self, time: DeadSpan) -> f64 {
        let all = self.target.iter().chain(&self.deadlocked);
        let all = all.chain(&self.client);
        all.map(|span| span.within(time)).sum()
    }

    /// Transactions a second outside of all dead time; `None` where there is hardly any. After the time that
    /// was asked for no more of them begin.
    fn outside(&self, run: &Run<'_>) -> Option<f64> {
        let end_ms = load_end_ms(run.record).min(run.totals.elapsed_s * 1000.0);
        let loaded = DeadSpan::new(0, end_ms);
        let seconds = loaded.length_s() - self.seconds_within(loaded);
        (seconds >= DEAD_SHORTEST_S).then(|| run.totals.all.count as f64 / seconds)
    }
}

/// Times in which no transaction ended though some were to be expected, but for those that an outage or a
/// deadlock explains: begin and end, in seconds from the start of the measurement. `None` where nobody
/// looked, and where no transaction ended at all.
pub fn stalls(record: &RunRecord) -> Option<Vec<(f64, f64)>> {
    let run = Run::of(record).ok()??;
    let spans = Dead::of(&run)?.target.into_iter();
    Some(spans.map(|span| (span.start_s, span.end_s)).collect())
}

/// Times without a host.
pub(crate) fn outages(run: &Run<'_>) -> Vec<DeadSpan> {
    let all = run.record.outages.iter();
    all.map(|o| DeadSpan::new(o.start_ms, o.length_ms))
        .collect()
}

/// Those of some spans in which transactions were to end, in the order of time. All `stretches` of the
/// run were seen as these were. None is told that a longer one is not: then all of them are chance.
pub(crate) fn unexpected(
    run: &Run<'_>,
    spans: &[DeadSpan],
    stretches: &[DeadSpan],
) -> Vec<DeadSpan> {
    let mut told = spans.to_vec();
    told.sort_by(|a, b| b.length_s().total_cmp(&a.length_s()));
    let were_due = |span: &&DeadSpan| expected(run, **span, stretches) >= STALLED_EXPECTED;
    let count = told.iter().take_while(were_due).count();
    told.truncate(count);
    told.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    told
}

/// Transactions that were to end in a stretch: as many as in the same time outside of all `stretches`
/// of about its length, or as many as the schedule had due. The shorter ones are left in: pauses that
/// chance makes have every length, and a rate without any of them is not that of the run.
fn expected(run: &Run<'_>, span: DeadSpan, stretches: &[DeadSpan]) -> f64 {
    let as_long: Vec<DeadSpan> = stretches
        .iter()
        .copied()
        .filter(|s| s.length_s() * DEAD_LATENCIES >= span.length_s())
        .collect();
    let outside = |held: DeadSpan, ended: u64| {
        let dead: f64 = as_long.iter().map(|s| s.within(held)).sum();
        ended as f64 / (held.length_s() - dead).max(DEAD_SHORTEST_S)
    };
    let whole = DeadSpan::new(0, run.totals.elapsed_s * 1000.0);
    let ended = run.totals.all.count;
    let ended = ended.saturating_add(run.totals.ignored_errors);
    let rate = outside(whole, ended);
    match run.kind {
        LoadKind::Closed => rate * span.length_s(),
        LoadKind::Open(due) => rate.min(due) * span.length_s(),
        LoadKind::Steps | LoadKind::Search => {
            let steps = run.record.steps.iter();
            let due = steps.map(|step| {
                let held = DeadSpan::new(step.start_ms, step.totals.elapsed_s * 1000.0);
                let ended = || outside(held, step.totals.all.count);
                span.within(held) * step.rate.unwrap_or_else(ended)
            });
            due.sum()
        }
    }
}

/// Whether a stretch is no mere pause between transactions that take long, or between users who
/// think. At most one transaction a session was in progress in each stretch, and as many again come
/// into what follows it; what all others took, and users' pauses, is usual.
pub(crate) fn is_longer_than_usual(run: &Run<'_>, length_s: f64, stretches: &[DeadSpan]) -> bool {
    let sessions = run.record.sessions_opened.unwrap_or(run.record.sessions) as f64;
    let count = run.service.count() as f64;
    let as_long = |factor: f64| {
        let longer = stretches
            .iter()
            .filter(|s| s.length_s() >= length_s * factor);
        longer.count().max(1) as f64
    };
    let caught = 2.0 * sessions * as_long(1.0 / DEAD_LATENCIES) / count.max(1.0);
    let share = (1.0 - caught).clamp(0.5, DEAD_USUAL);
    let usual_s = run.service.percentile_ns(100.0 * share) as f64 / 1e9;
    // Who was caught took as long as the stretch; where many take longer, that is how they are.
    let longest_ns = length_s * DEAD_LONGER * 1e9;
    let longer: u64 = run
        .service
        .occupied()
        .filter(|(ns, _)| *ns as f64 > longest_ns)
        .map(|(_, count)| count)
        .sum();
    let many = longer as f64 > sessions * (as_long(DEAD_LONGER) + 1.0);
    !many
        && length_s >= DEAD_LATENCIES * (usual_s + pause_s(run))
        && !is_of_slow_types(run, length_s / DEAD_LATENCIES)
}

/// Whether all that took so long is of types that mostly do: a session that is alone with a heavy
/// transaction waits for it, and no server stopped.
fn is_of_slow_types(run: &Run<'_>, seconds: f64) -> bool {
    let types = &run.totals.types;
    if types.len() < 2 {
        return false;
    }
    let (mut slow, mut by_chance) = (false, false);
    for stats in types.values() {
        // One that can't be read tells nothing here: the rules that need it say so.
        let Ok(service) = decode(run.record, &stats.service) else {
            return false;
        };
        let longer = service
            .occupied()
            .filter(|(ns, _)| *ns as f64 >= seconds * 1e9);
        let longer: u64 = longer.map(|(_, count)| count).sum();
        slow |= longer * 2 > service.count();
        by_chance |= longer > 0 && longer * 2 <= service.count();
    }
    slow && !by_chance
}

/// What a user thinks on average.
fn pause_s(run: &Run<'_>) -> f64 {
    let think = option(run.record, "think-time").and_then(|t| t.parse().ok());
    match think {
        Some(ThinkTime::Constant(t) | ThinkTime::Exponential(t)) => t.as_secs_f64(),
        Some(ThinkTime::None) | None => 0.0,
    }
}

/// What is said of dead time: of one stretch, and of several.
pub(crate) struct Says {
    pub one: Both,
    pub many: Both,
    /// The same where the longest is the first.
    pub many_first: Both,
    /// Where there was hardly any other time.
    pub all: Both,
    pub instead: Both,
}

/// A finding about stretches of one side.
pub(crate) fn finding(
    run: &Run<'_>,
    dead: &Dead,
    spans: &[DeadSpan],
    (rule, invalid): (&'static str, f64),
    says: &Says,
) -> Option<Finding> {
    let first = spans.first()?;
    let longest = spans
        .iter()
        .max_by(|a, b| a.length_s().total_cmp(&b.length_s()))?;
    let seconds: f64 = spans.iter().map(|s| s.length_s()).sum();
    let measured = run.totals.elapsed_s;
    let share = seconds / measured;
    let number = Figure::Number;
    let mut figures = vec![
        ("seconds", number(seconds)),
        ("measured", number(measured)),
        ("share", number(share * 100.0)),
        ("start", number(first.start_s.max(0.0))),
        ("end", number(first.end_s)),
    ];
    let outside = dead.outside(run);
    figures.extend(outside.map(|tps| ("outside", number(tps))));
    let several = spans.len() > 1;
    if several && outside.is_some() {
        figures.push(("stretches", Figure::Count(spans.len() as u64)));
        figures.push(("longest_start", number(longest.start_s.max(0.0))));
        figures.push(("longest", number(longest.length_s())));
    }
    Some(Finding {
        rule,
        severity: severity(share, invalid),
        says: match outside {
            None => says.all,
            Some(_) if several && longest.start_s == first.start_s => says.many_first,
            Some(_) if several => says.many,
            Some(_) => says.one,
        },
        instead: says.instead,
        figures,
    })
}

/// How much dead time takes from the figures, by its share of the run.
pub(crate) fn severity(share: f64, invalid: f64) -> Severity {
    match share {
        s if s >= invalid => Severity::Invalid,
        s if s >= crate::thresholds::DEAD_SUSPECT => Severity::Suspect,
        _ => Severity::Note,
    }
}
