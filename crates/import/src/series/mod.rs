//! Series that another collector wrote as a table: vmstat, iostat, dstat, anything with a column of
//! times. A [`ColumnMapping`] says which column is what; [`read_series`] keeps the points of a run's time.
//!
//! ```
//! use tidemark_import::series::{ColumnMapping, RunWindow, read_series};
//! let mapping = ColumnMapping::parse(
//!     "source = \"iostat\"\n[time]\ncolumn = \"at\"\nformat = \"epoch\"\n\
//!      [[column]]\ncolumn = \"%util\"\nname = \"disk.busy\"\nunit = \"ratio\"\nscale = 0.01\n",
//! )?;
//! let window = RunWindow { begin_ms: 10_000, measured_ms: 10_000, end_ms: 20_000 };
//! let read = read_series("at,%util\n9,1\n11,50\n12,70\n".as_bytes(), &mapping, &window)?;
//! assert_eq!((read.inside, read.outside, read.series[0].count), (2, 1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ending;
mod heading;
mod mapping;
mod time;

pub use mapping::{ColumnMapping, ColumnPlace, MappedColumn, MappingError};
pub use time::{Stamps, TimeColumn, TimeFormat};

use crate::TextError;
use crate::text::TextLines;
use ending::{EndedRow, EndingRow};
use heading::{Heading, HeadingMatch};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::io::Read;
use tidemark_core::series::{Series, SeriesBuilder, SeriesKey};

/// Rows that are looked at for the heading, where no number of lines to skip is given.
const HEADING_WITHIN: u64 = 200;
/// Series that one table may make: labels of columns make one for each value.
const MOST_SERIES: usize = 1000;
/// Values that are kept at most, of all series together.
const MOST_VALUES: usize = 1 << 24;
/// A line that is longer is cut by the reader, and no row.
const LONGEST_ROW: usize = 1 << 19;
/// The time of a run, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunWindow {
    /// When its load began.
    pub begin_ms: i64,
    /// When its measurement began: a series' times count from there.
    pub measured_ms: i64,
    /// When it ended.
    pub end_ms: i64,
}

/// What a table gave.
#[derive(Debug, Clone, Default)]
pub struct ReadSeries {
    /// Its points within the run, as series.
    pub series: Vec<Series>,
    /// The line of the heading.
    pub heading: u64,
    /// Rows with a time within the run.
    pub inside: u64,
    /// Rows with a time outside of it.
    pub outside: u64,
    /// The first and the last time of all rows, in milliseconds since 1970.
    pub times_ms: Option<(i64, i64)>,
    /// What was left out or changed, each with the first place.
    pub remarks: Vec<Remark>,
}

/// Something that was met, how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// What.
    pub kind: RemarkKind,
    /// How often.
    pub count: u64,
    /// The first line.
    pub line: u64,
    /// What stood there.
    pub text: String,
}

/// What may be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind {
    /// A time that is none: the row is left out.
    NoTime,
    /// Fewer columns than the mapping names: the row is left out.
    Short,
    /// A line that is too long: it is left out.
    Long,
    /// A value that is no number: it is a gap.
    NoNumber,
    /// A time before that of the row above: rows were sorted.
    Unsorted,
    /// A second value of the same time: the first is kept.
    SameTime,
    /// Stamped at its end, and nobody knows when its time began: the first of its labels, or after a pause. It
    /// is left out.
    NoBegin,
}

/// Why a table gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadSeriesError {
    /// It is no text, or can't be read.
    #[error(transparent)]
    Text(#[from] TextError),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// The columns of the mapping are in no line.
    #[error("{0}")]
    Heading(String),
    /// There are no rows, or none with a time.
    #[error("{0}")]
    NoRows(String),
    /// Labels make more series than a record can have.
    #[error(
        "line {0}: labels_from makes more than {MOST_SERIES} series; use a column with fewer values"
    )]
    TooManySeries(u64),
    /// There are more values than are kept.
    #[error("line {0}: more than {MOST_VALUES} values are within the run; map fewer columns")]
    TooManyValues(u64),
    /// All rows are outside of the run.
    #[error("none of its {rows} rows is within the run")]
    Outside {
        /// How many there are.
        rows: u64,
        /// Their first time, in milliseconds since 1970.
        first_ms: i64,
        /// Their last.
        last_ms: i64,
    },
    /// Times without a date over more than a day: each may be of one day or of another.
    #[error("{0}")]
    NoDate(String),
    /// No value of the rows within the run is a number.
    #[error("no value within the run is a number (line {0}: {1:?})")]
    NoNumbers(u64, String),
}

