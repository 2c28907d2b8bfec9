//! Standard output. What it could not take is remembered, so that a full disk or a failed device
//! under it never looks like success.

use std::io::{self, Stderr, Write, stderr};
use std::sync::OnceLock;
use tidemark_report::tpcc::OutputStyle;

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

/// Where lines go that the tool whose output is printed has not: beside figures that a program
/// reads, none may stand that is no JSON.
pub enum Aside {
    /// Standard output.
    Output(Stdout),
    /// The error output.
    Error(Stderr),
}

impl Aside {
    /// The place beside figures of this style.
    pub fn of(style: OutputStyle) -> Self {
        match style {
            OutputStyle::Json => Aside::Error(stderr()),
            OutputStyle::Plain | OutputStyle::Table => Aside::Output(Stdout),
        }
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Aside::Output(out) => out.write(bytes),
            Aside::Error(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Aside::Output(out) => out.flush(),
            Aside::Error(out) => out.flush(),
        }
    }
}
