//! The nodes of a cluster by what a Prometheus has of them, in the place of the nodes themselves.
//!
//! Prometheus reads nodes every so often, 15 s by default. It is asked for what came since the last
//! time, by a thread of its own, and once more at the end. A rate at one time is of the window before it;
//! it is kept at the window's middle. Windows that begin before the load are left out, so a series begins
//! and ends half a window inside the run.

mod api;
mod queries;

use super::super::access::EndpointAccess;
use super::MOST_NODES;
use super::discover::discovered;
use super::rates::MetricAspect;
use super::table::{Measure, NodeKind, group_of_threads};
use crate::db::Db;
use crate::own::Own;
use crate::source::{Samples, SeriesHandle, SeriesSource};
use api::{Api, Vector};
use queries::{MetricQuery, SCRAPES, SCRAPES_MS, TELLING, instances, of_kind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::Engine;
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::Connector;

/// The grid of points.
const EVERY: Duration = Duration::from_secs(5);
/// So many of these pass from question to question.
const STEPS_A_ROUND: u32 = 3;
/// How long an answer may take.
const LONGEST: Duration = Duration::from_secs(3);
/// How long the last questions may take together: the end of a run waits for them.
const LONGEST_LAST: Duration = Duration::from_millis(700);
/// So many points are asked for at once; servers refuse more than 11,000.
const MOST_POINTS: u32 = 1000;
/// So many values of a label have a series each.
const MOST_GROUPS: usize = 24;
/// A label's value may be so long, in bytes.
const LONGEST_GROUP: usize = 128;
/// TLS, and JSON.
const STACK: usize = 1 << 20;

/// A Prometheus that has the nodes of a cluster.
pub(crate) struct ThroughPrometheus {
    url: String,
    access: EndpointAccess,
    cluster: Option<(Engine, Box<Connector>)>,
    every: Duration,
    worker: Option<QueryThread>,
    columns: HashMap<Place, SeriesHandle>,
    said: HashSet<String>,
}

/// The thread that asks.
struct QueryThread {
    stop: Option<Sender<()>>,
    news: Receiver<News>,
}

/// Which series: instance, name, and the values of its own labels.
type Place = (String, String, Option<(&'static str, String)>);

/// What the thread tells.
enum News {
    Points {
        kind_row: &'static super::table::MetricRow,
        what: MetricAspect,
        /// By instance and group: milliseconds since the load began, and values.
        series: BTreeMap<(String, String), BTreeMap<i64, f64>>,
    },
    Wrong(String),
}

impl ThroughPrometheus {
    /// At a URL.
    pub fn new(url: &str, access: &EndpointAccess) -> Self {
        Self {
            url: url.into(),
            access: access.clone(),
            cluster: None,
            every: EVERY,
            worker: None,
            columns: HashMap::new(),
            said: HashSet::new(),
        }
    }

    /// Of several clusters that it has, the one whose database names these nodes.
    pub fn of(mut self, engine: Engine, connector: &Connector) -> Self {
        self.cluster = Some((engine, Box::new(connector.clone())));
        self
    }

    /// The same on a finer grid.
    #[cfg(test)]
    pub fn at_intervals_of(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// The nodes that the database names, as Prometheus may name them.
    fn named(&self) -> HashSet<String> {
        let Some((engine, connector)) = &self.cluster else {
            return HashSet::new();
        };
        let mut db = Db::new(connector, &Own::default());
        let nodes = discovered(*engine, connector, &mut db, &self.access);
        let nodes = nodes.unwrap_or_default();
        nodes.into_iter().map(|node| node.instance).collect()
    }

    fn take(&mut self, news: News, samples: &mut Samples) -> Result<(), String> {
        let (row, what, series) = match news {
            News::Points {
                kind_row,
                what,
                series,
            } => (kind_row, what, series),
            News::Wrong(why) => {
                let is_new = self.said.len() < 5 && self.said.insert(why.clone());
                return if is_new { Err(why) } else { Ok(()) };
            }
        };
        let name = format!("{}{}", row.series, what.ending());
        for ((instance, group), points) in series {
            let label = match (row.with, row.by) {
                (Some((label, value)), _) => Some((label, value.to_string())),
                (None, Some(by)) if !group.is_empty() => Some((by, group)),
                _ => None,
            };
            let place = (instance, name.clone(), label);
            let column = match self.columns.get(&place) {
                Some(column) => *column,
                // What never happens makes no series.
                None if points.values().all(|value| *value == 0.0) => continue,
                None => {
                    let mut labels = vec![("instance", place.0.as_str())];
                    labels.extend(
                        place
                            .2
                            .iter()
                            .map(|(label, value)| (*label, value.as_str())),
                    );
                    let column = match (what, row.measure) {
                        (MetricAspect::Rate, _) => samples.rate(&name, "1/s", &labels, 1),
                        (MetricAspect::Main, Measure::Counter) => {
                            samples.rate(&name, row.unit, &labels, row.digits)
                        }
                        _ => samples.gauge(&name, row.unit, &labels, row.digits),
                    };
                    self.columns.insert(place, column);
                    column
                }
            };
            for (after_ms, value) in points {
                samples.put_after(column, after_ms, value);
            }
        }
        Ok(())
    }
}

impl SeriesSource for ThroughPrometheus {
    fn name(&self) -> &str {
        SERVER_NODES
    }

    fn every(&self) -> Duration {
        self.every
    }

    fn at_pace(&mut self, wanted: Duration) -> Duration {
        self.every = self.every.max(wanted);
        self.every
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let begun = Instant::now();
        let failed =
            |why: String| Gap::new(GapKind::Failed, format!("--observe-prometheus: {why}"));
        let api = Api::at(&self.url, &self.access).map_err(failed)?;
        let asked = Instant::now();
        let time = api.time(LONGEST).map_err(failed)?;
        // The server's clock when the load began, whatever this host's says.
        let began_at = time - (asked.duration_since(begun) + asked.elapsed() / 2).as_secs_f64();
        let found = api.now(&instances(), LONGEST).map_err(failed)?;
        let mut kinds = kinds(&found.vectors);
        if kinds.is_empty() {
            return Err(failed(format!(
                "{} has no metrics of TiDB, TiKV, PD, CockroachDB or YugabyteDB",
                self.url
            )));
        }
        let named = self.named();
        if kinds.keys().any(|instance| named.contains(instance)) {
            kinds.retain(|instance, _| named.contains(instance));
        }
        if kinds.len() > MOST_NODES {
            let others = (kinds.len() - MOST_NODES).to_string();
            gaps.push(Gap::new(GapKind::NodesTooMany, others));
            kinds = kinds.into_iter().take(MOST_NODES).collect();
        }
        let scrapes = api.now(SCRAPES, LONGEST).unwrap_or_default();
        let scrapes = scrapes.vectors.first().and_then(|of| of.points.first());
        let times = QueryTimes::of(scrapes.map(|(_, count)| SCRAPES_MS / count), self.every);
        let (tell, news) = channel();
        let (stop, stopped) = channel();
        let asking = Asking {
            queries: asked_of(&kinds, &times),
            api,
            kinds,
            times,
            begun,
            began_at,
            tell,
        };
        std::thread::Builder::new()
            .name("observe-prometheus".into())
            .stack_size(STACK)
            .spawn(move || asking.until(&stopped))
            .map_err(|e| failed(e.to_string()))?;
        self.worker = Some(QueryThread {
            stop: Some(stop),
            news,
        });
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let mut all = Vec::new();
        if let Some(worker) = &self.worker {
            all.extend(worker.news.try_iter());
        }
        let taken = all.into_iter().map(|news| self.take(news, samples));
        // Each is said once.
        let wrong: Vec<String> = taken.filter_map(Result::err).collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("; ")),
        }
    }

    fn finish(&mut self, samples: &mut Samples) -> Result<(), String> {
        let Some(mut worker) = self.worker.take() else {
            return Ok(());
        };
        worker.stop = None;
        let until = Instant::now() + LONGEST_LAST;
        let mut wrong = Vec::new();
        loop {
            let patience = until.saturating_duration_since(Instant::now());
            match worker.news.recv_timeout(patience) {
                Ok(news) => wrong.extend(self.take(news, samples).err()),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    wrong.push(format!(
                        "{}: the end of the run is missing: no reply in time",
                        self.url
                    ));
                    break;
                }
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("; ")),
        }
    }
}

/// What each instance is. One that has the names of several is what comes first in [`TELLING`].
fn kinds(found: &[Vector]) -> BTreeMap<String, NodeKind> {
    let mut kinds: BTreeMap<String, NodeKind> = BTreeMap::new();
    for (name, kind) in TELLING.iter().rev() {
        for of in found {
            let of = (of.labels.get("__name__"), of.labels.get("instance"));
            if let (Some(told), Some(instance)) = of
                && told == name
            {
                kinds.insert(instance.clone(), *kind);
            }
        }
    }
    kinds
}

fn asked_of(kinds: &BTreeMap<String, NodeKind>, times: &QueryTimes) -> Vec<MetricQuery> {
    let there: HashSet<NodeKind> = kinds.values().copied().collect();
    let there = TELLING.iter().filter(|(_, kind)| there.contains(kind));
    there
        .flat_map(|(_, kind)| of_kind(*kind, times.window_ms))
        .collect()
}

/// How points and windows lie, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QueryTimes {
    /// The series' own step.
    every_ms: u64,
    /// From point to point.
    step_ms: u64,
    /// What a rate is of: two of the server's readings lie in it.
    window_ms: u64,
}

