//! The population of TPC-C (clause 4.3.3.1): rows that never change, cardinalities, distributions.

use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use tidemark_core::{OptionValues, Source};
use tidemark_drivers::RowWriter;
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::names::last_name;
use tidemark_workloads::tpcc::{LOADED_AT, OPTIONS, Table, Tpcc};

const SEED: u64 = 42;

fn tpcc(warehouses: u64) -> Tpcc {
    let mut values = OptionValues::defaults([OPTIONS]);
    let warehouses = warehouses.to_string();
    values
        .set("warehouses", &warehouses, Source::CommandLine)
        .unwrap();
    Tpcc::new(&values).unwrap()
}

fn index(table: Table) -> usize {
    Table::ALL.iter().position(|t| *t == table).unwrap()
}

/// Rows as lines of tab-separated values.
fn lines(table: Table, first: u64, count: u64, seed: u64) -> Vec<String> {
    let mut source = tpcc(3).rows(index(table), first, count, seed);
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        if !source.next_row(&mut RowWriter::tsv(&mut line)) {
            return lines;
        }
        lines.push(String::from_utf8(line).unwrap());
    }
}

/// Rows with their values by column.
fn rows(table: Table, first: u64, count: u64) -> Vec<HashMap<&'static str, String>> {
    let named = |line: String| {
        let values: Vec<String> = line.split('\t').map(Into::into).collect();
        assert_eq!(values.len(), table.columns().len());
        table.columns().iter().copied().zip(values).collect()
    };
    lines(table, first, count, SEED)
        .into_iter()
        .map(named)
        .collect()
}

