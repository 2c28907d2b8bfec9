//! A run while its lines are read.

use crate::samples::Samples;
use crate::scan::Number;
use crate::unit::Unit;
use crate::windows::{WINDOW, Windows};
use std::collections::{BTreeMap, BTreeSet};
use tidemark_core::record::{StatedFigure, StatedInterval};
use tidemark_core::tools::Tool;
use tidemark_stats::Histogram;

/// More intervals than these are merged in pairs: more can't be told apart in a chart, and a file of
/// gigabytes must not take memory.
const MOST_INTERVALS: usize = 4096;
/// More figures than these are in no document.
const MOST_FIGURES: usize = 20_000;

/// More types than these are in no benchmark: rules look at each beside all others.
const MOST_TYPES: usize = 500;
/// A type's name has no more bytes.
const LONGEST_NAME: usize = 200;
/// So many lines over time are an output, and fewer are quoted.
const LEAST_LINES: usize = 3;
const TYPES_LEFT_OUT: &str = "types were left out";

/// A run of another tool, as far as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub tool: &'static str,
    pub version: Option<String>,
    pub workload: String,
    pub first_line: u64,
    pub last_line: u64,
    pub heading: String,
    pub client: Option<String>,
    /// The headings above it that name no client.
    pub test: String,
    /// Whether a heading says that its figures are those of all clients together.
    pub is_total: bool,
    pub command: Option<String>,
    /// Where another output had that command before it: how many sessions it asks for, of which workload.
    pub inherited: Option<(f64, String)>,
    pub figures: Vec<StatedFigure>,
    /// Names of figures of the run that no line states: sums of several clients'.
    pub derived: BTreeSet<String>,
    /// Types of figures, the run itself (as "") among them.
    pub types: BTreeSet<String>,
    pub options: BTreeMap<String, Stated>,
    pub intervals: Vec<StatedInterval>,
    /// Each interval stands for so many lines.
    pub merged: usize,
    /// Of the pair that is being merged.
    pub pending: Option<(StatedInterval, usize)>,
    /// Whose queries they are, of several virtual users.
    pub user: String,
    /// Name, seconds and line.
    pub queries: Vec<(String, f64, u64)>,
    /// Which percentile its intervals have, where their lines say it.
    pub percent: Option<f64>,
    /// Seconds of its first interval.
    pub usual_length: Option<f64>,
    /// Seconds of each by its options.
    pub stated_length: Option<f64>,
    /// Seconds since 1970 of its begin, where its lines over time have moments.
    pub begin_s: Option<f64>,
    /// When it began by the clock of its client, where its end is told, too.
    pub started: Option<jiff::civil::DateTime>,
    /// Why it failed.
    pub failed: Option<String>,
    /// Whether what is printed at a run's end began.
    pub has_summary: bool,
    /// Whether the document ends with it, outside of blocks of code.
    pub ends_document: bool,
    /// Whether the document ends within the JSON that it was read from.
    pub has_open_json: bool,
    /// A part of a format's output that goes on over lines, whatever the format calls it.
    pub section: &'static str,
    /// Minutes that were last said to be over, and the line.
    pub minutes: Option<(Number, u64)>,
    /// Windows that are summed up one by one.
    pub windows: Windows,
    /// What is to be known of how it was read.
    pub notes: Vec<String>,
    /// What its latencies were taken as, where no unit is stated.
    pub without_unit: Option<Unit>,
    /// Latencies, where the source has their distribution.
    pub histogram: Option<Histogram>,
    /// The same as text, with its count, once all of it was read.
    pub packed: Option<(String, u64)>,
    /// Transactions of a log.
    pub samples: Option<Box<Samples>>,
}

/// An option with its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stated {
    pub value: String,
    pub line: u64,
    pub from: From,
}

/// Where an option was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum From {
    Config,
    Command,
    Output,
}

impl Draft {
    /// Takes a figure over.
    pub fn figure(&mut self, of: &str, name: &str, n: Number, line: u64) {
        self.scaled(of, name, n, 1.0, line);
    }

    /// Takes a figure over in another unit than the printed one.
    pub fn scaled(&mut self, of: &str, name: &str, n: Number, factor: f64, line: u64) {
        // A thousandth of a number is nearer by division.
        let value = match factor < 1.0 {
            true => n.value / (1.0 / factor).round(),
            false => n.value * factor,
        };
        if !value.is_finite() || self.figures.len() >= MOST_FIGURES || !self.has_room_for(of) {
            return;
        }
        self.figures.push(StatedFigure {
            of: of.into(),
            name: name.into(),
            value,
            rounding: 0.5 * 10f64.powi(-i32::from(n.decimals)) * factor,
            line,
        });
    }

