//! The random texts of clause 4.3.2, many characters of one draw.

use crate::digits::{write_decimal, write_digits};
use crate::random::Rng;
use std::sync::LazyLock;

/// Longest text of the population: `C_DATA`.
const LONGEST: usize = 500;
/// Characters of one draw of 64 bits. With eight of 62 letters the last one's chances are
/// within 0.002 % of even.
const PER_DRAW: usize = 8;

/// Letters and digits; an a-string's characters (4.3.2.2).
const ALPHANUMERIC: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Letters, where the specification asks for them.
const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// All pairs of characters: one multiplication finds two.
static ALPHANUMERIC_PAIRS: [[u8; 2]; 62 * 62] = pairs(ALPHANUMERIC);
static LETTER_PAIRS: [[u8; 2]; 52 * 52] = pairs(LETTERS);

const fn pairs<const N: usize, const M: usize>(characters: &[u8; N]) -> [[u8; 2]; M] {
    let mut table = [[0; 2]; M];
    let mut i = 0;
    while i < M {
        table[i] = [characters[i / N], characters[i % N]];
        i += 1;
    }
    table
}

/// What last names are made of (4.3.2.3).
const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];

static LAST_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let digit = |number: usize, value: usize| SYLLABLES[number / value % 10];
    (0..1_000)
        .map(|n| [digit(n, 100), digit(n, 10), digit(n, 1)].concat())
        .collect()
});

/// The last name of a number from 0 to 999: a syllable for each of its three digits (4.3.2.3).
pub fn last_name(number: u64) -> &'static str {
    LAST_NAMES[(number % 1_000) as usize].as_str()
}

/// Makes random texts in memory that is used again.
#[derive(Debug, Clone)]
pub struct RandomText {
    bytes: [u8; LONGEST],
}

impl Default for RandomText {
    fn default() -> Self {
        Self {
            bytes: [0; LONGEST],
        }
    }
}

