//! Standard output and the error output. Whatever is printed passes here: what comes from servers,
//! files and command lines is not obeyed by a terminal. What standard output could not take is
//! remembered, so that a full disk or a failed device under it never looks like success.

use crate::{messages, secrets};
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use tidemark_compat::OutputStyle;
use tidemark_core::printable_document;

/// The first failure, for the process's end.
static FAILURE: OnceLock<String> = OnceLock::new();

/// Standard output as everything here writes it: line by line, at once, and nothing that a terminal
/// would obey but ends of lines and tabs.
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
        Self::remember(harmless(&mut io::stdout(), bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::remember(io::stdout().flush())
    }
}

/// The error output, in the same way. Nobody is told when it takes nothing.
#[derive(Debug, Default)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        harmless(&mut io::stderr(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn harmless(out: &mut dyn Write, bytes: &[u8]) -> io::Result<usize> {
    // A character that was cut in two by the writing before is no harm.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => printable_document(text),
        Err(_) => return out.write(bytes),
    };
    if text.len() == bytes.len() {
        return out.write(bytes);
    }
    out.write_all(text.as_bytes()).map(|()| bytes.len())
}

/// Prints on the error output, in the user's language as far as it is known, without passwords.
pub fn complain(text: &str) {
    let hidden = secrets::hide(text);
    let _nobody_to_tell = Stderr.write_all(messages::in_language(&hidden).as_bytes());
}

/// Prints a document of data, such as CSV, as it is: a program reads it. On a terminal nothing in it
/// is obeyed.
pub fn print_data(text: &str) {
    if io::stdout().is_terminal() {
        return print(&text.replace("\r\n", "\n"));
    }
    let mut out = io::stdout();
    let _remembered = Stdout::remember(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
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
            OutputStyle::Json => Aside::Error(Stderr),
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
