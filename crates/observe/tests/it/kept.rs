//! What sources hand over, put together as a record has it.

use std::sync::{Arc, Mutex};
use tidemark_core::series::{Series, SeriesChunk};
use tidemark_observe::SeriesSink;

pub type Chunks = Arc<Mutex<Vec<SeriesChunk>>>;

pub fn sink() -> (SeriesSink, Chunks) {
    let chunks = Chunks::default();
    let own = Arc::clone(&chunks);
    (
        Arc::new(move |chunk| own.lock().unwrap().push(chunk)),
        chunks,
    )
}

/// What is there in the end: of each chunk the last.
pub fn kept(chunks: &Chunks) -> Vec<Series> {
    let mut last = std::collections::BTreeMap::new();
    for chunk in chunks.lock().unwrap().iter() {
        let key = (chunk.source.clone(), chunk.number);
        last.insert(key, chunk.series.clone());
    }
    tidemark_core::series::join(last.into_values().flatten().collect())
}

/// Series of a source by name.
pub fn named<'s>(series: &'s [Series], source: &str, name: &str) -> Vec<&'s Series> {
    let of = |s: &&Series| s.key.source == source && s.key.name == name;
    series.iter().filter(of).collect()
}

/// Points of one series.
pub fn points(series: &Series) -> Vec<(i64, f64)> {
    let points = series.points().unwrap().map(Result::unwrap);
    points.map(|p| (p.at_ms, p.value)).collect()
}

/// The mean of its points.
pub fn mean(series: &Series) -> f64 {
    let points = points(series);
    points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64
}
