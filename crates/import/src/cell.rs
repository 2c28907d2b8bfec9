//! What stands in a cell of a table: numbers that are surely understood, or none. A cell is read as a
//! whole: what is left over makes it unclear.

use crate::headings::{SUCCESS_SHARE, THREADS_EACH};
use crate::numeral::{Notation, numeral};
use crate::scan::{Number, number};
use crate::units::{OF_SESSIONS, unit_factor};

/// What a cell's numbers are of: its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuantityKind {
    /// Milliseconds.
    Latency,
    /// Seconds.
    Duration,
    /// Percent.
    Share,
    Rate,
    Count,
    /// Whole numbers of sessions.
    Sessions,
    /// Whole numbers of warehouses.
    Warehouses,
}

impl QuantityKind {
    /// Of a figure or an option.
    pub fn of(name: &str) -> Self {
        match name {
            "elapsed_s" | "think-time" => Self::Duration,
            "error_share" | SUCCESS_SHARE | "efficiency" => Self::Share,
            "rate" | "statement_rate" | "tpmc" | "nopm" | "tpm_total" | "tpm" => Self::Rate,
            "threads" | THREADS_EACH => Self::Sessions,
            "warehouses" => Self::Warehouses,
            name if name.ends_with("_ms") => Self::Latency,
            _ => Self::Count,
        }
    }
}

/// A number with what its unit makes of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellNumber {
    pub number: Number,
    /// `None` where the cell has no unit.
    pub factor: Option<f64>,
    pub percent: bool,
    /// Whether its only separator may be of thousands or of decimals.
    pub ambiguous: bool,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TableCell {
    Missing,
    One(CellNumber),
    /// `a + b`, or `a + b = c`.
    Sum(Vec<CellNumber>, Option<CellNumber>),
    Unclear,
}

const MISSING: [&str; 14] = [
    "", "-", "--", "---", "—", "——", "–", "/", "n/a", "na", "无", "null", "none", "nil",
];
/// More sessions than these are in no benchmark.
const MOST_SESSIONS: f64 = 1e7;

/// Without emphasis; wide characters become plain ones.
pub(crate) fn plain(cell: &str) -> String {
    let cell = narrow(cell).replace("<br>", "\n").replace("**", "");
    let cell = cell.replace('`', "");
    let cell = without_tags(&cell);
    let cell = cell.trim();
    let one = |sign: char| cell.strip_prefix(sign).and_then(|c| c.strip_suffix(sign));
    let cell = one('_').or_else(|| one('*')).unwrap_or(cell);
    cell.trim()
        .trim_matches('"')
        .trim()
        .chars()
        .take(200)
        .collect()
}

/// Without the tags of emphasis that a table may have.
fn without_tags(cell: &str) -> String {
    let tags = [
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<strong>",
        "</strong>",
        "<em>",
        "</em>",
        "<code>",
        "</code>",
    ];
    match cell.contains('<') {
        true => tags
            .iter()
            .fold(cell.to_string(), |cell, tag| cell.replace(tag, "")),
        false => cell.to_string(),
    }
}

/// Full-width forms, blanks of other widths and signs that look alike as ASCII has them.
pub(crate) fn narrow(text: &str) -> String {
    let one = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '\u{2212}' => '-',
        '\u{2019}' => '\'',
        other => other,
    };
    text.chars().map(one).collect()
}

/// Whether a cell says that there is nothing.
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.contains(&text.to_lowercase().as_str())
}

/// Reads a plain cell.
pub(crate) fn cell(text: &str, kind: QuantityKind, notation: Notation) -> TableCell {
    if is_missing(text) {
        return TableCell::Missing;
    }
    read(text, kind, notation).unwrap_or(TableCell::Unclear)
}

fn read(text: &str, kind: QuantityKind, notation: Notation) -> Option<TableCell> {
    let mut sides = outside_brackets(text, '=').into_iter();
    let (terms, sum) = (sides.next()?, sides.next());
    if sides.next().is_some() {
        return None;
    }
    let sum = match sum {
        Some(text) => Some(value(text, kind, notation)?),
        None => None,
    };
    let terms = outside_brackets(terms, '+');
    let terms: Vec<CellNumber> = terms
        .into_iter()
        .map(|term| value(term, kind, notation))
        .collect::<Option<_>>()?;
    match (terms.as_slice(), sum) {
        ([one], None) => Some(TableCell::One(*one)),
        // `3 × 256 = 768`.
        ([one], Some(sum)) => {
            let same = kind == QuantityKind::Sessions && one.number.value == sum.number.value;
            same.then_some(TableCell::One(*one))
        }
        _ => Some(TableCell::Sum(terms, sum)),
    }
}