impl QueryTimes {
    fn of(scrape_ms: Option<f64>, every: Duration) -> Self {
        let every_ms = u64::try_from(every.as_millis()).unwrap_or(5000).max(1);
        // Prometheus' own default is a minute, TiUP's 15 s.
        let scrape = scrape_ms.filter(|ms| ms.is_finite()).unwrap_or(15_000.0);
        let scrape_ms = (scrape as u64).clamp(1, 300_000);
        Self {
            every_ms,
            step_ms: scrape_ms.div_ceil(every_ms) * every_ms,
            window_ms: (scrape_ms * 5 / 2).max(every_ms),
        }
    }

    /// The begin of a point's step, in milliseconds after the load began.
    fn place(&self, point: u32) -> i64 {
        i64::try_from(u64::from(point) * self.step_ms).unwrap_or(i64::MAX)
    }

    /// When a point is asked of: its step's middle, and half a window later for what is of a window.
    fn asked_at(&self, point: u32, is_of_window: bool) -> u64 {
        let later = if is_of_window { self.window_ms / 2 } else { 0 };
        u64::from(point) * self.step_ms + self.every_ms / 2 + later
    }

    /// The first point whose window is after the load began.
    fn first(&self, is_of_window: bool) -> u32 {
        let mut point = 0;
        while is_of_window && self.asked_at(point, true) < self.window_ms {
            point += 1;
        }
        point
    }
}

