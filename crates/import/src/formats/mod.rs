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
}

/// All, in the order in which they are asked after that of the run that is going on.
pub(crate) const FORMATS: &[Format] = &[
    Format {
        tool: "sysbench",
        take: sysbench::take,
    },
    Format {
        tool: "go-tpc",
        take: go_tpc::take,
    },
    Format {
        tool: "go-ycsb",
        take: ycsb::go,
    },
    Format {
        tool: "ycsb",
        take: ycsb::java,
    },
    Format {
        tool: "pgbench",
        take: pgbench::take,
    },
    Format {
        tool: "pgbench-log",
        take: pgbench_log::take,
    },
    Format {
        tool: "benchbase",
        take: benchbase::take,
    },
    Format {
        tool: "hammerdb",
        take: hammerdb::take,
    },
    Format {
        tool: "mysqlslap",
        take: mysqlslap::take,
    },
    Format {
        tool: "tpcc-mysql",
        take: tpcc_mysql::take,
    },
    Format {
        tool: "benchmarksql",
        take: benchmarksql::take,
    },
    Format {
        tool: "k6",
        take: k6_text::take,
    },
    Format {
        tool: "hdr-log",
        take: hdr_log::take,
    },
];
