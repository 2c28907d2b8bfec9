//! Running the binary as a user does.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod engines;
pub mod loaded;
pub mod pauses;
pub mod small;
pub mod study;
pub mod tpch;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tidemark_analysis::{Severity, findings};
use tidemark_store::Store;

/// The binary's path.
pub const TIDEMARK: &str = env!("CARGO_BIN_EXE_tidemark");

/// A folder to work in, with a store of its own.
pub struct Workdir {
    pub dir: TempDir,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Said {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

/// What is to be told of a host that does other things beside a run.
pub const OF_A_BUSY_HOST: [&str; 6] = [
    "client-bound",
    "client-stopped",
    "drift",
    "heavy-tail",
    "stall",
    "too-short",
];

/// No run of the newest study must not be used for another reason than the host.
pub fn only_the_host_spoils(store: &Path) {
    let store = Store::open_existing(store).unwrap();
    let study = store.study("last").unwrap();
    for run in store.runs_of(&study.id).unwrap() {
        let record = store.get(&run.run.id).unwrap();
        for found in findings(&record).unwrap() {
            let is_fair =
                found.severity < Severity::Invalid || OF_A_BUSY_HOST.contains(&found.rule);
            assert!(is_fair, "{}: {found:?}", run.cell);
        }
    }
}

impl Said {
    pub fn of(output: &Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    /// Whether it ended well. A busy machine may spoil the runs of a study, which then ends whole,
    /// and with a code of its own.
    pub fn is_done(&self) -> bool {
        let whole = "invalid, 0 failed, 0 skipped, 0 left";
        self.code == Some(0) || self.code == Some(3) && self.out.contains(whole)
    }

    /// Everything printed.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

impl Workdir {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `tidemark` with these arguments, not yet started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(TIDEMARK);
        command
            .args(args)
            .current_dir(self.path())
            .env("TIDEMARK_STORE", self.path().join("store.db"))
            .env("LC_ALL", "C")
            .env_remove("TIDEMARK_LANG")
            .env_remove("MYSQL_PWD")
            .env_remove("PGPASSWORD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        Said::of(&self.command(args).output().unwrap())
    }

    /// Runs a command that must end well.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Said {
        let said = self.run(args);
        self.must_be_done(&said);
        said
    }

    /// A command has ended well. Nothing but the host may have spoilt runs of its study.
    #[track_caller]
    pub fn must_be_done(&self, said: &Said) {
        assert!(said.is_done(), "{said:?}");
        if said.code == Some(3) {
            only_the_host_spoils(&self.path().join("store.db"));
        }
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// The newest run's record.
    pub fn last_record(&self) -> serde_json::Value {
        serde_json::from_str(&self.ok(&["show", "last", "--json"]).out).unwrap()
    }
}

/// A run whose output is read while it goes on.
pub struct Running {
    pub child: Child,
    said: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
}

impl Running {
    /// Starts a run that reports every second, and waits for its first interval.
    pub fn start(dir: &Workdir, args: &[&str]) -> Self {
        let mut child = dir.spawn(args);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *kept.lock().unwrap() += &format!("{line}\n");
            }
        });
        let run = Self {
            child,
            said,
            reader,
        };
        run.wait_for("[ 1s ]");
        run
    }

    /// Waits until it has printed this.
    pub fn wait_for(&self, part: &str) {
        wait_until(part, || {
            self.reader.is_finished() || self.said.lock().unwrap().contains(part)
        });
    }

    /// Its end, and all that it printed.
    pub fn end(self) -> Said {
        let output = self.child.wait_with_output().unwrap();
        self.reader.join().unwrap();
        Said {
            out: self.said.lock().unwrap().clone(),
            ..Said::of(&output)
        }
    }
}

/// Copies the binary, in another process: what another test starts at this moment would hold a file
/// that this one writes, and nobody could execute it.
pub fn copy_program(to: &Path) {
    let copied = Command::new("cp").arg(TIDEMARK).arg(to).status();
    assert!(copied.unwrap().success());
}

/// Sends a signal by its name.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits until `holds`, for at most three minutes: a busy machine takes its time.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 180, "waited in vain: {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
