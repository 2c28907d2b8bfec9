//! The three styles in which the benchmarks written in Go print their figures.

use std::collections::BTreeMap;
use std::fmt::Write;

/// How figures are printed (their `--output`, or `outputstyle`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputStyle {
    /// A line for each transaction type.
    #[default]
    Plain,
    /// A table in frames.
    Table,
    /// One JSON array on a line, every value a string.
    Json,
}

impl std::str::FromStr for OutputStyle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "plain" => Ok(OutputStyle::Plain),
            "table" => Ok(OutputStyle::Table),
            "json" => Ok(OutputStyle::Json),
            _ => Err(format!(
                "no output style {text}; there are plain, table, json"
            )),
        }
    }
}

/// Rows in frames, the head in capitals.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|h| h.to_uppercase()).collect();
    let widest = |column: usize| {
        let cells = std::iter::once(&head).chain(rows);
        let widths = cells.filter_map(|row| row.get(column)).map(String::len);
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let rule = |left: &str, cross: &str, right: &str| {
        let bars: Vec<String> = widths.iter().map(|w| "─".repeat(w + 2)).collect();
        format!("{left}{}{right}\n", bars.join(cross))
    };
    let line = |row: &[String]| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "│ {cell:width$} ");
        }
        format!("{line}│\n")
    };
    let mut text = rule("┌", "┬", "┐");
    text += &line(&head);
    text += &rule("├", "┼", "┤");
    rows.iter().for_each(|row| text += &line(row));
    text + &rule("└", "┴", "┘")
}

/// One line: an array of objects whose keys are sorted and whose values are strings, as go-tpc
/// writes them.
pub(crate) fn json(head: &[&str], rows: &[Vec<String>]) -> String {
    let objects: Vec<String> = rows
        .iter()
        .map(|row| {
            let sorted: BTreeMap<&str, &String> = head.iter().copied().zip(row).collect();
            let pairs: Vec<String> = sorted
                .iter()
                .map(|(name, value)| format!("{}:{}", quoted(name), quoted(value)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        })
        .collect();
    format!("[{}]\n", objects.join(","))
}

/// A JSON string (RFC 8259, 7).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_frames() {
        let rows = [vec!["[Summary] ".into(), "PAYMENT".into()]];
        assert_eq!(
            table(&["Prefix", "Operation"], &rows),
            "┌────────────┬───────────┐\n\
             │ PREFIX     │ OPERATION │\n\
             ├────────────┼───────────┤\n\
             │ [Summary]  │ PAYMENT   │\n\
             └────────────┴───────────┘\n"
        );
    }

    #[test]
    fn json_is_an_array_on_a_line() {
        let rows = [vec!["1.0".into(), "a\"b\\\n".into()]];
        assert_eq!(
            json(&["tpmC", "efficiency"], &rows),
            "[{\"efficiency\":\"a\\\"b\\\\\\u000a\",\"tpmC\":\"1.0\"}]\n"
        );
    }
}
