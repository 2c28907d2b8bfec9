//! Dates, substrings and decimals in each engine's words: what analytical queries are made of.

use crate::Dialect;
use tidemark_core::Protocol;

/// A length of time in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarSpan {
    /// Days.
    Days(u32),
    /// Months; of dates that every month has.
    Months(u32),
    /// Years.
    Years(u32),
}

impl CalendarSpan {
    fn parts(self) -> (u32, &'static str) {
        match self {
            CalendarSpan::Days(n) => (n, "day"),
            CalendarSpan::Months(n) => (n, "month"),
            CalendarSpan::Years(n) => (n, "year"),
        }
    }
}

impl Dialect {
    /// Whether dates are kept as text (`1998-12-01`), because the engine has no type for them.
    pub fn dates_are_text(&self) -> bool {
        self.engine().protocol() == Protocol::Sqlite
    }

    /// Whether decimals are computed with all their digits; elsewhere they are floating numbers, and
    /// `0.06 + 0.01` is less than `0.07`.
    pub fn decimals_are_exact(&self) -> bool {
        self.engine().protocol() != Protocol::Sqlite
    }

    /// A date (`1998-12-01`) as a literal.
    pub fn date(&self, date: &str) -> String {
        if self.dates_are_text() {
            format!("'{date}'")
        } else {
            format!("DATE '{date}'")
        }
    }

    /// A date plus a span, or minus one (`back`).
    pub fn date_moved(&self, date: &str, span: CalendarSpan, back: bool) -> String {
        let sign = if back { '-' } else { '+' };
        let (number, unit) = span.parts();
        if self.dates_are_text() {
            // sqlite.org/lang_datefunc.html, "Modifiers".
            format!("date('{date}', '{sign}{number} {unit}')")
        } else {
            format!("{} {sign} INTERVAL '{number}' {unit}", self.date(date))
        }
    }

    /// The year of a date, a number.
    pub fn year_of(&self, date: &str) -> String {
        if self.dates_are_text() {
            format!("CAST(strftime('%Y', {date}) AS INTEGER)")
        } else {
            format!("EXTRACT(YEAR FROM {date})")
        }
    }

    /// The first characters of a text.
    pub fn prefix_of(&self, text: &str, length: u32) -> String {
        match self.engine().protocol() {
            Protocol::Sqlite => format!("substr({text}, 1, {length})"),
            _ => format!("SUBSTRING({text} FROM 1 FOR {length})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn only_sqlite_has_words_of_its_own() {
        for engine in Engine::ALL {
            let d = Dialect::new(engine);
            let said = [
                d.date("1995-03-15"),
                d.date_moved("1998-12-01", CalendarSpan::Days(90), true),
                d.date_moved("1994-01-01", CalendarSpan::Years(1), false),
                d.year_of("o_orderdate"),
                d.prefix_of("c_phone", 2),
            ];
            let expected = match engine {
                Engine::Sqlite => [
                    "'1995-03-15'",
                    "date('1998-12-01', '-90 day')",
                    "date('1994-01-01', '+1 year')",
                    "CAST(strftime('%Y', o_orderdate) AS INTEGER)",
                    "substr(c_phone, 1, 2)",
                ],
                _ => [
                    "DATE '1995-03-15'",
                    "DATE '1998-12-01' - INTERVAL '90' day",
                    "DATE '1994-01-01' + INTERVAL '1' year",
                    "EXTRACT(YEAR FROM o_orderdate)",
                    "SUBSTRING(c_phone FROM 1 FOR 2)",
                ],
            };
            assert_eq!(said, expected, "{engine}");
        }
    }
}
