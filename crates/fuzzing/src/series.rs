//! Tables of other collectors, each with the mapping that says which column is what.

use crate::memory::bounded;
use tidemark_core::series::Series;
use tidemark_import::series::{ColumnMapping, RunWindow, read_series};

/// A value has its time and its line, a series its key; messages repeat every known key.
const A_BYTE: usize = 2048;
/// What parts the mapping and the table.
const CUT: &[u8] = b"\n%%\n";
/// An hour of November 2023, of which ten seconds are warm-up.
const WINDOW: RunWindow = RunWindow {
    begin_ms: 1_700_000_000_000,
    measured_ms: 1_700_000_010_000,
    end_ms: 1_700_003_600_000,
};

pub(crate) fn run(data: &[u8]) {
    let cut = data.windows(CUT.len()).position(|bytes| bytes == CUT);
    let (mapping, table) = match cut {
        Some(at) => (&data[..at], &data[at + CUT.len()..]),
        None => (data, &data[data.len()..]),
    };
    let Ok(text) = std::str::from_utf8(mapping) else {
        return;
    };
    bounded(data.len(), A_BYTE, || match ColumnMapping::parse(text) {
        Ok(mapping) => look(&mapping, table),
        Err(wrong) => {
            let lines = text.lines().count().max(1) + 1;
            assert!((1..=lines).contains(&wrong.line), "{wrong}");
            assert!(!wrong.message.is_empty());
        }
    });
}

fn look(mapping: &ColumnMapping, table: &[u8]) {
    let read = match read_series(table, mapping, &WINDOW) {
        Ok(read) => read,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return;
        }
    };
    assert!(!read.series.is_empty());
    for series in &read.series {
        assert!((1..=read.inside).contains(&series.count), "{series:?}");
        let points = series.points().unwrap();
        let values: Vec<f64> = points.map(|point| point.unwrap().value).collect();
        assert_eq!(values.len() as u64, series.count);
        assert!(values.iter().all(|v| v.is_finite()), "{series:?}");
        let text = serde_json::to_string(series).unwrap();
        let again: Series = serde_json::from_str(&text).unwrap();
        assert_eq!(again, *series);
    }
}
