//! Agents that make no load, and the coordinator of a run of them: what coordinating costs. For
//! `bench/clients`.
//!
//! `simulated-clients agents URL COUNT SECONDS` has agents until its standard input ends;
//! `simulated-clients coordinate URL COUNT SECONDS` makes one run and prints what it took, as JSON;
//! `simulated-clients merged COUNT SECONDS` compares the merged intervals of clients with all their samples.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidemark_clients::{
    Agent, ClientsPlan, ClientsRun, CoordinatorEvent, Message, NatsOptions, OnLoss, Simulated,
    Timing, now_ns,
};
use tidemark_core::Job;
use tidemark_core::record::{EncodedHistogram, Interval, TypeStats};
use tidemark_merge::{Delivery, Live};
use tidemark_stats::Histogram;

const VERSION: &str = "simulated";
const JOB: &str = r#"{
    "version": 1,
    "target": {"url": "mysql://u@127.0.0.1:1/d"},
    "workload": {"name": "oltp_read_only"},
    "tool": {"name": "sysbench"}
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, count, seconds] = words.as_slice()
        && what == "merged"
    {
        return compare(count.parse()?, seconds.parse()?);
    }
    let [what, url, count, seconds] = words.as_slice() else {
        return Err(
            "use: simulated-clients agents|coordinate URL COUNT SECONDS, or merged COUNT SECONDS"
                .into(),
        );
    };
    let nats = NatsOptions::new(url, None, None)?;
    let (count, seconds): (u32, u64) = (count.parse()?, seconds.parse()?);
    match what.as_str() {
        "agents" => agents(&nats, usize::try_from(count)?, seconds),
        "coordinate" => coordinate(nats, count, seconds),
        other => Err(format!("{other}: use agents or coordinate").into()),
    }
}

/// An interval as a client of TPC-C tells it: five types, a few thousand transactions.
fn interval() -> Interval {
    let mut types = BTreeMap::new();
    for (number, name) in [
        "NewOrder",
        "Payment",
        "OrderStatus",
        "Delivery",
        "StockLevel",
    ]
    .iter()
    .enumerate()
    {
        let mut histogram = Histogram::new();
        for n in 0..1000_u64 {
            // Between two and two hundred milliseconds, most of them short.
            let spread = (n * n * n) % 198_000 + 1_000 * number as u64;
            histogram.record(Duration::from_micros(2_000 + spread));
        }
        let stats = TypeStats {
            count: histogram.count(),
            service: EncodedHistogram(histogram.encode()),
            ..TypeStats::default()
        };
        types.insert((*name).to_string(), stats);
    }
    Interval {
        sessions: 10_000,
        types,
        ..Interval::default()
    }
}

fn agents(nats: &NatsOptions, count: usize, seconds: u64) -> Result<(), Box<dyn Error>> {
    let stop = Arc::new(AtomicBool::new(false));
    let load = Simulated {
        interval: interval(),
        count: seconds,
    };
    let threads: Vec<_> = (0..count)
        .map(|number| {
            let agent = Agent {
                nats: nats.clone(),
                name: format!("simulated-{number}"),
                version: VERSION.into(),
                hostname: format!("host-{number}"),
                cores: 8,
                stop: Arc::clone(&stop),
            };
            let mut load = load.clone();
            std::thread::spawn(move || agent.run(&mut load, &mut |_| {}))
        })
        .collect();
    std::io::stdin().read_to_end(&mut Vec::new())?;
    stop.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().map_err(|_| "an agent's thread panicked")??;
    }
    Ok(())
}

