//! What each transaction leaves behind.

use super::super::input::{NewOrder, OrderLineInput, OrderStatus, Payment, UNUSED_ITEM, Who};
use super::super::order_status::OrderShown;
use super::super::{delivery, new_order, order_status, payment, stock_level};
use super::fixture::{LINES, ORDERS, Ready, dist, every_way};
use tidemark_core::{DbError, ErrorClass};

fn line(item: u32, warehouse: u32, quantity: u8) -> OrderLineInput {
    OrderLineInput {
        item,
        warehouse,
        quantity,
    }
}

/// Two lines of one item, one from another warehouse.
const LINES_OF_ORDER: [(u32, u32, u8); 5] =
    [(7, 1, 3), (5, 2, 5), (2, 1, 2), (7, 1, 10), (20, 1, 1)];

fn order(last: u32) -> NewOrder {
    let mut lines = LINES_OF_ORDER.map(|(i, w, q)| line(i, w, q));
    lines[4].item = last;
    NewOrder::of(3, 1, &lines)
}

#[test]
fn a_new_order_changes_stock_district_and_orders() {
    every_way("tx_new_order", async |db| {
        let entered = new_order::enter(&mut db.work(1), &order(20)).await.unwrap();
        let amounts = [3 * 725, 5 * 525, 2 * 225, 10 * 725, 2025];
        let sum: i64 = amounts.iter().sum();
        assert_eq!(entered.order, ORDERS + 1);
        // A discount of 20 %; taxes of 10 % and 5 %.
        assert_eq!(entered.total, sum * 8_000 * 11_500 / 100_000_000);
        assert!(!entered.rolled_back);

        let orders = db
            .rows(
                "SELECT o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local FROM orders \
                 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id > 3",
            )
            .await;
        assert_eq!(orders, [["4", "1", "NULL", "5", "0"]]);
        let new = db
            .rows("SELECT no_o_id FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 ORDER BY 1")
            .await;
        assert_eq!(new, [["2"], ["3"], ["4"]]);
        let next = db
            .rows("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3")
            .await;
        assert_eq!(next, [["5"]]);

        let lines = db
            .rows(
                "SELECT ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, \
                 ol_dist_info FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 4 \
                 ORDER BY ol_number",
            )
            .await;
        let expected: Vec<_> = LINES_OF_ORDER
            .iter()
            .zip(1..)
            .map(|((item, warehouse, quantity), number): (_, i64)| {
                let dist = dist(3, (*item).into());
                let (i, w, q) = (
                    item.to_string(),
                    warehouse.to_string(),
                    quantity.to_string(),
                );
                vec![number.to_string(), i, w, "NULL".into(), q, dist]
            })
            .collect();
        assert_eq!(lines, expected);
        for (amount, number) in amounts.iter().zip(1..) {
            let sql = format!(
                "SELECT ol_amount FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 \
                 AND ol_o_id = 4 AND ol_number = {number}"
            );
            assert_eq!(db.numbers(&sql).await, [*amount], "{:?}", db.way);
        }

        let stock = db
            .rows(
                "SELECT s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock \
                 WHERE s_ytd <> 0 OR s_order_cnt <> 0 OR s_quantity <> 12 ORDER BY 1, 2",
            )
            .await;
        // 12 - 2 is enough; 12 - 3 is filled up to 100, and 10 are taken of that.
        let expected = [
            ["1", "2", "10", "2", "1", "0"],
            ["1", "7", "90", "13", "2", "0"],
            ["1", "20", "11", "1", "1", "0"],
            ["2", "5", "98", "5", "1", "1"],
        ];
        assert_eq!(stock, expected, "{:?}", db.way);
    });
}

