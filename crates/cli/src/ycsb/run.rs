//! `run`: connect, warm up, measure, print, keep.

use super::Work;
use super::load::{no_records, only_ycsbs};
use super::printer::Printer;
use super::there;
use crate::exit::{ExitCode, Failure};
use crate::measuring::{Asked, measure};
use crate::outlet::Outlet;
use crate::output::Stdout;
use crate::outputs::{Outputs, say};
use crate::pacing::{described as asked, long_distance, sets_its_length};
use crate::plan::native_spec;
use crate::progress;
use crate::ready;
use crate::recording::{Described, Recording, describe};
use crate::watching::Watching;
use std::time::Instant;
use tidemark_core::record::RunRecord;
use tidemark_core::{IgnoreErrors, Protocol, RunSpec};
use tidemark_report::ycsb;

/// Makes load and measures.
///
/// # Errors
/// [`Failure`] when no load could be made, or when the run failed after its start: then what was
/// measured is kept all the same.
pub(super) fn run(work: &Work<'_>, args: &[String]) -> Result<ExitCode, Failure> {
    let options = work.options();
    let outputs = Outputs::new(options)?;
    let mut watching = Watching::new(options)?;
    let plan = work.plan(false)?;
    let spec = run_spec(work)?;
    let prepare = work.load_command();
    if options.uint("recordcount") == 0 {
        return Err(no_records(
            options,
            "among how many records is to be chosen? For example -p recordcount=100000, as it was \
             loaded",
        ));
    }
    let mut described = describe(&plan.connector, &plan.workload, spec.terminals)
        .map_err(|error| ready::failed(error, &prepare))?;
    let needed = plan.workload.needs(spec.terminals);
    ready::tables(&needed, &described, options.flag("force"), &prepare)?;
    if !options.flag("force") {
        only_ycsbs(&plan, "run on it")?;
    }
    // Its key is no number that counts rows, so that the properties say how many there are.
    for table in &mut described.tables {
        table.expected_rows = Some(options.uint("recordcount"));
    }
    let missing = there::look(work, &plan)?;
    let mut aside = work.aside();
    say(&mut aside, &work.properties());
    let protocol = plan.target.protocol;
    for warning in warnings(work, &spec, &described, protocol).chain(missing) {
        say(&mut aside, &format!("WARNING: {warning}\n"));
    }
    described.notes.extend(work.stand_ins().iter().cloned());
    let recording = Recording::new(
        args,
        work.definition.name,
        &plan.target,
        options,
        &spec,
        described,
    );
    say(&mut aside, &header(work, &spec, &recording.record));
    let begun = Instant::now();
    let measured = measure(
        Asked {
            options,
            spec: &spec,
            plan: &plan,
            checkpoints: &[],
            samples: None,
            outputs: &outputs,
            prepare: &prepare,
        },
        recording,
        &mut watching,
        Outlet::two(&mut Stdout, &mut aside, progress::of_run(&spec)),
        &mut Printer::new(work.style, options.time("interval")),
    )?;
    let elapsed = begun.elapsed();
    say(&mut aside, &format!("Run finished, takes {elapsed:?}\n"));
    let failed = |e: tidemark_report::ReportError| Failure::new(ExitCode::Failed, e.to_string());
    let record = &measured.recording.record;
    let theirs = ycsb::summary(&record.totals, work.style).map_err(failed)?;
    say(&mut Stdout, &theirs);
    let ours = ycsb::beyond(record, work.lang).map_err(failed)?;
    say(&mut aside, &ours);
    Ok(measured.keep(&mut aside, &format!("{theirs}{ours}"))?.code)
}

fn run_spec(work: &Work<'_>) -> Result<RunSpec, Failure> {
    let options = work.options();
    let spec = native_spec(options, options.uint("seed"))?;
    let by_itself = sets_its_length(&spec.pacing);
    Ok(RunSpec {
        time: Some(options.time("time")).filter(|t| !t.is_zero() && !by_itself),
        events: Some(options.uint("operationcount")).filter(|n| *n > 0 && !by_itself),
        warmup: options.time("warmup"),
        ignore_errors: if options.flag("ignore-error") {
            IgnoreErrors::All
        } else {
            IgnoreErrors::Retryable { also: Vec::new() }
        },
        ..spec
    })
}

