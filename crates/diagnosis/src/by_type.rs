//! The latency of each transaction type. What the server does for all of them is divided by how many sessions
//! of each type were seen at it; as many pass through as transactions end (Little's law).

use crate::load::Latency;
use crate::parts::MeanParts;
use crate::seen::Observations;
use crate::thresholds::FEWEST_OF_TYPE;
use crate::waits::{SessionActivity, doing};
use crate::{PartKind, Split, WaitClass};
use std::collections::BTreeMap;
use tidemark_core::observe::{SERVER_ACTIVITY, SERVER_STATUS};

/// Mean numbers of sessions that run one type, by what they were seen at; or of all types together.
#[derive(Debug, Clone, Default, PartialEq)]
struct SessionsOfType {
    /// On a processor, or executing without saying more.
    working: f64,
    waits: BTreeMap<WaitClass, f64>,
    /// Of those that execute, on servers that show it by no state, those blocked by row locks.
    blocked: f64,
}

impl SessionsOfType {
    fn in_server(&self) -> f64 {
        self.working + self.waits.values().sum::<f64>()
    }

    fn add(&mut self, other: &Self) {
        self.working += other.working;
        self.blocked += other.blocked;
        for (class, sessions) in &other.waits {
            *self.waits.entry(*class).or_default() += sessions;
        }
    }

    /// Those at waits of a class, `all` types together having been seen at these. What no state tells, but
    /// counters of all types, is of those that are blocked, or execute.
    fn at(&self, class: WaitClass, all: &Self) -> f64 {
        match class {
            _ if all.waits.contains_key(&class) => self.waits.get(&class).copied().unwrap_or(0.0),
            WaitClass::RowLock if all.blocked > 0.0 => self.blocked,
            _ => self.on_cpu(),
        }
    }

    fn on_cpu(&self) -> f64 {
        (self.working - self.blocked).max(0.0)
    }
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
        let by_type = self.sessions_by_type();
        let mut all = SessionsOfType::default();
        by_type.values().for_each(|of| all.add(of));
        for (name, stats) in types {
            let Some(latency) = Latency::of(stats) else {
                continue;
            };
            let of_client = MeanParts {
                mean_ms: latency.mean_ms,
                waiting_ms: latency.waiting_ms,
                client_ms: latency.client_ms(),
                is_embedded: self.is_embedded,
                ..MeanParts::default()
            };
            let mut split = match by_type.get(name.as_str()).filter(|of| self.is_enough(of)) {
                Some(of) => self.of_server(of, &all, &latency, of_client).split(),
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

    fn is_enough(&self, of: &SessionsOfType) -> bool {
        let seconds = self.activity.as_ref().map_or(0, |a| a.points);
        of.in_server() * seconds as f64 >= FEWEST_OF_TYPE
    }

    /// A type's part of what is known of all transactions.
    fn of_server(
        &self,
        of: &SessionsOfType,
        all: &SessionsOfType,
        latency: &Latency,
        of_client: MeanParts,
    ) -> MeanParts {
        let known = self.known();
        let times = self.load.latency.count as f64 / (latency.count as f64).max(1.0);
        let part = |ms: f64, own: f64, all: f64| match all > 0.0 {
            true => ms * times * own / all,
            false => 0.0,
        };
        let cpu = |ms: f64| part(ms, of.on_cpu(), all.on_cpu());
        let waits_ms = known.waits_ms.iter().map(|(class, ms)| {
            let own = match class {
                WaitClass::RunQueue => cpu(*ms),
                class => part(*ms, of.at(*class, all), all.at(*class, all)),
            };
            (*class, own)
        });
        MeanParts {
            in_server_ms: known
                .in_server_ms
                .map(|ms| part(ms, of.in_server(), all.in_server())),
            server_cpu_ms: known.server_cpu_ms.map(cpu),
            waits_ms: waits_ms.collect(),
            ..of_client
        }
    }

    /// None where types are not told apart, or are parts of one another (YCSB's READ_MODIFY_WRITE): then
    /// more of them end than transactions do.
    fn sessions_by_type(&self) -> BTreeMap<&str, SessionsOfType> {
        let totals = &self.record.totals;
        let ended: u64 = totals.types.values().map(|stats| stats.count).sum();
        let seconds = self.activity.as_ref().map_or(0, |a| a.points);
        if ended > totals.all.count || seconds == 0 {
            return BTreeMap::new();
        }
        let mut by_type: BTreeMap<&str, SessionsOfType> = BTreeMap::new();
        for series in self.series.named(SERVER_ACTIVITY, "sessions.of-types") {
            let label = |name: &str| series.key.labels.get(name).map_or("", String::as_str);
            let is_active = label("state") == "active";
            let Some(sessions) = self.series.sum_of(series).filter(|_| is_active) else {
                continue;
            };
            let of = by_type.entry(label("type")).or_default();
            let sessions = sessions / seconds as f64;
            match doing(label("wait")) {
                SessionActivity::Cpu | SessionActivity::Executing => of.working += sessions,
                SessionActivity::Client => {}
                SessionActivity::Wait(class) => *of.waits.entry(class).or_default() += sessions,
            }
        }
        let blocked = self.series.named(SERVER_STATUS, "locks.blocked.of-types");
        for series in blocked {
            let of = series.key.labels.get("type");
            let of = of.and_then(|name| by_type.get_mut(name.as_str()));
            if let (Some(of), Some(sessions)) = (of, self.series.sum_of(series)) {
                of.blocked += sessions / seconds as f64;
            }
        }
        by_type
    }
}
