//! Tasks of one executor that wait to be called by another of its tasks.

use crate::reactor::{Reactor, TaskId};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Instant;

/// Tasks that wait until another task of the same executor calls them.
///
/// The one that came last is called first: its session's memory is the warmest.
#[derive(Debug, Default)]
pub struct Parking {
    waiting: RefCell<Vec<TaskId>>,
    /// Called, and not yet polled.
    called: RefCell<Vec<TaskId>>,
    /// The earliest timer that is still to ring.
    armed: Cell<Option<Instant>>,
}

impl Parking {
    /// Waits to be called by [`Parking::call_one`], or for anything else that polls the task: check
    /// your condition again afterwards.
    pub async fn wait(&self) {
        self.wait_until(None).await;
    }

    /// The same, or until a moment; for a place where one task waits at a time, whose timers are one.
    pub async fn wait_until(&self, deadline: Option<Instant>) {
        let mut parked = None;
        poll_fn(|_| {
            if let Some(id) = parked {
                self.leave(id);
                return Poll::Ready(());
            }
            if let Ok(reactor) = Reactor::current() {
                let id = reactor.current.get();
                self.waiting.borrow_mut().push(id);
                parked = Some(id);
                if let Some(deadline) = deadline {
                    self.arm(&reactor, deadline);
                }
            }
            Poll::Pending
        })
        .await;
    }

    /// A timer that rings earlier will do: every ring sets the next one.
    fn arm(&self, reactor: &Reactor, deadline: Instant) {
        let now = reactor.now();
        let rings_before = |armed: Instant| armed <= deadline && armed > now;
        if !self.armed.get().is_some_and(rings_before) {
            reactor.wake_at(deadline);
            self.armed.set(Some(deadline));
        }
    }

    fn leave(&self, id: TaskId) {
        let mut called = self.called.borrow_mut();
        if let Some(place) = called.iter().position(|c| *c == id) {
            called.swap_remove(place);
        } else {
            // Polled for another reason, it is still on the list.
            self.waiting.borrow_mut().retain(|waiting| *waiting != id);
        }
    }

    /// Lets one waiting task go on; false when none waits.
    pub fn call_one(&self) -> bool {
        let Some(id) = self.waiting.borrow_mut().pop() else {
            return false;
        };
        self.called.borrow_mut().push(id);
        if let Ok(reactor) = Reactor::current() {
            reactor.wake(id);
        }
        true
    }

    /// Tasks that wait.
    pub fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Whether no task waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.borrow().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Executor, sleep};
    use std::rc::Rc;
    use std::time::Duration;

    #[test]
    fn who_came_last_is_called_first_and_nobody_twice() {
        let parking = Rc::new(Parking::default());
        let order = Rc::new(RefCell::new(Vec::new()));
        let called = Rc::new(Cell::new(false));
        let mut executor = Executor::new().unwrap();
        for number in 0..3 {
            let (parking, order) = (Rc::clone(&parking), Rc::clone(&order));
            executor.spawn(async move {
                parking.wait().await;
                order.borrow_mut().push(number);
            });
        }
        {
            let (parking, called) = (Rc::clone(&parking), Rc::clone(&called));
            executor.spawn(async move {
                sleep(Duration::from_millis(5)).await;
                assert_eq!(parking.len(), 3);
                assert!(parking.call_one() && parking.call_one() && parking.call_one());
                called.set(!parking.call_one());
            });
        }
        executor.run().unwrap();
        assert_eq!(*order.borrow(), [2, 1, 0]);
        assert!(called.get() && parking.is_empty());
    }
}
