//! One look at a node: the numbers that its table wants, out of a text that is read line by line.

use super::super::exposition::{self, SampleLine};
use super::super::http::{Extent, Unread, each_line};
use super::super::url::Url;
use super::table::{Measure, MetricRow, NodeKind, group_of_threads};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// How long a look may take.
pub(super) const LONGEST: Duration = Duration::from_secs(3);
/// So much of a text is read: several times what a large node tells.
pub(super) const MOST_BYTES: u64 = 32 << 20;
/// So many numbers are kept of one text.
const MOST_VALUES: usize = 100_000;
/// So many values of a label have a series each; what else there is makes one.
const MOST_GROUPS: usize = 24;
/// A label's value may be so long, in bytes.
const LONGEST_GROUP: usize = 128;
const OTHER: &str = "other";
/// When the process began, and how long it has run: a node that began anew has totals that did, too.
const STARTED: &str = "process_start_time_seconds";
const UPTIME: [&str; 2] = ["sys_uptime", "server_uptime_ms"];

/// Which number of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MetricPart {
    /// The number itself.
    Value,
    Sum,
    Count,
    /// So many that are not above a bound, as bits: those of numbers above nothing are in their order.
    Bucket(u64),
}

/// One number of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Its place in the table.
    pub row: u16,
    /// Which of the row's names, and whether it is a part of a sum: the least that a node has counts.
    pub rank: u16,
    /// Its place in [`Groups`].
    pub group: u16,
    pub part: MetricPart,
    /// What tells it from others: its labels.
    pub labels: u64,
}

/// What one look gave.
#[derive(Debug, Clone)]
pub(super) struct Scrape {
    /// When the text began to come: about when the numbers were so.
    pub at: Instant,
    pub values: HashMap<Key, f64>,
    /// When the process began, in seconds.
    pub started: Option<f64>,
    pub uptime: Option<f64>,
    /// Not all was read.
    pub is_cut: bool,
}

impl Scrape {
    pub fn empty() -> Self {
        Self {
            at: Instant::now(),
            values: HashMap::new(),
            started: None,
            uptime: None,
            is_cut: false,
        }
    }

    /// Whether the process began anew after another look.
    pub fn has_restarted(&self, before: &Scrape) -> bool {
        let later = self.started.zip(before.started);
        let shorter = self.uptime.zip(before.uptime);
        // Some compute it anew each time.
        later.is_some_and(|(now, before)| now - before > 1.0)
            || shorter.is_some_and(|(now, before)| now < before)
    }
}

/// Which row wants a line, and what of it.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    row: u16,
    name: u16,
    part: fn(u64) -> MetricPart,
}

/// What is known of a node's texts.
pub(super) struct NodeReader {
    kind: NodeKind,
    names: HashMap<String, Vec<Wanted>>,
    /// Values of the labels that have series, row by row.
    groups: Vec<Vec<String>>,
}

