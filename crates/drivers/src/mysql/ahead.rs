//! Statements that are sent with the next one, on MariaDB.
//!
//! MariaDB reads commands one after another and answers each; its own connectors rely on that
//! (mariadb.com, "Connector/Node.js Pipelining", "Option batchMultiSend Description"). MySQL and
//! TiDB promise nothing of the kind, and are sent one at a time.
//!
//! What follows an error is done all the same, and after a deadlock the transaction is gone: what
//! comes then would be kept at once by a session in autocommit mode. So nothing but BEGIN travels
//! before the server has said that the mode is off, and nothing that ends a transaction and keeps
//! it travels behind what is not answered.

use super::packet::{COM_QUERY, CommandPacket, Frame, HEADER, Packets, give_back, spare};
use super::reply::{Count, End, Results, Terms, status};
use super::{MysqlSession, lost};
use crate::ahead::{MOST_AHEAD, WentAhead};
use crate::engines;
use crate::statement::StatementForm;
use crate::{Statement, Value, Verb};
use std::pin::Pin;
use tidemark_core::{DbError, ErrorClass, PreparedMode};

/// Fewest bytes of an answer: an OK packet's header, its first byte, two counts, status, warnings.
/// An error has a state and a message, and is longer.
const LEAST_ANSWER: usize = HEADER + 1 + 1 + 1 + 2 + 2;
/// Values longer than this, together, wait for nobody.
const LONGEST: usize = 16 * 1024;

/// The requests that wait to be sent, and what came of the last that did. Sessions of workloads
/// without a use for it hold a pointer.
#[derive(Debug, Default)]
pub(super) struct Ahead(Option<Box<Queue>>);

#[derive(Debug)]
struct Queue {
    bytes: Vec<u8>,
    /// Statements in `bytes`.
    count: u8,
    /// Whether a BEGIN is the first of them.
    begins: bool,
    /// Since a BEGIN that was queued, and until the transaction's end is answered.
    in_transaction: bool,
    /// The session's mode, as the server said last.
    autocommit: bool,
    /// Whether the mode is changed by what is sent, or answered, first.
    switches: bool,
    /// Answers that are to come before that of the last statement.
    awaited: u8,
    frame: Frame,
    answer: Results<Count>,
    went: WentAhead<MOST_AHEAD>,
    /// The first error among the answers.
    error: Option<Box<DbError>>,
    /// Whether the last request's own statement was not sent.
    stopped_short: bool,
}

impl Queue {
    fn new(terms: Terms) -> Self {
        Self {
            bytes: Vec::new(),
            count: 0,
            begins: false,
            in_transaction: false,
            autocommit: true,
            switches: false,
            awaited: 0,
            frame: Frame::from_sequence(1),
            answer: Results::new(Count, terms),
            went: WentAhead::default(),
            error: None,
            stopped_short: false,
        }
    }

    /// Whether what is sent next needs autocommit back before it.
    fn is_outside(&self) -> bool {
        !self.in_transaction && !self.autocommit
    }

    fn waiting(&self) -> u8 {
        self.count + u8::from(self.switches)
    }

    /// Changes the mode first of all.
    fn switch(&mut self, sql: &str) {
        let mut set = CommandPacket::behind(spare(), COM_QUERY);
        set.body().extend_from_slice(sql.as_bytes());
        set.finish(0);
        self.bytes = set.into_bytes();
        self.switches = true;
    }

    fn answered(&mut self, answer: Result<(u64, u16), DbError>) {
        let switched = std::mem::take(&mut self.switches);
        match answer {
            Ok((_, said)) if switched => self.autocommit = said & status::AUTOCOMMIT != 0,
            Ok((changed, _)) if self.error.is_none() => self.went.complete(changed),
            Ok(_) => {}
            Err(error) => {
                self.error.get_or_insert_with(|| Box::new(error));
            }
        }
        self.awaited = self.awaited.saturating_sub(1);
        self.frame = Frame::from_sequence(1);
        self.answer.restart();
    }
}

impl Ahead {
    /// As many were sent, the first of which changed the mode.
    #[cfg(feature = "fuzzing")]
    pub fn awaiting(count: u8, terms: Terms) -> Self {
        let mut queue = Queue::new(terms);
        (queue.awaited, queue.switches) = (count, count > 0);
        Self(Some(Box::new(queue)))
    }

