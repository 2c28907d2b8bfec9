//! The tables of a run's intervals and of what was observed as Parquet files: what
//! [`crate::interval_table`] and [`crate::series_table`] write as text, with the types of their columns.

use crate::ReportError;
use crate::intervals::{ColumnKind, IntervalCell, IntervalTable};
use crate::series::exported::{COLUMNS, Exported};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as Written};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::record::RunRecord;

/// The column that the text has not: the time of day of `start_s`.
const STARTED: &str = "started_at";
/// Rows of a group: a day of many series does not stand in memory twice.
const ROWS_AT_ONCE: usize = 1 << 17;

/// A row for every interval, warm-up included, in the columns of [`crate::interval_table`]: text as
/// UTF-8 just as it is in the record, counts as 64-bit integers, all else as floating numbers with all
/// their digits, null where nothing was measured. `started_at`, before them, is when the interval began
/// (UTC, milliseconds); null where `measured_since` (since 1970), when the measurement began, is not
/// known.
///
/// # Errors
/// [`ReportError::Histogram`], [`ReportError::Parquet`].
pub fn interval_parquet(
    record: &RunRecord,
    measured_since: Option<Duration>,
) -> Result<Vec<u8>, ReportError> {
    let table = IntervalTable::of(record);
    let columns = table.columns();
    let mut values: Vec<ColumnValues> = columns
        .iter()
        .map(|(_, kind)| ColumnValues::of(*kind))
        .collect();
    for row in table.rows() {
        for (column, cell) in values.iter_mut().zip(row?) {
            column.push(&cell);
        }
    }
    let mut types = vec![started_type()];
    types.extend(columns.iter().map(|(name, kind)| type_of(name, *kind)));
    let started: Vec<Option<i64>> = (record.intervals.iter())
        .map(|i| at(measured_since, i.start_ms))
        .collect();
    values.insert(0, ColumnValues::Times(started));
    let mut file = ColumnFile::new("interval", types)?;
    file.add(&values)?;
    Ok(file.done()?)
}

/// A row for every point of every series, in the columns of [`crate::series_table`] and with
/// `started_at` before them, as [`interval_parquet`] has it.
///
/// # Errors
/// [`ReportError::Series`] of a series that can't be read, [`ReportError::Parquet`].
pub fn series_parquet(
    record: &RunRecord,
    measured_since: Option<Duration>,
) -> Result<Vec<u8>, ReportError> {
    let mut types = vec![started_type()];
    types.extend(COLUMNS.iter().map(|(name, kind)| type_of(name, *kind)));
    let mut file = ColumnFile::new("point", types)?;
    let mut points = Points::default();
    for series in Exported::all(record)? {
        for row in series.rows()? {
            let (at_ms, cells) = row?;
            points.push(at(measured_since, at_ms), &cells);
            if points.started.len() >= ROWS_AT_ONCE {
                file.add(&std::mem::take(&mut points).columns())?;
            }
        }
    }
    if !points.started.is_empty() {
        file.add(&points.columns())?;
    }
    Ok(file.done()?)
}

/// Rows of points until they are written.
struct Points {
    started: Vec<Option<i64>>,
    values: Vec<ColumnValues>,
}

impl Default for Points {
    fn default() -> Self {
        Self {
            started: Vec::new(),
            values: COLUMNS
                .iter()
                .map(|(_, kind)| ColumnValues::of(*kind))
                .collect(),
        }
    }
}

