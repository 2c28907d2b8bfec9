//! Numbers in digits, without allocating.

/// Fills `out` with a number's last digits.
#[inline]
pub(crate) fn write_digits(mut number: u64, out: &mut [u8]) {
    for eight in out.rchunks_mut(8) {
        let digits = eight_digits((number % 100_000_000) as u32);
        number /= 100_000_000;
        eight.copy_from_slice(&digits[8 - eight.len()..]);
    }
}

/// The eight digits of a number below 10^8: parted into two lanes of four digits, four of two, and
/// eight of one, where all lanes are divided by one multiplication (Lamport, "Multiple Byte
/// Processing with Full-Word Instructions", 1975). The first digit is the lowest byte.
#[inline]
fn eight_digits(number: u32) -> [u8; 8] {
    let number = u64::from(number);
    let fours = (number / 10_000) | (number % 10_000) << 32;
    // 10,486 / 2^20 is a hundredth, and 103 / 2^10 a tenth, closely enough for so few digits.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | (twos - 10 * tens) << 8;
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

/// Writes a number given in units of its last place, of which `places` are behind the point, at the end
/// of `out`; gives where it begins.
pub(crate) fn write_decimal(value: i64, places: usize, out: &mut [u8]) -> usize {
    let mut rest = value.unsigned_abs();
    let mut at = out.len();
    let mut written = 0;
    while written <= places || rest > 0 {
        if written == places && places > 0 {
            at -= 1;
            out[at] = b'.';
        }
        at -= 1;
        out[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        written += 1;
    }
    if value < 0 {
        at -= 1;
        out[at] = b'-';
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_four_digits_are_right_in_both_halves() {
        for number in 0..10_000 {
            let text = format!("{number:04}{:04}", 9_999 - number);
            assert_eq!(eight_digits(text.parse().unwrap()), text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn digits_are_the_last_ones(number: u64, length in 0usize..30) {
            let mut out = vec![b'x'; length];
            write_digits(number, &mut out);
            let text = format!("{number:030}");
            prop_assert_eq!(&out, &text.as_bytes()[30 - length..]);
        }
    }
}
