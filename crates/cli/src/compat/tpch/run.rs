//! `run`: ask, time, compare, tell, keep.

use super::answers::Answers;
use super::refresh::{self, Marks};
use super::share;
use super::size;
use super::test_plan::{TestKind, TestPlan};
use super::verdict::verdict;
use super::watch::{QueryTally, StreamsWatch};
use crate::clients;
use crate::compat::gotpc::GoTpcWork;
use crate::exit::{ExitCode, Failure};
use crate::live_output::LiveOutput;
use crate::looking::{Described, describe};
use crate::measuring::MeasuredRun;
use crate::plan::BoundWorkload;
use crate::record_outputs::say;
use crate::runner::{self, Console, JobOrder, Ready};
use crate::stdio::{Aside, Stdout};
use crate::texts::progress as texts;
use crate::{interrupt, progress, ready};
use std::io::Write;
use std::time::Duration;
use tidemark_compat::tpch::summary;
use tidemark_core::OptionValues;
use tidemark_core::record::{RunRecord, RunState, TableState, Totals};
use tidemark_drivers::Dialect;
use tidemark_engine::{
    EngineError, Guard, Lead, RunResult, StopHandle, Stream, StreamStep, StreamsSpec, Until, plans,
    run_streams,
};
use tidemark_report::tpch::results;
use tidemark_workloads::tpch::SETS;

/// Asks the queries and tells what they took.
///
/// # Errors
/// [`Failure`] when nothing could be asked; when queries failed, took too long, or answered wrongly:
/// what was measured is kept all the same.
pub(super) fn run(order: &JobOrder) -> Result<ExitCode, Failure> {
    let work = GoTpcWork::new(&super::TOOL, &order.options)?;
    let asked = TestPlan::new(&order.options)?.dealt(order.job.load.shard)?;
    if let Some(clients) = &order.job.clients {
        share::must_be_possible(&asked, clients)?;
    }
    let mut words = TpchConsole {
        asked,
        aside: work.aside(),
        work,
        tables: None,
        restored: Ok(()),
    };
    runner::run(order, &mut words)
}

/// go-tpc's words for a run of TPC-H, which is made of streams of queries.
struct TpchConsole<'a> {
    work: GoTpcWork<'a>,
    asked: TestPlan,
    aside: Aside,
    /// What was found of the tables before the run.
    tables: Option<Tables>,
    /// Whether they are as they were loaded after it.
    restored: Result<(), Failure>,
}

/// What a run must know of its tables.
struct Tables {
    dialect: Dialect,
    marks: Marks,
    guard: Option<Guard>,
    answers: Option<Answers>,
}

impl Console for TpchConsole<'_> {
    fn prepare_command(&self) -> String {
        self.work.prepare_command()
    }

    fn inspect(
        &mut self,
        order: &JobOrder,
        plan: &BoundWorkload,
        described: &mut Described,
    ) -> Result<(), Failure> {
        let (work, asked) = (&self.work, &self.asked);
        let aside = &mut self.aside;
        let (marks, guard) = marked(work, plan, asked, described, aside)?;
        if marks.sets > 0 || described.tables.iter().any(has_other_rows) {
            // They were put back since, here or by another client.
            let found = describe(&order.job, plan, described.topology.take());
            *described = found.map_err(|error| ready::failed(error, &work.prepare_command()))?;
        }
        self.tables = Some(Tables {
            dialect: Dialect::new(described.server.engine),
            marks,
            guard,
            answers: Answers::find(asked, work.options, &plan.workload, aside)?,
        });
        Ok(())
    }

    fn header(&mut self, _order: &JobOrder, record: &RunRecord) {
        say(&mut self.aside, &header(&self.asked, record));
    }

    fn measure<'b>(&mut self, ready: Ready<'b>) -> Result<MeasuredRun<'b>, Failure> {
        let Some(tables) = self.tables.take() else {
            return Err(Failure::new(ExitCode::Failed, "the tables are not known"));
        };
        let (plan, options) = (ready.plan(), self.work.options);
        self.change(plan, &tables)?;
        let asked = &self.asked;
        let spec = streams_spec(asked, options, tables.dialect, ready.lead());
        let tests = asked.tests(&plan.workload, tables.dialect);
        let mut measured = self.ask(ready, &tests, &spec, tables.answers.as_ref())?;
        let record = &mut measured.recording.record;
        if self.asked.sets() > 0 {
            self.restored = put_back(&self.asked, plan, &tables, record, &mut self.aside);
        }
        drop(tables);
        if measured.result.failure.is_none() {
            keep_plans(plan, &tests, options.flag("use-explain"), &spec, record);
        }
        Ok(measured)
    }

    fn summary(
        &mut self,
        _order: &JobOrder,
        measured: &MeasuredRun<'_>,
    ) -> Result<String, Failure> {
        let record = &measured.recording.record;
        let theirs = summary(record, self.work.style);
        let ours = results(record, self.work.lang);
        say(&mut self.aside, "Finished\n");
        say(&mut Stdout, &theirs);
        say(&mut self.aside, &ours);
        Ok(format!("{theirs}{ours}"))
    }

    fn aside(&mut self) -> &mut dyn Write {
        &mut self.aside
    }

    /// Rows were compared where it matters, and to count them all takes longer than many a query.
    fn looks_again(&self) -> bool {
        false
    }

    fn verdict(
        &mut self,
        result: RunResult,
        record: &RunRecord,
        prepare: &str,
    ) -> Result<ExitCode, Failure> {
        let ended = match (result.state, result.failure) {
            (RunState::Interrupted, _) => Ok(ExitCode::Interrupted),
            (_, Some(error)) => Err(ready::failed(error, prepare)),
            _ => verdict(record, self.asked.check),
        };
        match (ended, self.restored.clone()) {
            (ended, Ok(())) => ended,
            (Ok(_), Err(changed)) => Err(changed),
            (Err(error), Err(changed)) => Err(Failure::new(
                ExitCode::Failed,
                format!("{error}; and {changed}"),
            )),
        }
    }
}

