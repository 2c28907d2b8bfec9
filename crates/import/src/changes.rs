//! Whether the sign of a stated change says that a figure rose: authors state falls without it, gains of
//! latencies as rises, and some have the newer run in the first column.

/// A column of falls: what is positive in it fell.
const FALLS: [&str; 18] = [
    "drop", "loss", "overhead", "decrease", "decline", "reduc", "degrad", "regress", "slow",
    "penalty", "cost", "saving", "下降", "损失", "降低", "减少", "退化", "开销",
];
/// A column of gains: of latencies they are falls.
const GAINS: [&str; 9] = [
    "improve", "gain", "better", "speed", "benefit", "提升", "改善", "优化", "收益",
];
/// A column that says which run is compared with which.
const DIRECTIONS: [&str; 8] = [
    "vs", "versus", "over", "than", "against", "相对", "相比", "对比",
];
const BEFORE: [&str; 9] = [
    "before", "old", "base", "origin", "previous", "前", "旧", "原", "基",
];
const AFTER: [&str; 5] = ["after", "new", "patch", "后", "新"];

/// What a cell's sign says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Nothing: it may be left out, or mean a fall.
    Unclear,
    /// A rise has a plus, a fall a minus.
    OfFigure,
    /// What is better has a plus.
    OfGain,
}

/// What the sign of a cell says below a heading.
pub(crate) fn sign(heading: &str, cell: &str) -> Sign {
    let heading = heading.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    let is_signed = cell.trim_start().starts_with(['+', '-']);
    match is_signed && !has(&FALLS) && !has(&DIRECTIONS) {
        false => Sign::Unclear,
        true if has(&GAINS) => Sign::OfGain,
        true => Sign::OfFigure,
    }
}

impl Sign {
    /// Whether it is the sign of this figure's change.
    pub fn is_of(self, figure: &str) -> bool {
        // Of times less is better.
        let is_time = figure.ends_with("_ms") || figure.ends_with("_s");
        match self {
            Self::Unclear => false,
            Self::OfFigure => true,
            Self::OfGain => !is_time,
        }
    }
}

/// Whether the first of two columns is surely the older run: by words, or by the numbers of versions.
pub(crate) fn are_in_order(first: &str, second: &str) -> bool {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_turned = has(&first, &AFTER) || has(&second, &BEFORE);
    let is_told = has(&first, &BEFORE) || has(&second, &AFTER);
    let is_part = |c: &char| c.is_ascii_digit() || *c == '.';
    let name = |text: &str| text.chars().filter(|c| !is_part(c)).collect::<String>();
    let is_later = name(&first) == name(&second) && numbers(&first) < numbers(&second);
    !is_turned && (is_told || is_later)
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<u64> {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_of_a_change_is_known_where_nothing_else_may_be_meant() {
        for (heading, cell, figure, is_known) in [
            ("change", "+5%", "rate", true),
            ("Δ (%)", "-5%", "p95_ms", true),
            ("change", "5%", "rate", false),
            ("TPS drop", "+5%", "rate", false),
            ("性能损失", "+5%", "rate", false),
            ("提升", "+5%", "rate", true),
            ("提升", "+5%", "p95_ms", false),
            ("v2 vs v1", "+5%", "rate", false),
        ] {
            let sign = sign(heading, cell);
            assert_eq!(sign.is_of(figure), is_known, "{heading}: {cell}");
        }
        for (first, second, in_order) in [
            ("v1", "v2", true),
            ("MySQL 5.7", "MySQL 8.0", true),
            ("v10", "v9", false),
            ("before", "after", true),
            ("优化前", "优化后", true),
            ("new", "old", false),
            ("MySQL", "TiDB", false),
        ] {
            assert_eq!(are_in_order(first, second), in_order, "{first}, {second}");
        }
    }
}
