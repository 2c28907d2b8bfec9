//! One session's life: connect, prepare, wait for the start, transactions, goodbye.
//!
//! Its terminal is its own, or the next of a pool that wants a session.

mod recovery;
mod start;

use self::recovery::RecoveryAction;
pub(crate) use self::start::{Start, next_start, take_over};
use crate::control::Control;
use crate::error::EngineError;
use crate::gate::Gate;
use crate::launch::AllClients;
use crate::pool::Pool;
use crate::recorder::{By, Due, Origin, Recorder, Times};
use crate::recorders::Recorders;
use crate::run_queue::RunQueue;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidemark_core::record::{HostRole, StatementCounts};
use tidemark_core::{DbError, ErrorClass, RunSpec};
use tidemark_drivers::{Access, Connector, Session};
use tidemark_runtime::{Sleepers, remote_signal, timeout};
use tidemark_workloads::{Statements, Terminal, Workload};

/// A signal to a session that waits in a read is heard after so long.
const LONGEST_WAIT_IN_PLACE: Duration = Duration::from_millis(100);
/// How often what a terminal holds back is sent at the run's end.
const FINISH_TRIES: u32 = 5;

/// What all sessions share, whatever their thread: nothing in it changes while they run.
pub(crate) struct SharedRun {
    /// Of this client alone.
    pub spec: RunSpec,
    /// What all clients have.
    pub whole: AllClients,
    pub connector: Connector,
    pub workload: Arc<dyn Workload>,
    /// [`Workload::noted_error`].
    pub noted_error: Option<(usize, DbError)>,
    pub control: Arc<Control>,
    pub recorders: Arc<Recorders>,
    /// How many there are. Sessions and terminals number `thread`, `thread + threads`, … are a
    /// thread's.
    pub threads: usize,
    /// The target's hosts.
    pub hosts: Arc<[(String, HostRole)]>,
    /// Whether each session has a thread to itself, and waits for replies in a read.
    pub in_place: bool,
}

impl SharedRun {
    /// The `number`-th terminal of this client, of so many that all clients have.
    pub fn terminal(&self, number: usize, terminals: usize) -> Terminal {
        let number = self.spec.shard.global_usize(number);
        self.workload.terminal(number, terminals, self.spec.seed)
    }

    /// Sessions of a workload that only reads go to replicas, if there are any.
    fn access(&self) -> Access {
        if self.workload.only_reads() {
            Access::ReadOnly
        } else {
            Access::ReadWrite
        }
    }
}

/// Tells a recorder of a session's hosts.
fn tell_hosts(recorder: &Recorder, session: &Session, tell: fn(&Recorder, usize)) {
    // An embedded database has no host, and its sessions count all the same.
    tell(recorder, session.primary_host().unwrap_or(0));
    if let Some(reader) = session.reader_host() {
        tell(recorder, reader);
    }
}

/// Where the sessions of one executor wait for other than replies.
pub(crate) struct SessionWaits {
    /// Lost sessions, to come back.
    pub gate: Gate,
    /// Free sessions, for an arrival.
    pub idle: Sleepers,
    /// The executor's thread, for a processor.
    pub queue: RunQueue,
}

/// What of a transaction is to be done.
#[derive(Debug, Clone, Copy)]
struct ToDo {
    /// Whose it is.
    terminal: usize,
    start: Start,
    /// Whether it is counted as in progress until it ends.
    scheduled: bool,
    /// What it left to be done after its reply.
    deferred: bool,
}

/// One session.
pub(crate) struct SessionTask {
    shared: Arc<SharedRun>,
    /// Its executor's.
    recorder: Arc<Recorder>,
    /// Number within the run.
    number: usize,
    /// Number in the recorder.
    local: usize,
    /// `None` while it is lost.
    session: Option<Session>,
    statements: Statements,
    /// The host that the session was lost to.
    host: usize,
    /// When its last transaction ended, in a closed loop without pauses.
    ended: Option<Instant>,
    /// Whether it is in such a loop.
    loops: bool,
    /// The session's statement counts when they were last recorded.
    counted: StatementCounts,
    waits: Rc<SessionWaits>,
}

