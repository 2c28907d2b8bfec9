//! Substitution parameters: the values that a query is asked with (clauses 2.4.1.3 to 2.4.22.3).

use super::words::{
    BRASSES, COLORS, CONTAINER_KINDS, CONTAINER_SIZES, FINISHES, MODES, NATIONS, REGIONS, SEGMENTS,
    SIZES,
};
use crate::random::Rng;

/// The values of one query, in the order that its template counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters(Vec<String>);

impl Parameters {
    /// The values as they stand in the SQL.
    pub fn values(&self) -> &[String] {
        &self.0
    }

    /// The values that the specification's answers belong to (query validation). Q11's share is of
    /// the scale factor, as its substitution parameter is.
    pub fn validation(query: u8, scale: f64) -> Self {
        let values: &[&str] = match query {
            1 => &["90"],
            2 => &["15", "BRASS", "EUROPE"],
            3 => &["BUILDING", "1995-03-15"],
            4 => &["1993-07-01"],
            5 => &["ASIA", "1994-01-01"],
            6 => &["1994-01-01", "0.06", "24"],
            7 => &["FRANCE", "GERMANY"],
            8 => &["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
            9 => &["green"],
            10 => &["1993-10-01"],
            11 => return Self(vec!["GERMANY".into(), share(scale)]),
            12 => &["MAIL", "SHIP", "1994-01-01"],
            13 => &["special", "requests"],
            14 => &["1995-09-01"],
            15 => &["1996-01-01"],
            16 => &[
                "Brand#45",
                "MEDIUM POLISHED",
                "49",
                "14",
                "23",
                "45",
                "19",
                "3",
                "36",
                "9",
            ],
            17 => &["Brand#23", "MED BOX"],
            18 => &["300"],
            19 => &["1", "10", "20", "Brand#12", "Brand#23", "Brand#34"],
            20 => &["forest", "1994-01-01", "CANADA"],
            21 => &["SAUDI ARABIA"],
            22 => &["13", "31", "23", "29", "30", "18", "17"],
            _ => &[],
        };
        Self(values.iter().map(ToString::to_string).collect())
    }

    /// Values drawn for one query of one stream. The same for the same seed; each query has numbers
    /// of its own, so that leaving one out changes no other.
    pub fn drawn(query: u8, scale: f64, seed: u64, stream: usize) -> Self {
        let mut draw = Draw(Rng::of(&[seed, stream as u64, query.into()]));
        Self(draw.values(query, scale))
    }
}

/// Q11's share of the value of all stock: 0.0001 / SF, in digits and without an exponent.
fn share(scale: f64) -> String {
    let digits = format!("{:.12}", 0.0001 / scale);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    digits.to_string()
}

struct Draw(Rng);

impl Draw {
    /// Uniform in `low..=high`.
    fn number(&mut self, low: u32, high: u32) -> u32 {
        // Below 2^32, so it fits.
        low + self.0.below(u64::from(high - low) + 1) as u32
    }

    fn one_of<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let index = self.0.below(words.len() as u64) as usize;
        words.get(index).copied().unwrap_or_default()
    }

    /// That many numbers of `low..=high`, no two alike.
    fn different(&mut self, how_many: usize, low: u32, high: u32) -> Vec<String> {
        let mut numbers: Vec<u32> = (low..=high).collect();
        let last = numbers.len() - 1;
        for i in 0..how_many.min(last) {
            let other = self.number(i as u32, last as u32) as usize;
            numbers.swap(i, other);
        }
        numbers.truncate(how_many);
        numbers.iter().map(ToString::to_string).collect()
    }

    /// The first of January of 1993 to 1997.
    fn year(&mut self) -> String {
        format!("{}-01-01", self.number(1993, 1997))
    }

    /// The first of a month; both are counted from January 1993 as 0, and both may be drawn.
    fn month(&mut self, first: u32, last: u32) -> String {
        let month = self.number(first, last);
        format!("{}-{:02}-01", 1993 + month / 12, month % 12 + 1)
    }

    fn brand(&mut self) -> String {
        format!("Brand#{}{}", self.number(1, 5), self.number(1, 5))
    }