/// What a run may be meant not to be.
fn warnings(
    work: &Work<'_>,
    spec: &RunSpec,
    described: &Described,
    protocol: Protocol,
) -> impl Iterator<Item = String> {
    let options = work.options();
    let mut warnings = Vec::new();
    if spec.time.is_none() && spec.events.is_none() && !sets_its_length(&spec.pacing) {
        warnings.push(
            "neither operationcount nor maxexecutiontime is given: the run goes on until Ctrl-C, \
             and then tells its figures"
                .into(),
        );
    }
    warnings.extend(long_distance(options, spec));
    if options.uint("batch-size") > 1 {
        warnings.push(format!(
            "batch.size={} is for load: a run does its operations one by one",
            options.uint("batch-size")
        ));
    }
    let writes = ["updateproportion", "readmodifywriteproportion"];
    let updates = writes.iter().any(|name| options.float(name) > 0.0);
    if options.flag("dataintegrity") && updates && protocol == Protocol::Mysql {
        warnings.push(
            "dataintegrity=true: an UPDATE writes the values that are there already, and MySQL, \
             MariaDB and TiDB then change nothing: their times are not those of updates"
                .into(),
        );
    }
    let asked = options.uint("recordcount");
    if let Some(table) = described.tables.iter().find(|t| t.rows != asked) {
        warnings.push(other_rows(&table.table, table.rows, asked));
    }
    warnings.into_iter()
}

/// What comes of a `recordcount` that is not the table's.
fn other_rows(table: &str, rows: u64, asked: u64) -> String {
    let what = if rows > asked {
        let share = 100.0 * asked as f64 / rows as f64;
        format!(
            "only the first {asked} of them ({share:.3} %) are chosen, and inserts begin with keys \
             that may be there"
        )
    } else {
        format!("{} of the records to choose from are missing", asked - rows)
    };
    format!(
        "recordcount={asked}, and table {table} has {rows} rows: {what}; for all of them -p \
         recordcount={rows}"
    )
}

fn header(work: &Work<'_>, spec: &RunSpec, record: &RunRecord) -> String {
    let options = work.options();
    let mut lines = vec![
        format!("tidemark {} (go-ycsb output)", env!("CARGO_PKG_VERSION")),
        format!("Target: {}", record.target),
    ];
    if let Some(server) = &record.server {
        lines.push(format!("Server: {} {}", server.engine, server.version));
    }
    lines.push(format!(
        "Records: {}, request distribution: {}, threads: {}, seed: {}",
        options.uint("recordcount"),
        options.text("requestdistribution"),
        spec.terminals,
        spec.seed
    ));
    lines.extend(asked(spec));
    lines.join("\n") + "\n\n"
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use std::time::Duration;
    use tidemark_core::{Arrivals, Pacing};

    fn spec(line: &str) -> RunSpec {
        let asked = parse::asked(line).unwrap();
        run_spec(&Work::new(&asked).unwrap()).unwrap()
    }

    #[test]
    fn a_run_is_as_long_and_as_fast_as_the_properties_say() {
        let s = spec("run mysql -P workloada -p maxexecutiontime=60 -p warmuptime=5 --threads 8");
        assert_eq!(
            (s.events, s.time),
            (Some(1000), Some(Duration::from_secs(60)))
        );
        assert_eq!((s.warmup, s.terminals), (Duration::from_secs(5), 8));
        assert_eq!(s.pacing, Pacing::Closed);
        let s = spec("run mysql -p operationcount=0 --target 250");
        assert_eq!((s.events, s.time), (None, None));
        assert_eq!(
            (s.pacing, s.arrivals),
            (Pacing::Rate(250.0), Arrivals::Constant)
        );
    }

    #[test]
    fn another_number_of_rows_is_told_with_what_comes_of_it() {
        let more = other_rows("usertable", 1_000_000, 1000);
        assert!(
            more.contains("only the first 1000 of them (0.100 %)"),
            "{more}"
        );
        assert!(more.ends_with("-p recordcount=1000000"), "{more}");
        let fewer = other_rows("usertable", 10, 1000);
        assert!(
            fewer.contains("990 of the records to choose from are missing"),
            "{fewer}"
        );
    }
}
