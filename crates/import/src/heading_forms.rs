//! Forms that headings of columns have: several figures in one, traditional characters.

use crate::heading_units::percentile;
use crate::heading_words::{LATENCY, RATES, has_any};
use crate::headings::{ColumnMeaning, single};

/// Traditional characters in the words of headings as simplified ones.
pub(crate) fn simplified(text: &str) -> String {
    let pairs = [
        ('併', '并'),
        ('並', '并'),
        ('發', '发'),
        ('線', '线'),
        ('執', '执'),
        ('緒', '绪'),
        ('遲', '迟'),
        ('時', '时'),
        ('間', '间'),
        ('應', '应'),
        ('響', '响'),
        ('錯', '错'),
        ('誤', '误'),
        ('敗', '败'),
        ('數', '数'),
        ('連', '连'),
        ('總', '总'),
        ('倉', '仓'),
        ('庫', '库'),
        ('戶', '户'),
        ('終', '终'),
        ('場', '场'),
        ('測', '测'),
        ('試', '试'),
        ('務', '务'),
        ('負', '负'),
        ('載', '载'),
        ('類', '类'),
        ('記', '记'),
        ('錄', '录'),
    ];
    let one = |c: char| pairs.iter().find(|(from, _)| *from == c).map_or(c, |p| p.1);
    text.chars().map(one).collect()
}

/// `TPS/QPS`, `avg/p95 (ms)`: a unit in brackets is of all.
pub(crate) fn several(heading: &str) -> Option<ColumnMeaning> {
    let heading = heading.trim().trim_matches(['*', '`']);
    let (names, unit) = match heading.strip_suffix(')').and_then(|h| h.rsplit_once('(')) {
        Some((names, _)) => (names, heading.get(names.len()..)?),
        None => (heading, ""),
    };
    let parts: Vec<&str> = names.split(['/', '、']).map(str::trim).collect();
    if parts.len() < 2 {
        return None;
    }
    let mut figures: Vec<(String, f64)> = Vec::new();
    for part in &parts {
        let ColumnMeaning::Figure(name, factor) = single(&format!("{part}{unit}")) else {
            return None;
        };
        if figures.iter().any(|(other, _)| *other == name) {
            return None;
        }
        figures.push((name, factor));
    }
    // `requests/min` is a rate.
    let per = parts.last().is_some_and(|p| p.eq_ignore_ascii_case("min"));
    let of_time = figures.first().is_some_and(|(n, _)| n.ends_with("_ms"));
    (!per || of_time).then_some(ColumnMeaning::Several(figures))
}

/// `Latency (avg/.95/max)`: the figures are named in brackets.
pub(crate) fn inside(heading: &str) -> Option<ColumnMeaning> {
    let heading = heading.trim().trim_matches(['*', '`']);
    let (name, rest) = heading.split_once('(')?;
    let (inner, behind) = rest.split_once(')')?;
    let (inner, unit) = inner.rsplit_once(',').unwrap_or((inner, ""));
    let unit = match (unit.is_empty(), behind.trim()) {
        (true, "") => String::new(),
        (false, "") => format!("({})", unit.trim()),
        (true, unit) if unit.starts_with('(') => unit.into(),
        _ => return None,
    };
    let parts: Vec<&str> = inner.split('/').map(str::trim).collect();
    let mut figures: Vec<(String, f64)> = Vec::new();
    for part in &parts {
        // `.95` and `0.95` are the 95th percentile.
        let share = part.trim_start_matches('0').strip_prefix('.');
        let share = share.filter(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit()));
        let named = match share.map(|s| format!("{s:0<2}")) {
            Some(share) => match share.split_at(2) {
                (percent, "") => format!("p{percent}"),
                (percent, more) => format!("p{percent}.{more}"),
            },
            None => (*part).into(),
        };
        let ColumnMeaning::Figure(figure, factor) = single(&format!("{name} {named}{unit}")) else {
            return None;
        };
        if figures.iter().any(|(other, _)| *other == figure) {
            return None;
        }
        figures.push((figure, factor));
    }
    (figures.len() > 1).then_some(ColumnMeaning::Several(figures))
}

/// `P99 @ 10k QPS (ms)`, `CPU at max TPS`, `峰值 TPS 下的延迟`: the rate is the load under which the figure
/// was measured.
pub(crate) fn at_a_load(heading: &str) -> Option<ColumnMeaning> {
    let lower = heading.to_lowercase();
    let together: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let under = ["tps下", "qps下", "吞吐量下", "tps时", "qps时", "吞吐量时"];
    let behind = under.iter().find_map(|load| {
        let (_, name) = together.split_once(*load)?;
        let is_other = name.starts_with(['降', '滑', '跌', '延', '间', '长']);
        (!is_other).then(|| name.trim_start_matches('的'))
    });
    if let Some(name) = behind {
        return Some(single(name)).filter(|column| *column != ColumnMeaning::Unknown);
    }
    let parts = lower.split_once(" at ").or_else(|| lower.split_once('@'));
    let (name, load) = parts?;
    let of_load: String = load.chars().filter(|c| !c.is_whitespace()).collect();
    let is_rate = RATES
        .iter()
        .any(|(_, words)| has_any(&of_load, load, words));
    if !is_rate || percentile(load).is_some() {
        return None;
    }
    let unit = load.rfind('(').and_then(|at| load.get(at..));
    let column = single(&format!("{name}{}", unit.unwrap_or_default()));
    let is_own = match &column {
        ColumnMeaning::Figure(figure, _) => {
            figure.ends_with("_ms") && (has_any(name, name, &LATENCY) || percentile(name).is_some())
        }
        ColumnMeaning::Option(_) | ColumnMeaning::Aside => true,
        _ => false,
    };
    is_own.then_some(column)
}
