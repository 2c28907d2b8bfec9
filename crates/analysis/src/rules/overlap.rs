//! Runs that loaded one server at the same time.

use crate::beside::{are_one_load, common_share, together};
use crate::compare::Measured;
use crate::{Both, Figure, Finding, Presence, Severity};

pub(crate) const ID: &str = "overlap";

const CLIENTS: Both = Both {
    en: "{runs} runs of one job loaded one server at the same time: they are clients of one load. Their rates and counts are added and their latencies put together; they are one repeat.",
    zh: "{runs} 次相同的压测同时对同一服务器加压，属于同一负载的多个客户端：吞吐量与次数相加、延迟合并统计，只算一次重复。",
};
const CLIENTS_INSTEAD: Both = Both {
    en: "Nothing, if that was meant; run repeats one after the other.",
    zh: "若有意如此则无需处理；重复压测应逐次进行。",
};
const PARTLY: Both = Both {
    en: "{runs} runs of one job loaded one server at the same time, for {share}% of their time: they are neither repeats, nor clients of one load all the time.",
    zh: "{runs} 次相同的压测对同一服务器的加压时间有部分重叠（共同时段占 {share}%）：既不是独立的重复，也不能作为同一负载的多个客户端相加。",
};
const PARTLY_INSTEAD: Both = Both {
    en: "Run repeats one after the other; start the clients of one load together, and use all of their runs.",
    zh: "重复压测应逐次进行；同一负载的多个客户端应同时启动，并使用全部客户端的结果。",
};
const UNUSABLE: Both = Both {
    en: "{runs} runs of one job loaded one server at the same time: they are clients of one load, {unusable} of which must not be used, and without {unusable|it|them} there is no sum.",
    zh: "{runs} 次相同的压测同时对同一服务器加压，属于同一负载的多个客户端，但其中 {unusable} 个的数据不可采用，因此无法得出整个负载的合计。",
};
const UNUSABLE_INSTEAD: Both = Both {
    en: "See what is found of {unusable|that client|those clients}, and run all clients again; what the others made is a part of the load.",
    zh: "先查明相关客户端的问题，再让全部客户端重新压测；其余客户端的数据只是该负载的一部分。",
};
const ACROSS: Both = Both {
    en: "Another load was on the same server at the same time: {others} other {others|run|runs} overlapped this one, so its figures hold only beside that load.",
    zh: "同一时间另有 {others} 次压测对同一服务器加压，本次数据只在与之并存时成立。",
};
const SIDES: Both = Both {
    en: "Runs of both sides loaded one server at the same time: each side's figures are those beside the other's load.",
    zh: "双方的压测同时对同一服务器加压：任何一方的数据都受到另一方负载的影响。",
};
const ACROSS_INSTEAD: Both = Both {
    en: "Run one after the other what is to be compared.",
    zh: "要对比的压测应逐次进行。",
};

/// A run among others.
#[derive(Debug, Clone, Copy)]
pub struct Present<'p> {
    /// When and where its load was, if that is known.
    pub presence: Option<&'p Presence>,
    /// Runs of one load's job ([`crate::Job::of_load`]) have the same.
    pub job: usize,
    /// Whether its figures may be used.
    pub usable: bool,
}

/// Of runs that stand in one document, each run's findings.
pub fn overlaps(runs: &[Present<'_>]) -> Vec<Vec<Finding>> {
    let mut found: Vec<Vec<Finding>> = vec![Vec::new(); runs.len()];
    let jobs: std::collections::BTreeSet<usize> = runs.iter().map(|run| run.job).collect();
    for job in jobs {
        let of_job = |run: &Present<'_>| run.job == job;
        let own: Vec<_> = runs
            .iter()
            .map(|run| run.presence.filter(|_| of_job(run)))
            .collect();
        for group in together(&own).into_iter().filter(|group| group.len() > 1) {
            let members: Vec<&Present<'_>> = group.iter().filter_map(|n| runs.get(*n)).collect();
            let finding = of_one_job(&members);
            group.iter().for_each(|n| found[*n].push(finding.clone()));
        }
    }
    for (n, run) in runs.iter().enumerate() {
        let overlaps = |other: &&Present<'_>| {
            let pair = run.presence.zip(other.presence);
            other.job != run.job && pair.is_some_and(|(a, b)| a.overlaps(b))
        };
        let others = runs.iter().filter(overlaps).count() as u64;
        if others > 0 {
            let figures = vec![("others", Figure::Count(others))];
            found[n].push(finding(Severity::Suspect, ACROSS, ACROSS_INSTEAD, figures));
        }
    }
    found
}

fn of_one_job(members: &[&Present<'_>]) -> Finding {
    let presences: Vec<&Presence> = members.iter().filter_map(|m| m.presence).collect();
    let runs = ("runs", Figure::Count(members.len() as u64));
    if are_one_load(&presences) {
        return match members.iter().filter(|m| !m.usable).count() as u64 {
            0 => finding(Severity::Note, CLIENTS, CLIENTS_INSTEAD, vec![runs]),
            n => {
                let figures = vec![runs, ("unusable", Figure::Count(n))];
                finding(Severity::Invalid, UNUSABLE, UNUSABLE_INSTEAD, figures)
            }
        };
    }
    let share = ("share", Figure::Number(common_share(&presences) * 100.0));
    finding(Severity::Invalid, PARTLY, PARTLY_INSTEAD, vec![runs, share])
}

/// Of the sides of a comparison.
pub(super) fn of_groups(a: &[&Measured], b: &[&Measured]) -> Vec<Finding> {
    let mut found = Vec::new();
    for side in [a, b] {
        if let Some(clients) = side
            .iter()
            .map(|run| run.ids.len())
            .max()
            .filter(|n| *n > 1)
        {
            let figures = vec![("runs", Figure::Count(clients as u64))];
            found.push(finding(Severity::Note, CLIENTS, CLIENTS_INSTEAD, figures));
            break;
        }
    }
    let presences = |side: &[&Measured]| -> Vec<Presence> {
        let all = side.iter().flat_map(|run| run.presences.iter().cloned());
        all.collect()
    };
    let (of_a, of_b) = (presences(a), presences(b));
    if of_a.iter().any(|p| of_b.iter().any(|q| p.overlaps(q))) {
        found.push(finding(
            Severity::Suspect,
            SIDES,
            ACROSS_INSTEAD,
            Vec::new(),
        ));
    }
    found
}

fn finding(
    severity: Severity,
    says: Both,
    instead: Both,
    figures: Vec<(&'static str, Figure)>,
) -> Finding {
    Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures,
    }
}
