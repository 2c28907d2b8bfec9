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
