//! A step's command as a child process.

use super::parent_process::PARENT_VARIABLE;
use crate::exit::{ExitCode, Failure};
use crate::program;
use crate::runner::JobOrder;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// So much of what a command prints is kept: its end.
const MOST_OUTPUT: usize = 256 * 1024;

/// A command that was started.
pub struct StepProcess {
    child: Child,
    reader: Option<JoinHandle<()>>,
    output: Arc<Mutex<Tail>>,
}

/// The last bytes of a text.
#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    left_out: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(MOST_OUTPUT);
        self.bytes.drain(..over);
        self.left_out += over as u64;
    }

    fn text(&self) -> String {
        let (a, b) = self.bytes.as_slices();
        let bytes = [a, b].concat();
        let text = String::from_utf8_lossy(&bytes);
        match self.left_out {
            0 => text.into_owned(),
            left_out => {
                // A line that was cut is left out, too.
                let whole = text.split_once('\n').map_or("", |(_, rest)| rest);
                format!("… (the first {left_out} bytes are omitted)\n{whole}")
            }
        }
    }
}

/// How a command ended.
pub struct ProcessEnd {
    /// How the process ended.
    status: ExitStatus,
    /// What it printed.
    pub output: String,
}

/// Starts a step: this program, in the study's folder, keeping its run in this store. It gets its job on
/// standard input, and the password that the job refers to in the environment.
///
/// # Errors
/// [`Failure`] when the process can't be started.
pub fn start(order: &JobOrder, folder: &Path, store: &Path) -> Result<StepProcess, Failure> {
    let failed = |e: std::io::Error| {
        Failure::new(ExitCode::Failed, format!("the step can't be started: {e}"))
    };
    let program = program::path().map_err(failed)?;
    let (mut from, to) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new(program);
    command
        .arg0("tidemark")
        .args(["exec", "-"])
        .current_dir(folder)
        .env("TIDEMARK_STORE", store)
        // The store keeps what it says; readers of any language read it.
        .env("TIDEMARK_LANG", "en")
        .env_remove(crate::secrets::VARIABLE)
        .env(PARENT_VARIABLE, std::process::id().to_string())
        .stdin(Stdio::piped())
        .stdout(to.try_clone().map_err(failed)?)
        .stderr(to)
        // Ctrl-C is for the study, which then ends its step.
        .process_group(0);
    let password = &order.target.password;
    let variable = order.target.protocol.password_variable();
    if let Some(name) = variable.filter(|_| !password.is_empty()) {
        command.env(name, password.reveal());
    }
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut to) = child.stdin.take() {
        // A child that ends before it has read says so itself.
        let _ended = to.write_all(order.job.to_json().as_bytes());
    }
    // It holds the writing ends of the pipe, which must be the child's alone to come to an end.
    drop(command);
    let output = Arc::new(Mutex::new(Tail::default()));
    let shared = Arc::clone(&output);
    let reader = std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read) = from.read(&mut buffer) {
            if read == 0 {
                break;
            }
            let mut tail = shared.lock().unwrap_or_else(PoisonError::into_inner);
            tail.push(&buffer[..read]);
        }
    });
    Ok(StepProcess {
        child,
        reader: Some(reader),
        output,
    })
}

impl StepProcess {
    /// Sends it a signal; one that has ended takes none.
    pub fn signal(&self, signal: Signal) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ended = kill(Pid::from_raw(pid), signal);
        }
    }

    /// The last lines that it printed, at most so many.
    pub fn last_lines(&self, most: usize) -> Vec<String> {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let text = output.text();
        let first = text.lines().count().saturating_sub(most);
        text.lines().skip(first).map(String::from).collect()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// [`Failure`] when it can't be waited for.
    pub fn ended(&mut self) -> Result<Option<ProcessEnd>, Failure> {
        let waited = self.child.try_wait();
        let waited = waited.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
        let Some(status) = waited else {
            return Ok(None);
        };
        if let Some(reader) = self.reader.take() {
            let _panicked = reader.join();
        }
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(ProcessEnd {
            status,
            output: output.text(),
        }))
    }
}

impl Drop for StepProcess {
    /// Nothing goes on that nobody waits for: an error of the store may end a study in the middle.
    fn drop(&mut self) {
        if self.reader.is_some() {
            let _ended = self.child.kill();
            let _gone = self.child.wait();
        }
    }
}

impl ProcessEnd {
    /// Why it is no success: what it said last, or how it ended.
    pub fn failure(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let meaning = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => {
                let known = ExitCode::ALL.iter().find(|(c, _)| *c as i32 == code);
                known.map_or(format!("exit code {code}"), |(_, meaning)| {
                    format!("exit code {code}: {meaning}")
                })
            }
            (None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None) => "ended without an exit code".into(),
        };
        Some(match self.complaint() {
            Some(said) => format!("{said} ({meaning})"),
            None => meaning,
        })
    }

    /// Its exit code, where it ended by itself and not well.
    pub fn exit_code(&self) -> Option<ExitCode> {
        let code = self.status.code()?;
        let mut known = ExitCode::ALL.iter().map(|(known, _)| *known);
        known.find(|known| *known as i32 == code)
    }

    /// The last thing that the command complained of.
    pub fn complaint(&self) -> Option<&str> {
        let lines = self.output.lines().rev();
        lines.filter_map(|l| l.strip_prefix("tidemark: ")).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        let mut tail = Tail::default();
        tail.push(b"first\n");
        assert_eq!(tail.text(), "first\n");
        for _ in 0..MOST_OUTPUT / 8 {
            tail.push(b"1234567\n");
        }
        let text = tail.text();
        assert!(text.starts_with("… (the first 6 bytes are omitted)\n1234567\n"));
        assert!(text.len() < MOST_OUTPUT + 100);
    }

    #[test]
    fn a_failure_is_told_in_the_commands_words() {
        let ended = |code: i32, output: &str| ProcessEnd {
            status: ExitStatus::from_raw(code << 8),
            output: output.into(),
        };
        assert_eq!(ended(0, "tidemark: fine").failure(), None);
        let said = ended(5, "lines\ntidemark: table x is there\n").failure();
        assert_eq!(
            said.unwrap(),
            "table x is there (exit code 5: something of yours is in the way and was not touched, \
             or --strict refused)"
        );
        let killed = ProcessEnd {
            status: ExitStatus::from_raw(9),
            output: String::new(),
        };
        assert_eq!(killed.failure().unwrap(), "ended by signal 9");
    }
}
