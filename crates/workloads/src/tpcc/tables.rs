//! The nine tables of clause 1.3: what they are made of, as go-tpc names and types it.

use super::{CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS};
use crate::columns::TIME;

/// A table, in the order in which tables are made: what refers to another comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The catalogue, the same for all warehouses.
    Item,
    /// Warehouses.
    Warehouse,
    /// Each warehouse's stock of each item.
    Stock,
    /// Ten for each warehouse.
    District,
    /// 3000 for each district.
    Customer,
    /// Payments.
    History,
    /// Orders.
    Orders,
    /// Orders that are not delivered.
    NewOrder,
    /// Lines of orders.
    OrderLine,
}

/// A reference to another table's primary key.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForeignKey {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    pub parent: Table,
}

/// What a table is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub name: &'static str,
    /// Names and types; `TIME` stands for the engine's type of a date and time.
    pub columns: &'static [(&'static str, &'static str)],
    /// The names alone, in the same order.
    pub names: &'static [&'static str],
    /// The primary key; empty without one.
    pub key: &'static [&'static str],
    /// The warehouse's column, by which the table is partitioned.
    pub warehouse: Option<&'static str>,
    /// The index after the rows, if it has one.
    pub index: Option<(&'static str, &'static [&'static str])>,
    pub foreign: &'static [ForeignKey],
}

/// A shape's columns and their names, which are written once.
macro_rules! shape {
    ($name:literal { $($column:ident $type:expr,)* } key: $key:expr, warehouse: $warehouse:expr,
     index: $index:expr, foreign: $foreign:expr $(,)?) => {
        Shape {
            name: $name,
            columns: &[$((stringify!($column), $type)),*],
            names: &[$(stringify!($column)),*],
            key: $key,
            warehouse: $warehouse,
            index: $index,
            foreign: $foreign,
        }
    };
}

const ID: &str = "INT NOT NULL";

const fn foreign(
    name: &'static str,
    columns: &'static [&'static str],
    parent: Table,
) -> ForeignKey {
    ForeignKey {
        name,
        columns,
        parent,
    }
}

const ITEM: Shape = shape!("item" {
    i_id ID, i_im_id "INT", i_name "VARCHAR(24)", i_price "DECIMAL(5, 2)", i_data "VARCHAR(50)",
} key: &["i_id"], warehouse: None, index: None, foreign: &[]);

const WAREHOUSE: Shape = shape!("warehouse" {
    w_id ID, w_name "VARCHAR(10)", w_street_1 "VARCHAR(20)", w_street_2 "VARCHAR(20)",
    w_city "VARCHAR(20)", w_state "CHAR(2)", w_zip "CHAR(9)", w_tax "DECIMAL(4, 4)",
    w_ytd "DECIMAL(12, 2)",
} key: &["w_id"], warehouse: Some("w_id"), index: None, foreign: &[]);

const STOCK: Shape = shape!("stock" {
    s_i_id ID, s_w_id ID, s_quantity "INT", s_dist_01 "CHAR(24)", s_dist_02 "CHAR(24)",
    s_dist_03 "CHAR(24)", s_dist_04 "CHAR(24)", s_dist_05 "CHAR(24)", s_dist_06 "CHAR(24)",
    s_dist_07 "CHAR(24)", s_dist_08 "CHAR(24)", s_dist_09 "CHAR(24)", s_dist_10 "CHAR(24)",
    s_ytd "INT", s_order_cnt "INT", s_remote_cnt "INT", s_data "VARCHAR(50)",
} key: &["s_w_id", "s_i_id"], warehouse: Some("s_w_id"), index: None, foreign: &[
    foreign("s_warehouse_fkey", &["s_w_id"], Table::Warehouse),
    foreign("s_item_fkey", &["s_i_id"], Table::Item),
]);

const DISTRICT: Shape = shape!("district" {
    d_id ID, d_w_id ID, d_name "VARCHAR(10)", d_street_1 "VARCHAR(20)", d_street_2 "VARCHAR(20)",
    d_city "VARCHAR(20)", d_state "CHAR(2)", d_zip "CHAR(9)", d_tax "DECIMAL(4, 4)",
    d_ytd "DECIMAL(12, 2)", d_next_o_id "INT",
} key: &["d_w_id", "d_id"], warehouse: Some("d_w_id"), index: None, foreign: &[
    foreign("d_warehouse_fkey", &["d_w_id"], Table::Warehouse),
]);

const CUSTOMER: Shape = shape!("customer" {
    c_id ID, c_d_id ID, c_w_id ID, c_first "VARCHAR(16)", c_middle "CHAR(2)",
    c_last "VARCHAR(16)", c_street_1 "VARCHAR(20)", c_street_2 "VARCHAR(20)",
    c_city "VARCHAR(20)", c_state "CHAR(2)", c_zip "CHAR(9)", c_phone "CHAR(16)", c_since TIME,
    c_credit "CHAR(2)", c_credit_lim "DECIMAL(12, 2)", c_discount "DECIMAL(4, 4)",
    c_balance "DECIMAL(12, 2)", c_ytd_payment "DECIMAL(12, 2)", c_payment_cnt "INT",
    c_delivery_cnt "INT", c_data "VARCHAR(500)",
} key: &["c_w_id", "c_d_id", "c_id"], warehouse: Some("c_w_id"),
index: Some(("idx_customer", &["c_w_id", "c_d_id", "c_last", "c_first"])), foreign: &[
    foreign("c_district_fkey", &["c_w_id", "c_d_id"], Table::District),
]);

