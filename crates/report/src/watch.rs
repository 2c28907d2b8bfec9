//! What a report says of a watch: how long it was, and that it had no load of its own.

use crate::texts::fill;
use crate::words::{Words, readable_time};
use tidemark_core::record::RunState;
use tidemark_core::series::Series;

/// The end of its last point; `None` where there is none, or it can't be read.
pub(crate) fn end_ms(series: &Series) -> Option<i64> {
    let last = series.points().ok()?.last()?.ok()?;
    Some(last.at_ms.saturating_add(i64::from(series.step_ms)))
}

impl Words<'_> {
    /// Whether the record only observed.
    pub(crate) fn is_watch(&self) -> bool {
        self.d.record.is_watch()
    }

    /// How long it was; without an end, until the last sample that was stored.
    fn watched(&self) -> String {
        let record = self.d.record;
        let seconds = match record.state {
            RunState::Running => {
                let ends = record.series.iter().filter_map(end_ms);
                ends.max().unwrap_or(0) as f64 / 1000.0
            }
            _ => record.watched_s.unwrap_or_default(),
        };
        self.t.duration(seconds)
    }

    pub(crate) fn watch_title(&self) -> String {
        fill(self.t.watch_title, &[("server", &self.server())])
    }

    /// As [`Words::headline_parts`].
    pub(crate) fn watch_headline(&self) -> (&'static str, Vec<(&'static str, String)>) {
        (self.t.watch_headline, vec![("elapsed", self.watched())])
    }

    /// What stands above its facts.
    pub(crate) fn run_head(&self) -> &'static str {
        match self.is_watch() {
            true => self.t.watch_run,
            false => self.t.run,
        }
    }

    pub(crate) fn watch_says(&self) -> String {
        self.t.watch_says.into()
    }

    /// What must be known before the series are used.
    pub(crate) fn watch_warning(&self) -> Option<String> {
        let t = self.t;
        match &self.d.record.state {
            RunState::Finished => None,
            RunState::Interrupted => {
                Some(fill(t.watch_interrupted, &[("elapsed", &self.watched())]))
            }
            RunState::Failed(reason) => Some(fill(t.watch_failed, &[("reason", reason)])),
            RunState::Running => Some(t.watch_no_end.into()),
        }
    }

    /// Names and values of the watch's own facts: sessions, rates and seeds are of runs.
    pub(crate) fn watch_facts(&self) -> Vec<(&'static str, String)> {
        let (r, t) = (self.d.record, self.t);
        let mut facts = vec![
            (t.started, readable_time(&r.started_at)),
            (t.watch_length, self.watched()),
            (t.state, self.state().into()),
        ];
        if !r.tags.is_empty() {
            facts.push((t.tags, r.tags.join(", ")));
        }
        if !r.note.is_empty() {
            facts.push((t.note, r.note.clone()));
        }
        facts
    }
}
