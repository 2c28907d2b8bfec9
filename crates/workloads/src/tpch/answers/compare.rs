//! Whether two answers are the same (clause 2.1.3.5).

use super::QueryAnswer;
use crate::tpch::query::{ComparisonRule, Query};
use std::cmp::Ordering;
use std::fmt;

/// How near sums, averages and ratios must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As near as the specification asks of an answer at scale factor 1: sums within $100, the
    /// others within 1 % when rounded to hundredths.
    Specified,
    /// As near as engines come that compute the same thing: sums to a cent, the others to five
    /// digits after the point. At small scale factors $100 would be the whole sum.
    Close,
}

/// Of numbers of any size, what floating-point sums may be apart.
const RELATIVE: f64 = 1e-9;
/// Half a cent and what a floating number may add to it.
const CENT: f64 = 0.01 + 1e-6;

/// The first place in which an answer is not the right one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The row, from 1; one more than there are where rows are missing.
    pub row: usize,
    /// The column that differs; none where a row is missing, too many, or of another width.
    pub column: Option<&'static str>,
    /// The row as it should be; none where there should be none.
    pub expected: Option<Vec<Option<String>>>,
    /// The row as it came; none where none came.
    pub got: Option<Vec<Option<String>>>,
    /// Rows expected, and rows that came.
    pub rows: (usize, usize),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |row: &Option<Vec<Option<String>>>| match row {
            None => "no row".to_string(),
            Some(values) => {
                let texts = values.iter().map(|v| v.as_deref().unwrap_or("NULL"));
                texts.collect::<Vec<_>>().join("|")
            }
        };
        write!(f, "row {}", self.row)?;
        if let Some(column) = self.column {
            write!(f, ", {column}")?;
        }
        write!(
            f,
            ": expected {}, got {}",
            show(&self.expected),
            show(&self.got)
        )?;
        let (expected, got) = self.rows;
        if expected != got {
            write!(f, " ({expected} rows expected, {got} came)")?;
        }
        Ok(())
    }
}

/// Compares an engine's answer with the right one. Rows must come in the right order, but for those
/// that are equal in the column they are ordered by; where a limit cuts through such rows, which of
/// them come is left to the engine.
///
/// # Errors
/// [`Difference`]: the first row that differs.
pub fn compare(
    query: &Query,
    expected: &QueryAnswer,
    got: &QueryAnswer,
    precision: Precision,
) -> Result<(), Difference> {
    let rows = (expected.rows.len(), got.rows.len());
    let ties = ties(query, expected);
    let got = arranged(&ties, query, &got.rows);
    let wanted = arranged(&ties, query, &expected.rows);
    let cut = query.limit.filter(|limit| *limit == rows.0);
    for row in 0..rows.0.max(rows.1) {
        let (want, have) = (wanted.get(row), got.get(row));
        let column = match (want, have) {
            (Some(want), Some(have)) if have.len() == query.columns.len() => {
                let last_tie = cut.is_some() && ties.last().is_some_and(|tie| tie.contains(&row));
                let columns = query.columns.iter().enumerate();
                let mut columns = columns.filter(|(i, _)| !last_tie || query.tied_by == Some(*i));
                let differs = columns.find(|(i, (_, rule))| {
                    let values = (want.get(*i), have.get(*i));
                    !matches!(values, (Some(w), Some(h)) if same(w, h, *rule, precision))
                });
                match differs {
                    None => continue,
                    Some((_, (name, _))) => Some(*name),
                }
            }
            _ => None,
        };
        return Err(Difference {
            row: row + 1,
            column,
            expected: want.map(|r| r.to_vec()),
            got: have.map(|r| r.to_vec()),
            rows,
        });
    }
    Ok(())
}

/// Ranges of rows that are equal in the column that they are ordered by; of one row only, those
/// that are alone.
fn ties(query: &Query, answer: &QueryAnswer) -> Vec<std::ops::Range<usize>> {
    let Some(column) = query.tied_by else {
        return Vec::new();
    };
    let value = |row: &Vec<Option<String>>| number(row.get(column)?.as_deref()?);
    let mut ties: Vec<std::ops::Range<usize>> = Vec::new();
    for (row, values) in answer.rows.iter().enumerate() {
        let previous = row.checked_sub(1).and_then(|p| answer.rows.get(p));
        let tied = match (previous.and_then(value), value(values)) {
            (Some(a), Some(b)) => near(a, b),
            _ => false,
        };
        match ties.last_mut() {
            Some(tie) if tied => tie.end = row + 1,
            _ => ties.push(row..row + 1),
        }
    }
    ties
}

/// Rows with ties in one order, whichever they came in.
fn arranged<'a>(
    ties: &[std::ops::Range<usize>],
    query: &Query,
    rows: &'a [Vec<Option<String>>],
) -> Vec<&'a [Option<String>]> {
    let mut rows: Vec<&[Option<String>]> = rows.iter().map(Vec::as_slice).collect();
    let exact = |row: &[Option<String>]| -> Vec<Option<String>> {
        let cells = query.columns.iter().zip(row);
        let kept = cells
            .filter(|((_, rule), _)| matches!(rule, ComparisonRule::Text | ComparisonRule::Number));
        kept.map(|(_, cell)| cell.clone()).collect()
    };
    for tie in ties.iter().filter(|tie| tie.len() > 1) {
        let end = tie.end.min(rows.len());
        if let Some(tied) = rows.get_mut(tie.start..end) {
            tied.sort_by(|a, b| {
                let order = exact(a).cmp(&exact(b));
                order.then(Ordering::Equal)
            });
        }
    }
    rows
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite())
}

