//! The view of a run on a terminal, and the terminal afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::small::{RUN, prepared};
use common::{Said, TIDEMARK, Workdir, signal, wait_until};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

/// A program on a terminal of its own, and what that shows.
struct OnTerminal {
    child: Child,
    keys: File,
    terminal: OwnedFd,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl OnTerminal {
    /// Runs with the view; `out` in the place of a terminal as standard output.
    fn start(dir: &Workdir, options: &[&str], out: Option<File>) -> Self {
        let size = Winsize {
            ws_row: 60,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(&size, None).unwrap();
        let theirs = || Stdio::from(pair.slave.try_clone().unwrap());
        // A session of its own, whose controlling terminal this is.
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait", TIDEMARK])
            .args(RUN)
            .args(options)
            .arg("run")
            .current_dir(dir.path())
            .env("TIDEMARK_STORE", dir.path().join("store.db"))
            .env("TERM", "xterm-256color")
            .stdin(theirs())
            .stdout(out.map_or_else(theirs, Stdio::from))
            .stderr(theirs());
        let child = command.spawn().unwrap();
        drop(command);
        let [rows, columns] = [60, 120].map(|n| NonZero::new(n).unwrap());
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 1000)));
        let mut shown = File::from(pair.master.try_clone().unwrap());
        let drawn = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = shown.read(&mut bytes) {
                drawn.lock().unwrap().process(&bytes[..n]);
            }
        });
        Self {
            child,
            keys: File::from(pair.master),
            terminal: pair.slave,
            screen,
        }
    }

    fn contents(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn has_view(&self) -> bool {
        self.screen.lock().unwrap().screen().alternate_screen()
    }

    fn wait_for_view(&self) {
        wait_until("a view with figures", || {
            self.has_view() && self.contents().contains("Latency p50")
        });
    }

    /// Makes the terminal another size, as a window does.
    fn resize(&self, rows: u16, columns: u16) {
        let [rows, columns] = [rows, columns].map(|n| NonZero::new(n).unwrap());
        self.screen.lock().unwrap().set_size(rows, columns);
        let done = Command::new("stty")
            .args(["rows", &rows.to_string(), "columns", &columns.to_string()])
            .stdin(Stdio::from(self.terminal.try_clone().unwrap()))
            .status()
            .unwrap();
        assert!(done.success());
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end; the terminal must be as it was, and show what came after the
    /// view.
    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let modes = tcgetattr(&self.terminal).unwrap().local_flags;
        let cooked = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        assert!(modes.contains(cooked), "{modes:?}");
        // All that the program wrote is before it. The end of the terminal can't be waited for:
        // whatever another test starts at this moment may have the other side open, too.
        const END: &str = "<end>";
        let mut terminal = File::from(self.terminal.try_clone().unwrap());
        terminal.write_all(END.as_bytes()).unwrap();
        wait_until("all that was written", || self.contents().ends_with(END));
        let screen = self.screen.lock().unwrap();
        let screen = screen.screen();
        let said = screen.contents();
        assert!(!screen.alternate_screen(), "{said}");
        assert!(!screen.hide_cursor(), "{said}");
        (status, said)
    }
}

#[test]
fn a_view_shows_the_run_and_leaves_the_summary() {
    let dir = prepared();
    let run = OnTerminal::start(&dir, &["--view", "--time=5", "--report-interval=1"], None);
    run.wait_for_view();
    let shown = run.contents();
    for part in [
        "oltp_read_write on SQLite",
        "measuring",
        "of 0:05",
        "Transactions/s",
        "By type, last interval",
        "p99 so far",
        "Sessions 2",
        "processors",
        "q leaves the view",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("[ 1s ]"), "{shown}");
    // The foot is in the last row, whatever becomes of the window.
    for (rows, columns) in [(24, 80), (10, 40), (60, 120)] {
        run.resize(rows, columns);
        let last = if rows < 14 { "" } else { "q leaves the view" };
        wait_until("a view of the new size", || {
            let shown = run.contents();
            let small = shown.contains("too small");
            let foot = shown.lines().nth(usize::from(rows) - 1).unwrap_or_default();
            small == last.is_empty() && foot.starts_with(last)
        });
    }
    let (status, said) = run.end();
    assert!(status.success(), "{said}");
    // Lines of the run wait for the view's end, and come before the summary.
    let (lines, summary) = said
        .split_once("SQL statistics:")
        .unwrap_or_else(|| panic!("{said}"));
    assert!(lines.contains("[ 1s ]"), "{said}");
    assert!(summary.contains("is kept; see: tidemark show"), "{said}");
    assert_eq!(dir.last_record()["state"], "finished");
}

#[test]
fn q_leaves_the_view_and_the_run_goes_on_with_its_lines() {
    let dir = prepared();
    let mut run = OnTerminal::start(&dir, &["--view", "--time=5", "--report-interval=1"], None);
    run.wait_for_view();
    run.press("q");
    wait_until("lines in the place of the view", || {
        !run.has_view() && run.contents().contains("[ 2s ]")
    });
    assert!(run.child.try_wait().unwrap().is_none(), "the run has ended");
    let (status, said) = run.end();
    assert!(status.success(), "{said}");
    for line in ["[ 1s ]", "[ 2s ]", "[ 3s ]", "[ 4s ]", "SQL statistics:"] {
        assert_eq!(said.matches(line).count(), 1, "{line} in\n{said}");
    }
}

#[test]
fn an_interrupt_ends_run_and_view_however_it_comes() {
    let dir = prepared();
    for how in ["key", "key twice", "signal"] {
        let mut run = OnTerminal::start(&dir, &["--view", "--time=60"], None);
        run.wait_for_view();
        match how {
            "key" => run.press("\x03"),
            "key twice" => run.press("\x03\x03"),
            _ => signal(run.child.id(), "TERM"),
        }
        let (status, said) = run.end();
        assert_eq!(status.code(), Some(130), "{how}: {said}");
        if how != "key twice" {
            assert!(said.contains("SQL statistics:"), "{how}: {said}");
        }
    }
}

#[test]
fn lines_go_where_they_are_sent_while_the_view_is_shown() {
    let dir = prepared();
    let path = dir.path().join("lines.txt");
    let out = File::create(&path).unwrap();
    let run = OnTerminal::start(
        &dir,
        &["--view", "--time=3", "--report-interval=1"],
        Some(out),
    );
    run.wait_for_view();
    wait_until("lines in the file", || {
        std::fs::read_to_string(&path).unwrap().contains("[ 1s ]")
    });
    let (status, shown) = run.end();
    assert!(status.success(), "{shown}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("SQL statistics:"), "{written}");
    assert!(!written.contains('\x1b'), "{written:?}");
}

#[test]
fn without_a_terminal_a_view_changes_nothing() {
    let dir = prepared();
    let run = |view: &str| {
        let mut args = RUN.to_vec();
        args.extend([
            view,
            "--events=50",
            "--time=0",
            "--rand-seed=1",
            "--report-interval=1",
            "run",
        ]);
        dir.ok(&args)
    };
    let (with, without) = (run("--view=on"), run("--view=off"));
    assert_eq!(with.err, without.err);
    // Figures of time are others every time, and so may be what is found in them.
    let words = |said: &Said| -> Vec<String> {
        let (lines, _) = said.out.split_once("Threads fairness").unwrap();
        let words = lines.split_whitespace();
        let figure = |w: &&str| w.contains(|c: char| c.is_ascii_digit());
        words.filter(|w| !figure(w)).map(Into::into).collect()
    };
    assert_eq!(words(&with), words(&without));
    assert!(!with.all().contains('\x1b'), "{with:?}");
}
