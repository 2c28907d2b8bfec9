//! Takes down what streams do: judges answers, prints go-tpc's lines, keeps each query at once.

use super::answers::Answers;
use super::test_plan::{Question, TestPlan};
use crate::clients::Listener;
use crate::measuring::Making;
use crate::watching::run_info;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tidemark_compat::{OutputStyle, tpch};
use tidemark_core::record::{
    AnswerVerdict, DeadSide, DeadTime, EncodedHistogram, ErrorCount, Interval, Phase, QueryOutcome,
    QueryRun, StatementCounts, Step, Totals, TypeStats,
};
use tidemark_engine::{ErrorTally, Started, StepOutcome, StepResult, StreamsObserver};
use tidemark_live::Asking;
use tidemark_stats::Histogram;

/// What is told and kept while streams run.
pub(super) struct StreamsWatch<'a, 'o> {
    /// For go-tpc's lines, and the others.
    pub making: Making<'a, 'o>,
    pub asked: &'a TestPlan,
    pub questions: &'a [Question],
    pub answers: Option<&'a Answers>,
    pub style: OutputStyle,
    pub every: Duration,
    /// Queries in all, where that is known.
    pub all: Option<u64>,
    /// How long the tests before this one took.
    pub before: Duration,
    /// When this test's last query ended.
    pub last_end: Duration,
    pub told: QueryTally,
    /// Streams of this client.
    pub sessions: usize,
    /// Who else is told each query that ended.
    pub tell: Option<&'a dyn Fn(&QueryRun)>,
}

/// What has been told and counted so far.
#[derive(Default)]
pub(super) struct QueryTally {
    /// Whether the run is in the store.
    begun: bool,
    /// Queries in the record that are in go-tpc's lines.
    printed: usize,
    last: Option<Instant>,
    types: BTreeMap<String, Histogram>,
    pub errors: ErrorTally,
    /// Times in which the client did not run.
    pub stops: Vec<DeadTime>,
}

fn stats(histogram: &Histogram) -> TypeStats {
    TypeStats {
        count: histogram.count(),
        service: EncodedHistogram(histogram.encode()),
        ..TypeStats::default()
    }
}

impl QueryTally {
    /// The totals of queries that took so long in all.
    pub fn totals(&self, elapsed: Duration) -> Totals {
        let mut all = Histogram::new();
        self.types.values().for_each(|h| all.merge(h));
        let types = self.types.iter();
        Totals {
            elapsed_s: elapsed.as_secs_f64(),
            statements: StatementCounts {
                read: all.count(),
                ..StatementCounts::default()
            },
            ignored_errors: self.errors.total(),
            types: types.map(|(name, h)| (name.clone(), stats(h))).collect(),
            all: stats(&all),
            ..Totals::default()
        }
    }
}

impl<'a, 'o> StreamsWatch<'a, 'o> {
    /// Of a run that makes its load, with a line every so long; so many queries in all, where that is known.
    pub fn new(
        making: Making<'a, 'o>,
        asked: &'a TestPlan,
        questions: &'a [Question],
        style: OutputStyle,
        every: Duration,
        all: Option<u64>,
    ) -> Self {
        Self {
            making,
            asked,
            questions,
            answers: None,
            style,
            every,
            all,
            before: Duration::ZERO,
            last_end: Duration::ZERO,
            told: QueryTally::default(),
            sessions: asked.own_streams(),
            tell: None,
        }
    }
}

