//! Emulated users, and what their sessions have prepared.
//!
//! [`Terminal`] and [`Statements`] are enums over the families that the crate's root lists, so that a
//! call is a jump and not a boxed future. A family of another crate brings its users in a box
//! ([`CustomUser`]).

use crate::oltp::not_ready;
use crate::{Done, InnerOperation};
use std::fmt::{self, Debug};
use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, ErrorKind};
use tidemark_drivers::{Dialect, Session, Statement};

/// What one emulated user of a family does. [`Terminal`] asks it.
pub(crate) trait User {
    /// What its sessions have prepared.
    type Statements;

    /// Runs one transaction with new random values.
    fn transaction(
        &mut self,
        session: &mut Session,
        statements: &Self::Statements,
    ) -> impl Future<Output = Result<Done, DbError>>;

    /// The pause before the next transaction.
    fn pause(&mut self) -> Duration {
        Duration::ZERO
    }

    /// The next transaction begins so long after it was due; told where one that is later than a limit is
    /// skipped.
    fn begins_late(&mut self, _late: Duration) {}

    /// Whether the error of the last transaction ended it for its user.
    fn gave_up(&self) -> bool {
        false
    }

    /// Whether the last transaction left work for [`User::deferred`].
    fn has_deferred(&self) -> bool {
        false
    }

    /// Does what the last transaction left to be done after its reply.
    fn deferred(
        &mut self,
        _session: &mut Session,
        _statements: &Self::Statements,
    ) -> impl Future<Output = Result<Done, DbError>> {
        ready(Err(nothing_deferred()))
    }

    /// The transactions that the last one was made of.
    fn parts(&self) -> &[InnerOperation] {
        &[]
    }

    /// Sends what it still holds back.
    fn finish(&mut self, _session: &mut Session) -> impl Future<Output = Result<(), DbError>> {
        ready(Ok(()))
    }
}

