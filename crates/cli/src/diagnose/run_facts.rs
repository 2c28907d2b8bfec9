//! What runs of a diagnosis tell beside their throughput.

use super::client_cpu::may_use;
use std::time::Duration;
use tidemark_analysis::experiments::{self, FEWEST_PAIRS, HostCpu, Progress};
use tidemark_core::Engine;
use tidemark_core::record::{Phase, RunRecord};
use tidemark_observe::client_host;
use tidemark_stats::{Histogram, mean};

/// Transactions of a session in a run, on average: of fewer, those that its end cuts off are a good part.
const A_SESSIONS: f64 = 5.0;
/// Runs of the same differ by tenths, on a busy machine by halves.
const UNSTEADY: f64 = 2.0;

/// So many statements are due in half a second: of fewer, one decides.
const FEWEST_PINGS: usize = 25;

/// What baseline runs had, each in its order.
#[derive(Debug, Default)]
pub struct Facts {
    rates: Vec<f64>,
    means: Vec<f64>,
    client_use: Vec<f64>,
    host: Vec<HostCpu>,
    progress: Progress,
    pings: Vec<Duration>,
}

impl Facts {
    /// Adds a run; `before` is the share of the client's host that was busy before any.
    pub fn add(&mut self, record: &RunRecord, before: Option<f64>) {
        self.rates.push(rate(record));
        self.means.push(mean_ms(record));
        // A quota is of this host.
        let cores = match are_here(record) {
            true => may_use(record.client.cores),
            false => record.client.cores.max(1) as f64,
        };
        self.client_use.extend(client_use(record, cores));
        self.host.extend(host_cpu(record, before));
        add_progress(&mut self.progress, record);
    }

    /// Adds what statements waited that did nothing, beside a run.
    pub fn add_pings(&mut self, waited: Vec<Duration>) {
        self.pings.extend(waited);
    }

    /// Mean milliseconds of those; `None` of too few.
    pub fn loaded_ping_ms(&self) -> Option<f64> {
        let all = self.pings.iter().map(Duration::as_secs_f64);
        (self.pings.len() >= FEWEST_PINGS).then(|| mean(all) * 1000.0)
    }

    /// The share of the time in which no transaction ended.
    pub fn still(&self, sessions: usize) -> Option<f64> {
        self.progress.share_still(sessions)
    }

    /// Mean transactions a second. The first run of all found everything cold.
    pub fn rate(&self) -> f64 {
        mean(warm(&self.rates).iter().copied())
    }

    /// The lowest and the highest rate, where runs of the same differ so much that something beside the load
    /// must come and go.
    pub fn unsteady(&self) -> Option<(f64, f64)> {
        let rates = warm(&self.rates);
        let lowest = rates.iter().copied().reduce(f64::min)?;
        let highest = rates.iter().copied().reduce(f64::max)?;
        let is_unsteady = rates.len() >= FEWEST_PAIRS && highest > UNSTEADY * lowest;
        is_unsteady.then_some((lowest, highest))
    }

    /// Mean latency in milliseconds, of all transactions of all runs.
    pub fn mean_ms(&self) -> f64 {
        let (rates, means) = (warm(&self.rates), warm(&self.means));
        let each = rates.iter().zip(means).filter(|(rate, _)| **rate > 0.0);
        let sum: f64 = each.map(|(rate, mean)| rate * mean).sum();
        match rates.iter().sum::<f64>() {
            0.0 => mean(means.iter().copied()),
            all => sum / all,
        }
    }

    /// The client's CPU as a share of what its threads may use.
    pub fn client_use(&self) -> f64 {
        mean(self.client_use.iter().copied())
    }

    /// The CPU of the server's host, where it is the client's own.
    pub fn host(&self) -> Option<HostCpu> {
        let of = |part: fn(&HostCpu) -> f64| mean(self.host.iter().map(part));
        (!self.host.is_empty()).then(|| HostCpu {
            busy: of(|host| host.busy),
            before: of(|host| host.before),
            client: of(|host| host.client),
        })
    }
}

/// Adds what ended in each interval of a run.
pub fn add_progress(progress: &mut Progress, record: &RunRecord) {
    let measured = record.intervals.iter();
    for interval in measured.filter(|i| i.phase == Phase::Measure) {
        progress.add(interval.transactions());
    }
}

