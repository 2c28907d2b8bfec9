//! A load as a child process: its job and what it is told go to its standard input, what it says comes
//! from its standard output, a line each.

use crate::held::{Hear, Launch, Load};
use crate::protocol::{Down, Up};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use tidemark_core::Job;
use tidemark_process::{Signal, kill_and_reap, signal};

/// So much of what a process complains of is kept: its end.
const MOST_COMPLAINTS: usize = 4096;

/// What a load's process gets of the environment beside what the agent has, or why its job is not run.
pub type Admit = Box<dyn Fn(&Job) -> Result<Vec<(String, String)>, String>>;

/// Starts loads as children of this process.
pub struct Processes {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What is asked before.
    pub admit: Admit,
    /// Variables of this process that a load does not get: secrets that are not its own.
    pub hidden: Vec<String>,
}

impl Launch for Processes {
    fn launch(&mut self, job: &Job, until_ns: i64, hear: Hear) -> Result<Box<dyn Load>, String> {
        let failed = |e: std::io::Error| format!("the load's process can't be started: {e}");
        let environment = (self.admit)(job)?;
        let mut command = Command::new(&self.program);
        for name in &self.hidden {
            command.env_remove(name);
        }
        let mut child = command
            .args(&self.arguments)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(mut to), Some(from), Some(complaints)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            kill_and_reap(&mut child);
            return Err("the load's process has no pipes".into());
        };
        // On one line, for JSON has no need of others.
        let json = serde_json::to_string(job).map_err(|e| e.to_string())?;
        let first = format!("{json}\n{}\n", Down::Until(until_ns).line());
        if let Err(error) = to.write_all(first.as_bytes()) {
            kill_and_reap(&mut child);
            return Err(failed(error));
        }
        let pid = child.id();
        let child = Arc::new(Mutex::new(child));
        let shared = Arc::clone(&child);
        let tail = std::thread::spawn(move || last_of(complaints));
        std::thread::spawn(move || {
            let mut is_over = false;
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                let Some(up) = Up::of(&line) else { continue };
                is_over |= matches!(up, Up::Over(_));
                if !hear(up) {
                    break;
                }
            }
            let complaints = tail.join().unwrap_or_default();
            if !is_over {
                let mut child = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let ended = child.wait();
                let ended = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                let why = match complaints.lines().last() {
                    Some(line) => format!("its load's process ended ({ended}): {line}"),
                    None => format!("its load's process ended ({ended})"),
                };
                hear(Up::Over(Some(why)));
            }
        });
        Ok(Box::new(Process { child, pid, to }))
    }
}

/// The end of what a process complains of.
fn last_of(mut from: impl Read) -> String {
    let mut tail = VecDeque::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        tail.extend(&buffer[..read]);
        let over = tail.len().saturating_sub(MOST_COMPLAINTS);
        tail.drain(..over);
    }
    String::from_utf8_lossy(tail.make_contiguous()).into_owned()
}

struct Process {
    child: Arc<Mutex<Child>>,
    pid: u32,
    to: ChildStdin,
}

impl Load for Process {
    fn tell(&mut self, down: &Down) {
        // One that has ended says so.
        let _gone = writeln!(self.to, "{}", down.line());
    }

    fn kill(&mut self) {
        match self.child.try_lock() {
            Ok(mut child) => kill_and_reap(&mut child),
            // Somebody waits for it, so that its number is still its own.
            Err(_) => signal(Signal::SIGKILL, &[self.pid]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn shell(script: &str, admit: Admit) -> Processes {
        Processes {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            admit,
            hidden: Vec::new(),
        }
    }

    fn job() -> Job {
        Job::from_json(crate::tests::JOB).unwrap()
    }

    #[test]
    fn what_a_process_says_is_heard_and_its_end_is_noticed() {
        let script = "read job; read until; echo ready; read go; echo \"message \\\"$go\\\"\"; \
                      echo nonsense; echo 'tidemark: no such table' >&2; exit 3";
        let mut processes = shell(script, Box::new(|_| Ok(Vec::new())));
        let (send, heard) = channel();
        let hear = Box::new(move |up| send.send(up).is_ok());
        let mut load = processes.launch(&job(), 7, hear).unwrap();
        let next = || heard.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(next(), Up::Ready);
        load.tell(&Down::Go(9));
        assert_eq!(next(), Up::Message("\"go 9\"".into()));
        let Up::Over(Some(why)) = next() else {
            panic!("it is over")
        };
        assert!(
            why.contains("exit status: 3") && why.contains("no such table"),
            "{why}"
        );
    }

    #[test]
    fn a_process_that_is_killed_is_noticed() {
        let mut processes = shell(
            "read job; echo alive; exec sleep 1000",
            Box::new(|_| Ok(Vec::new())),
        );
        let (send, heard) = channel();
        let hear = Box::new(move |up| send.send(up).is_ok());
        let mut load = processes.launch(&job(), 7, hear).unwrap();
        let next = || heard.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(next(), Up::Alive);
        load.kill();
        assert!(matches!(next(), Up::Over(Some(why)) if why.contains("signal: 9")));
    }

    #[test]
    fn a_job_that_is_not_admitted_starts_nothing() {
        let mut processes = shell("exit 0", Box::new(|_| Err("no".into())));
        let refused = processes.launch(&job(), 7, Box::new(|_| true));
        assert_eq!(refused.err(), Some("no".to_string()));
    }

    #[test]
    fn a_load_gets_no_secret_of_its_agents() {
        // Cargo sets it for tests.
        const HIDDEN: &str = "CARGO_MANIFEST_DIR";
        assert!(std::env::var(HIDDEN).is_ok());
        let script = "read job; echo \"message $CARGO_MANIFEST_DIR.$OWN\"";
        let own = vec![("OWN".to_string(), "own".to_string())];
        let mut processes = shell(script, Box::new(move |_| Ok(own.clone())));
        processes.hidden = vec![HIDDEN.into()];
        let (send, heard) = channel();
        let hear: Hear = Box::new(move |up| send.send(up).is_ok());
        let _load = processes.launch(&job(), 0, hear).unwrap();
        let said = heard.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(said, Up::Message(".own".into()));
    }
}
