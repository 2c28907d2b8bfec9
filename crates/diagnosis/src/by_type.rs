//! The latency of each transaction type. What the server does for all of them is divided by how many sessions
//! of each type were seen at it; as many pass through as transactions end (Little's law).

use crate::load::Latency;
use crate::parts::MeanParts;
use crate::seen::Observations;
use crate::thresholds::{FEWEST_BLOCKED, FEWEST_ENDED, FEWEST_OF_TYPE, MOST_FAILED, MOST_WENT_ON};
use crate::waits::{SessionActivity, doing};
use crate::{PartKind, Split, WaitClass};
use std::collections::BTreeMap;
use tidemark_core::observe::{SERVER_ACTIVITY, SERVER_STATUS};
use tidemark_core::record::TypeStats;

/// Mean numbers of sessions that run one type, by what they were seen at; or of all types together.
#[derive(Debug, Clone, Default, PartialEq)]
struct SessionsOfType {
    /// On a processor, or executing without saying more.
    working: f64,
    waits: BTreeMap<WaitClass, f64>,
    /// Of those that execute, on servers that show it by no state, those blocked by row locks.
    blocked: f64,
    /// Of those that work, and of those that commit, so many as the server's CPU is divided by.
    on_cpu: f64,
}

impl SessionsOfType {
    fn in_server(&self) -> f64 {
        self.working + self.waits.values().sum::<f64>()
    }

    fn at(&self, class: WaitClass) -> f64 {
        self.waits.get(&class).copied().unwrap_or(0.0)
    }

    fn add(&mut self, other: &Self) {
        self.working += other.working;
        self.blocked += other.blocked;
        self.on_cpu += other.on_cpu;
        for (class, sessions) in &other.waits {
            *self.waits.entry(*class).or_default() += sessions;
        }
    }
}

/// All types that were seen, and together.
#[derive(Debug, Default)]
struct SeenTypes<'r> {
    each: BTreeMap<&'r str, SessionsOfType>,
    all: SessionsOfType,
    /// Whether row locks are divided by those who were blocked, and not by waits that sessions tell.
    are_blocked_told: bool,
    /// Whether states tell when sessions wait for reads.
    are_reads_told: bool,
}