/// The thread's side.
struct Asking {
    api: Api,
    kinds: BTreeMap<String, NodeKind>,
    queries: Vec<MetricQuery>,
    times: QueryTimes,
    begun: Instant,
    /// When the load began by the server's clock, in seconds since 1970.
    began_at: f64,
    tell: Sender<News>,
}

impl Asking {
    fn until(mut self, stopped: &Receiver<()>) {
        let times = self.times;
        for query in &mut self.queries {
            query.next = times.first(query.is_of_window);
        }
        let every = Duration::from_millis(times.every_ms) * STEPS_A_ROUND;
        let round = every.max(Duration::from_millis(times.step_ms));
        loop {
            let ends = stopped.recv_timeout(round) != Err(RecvTimeoutError::Timeout);
            let until = ends.then(|| Instant::now() + LONGEST_LAST * 9 / 10);
            if self.ask(until).is_err() || ends {
                return;
            }
        }
    }

    /// Asks for what came since the last time; what went wrong ends the round.
    fn ask(&mut self, until: Option<Instant>) -> Result<(), ()> {
        let now_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let times = self.times;
        let mut warning = None;
        for query in &mut self.queries {
            let from = query.next;
            let mut to = from;
            while times.asked_at(to, query.is_of_window) <= now_ms && to - from < MOST_POINTS {
                to += 1;
            }
            if to == from {
                continue;
            }
            let longest = match until {
                Some(until) => until.saturating_duration_since(Instant::now()),
                None => LONGEST,
            };
            if longest.is_zero() {
                let why = format!("{}: the end of the run is missing", self.api.address());
                return self.tell.send(News::Wrong(why)).map_err(drop);
            }
            let at = |point| {
                let asked = times.asked_at(point, query.is_of_window);
                self.began_at + asked as f64 / 1000.0
            };
            let range = (at(from), at(to - 1) + 0.001, times.step_ms as f64 / 1000.0);
            let answer = match self.api.range(&query.text, range, longest) {
                Ok(answer) => answer,
                Err(why) => {
                    return self.tell.send(News::Wrong(why)).map_err(drop);
                }
            };
            query.next = to;
            warning = warning.or(answer.warning);
            let points = News::Points {
                kind_row: query.row,
                what: query.what,
                series: placed(&answer.vectors, query, &self.kinds, at(0), &times),
            };
            self.tell.send(points).map_err(drop)?;
        }
        match warning {
            Some(said) => self.tell.send(News::Wrong(said)).map_err(drop),
            None => Ok(()),
        }
    }
}

