//! The eight tables of clause 1.4: what they are made of, as go-tpc names and types it.

/// A table, in the order in which tables are made: what refers to another comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Regions of the world.
    Region,
    /// Nations of a region.
    Nation,
    /// Parts that are sold.
    Part,
    /// Who supplies them.
    Supplier,
    /// Which supplier has which part: four for each part.
    PartSupp,
    /// Who orders.
    Customer,
    /// Orders.
    Orders,
    /// Lines of orders.
    LineItem,
}

/// A reference to another table's primary key.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForeignKey {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    pub parent: Table,
    /// The index on its columns; `None` where the primary key begins with them.
    pub index: Option<&'static str>,
}

/// What a table is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub name: &'static str,
    /// Names and types.
    pub columns: &'static [(&'static str, &'static str)],
    /// The names alone, in the same order.
    pub names: &'static [&'static str],
    /// The primary key.
    pub key: &'static [&'static str],
    pub foreign: &'static [ForeignKey],
}

/// A shape's columns and their names, which are written once.
macro_rules! shape {
    ($name:literal { $($column:ident $type:expr,)* } key: $key:expr, foreign: $foreign:expr $(,)?) => {
        Shape {
            name: $name,
            columns: &[$((stringify!($column), $type)),*],
            names: &[$(stringify!($column)),*],
            key: $key,
            foreign: $foreign,
        }
    };
}

const fn foreign(
    name: &'static str,
    columns: &'static [&'static str],
    parent: Table,
    index: Option<&'static str>,
) -> ForeignKey {
    ForeignKey {
        name,
        columns,
        parent,
        index,
    }
}

const KEY: &str = "BIGINT NOT NULL";
const MONEY: &str = "DECIMAL(15, 2) NOT NULL";
const DATE: &str = "DATE NOT NULL";
const CHAR_1: &str = "CHAR(1) NOT NULL";
const CHAR_10: &str = "CHAR(10) NOT NULL";
const CHAR_15: &str = "CHAR(15) NOT NULL";
const CHAR_25: &str = "CHAR(25) NOT NULL";

const REGION: Shape = shape!("region" {
    r_regionkey KEY, r_name CHAR_25, r_comment "VARCHAR(152)",
} key: &["r_regionkey"], foreign: &[]);

const NATION: Shape = shape!("nation" {
    n_nationkey KEY, n_name CHAR_25, n_regionkey KEY, n_comment "VARCHAR(152)",
} key: &["n_nationkey"], foreign: &[
    // Five regions need no index.
    foreign("nation_fk1", &["n_regionkey"], Table::Region, None),
]);

const PART: Shape = shape!("part" {
    p_partkey KEY, p_name "VARCHAR(55) NOT NULL", p_mfgr CHAR_25, p_brand CHAR_10,
    p_type "VARCHAR(25) NOT NULL", p_size KEY, p_container CHAR_10, p_retailprice MONEY,
    p_comment "VARCHAR(23) NOT NULL",
} key: &["p_partkey"], foreign: &[]);

const SUPPLIER: Shape = shape!("supplier" {
    s_suppkey KEY, s_name CHAR_25, s_address "VARCHAR(40) NOT NULL", s_nationkey KEY,
    s_phone CHAR_15, s_acctbal MONEY, s_comment "VARCHAR(101) NOT NULL",
} key: &["s_suppkey"], foreign: &[
    foreign("supplier_fk1", &["s_nationkey"], Table::Nation, Some("idx_s_nationkey")),
]);

const PARTSUPP: Shape = shape!("partsupp" {
    ps_partkey KEY, ps_suppkey KEY, ps_availqty KEY, ps_supplycost MONEY,
    ps_comment "VARCHAR(199) NOT NULL",
} key: &["ps_partkey", "ps_suppkey"], foreign: &[
    foreign("partsupp_fk1", &["ps_suppkey"], Table::Supplier, Some("idx_ps_suppkey")),
    foreign("partsupp_fk2", &["ps_partkey"], Table::Part, None),
]);

const CUSTOMER: Shape = shape!("customer" {
    c_custkey KEY, c_name "VARCHAR(25) NOT NULL", c_address "VARCHAR(40) NOT NULL",
    c_nationkey KEY, c_phone CHAR_15, c_acctbal MONEY, c_mktsegment CHAR_10,
    c_comment "VARCHAR(117) NOT NULL",
} key: &["c_custkey"], foreign: &[
    foreign("customer_fk1", &["c_nationkey"], Table::Nation, Some("idx_c_nationkey")),
]);