const HISTORY: Shape = shape!("history" {
    h_c_id ID, h_c_d_id ID, h_c_w_id ID, h_d_id ID, h_w_id ID, h_date TIME,
    h_amount "DECIMAL(6, 2)", h_data "VARCHAR(24)",
} key: &[], warehouse: Some("h_w_id"), index: None, foreign: &[
    foreign("h_customer_fkey", &["h_c_w_id", "h_c_d_id", "h_c_id"], Table::Customer),
    foreign("h_district_fkey", &["h_w_id", "h_d_id"], Table::District),
]);

const ORDERS: Shape = shape!("orders" {
    o_id ID, o_d_id ID, o_w_id ID, o_c_id "INT", o_entry_d TIME, o_carrier_id "INT",
    o_ol_cnt "INT", o_all_local "INT",
} key: &["o_w_id", "o_d_id", "o_id"], warehouse: Some("o_w_id"),
index: Some(("idx_order", &["o_w_id", "o_d_id", "o_c_id", "o_id"])), foreign: &[
    foreign("o_customer_fkey", &["o_w_id", "o_d_id", "o_c_id"], Table::Customer),
]);

const NEW_ORDER: Shape = shape!("new_order" {
    no_o_id ID, no_d_id ID, no_w_id ID,
} key: &["no_w_id", "no_d_id", "no_o_id"], warehouse: Some("no_w_id"), index: None, foreign: &[
    foreign("no_order_fkey", &["no_w_id", "no_d_id", "no_o_id"], Table::Orders),
]);

const ORDER_LINE: Shape = shape!("order_line" {
    ol_o_id ID, ol_d_id ID, ol_w_id ID, ol_number ID, ol_i_id ID, ol_supply_w_id "INT",
    ol_delivery_d TIME, ol_quantity "INT", ol_amount "DECIMAL(6, 2)", ol_dist_info "CHAR(24)",
} key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"], warehouse: Some("ol_w_id"), index: None,
foreign: &[
    foreign("ol_order_fkey", &["ol_w_id", "ol_d_id", "ol_o_id"], Table::Orders),
    foreign("ol_stock_fkey", &["ol_supply_w_id", "ol_i_id"], Table::Stock),
]);

impl Table {
    /// All of them, in the order of [`crate::Workload::tables`].
    pub const ALL: [Table; 9] = [
        Table::Item,
        Table::Warehouse,
        Table::Stock,
        Table::District,
        Table::Customer,
        Table::History,
        Table::Orders,
        Table::NewOrder,
        Table::OrderLine,
    ];

    /// Its name in the database.
    pub const fn name(self) -> &'static str {
        self.shape().name
    }

    /// The table of a name.
    pub fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Its columns, in the order in which they are loaded.
    pub const fn columns(self) -> &'static [&'static str] {
        self.shape().names
    }

    /// What each warehouse has of it: rows, but orders for [`Table::OrderLine`], whose lines are
    /// made an order at a time. The catalogue, which belongs to no warehouse, has none.
    pub const fn units_per_warehouse(self) -> u64 {
        match self {
            Table::Item => 0,
            Table::Warehouse => 1,
            Table::Stock => ITEMS,
            Table::District => DISTRICTS,
            Table::Customer | Table::History | Table::Orders | Table::OrderLine => {
                DISTRICTS * CUSTOMERS
            }
            Table::NewOrder => DISTRICTS * (CUSTOMERS + 1 - FIRST_UNDELIVERED),
        }
    }

    /// What a database of so many warehouses has of it.
    pub const fn units(self, warehouses: u64) -> u64 {
        match self {
            Table::Item => ITEMS,
            other => other.units_per_warehouse() * warehouses,
        }
    }

    pub(super) const fn shape(self) -> &'static Shape {
        match self {
            Table::Item => &ITEM,
            Table::Warehouse => &WAREHOUSE,
            Table::Stock => &STOCK,
            Table::District => &DISTRICT,
            Table::Customer => &CUSTOMER,
            Table::History => &HISTORY,
            Table::Orders => &ORDERS,
            Table::NewOrder => &NEW_ORDER,
            Table::OrderLine => &ORDER_LINE,
        }
    }

    /// About how many bytes a unit takes when it is sent.
    pub(super) const fn unit_bytes(self) -> u32 {
        match self {
            Table::Item => 80,
            Table::Warehouse | Table::District => 100,
            Table::Stock => 310,
            Table::Customer => 580,
            Table::History => 70,
            Table::Orders => 50,
            Table::NewOrder => 10,
            // Ten lines on average.
            Table::OrderLine => 680,
        }
    }

    /// The integer column that holds each of 1 to the number of rows once.
    pub(super) const fn counted(self) -> Option<&'static str> {
        match self {
            Table::Item | Table::Warehouse => Some(self.shape().key[0]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_foreign_keys_name_columns_that_are_there() {
        for table in Table::ALL {
            let shape = table.shape();
            let columns = shape.columns.iter().map(|(name, _)| *name);
            assert!(columns.eq(shape.names.iter().copied()), "{table:?}");
            let foreign = shape.foreign.iter().flat_map(|f| f.columns);
            let index = shape.index.iter().flat_map(|(_, columns)| *columns);
            for column in shape
                .key
                .iter()
                .chain(&shape.warehouse)
                .chain(foreign)
                .chain(index)
            {
                assert!(shape.names.contains(column), "{table:?}.{column}");
            }
        }
    }
}
