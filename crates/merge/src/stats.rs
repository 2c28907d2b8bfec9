//! Adding up what is known of transaction types.

use crate::MergeError;
use std::collections::BTreeMap;
use tidemark_core::record::{EncodedHistogram, Quantiles, TypeStats};
use tidemark_stats::Histogram;

/// The histogram of all samples of several; an empty text of none.
pub(crate) fn histogram<'a>(
    each: impl IntoIterator<Item = &'a EncodedHistogram>,
    place: &str,
) -> Result<EncodedHistogram, MergeError> {
    let mut each = each.into_iter().filter(|one| !one.0.is_empty());
    let Some(first) = each.next() else {
        return Ok(EncodedHistogram::default());
    };
    let mut sum = Histogram::new();
    for one in std::iter::once(first).chain(each) {
        let added = sum.add_encoded(&one.0);
        added.map_err(|source| MergeError::Histogram {
            place: place.into(),
            source,
        })?;
    }
    Ok(EncodedHistogram(sum.encode()))
}

/// One transaction type of several clients. Where only some have response times, the others' are their
/// service times: what was never due before it was sent waited for nothing else. Of a sum of which only
/// a part is split by place, nothing is said.
///
/// # Errors
/// [`MergeError::Histogram`] naming `place`.
pub fn type_stats(each: &[&TypeStats], place: &str) -> Result<TypeStats, MergeError> {
    let all = each
        .iter()
        .copied()
        .filter(|one| *one != &TypeStats::default());
    let each: Vec<&TypeStats> = all.collect();
    if let [only] = each.as_slice() {
        return Ok((*only).clone());
    }
    let response = match each.iter().any(|one| one.response.is_some()) {
        true => {
            let of = each
                .iter()
                .map(|one| one.response.as_ref().unwrap_or(&one.service));
            Some(histogram(of, place)?)
        }
        false => None,
    };
    let is_split = each
        .iter()
        .all(|one| one.server.is_some() || one.count == 0);
    let server: Vec<_> = each.iter().filter_map(|one| one.server.as_ref()).collect();
    let wait: Vec<_> = each.iter().filter_map(|one| one.wait.as_ref()).collect();
    let some = |list: Vec<&EncodedHistogram>| match list.is_empty() {
        true => Ok(None),
        false => histogram(list, place).map(Some),
    };
    Ok(TypeStats {
        count: each
            .iter()
            .fold(0, |sum, one| sum.saturating_add(one.count)),
        service: histogram(each.iter().map(|one| &one.service), place)?,
        quantiles: quantiles(&each),
        server: some(server.into_iter().filter(|_| is_split).collect())?,
        response,
        wait: some(wait)?,
        paused_ms: each.iter().map(|one| one.paused_ms).sum(),
    })
}

/// What can be said without a distribution: the mean and the ends. No percentile follows from several.
fn quantiles(each: &[&TypeStats]) -> Option<Quantiles> {
    let given: Vec<_> = each
        .iter()
        .filter_map(|one| Some((one.count, one.quantiles.as_ref()?)))
        .collect();
    // Of a part alone it would not be of the sum.
    if given.is_empty() || given.len() < each.iter().filter(|one| one.count > 0).count() {
        return None;
    }
    let count: f64 = given.iter().map(|(count, _)| *count as f64).sum();
    let means = given
        .iter()
        .map(|(count, q)| Some(q.mean_ms? * *count as f64));
    let mean_ms = means.sum::<Option<f64>>().filter(|_| count > 0.0);
    let least = |one: f64, other: f64| one.min(other);
    let ends = |end: fn(&Quantiles) -> Option<f64>, pick: fn(f64, f64) -> f64| {
        let each: Option<Vec<f64>> = given.iter().map(|(_, q)| end(q)).collect();
        each.and_then(|each| each.into_iter().reduce(pick))
    };
    Some(Quantiles {
        mean_ms: mean_ms.map(|sum| sum / count),
        min_ms: ends(|q| q.min_ms, least),
        max_ms: ends(|q| q.max_ms, f64::max),
        percentiles_ms: BTreeMap::new(),
    })
}

/// Types by name, of several clients.
pub(crate) fn by_name<'a>(
    each: impl IntoIterator<Item = &'a BTreeMap<String, TypeStats>>,
    place: &str,
) -> Result<BTreeMap<String, TypeStats>, MergeError> {
    let mut lists: BTreeMap<&str, Vec<&TypeStats>> = BTreeMap::new();
    for types in each {
        for (name, stats) in types {
            lists.entry(name).or_default().push(stats);
        }
    }
    let merged = lists.into_iter().map(|(name, list)| {
        let stats = type_stats(&list, &format!("{place}, type {name}"))?;
        Ok((name.to_string(), stats))
    });
    merged.collect()
}

/// Counted outcomes by name, of several clients.
pub(crate) fn notes<'a>(
    each: impl IntoIterator<Item = &'a BTreeMap<String, u64>>,
) -> BTreeMap<String, u64> {
    let mut sum: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in each.into_iter().flatten() {
        let counted = sum.entry(name.clone()).or_default();
        *counted = counted.saturating_add(*count);
    }
    sum
}
