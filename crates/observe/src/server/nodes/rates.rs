//! What happened between two looks at a node.

use super::scrape::{Key, MetricPart, NodeReader, Scrape};
use super::table::{Measure, MetricRow};
use std::collections::{BTreeMap, HashMap};

/// A number for a series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeSample {
    pub of: NodeSeries,
    pub value: f64,
}

/// Which series of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct NodeSeries {
    /// Its row's place in the table.
    pub row: u16,
    /// The value of the row's label; may be empty.
    pub group: String,
    pub what: MetricAspect,
}

/// What a series tells of its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum MetricAspect {
    /// The value or its growth; of a histogram the mean.
    Main,
    /// How many a histogram had.
    Rate,
    /// The 99th percentile between the bounds of a histogram's buckets.
    P99,
}

impl MetricAspect {
    /// What follows the row's name.
    pub fn ending(self) -> &'static str {
        match self {
            MetricAspect::Main => "",
            MetricAspect::Rate => ".rate",
            MetricAspect::P99 => ".p99-approx",
        }
    }
}

/// The sums of one series.
#[derive(Debug, Default)]
struct Sums {
    value: Option<f64>,
    sum: Option<f64>,
    count: Option<f64>,
    /// By bound.
    buckets: BTreeMap<u64, f64>,
    /// A total is less than it was.
    has_shrunk: bool,
}

impl Sums {
    fn add(&mut self, part: MetricPart, value: f64) {
        let sum = match part {
            MetricPart::Value => &mut self.value,
            MetricPart::Sum => &mut self.sum,
            MetricPart::Count => &mut self.count,
            MetricPart::Bucket(bound) => {
                *self.buckets.entry(bound).or_default() += value;
                return;
            }
        };
        *sum = Some(sum.unwrap_or(0.0) + value);
    }
}

/// What there is to tell of a look: gauges alone, where there is no look before it. What began anew, or
/// was not there before, leaves a gap.
pub(super) fn figures(
    reader: &NodeReader,
    before: Option<&Scrape>,
    now: &Scrape,
) -> Vec<NodeSample> {
    let rows = reader.rows();
    let row_of = |key: &Key| rows.get(usize::from(key.row));
    let mut ranks: HashMap<u16, u16> = HashMap::new();
    for key in now.values.keys() {
        let least = ranks.entry(key.row).or_insert(key.rank);
        *least = key.rank.min(*least);
    }
    let before = before.filter(|before| !now.has_restarted(before));
    let mut all: HashMap<(u16, u16), (Key, Sums)> = HashMap::new();
    for (key, value) in &now.values {
        let Some(row) = row_of(key).filter(|_| ranks.get(&key.row) == Some(&key.rank)) else {
            continue;
        };
        let grown = match row.measure {
            Measure::Gauge => *value,
            _ => match before.and_then(|before| before.values.get(key)) {
                Some(before) => value - before,
                None => continue,
            },
        };
        let (_, sums) = all
            .entry((key.row, key.group))
            .or_insert_with(|| (*key, Sums::default()));
        sums.has_shrunk |= row.measure != Measure::Gauge && grown < 0.0;
        sums.add(key.part, grown);
    }
    let seconds = before.map_or(0.0, |before| {
        now.at.saturating_duration_since(before.at).as_secs_f64()
    });
    let mut figures = Vec::new();
    for (key, sums) in all.into_values().filter(|(_, sums)| !sums.has_shrunk) {
        let Some(row) = row_of(&key) else {
            continue;
        };
        let told = told(row, &sums, seconds);
        figures.extend(told.into_iter().filter_map(|(what, value)| {
            let of = NodeSeries {
                row: key.row,
                group: reader.group(key).into(),
                what,
            };
            // Of no time come no numbers.
            value.is_finite().then_some(NodeSample { of, value })
        }));
    }
    figures
}

