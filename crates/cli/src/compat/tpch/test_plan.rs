//! What a run is asked to do: which queries, in which streams, with which values.

use crate::exit::Failure;
use crate::render::language;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tidemark_core::tpch::fewest_streams;
use tidemark_core::{OptionValues, Shard, did_you_mean};
use tidemark_drivers::Dialect;
use tidemark_engine::{Changes, Stream, StreamStep, Until};
use tidemark_report::Lang;
use tidemark_workloads::Workload;
use tidemark_workloads::tpch::{Parameters, Query, RefreshSet, order, query};

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestKind {
    /// The queries asked for, by `--threads` sessions, as go-tpc does.
    Queries,
    /// One stream between RF1 and RF2 (clause 5.3.3).
    Power,
    /// Several streams at the same time, and one of refreshes (clause 5.3.4).
    Throughput,
    /// The one after the other.
    Full,
}

/// One query of one stream, with its values.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub stream: usize,
    pub query: &'static Query,
    pub parameters: Parameters,
}

/// A run's options, understood.
#[derive(Debug, Clone)]
pub(super) struct TestPlan {
    pub test: TestKind,
    pub queries: Vec<&'static Query>,
    /// Streams of queries at the same time.
    pub streams: usize,
    /// Whether RF1 and RF2 are run.
    pub refresh: bool,
    /// `None` asks with the validation parameters.
    pub seed: Option<u64>,
    /// Whether the seed was given, and not taken from the clock.
    pub is_seeded: bool,
    pub until: Until,
    pub limit: Option<Duration>,
    pub check: bool,
    pub scale: f64,
    /// Language of progress.
    pub lang: Lang,
    /// Which of the streams are this client's.
    pub shard: Shard,
}

impl TestPlan {
    /// # Errors
    /// [`Failure`] of bad usage.
    pub fn new(options: &OptionValues) -> Result<Self, Failure> {
        let test = match options.text("test") {
            "power" => TestKind::Power,
            "throughput" => TestKind::Throughput,
            "full" => TestKind::Full,
            _ => TestKind::Queries,
        };
        let scale = options.float("sf");
        let refresh = test != TestKind::Queries && options.flag("refresh");
        let check = options.flag("check");
        if check && refresh {
            return Err(Failure::usage(format!(
                "--check and --test={} cannot be combined: RF1 and RF2 change the data, and \
                 reference answers exist only for the loaded data. Check first with tidemark \
                 tpch run --check, or skip the refreshes with --refresh=off",
                options.text("test")
            )));
        }
        let threads = usize::try_from(options.uint("threads")).unwrap_or(usize::MAX);
        let streams = usize::try_from(options.uint("streams")).unwrap_or(usize::MAX);
        let queries = queries(options)?;
        if test != TestKind::Queries && queries.len() != query::ALL.len() {
            return Err(Failure::usage(format!(
                "--queries={}: --test={} runs all 22 queries; omit --queries",
                options.text("queries"),
                options.text("test")
            )));
        }
        Ok(Self {
            test,
            queries,
            streams: match (test, streams) {
                (TestKind::Queries, _) => threads,
                (TestKind::Power, _) => 1,
                (_, 0) => fewest_streams(scale),
                (_, n) => n,
            },
            refresh,
            seed: match options.uint("seed") {
                // Clause 2.1.3: these tests ask with substitution values. A check needs known answers.
                0 if test != TestKind::Queries && !check => Some(clock_seed()),
                0 => None,
                seed => Some(seed),
            },
            is_seeded: options.uint("seed") != 0 || check,
            until: until(options, test, threads)?,
            limit: Some(options.time("query-timeout")).filter(|t| !t.is_zero()),
            check,
            scale,
            lang: language(options.text("lang")),
            shard: Shard::WHOLE,
        })
    }

    /// One client's part, where several ask together.
    ///
    /// # Errors
    /// [`Failure`] of a test whose parts follow each other, which one client alone can make.
    pub fn dealt(mut self, shard: Shard) -> Result<Self, Failure> {
        if shard.is_whole() {
            return Ok(self);
        }
        self.shared_by(shard.of)
            .map_err(|why| Failure::usage(format!("shard {shard}: {why}")))?;
        if self.test == TestKind::Throughput && !self.is_seeded {
            return Err(Failure::usage(format!(
                "shard {shard}: without --seed each client would draw other values from its clock; \
                 for example --seed=1"
            )));
        }
        self.shard = shard;
        Ok(self)
    }

    /// Whether so many clients can ask together.
    ///
    /// # Errors
    /// Why not, and what to use instead.
    pub fn shared_by(&self, clients: u32) -> Result<(), String> {
        let alone = match self.test {
            TestKind::Power => Some("--test=power has one stream"),
            TestKind::Full => Some("--test=full begins with one stream, the power test"),
            _ if self.refresh => Some("RF1 and RF2 are one stream and lock the tables"),
            _ => None,
        };
        if let Some(alone) = alone {
            return Err(format!(
                "{alone}, which clients can't share; use --test=throughput --refresh=off, or one client"
            ));
        }
        if u64::from(clients) > self.streams as u64 {
            return Err(format!(
                "{} streams can't be shared by {clients} clients; use at most as many clients as streams",
                self.streams
            ));
        }
        Ok(())
    }

