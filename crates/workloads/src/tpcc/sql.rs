//! The text of every statement.

use super::input::MOST_LINES;
use super::statements::Style;
use tidemark_drivers::Dialect;

/// Columns of `order_line` that New-Order fills; `ol_delivery_d` stays NULL.
const LINE: &str = "ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
                    ol_amount, ol_dist_info";
/// Districts of a Delivery's batch.
pub(super) const BATCH: usize = 10;

/// Makes the enum of statements and the list of them.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident of $kind:expr,)*) => {
        /// A statement of the transactions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Sql {
            $($(#[$doc])* $name,)*
        }

        impl Sql {
            pub const ALL: &[Sql] = &[$(Sql::$name),*];

            /// Index of the transaction type that sends it, if it is of one alone.
            const fn of(self) -> Option<usize> {
                match self {
                    $(Sql::$name => $kind,)*
                }
            }
        }
    };
}

const ANY: Option<usize> = None;
const NEW_ORDER: Option<usize> = Some(0);
const PAYMENT: Option<usize> = Some(1);
const ORDER_STATUS: Option<usize> = Some(2);
const DELIVERY: Option<usize> = Some(3);
const STOCK_LEVEL: Option<usize> = Some(4);

statements! {
    Begin of ANY,
    BeginRead of ORDER_STATUS,
    Commit of ANY,
    Rollback of NEW_ORDER,

    /// One item, or those of a whole order.
    Items of NEW_ORDER,
    /// One row of stock, locked, or those of a whole order in the order of their keys.
    Stock of NEW_ORDER,
    UpdateStock of NEW_ORDER,
    BuyerAndWarehouse of NEW_ORDER,
    /// Takes the next order number; with its value where the engine can.
    NextOrder of NEW_ORDER,
    /// Moves it on, where the former only reads it.
    AdvanceOrder of NEW_ORDER,
    InsertOrder of NEW_ORDER,
    InsertNewOrder of NEW_ORDER,
    /// One line, or any number of them.
    InsertLine of NEW_ORDER,

    PayWarehouse of PAYMENT,
    ReadWarehouse of PAYMENT,
    PayDistrict of PAYMENT,
    ReadDistrict of PAYMENT,
    PayersByName of PAYMENT,
    Payer of PAYMENT,
    PayCustomer of PAYMENT,
    /// The same for bad credit.
    PayBadCustomer of PAYMENT,
    InsertHistory of PAYMENT,

    AskersByName of ORDER_STATUS,
    Asker of ORDER_STATUS,
    LastOrder of ORDER_STATUS,
    Lines of ORDER_STATUS,

    Oldest of DELIVERY,
    DeleteNewOrder of DELIVERY,
    Orderer of DELIVERY,
    Ship of DELIVERY,
    DeliverLines of DELIVERY,
    Amount of DELIVERY,
    Charge of DELIVERY,

    Latest of STOCK_LEVEL,
    LowStock of STOCK_LEVEL,
}

impl Sql {
    /// Whether a mix of these weights sends it.
    pub fn is_in(self, weight: &[u32; 5]) -> bool {
        self.of().is_none_or(|kind| weight[kind] > 0)
    }

