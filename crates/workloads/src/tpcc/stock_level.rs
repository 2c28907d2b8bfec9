//! Stock-Level: clause 2.8.
//!
//! Each of its two statements is a transaction by itself: repeatable reads are not asked of it, and
//! it may be more than one database transaction (2.8.2.3).

use super::sql::Sql;
use super::work::TransactionWork;
use tidemark_core::DbError;
use tidemark_drivers::Value;

/// Orders looked at (2.8.2.2).
const ORDERS: i64 = 20;

/// Counts the items of the last orders of a district whose stock is below the threshold.
pub(super) async fn count(
    work: &mut TransactionWork<'_>,
    district: u8,
    threshold: u8,
) -> Result<i64, DbError> {
    let (home, district) = (work.warehouse, i64::from(district));
    let key = [home, district].map(Value::Int);
    work.fetch_one(Sql::Latest, &key, "the district of a stock level")
        .await?;
    let next = work.int(0, 0, "d_next_o_id")?;
    let values = [home, district, next - ORDERS, next, home, threshold.into()].map(Value::Int);
    work.fetch_one(Sql::LowStock, &values, "the count of a stock level")
        .await?;
    work.int(0, 0, "the count of a stock level")
}
