//! Lines of tables: frames, cells, headings.

use crate::captions::is_of_figures;
use crate::cell::{is_missing, narrow, plain};
use crate::headings::{ColumnMeaning, column};
use crate::numeral::numeral;
use crate::own_csv::is_own;
use crate::scan::number;

/// A line that only frames: `|---|:-:|`, `+----+----+`, `-----+-----`. A single dash in each cell frames below a
/// heading; elsewhere it is a cell without a value.
pub(crate) fn is_frame(text: &str, is_below_heading: bool) -> bool {
    let text = text.trim();
    let is_sure = ["--", ":-", "-:", "+=="]
        .iter()
        .any(|sign| text.contains(sign));
    text.len() >= 3
        && (is_sure || is_below_heading && text.contains('-'))
        && (text.contains('|') || text.starts_with('+') || text.contains("-+-"))
        && text
            .bytes()
            .all(|b| matches!(b, b'|' | b'-' | b':' | b'+' | b'=' | b' ' | b'\t'))
}

/// The cells of a line, and what parts them. In an open table only its own sign parts.
pub(crate) fn cells(text: &str, open: Option<char>) -> Option<(Vec<String>, char)> {
    let trimmed = text.trim();
    let by = match open {
        Some(by) => by,
        None => ['|', '\t', ';', ',']
            .into_iter()
            .find(|by| trimmed.contains(*by))?,
    };
    if !trimmed.contains(by) || trimmed.len() > 20_000 {
        return None;
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let (mut quoted, mut escaped, mut code) = (false, false, false);
    let inner = match by {
        '|' => trimmed.strip_prefix('|').unwrap_or(trimmed),
        _ => trimmed,
    };
    for c in inner.chars() {
        match c {
            '\\' if by == '|' && !escaped => {
                escaped = true;
                continue;
            }
            '"' if by != '|' => quoted = !quoted,
            '`' if by == '|' => code = !code,
            c if c == by && !quoted && !escaped && !code => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        escaped = false;
    }
    if by != '|' || !cell.trim().is_empty() {
        cells.push(cell);
    }
    (cells.len() > 1).then_some((cells, by))
}

/// Whether a line of CSV is a heading: a figure or two are named in it, and no cell is a number.
pub(crate) fn is_heading(cells: &[String]) -> bool {
    if is_own(cells) {
        return true;
    }
    let known = cells
        .iter()
        .filter(|c| {
            !matches!(
                column(c),
                ColumnMeaning::Unknown | ColumnMeaning::Aside | ColumnMeaning::Change(_)
            )
        })
        .count();
    let figure = cells.iter().any(|c| {
        matches!(
            column(c),
            ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
        )
    });
    let any_number = cells
        .iter()
        .any(|c| number(c.trim()).is_some_and(|(_, rest)| rest.trim().is_empty()));
    let short = cells.iter().all(|c| c.chars().count() <= 40);
    let any_value = cells.iter().any(|c| states_a_value(c));
    figure && known >= 2 && known * 2 >= cells.len() && !any_number && !any_value && short
}

/// First columns whose rows are settings and their like, never figures.
const NO_FIGURES: [&str; 10] = [
    "parameter",
    "setting",
    "config",
    "variable",
    "option",
    "参数",
    "配置",
    "变量",
    "选项",
    "硬件",
];

/// Whether cells are of a figure whose value each column has, below headings of the columns.
pub(crate) fn is_turned(names: &[String], cells: &[String]) -> bool {
    let (Some((first, rest)), Some((figure, values))) = (names.split_first(), cells.split_first())
    else {
        return false;
    };
    let first = plain(first).to_lowercase();
    let figure = plain(figure);
    let is_figure = matches!(
        column(&figure),
        ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
    );
    // Rows may be tests: `Latency test`.
    let is_of_tests = column(&first) == ColumnMeaning::Label && !is_of_figures(&first)
        || ["test", "测试", "场景"]
            .iter()
            .any(|word| figure.to_lowercase().contains(word));
    let is_name = |name: &String| {
        let name = plain(name);
        let is_figure = matches!(
            column(&name),
            ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
        );
        !name.is_empty() && name.chars().count() <= 40 && !is_figure
    };
    let is_value =
        |cell: &String| numeral(plain(cell).trim_start_matches(['~', '≈', '约'])).is_some();
    let is_missing = |cell: &String| is_missing(&plain(cell));
    is_figure
        && !is_of_tests
        && names.len() == cells.len()
        && rest.len() > 1
        && !NO_FIGURES.iter().any(|word| first.contains(word))
        && rest.iter().all(is_name)
        && values.iter().any(is_value)
        && values.iter().all(|cell| is_value(cell) || is_missing(cell))
}

/// Whether a line of CSV may be the heading of a table whose rows are figures: `metric,16,32`, and
/// `threads,16,32`.
pub(crate) fn is_heading_of_levels(names: &[String]) -> bool {
    let Some((first, rest)) = names.split_first() else {
        return false;
    };
    let is_named = is_of_figures(first) || column(first) == ColumnMeaning::Option("threads");
    let is_level = |name: &String| {
        let name = plain(name);
        !name.is_empty() && name.chars().count() <= 40
    };
    is_named && rest.len() > 1 && rest.iter().all(is_level)
}

/// Whether a cell is no name of a figure but has its value: `TPS: 100`, `p95 = 9 ms`.
fn states_a_value(cell: &str) -> bool {
    let cell = narrow(cell);
    let is_figure = matches!(
        column(&cell),
        ColumnMeaning::Figure(..) | ColumnMeaning::Several(_)
    );
    let parts = cell.split_once([':', '=']).filter(|_| is_figure);
    parts.is_some_and(|(name, value)| {
        let is_in_brackets = name.matches('(').count() > name.matches(')').count();
        let value = value.trim_start();
        !is_in_brackets && value.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether cells are the types of columns, as DuckDB and data frames print them.
pub(crate) fn are_types(cells: &[String]) -> bool {
    let types = [
        "int8",
        "int16",
        "int32",
        "int64",
        "int128",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f32",
        "f64",
        "float",
        "double",
        "str",
        "varchar",
        "text",
        "string",
        "date",
        "timestamp",
        "boolean",
        "bool",
        "bigint",
        "integer",
        "int",
        "decimal",
        "<dbl>",
        "<int>",
        "<chr>",
    ];
    !cells.is_empty()
        && cells.iter().all(|cell| {
            let name = cell.trim().split('(').next().unwrap_or_default();
            types.contains(&name.trim())
        })
}

/// Whether a row below these headings has a number or nothing wherever a figure or an option of numbers
/// stands, and whether any figure has a number.
pub(crate) fn numbers_below(names: &[String], cells: &[String]) -> (bool, bool) {
    let (mut all, mut any) = (true, false);
    for (name, cell) in names.iter().zip(cells) {
        let is_figure = match column(name) {
            ColumnMeaning::Figure(..) | ColumnMeaning::Several(_) => true,
            ColumnMeaning::Option(_) => false,
            _ => continue,
        };
        let cell = plain(cell);
        let value = cell.trim_start_matches(['~', '≈', '约', '<', '>', ' ']);
        let is_number = numeral(value).is_some();
        any |= is_figure && is_number;
        all &= is_number || is_missing(&cell);
    }
    (all, any)
}

/// Whether a line is the heading of CSV behind a `#`: three names or more of a word each.
pub(crate) fn is_csv_heading(text: &str) -> bool {
    let plain = text.trim_start_matches(['#', ' ']);
    let Some((cells, by)) = cells(plain, None) else {
        return false;
    };
    let are_words = cells.iter().all(|c| !c.trim().contains(' '));
    by != '|' && cells.len() > 2 && are_words && is_heading(&cells)
}
