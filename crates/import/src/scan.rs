//! Reading numbers and labels from lines of text.

/// A number as it is printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number {
    /// Its value.
    pub value: f64,
    /// Digits after its point: it is rounded to those.
    pub decimals: u8,
}

/// The number at the beginning of a text, and what follows it. Thousands may be separated.
pub(crate) fn number(text: &str) -> Option<(Number, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let negative = bytes.first() == Some(&b'-');
    if matches!(bytes.first(), Some(b'-' | b'+')) {
        at = 1;
    }
    let (mut whole, mut digits, mut decimals) = (0u64, 0, 0u8);
    let mut is_long = false;
    let begin = at;
    let mut point = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                if digits >= 18 {
                    is_long = true;
                }
                whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                digits += 1;
                decimals = decimals.saturating_add(u8::from(point));
            }
            b'.' if !point && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => point = true,
            b',' if !point && digits > 0 && is_group(&bytes[at + 1..]) => {}
            _ => break,
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let exponent = exponent(&bytes[at..]);
    let mut value = whole as f64 / POWERS.get(usize::from(decimals)).copied().unwrap_or(1e19);
    if is_long || exponent > 0 || usize::from(decimals) >= POWERS.len() {
        let plain: String = text[begin..at + exponent]
            .chars()
            .filter(|c| *c != ',')
            .collect();
        value = plain.parse().ok()?;
    }
    if negative {
        value = -value;
    }
    Some((Number { value, decimals }, &text[at + exponent..]))
}

