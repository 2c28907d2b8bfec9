//! The consistency conditions of clause 3.3.2, as queries for what breaks them.
//!
//! They are written for ordinary optimisers. Each side is aggregated once, in one pass over its
//! table in the order of its primary key; what is joined then are the small results, and where
//! both are large (the orders, the customers) the two are stacked by UNION ALL and summed by key, so
//! that no plan can compare each row with each, whatever the server believes of their number. Each
//! statement asks about one warehouse where the tables begin with its number: its temporary tables
//! then stay in the server's memory. `history` has no key (clause 1.3.1), so that each statement may
//! read all of it: what only needs its sums asks about all warehouses at once.
//!
//! A sum of money is rounded to cents before it is compared: an engine without decimals adds
//! floating numbers. A value that is NULL where it must not be breaks the condition, too.

use crate::{Check, Sentence};

/// Statements that may each read the whole of `history`, however many warehouses there are.
const HISTORY_PASSES: u64 = 32;

/// Orders of a district that the population has delivered (clause 4.3.3.1).
///
/// Clause 3.3.2.11 holds for the initial population alone as it stands there: each Delivery takes
/// a row of NEW-ORDER and leaves that of ORDER. The customers count their deliveries from 0
/// (clauses 2.7.4.2, 4.3.3.1), so that with their sum it is a condition for all times, and the
/// same one for an initial population.
const ORDERS_DELIVERED: &str = "\
SELECT d_w_id, d_id, orders_there, new_orders, deliveries
FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS orders_there FROM orders
           WHERE o_w_id {in} GROUP BY o_w_id, o_d_id) o
  ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS new_orders FROM new_order
           WHERE no_w_id {in} GROUP BY no_w_id, no_d_id) n
  ON no_w_id = d_w_id AND no_d_id = d_id
LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS deliveries FROM customer
           WHERE c_w_id {in} GROUP BY c_w_id, c_d_id) c
  ON c_w_id = d_w_id AND c_d_id = d_id
WHERE d_w_id {in}
  AND COALESCE(COALESCE(orders_there, 0) - COALESCE(new_orders, 0) - deliveries, 0) <> 2100";

/// Clause 4.3.3.1; these three neither grow nor shrink (clause 1.2.1).
const POPULATION: &str = "\
SELECT warehouses, districts, customers
FROM (SELECT (SELECT COUNT(*) FROM warehouse WHERE w_id {in}) AS warehouses,
             (SELECT COUNT(*) FROM district WHERE d_w_id {in}) AS districts,
             (SELECT COUNT(*) FROM customer WHERE c_w_id {in}) AS customers) counted
WHERE warehouses <> {units} OR districts <> 10 * {units} OR customers <> 30000 * {units}";

/// W_YTD = sum(D_YTD).
const WAREHOUSE_DISTRICTS: &str = "\
SELECT w_id, w_ytd, sum_d_ytd
FROM warehouse
LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS sum_d_ytd FROM district
           WHERE d_w_id {in} GROUP BY d_w_id) d
  ON d_w_id = w_id
WHERE w_id {in} AND COALESCE(ROUND(w_ytd - sum_d_ytd, 2), 1) <> 0";

/// D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID); the latter where there are new orders.
const NEXT_ORDER: &str = "\
SELECT d_w_id, d_id, d_next_o_id, max_o_id, max_no_o_id
FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS max_o_id FROM orders
           WHERE o_w_id {in} GROUP BY o_w_id, o_d_id) o
  ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS max_no_o_id FROM new_order
           WHERE no_w_id {in} GROUP BY no_w_id, no_d_id) n
  ON no_w_id = d_w_id AND no_d_id = d_id
WHERE d_w_id {in}
  AND (COALESCE(d_next_o_id - 1 - max_o_id, 1) <> 0
       OR COALESCE(max_no_o_id, max_o_id) <> max_o_id)";

/// max(NO_O_ID) - min(NO_O_ID) + 1 = number of new orders.
const NEW_ORDERS_IN_ROW: &str = "\
SELECT no_w_id, no_d_id, MIN(no_o_id) AS min_no_o_id, MAX(no_o_id) AS max_no_o_id,
       COUNT(*) AS new_orders
