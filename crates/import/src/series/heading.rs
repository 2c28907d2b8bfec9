//! Where a table begins: the line that has all columns of a mapping, or the one that it names.

use super::mapping::{ColumnMapping, ColumnPlace};
use super::{ColumnPlaces, HEADING_WITHIN, LONGEST_ROW, ReadSeriesError, cells};
use tidemark_core::{nearest, printable};

/// Columns of a heading that a message lists.
const LISTED: usize = 40;

pub(super) enum HeadingMatch {
    Columns(ColumnPlaces),
    No,
}

pub(super) struct Heading<'m> {
    mapping: &'m ColumnMapping,
    /// The line that has most of the columns: its number, how many, and its cells.
    best: Option<(u64, usize, Vec<String>)>,
}

impl<'m> Heading<'m> {
    pub fn new(mapping: &'m ColumnMapping) -> Self {
        Self {
            mapping,
            best: None,
        }
    }

    /// Looks at a line before the heading was found.
    pub fn line(&mut self, line: u64, text: &str) -> Result<HeadingMatch, ReadSeriesError> {
        let skipped = match self.mapping.skip_lines {
            Some(lines) => line > lines,
            None => line <= HEADING_WITHIN,
        };
        if !skipped || text.trim().is_empty() || text.len() > LONGEST_ROW {
            return Ok(HeadingMatch::No);
        }
        let cells = cells(text, self.mapping.delimiter);
        let has = |name: &&str| cells.iter().any(|c| c == name);
        let (all, met) = (
            self.mapping.names().count(),
            self.mapping.names().filter(has).count(),
        );
        if met == all {
            return self.columns(line, cells).map(HeadingMatch::Columns);
        }
        if self.best.as_ref().is_none_or(|(_, most, _)| met > *most) {
            self.best = Some((line, met, cells));
        }
        match self.mapping.skip_lines {
            Some(_) => Err(ReadSeriesError::Heading(self.missing())),
            None => Ok(HeadingMatch::No),
        }
    }

    fn columns(&self, line: u64, heading: Vec<String>) -> Result<ColumnPlaces, ReadSeriesError> {
        let at = |place: &ColumnPlace| -> Result<usize, ReadSeriesError> {
            let name = match place {
                ColumnPlace::Number(n) => return Ok(n - 1),
                ColumnPlace::Name(name) => name,
            };
            let found = heading.iter().enumerate().filter(|(_, cell)| *cell == name);
            let found: Vec<usize> = found.map(|(at, _)| at).collect();
            match found.as_slice() {
                [one] => Ok(*one),
                several => {
                    let numbers: Vec<String> =
                        several.iter().map(|n| (n + 1).to_string()).collect();
                    let first = numbers.first().cloned().unwrap_or_default();
                    Err(ReadSeriesError::Heading(format!(
                        "line {line}: columns {} are all called {:?}; use a number in the mapping, for \
                         example column = {first}",
                        numbers.join(", "),
                        printable(name)
                    )))
                }
            }
        };
        let mut columns = ColumnPlaces::default();
        for place in &self.mapping.time.places {
            columns.time.push(at(place)?);
        }
        for column in &self.mapping.columns {
            let labels = column.labels_from.values().map(at);
            let labels = labels.collect::<Result<Vec<usize>, _>>()?;
            columns.values.push((at(&column.place)?, labels));
        }
        let values = columns.values.iter();
        let values = values.flat_map(|(at, labels)| labels.iter().chain([at]));
        let last = columns.time.iter().chain(values).max();
        columns.least = last.map_or(0, |last| last + 1);
        if columns.least > heading.len() {
            return Err(ReadSeriesError::Heading(format!(
                "line {line}: the heading has {} columns, and the mapping names column {}",
                heading.len(),
                columns.least
            )));
        }
        columns.heading = heading;
        Ok(columns)
    }

    /// What is said where no line is the heading.
    pub fn missing(&self) -> String {
        let Some((line, _, cells)) = &self.best else {
            return match self.mapping.skip_lines {
                Some(lines) => format!("no heading was found: no text after line {lines}"),
                None => "no heading was found: its lines are blank".into(),
            };
        };
        let has = |name: &str| cells.iter().any(|c| c == name);
        let absent = self.mapping.names().find(|name| !has(name));
        let absent = absent.unwrap_or_default();
        let listed: Vec<String> = cells
            .iter()
            .take(LISTED)
            .map(|c| printable(c).to_string())
            .collect();
        let hint = match nearest(absent, cells.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {:?}? ", printable(near)),
            None => String::new(),
        };
        format!(
            "line {line} has no column {absent:?}; {hint}it has: {}{}",
            listed.join(", "),
            match self.mapping.skip_lines {
                Some(_) => "",
                None => "; skip_lines in the mapping names another line as the heading",
            }
        )
    }
}
