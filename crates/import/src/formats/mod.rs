//! The formats, one file each: a function that takes a line where it is its tool's, and says so.

mod benchbase;
mod benchbase_csv;
mod benchbase_log;
mod benchmarksql;
mod go_tpc;
mod hammerdb;
mod hdr_log;
mod hdr_percentiles;
pub(crate) mod json;
mod k6_json;
mod k6_text;
mod mysqlslap;
mod pgbench;
pub(crate) mod pgbench_log;
mod styles;
mod sysbench;
mod sysbench_interval;
mod tpcc_mysql;
mod ycsb;

use crate::doc::Doc;

/// A format.
pub(crate) struct Format {
    /// Its tool.
    pub tool: &'static str,
    /// Takes a line; false leaves it to others.
    pub take: fn(&str, u64, &mut Doc) -> bool,
    /// Whether an object of JSON with such names is one of its lines in another style.
    pub has_object: fn(&[String]) -> bool,
}

impl Format {
    /// One whose JSON, if it has any, is no line for line.
    const fn of_lines(tool: &'static str, take: fn(&str, u64, &mut Doc) -> bool) -> Self {
        Self {
            tool,
            take,
            has_object: |_| false,
        }
    }
}

/// All, in the order in which they are asked after that of the run that is going on.
pub(crate) const FORMATS: &[Format] = &[
    Format::of_lines("sysbench", sysbench::take),
    go_tpc::FORMAT,
    ycsb::GO_FORMAT,
    ycsb::JAVA_FORMAT,
    Format::of_lines("pgbench", pgbench::take),
    Format::of_lines("pgbench-log", pgbench_log::take),
    Format::of_lines("benchbase", benchbase::take),
    Format::of_lines("hammerdb", hammerdb::take),
    Format::of_lines("mysqlslap", mysqlslap::take),
    Format::of_lines("tpcc-mysql", tpcc_mysql::take),
    Format::of_lines("benchmarksql", benchmarksql::take),
    Format::of_lines("k6", k6_text::take),
    Format::of_lines("hdr-log", hdr_log::take),
];