FROM new_order
WHERE no_w_id {in}
GROUP BY no_w_id, no_d_id
HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)";

/// sum(O_OL_CNT) = number of order lines, for each district.
const LINES_OF_DISTRICT: &str = "\
SELECT d_w_id, d_id, sum_o_ol_cnt, order_lines
FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS sum_o_ol_cnt FROM orders
           WHERE o_w_id {in} GROUP BY o_w_id, o_d_id) o
  ON o_w_id = d_w_id AND o_d_id = d_id
LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS order_lines FROM order_line
           WHERE ol_w_id {in} GROUP BY ol_w_id, ol_d_id) l
  ON ol_w_id = d_w_id AND ol_d_id = d_id
WHERE d_w_id {in} AND COALESCE(sum_o_ol_cnt, 0) <> COALESCE(order_lines, 0)";

/// O_CARRIER_ID is null if and only if there is a new order.
const CARRIER: &str = "\
SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id
FROM orders
LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE o_w_id {in} AND (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)";

/// O_OL_CNT = number of order lines, for each order; lines without an order break it as well.
const LINES_OF_ORDER: &str = "\
SELECT w_id, d_id, o_id, SUM(o_ol_cnt) AS all_o_ol_cnt, SUM(order_lines) AS all_lines
FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, COALESCE(o_ol_cnt, -1) AS o_ol_cnt,
             0 AS order_lines
      FROM orders WHERE o_w_id {in}
      UNION ALL
      SELECT ol_w_id, ol_d_id, ol_o_id, 0, COUNT(*) FROM order_line
      WHERE ol_w_id {in} GROUP BY ol_w_id, ol_d_id, ol_o_id) sides
GROUP BY w_id, d_id, o_id
HAVING SUM(o_ol_cnt) <> SUM(order_lines)";

/// OL_DELIVERY_D is null if and only if O_CARRIER_ID is. Asked for each order: none of its lines
/// has a date, or all.
const DELIVERY_DATE: &str = "\
SELECT w_id, d_id, o_id, SUM(carriers) AS all_carriers, SUM(order_lines) AS all_lines,
       SUM(dated) AS all_dated
FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, 1 AS orders_there,
             CASE WHEN o_carrier_id IS NULL THEN 0 ELSE 1 END AS carriers,
             0 AS order_lines, 0 AS dated
      FROM orders WHERE o_w_id {in}
      UNION ALL
      SELECT ol_w_id, ol_d_id, ol_o_id, 0, 0, COUNT(*), COUNT(ol_delivery_d) FROM order_line
      WHERE ol_w_id {in} GROUP BY ol_w_id, ol_d_id, ol_o_id) sides
GROUP BY w_id, d_id, o_id
HAVING SUM(dated) <> SUM(carriers) * SUM(order_lines) OR SUM(orders_there) = 0";

/// W_YTD = sum(H_AMOUNT).
const WAREHOUSE_PAYMENTS: &str = "\
SELECT w_id, w_ytd, sum_h_amount
FROM warehouse
LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS sum_h_amount FROM history
           WHERE h_w_id {in} GROUP BY h_w_id) h
  ON h_w_id = w_id
WHERE w_id {in} AND COALESCE(ROUND(w_ytd - COALESCE(sum_h_amount, 0), 2), 1) <> 0";

/// D_YTD = sum(H_AMOUNT).
const DISTRICT_PAYMENTS: &str = "\
SELECT d_w_id, d_id, d_ytd, sum_h_amount
FROM district
LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS sum_h_amount FROM history
           WHERE h_w_id {in} GROUP BY h_w_id, h_d_id) h
  ON h_w_id = d_w_id AND h_d_id = d_id
WHERE d_w_id {in} AND COALESCE(ROUND(d_ytd - COALESCE(sum_h_amount, 0), 2), 1) <> 0";

/// C_BALANCE = sum(OL_AMOUNT) - sum(H_AMOUNT), of lines delivered. `0.00` and not `0`: some
/// engines stack no integers on decimals.
const BALANCE: &str = "\
SELECT w_id, d_id, c_id, SUM(c_balance) AS balance, SUM(delivered) AS sum_ol_amount,
       SUM(paid) AS sum_h_amount
FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance, 0.00 AS delivered, 0.00 AS paid
      FROM customer WHERE c_w_id {in}
      UNION ALL
      SELECT h_c_w_id, h_c_d_id, h_c_id, 0.00, 0.00, SUM(h_amount) FROM history
      WHERE h_c_w_id {in} GROUP BY h_c_w_id, h_c_d_id, h_c_id
      UNION ALL
      SELECT o_w_id, o_d_id, o_c_id, 0.00, SUM(ol_amount), 0.00 FROM orders
      JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
      WHERE o_w_id {in} AND ol_w_id {in} AND ol_delivery_d IS NOT NULL
      GROUP BY o_w_id, o_d_id, o_c_id) sides
GROUP BY w_id, d_id, c_id
HAVING COALESCE(ROUND(SUM(c_balance) - SUM(delivered) + SUM(paid), 2), 1) <> 0";

/// C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT), of lines delivered. The clause asks for some
/// customers; these are all.
const PAYMENTS_AND_BALANCE: &str = "\
SELECT w_id, d_id, c_id, SUM(c_balance) AS balance, SUM(c_ytd_payment) AS ytd_payment,
       SUM(delivered) AS sum_ol_amount
FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, c_balance, c_ytd_payment, 0.00 AS delivered
      FROM customer WHERE c_w_id {in}
      UNION ALL
      SELECT o_w_id, o_d_id, o_c_id, 0.00, 0.00, SUM(ol_amount) FROM orders
      JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
      WHERE o_w_id {in} AND ol_w_id {in} AND ol_delivery_d IS NOT NULL
      GROUP BY o_w_id, o_d_id, o_c_id) sides
GROUP BY w_id, d_id, c_id
HAVING COALESCE(ROUND(SUM(c_balance) + SUM(c_ytd_payment) - SUM(delivered), 2), 1) <> 0";

