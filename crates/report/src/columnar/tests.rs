//! Files are read back by the reader of the format's own library, and compared with the text.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::interval_table;
use crate::intervals::tests::stats;
use crate::series::exported::tests::observed;
use crate::series_table;
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use tidemark_core::record::{Interval, Phase, StatementCounts};

const SINCE: Duration = Duration::from_millis(1_700_000_000_500);

fn record(types: &[(&str, &[u64])]) -> RunRecord {
    let interval = |start_ms, phase| Interval {
        start_ms,
        length_ms: 1000.25,
        phase,
        sessions: 2,
        rate: (start_ms >= 0).then_some(1e3 / 3.0),
        outage_ms: 0.1,
        statements: StatementCounts {
            read: 9,
            ..StatementCounts::default()
        },
        types: types
            .iter()
            .map(|(name, us)| (name.to_string(), stats(us)))
            .collect(),
        ..Interval::default()
    };
    RunRecord {
        id: "0199".into(),
        workload: "oltp_read_only".into(),
        intervals: vec![interval(-1000, Phase::Warmup), interval(0, Phase::Measure)],
        ..RunRecord::default()
    }
}

/// Names of columns, and the rows' values.
fn read(file: Vec<u8>) -> (Vec<String>, Vec<Vec<Field>>) {
    let reader = SerializedFileReader::new(Bytes::from(file)).unwrap();
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let names = fields.iter().map(|f| f.name().to_owned()).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let columns = row.unwrap().into_columns();
        columns.into_iter().map(|(_, field)| field).collect()
    });
    (names, rows.collect())
}

/// Whether a value is what the text says of it, to the digits that the text has.
fn same(field: &Field, text: &str) -> bool {
    match field {
        Field::Null => text.is_empty(),
        Field::Str(word) => word == text,
        Field::Long(count) => count.to_string() == text,
        Field::Double(number) => {
            let told: f64 = text.parse().unwrap();
            let decimals = text.split_once('.').map_or(0, |(_, after)| after.len());
            format!("{number:.decimals$}") == format!("{told:.decimals$}")
        }
        other => panic!("{other:?} for {text}"),
    }
}

#[test]
fn every_cell_is_the_texts() {
    for types in [
        &[("a", &[1000, 3000][..]), ("b.c", &[])][..],
        &[("a", &[1000])],
        &[],
    ] {
        let record = record(types);
        let table = interval_table(&record).unwrap();
        let mut lines = table.split_terminator("\r\n").map(|l| l.split(','));
        let (names, rows) = read(interval_parquet(&record, Some(SINCE)).unwrap());
        assert_eq!(names[0], "started_at");
        assert!(lines.next().unwrap().eq(names[1..].iter()), "{names:?}");
        assert_eq!(rows.len(), 2);
        for (row, line) in rows.iter().zip(lines) {
            let line: Vec<&str> = line.collect();
            assert_eq!(row.len(), line.len() + 1);
            for ((name, field), text) in names[1..].iter().zip(&row[1..]).zip(line) {
                assert!(same(field, text), "{name}: {field:?} for {text:?}");
            }
        }
    }
}

#[test]
fn every_cell_of_a_series_is_the_texts() {
    let record = observed();
    let table = series_table(&record).unwrap();
    let heads: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let (names, rows) = read(series_parquet(&record, Some(SINCE)).unwrap());
    assert_eq!(names[0], "started_at");
    assert_eq!(names[1..], heads);
    assert_eq!(rows.len(), 4);
    // The labels of the last hold commas.
    for (row, line) in rows.iter().zip(table.lines().skip(1)).take(3) {
        for ((name, field), text) in names.iter().zip(row).skip(1).zip(line.split(',')) {
            assert!(same(field, text), "{name}: {field:?} for {text:?}");
        }
    }
    assert_eq!(rows[0][0], Field::TimestampMillis(1_699_999_999_500));
    let labels = "{\"state\":\"active\",\"wait\":\"a,\\\"b\\\"\"}";
    assert_eq!(rows[3][6], Field::Str(labels.into()));
    let (names, rows) = read(series_parquet(&RunRecord::default(), None).unwrap());
    assert_eq!((names.len(), rows.len()), (10, 0));
}

#[test]
fn times_are_those_of_the_intervals_or_nothing() {
    let (_, rows) = read(interval_parquet(&record(&[]), Some(SINCE)).unwrap());
    let times: Vec<&Field> = rows.iter().map(|row| &row[0]).collect();
    let [warmup, measure] = [1_699_999_999_500, 1_700_000_000_500].map(Field::TimestampMillis);
    assert_eq!(times, [&warmup, &measure]);
    let (_, rows) = read(interval_parquet(&record(&[]), None).unwrap());
    assert!(rows.iter().all(|row| row[0] == Field::Null));
    let mut far = record(&[]);
    far.intervals[0].start_ms = i64::MAX;
    let (_, rows) = read(interval_parquet(&far, Some(SINCE)).unwrap());
    assert_eq!(rows[0][0], Field::Null);
}

#[test]
fn names_and_counts_of_any_kind_are_taken() {
    let hostile = [
        "",
        "=1+1",
        "a.b",
        "a\"b\n\r\0",
        "\u{1f980}",
        "run",
        "x:mean_ms",
    ];
    let types: Vec<(&str, &[u64])> = hostile.iter().map(|name| (*name, &[7][..])).collect();
    let mut record = record(&types);
    record.workload = "=HYPERLINK(\"x\")\0".into();
    record.intervals[0].statements.read = u64::MAX;
    let (names, rows) = read(interval_parquet(&record, Some(SINCE)).unwrap());
    // No spreadsheet reads it: nothing is put before it.
    assert_eq!(rows[0][2], Field::Str(record.workload.clone()));
    assert_eq!(rows[0][9], Field::Long(i64::MAX));
    for name in hostile {
        assert!(names.contains(&format!("{name}:mean_ms")), "{name:?}");
    }
    assert_eq!(names.len(), 27 + 4 * hostile.len());
}

#[test]
fn a_run_of_no_interval_is_a_table_of_no_row() {
    let (names, rows) = read(interval_parquet(&RunRecord::default(), None).unwrap());
    assert_eq!((names.len(), rows.len()), (27, 0));
}