/// Reads a table's series within a run's time.
///
/// # Errors
/// [`ReadSeriesError`] where nothing of it can be kept.
pub fn read_series(
    from: impl Read,
    mapping: &ColumnMapping,
    window: &RunWindow,
) -> Result<ReadSeries, ReadSeriesError> {
    let mut lines = TextLines::of(from)?;
    let mut finding = Heading::new(mapping);
    let mut rows = None;
    let mut last_line = 0;
    while let Some((line, text)) = lines.next()? {
        last_line = line;
        match &mut rows {
            None => match finding.line(line, text)? {
                HeadingMatch::Columns(columns) => {
                    rows = Some(SeriesRows::new(mapping, window, columns, line))
                }
                HeadingMatch::No => {}
            },
            Some(rows) => rows.row(line, text)?,
        }
    }
    match rows {
        Some(rows) => rows.end(),
        None if last_line == 0 => Err(ReadSeriesError::Empty),
        None => Err(ReadSeriesError::Heading(finding.missing())),
    }
}

/// The cells of a row, without the quotes around them.
fn cells(text: &str, delimiter: char) -> Vec<String> {
    if delimiter == ' ' {
        return text.split_whitespace().map(String::from).collect();
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => {
                cells.push(cell.trim().to_string());
                cell.clear();
            }
            c => cell.push(c),
        }
    }
    cells.push(cell.trim().to_string());
    cells
}

/// Columns by their place in a row, from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ColumnPlaces {
    time: Vec<usize>,
    /// Of each column of the mapping, and of its labels.
    values: Vec<(usize, Vec<usize>)>,
    /// Cells that a row needs.
    least: usize,
    /// The heading's cells: collectors repeat it.
    heading: Vec<String>,
}

/// The values of one series.
#[derive(Debug, Default)]
struct SeriesValues {
    points: Vec<(i64, f64, u64)>,
    decimals: usize,
}

struct SeriesRows<'m> {
    mapping: &'m ColumnMapping,
    window: &'m RunWindow,
    columns: ColumnPlaces,
    near: Timestamp,
    /// By the mapping's column and the labels' values.
    series: BTreeMap<(usize, Vec<String>), SeriesValues>,
    values: usize,
    last_ms: Option<i64>,
    /// The first row's time.
    first_ms: Option<i64>,
    /// By all labels of a row, for devices of one sample may differ in their times.
    ended: BTreeMap<Vec<String>, EndedRow>,
    /// Whether times without a date have gone from the end of the run's day to its begin.
    is_next_day: bool,
    has_no_date: bool,
    /// Rows that are stamped at their end.
    ending: Vec<EndingRow>,
    read: ReadSeries,
}

const HALF_A_DAY_MS: i64 = 12 * 60 * 60 * 1000;

impl<'m> SeriesRows<'m> {
    fn new(
        mapping: &'m ColumnMapping,
        window: &'m RunWindow,
        columns: ColumnPlaces,
        heading: u64,
    ) -> Self {
        let middle = window.begin_ms / 2 + window.end_ms / 2;
        Self {
            mapping,
            window,
            columns,
            near: Timestamp::from_millisecond(middle).unwrap_or_default(),
            series: BTreeMap::new(),
            values: 0,
            last_ms: None,
            first_ms: None,
            ended: BTreeMap::new(),
            is_next_day: false,
            has_no_date: mapping.time.has_no_date(),
            ending: Vec::new(),
            read: ReadSeries {
                heading,
                ..ReadSeries::default()
            },
        }
    }

