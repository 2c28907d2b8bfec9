//! What was observed for other tools: a table in long form, a row for each point of each series.

use crate::ReportError;
use crate::csv::line;
use crate::intervals::{ColumnKind, IntervalCell};
use tidemark_core::record::RunRecord;
use tidemark_core::series::{Measures, Series, SeriesError};

/// The columns: those of time as the intervals have them.
pub(crate) const COLUMNS: &[(&str, ColumnKind)] = &[
    ("run", ColumnKind::Word),
    ("start_s", ColumnKind::Number),
    ("length_s", ColumnKind::Number),
    ("source", ColumnKind::Word),
    ("name", ColumnKind::Word),
    ("labels", ColumnKind::Word),
    ("unit", ColumnKind::Word),
    ("measures", ColumnKind::Word),
    ("value", ColumnKind::Number),
];

/// When a point begins, in milliseconds from the start of the measurement, and its cells.
type Row<'a> = (i64, Vec<IntervalCell<'a>>);

/// A series with what its rows have in common.
pub(crate) struct Exported<'a> {
    run: &'a str,
    series: &'a Series,
    /// As a JSON object, for values may hold anything; empty where there are none.
    labels: String,
}

impl<'a> Exported<'a> {
    /// All of a record's.
    pub fn all(record: &'a RunRecord) -> Result<Vec<Self>, ReportError> {
        let one = |series: &'a Series| -> Result<Self, ReportError> {
            let labels = match series.key.labels.is_empty() {
                true => String::new(),
                false => serde_json::to_string(&series.key.labels)?,
            };
            Ok(Self {
                run: &record.id,
                series,
                labels,
            })
        };
        record.series.iter().map(one).collect()
    }

    /// A row for each point.
    pub fn rows(&self) -> Result<impl Iterator<Item = Result<Row<'_>, SeriesError>>, SeriesError> {
        let key = &self.series.key;
        let measures = match key.measures {
            Measures::Gauge => "gauge",
            Measures::Rate => "rate",
        };
        let length_s = f64::from(self.series.step_ms) / 1e3;
        Ok(self.series.points()?.map(move |point| {
            let point = point?;
            let cells = vec![
                IntervalCell::Word(self.run),
                IntervalCell::Number(Some(point.at_ms as f64 / 1e3), Some(3)),
                IntervalCell::Number(Some(length_s), Some(3)),
                IntervalCell::Word(&key.source),
                IntervalCell::Word(&key.name),
                IntervalCell::Word(&self.labels),
                IntervalCell::Word(&key.unit),
                IntervalCell::Word(measures),
                IntervalCell::Number(Some(point.value), None),
            ];
            Ok((point.at_ms, cells))
        }))
    }
}

/// A line for every point of every series, under one line of names: its time in seconds of the
/// measurement, as [`crate::interval_table`] has it, and how long it is; who gave it; its name, its labels
/// as a JSON object, its unit; whether it is a `gauge` or a `rate` of a second; its value.
///
/// # Errors
/// [`ReportError::Series`] of a series that can't be read.
pub fn series_table(record: &RunRecord) -> Result<String, ReportError> {
    let heads: Vec<String> = COLUMNS
        .iter()
        .map(|(name, _)| (*name).to_string())
        .collect();
    let mut lines = line(&heads);
    for series in Exported::all(record)? {
        for row in series.rows()? {
            let (_, cells) = row?;
            let fields: Vec<String> = cells.iter().map(IntervalCell::text).collect();
            lines.push_str(&line(&fields));
        }
    }
    Ok(lines)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use super::*;
    use tidemark_core::series::{SeriesBuilder, SeriesKey};

    /// A run with a gap in one series, a series with labels, and one without points.
    pub(crate) fn observed() -> RunRecord {
        let series = |key, points: &[(i64, f64)]| {
            let mut builder = SeriesBuilder::new(key, 3, 1000);
            for (at, value) in points {
                builder.push(*at, *value);
            }
            builder.series()
        };
        let busy = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate);
        let sessions = SeriesKey::new("server-activity", "sessions", "sessions", Measures::Gauge);
        let sessions = sessions.with("state", "active").with("wait", "a,\"b\"");
        let all = [
            series(busy, &[(-1000, 0.25), (0, 0.5), (3000, 1.0)]),
            series(sessions, &[(0, 12.0)]),
        ];
        RunRecord {
            id: "0199".into(),
            series: all.into_iter().flatten().collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn each_point_has_a_line() {
        let table = series_table(&observed()).unwrap();
        let lines: Vec<&str> = table.split_terminator("\r\n").collect();
        assert_eq!(
            lines,
            [
                "run,start_s,length_s,source,name,labels,unit,measures,value",
                "0199,-1.000,1.000,client-host,cpu.busy,,ratio,rate,0.25",
                "0199,0.000,1.000,client-host,cpu.busy,,ratio,rate,0.5",
                "0199,3.000,1.000,client-host,cpu.busy,,ratio,rate,1",
                "0199,0.000,1.000,server-activity,sessions,\
                 \"{\"\"state\"\":\"\"active\"\",\"\"wait\"\":\"\"a,\\\"\"b\\\"\"\"\"}\",sessions,gauge,12",
            ]
        );
        let none = series_table(&RunRecord::default()).unwrap();
        assert_eq!(none.lines().count(), 1);
    }

    #[test]
    fn a_series_that_cannot_be_read_is_named() {
        let mut record = observed();
        let mut json = serde_json::to_value(&record.series[0]).unwrap();
        json["values"] = "!".into();
        record.series[0] = serde_json::from_value(json).unwrap();
        let said = series_table(&record).unwrap_err().to_string();
        assert!(said.contains("\"cpu.busy\" is damaged"), "{said}");
    }
}
