//! Ends a server when the test process dies without dropping it.
//!
//! A process-wide shared server is never dropped, and a test may abort or be killed. The watchdog
//! is a shell that reads a pipe of which the test process alone holds the other end: when that
//! closes, whatever the cause, it ends the server last named and removes the folder.

use crate::Error;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// `$1` is the signal to begin with, `$2` the folder; a line `0` says that no server runs.
/// In a container the first process may not reap: a zombie has ended.
const SCRIPT: &str = r#"
pid=0
while read -r line; do pid=$line; done
if [ "$pid" -gt 0 ] 2>/dev/null; then
    kill -s "$1" "$pid" 2>/dev/null
    tries=0
    while [ "$tries" -lt 50 ] && read -r stat 2>/dev/null <"/proc/$pid/stat"; do
        case $stat in *") Z "*) break ;; esac
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -s KILL "$pid" 2>/dev/null
fi
rm -rf -- "$2"
"#;

/// A running watchdog.
#[derive(Debug)]
pub(crate) struct Watchdog {
    child: Child,
    pipe: ChildStdin,
}

impl Watchdog {
    /// Starts one for servers whose files are in `folder`; `signal` ends such a server quickly.
    pub fn start(signal: &str, folder: &Path) -> Result<Watchdog, Error> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "tidemark-testkit-watchdog", signal])
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A Ctrl-C in the terminal must not reach it.
            .process_group(0)
            .spawn()
            .map_err(Error::io("starting the watchdog"))?;
        let no_pipe = || Error::failed("starting the watchdog", "it has no pipe");
        let pipe = child.stdin.take().ok_or_else(no_pipe)?;
        Ok(Watchdog { child, pipe })
    }

    /// Tells which process to end; `None` when the server has ended.
    pub fn watch(&mut self, pid: Option<u32>) -> Result<(), tidemark_sandbox::Error> {
        let told = writeln!(self.pipe, "{}", pid.unwrap_or(0));
        told.map_err(tidemark_sandbox::Error::io("telling the watchdog"))
    }
}

impl Drop for Watchdog {
    /// The owner has ended the server itself: the watchdog goes without doing anything.
    fn drop(&mut self) {
        tidemark_process::kill_and_reap(&mut self.child);
    }
}
