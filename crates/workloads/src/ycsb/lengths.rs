//! How long fields are, and how many records a scan asks for.

use super::zipfian::Zipfian;
use crate::random::Rng;

/// Lengths, from 1 on.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lengths {
    /// Always the same.
    Constant(u64),
    /// Evenly from the first to the second.
    Uniform(u64, u64),
    /// Likewise, and short ones more often.
    Zipfian(u64, Zipfian),
    /// As a file says.
    Histogram(Histogram),
}

impl Lengths {
    /// Zipfian ones from `least` to `most`.
    pub fn zipfian(least: u64, most: u64) -> Self {
        Lengths::Zipfian(least, Zipfian::new(most.saturating_sub(least) + 1))
    }

    /// A length.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Lengths::Constant(length) => *length,
            Lengths::Uniform(least, most) => least + rng.below(most.saturating_sub(*least) + 1),
            Lengths::Zipfian(least, zipfian) => least + zipfian.draw(rng),
            Lengths::Histogram(histogram) => histogram.draw(rng),
        }
    }
}

/// Lengths as often as a file says: YCSB's format, whose first line is `BlockSize` and a number, and
/// whose others are a block's number and how often a length of that block comes. Each stands for the
/// block's largest length.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Histogram {
    block: u64,
    /// Sums up to and including each block.
    sums: Vec<u64>,
}

/// Most blocks of a histogram.
const MOST_BLOCKS: usize = 65_536;

impl Histogram {
    /// Reads the file's text.
    ///
    /// # Errors
    /// What is wrong, with the number of the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let words = |line: &str| -> Vec<String> {
            line.split_whitespace().map(ToString::to_string).collect()
        };
        let first = lines
            .next()
            .map(|(_, line)| words(line))
            .unwrap_or_default();
        let block = match first.as_slice() {
            [name, size] if name == "BlockSize" => size.parse::<u64>().ok().filter(|n| *n > 0),
            _ => None,
        };
        let block = block.ok_or("line 1 must be 'BlockSize' and a whole number from 1")?;
        let mut counts: Vec<u64> = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let numbers: Vec<Option<u64>> = words(line).iter().map(|w| w.parse().ok()).collect();
            let [Some(number), Some(count)] = numbers.as_slice() else {
                let line = at + 1;
                return Err(format!("line {line} must be a block's number and a count"));
            };
            let number = usize::try_from(*number).unwrap_or(usize::MAX);
            if number >= MOST_BLOCKS {
                return Err(format!("line {}: at most {MOST_BLOCKS} blocks", at + 1));
            }
            counts.resize(counts.len().max(number + 1), 0);
            if let Some(slot) = counts.get_mut(number) {
                *slot = *count;
            }
        }
        let mut sum = 0u64;
        let sums: Vec<u64> = counts
            .iter()
            .map(|count| {
                sum = sum.saturating_add(*count);
                sum
            })
            .collect();
        match sum {
            0 => Err("it has no counts".into()),
            _ => Ok(Self { block, sums }),
        }
    }

    /// The largest length that can come.
    pub fn longest(&self) -> u64 {
        let all = self.sums.last();
        let last = self.sums.iter().position(|sum| Some(sum) == all);
        self.block.saturating_mul(last.unwrap_or(0) as u64 + 1)
    }

    fn draw(&self, rng: &mut Rng) -> u64 {
        let all = self.sums.last().copied().unwrap_or(0);
        let at = rng.below(all);
        let block = self.sums.partition_point(|sum| *sum <= at);
        self.block * (block as u64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::zipfian::tests::{fits, shares};
    use super::*;

    fn counts(lengths: &Lengths, most: usize) -> Vec<u64> {
        let mut rng = Rng::of(&[8]);
        let mut counts = vec![0; most + 1];
        for _ in 0..200_000 {
            counts[lengths.draw(&mut rng) as usize] += 1;
        }
        assert_eq!(counts.remove(0), 0);
        counts
    }

    #[test]
    fn lengths_come_as_often_as_they_are_asked_for() {
        assert_eq!(counts(&Lengths::Constant(7), 7)[6], 200_000);
        fits(
            &counts(&Lengths::Uniform(1, 50), 50),
            &[0.02; 50],
            "uniform",
        );
        let zipfian = Lengths::zipfian(1, 100);
        fits(&counts(&zipfian, 100), &shares(100), "zipfian");
        let few = Lengths::zipfian(5, 9);
        fits(&counts(&few, 9)[4..], &shares(5), "zipfian from 5 to 9");
    }

    #[test]
    fn a_file_says_how_long_fields_are() {
        let histogram = Histogram::parse("BlockSize\t10\n0\t1\n2\t3\n\n").unwrap();
        assert_eq!(histogram.longest(), 30);
        let drawn = counts(&Lengths::Histogram(histogram), 30);
        let mut wanted = [0.0; 30];
        (wanted[9], wanted[29]) = (0.25, 0.75);
        assert!(drawn.iter().zip(wanted).all(|(c, w)| (*c > 0) == (w > 0.0)));
        fits(&[drawn[9], drawn[29]], &[0.25, 0.75], "histogram");
    }

    #[test]
    fn a_file_that_is_none_is_refused_by_line() {
        for (text, said) in [
            ("", "line 1"),
            ("BlockSize\t0", "line 1"),
            ("Size 10", "line 1"),
            ("BlockSize 10\n1", "line 2"),
            ("BlockSize 10\n0 1\nx 2", "line 3"),
            ("BlockSize 10\n99999999 1", "at most"),
            ("BlockSize 10\n0 0", "no counts"),
        ] {
            let error = Histogram::parse(text).unwrap_err();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
