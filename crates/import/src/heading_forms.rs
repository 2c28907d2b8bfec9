//! Forms that headings of columns have: several figures in one, traditional characters.

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
