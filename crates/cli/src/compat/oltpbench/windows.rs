//! Files with a line for every so many seconds, as BenchBase writes them.

use super::files::ResultFiles;
use crate::exit::Failure;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use tidemark_core::record::Interval;
use tidemark_report::TypeLatency;
use tidemark_stats::Histogram;

/// Head line of `OUTPUT.results.csv`, in milliseconds.
const RESULTS: &str = "Time (seconds),Throughput (requests/second),Average Latency (millisecond),\
                       Minimum Latency (millisecond),25th Percentile Latency (millisecond),\
                       Median Latency (millisecond),75th Percentile Latency (millisecond),\
                       90th Percentile Latency (millisecond),95th Percentile Latency (millisecond),\
                       99th Percentile Latency (millisecond),Maximum Latency (millisecond),\
                       tp (req/s) scaled\n";
/// Head line of `OUTPUT.samples.csv`, in microseconds.
const SAMPLES: &str = "Time (seconds),Requests,Throughput (requests/second),\
                       Minimum Latency (microseconds),25th Percentile Latency (microseconds),\
                       Median Latency (microseconds),Average Latency (microseconds),\
                       75th Percentile Latency (microseconds),\
                       90th Percentile Latency (microseconds),\
                       95th Percentile Latency (microseconds),\
                       99th Percentile Latency (microseconds),Maximum Latency (microseconds)\n";
const PERCENTILES: [f64; 6] = [25.0, 50.0, 75.0, 90.0, 95.0, 99.0];

/// What its lines tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowColumns {
    /// `OUTPUT.results.csv`.
    Results,
    /// `OUTPUT.samples.csv`.
    Samples,
}

/// One such file.
pub struct Windows {
    columns: WindowColumns,
    seconds: u64,
    out: BufWriter<File>,
    path: PathBuf,
    /// Lines written, of all phases.
    lines: u64,
    latencies: Histogram,
    length_ms: f64,
    /// The first thing that went wrong.
    complaint: Option<String>,
}

impl Windows {
    /// Makes the file.
    ///
    /// # Errors
    /// [`Failure`] naming the file.
    pub fn new(place: &ResultFiles, columns: WindowColumns, seconds: u64) -> Result<Self, Failure> {
        let (ending, head) = match columns {
            WindowColumns::Results => (".results.csv", RESULTS),
            WindowColumns::Samples => (".samples.csv", SAMPLES),
        };
        let (path, file) = place.file(ending)?;
        let mut windows = Self {
            columns,
            seconds: seconds.max(1),
            out: BufWriter::new(file),
            path,
            lines: 0,
            latencies: Histogram::new(),
            length_ms: 0.0,
            complaint: None,
        };
        windows.write(head);
        Ok(windows)
    }

    fn write(&mut self, text: &str) {
        if self.complaint.is_none() {
            self.complaint = self
                .out
                .write_all(text.as_bytes())
                .err()
                .map(|e| e.to_string());
        }
    }

    /// Takes an interval of the measurement.
    pub fn add(&mut self, interval: &Interval) {
        for (name, stats) in &interval.types {
            match TypeLatency::decode(stats, name) {
                Ok(decoded) => self.latencies.merge(&decoded.service),
                Err(e) => self.complaint = self.complaint.take().or(Some(e.to_string())),
            }
        }
        self.length_ms += interval.length_ms;
        // Intervals end within moments of the asked time.
        if self.length_ms >= self.seconds as f64 * 950.0 {
            self.end_window();
        }
    }

    fn end_window(&mut self) {
        let line = line(
            self.columns,
            self.lines * self.seconds,
            self.length_ms / 1000.0,
            &self.latencies,
        );
        self.lines += 1;
        self.write(&line);
        self.latencies.clear();
        self.length_ms = 0.0;
    }

    /// A phase ended: what is left of its time is a line of its own, unless it is next to nothing.
    pub fn end_phase(&mut self) {
        if self.length_ms >= 500.0 || !self.latencies.is_empty() {
            self.end_window();
        }
    }

    /// Writes what is left, and says where the file is.
    pub fn finish(mut self) -> String {
        if let Err(e) = self.out.flush() {
            self.complaint.get_or_insert(e.to_string());
        }
        let path = self.path.display();
        let what = match self.columns {
            WindowColumns::Results => "results",
            WindowColumns::Samples => "samples",
        };
        match &self.complaint {
            None => format!(
                "Output {what} into file: {path} with window size {}\n",
                self.seconds
            ),
            Some(complaint) => format!("WARNING: {path}: {complaint}\n"),
        }
    }
}

fn line(columns: WindowColumns, at: u64, seconds: f64, h: &Histogram) -> String {
    let count = h.count();
    let rate = count as f64 / seconds.max(1e-9);
    let per = |ns: u64, unit: f64| ns as f64 / unit;
    let percentiles = PERCENTILES.map(|p| h.percentile_ns(p));
    match columns {
        WindowColumns::Results => {
            let mean = h.mean_ns() / 1e6;
            let mut values = vec![rate, mean, per(h.min_ns(), 1e6)];
            values.extend(percentiles.map(|ns| per(ns, 1e6)));
            values.push(per(h.max_ns(), 1e6));
            values.push(if count == 0 { 0.0 } else { 1000.0 / mean });
            let values: Vec<String> = values.iter().map(|v| format!("{v:.3}")).collect();
            format!("{at},{}\n", values.join(","))
        }
        WindowColumns::Samples => {
            let [p25, p50, p75, p90, p95, p99] = percentiles.map(|ns| ns / 1000);
            let (min, max) = (h.min_ns() / 1000, h.max_ns() / 1000);
            let mean = (h.mean_ns() / 1000.0) as u64;
            format!(
                "{at},{count},{rate:.3},{min},{p25},{p50},{mean},{p75},{p90},{p95},{p99},{max}\n"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_have_as_many_values_as_the_head() {
        let mut h = Histogram::new();
        for ms in [1, 2, 3, 4] {
            h.record(Duration::from_millis(ms));
        }
        let results = line(WindowColumns::Results, 5, 5.0, &h);
        assert_eq!(results.split(',').count(), RESULTS.split(',').count());
        assert!(results.starts_with("5,0.800,2.500,1.000,"), "{results}");
        let samples = line(WindowColumns::Samples, 0, 1.0, &h);
        assert_eq!(samples.split(',').count(), SAMPLES.split(',').count());
        assert!(samples.starts_with("0,4,4.000,1000,"), "{samples}");
        for columns in [WindowColumns::Results, WindowColumns::Samples] {
            let nothing = line(columns, 0, 1.0, &Histogram::new());
            assert!(
                !nothing.contains("inf") && !nothing.contains("NaN"),
                "{nothing}"
            );
        }
    }
}
