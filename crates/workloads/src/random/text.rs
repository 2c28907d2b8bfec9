//! The text columns of sysbench's tables: groups of eleven digits.

use super::Rng;
use crate::digits::write_digits;

/// Digits of a group.
const GROUP: usize = 11;
/// 10^11: a group is a number below it.
const GROUP_END: u64 = 100_000_000_000;
/// Ten groups and the dashes between them.
const C_LEN: usize = 10 * (GROUP + 1) - 1;
/// Five groups and the dashes between them.
const PAD_LEN: usize = 5 * (GROUP + 1) - 1;

/// The values of `c` (`ddddddddddd-…`, ten groups) and `pad` (five groups), in memory that is
/// used again.
#[derive(Debug, Clone)]
pub struct RowText {
    c: [u8; C_LEN],
    pad: [u8; PAD_LEN],
}

impl Default for RowText {
    fn default() -> Self {
        Self {
            c: [b'-'; C_LEN],
            pad: [b'-'; PAD_LEN],
        }
    }
}

impl RowText {
    /// Draws a new `c`.
    pub fn draw_c(&mut self, rng: &mut Rng) {
        fill(&mut self.c, rng);
    }

    /// Draws a new `pad`.
    pub fn draw_pad(&mut self, rng: &mut Rng) {
        fill(&mut self.pad, rng);
    }

    /// The `c` drawn last.
    pub fn c(&self) -> &str {
        std::str::from_utf8(&self.c).unwrap_or_default()
    }

    /// The `pad` drawn last.
    pub fn pad(&self) -> &str {
        std::str::from_utf8(&self.pad).unwrap_or_default()
    }

    /// Whether `text` has the form of a `c`; blanks that CHAR(120) is padded with do not matter.
    pub fn is_c(text: &[u8]) -> bool {
        let text = text.trim_ascii_end();
        text.len() == C_LEN
            && text.iter().enumerate().all(|(i, b)| {
                if i % (GROUP + 1) == GROUP {
                    *b == b'-'
                } else {
                    b.is_ascii_digit()
                }
            })
    }
}

/// One draw a group; the dashes stand already.
fn fill(text: &mut [u8], rng: &mut Rng) {
    for group in text.chunks_mut(GROUP + 1) {
        write_digits(rng.below(GROUP_END), &mut group[..GROUP]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_form_that_sysbench_writes() {
        let mut rng = Rng::of(&[1]);
        let mut text = RowText::default();
        let mut counts = [0u32; 10];
        for _ in 0..2_000 {
            text.draw_c(&mut rng);
            text.draw_pad(&mut rng);
            assert!(RowText::is_c(text.c().as_bytes()));
            assert_eq!(
                text.pad().split('-').map(str::len).collect::<Vec<_>>(),
                [11; 5]
            );
            for b in text.pad().bytes().filter(u8::is_ascii_digit) {
                counts[usize::from(b - b'0')] += 1;
            }
        }
        // 11,000 of each digit, standard deviation 100.
        assert!(
            counts.iter().all(|c| (10_500..11_500).contains(c)),
            "{counts:?}"
        );
    }

    #[test]
    fn what_is_no_c_is_told_apart() {
        let mut text = RowText::default();
        text.draw_c(&mut Rng::of(&[1]));
        let good = text.c().to_string();
        assert!(RowText::is_c(format!("{good} ").as_bytes()));
        for bad in [
            "",
            "x",
            &good[1..],
            &good.replacen('-', "0", 1),
            &good.replacen('-', "a", 1),
        ] {
            assert!(!RowText::is_c(bad.as_bytes()), "{bad}");
        }
    }
}
