//! Values of variables and expressions.

use super::EvalError;
use std::fmt::{self, Write};
use std::sync::Arc;

/// Digits of a double as pgbench writes it: those that every decimal number keeps (`DBL_DIG` of C).
const DIGITS: usize = 15;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprValue {
    /// NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// What a server or a command line gave, which has no type before an expression reads it.
    Text(Arc<str>),
}

impl ExprValue {
    /// The value that an untyped text stands for in an expression.
    ///
    /// # Errors
    /// [`EvalError::Malformed`] when it is no number, boolean or NULL.
    pub fn typed(&self, name: &str) -> Result<ExprValue, EvalError> {
        let ExprValue::Text(text) = self else {
            return Ok(self.clone());
        };
        let text = text.trim();
        let is = |word: &str, least: usize| {
            text.len() >= least
                && text.len() <= word.len()
                && word.as_bytes()[..text.len()].eq_ignore_ascii_case(text.as_bytes())
        };
        if text.eq_ignore_ascii_case("null") {
            return Ok(ExprValue::Null);
        }
        if is("true", 1) || is("yes", 1) || is("on", 2) {
            return Ok(ExprValue::Bool(true));
        }
        if is("false", 1) || is("no", 1) || is("off", 2) {
            return Ok(ExprValue::Bool(false));
        }
        let malformed = || EvalError::Malformed {
            name: name.into(),
            value: text.into(),
        };
        let digits = text.trim_start_matches(['+', '-']);
        if digits.is_empty() || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Err(malformed());
        }
        if let Ok(int) = text.parse() {
            return Ok(ExprValue::Int(int));
        }
        let double = text.parse::<f64>().ok().filter(|d| d.is_finite());
        double.map(ExprValue::Double).ok_or_else(malformed)
    }

    /// Whether a condition holds: not of NULL and of 0.
    pub fn holds(&self) -> bool {
        match self {
            ExprValue::Null => false,
            ExprValue::Bool(b) => *b,
            ExprValue::Int(i) => *i != 0,
            ExprValue::Double(d) => *d != 0.0,
            ExprValue::Text(_) => true,
        }
    }

    pub(super) fn bool(&self) -> Result<bool, EvalError> {
        match self {
            ExprValue::Bool(b) => Ok(*b),
            other => Err(other.not_a("boolean")),
        }
    }

    /// The nearest integer.
    pub(super) fn int(&self) -> Result<i64, EvalError> {
        match self {
            ExprValue::Int(i) => Ok(*i),
            ExprValue::Double(d) => {
                let nearest = d.round_ties_even();
                // 2^63 itself is beyond an integer; -2^63 is not.
                let least = i64::MIN as f64;
                if nearest >= least && nearest < -least {
                    Ok(nearest as i64)
                } else {
                    Err(EvalError::IntOverflow(*d))
                }
            }
            other => Err(other.not_a("int")),
        }
    }

    pub(super) fn double(&self) -> Result<f64, EvalError> {
        match self {
            ExprValue::Int(i) => Ok(*i as f64),
            ExprValue::Double(d) => Ok(*d),
            other => Err(other.not_a("double")),
        }
    }

    pub(super) fn is_double(&self) -> bool {
        matches!(self, ExprValue::Double(_))
    }

    fn not_a(&self, wanted: &'static str) -> EvalError {
        EvalError::NotA {
            given: self.type_name(),
            wanted,
        }
    }

    /// Its type's name.
    pub fn type_name(&self) -> &'static str {
        match self {
            ExprValue::Null => "null",
            ExprValue::Bool(_) => "boolean",
            ExprValue::Int(_) => "int",
            ExprValue::Double(_) => "double",
            ExprValue::Text(_) => "text",
        }
    }

    /// Appends it as it stands in a statement's text.
    pub fn write_to(&self, out: &mut String) {
        // Writing to a String can't fail.
        let _ = match self {
            ExprValue::Null => write!(out, "NULL"),
            ExprValue::Bool(b) => write!(out, "{b}"),
            ExprValue::Int(i) => {
                out.push_str(itoa::Buffer::new().format(*i));
                Ok(())
            }
            ExprValue::Double(d) => {
                write_double(*d, out);
                Ok(())
            }
            ExprValue::Text(text) => {
                out.push_str(text);
                Ok(())
            }
        };
    }

    /// It as an expression has it.
    pub(super) fn write_constant(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExprValue::Null => f.write_str("NULL"),
            ExprValue::Bool(true) => f.write_str("TRUE"),
            ExprValue::Bool(false) => f.write_str("FALSE"),
            ExprValue::Int(i) => write!(f, "{i}"),
            // With a point or an exponent, and every digit.
            ExprValue::Double(d) => write!(f, "{d:?}"),
            ExprValue::Text(text) => f.write_str(text),
        }
    }
}

/// As PostgreSQL's `%.15g` writes it.
fn write_double(d: f64, out: &mut String) {
    if d.is_nan() {
        out.push_str("NaN");
        return;
    }
    if d.is_infinite() {
        out.push_str(if d > 0.0 { "Infinity" } else { "-Infinity" });
        return;
    }
    let scientific = format!("{d:.*e}", DIGITS - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if (-4..DIGITS as i32).contains(&exponent) {
        let decimals = (DIGITS as i32 - 1 - exponent).max(0) as usize;
        out.push_str(&bare(&format!("{d:.decimals$}")));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let digits = exponent.unsigned_abs();
        out.push_str(&format!("{}e{sign}{digits:02}", bare(mantissa)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: ExprValue) -> String {
        let mut out = String::new();
        value.write_to(&mut out);
        out
    }

    #[test]
    fn doubles_are_written_as_c_does() {
        for (double, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (std::f64::consts::PI, "3.14159265358979"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.5e-300, "1.5e-300"),
            (f64::INFINITY, "Infinity"),
            (-f64::INFINITY, "-Infinity"),
        ] {
            assert_eq!(shown(ExprValue::Double(double)), text);
        }
    }

    #[test]
    fn a_text_has_the_type_that_it_looks_like() {
        let typed = |text: &str| ExprValue::Text(text.into()).typed("x");
        for (text, value) in [
            ("5", ExprValue::Int(5)),
            ("-7", ExprValue::Int(-7)),
            ("2.5", ExprValue::Double(2.5)),
            ("1e3", ExprValue::Double(1000.0)),
            (
                "9223372036854775808",
                ExprValue::Double(9_223_372_036_854_775_808.0),
            ),
            ("TRUE", ExprValue::Bool(true)),
            ("t", ExprValue::Bool(true)),
            ("no", ExprValue::Bool(false)),
            ("off", ExprValue::Bool(false)),
            ("Null", ExprValue::Null),
        ] {
            assert_eq!(typed(text).unwrap(), value, "{text}");
        }
        for text in ["", "abc", "o", "1x", "inf", "nan", "1e999"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }
}