impl SessionTask {
    /// Connects and prepares.
    ///
    /// # Errors
    /// [`EngineError::Connect`] or [`EngineError::Init`].
    pub async fn open(
        shared: Arc<SharedRun>,
        number: usize,
        waits: Rc<SessionWaits>,
    ) -> Result<Self, EngineError> {
        let mut statements = shared.workload.statements();
        statements.of_session(number);
        let session = Self::connect(&shared, number, &mut statements).await?;
        let host = session.primary_host().unwrap_or(0);
        let recorder = Arc::clone(shared.recorders.of(number));
        let local = shared.recorders.local(number);
        tell_hosts(&recorder, &session, Recorder::connected);
        recorder.opened(local);
        let prepared = usize::from(session.prepared());
        shared
            .control
            .prepared
            .fetch_max(prepared, Ordering::Relaxed);
        Ok(Self {
            counted: session.counts(),
            ended: None,
            loops: false,
            shared,
            recorder,
            number,
            local,
            session: Some(session),
            statements,
            host,
            waits,
        })
    }

    async fn connect(
        shared: &SharedRun,
        number: usize,
        statements: &mut Statements,
    ) -> Result<Session, EngineError> {
        let connect_error = |error| EngineError::Connect {
            session: number,
            error,
        };
        let mut session = shared
            .connector
            .connect_for(shared.spec.shard.global_usize(number), shared.access())
            .await
            .map_err(connect_error)?;
        let init_error = |error| EngineError::Init {
            session: number,
            error,
        };
        let allowed = shared.spec.init_timeout;
        let prepared = timeout(allowed, statements.prepare(&mut session)).await;
        prepared
            .unwrap_or_else(|_| {
                let seconds = allowed.as_secs_f64();
                let late = format!("statements were not prepared within {seconds} s");
                Err(DbError::new(ErrorClass::ConnectionLost, "prepare", late))
            })
            .map_err(init_error)?;
        if shared.in_place {
            session
                .wait_in_place(LONGEST_WAIT_IN_PLACE)
                .map_err(connect_error)?;
        }
        Ok(session)
    }

    /// Runs transactions until the run ends: of the terminals of a pool, or of one of its own.
    ///
    /// Sessions are many, and each keeps room for the largest of what it may wait for: itself and
    /// what is rare (opening again, closing) are boxed.
    pub async fn run(mut self: Box<Self>, pool: Option<Rc<Pool>>) {
        let shared = Arc::clone(&self.shared);
        let control = &shared.control;
        while control.is_waiting() {
            remote_signal().await;
        }
        self.waits.queue.begin();
        match pool {
            None => {
                let terminal = shared.terminal(self.number, shared.whole.sessions);
                // Boxed: sessions of a pool don't carry it.
                let mut terminal = Box::new(terminal);
                self.set_looping(control.arrivals.is_none());
                self.run_own(&mut terminal).await;
                self.set_looping(false);
                self.finish(&mut terminal).await;
            }
            Some(pool) => {
                self.run_pool(&pool).await;
                // Without a session, what terminals hold back is left to the others.
                while self.session.is_some()
                    && let Some(mut terminal) = pool.take_rest()
                {
                    self.finish(&mut terminal).await;
                }
            }
        }
        // Its share of the last interval counts: only a lost session is one less.
        if let Some(session) = self.session.take() {
            Box::pin(session.close()).await;
        }
    }

    /// Whether it executes one transaction after the other from here on.
    fn set_looping(&mut self, loops: bool) {
        match (self.loops, loops) {
            (false, true) => self.recorder.begin_loop(),
            (true, false) => self.recorder.end_loop(),
            _ => {}
        }
        self.loops = loops;
    }

