//! An imported run's figures as rules ask for them.

use tidemark_core::record::{Imported, RunRecord, StatedFigure};
use tidemark_core::tools::Tool;

/// A figure that is rounded: where the true one lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub line: u64,
}

impl Range {
    pub fn of(figure: &StatedFigure) -> Self {
        // A printed figure may be cut instead of rounded.
        let by = figure.rounding * 2.0;
        Self {
            value: figure.value,
            low: figure.value - by,
            high: figure.value + by,
            line: figure.line,
        }
    }

    /// One that is known, on the line of another.
    pub fn exact(value: f64, line: u64) -> Self {
        Self {
            value,
            low: value,
            high: value,
            line,
        }
    }

    pub fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            low: self.low.max(0.0) * other.low.max(0.0),
            high: self.high * other.high,
            line: self.line,
        }
    }

    pub fn per(self, other: Self) -> Self {
        let low = match other.high > 0.0 {
            true => self.low.max(0.0) / other.high,
            false => 0.0,
        };
        let high = match other.low > 0.0 {
            true => self.high / other.low,
            false => f64::INFINITY,
        };
        Self {
            value: self.value / other.value,
            low,
            high,
            line: self.line,
        }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
            line: self.line,
        }
    }

    /// Whether two may be the same, within a share of the larger and so much in all.
    pub fn may_be(self, other: Self, share: f64, apart: f64) -> bool {
        let slack = share * self.value.abs().max(other.value.abs()) + apart;
        self.low - slack <= other.high && other.low - slack <= self.high
    }
}

/// An imported run.
pub(super) struct ImportedRun<'r> {
    pub record: &'r RunRecord,
    pub imported: &'r Imported,
}