    /// Whether a type is one of those that are kept.
    fn has_room_for(&mut self, of: &str) -> bool {
        if self.types.contains(of) {
            return true;
        }
        let has_room = self.types.len() < MOST_TYPES && of.len() <= LONGEST_NAME;
        if has_room {
            self.types.insert(of.into());
        } else if !self.notes.iter().any(|n| n.starts_with(TYPES_LEFT_OUT)) {
            self.notes.push(format!(
                "{TYPES_LEFT_OUT}: more than {MOST_TYPES}, or a name of more than {LONGEST_NAME} bytes"
            ));
        }
        has_room
    }

    /// A figure of the whole run.
    pub fn value(&self, name: &str) -> Option<f64> {
        let mut figures = self.figures.iter().rev();
        figures
            .find(|f| f.name == name && f.of.is_empty())
            .map(|f| f.value)
    }

    pub fn has(&self, of: &str, name: &str) -> bool {
        self.figures.iter().any(|f| f.name == name && f.of == of)
    }

    /// States an option; what a tool printed of itself counts more than its command line.
    pub fn option(&mut self, name: &str, value: &str, line: u64, from: From) {
        let name: String = name.chars().take(80).collect();
        let value: String = value.trim().chars().take(500).collect();
        if self.options.get(&name).is_none_or(|o| o.from <= from) && self.options.len() < 500 {
            if name == "report-interval" {
                self.stated_length = value.parse::<f64>().ok().filter(|each| *each > 0.0);
            }
            self.options.insert(name, Stated { value, line, from });
        }
    }

    pub fn option_number(&self, name: &str) -> Option<f64> {
        self.options.get(name)?.value.parse().ok()
    }

    /// An interval that ends now: it begins where the last one ended, unless lines are missing.
    pub fn next_interval(&mut self, mut one: StatedInterval) {
        let before = self.last_moment().unwrap_or(0.0);
        let mut length = one.end_s - before;
        // What lies between two lines that are kept is not this line's.
        if let Some(each) = self.stated_length.or(self.usual_length)
            && length > 1.5 * each
        {
            length = each;
        }
        self.usual_length = self.usual_length.or(Some(length).filter(|l| *l > 0.0));
        one.length_s = Some(length).filter(|l| *l > 0.0);
        self.interval(one);
    }

    /// Whether a line that ends now belongs to it though its time goes back: it follows the line before
    /// it at once, and no run begins so late. A rule tells the time.
    pub fn is_out_of_order(&self, line: u64, end_s: f64) -> bool {
        let first = self.intervals.first().map_or(0.0, |i| i.end_s);
        !self.has_summary && line == self.last_line + 1 && end_s > 1.5 * first && first > 0.0
    }

    /// Appends an interval.
    pub fn interval(&mut self, one: StatedInterval) {
        let each = self.merged.max(1);
        if each == 1 {
            self.intervals.push(one);
        } else if one.cumulative {
            match &mut self.pending {
                Some((_, n)) if *n + 1 >= each => {
                    self.pending = None;
                    self.intervals.push(one);
                }
                Some((_, n)) => *n += 1,
                none => *none = Some((one, 1)),
            }
        } else if let Some((sum, n)) = &mut self.pending {
            merge(sum, one);
            *n += 1;
            if *n >= each
                && let Some((whole, _)) = self.pending.take()
            {
                self.intervals.push(whole);
            }
        } else {
            self.pending = Some((one, 1));
        }
        if self.intervals.len() >= MOST_INTERVALS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let all = std::mem::take(&mut self.intervals);
        let mut all = all.into_iter();
        while let Some(mut one) = all.next() {
            match all.next() {
                Some(next) if one.cumulative || next.cumulative => one = next,
                Some(next) => merge(&mut one, next),
                None => {}
            }
            self.intervals.push(one);
        }
        self.merged = self.merged.max(1) * 2;
    }

    /// Ends reading.
    pub fn end(&mut self) {
        if let Some((rest, _)) = self.pending.take() {
            self.intervals.push(rest);
        }
        if let Some(samples) = self.samples.take() {
            samples.end(self);
        }
        std::mem::take(&mut self.windows).hand_over(self);
    }

