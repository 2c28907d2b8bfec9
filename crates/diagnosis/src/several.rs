//! What several diagnoses say together: of repeats, along a load, and of two sides.

use crate::thresholds::{MOST_UNEXPLAINED, PART_CHANGED};
use crate::{Cause, Confidence, Diagnosis, Finding, Part, PartKind, Split, WaitClass};
use schemars::JsonSchema;
use serde::Serialize;

/// What limits the repeats of one run: the verdict of most of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Agreed {
    /// Which.
    pub cause: Cause,
    /// Repeats with this verdict.
    pub repeats: usize,
    /// All repeats.
    pub of: usize,
    /// Its share of the mean latency, or of the time, 0 to 1: the mean over these repeats.
    pub share: f64,
    /// The least of theirs.
    pub confidence: Confidence,
}

impl Agreed {
    /// `None` of no diagnosis. Of two verdicts that are equally frequent, one that names a cause counts,
    /// then the one with the larger share.
    pub fn of(repeats: &[&Diagnosis]) -> Option<Self> {
        let causes = repeats.iter().map(|d| d.verdict);
        let each = causes.map(|cause| Self::with(cause, repeats));
        each.max_by(|a, b| {
            let known = |of: &Self| of.cause != Cause::NotEnoughSeen;
            let counts = a.repeats.cmp(&b.repeats).then(known(a).cmp(&known(b)));
            counts.then(a.share.total_cmp(&b.share))
        })
    }

    fn with(cause: Cause, repeats: &[&Diagnosis]) -> Self {
        let first = |d: &&&Diagnosis| d.verdict == cause;
        let found = repeats.iter().filter(first).filter_map(|d| {
            let mut findings = d.findings.iter();
            findings.find(|f| f.cause == cause)
        });
        let found: Vec<&Finding> = found.collect();
        let shares: f64 = found.iter().map(|f| f.share).sum();
        let least = found.iter().map(|f| f.confidence).min();
        Self {
            cause,
            repeats: repeats.iter().filter(first).count(),
            of: repeats.len(),
            share: shares / found.len().max(1) as f64,
            confidence: least.unwrap_or(Confidence::Low),
        }
    }
}

/// Loads in a row at which the same limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stretch {
    /// Which.
    pub cause: Cause,
    /// The place of its first load.
    pub first: usize,
    /// The place of its last load.
    pub last: usize,
}

/// Where along a load the limit changes. Loads at which nothing is known interrupt no stretch and make
/// none.
pub fn stretches(verdicts: &[Option<Cause>]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for (n, verdict) in verdicts.iter().enumerate() {
        let Some(cause) = verdict.filter(|cause| *cause != Cause::NotEnoughSeen) else {
            continue;
        };
        match all.last_mut().filter(|stretch| stretch.cause == cause) {
            Some(stretch) => stretch.last = n,
            None => all.push(Stretch {
                cause,
                first: n,
                last: n,
            }),
        }
    }
    all
}

/// A part of the mean latency on two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PartChange {
    /// Where.
    pub part: PartKind,
    /// Of a server's wait: for what.
    pub class: Option<WaitClass>,
    /// Milliseconds of the first side's mean.
    pub a_ms: f64,
    /// Milliseconds of the second side's mean.
    pub b_ms: f64,
}

impl PartChange {
    /// The part, for its name.
    pub fn part(&self) -> Part {
        Part {
            part: self.part,
            class: self.class,
            ms: self.b_ms - self.a_ms,
        }
    }
}

/// What limits two sides, and which parts of the latency changed between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Changes {
    /// What limits the first side.
    pub a: Option<Agreed>,
    /// What limits the second.
    pub b: Option<Agreed>,
    /// Parts that changed by a twentieth of the first side's mean or more, the largest change first.
    pub parts: Vec<PartChange>,
}

impl Changes {
    /// Of two groups of repeats. Parts are told where most of both latencies is explained.
    pub fn between(a: &[&Diagnosis], b: &[&Diagnosis]) -> Self {
        let explained =
            |split: &Split| split.share(split.ms(PartKind::Unexplained)) <= MOST_UNEXPLAINED;
        let of = |side: &[&Diagnosis]| mean_split(side).filter(explained);
        let parts = of(a).zip(of(b));
        Self {
            a: Agreed::of(a),
            b: Agreed::of(b),
            parts: parts.map_or_else(Vec::new, |(a, b)| changed(&a, &b)),
        }
    }

    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        let known = |of: &Option<Agreed>| of.is_some_and(|of| of.cause != Cause::NotEnoughSeen);
        self.parts.is_empty() && !known(&self.a) && !known(&self.b)
    }
}

/// The mean over repeats of the split of all transactions; `None` unless all have one in which something
/// is explained.
pub fn mean_split(repeats: &[&Diagnosis]) -> Option<Split> {
    let of = repeats.iter().map(|d| {
        let split = d.parts.first()?;
        let explained = split.ms(PartKind::Unexplained) < split.mean_ms;
        explained.then_some(split)
    });
    let splits: Vec<&Split> = of.collect::<Option<_>>()?;
    if splits.is_empty() {
        return None;
    }
    let count = splits.len() as f64;
    let mut mean = Split {
        of: None,
        mean_ms: splits.iter().map(|s| s.mean_ms).sum::<f64>() / count,
        measured_ms: splits.iter().map(|s| s.measured_ms).sum::<f64>() / count,
        parts: Vec::new(),
    };
    for part in splits.iter().flat_map(|split| &split.parts) {
        let of = (part.part, part.class);
        match mean.parts.iter_mut().find(|p| (p.part, p.class) == of) {
            Some(known) => known.ms += part.ms / count,
            None => mean.parts.push(Part {
                ms: part.ms / count,
                ..*part
            }),
        }
    }
    mean.parts.sort_by_key(|p| (p.part, p.class));
    Some(mean)
}

