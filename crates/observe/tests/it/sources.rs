//! Sources are looked at beside a run, and none of them can fail it or hold it up.
use super::kept::{kept, points, sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidemark_core::record::{Gap, GapKind, LoadTotal};
use tidemark_core::series::Series;
use tidemark_observe::{ClientHostSource, Samples, Sampling, SeriesSource};

type Look = Box<dyn FnMut(&mut Samples, u32) -> Result<(), String> + Send>;
/// Does what it is told at each look.
struct Told {
    name: &'static str,
    look: Look,
    looks: u32,
}

impl SeriesSource for Told {
    fn name(&self) -> &str {
        self.name
    }
    fn every(&self) -> Duration {
        Duration::from_millis(10)
    }
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.looks += 1;
        (self.look)(samples, self.looks)
    }
}

fn told(
    name: &'static str,
    look: impl FnMut(&mut Samples, u32) -> Result<(), String> + Send + 'static,
) -> Box<dyn SeriesSource> {
    let look = Box::new(look);
    Box::new(Told {
        name,
        look,
        looks: 0,
    })
}

#[test]
fn looks_become_series_in_chunks_that_join() {
    let (sink, chunks) = sink();
    let mut column = None;
    let count = told("count", move |samples, look| {
        let column = *column.get_or_insert_with(|| samples.gauge("looks", "1", &[], 0));
        samples.put(column, f64::from(look));
        Ok(())
    });
    let watch = Sampling::start(vec![count], Duration::from_millis(50), &sink);
    std::thread::sleep(Duration::from_millis(3300));
    let ended = watch.end();
    assert!(ended.notes.is_empty(), "{ended:?}");
    assert!(ended.observed[0].sampled && ended.observed[0].gaps.is_empty());
    // A busy machine leaves gaps, and may leave many.
    assert!(chunks.lock().unwrap().len() >= 3);
    let series = kept(&chunks);
    assert_eq!(series.len(), 1);
    let points = points(&series[0]);
    assert!(points.len() > 30, "{points:?}");
    assert!(
        points[0].0 >= -50 && points.last().unwrap().0 < 6000,
        "{points:?}"
    );
    assert!(
        points.iter().all(|(at, _)| (at + 50) % 10 == 0),
        "{points:?}"
    );
    // Each later one is of a later look.
    assert!(
        points
            .windows(2)
            .all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1)
    );
}

#[test]
fn what_fails_or_hangs_is_noted_and_the_others_go_on() {
    let (sink, chunks) = sink();
    let mut column = None;
    let good = told("good", move |samples, look| {
        let column = *column.get_or_insert_with(|| samples.gauge("looks", "1", &[], 0));
        samples.put(column, f64::from(look));
        Ok(())
    });
    let bad = told("bad", |_, _| Err("connection refused".into()));
    let slow = told("slow", |_, _| {
        std::thread::sleep(Duration::from_secs(20));
        Ok(())
    });
    let dies = told("dies", |_, look| match look {
        1 => Ok(()),
        _ => std::panic::panic_any("gone"),
    });
    let sources = vec![good, bad, slow, dies];
    let watch = Sampling::start(sources, Duration::ZERO, &sink);
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    let notes = watch.end().notes;
    // On a busy machine they may be at it a second later.
    let untimed = |note: &String| note.split(" (second").next().unwrap().to_string();
    let notes: Vec<String> = notes.iter().map(untimed).collect();
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(
        notes,
        [
            "source bad: connection refused",
            "source slow: it had not answered when the run ended",
            "source dies: it had not answered when the run ended",
        ]
    );
    assert_eq!(kept(&chunks)[0].key.source, "good");
}

/// Knows what a load was when it has been asked so many times, and whether it was in a hurry then.
struct Counting(u32, u32);

impl SeriesSource for Counting {
    fn name(&self) -> &str {
        "counting"
    }
    fn sample(&mut self, _samples: &mut Samples) -> Result<(), String> {
        Ok(())
    }
    fn load_totals(&mut self, is_last: bool) -> Result<Option<Vec<LoadTotal>>, String> {
        self.1 += 1;
        let told = LoadTotal {
            name: if is_last { "last" } else { "known" }.into(),
            total: f64::from(self.1),
            ..LoadTotal::default()
        };
        Ok((is_last || self.1 >= self.0).then(|| vec![told]))
    }
}

#[test]
fn a_load_is_counted_until_all_of_it_is_known_and_for_less_than_a_second() {
    for needed in [1, 3, u32::MAX] {
        let (sink, _chunks) = sink();
        let counting = Box::new(Counting(needed, 0));
        let watch = Sampling::start(vec![counting], Duration::ZERO, &sink);
        std::thread::sleep(Duration::from_millis(50));
        let begun = Instant::now();
        let ended = watch.end();
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        // A machine that stands still for a second loses it, which is told.
        let [told] = ended.load_totals.as_slice() else {
            assert_eq!(ended.notes.len(), 1, "{ended:?}");
            continue;
        };
        assert!(ended.notes.is_empty(), "{ended:?}");
        if told.name == "known" {
            assert_eq!(told.total, f64::from(needed), "{ended:?}");
        } else {
            assert!(took > Duration::from_millis(500), "{took:?} {ended:?}");
        }
    }
}

