//! Numbers with PostgreSQL's units, to see whether the server has the value that was asked for.

/// Bytes, and milliseconds: what each word stands for (PostgreSQL manual, 20.1.1).
const MEMORY: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1024.0),
    ("MB", 1_048_576.0),
    ("GB", 1_073_741_824.0),
    ("TB", 1_099_511_627_776.0),
];
const TIME: &[(&str, f64)] = &[
    ("us", 0.001),
    ("ms", 1.0),
    ("s", 1000.0),
    ("min", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
];
/// The server rounds to its own unit, or to a word's next smaller one.
const ROUNDING: f64 = 0.001;

/// Whether a value of `pg_settings` (a number counts its `unit`s) is what was asked for. Words have
/// synonyms that only the server knows, so that of them nothing can be said, which is "yes" here.
pub(super) fn agrees(kind: &str, unit: &str, found: &str, asked: &str) -> bool {
    match kind {
        "bool" => truth(asked).is_none_or(|asked| truth(found) == Some(asked)),
        "integer" | "real" => match (found.parse::<f64>(), in_units(asked, unit)) {
            (Ok(found), Some(asked)) => {
                let apart = (found - asked).abs();
                let whole = if kind == "integer" { 0.5 } else { 0.0 };
                apart <= f64::max(whole, asked.abs() * ROUNDING)
            }
            _ => true,
        },
        _ => true,
    }
}

/// Any beginning of a word that means one thing (PostgreSQL manual, 20.1.1).
fn truth(word: &str) -> Option<bool> {
    let word = word.trim().to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if word == "1" || begins("true", 1) || begins("yes", 1) || begins("on", 2) {
        return Some(true);
    }
    (word == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2)).then_some(false)
}

/// A number, with or without a word for its unit, counted in `unit`.
fn in_units(asked: &str, unit: &str) -> Option<f64> {
    let asked = asked.trim();
    let digits = asked
        .rfind(|c: char| c.is_ascii_digit() || c == '.')
        .map_or(0, |last| last + 1);
    let (number, word) = asked.split_at(digits);
    let number: f64 = number.trim().parse().ok()?;
    match word.trim() {
        "" => Some(number),
        word => {
            let own = unit.trim_start_matches(|c: char| c.is_ascii_digit());
            let times = match &unit[..unit.len() - own.len()] {
                "" => 1.0,
                times => times.parse().ok()?,
            };
            let of = [MEMORY, TIME].into_iter().find_map(|words| {
                let size = |word: &str| Some(words.iter().find(|(name, _)| *name == word)?.1);
                Some(size(word)? / size(own)?)
            })?;
            Some(number * of / times)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_others_in_any_unit() {
        for (kind, unit, found, asked) in [
            ("integer", "kB", "12288", "12MB"),
            ("integer", "kB", "12288", " 12 MB "),
            ("integer", "kB", "12288", "12288"),
            ("integer", "8kB", "16384", "128MB"),
            ("integer", "MB", "1024", "1GB"),
            ("integer", "s", "300", "5min"),
            ("integer", "min", "1440", "1d"),
            ("integer", "kB", "1536", "1.5MB"),
            ("integer", "s", "1", "1499ms"),
            ("real", "ms", "0.5", "500us"),
            ("real", "", "1.1", "1.1"),
            ("integer", "", "-1", "-1"),
            // What can't be read is the server's to judge.
            ("integer", "kB", "16", "0x10"),
            ("bool", "", "on", "TRUE"),
            ("bool", "", "off", "f"),
            ("enum", "", "pglz", "on"),
            ("string", "", "ISO, DMY", "German"),
        ] {
            assert!(agrees(kind, unit, found, asked), "{found} {unit} {asked}");
        }
        for (kind, unit, found, asked) in [
            ("integer", "kB", "4096", "12MB"),
            ("integer", "kB", "12288", "12"),
            ("integer", "8kB", "16384", "16384kB"),
            ("integer", "", "100", "101"),
            ("real", "", "1.1", "1.2"),
            ("bool", "", "on", "off"),
            ("bool", "", "off", "1"),
        ] {
            assert!(!agrees(kind, unit, found, asked), "{found} {unit} {asked}");
        }
    }
}