const ORDERS: Shape = shape!("orders" {
    o_orderkey KEY, o_custkey KEY, o_orderstatus CHAR_1, o_totalprice MONEY, o_orderdate DATE,
    o_orderpriority CHAR_15, o_clerk CHAR_15, o_shippriority KEY, o_comment "VARCHAR(79) NOT NULL",
} key: &["o_orderkey"], foreign: &[
    foreign("orders_fk1", &["o_custkey"], Table::Customer, Some("idx_o_custkey")),
]);

const LINEITEM: Shape = shape!("lineitem" {
    l_orderkey KEY, l_partkey KEY, l_suppkey KEY, l_linenumber KEY, l_quantity MONEY,
    l_extendedprice MONEY, l_discount MONEY, l_tax MONEY, l_returnflag CHAR_1, l_linestatus CHAR_1,
    l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct CHAR_25,
    l_shipmode CHAR_10, l_comment "VARCHAR(44) NOT NULL",
} key: &["l_orderkey", "l_linenumber"], foreign: &[
    foreign("lineitem_fk1", &["l_orderkey"], Table::Orders, None),
    foreign(
        "lineitem_fk2", &["l_partkey", "l_suppkey"], Table::PartSupp,
        Some("idx_l_partkey_suppkey"),
    ),
]);

impl Table {
    /// All of them.
    pub const ALL: [Table; 8] = [
        Table::Region,
        Table::Nation,
        Table::Part,
        Table::Supplier,
        Table::PartSupp,
        Table::Customer,
        Table::Orders,
        Table::LineItem,
    ];

    /// The table of that name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        let is = |t: &Table| t.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.shape().name
    }

    /// Units that its rows are made in: a row, but a part for `partsupp`, which has four of each, and
    /// an order for `lineitem`, which has one to seven (clauses 4.2.3 and 4.2.5).
    pub fn units(self, scale: f64) -> u64 {
        let scaled = |base: f64| (base * scale) as u64;
        match self {
            Table::Region => 5,
            Table::Nation => 25,
            Table::Supplier => scaled(10_000.0),
            Table::Part | Table::PartSupp => scaled(200_000.0),
            Table::Customer => scaled(150_000.0),
            Table::Orders | Table::LineItem => scaled(1_500_000.0),
        }
    }

    pub(super) const fn shape(self) -> &'static Shape {
        match self {
            Table::Region => &REGION,
            Table::Nation => &NATION,
            Table::Part => &PART,
            Table::Supplier => &SUPPLIER,
            Table::PartSupp => &PARTSUPP,
            Table::Customer => &CUSTOMER,
            Table::Orders => &ORDERS,
            Table::LineItem => &LINEITEM,
        }
    }

    /// About how many bytes a unit takes when it is sent.
    pub(super) const fn unit_bytes(self) -> u32 {
        match self {
            Table::Region | Table::Nation => 90,
            Table::Part => 120,
            Table::Supplier => 140,
            // Four suppliers.
            Table::PartSupp => 580,
            Table::Customer => 160,
            Table::Orders => 112,
            // Four lines on average.
            Table::LineItem => 500,
        }
    }

    /// The integer column that holds each of 1 to the number of rows once.
    pub(super) const fn counted(self) -> Option<&'static str> {
        match self {
            Table::Part | Table::Supplier | Table::Customer => Some(self.shape().key[0]),
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
            for column in shape.key.iter().chain(foreign) {
                assert!(shape.names.contains(column), "{table:?}.{column}");
            }
        }
    }

    #[test]
    fn a_table_follows_those_that_it_refers_to() {
        for (at, table) in Table::ALL.into_iter().enumerate() {
            for key in table.shape().foreign {
                assert!(Table::ALL[..at].contains(&key.parent), "{}", key.name);
                assert_eq!(
                    key.columns.len(),
                    key.parent.shape().key.len(),
                    "{}",
                    key.name
                );
            }
        }
    }

    /// Clause 4.2.5.
    #[test]
    fn tables_are_as_large_as_the_scale_factor_says() {
        let at = |scale| Table::ALL.map(|t| t.units(scale));
        let one = [
            5, 25, 200_000, 10_000, 200_000, 150_000, 1_500_000, 1_500_000,
        ];
        assert_eq!(at(1.0), one);
        assert_eq!(at(0.01), [5, 25, 2_000, 100, 2_000, 1_500, 15_000, 15_000]);
        assert_eq!(at(1_000.0)[6], 1_500_000_000);
    }
}
