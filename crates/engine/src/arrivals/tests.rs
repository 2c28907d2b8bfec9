use super::*;
use std::time::Duration;

fn at(arrivals: &Arrivals, now: Instant) -> Instant {
    match arrivals.take(0, now) {
        Turn::Begin(begun) => begun.due,
        Turn::Await(arrival) => arrival.due,
        other => panic!("{other:?}"),
    }
}

fn awaits(arrivals: &Arrivals, executor: usize, now: Instant) -> Arrival {
    match arrivals.take(executor, now) {
        Turn::Await(arrival) => arrival,
        other => panic!("{other:?}"),
    }
}

fn poisson(rate: f64, start: Instant) -> Arrivals {
    let arrivals = Arrivals::new(Process::Poisson, 7, 100_000, Shard::WHOLE);
    arrivals.set_rate(rate, start);
    arrivals
}

#[test]
fn arrivals_come_at_the_asked_rate_and_in_order() {
    let start = Instant::now();
    let arrivals = poisson(1000.0, start);
    let times: Vec<_> = (0..20_000).map(|_| at(&arrivals, start)).collect();
    assert!(times.is_sorted());
    let seconds = (times[19_999] - start).as_secs_f64();
    // 20,000 exponential gaps: standard deviation of the sum is 0.14 s.
    assert!((19.3..20.7).contains(&seconds), "{seconds}");
    // A Poisson process: the gaps' standard deviation is their mean.
    let gaps: Vec<f64> = times
        .windows(2)
        .map(|w| (w[1] - w[0]).as_secs_f64())
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((0.95..1.05).contains(&(variance.sqrt() / mean)));
}

#[test]
fn constant_arrivals_have_equal_distances() {
    let start = Instant::now();
    let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
    arrivals.set_rate(250.0, start);
    for n in 1..=1000 {
        let due = at(&arrivals, start) - start;
        assert!((due.as_secs_f64() - f64::from(n) * 0.004).abs() < 1e-6);
    }
}

#[test]
fn what_nobody_took_is_the_backlog() {
    let start = Instant::now();
    let arrivals = poisson(100.0, start);
    let later = start + Duration::from_secs(10);
    let backlog = arrivals.backlog(later);
    assert!((850..1150).contains(&backlog), "{backlog}");
    at(&arrivals, start);
    assert_eq!(arrivals.backlog(later), backlog - 1);
}

#[test]
fn a_full_backlog_drops_the_oldest_and_counts_them() {
    let start = Instant::now();
    let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
    arrivals.set_rate(1000.0, start);
    let later = start + Duration::from_secs(1);
    let first = at(&arrivals, later);
    // 1000 are due; the taken one leaves less than 100 waiting.
    assert_eq!(arrivals.backlog(later), 99);
    assert_eq!(arrivals.take_dropped(), 900);
    assert_eq!(arrivals.take_dropped(), 0);
    assert_eq!((first - start).as_millis(), 901);
}

#[test]
fn a_new_rate_keeps_what_is_due_and_voids_what_is_to_come() {
    let start = Instant::now();
    let second = Duration::from_secs(1);
    let arrivals = Arrivals::new(Process::Constant, 7, 100_000, Shard::WHOLE);
    arrivals.set_rate(10.0, start);
    let epoch = arrivals.epoch();
    // Sessions are ahead: they hold arrivals up to 2 s.
    let held: Vec<_> = (0..20).map(|_| arrivals.take(0, start)).collect();
    arrivals.set_rate(100.0, start + second);
    assert_ne!(arrivals.epoch(), epoch);
    let is_void = |turn: &&Turn| matches!(turn, Turn::Await(a) if !arrivals.is_awaited(a));
    assert_eq!(held.iter().filter(is_void).count(), 10);
    assert_eq!((at(&arrivals, start) - start).as_millis(), 1010);
    assert_eq!(arrivals.rate(), Some(100.0));
    // Nobody takes any more: at 2 s, 99 wait, and a new rate forgets none of them.
    arrivals.set_rate(1.0, start + 2 * second);
    assert_eq!(arrivals.backlog(start + 2 * second), 99);
    let times: Vec<_> = (0..100)
        .map(|_| (at(&arrivals, start + 2 * second) - start).as_millis())
        .collect();
    assert_eq!((times[0], times[98], times[99]), (1020, 2000, 3000));
}

#[test]
fn a_rate_that_ends_late_voids_what_came_due_after_its_end() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
    arrivals.set_rate(10.0, start);
    let [first, second] = [0, 0].map(|executor| awaits(&arrivals, executor, start));
    // Somebody looked later than the moment that the controller goes by.
    assert_eq!(arrivals.backlog(at(1000)), 8);
    arrivals.set_rate(100.0, at(150));
    assert!(arrivals.is_awaited(&first) && !arrivals.is_awaited(&second));
}

