//! What stands above a table, or above its columns, and is of them: groups, the only figure, a unit.

use crate::cell::{QuantityKind, narrow, plain};
use crate::headings::{ColumnMeaning, only_figure};
use crate::units::unit_factor;

/// Headings of columns with those of their groups, which stand above the first column of each.
pub(crate) fn grouped(groups: &[String], names: &[String]) -> Vec<String> {
    let mut group = "";
    let pairs = groups.iter().zip(names);
    pairs
        .map(|(above, name)| {
            if !above.trim().is_empty() {
                group = above.trim();
            }
            format!("{group} {}", name.trim()).trim().to_string()
        })
        .collect()
}

/// A table of one figure, which only the heading above it names: its columns are of several runs.
pub(crate) fn take_the_heading(
    columns: &mut [ColumnMeaning],
    names: &[String],
    heading: &str,
) -> bool {
    let (Some(figure), Some((first, rest))) = (only_figure(heading), columns.split_first_mut())
    else {
        return false;
    };
    let is_named = |(c, n): (&ColumnMeaning, &String)| {
        matches!(c, ColumnMeaning::Change(_) | ColumnMeaning::Aside)
            || *c == ColumnMeaning::Unknown && !n.trim().is_empty() && n.chars().count() <= 40
    };
    let of_runs = rest
        .iter()
        .filter(|c| **c == ColumnMeaning::Unknown)
        .count();
    let all_named = rest.iter().zip(names.iter().skip(1)).all(is_named);
    let is_one = matches!(first, ColumnMeaning::Option(_) | ColumnMeaning::Label)
        && of_runs > 1
        && all_named;
    if is_one {
        for column in rest.iter_mut().filter(|c| **c == ColumnMeaning::Unknown) {
            column.clone_from(&figure);
        }
    }
    is_one
}

/// The unit of latencies that only a caption states: `（延迟单位：us）`. Whether it states one.
pub(crate) fn take_the_unit(
    columns: &mut [ColumnMeaning],
    names: &[String],
    caption: &str,
) -> bool {
    let lower = narrow(caption).to_lowercase();
    if !lower.contains("单位") && !lower.contains("unit") {
        return false;
    }
    let own = |words: &[&str]| {
        let mut own = lower.split(|c: char| !c.is_ascii_alphabetic() && c != '/');
        own.any(|w| words.contains(&w))
    };
    let mut seconds = lower.clone();
    for other in ["毫秒", "微秒", "/秒", "每秒"] {
        seconds = seconds.replace(other, "");
    }
    let factor = match () {
        () if lower.contains("微秒") || own(&["us", "usec"]) => 1e-3,
        () if lower.contains("μs") || lower.contains("µs") => 1e-3,
        // Of several units none is known to be the latencies'.
        () if lower.contains("毫秒") || own(&["ms", "msec"]) => return true,
        () if seconds.contains('秒') || own(&["s", "sec", "secs", "seconds"]) => 1e3,
        () => return false,
    };
    for (column, name) in columns.iter_mut().zip(names) {
        let has_own = ["ms", "毫秒", "(s)", "[s]", "秒"];
        let has_own = has_own
            .iter()
            .any(|unit| name.to_lowercase().contains(unit));
        match column {
            ColumnMeaning::Figure(figure, each)
                if figure.ends_with("_ms") && *each == 1.0 && !has_own =>
            {
                *each = factor;
            }
            _ => {}
        }
    }
    true
}