    fn nation(&mut self) -> &'static str {
        let index = self.number(0, NATIONS.len() as u32 - 1) as usize;
        NATIONS.get(index).map_or("", |(name, _)| name)
    }

    fn values(&mut self, query: u8, scale: f64) -> Vec<String> {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        match query {
            1 => vec![self.number(60, 120).to_string()],
            2 => vec![
                self.number(1, 50).to_string(),
                self.one_of(BRASSES).into(),
                self.one_of(REGIONS).into(),
            ],
            3 => vec![
                self.one_of(SEGMENTS).into(),
                format!("1995-03-{:02}", self.number(1, 31)),
            ],
            4 | 15 => vec![self.month(0, 57)],
            5 => vec![self.one_of(REGIONS).into(), self.year()],
            6 => vec![
                self.year(),
                format!("0.{:02}", self.number(2, 9)),
                self.number(24, 25).to_string(),
            ],
            7 => {
                let first = self.nation();
                let mut second = self.nation();
                while second == first {
                    second = self.nation();
                }
                owned(&[first, second])
            }
            8 => {
                let nation = self.nation();
                let region = NATIONS.iter().find(|(name, _)| *name == nation);
                let region = region.and_then(|(_, r)| REGIONS.get(*r)).unwrap_or(&"");
                let kind = [SIZES, FINISHES, BRASSES].map(|words| self.one_of(words));
                vec![nation.into(), region.to_string(), kind.join(" ")]
            }
            9 => vec![self.one_of(COLORS).into()],
            10 => vec![self.month(1, 24)],
            11 => vec![self.nation().into(), share(scale)],
            12 => {
                let first = self.one_of(MODES);
                let mut second = self.one_of(MODES);
                while second == first {
                    second = self.one_of(MODES);
                }
                vec![first.into(), second.into(), self.year()]
            }
            13 => owned(&[
                self.one_of(&["special", "pending", "unusual", "express"]),
                self.one_of(&["packages", "requests", "accounts", "deposits"]),
            ]),
            14 => vec![self.month(0, 59)],
            16 => {
                let kind = [SIZES, FINISHES].map(|words| self.one_of(words));
                let mut values = vec![self.brand(), kind.join(" ")];
                values.extend(self.different(8, 1, 50));
                values
            }
            17 => {
                let container = [CONTAINER_SIZES, CONTAINER_KINDS].map(|words| self.one_of(words));
                vec![self.brand(), container.join(" ")]
            }
            18 => vec![self.number(312, 315).to_string()],
            19 => vec![
                self.number(1, 10).to_string(),
                self.number(10, 20).to_string(),
                self.number(20, 30).to_string(),
                self.brand(),
                self.brand(),
                self.brand(),
            ],
            20 => vec![
                self.one_of(COLORS).into(),
                self.year(),
                self.nation().into(),
            ],
            21 => vec![self.nation().into()],
            // A customer's country code is its nation's number and ten (clause 4.2.2.9).
            22 => self.different(7, 10, 34),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpch::query;
    use proptest::prelude::*;

    /// Whether a value is one that the clause allows, said a second time and in another way.
    fn allowed(query: u8, v: &[&str], scale: f64) -> bool {
        let within = |text: &str, low: f64, high: f64| {
            text.parse::<f64>().is_ok_and(|n| (low..=high).contains(&n))
        };
        let first_of = |text: &str, low: &str, high: &str| {
            text.ends_with("-01") && (low..=high).contains(&text) && text.len() == 10
        };
        let january = |text: &str| text.ends_with("-01-01") && within(&text[..4], 1993.0, 1997.0);
        let brand = |text: &str| {
            let digits = text.strip_prefix("Brand#").unwrap_or("");
            digits.len() == 2 && digits.bytes().all(|b| (b'1'..=b'5').contains(&b))
        };
        let nation = |text: &str| NATIONS.iter().any(|(name, _)| *name == text);
        let words = |text: &str, of: &[&[&str]]| {
            let parts: Vec<_> = text.split(' ').collect();
            parts.len() == of.len() && parts.iter().zip(of).all(|(p, of)| of.contains(p))
        };
        let unlike = |texts: &[&str]| {
            let set: std::collections::HashSet<_> = texts.iter().collect();
            set.len() == texts.len()
        };
        match (query, v) {
            (1, [d]) => within(d, 60.0, 120.0),
            (2, [size, kind, region]) => {
                within(size, 1.0, 50.0) && BRASSES.contains(kind) && REGIONS.contains(region)
            }
            (3, [segment, date]) => {
                SEGMENTS.contains(segment) && ("1995-03-01"..="1995-03-31").contains(date)
            }
            (4 | 15, [date]) => first_of(date, "1993-01-01", "1997-10-01"),
            (5, [region, date]) => REGIONS.contains(region) && january(date),
            (6, [date, discount, quantity]) => {
                january(date) && within(discount, 0.02, 0.09) && within(quantity, 24.0, 25.0)
            }
            (7, [one, other]) => nation(one) && nation(other) && unlike(v),
            (8, [name, region, kind]) => {
                NATIONS
                    .iter()
                    .any(|(n, r)| n == name && REGIONS[*r] == *region)
                    && words(kind, &[SIZES, FINISHES, BRASSES])
            }
            (9, [color]) => COLORS.contains(color),
            (10, [date]) => first_of(date, "1993-02-01", "1995-01-01"),
            (11, [name, share]) => {
                let share: f64 = share.parse().unwrap_or(0.0);
                nation(name) && (share * scale / 0.0001 - 1.0).abs() < 1e-3
            }
            (12, [one, other, date]) => {
                MODES.contains(one) && MODES.contains(other) && one != other && january(date)
            }
            (13, [one, other]) => {
                "special pending unusual express".contains(one)
                    && "packages requests accounts deposits".contains(other)
            }
            (14, [date]) => first_of(date, "1993-01-01", "1997-12-01"),
            (16, [b, kind, sizes @ ..]) => {
                brand(b)
                    && words(kind, &[SIZES, FINISHES])
                    && sizes.len() == 8
                    && unlike(sizes)
                    && sizes.iter().all(|s| within(s, 1.0, 50.0))
            }
            (17, [b, container]) => {
                brand(b) && words(container, &[CONTAINER_SIZES, CONTAINER_KINDS])
            }
            (18, [quantity]) => within(quantity, 312.0, 315.0),
            (19, [a, b, c, brands @ ..]) => {
                within(a, 1.0, 10.0)
                    && within(b, 10.0, 20.0)
                    && within(c, 20.0, 30.0)
                    && brands.len() == 3
                    && brands.iter().all(|b| brand(b))
            }
            (20, [color, date, name]) => COLORS.contains(color) && january(date) && nation(name),
            (21, [name]) => nation(name),
            (22, codes) => {
                codes.len() == 7 && unlike(codes) && codes.iter().all(|c| within(c, 10.0, 34.0))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn drawn_values_are_what_the_clauses_allow(
            seed: u64, stream in 0usize..50, scale in 0.01f64..1000.0
        ) {
            for query in &query::ALL {
                let drawn = Parameters::drawn(query.number, scale, seed, stream);
                let values: Vec<&str> = drawn.values().iter().map(String::as_str).collect();
                prop_assert!(allowed(query.number, &values, scale), "{query}: {values:?}");
                prop_assert_eq!(&drawn, &Parameters::drawn(query.number, scale, seed, stream));
            }
        }
    }

    /// Both ends of a range come up, or a range could be one too short unseen.
    #[test]
    fn every_end_of_a_range_is_drawn() {
        for (query, values) in [
            (1, vec!["60", "120"]),
            (4, vec!["1993-01-01", "1997-10-01"]),
            (
                6,
                vec!["1993-01-01", "1997-01-01", "0.02", "0.09", "24", "25"],
            ),
            (10, vec!["1993-02-01", "1995-01-01"]),
            (14, vec!["1993-01-01", "1997-12-01"]),
            (18, vec!["312", "315"]),
            (22, vec!["10", "34"]),
        ] {
            let drawn: Vec<_> = (0..2000)
                .flat_map(|seed| Parameters::drawn(query, 1.0, seed, 0).0)
                .collect();
            for value in values {
                assert!(drawn.iter().any(|d| d == value), "Q{query}: {value}");
            }
        }
    }

    #[test]
    fn streams_are_asked_different_values() {
        let of = |stream| -> Vec<_> {
            let all = query::ALL.iter();
            all.map(|q| Parameters::drawn(q.number, 1.0, 7, stream))
                .collect()
        };
        assert_ne!(of(0), of(1));
    }

    #[test]
    fn a_share_has_digits_only() {
        for (scale, text) in [(1.0, "0.0001"), (0.01, "0.01"), (300.0, "0.000000333333")] {
            assert_eq!(share(scale), text);
        }
    }
}
