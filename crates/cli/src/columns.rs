//! Columns of text on a terminal: a Chinese character takes two cells.

use unicode_width::UnicodeWidthStr;

/// A cell with blanks behind it, as wide as a column.
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{}", blanks(text, width))
}

/// A cell with blanks before it, for numbers.
pub fn right(text: &str, width: usize) -> String {
    format!("{}{text}", blanks(text, width))
}

/// Cells in a line, two blanks apart: in columns of least widths, numbers at the right, and the last cell
/// behind them.
pub fn row(cells: &[&str], columns: &[(usize, bool)]) -> String {
    let cell = |(at, text): (usize, &&str)| match columns.get(at) {
        Some((width, true)) => right(text, *width),
        Some((width, false)) => left(text, *width),
        None => (*text).to_string(),
    };
    let cells: Vec<String> = cells.iter().enumerate().map(cell).collect();
    cells.join("  ")
}

/// A table: its head and its rows, in columns of least widths, the last one as long as it is.
pub fn aligned<const N: usize>(
    head: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].as_str());
        (widest(cells.chain([head[at]])), false)
    };
    let widths: Vec<(usize, bool)> = (0..N.saturating_sub(1)).map(width).collect();
    let lines = rows.iter().map(|cells| {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        row(&cells, &widths)
    });
    let all: Vec<String> = std::iter::once(row(head, &widths)).chain(lines).collect();
    all.join("\n")
}

/// The width of the widest.
pub fn widest<'t>(texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts
        .into_iter()
        .map(UnicodeWidthStr::width)
        .max()
        .unwrap_or(0)
}

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chinese_character_takes_two_cells() {
        assert_eq!(left("状态", 6), "状态  ");
        assert_eq!(right("会话数", 8), "  会话数");
        assert_eq!(left("longer", 3), "longer");
        assert_eq!(
            row(&["状态", "7", "end"], &[(5, false), (3, true)]),
            "状态     7  end"
        );
        assert_eq!(widest(["ab", "负载", "c"]), 4);
    }
}