    /// Sends what a terminal holds back, again where the server says so.
    async fn finish(&mut self, terminal: &mut Terminal) {
        let mut tries = 0;
        while self.shared.control.failure().is_none()
            && let Some(session) = &mut self.session
        {
            let finished = terminal.finish(session).await;
            tries += 1;
            match finished {
                Ok(()) => break,
                Err(error) if error.class == ErrorClass::Retryable && tries < FINISH_TRIES => {
                    if let Some(session) = &mut self.session
                        && session.rollback().await.is_err()
                    {
                        break;
                    }
                }
                Err(error) => {
                    self.fail(&error);
                }
            }
        }
        let statements = self.uncounted();
        if statements != StatementCounts::default() {
            self.recorder.rest(statements);
        }
    }

    /// The number of its executor's thread.
    fn thread(&self) -> usize {
        self.number % self.shared.threads
    }

    async fn run_own(&mut self, terminal: &mut Terminal) {
        let shared = Arc::clone(&self.shared);
        let mut since_reconnect = 0;
        let scheduled = shared.control.arrivals.is_some();
        let thread = self.thread();
        let mut left = shared.whole.each;
        while left != Some(0) {
            // Asked here: who never waits has no call more for those who do.
            let start = match scheduled {
                false => (!shared.control.is_over()).then_some(Start::Now),
                true => next_start(&shared.control, &self.waits.idle, thread).await,
            };
            let Some(start) = start else { return };
            let part = ToDo {
                terminal: shared.spec.shard.global_usize(self.number),
                start,
                scheduled,
                deferred: false,
            };
            if !shared.control.take_event_of(&mut left)
                || self.event(terminal, part).await.is_none()
                || terminal.has_deferred() && !self.deferred(terminal, part).await
                || self.is_reconnect_due(&mut since_reconnect) && !self.reconnect().await
            {
                return;
            }
        }
    }

    async fn run_pool(&mut self, pool: &Pool) {
        let shared = Arc::clone(&self.shared);
        let mut since_reconnect = 0;
        while let Some(mut seated) = pool.take(&shared.control).await {
            if !shared.control.take_event() {
                return pool.put(seated.number, seated.terminal, Instant::now());
            }
            let origin = if seated.awaited {
                Origin::Awaited
            } else {
                Origin::Terminal
            };
            let number = self.thread() + seated.number as usize * shared.threads;
            let part = ToDo {
                terminal: shared.spec.shard.global_usize(number),
                start: Start::At(seated.since, origin),
                scheduled: true,
                deferred: false,
            };
            let ended = self.event(&mut seated.terminal, part).await;
            let go_on = ended.is_some()
                && (!seated.terminal.has_deferred()
                    || self.deferred(&mut seated.terminal, part).await);
            let ended = ended.unwrap_or_else(Instant::now);
            pool.put(seated.number, seated.terminal, ended);
            if !go_on || self.is_reconnect_due(&mut since_reconnect) && !self.reconnect().await {
                return;
            }
        }
    }