impl TpchConsole<'_> {
    /// Looks whether the rows that refreshes change are as they were loaded, and marks them as changed.
    fn change(&mut self, plan: &BoundWorkload, tables: &Tables) -> Result<(), Failure> {
        let asked = &self.asked;
        if asked.sets() == 0 {
            return Ok(());
        }
        let (connector, workload) = (&plan.connector, &plan.workload);
        if asked.sets() > tables.marks.sets {
            say(&mut self.aside, LOOKING);
            let (stop, prepare) = (interrupt::handle(), self.work.prepare_command());
            let dialect = tables.dialect;
            refresh::must_be_as_loaded(connector, workload, asked, dialect, &prepare, &stop)?;
        }
        if let Some(lost) = tables.guard.as_ref().and_then(Guard::failure) {
            // Another client may change them by now.
            return Err(lost.into());
        }
        tables.marks.write(connector, asked.sets(), asked.scale)
    }

    /// Runs the tests one after the other.
    fn ask<'b>(
        &mut self,
        ready: Ready<'b>,
        tests: &[Vec<Stream>],
        spec: &StreamsSpec,
        answers: Option<&Answers>,
    ) -> Result<MeasuredRun<'b>, Failure> {
        let (work, asked) = (&self.work, &self.asked);
        let questions = asked.questions();
        let steps: usize = tests.iter().flatten().map(|s| s.steps.len()).sum();
        let all = (asked.until == Until::Once).then_some(steps as u64);
        let bar = progress::bar(all.unwrap_or(0), texts::queries(work.lang), work.lang);
        let mut out = Stdout;
        let outlet = LiveOutput::two(&mut out, &mut self.aside, bar);
        let every = work.options.time("interval");
        if let Some(several) = ready.job().clients.as_ref() {
            return clients::follow(ready, several, outlet, |making, drive| {
                let mut watch =
                    StreamsWatch::new(making, asked, &questions, work.style, every, all);
                let over = drive(&mut watch)?;
                if !every.is_zero() {
                    watch.lines();
                }
                let mut gathered = over.finish(watch.making.recording.record.clone())?;
                let record = &mut gathered.record;
                // Also those of a client that was lost.
                record.queries = std::mem::take(&mut watch.making.recording.record.queries);
                record.totals = Totals {
                    ignored_errors: record.totals.ignored_errors,
                    ..watch.told.totals(watch.last_end)
                };
                Ok(gathered)
            });
        }
        ready.measure_by(outlet, |making| {
            let mut watch = StreamsWatch::new(making, asked, &questions, work.style, every, all);
            watch.answers = answers;
            Ok(run_tests(tests, spec, watch))
        })
    }
}

/// How the streams of a test run.
pub(super) fn streams_spec(
    asked: &TestPlan,
    options: &OptionValues,
    dialect: Dialect,
    lead: Option<&Lead>,
) -> StreamsSpec {
    StreamsSpec {
        until: asked.until,
        query_limit: asked.limit,
        setup: match options.flag("enable-query-tuning") {
            true => dialect.tune_for_analytics(),
            false => Vec::new(),
        },
        reconnect_timeout: options.time("reconnect-timeout"),
        lead: lead.cloned(),
    }
}

