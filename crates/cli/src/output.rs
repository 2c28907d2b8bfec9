//! Standard output. What it could not take is remembered, so that a full disk or a failed device
//! under it never looks like success.

use std::io::{self, Write};
use std::sync::OnceLock;

/// The first failure, for the process's end.
static FAILURE: OnceLock<String> = OnceLock::new();

/// Standard output as everything here writes it: line by line, at once.
#[derive(Debug, Default)]
pub struct Stdout;

impl Stdout {
    fn remember<T>(result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            // A reader that closes the pipe early has what it wants.
            && error.kind() != io::ErrorKind::BrokenPipe
            && error.kind() != io::ErrorKind::Interrupted
        {
            FAILURE.get_or_init(|| error.to_string());
        }
        result
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Self::remember(io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::remember(io::stdout().flush())
    }
}

/// Prints. What goes wrong is told by [`failure`] when the process ends.
pub fn print(text: &str) {
    let mut out = Stdout;
    let _remembered = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Why something that was printed did not arrive, if so.
pub fn failure() -> Option<&'static str> {
    FAILURE.get().map(String::as_str)
}
