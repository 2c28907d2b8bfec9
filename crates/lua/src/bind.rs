//! A script's parameters as values of a statement.

use mlua::{MultiValue, Value};
use tidemark_drivers::Value as Bound;

/// Values that were read from Lua, with room that is used again.
#[derive(Debug, Default)]
pub(crate) struct BindValues {
    parts: Vec<Part>,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Null,
    Int(i64),
    Float(f64),
    /// Of `bytes`.
    Text(usize, usize),
}

impl BindValues {
    /// Reads all that are left.
    ///
    /// # Errors
    /// In words, a value that no parameter takes.
    pub fn read(&mut self, values: &MultiValue) -> Result<(), String> {
        self.parts.clear();
        self.bytes.clear();
        for value in values.iter() {
            self.parts.push(match value {
                Value::Nil => Part::Null,
                Value::Boolean(on) => Part::Int((*on).into()),
                Value::Integer(number) => Part::Int(*number),
                Value::Number(number) => Part::Float(*number),
                Value::String(text) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(&text.as_bytes());
                    Part::Text(start, self.bytes.len())
                }
                other => {
                    return Err(format!(
                        "a parameter is a {}: must be a number, a string or nil",
                        other.type_name()
                    ));
                }
            });
        }
        Ok(())
    }

    /// The values, in order.
    pub fn bound(&self) -> Vec<Bound<'_>> {
        let bound = |part: &Part| match *part {
            Part::Null => Bound::Null,
            Part::Int(number) => Bound::Int(number),
            Part::Float(number) => Bound::Float(number),
            Part::Text(start, end) => {
                let bytes = &self.bytes[start..end];
                std::str::from_utf8(bytes).map_or(Bound::Bytes(bytes), Bound::Text)
            }
        };
        self.parts.iter().map(bound).collect()
    }
}
