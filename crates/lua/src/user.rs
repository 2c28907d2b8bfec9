//! A script thread as one of a workload's users.

use crate::program::Program;
use crate::state::ScriptState;
use crate::task::{Failure, ScriptThread};
use std::rc::Rc;
use std::sync::Arc;
use tidemark_core::{DbError, ErrorClass};
use tidemark_drivers::Session;
use tidemark_workloads::{CustomUser, Doing, PreparedStatements, SetUp, Waiting};

/// What a script does when its session is there: its top level, and `thread_init`.
pub(crate) struct Sessions {
    pub program: Arc<Program>,
}

impl SetUp for Sessions {
    fn set_up<'a>(&'a mut self, number: usize, session: &'a mut Session) -> Waiting<'a> {
        let program = Arc::clone(&self.program);
        // As its user is numbered: over all clients.
        let number = program.shard().global_usize(number);
        Box::pin(async move {
            if let Some((state, mut task)) = ScriptState::take(program.id, number) {
                task.session_replaced();
                state.put(task);
                return Ok(());
            }
            let state = ScriptState::with_room(&program).map_err(Failure::into_db)?;
            let task = begun(&state, number, session).await;
            state.added();
            match task {
                Ok(task) => {
                    state.put(task);
                    Ok(())
                }
                Err(failure) => Err(failure.into_db()),
            }
        })
    }
}

/// A script thread after its `thread_init`.
async fn begun(
    state: &Rc<ScriptState>,
    number: usize,
    session: &mut Session,
) -> Result<Box<ScriptThread>, Failure> {
    let mut engine = Some(session);
    let mut task = Box::new(ScriptThread::new(state, number)?);
    task.load(state, &mut engine).await?;
    task.global(state, &mut engine, "thread_init").await?;
    Ok(task)
}

/// One of the run's users.
#[derive(Debug)]
pub(crate) struct ScriptUser {
    pub program: usize,
    pub number: usize,
    /// For its first event.
    pub seed: Option<u64>,
}

impl ScriptUser {
    fn taken(&self) -> Result<(Rc<ScriptState>, Box<ScriptThread>), DbError> {
        ScriptState::take(self.program, self.number).ok_or_else(|| {
            let message = "the script's thread is not on this session";
            DbError::new(ErrorClass::Fatal, "workload", message)
        })
    }
}

impl CustomUser for ScriptUser {
    fn transaction<'a>(
        &'a mut self,
        session: &'a mut Session,
        _statements: &'a PreparedStatements,
    ) -> Doing<'a> {
        Box::pin(async move {
            let (state, mut task) = self.taken()?;
            if let Some(seed) = self.seed.take() {
                task.seed(seed);
            }
            let done = task.event(&state, session).await;
            state.put(task);
            done
        })
    }

    fn finish<'a>(&'a mut self, session: &'a mut Session) -> Waiting<'a> {
        Box::pin(async move {
            // Of a thread that never began nothing is left to be done.
            let Ok((state, mut task)) = self.taken() else {
                return Ok(());
            };
            if task.is_stopped {
                // Its transaction is rolled back with its session.
                state.ended(task);
                return Ok(());
            }
            let ended = task
                .global(&state, &mut Some(session), "thread_done")
                .await
                .map(drop);
            state.ended(task);
            match ended {
                Err(Failure::Stopped(_)) => Ok(()),
                ended => ended.map_err(Failure::into_db),
            }
        })
    }
}
