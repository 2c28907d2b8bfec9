//! pgbench's functions.

use super::eval::Scope;
use super::{EvalError, ExprValue};
use crate::random::Rng;
use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::fmt;

/// What a function does with its arguments, of which none is NULL.
type Apply = fn(&mut Scope<'_>, &[ExprValue]) -> Result<ExprValue, EvalError>;

/// A function.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The fewest and the most arguments.
    takes: (usize, usize),
    /// Whether the last argument may be left out for `:default_seed`.
    has_seed: bool,
    /// Whether an argument that is NULL makes it NULL.
    pub(super) is_strict: bool,
    pub(super) apply: Apply,
}

const fn function(name: &'static str, takes: (usize, usize), apply: Apply) -> Function {
    Function {
        name,
        takes,
        has_seed: false,
        is_strict: true,
        apply,
    }
}

const MANY: usize = 100;

impl Function {
    /// Every function.
    pub const ALL: &'static [Function] = &[
        function("abs", (1, 1), |_, a| match &a[0] {
            ExprValue::Double(d) => Ok(ExprValue::Double(d.abs())),
            other => Ok(ExprValue::Int(other.int()?.wrapping_abs())),
        }),
        Function {
            is_strict: false,
            ..function("debug", (1, 1), |scope, a| {
                scope.tell(&a[0]);
                Ok(a[0].clone())
            })
        },
        function("double", (1, 1), |_, a| {
            Ok(ExprValue::Double(a[0].double()?))
        }),
        function("exp", (1, 1), |_, a| {
            Ok(ExprValue::Double(a[0].double()?.exp()))
        }),
        function("greatest", (1, MANY), |_, a| extreme(a, i64::max, f64::max)),
        seeded("hash", 1, murmur2),
        seeded("hash_fnv1a", 1, fnv1a),
        seeded("hash_murmur2", 1, murmur2),
        function("int", (1, 1), |_, a| Ok(ExprValue::Int(a[0].int()?))),
        function("least", (1, MANY), |_, a| extreme(a, i64::min, f64::min)),
        function("ln", (1, 1), |_, a| {
            Ok(ExprValue::Double(a[0].double()?.ln()))
        }),
        function("mod", (2, 2), |_, a| {
            super::eval::modulo(a[0].int()?, a[1].int()?)
        }),
        seeded("permute", 2, permuted),
        function("pi", (0, 0), |_, _| {
            Ok(ExprValue::Double(std::f64::consts::PI))
        }),
        function("pow", (2, 2), power),
        function("power", (2, 2), power),
        function("random", (2, 2), |scope, a| scope.draws().uniform(a)),
        function("random_exponential", (3, 3), |scope, a| {
            scope.draws().exponential(a)
        }),
        function("random_gaussian", (3, 3), |scope, a| {
            scope.draws().gaussian(a)
        }),
        function("random_zipfian", (3, 3), |scope, a| {
            scope.draws().zipfian(a)
        }),
        function("sqrt", (1, 1), |_, a| {
            Ok(ExprValue::Double(a[0].double()?.sqrt()))
        }),
    ];

    /// The function of this name, in any case of letters.
    pub fn named(word: &str) -> Option<Function> {
        let is = |f: &&Function| f.name.eq_ignore_ascii_case(word);
        Function::ALL.iter().find(is).copied()
    }

    pub(super) fn takes(&self, count: usize) -> bool {
        (self.takes.0..=self.takes.1).contains(&count)
    }

    /// Whether so many arguments leave the seed out.
    pub(super) fn seeds(&self, count: usize) -> bool {
        self.has_seed && count < self.takes.1
    }

    /// How many arguments it takes, in words.
    pub(super) fn arguments(&self) -> String {
        match self.takes {
            (1, 1) => "1 argument".into(),
            (a, b) if a == b => format!("{a} arguments"),
            (a, MANY) => format!("at least {a} argument"),
            (a, b) => format!("{a} or {b} arguments"),
        }
    }
}

