//! Statements that are sent with the next one, in one round trip.
//!
//! PostgreSQL manual, chapter "Frontend/Backend Protocol", section "Pipelining": the server answers
//! all up to the `Sync` of the last, and skips what follows an error.

use super::message;
use crate::Value;
use crate::ahead;
use tidemark_core::DbError;

/// Most statements that wait for the next one: a waiting call has room for what they change, and
/// each list of rows is one statement.
const MOST: usize = 4;

/// What came of the statements that went ahead of one.
pub(super) type WentAhead = ahead::WentAhead<MOST>;

/// The requests that wait to be sent, and what came of the last that did. Sessions of workloads
/// without a use for it hold a pointer.
#[derive(Debug, Default)]
pub(super) struct Ahead(Option<Box<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    count: u8,
    went: WentAhead,
    /// Whether the last request's own statement was not come to.
    stopped_short: bool,
}

impl Ahead {
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|queue| queue.count == 0)
    }

    /// Adds a prepared statement; false when no more can wait.
    ///
    /// # Errors
    /// When its values are too long to be sent.
    pub fn add(&mut self, number: u32, values: &[Value<'_>]) -> Result<bool, DbError> {
        let queue = self.0.get_or_insert_default();
        if usize::from(queue.count) >= MOST {
            return Ok(false);
        }
        if queue.count == 0 {
            queue.bytes = message::buffer();
        }
        message::bind_execute_ahead(&mut queue.bytes, number, values)?;
        queue.count += 1;
        Ok(true)
    }

    /// The buffer of the next request, which begins with those that wait, and their number.
    pub fn take(&mut self) -> (Vec<u8>, u8) {
        match &mut self.0 {
            Some(queue) if queue.count > 0 => {
                // Until they are answered nothing came of them.
                queue.went = WentAhead::default();
                (
                    std::mem::take(&mut queue.bytes),
                    std::mem::take(&mut queue.count),
                )
            }
            _ => (message::buffer(), 0),
        }
    }

    /// Sends none of them.
    pub fn forget(&mut self) {
        if !self.is_empty() {
            message::give_back(self.take().0);
        }
    }

    /// A request is sent.
    pub fn begin(&mut self) {
        if let Some(queue) = &mut self.0 {
            queue.stopped_short = false;
        }
    }

    /// Keeps what came of those that were sent.
    pub fn keep(&mut self, went: WentAhead) {
        if let Some(queue) = &mut self.0 {
            queue.stopped_short = went.awaited > 0;
            queue.went = went;
        }
    }

    /// Whether the server ended before it came to the statement that took the last ones along.
    pub fn stopped_short(&self) -> bool {
        self.0.as_ref().is_some_and(|queue| queue.stopped_short)
    }

    /// The rows that each changed which was sent last and done.
    pub fn changed(&self) -> &[u16] {
        self.0.as_ref().map_or(&[], |queue| queue.went.changed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_not_sent() {
        let mut ahead = Ahead::default();
        ahead.add(1, &[]).unwrap();
        ahead.add(2, &[Value::Null]).unwrap();
        ahead.forget();
        assert!(ahead.is_empty());
        assert!(ahead.add(1, &[]).unwrap());
        let (bytes, count) = ahead.take();
        assert!(bytes.ends_with(b"E\0\0\0\x09\0\0\0\0\0"), "{bytes:?}");
        assert_eq!(count, 1);
        assert_eq!(ahead.take(), (Vec::new(), 0));
    }
}
