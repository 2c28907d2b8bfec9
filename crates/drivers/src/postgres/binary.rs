//! Values in the binary form of `COPY … (FORMAT binary)`: the server need not read numbers and dates
//! from text, which is a good part of what loading rows of decimals costs it.
//!
//! PostgreSQL manual, "COPY", section "Binary Format"; the forms of the types are those of their
//! `*recv` functions.

use crate::Value;
use jiff::civil::{Date, DateTime, date};
use std::str::FromStr;

/// Before the first row: signature, no flags, no extension.
pub(super) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// After the last row.
pub(super) const TRAILER: &[u8] = b"\xff\xff";

/// The first day of the server's dates and timestamps.
const EPOCH: Date = date(2000, 1, 1);
/// A numeric's digits are of this base, four decimal ones each.
const DIGITS: usize = 4;
/// `NUMERIC_NEG` (numeric.c).
const NEGATIVE: u16 = 0x4000;

/// How a column's type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryForm {
    Int2,
    Int4,
    Int8,
    Float8,
    Numeric,
    Date,
    Timestamp,
    Text,
    Bytes,
}

impl BinaryForm {
    /// The form of a type by its object id (`pg_type.dat`); `None` for those that nobody loads.
    pub fn of(type_id: i64) -> Option<Self> {
        Some(match type_id {
            17 => Self::Bytes,
            20 => Self::Int8,
            21 => Self::Int2,
            23 => Self::Int4,
            // text, character, character varying
            25 | 1042 | 1043 => Self::Text,
            701 => Self::Float8,
            1082 => Self::Date,
            1114 => Self::Timestamp,
            1700 => Self::Numeric,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Int2 => "a smallint",
            Self::Int4 => "an integer",
            Self::Int8 => "a bigint",
            Self::Float8 => "a double precision",
            Self::Numeric => "a numeric",
            Self::Date => "a date",
            Self::Timestamp => "a timestamp",
            Self::Text => "text",
            Self::Bytes => "a bytea",
        }
    }
}

/// Writes one row after another.
pub(crate) struct BinaryRows {
    forms: Vec<BinaryForm>,
    column: usize,
    /// The first value that could not be written: the row must not be sent then.
    pub fault: Option<String>,
}

impl BinaryRows {
    pub fn new(forms: Vec<BinaryForm>) -> Self {
        Self {
            forms,
            column: 0,
            fault: None,
        }
    }

    /// Begins a row.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.column = 0;
        // A table has 1,600 columns at most.
        out.extend_from_slice(&(self.forms.len() as u16).to_be_bytes());
    }

    /// The next column's value.
    pub fn push(&mut self, value: Value<'_>, out: &mut Vec<u8>) {
        let Some(form) = self.forms.get(self.column).copied() else {
            self.fault = Some(format!("a row has more than {} values", self.forms.len()));
            return;
        };
        self.column += 1;
        if value == Value::Null {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            return;
        }
        let before = out.len();
        out.extend_from_slice(&[0; 4]);
        let length = write(form, value, out)
            .and_then(|()| u32::try_from(out.len() - before - 4).ok())
            .filter(|length| *length <= i32::MAX as u32);
        match (length, out.get_mut(before..before + 4)) {
            (Some(length), Some(place)) => place.copy_from_slice(&length.to_be_bytes()),
            _ => {
                self.fault.get_or_insert_with(|| {
                    format!("column {}: {value:?} is not {}", self.column, form.name())
                });
            }
        }
    }
}

/// `None` when the value is none of that type.
fn write(form: BinaryForm, value: Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    match form {
        BinaryForm::Int2 => out.extend_from_slice(&i16::try_from(int(value)?).ok()?.to_be_bytes()),
        BinaryForm::Int4 => out.extend_from_slice(&i32::try_from(int(value)?).ok()?.to_be_bytes()),
        BinaryForm::Int8 => out.extend_from_slice(&int(value)?.to_be_bytes()),
        BinaryForm::Float8 => {
            let float = match value {
                Value::Float(v) => v,
                Value::Int(v) => v as f64,
                Value::Text(v) => v.parse().ok()?,
                _ => return None,
            };
            out.extend_from_slice(&float.to_be_bytes());
        }
        BinaryForm::Numeric => match value {
            Value::Text(v) => numeric(v, out)?,
            Value::Int(v) => numeric(itoa::Buffer::new().format(v), out)?,
            Value::Float(v) => numeric(&v.to_string(), out)?,
            _ => return None,
        },
        BinaryForm::Date => {
            let days = parsed::<Date>(value)?.duration_since(EPOCH).as_hours() / 24;
            out.extend_from_slice(&i32::try_from(days).ok()?.to_be_bytes());
        }
        BinaryForm::Timestamp => {
            let since = parsed::<DateTime>(value)?.duration_since(EPOCH.into());
            out.extend_from_slice(&i64::try_from(since.as_micros()).ok()?.to_be_bytes());
        }
        BinaryForm::Text => match value {
            Value::Text(v) => out.extend_from_slice(v.as_bytes()),
            Value::Bytes(v) => out.extend_from_slice(v),
            Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
            Value::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
            Value::Null => return None,
        },
        BinaryForm::Bytes => match value {
            Value::Bytes(v) => out.extend_from_slice(v),
            _ => return None,
        },
    }
    Some(())
}

fn int(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(v) => Some(v),
        Value::Text(v) => v.parse().ok(),
        _ => None,
    }
}

fn parsed<T: FromStr>(value: Value<'_>) -> Option<T> {
    match value {
        Value::Text(v) => v.parse().ok(),
        _ => None,
    }
}

