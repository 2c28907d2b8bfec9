//! The lines that the benchmarks written in Go print of their operations: one form, with the columns
//! that each tool has.

use crate::output_style::{self as output, OutputStyle};
use tidemark_report::{TypeLatency, per_second};

/// A column behind an operation's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Column {
    /// `Takes(s)`.
    Seconds,
    /// `Count`.
    Count,
    /// `TPM`.
    PerMinute,
    /// `OPS`.
    PerSecond,
    /// `Sum`, in the tool's unit as all latencies.
    Sum,
    /// `Avg`.
    Mean,
    /// `Min`.
    Least,
    /// `Max`.
    Most,
    /// `50th`, `99.9th`.
    Percentile(f64),
}

/// What latencies are printed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Milliseconds, to a tenth.
    Milliseconds,
    /// Whole microseconds.
    Microseconds,
}

/// How a tool prints its operations.
///
/// ```
/// use tidemark_compat::{Column, LatencyUnit, OperationLines, OutputStyle};
/// use tidemark_report::TypeLatency;
/// let lines = OperationLines {
///     columns: &[Column::Seconds, Column::Count],
///     unit: LatencyUnit::Milliseconds,
/// };
/// let payments = TypeLatency { count: 690, ..TypeLatency::default() };
/// let of_types = [("PAYMENT".to_string(), &payments)];
/// let text = lines.print(Some("[Summary] "), 60.0, of_types, OutputStyle::Plain);
/// assert_eq!(text, "[Summary] PAYMENT - Takes(s): 60.0, Count: 690\n");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OperationLines {
    /// What is told of each operation.
    pub columns: &'static [Column],
    /// What its latencies are in.
    pub unit: LatencyUnit,
}

impl OperationLines {
    /// The lines of operations that took `seconds` together, in their order; those that never came are
    /// left out. A tool that puts a prefix before each name has a column for it.
    pub fn print<'t>(
        &self,
        prefix: Option<&str>,
        seconds: f64,
        operations: impl IntoIterator<Item = (String, &'t TypeLatency)>,
        style: OutputStyle,
    ) -> String {
        let heads: Vec<String> = self.columns.iter().map(|c| self.head(*c)).collect();
        let came = operations.into_iter().filter(|(_, t)| t.count > 0);
        let lines: Vec<(String, Vec<String>)> = came
            .map(|(name, t)| {
                let cells = self.columns.iter().map(|c| self.cell(*c, seconds, t));
                (name, cells.collect())
            })
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        if style == OutputStyle::Plain {
            let before = prefix.unwrap_or_default();
            let plain = |(name, cells): &(String, Vec<String>)| {
                let named = heads.iter().zip(cells);
                let named: Vec<String> = named
                    .map(|(head, cell)| format!("{head}: {cell}"))
                    .collect();
                format!("{before}{name:<6} - {}\n", named.join(", "))
            };
            return lines.iter().map(plain).collect();
        }
        let first = prefix.map(|_| "Prefix").into_iter().chain(["Operation"]);
        let head: Vec<&str> = first.chain(heads.iter().map(String::as_str)).collect();
        let row = |(name, cells): (String, Vec<String>)| {
            let names = prefix.map(String::from).into_iter().chain([name]);
            names.chain(cells).collect::<Vec<String>>()
        };
        let rows: Vec<_> = lines.into_iter().map(row).collect();
        match style {
            OutputStyle::Json => output::json(&head, &rows),
            OutputStyle::Plain | OutputStyle::Table => output::table(&head, &rows),
        }
    }

    fn head(&self, column: Column) -> String {
        let unit = match self.unit {
            LatencyUnit::Milliseconds => "ms",
            LatencyUnit::Microseconds => "us",
        };
        match column {
            Column::Seconds => "Takes(s)".into(),
            Column::Count => "Count".into(),
            Column::PerMinute => "TPM".into(),
            Column::PerSecond => "OPS".into(),
            Column::Sum => format!("Sum({unit})"),
            Column::Mean => format!("Avg({unit})"),
            Column::Least => format!("Min({unit})"),
            Column::Most => format!("Max({unit})"),
            Column::Percentile(percent) => format!("{percent}th({unit})"),
        }
    }

    fn cell(&self, column: Column, seconds: f64, t: &TypeLatency) -> String {
        let h = t.latency();
        let ns = match column {
            Column::Seconds => return format!("{seconds:.1}"),
            Column::Count => return t.count.to_string(),
            Column::PerMinute => return format!("{:.1}", per_second(t.count, seconds) * 60.0),
            Column::PerSecond => return format!("{:.1}", per_second(t.count, seconds)),
            Column::Sum => h.sum_ns() as f64,
            Column::Mean => h.mean_ns(),
            Column::Least => h.min_ns() as f64,
            Column::Most => h.max_ns() as f64,
            Column::Percentile(percent) => h.percentile_ns(percent) as f64,
        };
        match self.unit {
            LatencyUnit::Milliseconds => format!("{:.1}", ns / 1e6),
            LatencyUnit::Microseconds => ((ns / 1e3) as u64).to_string(),
        }
    }
}
