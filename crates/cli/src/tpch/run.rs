//! `run`: ask, time, compare, tell, keep.

use super::answers::Answers;
use super::asked::{Asked, Test};
use super::refresh::Marks;
use super::watch::{Told, Watch};
use crate::exit::{ExitCode, Failure};
use crate::gotpc::Work;
use crate::output::{self, Stdout};
use crate::outputs::{Outputs, complain, say};
use crate::plan::Plan;
use crate::recording::{Described, Recording, describe};
use crate::storing::Storing;
use crate::{interrupt, progress, ready};
use std::io::Write;
use std::time::Duration;
use tidemark_core::RunSpec;
use tidemark_core::record::{AnswerVerdict, QueryOutcome, RunRecord, RunState, Totals};
use tidemark_drivers::Dialect;
use tidemark_engine::{
    EngineError, RunResult, Step, Stream, StreamsSpec, Until, plans, run_streams,
};
use tidemark_report::tpch;

/// The table whose rows tell the scale factor.
const CUSTOMER: &str = "customer";

/// Asks the queries and tells what they took.
///
/// # Errors
/// [`Failure`] when nothing could be asked; when queries failed, took too long, or answered wrongly:
/// what was measured is kept all the same.
pub(super) fn run(work: &Work<'_>, args: &[String]) -> Result<ExitCode, Failure> {
    let options = work.options;
    let outputs = Outputs::new(options)?;
    let asked = Asked::new(options)?;
    let plan = work.plan(false)?;
    let prepare = work.prepare_command();
    let mut aside = work.aside();
    let described = describe(&plan.connector, &plan.workload, asked.streams)
        .map_err(|error| ready::failed(error, &prepare))?;
    let needed = plan.workload.needs(asked.streams);
    ready::tables(&needed, &described, options.flag("force"), &prepare)?;
    let dialect = Dialect::new(described.server.engine);
    let marks = restored(&plan, &asked, dialect, &mut aside)?;
    right_size(&described, options.text("sf"), &prepare)?;
    let answers = Answers::find(&asked, options, &plan.workload, &mut aside)?;
    let spec = StreamsSpec {
        until: asked.until,
        query_limit: asked.limit,
        setup: if options.flag("enable-query-tuning") {
            dialect.tune_for_analytics()
        } else {
            Vec::new()
        },
        reconnect_timeout: options.time("reconnect-timeout"),
    };
    let recorded = RunSpec {
        sessions: asked.streams,
        terminals: asked.streams,
        seed: asked.seed.unwrap_or(0),
        ..RunSpec::default()
    };
    let mut recording = Recording::new(
        args,
        work.definition.name,
        &plan.target,
        options,
        &recorded,
        described,
    );
    say(&mut aside, &header(&asked, &recording.record));
    let mut storing = Storing::open(options.text_opt("store"));
    complain(&mut storing);
    let tests = asked.tests(&plan.workload, dialect);
    if asked.sets() > 0 {
        marks.write(&plan.connector, asked.sets())?;
    }
    let measured = measure(
        work,
        &Measured {
            asked: &asked,
            plan: &plan,
            spec: &spec,
            tests: &tests,
            answers: answers.as_ref(),
        },
        &mut recording,
        &mut storing,
        &mut aside,
    );
    recording.finish(&measured);
    if asked.sets() > 0 {
        put_back(&marks, &plan, &asked, dialect, &mut recording, &mut aside);
    }
    if measured.failure.is_none() {
        keep_plans(
            &plan,
            &tests,
            options.flag("use-explain"),
            &spec,
            &mut recording.record,
        );
    }
    say(&mut aside, "Finished\n");
    let theirs = tpch::summary(&recording.record, work.style);
    let ours = tpch::results(&recording.record, work.lang);
    say(&mut Stdout, &theirs);
    say(&mut aside, &ours);
    let kept = outputs.keep(&mut recording, &mut storing, &mut aside)?;
    if output::failure().is_some() && !kept {
        // The only place left.
        eprint!("{theirs}{ours}");
    }
    match (measured.state, measured.failure) {
        (RunState::Interrupted, _) => Ok(ExitCode::Interrupted),
        (_, Some(error)) => Err(ready::failed(error, &prepare)),
        _ => verdict(&recording.record),
    }
}