#[test]
fn an_order_of_an_unused_item_leaves_nothing_behind() {
    every_way("tx_rollback", async |db| {
        let before = db.everything().await;
        let counts = db.session.counts();
        let entered = new_order::enter(&mut db.work(1), &order(UNUSED_ITEM))
            .await
            .unwrap();
        assert!(entered.rolled_back);
        assert_eq!(entered.order, ORDERS + 1);
        // 2.4.2.3: all was done for the others.
        let sent = db.session.counts() - counts;
        assert!(sent.write >= 3, "{sent:?}");
        assert_eq!(db.everything().await, before, "{:?}", db.way);
        // The session knows that no transaction is open.
        let counts = db.session.counts();
        db.session.rollback().await.unwrap();
        assert_eq!(db.session.counts(), counts);
        let again = new_order::enter(&mut db.work(1), &order(20)).await.unwrap();
        assert_eq!(again.order, entered.order);
    });
}

#[test]
fn an_order_of_ten_lines_sends_twenty_statements_at_most() {
    every_way("tx_count", async |db| {
        let lines: Vec<_> = (1..=10).map(|i| line(i, 1 + i % 2, 1)).collect();
        let before = db.session.counts();
        let order = NewOrder::of(1, 1, &lines);
        new_order::enter(&mut db.work(1), &order).await.unwrap();
        let counted = db.session.counts() - before;
        let sent = counted.total();
        let returning = u64::from(db.way.engine != "mariadb");
        let expected = match (db.way.statements != "single", db.way.engine) {
            (true, "postgres") => 10,
            (true, _) => 20 - returning,
            (false, _) => 7 + 40 - returning,
        };
        assert_eq!(sent, expected, "{:?}", db.way);
        let round_trips = match (db.way.is_pipelined(), db.way.engine) {
            (_, "sqlite") => 0,
            (true, "postgres") => 5,
            (true, _) => 6,
            (false, _) => sent,
        };
        assert_eq!(counted.round_trips, round_trips, "{:?}", db.way);
        // The order, its entry in new_order and its lines went with the COMMIT, or where that must
        // know of them, before it; where no UPDATE returns its row, the district, too.
        let along = match (db.way.is_pipelined(), db.way.engine) {
            (true, "postgres") => &[1, 1, 10][..],
            (true, "mariadb") => &[1, 1, 1, 10],
            _ => &[],
        };
        assert_eq!(db.session.changed_ahead(), along, "{:?}", db.way);
    });
}

fn paid(warehouse: u32, district: u8, who: Who) -> Payment {
    Payment {
        district: 2,
        customer_warehouse: warehouse,
        customer_district: district,
        who,
        amount: 123_456,
    }
}

#[test]
fn a_payment_is_summed_up_and_remembered() {
    every_way("tx_payment", async |db| {
        // The second of four with this name, by first name, is customer 1.
        for (payment, customer) in [
            (paid(1, 2, Who::Number(3)), 3),
            (paid(2, 9, Who::LastName(0)), 1),
        ] {
            payment::pay(&mut db.work(1), &payment).await.unwrap();
            let (w, d) = (payment.customer_warehouse, payment.customer_district);
            let sql = format!(
                "SELECT c_balance, c_ytd_payment, c_payment_cnt FROM customer \
                 WHERE c_w_id = {w} AND c_d_id = {d} AND c_id = {customer}"
            );
            let expected = [-1_000 - 123_456, 1_000 + 123_456, 200];
            assert_eq!(db.numbers(&sql).await, expected, "{:?}", db.way);
            let history = db
                .rows(&format!(
                    "SELECT h_d_id, h_w_id, h_data FROM history \
                     WHERE h_c_w_id = {w} AND h_c_d_id = {d} AND h_c_id = {customer} \
                     AND h_data <> 'first'"
                ))
                .await;
            assert_eq!(history, [["2", "1", "house 1    part 2"]]);
        }
        let paid = 2 * 123_456;
        let sums = "SELECT w_ytd, d_ytd FROM warehouse, district \
                    WHERE w_id = 1 AND d_w_id = 1 AND d_id = 2";
        assert_eq!(
            db.numbers(sums).await,
            [30_000_000 + paid, 3_000_000 + paid]
        );
        let amounts = "SELECT SUM(h_amount), COUNT(*) FROM history WHERE h_data <> 'first'";
        assert_eq!(db.numbers(amounts).await, [paid, 200]);
        let others = "SELECT COUNT(*) FROM customer WHERE c_payment_cnt = 1";
        assert_eq!(db.numbers(others).await, [9_800]);
        let good = db
            .rows("SELECT c_data FROM customer WHERE c_w_id = 1 AND c_d_id = 2 AND c_id = 3")
            .await;
        assert_eq!(good, [["3".repeat(500)]]);
    });
}

