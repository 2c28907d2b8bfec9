//! `--rand-*`.

use super::Distribution;
use tidemark_core::{OptionKind, OptionSpec, OptionValues};

/// The options of random numbers, common to the workloads that draw keys as sysbench does.
pub const RAND_OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "rand-type",
        kind: OptionKind::Choice(&["uniform", "gaussian", "special", "pareto", "zipfian"]),
        default: "special",
        help: "Distribution of keys: uniform, around the middle (gaussian), mostly a few hot \
               keys (special), or a power law (pareto, zipfian)",
    },
    OptionSpec {
        name: "rand-spec-iter",
        kind: OptionKind::Int { min: 1, max: 1000 },
        default: "12",
        help: "Uniform numbers averaged into one gaussian number; more make it narrower",
    },
    OptionSpec {
        name: "rand-spec-pct",
        kind: OptionKind::Int { min: 0, max: 100 },
        default: "1",
        help: "Size of the hot part of the keys, in percent of all (special)",
    },
    OptionSpec {
        name: "rand-spec-res",
        kind: OptionKind::Int { min: 0, max: 100 },
        default: "75",
        help: "Share of draws that fall on the hot part, in percent (special)",
    },
    OptionSpec {
        name: "rand-seed",
        kind: OptionKind::Int {
            min: 0,
            max: i64::MAX,
        },
        default: "0",
        help: "Random seed; 0 = from the clock",
    },
    OptionSpec {
        name: "rand-pareto-h",
        kind: OptionKind::Float {
            min: 1e-6,
            max: 0.999_999,
        },
        default: "0.2",
        help: "Self-similarity h: the first h of the keys gets 1-h of the draws (pareto)",
    },
    OptionSpec {
        name: "rand-zipfian-exp",
        kind: OptionKind::Float {
            min: 0.0,
            max: 20.0,
        },
        default: "0.8",
        help: "Exponent: the n-th key is drawn in proportion to 1/n^exponent (zipfian)",
    },
];

/// `--rand-*` as set, without a range of keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandOptions {
    kind: Form,
    iterations: u32,
    pct: f64,
    res: f64,
    pareto_h: f64,
    zipfian_exp: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Uniform,
    Gaussian,
    Special,
    Pareto,
    Zipfian,
}

impl Form {
    fn of(name: &str) -> Self {
        match name {
            "uniform" => Form::Uniform,
            "gaussian" => Form::Gaussian,
            "pareto" => Form::Pareto,
            "zipfian" => Form::Zipfian,
            _ => Form::Special,
        }
    }
}

impl RandOptions {
    /// Reads the options of [`RAND_OPTIONS`].
    pub fn new(values: &OptionValues) -> Self {
        Self {
            kind: Form::of(values.text("rand-type")),
            iterations: u32::try_from(values.uint("rand-spec-iter"))
                .unwrap_or(12)
                .max(1),
            pct: values.float("rand-spec-pct") / 100.0,
            res: values.float("rand-spec-res") / 100.0,
            pareto_h: values.float("rand-pareto-h"),
            zipfian_exp: values.float("rand-zipfian-exp"),
        }
    }

    /// The same with another distribution, by its name as a value of `rand-type`; an unknown one is
    /// `special`.
    pub fn named(self, kind: &str) -> Self {
        Self {
            kind: Form::of(kind),
            ..self
        }
    }

    /// The distribution over `low..=high`.
    pub fn over(&self, low: i64, high: i64) -> Distribution {
        match self.kind {
            Form::Uniform => Distribution::uniform(low, high),
            Form::Gaussian => Distribution::gaussian(low, high, self.iterations),
            Form::Special => Distribution::special(low, high, self.iterations, self.pct, self.res),
            Form::Pareto => Distribution::pareto(low, high, self.pareto_h),
            Form::Zipfian => Distribution::zipfian(low, high, self.zipfian_exp),
        }
    }
}