/// What is measured and how.
struct Measured<'a> {
    asked: &'a Asked,
    plan: &'a Plan,
    spec: &'a StreamsSpec,
    tests: &'a [Vec<Stream>],
    answers: Option<&'a Answers>,
}

/// Runs the tests one after the other.
fn measure(
    work: &Work<'_>,
    what: &Measured<'_>,
    recording: &mut Recording,
    storing: &mut Storing,
    aside: &mut dyn Write,
) -> RunResult {
    let asked = what.asked;
    let questions = asked.questions();
    let steps: usize = what.tests.iter().flatten().map(|s| s.steps.len()).sum();
    let total = if asked.until == Until::Once { steps } else { 0 };
    let mut watch = Watch {
        asked,
        questions: &questions,
        answers: what.answers,
        out: &mut Stdout,
        aside,
        recording,
        storing,
        style: work.style,
        every: work.options.time("interval"),
        bar: progress::bar(total as u64, "queries"),
        before: Duration::ZERO,
        last_end: Duration::ZERO,
        told: Told::default(),
    };
    let mut failure = None;
    for streams in what.tests {
        let stop = interrupt::handle();
        let ran = run_streams(&what.plan.connector, streams, what.spec, &stop, &mut watch);
        watch.before += ran.as_ref().map_or(watch.last_end, |took| *took);
        watch.last_end = Duration::ZERO;
        if let Err(error) = ran {
            failure = Some(error);
            break;
        }
    }
    if !watch.every.is_zero() {
        watch.lines();
    }
    watch.bar.finish_and_clear();
    let totals = watch.told.totals(watch.before);
    result(failure, totals, asked.streams, watch.told)
}

fn result(failure: Option<EngineError>, totals: Totals, sessions: usize, told: Told) -> RunResult {
    RunResult {
        state: match &failure {
            None => RunState::Finished,
            Some(EngineError::Interrupted) => RunState::Interrupted,
            Some(error) => RunState::Failed(error.to_string()),
        },
        failure,
        executors: sessions,
        sessions_opened: sessions,
        since_checkpoint: totals.clone(),
        totals,
        steps: Vec::new(),
        outages: Vec::new(),
        errors: told.errors,
        sessions: Vec::new(),
    }
}

/// What marks say; tables that a run before this one left changed are put back first.
fn restored(
    plan: &Plan,
    asked: &Asked,
    dialect: Dialect,
    aside: &mut dyn Write,
) -> Result<Marks, Failure> {
    let mut marks = Marks::read(&plan.connector)?;
    if asked.refresh {
        marks.must_be_ours()?;
        if asked.sets() > tidemark_workloads::tpch::SETS {
            return Err(Failure::usage(
                "--streams: there are 1000 sets of refreshes",
            ));
        }
    }
    if marks.sets > 0 {
        say(
            aside,
            "A run that did not end left the tables changed by RF1 and RF2: putting them back\n",
        );
        marks.put_back(&plan.connector, &plan.workload, asked, marks.sets, dialect)?;
        marks.sets = 0;
    }
    Ok(marks)
}

fn put_back(
    marks: &Marks,
    plan: &Plan,
    asked: &Asked,
    dialect: Dialect,
    recording: &mut Recording,
    aside: &mut dyn Write,
) {
    let sets = asked.sets();
    let note = match marks.put_back(&plan.connector, &plan.workload, asked, sets, dialect) {
        Ok(()) => format!(
            "RF1 and RF2 changed orders and lineitem by {sets} sets of a thousandth each; after the \
             measurement the tables were put back as they were loaded"
        ),
        Err(failure) => format!(
            "RF1 and RF2 changed orders and lineitem, and they are still changed: {failure}; the \
             next run puts them back"
        ),
    };
    say(aside, &format!("{note}\n"));
    recording.record.notes.push(note);
}

