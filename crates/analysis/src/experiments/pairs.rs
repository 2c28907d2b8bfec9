//! Pairs of a baseline and a change: which goes first, how many, and when they are looked at.

use super::Experiment;
use super::thresholds::WIDE;
use tidemark_stats::Ratio;

/// Pairs of every experiment for which there is time. Student's factor over the root of their number is
/// 2.5 of three, 1.6 of four and 1.2 of five: more short pairs tell more than fewer long ones.
pub const FEWEST_PAIRS: usize = 4;
/// What is undecided after so many is near its limit.
const MOST_PAIRS: usize = 12;
/// Pairs are looked at whenever there are so many more: three times at most.
const LOOK_EVERY: usize = 4;
/// Whoever looks three times, and ends when it is decided, has three chances to be wrong. At this level of
/// each look all of them together hold with 95 % (Pocock 1977, table 1: 0.0221 of three looks).
const LEVEL_OF_LOOK: f64 = 1.0 - 0.0221;

/// Whether the baseline is the first of a pair with this number, from 0: every other time it is not. What
/// a run leaves behind (a log to write, a warmer cache) would else be the change's alone.
pub fn baseline_goes_first(pair: usize) -> bool {
    pair.is_multiple_of(2)
}

/// Throughput of a change over the baseline's, of `(baseline, change)`, with an interval that holds with
/// 95 % for all looks together; `None` of fewer than two pairs.
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    Ratio::of_pairs(pairs, LEVEL_OF_LOOK)
}

/// Whether one more pair is to be made where there is time.
pub fn wants_more(experiment: Experiment, pairs: &[(f64, f64)]) -> bool {
    let is_look = pairs.len() >= FEWEST_PAIRS && pairs.len().is_multiple_of(LOOK_EVERY);
    let is_decided = || ratio(pairs).is_some_and(|of| is_decided(experiment, &of));
    pairs.len() < MOST_PAIRS && !(is_look && is_decided())
}

/// Whether an interval lies on one side of what would prove something; where nothing is proven by a
/// limit, whether it is narrow.
pub fn is_decided(experiment: Experiment, of: &Ratio) -> bool {
    match experiment.proves() {
        Some((_, limit)) => of.low > limit || of.high < limit,
        None => of.high / of.low < WIDE,
    }
}