/// Milliseconds that somebody told.
fn length(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

fn how(outcome: &QueryOutcome) -> Asking {
    match outcome {
        QueryOutcome::Done => Asking::Done,
        QueryOutcome::TimedOut => Asking::TimedOut,
        QueryOutcome::Failed(_) => Asking::Failed,
    }
}

impl StreamsWatch<'_, '_> {
    /// go-tpc's lines of what ended since the last ones.
    pub fn lines(&mut self) {
        let new = self
            .making
            .recording
            .record
            .queries
            .get(self.told.printed..);
        let lines = tpch::current(new.unwrap_or_default(), self.style);
        self.told.printed = self.making.recording.record.queries.len();
        self.told.last = Some(Instant::now());
        self.making.say.say(&lines);
    }

    fn judged(&mut self, result: &StepResult) -> (AnswerVerdict, Vec<String>) {
        let asked = |q: &&Question| q.stream == result.stream && q.query.to_string() == result.name;
        let Some(question) = self.questions.iter().find(asked) else {
            return (AnswerVerdict::Unchecked, Vec::new());
        };
        let values = question.parameters.values().to_vec();
        let verdict = match (&result.outcome, self.answers) {
            (StepOutcome::Done(rows), Some(answers)) => {
                answers.judge(question.query, &values, rows)
            }
            _ => AnswerVerdict::Unchecked,
        };
        (verdict, values)
    }

    /// One query is one interval of the record, so that a killed process loses only those in
    /// progress.
    fn keep(&mut self, query: &QueryRun) {
        let end = length(query.start_ms + query.took_ms);
        let start = self.before + self.last_end;
        self.last_end = self.last_end.max(end.saturating_sub(self.before));
        let mut interval = Interval {
            start_ms: i64::try_from(start.as_millis()).unwrap_or(i64::MAX),
            length_ms: end.saturating_sub(start).as_secs_f64() * 1000.0,
            sessions: self.sessions as u64,
            ..Interval::default()
        };
        if query.outcome == QueryOutcome::Done {
            let mut one = Histogram::new();
            one.record(length(query.took_ms));
            interval.statements.read = 1;
            interval.types.insert(query.name.clone(), stats(&one));
            let known = self.told.types.entry(query.name.clone()).or_default();
            known.merge(&one);
        } else {
            interval.ignored_errors = 1;
        }
        self.making.interval(&interval);
    }

    /// Takes down a query that has ended.
    fn take(&mut self, query: QueryRun) {
        self.keep(&query);
        self.making.release_without_view();
        let bar = self.making.say.bar();
        bar.inc(1);
        bar.set_message(query.name.clone());
        if let Some(tell) = self.tell {
            tell(&query);
        }
        self.making.recording.record.queries.push(query);
        let due = self
            .told
            .last
            .is_none_or(|last| last.elapsed() >= self.every);
        if due && !self.every.is_zero() {
            self.lines();
        }
    }
}

/// What clients tell of streams that they ask.
impl Listener for StreamsWatch<'_, '_> {
    fn started(&mut self, begun: &Started) {
        StreamsObserver::started(self, begun.ahead);
    }

    fn errors(&mut self, phase: Phase, errors: &[ErrorCount]) {
        self.making.watching.errors(phase, errors);
    }

    fn interval(&mut self, _: &Interval) {}

    fn step(&mut self, _: &Step) {}

    fn query(&mut self, query: QueryRun) {
        if !self.told.begun {
            // Another client's start is told later.
            StreamsObserver::started(self, Duration::ZERO);
        }
        let (took, how) = (length(query.took_ms), how(&query.outcome));
        let watching = &mut self.making.watching;
        watching.query_ends(query.stream, &query.name, took, how);
        self.take(query);
    }

    fn notice(&mut self, text: &str) {
        self.making
            .say
            .say_aside(&format!("{}\n", crate::messages::in_language(text)));
    }
}

impl StreamsObserver for StreamsWatch<'_, '_> {
    fn started(&mut self, ahead: Duration) {
        if !std::mem::replace(&mut self.told.begun, true) {
            let begun = Started {
                sessions: self.sessions,
                fewer_because: None,
                executors: self.sessions,
                connect_time: Duration::ZERO,
                ahead,
            };
            self.making.begins(&begun);
            let job = self.making.job;
            let info = run_info(&self.making.recording.record, &job.load, &[]);
            let names = self.asked.names();
            if self.making.watching.streams_started(info, names, self.all) {
                self.making.say.hold();
            }
        }
    }

    fn begins(&mut self, stream: usize, _step: usize, name: &str) {
        let called = self.asked.called(stream);
        self.making
            .watching
            .query_begins(stream as u64, called, name);
    }

    fn waits(&mut self) {
        self.making.release_without_view();
    }

    fn stood_still(&mut self, start: Duration, length: Duration) {
        let start_ms = (self.before + start).as_millis();
        self.told.stops.push(DeadTime {
            start_ms: i64::try_from(start_ms).unwrap_or(i64::MAX),
            length_ms: length.as_secs_f64() * 1000.0,
            side: DeadSide::Client,
            ..DeadTime::default()
        });
    }

    fn ended(&mut self, result: StepResult) {
        let (answer, parameters) = self.judged(&result);
        let mut rows = 0;
        let outcome = match &result.outcome {
            StepOutcome::Done(answered) => {
                rows = answered.len() as u64;
                QueryOutcome::Done
            }
            StepOutcome::TimedOut => QueryOutcome::TimedOut,
            StepOutcome::Failed(error) => {
                self.told.errors.add(error);
                let mut one = ErrorTally::default();
                one.add(error);
                self.making.watching.errors(Phase::Measure, one.counts());
                QueryOutcome::Failed(error.to_string())
            }
        };
        let how = how(&outcome);
        let stream = result.stream as u64;
        let watching = &mut self.making.watching;
        watching.query_ends(stream, &result.name, result.took, how);
        let query = QueryRun {
            stream: self.asked.recorded_stream(result.stream, result.step) as u64,
            name: result.name,
            start_ms: (self.before + result.began).as_secs_f64() * 1000.0,
            took_ms: result.took.as_secs_f64() * 1000.0,
            rows,
            outcome,
            answer,
            parameters,
        };
        self.take(query);
    }
}
