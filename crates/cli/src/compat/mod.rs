//! Command lines and outputs of other tools. Each takes its tool's words, makes a job of them
//! ([`crate::jobs`]), and prints what the runner does ([`crate::runner`]) as the tool would. Nothing
//! outside knows a tool's words.

pub mod gotpc;
pub mod oltpbench;
pub mod pgbench;
pub mod sysbench;
pub mod tpcc;
pub mod tpch;
pub mod ycsb;

use crate::Frontend;

/// The commands with command lines of their own, in the order in which help lists them.
pub const FRONTENDS: &[Frontend] = &[
    sysbench::FRONTEND,
    tpcc::FRONTEND,
    tpch::FRONTEND,
    ycsb::FRONTEND,
    pgbench::FRONTEND,
    oltpbench::FRONTEND,
];

/// Pages of help that are not clap's, by their commands.
#[cfg(test)]
pub(crate) fn pages_of_help() -> Vec<(String, String)> {
    let mut pages = sysbench::pages_of_help();
    pages.push(("oltpbench --help".into(), oltpbench::help::text()));
    pages
}