/// Whether the tables are of the size asked for.
fn right_size(described: &Described, scale: &str, prepare: &str) -> Result<(), Failure> {
    let customer = described.tables.iter().find(|t| t.table == CUSTOMER);
    let Some((there, asked)) = customer.and_then(|t| Some((t.rows, t.expected_rows?))) else {
        return Ok(());
    };
    if there == asked {
        return Ok(());
    }
    Err(Failure::new(
        ExitCode::NotPrepared,
        format!(
            "--sf={scale}: table {CUSTOMER} should have {asked} rows and has {there}, as at \
             --sf={}: ask for that, or load: {prepare} --dropdata",
            there as f64 / 150_000.0
        ),
    ))
}

/// Keeps the plan of each query as it was first asked. One that can't be had is a note.
fn keep_plans(
    plan: &Plan,
    tests: &[Vec<Stream>],
    analyze: bool,
    spec: &StreamsSpec,
    record: &mut RunRecord,
) {
    let mut queries: Vec<(String, String)> = Vec::new();
    for step in tests.iter().flatten().flat_map(|s| &s.steps) {
        if let Step::Query { name, sql } = step
            && !queries.iter().any(|(known, _)| known == name)
            && record.queries.iter().any(|q| q.name == *name)
        {
            queries.push((name.clone(), sql.clone()));
        }
    }
    match plans(&plan.connector, &queries, analyze, spec) {
        Ok(plans) => {
            for (name, plan) in plans {
                match plan {
                    Ok(text) => drop(record.plans.insert(name, text)),
                    Err(error) => {
                        let note = format!("the plan of {name} could not be read: {error}");
                        record.notes.push(note);
                    }
                }
            }
        }
        Err(error) => record
            .notes
            .push(format!("plans could not be read: {error}")),
    }
}

fn header(asked: &Asked, record: &RunRecord) -> String {
    let mut lines = vec![
        format!("tidemark {} (go-tpc output)", env!("CARGO_PKG_VERSION")),
        format!("Target: {}", record.target),
    ];
    if let Some(server) = &record.server {
        lines.push(format!("Server: {} {}", server.engine, server.version));
    }
    let values = match asked.seed {
        None => "validation parameters".to_string(),
        Some(seed) => format!("parameters of seed {seed}"),
    };
    lines.push(format!(
        "Scale factor: {}, streams: {}, {values}",
        asked.scale, asked.streams
    ));
    if asked.test == Test::Queries && asked.until == Until::Once {
        lines.push("Each query is asked once: --count and --time ask more".into());
    }
    lines.join("\n") + "\n\n"
}

/// How a run that came to its end ends.
fn verdict(record: &RunRecord) -> Result<ExitCode, Failure> {
    let queries = &record.queries;
    let wrong = queries.iter().find_map(|q| match &q.answer {
        AnswerVerdict::Wrong(difference) => Some((q, difference)),
        _ => None,
    });
    if let Some((query, difference)) = wrong {
        return Err(Failure::new(
            ExitCode::Check,
            format!("{} answered wrongly: {difference}", query.name),
        ));
    }
    let not_done = queries.iter().filter(|q| q.outcome != QueryOutcome::Done);
    let names: Vec<&str> = not_done.map(|q| q.name.as_str()).collect();
    if names.is_empty() {
        return Ok(ExitCode::Success);
    }
    Err(Failure::new(
        ExitCode::Failed,
        format!(
            "{} of {} queries have no result: {}; see above",
            names.len(),
            queries.len(),
            names.join(", ")
        ),
    ))
}
