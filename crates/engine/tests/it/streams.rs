//! Streams of queries on every engine.

use super::place::{Place, execute};
use std::time::Duration;
use tidemark_engine::{
    StepOutcome, StepResult, StopHandle, Stream, StreamStep, StreamsObserver, StreamsSpec, Until,
    plans, run_streams,
};

/// A minute's work of every engine: a CTE that counts.
const LONG: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) \
                    SELECT COUNT(*) FROM n a, n b, n c, n d WHERE a.i + b.i + c.i + d.i = 7";

#[derive(Default)]
struct Seen(Vec<StepResult>, Begun);

/// Steps in progress, by stream, index and name.
type Begun = Vec<(usize, usize, String)>;

impl StreamsObserver for Seen {
    fn started(&mut self, _ahead: Duration) {
        assert!(self.0.is_empty());
    }
    fn begins(&mut self, stream: usize, step: usize, name: &str) {
        self.1.push((stream, step, name.into()));
    }
    fn ended(&mut self, result: StepResult) {
        // Each was told of before.
        let step = (result.stream, result.step, result.name.clone());
        let begun = self.1.iter().position(|b| *b == step);
        self.1.remove(begun.unwrap());
        self.0.push(result);
    }
}

/// What goes on whenever nothing begins or ends.
#[derive(Default)]
struct GoesOn(Begun, Vec<Begun>);

impl StreamsObserver for GoesOn {
    fn started(&mut self, _ahead: Duration) {}
    fn begins(&mut self, stream: usize, step: usize, name: &str) {
        self.0.push((stream, step, name.into()));
    }
    fn waits(&mut self) {
        self.1.push(self.0.clone());
    }
    fn ended(&mut self, _result: StepResult) {
        self.0.clear();
    }
}

#[test]
fn what_goes_on_is_told_before_it_ends() {
    for (name, place) in Place::all("begins") {
        let mut seen = GoesOn::default();
        let streams = [stream(3, 0, vec![query("LONG", LONG)])];
        let spec = StreamsSpec {
            query_limit: Some(Duration::from_millis(700)),
            ..StreamsSpec::default()
        };
        let stop = StopHandle::default();
        run_streams(&place.connector(), &streams, &spec, &stop, &mut seen).unwrap();
        let long = vec![(3, 0, "LONG".to_string())];
        assert!(seen.1.contains(&long), "{name}: {:?}", seen.1);
    }
}

impl Seen {
    fn names(&self, stream: usize) -> Vec<&str> {
        let of = self.0.iter().filter(|r| r.stream == stream);
        of.map(|r| r.name.as_str()).collect()
    }
}

fn query(name: &str, sql: &str) -> StreamStep {
    StreamStep::Query {
        name: name.into(),
        sql: sql.into(),
    }
}

fn stream(number: usize, first: usize, steps: Vec<StreamStep>) -> Stream {
    Stream {
        number,
        steps,
        first,
    }
}

fn run(place: &Place, streams: &[Stream], spec: &StreamsSpec) -> Seen {
    let mut seen = Seen::default();
    let stop = StopHandle::default();
    run_streams(&place.connector(), streams, spec, &stop, &mut seen).unwrap();
    seen
}

#[test]
fn each_stream_does_its_list_in_its_order_and_gives_rows() {
    for (name, place) in Place::all("streams") {
        let steps = || vec![query("A", "SELECT 1, 'x'"), query("B", "SELECT 2, NULL")];
        let streams = [stream(0, 0, steps()), stream(5, 1, steps())];
        let seen = run(&place, &streams, &StreamsSpec::default());
        assert_eq!(seen.names(0), ["A", "B"], "{}", name);
        assert_eq!(seen.names(5), ["B", "A"], "{}", name);
        for result in &seen.0 {
            let StepOutcome::Done(rows) = &result.outcome else {
                panic!("{}: {:?}", name, result.outcome);
            };
            let first = if result.name == "A" { "1" } else { "2" };
            assert_eq!(rows.text(0, 0).as_deref(), Some(first), "{}", name);
            let second = (result.name == "A").then_some("x");
            assert_eq!(rows.text(0, 1).as_deref(), second, "{}", name);
        }
        let spec = StreamsSpec {
            until: Until::Steps(5),
            ..StreamsSpec::default()
        };
        let seen = run(&place, &[stream(0, 1, steps())], &spec);
        assert_eq!(seen.names(0), ["B", "A", "B", "A", "B"], "{}", name);
        let spec = StreamsSpec {
            until: Until::Time(Duration::ZERO),
            ..StreamsSpec::default()
        };
        assert!(run(&place, &streams, &spec).0.is_empty(), "{}", name);
    }
}