    /// Leaves a command alone that another output had, too, and that this one's own lines deny: what
    /// stands between them may be a heading that is not marked as one.
    pub fn leave_the_command(&mut self) {
        let own = self.options.get("threads");
        let own = own.filter(|o| o.from == From::Output);
        let own: Option<f64> = own.and_then(|o| o.value.parse().ok());
        let (Some((asked, workload)), Some(own)) = (self.inherited.take(), own) else {
            return;
        };
        if asked != own {
            self.options.retain(|_, o| o.from == From::Output);
            self.command = None;
            if self.workload == workload {
                self.workload.clear();
            }
        }
    }

    /// Whether it is an output with its beginning whose summary is missing or cut.
    pub fn is_cut(&self) -> bool {
        let has_head = self.version.is_some()
            || self.command.is_some()
            || self.options.values().any(|o| o.from == From::Output);
        let has_no_summary = Tool::named(self.tool).ends_with_summary
            && has_head
            && (!self.has_summary || self.tool == "sysbench" && !self.has("", "elapsed_s"))
            && !self.intervals.is_empty();
        (has_no_summary || self.ends_in_summary()) && self.failed.is_none()
    }

    /// Whether the document ends in its summary: a line that its tool always prints further down is not
    /// there. Of an output without its first lines, or in a block of code, a part may be quoted.
    fn ends_in_summary(&self) -> bool {
        let tool = Tool::named(self.tool);
        let states = |name: &str| {
            let option = self.options.get(name);
            option.is_some_and(|o| o.from == From::Output)
        };
        let has = |name: &str| self.has("", name);
        let is_short = || match self.tool {
            // What stands behind checkpoints has no such lines.
            "sysbench" => {
                let mut figures = self.figures.iter();
                let has_windows =
                    self.windows.is_any() || figures.any(|f| f.of.starts_with(WINDOW));
                let is_whole = self.version.is_some() && !self.intervals.is_empty();
                is_whole && !has_windows && !has("time_avg_s")
            }
            // Of no transaction it prints no rate.
            "pgbench" => {
                let begun = ["script", "scale", "protocol", "threads", "jobs"];
                let has_rate = has("rate") || has("rate_with_connecting");
                begun.into_iter().all(states) && !has_rate && self.value("count") != Some(0.0)
            }
            // Its heading stands above its figures.
            "mysqlslap" => {
                let first = self.figures.first();
                let has_heading = first.is_some_and(|f| f.line > self.first_line);
                has_heading && has("elapsed_s") && !states("threads")
            }
            "benchmarksql" => self.version.is_some() && !has("count"),
            _ if tool.end_is_its_time => {
                self.options.keys().any(|name| states(name)) && !has("elapsed_s")
            }
            _ => false,
        };
        let has_begun = self.has_summary || tool.end_is_its_time;
        has_begun && (self.has_open_json || self.ends_document && is_short())
    }

    /// Whether its tool would have printed a summary that is not there. Whoever quotes a line or two of
    /// those over time without the beginning cut nothing off.
    pub fn has_no_end(&self) -> bool {
        let has_lines_alone = self.tool == "sysbench"
            && self.intervals.len() >= LEAST_LINES
            && self.figures.is_empty()
            && !self.has_summary
            && self.failed.is_none();
        has_lines_alone || self.is_cut()
    }

    /// Whether the figures of its last line, behind which a document ends, show that the line is cut:
    /// fewer decimals than the tool prints, or fewer figures.
    pub fn ends_within(&self, line: u64) -> bool {
        let own = || self.figures.iter().filter(move |f| f.line == line);
        let is_short = |f: &StatedFigure, decimals: i32| f.rounding > 0.6 * 10f64.powi(-decimals);
        match self.tool {
            "sysbench" if self.has_summary => {
                let of_line = ["count", "statements", "ignored_errors", "reconnects"];
                let mut counted = own().filter(|f| of_line.contains(&f.name.as_str()));
                let has_rate = own().any(|f| f.name.ends_with("rate"));
                let mut timed = own()
                    .filter(|f| f.of.is_empty() && f.name.ends_with("_ms") && f.name != "sum_ms");
                counted.next().is_some() && !has_rate
                    || timed.any(|f| is_short(f, 2))
                    || own().any(|f| f.name == "elapsed_s" && is_short(f, 4))
            }
            "pgbench" => own().any(|f| f.name.starts_with("rate") && is_short(f, 6)),
            tool if Tool::named(tool).types_have_like_figures => {
                let apart = ["", "errors", "failed"];
                let is_query = |of: &str| {
                    of.strip_prefix('Q')
                        .is_some_and(|n| n.parse::<u8>().is_ok())
                };
                let count = |of: &str| self.figures.iter().filter(|f| f.of == of).count();
                own().next().is_some_and(|last| {
                    let mut others = self.figures.iter().filter(|f| {
                        f.line != line
                            && !apart.contains(&f.of.as_str())
                            && is_query(&f.of) == is_query(&last.of)
                    });
                    let most = count(&last.of);
                    !apart.contains(&last.of.as_str()) && others.any(|f| count(&f.of) > most)
                })
            }
            _ => false,
        }
    }

