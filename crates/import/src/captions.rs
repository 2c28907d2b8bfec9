//! What stands above a table, or above its columns, and is of them: groups, the only figure, a unit.

use crate::cell::{narrow, plain};
use crate::headings::{Column, only_figure};

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
pub(crate) fn take_the_heading(columns: &mut [Column], names: &[String], heading: &str) -> bool {
    let (Some(figure), Some((first, rest))) = (only_figure(heading), columns.split_first_mut())
    else {
        return false;
    };
    let is_named = |(c, n): (&Column, &String)| {
        matches!(c, Column::Change(_) | Column::Aside)
            || *c == Column::Unknown && !n.trim().is_empty() && n.chars().count() <= 40
    };
    let of_runs = rest.iter().filter(|c| **c == Column::Unknown).count();
    let all_named = rest.iter().zip(names.iter().skip(1)).all(is_named);
    let is_one = matches!(first, Column::Option(_) | Column::Label) && of_runs > 1 && all_named;
    if is_one {
        for column in rest.iter_mut().filter(|c| **c == Column::Unknown) {
            column.clone_from(&figure);
        }
    }
    is_one
}

/// The unit of latencies that only a caption states: `（延迟单位：us）`.
pub(crate) fn take_the_unit(columns: &mut [Column], names: &[String], caption: &str) {
    let lower = narrow(caption).to_lowercase();
    if !lower.contains("单位") && !lower.contains("unit") {
        return;
    }
    let mut own = lower.split(|c: char| !c.is_ascii_alphabetic());
    let factor = match () {
        () if lower.contains("微秒") || own.any(|w| matches!(w, "us" | "usec")) => 1e-3,
        () if lower.contains("μs") || lower.contains("µs") => 1e-3,
        () => return,
    };
    for (column, name) in columns.iter_mut().zip(names) {
        let has_own = name.to_lowercase().contains("ms") || name.contains("毫秒");
        match column {
            Column::Figure(figure, each) if figure.ends_with("_ms") && *each == 1.0 && !has_own => {
                *each = factor;
            }
            _ => {}
        }
    }
}

/// Whether headings are of a table whose rows are figures: `| 指标 | MySQL 8.0 | MySQL 8.4 |`.
pub(crate) fn is_of_variants(names: &[String]) -> bool {
    let figures = ["", "metric", "metrics", "指标", "item", "项目", "figure"];
    let Some((first, rest)) = names.split_first() else {
        return false;
    };
    let first = plain(first).to_lowercase();
    let is_name = |name: &String| {
        let name = plain(name);
        !name.is_empty() && name.chars().count() <= 40
    };
    figures.contains(&first.as_str()) && rest.len() > 1 && rest.iter().all(is_name)
}