    /// Streams of queries of this client.
    pub fn own_streams(&self) -> usize {
        self.shard.count_usize(self.streams)
    }

    /// Whether the stream of this position among those of the queries is this client's.
    fn is_own(&self, position: usize) -> bool {
        self.shard.is_own(position as u64)
    }

    /// The values of one query of one stream.
    fn parameters(&self, query: &Query, stream: usize) -> Parameters {
        match self.seed {
            None => Parameters::validation(query.number, self.scale),
            Some(seed) => Parameters::drawn(query.number, self.scale, seed, stream),
        }
    }

    /// Every query of every stream.
    pub fn questions(&self) -> Vec<Question> {
        let streams: Vec<usize> = match self.test {
            TestKind::Queries => (0..self.streams).collect(),
            TestKind::Power => vec![0],
            TestKind::Throughput => (1..=self.streams).collect(),
            TestKind::Full => (0..=self.streams).collect(),
        };
        let of = |stream| {
            let one = move |query: &&'static Query| Question {
                stream,
                query,
                parameters: self.parameters(query, stream),
            };
            self.queries.iter().map(one)
        };
        streams.into_iter().flat_map(of).collect()
    }

    /// The streams of each test, in order: tests follow each other, a test's streams run side by
    /// side.
    pub fn tests(&self, workload: &Arc<dyn Workload>, dialect: Dialect) -> Vec<Vec<Stream>> {
        let mut tests = Vec::new();
        if self.test == TestKind::Queries {
            let one = |number| Stream {
                number,
                steps: self
                    .queries
                    .iter()
                    .map(|q| self.step(q, number, &dialect))
                    .collect(),
                // As go-tpc: each thread begins with another query.
                first: number % self.queries.len().max(1),
            };
            let own = (0..self.streams).filter(|number| self.is_own(*number));
            tests.push(own.map(one).collect());
        }
        let change = |name: &str, set| refresh(workload, self.scale, name, set, dialect);
        if matches!(self.test, TestKind::Power | TestKind::Full) {
            let mut steps = Vec::new();
            if self.refresh {
                steps.extend(change("RF1", 1));
            }
            steps.extend(self.in_order(0, &dialect));
            if self.refresh {
                steps.extend(change("RF2", 1));
            }
            tests.push(vec![Stream {
                number: 0,
                steps,
                first: 0,
            }]);
        }
        if matches!(self.test, TestKind::Throughput | TestKind::Full) {
            let one = |number| Stream {
                number,
                steps: self.in_order(number, &dialect),
                first: 0,
            };
            let own = (1..=self.streams).filter(|number| self.is_own(number - 1));
            let mut streams: Vec<Stream> = own.map(one).collect();
            if self.refresh {
                let pairs = (1..=self.streams as u64)
                    .flat_map(|set| [change("RF1", set + 1), change("RF2", set + 1)]);
                streams.push(Stream {
                    number: self.refresh_stream(),
                    steps: pairs.flatten().collect(),
                    first: 0,
                });
            }
            tests.push(streams);
        }
        tests
    }

    /// The number of the stream of refreshes in a throughput test.
    fn refresh_stream(&self) -> usize {
        self.streams + 1
    }

    /// What a stream is called by who watches it.
    pub fn called(&self, stream: usize) -> String {
        let refreshes = matches!(self.test, TestKind::Throughput | TestKind::Full);
        match refreshes && stream == self.refresh_stream() {
            true => "refreshes".into(),
            false => format!("stream {stream}"),
        }
    }

    /// Everything that is asked, by name: queries in their order, then what changes the data.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.queries.iter().map(ToString::to_string).collect();
        if self.refresh {
            names.extend(["RF1", "RF2"].map(String::from));
        }
        names
    }

    /// The number under which a step is recorded: a pair of refreshes belongs to a stream of queries
    /// each.
    pub fn recorded_stream(&self, stream: usize, step: usize) -> usize {
        let refreshes = matches!(self.test, TestKind::Throughput | TestKind::Full)
            && stream == self.refresh_stream();
        if refreshes { step / 2 + 1 } else { stream }
    }

    /// The refresh sets that are used, from 1.
    pub fn sets(&self) -> u64 {
        match (self.refresh, self.test) {
            (false, _) | (_, TestKind::Queries) => 0,
            (_, TestKind::Power) => 1,
            (_, TestKind::Throughput | TestKind::Full) => self.streams as u64 + 1,
        }
    }

    fn in_order(&self, stream: usize, dialect: &Dialect) -> Vec<StreamStep> {
        let queries = order(stream).iter().filter_map(|n| Query::numbered(*n));
        queries.map(|q| self.step(q, stream, dialect)).collect()
    }

    fn step(&self, query: &Query, stream: usize, dialect: &Dialect) -> StreamStep {
        StreamStep::Query {
            name: query.to_string(),
            sql: query.sql(&self.parameters(query, stream), dialect),
        }
    }
}

