//! TPC-C's results, from a record alone.

use crate::digest::Digest;
use crate::merge::{TypeLatency, per_second};
use crate::{ReportError, load};
use std::fmt;
pub use tidemark_analysis::tpcc::LimitVerdict;
use tidemark_analysis::tpcc::{
    DEFERRED, TYPE_REQUIREMENTS, TypeRequirement, has_settled, is_tpcc, keeps_limit, waits,
    waits_for_one,
};
pub(super) use tidemark_analysis::tpcc::{NEW_ORDER, TPMC_PER_WAREHOUSE, warehouses};
pub use tidemark_analysis::tpcc::{SETTLE_S, TERMINALS_PER_WAREHOUSE};
use tidemark_core::is_currency;
use tidemark_core::record::RunRecord;

/// Whether a mix with such weights (New-Order, Payment, Order-Status, Delivery, Stock-Level) has the
/// shares that clause 5.2.3 asks for at least.
pub fn is_specified_mix(weights: &[f64; 5]) -> bool {
    let all: f64 = weights.iter().sum();
    let mut pairs = TYPE_REQUIREMENTS.iter().zip(weights);
    pairs.all(|(asked, weight)| {
        let least = asked.least_share;
        least.is_none_or(|least| weight * 100.0 >= least * all)
    })
}

/// Whether a user waits for its reply; only those count as transactions per minute.
pub fn is_interactive(name: &str) -> bool {
    name != DEFERRED
}

/// Why there is no efficiency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoEfficiency {
    /// Users neither keyed nor thought.
    NoThinkTimes,
    /// They did, so many times as long as the specification has it.
    Scaled(f64),
    /// They did only one of the two.
    OnlyOne,
    /// Arrivals were on a schedule.
    Schedule,
    /// The record does not say how many warehouses there were.
    NoWarehouses,
    /// A warehouse had more users than the ten whose New-Orders the limit counts.
    TooManyTerminals,
    /// Some types were too few (clause 5.2.3), so that others came oftener than the limit allows.
    Mix,
}

/// What a system costs over three years.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// Of what.
    pub currency: String,
}

/// Why a price was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: must be an amount above 0 and a currency; for example '12345 USD'")]
pub struct PriceError(String);

impl std::str::FromStr for Price {
    type Err = PriceError;

    /// Reads `12345 USD`, `12,345.50 EUR`, `USD 12345`.
    fn from_str(text: &str) -> Result<Self, PriceError> {
        let fail = || PriceError(text.into());
        let words: Vec<&str> = text.split_whitespace().collect();
        let [one, other] = words.as_slice() else {
            return Err(fail());
        };
        let number = |word: &str| word.replace([',', '_'], "").parse::<f64>().ok();
        let (amount, currency) = match (number(one), number(other)) {
            (Some(amount), None) => (amount, other),
            (None, Some(amount)) => (amount, one),
            _ => return Err(fail()),
        };
        if !(amount.is_finite() && amount > 0.0 && is_currency(currency)) {
            return Err(fail());
        }
        Ok(Self {
            amount,
            currency: (*currency).into(),
        })
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.amount, self.currency)
    }
}

/// One transaction type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeFigures {
    /// Its name.
    pub name: &'static str,
    /// Transactions that ended well; New-Orders that were rolled back on purpose are among them
    /// (clause 2.4.1.4).
    pub count: u64,
    /// Percent of all transactions; `None` for the deferred part of a Delivery, which is none.
    pub share: Option<f64>,
    /// Transactions of all types that `share` is of.
    pub all: u64,
    /// The least that the specification wants of it.
    pub least_share: Option<f64>,
    /// Mean, in milliseconds; response times where terminals wait for sessions.
    pub mean_ms: f64,
    /// 50th, 90th, 95th, 99th and 100th percentile, likewise.
    pub percentiles_ms: [f64; 5],
    /// What the 90th percentile must not exceed, in seconds.
    pub limit_s: f64,
    /// Whether 90 % were quick enough.
    pub quick_enough: LimitVerdict,
}

