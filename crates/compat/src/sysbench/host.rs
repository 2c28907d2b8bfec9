//! What sysbench 1.0.20 prints of its tests of the machine: `cpu`, `memory`, `fileio`, `threads`,
//! `mutex`.

use super::{Summary, shown};
use std::fmt;
use tidemark_core::record::{Phase, Totals};
use tidemark_report::{Merged, ReportError, per_second};

const MIB: f64 = 1024.0 * 1024.0;

/// What a test has of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum HostTest {
    /// `cpu`.
    Cpu {
        /// `--cpu-max-prime`.
        max_prime: u64,
    },
    /// `memory`.
    Memory {
        /// Bytes of a block.
        block: u64,
        /// Bytes of all.
        total: u64,
        /// `read`, `write` or `none`.
        operation: String,
        /// `global` or `local`.
        scope: String,
    },
    /// `fileio`.
    Files(FilesHeader),
    /// `threads`.
    Threads,
    /// `mutex`.
    Mutex,
}

/// What `fileio` says of itself before it begins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilesHeader {
    /// Flags of open(2): `sync`, `dsync`, `direct`.
    pub flags: Vec<String>,
    /// Files.
    pub files: u64,
    /// Bytes of all of them.
    pub total: u64,
    /// Bytes of a block.
    pub block: u64,
    /// `seqwr` and so on.
    pub mode: String,
    /// Events after which the test ends; 0 for none.
    pub events: u64,
    /// Reads for each write.
    pub ratio: f64,
    /// Bytes of a merged request; 0 for none.
    pub merged: u64,
    /// Requests between syncs; 0 for none.
    pub sync_every: u64,
    /// Whether each write is followed by a sync.
    pub sync_all: bool,
    /// Whether the test ends with one.
    pub sync_end: bool,
    /// `sync`, `async`, `mmap`.
    pub io: String,
    /// Whether checksums are compared.
    pub validate: bool,
}

/// A size as sysbench has it: five digits and a binary unit.
pub fn size(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{}{}", five_digits(value), UNITS[unit])
}

/// As C's `%.5g` for what is from 1 to 99999.
fn five_digits(value: f64) -> String {
    let before = if value < 1.0 {
        1
    } else {
        value.log10().floor() as usize + 1
    };
    let text = format!("{value:.*}", 5usize.saturating_sub(before));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

impl fmt::Display for FilesHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", extra_flags(&self.flags))?;
        let each = self.total / self.files.max(1);
        writeln!(f, "{} files, {} each", self.files, size(each as f64))?;
        let all = each * self.files;
        writeln!(f, "{} total file size", size(all as f64))?;
        writeln!(f, "Block size {}", size(self.block as f64))?;
        if self.mode.starts_with("rnd") {
            writeln!(f, "Number of IO requests: {}", self.events)?;
            let ratio = self.ratio;
            writeln!(
                f,
                "Read/Write ratio for combined random IO test: {ratio:.2}"
            )?;
        } else if self.merged > 0 {
            let merged = size(self.merged as f64);
            writeln!(f, "Merging requests up to {merged} for sequential IO.")?;
        }
        if self.sync_all {
            writeln!(f, "Calling fsync() after each write operation.")?;
        } else {
            if self.sync_every > 0 {
                let every = self.sync_every;
                writeln!(
                    f,
                    "Periodic FSYNC enabled, calling fsync() each {every} requests."
                )?;
            }
            if self.sync_end {
                writeln!(f, "Calling fsync() at the end of test, Enabled.")?;
            }
        }
        writeln!(
            f,
            "Using {} I/O mode",
            match &*self.io {
                "async" => "asynchronous",
                "mmap" => "fast mmaped",
                _ => "synchronous",
            }
        )?;
        if self.validate {
            writeln!(f, "Using checksums validation.")?;
        }
        let doing = match &*self.mode {
            "seqwr" => "sequential write (creation)",
            "seqrewr" => "sequential rewrite",
            "seqrd" => "sequential read",
            "rndrd" => "random read",
            "rndwr" => "random write",
            _ => "random r/w",
        };
        writeln!(f, "Doing {doing} test")
    }
}

/// The line of the flags of open(2).
pub fn extra_flags(flags: &[String]) -> String {
    let named = |word: &str| flags.iter().any(|flag| flag == word);
    // With its blanks, as sysbench has them.
    let words = [
        ("sync", "sync "),
        ("dsync", "dsync "),
        ("direct", "directio"),
    ];
    let words = words.into_iter().filter(|(flag, _)| named(flag));
    let words: Vec<&str> = words.map(|(_, word)| word).collect();
    match words.is_empty() {
        true => "Extra file open flags: (none)".into(),
        false => format!("Extra file open flags: {}", words.concat()),
    }
}

/// What `prepare` says before it makes files.
pub fn preparing(files: u64, total: u64, flags: &[String]) -> String {
    let each = total / files.max(1);
    format!(
        "{files} files, {}Kb each, {}Mb total\nCreating files for the test...\n{}\n",
        each / 1024,
        each * files / (1024 * 1024),
        extra_flags(flags)
    )
}

/// What `prepare` says when it has made them.
pub fn prepared(bytes: u64, seconds: f64) -> String {
    let rate = bytes as f64 / MIB / seconds.max(1e-9);
    format!("{bytes} bytes written in {seconds:.2} seconds ({rate:.2} MiB/sec).\n")
}

