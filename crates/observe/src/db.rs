//! A session that observes: on a thread of its own, so that a server that hangs holds up nobody.

use crate::own::{Own, Task};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tidemark_core::record::{Gap, GapKind};
use tidemark_core::{DbError, Engine, ErrorClass, ErrorKind, Protocol};
use tidemark_drivers::{Connector, RowSet, Session};
use tidemark_runtime::{block_on, timeout};

/// How long a sample waits for a statement, and for opening a session.
pub(crate) const LONGEST: Duration = Duration::from_secs(2);
/// How long the session waits for it. A server whose disk or processors are full answers late, and most of
/// all the first time, when it reads its catalogs: a session that gave up would begin with them again.
const PATIENT: Duration = Duration::from_secs(10);
/// A session that the server ended is opened again after so long: less than from sample to sample.
const REOPEN_FIRST: Duration = Duration::from_millis(900);
/// Each attempt that fails doubles it up to this, which is also how long a slow server is left alone.
const REOPEN_LAST: Duration = Duration::from_secs(5);
/// So many connections stay free for others.
const SPARE: i64 = 4;
/// TLS handshakes, and a driver's futures.
const STACK: usize = 1 << 20;

/// A session that is opened when it is first asked, and again when it was lost.
pub(crate) struct Db {
    asks: Sender<Ask>,
    answers: Receiver<Answer>,
    /// The session's connection id, once it answered.
    id: Option<i64>,
    /// Whether the greeting had the same.
    is_direct: bool,
    is_mariadb: bool,
    /// An answer is still to come, of a question that took too long.
    overdue: bool,
    /// The statements that the session has prepared, by name.
    prepared: HashMap<&'static str, String>,
    /// A statement that was not answered in time may have prepared what is not known here.
    is_unsure: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    /// No session should be opened.
    Never(Gap),
    /// There is no session, or it was lost.
    Failed(String),
    /// The server refused the statement.
    Statement(String),
}

/// A statement that is refused so often is asked no more: each refusal is a line of the server's log.
const MOST_REFUSALS: u32 = 3;

/// How often a statement was refused since it was last answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(u32);

impl Refusals {
    /// It was not answered; a lost session is not the statement's fault.
    pub fn count(&mut self, why: &Refusal) {
        self.0 += u32::from(why.is_of_the_statement());
    }

    /// It was answered.
    pub fn clear(&mut self) {
        self.0 = 0;
    }

    /// Whether it is asked no more.
    pub fn are_many(&self) -> bool {
        self.0 >= MOST_REFUSALS
    }

    /// The statement's answer; `None` where it is asked no more, or is not answered: then `failed` has why.
    pub fn ask(
        &mut self,
        db: &mut Db,
        name: &'static str,
        sql: &str,
        failed: &mut Option<String>,
    ) -> Option<RowSet> {
        if self.are_many() {
            return None;
        }
        match db.query_prepared(name, sql) {
            Ok(rows) => {
                self.clear();
                Some(rows)
            }
            Err(why) => {
                self.count(&why);
                *failed = Some(why.to_string());
                None
            }
        }
    }
}

/// What is asked.
enum Ask {
    Rows(String),
    Ping,
}

/// An answer, and the connection's id.
struct Answered {
    id: i64,
    is_direct: bool,
    is_mariadb: bool,
    rows: RowSet,
    /// How long a ping took.
    took: Duration,
}

type Answer = Result<Answered, Refusal>;

impl Refusal {
    /// As a gap of a source that can't be had.
    pub fn gap(self) -> Gap {
        match self {
            Refusal::Never(gap) => gap,
            Refusal::Failed(why) | Refusal::Statement(why) => Gap::new(GapKind::Failed, why),
        }
    }

    /// Whether the statement is to blame.
    pub fn is_of_the_statement(&self) -> bool {
        matches!(self, Refusal::Statement(_))
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Never(gap) => write!(f, "{:?} {}", gap.kind, gap.detail),
            Refusal::Failed(why) | Refusal::Statement(why) => f.write_str(why),
        }
    }
}

impl Db {
    /// Nothing is opened yet. Sessions that this opens are known to `own`.
    pub fn new(connector: &Connector, own: &Own) -> Self {
        Self::waiting(connector, own, PATIENT)
    }

