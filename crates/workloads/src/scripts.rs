//! Users' own scripts: a family whose workloads are files, which another crate runs.

use crate::{CommandLine, Family, Runs};

/// Everything that others must know of it. Its definitions are made when a script is read.
pub const FAMILY: Family = Family {
    name: "scripts",
    title: "sysbench scripts",
    definitions: &[],
    command: CommandLine::SYSBENCH,
    data: "the script's tables",
    clashes_with: &[],
    load_s: |_| 10.0,
    runs: Runs::Transactions,
};
