//! The right answers to what a run asks: stored ones, or SQLite's on the same data.

use super::size;
use super::test_plan::{Question, TestPlan};
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::record_outputs::say;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidemark_core::record::AnswerVerdict;
use tidemark_core::{Engine, OptionValues, Protocol, Target, redact_url};
use tidemark_drivers::{ConnectOptions, Connector, Dialect, RowSet};
use tidemark_engine::{
    LoadObserver, LoadSpec, Replace, StepOutcome, StepResult, Stream, StreamStep, StreamsObserver,
    StreamsSpec, run_streams,
};
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::Query;
use tidemark_workloads::tpch::answers::{Precision, QueryAnswer, Stored, compare};

/// The largest scale factor at which a reference is made when none is named: SQLite takes minutes.
const LARGEST_OWN: f64 = 1.0;

/// The right answers, by query and values.
pub(super) struct Answers {
    right: HashMap<(u8, Vec<String>), QueryAnswer>,
    precision: Precision,
}

impl Answers {
    /// Finds the right answers of all questions, or makes them; `None` when nobody asked for a check.
    ///
    /// # Errors
    /// [`Failure`] of bad usage when there is nothing to compare with; why the reference could not be
    /// made or did not answer.
    pub fn find(
        asked: &TestPlan,
        options: &OptionValues,
        workload: &Arc<dyn Workload>,
        out: &mut dyn Write,
    ) -> Result<Option<Self>, Failure> {
        if !asked.check {
            return Ok(None);
        }
        let questions = asked.questions();
        let named = options.text_opt("reference");
        if let (None, None) = (asked.seed, named) {
            let stored = Stored::at(asked.scale)
                .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
            if let Some(stored) = stored {
                let answer = |q: &Question| {
                    let answer = stored.answer(q.query)?.clone();
                    Some(((q.query.number, q.parameters.values().to_vec()), answer))
                };
                return Ok(Some(Self {
                    right: questions.iter().filter_map(answer).collect(),
                    precision: stored.precision,
                }));
            }
        }
        let right = match named {
            Some(url) => ask(&reference(url, workload)?, &questions)?,
            None if asked.scale > LARGEST_OWN => {
                return Err(Failure::usage(format!(
                    "--check at --sf={}: answers are stored for the validation parameters at \
                     --sf=1 and --sf=0.01, and computed by SQLite up to --sf=1; for larger ones \
                     set --reference=sqlite:FILE, a database with the same tables, loaded with: \
                     tidemark tpch prepare --target sqlite:FILE --sf {}",
                    options.text("sf"),
                    options.text("sf")
                )));
            }
            None => own(workload, &questions, out)?,
        };
        Ok(Some(Self {
            right,
            precision: Precision::Close,
        }))
    }

    /// Compares an engine's rows.
    pub fn judge(&self, query: &Query, parameters: &[String], rows: &RowSet) -> AnswerVerdict {
        let Some(right) = self.right.get(&(query.number, parameters.to_vec())) else {
            return AnswerVerdict::Unchecked;
        };
        match compare(query, right, &QueryAnswer::of(rows), self.precision) {
            Ok(()) => AnswerVerdict::Right,
            Err(difference) => AnswerVerdict::Wrong(difference.to_string()),
        }
    }
}

/// The reference that the user names: SQLite, with tables of the same size.
fn reference(url: &str, workload: &Arc<dyn Workload>) -> Result<Connector, Failure> {
    const ALLOWED: &str = "a SQLite database with the same tables, for example \
                           --reference=sqlite:tpch.db";
    let target = Target::parse(url)?;
    if target.protocol != Protocol::Sqlite {
        return Err(Failure::usage(format!(
            "--reference={}: must be {ALLOWED}",
            redact_url(url)
        )));
    }
    let connector = Connector::new(target, ConnectOptions::default())?.must_exist();
    let dialect = Dialect::new(Engine::Sqlite);
    let rows = size::counted(&connector)?;
    match size::planned(workload, dialect, size::CUSTOMER) {
        Some(asked) if asked != rows => Err(Failure::usage(format!(
            "--reference={url}: its table {} should have {asked} rows and has {rows}: must be \
             {ALLOWED}",
            size::CUSTOMER
        ))),
        _ => Ok(connector),
    }
}