impl NodeReader {
    pub fn new(kind: NodeKind) -> Self {
        let mut names: HashMap<String, Vec<Wanted>> = HashMap::new();
        for (row, of) in (0..).zip(kind.rows()) {
            for (name, called) in (0..).zip(of.names) {
                let mut wants = |end: &str, part: fn(u64) -> MetricPart| {
                    let wanted = Wanted { row, name, part };
                    names
                        .entry(format!("{called}{end}"))
                        .or_default()
                        .push(wanted);
                };
                match of.measure {
                    Measure::Counter | Measure::Gauge => wants("", |_| MetricPart::Value),
                    Measure::Histogram { has_p99, .. } => {
                        wants("_sum", |_| MetricPart::Sum);
                        wants("_count", |_| MetricPart::Count);
                        if has_p99 {
                            wants("_bucket", MetricPart::Bucket);
                        }
                    }
                }
            }
        }
        Self {
            kind,
            names,
            groups: kind.rows().iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Its table.
    pub fn rows(&self) -> &'static [MetricRow] {
        self.kind.rows()
    }

    /// A value of a row's label; empty where the row has no such series.
    pub fn group(&self, key: Key) -> &str {
        let place = usize::from(key.group).checked_sub(1);
        let groups = self.groups.get(usize::from(key.row));
        let found = groups.zip(place).and_then(|(of, place)| of.get(place));
        found.map_or("", String::as_str)
    }

    /// Looks at a node.
    ///
    /// # Errors
    /// Why there is nothing.
    pub fn look(&mut self, url: &Url) -> Result<Scrape, Unread> {
        let mut scrape = Scrape::empty();
        let mut is_first = true;
        let extent = each_line(url, LONGEST, MOST_BYTES, &mut |text: &str| {
            if std::mem::take(&mut is_first) {
                scrape.at = Instant::now();
            }
            self.take(text, &mut scrape);
        })?;
        scrape.is_cut |= extent == Extent::Cut;
        if scrape.values.is_empty() {
            let why = format!(
                "{}: the reply has no metrics of {}",
                url.address(),
                self.kind
            );
            return Err(Unread::Said(why));
        }
        Ok(scrape)
    }

    /// Takes what a line says, if that is wanted.
    pub fn take(&mut self, text: &str, scrape: &mut Scrape) {
        let Some(name) = exposition::name(text) else {
            return;
        };
        let wanted = self.names.get(name);
        let tells_age = name == STARTED || UPTIME.contains(&name);
        if wanted.is_none() && !tells_age {
            return;
        }
        let Some(line) = exposition::line(text).filter(|line| line.value.is_finite()) else {
            return;
        };
        if name == STARTED {
            scrape.started = Some(line.value);
        } else if tells_age {
            // Of several, that of the process is the greatest.
            scrape.uptime = Some(scrape.uptime.unwrap_or(0.0).max(line.value));
        }
        let Some(wanted) = wanted.cloned() else {
            return;
        };
        if scrape.values.len() >= MOST_VALUES {
            scrape.is_cut = true;
            return;
        }
        let labels = LineLabels::of(&line, self.kind);
        for wanted in wanted {
            if let Some(key) = self.key(wanted, &labels) {
                // The last of lines that are the same counts.
                scrape.values.insert(key, line.value);
            }
        }
    }

    fn key(&mut self, wanted: Wanted, labels: &LineLabels<'_>) -> Option<Key> {
        let row = self.kind.rows().get(usize::from(wanted.row))?;
        if !labels.pairs.iter().all(|(l, v)| row.takes(l, v)) {
            return None;
        }
        let group = row.by.and_then(|by| {
            let (_, value) = labels.pairs.iter().find(|(label, _)| *label == by)?;
            Some(match row.is_of_threads {
                true => group_of_threads(value),
                false => value.as_ref(),
            })
        });
        let group = group.filter(|g| !g.is_empty());
        Some(Key {
            row: wanted.row,
            rank: wanted.name * 2 + u16::from(labels.are_of_a_part),
            group: group.map_or(0, |group| self.place(wanted.row, group)),
            part: (wanted.part)(labels.bound?),
            labels: labels.hash,
        })
    }

    /// A group's place, from one.
    fn place(&mut self, row: u16, group: &str) -> u16 {
        let Some(groups) = self.groups.get_mut(usize::from(row)) else {
            return 0;
        };
        // It becomes a part of the record.
        let is_name = group.len() <= LONGEST_GROUP && !group.chars().any(char::is_control);
        let has_room = groups.iter().any(|g| g == group) || groups.len() < MOST_GROUPS;
        let group = if is_name && has_room { group } else { OTHER };
        let place = groups.iter().position(|g| g == group);
        let place = place.unwrap_or_else(|| {
            groups.push(group.to_string());
            groups.len() - 1
        });
        u16::try_from(place + 1).unwrap_or(0)
    }
}

/// A line's labels.
struct LineLabels<'t> {
    pairs: Vec<(&'t str, Cow<'t, str>)>,
    /// What all but a bucket's bound are together, in whatever order they came.
    hash: u64,
    /// A bucket's bound; nothing where that is no number.
    bound: Option<u64>,
    are_of_a_part: bool,
}

impl<'t> LineLabels<'t> {
    fn of(line: &SampleLine<'t>, kind: NodeKind) -> Self {
        let mut labels = Self {
            pairs: line.labels().collect(),
            hash: 0,
            bound: Some(0),
            are_of_a_part: false,
        };
        for (label, value) in &labels.pairs {
            if *label == "le" {
                let bound = value.parse::<f64>().ok().filter(|bound| *bound >= 0.0);
                labels.bound = bound.map(f64::to_bits);
            } else if !kind.ignores(label) {
                let mut hasher = DefaultHasher::new();
                (label, value).hash(&mut hasher);
                labels.hash = labels.hash.wrapping_add(hasher.finish());
                labels.are_of_a_part |= kind.is_of_parts(label);
            }
        }
        labels
    }
}

