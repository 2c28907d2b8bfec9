//! What the specification of TPC-C asks (revision 5.11), and what a record says of a run's scale.

mod cap;
pub(crate) mod like;
mod response;

use crate::family::Family;
use crate::option;
use crate::rules::{Rule, rule};
use crate::run::Run;
use crate::thresholds::{CHANCE, SAMPLES_BEYOND};
use crate::{AnalysisError, Finding};
use tidemark_core::record::RunRecord;
use tidemark_stats::Histogram;

/// The family's row of the registry.
pub(crate) const FAMILY: Family = Family {
    rules: &[
        rule!(cap),
        rule!(response, needs Histogram),
        not_like(like::mix),
        not_like(like::remote),
        not_like(like::tables),
        not_like(like::terminals),
        not_like(like::times),
    ],
    gives_up: true,
    ..Family::new("tpcc")
};

/// One of the things that make TPC-C.
const fn not_like(check: fn(&Run<'_>) -> Result<Option<Finding>, AnalysisError>) -> Rule {
    Rule {
        id: like::ID,
        check,
        of_queries: false,
        needs: &[],
    }
}

/// The type whose rate is tpmC.
pub const NEW_ORDER: &str = "NewOrder";
/// What is left of a Delivery when its user has the reply (clause 2.7.2).
pub const DEFERRED: &str = "DeferredDelivery";
/// The most New-Orders a minute that the ten terminals of a warehouse can make with keying and
/// think times of clause 5.2.5.7 and no response time at all.
pub const TPMC_PER_WAREHOUSE: f64 = 12.86;
/// Items of the catalogue, whatever the number of warehouses (clause 1.2.1).
const ITEMS: u64 = 100_000;
/// Terminals of a warehouse (clause 4.2.2).
pub const TERMINALS_PER_WAREHOUSE: u64 = 10;

/// Seconds after which terminals that all began together come at times of their own: three of their
/// cycles, each of which takes 21 s in the mean by the mix of clause 5.2.4 and the keying and think
/// times of clause 5.2.5.7. Before that their New-Orders come in waves (clause 5.5.1.2 asks for a
/// steady state).
pub const SETTLE_S: f64 = 63.0;

/// What the specification asks of a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TypeRequirement {
    /// Its name.
    pub name: &'static str,
    /// Its least share of the mix in percent (clause 5.2.3).
    pub least_share: Option<f64>,
    /// The limit of its 90th percentile in seconds (clauses 5.2.5.7 and 2.7.2).
    pub limit_s: f64,
}

/// What the specification asks of every type, in its order.
pub const TYPE_REQUIREMENTS: [TypeRequirement; 6] = [
    asked(NEW_ORDER, None, 5.0),
    asked("Payment", Some(43.0), 5.0),
    asked("OrderStatus", Some(4.0), 5.0),
    asked("Delivery", Some(4.0), 5.0),
    asked("StockLevel", Some(4.0), 20.0),
    asked(DEFERRED, None, 80.0),
];

const fn asked(name: &'static str, least_share: Option<f64>, limit_s: f64) -> TypeRequirement {
    TypeRequirement {
        name,
        least_share,
        limit_s,
    }
}

/// Whether a limit is kept, as far as the transactions tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitVerdict {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// There are too few transactions to tell.
    TooFew,
}

/// Whether 90 % of a type's transactions were as quick as its limit asks. With fewer than a hundred
/// only what chance can't explain is told: so many above the limit that it is broken.
pub fn keeps_limit(latency: &Histogram, limit_s: f64) -> LimitVerdict {
    let samples = latency.count() as f64;
    if samples >= SAMPLES_BEYOND / (1.0 - PERCENTILE / 100.0) {
        let p90_s = latency.percentile_ns(PERCENTILE) as f64 / 1e9;
        return if p90_s > limit_s {
            LimitVerdict::No
        } else {
            LimitVerdict::Yes
        };
    }
    let slow = latency
        .occupied()
        .filter(|(ns, _)| *ns as f64 / 1e9 > limit_s);
    let slow: u64 = slow.map(|(_, count)| count).sum();
    let share = 1.0 - PERCENTILE / 100.0;
    let chance = CHANCE * (samples * share * PERCENTILE / 100.0).sqrt();
    if samples > 0.0 && slow as f64 > samples * share + chance {
        LimitVerdict::No
    } else {
        LimitVerdict::TooFew
    }
}

/// What limits are of (clause 5.2.5.7).
const PERCENTILE: f64 = 90.0;

/// Whether a record is of a TPC-C run.
pub fn is_tpcc(record: &RunRecord) -> bool {
    record.workload == "tpcc"
}

/// Warehouses of the run; 0 where the record does not say.
pub fn warehouses(record: &RunRecord) -> u64 {
    let number = |name| option(record, name).and_then(|n| n.parse::<u64>().ok());
    let all = number("warehouses").unwrap_or(0);
    // Of clients that share the warehouses each has the terminals of its own.
    let last = number("last-warehouse").filter(|n| *n > 0).unwrap_or(all);
    let first = number("first-warehouse").filter(|n| *n > 0).unwrap_or(1);
    last.saturating_add(1).saturating_sub(first)
}

/// How long users key and think, as a multiple of the specification's times; 0 when they do
/// neither.
pub fn waits(record: &RunRecord) -> f64 {
    if option(record, "wait") != Some("on") {
        return 0.0;
    }
    option(record, "wait-scale")
        .and_then(|s| s.parse().ok())
        .unwrap_or(1.0)
}

/// Whether terminals that key and think had the time to come apart before the measurement; true where
/// the record does not tell the warm-up.
pub fn has_settled(record: &RunRecord) -> bool {
    let settles_in = SETTLE_S * waits(record);
    record.warmup_s.is_none_or(|s| s >= settles_in)
}

/// Whether users did only one of keying and thinking.
pub fn waits_for_one(record: &RunRecord) -> bool {
    !matches!(option(record, "wait-for"), None | Some("both"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// So many transactions, of which so many took 6 s.
    fn latencies(all: u64, slow: u64) -> Histogram {
        let mut h = Histogram::new();
        for n in 0..all {
            h.record(Duration::from_millis(if n < slow { 6000 } else { 100 }));
        }
        h
    }

    #[test]
    fn a_limit_is_judged_where_there_are_transactions_enough() {
        for (all, slow, kept) in [
            (0, 0, LimitVerdict::TooFew),
            (8, 0, LimitVerdict::TooFew),
            (8, 2, LimitVerdict::TooFew),
            (8, 8, LimitVerdict::No),
            (50, 30, LimitVerdict::No),
            (99, 0, LimitVerdict::TooFew),
            (101, 5, LimitVerdict::Yes),
            (101, 20, LimitVerdict::No),
        ] {
            assert_eq!(
                keeps_limit(&latencies(all, slow), 5.0),
                kept,
                "{slow} of {all}"
            );
        }
    }
}
