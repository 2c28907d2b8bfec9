//! What is taken of a node's metrics: a table for each kind of node.

use super::{cockroach, tidb, yugabyte};
use std::fmt;

/// A kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeKind {
    /// TiDB's SQL server.
    Tidb,
    /// TiDB's storage.
    Tikv,
    /// TiDB's placement driver.
    Pd,
    /// A node of CockroachDB.
    Cockroach,
    /// YugabyteDB's tablet server.
    YbTserver,
    /// YugabyteDB's YSQL, beside a tablet server.
    YbSql,
    /// YugabyteDB's master.
    YbMaster,
}

/// Percentiles that others watch begin anew with each look that does not ask otherwise (YugabyteDB's
/// `MetricsHandler`).
pub(super) const YB_QUERY: &str = "reset_histograms=false&show_help=false";

impl NodeKind {
    const ALL: [NodeKind; 7] = [
        NodeKind::Tidb,
        NodeKind::Tikv,
        NodeKind::Pd,
        NodeKind::Cockroach,
        NodeKind::YbSql,
        NodeKind::YbMaster,
        NodeKind::YbTserver,
    ];

    fn table(self) -> &'static NodeTable {
        match self {
            NodeKind::Tidb => &tidb::TIDB,
            NodeKind::Tikv => &tidb::TIKV,
            NodeKind::Pd => &tidb::PD,
            NodeKind::Cockroach => &cockroach::NODE,
            NodeKind::YbTserver => &yugabyte::TSERVER,
            NodeKind::YbSql => &yugabyte::YSQL,
            NodeKind::YbMaster => &yugabyte::MASTER,
        }
    }

    /// The kind that its makers call so.
    pub fn named(name: &str) -> Option<NodeKind> {
        Self::ALL.into_iter().find(|kind| kind.table().name == name)
    }

    /// The port of HTTP unless it was changed.
    pub fn port(self) -> u16 {
        self.table().port
    }

    /// Where its metrics are.
    pub fn path(self) -> &'static str {
        self.table().path
    }

    /// What is taken of it.
    pub fn rows(self) -> &'static [MetricRow] {
        self.table().rows
    }

    /// The kind that a node is known to be of, once it has this name, too.
    pub fn foremost(known: Option<NodeKind>, name: &str) -> Option<NodeKind> {
        let tells = |kind: &NodeKind| kind.table().tellers.iter().any(|t| name.starts_with(t));
        let place = |kind: NodeKind| Self::ALL.iter().position(|k| *k == kind);
        let told = Self::ALL.iter().copied().find(tells);
        match (known, told) {
            (Some(known), Some(told)) if place(told) < place(known) => Some(told),
            (Some(known), _) => Some(known),
            (None, told) => told,
        }
    }

    /// Whether a label tells no series from another.
    pub fn ignores(self, label: &str) -> bool {
        self.table().ignored == Some(label)
    }

    /// Whether a line with this label is a part of another line's sum.
    pub fn is_of_parts(self, label: &str) -> bool {
        let labels = self.table().labels_of_sums;
        labels.is_some_and(|labels| !labels.contains(&label))
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table().name)
    }
}

/// What is known of a kind of node.
#[derive(Debug)]
pub(super) struct NodeTable {
    /// What its makers call it.
    pub name: &'static str,
    /// The port of HTTP unless it was changed.
    pub port: u16,
    /// Where its metrics are.
    pub path: &'static str,
    /// Beginnings of names that only this kind has, of those that come before it: a master has a tablet
    /// server's metrics, too.
    pub tellers: &'static [&'static str],
    /// A label that tells no series from another: it changes from look to look.
    pub ignored: Option<&'static str>,
    /// Where lines with other labels than these are parts of another line's sum.
    pub labels_of_sums: Option<&'static [&'static str]>,
    /// What is taken of it.
    pub rows: &'static [MetricRow],
}

/// How a metric is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// A total that grows: its growth a second.
    Counter,
    /// A value as it is.
    Gauge,
    /// `_sum` by `_count` of what was added since the last look.
    Histogram {
        /// The growth of `_count` a second, too.
        is_counted: bool,
        /// The 99th percentile, too, as well as `_bucket` tells it.
        has_p99: bool,
    },
}

/// A metric and the series that it makes. All lines of a node that a row takes are added up.
#[derive(Debug)]
pub(super) struct MetricRow {
    /// The series.
    pub series: &'static str,
    pub unit: &'static str,
    pub digits: i8,
    /// What a value is multiplied by to be in its unit.
    pub scale: f64,
    pub measure: Measure,
    /// What versions call it; the first that a node has counts.
    pub names: &'static [&'static str],
    /// Lines that have this label with none of these values are left out; `*` ends a prefix.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// A series for each value of this label.
    pub by: Option<&'static str>,
    /// Its values are names of threads, of which numbers at the end are left out.
    pub is_of_threads: bool,
    /// A label that tells it from other rows of the same series.
    pub with: Option<(&'static str, &'static str)>,
}

