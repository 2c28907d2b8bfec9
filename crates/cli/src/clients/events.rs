//! What happens in a run of several clients, for whoever drives it.

use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tidemark_clients::{ClientsRun, CoordinatorEvent};
use tidemark_engine::StopHandle;

/// How often it is looked whether the user wants the end.
const LOOK: Duration = Duration::from_millis(50);

/// The events of a run, which is stopped once the user wants its end.
pub(super) struct Events<'r> {
    run: &'r ClientsRun,
    stop: StopHandle,
    /// Whether the user wanted the end.
    pub is_stopping: bool,
}

impl<'r> Events<'r> {
    pub fn of(run: &'r ClientsRun) -> Self {
        Self {
            run,
            stop: interrupt::handle(),
            is_stopping: false,
        }
    }

    /// What happens next; `None` when nothing did for a moment.
    ///
    /// # Errors
    /// [`ExitCode::Failed`] when nothing can happen any more.
    pub fn look(&mut self) -> Result<Option<CoordinatorEvent>, Failure> {
        if self.stop.is_stopped() && !std::mem::replace(&mut self.is_stopping, true) {
            self.run.stop();
        }
        match self.run.events.recv_timeout(LOOK) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let why = "the coordinator's thread ended";
                Err(Failure::new(ExitCode::Failed, why))
            }
        }
    }
}
