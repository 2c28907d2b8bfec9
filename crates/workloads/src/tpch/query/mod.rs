//! The 22 queries (clause 2.4 of the TPC-H specification, revision 3.0.1).
//!
//! Each stands in a file of its own under `sql/`, written from its functional definition. Where the
//! specification offers variants (appendix B), Q15 takes the one whose view is part of the query
//! (variant A): streams that run side by side have no names to share then, and nothing to drop.

mod template;

use super::parameters::Parameters;
use std::fmt;
use tidemark_drivers::Dialect;

/// How a value of an answer is compared with the right one (clause 2.1.3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonRule {
    /// The same text; spaces that fill up a CHAR do not count.
    Text,
    /// The same number: single values, counts, sums of quantities.
    Number,
    /// A sum of money: within $100.
    Sum,
    /// An average or a ratio: within 1 % when rounded to hundredths.
    Ratio,
}

/// One of the queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// 1 to 22.
    pub number: u8,
    /// What it answers, as the specification calls it.
    pub title: &'static str,
    /// Its columns' names, each with its rule.
    pub columns: &'static [(&'static str, ComparisonRule)],
    /// The column that rows are ordered by, where rows with equal values may come in any order.
    pub tied_by: Option<usize>,
    /// The most rows that it answers, if there is such a number.
    pub limit: Option<usize>,
    template: &'static str,
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Q{}", self.number)
    }
}

impl Query {
    /// The query of that number; `None` when there is none.
    pub fn numbered(number: u8) -> Option<&'static Query> {
        usize::from(number).checked_sub(1).and_then(|i| ALL.get(i))
    }

    /// The query of a name as go-tpc has it: `q1`, in either case.
    pub fn named(name: &str) -> Option<&'static Query> {
        let digits = name.strip_prefix(['q', 'Q'])?;
        let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        digits
            .parse()
            .ok()
            .filter(|_| plain)
            .and_then(Query::numbered)
    }

    /// Its SQL.
    pub fn sql(&self, parameters: &Parameters, dialect: &Dialect) -> String {
        template::render(self.template, parameters.values(), dialect)
    }
}

macro_rules! query {
    ($number:literal, $title:literal, tied $tied:expr, limit $limit:expr,
     $(($name:literal, $rule:ident)),+) => {
        Query {
            number: $number,
            title: $title,
            columns: &[$(($name, ComparisonRule::$rule)),+],
            tied_by: $tied,
            limit: $limit,
            template: include_str!(concat!("sql/q", $number, ".sql")),
        }
    };
}

/// All of them, in order.
pub static ALL: [Query; 22] = [
    query!(1, "Pricing Summary Report", tied None, limit None,
        ("l_returnflag", Text), ("l_linestatus", Text), ("sum_qty", Number),
        ("sum_base_price", Sum), ("sum_disc_price", Sum), ("sum_charge", Sum), ("avg_qty", Ratio),
        ("avg_price", Ratio), ("avg_disc", Ratio), ("count_order", Number)),
    query!(2, "Minimum Cost Supplier", tied None, limit Some(100),
        ("s_acctbal", Number), ("s_name", Text), ("n_name", Text), ("p_partkey", Number),
        ("p_mfgr", Text), ("s_address", Text), ("s_phone", Text), ("s_comment", Text)),
    query!(3, "Shipping Priority", tied Some(1), limit Some(10),
        ("l_orderkey", Number), ("revenue", Sum), ("o_orderdate", Text),
        ("o_shippriority", Number)),
    query!(4, "Order Priority Checking", tied None, limit None,
        ("o_orderpriority", Text), ("order_count", Number)),
    query!(5, "Local Supplier Volume", tied Some(1), limit None,
        ("n_name", Text), ("revenue", Sum)),
    query!(6, "Forecasting Revenue Change", tied None, limit None,
        ("revenue", Sum)),
    query!(7, "Volume Shipping", tied None, limit None,
        ("supp_nation", Text), ("cust_nation", Text), ("l_year", Number), ("revenue", Sum)),
    query!(8, "National Market Share", tied None, limit None,
        ("o_year", Number), ("mkt_share", Ratio)),
    query!(9, "Product Type Profit Measure", tied None, limit None,
        ("nation", Text), ("o_year", Number), ("sum_profit", Sum)),
    query!(10, "Returned Item Reporting", tied Some(2), limit Some(20),
        ("c_custkey", Number), ("c_name", Text), ("revenue", Sum), ("c_acctbal", Number),
        ("n_name", Text), ("c_address", Text), ("c_phone", Text), ("c_comment", Text)),
    query!(11, "Important Stock Identification", tied Some(1), limit None,
        ("ps_partkey", Number), ("value", Sum)),
    query!(12, "Shipping Modes and Order Priority", tied None, limit None,
        ("l_shipmode", Text), ("high_line_count", Number), ("low_line_count", Number)),
    query!(13, "Customer Distribution", tied None, limit None,
        ("c_count", Number), ("custdist", Number)),
    query!(14, "Promotion Effect", tied None, limit None,
        ("promo_revenue", Ratio)),
    query!(15, "Top Supplier", tied None, limit None,
        ("s_suppkey", Number), ("s_name", Text), ("s_address", Text), ("s_phone", Text),
        ("total_revenue", Sum)),
    query!(16, "Parts/Supplier Relationship", tied None, limit None,
        ("p_brand", Text), ("p_type", Text), ("p_size", Number), ("supplier_cnt", Number)),
    query!(17, "Small-Quantity-Order Revenue", tied None, limit None,
        ("avg_yearly", Ratio)),
    query!(18, "Large Volume Customer", tied Some(4), limit Some(100),
        ("c_name", Text), ("c_custkey", Number), ("o_orderkey", Number), ("o_orderdate", Text),
        ("o_totalprice", Number), ("sum_qty", Number)),
    query!(19, "Discounted Revenue", tied None, limit None,
        ("revenue", Sum)),
    query!(20, "Potential Part Promotion", tied None, limit None,
        ("s_name", Text), ("s_address", Text)),
    query!(21, "Suppliers Who Kept Orders Waiting", tied None, limit Some(100),
        ("s_name", Text), ("numwait", Number)),
    query!(22, "Global Sales Opportunity", tied None, limit None,
        ("cntrycode", Text), ("numcust", Number), ("totacctbal", Sum)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_found_by_number_and_name() {
        for (index, query) in ALL.iter().enumerate() {
            assert_eq!(usize::from(query.number), index + 1);
            assert_eq!(Query::named(&query.to_string()), Some(query));
            assert_eq!(Query::named(&format!("q{}", query.number)), Some(query));
        }
        for none in ["q0", "q23", "q01", "q+1", "q", "1", "", "q1 "] {
            assert_eq!(Query::named(none), None, "{none}");
        }
        assert_eq!(Query::numbered(0), None);
    }
}