#[test]
fn what_a_late_thread_awaits_another_begins_as_awaited() {
    let start = Instant::now();
    let arrivals = Arrivals::new(Process::Constant, 7, 100, Shard::WHOLE);
    arrivals.set_rate(1000.0, start);
    // Executor 0 awaits those of 1 and 3 ms, executor 1 those of 2 and 4 ms.
    let [first, second, third, fourth] =
        [0, 1, 0, 1].map(|executor| awaits(&arrivals, executor, start));
    let later = start + Duration::from_micros(3500);
    let late_with_first = first.due + upcoming::LATE;
    let just_before = late_with_first - Duration::from_nanos(1);
    assert!(!arrivals.is_any_late(1, just_before));
    assert!(arrivals.is_any_late(1, late_with_first));
    assert!(!arrivals.is_any_late(0, late_with_first));
    let begun = arrivals.begin(&second, 1, later).unwrap();
    assert!(begun.awaited && begun.more, "{begun:?}");
    // The one of 4 ms is left for what is late, which begins in order, each once.
    arrivals.give_back(&fourth);
    for (due, more) in [(first.due, true), (third.due, false)] {
        let awaited = true;
        assert_eq!(
            arrivals.take(1, later),
            Turn::Begin(BegunArrival { due, awaited, more })
        );
    }
    assert_eq!(arrivals.begin(&first, 0, later), None);
    assert!(!arrivals.is_awaited(&third));
    assert_eq!(arrivals.take(0, later), Turn::Await(fourth));
    arrivals.give_back(&fourth);
    // Left until its time has come, it waits as those do that nobody took.
    let end = start + Duration::from_millis(5);
    assert_eq!(arrivals.backlog(end), 2);
    assert!(arrivals.is_any_late(1, end));
    assert_eq!(arrivals.clear(end, false), 2);
    assert!(!arrivals.is_any_late(1, end));
    assert_eq!(arrivals.take(0, end), Turn::Hold);
}

#[test]
fn without_a_schedule_sessions_hold_or_run_free() {
    let start = Instant::now();
    let arrivals = poisson(1000.0, start);
    let later = start + Duration::from_secs(1);
    assert!(arrivals.backlog(later) > 0);
    arrivals.clear(later, false);
    assert_eq!(
        (arrivals.take(0, later), arrivals.backlog(later)),
        (Turn::Hold, 0)
    );
    assert_eq!(arrivals.clear(later, true), 0);
    assert_eq!(arrivals.take(0, later), Turn::Now);
    assert_eq!(arrivals.rate(), None);
    arrivals.set_rate(10.0, later);
    assert!(at(&arrivals, later) > later);
}

/// What one client is given is what several are given together, whatever changes of rate come
/// between, and each has its fair part.
#[test]
fn clients_share_the_arrivals_of_one() {
    let start = Instant::now();
    let second = Duration::from_secs(1);
    let times = |process, shard| {
        let arrivals = Arrivals::new(process, 11, u64::MAX, shard);
        arrivals.set_rate(2000.0, start);
        arrivals.set_rate(500.0, start + second);
        arrivals.set_rate(1000.0, start + 2 * second);
        arrivals.clear(start + 4 * second, false);
        let mut all = Vec::new();
        let again = Arrivals::new(process, 11, u64::MAX, shard);
        again.set_rate(2000.0, start);
        for (rate, at) in [(500.0, 1), (1000.0, 2), (0.001, 4)] {
            let end = start + at * second;
            while let Turn::Begin(begun) = again.take(0, end) {
                all.push(begun.due);
            }
            again.set_rate(rate, end);
        }
        // The cursor that only counts goes the same way.
        let counted = arrivals.lock().due.count;
        assert_eq!(counted, all.len() as u64);
        all
    };
    for process in [Process::Poisson, Process::Constant] {
        let whole = times(process, Shard::WHOLE);
        for of in [2u32, 3, 7] {
            let each: Vec<_> = (0..of)
                .map(|index| times(process, Shard { index, of }))
                .collect();
            let fair = whole.len() as f64 / f64::from(of);
            for own in &each {
                let off = (own.len() as f64 - fair).abs();
                assert!(off < 6.0 * fair.sqrt(), "{process:?} {of}: {}", own.len());
            }
            let mut together = each.concat();
            together.sort_unstable();
            assert_eq!(together, whole, "{process:?} {of}");
        }
    }
    let third = Shard { index: 1, of: 3 };
    let arrivals = Arrivals::new(Process::Poisson, 11, 100, third);
    arrivals.set_rate(300.0, start);
    assert_eq!(arrivals.rate(), Some(100.0));
}

/// A part of a Poisson process is one: gaps scatter as much as they are long.
#[test]
fn a_clients_arrivals_are_a_poisson_process() {
    let start = Instant::now();
    let shard = Shard { index: 2, of: 4 };
    let arrivals = Arrivals::new(Process::Poisson, 7, 100_000, shard);
    arrivals.set_rate(4000.0, start);
    let times: Vec<_> = (0..20_000).map(|_| at(&arrivals, start)).collect();
    let gaps = times.windows(2).map(|w| (w[1] - w[0]).as_secs_f64());
    let gaps: Vec<f64> = gaps.collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((0.00096..0.00104).contains(&mean), "{mean}");
    assert!((0.95..1.05).contains(&(variance.sqrt() / mean)));
}