fn changed(a: &Split, b: &Split) -> Vec<PartChange> {
    let mut changes: Vec<PartChange> = Vec::new();
    let ms = |split: &Split, of: &Part| {
        let same = |p: &&Part| (p.part, p.class) == (of.part, of.class);
        split.parts.iter().find(same).map_or(0.0, |p| p.ms)
    };
    for part in a.parts.iter().chain(&b.parts) {
        let change = PartChange {
            part: part.part,
            class: part.class,
            a_ms: ms(a, part),
            b_ms: ms(b, part),
        };
        let large = (change.b_ms - change.a_ms).abs() >= PART_CHANGED * a.mean_ms;
        if large && !changes.contains(&change) {
            changes.push(change);
        }
    }
    let size = |of: &PartChange| (of.b_ms - of.a_ms).abs();
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Words;

    fn diagnosis(cause: Cause, share: f64, parts: &[(PartKind, f64)]) -> Diagnosis {
        let finding = Finding {
            cause,
            share,
            confidence: Confidence::High,
            sentence: Words::default(),
            evidence: Vec::new(),
            excludes: Vec::new(),
            next: Words::default(),
        };
        let part = |(part, ms): &(PartKind, f64)| Part {
            part: *part,
            class: None,
            ms: *ms,
        };
        Diagnosis {
            verdict: cause,
            sentence: Words::default(),
            parts: vec![Split {
                of: None,
                mean_ms: parts.iter().map(|(_, ms)| ms).sum(),
                measured_ms: parts.iter().map(|(_, ms)| ms).sum(),
                parts: parts.iter().map(part).collect(),
            }],
            findings: match cause {
                Cause::NotEnoughSeen => Vec::new(),
                _ => vec![finding],
            },
            skipped: Vec::new(),
            server_busy: None,
        }
    }

    #[test]
    fn repeats_are_of_the_verdict_of_most_and_of_a_named_cause_where_it_is_even() {
        let cpu = diagnosis(Cause::ServerCpu, 0.5, &[]);
        let more = diagnosis(Cause::ServerCpu, 0.7, &[]);
        let log = diagnosis(Cause::CommitLog, 0.9, &[]);
        let none = diagnosis(Cause::NotEnoughSeen, 0.0, &[]);
        let agreed = Agreed::of(&[&cpu, &log, &more]).unwrap();
        assert_eq!(
            (agreed.cause, agreed.repeats, agreed.of),
            (Cause::ServerCpu, 2, 3)
        );
        assert!((agreed.share - 0.6).abs() < 1e-9);
        assert_eq!(Agreed::of(&[&none, &log]).unwrap().cause, Cause::CommitLog);
        assert_eq!(Agreed::of(&[&log, &none]).unwrap().cause, Cause::CommitLog);
        assert_eq!(Agreed::of(&[&cpu, &log]).unwrap().cause, Cause::CommitLog);
        assert_eq!(Agreed::of(&[]), None);
    }

    #[test]
    fn the_limit_changes_where_another_cause_begins() {
        use Cause::{NotEnoughSeen, RowLocks, ServerCpu, TooFewSessions};
        let verdicts = [
            Some(TooFewSessions),
            Some(NotEnoughSeen),
            Some(TooFewSessions),
            None,
            Some(ServerCpu),
            Some(RowLocks),
            Some(ServerCpu),
        ];
        let stretch = |cause, first, last| Stretch { cause, first, last };
        let expected = [
            stretch(TooFewSessions, 0, 2),
            stretch(ServerCpu, 4, 4),
            stretch(RowLocks, 5, 5),
            stretch(ServerCpu, 6, 6),
        ];
        assert_eq!(stretches(&verdicts), expected);
        assert!(stretches(&[Some(NotEnoughSeen), None]).is_empty());
    }

    #[test]
    fn parts_that_changed_are_told_by_size_and_small_ones_are_not() {
        use PartKind::{Client, Network, ServerCpu, Unexplained};
        let a = diagnosis(
            Cause::NetworkDistance,
            0.8,
            &[(Client, 1.0), (Network, 8.0), (ServerCpu, 1.0)],
        );
        let b = diagnosis(Cause::ServerCpu, 0.8, &[(Client, 1.2), (ServerCpu, 3.0)]);
        let changes = Changes::between(&[&a, &a], &[&b]);
        let told: Vec<_> = changes
            .parts
            .iter()
            .map(|p| (p.part, p.a_ms, p.b_ms))
            .collect();
        assert_eq!(told, [(Network, 8.0, 0.0), (ServerCpu, 1.0, 3.0)]);
        assert_eq!(changes.a.unwrap().cause, Cause::NetworkDistance);
        assert_eq!(changes.b.unwrap().cause, Cause::ServerCpu);
        // Of a side that explains nothing, no part changed.
        let none = diagnosis(Cause::NotEnoughSeen, 0.0, &[(Unexplained, 5.0)]);
        assert!(Changes::between(&[&a], &[&none]).parts.is_empty());
        assert!(Changes::between(&[&none], &[&none]).is_empty());
        assert!(Changes::between(&[], &[]).is_empty());
    }
}
