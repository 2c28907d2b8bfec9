//! Order-Status: clause 2.6.

use super::input::{OrderStatus, Who};
use super::sql::Sql;
use super::work::{TransactionWork, missing};
use tidemark_core::DbError;
use tidemark_drivers::Value;

/// What the terminal shows first (2.6.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderShown {
    pub customer: i64,
    pub order: i64,
    pub lines: usize,
}

/// Asks for a customer's last order; the database transaction is ended when this returns without
/// an error.
pub(super) async fn ask(
    work: &mut TransactionWork<'_>,
    input: &OrderStatus,
) -> Result<OrderShown, DbError> {
    let (home, district) = (work.warehouse, i64::from(input.district));
    work.execute_ahead(Sql::BeginRead, &[]).await?;
    let row = match input.who {
        Who::LastName(name) => {
            work.by_last_name(Sql::AskersByName, home, district, name)
                .await?
        }
        Who::Number(number) => {
            let key = [home, district, i64::from(number)].map(Value::Int);
            work.fetch_one(Sql::Asker, &key, "the customer of an order status")
                .await?;
            0
        }
    };
    let customer = work.int(row, 0, "c_id")?;
    let key = [home, district, customer].map(Value::Int);
    work.fetch_one(Sql::LastOrder, &key, "the last order of a customer")
        .await?;
    let order = work.int(0, 0, "o_id")?;
    let key = [home, district, order].map(Value::Int);
    let lines = work.fetch(Sql::Lines, &key).await?;
    if lines == 0 {
        return Err(missing(format_args!(
            "order {order} of warehouse {home}, district {district} has no lines"
        )));
    }
    work.execute(Sql::Commit, &[]).await?;
    Ok(OrderShown {
        customer,
        order,
        lines,
    })
}
