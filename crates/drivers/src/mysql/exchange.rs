//! One command and its reply.
//!
//! Both are done at once where that can be done: a command is short, and a session that has a thread
//! to itself waits for its reply in the read. Futures hold what is rarer.

use super::packet::{CommandPacket, Frame, HEADER, Packets};
use super::reply::{Count, End, OkPacket, Results, RowSink};
use super::{ConnectionState, MysqlSession, StatementIndex, ahead};
use crate::Outcome;
use std::io;
use tidemark_core::{DbError, ErrorClass};
use tidemark_runtime::{Received, Sent, Wait};

/// What sending a command at once has left to be done, or to be told.
enum UnsentCommand {
    Failed(DbError),
    /// So many of its bytes are sent; the others wait for room.
    Unsent(CommandPacket, usize),
}

impl MysqlSession {
    /// Sends a statement, a prepared one of that place; what is returned reads its reply. Sessions wait
    /// with it: what was sent is not part of it any more.
    pub(super) fn run<'s, S: RowSink + 's>(
        &'s mut self,
        request: CommandPacket,
        place: Option<StatementIndex>,
        sink: S,
    ) -> impl Future<Output = Result<(Outcome, OkPacket), DbError>> + 's {
        let (mut frame, rest) = self.start(request);
        async move {
            if let Some(rest) = rest {
                Box::pin(self.go_on(rest)).await?;
            }
            let mut results = Results::new(sink, self.terms);
            if let Some(place) = place {
                results = results.knowing(self.statements[place.index()].columns.take());
            }
            let received = match self.receive_now(&mut frame, &mut results) {
                Received::Done(received) => received,
                Received::Waits(wait) => self.receive_rest(wait, &mut frame, &mut results).await,
            };
            if let Some(place) = place {
                self.statements[place.index()].columns = results.into_columns();
            }
            if !matches!(received, Ok(End::WantsFile)) {
                return self.first_error(received.map(End::done));
            }
            drop(received);
            let refused = Box::pin(self.refuse_file(frame)).await;
            self.first_error(refused)
        }
    }

    /// Makes sure that nothing of an earlier reply is on its way.
    pub(super) fn begin(&mut self) -> Result<(), DbError> {
        let why = match self.state {
            ConnectionState::Idle => {
                self.state = ConnectionState::Busy;
                return Ok(());
            }
            ConnectionState::Busy => "the previous statement was aborted",
            ConnectionState::Lost => "the connection was lost before",
        };
        self.state = ConnectionState::Lost;
        Err(DbError::new(ErrorClass::ConnectionLost, "io", why))
    }

    /// Sends one command, in as many packets as it needs. Its reply goes on counting them.
    pub(super) async fn send(&mut self, request: CommandPacket) -> Result<Frame, DbError> {
        let (frame, rest) = self.start(request);
        if let Some(rest) = rest {
            self.go_on(rest).await?;
        }
        Ok(frame)
    }

    /// Sends as much of a command as can be sent at once: nearly always all.
    fn start(&mut self, mut request: CommandPacket) -> (Frame, Option<Box<UnsentCommand>>) {
        if let Err(error) = self.begin() {
            return (
                Frame::default(),
                Some(Box::new(UnsentCommand::Failed(error))),
            );
        }
        let next = request.finish(0);
        self.stream.expect(ahead::least(self.ahead.awaited()));
        let rest = match self.stream.send_now(request.bytes()) {
            Ok(Sent::All) => {
                request.give_back();
                None
            }
            Ok(Sent::Part(sent)) => Some(UnsentCommand::Unsent(request, sent)),
            Err(error) => Some(UnsentCommand::Failed(self.lose(&error))),
        };
        (Frame::from_sequence(next), rest.map(Box::new))
    }

    async fn go_on(&mut self, rest: Box<UnsentCommand>) -> Result<(), DbError> {
        match *rest {
            UnsentCommand::Failed(error) => Err(error),
            UnsentCommand::Unsent(request, sent) => {
                let sent = self.stream.send_rest(&request.bytes()[sent..]).await;
                request.give_back();
                self.sent(sent)
            }
        }
    }

    pub(super) fn sent(&mut self, sent: io::Result<()>) -> Result<(), DbError> {
        sent.map_err(|e| self.lose(&e))
    }

    /// The connection is of no use any more.
    #[cold]
    fn lose(&mut self, error: &io::Error) -> DbError {
        self.state = ConnectionState::Lost;
        lost(error)
    }

    pub(super) async fn receive<P: Packets>(
        &mut self,
        frame: &mut Frame,
        packets: &mut P,
    ) -> Result<P::End, DbError> {
        match self.receive_now(frame, packets) {
            Received::Done(received) => received,
            Received::Waits(wait) => self.receive_rest(wait, frame, packets).await,
        }
    }

    /// Receives a reply that is there, or comes while the thread is held up for it.
    #[inline]
    fn receive_now<P: Packets>(
        &mut self,
        frame: &mut Frame,
        packets: &mut P,
    ) -> Received<Result<P::End, DbError>> {
        let mut reply = ahead::PipelinedReply::new(&mut self.ahead, frame, packets);
        let result = match self.stream.receive_now(|bytes| reply.read(bytes)) {
            Ok(Received::Done(result)) => result,
            Ok(Received::Waits(wait)) => return Received::Waits(wait),
            Err(e) => Err(lost(&e)),
        };
        let more = reply.more;
        Received::Done(self.received(result, more))
    }

    #[allow(clippy::manual_async_fn)] // an `async fn` would keep all that it is given twice
    fn receive_rest<'s, P: Packets>(
        &'s mut self,
        wait: Wait,
        frame: &'s mut Frame,
        packets: &'s mut P,
    ) -> impl Future<Output = Result<P::End, DbError>> + 's {
        async move {
            let mut reply = ahead::PipelinedReply::new(&mut self.ahead, frame, packets);
            let received = self.stream.receive_rest(wait, |bytes| reply.read(bytes));
            let result = received.await.unwrap_or_else(|e| Err(lost(&e)));
            let more = reply.more;
            self.received(result, more)
        }
    }

    /// Takes over what a reply tells of the session, and whether anything came behind it.
    pub(super) fn received<T>(
        &mut self,
        result: Result<T, DbError>,
        more: bool,
    ) -> Result<T, DbError> {
        self.state = match &result {
            Err(e) if e.class == ErrorClass::ConnectionLost => ConnectionState::Lost,
            // Only a goodbye, or nonsense, comes unasked.
            _ if more => ConnectionState::Lost,
            _ => ConnectionState::Idle,
        };
        result
    }

    /// Answers a request for a file with nothing, and the caller with an error.
    async fn refuse_file(&mut self, mut frame: Frame) -> Result<(Outcome, OkPacket), DbError> {
        self.state = ConnectionState::Busy;
        let nothing = [0, 0, 0, frame.sequence()];
        let sent = self.stream.send(&nothing[..HEADER]).await;
        self.sent(sent)?;
        frame = Frame::from_sequence(frame.sequence().wrapping_add(1));
        let mut rest = Results::new(Count, self.terms);
        self.receive(&mut frame, &mut rest).await?;
        Err(DbError::new(
            ErrorClass::Fatal,
            "local-infile",
            "the server requested a local file; none was sent",
        ))
    }
}

#[cold]
pub(super) fn lost(error: &io::Error) -> DbError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let closed = io::Error::new(error.kind(), "the server closed it");
        return DbError::lost(&closed);
    }
    DbError::lost(error)
}
