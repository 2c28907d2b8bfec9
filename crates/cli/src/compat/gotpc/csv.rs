//! `prepare --output-type csv`: files for bulk importers, named as go-tpc names them.

use super::{GoTpcCommand, GoTpcWork};
use crate::exit::{ExitCode, Failure};
use crate::loading::say;
use crate::plan::load_seed;
use crate::texts::progress::rows as rows_written;
use crate::{interrupt, progress};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidemark_core::{Engine, did_you_mean};
use tidemark_drivers::{Dialect, RowWriter};
use tidemark_files::{New, Replace, WrittenFile};
use tidemark_report::Lang;
use tidemark_workloads::{TablePlan, Workload};

/// Bytes that are written together.
const WRITE: usize = 1 << 20;

/// One file that will be written.
struct CsvFile {
    /// Index of its table in the workload's.
    table: usize,
    path: PathBuf,
    /// Units of the table, from the first.
    first: u64,
    count: u64,
}

/// Writes the files; nothing is connected to.
///
/// # Errors
/// [`Failure`] of bad usage; [`ExitCode::Refused`] when files of these names are there;
/// [`ExitCode::Failed`] when one can't be written.
pub fn write(work: &GoTpcWork<'_>) -> Result<ExitCode, Failure> {
    let options = work.options;
    let Some(folder) = options.text_opt("output-dir") else {
        return Err(Failure::usage(
            "--output-type=csv needs --output-dir; for example --output-type=csv \
             --output-dir=data",
        ));
    };
    let workload = (work.definition.build)(options)?;
    let dialect = Dialect::new(match options.text("driver") {
        "postgres" => Engine::Postgres,
        _ => Engine::Mysql,
    });
    let plans = workload.tables(&dialect, 1)?;
    let threads = usize::try_from(options.uint("threads")).unwrap_or(1);
    let folder = Path::new(folder);
    let jobs = jobs(work, folder, &plans)?;
    not_in_the_way(work, folder, &plans, &jobs)?;
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    let began = Instant::now();
    let seed = load_seed(options, "seed");
    let written = write_all(&workload, &jobs, (threads, seed), work.lang);
    let (rows, files) = written?;
    let replace = match work.options.flag("replace") {
        true => Replace::Anything,
        false => Replace::Nothing,
    };
    for (job, file) in files {
        file.put(&job.path, replace)
            .map_err(|e| failed(&job.path, &e))?;
    }
    let mut out = work.aside();
    for job in &jobs {
        say(&mut out, &format!("Wrote {}", job.path.display()));
    }
    let seconds = began.elapsed().as_secs_f64();
    say(
        &mut out,
        &format!(
            "\n{rows} rows in {seconds:.2} s ({:.0} rows/s). The files are not verified: import \
             them into tables with prepare's schema{}\nFinished",
            rows as f64 / seconds.max(1e-9),
            check(work)
        ),
    );
    Ok(ExitCode::Success)
}

/// The command that checks the tables, where there is one.
fn check(work: &GoTpcWork<'_>) -> String {
    if !work.tool.commands.contains(&GoTpcCommand::Check) {
        return String::new();
    }
    let sizes = work.tool.shapes.iter().take(1);
    let sizes = sizes.map(|name| format!(" --{name} {}", work.options.text(name)));
    format!(
        ", then check with: tidemark {}{} check",
        work.tool.name,
        sizes.collect::<String>()
    )
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Failed, format!("{}: {error}", path.display()))
}

/// Indexes of the tables asked for, in the workload's order.
fn tables(work: &GoTpcWork<'_>, plans: &[TablePlan]) -> Result<Vec<usize>, Failure> {
    let asked = work.options.list("tables");
    let names = || plans.iter().map(|p| p.name.as_str());
    if let Some(unknown) = asked.iter().find(|t| !names().any(|n| n == **t)) {
        let hint = did_you_mean(unknown, names());
        let known: Vec<&str> = names().collect();
        return Err(Failure::usage(format!(
            "--tables={}: unknown table {unknown}; known: {}{hint}",
            work.options.text("tables"),
            known.join(", ")
        )));
    }
    let wanted =
        |(_, plan): &(usize, &TablePlan)| asked.is_empty() || asked.contains(&plan.name.as_str());
    let found = plans.iter().enumerate().filter(wanted);
    Ok(found.map(|(index, _)| index).collect())
}

/// `DATABASE.TABLE.THREAD.csv`.
fn jobs(work: &GoTpcWork<'_>, folder: &Path, plans: &[TablePlan]) -> Result<Vec<CsvFile>, Failure> {
    let database = work.options.text("db");
    let mut jobs = Vec::new();
    for table in tables(work, plans)? {
        let Some(plan) = plans.get(table) else {
            continue;
        };
        let parts = (work.tool.files)(&plan.name, work.options).clamp(1, plan.rows.max(1));
        let bound = |n: u64| (u128::from(plan.rows) * u128::from(n) / u128::from(parts)) as u64;
        jobs.extend((0..parts).map(|n| CsvFile {
            table,
            path: folder.join(format!("{database}.{}.{n}.csv", plan.name)),
            first: bound(n),
            count: bound(n + 1) - bound(n),
        }));
    }
    Ok(jobs)
}

