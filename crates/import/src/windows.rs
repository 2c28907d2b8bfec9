//! Windows that sysbench sums up one by one (`--report-checkpoints`): what the whole run had is their sum.

use crate::draft::Draft;
use std::collections::BTreeMap;
use tidemark_core::record::{StatedFigure, StatedInterval};

/// The type that a window's figures have, before its number.
pub(crate) const WINDOW: &str = "window ";

/// Figures that add up.
const SUMS: [&str; 14] = [
    "read",
    "write",
    "other",
    "statement_sum",
    "count",
    "statements",
    "read_write",
    "other_operations",
    "ignored_errors",
    "reconnects",
    "events",
    "sum_ms",
    "events_avg",
    "time_avg_s",
];

/// Where each window begins in a run's figures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    /// The moment that each is said to end at, and its first figure.
    begins: Vec<(f64, usize)>,
    /// Whether the one that ends with the run began.
    ended: bool,
}

impl Windows {
    /// A window that ended at a moment; its figures follow.
    pub fn open(&mut self, end_s: f64, figures: usize) {
        self.begins.push((end_s, figures));
    }

    /// The window that ends with the run.
    pub fn end(&mut self, figures: usize) {
        self.begins.push((f64::INFINITY, figures));
        self.ended = true;
    }

    /// Whether another window may follow.
    pub fn goes_on(&self) -> bool {
        self.is_any() && !self.ended
    }

    pub fn is_any(&self) -> bool {
        !self.begins.is_empty()
    }

    /// The first figure of the last.
    pub fn first_figure(&self) -> usize {
        self.begins.last().map_or(0, |(_, at)| *at)
    }

    /// The moment of the last.
    pub fn last(&self) -> Option<f64> {
        self.begins.last().map(|(end, _)| *end)
    }

    /// Makes each window's figures its own, and the run's of all together.
    pub fn hand_over(self, draft: &mut Draft) {
        if !self.is_any() {
            return;
        }
        let mut whole: BTreeMap<String, StatedFigure> = BTreeMap::new();
        let mut before: Option<StatedFigure> = None;
        let mut intervals = Vec::new();
        for (n, (_, from)) in (1u32..).zip(&self.begins) {
            let to = self.begins.get(n as usize).map(|(_, from)| *from);
            let to = to.unwrap_or(draft.figures.len());
            let Some(figures) = draft.figures.get_mut(*from..to) else {
                continue;
            };
            let mut window = StatedInterval::default();
            for figure in figures.iter_mut().filter(|f| f.of.is_empty()) {
                add(&mut whole, figure);
                if figure.name == "elapsed_s" {
                    window.line = figure.line;
                    window.end_s = figure.value;
                    let since = before.replace(figure.clone());
                    figure.value -= since.as_ref().map_or(0.0, |f| f.value);
                    figure.rounding += since.map_or(0.0, |f| f.rounding);
                    window.length_s = Some(figure.value).filter(|s| *s > 0.0);
                }
                let value = Some(figure.value);
                match figure.name.as_str() {
                    "count" => window.count = value,
                    "rate" => window.rate = value,
                    "statement_rate" => window.statement_rate = value,
                    "mean_ms" => window.mean_ms = value,
                    "min_ms" | "max_ms" => {
                        window.more.insert(figure.name.clone(), figure.value);
                    }
                    _ => {}
                }
                figure.of = format!("{WINDOW}{n}");
            }
            intervals.push(window);
        }
        if let (Some(sum), Some(events)) = (whole.get("sum_ms"), whole.get("events"))
            && events.value > 0.0
        {
            let mean = StatedFigure {
                name: "mean_ms".into(),
                value: sum.value / events.value,
                rounding: 0.005,
                ..sum.clone()
            };
            whole.insert("mean_ms".into(), mean);
        }
        draft.figures.extend(whole.into_values());
        if draft.intervals.is_empty() {
            intervals.retain(|i| i.length_s.is_some() && i.rate.is_some());
            draft.intervals = intervals;
        }
        draft.notes.push(format!(
            "{} windows are summed up one by one: the run's figures are their sum",
            self.begins.len()
        ));
    }
}

fn add(whole: &mut BTreeMap<String, StatedFigure>, figure: &StatedFigure) {
    let name = figure.name.as_str();
    let combine: fn(f64, f64) -> f64 = match name {
        _ if SUMS.contains(&name) => |a, b| a + b,
        "elapsed_s" | "max_ms" => f64::max,
        "min_ms" => f64::min,
        _ => return,
    };
    whole
        .entry(name.into())
        .and_modify(|sum| {
            sum.value = combine(sum.value, figure.value);
            sum.rounding = sum.rounding.max(figure.rounding);
            if SUMS.contains(&name) {
                sum.rounding += figure.rounding;
            }
        })
        .or_insert_with(|| figure.clone());
}