const fn seeded(name: &'static str, before: usize, apply: Apply) -> Function {
    Function {
        has_seed: true,
        ..function(name, (before, before + 1), apply)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn power(_: &mut Scope<'_>, a: &[ExprValue]) -> Result<ExprValue, EvalError> {
    Ok(ExprValue::Double(a[0].double()?.powf(a[1].double()?)))
}

/// The largest or smallest argument; a double when any is one.
fn extreme(
    arguments: &[ExprValue],
    ints: fn(i64, i64) -> i64,
    doubles: fn(f64, f64) -> f64,
) -> Result<ExprValue, EvalError> {
    if arguments.iter().any(ExprValue::is_double) {
        let mut all = arguments.iter().map(ExprValue::double);
        let first = all.next().unwrap_or(Ok(0.0))?;
        let found = all.try_fold(first, |a, b| Ok(doubles(a, b?)))?;
        return Ok(ExprValue::Double(found));
    }
    let mut all = arguments.iter().map(ExprValue::int);
    let first = all.next().unwrap_or(Ok(0))?;
    Ok(ExprValue::Int(all.try_fold(first, |a, b| Ok(ints(a, b?)))?))
}

/// FNV-1a over the eight bytes of the value, of which the seed changes the basis.
fn fnv1a(_: &mut Scope<'_>, a: &[ExprValue]) -> Result<ExprValue, EvalError> {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let (value, seed) = (a[0].int()?, a[1].int()?);
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let hash = value
        .to_le_bytes()
        .into_iter()
        .fold(BASIS ^ seed as u64, mix);
    Ok(ExprValue::Int(hash as i64))
}

/// MurmurHash2 of 64 bits (Appleby, MurmurHash64A) of the value's eight bytes.
fn murmur2(_: &mut Scope<'_>, a: &[ExprValue]) -> Result<ExprValue, EvalError> {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let (value, seed) = (a[0].int()? as u64, a[1].int()? as u64);
    let mut key = value.wrapping_mul(FACTOR);
    key ^= key >> SHIFT;
    key = key.wrapping_mul(FACTOR);
    let mut hash = (seed ^ FACTOR.wrapping_mul(8) ^ key).wrapping_mul(FACTOR);
    hash ^= hash >> SHIFT;
    hash = hash.wrapping_mul(FACTOR);
    hash ^= hash >> SHIFT;
    Ok(ExprValue::Int(hash as i64))
}

fn permuted(_: &mut Scope<'_>, a: &[ExprValue]) -> Result<ExprValue, EvalError> {
    let (value, size, seed) = (a[0].int()?, a[1].int()?, a[2].int()?);
    match u64::try_from(size) {
        Ok(size) if size > 0 => Ok(ExprValue::Int(permute(value, size, seed as u64) as i64)),
        _ => Err(EvalError::Parameter(
            "permute: the size must be greater than zero".into(),
        )),
    }
}

/// Rounds of mixing: after them every place is about as likely.
const ROUNDS: usize = 6;

/// The place of a number in the permutation of `0..size` that a seed gives: rounds in which the lower
/// and the upper power of two of the range are multiplied by an odd number, changed and rotated, and
/// the whole is shifted. Each step is a bijection, and so is all of it.
fn permute(value: i64, size: u64, seed: u64) -> u64 {
    if size < 2 {
        return 0;
    }
    let mut random = Xoroshiro128StarStar::seed_from_u64(seed);
    // A negative number wraps as C's conversion has it.
    let mut place = (value as u64) % size;
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    let scatter = |place: u64, factor: u64, pattern: u64| {
        let mixed = (place.wrapping_mul(factor) ^ pattern) & mask;
        match bits {
            0 => mixed,
            _ => (mixed << 1 & mask) | mixed >> (bits - 1),
        }
    };
    for _ in 0..ROUNDS {
        let (factor, pattern) = (random.next_u64() & mask | 1, random.next_u64() & mask);
        if place <= mask {
            place = scatter(place, factor, pattern);
        }
        let (factor, pattern) = (random.next_u64() & mask | 1, random.next_u64() & mask);
        let above = size - 1 - place;
        if above <= mask {
            place = size - 1 - scatter(above, factor, pattern);
        }
        let shift = below(&mut random, size);
        place = ((u128::from(place) + u128::from(shift)) % u128::from(size)) as u64;
    }
    place
}

/// Uniform in `0..size`: bits that are too many are drawn again.
fn below(random: &mut Xoroshiro128StarStar, size: u64) -> u64 {
    let range = size - 1;
    if range == 0 {
        return 0;
    }
    let unused = range.leading_zeros();
    loop {
        let drawn = random.next_u64() >> unused;
        if drawn <= range {
            return drawn;
        }
    }
}

/// A number for a seed that nobody gave.
pub(in crate::pgbench) fn seed_of(rng: &mut Rng) -> i64 {
    rng.bits() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual's own examples.
    #[test]
    fn hashes_are_pgbenchs() {
        let mut rng = Rng::of(&[1]);
        let mut scope = Scope::bare(&mut rng);
        let arguments = [ExprValue::Int(10), ExprValue::Int(5432)];
        let hash = |f: Apply, scope: &mut Scope<'_>| f(scope, &arguments).unwrap();
        assert_eq!(
            hash(murmur2, &mut scope),
            ExprValue::Int(-5_817_877_081_768_721_676)
        );
        assert_eq!(
            hash(fnv1a, &mut scope),
            ExprValue::Int(-7_793_829_335_365_542_153)
        );
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        for size in (1..70).chain([1000, 1024, 1025]) {
            for seed in [0, 1, 5432] {
                let mut seen: Vec<u64> = (0..size).map(|n| permute(n as i64, size, seed)).collect();
                seen.sort_unstable();
                assert!(seen.iter().copied().eq(0..size), "{size} {seed}");
            }
        }
        let huge = i64::MAX as u64;
        assert!(permute(-1, huge, 3) < huge);
    }

    #[test]
    fn names_are_in_order_and_unique() {
        let names: Vec<&str> = Function::ALL.iter().map(|f| f.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
    }
}
