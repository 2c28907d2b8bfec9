//! Payment: clause 2.5.
//!
//! Rows are locked in the order warehouse, district, customer. A customer's number is found by last
//! name before that: the warehouse is wanted by every payment of its terminals.

use super::input::{Payment, Who};
use super::sql::Sql;
use super::work::{Money, Now, TransactionWork};
use std::fmt::Write as _;
use tidemark_core::DbError;
use tidemark_drivers::{Cell, Value};

/// Longest `c_data`, in characters (2.5.2.2).
const LONGEST_DATA: usize = 500;
/// Column of `c_data` among those of [`Sql::Payer`].
const DATA: usize = 14;
/// And of `c_credit`.
const CREDIT: usize = 10;

/// Takes a payment; the database transaction is ended when this returns without an error.
pub(super) async fn pay(work: &mut TransactionWork<'_>, input: &Payment) -> Result<(), DbError> {
    let returning = work.sql.style().returning;
    let home = work.warehouse;
    let district = i64::from(input.district);
    let (owner, owner_district) = (
        i64::from(input.customer_warehouse),
        i64::from(input.customer_district),
    );
    let now = Now::read();
    let amount = Money::new(input.amount);

    work.execute_ahead(Sql::Begin, &[]).await?;
    let customer = match input.who {
        Who::Number(number) => i64::from(number),
        Who::LastName(name) => {
            let middle = work
                .by_last_name(Sql::PayersByName, owner, owner_district, name)
                .await?;
            work.int(middle, 0, "c_id")?
        }
    };

    // 2.5.2.2: H_DATA is both names with four spaces between them.
    let mut data = std::mem::take(&mut work.scratch.text);
    data.clear();
    let values = [amount.value(), Value::Int(home)];
    sum_up(work, returning, true, &values, &mut data).await?;
    data.push_str("    ");
    let values = [amount.value(), Value::Int(home), Value::Int(district)];
    sum_up(work, returning, false, &values, &mut data).await?;

    let key = [owner, owner_district, customer].map(Value::Int);
    work.fetch_one(Sql::Payer, &key, "the customer of a payment")
        .await?;
    let [w, d, c] = key;
    let is_bad = matches!(work.scratch.rows.get(0, CREDIT), Some(Cell::Bytes(b"BC")));
    if is_bad {
        // Bad credit: the payment is written before what is known of the customer.
        let mut known = String::with_capacity(LONGEST_DATA + 64);
        let amount = amount.as_str();
        // Writing to a String can't fail.
        let _ = write!(
            known,
            "{customer} {owner_district} {owner} {district} {home} {amount}|"
        );
        if let Some(Cell::Bytes(text)) = work.scratch.rows.get(0, DATA) {
            known.push_str(&String::from_utf8_lossy(text));
        }
        if let Some((end, _)) = known.char_indices().nth(LONGEST_DATA) {
            known.truncate(end);
        }
        let values = [
            Value::Text(amount),
            Value::Text(amount),
            Value::Text(&known),
            w,
            d,
            c,
        ];
        work.change_ahead(Sql::PayBadCustomer, &values, 1).await?;
    } else {
        let values = [amount.value(), amount.value(), w, d, c];
        work.change_ahead(Sql::PayCustomer, &values, 1).await?;
    }

    let values = [
        c,
        d,
        w,
        Value::Int(district),
        Value::Int(home),
        now.value(),
        amount.value(),
        Value::Text(&data),
    ];
    work.execute_ahead(Sql::InsertHistory, &values).await?;
    work.scratch.text = data;
    work.execute(Sql::Commit, &[]).await.map(drop)
}

/// Adds the amount, which is the first value, to the sum of the warehouse or district that the
/// others name, reads its name and address, and appends the name to `names`.
async fn sum_up(
    work: &mut TransactionWork<'_>,
    returning: bool,
    is_warehouse: bool,
    values: &[Value<'_>],
    names: &mut String,
) -> Result<(), DbError> {
    let (pay, read) = if is_warehouse {
        (Sql::PayWarehouse, Sql::ReadWarehouse)
    } else {
        (Sql::PayDistrict, Sql::ReadDistrict)
    };
    let what = pay.changed_rows();
    if returning {
        work.fetch_one(pay, values, what).await?;
    } else {
        work.change_ahead(pay, values, 1).await?;
        work.fetch_one(read, &values[1..], what).await?;
    }
    if let Some(Cell::Bytes(name)) = work.scratch.rows.get(0, 0) {
        names.push_str(&String::from_utf8_lossy(name));
    }
    Ok(())
}
