//! What a benchmark's command line asks for, taken before it is done.

use crate::exit::Failure;
use crate::frontend::Frontend;
use crate::runner::JobOrder;
use std::sync::{Mutex, PoisonError};

/// Whether orders are taken, and those that were.
static TAKEN: Mutex<Option<Vec<JobOrder>>> = Mutex::new(None);

/// Takes an order that somebody waits for; whether somebody did.
pub(super) fn take(order: &JobOrder) -> bool {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    match taken.as_mut() {
        Some(orders) => {
            orders.push(order.clone());
            true
        }
        None => false,
    }
}

/// Whether somebody waits for orders, and wants nothing done.
pub fn is_waited_for() -> bool {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    taken.is_some()
}

/// The runs or loads that a command line asks for; nothing is done, and nothing printed but what is wrong
/// with it.
///
/// # Errors
/// [`Failure`] as the command's own.
pub fn of_command_line(command: &Frontend, words: &[String]) -> Result<Vec<JobOrder>, Failure> {
    let set = |orders| {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *taken, orders)
    };
    set(Some(Vec::new()));
    // With this word a command prints nothing beside.
    let words = [words, &["--print-job".to_string()]].concat();
    let args = ["tidemark".to_string(), command.word.to_string()];
    let done = (command.main)(&[&args, words.as_slice()].concat(), &words);
    let orders = set(None).unwrap_or_default();
    done.map(|_| orders)
}