fn told(row: &MetricRow, sums: &Sums, seconds: f64) -> Vec<(MetricAspect, f64)> {
    let (is_counted, has_p99) = match row.measure {
        Measure::Gauge => {
            let value = sums.value.map(|v| (MetricAspect::Main, v * row.scale));
            return value.into_iter().collect();
        }
        Measure::Counter => {
            let value = sums
                .value
                .map(|v| (MetricAspect::Main, v * row.scale / seconds));
            return value.into_iter().collect();
        }
        Measure::Histogram {
            is_counted,
            has_p99,
        } => (is_counted, has_p99),
    };
    let mut told = Vec::new();
    // Of nothing there is no mean.
    let count = sums.count.filter(|count| *count > 0.0);
    if let Some((sum, count)) = sums.sum.zip(count) {
        told.push((MetricAspect::Main, sum / count * row.scale));
    }
    if let Some(count) = sums.count.filter(|_| is_counted) {
        told.push((MetricAspect::Rate, count / seconds));
    }
    if let Some(p99) = quantile(&sums.buckets, 0.99).filter(|_| has_p99) {
        told.push((MetricAspect::P99, p99 * row.scale));
    }
    told
}

/// A quantile by what is not above each bound: evenly between the bounds that it lies between; beyond
/// the last finite one, that one.
fn quantile(buckets: &BTreeMap<u64, f64>, at: f64) -> Option<f64> {
    let total = *buckets.values().next_back()?;
    if total <= 0.0 || buckets.len() < 2 {
        return None;
    }
    let wanted = total * at;
    let (mut low, mut below) = (0.0, 0.0);
    for (bound, count) in buckets {
        let bound = f64::from_bits(*bound);
        if *count >= wanted {
            let inside = count - below;
            return Some(match bound.is_finite() && inside > 0.0 {
                true => low + (bound - low) * (wanted - below) / inside,
                false => low,
            });
        }
        if bound.is_finite() {
            low = bound;
        }
        // Numbers of one moment never shrink from bound to bound.
        below = f64::max(below, *count);
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::super::table::NodeKind;
    use super::*;
    use std::time::{Duration, Instant};

    /// Looks at texts ten seconds apart; what each has to tell.
    fn told(kind: NodeKind, texts: &[&str]) -> Vec<BTreeMap<String, f64>> {
        let mut reader = NodeReader::new(kind);
        let begun = Instant::now();
        let mut before: Option<Scrape> = None;
        let mut all = Vec::new();
        for (n, text) in (0..).zip(texts) {
            let mut now = Scrape::empty();
            now.at = begun + Duration::from_secs(10) * n;
            text.lines().for_each(|line| reader.take(line, &mut now));
            let figures = figures(&reader, before.as_ref(), &now);
            let named = figures.into_iter().map(|f| {
                let row = &reader.rows()[usize::from(f.of.row)];
                let label = row.with.map_or(f.of.group, |(_, value)| value.to_string());
                (
                    format!("{}{} {label}", row.series, f.of.what.ending()),
                    f.value,
                )
            });
            all.push(named.collect());
            before = Some(now);
        }
        all
    }

    #[test]
    fn totals_become_rates_and_histograms_means_and_percentiles() {
        let text = |selects: u32, n: u32, sum: f64, buckets: [u32; 4]| {
            let [a, b, c, all] = buckets;
            format!(
                "tidb_server_query_total{{result=\"OK\",type=\"Query\"}} {selects}\n\
                 tidb_server_connections 16\n\
                 tidb_server_handle_query_duration_seconds_bucket{{sql_type=\"Select\",le=\"0.001\"}} {a}\n\
                 tidb_server_handle_query_duration_seconds_bucket{{sql_type=\"Select\",le=\"0.002\"}} {b}\n\
                 tidb_server_handle_query_duration_seconds_bucket{{sql_type=\"Select\",le=\"0.004\"}} {c}\n\
                 tidb_server_handle_query_duration_seconds_bucket{{sql_type=\"Select\",le=\"+Inf\"}} {all}\n\
                 tidb_server_handle_query_duration_seconds_sum{{sql_type=\"Select\"}} {sum}\n\
                 tidb_server_handle_query_duration_seconds_count{{sql_type=\"Select\"}} {n}\n"
            )
        };
        let first = text(1000, 500, 1.0, [100, 300, 490, 500]);
        let then = text(6000, 1500, 3.5, [300, 1100, 1489, 1500]);
        let all = told(NodeKind::Tidb, &[&first, &then]);
        assert_eq!(
            all[0]
                .iter()
                .map(|(n, v)| (n.as_str(), *v))
                .collect::<Vec<_>>(),
            [("tidb.connections ", 16.0)]
        );
        let of = |name: &str| all[1][name];
        assert_eq!(of("tidb.commands Query"), 500.0);
        assert_eq!(of("tidb.query-duration Select"), 2.5);
        assert_eq!(of("tidb.query-duration.rate Select"), 100.0);
        // 990 of 1000: 200, 800 and 999 are not above the bounds.
        let p99 = of("tidb.query-duration.p99-approx Select");
        assert!((p99 - (2.0 + 2.0 * 190.0 / 199.0)).abs() < 1e-9, "{p99}");
        // Nothing failed, and nothing said so.
        assert!(!all[1].contains_key("tidb.command-errors "), "{all:?}");
    }

    #[test]
    fn a_node_that_began_anew_leaves_a_gap() {
        let text = |started: u32, total: u32| {
            format!(
                "process_start_time_seconds {started}\nprocess_cpu_seconds_total {total}\n\
                 tikv_engine_size_bytes{{db=\"kv\",type=\"write\"}} 8\n"
            )
        };
        // The new process has counted more than the old one had.
        let texts = [
            text(1000, 5),
            text(1000, 25),
            text(2000, 90),
            text(2000, 91),
        ];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = told(NodeKind::Tikv, &texts);
        let cpu: Vec<Option<f64>> = all.iter().map(|t| t.get("tikv.cpu ").copied()).collect();
        assert_eq!(cpu, [None, Some(2.0), None, Some(0.1)]);
        assert!(all.iter().all(|told| told["tikv.size write"] == 8.0));
    }

    #[test]
    fn a_total_that_shrinks_or_appears_is_no_rate() {
        let line = |table: &str, total: i64| {
            format!("majority_sst_files_rejections{{table_id=\"{table}\"}} {total}\n")
        };
        let texts = [
            line("a", 100) + &line("b", 100),
            // A tablet went elsewhere, then another came with its past.
            line("a", 150) + &line("b", 40),
            line("a", 200) + &line("b", 40) + &line("c", 1_000_000),
            line("a", 300) + &line("c", 1_000_100),
        ];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = told(NodeKind::YbTserver, &texts);
        let name = "yugabyte.rejections majority-sst-files";
        let rates: Vec<Option<f64>> = all.iter().map(|t| t.get(name).copied()).collect();
        assert_eq!(rates, [None, None, Some(5.0), Some(20.0)]);
    }

    #[test]
    fn parts_of_a_sum_count_only_where_there_is_no_sum() {
        let child = |n: u32| format!("sql_select_count{{node_id=\"1\",database=\"movr\"}} {n}\n");
        let whole = |n: u32| format!("sql_select_count{{node_id=\"1\"}} {n}\n{}", child(n / 2));
        let (a, b) = (whole(100), whole(300));
        let name = "cockroach.statements select";
        assert_eq!(told(NodeKind::Cockroach, &[&a, &b])[1][name], 20.0);
        let (a, b) = (child(100), child(200));
        assert_eq!(told(NodeKind::Cockroach, &[&a, &b])[1][name], 10.0);
    }

    #[test]
    fn quantiles_keep_to_the_bounds() {
        let of = |counts: &[(f64, f64)]| {
            let buckets = counts.iter().map(|(b, n)| (b.to_bits(), *n)).collect();
            quantile(&buckets, 0.99)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1.0, 0.0), (f64::INFINITY, 0.0)]), None);
        assert_eq!(of(&[(1.0, 100.0), (f64::INFINITY, 100.0)]), Some(0.99));
        assert_eq!(
            of(&[(1.0, 10.0), (2.0, 20.0), (f64::INFINITY, 100.0)]),
            Some(2.0)
        );
        assert_eq!(
            of(&[(1.0, 50.0), (2.0, 40.0), (3.0, 100.0)]).map(|v| v < 3.0),
            Some(true)
        );
    }
}
