//! Mean and deviation of a finished set of values.

use crate::ratio::quantile;

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

/// Half of the confidence interval of the mean of independent values, by Student's distribution;
/// `None` for fewer than two.
pub fn half_interval(values: &[f64], level: f64) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let deviation = population_stddev(values.iter().copied()) * (n / (n - 1.0)).sqrt();
    Some(quantile(0.5 + level / 2.0, n - 1.0) * deviation / n.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_wide_as_the_tables_of_student_say() {
        // t(0.975, 2) = 4.303; the deviation of 1, 2, 3 is 1.
        let half = half_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert!((half - 4.303 / 3f64.sqrt()).abs() < 1e-3, "{half}");
        assert_eq!(half_interval(&[5.0, 5.0], 0.95), Some(0.0));
        assert_eq!(half_interval(&[5.0], 0.95), None);
    }
}
