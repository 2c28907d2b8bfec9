//! What the server's sessions were at, on average.

use crate::WaitClass;
use crate::measured::{RecordSeries, SummedSeries, half};
use crate::thresholds::SILENT_S;
use crate::waits::{SessionActivity, doing, is_of_ddl};
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
    /// Of those that wait for a table's lock: at one that only DDL, LOCK TABLES or a backup holds.
    pub at_ddl_locks: f64,
    pub idle: f64,
    pub idle_in_transaction: f64,
    /// Sessions that are none of the run's, at a statement, where they are told apart.
    pub others: Others,
    /// Seconds with looks.
    pub points: usize,
    /// Times without any, begin and end in seconds.
    pub silences: Vec<(f64, f64)>,
    /// Sessions at waits in each of the seconds.
    seconds: BTreeMap<WaitClass, Vec<f64>>,
}

/// Sessions of others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Others {
    pub cpu: f64,
    pub executing: f64,
    pub waits: BTreeMap<WaitClass, f64>,
    /// What they are at, as the server names it.
    pub names: Vec<String>,
}

impl Others {
    /// All of them.
    pub fn all(&self) -> f64 {
        self.cpu + self.executing + self.waits.values().sum::<f64>()
    }
}

/// Series of sessions with their state and wait.
fn columns<'r>(series: &RecordSeries<'r>, name: &str) -> Vec<(&'r str, &'r str, SummedSeries)> {
    let all = series.record.series.iter();
    let all = all.filter(|s| s.key.source == SERVER_ACTIVITY && s.key.name == name);
    all.filter_map(|one| {
        let column = SummedSeries::of(std::iter::once(one), series.window, "")?;
        let label = |name: &str| one.key.labels.get(name).map_or("", String::as_str);
        Some((label("state"), label("wait"), column))
    })
    .collect()
}

impl Activity {
    /// `None` where no session was looked at.
    pub fn of(series: &RecordSeries<'_>) -> Option<Self> {
        let columns = columns(series, "sessions");
        let times = columns.iter().flat_map(|(_, _, column)| &column.points);
        let times: BTreeSet<i64> = times.map(|(at, _)| *at).collect();
        if times.is_empty() {
            return None;
        }
        let times: Vec<i64> = times.into_iter().collect();
        let mut activity = Self {
            points: times.len(),
            silences: silences(&times),
            others: others(series, times.len()),
            ..Self::default()
        };
        for (state, wait, column) in &columns {
            // One that was seen late was at nothing before.
            let mean = column.points.iter().map(|(_, v)| v).sum::<f64>() / times.len() as f64;
            match *state {
                "idle" => activity.idle += mean,
                "idle-in-transaction" => activity.idle_in_transaction += mean,
                "active" => match doing(wait) {
                    SessionActivity::Cpu => *activity.cpu.get_or_insert(0.0) += mean,
                    SessionActivity::Executing => activity.executing += mean,
                    SessionActivity::Client => activity.client += mean,
                    SessionActivity::Wait(class) => {
                        *activity.waits.entry(class).or_default() += mean;
                        if is_of_ddl(wait) {
                            activity.at_ddl_locks += mean;
                        }
                        let none = || vec![0.0; times.len()];
                        let seconds = activity.seconds.entry(class).or_insert_with(none);
                        for (at, value) in &column.points {
                            let second = times.binary_search(at).ok();
                            if let Some(sum) = second.and_then(|n| seconds.get_mut(n)) {
                                *sum += value;
                            }
                        }
                    }
                },
                _ => {}
            }
        }
        Some(activity)
    }

    /// Sessions at a statement in the server.
    pub fn in_server(&self) -> f64 {
        self.cpu.unwrap_or(0.0) + self.executing + self.waits.values().sum::<f64>()
    }

    /// Half of the interval of the mean number at waits of these classes, as a part of it; `None` where none
    /// was seen at any.
    pub fn spread(&self, classes: &[WaitClass]) -> Option<f64> {
        let each = classes.iter().filter_map(|class| self.seconds.get(class));
        let mut sums = vec![0.0; self.points];
        each.for_each(|seconds| {
            sums.iter_mut()
                .zip(seconds)
                .for_each(|(sum, of)| *sum += of);
        });
        let mean = tidemark_stats::mean(sums.iter().copied());
        (mean > 0.0).then(|| half(&sums) / mean)
    }
}

/// Times that nobody was answered in.
fn silences(times: &[i64]) -> Vec<(f64, f64)> {
    let gaps = times.windows(2).filter_map(|pair| match pair {
        [one, next] => Some((*one as f64 / 1000.0, *next as f64 / 1000.0)),
        _ => None,
    });
    gaps.filter(|(from, to)| to - from >= SILENT_S).collect()
}

fn others(series: &RecordSeries<'_>, seconds: usize) -> Others {
    let mut others = Others::default();
    let mut names = Vec::new();
    for (state, wait, column) in columns(series, "sessions.others") {
        if state != "active" {
            continue;
        }
        let mean = column.points.iter().map(|(_, v)| v).sum::<f64>() / seconds as f64;
        match doing(wait) {
            SessionActivity::Cpu => others.cpu += mean,
            SessionActivity::Executing => others.executing += mean,
            SessionActivity::Client => continue,
            SessionActivity::Wait(class) => *others.waits.entry(class).or_default() += mean,
        }
        names.push((mean, wait));
    }
    names.sort_by(|a, b| b.0.total_cmp(&a.0));
    others.names = names.iter().map(|(_, wait)| (*wait).into()).collect();
    others
}