fn number(row: &HashMap<&str, String>, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// A decimal in units of its last digit.
fn units(row: &HashMap<&str, String>, column: &str) -> i64 {
    row[column].replace('.', "").parse().unwrap()
}

/// How far Pearson's statistic of counts that should be even is from its mean, in standard
/// deviations (chi-squared of k-1 degrees: mean k-1, variance 2(k-1)).
fn unevenness(values: impl Iterator<Item = i64>, least: i64, most: i64) -> f64 {
    let mut counts = vec![0u64; (most - least + 1) as usize];
    for value in values {
        assert!(
            (least..=most).contains(&value),
            "{value} of {least} to {most}"
        );
        counts[(value - least) as usize] += 1;
    }
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(mean > 5.0, "too few values for {} cells", counts.len());
    let statistic: f64 = counts
        .iter()
        .map(|c| (*c as f64 - mean).powi(2) / mean)
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

#[track_caller]
fn assert_even(values: impl Iterator<Item = i64>, least: i64, most: i64) {
    let unevenness = unevenness(values, least, most);
    assert!(unevenness.abs() < 4.0, "{unevenness} standard deviations");
}

proptest! {
    #[test]
    fn rows_are_the_same_whatever_the_chunks(
        table in 0..Table::ALL.len(),
        start in 0u64..500_000,
        chunk in 1u64..40,
        seed: u64,
    ) {
        let table = Table::ALL[table];
        let all = table.units(3);
        let first = start.min(all - 1);
        let whole = lines(table, first, 100, seed);
        let workload = tpcc(3);
        let there = 100.min(all - first);
        prop_assert_eq!(whole.len() as u64, workload.row_count(index(table), first, there, seed));
        let mut parts = Vec::new();
        let mut next = first;
        while next < first + 100 {
            parts.extend(lines(table, next, chunk.min(first + 100 - next), seed));
            next += chunk;
        }
        prop_assert_eq!(whole, parts);
    }
}

/// Loaded rows are checked against these by whatever version comes later, and a load that was
/// interrupted goes on with them.
#[test]
fn the_rows_of_a_seed_never_change() {
    let golden = include_str!("../golden/tpcc_population.tsv");
    let mut written = String::new();
    for table in Table::ALL {
        let last = table.units(3) - 1;
        for unit in [0, last / 2, last] {
            for line in lines(table, unit, 1, SEED) {
                written.push_str(&format!("{}\t{line}\n", table.name()));
            }
        }
    }
    assert_eq!(written, golden);
    assert_ne!(lines(Table::Stock, 0, 1, 1), lines(Table::Stock, 0, 1, 2));
}

#[test]
fn tables_have_the_rows_of_the_specification() {
    let workload = tpcc(3);
    let rows = |table| workload.row_count(index(table), 0, table.units(3), SEED);
    for (table, expected) in [
        (Table::Item, 100_000),
        (Table::Warehouse, 3),
        (Table::Stock, 300_000),
        (Table::District, 30),
        (Table::Customer, 90_000),
        (Table::History, 90_000),
        (Table::Orders, 90_000),
        (Table::NewOrder, 27_000),
    ] {
        assert_eq!(rows(table), expected, "{}", table.name());
        assert_eq!(table.units(3), expected);
    }
    // 10 lines an order on average, with a standard deviation of 3.16.
    let order_lines = rows(Table::OrderLine);
    assert!(order_lines.abs_diff(900_000) < 4_000, "{order_lines}");
}

#[test]
fn items_are_those_of_the_specification() {
    let items = rows(Table::Item, 0, 100_000);
    let original = items.iter().filter(|i| i["i_data"].contains("ORIGINAL"));
    assert_eq!(original.count(), 10_000);
    for (at, item) in items.iter().enumerate() {
        assert_eq!(number(item, "i_id"), at as i64 + 1);
        assert!((14..=24).contains(&item["i_name"].len()));
        assert!((26..=50).contains(&item["i_data"].len()));
    }
    assert_even(items.iter().map(|i| number(i, "i_im_id")), 1, 10_000);
    assert_even(items.iter().map(|i| units(i, "i_price")), 100, 10_000);
    assert_even(items.iter().map(|i| i["i_name"].len() as i64), 14, 24);
}

#[test]
fn warehouses_and_districts_are_those_of_the_specification() {
    for warehouse in rows(Table::Warehouse, 0, 3) {
        assert!((6..=10).contains(&warehouse["w_name"].len()));
        assert!((0..=2_000).contains(&units(&warehouse, "w_tax")));
        assert_eq!(warehouse["w_ytd"], "300000.00");
        assert_eq!(warehouse["w_state"].len(), 2);
        assert!(warehouse["w_zip"].len() == 9 && warehouse["w_zip"].ends_with("11111"));
    }
    let districts = rows(Table::District, 0, 30);
    let keys: Vec<_> = districts
        .iter()
        .map(|d| (number(d, "d_w_id"), number(d, "d_id")))
        .collect();
    let expected: Vec<_> = (1..=3)
        .flat_map(|w| (1..=10).map(move |d| (w, d)))
        .collect();
    assert_eq!(keys, expected);
    for district in &districts {
        assert_eq!(
            (district["d_ytd"].as_str(), number(district, "d_next_o_id")),
            ("30000.00", 3_001)
        );
    }
}

#[test]
fn stock_is_that_of_the_specification() {
    let stock = rows(Table::Stock, 100_000, 100_000);
    let original = stock.iter().filter(|s| s["s_data"].contains("ORIGINAL"));
    assert_eq!(original.count(), 10_000);
    for (at, row) in stock.iter().enumerate() {
        assert_eq!(
            (number(row, "s_w_id"), number(row, "s_i_id")),
            (2, at as i64 + 1)
        );
        for column in ["s_ytd", "s_order_cnt", "s_remote_cnt"] {
            assert_eq!(row[column], "0");
        }
        for district in 1..=10 {
            let info = &row[format!("s_dist_{district:02}").as_str()];
            assert!(info.len() == 24 && info.bytes().all(|b| b.is_ascii_alphabetic()));
        }
    }
    assert_even(stock.iter().map(|s| number(s, "s_quantity")), 10, 100);
}

#[test]
fn customers_are_those_of_the_specification() {
    let customers = rows(Table::Customer, 0, 30_000);
    for (district, customers) in customers.chunks(3_000).enumerate() {
        for (at, customer) in customers.iter().enumerate() {
            assert_eq!(number(customer, "c_w_id"), 1);
            assert_eq!(number(customer, "c_d_id"), district as i64 + 1);
            assert_eq!(number(customer, "c_id"), at as i64 + 1);
            if at < 1_000 {
                assert_eq!(customer["c_last"], last_name(at as u64));
            }
            for (column, value) in [
                ("c_middle", "OE"),
                ("c_since", LOADED_AT),
                ("c_credit_lim", "50000.00"),
                ("c_balance", "-10.00"),
                ("c_ytd_payment", "10.00"),
                ("c_payment_cnt", "1"),
                ("c_delivery_cnt", "0"),
            ] {
                assert_eq!(customer[column], value, "{column}");
            }
            assert!((8..=16).contains(&customer["c_first"].len()));
            assert!((300..=500).contains(&customer["c_data"].len()));
            assert_eq!(customer["c_phone"].len(), 16);
        }
        let bad = customers.iter().filter(|c| c["c_credit"] == "BC").count();
        assert_eq!(bad, 300);
        assert!(
            customers
                .iter()
                .all(|c| ["BC", "GC"].contains(&c["c_credit"].as_str()))
        );
    }
    assert_even(customers.iter().map(|c| units(c, "c_discount")), 0, 5_000);
    assert_even(customers.iter().map(|c| c["c_data"].len() as i64), 300, 500);
    // Names drawn by NURand(255, 0, 999): the C of the load makes them start at its own place, and
    // numbers with many bits are favoured.
    let names: HashMap<_, u64> = (0..1_000).map(|n| (last_name(n), n)).collect();
    let drawn = customers
        .chunks(3_000)
        .flat_map(|district| &district[1_000..]);
    let mut counts = vec![0u32; 1_000];
    for customer in drawn {
        counts[names[customer["c_last"].as_str()] as usize] += 1;
    }
    let c = tidemark_workloads::tpcc::nurand::C_LOAD as usize;
    let most = (0..1_000).max_by_key(|n| counts[*n]).unwrap();
    let favoured = (most + 1_000 - c) % 1_000;
    assert!(
        favoured.count_ones() >= 7,
        "{favoured:b} was drawn most often"
    );
}

#[test]
fn history_has_a_payment_of_each_customer() {
    for (at, row) in rows(Table::History, 30_000, 6_000).iter().enumerate() {
        let district = at as i64 / 3_000 + 1;
        assert_eq!(number(row, "h_c_id"), at as i64 % 3_000 + 1);
        for (column, value) in [
            ("h_c_d_id", district),
            ("h_d_id", district),
            ("h_c_w_id", 2),
            ("h_w_id", 2),
        ] {
            assert_eq!(number(row, column), value);
        }
        assert_eq!(
            (row["h_amount"].as_str(), row["h_date"].as_str()),
            ("10.00", LOADED_AT)
        );
        assert!((12..=24).contains(&row["h_data"].len()));
    }
}

#[test]
fn orders_and_their_lines_belong_together() {
    let orders = rows(Table::Orders, 0, 30_000);
    let mut order_lines = rows(Table::OrderLine, 0, 30_000).into_iter();
    let new_orders = rows(Table::NewOrder, 0, 9_000);
    let mut undelivered = new_orders.iter();
    let mut amounts = Vec::new();
    let mut items = Vec::new();
    let mut permutations = HashSet::new();
    for (district, orders) in orders.chunks(3_000).enumerate() {
        let who: Vec<i64> = orders.iter().map(|o| number(o, "o_c_id")).collect();
        let mut sorted = who.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=3_000).collect::<Vec<_>>(), "a permutation");
        assert!(permutations.insert(who), "each district has its own");
        for (at, order) in orders.iter().enumerate() {
            let key = [1, district as i64 + 1, at as i64 + 1];
            assert_eq!(["o_w_id", "o_d_id", "o_id"].map(|c| number(order, c)), key);
            assert_eq!(
                (order["o_entry_d"].as_str(), number(order, "o_all_local")),
                (LOADED_AT, 1)
            );
            let delivered = at < 2_100;
            assert_eq!(order["o_carrier_id"] == "\\N", !delivered);
            if !delivered {
                let new = undelivered.next().unwrap();
                assert_eq!(
                    ["no_w_id", "no_d_id", "no_o_id"].map(|c| number(new, c)),
                    key
                );
            }
            for nth in 1..=number(order, "o_ol_cnt") {
                let line = order_lines.next().unwrap();
                assert_eq!(
                    ["ol_w_id", "ol_d_id", "ol_o_id"].map(|c| number(&line, c)),
                    key
                );
                assert_eq!(number(&line, "ol_number"), nth);
                assert_eq!(
                    (
                        number(&line, "ol_supply_w_id"),
                        number(&line, "ol_quantity")
                    ),
                    (1, 5)
                );
                assert_eq!(line["ol_dist_info"].len(), 24);
                items.push(number(&line, "ol_i_id"));
                if delivered {
                    assert_eq!(line["ol_delivery_d"], LOADED_AT);
                    assert_eq!(line["ol_amount"], "0.00");
                } else {
                    assert_eq!(line["ol_delivery_d"], "\\N");
                    amounts.push(units(&line, "ol_amount"));
                }
            }
        }
    }
    assert!(order_lines.next().is_none() && undelivered.next().is_none());
    assert_even(orders.iter().map(|o| number(o, "o_ol_cnt")), 5, 15);
    let carriers = orders.iter().filter(|o| o["o_carrier_id"] != "\\N");
    assert_even(carriers.map(|o| number(o, "o_carrier_id")), 1, 10);
    assert!(amounts.iter().all(|a| (1..=999_999).contains(a)));
    assert_even(amounts.iter().map(|a| (a - 1) / 1_000), 0, 999);
    assert!(items.iter().all(|i| (1..=100_000).contains(i)));
    assert_even(items.iter().map(|i| (i - 1) / 10), 0, 9_999);
}
