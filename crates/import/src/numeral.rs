//! Numbers as documents of any country write them: `1,234.5`, `1.234,5`, `1 234,5`.

use crate::scan::Number;

/// What a table's numbers showed of how it writes decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Notation {
    pub point: bool,
    pub comma: bool,
    /// A lone comma says nothing: it is not the sign that parts the table's cells.
    pub comma_is_free: bool,
}

/// A number that is not interpreted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numeral<'t> {
    negative: bool,
    first: &'t str,
    /// Digits behind each separator.
    more: Vec<(char, &'t str)>,
    exponent: &'t str,
}

/// Which sign begins its decimals.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// No separator, or only such as part thousands.
    Whole(Option<char>),
    /// Decimals behind this sign, and only they can be.
    Decimal(char),
    /// Three digits behind a lone point or comma.
    Either(char),
}

/// The number at the beginning of a text, and what follows it.
pub(crate) fn numeral(text: &str) -> Option<(Numeral<'_>, &str)> {
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
    let (first, mut rest) = rest.split_at(digits(rest));
    if first.is_empty() && !(rest.starts_with('.') && digits(&rest[1..]) > 0) {
        return None;
    }
    let mut more = Vec::new();
    while let Some(sign) = rest.chars().next()
        && matches!(sign, '.' | ',' | '\'' | ' ')
    {
        let tail = &rest[1..];
        let (group, after) = tail.split_at(digits(tail));
        if group.is_empty() || matches!(sign, '\'' | ' ') && group.len() != 3 {
            break;
        }
        more.push((sign, group));
        rest = after;
    }
    let (exponent, rest) = rest.split_at(exponent(rest.as_bytes()));
    let numeral = Numeral {
        negative,
        first,
        more,
        exponent,
    };
    Some((numeral, rest))
}

fn exponent(rest: &[u8]) -> usize {
    let sign = match rest {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    let digits = rest.get(sign..).unwrap_or_default();
    match digits.iter().take_while(|b| b.is_ascii_digit()).count() {
        digits @ 1..=3 => sign + digits,
        _ => 0,
    }
}

impl Numeral<'_> {
    fn shape(&self) -> Option<Shape> {
        let begins_groups = (1..=3).contains(&self.first.len()) && !self.first.starts_with('0');
        let (sign, last) = match self.more.as_slice() {
            [] => return Some(Shape::Whole(None)),
            [(sign @ ('.' | ','), digits)] => {
                return Some(match begins_groups && digits.len() == 3 {
                    true => Shape::Either(*sign),
                    false => Shape::Decimal(*sign),
                });
            }
            [(sign, _), .., (last, _)] => (*sign, *last),
            [(sign, _)] => (*sign, *sign),
        };
        let groups = match last == sign {
            true => self.more.as_slice(),
            false => self.more.split_last()?.1,
        };
        let are_groups = groups.iter().all(|(s, d)| *s == sign && d.len() == 3);
        if !are_groups || !begins_groups {
            return None;
        }
        match last == sign {
            true => Some(Shape::Whole(Some(sign))),
            false if matches!(last, '.' | ',') => Some(Shape::Decimal(last)),
            false => None,
        }
    }

    /// What it shows of the table's notation.
    pub fn shows(&self, notation: &mut Notation) {
        match self.shape() {
            Some(Shape::Decimal('.') | Shape::Whole(Some(','))) => notation.point = true,
            Some(Shape::Decimal(',') | Shape::Whole(Some('.'))) => notation.comma = true,
            _ => {}
        }
    }

    /// Its value, and whether it might be another; `None` where that is not sure.
    pub fn value(&self, notation: Notation) -> Option<(Number, bool)> {
        let (has_decimals, ambiguous) = match self.shape()? {
            Shape::Whole(_) => (false, false),
            Shape::Decimal(_) => (true, false),
            Shape::Either(sign) => match (notation.point, notation.comma) {
                (true, true) => return None,
                (false, true) => (sign == ',', false),
                (true, false) => (sign == '.', false),
                (false, false) if sign == ',' && notation.comma_is_free => return None,
                (false, false) => (sign == '.', true),
            },
        };
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.push_str(if self.first.is_empty() {
            "0"
        } else {
            self.first
        });
        let mut decimals = 0;
        for (at, (_, digits)) in self.more.iter().enumerate() {
            if has_decimals && at + 1 == self.more.len() {
                text.push('.');
                decimals = u8::try_from(digits.len()).unwrap_or(u8::MAX);
            }
            text.push_str(digits);
        }
        let is_zero = !text.bytes().any(|b| matches!(b, b'1'..=b'9'));
        text.push_str(self.exponent);
        let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite())?;
        // What is too small for a number is not nothing.
        if value == 0.0 && !is_zero {
            return None;
        }
        Some((Number { value, decimals }, ambiguous))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, notation: Notation) -> Option<f64> {
        let (numeral, rest) = numeral(text)?;
        let (n, _) = numeral.value(notation).filter(|_| rest.is_empty())?;
        Some(n.value)
    }

    #[test]
    fn numbers_of_every_country_are_read_or_none() {
        for (text, is) in [
            ("1 800", Some(1800.0)),
            ("10 000", Some(10_000.0)),
            ("1'234.5", Some(1234.5)),
            ("1.234,5", Some(1234.5)),
            ("1,234.5", Some(1234.5)),
            ("1,234,567", Some(1_234_567.0)),
            ("1.234.567", Some(1_234_567.0)),
            ("6,48", Some(6.48)),
            ("1000,5", Some(1000.5)),
            ("0.123", Some(0.123)),
            ("1,234", Some(1234.0)),
            ("1.234", Some(1.234)),
            (".5", Some(0.5)),
            ("1e3", Some(1000.0)),
            ("1.2.3", None),
            ("8,16,32", None),
            ("1000 200", None),
            ("1e400", None),
            ("1e-400", None),
        ] {
            assert_eq!(of(text, Notation::default()), is, "{text}");
        }
        let german = Notation {
            comma: true,
            ..Notation::default()
        };
        assert_eq!(of("1,234", german), Some(1.234));
        assert_eq!(of("1.234", german), Some(1234.0));
        let both = Notation {
            point: true,
            ..german
        };
        assert_eq!(of("1,234", both), None);
        let free = Notation {
            comma_is_free: true,
            ..Notation::default()
        };
        assert_eq!(of("1,234", free), None);
    }
}