/// Makes [`Terminal`] and [`Statements`] of the families that have users.
macro_rules! terminals {
    ($($(#[$doc:meta])* $name:ident($user:ty, $statements:ty),)+) => {
        /// What one session has prepared of a workload. It belongs to the session and not to a
        /// terminal, because terminals may share fewer sessions.
        #[derive(Debug)]
        pub enum Statements {
            /// Nothing is prepared.
            None,
            $($(#[$doc])* $name($statements),)+
        }

        impl Statements {
            /// Says which session they are of, before they are prepared.
            pub fn of_session(&mut self, number: usize) {
                if let Statements::Custom(prepared) = self {
                    prepared.of_session(number);
                }
            }

            /// Prepares the statements; to be called again when the session is a new one.
            ///
            /// # Errors
            /// The server's error; [`tidemark_core::ErrorClass::Missing`] when a table does not
            /// exist.
            pub async fn prepare(
                &mut self,
                session: &mut tidemark_drivers::Session,
            ) -> Result<(), tidemark_core::DbError> {
                match self {
                    Statements::None => Ok(()),
                    $(Statements::$name(statements) => statements.prepare(session).await,)+
                }
            }
        }

        /// One emulated user.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant)] // a box would not make them fewer
        pub enum Terminal {
            /// A workload whose run is not made of transactions, but of streams of queries.
            None,
            $($(#[$doc])* $name($user),)+
        }

        impl Terminal {
            /// Runs one transaction with new random values.
            ///
            /// # Errors
            /// The server's error. A transaction that it left open is the caller's to roll back; the
            /// terminal can be asked for the next transaction at once. Fatal `workload` when the
            /// statements are another workload's.
            pub async fn transaction(
                &mut self,
                session: &mut tidemark_drivers::Session,
                statements: &Statements,
            ) -> Result<Done, tidemark_core::DbError> {
                match (self, statements) {
                    $((Terminal::$name(user), Statements::$name(statements)) => {
                        User::transaction(user, session, statements).await
                    })+
                    _ => Err(oltp::not_ready()),
                }
            }

            /// The pause before the next transaction, of a workload that paces: what the user thinks
            /// about the last one and types for the next, whose type is drawn now.
            pub fn pause(&mut self) -> std::time::Duration {
                match self {
                    Terminal::None => std::time::Duration::ZERO,
                    $(Terminal::$name(user) => User::pause(user),)+
                }
            }

            /// The next transaction begins so long after it was due.
            pub fn begins_late(&mut self, late: std::time::Duration) {
                match self {
                    Terminal::None => {}
                    $(Terminal::$name(user) => User::begins_late(user, late),)+
                }
            }

            /// Whether the error of the last transaction ended it for its user, who thinks before
            /// the next one. Otherwise [`Terminal::transaction`] is to be called again at once: it
            /// tries the same one, or, as sysbench's scripts do, another in its place.
            pub fn gave_up(&self) -> bool {
                match self {
                    Terminal::None => false,
                    $(Terminal::$name(user) => User::gave_up(user),)+
                }
            }

            /// Whether the last transaction left work for [`Terminal::deferred`].
            #[inline]
            pub fn has_deferred(&self) -> bool {
                match self {
                    Terminal::None => false,
                    $(Terminal::$name(user) => User::has_deferred(user),)+
                }
            }

            /// Does what the last transaction left to be done after its reply. It is timed and
            /// counted as a type of its own, and the user's pause does not wait for it.
            ///
            /// # Errors
            /// As [`Terminal::transaction`]. After one that may be tried again the work is still
            /// there, after another it may be given up ([`Terminal::gave_up`] tells). Fatal
            /// `workload` when there was none.
            pub async fn deferred(
                &mut self,
                session: &mut tidemark_drivers::Session,
                statements: &Statements,
            ) -> Result<Done, tidemark_core::DbError> {
                match (self, statements) {
                    $((Terminal::$name(user), Statements::$name(statements)) => {
                        User::deferred(user, session, statements).await
                    })+
                    _ => Err(terminal::nothing_deferred()),
                }
            }

            /// The transactions that the last one was made of, where its parts are timed too; none
            /// of most.
            #[inline]
            pub fn parts(&self) -> &[InnerOperation] {
                match self {
                    Terminal::None => &[],
                    $(Terminal::$name(user) => User::parts(user),)+
                }
            }

            /// Sends what the terminal still holds back (`bulk_insert` collects rows); to be called
            /// once after the last transaction.
            ///
            /// # Errors
            /// As [`Terminal::transaction`].
            pub async fn finish(
                &mut self,
                session: &mut tidemark_drivers::Session,
            ) -> Result<(), tidemark_core::DbError> {
                match self {
                    Terminal::None => Ok(()),
                    $(Terminal::$name(user) => User::finish(user, session).await,)+
                }
            }
        }
    };
}
pub(crate) use terminals;

/// What a [`CustomUser`] is doing.
pub type Doing<'a> = Pin<Box<dyn Future<Output = Result<Done, DbError>> + 'a>>;

/// The same, outside of transactions.
pub type Waiting<'a> = Pin<Box<dyn Future<Output = Result<(), DbError>> + 'a>>;

/// One emulated user of a family of another crate: a transaction costs a box.
pub trait CustomUser: Debug + Send {
    /// Runs one transaction with new random values.
    ///
    /// # Errors
    /// As [`Terminal::transaction`](crate::Terminal::transaction).
    fn transaction<'a>(
        &'a mut self,
        session: &'a mut Session,
        statements: &'a PreparedStatements,
    ) -> Doing<'a>;

    /// The pause before the next transaction, of a workload that paces.
    fn pause(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Whether the error of the last transaction ended it for its user.
    fn gave_up(&self) -> bool {
        false
    }

    /// Ends its work after the last transaction.
    ///
    /// # Errors
    /// As [`Terminal::finish`](crate::Terminal::finish).
    fn finish<'a>(&'a mut self, session: &'a mut Session) -> Waiting<'a> {
        let _ = session;
        Box::pin(ready(Ok(())))
    }
}

/// What a family of another crate does with each session that is opened, beside preparing statements.
pub trait SetUp: Send {
    /// The session of this number is there, or there again.
    ///
    /// # Errors
    /// As [`Statements::prepare`](crate::Statements::prepare).
    fn set_up<'a>(&'a mut self, number: usize, session: &'a mut Session) -> Waiting<'a>;
}

impl User for Box<dyn CustomUser> {
    type Statements = PreparedStatements;

    async fn transaction(
        &mut self,
        session: &mut Session,
        statements: &PreparedStatements,
    ) -> Result<Done, DbError> {
        (**self).transaction(session, statements).await
    }

    fn pause(&mut self) -> Duration {
        (**self).pause()
    }

    fn gave_up(&self) -> bool {
        (**self).gave_up()
    }

    async fn finish(&mut self, session: &mut Session) -> Result<(), DbError> {
        (**self).finish(session).await
    }
}

type Texts = dyn Fn(&Dialect) -> Vec<String> + Send;

/// What a session has prepared for [`CustomUser`]s: statements, by the place of their texts.
pub struct PreparedStatements {
    texts: Box<Texts>,
    statements: Vec<Statement>,
    set_up: Option<Box<dyn SetUp>>,
    /// The session's.
    number: usize,
}

impl PreparedStatements {
    /// Of the texts that a dialect needs, not yet prepared.
    pub fn new(texts: impl Fn(&Dialect) -> Vec<String> + Send + 'static) -> Self {
        Self {
            texts: Box::new(texts),
            statements: Vec::new(),
            set_up: None,
            number: 0,
        }
    }

    /// Of no texts, with what is done when a session is there.
    pub fn by(set_up: Box<dyn SetUp>) -> Self {
        Self {
            set_up: Some(set_up),
            ..Self::new(|_| Vec::new())
        }
    }

    pub(crate) fn of_session(&mut self, number: usize) {
        self.number = number;
    }

    pub(crate) async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        self.statements.clear();
        for text in (self.texts)(&session.dialect()) {
            let statement = session.prepare(&text).await?;
            self.statements.push(statement);
        }
        match &mut self.set_up {
            Some(set_up) => set_up.set_up(self.number, session).await,
            None => Ok(()),
        }
    }

    /// The statement of the `at`-th text.
    ///
    /// # Errors
    /// Fatal `workload` when it was not prepared.
    pub fn get(&self, at: usize) -> Result<&Statement, DbError> {
        self.statements.get(at).ok_or_else(not_ready)
    }
}

impl Debug for PreparedStatements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedStatements")
            .field("statements", &self.statements)
            .finish_non_exhaustive()
    }
}

/// Whether a terminal does the same again after an error, and not what comes next: retries would
/// leave out what fails often. What may be committed is not done again, or it would be there twice.
pub(crate) fn is_same_again(error: &DbError) -> bool {
    use ErrorClass::{ConnectionLost, Refused, Retryable};
    matches!(error.class, Retryable | ConnectionLost | Refused)
        && error.kind != ErrorKind::CommitUnknown
}

pub(crate) fn nothing_deferred() -> DbError {
    DbError::new(
        ErrorClass::Fatal,
        "workload",
        "deferred work was requested, but there is none",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Statements, Terminal, oltp};

    fn output<A, B, C, F>(_: impl FnOnce(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    /// A session's task has room for the largest transaction: a family's that is in no box.
    #[test]
    fn families_make_no_task_larger_than_point_selects_do() {
        type Mut<T> = &'static mut T;
        let any =
            output(|t: Mut<Terminal>, s: Mut<Session>, p: &'static Statements| t.transaction(s, p));
        let oltp = output(
            |t: Mut<oltp::Terminal>, s: Mut<Session>, p: &'static oltp::Statements| {
                User::transaction(t, s, p)
            },
        );
        assert!(any <= oltp + 64, "{any} {oltp}");
    }

    /// A hundred thousand terminals are some thirty megabytes.
    #[test]
    fn a_terminal_is_small() {
        assert!(size_of::<Terminal>() <= 296, "{}", size_of::<Terminal>());
    }
}