/// What kind of node answers there.
///
/// # Errors
/// Why that is not known.
pub(super) fn kind_of(url: &Url) -> Result<NodeKind, Unread> {
    let mut found = None;
    each_line(url, LONGEST, MOST_BYTES, &mut |text: &str| {
        if let Some(name) = exposition::name(text) {
            found = NodeKind::foremost(found, name);
        }
    })?;
    found.ok_or_else(|| {
        let why = "the reply has no metrics of TiDB, TiKV, PD, CockroachDB or YugabyteDB";
        Unread::Said(format!("{}: {why}", url.address()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: &mut NodeReader, text: &str) -> Scrape {
        let mut scrape = Scrape::empty();
        text.lines().for_each(|line| reader.take(line, &mut scrape));
        scrape
    }

    /// Row, group and number of all that was kept.
    fn kept(reader: &NodeReader, scrape: &Scrape) -> Vec<(&'static str, String, f64)> {
        let row = |key: &Key| reader.rows()[usize::from(key.row)].series;
        let all = scrape.values.iter();
        let mut all: Vec<_> = all
            .map(|(key, value)| (row(key), reader.group(*key).to_string(), *value))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    }

    #[test]
    fn only_what_the_table_wants_is_kept() {
        let mut reader = NodeReader::new(NodeKind::Tikv);
        let text = "# TYPE tikv_thread_cpu_seconds_total counter\n\
            tikv_thread_cpu_seconds_total{name=\"grpc_server_0\",tid=\"11\"} 1.5\n\
            tikv_thread_cpu_seconds_total{name=\"grpc_server_1\",tid=\"12\"} 2.5\n\
            tikv_thread_cpu_seconds_total{name=\"timer\",tid=\"13\"} 9\n\
            tikv_engine_size_bytes{db=\"kv\",type=\"default\"} 4096\n\
            tikv_engine_size_bytes{db=\"raft\",type=\"default\"} 8192\n\
            tikv_something_else 7\n\
            process_start_time_seconds 1.7e9\n";
        let scrape = read(&mut reader, text);
        assert_eq!(
            kept(&reader, &scrape),
            [
                ("tikv.size", "default".to_string(), 4096.0),
                ("tikv.thread-cpu", "grpc_server".to_string(), 1.5),
                ("tikv.thread-cpu", "grpc_server".to_string(), 2.5),
            ]
        );
        assert_eq!(scrape.started, Some(1.7e9));
    }

    #[test]
    fn no_numbers_and_the_same_line_twice_do_no_harm() {
        let mut reader = NodeReader::new(NodeKind::Cockroach);
        let text = "sql_select_count{node_id=\"1\"} 5\n\
            sql_select_count{node_id=\"1\"} 6\n\
            sql_insert_count{node_id=\"1\"} NaN\n\
            sql_update_count{node_id=\"1\"} +Inf\n\
            sql_delete_count{node_id=\"1\"} x\n\
            sql_select_count{node_id=\"1\n";
        let scrape = read(&mut reader, text);
        let numbers: Vec<f64> = scrape.values.values().copied().collect();
        assert_eq!(numbers, [6.0]);
    }

    #[test]
    fn labels_tell_series_apart_in_any_order_but_those_that_change() {
        let mut reader = NodeReader::new(NodeKind::YbTserver);
        let first = "log_sync_latency_sum{table_id=\"a\",table_name=\"t\",metric_type=\"table\"} 1\n\
            log_sync_latency_sum{table_id=\"b\",table_name=\"t\",metric_type=\"table\"} 1\n";
        let again =
            "log_sync_latency_sum{metric_type=\"tablet\",table_name=\"t\",table_id=\"a\"} 2\n";
        let (first, again) = (read(&mut reader, first), read(&mut reader, again));
        assert_eq!(first.values.len(), 2);
        assert!(again.values.keys().all(|k| first.values.contains_key(k)));
    }

    #[test]
    fn many_values_of_a_label_make_one_series() {
        let mut reader = NodeReader::new(NodeKind::Tidb);
        let lines: String = (0..100)
            .map(|n| format!("tidb_executor_statement_total{{type=\"T{n}\"}} 1\n"))
            .collect();
        let scrape = read(&mut reader, &lines);
        assert_eq!(scrape.values.len(), 100);
        let groups: std::collections::HashSet<&str> =
            scrape.values.keys().map(|k| reader.group(*k)).collect();
        assert_eq!(groups.len(), MOST_GROUPS + 1);
        assert!(groups.contains(OTHER) && groups.contains("T0"));
    }
}