    /// The rows that it changes, for whoever misses them.
    pub fn changed_rows(self) -> &'static str {
        match self {
            Sql::UpdateStock => "the stock of an order",
            Sql::AdvanceOrder => "d_next_o_id",
            Sql::PayWarehouse => "the warehouse of a payment",
            Sql::PayDistrict => "the district of a payment",
            Sql::PayCustomer | Sql::PayBadCustomer => "the customer of a payment",
            Sql::DeleteNewOrder => "the new orders that are delivered",
            Sql::Ship => "the orders that are delivered",
            Sql::Charge => "the customers whose orders are delivered",
            _ => "the rows of a statement",
        }
    }

    /// Its text; `None` where the style does without it.
    pub fn text(self, style: Style, dialect: &Dialect) -> Option<String> {
        let lock = dialect.for_update();
        Some(match self {
            Sql::Begin => dialect.begin().into(),
            Sql::BeginRead => dialect.begin_read().into(),
            Sql::Commit => "COMMIT".into(),
            Sql::Rollback => "ROLLBACK".into(),
            Sql::Items => {
                let which = match (style.arrays, style.batched) {
                    (true, _) => "= ANY (CAST(? AS INT[]))".into(),
                    (_, true) => format!("IN ({})", vec!["?"; MOST_LINES].join(", ")),
                    _ => "= ?".into(),
                };
                format!("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id {which}")
            }
            Sql::Stock => {
                let which = match style.batched {
                    true => dialect.is_one_of(&["s_w_id", "s_i_id"], MOST_LINES),
                    false => "s_w_id = ? AND s_i_id = ?".into(),
                };
                // The sum tells PostgreSQL that the parameter is a number.
                let districts: String = (1..=10)
                    .map(|d| format!(" WHEN {d} THEN s_dist_{d:02}"))
                    .collect();
                let order = match style.batched {
                    true => " ORDER BY s_w_id, s_i_id",
                    false => "",
                };
                format!(
                    "SELECT s_w_id, s_i_id, s_quantity, s_data, CASE 0 + ?{districts} END \
                     FROM stock WHERE {which}{order}{lock}"
                )
            }
            Sql::UpdateStock if style.arrays => {
                let arrays = ["CAST(? AS INT[])"; 6].join(", ");
                format!(
                    "UPDATE stock SET s_quantity = v.quantity, s_ytd = s_ytd + v.ytd, \
                     s_order_cnt = s_order_cnt + v.orders, \
                     s_remote_cnt = s_remote_cnt + v.remote \
                     FROM unnest({arrays}) AS v (quantity, ytd, orders, remote, w_id, i_id) \
                     WHERE s_w_id = v.w_id AND s_i_id = v.i_id"
                )
            }
            Sql::UpdateStock => "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, \
                                 s_order_cnt = s_order_cnt + ?, s_remote_cnt = s_remote_cnt + ? \
                                 WHERE s_w_id = ? AND s_i_id = ?"
                .into(),
            Sql::BuyerAndWarehouse => "SELECT c_discount, c_last, c_credit, w_tax \
                                       FROM customer, warehouse \
                                       WHERE w_id = ? AND c_w_id = ? AND c_d_id = ? AND c_id = ?"
                .into(),
            Sql::NextOrder if style.returning => {
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ? \
                 RETURNING d_next_o_id - 1, d_tax"
                    .into()
            }
            Sql::NextOrder => format!(
                "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ?{lock}"
            ),
            Sql::AdvanceOrder if style.returning => return None,
            Sql::AdvanceOrder => {
                "UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?".into()
            }
            Sql::InsertOrder => "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, \
                                 o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, ?, ?, ?)"
                .into(),
            Sql::InsertNewOrder => {
                "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)".into()
            }
            Sql::InsertLine if style.arrays => format!(
                "INSERT INTO order_line ({LINE}) \
                 SELECT CAST(? AS INT), CAST(? AS INT), CAST(? AS INT), v.* \
                 FROM unnest(CAST(? AS INT[]), CAST(? AS INT[]), CAST(? AS INT[]), \
                 CAST(? AS INT[]), CAST(? AS DECIMAL(6, 2)[]), CAST(? AS CHAR(24)[])) AS v"
            ),
            Sql::InsertLine if style.batched => return None,
            Sql::InsertLine => Self::insert_lines(1),
            Sql::PayWarehouse | Sql::ReadWarehouse => {
                return paid(
                    self == Sql::PayWarehouse,
                    style,
                    "w",
                    "warehouse",
                    "w_id = ?",
                );
            }
            Sql::PayDistrict | Sql::ReadDistrict => {
                let which = "d_w_id = ? AND d_id = ?";
                return paid(self == Sql::PayDistrict, style, "d", "district", which);
            }
            Sql::PayersByName => "SELECT c_id FROM customer \
                                  WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
                .into(),
            Sql::Payer => format!(
                "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
                 c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, \
                 CASE WHEN c_credit = 'BC' THEN c_data END \
                 FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?{lock}"
            ),
            Sql::PayCustomer | Sql::PayBadCustomer => {
                let data = match self {
                    Sql::PayBadCustomer => ", c_data = ?",
                    _ => "",
                };
                format!(
                    "UPDATE customer SET c_balance = c_balance - CAST(? AS DECIMAL(12, 2)), \
                     c_ytd_payment = c_ytd_payment + CAST(? AS DECIMAL(12, 2)), \
                     c_payment_cnt = c_payment_cnt + 1{data} \
                     WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
                )
            }
            Sql::InsertHistory => "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, \
                                   h_w_id, h_date, h_amount, h_data) \
                                   VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                .into(),
            Sql::AskersByName => "SELECT c_id, c_first, c_middle, c_last, c_balance \
                                  FROM customer \
                                  WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
                .into(),
            Sql::Asker => "SELECT c_id, c_first, c_middle, c_last, c_balance FROM customer \
                           WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
                .into(),
            Sql::LastOrder => "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
                               WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? \
                               ORDER BY o_id DESC LIMIT 1"
                .into(),
            Sql::Lines => "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
                           FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
                .into(),
            Sql::Oldest => format!(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
                 ORDER BY no_o_id LIMIT 1{lock}"
            ),
            Sql::DeleteNewOrder => {
                let which = orders("no", style, dialect);
                format!("DELETE FROM new_order WHERE {which}")
            }
            Sql::Orderer => {
                let which = orders("o", style, dialect);
                format!("SELECT o_d_id, o_c_id FROM orders WHERE {which}")
            }
            Sql::Ship => {
                let which = orders("o", style, dialect);
                format!("UPDATE orders SET o_carrier_id = ? WHERE {which}")
            }
            Sql::DeliverLines => {
                let which = orders("ol", style, dialect);
                format!("UPDATE order_line SET ol_delivery_d = ? WHERE {which}")
            }
            Sql::Amount => {
                let which = orders("ol", style, dialect);
                format!(
                    "SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE {which} GROUP BY ol_d_id"
                )
            }
            Sql::Charge if style.arrays => "UPDATE customer SET c_balance = c_balance + v.amount, \
                 c_delivery_cnt = c_delivery_cnt + 1 \
                 FROM unnest(CAST(? AS DECIMAL(12, 2)[]), CAST(? AS INT[]), CAST(? AS INT[])) \
                 AS v (amount, d_id, id) \
                 WHERE c_w_id = ? AND c_d_id = v.d_id AND c_id = v.id"
                .into(),
            Sql::Charge => {
                "UPDATE customer SET c_balance = c_balance + CAST(? AS DECIMAL(12, 2)), \
                            c_delivery_cnt = c_delivery_cnt + 1 \
                            WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
                    .into()
            }
            Sql::Latest => "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?".into(),
            Sql::LowStock => "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
                              WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? \
                              AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?"
                .into(),
        })
    }

    /// The INSERT of so many order lines.
    pub fn insert_lines(count: usize) -> String {
        let row = format!("({})", ["?"; 9].join(", "));
        let rows = vec![row; count].join(", ");
        format!("INSERT INTO order_line ({LINE}) VALUES {rows}")
    }
}