/// A seed that the next run does not have; short enough to be typed again.
fn clock_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::from(since.map_or(1, |d| d.subsec_nanos() ^ d.as_secs() as u32)).max(1)
}

/// One refresh function of one set; `None` when there are not so many sets, which options rule out.
fn refresh(
    workload: &Arc<dyn Workload>,
    scale: f64,
    name: &str,
    number: u64,
    dialect: Dialect,
) -> Option<StreamStep> {
    let set = RefreshSet::new(workload, scale, number, dialect)?;
    let adds = name == "RF1";
    let changes: Changes = Arc::new(move || {
        if adds {
            Box::new(set.insertions())
        } else {
            Box::new(set.deletions())
        }
    });
    Some(StreamStep::Change {
        name: name.into(),
        changes,
    })
}

fn queries(options: &OptionValues) -> Result<Vec<&'static Query>, Failure> {
    let mut found: Vec<&'static Query> = Vec::new();
    for name in options.list("queries") {
        let Some(query) = Query::named(name) else {
            let names: Vec<String> = query::ALL
                .iter()
                .map(|q| format!("q{}", q.number))
                .collect();
            let near = did_you_mean(name, names.iter().map(String::as_str));
            return Err(Failure::usage(format!(
                "--queries={}: unknown query {name:?}; use q1 to q22, for example \
                 --queries=q1,q6{near}",
                options.text("queries")
            )));
        };
        found.push(query);
    }
    if found.is_empty() {
        return Err(Failure::usage(
            "--queries is empty; use q1 to q22, for example --queries=q1,q6",
        ));
    }
    Ok(found)
}

fn until(options: &OptionValues, test: TestKind, threads: usize) -> Result<Until, Failure> {
    let time = Some(options.time("time")).filter(|t| !t.is_zero());
    let count = Some(options.uint("count")).filter(|n| *n > 0);
    if test != TestKind::Queries {
        let given = [("time", time.is_some()), ("count", count.is_some())];
        return match given.iter().find(|(_, given)| *given) {
            None => Ok(Until::Once),
            Some((name, _)) => Err(Failure::usage(format!(
                "--{name} and --test={} cannot be combined: each stream runs its 22 queries once",
                options.text("test")
            ))),
        };
    }
    Ok(match (time, count) {
        (Some(time), _) => Until::Time(time),
        // As go-tpc: each thread does its share.
        (None, Some(count)) => Until::Steps((count / threads.max(1) as u64).max(1)),
        (None, None) => Until::Once,
    })
}

#[cfg(test)]
mod tests {
    use super::super::TOOL;
    use super::*;
    use crate::compat::gotpc::parse;
    use std::collections::BTreeSet;
    use tidemark_core::{Engine, Source};
    use tidemark_workloads::find;

    /// The plan of one client, and its streams with what they do, as text.
    fn streams(given: &[(&str, &str)], shard: Shard) -> Result<BTreeSet<String>, Failure> {
        let definition = find("tpch").unwrap();
        let mut options = parse::defaults(&TOOL, definition);
        for (name, value) in given {
            options.set(name, value, Source::CommandLine).unwrap();
        }
        let workload = (definition.build)(&definition.defaults()).unwrap();
        let plan = TestPlan::new(&options)?.dealt(shard)?;
        let tests = plan.tests(&workload, Dialect::new(Engine::Mariadb));
        assert_eq!(tests.concat().len(), plan.own_streams());
        let sql = |step: &StreamStep| match step {
            StreamStep::Query { sql, .. } => sql.clone(),
            StreamStep::Change { name, .. } => name.clone(),
        };
        let shown = |stream: &Stream| {
            let steps: Vec<String> = stream.steps.iter().map(sql).collect();
            format!("{} {} {}", stream.number, stream.first, steps.join(";"))
        };
        Ok(tests.iter().flatten().map(shown).collect())
    }

    #[test]
    fn clients_ask_the_streams_of_one() {
        let throughput = [
            ("test", "throughput"),
            ("refresh", "off"),
            ("seed", "7"),
            ("streams", "5"),
        ];
        for given in [&throughput[..], &[("threads", "5"), ("seed", "7")]] {
            let wanted = streams(given, Shard::WHOLE).unwrap();
            for of in 1..=5 {
                let mut found = BTreeSet::new();
                for index in 0..of {
                    let own = streams(given, Shard { index, of }).unwrap();
                    assert!(own.iter().all(|stream| found.insert(stream.clone())));
                }
                assert_eq!(found, wanted, "{of}");
            }
        }
        let shard = Shard { index: 0, of: 2 };
        for (given, said) in [
            (&[("test", "power"), ("seed", "1")][..], "one stream"),
            (&[("test", "throughput"), ("seed", "1")], "RF1 and RF2"),
            (
                &[("test", "throughput"), ("refresh", "off"), ("streams", "3")],
                "--seed=1",
            ),
            (
                &[("threads", "1")],
                "1 streams can't be shared by 2 clients",
            ),
        ] {
            let error = streams(given, shard).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
