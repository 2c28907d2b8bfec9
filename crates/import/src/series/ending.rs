//! Rows that are stamped at the end of their time: it begins where the row before ends. They are placed when all are
//! known, for a file may stand in the reverse order.

use super::{HALF_A_DAY_MS, MOST_VALUES, ReadSeriesError, RemarkKind, SeriesRows};

/// Label sets whose last row is kept, those outside the run among them.
const MOST_ENDED: usize = 1 << 18;
/// A gap so many times the one before is no row's own time.
const LONGER: u64 = 3;

/// The last row of the same labels, where rows are stamped at their end.
#[derive(Debug)]
pub(super) struct EndedRow {
    at_ms: i64,
    /// When its time began; `None` where nobody knows.
    begin_ms: Option<i64>,
    /// From the row before.
    gap_ms: Option<u64>,
}

/// A row until its begin is known.
#[derive(Debug)]
pub(super) struct EndingRow {
    at_ms: i64,
    line: u64,
    /// As it is written.
    time: String,
    cells: Vec<String>,
}

impl SeriesRows<'_> {
    /// Keeps a row until all are known; one that is more than a day away from the run is outside in any case.
    pub(super) fn ends_at(
        &mut self,
        at_ms: i64,
        line: u64,
        time: String,
        cells: Vec<String>,
    ) -> Result<(), ReadSeriesError> {
        let from = self.window.begin_ms.saturating_sub(2 * HALF_A_DAY_MS);
        let to = self.window.end_ms.saturating_add(2 * HALF_A_DAY_MS);
        if !(from..=to).contains(&at_ms) {
            self.read.outside += 1;
            return Ok(());
        }
        if self.ending.len() >= MOST_VALUES {
            return Err(ReadSeriesError::TooManyValues(line));
        }
        self.ending.push(EndingRow {
            at_ms,
            line,
            time,
            cells,
        });
        Ok(())
    }

    /// The rows that are stamped at their end, in the order of time.
    pub(super) fn place_ending(&mut self) -> Result<(), ReadSeriesError> {
        let mut rows = std::mem::take(&mut self.ending);
        rows.sort_by_key(|row| row.at_ms);
        for row in rows {
            match self.began_ms(row.at_ms, row.line, &row.cells)? {
                Some(begin_ms) => self.place(begin_ms, row.line, &row.cells)?,
                None => self.remark(RemarkKind::NoBegin, row.line, &row.time),
            }
        }
        Ok(())
    }

    /// When the time of a row began that is stamped at its end: with the row before of the same labels. Nobody
    /// knows of the first one, nor of one after a pause: a collector that stood still tells of no more than its
    /// own interval then.
    fn began_ms(
        &mut self,
        at_ms: i64,
        line: u64,
        cells: &[String],
    ) -> Result<Option<i64>, ReadSeriesError> {
        let labels = self.columns.values.iter().flat_map(|(_, labels)| labels);
        let key: Vec<String> = labels.filter_map(|at| cells.get(*at).cloned()).collect();
        let most = self.ended.len() >= MOST_ENDED;
        let Some(before) = self.ended.get_mut(&key) else {
            if most {
                return Err(ReadSeriesError::TooManySeries(line));
            }
            let first = EndedRow {
                at_ms,
                begin_ms: None,
                gap_ms: None,
            };
            self.ended.insert(key, first);
            return Ok(None);
        };
        if before.at_ms != at_ms {
            let gap_ms = before.at_ms.abs_diff(at_ms);
            let is_pause = before.gap_ms.is_some_and(|usual| gap_ms / LONGER > usual);
            *before = EndedRow {
                at_ms,
                begin_ms: (!is_pause).then_some(before.at_ms.min(at_ms)),
                gap_ms: Some(gap_ms),
            };
        }
        Ok(before.begin_ms)
    }
}