/// The parts of a text between signs that stand in no brackets; signs of numbers part nothing.
fn outside_brackets(text: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0i32);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            // `+5`, `1e+3`, `+/-`.
            c if c == sign
                && depth == 0
                && !text[begin..at].trim().is_empty()
                && !matches!(before, 'e' | 'E')
                && !text[at..].starts_with("+/-") =>
            {
                parts.push(text[begin..at].trim());
                begin = at + c.len_utf8();
            }
            _ => {}
        }
        before = c;
    }
    parts.push(text[begin..].trim());
    parts
}

fn value(text: &str, kind: QuantityKind, notation: Notation) -> Option<CellNumber> {
    let text = text
        .trim()
        .trim_start_matches(['~', '≈', '约', '$', '¥'])
        .trim_start();
    if kind == QuantityKind::Duration
        && let Some(number) = clock(text)
    {
        return Some(whole_value(number));
    }
    let (numeral, rest) = numeral(text)?;
    let (mut number, ambiguous) = numeral.value(notation)?;
    if number.value < 0.0 {
        return None;
    }
    let mut rest = rest.trim_start();
    // `3 × 256`, of three clients.
    if kind == QuantityKind::Sessions
        && let Some(by) = rest.strip_prefix(['x', 'X', '×', '*'])
        && let Some((each, after)) = self::numeral(by.trim_start())
    {
        number.value *= each.value(notation)?.0.value;
        rest = after.trim_start();
    }
    let (unit, remark_unit) = unit_of(rest)?;
    let unit: String = unit.chars().filter(|c| !c.is_whitespace()).collect();
    let unit = match (unit.is_empty(), remark_unit) {
        (true, Some(inner)) if unit_factor(inner, kind).is_some() => inner.to_string(),
        _ => unit,
    };
    let percent = unit == "%";
    let factor = match () {
        () if unit.is_empty() => None,
        () if percent && matches!(kind, QuantityKind::Share | QuantityKind::Count) => None,
        () if kind == QuantityKind::Duration => match unit_factor(&unit, kind) {
            Some(factor) => Some(factor),
            // `1m30s`.
            None => return several_units(text, notation).map(whole_value),
        },
        () => Some(unit_factor(&unit, kind)?),
    };
    if matches!(kind, QuantityKind::Sessions | QuantityKind::Warehouses) {
        let all = number.value * factor.unwrap_or(1.0);
        if all.fract() != 0.0 || !(1.0..=MOST_SESSIONS).contains(&all) {
            return None;
        }
    }
    Some(CellNumber {
        number,
        factor,
        percent,
        ambiguous,
    })
}

fn whole_value(number: Number) -> CellNumber {
    CellNumber {
        number,
        factor: Some(1.0),
        percent: false,
        ambiguous: false,
    }
}

/// The unit behind a number, and what stands in the first brackets; `None` where anything but remarks
/// follows it.
fn unit_of(rest: &str) -> Option<(&str, Option<&str>)> {
    let signs = ['(', '[', '*', '†', '‡', '↑', '↓', '▲', '▼', '±'];
    let end = rest.find(signs).or(rest.find("+/-")).unwrap_or(rest.len());
    let (unit, mut rest) = rest.split_at(end);
    let mut inner = None;
    while let Some(first) = rest.trim_start().chars().next() {
        let after = &rest.trim_start()[first.len_utf8()..];
        rest = match first {
            '(' | '[' => {
                let (within, after) = after.split_once(if first == '(' { ')' } else { ']' })?;
                // Another number is no remark.
                let is_number = within.trim().starts_with(|c: char| c.is_ascii_digit());
                if is_number && !within.contains('%') || names_another(within) {
                    return None;
                }
                inner = inner.or(Some(within.trim()));
                after
            }
            '*' | '†' | '‡' => after,
            '↑' | '↓' | '▲' | '▼' | '±' | '+' => {
                let after = after.strip_prefix("/-").unwrap_or(after).trim_start();
                let number = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                number.trim_start().trim_start_matches('%')
            }
            _ => return None,
        };
    }
    Some((unit.trim(), inner))
}

/// Whether a remark is another figure with its name: `p95 99 ms`, `max 120`.
fn names_another(remark: &str) -> bool {
    let lower = remark.trim().to_lowercase();
    let percentiles = ["p5", "p9", "95th", "99th"];
    let names = ["average", "avg", "max", "min", "平均", "最大", "最小"];
    let how_often = ["run", "time", "round", "次", "轮"];
    let mut named = names.iter().filter_map(|name| lower.strip_prefix(name));
    percentiles.iter().any(|name| lower.starts_with(name))
        || named.any(|rest| {
            let value = rest.trim_start_matches([' ', ':', '=', '：']);
            // `平均 5 次`; `avg of 5 runs` has no number right behind the name.
            number(value).is_some_and(|(_, unit)| {
                let unit = unit.trim_start();
                !how_often.iter().any(|word| unit.starts_with(word))
            })
        })
}

