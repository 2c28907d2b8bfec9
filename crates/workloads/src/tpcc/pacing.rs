//! Keying and think times (clauses 5.2.5.2, 5.2.5.4 and the table of 5.2.5.7).

use super::input::TransactionKind;
use crate::random::Rng;
use std::time::Duration;

/// A think time is cut at so many times its mean (5.2.5.4).
const LONGEST: f64 = 10.0;

impl TransactionKind {
    /// Seconds that a user takes to type the input, constant and at least so many.
    pub const fn keying_s(self) -> f64 {
        match self {
            TransactionKind::NewOrder => 18.0,
            TransactionKind::Payment => 3.0,
            TransactionKind::OrderStatus
            | TransactionKind::Delivery
            | TransactionKind::StockLevel => 2.0,
        }
    }

    /// Mean of the seconds that a user thinks about the output.
    pub const fn think_s(self) -> f64 {
        match self {
            TransactionKind::NewOrder | TransactionKind::Payment => 12.0,
            TransactionKind::OrderStatus => 10.0,
            TransactionKind::Delivery | TransactionKind::StockLevel => 5.0,
        }
    }
}

/// From the end of one transaction to the start of the next: thinking about the one, then typing
/// the other. Think times are negative exponential (5.2.5.4). The scales are of keying and of
/// thinking.
pub(super) fn pause(
    last: TransactionKind,
    next: TransactionKind,
    scales: (f64, f64),
    rng: &mut Rng,
) -> Duration {
    Duration::from_secs_f64(seconds(last, next, scales, rng))
}

fn seconds(
    last: TransactionKind,
    next: TransactionKind,
    (keying, think): (f64, f64),
    rng: &mut Rng,
) -> f64 {
    let factor = -(1.0 - rng.unit()).ln();
    think * last.think_s() * factor.min(LONGEST) + keying * next.keying_s()
}

/// The pause that a terminal is in at a moment of a run which has gone on for long, and the types
/// before and after it: longer ones are there for longer, so each is as likely as it is long.
pub(super) fn present(
    weight: &[u32; 5],
    scales: (f64, f64),
    rng: &mut Rng,
) -> (TransactionKind, TransactionKind, Duration) {
    let (keying, thinking) = scales;
    let longest = thinking * LONGEST * TransactionKind::NewOrder.think_s()
        + keying * TransactionKind::NewOrder.keying_s();
    loop {
        let (last, next) = (
            TransactionKind::draw(weight, rng),
            TransactionKind::draw(weight, rng),
        );
        let drawn = seconds(last, next, scales, rng);
        // Without times there is nothing to choose by.
        if rng.unit() * longest <= drawn {
            return (last, next, Duration::from_secs_f64(drawn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_have_the_mean_of_both_times_and_an_end() {
        let mut rng = Rng::of(&[1]);
        let n = 200_000;
        for (last, next) in [
            (TransactionKind::NewOrder, TransactionKind::Payment),
            (TransactionKind::StockLevel, TransactionKind::NewOrder),
        ] {
            let drawn = |_| pause(last, next, (1.0, 1.0), &mut rng).as_secs_f64();
            let seconds: Vec<f64> = (0..n).map(drawn).collect();
            let mean = seconds.iter().sum::<f64>() / f64::from(n);
            // Cut at ten means, the mean is 1 - 1/e^10 of itself: the same to four digits.
            let expected = last.think_s() + next.keying_s();
            assert!((mean - expected).abs() < 0.02 * expected, "{mean}");
            let longest = seconds.iter().copied().fold(0.0, f64::max);
            assert!(longest <= LONGEST * last.think_s() + next.keying_s());
            let shortest = seconds.iter().copied().fold(f64::MAX, f64::min);
            assert!(shortest >= next.keying_s());
        }
    }

    #[test]
    fn the_scale_shortens_both() {
        let of = |scales| {
            let pause = pause(
                TransactionKind::Payment,
                TransactionKind::Delivery,
                scales,
                &mut Rng::of(&[2]),
            );
            pause.as_secs_f64()
        };
        assert!((of((1.0, 1.0)) - 10.0 * of((0.1, 0.1))).abs() < 1e-6);
        assert_eq!(of((1.0, 0.0)), TransactionKind::Delivery.keying_s());
        let think = of((1.0, 1.0)) - TransactionKind::Delivery.keying_s();
        assert!((of((0.0, 1.0)) - think).abs() < 1e-6);
        assert_eq!(of((0.0, 0.0)), 0.0);
    }
}
