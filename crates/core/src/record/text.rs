//! A record as text for people and programs.

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io;

/// An object as indented JSON that ends in a line feed. Each element of a list directly in it (an interval,
/// a series) is one line: indents and line feeds of those would be a tenth to a fifth of a record.
///
/// # Errors
/// Those of a value that can't be written as JSON.
pub fn to_text<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::new());
    value.serialize(&mut serializer)?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde_json::Error::custom)
}

/// How deep the lists are whose elements are lines: in the object itself.
const LIST: usize = 2;

struct Lines {
    pretty: PrettyFormatter<'static>,
    /// Lists and objects that are open.
    depth: usize,
    in_list: bool,
}

impl Lines {
    fn new() -> Self {
        Self {
            pretty: PrettyFormatter::new(),
            depth: 0,
            in_list: false,
        }
    }

    /// Whether what is open is an element of such a list, or in one.
    fn is_line(&self) -> bool {
        self.in_list && self.depth > LIST
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.in_list &= self.depth >= LIST;
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.in_list |= self.depth == LIST;
        match self.is_line() {
            true => CompactFormatter.begin_array(to),
            false => self.pretty.begin_array(to),
        }
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        let is_line = self.is_line();
        self.leave();
        match is_line {
            true => CompactFormatter.end_array(to),
            false => self.pretty.end_array(to),
        }
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        match self.is_line() {
            true => CompactFormatter.begin_array_value(to, first),
            false => self.pretty.begin_array_value(to, first),
        }
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        match self.is_line() {
            true => CompactFormatter.end_array_value(to),
            false => self.pretty.end_array_value(to),
        }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        match self.is_line() {
            true => CompactFormatter.begin_object(to),
            false => self.pretty.begin_object(to),
        }
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        let is_line = self.is_line();
        self.leave();
        match is_line {
            true => CompactFormatter.end_object(to),
            false => self.pretty.end_object(to),
        }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        match self.is_line() {
            true => CompactFormatter.begin_object_key(to, first),
            false => self.pretty.begin_object_key(to, first),
        }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        match self.is_line() {
            true => CompactFormatter.begin_object_value(to),
            false => self.pretty.begin_object_value(to),
        }
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        match self.is_line() {
            true => CompactFormatter.end_object_value(to),
            false => self.pretty.end_object_value(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn elements_of_lists_are_lines_and_all_else_is_indented() {
        let value = json!({
            "a": {"b": {"c": [1, {"d": 2}]}},
            "e": [{"f": 0, "g": {"h": [1, 2]}}, {"f": 1}],
            "i": ["x", "y\n"],
            "j": [],
            "k": {},
            "l": [[1, [2]], [], {}],
            "m": 1,
        });
        let expected = r#"{
  "a": {
    "b": {
      "c": [
        1,
        {
          "d": 2
        }
      ]
    }
  },
  "e": [
    {"f":0,"g":{"h":[1,2]}},
    {"f":1}
  ],
  "i": [
    "x",
    "y\n"
  ],
  "j": [],
  "k": {},
  "l": [
    [1,[2]],
    [],
    {}
  ],
  "m": 1
}
"#;
        let text = to_text(&value).unwrap();
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        for small in [json!({}), json!([]), json!([[1], {"a": [2]}]), json!(1.5)] {
            let text = to_text(&small).unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&text).unwrap(),
                small,
                "{text}"
            );
        }
    }
}
