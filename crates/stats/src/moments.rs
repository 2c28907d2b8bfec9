//! Mean and deviation of a finished set of values.

/// Arithmetic mean; 0 for no values.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 {
        0.0
    } else {
        values.sum::<f64>() / n as f64
    }
}

/// Population standard deviation; 0 for no values.
pub fn population_stddev(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let m = mean(values.clone());
    mean(values.map(|v| (v - m) * (v - m))).sqrt()
}
