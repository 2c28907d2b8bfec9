//! Keys and values as go-ycsb writes them, so that its tables serve these runs and the other way
//! round.

use super::Settings;
use crate::random::Rng;
use std::fmt::Write;

/// FNV-1a with 64 bits (Fowler, Noll & Vo): offset basis and prime.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Letters of random values, in go-ycsb's order.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The hash that scatters key numbers: FNV-1a of the eight bytes, most significant first, without
/// its sign.
#[inline]
pub(super) fn scattered(number: u64) -> u64 {
    fnv(FNV_BASIS, &number.to_be_bytes())
        .cast_signed()
        .unsigned_abs()
}

/// Writes the key of a record: prefix, and its number or the number's hash, padded with zeros.
pub(super) fn key(settings: &Settings, number: u64, out: &mut String) {
    let shown = if settings.ordered {
        number
    } else {
        scattered(number)
    };
    out.clear();
    out.push_str(&settings.key_prefix);
    // Writing to a String can't fail.
    let _ = match settings.zero_padding {
        0 | 1 => write!(out, "{shown}"),
        width => write!(out, "{shown:0width$}"),
    };
}

/// Writes a value of random letters.
pub(super) fn random_value(length: usize, rng: &mut Rng, out: &mut String) {
    out.clear();
    out.reserve(length);
    let mut left = length;
    while left > 0 {
        // Ten letters of 52 fit into 64 bits, and a product's upper half is the next one.
        let mut bits = rng.bits();
        for _ in 0..left.min(8) {
            let product = u128::from(bits) * 52;
            out.push(char::from(LETTERS[(product >> 64) as usize]));
            bits = product as u64;
        }
        left -= left.min(8);
    }
}

/// Writes the value that a record's field must have with `dataintegrity`: it follows from key and
/// field name alone. What was written so far is hashed, and the hash appended, until it is long
/// enough.
pub(super) fn deterministic_value(key: &str, field: usize, length: usize, out: &mut String) {
    out.clear();
    // Writing to a String can't fail.
    let _ = write!(out, "{key}:field{field}");
    let mut hash = fnv(FNV_BASIS, out.as_bytes());
    while out.len() < length {
        let before = out.len();
        out.push(':');
        hash = fnv(hash, b":");
        let _ = write!(out, "{hash}");
        hash = fnv(hash, &out.as_bytes()[before + 1..]);
    }
    out.truncate(length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ycsb::settings::tests::settings;

    fn key_of(options: &[(&str, &str)], number: u64) -> String {
        let mut out = String::new();
        key(&settings(options).unwrap(), number, &mut out);
        out
    }

    #[test]
    fn keys_are_padded_and_ordered_as_asked() {
        let ordered = ("insertorder", "ordered");
        assert_eq!(key_of(&[ordered], 7), "user7");
        assert_eq!(key_of(&[ordered, ("zeropadding", "5")], 7), "user00007");
        assert_eq!(key_of(&[ordered, ("keyprefix", "k")], 123), "k123");
        let long = key_of(&[("zeropadding", "22")], 0);
        assert_eq!(long, format!("user{:022}", scattered(0)));
    }

    #[test]
    fn random_values_are_letters_of_the_asked_length_and_evenly_many() {
        let mut rng = Rng::of(&[3]);
        let mut counts = [0u32; 128];
        let mut out = String::new();
        for length in [0, 1, 7, 8, 9, 100, 10_000, 94_000] {
            random_value(length, &mut rng, &mut out);
            assert_eq!(out.len(), length);
            out.bytes().for_each(|b| counts[usize::from(b)] += 1);
        }
        let letters: u32 = LETTERS.iter().map(|l| counts[usize::from(*l)]).sum();
        assert_eq!(letters, counts.iter().sum::<u32>());
        let expected = f64::from(letters) / 52.0;
        let chi: f64 = LETTERS
            .iter()
            .map(|l| (f64::from(counts[usize::from(*l)]) - expected).powi(2) / expected)
            .sum();
        // 51 degrees of freedom: beyond 98 once in ten thousand.
        assert!(chi < 98.0, "{chi}");
    }

    #[test]
    fn deterministic_values_begin_with_key_and_field_and_end_where_asked() {
        let mut out = String::new();
        deterministic_value("user1", 3, 100, &mut out);
        assert_eq!(out.len(), 100);
        assert!(out.starts_with("user1:field3:"));
        deterministic_value("user1", 3, 4, &mut out);
        assert_eq!(out, "user");
    }
}
