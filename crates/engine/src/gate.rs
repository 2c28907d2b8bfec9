//! So many at a time.

use std::cell::Cell;
use tidemark_runtime::Parking;

/// Lets so many tasks of an executor do something at the same time.
#[derive(Debug)]
pub(crate) struct Gate {
    free: Cell<usize>,
    waiting: Parking,
}

/// A place within; leaving it lets the next one in.
pub(crate) struct Permit<'a>(&'a Gate);

impl Gate {
    pub fn new(places: usize) -> Self {
        Self {
            free: Cell::new(places),
            waiting: Parking::default(),
        }
    }

    /// Waits for a place; `None` when `ended` became true first.
    pub async fn enter(&self, ended: impl Fn() -> bool) -> Option<Permit<'_>> {
        while self.free.get() == 0 {
            if ended() {
                return None;
            }
            self.waiting.wait().await;
        }
        self.free.set(self.free.get() - 1);
        Some(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.free.set(self.0.free.get() + 1);
        self.0.waiting.call_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use std::time::Duration;
    use tidemark_runtime::{Executor, sleep};

    #[test]
    fn no_more_than_the_places_are_within_and_all_get_in() {
        let gate = Rc::new(Gate::new(3));
        let (within, most, done) = <(Rc<Cell<i32>>, Rc<Cell<i32>>, Rc<Cell<i32>>)>::default();
        let mut executor = Executor::new().unwrap();
        for _ in 0..20 {
            let gate = Rc::clone(&gate);
            let (within, most, done) = (Rc::clone(&within), Rc::clone(&most), Rc::clone(&done));
            executor.spawn(async move {
                let place = gate.enter(|| false).await;
                within.set(within.get() + 1);
                most.set(most.get().max(within.get()));
                sleep(Duration::from_millis(1)).await;
                within.set(within.get() - 1);
                done.set(done.get() + 1);
                drop(place);
            });
        }
        executor.run().unwrap();
        assert_eq!((most.get(), done.get()), (3, 20));
    }
}
