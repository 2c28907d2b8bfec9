//! What is in a table, in one short text: so that it can be told later whether anything has changed.

use super::{TableDescription, describe_table, key_range, row_count};
use crate::{Cell, RowSet, Session};
use flate2::Crc;
use tidemark_core::{DbError, ErrorClass, Protocol};

/// Of tables with at most so many rows every row is looked at.
const ALL_ROWS: u64 = 100_000;
/// Of larger ones with an integer key, the rows under so many keys, spread evenly.
const SAMPLED_KEYS: i128 = 64;

/// A table's rows in short: how many, smallest and largest integer key, and a sum over the values of
/// all rows, or of some where there are many. Equal texts mean equal contents, as far as that was
/// looked at; they hold no spaces. `None` when there is no such table.
///
/// # Errors
/// The server's error.
pub async fn contents(session: &mut Session, table: &str) -> Result<Option<String>, DbError> {
    let Some(found) = describe_table(session, table).await? else {
        return Ok(None);
    };
    let rows = row_count(session, table).await?;
    let range = match found.primary_key.as_slice() {
        [key] => key_range(session, table, key).await?,
        _ => None,
    };
    contents_of(session, &found, rows, range).await.map(Some)
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
) -> Result<String, DbError> {
    let table = found.name.as_str();
    let key = match found.primary_key.as_slice() {
        [key] => Some(key.as_str()),
        _ => None,
    };
    let places = match (key, range) {
        _ if rows <= ALL_ROWS => Some(String::new()),
        (Some(key), Some(range)) => {
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
    let sum = sum.unwrap_or_else(|| "-".into());
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
    let quoted = dialect.quote(table);
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
            let rows = session
                .query(&format!("SELECT * FROM {quoted}{places}"))
                .await?;
            return Ok(Some(sum_here(&rows)));
        }
    };
    match session.query(&sql).await {
        Ok(rows) => Ok(rows.text(0, 0)),
        Err(e) if matches!(e.class, ErrorClass::ConnectionLost | ErrorClass::Retryable) => Err(e),
        Err(_) => Ok(None),
    }
}

fn sum_here(rows: &RowSet) -> String {
    let mut sum = 0u64;
    for row in 0..rows.len() {
        let mut crc = Crc::new();
        for column in 0..rows.columns() {
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
    sum.to_string()
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