impl RandomText {
    /// An a-string: letters and digits, `shortest` to `longest` of them, at most 500 (4.3.2.2).
    pub fn alphanumeric(&mut self, rng: &mut Rng, shortest: u64, longest: u64) -> &str {
        let text = self.drawn(rng, shortest, longest, &ALPHANUMERIC_PAIRS);
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// An a-string of letters alone, for what is counted in letters.
    pub fn letters(&mut self, rng: &mut Rng, length: u64) -> &str {
        let text = self.drawn(rng, length, length, &LETTER_PAIRS);
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// An n-string of sixteen digits: a telephone number (4.3.2.2).
    pub fn phone(&mut self, rng: &mut Rng) -> &str {
        write_digits(rng.below(10_000_000_000_000_000), &mut self.bytes[..16]);
        std::str::from_utf8(&self.bytes[..16]).unwrap_or_default()
    }

    /// Four digits and `11111` (4.3.2.7).
    pub fn zip(&mut self, rng: &mut Rng) -> &str {
        write_digits(rng.below(10_000), &mut self.bytes[..4]);
        self.bytes[4..9].fill(b'1');
        std::str::from_utf8(&self.bytes[..9]).unwrap_or_default()
    }

    /// 26 to 50 letters and digits; an `original` one holds that word somewhere (`I_DATA` and
    /// `S_DATA` of 4.3.3.1).
    pub fn data(&mut self, rng: &mut Rng, original: bool) -> &str {
        const WORD: &[u8; 8] = b"ORIGINAL";
        let text = self.drawn(rng, 26, 50, &ALPHANUMERIC_PAIRS);
        if original {
            let places = (text.len() - WORD.len() + 1) as u64;
            let at = rng.below(places) as usize;
            text[at..at + WORD.len()].copy_from_slice(WORD);
        }
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// A number with `places` digits after the point, given in units of its last digit.
    pub fn decimal(&mut self, value: i64, places: usize) -> &str {
        let at = write_decimal(value, places, &mut self.bytes[..24]);
        std::str::from_utf8(&self.bytes[at..24]).unwrap_or_default()
    }

    fn drawn(
        &mut self,
        rng: &mut Rng,
        shortest: u64,
        longest: u64,
        pairs: &[[u8; 2]],
    ) -> &mut [u8] {
        let length = shortest + rng.below(longest - shortest + 1);
        let text = &mut self.bytes[..length as usize];
        let count = pairs.len() as u128;
        for group in text.chunks_mut(PER_DRAW) {
            // The draw is a fraction of one; its digits in a base of the number of pairs are the
            // pairs.
            let mut fraction = rng.bits();
            for place in group.chunks_mut(2) {
                let product = u128::from(fraction) * count;
                fraction = product as u64;
                let pair = &pairs[(product >> 64) as usize];
                place.copy_from_slice(&pair[..place.len()]);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_those_of_the_specification() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(999), "EINGEINGEING");
        let names: std::collections::HashSet<_> = (0..1_000).map(last_name).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|n| n.len() <= 16));
    }

    #[test]
    fn decimals_have_their_places() {
        let mut text = RandomText::default();
        for (value, places, written) in [
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-1_000, 2, "-10.00"),
            (999_999, 2, "9999.99"),
            (1_999, 4, "0.1999"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (i64::MIN, 2, "-92233720368547758.08"),
        ] {
            assert_eq!(text.decimal(value, places), written);
        }
    }

    #[test]
    fn texts_have_their_lengths_and_characters() {
        let mut rng = Rng::of(&[3]);
        let mut text = RandomText::default();
        let mut lengths = std::collections::HashSet::new();
        for _ in 0..2_000 {
            let a = text.alphanumeric(&mut rng, 8, 16);
            assert!(a.bytes().all(|b| b.is_ascii_alphanumeric()), "{a}");
            lengths.insert(a.len());
            let l = text.letters(&mut rng, 24);
            assert!(l.len() == 24 && l.bytes().all(|b| b.is_ascii_alphabetic()));
            let p = text.phone(&mut rng);
            assert!(p.len() == 16 && p.bytes().all(|b| b.is_ascii_digit()));
            let z = text.zip(&mut rng);
            assert!(z.len() == 9 && z.ends_with("11111") && z[..4].parse::<u32>().is_ok());
        }
        let mut lengths: Vec<_> = lengths.into_iter().collect();
        lengths.sort_unstable();
        assert_eq!(lengths, (8..=16).collect::<Vec<_>>());
        assert_eq!(text.alphanumeric(&mut rng, 500, 500).len(), 500);
    }

    /// Every character at every place of a group of eight, a million texts each: within four
    /// standard deviations of Pearson's statistic.
    #[test]
    fn characters_are_even_at_every_place() {
        let mut rng = Rng::of(&[11]);
        let mut text = RandomText::default();
        let mut counts = [[0u32; 128]; 9];
        let draws = 300_000;
        for _ in 0..draws {
            let drawn = text.alphanumeric(&mut rng, 9, 9).as_bytes();
            for (place, byte) in drawn.iter().enumerate() {
                counts[place][usize::from(*byte)] += 1;
            }
        }
        let mean = f64::from(draws) / ALPHANUMERIC.len() as f64;
        for (place, counts) in counts.iter().enumerate() {
            let of = |b: &u8| f64::from(counts[usize::from(*b)]);
            let statistic: f64 = ALPHANUMERIC
                .iter()
                .map(|b| (of(b) - mean).powi(2) / mean)
                .sum();
            let deviation = (statistic - 61.0) / 122f64.sqrt();
            assert!(deviation.abs() < 4.0, "place {place}: {deviation}");
        }
    }

    #[test]
    fn original_stands_anywhere() {
        let mut rng = Rng::of(&[5]);
        let mut text = RandomText::default();
        let (mut first, mut last) = (false, false);
        for _ in 0..3_000 {
            let data = text.data(&mut rng, true);
            assert!((26..=50).contains(&data.len()) && data.contains("ORIGINAL"));
            first |= data.starts_with("ORIGINAL");
            last |= data.ends_with("ORIGINAL");
            assert!(!text.data(&mut rng, false).contains("ORIGINAL"));
        }
        assert!(first && last);
    }
}
