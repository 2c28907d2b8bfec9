//! `run`: connect, warm up, measure, print, keep.

use super::SHAPES;
use super::printer::{Printer, bar};
use super::target;
use crate::exit::{ExitCode, Failure};
use crate::measuring::{Asked, measure};
use crate::outlet::Outlet;
use crate::outputs::{Outputs, say};
use crate::pacing::{described as asked, length, long_distance, sets_its_length};
use crate::plan::{Plan, checkpoints, percentiles, run_spec};
use crate::ready;
use crate::recording::{Recording, describe};
use crate::watching::Watching;
use std::io::Write;
use std::time::Duration;
use tidemark_core::record::TableState;
use tidemark_core::{OptionValues, Pacing, RunSpec, Source};
use tidemark_engine::RunResult;
use tidemark_report::sysbench::{self, RunHeader, Summary};
use tidemark_stats::Histogram;
use tidemark_workloads::Definition;

/// Makes load and measures.
///
/// # Errors
/// [`Failure`] when no load could be made, or when the run failed after its start: then what was
/// measured is kept all the same.
pub fn run(
    definition: &Definition,
    options: &OptionValues,
    args: &[String],
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let percentiles = percentiles(options)?;
    let checkpoints = checkpoints(options)?;
    let outputs = Outputs::new(options)?;
    let mut watching = Watching::new(options)?;
    let plan = Plan::new(definition, options, target::target(options)?, false)?;
    let spec = run_spec(options, plan.target.protocol)?;
    if spec.time.is_none() && spec.events.is_none() && !sets_its_length(&spec.pacing) {
        say(
            out,
            "WARNING: Both event and time limits are disabled, running an endless test\n",
        );
    }
    if let Some(warning) = long_distance(options, &spec) {
        say(out, &format!("WARNING: {warning}\n"));
    }
    let prepare = prepare_command(definition, options);
    let described = describe(&plan.connector, &plan.workload, spec.terminals)
        .map_err(|error| ready::failed(error, &prepare))?;
    let needed = plan.workload.needs(spec.terminals);
    ready::tables(&needed, &described, options.flag("force"), &prepare)?;
    for warning in other_data(&described.tables) {
        say(out, &format!("WARNING: {warning}\n"));
    }
    let recording = Recording::new(
        args,
        definition.name,
        &plan.target,
        options,
        &spec,
        described,
    );
    say(out, &header(options, &spec, &checkpoints, &recording));
    if options.flag("db-debug") {
        say(out, &debug_lines(&recording));
    }
    say(out, sysbench::initializing());
    let measured = measure(
        Asked {
            options,
            spec: &spec,
            plan: &plan,
            checkpoints: &checkpoints,
            samples: None,
            outputs: &outputs,
            prepare: &prepare,
        },
        recording,
        &mut watching,
        Outlet::one(out, bar(options, &spec)),
        &mut Printer::new(options, &spec, &percentiles),
    )?;
    let result = &measured.result;
    let no_checkpoints = checkpoints.is_empty();
    let mut summary = summary(options, &percentiles, result, &spec, no_checkpoints)?;
    summary += &beyond(&measured.recording)?;
    say(out, &summary);
    Ok(measured.keep(out, &summary)?.code)
}

/// The command that makes the tables a run needs, as the user would write it.
fn prepare_command(definition: &Definition, options: &OptionValues) -> String {
    let mut words = ["tidemark", "sysbench", definition.name]
        .map(String::from)
        .to_vec();
    for (name, value, source) in options.shown() {
        // Each session of bulk_insert has a table.
        let shapes =
            SHAPES.contains(&name) || name == "threads" && definition.name == "bulk_insert";
        let connects = ["db-driver", "target", "config-file"].contains(&name)
            || ["mysql-", "pgsql-", "sqlite-"]
                .iter()
                .any(|p| name.starts_with(p));
        if source != Source::CommandLine || !(shapes || connects) {
            continue;
        }
        words.push(format!("--{name}={value}"));
    }
    words.push("prepare".into());
    crate::shell::line(&words)
}