fn warm(values: &[f64]) -> &[f64] {
    match values {
        [_, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    }
}

/// Transactions a second.
pub fn rate(record: &RunRecord) -> f64 {
    let rate = record.totals.all.count as f64 / record.totals.elapsed_s;
    if rate.is_finite() { rate } else { 0.0 }
}

/// Sessions that were open: fewer than were asked for where the server or the client had no more.
pub fn opened(record: &RunRecord) -> usize {
    record.sessions_opened.unwrap_or(record.sessions)
}

/// The mean latency in milliseconds, as it was measured.
pub fn mean_ms(record: &RunRecord) -> f64 {
    let measured = Histogram::decode(&record.totals.all.service.0);
    match measured {
        Ok(latencies) if !latencies.is_empty() => latencies.mean_ns() / 1e6,
        _ => opened(record) as f64 / rate(record) * 1000.0,
    }
}

/// Round trips of a transaction; where nobody counted them, each statement is one.
pub fn round_trips(record: &RunRecord) -> f64 {
    let statements = record.totals.statements;
    let all = match statements.round_trips {
        0 => statements.total(),
        counted => counted,
    };
    all as f64 / (record.totals.all.count as f64).max(1.0)
}

/// How much later replies are to come in the experiment.
pub fn later(record: &RunRecord) -> Duration {
    let ms = experiments::later_ms(mean_ms(record), round_trips(record));
    // In tenths of milliseconds.
    Duration::from_micros((ms * 10.0).round() as u64 * 100)
}

/// CPU that the client took, of what it could: no more than its threads, of so many cores.
fn client_use(record: &RunRecord, cores: f64) -> Option<f64> {
    let seconds = record.usage.seconds.filter(|s| *s > 0.0)?;
    let engine = record.server.as_ref().map(|server| server.engine);
    let most = match (engine, record.executors) {
        // An embedded database's sessions have threads of their own, and it works in them.
        (Some(Engine::Sqlite), _) | (_, 0) => cores,
        (_, threads) => cores.min(threads as f64),
    };
    let all = record.usage.work_s() / seconds / most;
    // One of several that is full limits its part of the load, however idle the others are.
    let each = record.clients.iter().filter_map(|client| {
        let seconds = client.usage.seconds.filter(|s| *s > 0.0)?;
        let cores = client.host.cores.max(1);
        let most = match client.executors {
            0 => cores,
            threads => cores.min(threads),
        };
        Some(client.usage.work_s() / seconds / most as f64)
    });
    Some(each.fold(all, f64::max))
}

/// Whether all that made load did so on this host.
fn are_here(record: &RunRecord) -> bool {
    if record.clients.is_empty() {
        return true;
    }
    let here = client_host().hostname;
    record.clients.iter().all(|c| c.host.hostname == here)
}

/// The CPU of the host, where the server is there, too.
fn host_cpu(record: &RunRecord, before: Option<f64>) -> Option<HostCpu> {
    let seconds = record.usage.seconds.filter(|s| *s > 0.0)?;
    let is_there = record.target_on_client == Some(true) && are_here(record);
    let (busy, before) = record.usage.host_busy.zip(before).filter(|_| is_there)?;
    Some(HostCpu {
        busy,
        before,
        client: record.usage.work_s() / seconds / record.client.cores.max(1) as f64,
    })
}

/// Seconds of a run in which a session has several transactions of such a latency: not fewer than now, and
/// not more than leaves time for one experiment. The latency is no number where no transaction has ended.
pub fn seconds_for(mean_ms: f64, now: u64, budget: Duration) -> u64 {
    let runs = 2 * FEWEST_PAIRS as u64 + 2;
    let most = (budget.as_secs() / runs).max(now);
    let wanted = (A_SESSIONS * mean_ms / 1000.0).ceil();
    match wanted.is_finite() {
        true => (wanted as u64).clamp(now, most),
        false => (2 * now).min(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_differ_by_more_than_twice_are_unsteady() {
        let of = |rates: &[f64]| {
            let facts = Facts {
                rates: rates.to_vec(),
                ..Facts::default()
            };
            facts.unsteady()
        };
        // The first found everything cold.
        assert_eq!(of(&[10.0, 100.0, 110.0, 190.0, 120.0]), None);
        let lowest_and_highest = Some((80.0, 190.0));
        assert_eq!(of(&[10.0, 100.0, 80.0, 190.0, 120.0]), lowest_and_highest);
        assert_eq!(of(&[10.0, 100.0, 300.0]), None);
    }

    #[test]
    fn runs_are_so_long_that_slow_transactions_end() {
        let budget = Duration::from_secs(180);
        assert_eq!(seconds_for(5.0, 1, budget), 1);
        assert_eq!(seconds_for(1000.0, 1, budget), 5);
        // None has ended: twice as long, until nothing else has time.
        assert_eq!(seconds_for(f64::NAN, 1, budget), 2);
        assert_eq!(seconds_for(f64::INFINITY, 10, budget), 18);
        assert_eq!(seconds_for(60_000.0, 1, budget), 18);
        assert_eq!(seconds_for(60_000.0, 10, Duration::from_secs(20)), 10);
    }
    use tidemark_core::record::{ClientHost, ClientPart, ClientUsage, EncodedHistogram, TypeStats};

    fn record() -> RunRecord {
        let mut record = RunRecord {
            sessions: 64,
            executors: 8,
            ..RunRecord::default()
        };
        record.client.cores = 8;
        record.totals.elapsed_s = 2.0;
        record.totals.all.count = 2000;
        record.usage = ClientUsage {
            cpu_user_s: 2.0,
            seconds: Some(2.0),
            host_busy: Some(0.95),
            ..ClientUsage::default()
        };
        record
    }

    #[test]
    fn round_trips_are_those_counted_or_the_statements() {
        let mut record = record();
        record.totals.statements.read = 20_000;
        assert_eq!(round_trips(&record), 10.0);
        record.totals.statements.round_trips = 8000;
        assert_eq!(round_trips(&record), 4.0);
    }

    #[test]
    fn one_thread_that_is_always_busy_uses_all_that_it_may() {
        let mut one = record();
        one.executors = 1;
        assert_eq!(client_use(&one, 8.0), Some(1.0));
        // All eight, or half a core under a quota.
        assert_eq!(client_use(&record(), 8.0), Some(0.125));
        assert_eq!(client_use(&one, 0.5), Some(2.0));
    }

    #[test]
    fn the_busiest_of_several_clients_counts() {
        let mut several = record();
        let client = |hostname: &str, cpu_user_s| ClientPart {
            host: ClientHost {
                hostname: hostname.into(),
                cores: 4,
                ..ClientHost::default()
            },
            executors: 4,
            usage: ClientUsage {
                cpu_user_s,
                seconds: Some(2.0),
                ..ClientUsage::default()
            },
            ..ClientPart::default()
        };
        several.clients = vec![client("far", 7.6), client("farther", 0.4)];
        several.usage.cpu_user_s = 8.0;
        // Half of all, and 95 % of the first one.
        assert_eq!(client_use(&several, 8.0), Some(0.95));
        // Of their hosts nothing says what the server's is.
        several.target_on_client = Some(true);
        assert_eq!(host_cpu(&several, Some(0.1)), None);
    }

    #[test]
    fn latency_is_what_was_measured_whatever_was_asked_for() {
        let mut few = record();
        few.sessions_opened = Some(12);
        assert_eq!(opened(&few), 12);
        // Without a histogram: 12 sessions at 1,000 a second, not 64.
        assert_eq!(mean_ms(&few), 12.0);
        let mut latencies = Histogram::new();
        latencies.record(Duration::from_millis(9));
        few.totals.all = TypeStats {
            count: 2000,
            service: EncodedHistogram(latencies.encode()),
            ..TypeStats::default()
        };
        assert!((mean_ms(&few) - 9.0).abs() < 0.1, "{}", mean_ms(&few));
    }

    #[test]
    fn the_hosts_cpu_is_seen_only_where_the_server_is() {
        let mut own = record();
        assert_eq!(host_cpu(&own, Some(0.1)), None);
        own.target_on_client = Some(true);
        let host = host_cpu(&own, Some(0.1)).unwrap();
        assert_eq!((host.busy, host.before, host.client), (0.95, 0.1, 0.125));
        assert_eq!(host_cpu(&own, None), None);
    }

    #[test]
    fn the_first_run_counts_only_alone() {
        let mut facts = Facts::default();
        let mut run = record();
        facts.add(&run, None);
        assert_eq!(facts.rate(), 1000.0);
        run.totals.all.count = 4000;
        facts.add(&run, None);
        assert_eq!(facts.rate(), 2000.0);
        assert_eq!(facts.host(), None);
    }

    #[test]
    fn sessions_are_rate_times_mean_over_runs_that_differ() {
        let mut facts = Facts::default();
        // 64 sessions in each; in one nothing ended.
        for count in [500, 200, 4000, 0] {
            let mut run = record();
            run.totals.all.count = count;
            facts.add(&run, None);
        }
        let sessions = facts.rate() * facts.mean_ms() / 1000.0;
        assert!((sessions * 3.0 / 2.0 - 64.0).abs() < 1e-9, "{sessions}");
    }
}