    /// The same for pings, which say nothing when they come late.
    pub fn of_pings(connector: &Connector, own: &Own) -> Self {
        Self::waiting(connector, own, LONGEST)
    }

    fn waiting(connector: &Connector, own: &Own, patience: Duration) -> Self {
        let (asks, asked) = channel();
        let (answer, answers) = channel();
        let connector = connector.clone().observing(patience);
        let own = own.clone();
        let thread = std::thread::Builder::new().name("observe-session".into());
        // Without a thread every question is answered by its absence.
        let _spawned = thread.stack_size(STACK).spawn(move || {
            let _ended = block_on(serve(connector, own, patience, asked, answer));
        });
        Self {
            asks,
            answers,
            id: None,
            is_direct: false,
            is_mariadb: false,
            overdue: false,
            prepared: HashMap::new(),
            is_unsure: false,
        }
    }

    /// The rows of a statement.
    ///
    /// # Errors
    /// [`Refusal`] when no session can be had, the statement fails, or neither happens in time.
    pub fn query(&mut self, sql: &str) -> Result<RowSet, Refusal> {
        let answer = self.answer(sql);
        if matches!(answer, Err(Refusal::Failed(_))) {
            // The next session knows none of them, and this one may know more.
            self.prepared.clear();
            self.is_unsure = true;
        }
        answer
    }

