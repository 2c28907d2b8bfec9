//! The newest of what is observed beside a run, as gauges.

use std::collections::BTreeMap;
use tidemark_core::series::{Series, SeriesChunk};

/// So many samples a page has; of a cluster with more, the rest is in the record alone.
const MOST: usize = 2000;

/// Labels of a sample, by name.
pub(super) type ObservedLabels = Vec<(String, String)>;

/// Values of one name by their labels.
type Values = BTreeMap<ObservedLabels, f64>;

/// What a source has handed over last, by the names of its series.
#[derive(Debug, Default)]
pub(super) struct NewestOf {
    source: String,
    values: BTreeMap<String, Values>,
}

impl NewestOf {
    /// The values of the last moment of each name: a series that has ended is no news.
    pub fn of(chunk: &SeriesChunk) -> Self {
        let mut newest: BTreeMap<&str, (i64, Values)> = BTreeMap::new();
        for series in &chunk.series {
            // What can't be read is said of the record.
            let Some(Ok(last)) = series.points().ok().and_then(Iterator::last) else {
                continue;
            };
            let of_name = newest.entry(&series.key.name).or_default();
            if of_name.1.is_empty() || last.at_ms > of_name.0 {
                *of_name = (last.at_ms, Values::new());
            }
            if last.at_ms == of_name.0 {
                of_name.1.insert(labels(&chunk.source, series), last.value);
            }
        }
        let newest = newest.into_iter();
        let values = newest.map(|(name, (_, values))| (name.to_string(), values));
        Self {
            source: chunk.source.clone(),
            values: values.collect(),
        }
    }
}

/// The newest values of all sources.
#[derive(Debug, Default)]
pub(super) struct ObservedValues {
    by_source: BTreeMap<String, BTreeMap<String, Values>>,
    /// Whether the load is over.
    is_over: bool,
}

impl ObservedValues {
    pub fn take(&mut self, newest: NewestOf) {
        if !self.is_over {
            let of_source = self.by_source.entry(newest.source).or_default();
            of_source.extend(newest.values);
        }
    }

    /// Nothing goes on any more, whatever sources still hand over.
    pub fn end(&mut self) {
        self.by_source.clear();
        self.is_over = true;
    }

    pub fn samples(&self) -> impl Iterator<Item = (&ObservedLabels, f64)> {
        let names = self.by_source.values().flat_map(BTreeMap::values);
        let all = names.flatten().map(|(labels, value)| (labels, *value));
        all.take(MOST)
    }
}

fn labels(source: &str, series: &Series) -> ObservedLabels {
    let own = series.key.labels.iter();
    let mut labels: BTreeMap<String, String> = own
        .map(|(name, value)| (label_name(name), value.clone()))
        .collect();
    let ours = [
        ("source", source),
        ("series", series.key.name.as_str()),
        ("unit", series.key.unit.as_str()),
    ];
    labels.extend(ours.map(|(name, value)| (name.to_string(), value.to_string())));
    labels.into_iter().collect()
}

/// A name as labels have it: letters, digits and underscores, no digit first.
fn label_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let said: String = name.chars().map(allowed).collect();
    match said.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => said,
        false => format!("label_{said}"),
    }
}