    /// Its distribution as text, which takes far less room than one that is added to.
    pub fn pack(&mut self) {
        if let Some(histogram) = self.histogram.take() {
            self.packed = Some((histogram.encode(), histogram.count()));
        }
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let figures = self.figures.iter().map(|f| f.of.len() + f.name.len());
        let packed = self.packed.as_ref().map_or(0, |(text, _)| text.len());
        size_of::<Self>()
            + self.figures.len() * size_of::<StatedFigure>()
            + figures.sum::<usize>()
            + self.intervals.len() * size_of::<StatedInterval>()
            + packed
    }

    /// The interval that was taken last.
    pub fn last_interval(&mut self) -> Option<&mut StatedInterval> {
        match &mut self.pending {
            Some((one, _)) => Some(one),
            None => self.intervals.last_mut(),
        }
    }

    /// The last moment of its intervals.
    pub fn last_moment(&self) -> Option<f64> {
        let last = self.pending.as_ref().map(|(one, _)| one.end_s);
        last.or(self.intervals.last().map(|i| i.end_s))
    }

    /// Whether anything was measured in it.
    pub fn has_figures(&self) -> bool {
        !self.figures.is_empty()
            || !self.intervals.is_empty()
            || !self.queries.is_empty()
            || self.failed.is_some()
            || self.samples.is_some()
    }
}

/// Adds the next interval to one. Percentiles can't be merged and go.
fn merge(sum: &mut StatedInterval, next: StatedInterval) {
    let (before, length) = (sum.length_s.unwrap_or(1.0), next.length_s.unwrap_or(1.0));
    let mean = |sum: &mut Option<f64>, next: Option<f64>| {
        let both = sum
            .zip(next)
            .map(|(sum, next)| sum * before + next * length);
        *sum = both
            .map(|both| both / (before + length))
            .filter(|mean| mean.is_finite());
    };
    let add = |sum: &mut Option<f64>, next: Option<f64>| {
        *sum = sum.zip(next).map(|(sum, next)| sum + next);
    };
    if sum.of != next.of {
        sum.of = String::new();
    }
    sum.cumulative = false;
    sum.end_s = next.end_s;
    sum.length_s = Some(before + length);
    sum.sessions = next.sessions;
    add(&mut sum.count, next.count);
    mean(&mut sum.rate, next.rate);
    mean(&mut sum.statement_rate, next.statement_rate);
    mean(&mut sum.read_rate, next.read_rate);
    mean(&mut sum.write_rate, next.write_rate);
    mean(&mut sum.other_rate, next.other_rate);
    sum.mean_ms = None;
    add(&mut sum.sum_ms, next.sum_ms);
    sum.percentile_ms = None;
    mean(&mut sum.error_rate, next.error_rate);
    mean(&mut sum.reconnect_rate, next.reconnect_rate);
    sum.more.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_intervals_takes_bounded_memory_and_keeps_its_sum() {
        let mut draft = Draft::default();
        for n in 0..100_000u64 {
            draft.interval(StatedInterval {
                line: n,
                end_s: (n + 1) as f64,
                length_s: Some(1.0),
                rate: Some(7.0),
                ..StatedInterval::default()
            });
        }
        draft.end();
        assert!(draft.intervals.len() <= MOST_INTERVALS);
        let of = |i: &StatedInterval| i.length_s.unwrap() * i.rate.unwrap();
        let sum: f64 = draft.intervals.iter().map(of).sum();
        assert!((sum - 700_000.0).abs() < 1.0, "{sum}");
    }
}