impl Points {
    fn push(&mut self, started: Option<i64>, cells: &[IntervalCell<'_>]) {
        self.started.push(started);
        for (column, cell) in self.values.iter_mut().zip(cells) {
            column.push(cell);
        }
    }

    fn columns(self) -> Vec<ColumnValues> {
        let started = ColumnValues::Times(self.started);
        std::iter::once(started).chain(self.values).collect()
    }
}

/// When an interval began, in milliseconds since 1970.
fn at(measured_since: Option<Duration>, start_ms: i64) -> Option<i64> {
    let since = i64::try_from(measured_since?.as_millis()).ok()?;
    since.checked_add(start_ms)
}

/// A column's values.
enum ColumnValues {
    Words(Vec<ByteArray>),
    Counts(Vec<i64>),
    Numbers(Vec<Option<f64>>),
    Times(Vec<Option<i64>>),
}

impl ColumnValues {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Word => ColumnValues::Words(Vec::new()),
            ColumnKind::Count => ColumnValues::Counts(Vec::new()),
            ColumnKind::Number => ColumnValues::Numbers(Vec::new()),
        }
    }

    fn push(&mut self, cell: &IntervalCell<'_>) {
        match (self, cell) {
            (ColumnValues::Words(words), IntervalCell::Word(word)) => words.push((*word).into()),
            // Signed, for tools subtract; nothing counts to the end of it.
            (ColumnValues::Counts(counts), IntervalCell::Count(count)) => {
                counts.push(i64::try_from(*count).unwrap_or(i64::MAX));
            }
            (ColumnValues::Numbers(numbers), IntervalCell::Number(number, _)) => {
                numbers.push(*number)
            }
            // A column with a value too few is refused when it is written.
            _ => {}
        }
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Written<()> {
        match (self, column.untyped()) {
            (ColumnValues::Words(words), ColumnWriter::ByteArrayColumnWriter(to)) => {
                to.write_batch(words, None, None)?
            }
            (ColumnValues::Counts(counts), ColumnWriter::Int64ColumnWriter(to)) => {
                to.write_batch(counts, None, None)?
            }
            (ColumnValues::Numbers(numbers), ColumnWriter::DoubleColumnWriter(to)) => {
                let (there, levels) = without_nulls(numbers);
                to.write_batch(&there, Some(&levels), None)?
            }
            (ColumnValues::Times(times), ColumnWriter::Int64ColumnWriter(to)) => {
                let (there, levels) = without_nulls(times);
                to.write_batch(&there, Some(&levels), None)?
            }
            _ => return Err(ParquetError::General("a column of another type".into())),
        };
        Ok(())
    }
}

/// The values that are there, and for each place whether one is.
fn without_nulls<T: Copy>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let there = values.iter().copied().flatten().collect();
    let levels = values.iter().map(|v| i16::from(v.is_some())).collect();
    (there, levels)
}

fn type_of(name: &str, kind: ColumnKind) -> Written<Type> {
    let (physical, repetition, logical) = match kind {
        ColumnKind::Word => (
            Physical::BYTE_ARRAY,
            Repetition::REQUIRED,
            Some(LogicalType::String),
        ),
        ColumnKind::Count => (Physical::INT64, Repetition::REQUIRED, None),
        ColumnKind::Number => (Physical::DOUBLE, Repetition::OPTIONAL, None),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

fn started_type() -> Written<Type> {
    Type::primitive_type_builder(STARTED, Physical::INT64)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::timestamp(true, TimeUnit::MILLIS)))
        .build()
}

/// A file to which groups of rows are added.
struct ColumnFile(SerializedFileWriter<Vec<u8>>);

impl ColumnFile {
    /// What a row is, and the types of its columns.
    fn new(row: &str, types: Vec<Written<Type>>) -> Written<Self> {
        let fields: Vec<Arc<Type>> = (types.into_iter())
            .map(|made| made.map(Arc::new))
            .collect::<Written<_>>()?;
        let schema = Type::group_type_builder(row).with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_created_by(format!("tidemark {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        Ok(Self(writer))
    }

    fn add(&mut self, values: &[ColumnValues]) -> Written<()> {
        let mut rows = self.0.next_row_group()?;
        for column in values {
            let Some(mut to) = rows.next_column()? else {
                return Err(ParquetError::General("a column too many".into()));
            };
            column.write(&mut to)?;
            to.close()?;
        }
        rows.close()?;
        Ok(())
    }

    fn done(self) -> Written<Vec<u8>> {
        self.0.into_inner()
    }
}

#[cfg(test)]
mod tests;
