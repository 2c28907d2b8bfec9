//! Tables whose columns blanks alone align: of SQLite's client, of data frames, of `column -t`.

use crate::cell::{is_missing, sessions_in};
use crate::labels::states_a_figure;
use crate::lines_of_tables::{is_heading, is_heading_of_levels, numbers_below};
use crate::numeral::numeral;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Longer lines are no headings.
const LONGEST: usize = 500;
/// Columns of a screen from one stop of tabs to the next.
const TAB: usize = 8;

/// What stands between blanks, and where it begins and ends on a screen.
#[derive(Debug, Clone, Copy)]
struct AlignedWord<'t> {
    text: &'t str,
    from: usize,
    to: usize,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aligned {
    pub names: Vec<String>,
    /// Where each begins and ends.
    at: Vec<(usize, usize)>,
}

/// A line that may be a heading, in each way in which blanks may part it: the first row decides.
#[derive(Debug)]
pub(crate) struct Heading {
    readings: Vec<Aligned>,
}

impl Heading {
    /// `None` where the line names no figures.
    pub fn of(text: &str) -> Option<Self> {
        let is_sentence = text.trim_end().ends_with([':', '：', '.', '。', '!']);
        let has_signs = text.contains(['|', '\t', '=', ',', ';', '，']);
        if text.len() > LONGEST || is_sentence || has_signs || states_a_figure(text) {
            return None;
        }
        let mut readings: Vec<Aligned> = Vec::new();
        for blanks in [2, 1] {
            let reading = Aligned::of(&parts(text, blanks));
            if reading.names.len() > 1 && is_heading(&reading.names) && !readings.contains(&reading)
            {
                readings.push(reading);
            }
        }
        (!readings.is_empty()).then_some(Self { readings })
    }

    /// Takes the places of its columns from the rules below it: `------- ------ ---`.
    pub fn ruled(&mut self, rule: &str) {
        let rules: Vec<(usize, usize)> = parts(rule, 1).iter().map(|p| (p.from, p.to)).collect();
        let fits = |reading: &Aligned| reading.names.len() == rules.len();
        if self.readings.iter().any(fits) {
            self.readings.retain(fits);
            for reading in &mut self.readings {
                reading.at.clone_from(&rules);
            }
        }
    }

    /// The columns and the cells of the first row, if the line is one.
    pub fn confirmed(self, text: &str) -> Option<(Aligned, Vec<String>)> {
        let is_row = |cells: &[String], names: &[String]| {
            let (all, any) = numbers_below(names, cells);
            all && any
        };
        self.readings.into_iter().find_map(|reading| {
            let cells = reading.cells(text, is_row)?;
            Some((reading, cells))
        })
    }
}