/// Files of these tables that are there are the user's: of an older load, whose other parts an
/// importer would take for this one's.
fn not_in_the_way(
    work: &GoTpcWork<'_>,
    folder: &Path,
    plans: &[TablePlan],
    jobs: &[CsvFile],
) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(());
    };
    let database = work.options.text("db");
    let is_part = |name: &str| {
        jobs.iter().any(|job| {
            let table = plans.get(job.table).map_or("", |p| p.name.as_str());
            name.strip_prefix(&format!("{database}.{table}."))
                .and_then(|rest| rest.strip_suffix(".csv"))
                .is_some_and(|number| number.parse::<u64>().is_ok())
        })
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let replaced = work.options.flag("replace") && jobs.iter().any(|j| j.path == path);
        if replaced || !entry.file_name().to_str().is_some_and(is_part) {
            continue;
        }
        let instead = if work.options.flag("replace") {
            "it is not one of the files to write, so --replace does not remove it: remove it, or \
             use another folder"
        } else {
            "use another folder, or add --replace to overwrite the files"
        };
        return Err(Failure::new(
            ExitCode::Refused,
            format!(
                "{} already exists; nothing was written: {instead}",
                path.display()
            ),
        ));
    }
    Ok(())
}

/// How many rows were written, and the files.
type Finished<'a> = (u64, Vec<(&'a CsvFile, WrittenFile)>);

/// How many rows were written, and the files, which are put in their places when all of them are whole.
fn write_all<'a>(
    workload: &Arc<dyn Workload>,
    jobs: &'a [CsvFile],
    (threads, seed): (usize, u64),
    lang: Lang,
) -> Result<Finished<'a>, Failure> {
    let units: u64 = jobs.iter().map(|j| j.count).sum();
    let (next, done, rows) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let stop = interrupt::handle();
    let worker = || -> Result<Vec<(&CsvFile, WrittenFile)>, Failure> {
        let mut files = Vec::new();
        loop {
            // More than all jobs is out of range, which ends it.
            let nth = next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(job) = jobs.get(nth) else {
                return Ok(files);
            };
            let one = write_one(workload, job, seed, &done, &|| stop.is_stopped());
            if one.is_err() {
                next.store(u64::from(u32::MAX), Ordering::Relaxed);
            }
            let (written, file) = one?;
            rows.fetch_add(written, Ordering::Relaxed);
            files.push((job, file));
        }
    };
    let bar = progress::bar(units, rows_written(lang), lang);
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.clamp(1, jobs.len().max(1)))
            .map(|_| scope.spawn(worker))
            .collect();
        while threads.iter().any(|t| !t.is_finished()) {
            bar.set_position(done.load(Ordering::Relaxed));
            std::thread::sleep(Duration::from_millis(20));
        }
        threads
            .into_iter()
            .map(|t| {
                t.join().unwrap_or_else(|_| {
                    let why = "a thread that writes files panicked";
                    Err(Failure::new(ExitCode::Failed, why))
                })
            })
            .collect::<Result<Vec<_>, Failure>>()
    });
    bar.finish_and_clear();
    let files = ended?.into_iter().flatten().collect();
    Ok((rows.into_inner(), files))
}

fn write_one(
    workload: &Arc<dyn Workload>,
    job: &CsvFile,
    seed: u64,
    done: &AtomicU64,
    stopped: &dyn Fn() -> bool,
) -> Result<(u64, WrittenFile), Failure> {
    let failed = |e: std::io::Error| failed(&job.path, &e);
    let mut file = New::beside(&job.path).map_err(failed)?;
    let mut buffer = Vec::with_capacity(WRITE + 4096);
    let mut rows = 0;
    // In pieces, so that progress shows.
    const PIECE: u64 = 10_000;
    let mut first = job.first;
    let end = job.first + job.count;
    while first < end {
        if stopped() {
            return Err(Failure::new(
                ExitCode::Interrupted,
                "interrupted; no file was written",
            ));
        }
        let count = PIECE.min(end - first);
        let mut source = workload.rows(job.table, first, count, seed);
        while source.next_row(&mut RowWriter::csv(&mut buffer)) {
            buffer.push(b'\n');
            rows += 1;
            if buffer.len() >= WRITE {
                file.write_all(&buffer).map_err(failed)?;
                buffer.clear();
            }
        }
        first += count;
        done.fetch_add(count, Ordering::Relaxed);
    }
    file.write_all(&buffer).map_err(failed)?;
    Ok((rows, file.whole().map_err(failed)?))
}
