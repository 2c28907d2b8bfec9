//! The terminal: taken for a view, and given back whatever happens.

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::{Frame, Terminal};
use std::io::{self, BufWriter, IsTerminal, Stderr, stderr};
use std::sync::{Mutex, Once, PoisonError, TryLockError};
use std::time::Duration;

/// Whether a view has the terminal. Held while something is drawn, so that nothing is drawn on a
/// terminal that was given back.
static TAKEN: Mutex<bool> = Mutex::new(false);

/// The terminal, taken.
#[derive(Debug)]
pub(super) struct Screen(Terminal<CrosstermBackend<BufWriter<Stderr>>>);

impl Screen {
    /// Takes the terminal of the error output, where progress bars are drawn, too; `None` where that
    /// is none, or can show no picture, or belongs to a job in the foreground that this is not.
    pub fn take() -> Option<Self> {
        let shows_pictures = std::env::var_os("TERM").is_some_and(|t| !t.is_empty() && t != "dumb");
        if !stderr().is_terminal() || !shows_pictures || !is_in_foreground() {
            return None;
        }
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if *taken {
            return None;
        }
        give_back_on_panic();
        enable_raw_mode().ok()?;
        *taken = true;
        drop(taken);
        // A terminal without another screen would show what was there through the picture.
        let entered = execute!(
            stderr(),
            EnterAlternateScreen,
            Clear(ClearType::All),
            cursor::Hide
        )
        .and_then(|()| Terminal::new(CrosstermBackend::new(BufWriter::new(stderr()))));
        match entered {
            Ok(terminal) => Some(Self(terminal)),
            Err(_) => {
                restore_terminal();
                None
            }
        }
    }

    /// Draws one picture.
    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !*taken {
            return Err(io::ErrorKind::NotConnected.into());
        }
        self.0.draw(picture).map(|_| ())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Whether a view has the terminal: what else would be printed there would spoil it.
pub fn terminal_is_taken() -> bool {
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back as it was; nothing when no view has it. For those who end the process
/// otherwise than by leaving the view.
pub fn restore_terminal() {
    // Who panics while he draws has the lock himself.
    for _ in 0..10 {
        match TAKEN.try_lock() {
            Ok(mut taken) => {
                if std::mem::take(&mut *taken) {
                    leave();
                }
                return;
            }
            Err(TryLockError::Poisoned(taken)) => {
                if std::mem::take(&mut *taken.into_inner()) {
                    leave();
                }
                return;
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    leave();
}

fn leave() {
    // What fails here can be told to nobody.
    let _left = execute!(stderr(), LeaveAlternateScreen, cursor::Show);
    let _cooked = disable_raw_mode();
}

fn give_back_on_panic() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore_terminal();
            before(panic);
        }));
    });
}

/// Whether the terminal would stop the process for touching it: it does so with jobs in the
/// background. One that is not the process's controlling terminal stops nobody.
fn is_in_foreground() -> bool {
    let of_terminal = nix::unistd::tcgetpgrp(stderr());
    of_terminal.map_or(true, |group| group == nix::unistd::getpgrp())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // a test fails by panicking
mod tests;