impl Aligned {
    /// A unit in brackets belongs to the word before it.
    fn of(parts: &[AlignedWord<'_>]) -> Self {
        let (mut names, mut at): (Vec<String>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for part in parts {
            match (names.last_mut(), at.last_mut()) {
                (Some(name), Some((_, to))) if part.text.starts_with(['(', '[', '（']) => {
                    *name = format!("{name} {}", part.text);
                    *to = part.to;
                }
                _ => {
                    names.push(part.text.into());
                    at.push((part.from, part.to));
                }
            }
        }
        Self { names, at }
    }

    /// The cells of a row of the open table. Words where a number belongs are told, not read.
    pub fn row(&self, text: &str) -> Option<Vec<String>> {
        self.cells(text, |cells, names| numbers_below(names, cells).1)
    }

    fn cells(
        &self,
        text: &str,
        is_row: impl Fn(&[String], &[String]) -> bool,
    ) -> Option<Vec<String>> {
        let (apart, words) = (parts(text, 2), parts(text, 1));
        let whole = |parts: &[AlignedWord<'_>]| {
            let is_whole = parts.len() == self.names.len();
            is_whole.then(|| parts.iter().map(|part| part.text.to_string()).collect())
        };
        // Where a cell stands says more than how many there are.
        let readings = [
            self.placed(&apart),
            whole(&apart),
            whole(&words),
            self.placed(&words),
        ];
        let mut readings = readings.into_iter().flatten();
        readings.find(|cells: &Vec<String>| is_row(cells, &self.names))
    }

    /// Each part below its heading; columns without any have no value.
    fn placed(&self, parts: &[AlignedWord<'_>]) -> Option<Vec<String>> {
        let mut cells = vec![String::new(); self.names.len()];
        let mut next = 0;
        for (n, part) in parts.iter().enumerate() {
            let places = self.at.iter().enumerate().skip(next);
            let mut below = places.filter(|(_, (from, to))| part.from < *to && *from < part.to);
            // Below two headings it is two cells.
            let place = match (below.next(), below.next()) {
                (place, None) => place,
                _ => return None,
            };
            match place {
                Some((at, _)) => {
                    *cells.get_mut(at)? = part.text.into();
                    next = at + 1;
                }
                // Data frames number their rows.
                None if n == 0 && self.at.first().is_some_and(|(from, _)| part.to <= *from) => {}
                None => return None,
            }
        }
        Some(cells)
    }
}

/// Whether a line only rules: `------- ------`, `=====  ===`.
pub(crate) fn is_rule(text: &str) -> bool {
    let text = text.trim();
    (text.contains("---") || text.contains("==="))
        && text.bytes().all(|b| matches!(b, b'-' | b'=' | b' '))
}

/// The names of the columns of a table whose rows are figures, where all but the first are levels of
/// load: `threads 16 32 64`. The first may have none: then blanks stand in its place.
pub(crate) fn levels(text: &str) -> Option<Vec<String>> {
    let has_signs = text.contains(['|', '\t', '=', ',', ';', '，', ':']);
    if text.len() > LONGEST || has_signs {
        return None;
    }
    let is_level = |name: &String| {
        let is_number = name.bytes().all(|b| b.is_ascii_digit());
        is_number && !name.starts_with('0') || sessions_in(name).is_some()
    };
    let readings = [2, 1].into_iter().map(|blanks| {
        let parts = parts(text, blanks);
        let names = parts.iter().map(|part| part.text.to_string());
        let mut names: Vec<String> = names.collect();
        if text.starts_with(' ') && names.first().is_some_and(is_level) {
            names.insert(0, String::new());
        }
        names
    });
    let mut readings = readings.filter(|names| is_heading_of_levels(names));
    readings.find(|names| names.iter().skip(1).all(is_level))
}

/// The cells of a row below such names: a label, and a value for each level.
pub(crate) fn cells_of_levels(text: &str, columns: usize) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let of_label = (words.len() + 1).checked_sub(columns).filter(|n| *n > 0)?;
    let (label, values) = words.split_at_checked(of_label)?;
    let is_value = |value: &&str| numeral(value).is_some() || is_missing(value);
    let are_values = values.iter().all(is_value);
    are_values.then(|| {
        let values = values.iter().map(|value| (*value).to_string());
        std::iter::once(label.join(" ")).chain(values).collect()
    })
}

/// The parts of a line that at least so many blanks part.
fn parts(text: &str, blanks: usize) -> Vec<AlignedWord<'_>> {
    let mut parts = Vec::new();
    let mut column = 0;
    // Where the part that is going on begins and ends: bytes, and columns.
    let mut open: Option<(Range<usize>, Range<usize>)> = None;
    let mut close = |open: &mut Option<(Range<usize>, Range<usize>)>| {
        if let Some((bytes, columns)) = open.take() {
            parts.push(AlignedWord {
                text: text.get(bytes).unwrap_or_default(),
                from: columns.start,
                to: columns.end,
            });
        }
    };
    for (at, c) in text.char_indices() {
        let width = match c {
            '\t' => TAB - column % TAB,
            c => c.width().unwrap_or(0),
        };
        if c.is_whitespace() {
            let apart = |(_, columns): &(_, Range<usize>)| column + width >= columns.end + blanks;
            if c == '\t' || open.as_ref().is_some_and(apart) {
                close(&mut open);
            }
        } else {
            let (bytes, columns) = open.get_or_insert((at..at, column..column));
            (bytes.end, columns.end) = (at + c.len_utf8(), column + width);
        }
        column += width;
    }
    close(&mut open);
    parts
}

#[cfg(test)]
mod tests {
    use super::{Heading, is_rule, parts};

    fn texts(text: &str, blanks: usize) -> Vec<(&str, usize, usize)> {
        let parts = parts(text, blanks);
        parts.iter().map(|p| (p.text, p.from, p.to)).collect()
    }

    #[test]
    fn blanks_part_and_wide_characters_take_two_columns() {
        assert_eq!(
            texts(" p95 (ms)  tps", 2),
            [("p95 (ms)", 1, 9), ("tps", 11, 14)]
        );
        assert_eq!(texts("线程 tps", 1), [("线程", 0, 4), ("tps", 5, 8)]);
        assert_eq!(texts("a\tb", 2), [("a", 0, 1), ("b", 8, 9)]);
        assert_eq!(texts("", 1), []);
    }

    #[test]
    fn a_heading_is_read_as_its_first_row_demands() {
        let names = |heading: &str, row: &str| {
            let (aligned, cells) = Heading::of(heading)?.confirmed(row)?;
            Some((aligned.names, cells))
        };
        let some = |names: &[&str], cells: &[&str]| {
            let all = |texts: &[&str]| texts.iter().map(|t| (*t).to_string()).collect();
            Some((all(names), all(cells)))
        };
        let both: (Vec<&str>, Vec<&str>) = (vec!["threads", "tps"], vec!["16", "100.5"]);
        assert_eq!(names("threads tps", "16 100.5"), some(&both.0, &both.1));
        assert_eq!(
            names("threads   tps  p95 (ms)", "16    100.5      20.1"),
            some(&["threads", "tps", "p95 (ms)"], &["16", "100.5", "20.1"])
        );
        // A cell without a value, and the number of a row.
        assert_eq!(
            names("   threads     tps   p95", "0       16          20.1"),
            some(&["threads", "tps", "p95"], &["16", "", "20.1"])
        );
        for (heading, row) in [
            ("threads tps", "and so on"),
            ("threads tps", "16 100.5 20"),
            (
                "TPS and latency increase with threads",
                "8 is the best of 16",
            ),
            ("tps: 5  latency: 7", "16 100"),
            ("no figure here", "1 2 3"),
        ] {
            assert_eq!(names(heading, row), None, "{heading}");
        }
    }

    #[test]
    fn rules_are_of_one_kind_of_line() {
        assert!(is_rule("-------  -----") && is_rule("====="));
        assert!(!is_rule("--") && !is_rule("--- a") && !is_rule(""));
    }
}
