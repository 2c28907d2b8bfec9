//! What is in a table, in one short text: so that it can be told later whether anything has changed.

use super::{TableDescription, describe_table, key_range, located, row_count};
use crate::{Cell, RowSet, Session};
use flate2::Crc;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// SQLite's rows are summed here, so many at a time.
const ROWS_AT_A_TIME: u64 = 100_000;
/// Of larger ones with an integer key, the rows under so many keys, spread evenly.
const SAMPLED_KEYS: i128 = 64;

/// How much of a table is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// Every row: what a drop depends on.
    All,
    /// Every row of tables with at most so many; of larger ones with an integer key 64 rows, spread
    /// evenly.
    UpTo(u64),
}

impl Summed {
    /// Tables with at most so many rows are summed even where no drop depends on it.
    pub const CHEAP_ROWS: u64 = 100_000;
    /// What costs little beside the count that is made anyway.
    pub const CHEAP: Summed = Summed::UpTo(Self::CHEAP_ROWS);
}

/// A table's rows in short: how many, smallest and largest integer key, and a sum over the values of
/// all rows; it holds no spaces. [`tidemark_core::held_the_same`] compares two. `None` when there is no
/// such table.
///
/// # Errors
/// The server's error.
pub async fn contents(session: &mut Session, table: &str) -> Result<Option<String>, DbError> {
    contents_with(session, table, Summed::All).await
}

/// The same with a sum over as many rows as said.
///
/// # Errors
/// The server's error.
pub async fn contents_with(
    session: &mut Session,
    table: &str,
    summed: Summed,
) -> Result<Option<String>, DbError> {
    let Some(found) = describe_table(session, table).await? else {
        return Ok(None);
    };
    let rows = row_count(session, table).await?;
    let range = match found.primary_key.as_slice() {
        [key] => key_range(session, table, key).await?,
        _ => None,
    };
    let held = contents_of(session, &found, rows, range, summed);
    held.await.map(Some)
}

/// The same of a table whose rows are counted already, with the smallest and largest key if that is
/// one integer column.
///
/// # Errors
/// The server's error.
pub async fn contents_of(
    session: &mut Session,
    found: &TableDescription,
    rows: u64,
    range: Option<(i64, i64)>,
    summed: Summed,
) -> Result<String, DbError> {
    let table = found.name.as_str();
    let is_all = match summed {
        Summed::All => true,
        Summed::UpTo(most) => rows <= most,
    };
    let places = match (found.primary_key.as_slice(), range) {
        _ if is_all => Some(String::new()),
        ([key], Some(range)) => {
            let keys: Vec<String> = spread(range).iter().map(i64::to_string).collect();
            let key = session.dialect().quote(key);
            Some(format!(" WHERE {key} IN ({})", keys.join(", ")))
        }
        _ => None,
    };
    let columns: Vec<&str> = found.columns.iter().map(|c| c.name.as_str()).collect();
    let sum = match places {
        Some(places) => sum(session, table, &columns, &places).await?,
        None => None,
    };
    let number = |n: Option<i64>| n.map_or("-".to_string(), |n| n.to_string());
    let (low, high) = (number(range.map(|r| r.0)), number(range.map(|r| r.1)));
    // What is not over all rows, or was not made, must not look as if it were.
    let sum = match sum {
        Some(sum) if is_all => sum,
        Some(sum) => format!("~{sum}"),
        None => "-".into(),
    };
    Ok(format!("{rows}:{low}:{high}:{sum}"))
}

/// How many rows a text of [`contents`] tells of.
pub fn rows_in(contents: &str) -> Option<u64> {
    contents.split(':').next()?.parse().ok()
}

/// Keys from the smallest to the largest.
fn spread((low, high): (i64, i64)) -> Vec<i64> {
    let (low, width) = (i128::from(low), i128::from(high) - i128::from(low));
    let places = (0..SAMPLED_KEYS).map(|n| low + n * width / (SAMPLED_KEYS - 1));
    let mut keys: Vec<i64> = places.filter_map(|key| i64::try_from(key).ok()).collect();
    keys.dedup();
    keys
}

