//! `prepare`, `prewarm` and `cleanup`.

use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::plan::{Plan, load_spec};
use crate::progress;
use indicatif::ProgressBar;
use std::io::Write;
use std::sync::Arc;
use tidemark_core::OptionValues;
use tidemark_drivers::BulkMethod;
use tidemark_engine::{LoadObserver, LoadReport, drop_tables};
use tidemark_runtime::block_on;
use tidemark_workloads::Definition;

/// Makes and fills the tables, and tells what was verified.
///
/// # Errors
/// [`Failure`] as the engine's.
pub fn prepare(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<LoadReport, Failure> {
    let plan = Plan::new(definition, options, true)?;
    let spec = load_spec(options)?;
    if spec.threads > 1 {
        say(out, "Initializing worker threads...\n");
    }
    let mut observer = Told { out, bar: None };
    let report = tidemark_engine::prepare(
        &plan.connector,
        &plan.workload,
        &spec,
        &interrupt::handle(),
        &mut observer,
    )?;
    tell(&report, out);
    Ok(report)
}

fn say(out: &mut dyn Write, line: &str) {
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
            "\nLoaded {} rows{way} in {seconds:.2} s ({rate:.0} rows/s)",
            report.rows_loaded
        ),
    );
    if report.rows_there > 0 {
        say(
            out,
            &format!(
                "({} rows were there from a load that had not ended)",
                report.rows_there
            ),
        );
    }
    for table in &report.tables {
        let keys = table
            .keys
            .map(|(low, high)| format!(", keys {low} to {high}"));
        let sample = (table.sampled > 0).then(|| {
            format!(
                ", {} sampled rows as loaded (CRC-32 {})",
                table.sampled, table.checksum
            )
        });
        say(
            out,
            &format!(
                "Verified '{}': {} rows{}{}",
                table.table,
                table.rows,
                keys.unwrap_or_default(),
                sample.unwrap_or_default()
            ),
        );
    }
}

/// Prints sysbench's lines, and a progress bar where there is a terminal.
struct Told<'a> {
    out: &'a mut dyn Write,
    bar: Option<ProgressBar>,
}

impl Told<'_> {
    fn line(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(self.out, line)),
            None => say(self.out, line),
        }
    }
}

impl LoadObserver for Told<'_> {
    fn creating(&mut self, table: &str, rows: u64, rows_there: u64) {
        if rows_there > 0 {
            self.line(&format!(
                "Going on with '{table}': {rows_there} of {rows} records are there"
            ));
        } else {
            self.line(&format!("Creating table '{table}'..."));
        }
        self.line(&format!(
            "Inserting {} records into '{table}'",
            rows - rows_there.min(rows)
        ));
    }

    fn progress(&mut self, done: u64, total: u64) {
        let bar = self.bar.get_or_insert_with(|| progress::bar(total, "rows"));
        bar.set_position(done);
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

/// Brings the tables into the server's memory.
///
/// # Errors
/// [`Failure`] as the server's; [`ExitCode::Usage`] where the engine has no way to do it.
pub fn prewarm(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let plan = Plan::new(definition, options, false)?;
    let (connector, workload) = (plan.connector.clone(), Arc::clone(&plan.workload));
    let (send, lines) = std::sync::mpsc::channel();
    let work = std::thread::spawn(move || {
        block_on(async move {
            let mut session = connector.connect(0).await?;
            for table in workload.prewarm(&session.dialect()) {
                // Nobody listens after an interrupt.
                let _ = send.send(table.table.clone());
                for sql in &table.statements {
                    session.query(sql).await?;
                }
            }
            session.close().await;
            Ok::<(), tidemark_core::DbError>(())
        })
    });
    for table in lines {
        say(out, &format!("Prewarming table {table}"));
    }
    match work.join() {
        Ok(Ok(done)) => done.map_err(Failure::from),
        Ok(Err(e)) => Err(Failure::new(ExitCode::Failed, e.to_string())),
        Err(_) => Err(Failure::new(
            ExitCode::Failed,
            "the prewarming thread panicked",
        )),
    }
}

/// Drops the tables.
///
/// # Errors
/// [`Failure`] as the engine's; [`ExitCode::Refused`] for a table that is not the benchmark's.
pub fn cleanup(
    definition: &Definition,
    options: &OptionValues,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let plan = Plan::new(definition, options, false)?;
    let terminals = load_spec(options)?.terminals;
    let dropped = drop_tables(
        &plan.connector,
        &plan.workload,
        terminals,
        options.flag("force"),
    )?;
    for table in dropped {
        say(out, &format!("Dropping table '{table}'..."));
    }
    Ok(())
}