/// `00:05:00`.
fn clock(text: &str) -> Option<Number> {
    let parts: Vec<&str> = text.split(':').collect();
    let [h, m, s] = parts.as_slice() else {
        return None;
    };
    let part = |text: &str| -> Option<f64> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| digits && text.len() <= 4)
    };
    let (h, m, s) = (part(h)?, part(m)?, part(s)?);
    (m < 60.0 && s < 60.0).then_some(Number {
        value: h * 3600.0 + m * 60.0 + s,
        decimals: 0,
    })
}

/// Seconds of `1m30s`, `1 小时 30 分`.
fn several_units(text: &str, notation: Notation) -> Option<Number> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let (numeral, after) = numeral(rest)?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| c.is_ascii_digit() || c.is_whitespace())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        sum += numeral.value(notation)?.0.value * unit_factor(unit, QuantityKind::Duration)?;
        rest = after.trim_start();
    }
    Some(Number {
        value: sum,
        decimals: 0,
    })
}

/// Sessions that a heading names: `8 threads`, `线程 8`, `threads=8`.
pub(crate) fn sessions_in(heading: &str) -> Option<f64> {
    let heading = plain(heading).to_lowercase();
    let notation = Notation::default();
    let digit = heading.find(|c: char| c.is_ascii_digit())?;
    let (before, after) = heading.split_at(digit);
    let word = before.trim().trim_end_matches(['=', ':', ' ']);
    let (numeral, unit) = numeral(after)?;
    let unit: String = unit.chars().filter(|c| !c.is_whitespace()).collect();
    let is_named = OF_SESSIONS.contains(&word) || word == "并发数" || word == "线程数";
    let is_unit = OF_SESSIONS.contains(&&*unit);
    if !is_named || !is_unit || word.is_empty() == unit.is_empty() {
        return None;
    }
    let (n, _) = numeral.value(notation)?;
    let whole = n.value.fract() == 0.0 && (1.0..=MOST_SESSIONS).contains(&n.value);
    whole.then_some(n.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, kind: QuantityKind) -> Option<f64> {
        match cell(&plain(text), kind, Notation::default()) {
            TableCell::One(v) => Some(v.number.value * v.factor.unwrap_or(1.0)),
            _ => None,
        }
    }

    #[test]
    fn units_of_cells_are_read_or_the_cell_is_unclear() {
        use QuantityKind::{Count, Duration, Latency, Rate, Sessions, Warehouses};
        for (text, kind, is) in [
            ("1000 (+10%)", Rate, Some(1000.0)),
            ("1500 ↑ 50%", Rate, Some(1500.0)),
            ("1500 (±20)", Rate, Some(1500.0)),
            ("~1,000", Rate, Some(1000.0)),
            ("**1.2k ops/s**", Rate, Some(1200.0)),
            ("2万/秒", Rate, Some(20_000.0)),
            ("１，０００", Rate, Some(1000.0)),
            ("1000 (1200)", Rate, None),
            ("84.1 ms (p95 99 ms)", Latency, None),
            ("84.1 ms (max 120)", Latency, None),
            ("84.1 (max load)", Latency, Some(84.1)),
            ("84.1 (min: 12)", Latency, None),
            ("84.1 (avg of 5 runs)", Latency, Some(84.1)),
            ("84.1 (平均 5 次)", Latency, Some(84.1)),
            ("1600~1700", Rate, None),
            ("1,600/1,700", Rate, None),
            ("-100", Rate, None),
            ("1e400", Rate, None),
            ("60000/min", Rate, None),
            ("80-90", Latency, None),
            ("<50", Latency, None),
            ("1e-400", Latency, None),
            ("0.02秒", Latency, Some(20.0)),
            ("60*", Latency, Some(60.0)),
            ("16 (ms)", Latency, Some(16.0)),
            ("5 min", Duration, Some(300.0)),
            ("00:05:00", Duration, Some(300.0)),
            ("05:00", Duration, None),
            ("1h30m", Duration, Some(5400.0)),
            ("10分钟", Duration, Some(600.0)),
            ("1小时", Duration, Some(3600.0)),
            ("3 × 256", Sessions, Some(768.0)),
            ("1k", Sessions, Some(1000.0)),
            ("3.5", Sessions, None),
            ("99999999999999999999", Sessions, None),
            ("-8", Sessions, None),
            ("100w", Warehouses, None),
            ("12 次", Count, Some(12.0)),
            ("16<br>320", Count, None),
        ] {
            assert_eq!(of(text, kind), is, "{text}");
        }
    }

    #[test]
    fn headings_name_sessions() {
        for (text, is) in [
            ("8 threads", Some(8.0)),
            ("threads=16", Some(16.0)),
            ("并发 32", Some(32.0)),
            ("8", None),
            ("8 GB", None),
            ("p95", None),
        ] {
            assert_eq!(sessions_in(text), is, "{text}");
        }
    }
}
