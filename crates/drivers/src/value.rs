//! Values bound to parameters.

/// A value bound to a statement's parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    /// Any integer type.
    Int(i64),
    /// Any floating type.
    Float(f64),
    /// Character data.
    Text(&'a str),
    /// Binary data.
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(v: i64) -> Self {
        Value::Int(v)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(v: &'a str) -> Self {
        Value::Text(v)
    }
}
