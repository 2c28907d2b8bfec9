//! Made runs: what a cause needs is set, the rest is that of a run in which nothing is wrong.

use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::record::{
    DeadSide, DeadTime, EncodedHistogram, Interval, LatencyEnd, RunRecord, RunState, TypeStats,
};
use tidemark_core::series::{Measures, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ServerInfo};
use tidemark_diagnosis::{Cause, Confidence, Diagnosis, Finding, diagnose};
use tidemark_stats::Histogram;

pub const SECONDS: i64 = 30;

/// A key of series: source, name, labels.
type Key = (
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
);

/// A run in the making.
#[derive(Clone)]
pub struct Made {
    pub record: RunRecord,
    series: BTreeMap<Key, Vec<f64>>,
    /// Transactions of each second.
    rates: Vec<u64>,
    /// Service time, and of it the server's and the way's.
    service_ms: f64,
    server_ms: Option<f64>,
    wait_ms: Option<f64>,
    /// Whether each transaction takes the same time.
    is_even: bool,
    /// In which seconds so many transactions took so many milliseconds.
    slow: Option<(Vec<usize>, u64, f64)>,
}

/// PostgreSQL on this host of four cores: eight sessions, 1,000 transactions a second of 8 ms, half of the
/// CPU idle, sessions in the server for half of the time.
pub fn run() -> Made {
    let mut record = RunRecord {
        state: RunState::Finished,
        workload: "oltp_read_write".into(),
        latency_end: LatencyEnd::Session,
        target_on_client: Some(true),
        sessions: 8,
        executors: 4,
        server: Some(ServerInfo {
            engine: Engine::Postgres,
            version: "15".into(),
        }),
        dead_times: Some(Vec::new()),
        ..RunRecord::default()
    };
    record.totals.elapsed_s = SECONDS as f64;
    record.totals.statements.read = 10 * 1000 * SECONDS as u64;
    record.totals.statements.write = 4 * 1000 * SECONDS as u64;
    record.totals.fairness.between_avg_s = Some(0.1);
    let made = Made {
        record,
        series: BTreeMap::new(),
        rates: vec![1000; SECONDS as usize],
        service_ms: 8.0,
        server_ms: Some(7.5),
        wait_ms: None,
        is_even: false,
        slow: None,
    };
    made.busy(0.6)
        .threads(0.6, 20.0)
        .server(1.9, 100.0)
        .active("CPU", 2.8)
        .set("server-activity", "sessions", &[("state", "idle")], 5.2)
        .status("commits", 1000.0)
        .status("rows.read", 20_000.0)
        .status("buffer.requests", 50_000.0)
        .status("buffer.misses", 1.0)
        .status("transactions.oldest", 0.01)
        .status("checkpoints.requested", 0.0)
}

/// The same of MariaDB, which shows what sessions execute, and no waits.
pub fn mariadb() -> Made {
    let mut made = run();
    made.record.server = Some(ServerInfo {
        engine: Engine::Mariadb,
        version: "11.4".into(),
    });
    made.without("server-activity", "sessions")
        .without("server-status", "transactions.oldest")
        .without("server-status", "checkpoints.requested")
        .active("Sending data", 3.5)
        .set("server-activity", "sessions", &[("state", "idle")], 4.5)
        .status("locks.waits", 0.0)
        .status("locks.wait-time", 0.0)
        .status("history.length", 100.0)
        .status("checkpoint.age", 1e6)
        .status("checkpoint.most-age", 80e6)
        .status("pages.written", 100.0)
}

/// The same of MySQL 8.4, whose states have other names, and which tells the oldest transaction.
pub fn mysql() -> Made {
    let mut made = mariadb();
    made.record.server = Some(ServerInfo {
        engine: Engine::Mysql,
        version: "8.4.3".into(),
    });
    made.without("server-activity", "sessions")
        .active("executing", 3.5)
        .set("server-activity", "sessions", &[("state", "idle")], 4.5)
        .status("transactions.oldest", 0.0)
        .status("locks.waiting", 0.0)
}

/// SQLite on this host: so many transactions a second in the client's process, of so many milliseconds.
pub fn sqlite(rate: u64, ms: f64) -> Made {
    let mut made = run().load(rate, ms, ms);
    made.server_ms = None;
    made.record.server = Some(ServerInfo {
        engine: Engine::Sqlite,
        version: "3.50".into(),
    });
    made.without("server-process", "")
        .without("server-activity", "")
        .without("server-status", "")
}