/// The sum of the rows' checksums, whatever their order; `None` where the server has no way.
async fn sum(
    session: &mut Session,
    table: &str,
    columns: &[&str],
    places: &str,
) -> Result<Option<String>, DbError> {
    let dialect = session.dialect();
    let quoted = located(session, table).await?;
    let sql = match dialect.engine().protocol() {
        Protocol::Mysql => {
            // In hexadecimal, so that character sets and commas within values are no matter.
            let value = |c: &&str| format!("COALESCE(HEX(CONCAT({})), '~')", dialect.quote(c));
            let values: Vec<String> = columns.iter().map(value).collect();
            let row = values.join(", ',', ");
            format!("SELECT COALESCE(SUM(CRC32(CONCAT({row}))), 0) FROM {quoted}{places}")
        }
        Protocol::Postgres => format!(
            "SELECT COALESCE(SUM(('x' || substr(md5((tidemark_row.*)::text), 1, 8))::bit(32)::bigint), \
             0) FROM {quoted} tidemark_row{places}"
        ),
        Protocol::Sqlite => {
            return match sum_in_parts(session, &quoted, places).await {
                Ok(sum) => Ok(Some(sum)),
                Err(e) => unless_it_passes(e),
            };
        }
    };
    match session.query(&sql).await {
        Ok(rows) => Ok(rows.text(0, 0)),
        Err(e) => unless_it_passes(e),
    }
}

/// A sum that can't be made is none; what may pass, or has ended the session, is told.
fn unless_it_passes(error: DbError) -> Result<Option<String>, DbError> {
    match error.class {
        ErrorClass::ConnectionLost | ErrorClass::Retryable => Err(error),
        _ => Ok(None),
    }
}

/// The sum of an SQLite table's rows, without having all of them in memory.
async fn sum_in_parts(
    session: &mut Session,
    quoted: &str,
    places: &str,
) -> Result<String, DbError> {
    if !places.is_empty() {
        let sql = format!("SELECT 0, * FROM {quoted}{places}");
        return Ok(sum_here(&session.query(&sql).await?).to_string());
    }
    let (mut sum, mut after) = (0u64, None);
    loop {
        let from = after.map_or(String::new(), |id| format!(" WHERE _rowid_ > {id}"));
        let rows = session
            .query(&format!(
                "SELECT _rowid_, * FROM {quoted}{from} ORDER BY _rowid_ LIMIT {ROWS_AT_A_TIME}"
            ))
            .await?;
        let Some(last) = rows.len().checked_sub(1) else {
            return Ok(sum.to_string());
        };
        sum = sum.wrapping_add(sum_here(&rows));
        let last = rows.int(last, 0);
        after = Some(last.ok_or_else(|| DbError::protocol("a row without a number"))?);
    }
}

/// Without the first column, which is the row's number.
fn sum_here(rows: &RowSet) -> u64 {
    let mut sum = 0u64;
    for row in 0..rows.len() {
        let mut crc = Crc::new();
        for column in 1..rows.columns() {
            match rows.get(row, column) {
                Some(Cell::Int(v)) => crc.update(format!("i{v}").as_bytes()),
                Some(Cell::Float(v)) => crc.update(format!("f{v}").as_bytes()),
                Some(Cell::Bytes(v)) => {
                    crc.update(format!("b{}:", v.len()).as_bytes());
                    crc.update(v);
                }
                Some(Cell::Null) | None => crc.update(b"n"),
            }
        }
        sum = sum.wrapping_add(u64::from(crc.sum()));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spread_from_end_to_end() {
        assert_eq!(spread((5, 5)), [5]);
        assert_eq!(spread((1, 3)), [1, 2, 3]);
        let keys = spread((i64::MIN, i64::MAX));
        assert_eq!((keys[0], keys[63]), (i64::MIN, i64::MAX));
        assert_eq!(rows_in("12:1:9:77"), Some(12));
        assert_eq!(rows_in(""), None);
    }
}
