//! Whose command line a workload has.

use std::fmt;

/// A family of workloads with one command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `tidemark sysbench`.
    Sysbench,
    /// `tidemark tpcc`.
    Tpcc,
    /// `tidemark tpch`.
    Tpch,
    /// `tidemark ycsb`.
    Ycsb,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 4] = [Family::Sysbench, Family::Tpcc, Family::Tpch, Family::Ycsb];

    /// Its command.
    pub fn command(self) -> &'static str {
        match self {
            Family::Sysbench => "sysbench",
            Family::Tpcc => "tpcc",
            Family::Tpch => "tpch",
            Family::Ycsb => "ycsb",
        }
    }

    /// Another family with tables of the same names (`customer`, `orders`): both can't be in one
    /// database.
    pub(crate) fn clashes_with(self) -> Option<Family> {
        match self {
            Family::Tpcc => Some(Family::Tpch),
            Family::Tpch => Some(Family::Tpcc),
            Family::Sysbench | Family::Ycsb => None,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command())
    }
}