    /// Whether one of this kind may wait for the next.
    fn takes(&self, verb: Verb) -> bool {
        let begins = verb == Verb::Begin;
        match &self.0 {
            None => begins,
            Some(queue) if begins => !queue.in_transaction,
            Some(queue) => {
                let is_safe = queue.in_transaction && !queue.autocommit;
                is_safe && usize::from(queue.count) < MOST_AHEAD
            }
        }
    }

    /// What a statement that waits is built behind; it must be given to [`Ahead::add`].
    fn buffer(&mut self, verb: Verb, terms: Terms) -> Vec<u8> {
        let queue = self.0.get_or_insert_with(|| Box::new(Queue::new(terms)));
        if verb == Verb::Begin {
            queue.begins = true;
            queue.in_transaction = true;
            if queue.autocommit {
                queue.switch("SET autocommit=0");
            }
        }
        match queue.waiting() {
            0 => spare(),
            _ => std::mem::take(&mut queue.bytes),
        }
    }

    fn add(&mut self, bytes: Vec<u8>) {
        if let Some(queue) = &mut self.0 {
            queue.bytes = bytes;
            queue.count += 1;
        }
    }

    /// What the next request is built behind: those that wait, or nothing. They are sent with it.
    pub fn take(&mut self) -> Vec<u8> {
        let Some(queue) = &mut self.0 else {
            return spare();
        };
        if queue.is_outside() && !queue.switches {
            queue.switch("SET autocommit=1");
        }
        queue.awaited = queue.waiting();
        if queue.awaited == 0 {
            return spare();
        }
        queue.went = WentAhead::new(queue.count);
        (queue.count, queue.begins, queue.error) = (0, false, None);
        std::mem::take(&mut queue.bytes)
    }

    /// Sends none of them; whether there were any.
    fn forget(&mut self) -> bool {
        let Some(queue) = &mut self.0 else {
            return false;
        };
        let waited = queue.waiting() > 0;
        if waited {
            give_back(std::mem::take(&mut queue.bytes));
            // The server knows nothing of a transaction whose BEGIN was not sent.
            queue.in_transaction &= !queue.begins;
            (queue.count, queue.begins, queue.switches) = (0, false, false);
        }
        waited
    }

    /// Answers that are to come before that of the statement sent last.
    pub fn awaited(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| queue.awaited.into())
    }

    /// Reads the answers to those that went ahead; `Some` when all have come, or the session is
    /// lost.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Option<Result<(), DbError>> {
        let Some(queue) = &mut self.0 else {
            return Some(Ok(()));
        };
        while queue.awaited > 0 {
            match queue.frame.feed(&mut queue.answer, bytes)? {
                Ok(End::Done { outcome, last }) => {
                    queue.answered(Ok((outcome.affected, last.status)));
                }
                Ok(End::WantsFile) => {
                    return Some(Err(DbError::protocol(
                        "the server requested a file instead of sending a statement's result",
                    )));
                }
                Err(error) if error.class == ErrorClass::ConnectionLost => {
                    return Some(Err(error));
                }
                Err(error) => queue.answered(Err(error)),
            }
        }
        Some(Ok(()))
    }

    /// Whether what is sent next changes the session's mode before it.
    fn changes_mode(&self) -> bool {
        let queue = self.0.as_ref();
        queue.is_some_and(|queue| queue.switches || queue.is_outside())
    }

    fn take_error(&mut self) -> Option<DbError> {
        let error = self.0.as_mut()?.error.take()?;
        Some(*error)
    }

    /// A statement of this kind has ended well.
    pub fn ended(&mut self, verb: Verb) {
        if let Some(queue) = &mut self.0
            && matches!(verb, Verb::Commit | Verb::Rollback)
        {
            queue.in_transaction = false;
        }
    }

    fn stopped_short(&mut self, stopped: bool) {
        if let Some(queue) = &mut self.0 {
            queue.stopped_short = stopped;
        }
    }
}

/// Fewest bytes that come when so many answers go before the one that is waited for.
pub(super) fn least(before: usize) -> usize {
    before * LEAST_ANSWER + 1
}

/// What comes to a statement: the answers to those that went ahead of it, then its own. In one
/// piece, for who waits for it has little room.
pub(super) struct PipelinedReply<'r, P> {
    ahead: &'r mut Ahead,
    frame: &'r mut Frame,
    packets: &'r mut P,
    /// Whether anything came behind it.
    pub more: bool,
}

impl<'r, P: Packets> PipelinedReply<'r, P> {
    pub fn new(ahead: &'r mut Ahead, frame: &'r mut Frame, packets: &'r mut P) -> Self {
        Self {
            ahead,
            frame,
            packets,
            more: false,
        }
    }

