//! The nodes of a TiDB, CockroachDB or YugabyteDB cluster, by what each tells Prometheus.
//!
//! A node's text is large, and costs the node processor time: it is asked every five seconds, by a thread
//! of its own, a second before the sample that takes what came. Rates are by the time between two texts.
//! The session that asks for the list of nodes is closed before the first text is read, so no rate
//! contains it.

mod cockroach;
mod discover;
mod rates;
mod scrape;
mod table;
mod through;
mod tidb;
mod yugabyte;

use super::access::EndpointAccess;
use super::http::Unread;
use crate::db::Db;
use crate::own::Own;
use crate::source::{Samples, SeriesHandle, SeriesSource};
use discover::{Node, discovered, given};
pub(crate) use discover::{host_of, reachable};
use rates::{MetricAspect, NodeSample, NodeSeries, figures};
use scrape::{LONGEST, MOST_BYTES, NodeReader, Scrape, kind_of};
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use table::{Measure, NodeKind};
pub(crate) use through::ThroughPrometheus;
use tidemark_core::Engine;
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::Connector;

/// Time from text to text.
const EVERY: Duration = Duration::from_secs(5);
/// One part in so many of that is left for a text to come before it is taken.
const LEAD: u32 = 5;
/// So many nodes are looked at.
const MOST_NODES: usize = 32;
/// So many nodes that can't be seen are named.
const MOST_SAID: usize = 4;
/// Connecting and reading; the system's resolver may take much.
const STACK: usize = 1 << 20;

/// Where nodes come from.
enum Cluster {
    /// The database names them.
    Asked(Engine, Box<Connector>),
    /// The user did.
    Given(String),
}

/// The nodes of a cluster.
pub(crate) struct Nodes {
    cluster: Cluster,
    access: EndpointAccess,
    every: Duration,
    watched: Vec<Watched>,
    news: Option<Receiver<News>>,
    columns: HashMap<(usize, NodeSeries), SeriesHandle>,
}

/// A node with what is known of it.
struct Watched {
    instance: String,
    is_guess: bool,
    /// It is looked at while this is there.
    stop: Option<Sender<()>>,
    /// What went wrong last, which is said once.
    said: String,
}

/// What a node's thread tells.
struct News {
    node: usize,
    told: Result<NodeReading, Unread>,
}

/// What one text told.
struct NodeReading {
    kind: NodeKind,
    figures: Vec<NodeSample>,
    is_cut: bool,
    /// Whether its totals began anew since the text before.
    has_restarted: bool,
}

impl Nodes {
    /// Those that the database names.
    pub fn of(engine: Engine, connector: &Connector) -> Self {
        Self::new(Cluster::Asked(engine, Box::new(connector.clone())))
    }

    /// Those at these URLs, separated by commas.
    pub fn at(urls: &str) -> Self {
        Self::new(Cluster::Given(urls.into()))
    }

    fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            access: EndpointAccess::default(),
            every: EVERY,
            watched: Vec::new(),
            news: None,
            columns: HashMap::new(),
        }
    }

    /// The same, reached so.
    pub fn with(mut self, access: &EndpointAccess) -> Self {
        self.access = access.clone();
        self
    }

    /// The same more often.
    #[cfg(test)]
    pub fn at_intervals_of(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    fn found(&self) -> Result<Vec<Node>, Gap> {
        match &self.cluster {
            Cluster::Given(urls) => given(urls, &self.access),
            Cluster::Asked(engine, connector) => {
                let mut db = Db::new(connector, &Own::default());
                discovered(*engine, connector, &mut db, &self.access)
            }
        }
    }

    /// Has a thread look at each node.
    fn watch(&mut self, nodes: Vec<Node>, begun: Instant) -> Result<(), Gap> {
        let (tell, news) = channel();
        for (place, node) in nodes.into_iter().enumerate() {
            let (stop, stopped) = channel();
            let (instance, is_guess) = (node.instance.clone(), node.is_guess);
            let looking = Looking {
                place,
                node,
                reader: None,
                before: None,
                tell: tell.clone(),
            };
            let every = self.every;
            let spawned = std::thread::Builder::new()
                .name("observe-node".into())
                .stack_size(STACK)
                .spawn(move || looking.until(&stopped, begun, every));
            let failed = |e: std::io::Error| Gap::new(GapKind::Failed, e.to_string());
            spawned.map_err(failed)?;
            self.watched.push(Watched {
                instance,
                is_guess,
                stop: Some(stop),
                said: String::new(),
            });
        }
        self.news = Some(news);
        Ok(())
    }

    /// Waits for every node's first text; what came of each.
    fn first(&self) -> Vec<Option<Result<(), Unread>>> {
        let until = Instant::now() + LONGEST + LONGEST / 4;
        let mut all: Vec<Option<Result<(), Unread>>> = vec![None; self.watched.len()];
        while let Some(news) = self.news.as_ref().filter(|_| all.contains(&None)) {
            let patience = until.saturating_duration_since(Instant::now());
            let Ok(came) = news.recv_timeout(patience) else {
                break;
            };
            if let Some(first) = all.get_mut(came.node) {
                first.get_or_insert(came.told.map(|_| ()));
            }
        }
        all
    }

    fn take(&mut self, node: usize, told: NodeReading, samples: &mut Samples) {
        let Some(watched) = self.watched.get(node) else {
            return;
        };
        for NodeSample { of, value } in told.figures {
            let Some(row) = told.kind.rows().get(usize::from(of.row)) else {
                continue;
            };
            let place = (node, of);
            let column = match self.columns.get(&place) {
                Some(column) => *column,
                // What never happens makes no series.
                None if value == 0.0 => continue,
                None => {
                    let of = &place.1;
                    let mut labels = vec![("instance", watched.instance.as_str())];
                    labels.extend(row.with);
                    if let (Some(by), false) = (row.by, of.group.is_empty()) {
                        labels.push((by, of.group.as_str()));
                    }
                    let name = format!("{}{}", row.series, of.what.ending());
                    let column = match (of.what, row.measure) {
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
            samples.put(column, value);
        }
    }
}

impl SeriesSource for Nodes {
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
        let mut nodes = self.found()?;
        let mut seen = HashSet::new();
        nodes.retain(|node| seen.insert(node.instance.clone()));
        if nodes.len() > MOST_NODES {
            let others = (nodes.len() - MOST_NODES).to_string();
            gaps.push(Gap::new(GapKind::NodesTooMany, others));
            nodes.truncate(MOST_NODES);
        }
        self.watch(nodes, begun)?;
        let mut silent = Vec::new();
        let mut any = false;
        let first = self.first();
        for (watched, first) in self.watched.iter_mut().zip(first) {
            let why = match first {
                Some(Ok(())) => {
                    any = true;
                    continue;
                }
                // It is not there.
                _ if watched.is_guess => {
                    watched.stop = None;
                    continue;
                }
                Some(Err(why)) => why,
                None => Unread::Said("no reply".into()),
            };
            watched.said = said(&watched.instance, &why);
            silent.push(match why {
                Unread::Tls(address) => Gap::new(GapKind::NodeTls, address),
                Unread::Said(_) => Gap::new(GapKind::NodeSilent, watched.said.as_str()),
            });
        }
        let others = silent.len().saturating_sub(MOST_SAID);
        silent.truncate(MOST_SAID);
        if let (Some(last), true) = (silent.last_mut(), others > 0) {
            last.detail += &format!(" (and {others} more)");
        }
        match any {
            true => {
                gaps.extend(silent);
                Ok(())
            }
            false => {
                let last = silent.pop();
                gaps.extend(silent);
                Err(last.unwrap_or_else(|| Gap::new(GapKind::Failed, "no node replied")))
            }
        }
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        // Of several texts of a node the last counts.
        let mut last: HashMap<usize, Result<NodeReading, Unread>> = HashMap::new();
        while let Some(Ok(news)) = self.news.as_ref().map(Receiver::try_recv) {
            last.insert(news.node, news.told);
        }
        let mut wrong = Vec::new();
        let mut came: Vec<(usize, Result<NodeReading, Unread>)> = last.into_iter().collect();
        came.sort_by_key(|(node, _)| *node);
        for (node, told) in came {
            let Some(watched) = self.watched.get_mut(node).filter(|w| w.stop.is_some()) else {
                continue;
            };
            let why = match &told {
                Ok(told) if told.is_cut => {
                    let most = MOST_BYTES >> 20;
                    let why = format!("the text is longer than {most} MiB or ended early");
                    said(
                        &watched.instance,
                        &Unread::Said(why + "; the rest is missing"),
                    )
                }
                Ok(told) if told.has_restarted => {
                    let why = "it was restarted; rates of that time are missing";
                    said(&watched.instance, &Unread::Said(why.into()))
                }
                Ok(_) => String::new(),
                Err(why) => said(&watched.instance, why),
            };
            if !why.is_empty() && why != watched.said {
                wrong.push(why.clone());
                watched.said = why;
            }
            if let Ok(told) = told {
                self.take(node, told, samples);
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("; ")),
        }
    }
}

/// What went wrong with a node, with its name.
fn said(instance: &str, why: &Unread) -> String {
    let why = why.to_string();
    match why.starts_with(instance) {
        true => why,
        false => format!("{instance}: {why}"),
    }
}

/// A node's thread.
struct Looking {
    place: usize,
    node: Node,
    reader: Option<NodeReader>,
    before: Option<Scrape>,
    tell: Sender<News>,
}

impl Looking {
    /// Looks at once, and then a little before each sample.
    fn until(mut self, stopped: &Receiver<()>, begun: Instant, every: Duration) {
        let lead = every / LEAD;
        loop {
            let news = News {
                node: self.place,
                told: self.look(every),
            };
            if self.tell.send(news).is_err() {
                return;
            }
            let done = (begun.elapsed() + lead).as_nanos() / every.as_nanos().max(1);
            let next = u32::try_from(done + 1).unwrap_or(u32::MAX);
            let due = (every * next).saturating_sub(lead);
            let wait = due.saturating_sub(begun.elapsed());
            if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Looks; at an address that the database named with TLS, too, where that is asked for.
    fn look(&mut self, every: Duration) -> Result<NodeReading, Unread> {
        let told = self.look_there(every);
        let asks_for_tls = matches!(&told, Err(Unread::Tls(_)));
        if !asks_for_tls || self.node.is_given || self.node.url.is_tls() {
            return told;
        }
        self.node.url = self.node.url.with_tls();
        self.look_there(every)
    }

    fn look_there(&mut self, every: Duration) -> Result<NodeReading, Unread> {
        let kind = match self.node.kind {
            Some(kind) => kind,
            None => *self.node.kind.insert(kind_of(&self.node.url)?),
        };
        let reader = self.reader.get_or_insert_with(|| NodeReader::new(kind));
        let now = reader.look(&self.node.url)?;
        // One that is long past tells nothing of this sample's time.
        let before = self.before.take();
        let before = before.filter(|b| now.at.saturating_duration_since(b.at) < every * 2);
        let figures = figures(reader, before.as_ref(), &now);
        let is_cut = now.is_cut;
        let has_restarted = before.is_some_and(|before| now.has_restarted(&before));
        self.before = Some(now);
        Ok(NodeReading {
            kind,
            figures,
            is_cut,
            has_restarted,
        })
    }
}
