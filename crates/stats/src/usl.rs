//! The Universal Scalability Law (Gunther, *Guerrilla Capacity Planning*, 2007):
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), with the rate λ of one user, contention σ and coherency κ.

use crate::ratio::quantile;

/// Steps of the fit; it converges in a few dozen.
const MOST_STEPS: usize = 500;
/// A step that improves the fit by less than this share is the last.
const CONVERGED: f64 = 1e-12;
/// Confidence intervals hold the truth so often.
const LEVEL: f64 = 0.95;

/// Load and throughput, of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Users, sessions, processors; above 0.
    pub load: f64,
    /// Transactions a second.
    pub throughput: f64,
}

/// A parameter of the law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its value.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95 % confidence interval.
    pub interval: (f64, f64),
}

/// The law, fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// Throughput of one user.
    pub lambda: Parameter,
    /// Contention: the share that can't be done at the same time.
    pub sigma: Parameter,
    /// Coherency: what each pair of users costs.
    pub kappa: Parameter,
    /// Share of the throughputs' variance that the law explains.
    pub r_squared: f64,
}

/// Why the law was not fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UslError {
    /// Three parameters and their errors take four loads.
    #[error("{0} different loads: the law needs at least four")]
    TooFewLoads(usize),
    /// A load or a throughput is not above 0.
    #[error("loads and throughputs must be above 0")]
    NotPositive,
    /// No parameters were found that fit.
    #[error("the law does not fit these throughputs")]
    NoFit,
}

type Three = [f64; 3];