#[test]
fn bad_credit_is_written_before_what_is_known() {
    every_way("tx_bad_credit", async |db| {
        // The only one of this name.
        let payment = paid(2, 5, Who::LastName(1));
        payment::pay(&mut db.work(1), &payment).await.unwrap();
        let data = db
            .rows("SELECT c_data FROM customer WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 4")
            .await;
        let history = "4 5 2 2 1 1234.56|";
        let expected = format!("{history}{}", "4".repeat(500 - history.len()));
        assert_eq!(data, [[expected]], "{:?}", db.way);
        let balance = "SELECT c_balance FROM customer WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = 4";
        assert_eq!(db.numbers(balance).await, [-124_456]);
    });
}

async fn ask(db: &mut Ready, warehouse: i64, input: OrderStatus) -> Result<OrderShown, DbError> {
    order_status::ask(&mut db.work(warehouse), &input).await
}

#[test]
fn an_order_status_finds_the_last_order_and_changes_nothing() {
    every_way("tx_order_status", async |db| {
        let before = db.everything().await;
        for (district, who, customer) in [(4, Who::Number(2), 2), (10, Who::LastName(0), 1)] {
            let asked = ask(db, 2, OrderStatus { district, who }).await;
            let lines = LINES as usize;
            let expected = OrderShown {
                customer,
                order: customer,
                lines,
            };
            assert_eq!(asked, Ok(expected), "{:?}", db.way);
        }
        assert_eq!(db.everything().await, before);
        // Of two orders it is the last.
        let order = NewOrder::of(4, 2, &[(1, 2, 1); 5].map(|(i, w, q)| line(i, w, q)));
        new_order::enter(&mut db.work(2), &order).await.unwrap();
        let who = Who::Number(2);
        let asked = ask(db, 2, OrderStatus { district: 4, who }).await;
        assert_eq!(asked.unwrap().order, 4);
    });
}

#[test]
fn a_delivery_takes_the_oldest_order_of_each_district() {
    every_way("tx_delivery", async |db| {
        for (turn, skipped) in [1, 1, 10].into_iter().enumerate() {
            let delivered = delivery::deliver(&mut db.work(1), 6).await;
            assert_eq!(delivered, Ok(skipped), "{:?}", db.way);
            // Order 2 in nine districts, then order 3.
            let turns = (turn as i64 + 1).min(2);
            let state = db
                .numbers(
                    "SELECT COUNT(*), SUM(CASE WHEN o_carrier_id = 6 THEN 1 ELSE 0 END), \
                     SUM(CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END) FROM orders \
                     WHERE o_w_id = 1",
                )
                .await;
            assert_eq!(state, [3_000, 900 * turns, 1_800 - 900 * turns]);
            let left = "SELECT COUNT(*), COALESCE(MIN(no_o_id), 0) FROM new_order \
                        WHERE no_w_id = 1";
            let oldest = if turns == 1 { 300 } else { 0 };
            assert_eq!(db.numbers(left).await, [1_800 - 900 * turns, oldest]);
            let lines = "SELECT COUNT(*) FROM order_line \
                         WHERE ol_w_id = 1 AND ol_delivery_d IS NULL";
            let open = (18 - 9 * turns) * LINES * 100;
            assert_eq!(db.numbers(lines).await, [open]);
            // 1.10 + 2.20 + 3.30 + 4.40 + 5.50, of the customer whose number the order has.
            let charged = "SELECT SUM(c_balance), SUM(c_delivery_cnt), MAX(c_balance) \
                           FROM customer WHERE c_w_id = 1";
            let sum = -1_000 * 50 + 9 * turns * 1_650;
            assert_eq!(db.numbers(charged).await, [sum, 900 * turns, 650]);
            let second = "SELECT COUNT(*) FROM customer WHERE c_w_id = 1 AND c_id = 2 \
                          AND c_d_id < 10 AND c_delivery_cnt = 1";
            assert_eq!(db.numbers(second).await, [900]);
        }
        let elsewhere = "SELECT COUNT(*) FROM new_order WHERE no_w_id = 2";
        assert_eq!(db.numbers(elsewhere).await, [1_800]);
    });
}