/// An answer's points by instance and group, on the grid of the series.
fn placed(
    vectors: &[Vector],
    query: &MetricQuery,
    kinds: &BTreeMap<String, NodeKind>,
    first_at: f64,
    times: &QueryTimes,
) -> BTreeMap<(String, String), BTreeMap<i64, f64>> {
    let row = query.row;
    let mut all: BTreeMap<(String, String), BTreeMap<i64, f64>> = BTreeMap::new();
    let mut groups: HashSet<&str> = HashSet::new();
    for vector in vectors {
        let instance = vector.labels.get("instance");
        let Some(instance) = instance.filter(|i| kinds.get(*i) == Some(&query.kind)) else {
            continue;
        };
        let group = row.by.and_then(|by| vector.labels.get(by));
        let group = match (group, row.is_of_threads) {
            (Some(group), true) => group_of_threads(group),
            (Some(group), false) => group,
            (None, _) => "",
        };
        let is_name = group.len() <= LONGEST_GROUP && !group.chars().any(char::is_control);
        // It becomes a part of the record.
        if !is_name || (!groups.contains(group) && groups.len() >= MOST_GROUPS) {
            continue;
        }
        groups.insert(group);
        let series = all
            .entry((instance.clone(), group.to_string()))
            .or_default();
        for (at, value) in &vector.points {
            let steps = ((at - first_at) * 1000.0 / times.step_ms as f64).round();
            let scale = match query.what {
                MetricAspect::Rate => 1.0,
                MetricAspect::Main | MetricAspect::P99 => row.scale,
            };
            if (0.0..f64::from(u32::MAX)).contains(&steps) {
                // Threads of one group add up.
                *series.entry(times.place(steps as u32)).or_default() += value * scale;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_in_the_middle_of_their_windows_and_inside_the_load() {
        let times = QueryTimes::of(Some(15_000.0), EVERY);
        assert_eq!((times.step_ms, times.window_ms), (15_000, 37_500));
        assert_eq!(times.asked_at(2, false), 32_500);
        let first = times.first(true);
        assert!(times.asked_at(first, true) >= times.window_ms);
        assert!(first == 0 || times.asked_at(first - 1, true) < times.window_ms);
        let odd = QueryTimes::of(Some(f64::INFINITY), EVERY);
        assert_eq!(odd, times);
        assert_eq!(QueryTimes::of(Some(7_000.0), EVERY).step_ms, 10_000);
    }

    #[test]
    fn an_instance_is_of_one_kind_and_others_are_left_out() {
        let vector = |name: &str, instance: &str| Vector {
            labels: [("__name__", name), ("instance", instance)]
                .map(|(l, v)| (l.to_string(), v.to_string()))
                .into(),
            points: vec![(1.0, 1.0)],
        };
        let found = [
            vector("tidb_server_connections", "a:10080"),
            vector("tikv_raftstore_region_count", "b:20180"),
            vector("up", "c:1"),
        ];
        let kinds = kinds(&found);
        assert_eq!(kinds.len(), 2);
        assert_eq!(kinds["b:20180"], NodeKind::Tikv);
    }
}