impl Usl {
    /// The law with the least squared errors, by Levenberg and Marquardt's method; σ and κ are never
    /// below 0.
    ///
    /// # Errors
    /// [`UslError`].
    pub fn fit(points: &[LoadPoint]) -> Result<Self, UslError> {
        let good = |v: f64| v.is_finite() && v > 0.0;
        if !points.iter().all(|p| good(p.load) && good(p.throughput)) {
            return Err(UslError::NotPositive);
        }
        let mut loads: Vec<f64> = points.iter().map(|p| p.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        if loads.len() < 4 {
            return Err(UslError::TooFewLoads(loads.len()));
        }
        let best = starts(points)
            .into_iter()
            .map(|start| descend(points, start))
            .filter(|(_, squares)| squares.is_finite())
            .min_by(|(_, a), (_, b)| a.total_cmp(b));
        let (p, squares) = best.ok_or(UslError::NoFit)?;
        let freedom = points.len() as f64 - 3.0;
        let (normal, _) = normal_equations(points, p);
        let covariance = inverse(normal).ok_or(UslError::NoFit)?;
        let t = quantile(0.5 + LEVEL / 2.0, freedom);
        let parameter = |i: usize| {
            let error = (covariance[i][i] * squares / freedom).max(0.0).sqrt();
            Parameter {
                value: p[i],
                error,
                interval: ((p[i] - t * error).max(0.0), p[i] + t * error),
            }
        };
        let mean = points.iter().map(|p| p.throughput).sum::<f64>() / points.len() as f64;
        let all: f64 = points.iter().map(|p| (p.throughput - mean).powi(2)).sum();
        Ok(Self {
            lambda: parameter(0),
            sigma: parameter(1),
            kappa: parameter(2),
            r_squared: if all > 0.0 { 1.0 - squares / all } else { 1.0 },
        })
    }

    fn parameters(&self) -> Three {
        [self.lambda.value, self.sigma.value, self.kappa.value]
    }

    /// What the law says for a load.
    pub fn throughput(&self, load: f64) -> f64 {
        law(self.parameters(), load)
    }

    /// The load of the highest throughput, √((1−σ)/κ), and that throughput; `None` where it rises
    /// for ever (κ is 0) or never (σ is 1 or more).
    pub fn peak(&self) -> Option<LoadPoint> {
        let [_, sigma, kappa] = self.parameters();
        (kappa > 0.0 && sigma < 1.0).then(|| {
            let load = ((1.0 - sigma) / kappa).sqrt().max(1.0);
            LoadPoint {
                load,
                throughput: self.throughput(load),
            }
        })
    }

    /// The knee: where the straight line of one user's throughput meets the highest that there is
    /// (at the peak, or λ/σ where it only levels off). Beyond it users mostly wait for each other.
    /// `None` where there is no highest.
    pub fn knee(&self) -> Option<LoadPoint> {
        let [lambda, sigma, _] = self.parameters();
        let levels_off = (sigma > 0.0).then(|| lambda / sigma);
        let highest = self.peak().map(|p| p.throughput).or(levels_off)?;
        let load = (highest / lambda).max(1.0);
        Some(LoadPoint {
            load,
            throughput: self.throughput(load),
        })
    }
}

fn law([lambda, sigma, kappa]: Three, n: f64) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// Where descents begin: one user's rate as the smallest load has it, and several of the others.
fn starts(points: &[LoadPoint]) -> Vec<Three> {
    let each = points.iter().map(|p| p.throughput / p.load);
    let lambda = each.fold(0.0, f64::max);
    let most = points.iter().map(|p| p.load).fold(1.0, f64::max);
    let kappas = [0.0, 0.1, 1.0].map(|k| k / (most * most));
    let pairs = kappas.map(|k| [0.001, 0.05, 0.5].map(|s| [lambda, s, k]));
    pairs.concat()
}

fn squares(points: &[LoadPoint], p: Three) -> f64 {
    let errors = points.iter().map(|at| at.throughput - law(p, at.load));
    errors.map(|e| e * e).sum()
}

/// JᵀJ and Jᵀr of the residuals.
fn normal_equations(points: &[LoadPoint], p: Three) -> ([Three; 3], Three) {
    let (mut normal, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for at in points {
        let (n, x) = (at.load, law(p, at.load));
        let below = p[0] * n / x;
        let slopes = [x / p[0], -x * (n - 1.0) / below, -x * n * (n - 1.0) / below];
        for i in 0..3 {
            right[i] += slopes[i] * (at.throughput - x);
            for j in 0..3 {
                normal[i][j] += slopes[i] * slopes[j];
            }
        }
    }
    (normal, right)
}

fn descend(points: &[LoadPoint], start: Three) -> (Three, f64) {
    let (mut p, mut error, mut damping) = (start, squares(points, start), 1e-3);
    for _ in 0..MOST_STEPS {
        let (normal, right) = normal_equations(points, p);
        let mut damped = normal;
        for i in 0..3 {
            damped[i][i] += damping * normal[i][i];
        }
        let Some(inverse) = inverse(damped) else {
            break;
        };
        let mut next = p;
        for i in 0..3 {
            next[i] += (0..3).map(|j| inverse[i][j] * right[j]).sum::<f64>();
        }
        next = [next[0].max(p[0] * 1e-3), next[1].max(0.0), next[2].max(0.0)];
        let then = squares(points, next);
        if then <= error {
            let gain = error - then;
            (p, damping) = (next, (damping / 10.0).max(1e-12));
            error = then;
            if gain <= error * CONVERGED {
                break;
            }
        } else if damping > 1e12 {
            break;
        } else {
            damping *= 10.0;
        }
    }
    (p, error)
}

/// Of a symmetric matrix, by cofactors, scaled to its diagonal: the parameters are of very
/// different sizes. `None` where there is none.
fn inverse(m: [Three; 3]) -> Option<[Three; 3]> {
    let scale = [0, 1, 2].map(|i| f64::sqrt(m[i][i]));
    if !scale.iter().all(|s| s.is_finite() && *s > 0.0) {
        return None;
    }
    let s = |i: usize, j: usize| m[i % 3][j % 3] / scale[i % 3] / scale[j % 3];
    let cofactor =
        |i: usize, j: usize| s(i + 1, j + 1) * s(i + 2, j + 2) - s(i + 1, j + 2) * s(i + 2, j + 1);
    let determinant: f64 = (0..3).map(|j| s(0, j) * cofactor(0, j)).sum();
    if !determinant.is_finite() || determinant.abs() < 1e-14 {
        return None;
    }
    let at = |i: usize, j: usize| cofactor(j, i) / determinant / scale[i] / scale[j];
    Some([0, 1, 2].map(|i| [0, 1, 2].map(|j| at(i, j))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(pairs: &[(f64, f64)]) -> Vec<LoadPoint> {
        let point = |(load, throughput): &(f64, f64)| LoadPoint {
            load: *load,
            throughput: *throughput,
        };
        pairs.iter().map(point).collect()
    }

    fn near(value: f64, truth: f64, share: f64) {
        assert!(
            (value - truth).abs() <= truth.abs() * share,
            "{value} for {truth}"
        );
    }

    /// SPEC SDM 91 on a Sun SPARCcenter 2000, as Gunther's book has it; the parameters are those
    /// that the R package `usl` finds by non-linear regression.
    #[test]
    fn gunthers_example_has_the_published_parameters() {
        let fit = Usl::fit(&points(&[
            (1.0, 64.9),
            (18.0, 995.9),
            (36.0, 1652.4),
            (72.0, 1853.2),
            (108.0, 1828.9),
            (144.0, 1775.0),
            (216.0, 1702.2),
        ]))
        .unwrap();
        near(fit.lambda.value, 89.995_238, 1e-3);
        near(fit.sigma.value, 0.027_728_5, 1e-3);
        near(fit.kappa.value, 0.000_104_4, 1e-2);
        near(fit.peak().unwrap().load, 96.5, 1e-2);
        assert!(fit.r_squared > 0.98);
        let knee = fit.knee().unwrap();
        assert!(
            knee.load < fit.peak().unwrap().load && knee.load > 10.0,
            "{knee:?}"
        );
    }

    #[test]
    fn what_was_put_in_comes_out() {
        let loads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        for truth in [
            [1000.0, 0.02, 0.0001],
            [50.0, 0.3, 0.01],
            [7.0, 0.05, 0.0],
            [1e6, 0.0, 0.0],
        ] {
            let exact: Vec<_> = loads.iter().map(|n| (*n, law(truth, *n))).collect();
            let fit = Usl::fit(&points(&exact)).unwrap();
            near(fit.lambda.value, truth[0], 1e-4);
            assert!((fit.sigma.value - truth[1]).abs() < 1e-4, "{fit:?}");
            assert!((fit.kappa.value - truth[2]).abs() < 1e-5, "{fit:?}");
            assert!(fit.r_squared > 0.999_999);
        }
        let line: Vec<_> = loads.iter().map(|n| (*n, 5.0 * n)).collect();
        let fit = Usl::fit(&points(&line)).unwrap();
        assert!(fit.peak().is_none_or(|p| p.load > 1e4), "{fit:?}");
    }

    #[test]
    fn noise_lies_within_the_interval_of_confidence() {
        use rand::{RngExt, SeedableRng, rngs::SmallRng};
        let truth = [1000.0, 0.05, 0.0005];
        let mut rng = SmallRng::seed_from_u64(7);
        let (mut held, runs) = (0, 400);
        for _ in 0..runs {
            let noisy: Vec<_> = [1.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0]
                .map(|n| {
                    // The sum of twelve uniforms is normal enough.
                    let z: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                    (n, law(truth, n) + 100.0 * z)
                })
                .to_vec();
            let fit = Usl::fit(&points(&noisy)).unwrap();
            let (low, high) = fit.sigma.interval;
            held += usize::from((low..=high).contains(&truth[1]));
        }
        let share = held as f64 / runs as f64;
        assert!((0.9..=0.99).contains(&share), "{share}");
    }

    #[test]
    fn what_can_not_be_fitted_says_why() {
        let few = points(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.1), (4.0, 3.0)]);
        assert_eq!(Usl::fit(&few), Err(UslError::TooFewLoads(3)));
        let bad = points(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0), (4.0, 3.0)]);
        assert_eq!(Usl::fit(&bad), Err(UslError::NotPositive));
    }
}
