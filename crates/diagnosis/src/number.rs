//! Numbers in sentences.

/// To three significant digits, all digits before the point kept.
pub(crate) fn three(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if !value.is_finite() => return "–".into(),
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ => 3,
    };
    let text = without_sign(format!("{value:.decimals$}"));
    match decimals {
        0 => thousands(&text),
        _ => text,
    }
}

/// Without the sign of nothing: a sum of nothing is −0, and so is what rounds to it.
fn without_sign(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.into(),
        _ => text,
    }
}

fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && digit.is_ascii_digit() && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share in whole percent.
pub(crate) fn percent(share: f64) -> String {
    without_sign(format!("{:.0}", share.max(0.0) * 100.0))
}

/// A share in whole percent, with half of its interval where that is known and not nothing.
pub(crate) fn percent_within(share: f64, half: f64) -> String {
    let around = (half * 100.0).round();
    match around.is_finite() && around >= 1.0 {
        true => format!("{} ± {around:.0}", percent(share)),
        false => percent(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept() {
        for (value, text) in [
            (0.0, "0"),
            (0.1134, "0.113"),
            (1.996, "2.00"),
            (31.26, "31.3"),
            (8200.4, "8,200"),
            (1234567.0, "1,234,567"),
            (f64::NAN, "–"),
            (-0.0, "0"),
            (-0.0001, "0.000"),
            (-1.5, "-1.50"),
        ] {
            assert_eq!(three(value), text);
        }
        assert_eq!(percent(0.714), "71");
        assert_eq!(percent(-0.0), "0");
        let nothing: f64 = [0.0; 0].iter().sum();
        assert_eq!(percent(nothing), "0");
        assert_eq!(percent_within(0.714, 0.062), "71 ± 6");
        assert_eq!(percent_within(0.714, f64::INFINITY), "71");
    }
}
