//! Values of columns as text. What there are few of is made once.

use crate::digits::write_decimal;
use std::fmt::{Display, Write};
use std::sync::LazyLock;
use tpchgen::dates::{MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::decimal::TPCHDecimal;

static DATES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let days = (0..TOTAL_DATE_RANGE).map(|day| TPCHDate::new(MIN_GENERATE_DATE + day));
    days.map(|day| day.to_string()).collect()
});

/// Discounts and taxes, in hundredths.
static FRACTIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let hundredths = (0..=10).map(TPCHDecimal::new);
    hundredths.map(|part| part.to_string()).collect()
});

/// Writes values as text.
#[derive(Debug)]
pub(super) struct ValueText {
    number: [u8; 24],
    shown: String,
    dates: &'static [String],
    fractions: &'static [String],
}

impl Default for ValueText {
    fn default() -> Self {
        Self {
            number: [0; 24],
            shown: String::new(),
            dates: &DATES,
            fractions: &FRACTIONS,
        }
    }
}

impl ValueText {
    pub fn money(&mut self, value: TPCHDecimal) -> &str {
        let at = write_decimal(value.into_inner(), 2, &mut self.number);
        std::str::from_utf8(&self.number[at..]).unwrap_or_default()
    }

    pub fn fraction(&self, value: TPCHDecimal) -> &str {
        at(self.fractions, value.into_inner())
    }

    pub fn date(&self, date: TPCHDate) -> &str {
        at(self.dates, date.into_inner().into())
    }

    pub fn shown(&mut self, value: &impl Display) -> &str {
        self.shown.clear();
        // Writing into a String does not fail.
        let _ = write!(self.shown, "{value}");
        &self.shown
    }
}

fn at(list: &[String], index: i64) -> &str {
    let index = usize::try_from(index).ok();
    index.and_then(|i| list.get(i)).map_or("", |text| text)
}