    fn answer(&mut self, sql: &str) -> Result<RowSet, Refusal> {
        let late = || Refusal::Failed(format!("no reply within {} s", LONGEST.as_secs()));
        let gone = || Refusal::Failed("its thread has ended".into());
        if self.overdue {
            match self.answers.try_recv() {
                Ok(_) => self.overdue = false,
                Err(_) => return Err(late()),
            }
        }
        self.asks.send(Ask::Rows(sql.into())).map_err(|_| gone())?;
        match self.answers.recv_timeout(LONGEST + LONGEST / 4) {
            Ok(answer) => answer.map(|answered| {
                self.id = Some(answered.id);
                self.is_direct = answered.is_direct;
                self.is_mariadb = answered.is_mariadb;
                answered.rows
            }),
            Err(RecvTimeoutError::Timeout) => {
                self.overdue = true;
                Err(late())
            }
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    /// As [`Db::query`], in PostgreSQL's SQL: a statement that is asked again and again, which the server
    /// plans once (PREPARE). With other words under the same name it is another one.
    ///
    /// # Errors
    /// As [`Db::query`].
    pub fn query_prepared(&mut self, name: &'static str, sql: &str) -> Result<RowSet, Refusal> {
        if self.is_unsure {
            self.query("DEALLOCATE ALL")?;
            self.prepared.clear();
            self.is_unsure = false;
        }
        if self.prepared.get(name).is_none_or(|has| has != sql) {
            if self.prepared.remove(name).is_some() {
                self.query(&format!("DEALLOCATE {name}"))?;
            }
            self.query(&format!("PREPARE {name} AS {sql}"))?;
            self.prepared.insert(name, sql.into());
        }
        self.query(&format!("EXECUTE {name}"))
    }

    /// Sends a statement that does nothing, unless one is on its way.
    pub fn send_ping(&mut self) {
        if !self.overdue {
            // Without a thread there is no answer.
            self.overdue = self.asks.send(Ask::Ping).is_ok();
        }
    }

    /// How long it took, if it is answered within this time; else the next call may tell.
    ///
    /// # Errors
    /// As [`Db::query`].
    pub fn pinged(&mut self, within: Duration) -> Result<Option<Duration>, Refusal> {
        match self.answers.recv_timeout(within) {
            Ok(answer) => {
                self.overdue = false;
                let answered = answer?;
                self.id = Some(answered.id);
                Ok(Some(answered.took))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(Refusal::Failed("its thread has ended".into()))
            }
        }
    }

    /// Whether the server calls the session that answered last what its greeting called it: behind a proxy
    /// it does not.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Whether it is a session of MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.is_mariadb
    }

    /// The connection id of the session that answered last.
    pub fn id(&self) -> Option<i64> {
        self.id
    }
}

/// A session that is open, with its connection id.
struct Open {
    session: Session,
    id: i64,
    /// Its number among the sessions that observe.
    number: u64,
}

async fn serve(
    connector: Connector,
    own: Own,
    patience: Duration,
    asked: Receiver<Ask>,
    answer: Sender<Answer>,
) {
    let mut open: Option<Open> = None;
    let mut tried: Option<(Instant, Refusal)> = None;
    let mut pause = REOPEN_FIRST;
    while let Ok(what) = asked.recv() {
        if open.is_none() {
            let again = tried
                .as_ref()
                .is_none_or(|(at, why)| matches!(why, Refusal::Failed(_)) && at.elapsed() >= pause);
            if again {
                match begin(&connector, &own, patience).await {
                    Ok(opened) => (open, tried) = (Some(opened), None),
                    Err(why) => {
                        tried = Some((Instant::now(), why));
                        pause = (pause * 2).min(REOPEN_LAST);
                    }
                }
            }
        }
        let asked_at = Instant::now();
        let answered = match (&mut open, &tried) {
            (Some(Open { session, id, .. }), _) => {
                let is_direct = session.connection_id() == Some(lower_bits(*id));
                let is_mariadb = session.server().engine == Engine::Mariadb;
                let answered = ask(session, (&own, *id), &what, patience).await;
                answered.map(|(rows, took)| Answered {
                    id: *id,
                    is_direct,
                    is_mariadb,
                    rows,
                    took,
                })
            }
            (None, Some((_, why))) => Err((false, why.clone())),
            (None, None) => Err((false, Refusal::Failed("no session".into()))),
        };
        let answered = answered.map_err(|(lost, why)| {
            if lost && let Some(open) = open.take() {
                own.closed(open.id, open.number);
                tried = Some((Instant::now(), why.clone()));
                pause = match asked_at.elapsed() < LONGEST / 2 {
                    true => REOPEN_FIRST,
                    false => REOPEN_LAST,
                };
            }
            why
        });
        if answer.send(answered).is_err() {
            break;
        }
    }
    if let Some(open) = open {
        own.closed(open.id, open.number);
        let _late = timeout(LONGEST, open.session.close()).await;
    }
}

/// Asks; with an error, whether the session was lost with it.
async fn ask(
    session: &mut Session,
    (own, id): (&Own, i64),
    what: &Ask,
    patience: Duration,
) -> Result<(RowSet, Duration), (bool, Refusal)> {
    own.sent(id);
    let answering = async {
        match what {
            Ask::Rows(sql) => session.query(sql).await.map(|rows| (rows, Duration::ZERO)),
            Ask::Ping => session.ping().await.map(|took| (RowSet::new(), took)),
        }
    };
    // Its limit is no option of the user's.
    let late = || {
        let why = format!("no reply within {} s", patience.as_secs());
        Err((true, Refusal::Failed(why)))
    };
    match timeout(patience, answering).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(error)) if error.kind == ErrorKind::StatementTimeout => late(),
        Ok(Err(error)) => match error.class {
            ErrorClass::ConnectionLost | ErrorClass::Refused => Err((true, failed(&error))),
            _ => Err((false, Refusal::Statement(error.to_string()))),
        },
        Err(_) => late(),
    }
}

/// What a greeting has of a connection id.
pub(crate) fn lower_bits(id: i64) -> u32 {
    (id & i64::from(u32::MAX)) as u32
}

fn failed(error: &DbError) -> Refusal {
    let advice = match error.kind == ErrorKind::TooManySessions {
        true => format!("; observing needs {SPARE} connections beside the run's"),
        false => String::new(),
    };
    Refusal::Failed(format!("{error}{advice}"))
}

/// Opens a session, unless it would be in the way of the run's.
async fn begin(connector: &Connector, own: &Own, patience: Duration) -> Result<Open, Refusal> {
    let mut session = connector.connect(0).await.map_err(|e| failed(&e))?;
    if session.is_pooled() {
        session.close().await;
        return Err(Refusal::Never(Gap::new(GapKind::Pooler, "")));
    }
    let begun = timeout(patience, identify(&mut session, own)).await;
    let late = |_| Refusal::Failed("no answer to the first statement".into());
    match begun.map_err(late)? {
        Ok((id, number)) => Ok(Open {
            session,
            id,
            number,
        }),
        Err(why) => {
            session.close().await;
            Err(why)
        }
    }
}