impl MetricRow {
    const fn new(
        measure: Measure,
        series: &'static str,
        unit: &'static str,
        digits: i8,
        names: &'static [&'static str],
    ) -> Self {
        Self {
            series,
            unit,
            digits,
            scale: 1.0,
            measure,
            names,
            only: None,
            by: None,
            is_of_threads: false,
            with: None,
        }
    }

    /// Events.
    pub const fn count(series: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(Measure::Counter, series, "1/s", 1, names)
    }

    /// Bytes.
    pub const fn bytes(series: &'static str, names: &'static [&'static str]) -> Self {
        Self::new(Measure::Counter, series, "bytes/s", -2, names)
    }

    /// Processor time, of which so many seconds are one in what it is counted in.
    pub const fn cpu(series: &'static str, seconds: f64, names: &'static [&'static str]) -> Self {
        let mut row = Self::new(Measure::Counter, series, "cores", 3, names);
        row.scale = seconds;
        row
    }

    /// Time that passed while something was so, of which so many milliseconds are one in what it is
    /// counted in.
    pub const fn time(series: &'static str, ms: f64, names: &'static [&'static str]) -> Self {
        let mut row = Self::new(Measure::Counter, series, "ms/s", 1, names);
        row.scale = ms;
        row
    }

    /// A value as it is.
    pub const fn gauge(
        series: &'static str,
        unit: &'static str,
        digits: i8,
        names: &'static [&'static str],
    ) -> Self {
        Self::new(Measure::Gauge, series, unit, digits, names)
    }

    /// Durations in milliseconds, of which so many are one in what they are told in.
    pub const fn durations(series: &'static str, ms: f64, names: &'static [&'static str]) -> Self {
        let measure = Measure::Histogram {
            is_counted: false,
            has_p99: false,
        };
        let mut row = Self::new(measure, series, "ms", 3, names);
        row.scale = ms;
        row
    }

    /// How many there are, too.
    pub const fn counted(mut self) -> Self {
        if let Measure::Histogram { has_p99, .. } = self.measure {
            self.measure = Measure::Histogram {
                is_counted: true,
                has_p99,
            };
        }
        self
    }

    /// The 99th percentile, too.
    pub const fn with_p99(mut self) -> Self {
        if let Measure::Histogram { is_counted, .. } = self.measure {
            self.measure = Measure::Histogram {
                is_counted,
                has_p99: true,
            };
        }
        self
    }

    /// Of lines with this label, only those with these values.
    pub const fn only(mut self, label: &'static str, values: &'static [&'static str]) -> Self {
        self.only = Some((label, values));
        self
    }

    /// A series for each value of this label.
    pub const fn by(mut self, label: &'static str) -> Self {
        self.by = Some(label);
        self
    }

    /// A series for each group of threads.
    pub const fn by_threads(mut self, label: &'static str) -> Self {
        self.by = Some(label);
        self.is_of_threads = true;
        self
    }

    /// A label of its series.
    pub const fn with(mut self, label: &'static str, value: &'static str) -> Self {
        self.with = Some((label, value));
        self
    }

    /// Whether a line with this label is taken.
    pub fn takes(&self, label: &str, value: &str) -> bool {
        match self.only {
            Some((only, values)) if only == label => {
                values.iter().any(|wanted| match wanted.strip_suffix('*') {
                    Some(prefix) => value.starts_with(prefix),
                    None => value == *wanted,
                })
            }
            _ => true,
        }
    }
}

/// What a group of threads is called: `raftstore` of `raftstore_1_0`.
pub(super) fn group_of_threads(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_makes_series_of_its_own() {
        for kind in NodeKind::ALL {
            let mut series = HashSet::new();
            for row in kind.rows() {
                let key = (row.series, row.with.map(|(_, value)| value));
                assert!(series.insert(key), "{kind}: {key:?}");
                assert!(!row.names.is_empty() && row.scale > 0.0, "{key:?}");
                let product = row.series.split_once('.').map(|(product, _)| product);
                let products = ["tidb", "tikv", "pd", "cockroach", "yugabyte"];
                assert!(product.is_some_and(|p| products.contains(&p)), "{key:?}");
            }
        }
    }

    #[test]
    fn kinds_are_told_by_their_names() {
        let of = |names: &[&str]| names.iter().fold(None, |k, n| NodeKind::foremost(k, n));
        assert_eq!(
            of(&[
                "go_goroutines",
                "pd_client_cmd_handle_cmds_duration_seconds_sum",
                "tidb_server_query_total"
            ]),
            Some(NodeKind::Tidb)
        );
        assert_eq!(
            of(&["process_cpu_seconds_total", "tikv_grpc_msg_total"]),
            Some(NodeKind::Tikv)
        );
        assert_eq!(
            of(&["pd_cluster_status", "etcd_server_id"]),
            Some(NodeKind::Pd)
        );
        assert_eq!(of(&["sql_select_count"]), Some(NodeKind::Cockroach));
        let tserver = "handler_latency_yb_tserver_TabletServerService_Read_count";
        assert_eq!(of(&[tserver]), Some(NodeKind::YbTserver));
        let master = "handler_latency_yb_master_MasterClient_GetTabletLocations_sum";
        assert_eq!(of(&[tserver, master]), Some(NodeKind::YbMaster));
        assert_eq!(
            of(&["yb_ysqlserver_connection_total"]),
            Some(NodeKind::YbSql)
        );
        assert_eq!(of(&["node_cpu_seconds_total"]), None);
    }

    #[test]
    fn threads_have_their_groups_name() {
        for (thread, group) in [
            ("grpc_server_0", "grpc_server"),
            ("raftstore_1_0", "raftstore"),
            ("rocksdb:low12", "rocksdb:low"),
            ("unified_read_po", "unified_read_po"),
            ("7", ""),
        ] {
            assert_eq!(group_of_threads(thread), group);
        }
    }
}