/// Statistics of one rate that only the caption names: `min`, `avg`, `max` below `TPS of five runs`.
pub(crate) fn take_the_rate(columns: &mut [ColumnMeaning], names: &[String], caption: &str) {
    let Some(ColumnMeaning::Figure(figure, factor)) = only_figure(caption) else {
        return;
    };
    let bare = [
        "min",
        "max",
        "avg",
        "average",
        "mean",
        "median",
        "minimum",
        "maximum",
        "最小",
        "最大",
        "平均",
        "最小值",
        "最大值",
        "平均值",
        "中位数",
    ];
    let is_bare = |name: &String| bare.contains(&plain(name).to_lowercase().as_str());
    let mut figures = columns
        .iter()
        .zip(names)
        .filter(|(c, _)| matches!(c, ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)))
        .peekable();
    let any = figures.peek().is_some();
    if figure.ends_with("_ms") || !any || !figures.all(|(_, name)| is_bare(name)) {
        return;
    }
    for column in columns.iter_mut() {
        match column {
            ColumnMeaning::Figure(name, _) if name == "mean_ms" => {
                *column = ColumnMeaning::Figure(figure.clone(), factor);
            }
            ColumnMeaning::Figure(..) => *column = ColumnMeaning::Aside,
            _ => {}
        }
    }
}

/// pgbench's clients are sessions, and its threads are not.
pub(crate) fn take_the_clients(columns: &mut [ColumnMeaning], names: &[String]) {
    let is_sessions = |c: &ColumnMeaning| *c == ColumnMeaning::Option("threads");
    let of_clients = |name: &String| {
        let name = name.to_lowercase();
        name.contains("client") || name.contains("客户端")
    };
    let mut all = columns.iter().zip(names).filter(|(c, _)| is_sessions(c));
    if !all.any(|(_, name)| of_clients(name)) {
        return;
    }
    for (column, name) in columns.iter_mut().zip(names) {
        if is_sessions(column) && !of_clients(name) {
            *column = ColumnMeaning::Aside;
        }
    }
}

/// Units in the row below the headings: `| | ops/s | us |`.
pub(crate) fn take_units(columns: &mut [ColumnMeaning], cells: &[String]) -> bool {
    let bare = |cell: &String| -> String {
        let inner = cell.trim_matches(['(', ')', '[', ']', ' ']);
        inner.chars().filter(|c| !c.is_whitespace()).collect()
    };
    let mut factors = Vec::new();
    let mut any = false;
    for (column, cell) in columns.iter().zip(cells) {
        let unit = bare(cell);
        let kind = match column {
            ColumnMeaning::Figure(name, _) => Some(QuantityKind::of(name)),
            ColumnMeaning::Option(name) => Some(QuantityKind::of(name)),
            _ => None,
        };
        let factor = match kind {
            Some(kind) if !unit.is_empty() => match (kind, unit.as_str()) {
                (QuantityKind::Share, "%") => Some(1.0),
                _ => unit_factor(&unit, kind),
            },
            _ => None,
        };
        let is_known = factor.is_some() || unit.is_empty();
        if kind.is_some() && !is_known || unit.contains(|c: char| c.is_ascii_digit()) {
            return false;
        }
        any |= factor.is_some();
        factors.push(factor);
    }
    if any {
        for (column, factor) in columns.iter_mut().zip(factors) {
            if let (ColumnMeaning::Figure(_, each), Some(factor)) = (column, factor) {
                *each = factor;
            }
        }
    }
    any
}

/// Whether headings are of a table whose rows are figures: `| 指标 | MySQL 8.0 | MySQL 8.4 |`. The rest
/// are its columns of runs; beside one of units, of changes or of what is wanted a single one will do.
pub(crate) fn is_of_variants(names: &[String], rest: &[&String], has_beside: bool) -> bool {
    let Some(first) = names.first() else {
        return false;
    };
    let is_name = |name: &&String| {
        let name = plain(name);
        !name.is_empty() && name.chars().count() <= 40
    };
    let is_enough = rest.len() > 1 || has_beside && !rest.is_empty();
    is_of_figures(first) && is_enough && rest.iter().all(is_name)
}

/// Whether the heading of a first column says that its rows are figures, or nothing.
pub(crate) fn is_of_figures(first: &str) -> bool {
    let figures = ["", "metric", "metrics", "指标", "item", "项目", "figure"];
    figures.contains(&plain(first).to_lowercase().as_str())
}