/// Its connection id, and its number among the sessions that observe.
async fn identify(session: &mut Session, own: &Own) -> Result<(i64, u64), Refusal> {
    let engine = session.server().engine;
    let is_postgres = engine.protocol() == Protocol::Postgres;
    let (id, spare) = match is_postgres {
        // Its sessions have no limit that it tells.
        true if !session.dialect().limits_sessions() => {
            let sql = "SELECT pg_backend_pid()";
            let rows = session.query(sql).await.map_err(|e| failed(&e))?;
            (rows.int(0, 0), None)
        }
        true => {
            let sql = "SELECT pg_backend_pid(), current_setting('max_connections')::int \
                       - current_setting('superuser_reserved_connections')::int \
                       - (SELECT count(*) FROM pg_stat_get_backend_idset())";
            let rows = session.query(sql).await.map_err(|e| failed(&e))?;
            (rows.int(0, 0), rows.int(0, 1))
        }
        false => {
            let sql = "SELECT CONNECTION_ID(), @@GLOBAL.max_connections";
            let rows = session.query(sql).await.map_err(|e| failed(&e))?;
            // TiDB's 0 is no limit.
            let (id, most) = (rows.int(0, 0), rows.int(0, 1).filter(|most| *most > 0));
            let open = "SHOW GLOBAL STATUS LIKE 'Threads_connected'";
            let rows = session.query(open).await.map_err(|e| failed(&e))?;
            (id, most.zip(rows.int(0, 1)).map(|(most, open)| most - open))
        }
    };
    if spare.is_some_and(|spare| spare < SPARE) {
        return Err(Refusal::Never(Gap::new(GapKind::NoConnections, "")));
    }
    let id = id.ok_or_else(|| Refusal::Failed("the server returned no connection id".into()))?;
    let limits: &[&str] = match is_postgres {
        true => &[
            "SET application_name = 'tidemark-observe'",
            "SET statement_timeout = '10s'",
        ],
        // MariaDB's and MySQL's; one of the first two is unknown.
        false => &[
            "SET SESSION max_statement_time = 10",
            "SET SESSION max_execution_time = 10000",
            // InnoDB's times are of the server's host, and NOW() would be of the session's zone.
            "SET SESSION time_zone = 'SYSTEM'",
            // MySQL cuts lists of ids at 1,024 bytes.
            "SET SESSION group_concat_max_len = 1048576",
        ],
    };
    for sql in limits {
        let _unknown = session.simple(sql).await;
    }
    let task = match is_postgres {
        true => Some(id),
        false => thread_of(session).await,
    };
    let task = task.and_then(|t| u32::try_from(t).ok());
    let is_alone = is_postgres || has_its_thread(session).await;
    let number = own.opened(id, Task { id: task, is_alone }, session.local_port());
    Ok((id, number))
}

/// The thread that serves a session: MariaDB tells it in its list of processes, MySQL in
/// performance_schema.
async fn thread_of(session: &mut Session) -> Option<i64> {
    const TELLING: [&str; 2] = [
        "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
        "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    ];
    for sql in TELLING {
        if let Ok(rows) = session.query(sql).await
            && let Some(id) = rows.int(0, 0)
        {
            return Some(id);
        }
    }
    None
}

/// Whether the thread that serves a session serves no other: those of a pool serve the load, too.
async fn has_its_thread(session: &mut Session) -> bool {
    let asked = session.query("SELECT @@GLOBAL.thread_handling").await;
    asked.is_ok_and(|rows| rows.text(0, 0).as_deref() == Some("one-thread-per-connection"))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Refusals};

    #[test]
    fn only_refusals_in_a_row_end_a_statement() {
        let mut refusals = Refusals::default();
        let lost = Refusal::Failed("the server has gone away".into());
        let refused = Refusal::Statement("permission denied".into());
        for _ in 0..10 {
            refusals.count(&lost);
        }
        refusals.count(&refused);
        refusals.count(&refused);
        assert!(!refusals.are_many());
        refusals.clear();
        refusals.count(&refused);
        refusals.count(&refused);
        assert!(!refusals.are_many());
        refusals.count(&refused);
        assert!(refusals.are_many());
    }
}
