//! What the server's sessions were at, on average.

use crate::WaitClass;
use crate::measured::{Column, Measured};
use crate::waits::{Doing, doing};
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::observe::SERVER_ACTIVITY;

/// Sessions by what they are at; each a mean number of sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Activity {
    /// On a processor or waiting for one; of servers that tell it.
    pub cpu: Option<f64>,
    /// Executing, of servers that tell no more.
    pub executing: f64,
    /// Sending to the client or waiting for it, at a statement.
    pub client: f64,
    pub waits: BTreeMap<WaitClass, f64>,
    pub idle: f64,
    pub idle_in_transaction: f64,
    /// Samples.
    pub points: usize,
    /// Longest time without a sample, in seconds, and when it began.
    pub silent: (f64, f64),
}

impl Activity {
    /// `None` where no session was looked at.
    pub fn of(series: &Measured<'_>) -> Option<Self> {
        let of_source = series.record.series.iter();
        let of_source =
            of_source.filter(|s| s.key.source == SERVER_ACTIVITY && s.key.name == "sessions");
        let mut activity = Self::default();
        let mut times = BTreeSet::new();
        let mut sums = Vec::new();
        for one in of_source {
            let Some(column) = Column::of(std::iter::once(one), series.window, "") else {
                continue;
            };
            times.extend(column.points.iter().map(|(at, _)| *at));
            let label = |name: &str| one.key.labels.get(name).map_or("", String::as_str);
            let sum: f64 = column.points.iter().map(|(_, v)| v).sum();
            sums.push((label("state"), label("wait"), sum));
        }
        if times.is_empty() {
            return None;
        }
        // One that was seen late was at nothing before.
        let points = times.len();
        for (state, wait, sum) in sums {
            let mean = sum / points as f64;
            match state {
                "idle" => activity.idle += mean,
                "idle-in-transaction" => activity.idle_in_transaction += mean,
                "active" => match doing(wait) {
                    Doing::Cpu => *activity.cpu.get_or_insert(0.0) += mean,
                    Doing::Executing => activity.executing += mean,
                    Doing::Client => activity.client += mean,
                    Doing::Wait(class) => *activity.waits.entry(class).or_default() += mean,
                },
                _ => {}
            }
        }
        activity.points = points;
        let times: Vec<i64> = times.into_iter().collect();
        for pair in times.windows(2) {
            if let [one, next] = pair {
                let gap = (next - one) as f64 / 1000.0;
                if gap > activity.silent.0 {
                    activity.silent = (gap, *one as f64 / 1000.0);
                }
            }
        }
        Some(activity)
    }

    /// Sessions at a statement in the server.
    pub fn in_server(&self) -> f64 {
        self.cpu.unwrap_or(0.0) + self.executing + self.waits.values().sum::<f64>()
    }
}