/// Adds a payment to a warehouse's or district's sum and reads its address: at once where an
/// UPDATE can return its row.
fn paid(update: bool, style: Style, prefix: &str, table: &str, which: &str) -> Option<String> {
    let columns = ["name", "street_1", "street_2", "city", "state", "zip"];
    let columns = columns.map(|c| format!("{prefix}_{c}")).join(", ");
    let ytd = format!("{prefix}_ytd = {prefix}_ytd + CAST(? AS DECIMAL(12, 2))");
    match (update, style.returning) {
        (true, true) => Some(format!(
            "UPDATE {table} SET {ytd} WHERE {which} RETURNING {columns}"
        )),
        (true, false) => Some(format!("UPDATE {table} SET {ytd} WHERE {which}")),
        (false, true) => None,
        (false, false) => Some(format!("SELECT {columns} FROM {table} WHERE {which}")),
    }
}

/// The orders of a Delivery: of the warehouse given first, in the districts given then.
fn orders(prefix: &str, style: Style, dialect: &Dialect) -> String {
    let (w, d) = (format!("{prefix}_w_id"), format!("{prefix}_d_id"));
    let o = match prefix {
        "o" => "o_id".into(),
        _ => format!("{prefix}_o_id"),
    };
    if style.batched {
        let which = dialect.is_one_of(&[&d, &o], BATCH);
        format!("{w} = ? AND {which}")
    } else {
        format!("{w} = ? AND {d} = ? AND {o} = ?")
    }
}