impl HostTest {
    /// What stands between the general options and "Initializing worker threads...".
    pub fn header(&self) -> String {
        match self {
            HostTest::Cpu { max_prime } => format!("Prime numbers limit: {max_prime}\n\n"),
            HostTest::Memory {
                block,
                total,
                operation,
                scope,
            } => format!(
                "Running memory speed test with the following options:\n  block size: {}KiB\n  \
                 total size: {}MiB\n  operation: {operation}\n  scope: {scope}\n\n",
                block / 1024,
                total / (1024 * 1024)
            ),
            HostTest::Files(header) => header.to_string(),
            HostTest::Threads | HostTest::Mutex => String::new(),
        }
    }

    /// The line of an interval. Latencies of an open loop are response times, as sysbench's are.
    /// `warmup_s` is how long the warm-up is that was asked for.
    pub fn interval(
        &self,
        sum: &Merged,
        phase: Phase,
        percentiles: &[f64],
        open_loop: bool,
        warmup_s: f64,
    ) -> String {
        let end_s = sum.end_ms / 1000.0;
        let at = match phase {
            Phase::Warmup => format!("[ warm-up {:.0}s ]", warmup_s + end_s),
            Phase::Measure => format!("[ {end_s:.0}s ]"),
        };
        let all = sum.all();
        let latencies: Vec<(f64, f64)> = shown(percentiles)
            .map(|p| (p, all.latency().percentile_ns(p) as f64 / 1e6))
            .collect();
        let (percent, ms) = latencies.first().copied().unwrap_or_default();
        let rate = |kind: &str| {
            let count = sum.types.get(kind).map_or(0, |one| one.count);
            sum.per_second(count)
        };
        let line = match self {
            HostTest::Memory { block, .. } => {
                let mib = sum.per_second(all.count) * *block as f64 / MIB;
                format!("{at} {mib:.2} MiB/sec\n")
            }
            HostTest::Files(header) => {
                let bytes = header.merged.max(header.block) as f64;
                format!(
                    "{at} reads: {:.2} MiB/s writes: {:.2} MiB/s fsyncs: {:.2}/s latency \
                     (ms,{percent}%): {ms:.3}\n",
                    rate("read") * bytes / MIB,
                    rate("write") * bytes / MIB,
                    rate("fsync"),
                )
            }
            _ => {
                let eps = sum.per_second(all.count);
                let threads = sum.sessions;
                format!("{at} thds: {threads} eps: {eps:.2} lat (ms,{percent}%): {ms:.2}\n")
            }
        };
        match open_loop {
            false => line,
            true => format!(
                "{line}{at} queue length: {} concurrency: {}\n",
                sum.queue_length, sum.concurrency
            ),
        }
    }

    /// The summary of a span of time. `bytes` are those of one event of `fileio` that reads or writes,
    /// and `end_syncs` its syncs after the last event.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn summary(
        &self,
        totals: &Totals,
        percentiles: &[f64],
        bytes: f64,
        end_syncs: u64,
    ) -> Result<HostSummary, ReportError> {
        let summary = Summary::of_totals(totals, percentiles)?;
        let count = |kind: &str| totals.types.get(kind).map_or(0, |stats| stats.count);
        let inner = totals.parts.get("fsync").map_or(0, |stats| stats.count);
        let figures = match self {
            HostTest::Cpu { .. } => HostCounts::Cpu,
            HostTest::Memory {
                block, operation, ..
            } => HostCounts::Memory {
                block: *block,
                transfers: operation != "none",
            },
            HostTest::Files(_) => HostCounts::Files {
                reads: count("read"),
                writes: count("write"),
                syncs: count("fsync") + inner + end_syncs,
                bytes,
            },
            HostTest::Threads | HostTest::Mutex => HostCounts::None,
        };
        Ok(HostSummary { figures, summary })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum HostCounts {
    None,
    Cpu,
    Memory {
        block: u64,
        transfers: bool,
    },
    Files {
        reads: u64,
        writes: u64,
        syncs: u64,
        bytes: f64,
    },
}

/// The full report of a test of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSummary {
    figures: HostCounts,
    /// What every test has.
    pub summary: Summary,
}

impl fmt::Display for HostSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (events, span_s) = (self.summary.transactions, self.summary.span_s);
        let rate = |count| per_second(count, span_s);
        match self.figures {
            HostCounts::None => {}
            HostCounts::Cpu => {
                let eps = rate(events);
                writeln!(f, "CPU speed:\n    events per second: {eps:8.2}")?;
            }
            HostCounts::Memory { block, transfers } => {
                let ops = rate(events);
                writeln!(f, "Total operations: {events} ({ops:8.2} per second)\n")?;
                if transfers {
                    let mib = |count: f64| count * block as f64 / MIB;
                    let (all, second) = (mib(events as f64), mib(ops));
                    writeln!(f, "{all:.2} MiB transferred ({second:.2} MiB/sec)\n")?;
                }
            }
            HostCounts::Files {
                reads,
                writes,
                syncs,
                bytes,
            } => {
                writeln!(f, "\nFile operations:")?;
                for (name, count) in [
                    ("reads/s:", reads),
                    ("writes/s:", writes),
                    ("fsyncs/s:", syncs),
                ] {
                    writeln!(f, "    {name:<30}{:.2}", rate(count))?;
                }
                writeln!(f, "\nThroughput:")?;
                for (name, count) in [("read, MiB/s:", reads), ("written, MiB/s:", writes)] {
                    writeln!(f, "    {name:<30}{:.2}", rate(count) * bytes / MIB)?;
                }
            }
        }
        self.summary.fmt_general(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_five_digits_as_sysbench_has_them() {
        for (bytes, text) in [
            (65_536.0, "64KiB"),
            (34_133.0, "33.333KiB"),
            (102_399.0, "99.999KiB"),
            (715_827_882.0, "682.67MiB"),
            (2_147_483_648.0, "2GiB"),
            (512.0, "512B"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