#[test]
fn a_stock_level_counts_items_of_the_last_orders_below_the_threshold() {
    every_way("tx_stock_level", async |db| {
        let before = db.everything().await;
        // Items 1 to 5 were ordered, and there are twelve of each.
        for (threshold, low) in [(12, 0), (13, 5)] {
            let counted = stock_level::count(&mut db.work(1), 8, threshold).await;
            assert_eq!(counted, Ok(low), "{:?}", db.way);
        }
        assert_eq!(db.everything().await, before);
        let lines = [(1, 1, 2), (1, 1, 1), (30, 1, 1), (31, 2, 1), (32, 1, 9)];
        let order = NewOrder::of(8, 2, &lines.map(|(i, w, q)| line(i, w, q)));
        new_order::enter(&mut db.work(1), &order).await.unwrap();
        // 30 has 11 left, 1 was filled up, 32 too; 31 has its 12 at home.
        let counted = stock_level::count(&mut db.work(1), 8, 12).await;
        assert_eq!(counted, Ok(1));
    });
}

#[test]
fn rows_that_must_be_there_are_named_when_they_are_not() {
    every_way("tx_missing", async |db| {
        let ruin = [
            (
                "DELETE FROM stock WHERE s_w_id = 1 AND s_i_id = 7",
                "item 7",
            ),
            ("DELETE FROM item WHERE i_id = 2", "item 2 does not exist"),
        ];
        for (sql, part) in ruin {
            db.session.query(sql).await.unwrap();
            let error = new_order::enter(&mut db.work(1), &order(20))
                .await
                .unwrap_err();
            assert_eq!((error.class, &*error.code), (ErrorClass::Fatal, "tpcc"));
            assert!(error.message.contains(part), "{error}");
            db.session.rollback().await.unwrap();
        }
        let error = payment::pay(&mut db.work(1), &paid(1, 1, Who::Number(77)))
            .await
            .unwrap_err();
        assert!(error.message.contains("customer of a payment"), "{error}");
        db.session.rollback().await.unwrap();
        let error = payment::pay(&mut db.work(9), &paid(1, 1, Who::Number(1)))
            .await
            .unwrap_err();
        assert!(error.message.contains("warehouse of a payment"), "{error}");
        db.session.rollback().await.unwrap();
        let who = Who::LastName(999);
        let asked = ask(db, 1, OrderStatus { district: 1, who }).await;
        let error = asked.unwrap_err();
        assert!(error.message.contains("EINGEINGEING"), "{error}");
        db.session.rollback().await.unwrap();

        let sql = "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 2";
        db.session.query(sql).await.unwrap();
        let error = delivery::deliver(&mut db.work(1), 1).await.unwrap_err();
        assert!(error.message.contains("no lines"), "{error}");
        db.session.rollback().await.unwrap();
        db.session
            .query("DELETE FROM orders WHERE o_id = 2")
            .await
            .unwrap();
        let error = delivery::deliver(&mut db.work(1), 1).await.unwrap_err();
        assert!(
            error.message.contains("orders that are delivered"),
            "{error}"
        );
        db.session.rollback().await.unwrap();
    });
}
