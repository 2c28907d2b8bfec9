//! Delivery: clause 2.7.
//!
//! The orders of all ten districts are delivered in one database transaction, which 2.7 leaves to
//! the implementation: fewer commits, and a transaction that is tried again delivers nothing twice.

use super::DISTRICTS;
use super::sql::{BATCH, Sql};
use super::work::{Arrays, Money, Now, TransactionWork, missing};
use tidemark_core::DbError;
use tidemark_drivers::Value;

/// An order to deliver.
#[derive(Debug, Clone, Copy, Default)]
struct Order {
    district: i64,
    number: i64,
    customer: i64,
    /// Sum of its lines, in hundredths.
    amount: Option<i64>,
}

impl Order {
    fn amount(&self) -> Result<i64, DbError> {
        let Order {
            district, number, ..
        } = self;
        self.amount.ok_or_else(|| {
            missing(format_args!(
                "order {number} of district {district} has no lines to deliver"
            ))
        })
    }
}

/// Delivers the oldest order of each district, and gives in how many there was none (2.7.4.2); the
/// database transaction is ended when this returns without an error.
pub(super) async fn deliver(work: &mut TransactionWork<'_>, carrier: u8) -> Result<usize, DbError> {
    const { assert!(BATCH == DISTRICTS as usize) };
    let home = work.warehouse;
    let now = Now::read();
    let carrier = Value::Int(carrier.into());
    work.execute_ahead(Sql::Begin, &[]).await?;
    let mut orders = [Order::default(); BATCH];
    let mut count = 0;
    for district in 1..=BATCH as i64 {
        let key = [home, district].map(Value::Int);
        if work.fetch(Sql::Oldest, &key).await? > 0 {
            orders[count].district = district;
            orders[count].number = work.int(0, 0, "no_o_id")?;
            count += 1;
        }
    }
    let orders = &mut orders[..count];
    let style = work.sql.style();
    if style.arrays {
        let mut text = std::mem::take(&mut work.scratch.text);
        by_arrays(work, &mut text, orders, carrier, now.value()).await?;
        work.scratch.text = text;
    } else if style.batched {
        by_lists(work, orders, carrier, now.value()).await?;
    } else {
        for order in orders.chunks_mut(1) {
            let key = [home, home, order[0].district, order[0].number];
            steps(work, &mut key.map(Value::Int), order, carrier, now.value()).await?;
            charge(work, order).await?;
        }
    }
    work.execute(Sql::Commit, &[]).await?;
    Ok(BATCH - count)
}

/// Delivers orders with one statement for each step, which takes them as arrays.
async fn by_arrays(
    work: &mut TransactionWork<'_>,
    text: &mut String,
    orders: &mut [Order],
    carrier: Value<'_>,
    now: Value<'_>,
) -> Result<(), DbError> {
    let home = Value::Int(work.warehouse);
    let mut keys = Arrays::new(text);
    keys.numbers(orders.iter().map(|o| o.district));
    keys.numbers(orders.iter().map(|o| o.number));
    let mut key = [home, home, keys.value(0), keys.value(1)];
    steps(work, &mut key, orders, carrier, now).await?;

    let mut amounts = [Money::default(); BATCH];
    for (amount, order) in amounts.iter_mut().zip(&*orders) {
        *amount = Money::new(order.amount()?);
    }
    let mut columns = Arrays::new(text);
    columns.numbers(amounts[..orders.len()].iter().map(Money::as_str));
    columns.numbers(orders.iter().map(|o| o.district));
    columns.numbers(orders.iter().map(|o| o.customer));
    let [amounts, districts, customers] = [0, 1, 2].map(|i| columns.value(i));
    let values = [amounts, districts, customers, home];
    // Not ahead of the COMMIT: a customer who is missing must be told before.
    work.change(Sql::Charge, &values, orders.len() as u16).await
}

/// The same with lists of a fixed length, which the last order fills up.
async fn by_lists(
    work: &mut TransactionWork<'_>,
    orders: &mut [Order],
    carrier: Value<'_>,
    now: Value<'_>,
) -> Result<(), DbError> {
    let Some(last) = orders.last().copied() else {
        return Ok(());
    };
    let mut key = [Value::Int(work.warehouse); 2 + 2 * BATCH];
    let padded = orders.iter().copied().chain(std::iter::repeat(last));
    for (pair, order) in key[2..].chunks_exact_mut(2).zip(padded) {
        pair.copy_from_slice(&[order.district, order.number].map(Value::Int));
    }
    steps(work, &mut key, orders, carrier, now).await?;
    charge(work, orders).await
}

/// All steps but the last, for the orders that `key` names after a place for the value that an
/// UPDATE sets. Fills in what the last needs.
async fn steps<'v>(
    work: &mut TransactionWork<'_>,
    key: &mut [Value<'v>],
    orders: &mut [Order],
    carrier: Value<'v>,
    now: Value<'v>,
) -> Result<(), DbError> {
    let count = orders.len() as u16;
    work.change_ahead(Sql::DeleteNewOrder, &key[1..], count)
        .await?;
    work.fetch(Sql::Orderer, &key[1..]).await?;
    for row in 0..work.scratch.rows.len() {
        let (district, customer) = (work.int(row, 0, "o_d_id")?, work.int(row, 1, "o_c_id")?);
        let mut of = orders.iter_mut().filter(|o| o.district == district);
        if let Some(order) = of.next() {
            order.customer = customer;
        }
    }
    key[0] = carrier;
    work.change_ahead(Sql::Ship, key, count).await?;
    key[0] = now;
    work.execute_ahead(Sql::DeliverLines, key).await?;
    work.fetch(Sql::Amount, &key[1..]).await?;
    for row in 0..work.scratch.rows.len() {
        let district = work.int(row, 0, "ol_d_id")?;
        let amount = work.decimal(row, 1, 2, "the amount of an order")?;
        let mut of = orders.iter_mut().filter(|o| o.district == district);
        if let Some(order) = of.next() {
            order.amount = Some(amount);
        }
    }
    Ok(())
}

/// The last step, a statement for each order.
async fn charge(work: &mut TransactionWork<'_>, orders: &[Order]) -> Result<(), DbError> {
    for (order, left) in orders.iter().zip((0..orders.len()).rev()) {
        let amount = Money::new(order.amount()?);
        let values = [
            amount.value(),
            Value::Int(work.warehouse),
            Value::Int(order.district),
            Value::Int(order.customer),
        ];
        // The last one takes the others along, and not the COMMIT: a customer who is missing must be
        // told before.
        if left > 0 {
            work.change_ahead(Sql::Charge, &values, 1).await?;
        } else {
            work.change(Sql::Charge, &values, 1).await?;
        }
    }
    Ok(())
}
