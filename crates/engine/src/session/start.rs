//! What makes a session's next transaction due.

use crate::arrivals::{BegunArrival, Turn};
use crate::control::Control;
use crate::recorder::Origin;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tidemark_runtime::{Sleepers, Woken, remote_signal};

/// What makes the next transaction due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start {
    Now,
    At(Instant, Origin),
}

/// Waits until the next transaction of a session of `executor` may start; `None` when the run ended
/// first. `idle` are the executor's sessions that await an arrival.
pub(crate) async fn next_start(
    control: &Control,
    idle: &Sleepers,
    executor: usize,
) -> Option<Start> {
    while !control.is_over() {
        let Some(arrivals) = &control.arrivals else {
            return Some(Start::Now);
        };
        // Read first: a change after it must not be slept through.
        let epoch = arrivals.epoch();
        match arrivals.take(executor, Instant::now()) {
            Turn::Now => return Some(Start::Now),
            Turn::Hold => {
                control.holding.fetch_add(1, Ordering::AcqRel);
                while arrivals.epoch() == epoch && !control.is_over() {
                    remote_signal().await;
                }
                control.holding.fetch_sub(1, Ordering::AcqRel);
            }
            Turn::Begin(begun) => return Some(start(begun, idle)),
            Turn::Await(arrival) => {
                let is_void = || arrivals.epoch() != epoch && !arrivals.is_awaited(&arrival);
                let ended = || control.is_over() || is_void();
                match idle.sleep_until(arrival.due, ended).await {
                    Woken::Due => {
                        let begun = arrivals.begin(&arrival, executor, Instant::now());
                        if let Some(begun) = begun {
                            return Some(start(begun, idle));
                        }
                    }
                    // There is something late to take over.
                    Woken::Called => arrivals.give_back(&arrival),
                    Woken::Ended => {}
                }
            }
        }
    }
    None
}

/// Wakes a session of `executor`, one of `idle`, for an arrival that another executor is late with;
/// whether there was such an arrival, and such a session.
pub(crate) fn take_over(control: &Control, idle: &Sleepers, executor: usize, now: Instant) -> bool {
    // The schedule's lock is for those who could do something.
    let arrivals = control.arrivals.as_ref().filter(|_| idle.first().is_some());
    arrivals.is_some_and(|a| a.is_any_late(executor, now)) && idle.call_last()
}

/// Lets another session look after what else is late.
fn start(begun: BegunArrival, idle: &Sleepers) -> Start {
    if begun.more {
        idle.call_last();
    }
    let origin = match begun.awaited {
        true => Origin::Awaited,
        false => Origin::Delayed,
    };
    Start::At(begun.due, origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tidemark_core::{Arrivals as Process, Pacing, RunSpec};
    use tidemark_runtime::{BusyPoll, Executor, sleep};

    const MS: Duration = Duration::from_millis(1);
    const SESSIONS: usize = 20;
    /// How long one of the two threads does nothing.
    const HELD_UP: Duration = Duration::from_millis(600);

    type Begins = Mutex<Vec<(Instant, Duration, Origin)>>;

    fn executor(control: &Arc<Control>, number: usize, begins: &Arc<Begins>) -> Executor {
        let mut executor = Executor::new().unwrap();
        control.attach(executor.remote());
        let idle = Rc::new(Sleepers::default());
        for _ in 0..SESSIONS {
            let (control, begins) = (Arc::clone(control), Arc::clone(begins));
            let idle = Rc::clone(&idle);
            executor.spawn(async move {
                while let Some(Start::At(due, origin)) = next_start(&control, &idle, number).await {
                    let begun = (due, due.elapsed(), origin);
                    begins.lock().unwrap().push(begun);
                    sleep(MS).await;
                }
            });
        }
        executor
    }

    #[test]
    fn a_thread_that_is_held_up_holds_up_no_arrivals() {
        let control = Arc::new(Control::new(&RunSpec {
            pacing: Pacing::Rate(500.0),
            arrivals: Process::Constant,
            ..RunSpec::default()
        }));
        let begins = Arc::<Begins>::default();
        let threads = [0, 1].map(|number| {
            let (control, begins) = (Arc::clone(&control), Arc::clone(&begins));
            std::thread::spawn(move || {
                let mut executor = executor(&control, number, &begins);
                if number == 0 {
                    executor.spawn(async {
                        sleep(100 * MS).await;
                        std::thread::sleep(HELD_UP);
                    });
                }
                executor.run().unwrap();
            })
        });
        let arrivals = control.arrivals.as_ref().unwrap();
        let start = Instant::now();
        arrivals.set_rate(500.0, start);
        control.start();
        std::thread::sleep(HELD_UP + 300 * MS);
        control.stop();
        for thread in threads {
            thread.join().unwrap();
        }

        let mut begins = begins.lock().unwrap().clone();
        begins.sort_by_key(|(due, ..)| *due);
        // Those of the last moments may not have begun, of two threads in any order.
        begins.retain(|(due, ..)| *due < start + HELD_UP + 200 * MS);
        assert_eq!(begins.len(), 399);
        for pair in begins.windows(2) {
            assert_eq!(
                pair[1].0 - pair[0].0,
                2 * MS,
                "one is missing or appears twice"
            );
        }
        // The thread that was held up awaited every second of the next forty.
        let late = begins.iter().filter(|(_, late, _)| *late > HELD_UP / 2);
        assert_eq!(late.count(), 0);
        // A free session awaited them, whoever began them.
        let delayed = begins.iter().filter(|(.., o)| *o != Origin::Awaited);
        assert!(delayed.count() < begins.len() / 10);
    }

    #[test]
    fn who_stays_awake_looks_after_what_others_are_late_with() {
        let control = Arc::new(Control::new(&RunSpec {
            pacing: Pacing::Rate(1.0),
            arrivals: Process::Constant,
            ..RunSpec::default()
        }));
        let start = Instant::now();
        let arrivals = control.arrivals.as_ref().unwrap();
        arrivals.set_rate(1.0, start);
        // The other executor, which is not there, awaits the first; this one the second.
        let Turn::Await(first) = arrivals.take(1, start) else {
            panic!("nothing to await");
        };
        let begun = Rc::new(std::cell::RefCell::new(Vec::new()));
        let idle = Rc::new(Sleepers::default());
        let mut executor = Executor::new().unwrap();
        let (asked, sleepers, sleeping) =
            (Arc::clone(&control), Rc::clone(&idle), Rc::clone(&idle));
        executor.busy_poll(BusyPoll {
            ahead: 3000 * MS,
            next: Box::new(move || sleeping.first()),
            find_work: Box::new(move |now| take_over(&asked, &sleepers, 0, now)),
        });
        let (session, begins) = (Arc::clone(&control), Rc::clone(&begun));
        executor.spawn(async move {
            for _ in 0..2 {
                let Some(Start::At(due, _)) = next_start(&session, &idle, 0).await else {
                    panic!("the run has ended");
                };
                begins.borrow_mut().push((due, due.elapsed()));
            }
        });
        control.start();
        executor.run().unwrap();
        let begun = begun.borrow();
        let dues: Vec<_> = begun.iter().map(|(due, _)| *due).collect();
        assert_eq!(dues, [first.due, first.due + 1000 * MS]);
        // Its own timer would have rung a second later.
        assert!(begun[0].1 < 500 * MS, "{begun:?}");
    }
}
