//! What Prometheus is asked of a node's table.

use super::super::rates::MetricAspect;
use super::super::table::{Measure, MetricRow, NodeKind};
use std::fmt::Write;

/// A query, and what its answer makes.
#[derive(Debug, Clone)]
pub(super) struct MetricQuery {
    pub kind: NodeKind,
    pub row: &'static MetricRow,
    pub what: MetricAspect,
    pub text: String,
    /// Whether values are of a window of time, and not of a moment.
    pub is_of_window: bool,
    /// The next point that it is asked for.
    pub next: u32,
}

/// Names that tell which instances are of a kind.
pub(super) const TELLING: [(&str, NodeKind); 7] = [
    ("tidb_server_connections", NodeKind::Tidb),
    ("tikv_raftstore_region_count", NodeKind::Tikv),
    ("pd_cluster_status", NodeKind::Pd),
    ("sql_select_count", NodeKind::Cockroach),
    ("log_append_latency_count", NodeKind::YbTserver),
    ("yb_ysqlserver_connection_total", NodeKind::YbSql),
    (
        "handler_latency_yb_master_MasterClient_GetTabletLocations_count",
        NodeKind::YbMaster,
    ),
];

/// Which instances have a name of [`TELLING`].
pub(super) fn instances() -> String {
    let names: Vec<&str> = TELLING.iter().map(|(name, _)| *name).collect();
    format!(
        "count by (__name__, instance) ({{__name__=~\"{}\"}})",
        names.join("|")
    )
}

/// How often the most frequent of all instances is read, in five minutes.
pub(super) const SCRAPES: &str = "max(count_over_time(up[5m]))";
/// The milliseconds of that.
pub(super) const SCRAPES_MS: f64 = 300_000.0;

/// The queries of a kind's table, with windows of so many milliseconds.
pub(super) fn of_kind(kind: NodeKind, window_ms: u64) -> Vec<MetricQuery> {
    let mut all = Vec::new();
    for row in kind.rows() {
        for what in [MetricAspect::Main, MetricAspect::Rate, MetricAspect::P99] {
            if let Some(text) = text(row, what, window_ms) {
                all.push(MetricQuery {
                    kind,
                    row,
                    what,
                    text,
                    is_of_window: row.measure != Measure::Gauge,
                    next: 0,
                });
            }
        }
    }
    all
}

fn text(row: &MetricRow, what: MetricAspect, window_ms: u64) -> Option<String> {
    let by = match row.by {
        Some(by) => format!("instance, {by}"),
        None => "instance".into(),
    };
    let only = matcher(row);
    let sum = |name: &str, by: &str| format!("sum by ({by}) (rate({name}{only}[{window_ms}ms]))");
    let of = |name: &&str| match (row.measure, what) {
        (Measure::Counter, MetricAspect::Main) => Some(sum(name, &by)),
        (Measure::Gauge, MetricAspect::Main) => Some(format!("sum by ({by}) ({name}{only})")),
        (Measure::Histogram { .. }, MetricAspect::Main) => Some(format!(
            "{} / {}",
            sum(&format!("{name}_sum"), &by),
            sum(&format!("{name}_count"), &by)
        )),
        (
            Measure::Histogram {
                is_counted: true, ..
            },
            MetricAspect::Rate,
        ) => Some(sum(&format!("{name}_count"), &by)),
        (Measure::Histogram { has_p99: true, .. }, MetricAspect::P99) => {
            let of = sum(&format!("{name}_bucket"), &format!("le, {by}"));
            Some(format!("histogram_quantile(0.99, {of})"))
        }
        _ => None,
    };
    // What versions call it.
    let of: Option<Vec<String>> = row.names.iter().map(of).collect();
    of.map(|of| of.join(" or "))
}

/// The matcher of a row that does not take all lines; those without the label it takes.
fn matcher(row: &MetricRow) -> String {
    let Some((label, values)) = row.only else {
        return String::new();
    };
    let mut pattern = String::new();
    for value in values {
        let (plain, rest) = match value.strip_suffix('*') {
            Some(prefix) => (prefix, ".*"),
            None => (*value, ""),
        };
        for c in plain.chars() {
            if !c.is_ascii_alphanumeric() && c != '_' && c != '-' && c != ' ' && c != ':' {
                pattern += "\\\\";
            }
            pattern.push(c);
        }
        // Writing to a string cannot fail.
        let _ = write!(pattern, "{rest}|");
    }
    format!("{{{label}=~\"{pattern}\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_what_dashboards_ask() {
        let all = of_kind(NodeKind::Tikv, 38_000);
        let of = |series: &str, what: MetricAspect| {
            let found = all
                .iter()
                .find(|q| q.row.series == series && q.what == what);
            found.map(|q| q.text.as_str())
        };
        assert_eq!(
            of("tikv.cpu", MetricAspect::Main),
            Some("sum by (instance) (rate(process_cpu_seconds_total[38000ms]))")
        );
        assert_eq!(
            of("tikv.grpc", MetricAspect::Main),
            Some(
                "sum by (instance, type) (rate(tikv_grpc_msg_duration_seconds_sum[38000ms])) / \
                 sum by (instance, type) (rate(tikv_grpc_msg_duration_seconds_count[38000ms]))"
            )
        );
        assert_eq!(
            of("tikv.append-log", MetricAspect::P99),
            Some(
                "histogram_quantile(0.99, sum by (le, instance) \
                 (rate(tikv_raftstore_append_log_duration_seconds_bucket[38000ms])))"
            )
        );
        assert_eq!(of("tikv.grpc", MetricAspect::P99), None);
        assert_eq!(
            of("tikv.size", MetricAspect::Main),
            Some("sum by (instance, type) (tikv_engine_size_bytes{db=~\"kv|\"})")
        );
        let threads = of("tikv.thread-cpu", MetricAspect::Main).unwrap();
        assert!(
            threads.contains("{name=~\"grpc.*|raftstore_.*|"),
            "{threads}"
        );
    }

    #[test]
    fn every_row_of_every_kind_is_asked_for() {
        for (name, kind) in TELLING {
            assert_eq!(NodeKind::foremost(None, name), Some(kind), "{name}");
            let asked = of_kind(kind, 1000);
            for row in kind.rows() {
                assert!(
                    asked.iter().any(|q| std::ptr::eq(q.row, row)),
                    "{}",
                    row.series
                );
            }
        }
    }
}
