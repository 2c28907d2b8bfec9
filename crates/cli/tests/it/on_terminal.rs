//! The view of a run on a terminal, and the terminal afterwards.

use super::common::small::{RUN, prepared};
use super::common::study::whole;
use super::common::{Said, TIDEMARK, Workdir, loaded, signal, wait_until};
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
        Self::start_command(dir, &[&RUN, options, &["run"]].concat(), out)
    }

    /// The same with other words.
    fn start_command(dir: &Workdir, words: &[&str], out: Option<File>) -> Self {
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
            .args(words)
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

    /// What is drawn comes in pieces.
    fn wait_for_parts(&self, parts: &[&str]) {
        wait_until("all parts of the view", || {
            let shown = self.contents();
            let missing = parts.iter().find(|part| !shown.contains(**part));
            if let (Some(part), true) = (missing, !self.has_view()) {
                panic!("{part:?} was never in the view: {shown}");
            }
            missing.is_none()
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
    let run = OnTerminal::start(&dir, &["--view", "--time=10", "--report-interval=1"], None);
    run.wait_for_view();
    run.wait_for_parts(&[
        "oltp_read_write on SQLite",
        "measuring",
        "of 0:10",
        "Transactions/s",
        "By type, last interval",
        "p99 so far",
        "Sessions 2",
        "processors",
        "q closes the view",
    ]);
    let shown = run.contents();
    assert!(!shown.contains("[ 1s ]"), "{shown}");
    // The foot is in the last row, whatever becomes of the window.
    for (rows, columns) in [(24, 80), (10, 40), (60, 120)] {
        run.resize(rows, columns);
        let last = if rows < 14 { "" } else { "q closes the view" };
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
    assert!(summary.contains("is stored; see: tidemark show"), "{said}");
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

/// [`whole`], of a terminal.
#[track_caller]
fn is_whole(dir: &Workdir, (status, out): (ExitStatus, &str), steps: usize) {
    let said = Said {
        out: out.into(),
        err: String::new(),
        code: status.code(),
    };
    whole(dir, &said, steps);
}

/// A study of so many cells of some seconds each.
fn study(cells: usize, seconds: u32) -> Workdir {
    let dir = Workdir::new();
    let threads: Vec<String> = (1..=cells).map(|n| n.to_string()).collect();
    let text = format!(
        "name = \"seen\"\ntime = {seconds}\n[[target]]\nname = \"here\"\nurl = \"sqlite:a.db\"\n\
         [[workload]]\nname = \"oltp_read_write\"\noptions = {{ table-size = 500 }}\n\
         [load]\nthreads = [{}]\n",
        threads.join(", ")
    );
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    dir
}

const STUDY: [&str; 4] = ["study", "run", "s.toml", "--view"];

#[test]
fn a_view_of_a_study_shows_the_whole_and_the_run_in_progress() {
    let dir = study(2, 4);
    let run = OnTerminal::start_command(&dir, &STUDY, None);
    run.wait_for_view();
    run.wait_for_parts(&[
        "Study seen  step 2 of 3",
        "1 of 3 steps done",
        "here/oltp_read_write/threads=1 repeat 1",
        "[1/3] load here/sbtest table-size=500: done",
        "oltp_read_write on SQLite",
        "Transactions/s",
        "By type, last interval",
        "Sessions 1",
        "Host ",
        "the study continues",
    ]);
    wait_until("the next step", || {
        let shown = run.contents();
        shown.contains("step 3 of 3") && shown.contains("[2/3] here/oltp_read_write/threads=1")
    });
    run.resize(24, 80);
    wait_until("a view of the new size", || {
        let shown = run.contents();
        let foot = shown.lines().nth(23).unwrap_or_default();
        foot.starts_with("q closes the view, the study continues")
    });
    let (status, said) = run.end();
    is_whole(&dir, (status, &said), 3);
    // What waited for the terminal is there once, and before the end.
    for line in ["[1/3] ", "[2/3] ", "[3/3] ", " of 3 steps done"] {
        assert_eq!(said.matches(line).count(), 1, "{line} in\n{said}");
    }
}

#[test]
fn q_leaves_the_view_of_a_study_which_goes_on_with_its_bars() {
    let dir = study(2, 4);
    let mut run = OnTerminal::start_command(&dir, &STUDY, None);
    run.wait_for_view();
    run.press("q");
    wait_until("bars in the place of the view", || {
        let shown = run.contents();
        !run.has_view() && shown.contains("[1/3] ") && shown.contains("study  [")
    });
    assert!(run.child.try_wait().unwrap().is_none(), "the study ended");
    let (status, said) = run.end();
    is_whole(&dir, (status, &said), 3);
    for line in ["[1/3] ", "[2/3] ", "[3/3] "] {
        assert_eq!(said.matches(line).count(), 1, "{line} in\n{said}");
    }
}

#[test]
fn a_study_in_a_view_is_ended_by_a_key_and_gone_on_with_in_another() {
    let dir = study(1, 6);
    let mut run = OnTerminal::start_command(&dir, &STUDY, None);
    run.wait_for_view();
    run.press("\x03");
    let (status, said) = run.end();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(
        said.contains("resume with: tidemark study resume"),
        "{said}"
    );
    let run = OnTerminal::start_command(&dir, &["study", "resume", "--view"], None);
    run.wait_for_view();
    assert!(run.contents().contains("step 2 of 2"));
    let (status, said) = run.end();
    is_whole(&dir, (status, &said), 2);
}

#[test]
fn a_view_of_queries_shows_their_times_and_what_is_asked_now() {
    let dir = Workdir::new();
    let tpch = |words: &[&'static str]| {
        let target = "--target=sqlite:h.db";
        [&["tpch", target, "--sf=0.01"], words].concat()
    };
    loaded::tpch_file(&dir, "h.db");
    let words = ["--view", "--queries=q1,q6", "--threads=2", "--time=6s"];
    let words = tpch(&[&words[..], &["--interval=1s", "run"]].concat());
    let run = OnTerminal::start_command(&dir, &words, None);
    let has = |part: &str| run.contents().contains(part);
    wait_until("a view with times", || {
        let shown = run.contents();
        let rows = || shown.lines();
        let is_asked = rows().any(|l| l.starts_with("│Q1 ") && !l.contains('–'));
        let asks = rows().any(|l| l.contains("stream 1    Q"));
        run.has_view() && is_asked && asks
    });
    for part in [
        "tpch on SQLite",
        "asking",
        "queries, 0:0",
        "runs    last  median",
        "stream 0 ",
        "Failed 0 · timed out 0",
        "processors",
        "q closes the view, the run continues",
    ] {
        assert!(has(part), "{part:?} is not in\n{}", run.contents());
    }
    let (status, said) = run.end();
    assert!(status.success(), "{said}");
    // go-tpc's lines wait for the view's end.
    assert!(said.contains("[Current] Q1: "), "{said}");
    assert!(said.contains("[Summary] Q1: "), "{said}");
    // Of the bar nothing is left.
    assert!(!said.contains("0/0 queries"), "{said}");
    // Without a terminal there are lines alone.
    let said = dir.ok(&words);
    assert!(said.out.contains("[Current] Q1: "), "{said:?}");
    assert!(!said.all().contains('\x1b'), "{said:?}");
}

#[test]
fn a_watch_shows_its_time_and_what_it_sees_and_ctrl_c_ends_it() {
    let dir = prepared();
    let words = ["watch", "sqlite:a.db", "--time=5m", "--interval=100ms"];
    let mut watch = OnTerminal::start_command(&dir, &words, None);
    wait_until("a bar", || {
        let shown = watch.contents();
        shown.contains(" / 300s") && shown.contains("% of this host's CPU busy")
    });
    watch.press("\x03");
    let (status, said) = watch.end();
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("ending the watch"), "{said}");
    assert!(said.contains("The user stopped this watch"), "{said}");
}
