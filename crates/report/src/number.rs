//! Numbers as people read them.

/// With thousands separated: `1,234,567`.
pub fn whole(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// To three significant digits, all digits before the point kept: `3,126`, `312`, `31.3`, `0.0812`.
pub fn three(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value < 0.0 {
        return format!("−{}", three(-value));
    }
    // Decided after rounding, so that 99.96 becomes 100 and not 100.0.
    let rounded = |decimals: usize| format!("{value:.decimals$}");
    if value == 0.0 {
        "0".into()
    } else if value >= 99.95 {
        // In range: finite, positive; larger than a u64 saturates.
        whole(value.round() as u64)
    } else if value >= 9.995 {
        rounded(1)
    } else if value >= 0.9995 {
        rounded(2)
    } else {
        let decimals = (2.0 - value.log10().floor()).clamp(3.0, 9.0);
        let text = rounded(decimals as usize);
        let text = text.trim_end_matches('0');
        if text == "0." {
            "0".into()
        } else {
            text.to_string()
        }
    }
}

/// An uncertainty, to two significant digits at least: `1.4`, `0.42`, `26`.
pub(crate) fn two(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return three(value);
    }
    if value >= 9.95 {
        // In range: finite, positive; larger than a u64 saturates.
        return whole(value.round() as u64);
    }
    let decimals = (1.0 - value.log10().floor()).clamp(1.0, 9.0);
    format!("{value:.*}", decimals as usize)
}

/// A share in percent: `12.3%`.
pub(crate) fn percent(part: f64, of: f64) -> String {
    if of > 0.0 {
        format!("{}%", three(part / of * 100.0))
    } else {
        "–".into()
    }
}

/// Seconds where they are below ten minutes: `8.4`, `60`, `120`.
pub(crate) fn seconds(s: f64) -> String {
    if !s.is_finite() {
        return "–".into();
    }
    let text = format!("{s:.1}");
    if s < 9.95 {
        text.strip_suffix(".0").unwrap_or(&text).into()
    } else {
        format!("{s:.0}")
    }
}

/// Bytes in binary units: `17.2 MiB`.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return format!("{} {unit}", three(value));
        }
        value /= 1024.0;
    }
    format!("{} TiB", three(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(whole(n), text);
        }
    }

    #[test]
    fn three_digits_are_kept() {
        for (value, text) in [
            (0.0, "0"),
            (3126.49, "3,126"),
            (312.649, "313"),
            (99.96, "100"),
            (99.94, "99.9"),
            (31.26, "31.3"),
            (9.996, "10.0"),
            (1.0, "1.00"),
            (0.9996, "1.00"),
            (0.8123, "0.812"),
            (0.5, "0.5"),
            (0.081_23, "0.0812"),
            (0.000_812_3, "0.000812"),
            (-1.5, "−1.50"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(three(value), text, "{value}");
        }
    }

    #[test]
    fn uncertainties_have_two_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.41, "1.4"),
            (0.417, "0.42"),
            (25.6, "26"),
            (1234.5, "1,235"),
            (9.97, "10"),
        ] {
            assert_eq!(two(value), text, "{value}");
        }
    }

    #[test]
    fn durations_and_sizes_have_fitting_units() {
        for (s, text) in [
            (0.0, "0"),
            (2.04, "2"),
            (8.44, "8.4"),
            (59.9, "60"),
            (119.0, "119"),
        ] {
            assert_eq!(seconds(s), text, "{s}");
        }
        assert_eq!(bytes(500), "500 B");
        assert_eq!(bytes(18 << 20), "18.0 MiB");
        assert_eq!(bytes(25_276_968_960), "23.5 GiB");
        assert_eq!(percent(1.0, 8.0), "12.5%");
        assert_eq!(percent(1.0, 0.0), "–");
    }
}
