//! Answers that come with Tidemark: gzip files of text, in which `Q1` stands before the rows of that
//! query, values are divided by `|` and NULL is `\N`.
//!
//! - `sf1.txt.gz`: the specification's answer set with all digits, as PostgreSQL gives it; a test holds
//!   it against the published one, which has two.
//! - `sf0.01.txt.gz`: what SQLite answers on the data of scale factor 0.01, confirmed by MariaDB and
//!   PostgreSQL in a test.

use super::{Precision, QueryAnswer};
use crate::tpch::query::Query;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;

/// What a NULL is written as.
const NULL: &str = "\\N";

/// Answers of all queries to their validation parameters at one scale factor.
#[derive(Debug, Clone)]
pub struct Stored {
    answers: BTreeMap<u8, QueryAnswer>,
    /// How near an engine must come to them.
    pub precision: Precision,
}

/// The stored text is not what it should be: the program was built from a damaged file.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// It can't be unpacked.
    #[error("the stored answers can't be unpacked: {0}")]
    Unpack(#[from] std::io::Error),
    /// A line belongs to no query.
    #[error("the stored answers have a line before the first query: {0}")]
    Stray(String),
}

impl Stored {
    /// The answers at a scale factor; `None` where none are stored.
    ///
    /// # Errors
    /// [`StoredError`].
    pub fn at(scale: f64) -> Result<Option<Self>, StoredError> {
        let (packed, precision): (&[u8], _) = if scale == 1.0 {
            (include_bytes!("sf1.txt.gz"), Precision::Specified)
        } else if scale == 0.01 {
            (include_bytes!("sf0.01.txt.gz"), Precision::Close)
        } else {
            return Ok(None);
        };
        let mut text = String::new();
        GzDecoder::new(packed).read_to_string(&mut text)?;
        Ok(Some(Self {
            answers: read(&text)?,
            precision,
        }))
    }

    /// The answer to a query.
    pub fn answer(&self, query: &Query) -> Option<&QueryAnswer> {
        self.answers.get(&query.number)
    }
}

fn read(text: &str) -> Result<BTreeMap<u8, QueryAnswer>, StoredError> {
    let mut answers: BTreeMap<u8, QueryAnswer> = BTreeMap::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(query) = Query::named(line) {
            current = Some(query.number);
            answers.insert(query.number, QueryAnswer::default());
            continue;
        }
        let answer = current.and_then(|number| answers.get_mut(&number));
        let answer = answer.ok_or_else(|| StoredError::Stray(line.into()))?;
        let value = |v: &str| (v != NULL).then(|| v.to_string());
        answer.rows.push(line.split('|').map(value).collect());
    }
    Ok(answers)
}

/// The text that [`Stored`] reads, of one query.
pub fn write_stored(query: &Query, answer: &QueryAnswer) -> String {
    let mut text = format!("{query}\n");
    for row in &answer.rows {
        let values = row.iter().map(|v| v.as_deref().unwrap_or(NULL));
        text += &values.collect::<Vec<_>>().join("|");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpch::query;

    #[test]
    fn every_query_has_an_answer_of_its_width() {
        for scale in [1.0, 0.01] {
            let stored = Stored::at(scale).unwrap().unwrap();
            for query in &query::ALL {
                let answer = stored.answer(query).unwrap();
                assert!(!answer.rows.is_empty(), "{query} at {scale}");
                for row in &answer.rows {
                    assert_eq!(
                        row.len(),
                        query.columns.len(),
                        "{query} at {scale}: {row:?}"
                    );
                }
            }
        }
        assert!(Stored::at(0.1).unwrap().is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let query = Query::numbered(4).unwrap();
        let answer = QueryAnswer {
            rows: vec![vec![Some("1-URGENT".into()), None]],
        };
        let text = write_stored(query, &answer);
        assert_eq!(text, "Q4\n1-URGENT|\\N\n");
        assert_eq!(read(&text).unwrap()[&4], answer);
        assert!(read("1-URGENT|2\n").is_err());
    }
}
