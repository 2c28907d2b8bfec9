//! A script's parameters as values of a statement.

use tidemark_drivers::Value as Bound;

/// So many values need no room of their own: most statements have fewer.
pub(crate) const FEW: usize = 6;

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

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
    /// Forgets the values.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.bytes.clear();
    }

    /// Adds a NULL.
    pub fn null(&mut self) {
        self.parts.push(Part::Null);
    }

    /// Adds a whole number.
    pub fn int(&mut self, number: i64) {
        self.parts.push(Part::Int(number));
    }

    /// Adds a number of Lua's, which has one kind of them.
    pub fn number(&mut self, number: f64) {
        let whole = number as i64;
        // -0.0 is none, and neither is 2^63, which the largest i64 would be rounded to.
        let is_whole = number < TWO_TO_63 && (whole as f64).to_bits() == number.to_bits();
        self.parts.push(match is_whole {
            true => Part::Int(whole),
            false => Part::Float(number),
        });
    }

    /// Adds a text.
    pub fn text(&mut self, text: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.parts.push(Part::Text(start, self.bytes.len()));
    }

    fn bound_part(&self, part: Part) -> Bound<'_> {
        match part {
            Part::Null => Bound::Null,
            Part::Int(number) => Bound::Int(number),
            Part::Float(number) => Bound::Float(number),
            Part::Text(start, end) => {
                let bytes = &self.bytes[start..end];
                std::str::from_utf8(bytes).map_or(Bound::Bytes(bytes), Bound::Text)
            }
        }
    }

    /// The values, in order: in `few` where they fit, else in `many`.
    pub fn bound<'v, 'r>(
        &'v self,
        few: &'r mut [Bound<'v>; FEW],
        many: &'r mut Vec<Bound<'v>>,
    ) -> &'r [Bound<'v>] {
        let bound = self.parts.iter().map(|part| self.bound_part(*part));
        match few.get_mut(..self.parts.len()) {
            Some(room) => {
                room.iter_mut()
                    .zip(bound)
                    .for_each(|(to, value)| *to = value);
                room
            }
            None => {
                many.extend(bound);
                many
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_bound_as_such() {
        let mut values = BindValues::default();
        let largest = 9_007_199_254_740_991.0;
        for number in [
            3.0,
            -2.5,
            1e300,
            f64::NAN,
            -largest,
            -0.0,
            TWO_TO_63,
            -TWO_TO_63,
        ] {
            values.number(number);
        }
        values.null();
        values.text(b"x");
        let (mut few, mut many) = ([Bound::Null; FEW], Vec::new());
        let bound = values.bound(&mut few, &mut many);
        let kinds: Vec<String> = bound.iter().map(|v| format!("{v:?}")).collect();
        assert_eq!(
            kinds,
            [
                "Int(3)",
                "Float(-2.5)",
                "Float(1e300)",
                "Float(NaN)",
                "Int(-9007199254740991)",
                "Float(-0.0)",
                "Float(9.223372036854776e18)",
                "Int(-9223372036854775808)",
                "Null",
                "Text(\"x\")"
            ]
        );
    }
}