/// A number of at most fifteen digits as `%.2f` prints it, and what follows: nearly all that large
/// outputs have. Its value is that of [`number`], to the last bit; `None` says only that it is written
/// in another way.
pub(crate) fn plain_number(text: &[u8]) -> Option<(f64, &[u8])> {
    let digit = |at: usize| {
        let byte = text.get(at)?.wrapping_sub(b'0');
        (byte < 10).then_some(u64::from(byte))
    };
    let (mut whole, mut at) = (0u64, 0);
    while let Some(digit) = digit(at) {
        whole = whole.wrapping_mul(10).wrapping_add(digit);
        at += 1;
    }
    let (mut digits, mut decimals) = (at, 0);
    if digits > 0 && text.get(at) == Some(&b'.') {
        let point = at;
        at += 1;
        while let Some(digit) = digit(at) {
            whole = whole.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        decimals = at - point - 1;
        digits += decimals;
        if decimals == 0 {
            return None;
        }
    }
    let goes_on = matches!(text.get(at), Some(b',' | b'e' | b'E'));
    if !(1..=15).contains(&digits) || goes_on {
        return None;
    }
    Some((whole as f64 / POWERS.get(decimals)?, text.get(at..)?))
}

const POWERS: [f64; 16] = [
    1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Whether three digits follow, and no fourth.
fn is_group(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    digits == 3
}

fn exponent(rest: &[u8]) -> usize {
    let sign = match rest {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    let digits = rest[sign..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    match digits {
        1..=3 => sign + digits,
        _ => 0,
    }
}

/// The first number after a label, which may stand anywhere; between them are blanks, colons and
/// signs of equality only.
pub(crate) fn after<'t>(text: &'t str, label: &str) -> Option<(Number, &'t str)> {
    let mut from = text;
    while let Some(at) = from.find(label) {
        let rest = &from[at + label.len()..];
        if let Some(found) = number(value_of(rest)) {
            return Some(found);
        }
        from = rest;
    }
    None
}

/// What stands after a label's colon or sign of equality.
pub(crate) fn value_of(rest: &str) -> &str {
    rest.trim_start_matches([' ', '\t', ':', '=', '：'])
}

/// The value of a label alone.
pub(crate) fn value(text: &str, label: &str) -> Option<Number> {
    after(text, label).map(|(n, _)| n)
}

/// A line's label and what follows its first colon. Blanks around are no part of them.
pub(crate) fn labelled(text: &str) -> Option<(&str, &str)> {
    let at = text.find([':', '：'])?;
    let colon = text[at..].chars().next()?.len_utf8();
    Some((text[..at].trim(), text[at + colon..].trim()))
}

/// Milliseconds in a unit that may stand right after a number.
pub(crate) fn unit_ms(rest: &str) -> Option<f64> {
    let rest = rest.trim_start();
    [
        ("ms", 1.0),
        ("毫秒", 1.0),
        ("us", 1e-3),
        ("µs", 1e-3),
        ("μs", 1e-3),
        ("微秒", 1e-3),
        ("ns", 1e-6),
        ("min", 60_000.0),
        ("sec", 1000.0),
        ("s", 1000.0),
        ("秒", 1000.0),
    ]
    .into_iter()
    .find(|(unit, _)| {
        let after = rest.strip_prefix(unit);
        after.is_some_and(|a| !a.starts_with(|c: char| c.is_ascii_alphabetic()) || *unit == "sec")
    })
    .map(|(_, ms)| ms)
}

/// Seconds of a duration as Go prints it (`1m30.5s`, `250ms`), or of a plain number.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = None;
    while let Some((n, after)) = number(rest) {
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c.is_whitespace())
            .unwrap_or(after.len());
        let each = match &after[..unit_end] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" | "" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" | "μs" => 1e-6,
            "ns" => 1e-9,
            _ => return sum,
        };
        sum = Some(sum.unwrap_or(0.0) + n.value * each);
        rest = &after[unit_end..];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for (text, value, decimals, rest) in [
            ("12.50 x", 12.5, 2, " x"),
            ("1,234,567.8", 1_234_567.8, 1, ""),
            ("1,23", 1.0, 0, ",23"),
            ("-3ms", -3.0, 0, "ms"),
            ("5.", 5.0, 0, "."),
            ("1e3", 1000.0, 0, ""),
            ("1.7E+12s", 1.7e12, 1, "s"),
            ("3ex", 3.0, 0, "ex"),
            ("12345678901234567890123", 1.234_567_890_123_456_8e22, 0, ""),
        ] {
            let (n, after) = number(text).unwrap();
            assert_eq!(
                (n.value, n.decimals, after),
                (value, decimals, rest),
                "{text}"
            );
        }
        assert_eq!(number("x1"), None);
        assert_eq!(number(""), None);
        assert_eq!(number("-"), None);
    }

    proptest! {
        #[test]
        fn plain_numbers_are_the_same_to_the_last_bit(
            whole in "[0-9]{0,17}",
            decimals in "(\\.[0-9]{0,9})?",
            rest in "(|[,eE.][0-9]{1,4}|[a-z /)]{1,3})",
        ) {
            let text = whole + &decimals + &rest;
            if let Some((value, after)) = plain_number(text.as_bytes()) {
                let (n, left) = number(&text).unwrap();
                prop_assert_eq!(value.to_bits(), n.value.to_bits());
                prop_assert_eq!(after, left.as_bytes());
            }
        }
    }

    #[test]
    fn plain_numbers_are_those_of_interval_lines() {
        for (text, value, rest) in [
            ("10s ]", 10.0, "s ]"),
            ("1003.28 qps", 1003.28, " qps"),
            ("0.00", 0.0, ""),
            ("123456789012.345", 123_456_789_012.345, ""),
        ] {
            assert_eq!(
                plain_number(text.as_bytes()),
                Some((value, rest.as_bytes())),
                "{text}"
            );
        }
        for text in [
            "",
            "x",
            "-1",
            "+1",
            ".5",
            "5.",
            "1,234",
            "1e3",
            "1234567890123456",
        ] {
            assert_eq!(plain_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(seconds("2m30.5s"), Some(150.5));
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("60"), Some(60.0));
        assert_eq!(seconds("x"), None);
    }
}