impl Made {
    /// A figure that stays the same.
    pub fn set(
        self,
        source: &'static str,
        name: &'static str,
        labels: &[(&'static str, &'static str)],
        value: f64,
    ) -> Self {
        self.over_time(source, name, labels, &vec![value; SECONDS as usize])
    }

    /// A figure of each second.
    pub fn over_time(
        mut self,
        source: &'static str,
        name: &'static str,
        labels: &[(&'static str, &'static str)],
        values: &[f64],
    ) -> Self {
        self.series
            .insert((source, name, labels.to_vec()), values.to_vec());
        self
    }

    pub fn without(mut self, source: &str, name: &str) -> Self {
        self.series
            .retain(|(s, n, _), _| !(*s == source && (*n == name || name.is_empty())));
        self
    }

    /// The share of each of four cores that is busy.
    pub fn busy(self, share: f64) -> Self {
        ["0", "1", "2", "3"].iter().fold(self, |made, core| {
            made.set("client-host", "cpu.busy", &[("core", core)], share)
        })
    }

    /// Cores that the client's threads use, and milliseconds per second for which they wait for one.
    pub fn threads(self, cores: f64, delay: f64) -> Self {
        let label = [("threads", "load")];
        self.set("client-host", "threads.cpu", &label, cores).set(
            "client-host",
            "threads.run-delay",
            &label,
            delay,
        )
    }

    /// The same of the server's processes.
    pub fn server(self, cores: f64, delay: f64) -> Self {
        self.set("server-process", "process.cpu-user", &[], cores * 0.8)
            .set("server-process", "process.cpu-system", &[], cores * 0.2)
            .set("server-process", "process.run-delay", &[], delay)
    }

    /// Sessions at a statement, by what they wait for.
    pub fn active(self, wait: &'static str, sessions: f64) -> Self {
        let labels = [("state", "active"), ("wait", wait)];
        self.set("server-activity", "sessions", &labels, sessions)
    }

    pub fn status(self, name: &'static str, value: f64) -> Self {
        self.set("server-status", name, &[], value)
    }

    pub fn sessions(mut self, sessions: usize) -> Self {
        self.record.sessions = sessions;
        self
    }

    /// Transactions per second, the mean service time, and what of it was the server's and the way's.
    pub fn load(mut self, rate: u64, service_ms: f64, server_ms: f64) -> Self {
        self.rates = vec![rate; SECONDS as usize];
        (self.service_ms, self.server_ms) = (service_ms, Some(server_ms));
        let count = rate * SECONDS as u64;
        self.record.totals.statements.read = 10 * count;
        self.record.totals.statements.write = 4 * count;
        self
    }

    pub fn rates(mut self, rates: Vec<u64>) -> Self {
        self.rates = rates;
        self
    }

    /// So many arrivals per second, which waited so long for a session.
    pub fn asked(mut self, rate: f64, wait_ms: f64) -> Self {
        self.record.rate = Some(rate);
        self.wait_ms = Some(wait_ms);
        self
    }

    /// A closed loop whose transactions have response times: terminals share its sessions.
    pub fn terminals(mut self, terminals: usize, wait_ms: f64) -> Self {
        self.record.terminals = Some(terminals);
        self.wait_ms = Some(wait_ms);
        self
    }

    /// Only so long.
    pub fn lasting(mut self, seconds: usize) -> Self {
        let part = |of: u64| of * seconds as u64 / SECONDS as u64;
        self.rates.truncate(seconds);
        self.series.values_mut().for_each(|v| v.truncate(seconds));
        let totals = &mut self.record.totals;
        totals.elapsed_s = seconds as f64;
        totals.statements.read = part(totals.statements.read);
        totals.statements.write = part(totals.statements.write);
        self
    }

    /// No transaction ended from these milliseconds on, for so many.
    pub fn dead(mut self, times: &[(i64, f64)]) -> Self {
        let dead = times.iter().map(|(start_ms, length_ms)| DeadTime {
            start_ms: *start_ms,
            length_ms: *length_ms,
            side: DeadSide::Target,
            deadlocks: 0,
        });
        self.record.dead_times = Some(dead.collect());
        self
    }

    /// Sessions of others at a statement.
    pub fn others(self, wait: &'static str, sessions: f64) -> Self {
        let labels = [("state", "active"), ("wait", wait)];
        self.set("server-activity", "sessions.others", &labels, sessions)
    }