fn coordinate(nats: NatsOptions, count: u32, seconds: u64) -> Result<(), Box<dyn Error>> {
    let job = Job::from_json(JOB)?;
    let every = job.load.interval;
    let plan = ClientsPlan {
        run: format!("simulated-{}", now_ns()),
        clients: count.to_string(),
        version: VERSION.into(),
        job,
        record: None,
        on_loss: OnLoss::Continue,
        timing: Timing::default(),
    };
    let run = ClientsRun::begin(nats, plan)?;
    let mut live = Live::new(count, every);
    let (mut begins, mut merged) = (0, 0_usize);
    let (mut lags, mut lost, mut late) = (Vec::new(), 0_u32, Vec::new());
    let worst_error;
    let mut came = 0_u64;
    let (mut cpu, mut began) = (0.0, now_ns());
    loop {
        match run.events.recv_timeout(Duration::from_secs(120))? {
            CoordinatorEvent::Begins(at) => {
                (begins, began) = (at, now_ns());
                cpu = cpu_s()?;
            }
            CoordinatorEvent::Message(client, message) => match *message {
                Message::Interval {
                    number, interval, ..
                } => {
                    came += 1;
                    let end_ms = interval.start_ms as f64 + interval.length_ms;
                    live.take(Delivery {
                        client,
                        epoch: 0,
                        number,
                        interval: *interval,
                        errors: Vec::new(),
                    })?;
                    let sealed = live.sealed(None)?.len();
                    merged += sealed;
                    if sealed > 0 {
                        lags.push((now_ns() - begins) as f64 / 1e6 - end_ms);
                    }
                }
                Message::Ended(_) => live.lost(client),
                _ => {}
            },
            CoordinatorEvent::Lost { client, .. } => {
                lost += 1;
                live.lost(client);
            }
            CoordinatorEvent::Over { clients, .. } => {
                late.extend(clients.iter().filter_map(|one| one.late_ns));
                worst_error = clients
                    .iter()
                    .map(|c| c.facts.clock.error_ns)
                    .max()
                    .unwrap_or(0);
                break;
            }
            CoordinatorEvent::Failed(error) => return Err(error.into()),
            CoordinatorEvent::Chosen(_) => {}
        }
    }
    let wall = (now_ns() - began) as f64 / 1e9;
    cpu = cpu_s()? - cpu;
    merged += live.sealed(None)?.len();
    run.kept();
    let ms = |ns: i64| ns as f64 / 1e6;
    let skew = late
        .iter()
        .max()
        .zip(late.iter().min())
        .map(|(a, b)| ms(a - b));
    println!(
        "{}",
        serde_json::json!({
            "clients": count, "seconds": seconds, "wall_s": wall, "cpu_s": cpu,
            "peak_rss_mib": peak_rss_mib()?, "intervals": came, "merged": merged, "lost": lost,
            "lag_ms": lags.iter().copied().fold(0.0, f64::max),
            "skew_ms": skew, "error_ms": ms(worst_error),
        })
    );
    Ok(())
}

/// Transactions of a client in an interval.
const SAMPLES: u32 = 5_000;

/// Numbers that look drawn and are the same each time (Marsaglia, Xorshift RNGs, 2003).
struct Drawn(u64);

impl Drawn {
    fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// An interval that has these samples.
fn of_samples(second: u64, samples: &Histogram) -> Interval {
    let stats = TypeStats {
        count: samples.count(),
        service: EncodedHistogram(samples.encode()),
        ..TypeStats::default()
    };
    Interval {
        start_ms: i64::try_from(second * 1000).unwrap_or(i64::MAX),
        length_ms: 1000.0,
        types: BTreeMap::from([("t".to_string(), stats)]),
        ..Interval::default()
    }
}

/// Merges intervals of clients, which come in any order and twice, and compares the sum with one histogram
/// of all samples; each client's part with one of its own.
fn compare(count: u32, seconds: u64) -> Result<(), Box<dyn Error>> {
    let mut drawn = Drawn(88_172_645_463_325_252);
    let (mut all, mut own) = (Histogram::new(), Vec::new());
    let mut deliveries = Vec::new();
    for client in 0..count {
        let mut of_client = Histogram::new();
        for number in 0..seconds {
            let mut samples = Histogram::new();
            for _ in 0..SAMPLES {
                // From a microsecond to a minute, most of them short.
                let least = 1_000_u64 << (drawn.draw() % 26);
                let took = Duration::from_nanos(least + drawn.draw() % least);
                samples.record(took);
                of_client.record(took);
                all.record(took);
            }
            deliveries.push((client, number, of_samples(number, &samples)));
        }
        own.push(of_client.encode());
    }
    let again = deliveries.clone();
    deliveries.extend(again);
    for at in (1..deliveries.len()).rev() {
        let other = usize::try_from(drawn.draw() % (at as u64 + 1))?;
        deliveries.swap(at, other);
    }
    let mut live = Live::new(count, Duration::from_secs(1));
    for (client, number, interval) in deliveries {
        live.take(Delivery {
            client,
            epoch: 0,
            number,
            interval,
            errors: Vec::new(),
        })?;
    }
    let merged = live.finish()?;
    let each: Vec<&TypeStats> = merged
        .intervals
        .iter()
        .flat_map(|i| i.types.values())
        .collect();
    let whole = tidemark_merge::type_stats(&each, "the sum")?;
    let parts = merged.parts.iter().map(|part| &part.all.service.0);
    println!(
        "{}",
        serde_json::json!({
            "clients": count, "samples": all.count(), "merged": whole.count,
            "is_same": whole.service.0 == all.encode(), "are_parts_same": parts.eq(own.iter()),
        })
    );
    Ok(())
}

/// CPU time of this process so far.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks: f64 = fields.get(11).ok_or("no utime")?.parse::<f64>()?
        + fields.get(12).ok_or("no stime")?.parse::<f64>()?;
    Ok(ticks / 100.0)
}

fn peak_rss_mib() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .ok_or("no VmHWM")?;
    let kib: f64 = line.split_whitespace().nth(1).ok_or("no value")?.parse()?;
    Ok(kib / 1024.0)
}