    fn remark(&mut self, kind: RemarkKind, line: u64, text: &str) {
        let mut all = self.read.remarks.iter_mut();
        match all.find(|r| r.kind == kind) {
            Some(remark) => remark.count += 1,
            None => self.read.remarks.push(Remark {
                kind,
                count: 1,
                line,
                text: text.chars().take(60).collect(),
            }),
        }
    }

    fn row(&mut self, line: u64, text: &str) -> Result<(), ReadSeriesError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if text.len() > LONGEST_ROW {
            self.remark(RemarkKind::Long, line, text);
            return Ok(());
        }
        let cells = cells(text, self.mapping.delimiter);
        if cells == self.columns.heading {
            return Ok(());
        }
        if cells.len() < self.columns.least {
            self.remark(RemarkKind::Short, line, text);
            return Ok(());
        }
        let cell = |at: usize| cells.get(at).map_or("", String::as_str);
        let times: Vec<&str> = self.columns.time.iter().map(|at| cell(*at)).collect();
        let time = times.join(" ");
        let moment = self.mapping.time.moment_ms(&time, self.near, self.last_ms);
        let Some(at_ms) = moment else {
            self.remark(RemarkKind::NoTime, line, &time);
            return Ok(());
        };
        self.tell_days_apart(at_ms, line)?;
        if self.last_ms.is_some_and(|last| at_ms < last) {
            self.remark(RemarkKind::Unsorted, line, &time);
        }
        self.last_ms = Some(at_ms);
        let (first, last) = self.read.times_ms.unwrap_or((at_ms, at_ms));
        self.read.times_ms = Some((first.min(at_ms), last.max(at_ms)));
        match self.mapping.time.stamps {
            Stamps::Begin => self.place(at_ms, line, &cells),
            Stamps::End => self.ends_at(at_ms, line, time, cells),
        }
    }

    /// Takes over a row whose time begins then.
    fn place(&mut self, at_ms: i64, line: u64, cells: &[String]) -> Result<(), ReadSeriesError> {
        let cell = |at: usize| cells.get(at).map_or("", String::as_str);
        if !(self.window.begin_ms..=self.window.end_ms).contains(&at_ms) {
            self.read.outside += 1;
            return Ok(());
        }
        self.read.inside += 1;
        for column in 0..self.columns.values.len() {
            let Some((at, labels)) = self.columns.values.get(column) else {
                continue;
            };
            let text = cell(*at);
            let labels: Vec<String> = labels.iter().map(|at| cell(*at).to_string()).collect();
            let Some(value) = number(text) else {
                self.remark(RemarkKind::NoNumber, line, text);
                continue;
            };
            let key = (column, labels);
            if self.series.len() >= MOST_SERIES && !self.series.contains_key(&key) {
                return Err(ReadSeriesError::TooManySeries(line));
            }
            self.values += 1;
            if self.values > MOST_VALUES {
                return Err(ReadSeriesError::TooManyValues(line));
            }
            let scale = self.mapping.columns.get(column).map_or(1.0, |c| c.scale);
            let values = self.series.entry(key).or_default();
            values.points.push((at_ms, value * scale, line));
            values.decimals = values.decimals.max(decimals(text));
        }
        Ok(())
    }

    /// Of times without a date the same may be of two days.
    fn tell_days_apart(&mut self, at_ms: i64, line: u64) -> Result<(), ReadSeriesError> {
        if !self.has_no_date {
            return Ok(());
        }
        let goes_back = |last: i64| last.saturating_sub(at_ms) > HALF_A_DAY_MS;
        self.is_next_day |= self.last_ms.is_some_and(goes_back);
        let is_again = self.is_next_day && self.first_ms.is_some_and(|first| at_ms >= first);
        let run_ms = self.window.end_ms - self.window.begin_ms;
        if is_again || run_ms > 2 * HALF_A_DAY_MS {
            return Err(ReadSeriesError::NoDate(format!(
                "line {line}: its times have no date, and more than a day is in {}; write the date, too, for \
                 example format = \"%Y-%m-%d %H:%M:%S\"",
                if is_again { "the file" } else { "the run" },
            )));
        }
        self.first_ms.get_or_insert(at_ms);
        Ok(())
    }

    fn end(mut self) -> Result<ReadSeries, ReadSeriesError> {
        self.place_ending()?;
        let read = &self.read;
        let without_begin = read.remarks.iter().find(|r| r.kind == RemarkKind::NoBegin);
        let rows = read.inside + read.outside + without_begin.map_or(0, |r| r.count);
        let of = |kind: RemarkKind| read.remarks.iter().find(|r| r.kind == kind);
        let Some((first_ms, last_ms)) = read.times_ms else {
            let why = match of(RemarkKind::NoTime).or_else(|| of(RemarkKind::Short)) {
                Some(r) if r.kind == RemarkKind::NoTime => format!(
                    "line {}: {:?} is no time in the format of [time]; no row has one",
                    r.line, r.text
                ),
                Some(r) => format!(
                    "line {}: {:?} has fewer columns than the mapping names; all rows have",
                    r.line, r.text
                ),
                None => format!("there is no row after the heading in line {}", read.heading),
            };
            return Err(ReadSeriesError::NoRows(why));
        };
        if let Some(r) = without_begin.filter(|_| read.inside + read.outside == 0) {
            return Err(ReadSeriesError::NoRows(format!(
                "line {}: with stamps = \"end\" a row begins where the one before ends, and there is none before \
                 {:?}",
                r.line, r.text
            )));
        }
        if read.inside == 0 {
            return Err(ReadSeriesError::Outside {
                rows,
                first_ms,
                last_ms,
            });
        }
        for ((column, labels), values) in std::mem::take(&mut self.series) {
            if let Some(series) = self.series_of(column, labels, values) {
                self.read.series.push(series);
            }
        }
        if self.read.series.is_empty() {
            let first = self
                .read
                .remarks
                .iter()
                .find(|r| r.kind == RemarkKind::NoNumber);
            let (line, text) = first.map_or((0, String::new()), |r| (r.line, r.text.clone()));
            return Err(ReadSeriesError::NoNumbers(line, text));
        }
        Ok(self.read)
    }

    fn series_of(
        &mut self,
        column: usize,
        labels: Vec<String>,
        mut values: SeriesValues,
    ) -> Option<Series> {
        let of = self.mapping.columns.get(column)?;
        let mut key = SeriesKey::new(&of.source, &of.name, &of.unit, of.measures);
        for (label, value) in &of.labels {
            key = key.with(label, value);
        }
        for (label, value) in of.labels_from.keys().zip(labels) {
            key = key.with(label, value);
        }
        // Those of one time stay in the order of their lines.
        values.points.sort_by_key(|(at, ..)| *at);
        let begin = self.window.measured_ms;
        let steps = values.points.windows(2).map(|w| match w {
            [(a, ..), (b, ..)] => b.abs_diff(*a),
            _ => 0,
        });
        // A step that all times are multiples of loses none of them.
        let step = steps.fold(0, gcd);
        let step = match u32::try_from(step) {
            Ok(0) | Err(_) => 1000,
            Ok(step) => step,
        };
        let scaled = (-of.scale.abs().log10()).ceil().clamp(0.0, 9.0) as usize;
        let digits = (values.decimals + scaled).min(9);
        let digits = of.digits.unwrap_or(i8::try_from(digits).unwrap_or(9));
        let mut builder = SeriesBuilder::new(key, digits, step);
        let mut last = None;
        for (at, value, line) in values.points {
            if last == Some(at) {
                self.remark(RemarkKind::SameTime, line, "");
            } else if !builder.push(at.saturating_sub(begin), value) {
                self.remark(RemarkKind::NoNumber, line, &value.to_string());
            }
            last = Some(at);
        }
        builder.series()
    }
}

fn number(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Digits behind the point of a number as it is written.
fn decimals(text: &str) -> usize {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let behind = mantissa
        .split_once('.')
        .map_or(0, |(_, behind)| behind.len());
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let digits = i64::try_from(behind).unwrap_or(9).saturating_sub(exponent);
    usize::try_from(digits.clamp(0, 9)).unwrap_or(9)
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        b => gcd(b, a % b),
    }
}