#[test]
fn a_query_that_takes_too_long_ends_neither_its_stream_nor_the_others() {
    for (name, place) in Place::all("limits") {
        let streams = [
            stream(0, 0, vec![query("LONG", LONG), query("B", "SELECT 2")]),
            stream(1, 0, vec![query("A", "SELECT 1"), query("B", "SELECT 2")]),
        ];
        let spec = StreamsSpec {
            query_limit: Some(Duration::from_millis(700)),
            ..StreamsSpec::default()
        };
        let seen = run(&place, &streams, &spec);
        assert_eq!(seen.names(0), ["LONG", "B"], "{}", name);
        assert_eq!(seen.names(1), ["A", "B"], "{}", name);
        for result in &seen.0 {
            let right = match &result.outcome {
                StepOutcome::TimedOut => {
                    let took = result.took.as_secs_f64();
                    result.name == "LONG" && (0.6..5.0).contains(&took)
                }
                StepOutcome::Done(_) => result.name != "LONG",
                StepOutcome::Failed(_) => false,
            };
            assert!(right, "{}: {result:?}", name);
        }
    }
}

#[test]
fn a_query_that_fails_is_told_and_the_next_goes_on() {
    for (name, place) in Place::all("failures") {
        let steps = vec![query("A", "SELECT * FROM nowhere"), query("B", "SELECT 2")];
        let seen = run(&place, &[stream(0, 0, steps)], &StreamsSpec::default());
        let failed = matches!(seen.0[0].outcome, StepOutcome::Failed(_));
        let done = matches!(seen.0[1].outcome, StepOutcome::Done(_));
        assert!(failed && done, "{}: {:?}", name, seen.0);
    }
}

#[test]
fn changes_are_transactions() {
    for (name, place) in Place::all("changes") {
        let sql = |statements: &[&str]| statements.iter().map(ToString::to_string).collect();
        execute(&place, &["CREATE TABLE t (a INTEGER PRIMARY KEY)"]);
        let transactions: Vec<Vec<String>> = vec![
            sql(&["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]),
            sql(&["INSERT INTO t VALUES (3)", "INSERT INTO t VALUES (1)"]),
            sql(&["INSERT INTO t VALUES (4)"]),
        ];
        let change = StreamStep::Change {
            name: "RF1".into(),
            changes: std::sync::Arc::new(move || Box::new(transactions.clone().into_iter())),
        };
        let steps = vec![change, query("SUM", "SELECT SUM(a) FROM t")];
        let seen = run(&place, &[stream(0, 0, steps)], &StreamsSpec::default());
        // The second breaks the key: it is taken back whole, and nothing comes after it.
        assert!(matches!(seen.0[0].outcome, StepOutcome::Failed(_)));
        let StepOutcome::Done(rows) = &seen.0[1].outcome else {
            panic!("{}: {:?}", name, seen.0[1]);
        };
        assert_eq!(rows.int(0, 0), Some(3), "{}", name);
    }
}

#[test]
fn plans_are_told_as_text() {
    for (name, place) in Place::all("plans") {
        let queries = [
            ("A".to_string(), "SELECT 1 AS one".to_string()),
            ("B".to_string(), "SELECT * FROM nowhere".to_string()),
        ];
        for analyze in [false, true] {
            let told = plans(
                &place.connector(),
                &queries,
                analyze,
                &StreamsSpec::default(),
            );
            let told = told.unwrap();
            let plan = told[0].1.as_ref().unwrap();
            assert!(!plan.is_empty(), "{}", name);
            assert!(told[1].1.is_err(), "{}", name);
        }
    }
}