/// Tables with clearly fewer rows than the options say: the run would ask for keys that are not
/// there.
fn other_data(tables: &[TableState]) -> impl Iterator<Item = String> {
    let short = |t: &&TableState| t.expected_rows.is_some_and(|e| t.rows < e / 10 * 9);
    tables.iter().filter(short).map(|t| {
        format!(
            "table {} has {} rows, --table-size asks for {}: many statements will find nothing",
            t.table,
            t.rows,
            t.expected_rows.unwrap_or_default()
        )
    })
}

fn header(
    options: &OptionValues,
    spec: &RunSpec,
    checkpoints: &[Duration],
    recording: &Recording,
) -> String {
    let checkpoints_s: Vec<u64> = checkpoints.iter().map(Duration::as_secs).collect();
    RunHeader {
        threads: spec.terminals,
        beyond: &asked(spec),
        rate: match spec.pacing {
            Pacing::Rate(rate) => Some(rate),
            _ => None,
        },
        report_interval_s: options.uint("report-interval"),
        checkpoints_s: &checkpoints_s,
        debug: options.flag("debug"),
        validate: options.flag("validate"),
        seed: spec.seed,
        seed_given: options.uint("rand-seed") > 0,
        forced_shutdown_s: spec
            .forced_shutdown
            .map(|grace| (length(spec).unwrap_or_default() + grace).as_secs()),
        target: Some(&recording.record.target),
        server: recording.record.server.as_ref(),
    }
    .to_string()
}

fn debug_lines(recording: &Recording) -> String {
    let settings = recording
        .record
        .settings
        .iter()
        .map(|s| format!("DEBUG: {} = {}\n", s.name, s.value));
    let notes = recording
        .record
        .notes
        .iter()
        .map(|n| format!("DEBUG: {n}\n"));
    settings.chain(notes).chain(["\n".to_string()]).collect()
}

fn summary(
    options: &OptionValues,
    percentiles: &[f64],
    result: &RunResult,
    spec: &RunSpec,
    no_checkpoints: bool,
) -> Result<String, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::new(ExitCode::Failed, e.to_string());
    let mut text = String::new();
    if options.uint("verbosity") > 3 || options.flag("debug") {
        let by_events = spec
            .events
            .is_some_and(|events| result.totals.all.count >= events);
        text.push_str(&sysbench::ending(by_events, spec.terminals));
    }
    let totals = if no_checkpoints {
        &result.totals
    } else {
        &result.since_checkpoint
    };
    if options.flag("histogram") {
        let encoded = totals.all.response.as_ref().unwrap_or(&totals.all.service);
        let latencies = Histogram::decode(&encoded.0).map_err(|e| failed(&e))?;
        text.push_str(&sysbench::histogram(&latencies));
    }
    let mut summary = Summary::of_totals(totals, percentiles).map_err(|e| failed(&e))?;
    summary.total_time_s = result.totals.elapsed_s;
    text.push_str(&summary.to_string());
    if options.flag("debug") {
        text.push_str("DEBUG: Verbose per-thread statistics:\n\n");
        for (number, (events, busy)) in result.sessions.iter().enumerate() {
            text.push_str(&format!(
                "DEBUG:     thread #{number:>3}: events: {events}  time: {:.4}s\n",
                busy.as_secs_f64()
            ));
        }
        text.push('\n');
    }
    text.push_str(&sysbench::errors(result.errors.counts()));
    Ok(text)
}

/// What sysbench has no words for.
fn beyond(recording: &Recording) -> Result<String, Failure> {
    sysbench::beyond(&recording.record).map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::options::GROUPS;
    use super::*;

    #[test]
    fn the_command_that_prepares_makes_the_tables_that_the_run_needs() {
        let prepares = |workload: &str, given: &[(&str, &str)]| {
            let mut options = OptionValues::defaults(GROUPS.iter().map(|g| g.options));
            for (name, value) in given {
                options.set(name, value, Source::CommandLine).unwrap();
            }
            prepare_command(tidemark_workloads::find(workload).unwrap(), &options)
        };
        let given = [("threads", "2"), ("target", "sqlite:a.db"), ("time", "5")];
        let bulk = prepares("bulk_insert", &given);
        assert!(bulk.contains("--threads=2"), "{bulk}");
        let other = prepares("oltp_read_only", &given);
        assert!(!other.contains("--threads"), "{other}");
        assert!(!other.contains("--time"), "{other}");
    }
}
