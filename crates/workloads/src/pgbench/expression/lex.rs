//! The words of an expression.

use super::ExpressionError;

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'t> {
    /// A whole number.
    Int(i64),
    /// 9223372036854775808, which is a number behind a minus only.
    BeyondInt,
    /// A number with a point or an exponent.
    Double(f64),
    /// `:name`.
    Variable(&'t str),
    /// A keyword or a function's name.
    Word(&'t str),
    /// An operator, a parenthesis or a comma.
    Symbol(&'static str),
}

/// Longer ones first.
const SYMBOLS: [&str; 19] = [
    "<>", "<=", "<<", ">=", ">>", "!=", "<", ">", "=", "+", "-", "*", "/", "%", "|", "#", "&", "~",
    "(",
];
const CLOSING: [&str; 2] = [")", ","];

/// Cuts a text into words, each with its place in bytes.
///
/// # Errors
/// [`ExpressionError`] at what begins no word, and for numbers that are too large.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        // A backslash at a line's end joins it with the next.
        let joined = ["\\\n", "\\\r\n"].iter().find(|j| rest.starts_with(**j));
        if blank > 0 || joined.is_some() {
            at += joined.map_or(blank, |j| j.len());
            continue;
        }
        let (token, length) = next(rest, at)?;
        tokens.push((at, token));
        at += length;
    }
    Ok(tokens)
}

/// Whether a character may stand in a variable's name.
pub(in crate::pgbench) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

fn next(rest: &str, at: usize) -> Result<(Token<'_>, usize), ExpressionError> {
    let length = |is: fn(char) -> bool, text: &str| text.find(|c| !is(c)).unwrap_or(text.len());
    if let Some(name) = rest.strip_prefix(':') {
        let end = length(is_of_name, name);
        if end > 0 {
            return Ok((Token::Variable(&name[..end]), end + 1));
        }
    }
    let digits = length(|c| c.is_ascii_digit(), rest);
    let is_fraction = rest
        .strip_prefix('.')
        .is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit()));
    if digits > 0 || is_fraction {
        return number(rest, digits, at);
    }
    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let end = length(|c| c.is_ascii_alphanumeric() || c == '_', rest);
        return Ok((Token::Word(&rest[..end]), end));
    }
    let symbol = SYMBOLS
        .iter()
        .chain(&CLOSING)
        .find(|s| rest.starts_with(**s));
    match symbol {
        Some(&"!=") => Ok((Token::Symbol("<>"), 2)),
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None => Err(ExpressionError::at(at, "unexpected character")),
    }
}

fn number(rest: &str, digits: usize, at: usize) -> Result<(Token<'_>, usize), ExpressionError> {
    let bytes = rest.as_bytes();
    let run = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits;
    if bytes.get(end) == Some(&b'.') {
        end += 1 + run(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = run((end + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let text = &rest[..end];
    if end == digits {
        return match text.parse::<u64>() {
            Ok(n) if n == i64::MAX as u64 + 1 => Ok((Token::BeyondInt, end)),
            Ok(n) if i64::try_from(n).is_ok() => Ok((Token::Int(n as i64), end)),
            _ => Err(ExpressionError::at(at, "bigint constant overflow")),
        };
    }
    let double = text.parse::<f64>().ok().filter(|d| d.is_finite());
    double
        .map(|d| (Token::Double(d), end))
        .ok_or_else(|| ExpressionError::at(at, "double constant overflow"))
}