/// Whether two sums are one, to a cent.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= CENT.max(a.abs() * RELATIVE)
}

fn same(
    expected: &Option<String>,
    got: &Option<String>,
    rule: ComparisonRule,
    precision: Precision,
) -> bool {
    let (Some(expected), Some(got)) = (expected, got) else {
        return expected.is_none() && got.is_none();
    };
    if rule == ComparisonRule::Text {
        return expected.trim_end() == got.trim_end();
    }
    let (Some(v), Some(r)) = (number(expected), number(got)) else {
        return false;
    };
    match (rule, precision) {
        // Keys, counts, and values with two digits after the point.
        (ComparisonRule::Text | ComparisonRule::Number, _) => (r - v).abs() < 0.005,
        (ComparisonRule::Sum, Precision::Specified) => (r - v).abs() <= 100.0,
        (ComparisonRule::Sum, Precision::Close) => near(v, r),
        (ComparisonRule::Ratio, Precision::Specified) => {
            let (v, r) = (hundredths(v), hundredths(r));
            // The answer set has two digits itself; v may be negative.
            (r - v).abs() <= 0.01 * v.abs() + 1e-9
        }
        (ComparisonRule::Ratio, Precision::Close) => (r - v).abs() <= 1e-5 + v.abs() * RELATIVE,
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: &[&str]) -> QueryAnswer {
        let row = |row: &&str| {
            let value = |v: &str| (v != "NULL").then(|| v.to_string());
            row.split('|').map(value).collect()
        };
        QueryAnswer {
            rows: rows.iter().map(row).collect(),
        }
    }

    fn judge(number: u8, precision: Precision, expected: &[&str], got: &[&str]) -> Option<String> {
        let query = Query::numbered(number).unwrap();
        compare(query, &answer(expected), &answer(got), precision)
            .err()
            .map(|d| d.to_string())
    }

    #[test]
    fn rules_are_those_of_the_clause() {
        use Precision::{Close, Specified};
        let q5 = |p, got: &str| judge(5, p, &["CHINA|1000.50"], &[&format!("CHINA|{got}")]);
        assert_eq!(q5(Specified, "1100.5"), None);
        assert!(q5(Specified, "1100.6").is_some());
        assert_eq!(q5(Close, "1000.5099"), None);
        assert!(q5(Close, "1000.52").is_some());
        let q8 = |p, got: &str| judge(8, p, &["1995|0.03"], &[&format!("1995|{got}")]);
        assert_eq!(q8(Specified, "0.0344358904066548"), None);
        assert!(q8(Specified, "0.0251").is_none());
        assert!(q8(Specified, "0.02").is_some());
        assert!(q8(Close, "0.0301").is_some());
        let q14 = |got: &str| judge(14, Specified, &["16.38"], &[got]);
        assert_eq!(q14("16.5"), None);
        assert!(q14("16.6").is_some());
        let q4 = |got: &str| judge(4, Specified, &["1-URGENT|10594"], &[got]);
        assert_eq!(q4("1-URGENT       |10594"), None);
        assert_eq!(
            q4("1-URGENT|10595").unwrap(),
            "row 1, order_count: expected 1-URGENT|10594, got 1-URGENT|10595"
        );
        assert!(q4("1-URGENT|NULL").is_some());
        assert!(q4("1-URGENT|NaN").is_some());
        assert!(q4("1-URGENT").is_some());
        assert_eq!(judge(17, Close, &["NULL"], &["NULL"]), None);
        assert!(judge(17, Specified, &["NULL"], &["0"]).is_some());
    }

    #[test]
    fn the_first_row_that_differs_is_told() {
        let said = judge(4, Precision::Close, &["a|1", "b|2", "c|3"], &["a|1", "b|2"]);
        assert_eq!(
            said.unwrap(),
            "row 3: expected c|3, got no row (3 rows expected, 2 came)"
        );
        let said = judge(4, Precision::Close, &["a|1"], &["a|1", "b|2"]);
        assert_eq!(
            said.unwrap(),
            "row 2: expected no row, got b|2 (1 rows expected, 2 came)"
        );
        let said = judge(4, Precision::Close, &["a|1", "b|2"], &["b|2", "a|1"]);
        assert!(said.unwrap().starts_with("row 1, o_orderpriority"));
    }

    #[test]
    fn rows_that_tie_come_in_any_order() {
        let q11 = |got: &[&str]| judge(11, Precision::Close, &["1|9.00", "2|8.00", "3|8.00"], got);
        assert_eq!(q11(&["1|9.00", "3|8.00", "2|8.00"]), None);
        assert!(q11(&["2|8.00", "1|9.00", "3|8.00"]).is_some());
        assert!(q11(&["1|9.00", "3|8.00", "3|8.00"]).is_some());
    }

    #[test]
    fn rows_that_a_limit_cuts_are_the_engines_choice() {
        let row = |key: usize, revenue: &str| format!("{key}|{revenue}|1995-01-01|0");
        let mut expected: Vec<String> = (0..9).map(|n| row(n, &format!("{}.0", 99 - n))).collect();
        let mut got = expected.clone();
        expected.push(row(10, "5.0"));
        got.push(row(11, "5.0"));
        let texts = |rows: &[String]| answer(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let query = Query::numbered(3).unwrap();
        let close = Precision::Close;
        assert_eq!(
            compare(query, &texts(&expected), &texts(&got), close),
            Ok(())
        );
        got[9] = row(11, "4.0");
        assert!(compare(query, &texts(&expected), &texts(&got), close).is_err());
        got[9] = row(11, "5.0");
        got[0] = row(12, "99.0");
        assert!(compare(query, &texts(&expected), &texts(&got), close).is_err());
    }
}