#[test]
fn what_fails_in_the_middle_of_a_run_has_its_second() {
    const BREAKS: Duration = Duration::from_millis(2200);
    let (sink, _chunks) = sink();
    let has_failed = Arc::new(AtomicBool::new(false));
    let (failed, mut begun) = (Arc::clone(&has_failed), None);
    let breaks = told("breaks", move |_, _| {
        let begun = *begun.get_or_insert_with(Instant::now);
        if begun.elapsed() < BREAKS {
            return Ok(());
        }
        failed.store(true, Ordering::Relaxed);
        Err("connection refused".into())
    });
    let watch = Sampling::start(vec![breaks], Duration::from_secs(1), &sink);
    let begun = Instant::now();
    while !has_failed.load(Ordering::Relaxed) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = watch.end();
    let gaps = ended.observed[0].gaps.iter();
    let failed: Vec<&Gap> = gaps.filter(|gap| gap.kind == GapKind::Failed).collect();
    assert_eq!(failed.len(), 1, "{ended:?}");
    // A second of warm-up; a busy machine looks later.
    let second = failed[0].second.unwrap();
    assert!((1..70).contains(&second), "{second}");
    let note = format!("source breaks: connection refused (second {second})");
    assert!(ended.notes.contains(&note), "{ended:?}");
}

/// Counts its peeks, the first of which take long.
struct Peeking {
    peeks: u32,
    slow: u32,
}

impl SeriesSource for Peeking {
    fn name(&self) -> &str {
        "peeking"
    }
    fn peeks(&self) -> u32 {
        10
    }
    fn peek(&mut self) -> Result<(), String> {
        self.peeks += 1;
        if self.peeks <= self.slow {
            std::thread::sleep(Duration::from_millis(60));
        }
        Ok(())
    }
    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        let metric = tidemark_observe::Metric::gauge("peeks", "1", 0);
        samples.tell(&metric, &[], f64::from(std::mem::take(&mut self.peeks)));
        Ok(())
    }
}

#[test]
fn peeks_are_many_and_fewer_where_they_take_long() {
    let most = |slow: u32| {
        let (sink, chunks) = sink();
        let source = Box::new(Peeking { peeks: 0, slow });
        let watch = Sampling::start(vec![source], Duration::ZERO, &sink);
        std::thread::sleep(Duration::from_millis(3200));
        assert!(watch.end().notes.is_empty());
        points(&kept(&chunks)[0])
            .iter()
            .map(|p| p.1 as u32)
            .max()
            .unwrap()
    };
    let quick = most(0);
    // Fewer on a busy machine, and never more.
    assert!((1..=10).contains(&quick), "{quick}");
    // At a tenth of the time, which 60 ms are of 600.
    let slow = most(u32::MAX);
    assert!((1..=2).contains(&slow), "{slow}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_clients_host_tells_of_processors_threads_memory_and_network() {
    let (sink, chunks) = sink();
    let watch = Sampling::start(
        vec![Box::new(ClientHostSource::new())],
        Duration::ZERO,
        &sink,
    );
    let busy = std::thread::Builder::new().name("executor-0".into());
    let busy = busy.spawn(|| {
        let begun = Instant::now();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        while begun.elapsed() < Duration::from_millis(2200) {
            std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            listener.accept().unwrap();
        }
    });
    busy.unwrap().join().unwrap();
    assert_eq!(watch.end().notes, Vec::<String>::new());
    let series = kept(&chunks);
    let of = |name: &str| -> Vec<&Series> {
        let all = series.iter().filter(|s| s.key.name == name);
        all.filter(|s| s.key.source == "client-host").collect()
    };
    let most = |name: &str| -> f64 {
        let summaries = of(name).into_iter().filter_map(|s| s.summary().unwrap());
        summaries.map(|s| s.max).fold(f64::NAN, f64::max)
    };
    let cores = std::thread::available_parallelism().unwrap().get();
    assert!(of("cpu.busy").len() >= cores.min(2), "{series:?}");
    for name in [
        "cpu.busy",
        "cpu.user",
        "cpu.system",
        "cpu.iowait",
        "cpu.steal",
        "cpu.interrupts",
    ] {
        assert!((0.0..=1.0).contains(&most(name)), "{name}: {}", most(name));
    }
    assert!(most("cpu.busy") > 0.1 && most("cpu.system") > 0.0);
    let load = of("threads.cpu")
        .into_iter()
        .find(|s| s.key.labels["threads"] == "load");
    let load = load.unwrap().summary().unwrap().unwrap();
    // The machine may be busy with other things.
    assert!((0.001..1.5).contains(&load.max), "{load:?}");
    assert!(most("threads.run-delay") >= 0.0);
    assert!(most("memory.used") > 1e7 && most("memory.available") > 1e6);
    assert!(most("memory.resident") > 1e6 && most("memory.resident") < most("memory.used"));
    let interfaces: Vec<_> = of("network.sent")
        .iter()
        .map(|s| &s.key.labels["interface"])
        .collect();
    assert!(interfaces.iter().any(|i| *i == "lo"), "{interfaces:?}");
    let (packets, bytes) = (most("network.packets-sent"), most("network.sent"));
    assert!(packets > 10.0 && bytes > 500.0, "{packets} {bytes}");
    assert!(most("tcp.segments-sent") > 10.0 && most("tcp.retransmits") >= 0.0);
}