impl TypeFigures {
    /// Whether there were enough of them. A mix that is drawn at random lies around its weights:
    /// only what chance does not explain (three standard errors) is too little.
    pub fn often_enough(&self) -> bool {
        match (self.share, self.least_share) {
            (Some(share), Some(least)) if self.all > 0 => {
                let chance = (least * (100.0 - least) / self.all as f64).sqrt();
                share >= least - 3.0 * chance
            }
            _ => true,
        }
    }

    /// Whether there are so few transactions in all that a type without any could be chance.
    pub fn too_few_for_shares(&self) -> bool {
        let Some(least) = self.least_share else {
            return false;
        };
        let chance = (least * (100.0 - least) / self.all.max(1) as f64).sqrt();
        3.0 * chance >= least
    }
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TpccResults {
    /// Warehouses of the run.
    pub warehouses: u64,
    /// Emulated users.
    pub terminals: u64,
    /// How long keying and thinking were, as a multiple of the specification's; 0 when users did
    /// neither.
    pub waits: f64,
    /// Completed New-Orders a minute, those rolled back on purpose included (clause 5.4).
    pub tpmc: f64,
    /// Transactions a minute of all types.
    pub tpm_total: f64,
    /// tpmC in percent of what its warehouses' terminals could make, or why that says nothing.
    pub efficiency: Result<f64, NoEfficiency>,
    /// Whether the terminals had the time to come apart before the measurement.
    pub has_settled: bool,
    /// Every type in the specification's order; none when there was no transaction.
    pub types: Vec<TypeFigures>,
    /// What was counted beside the types: how often, and percent of what; `None` where the record
    /// has no such count.
    pub rolled_back: Option<(u64, f64)>,
    /// Payments by a customer of another warehouse (clause 2.5.1.2).
    pub remote_payment: Option<(u64, f64)>,
    /// Order lines that another warehouse supplies (clause 2.4.1.5).
    pub remote_line: Option<(u64, f64)>,
    /// Payments and Order-Status by last name (clauses 2.5.1.2 and 2.6.1.2).
    pub by_last_name: Option<(u64, f64)>,
    /// Districts that had no order to deliver (clause 2.7.4.2).
    pub delivery_skipped: Option<u64>,
    /// The system's price, and what one tpmC costs; `None` for the latter when there was none.
    pub price: Option<(Price, Option<f64>)>,
}

impl TpccResults {
    /// The results of a TPC-C run; `None` of any other.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn of(record: &RunRecord) -> Result<Option<Self>, ReportError> {
        Ok(Self::of_digest(&Digest::of(record)?))
    }

    pub(crate) fn of_digest(digest: &Digest<'_>) -> Option<Self> {
        let (record, elapsed_s) = (digest.record, digest.totals.elapsed_s);
        if !is_tpcc(record) {
            return None;
        }
        let count = |name: &str| -> u64 {
            let found = digest.types.iter().find(|(n, _)| *n == name);
            found.map_or(0, |(_, t)| t.count)
        };
        let interactive = digest.types.iter().filter(|(n, _)| is_interactive(n));
        let all: u64 = interactive.map(|(_, t)| t.count).sum();
        let noted = |name: &str| digest.totals.notes.get(name).copied();
        let part = |name: &str, of: u64| noted(name).map(|n| (n, share(n, of)));
        let tpmc = per_second(count(NEW_ORDER), elapsed_s) * 60.0;
        let (warehouses, waits) = (warehouses(record), waits(record));
        let price: Option<Price> = load::option(record, "price").and_then(|p| p.parse().ok());
        let terminals = record.terminals.unwrap_or(record.sessions) as u64;
        let types: Vec<TypeFigures> = TYPE_REQUIREMENTS
            .iter()
            .filter_map(|asked| {
                let found = digest.types.iter().find(|(n, _)| *n == asked.name);
                type_figures(asked, found.map(|(_, latency)| latency), all)
            })
            .collect();
        Some(Self {
            warehouses,
            terminals,
            waits,
            tpmc,
            tpm_total: per_second(all, elapsed_s) * 60.0,
            efficiency: is_efficient(digest, warehouses, terminals, waits, &types)
                .map(|()| 100.0 * tpmc / warehouses as f64 / TPMC_PER_WAREHOUSE),
            has_settled: has_settled(record),
            types,
            rolled_back: part("rolled_back", count(NEW_ORDER)),
            remote_payment: part("remote_payment", count("Payment")),
            remote_line: noted("order_line").and_then(|lines| part("remote_line", lines)),
            by_last_name: part("by_last_name", count("Payment") + count("OrderStatus")),
            delivery_skipped: noted("delivery_skipped"),
            price: price.map(|p| {
                let each = (tpmc > 0.0).then_some(p.amount / tpmc);
                (p, each)
            }),
        })
    }
}