/// A decimal number without an exponent: number of digits, weight of the first, sign, digits shown
/// after the point, and the digits of base 10,000 (`numeric_recv`).
fn numeric(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (NEGATIVE, rest),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0').as_bytes();
    let fraction = fraction.as_bytes();
    let head = out.len();
    out.extend_from_slice(&[0; 8]);
    // The first group of the whole part may be short, the last of the fraction is filled up.
    let (short, full) = whole.split_at_checked(whole.len() % DIGITS)?;
    let groups = (!short.is_empty())
        .then_some(short)
        .into_iter()
        .chain(full.chunks(DIGITS))
        .map(|group| digit(group, group.len()))
        .chain(fraction.chunks(DIGITS).map(|group| digit(group, DIGITS)));
    let mut weight = i32::try_from(whole.len().div_ceil(DIGITS)).ok()? - 1;
    let (mut count, mut kept) = (0u16, out.len());
    for group in groups {
        let group = group?;
        if count == 0 && group == 0 {
            weight -= 1;
            continue;
        }
        out.extend_from_slice(&group.to_be_bytes());
        count = count.checked_add(1)?;
        if group != 0 {
            kept = out.len();
        }
    }
    out.truncate(kept);
    let count = u16::try_from((out.len() - head - 8) / 2).ok()?;
    let (weight, sign) = if count == 0 { (0, 0) } else { (weight, sign) };
    let words = [
        count,
        i16::try_from(weight).ok()? as u16,
        sign,
        u16::try_from(fraction.len()).ok()?,
    ];
    for (place, word) in out.get_mut(head..)?.chunks_exact_mut(2).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    Some(())
}

/// A digit of base 10,000 of up to four decimal ones, as if zeros followed up to `width`.
fn digit(decimal: &[u8], width: usize) -> Option<u16> {
    let mut value = 0;
    for byte in decimal {
        value = value * 10 + u16::from(byte.checked_sub(b'0').filter(|d| *d <= 9)?);
    }
    Some((decimal.len()..width).fold(value, |value, _| value * 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Option<Vec<i16>> {
        let mut out = Vec::new();
        numeric(text, &mut out)?;
        let word = |pair: &[u8]| i16::from_be_bytes([pair[0], pair[1]]);
        Some(out.chunks(2).map(word).collect())
    }

    #[test]
    fn numerics_are_digits_of_base_ten_thousand() {
        let cases: [(&str, &[i16]); 8] = [
            ("0", &[0, 0, 0, 0]),
            ("-0.00", &[0, 0, 0, 2]),
            ("1", &[1, 0, 0, 0, 1]),
            ("10000", &[1, 1, 0, 0, 1]),
            ("12345.678", &[3, 1, 0, 3, 1, 2345, 6780]),
            ("-0.04", &[1, -1, NEGATIVE as i16, 2, 400]),
            ("0.00001234", &[1, -2, 0, 8, 1234]),
            ("300000.00", &[1, 1, 0, 2, 30]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).as_deref(), Some(expected), "{text}");
        }
        for no_number in ["", "-", ".", "1e5", "NaN", "1.2.3", "--1", " 1"] {
            assert_eq!(words(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn days_and_microseconds_count_from_2000() {
        let form = |form, text| {
            let mut out = Vec::new();
            write(form, Value::Text(text), &mut out).map(|()| out)
        };
        let days = |n: i32| Some(n.to_be_bytes().to_vec());
        assert_eq!(form(BinaryForm::Date, "2000-01-01"), days(0));
        assert_eq!(form(BinaryForm::Date, "1992-01-02"), days(-2921));
        assert_eq!(form(BinaryForm::Date, "2000-03-01"), days(60));
        assert_eq!(form(BinaryForm::Date, "2001-02-29"), None);
        let micros = |n: i64| Some(n.to_be_bytes().to_vec());
        assert_eq!(
            form(BinaryForm::Timestamp, "2000-01-01 00:00:01.5"),
            micros(1_500_000)
        );
        assert_eq!(
            form(BinaryForm::Timestamp, "1999-12-31 23:59:59"),
            micros(-1_000_000)
        );
    }

    #[test]
    fn a_value_of_another_type_is_a_fault_that_names_it() {
        let mut rows = BinaryRows::new(vec![BinaryForm::Int4, BinaryForm::Date]);
        let mut out = Vec::new();
        rows.begin(&mut out);
        rows.push(Value::Int(i64::from(i32::MAX) + 1), &mut out);
        rows.push(Value::Text("yesterday"), &mut out);
        let fault = rows.fault.unwrap();
        assert_eq!(fault, "column 1: Int(2147483648) is not an integer");
    }

    proptest! {
        /// The digits, read as the server reads them, are the number.
        #[test]
        fn any_decimal_is_read_again(
            negative: bool,
            whole in 0u64..10_000_000_000_000,
            fraction in 0u64..100_000_000,
            places in 0usize..9,
        ) {
            let fraction = &format!("{fraction:08}")[..places];
            let sign = if negative { "-" } else { "" };
            let text = if places == 0 {
                format!("{sign}{whole}")
            } else {
                format!("{sign}{whole}.{fraction}")
            };
            let words = words(&text).unwrap();
            // In units of 10^-8, where a digit of weight 0 is 10,000 of weight -1.
            let mut read = 0i128;
            for (at, digit) in words[4..].iter().enumerate() {
                let power = u32::try_from(i32::from(words[1]) - at as i32 + 2).unwrap();
                read += i128::from(*digit) * 10_000i128.pow(power);
            }
            let scaled: i128 = format!("{whole}{fraction:0<8}").parse().unwrap();
            prop_assert_eq!(read, scaled);
            prop_assert_eq!(words[2] != 0, negative && scaled != 0);
            prop_assert_eq!(words[3] as usize, places);
            prop_assert_eq!(words[0] as usize, words.len() - 4);
        }
    }
}