/// Runs tests one after the other, which `watch` is told of.
pub(super) fn run_tests(
    tests: &[Vec<Stream>],
    spec: &StreamsSpec,
    mut watch: StreamsWatch<'_, '_>,
) -> RunResult {
    let plan = watch.making.plan;
    let mut failure = None;
    for streams in tests {
        let stop = interrupt::handle();
        let ran = run_streams(&plan.connector, streams, spec, &stop, &mut watch);
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
    let totals = watch.told.totals(watch.before);
    result(failure, totals, watch.sessions, watch.told)
}

/// Said before rows are compared.
const LOOKING: &str = "Checking the rows that RF1 and RF2 change against the loaded data\n";

/// Whether a table's rows are not those of its load.
fn has_other_rows(table: &TableState) -> bool {
    table.expected_rows.is_some_and(|rows| rows != table.rows)
}

fn result(
    failure: Option<EngineError>,
    totals: Totals,
    sessions: usize,
    told: QueryTally,
) -> RunResult {
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
        // A query may take long: only the client's own stops are known.
        dead_times: Some(told.stops),
        errors: told.errors,
        waiting_threads: None,
        sessions: Vec::new(),
    }
}

/// What marks said; tables that a run before this one left changed, by as many sets as they said,
/// were put back. A run that changes tables has their lock with it.
fn marked(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    asked: &TestPlan,
    described: &Described,
    aside: &mut dyn Write,
) -> Result<(Marks, Option<Guard>), Failure> {
    let options = work.options;
    let dialect = Dialect::new(described.server.engine);
    let mut marks = Marks::read(&plan.connector)?;
    if asked.sets() > SETS {
        return Err(Failure::usage(format!(
            "--streams={}: there are {SETS} refresh sets, one per stream and one for the power \
             test; the maximum is {}",
            asked.streams,
            SETS - 1
        )));
    }
    let mut guard = None;
    if asked.refresh || marks.sets > 0 {
        marks.must_be_ours()?;
        guard = Some(Guard::changing_rows(&plan.connector)?);
        // Who had the lock until now may have put them back.
        marks = Marks::read(&plan.connector)?;
    }
    let (scale, prepare) = (options.text("sf"), work.prepare_command());
    let workload = &plan.workload;
    size::must_be(
        scale,
        workload,
        &plan.connector,
        described,
        &marks,
        &prepare,
    )?;
    if marks.sets > 0 {
        if let Some(changed) = marks.scale.filter(|changed| *changed != asked.scale) {
            return Err(Failure::new(
                ExitCode::NotPrepared,
                format!(
                    "--sf={scale}: an interrupted run at --sf={changed} left the tables changed; \
                     run with --sf={changed} to restore them"
                ),
            ));
        }
        say(
            aside,
            "An interrupted run left the changes of RF1 and RF2 in the tables: restoring them\n",
        );
        let stop = interrupt::handle();
        let sets = marks.sets;
        marks.put_back(&plan.connector, workload, asked, sets, dialect, &stop)?;
    }
    Ok((marks, guard.filter(|_| asked.refresh)))
}

/// Puts the tables back after a run, also after one that was interrupted.
///
/// # Errors
/// [`ExitCode::Failed`]: they are still changed.
fn put_back(
    asked: &TestPlan,
    plan: &BoundWorkload,
    tables: &Tables,
    record: &mut RunRecord,
    aside: &mut dyn Write,
) -> Result<(), Failure> {
    let (connector, workload) = (&plan.connector, &plan.workload);
    let Tables {
        dialect,
        marks,
        guard,
        ..
    } = tables;
    let sets = asked.sets();
    // An interrupt was meant for the queries. One more ends the process at once.
    let stop = match interrupt::handle() {
        stop if stop.is_stopped() => StopHandle::new(),
        stop => stop,
    };
    let done = match guard.as_ref().and_then(Guard::failure) {
        // Another client may change them by now.
        Some(lost) => Err(Failure::from(lost)),
        None => marks.put_back(connector, workload, asked, sets, *dialect, &stop),
    };
    let note = match &done {
        Ok(()) => format!(
            "RF1 and RF2 changed orders and lineitem by {sets} refresh sets of 0.1% each; the \
             rows that they change were read before the measurement, and the tables were \
             restored after it"
        ),
        Err(failure) => format!("{failure}; the next run tries to restore them"),
    };
    say(aside, &format!("{note}\n"));
    record.notes.push(note.clone());
    done.map_err(|_| Failure::new(ExitCode::Failed, note))
}

/// Keeps the plan of each query as it was first asked. One that can't be had is a note.
fn keep_plans(
    plan: &BoundWorkload,
    tests: &[Vec<Stream>],
    analyze: bool,
    spec: &StreamsSpec,
    record: &mut RunRecord,
) {
    let mut queries: Vec<(String, String)> = Vec::new();
    for step in tests.iter().flatten().flat_map(|s| &s.steps) {
        if let StreamStep::Query { name, sql } = step
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

fn header(asked: &TestPlan, record: &RunRecord) -> String {
    let mut lines = vec![
        format!("tidemark {} (go-tpc output)", env!("TIDEMARK_VERSION")),
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
    if asked.test == TestKind::Queries && asked.until == Until::Once {
        lines.push("Each query runs once; --count and --time run more".into());
    }
    lines.join("\n") + "\n\n"
}
