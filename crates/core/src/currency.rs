//! Names of currencies.

/// Most bytes of a currency's name.
const LONGEST: usize = 12;

/// Whether a word may name a currency beside an amount, as `USD` and `元` do: one word without digits
/// that is no number, either (`inf`), of twelve bytes at most.
pub fn is_currency(word: &str) -> bool {
    let fits = |c: char| !c.is_ascii_digit() && !c.is_control() && !c.is_whitespace();
    !word.is_empty()
        && word.len() <= LONGEST
        && word.chars().all(fits)
        && word.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_currency_is_a_short_word_that_is_no_number() {
        for word in ["USD", "元", "€", "US$"] {
            assert!(super::is_currency(word), "{word}");
        }
        for word in ["", "E U R", "U5D", "inf", "NaN", "a\tb", "thirteen-long"] {
            assert!(!super::is_currency(word), "{word}");
        }
    }
}