    /// Reads a piece of it; `Some` at its end.
    pub fn read(&mut self, mut bytes: &[u8]) -> Option<Result<P::End, DbError>> {
        if let Err(error) = self.ahead.read(&mut bytes)? {
            return Some(Err(error));
        }
        let end = self.frame.feed(self.packets, &mut bytes);
        self.more = !bytes.is_empty();
        end
    }
}

fn length(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// A request of its own for what waits: of the whole session's future only a pointer.
type Settling<'s> = Pin<Box<dyn Future<Output = Result<(), DbError>> + 's>>;

impl MysqlSession {
    /// Keeps a statement without rows to send it with the next one; false where it must be executed
    /// by itself. An error of it is the next one's.
    pub(crate) fn queue(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<bool, DbError> {
        let place = self.check(statement, values)?;
        let verb = statement.verb;
        let is_fit = match &statement.form {
            StatementForm::Mysql { has_rows, .. } => !has_rows,
            // Older servers prepare no BEGIN.
            StatementForm::Text(_) => verb == Verb::Begin && self.prepared == PreparedMode::Server,
            _ => false,
        };
        let length: usize = values.iter().map(length).sum();
        if !engines::of(self.server.engine).takes_ahead
            || !is_fit
            || length > LONGEST
            || !self.ahead.takes(verb)
        {
            return Ok(false);
        }
        let before = self.ahead.buffer(verb, self.terms);
        let mut request = self.write(statement, place, values, before);
        request.finish(0);
        self.ahead.add(request.into_bytes());
        Ok(true)
    }

    /// Sends none of what waits for the next statement.
    pub(crate) fn forget_queued(&mut self) {
        if self.ahead.forget() {
            self.forget_all_types();
        }
    }

    /// Rows changed by each of the statements that went ahead of the last one that took any along,
    /// up to the first that failed.
    pub(crate) fn changed_ahead(&self) -> &[u16] {
        let queue = self.ahead.0.as_ref();
        queue.map_or(&[], |queue| queue.went.changed())
    }

    /// Whether the last statement was not sent, because of what had to go before it.
    pub(crate) fn stopped_short(&self) -> bool {
        let queue = self.ahead.0.as_ref();
        queue.is_some_and(|queue| queue.stopped_short)
    }

    /// Nothing waits to be sent, and autocommit is as it was found outside transactions, when this is
    /// done; `None` where that is so.
    pub(super) fn settle(&mut self) -> Option<Settling<'_>> {
        let queue = self.ahead.0.as_mut()?;
        queue.stopped_short = false;
        (queue.waiting() > 0 || queue.is_outside()).then(|| Box::pin(self.send_queued()) as _)
    }

    /// The same before a statement that what waits may not travel with: one that keeps what a
    /// transaction did, or may.
    pub(super) fn settle_before(&mut self, verb: Verb) -> Option<Settling<'_>> {
        match verb {
            // Were the mode's change to fail, the server would keep it at once, or not at all.
            Verb::Write if self.ahead.changes_mode() => self.settle(),
            Verb::Read | Verb::Write | Verb::Rollback => {
                self.ahead.stopped_short(false);
                None
            }
            Verb::Begin | Verb::Commit | Verb::CommitAndChain | Verb::Control => self.settle(),
        }
    }

    async fn send_queued(&mut self) -> Result<(), DbError> {
        self.ahead.stopped_short(true);
        let bytes = self.ahead.take();
        self.begin()?;
        self.stream.expect(least(self.ahead.awaited() - 1));
        let sent = self.stream.send(&bytes).await;
        give_back(bytes);
        self.sent(sent)?;
        let Self { stream, ahead, .. } = self;
        let mut more = false;
        let received = stream.receive(|mut bytes| {
            let end = ahead.read(&mut bytes);
            more = !bytes.is_empty();
            end
        });
        let result = received.await.unwrap_or_else(|e| Err(lost(&e)));
        let result = self.received(result, more);
        self.first_error(result)?;
        self.ahead.stopped_short(false);
        Ok(())
    }

    /// What came of a statement and those that went ahead of it: the first error.
    pub(super) fn first_error<T>(&mut self, result: Result<T, DbError>) -> Result<T, DbError> {
        let Some(error) = self.ahead.take_error() else {
            return result;
        };
        // One of them may have failed before the server took its types.
        self.forget_all_types();
        match result {
            Err(lost) if lost.class == ErrorClass::ConnectionLost => Err(lost),
            _ => Err(error),
        }
    }
}