    /// One transaction, tried again as errors allow; when it ended for its user, with its reply or
    /// with an error, or `None` when the session must end. Its service time runs from the first try
    /// until the session has the last reply and can go on, as sysbench's does: what this host makes
    /// it wait is in it, and is told apart by the time at the server and on the way.
    async fn event(&mut self, terminal: &mut Terminal, part: ToDo) -> Option<Instant> {
        if part.scheduled {
            self.recorder.begin_scheduled();
        }
        if let Some(session) = &mut self.session {
            // Of statements between two transactions.
            let _ = session.take_away_time();
            let _ = session.take_paused();
        }
        let begun = Instant::now();
        if let (Some(limit), Start::At(due, _)) = (self.shared.spec.skip_late, part.start)
            && !part.deferred
        {
            let late = begun.saturating_duration_since(due);
            if late > limit {
                self.recorder.skip(part.terminal, begun, late);
                return Some(begun);
            }
            terminal.begins_late(late);
        }
        let (mut lost, mut paused_before) = (Duration::ZERO, Duration::ZERO);
        loop {
            let session = self.session.as_mut()?;
            let tried = if part.deferred {
                terminal.deferred(session, &self.statements).await
            } else {
                terminal.transaction(session, &self.statements).await
            };
            match tried {
                Ok(done) => {
                    let away = session.take_away_time();
                    let paused = session.take_paused() + paused_before;
                    let ended = Instant::now();
                    let service = ended.saturating_duration_since(begun);
                    let before = match part.start {
                        Start::Now => self.ended.replace(ended),
                        Start::At(..) => None,
                    };
                    let between =
                        before.map_or(Duration::ZERO, |e| begun.saturating_duration_since(e));
                    let statements = self.uncounted();
                    let due = match part.start {
                        Start::Now => None,
                        Start::At(due, origin) => Some(Due {
                            wait: begun.saturating_duration_since(due),
                            origin,
                        }),
                    };
                    let by = Some(By {
                        terminal: part.terminal,
                        begun,
                        between,
                    });
                    let recorder = match part.scheduled {
                        // It was begun there.
                        true => &self.recorder,
                        false => self.shared.recorders.here(&self.recorder),
                    };
                    let times = Times {
                        service,
                        // A clock that was set meanwhile must not make it longer than the whole.
                        server: away.map(|away| (away + lost).min(service)),
                        paused: paused.min(service),
                    };
                    recorder.record_by(
                        by,
                        done,
                        terminal.parts(),
                        self.local,
                        statements,
                        times,
                        due,
                    );
                    if let Some((note, error)) = &self.shared.noted_error
                        && let times = done.notes.get(*note)
                        && times > 0
                    {
                        recorder.noted(error, times);
                    }
                    return Some(ended);
                }
                Err(error) => {
                    let failed = terminal.gave_up().then(Instant::now);
                    let go_on = match self.judge(&error).await {
                        RecoveryAction::Again => !self.shared.control.is_stopping(),
                        RecoveryAction::Reconnect => {
                            lost += self.take_away_time();
                            let paused = self.session.as_mut().map(Session::take_paused);
                            paused_before += paused.unwrap_or_default();
                            let since = Instant::now();
                            let is_back = Box::pin(self.reopen(true)).await;
                            // A session that is lost is no wait for this host.
                            self.take_away_time();
                            lost += since.elapsed();
                            is_back
                        }
                        RecoveryAction::End => false,
                    };
                    if !go_on {
                        if part.scheduled {
                            self.recorder.end_unfinished();
                        }
                        return None;
                    }
                    if failed.is_some() {
                        if part.scheduled {
                            self.recorder.end_given_up();
                        }
                        return failed;
                    }
                }
            }
        }
    }

    /// What the session's statements took at the server and on the way since this was asked last.
    fn take_away_time(&mut self) -> Duration {
        let away = self.session.as_mut().and_then(Session::take_away_time);
        away.unwrap_or_default()
    }

    /// What the transaction left to be done after its reply: timed as one of its own, which takes no
    /// arrival and none of the run's `events`.
    async fn deferred(&mut self, terminal: &mut Terminal, after: ToDo) -> bool {
        let part = ToDo {
            start: Start::Now,
            deferred: true,
            ..after
        };
        self.event(terminal, part).await.is_some()
    }

    fn uncounted(&mut self) -> StatementCounts {
        let Some(session) = &mut self.session else {
            return StatementCounts::default();
        };
        let now = session.counts();
        // Of a single host the sum is known.
        if self.shared.hosts.len() > 1 {
            for sent in session.take_host_counts().into_iter().flatten() {
                self.recorder.sent(sent.host, sent.statements);
            }
        }
        now - std::mem::replace(&mut self.counted, now)
    }
}