/// SQLite's answers on tables that are made for them and removed.
fn own(
    workload: &Arc<dyn Workload>,
    questions: &[Question],
    out: &mut dyn Write,
) -> Result<HashMap<(u8, Vec<String>), QueryAnswer>, Failure> {
    let failed = |e: std::io::Error| {
        let said = format!("no temporary folder for the reference database: {e}");
        Failure::new(ExitCode::Failed, said)
    };
    let folder = TempDir::with_prefix("tidemark-").map_err(failed)?;
    let file = folder.path().join("reference.db");
    let connector = Connector::new(
        Target::sqlite(file.display().to_string()),
        ConnectOptions::default(),
    )?;
    let begun = Instant::now();
    say(
        out,
        "Computing reference answers with the same tables in SQLite, in a temporary folder…\n",
    );
    let spec = LoadSpec {
        threads: 1,
        terminals: 1,
        chunk_rows: 0,
        seed: 1,
        method: None,
        replace: Replace::Nothing,
        ..LoadSpec::default()
    };
    let stop = interrupt::handle();
    tidemark_engine::prepare(&connector, workload, &spec, &stop, &mut Silent)?;
    let answers = ask(&connector, questions)?;
    let seconds = begun.elapsed().as_secs_f64();
    say(out, &format!("…done in {seconds:.1} s\n\n"));
    Ok(answers)
}

/// The reference's answers.
fn ask(
    connector: &Connector,
    questions: &[Question],
) -> Result<HashMap<(u8, Vec<String>), QueryAnswer>, Failure> {
    let dialect = Dialect::new(Engine::Sqlite);
    let mut unique: Vec<&Question> = Vec::new();
    for question in questions {
        let same = |u: &&Question| {
            u.query.number == question.query.number && u.parameters == question.parameters
        };
        if !unique.iter().any(same) {
            unique.push(question);
        }
    }
    let step = |q: &&Question| StreamStep::Query {
        name: q.query.to_string(),
        sql: q.query.sql(&q.parameters, &dialect),
    };
    let stream = Stream {
        number: 0,
        steps: unique.iter().map(step).collect(),
        first: 0,
    };
    let mut seen = Collected::default();
    let stop = interrupt::handle();
    run_streams(
        connector,
        &[stream],
        &StreamsSpec::default(),
        &stop,
        &mut seen,
    )?;
    let mut answers = HashMap::new();
    for result in seen.0 {
        let Some(question) = unique.get(result.step) else {
            continue;
        };
        match result.outcome {
            StepOutcome::Done(rows) => {
                let values = question.parameters.values().to_vec();
                answers.insert((question.query.number, values), QueryAnswer::of(&rows));
            }
            StepOutcome::Failed(error) => {
                let said = format!("the reference database failed on {}: {error}", result.name);
                return Err(Failure::new(ExitCode::Failed, said));
            }
            StepOutcome::TimedOut => {
                let said = format!("the reference database timed out on {}", result.name);
                return Err(Failure::new(ExitCode::Failed, said));
            }
        }
    }
    Ok(answers)
}

#[derive(Default)]
struct Collected(Vec<StepResult>);

impl StreamsObserver for Collected {
    fn started(&mut self, _ahead: Duration) {}
    fn ended(&mut self, result: StepResult) {
        self.0.push(result);
    }
}

/// Says nothing of the reference's load.
struct Silent;

impl LoadObserver for Silent {
    fn creating(&mut self, _table: &str, _rows: u64, _rows_there: u64) {}
    fn joining(&mut self, _others: usize) {}
    fn progress(&mut self, _done: u64, _total: u64) {}
    fn indexing(&mut self, _table: &str) {}
    fn verifying(&mut self) {}
}
