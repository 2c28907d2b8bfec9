//! Telling of a load: while it goes on, and when it has ended.

use crate::exit::Failure;
use crate::interrupt;
use crate::plan::BoundWorkload;
use crate::progress;
use indicatif::ProgressBar;
use std::io::Write;
use tidemark_core::Job;
use tidemark_drivers::BulkMethod;
use tidemark_engine::{LoadObserver, LoadReport, LoadSpec, drop_tables, is_loaded, prepare};

/// What is said of tables that `--keep-loaded` found in order.
pub const KEPT: &str = "they are kept";

/// Prints a line.
pub fn say(out: &mut dyn Write, line: &str) {
    // A closed pipe must not end a load half-way.
    let _ = writeln!(out, "{line}");
}

/// How rows were loaded, for people.
pub fn way(method: BulkMethod) -> &'static str {
    match method {
        BulkMethod::Copy => "COPY",
        BulkMethod::BulkExecute => "arrays of rows",
        BulkMethod::LoadData => "LOAD DATA",
        BulkMethod::MultiRowInsert => "INSERT",
        BulkMethod::PreparedInsert => "single INSERTs",
    }
}

/// Whether `--keep-loaded` is given and the tables are there as they would be loaded; then this is
/// told.
///
/// # Errors
/// [`Failure`] when they can't be looked at.
pub fn is_kept(
    job: &Job,
    plan: &BoundWorkload,
    spec: &LoadSpec,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let keeps = job.prepare.as_ref().is_some_and(|p| p.keep_loaded);
    let kept = keeps && is_loaded(&plan.connector, &plan.workload, spec)?;
    if kept {
        say(
            out,
            &format!("Tidemark already loaded these tables: {KEPT}"),
        );
    }
    Ok(kept)
}

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn load(
    plan: &BoundWorkload,
    spec: &LoadSpec,
    out: &mut dyn Write,
) -> Result<LoadReport, Failure> {
    let report = {
        let mut observer = LoadPrinter::new(out);
        let stop = interrupt::handle();
        prepare(&plan.connector, &plan.workload, spec, &stop, &mut observer)?
    };
    tell(&report, out);
    Ok(report)
}

/// Drops the workload's tables, and tells which.
///
/// # Errors
/// [`Failure`] as the engine's: [`crate::exit::ExitCode::Refused`] for what is not the benchmark's,
/// [`crate::exit::ExitCode::Interrupted`] when the user ended it before all were dropped.
pub fn drop_all(
    plan: &BoundWorkload,
    terminals: usize,
    force: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let stop = interrupt::handle();
    let done = drop_tables(&plan.connector, &plan.workload, terminals, force, &stop);
    let dropped = match &done {
        Ok(dropped) => dropped,
        Err(failure) => &failure.dropped,
    };
    for table in dropped {
        say(out, &format!("Dropping table '{table}'..."));
    }
    done.map(drop).map_err(Failure::from)
}

/// What was loaded and verified.
fn tell(report: &LoadReport, out: &mut dyn Write) {
    let seconds = report.elapsed.as_secs_f64();
    let way = match report.method {
        Some(BulkMethod::PreparedInsert) | None => String::new(),
        Some(method) => format!(" by {}", way(method)),
    };
    let rate = report.rows_loaded as f64 / seconds.max(1e-9);
    say(
        out,
        &format!(
            "\nLoaded {} rows{way} in {seconds:.2} s ({rate:.0} rows/s), {} {}",
            report.rows_loaded,
            report.chunks,
            if report.chunks == 1 {
                "commit"
            } else {
                "commits"
            }
        ),
    );
    if !report.refreshing.is_zero() {
        say(
            out,
            &format!(
                "Refreshed the planner's statistics ({:.2} s summed over sessions)",
                report.refreshing.as_secs_f64()
            ),
        );
    }
    if report.rows_there > 0 {
        say(
            out,
            &format!(
                "({} rows were already loaded by an interrupted load)",
                report.rows_there
            ),
        );
    }
    if report.rows_elsewhere > 0 {
        say(
            out,
            &format!(
                "({} rows were loaded by other clients)",
                report.rows_elsewhere
            ),
        );
    }
    for table in &report.tables {
        let keys = table
            .keys
            .map(|(low, high)| format!(", keys {low} to {high}"));
        let sample = (table.sampled > 0).then(|| {
            format!(
                ", {} sampled rows verified (CRC-32 {})",
                table.sampled, table.checksum
            )
        });
        say(
            out,
            &format!(
                "Verified{} '{}': {} rows{}{}",
                if table.elsewhere {
                    " by another client"
                } else {
                    ""
                },
                table.table,
                table.rows,
                keys.unwrap_or_default(),
                sample.unwrap_or_default()
            ),
        );
    }
}

/// Tells of a load while it goes on: sysbench's lines, and a progress bar where there is a terminal.
struct LoadPrinter<'a> {
    out: &'a mut dyn Write,
    bar: Option<ProgressBar>,
}

impl<'a> LoadPrinter<'a> {
    /// Tells to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, bar: None }
    }

    fn line(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(self.out, line)),
            None => say(self.out, line),
        }
    }
}

impl LoadObserver for LoadPrinter<'_> {
    fn creating(&mut self, table: &str, rows: u64, rows_there: u64) {
        if rows_there > 0 {
            self.line(&format!(
                "Resuming '{table}': {rows_there} of {rows} records are loaded"
            ));
        } else {
            self.line(&format!("Creating table '{table}'..."));
        }
        self.line(&format!(
            "Inserting {} records into '{table}'",
            rows - rows_there.min(rows)
        ));
    }

    fn joining(&mut self, others: usize) {
        let who = match others {
            1 => "Another client is".to_string(),
            n => format!("{n} other clients are"),
        };
        self.line(&format!("{who} loading these tables: joining"));
    }

    fn progress(&mut self, done: u64, total: u64) {
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None => self.bar = Some(progress::from(done, total, "rows")),
        }
    }

    fn indexing(&mut self, table: &str) {
        self.line(&format!("Creating a secondary index on '{table}'..."));
    }

    fn verifying(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