impl Observations<'_> {
    /// The latency of all transactions, then of each type where there are several. Types have the server's
    /// parts where its sessions were looked at by type, often enough.
    pub fn splits(&self) -> Vec<Split> {
        let mut splits = vec![self.split.clone()];
        let types = &self.record.totals.types;
        if types.len() < 2 || self.load.latency.server_ms.is_none() {
            return splits;
        }
        let seen = self.seen_types();
        for (name, stats) in types {
            let Some(latency) = Latency::of(stats) else {
                continue;
            };
            let of_client = MeanParts {
                mean_ms: latency.mean_ms,
                waiting_ms: latency.waiting_ms,
                paused_ms: latency.paused_ms,
                client_ms: latency.client_ms(),
                is_embedded: self.is_embedded,
                ..MeanParts::default()
            };
            let own = seen.each.get(name.as_str());
            let mut split = match own.filter(|own| self.is_enough(own, stats)) {
                Some(own) => {
                    let times = self.load.latency.count as f64 / stats.count as f64;
                    seen.part(&self.known, own, times, of_client).split()
                }
                None => {
                    let mut split = of_client.split();
                    let rest = split.parts.iter_mut();
                    for part in rest.filter(|p| p.part == PartKind::Unexplained) {
                        part.part = PartKind::ServerAndNetwork;
                    }
                    split
                }
            };
            split.of = Some(name.clone());
            splits.push(split);
        }
        splits
    }

    fn seconds_looked(&self) -> f64 {
        self.activity.as_ref().map_or(0, |a| a.points) as f64
    }

    fn is_enough(&self, own: &SessionsOfType, stats: &TypeStats) -> bool {
        own.in_server() * self.seconds_looked() >= FEWEST_OF_TYPE && stats.count >= FEWEST_ENDED
    }

    /// None where types are not told apart, too many sessions went on to another transaction while the server
    /// was asked, or too many transactions failed.
    fn seen_types(&self) -> SeenTypes<'_> {
        let mut each = self.sessions_by_type();
        let working: f64 = each.values().map(SessionsOfType::in_server).sum();
        let went_on = self
            .series
            .column(SERVER_ACTIVITY, "sessions.by-type.went-on");
        if went_on.is_some_and(|sessions| sessions.mean() > MOST_WENT_ON * working) {
            return SeenTypes::default();
        }
        let failed: u64 = self.record.errors.iter().map(|error| error.count).sum();
        let tries = failed + self.load.latency.count;
        if failed as f64 > MOST_FAILED * tries as f64 {
            return SeenTypes::default();
        }
        let are_blocked_told = self.add_blocked(&mut each);
        let commits = self.commits_on_cpu().unwrap_or(0.0);
        let mut all = SessionsOfType::default();
        for own in each.values_mut() {
            own.on_cpu = (own.working - own.blocked).max(0.0) + own.at(WaitClass::Log) * commits;
            all.add(own);
        }
        SeenTypes {
            each,
            all,
            are_blocked_told,
            are_reads_told: self.activity.as_ref().is_some_and(|a| a.executing == 0.0),
        }
    }

    fn sessions_by_type(&self) -> BTreeMap<&str, SessionsOfType> {
        let seconds = self.seconds_looked();
        let mut each: BTreeMap<&str, SessionsOfType> = BTreeMap::new();
        for series in self.series.named(SERVER_ACTIVITY, "sessions.by-type") {
            let label = |name: &str| series.key.labels.get(name).map_or("", String::as_str);
            let is_active = label("state") == "active";
            let Some(sessions) = self.series.sum_of(series).filter(|_| is_active) else {
                continue;
            };
            let own = each.entry(label("type")).or_default();
            let sessions = sessions / seconds;
            match doing(label("wait")) {
                SessionActivity::Cpu | SessionActivity::Executing => own.working += sessions,
                SessionActivity::Client => {}
                SessionActivity::Wait(class) => *own.waits.entry(class).or_default() += sessions,
            }
        }
        each
    }

    /// Those that were blocked by row locks, which MariaDB and MySQL show by no state; false where too few were
    /// seen to be.
    fn add_blocked(&self, each: &mut BTreeMap<&str, SessionsOfType>) -> bool {
        let name = "locks.blocked.by-type";
        // Told with each look; types only from when they were blocked first.
        let looks = self.series.column(SERVER_STATUS, "transactions.open");
        let looks = looks.map_or(0, |column| column.points.len()) as f64;
        let all = self.series.named(SERVER_STATUS, name);
        let sums = all.filter_map(|series| {
            let kind = series.key.labels.get("type")?;
            Some((kind.as_str(), self.series.sum_of(series)?))
        });
        let sums: BTreeMap<&str, f64> = sums.collect();
        if sums.values().sum::<f64>() < FEWEST_BLOCKED || looks == 0.0 {
            return false;
        }
        for (kind, sum) in sums {
            if let Some(own) = each.get_mut(kind) {
                own.blocked = sum / looks;
            }
        }
        true
    }
}

impl SeenTypes<'_> {
    /// A type's part of what is known of all transactions, of which there are so many for each of its own.
    fn part(
        &self,
        known: &MeanParts,
        own: &SessionsOfType,
        times: f64,
        of_client: MeanParts,
    ) -> MeanParts {
        let part = |ms: f64, own: f64, all: f64| match all > 0.0 {
            true => ms * times * own / all,
            false => 0.0,
        };
        let cpu = |ms: f64| part(ms, own.on_cpu, self.all.on_cpu);
        let wait = |(class, ms): &(WaitClass, f64)| {
            let ms = match class {
                WaitClass::RunQueue => cpu(*ms),
                WaitClass::RowLock if self.are_blocked_told => {
                    part(*ms, own.blocked, self.all.blocked)
                }
                // Nobody tells whose they are but those that execute.
                WaitClass::DataRead if !self.are_reads_told => cpu(*ms),
                class => part(*ms, own.at(*class), self.all.at(*class)),
            };
            (*class, ms)
        };
        let in_server = known
            .in_server_ms
            .map(|ms| part(ms, own.in_server(), self.all.in_server()));
        MeanParts {
            in_server_ms: in_server,
            server_cpu_ms: known.server_cpu_ms.map(cpu),
            waits_ms: known.waits_ms.iter().map(wait).collect(),
            ..of_client
        }
    }
}
