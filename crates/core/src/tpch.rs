//! What TPC-H asks of a run, for who begins it and for who tells its results.

/// The fewest streams of a throughput test by scale factor (clause 5.3.4).
pub fn fewest_streams(scale: f64) -> usize {
    let from = [
        (100_000.0, 11),
        (30_000.0, 10),
        (10_000.0, 9),
        (3_000.0, 8),
        (1_000.0, 7),
        (300.0, 6),
        (100.0, 5),
        (30.0, 4),
        (10.0, 3),
    ];
    let found = from.iter().find(|(least, _)| scale >= *least);
    found.map_or(2, |(_, streams)| *streams)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_databases_have_more_streams() {
        for (scale, streams) in [(0.01, 2), (1.0, 2), (10.0, 3), (100.0, 5), (1e5, 11)] {
            assert_eq!(fewest_streams(scale), streams, "{scale}");
        }
    }
}