impl<'r> ImportedRun<'r> {
    /// What is known of the tool that printed it.
    pub fn tool(&self) -> &'static Tool {
        Tool::named(&self.imported.tool)
    }

    /// A figure of the whole run.
    pub fn all(&self, name: &str) -> Option<Range> {
        self.of("", name)
    }

    /// What other runs of the document say of this one.
    pub fn beside(&self, name: &str) -> Option<Range> {
        let figure = self.imported.beside(name)?;
        let by = figure.rounding * 2.0;
        Some(Range {
            value: figure.value,
            low: figure.value - by,
            high: figure.value + by,
            line: figure.lines.first().copied().unwrap_or_default(),
        })
    }

    /// A figure of a type.
    pub fn of(&self, of: &str, name: &str) -> Option<Range> {
        self.imported.figure_of(of, name).map(Range::of)
    }

    /// Operations that ended with another status than done or not found.
    pub fn bad_statuses(&self) -> Option<Range> {
        let figures = self.imported.figures.iter();
        let bad = figures.filter(|f| {
            let status = f.name.strip_prefix("return_");
            status.is_some_and(|s| !matches!(s, "OK" | "0") && !s.ends_with("NOT_FOUND"))
        });
        bad.map(Range::of).reduce(Range::plus)
    }

    /// The run itself (as ""), and every type that has figures of its own.
    pub fn parts(&self) -> Vec<&'r str> {
        let others = ["histogram", "statements", "errors", "failed", "intended"];
        let types = self.imported.types();
        let own = types.into_iter().filter(|of| !others.contains(of));
        std::iter::once("").chain(own).collect()
    }

    /// Types whose transactions are all transactions, none in two of them.
    pub fn types(&self) -> Vec<&'r str> {
        let all = self.parts();
        let modify = ["READ_MODIFY_WRITE", "READ-MODIFY-WRITE"];
        let nested = all.iter().any(|of| modify.contains(of));
        let apart = ["", "TOTAL", "OVERALL", "CLEANUP", "http_req"];
        all.into_iter()
            .filter(|of| {
                let query = self.record.workload == "ch" && of.starts_with('Q');
                !apart.contains(of)
                    && !of.starts_with("client ")
                    // A stretch of time of all of them.
                    && !of.starts_with("window ")
                    && !of.starts_with("TOTAL_")
                    && !query
            })
            // UPDATE and a part of READ are within READ_MODIFY_WRITE: what is left can't be told apart.
            .filter(|of| !nested || *of == "READ" || *of == "INSERT" || *of == "SCAN")
            .collect()
    }

    /// Whether some operations are counted in two types.
    pub fn nested(&self) -> bool {
        let types = self.imported.types();
        types.contains(&"READ_MODIFY_WRITE") || types.contains(&"READ-MODIFY-WRITE")
    }

    /// Percentiles of a part, by percent.
    pub fn percentiles(&self, of: &str) -> Vec<(f64, Range)> {
        let figures = self.imported.figures.iter().filter(|f| f.of == of);
        let mut all: Vec<(f64, Range)> = figures
            .filter_map(|f| {
                let percent = f
                    .name
                    .strip_suffix("_ms")?
                    .strip_prefix('p')?
                    .parse()
                    .ok()?;
                Some((percent, Range::of(f)))
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    pub fn option(&self, name: &str) -> Option<&'r str> {
        Some(self.record.options.get(name)?.value.as_str()).filter(|v| !v.is_empty())
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.option(name)?.parse().ok()
    }

    pub fn line_of(&self, option: &str) -> u64 {
        let lines = &self.imported.option_lines;
        lines
            .get(option)
            .copied()
            .unwrap_or(self.imported.first_line)
    }

    /// Seconds of the run: those stated, or what its types took.
    pub fn elapsed(&self) -> Option<Range> {
        let longest = || {
            let of_types = self
                .imported
                .figures
                .iter()
                .filter(|f| f.name == "elapsed_s");
            let ranges = of_types.map(Range::of);
            ranges.max_by(|a, b| a.value.total_cmp(&b.value))
        };
        self.all("elapsed_s")
            .or_else(longest)
            .filter(|e| e.value > 0.0)
    }

    /// Seconds stated or asked for.
    pub fn duration(&self) -> Option<f64> {
        self.elapsed().map(|e| e.value).or(self.number("time"))
    }

    pub fn sessions(&self) -> Option<f64> {
        Some(self.record.sessions as f64).filter(|s| *s > 0.0)
    }

    /// Whether sessions wait for nothing but replies, as far as is stated.
    pub fn is_closed(&self) -> bool {
        let waits = [
            "wait",
            "think-time",
            "target",
            "rate",
            "thinktime",
            "throttle",
        ];
        self.record.rate.is_none()
            && !waits
                .iter()
                .any(|w| self.option(w).is_some_and(|v| v != "0" && v != "off"))
    }

    /// Whether files were flushed, which before version 1.0 of sysbench is in no event.
    pub fn flushes_apart(&self) -> bool {
        self.all("file_others").is_some_and(|n| n.value > 0.0)
    }

    /// Transactions of the whole run.
    pub fn count(&self) -> Option<Range> {
        self.all("count")
            .or_else(|| self.all("events"))
            .or_else(|| self.of("TOTAL", "count"))
            .or_else(|| {
                let of_types = self.types().into_iter().filter_map(|of| self.done(of));
                of_types.reduce(Range::plus)
            })
    }

    /// Transactions of a type; tpcc-mysql counts late ones apart.
    pub fn done(&self, of: &str) -> Option<Range> {
        self.of(of, "count").or_else(|| {
            let (in_time, late) = (self.of(of, "in_time")?, self.of(of, "late"));
            Some(late.map_or(in_time, |late| in_time.plus(late)))
        })
    }

    /// What failed and is in no latency: with the types' mean latencies of it, where they are stated.
    pub fn failed(&self) -> Option<Range> {
        let errors = self.imported.figures.iter().filter(|f| f.of == "errors");
        let failed = self.all("failed");
        failed.or_else(|| errors.map(Range::of).reduce(Range::plus))
    }

    /// Whether its lines over time are each of all types, and were not merged.
    pub fn is_steady(&self) -> bool {
        self.imported
            .intervals
            .iter()
            .all(|i| !i.cumulative && i.of.is_empty())
            && self.is_closed()
    }
}