fn share(part: u64, of: u64) -> f64 {
    match of {
        0 => 0.0,
        of => part as f64 / of as f64 * 100.0,
    }
}

/// Whether users were such that their warehouses limit tpmC.
fn is_efficient(
    digest: &Digest<'_>,
    warehouses: u64,
    terminals: u64,
    waits: f64,
    types: &[TypeFigures],
) -> Result<(), NoEfficiency> {
    let why_not = if digest.kind.is_open_loop() {
        NoEfficiency::Schedule
    } else if waits == 0.0 {
        NoEfficiency::NoThinkTimes
    } else if waits_for_one(digest.record) {
        NoEfficiency::OnlyOne
    } else if waits != 1.0 {
        NoEfficiency::Scaled(waits)
    } else if warehouses == 0 {
        NoEfficiency::NoWarehouses
    } else if terminals > warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE) {
        NoEfficiency::TooManyTerminals
    } else if !types.iter().all(TypeFigures::often_enough) {
        NoEfficiency::Mix
    } else {
        return Ok(());
    };
    Err(why_not)
}

/// A type without a transaction is one whose share is too small; `None` when there was nothing to
/// have a share of, and for the deferred part of Delivery where nothing was deferred.
fn type_figures(
    asked: &TypeRequirement,
    latency: Option<&TypeLatency>,
    all: u64,
) -> Option<TypeFigures> {
    let TypeRequirement {
        name,
        least_share,
        limit_s,
    } = *asked;
    let nothing = TypeLatency::default();
    let latency = latency.unwrap_or(&nothing);
    if latency.count == 0 && (all == 0 || !is_interactive(name)) {
        return None;
    }
    let h = latency.latency();
    Some(TypeFigures {
        name,
        count: latency.count,
        share: is_interactive(name).then(|| share(latency.count, all)),
        all,
        least_share,
        mean_ms: h.mean_ns() / 1e6,
        percentiles_ms: [50.0, 90.0, 95.0, 99.0, 100.0].map(|p| h.percentile_ns(p) as f64 / 1e6),
        limit_s,
        quick_enough: keeps_limit(h, limit_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_the_specifications_when_every_type_has_its_least() {
        for (weights, is) in [
            ([45.0, 43.0, 4.0, 4.0, 4.0], true),
            ([450.0, 430.0, 40.0, 40.0, 40.0], true),
            ([10.0, 60.0, 10.0, 10.0, 10.0], true),
            ([100.0, 0.0, 0.0, 0.0, 0.0], false),
            ([46.0, 42.0, 4.0, 4.0, 4.0], false),
            ([48.0, 43.0, 4.0, 4.0, 1.0], false),
        ] {
            assert_eq!(is_specified_mix(&weights), is, "{weights:?}");
        }
    }

    #[test]
    fn prices_have_an_amount_and_a_currency() {
        for (text, amount, currency) in [
            ("12345 USD", 12345.0, "USD"),
            ("12,345.50 EUR", 12345.5, "EUR"),
            ("CNY 800000", 800_000.0, "CNY"),
            ("5 元", 5.0, "元"),
        ] {
            let price: Price = text.parse().unwrap();
            assert_eq!((price.amount, price.currency.as_str()), (amount, currency));
        }
        for text in [
            "", "12345", "USD", "0 USD", "-5 USD", "1 2", "inf USD", "1 a b", "1 U5D",
        ] {
            let error = text.parse::<Price>().unwrap_err().to_string();
            assert!(error.contains("'12345 USD'"), "{error}");
        }
    }
}