    /// In these seconds so many transactions took so many milliseconds.
    pub fn slow(mut self, seconds: &[usize], count: u64, ms: f64) -> Self {
        self.slow = Some((seconds.to_vec(), count, ms));
        self
    }

    pub fn even(mut self) -> Self {
        self.is_even = true;
        self
    }

    pub fn uneven(mut self) -> Self {
        self.is_even = false;
        self
    }

    pub fn with(mut self, change: impl Fn(&mut RunRecord)) -> Self {
        change(&mut self.record);
        self
    }

    /// Latencies of a second; of none where no second is told apart.
    fn of_second(&self, second: usize, count: u64) -> EncodedHistogram {
        let Some((seconds, slow, ms)) = &self.slow else {
            return EncodedHistogram::default();
        };
        let mut h = Histogram::new();
        h.add_encoded(&self.histogram(count, self.service_ms).0)
            .unwrap();
        for _ in 0..if seconds.contains(&second) { *slow } else { 0 } {
            h.record(Duration::from_secs_f64(ms / 1000.0));
        }
        EncodedHistogram(h.encode())
    }

    fn histogram(&self, count: u64, mean_ms: f64) -> EncodedHistogram {
        let mut h = Histogram::new();
        let width = match self.is_even {
            true => 0.2,
            false => 1.8,
        };
        for i in 0..count {
            let share = 1.0 - width / 2.0 + width * (i as f64 + 0.5) / count as f64;
            h.record(Duration::from_secs_f64(mean_ms * share / 1000.0));
        }
        EncodedHistogram(h.encode())
    }

    /// The record.
    pub fn record(&self) -> RunRecord {
        let mut record = self.record.clone();
        let count: u64 = self.rates.iter().sum();
        if count > 0 {
            let all = TypeStats {
                count,
                service: self.histogram(count, self.service_ms),
                server: self.server_ms.map(|ms| self.histogram(count, ms)),
                response: self
                    .wait_ms
                    .map(|wait| self.histogram(count, self.service_ms + wait)),
                wait: self.wait_ms.map(|wait| self.histogram(count, wait)),
                ..TypeStats::default()
            };
            record.totals.types = BTreeMap::from([("t".to_string(), all.clone())]);
            record.totals.all = all;
        }
        let intervals = self.rates.iter().enumerate().map(|(n, count)| Interval {
            start_ms: n as i64 * 1000,
            length_ms: 1000.0,
            types: BTreeMap::from([(
                "t".to_string(),
                TypeStats {
                    count: *count,
                    service: self.of_second(n, *count),
                    ..TypeStats::default()
                },
            )]),
            ..Interval::default()
        });
        record.intervals = intervals.collect();
        record.series = self
            .series
            .iter()
            .map(|((source, name, labels), values)| {
                let mut key = SeriesKey::new(source, name, "1/s", Measures::Gauge);
                for (label, value) in labels {
                    key = key.with(label, value);
                }
                let mut builder = SeriesBuilder::new(key, 6, 1000);
                for (second, value) in values.iter().enumerate() {
                    if value.is_finite() {
                        builder.push(second as i64 * 1000, *value);
                    }
                }
                builder.series().unwrap()
            })
            .collect();
        record
    }

    pub fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.record())
    }

    /// The finding of a cause, which must be there and the verdict.
    pub fn verdict(&self, cause: Cause) -> Finding {
        let diagnosis = self.diagnosis();
        assert_eq!(diagnosis.verdict, cause, "{diagnosis:#?}");
        let first = diagnosis.findings.into_iter().next().unwrap();
        assert!(!first.sentence.zh.is_empty() && !first.next.en.is_empty());
        assert!(!first.evidence.is_empty(), "{first:?}");
        assert!(!first.sentence.en.contains('{'), "{first:?}");
        first
    }

    /// The same, surely.
    pub fn sure(&self, cause: Cause) -> Finding {
        let found = self.verdict(cause);
        assert_eq!(found.confidence, Confidence::High, "{found:#?}");
        found
    }

    pub fn finds(&self, cause: Cause) -> bool {
        self.diagnosis().findings.iter().any(|f| f.cause == cause)
    }

    pub fn skips(&self, cause: Cause) -> bool {
        let diagnosis = self.diagnosis();
        let found = diagnosis.findings.iter().any(|f| f.cause == cause);
        diagnosis.skipped.iter().any(|s| s.cause == cause) && !found
    }
}
