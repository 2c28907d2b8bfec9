//! The processor: prime numbers by trial division.

use crate::{HostError, TestEvent, TestThread};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

/// What its events are called.
pub const KINDS: &[&str] = &["event"];

/// Looks for the prime numbers up to a limit, again with each event.
#[derive(Debug, Clone, Copy)]
pub struct Cpu {
    max_prime: u64,
}

impl Cpu {
    /// Up to `max_prime`.
    pub fn new(max_prime: u64) -> Self {
        Self { max_prime }
    }
}

impl TestThread for Cpu {
    fn event(&mut self, cut_off: &AtomicBool) -> Result<Option<TestEvent>, HostError> {
        // The compiler must not know the limit, nor that nobody wants the numbers.
        let found = primes(black_box(self.max_prime), cut_off);
        Ok(black_box(found).map(|_| TestEvent::of(0)))
    }
}

/// How many prime numbers there are up to `max`: each number is divided by all numbers from 2 to its
/// square root until one leaves no remainder (sysbench manual, "cpu": "all calculations are performed
/// using 64-bit integers"). `None` when it was cut off.
pub fn primes(max: u64, cut_off: &AtomicBool) -> Option<u64> {
    // 2 is one, and has nothing to be divided by.
    let mut found = u64::from(max >= 2);
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    for number in 3..=max {
        if cut_off.load(Ordering::Relaxed) {
            return None;
        }
        // Exact enough below 2^52, which nobody waits for.
        let root = (number as f64).sqrt();
        // What two leaves is seen by the lowest bit, as compilers have it.
        if number % 2 == 0 {
            continue;
        }
        let mut divisor = 3;
        // As floating-point numbers: sysbench was seen to take that long.
        while divisor as f64 <= root && remainder(number as u64, divisor as u64) != 0 {
            divisor += 1;
        }
        found += u64::from(divisor as f64 > root);
    }
    Some(found)
}

/// The remainder by the processor's 64-bit division: a compiler takes the 32-bit one for small
/// numbers, which is another test on many processors. `divisor` is 2 at least.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn remainder(number: u64, divisor: u64) -> u64 {
    let remainder;
    // SAFETY: the divisor is not zero, and the quotient of a 64-bit number fits 64 bits.
    unsafe {
        std::arch::asm!(
            "div {divisor}",
            divisor = in(reg) divisor,
            inout("rax") number => _,
            inout("rdx") 0u64 => remainder,
            options(pure, nomem, nostack),
        );
    }
    remainder
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn remainder(number: u64, divisor: u64) -> u64 {
    number % divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_primes_as_tables_say() {
        let going = AtomicBool::new(false);
        for (max, count) in [(1, 0), (2, 1), (3, 2), (100, 25), (10_000, 1229)] {
            assert_eq!(primes(max, &going), Some(count));
        }
        assert_eq!(primes(100, &AtomicBool::new(true)), None);
    }
}
