//! Telling of a load: while it goes on, and when it has ended.

use crate::exit::Failure;
use crate::interrupt;
use crate::plan::BoundWorkload;
use crate::progress;
use crate::render::language;
use crate::texts::load as texts;
use crate::texts::progress::rows;
use indicatif::ProgressBar;
use std::io::Write;
use std::time::{Duration, Instant};
use tidemark_core::Job;
use tidemark_drivers::BulkMethod;
use tidemark_engine::{
    LoadObserver, LoadReport, LoadSpec, drop_tables, is_being_loaded, is_loaded, prepare,
};
use tidemark_report::Lang;

/// Whether a load's output says that `--keep-loaded` found the tables in order.
pub fn says_kept(output: &str) -> bool {
    Lang::ALL
        .iter()
        .any(|lang| output.contains(texts::kept(*lang)))
}

/// Prints a line.
pub fn say(out: &mut dyn Write, line: &str) {
    // A closed pipe must not end a load half-way.
    let _ = writeln!(out, "{line}");
}

/// How rows were loaded, for people.
pub fn way(method: BulkMethod, lang: Lang) -> &'static str {
    match method {
        BulkMethod::Copy => "COPY",
        BulkMethod::BulkExecute => texts::arrays(lang),
        BulkMethod::LoadData => "LOAD DATA",
        BulkMethod::MultiRowInsert => "INSERT",
        BulkMethod::PreparedInsert => texts::single_inserts(lang),
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
    if job.load.shard.index > 0 {
        return helps_nobody(job, plan, spec, out);
    }
    let keeps = job.prepare.as_ref().is_some_and(|p| p.keep_loaded);
    let kept = keeps && is_loaded(&plan.connector, &plan.workload, spec)?;
    if kept {
        say(out, texts::kept(language(&job.outputs.lang)));
    }
    Ok(kept)
}

/// Waits until the first of several clients is at work, whom the others help; whether there is nothing left
/// to help with, which is told.
fn helps_nobody(
    job: &Job,
    plan: &BoundWorkload,
    spec: &LoadSpec,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let (stop, begun) = (interrupt::handle(), Instant::now());
    // What can't be looked at, because the first one has it locked, is looked at again.
    while begun.elapsed() < FIRST_BEGINS && !stop.is_stopped() {
        if is_being_loaded(&plan.connector).unwrap_or(false) {
            return Ok(false);
        }
        let may_be_old = begun.elapsed() < MAY_BE_OLD;
        if !may_be_old && is_loaded(&plan.connector, &plan.workload, spec).unwrap_or(false) {
            say(out, texts::kept(language(&job.outputs.lang)));
            return Ok(true);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(false)
}

/// So long the first of several clients may take to begin a load; then another one begins it.
const FIRST_BEGINS: Duration = Duration::from_secs(30);
/// So long tables that are there may be those that the first one replaces.
const MAY_BE_OLD: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a client did that found nothing left to help with.
const NOTHING: LoadReport = LoadReport {
    tables: Vec::new(),
    rows_loaded: 0,
    rows_there: 0,
    rows_elsewhere: 0,
    method: None,
    chunks: 0,
    elapsed: Duration::ZERO,
    refreshing: Duration::ZERO,
};

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn load(
    plan: &BoundWorkload,
    spec: &LoadSpec,
    lang: Lang,
    out: &mut dyn Write,
) -> Result<LoadReport, Failure> {
    let report = {
        let mut observer = LoadPrinter {
            out: &mut *out,
            lang,
            bar: None,
        };
        let stop = interrupt::handle();
        prepare(&plan.connector, &plan.workload, spec, &stop, &mut observer)
    };
    let report = match report {
        // The first client was at work when this one looked, and done when it began.
        Err(failure)
            if spec.helps
                && !failure.began
                && is_loaded(&plan.connector, &plan.workload, spec).unwrap_or(false) =>
        {
            say(out, texts::kept(lang));
            return Ok(NOTHING);
        }
        done => done?,
    };
    tell(&report, lang, out);
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
fn tell(report: &LoadReport, lang: Lang, out: &mut dyn Write) {
    let seconds = report.elapsed.as_secs_f64();
    let way = match report.method {
        Some(BulkMethod::PreparedInsert) | None => String::new(),
        Some(method) => texts::by_way(lang, way(method, lang)),
    };
    let rate = report.rows_loaded as f64 / seconds.max(1e-9);
    let loaded = texts::loaded(
        lang,
        report.rows_loaded,
        way,
        format_args!("{seconds:.2}"),
        format_args!("{rate:.0}"),
        report.chunks,
    );
    say(out, &format!("\n{loaded}"));
    if !report.refreshing.is_zero() {
        let seconds = report.refreshing.as_secs_f64();
        let said = texts::refreshed(lang, format_args!("{seconds:.2}"));
        say(out, &said);
    }
    if report.rows_there > 0 {
        say(out, &texts::already(lang, report.rows_there));
    }
    if report.rows_elsewhere > 0 {
        say(out, &texts::by_others(lang, report.rows_elsewhere));
    }
    for table in &report.tables {
        let keys = table.keys.map(|(low, high)| texts::keys(lang, low, high));
        let sample = match table.sampled {
            0 => String::new(),
            sampled => texts::sample(lang, sampled, &table.checksum),
        };
        let (name, keys) = (&table.table, keys.unwrap_or_default());
        let said = match table.elsewhere {
            true => texts::verified_elsewhere(lang, name, table.rows, keys, sample),
            false => texts::verified(lang, name, table.rows, keys, sample),
        };
        say(out, &said);
    }
}

/// Tells of a load while it goes on: sysbench's lines, and a progress bar where there is a terminal.
struct LoadPrinter<'a> {
    out: &'a mut dyn Write,
    lang: Lang,
    bar: Option<ProgressBar>,
}

impl LoadPrinter<'_> {
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
            let said = texts::resuming(self.lang, table, rows_there, rows);
            self.line(&said);
        } else {
            self.line(&format!("Creating table '{table}'..."));
        }
        self.line(&format!(
            "Inserting {} records into '{table}'",
            rows - rows_there.min(rows)
        ));
    }

    fn joining(&mut self, others: usize) {
        self.line(&match others {
            1 => texts::joining_one(self.lang).to_string(),
            n => texts::joining_several(self.lang, n),
        });
    }

    fn progress(&mut self, done: u64, total: u64) {
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None => self.bar = Some(progress::from(done, total, rows(self.lang), self.lang)),
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
