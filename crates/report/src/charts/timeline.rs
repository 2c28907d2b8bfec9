//! The time axis that a run's charts over time share, and what is marked on all of them.

use super::axis::Axis;
use super::canvas::{Ink, Layer};
use crate::digest::Digest;
use crate::texts::Texts;
use crate::watch::end_ms;
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::record::{Phase, RunRecord};

/// Counts of checkpoints, as PostgreSQL and SQLite tell them.
const CHECKPOINTS: [&str; 3] = [
    "checkpoints.requested",
    "checkpoints.timed",
    "checkpoints.completed",
];
/// With more lines nobody sees what is between them; their rate has a chart of its own.
const MOST_CHECKPOINTS: usize = 40;

/// Begin and end of a run, and its marks.
pub(crate) struct Timeline<'d> {
    d: &'d Digest<'d>,
    start_s: f64,
    end_s: f64,
    /// Seconds of a unit of the axis.
    unit_s: f64,
    /// When there were checkpoints.
    checkpoints: Vec<f64>,
}

impl<'d> Timeline<'d> {
    /// From the first interval to the last, warm-up included; of a record without intervals what its
    /// series have.
    pub fn of(d: &'d Digest<'d>) -> Self {
        let (start_s, end_s) = match (d.points.first(), d.points.last()) {
            (Some(first), Some(last)) => (first.start_s, last.end_s),
            _ => observed(d.record).unwrap_or((0.0, 1.0)),
        };
        let end_s = end_s.max(start_s + 0.001);
        Self {
            d,
            start_s,
            end_s,
            unit_s: if end_s - start_s > 600.0 { 60.0 } else { 1.0 },
            checkpoints: checkpoints(d.record, (start_s, end_s)),
        }
    }

    pub(super) fn axis(&self) -> Axis {
        Axis::time(self.start_s..self.end_s, self.unit_s)
    }

    pub(super) fn end_s(&self) -> f64 {
        self.end_s
    }

    /// Whether a moment, in seconds of the measurement, is on it.
    pub fn has(&self, at_s: f64) -> bool {
        (self.start_s..=self.end_s).contains(&at_s)
    }

    /// What the axis measures.
    pub fn axis_name(&self, t: &'static Texts) -> &'static str {
        match self.unit_s > 1.0 {
            true => t.axis_minutes,
            false => t.axis_seconds,
        }
    }

    /// The marks, for a chart with that other axis: draw them below everything else.
    pub(super) fn layers(&self, y: &Axis) -> Vec<Layer> {
        let (start, end) = (self.start_s, self.end_s);
        let mut layers = Vec::new();
        let warmup = self.d.points.iter().filter(|p| p.phase == Phase::Warmup);
        if let Some(until) = warmup.map(|p| p.end_s).reduce(f64::max) {
            layers.push(Layer::Band(start, until, Ink::Warmup));
        }
        let shown = outages(self.d).chain(stalls(self.d));
        let shown = shown.filter(|(from, to)| *to > start && *from < end);
        layers
            .extend(shown.map(|(from, to)| Layer::Band(from.max(start), to.min(end), Ink::Outage)));
        let upright = |at: &f64| Layer::Line {
            points: vec![(*at, Some(y.range_start())), (*at, Some(y.end()))],
            ink: Ink::Text,
            width: 2,
        };
        layers.extend(self.checkpoints.iter().map(upright));
        layers
    }

    /// What the marks mean, a sentence for each kind that there is.
    pub fn says(&self, t: &'static Texts) -> Vec<&'static str> {
        let mut says = Vec::new();
        if self.d.warmup_s > 0.0 {
            says.push(t.warmup_shaded);
        }
        if !self.d.record.outages.is_empty() {
            says.push(t.outage_shaded);
        }
        if stalls(self.d).next().is_some() {
            says.push(t.stall_shaded);
        }
        if !self.checkpoints.is_empty() {
            says.push(t.checkpoint_lines);
        }
        says
    }
}

/// Times in which a host was unreachable.
fn outages(d: &Digest<'_>) -> impl Iterator<Item = (f64, f64)> {
    let outages = d.record.outages.iter();
    outages.map(|outage| span_s(outage.start_ms, outage.length_ms))
}

/// Times in which no transaction ended, but those of an outage, which is told instead.
fn stalls(d: &Digest<'_>) -> impl Iterator<Item = (f64, f64)> {
    let dead = d.record.dead_times.iter().flatten();
    let dead = dead.map(|of| span_s(of.start_ms, of.length_ms));
    dead.filter(|(from, to)| !outages(d).any(|(down, up)| down < *to && *from < up))
}

/// Begin and end in seconds.
fn span_s(start_ms: i64, length_ms: f64) -> (f64, f64) {
    let from = start_ms as f64 / 1000.0;
    (from, from + length_ms / 1000.0)
}

/// Begin of the first point of any series and end of the last, in seconds.
fn observed(record: &RunRecord) -> Option<(f64, f64)> {
    let with_points = record.series.iter().filter(|s| s.count > 0);
    let start = with_points.map(|s| s.start_ms).min()?;
    let end = record.series.iter().filter_map(end_ms).max()?;
    Some((start as f64 / 1000.0, end as f64 / 1000.0))
}

/// When the server counted checkpoints, in seconds; nothing where it makes them all the time.
fn checkpoints(record: &RunRecord, (start, end): (f64, f64)) -> Vec<f64> {
    let mut all = Vec::new();
    let is_count = |name: &str| CHECKPOINTS.contains(&name);
    let series = record.series.iter();
    for series in series.filter(|s| s.key.source == SERVER_STATUS && is_count(&s.key.name)) {
        // What can't be read is said in the table.
        let Ok(points) = series.points() else {
            continue;
        };
        let half = f64::from(series.step_ms) / 2000.0;
        let counted = points.map_while(Result::ok).filter(|p| p.value > 0.0);
        let at = counted.map(|p| p.at_ms as f64 / 1000.0 + half);
        all.extend(at.filter(|at| (start..=end).contains(at)));
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    if all.len() > MOST_CHECKPOINTS {
        all.clear();
    }
    all
}