/// The conditions of clause 3.3.2 for warehouses 1 to `warehouses`, and before them that those are
/// there: an empty table breaks no condition.
pub(super) fn checks(warehouses: u64) -> Vec<Check> {
    let passes = warehouses.div_ceil(HISTORY_PASSES);
    let check = |name, sql, columns, block, en, zh| Check {
        name,
        says: Sentence { en, zh },
        sql,
        columns,
        units: warehouses,
        block,
    };
    vec![
        check(
            "4.3.3.1",
            POPULATION,
            &["warehouses", "districts", "customers"],
            1,
            "every warehouse exists, with 10 districts of 3,000 customers",
            "每个仓库都在,各有 10 个区,每区 3,000 名客户",
        ),
        check(
            "3.3.2.1",
            WAREHOUSE_DISTRICTS,
            &["w_id", "w_ytd", "sum(d_ytd)"],
            0,
            "a warehouse's total is the sum of its districts' (w_ytd = sum of d_ytd)",
            "仓库的累计收款等于其各区之和(w_ytd = d_ytd 之和)",
        ),
        check(
            "3.3.2.2",
            NEXT_ORDER,
            &["d_w_id", "d_id", "d_next_o_id", "max(o_id)", "max(no_o_id)"],
            1,
            "a district's next order number follows its last order, which is its last new order",
            "每区的下一个订单号紧接最后的订单,也就是最后的新订单",
        ),
        check(
            "3.3.2.3",
            NEW_ORDERS_IN_ROW,
            &[
                "no_w_id",
                "no_d_id",
                "min(no_o_id)",
                "max(no_o_id)",
                "count(new_order)",
            ],
            1,
            "the numbers of a district's new orders have no gaps",
            "每区新订单的编号没有缺口",
        ),
        check(
            "3.3.2.4",
            LINES_OF_DISTRICT,
            &["d_w_id", "d_id", "sum(o_ol_cnt)", "count(order_line)"],
            1,
            "a district's order lines match the counts of its orders (sum of o_ol_cnt)",
            "每区的订单行数等于其订单所记行数之和(o_ol_cnt 之和)",
        ),
        check(
            "3.3.2.5",
            CARRIER,
            &["o_w_id", "o_d_id", "o_id", "o_carrier_id", "no_o_id"],
            1,
            "an order has no carrier if and only if it is a new order",
            "订单没有承运人,当且仅当它是新订单",
        ),
        check(
            "3.3.2.6",
            LINES_OF_ORDER,
            &["o_w_id", "o_d_id", "o_id", "o_ol_cnt", "count(order_line)"],
            1,
            "an order's lines match its count (o_ol_cnt)",
            "订单的行数等于它所记的行数(o_ol_cnt)",
        ),
        check(
            "3.3.2.7",
            DELIVERY_DATE,
            &[
                "o_w_id",
                "o_d_id",
                "o_id",
                "carriers",
                "count(order_line)",
                "count(ol_delivery_d)",
            ],
            1,
            "an order line has no delivery date if and only if its order has no carrier",
            "订单行没有交货日期,当且仅当其订单没有承运人",
        ),
        check(
            "3.3.2.8",
            WAREHOUSE_PAYMENTS,
            &["w_id", "w_ytd", "sum(h_amount)"],
            0,
            "a warehouse's total matches the history (w_ytd = sum of h_amount)",
            "仓库的累计收款等于付款历史之和(w_ytd = h_amount 之和)",
        ),
        check(
            "3.3.2.9",
            DISTRICT_PAYMENTS,
            &["d_w_id", "d_id", "d_ytd", "sum(h_amount)"],
            0,
            "a district's total matches the history (d_ytd = sum of h_amount)",
            "每区的累计收款等于付款历史之和(d_ytd = h_amount 之和)",
        ),
        check(
            "3.3.2.10",
            BALANCE,
            &[
                "c_w_id",
                "c_d_id",
                "c_id",
                "c_balance",
                "sum(ol_amount)",
                "sum(h_amount)",
            ],
            passes,
            "a customer's balance is deliveries minus payments in the history (c_balance)",
            "客户的欠款等于已交货金额减去付款历史之和(c_balance)",
        ),
        check(
            "3.3.2.11",
            ORDERS_DELIVERED,
            &[
                "d_w_id",
                "d_id",
                "count(orders)",
                "count(new_order)",
                "sum(c_delivery_cnt)",
            ],
            1,
            "a district has 2,100 orders that are not new orders, plus one per delivery since \
             the initial population",
            "每区的订单中有 2,100 个不是新订单,初始数据之后每次交货再多一个",
        ),
        check(
            "3.3.2.12",
            PAYMENTS_AND_BALANCE,
            &[
                "c_w_id",
                "c_d_id",
                "c_id",
                "c_balance",
                "c_ytd_payment",
                "sum(ol_amount)",
            ],
            1,
            "a customer's balance plus payments equals deliveries (c_balance + c_ytd_payment)",
            "客户的欠款加已付款等于已交货金额(c_balance + c_ytd_payment)",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twelve_conditions_follow_the_population() {
        let names: Vec<_> = checks(4).iter().map(|c| c.name).collect();
        let twelve = (1..=12).map(|n| format!("3.3.2.{n}"));
        let expected: Vec<_> = std::iter::once("4.3.3.1".to_string())
            .chain(twelve)
            .collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn history_is_read_a_bounded_number_of_times() {
        for warehouses in [1, 4, 32, 33, 1_000, 1_000_000] {
            for check in checks(warehouses) {
                if check.sql.contains("history") {
                    assert!(check.blocks() <= HISTORY_PASSES, "{}", check.name);
                }
                // Warehouses without end are never asked about by name, nor twice.
                assert!(check.blocks() <= warehouses, "{}", check.name);
            }
        }
    }

    #[test]
    fn every_query_is_bound_to_its_block_on_each_table() {
        for check in checks(4) {
            let sql = check.statement(0);
            assert!(!sql.contains(['{', '}']), "{sql}");
            let tables = [
                "warehouse",
                "district",
                "customer",
                "history",
                "new_order",
                "order_line",
            ];
            let reads = tables.iter().filter(|t| {
                let (from, join) = (format!("FROM {t}"), format!("JOIN {t}"));
                sql.contains(&from) || sql.contains(&join)
            });
            let bounds =
                sql.matches("_id = 1").count() + sql.matches("_id BETWEEN 1 AND 4").count();
            assert!(bounds >= reads.count(), "{}: {sql}", check.name);
        }
    }
}
