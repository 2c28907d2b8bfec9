//! The terminal after a panic: this program is started again on a terminal of its own, as a child
//! that panics.

use super::Screen;
use crate::{Controls, Picture, RunInfo, View};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Tells the child where to panic.
const WHERE: &str = "TIDEMARK_TEST_PANICS";
/// The modes of a terminal that somebody types into.
const COOKED: LocalFlags = LocalFlags::ICANON
    .union(LocalFlags::ECHO)
    .union(LocalFlags::ISIG);

/// Waits at most so long for what takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The child's part. Each way ends without the screen's own end giving the terminal back, or with
/// words that only what happens before that can show.
#[test]
#[ignore = "started by the other tests, on a terminal of its own"]
fn child() {
    match std::env::var(WHERE).as_deref() {
        Ok("drawing") => {
            let mut screen = Screen::take().unwrap();
            let _never = screen.draw(|_| panic!("went wrong"));
        }
        Ok("elsewhere") => {
            let screen = Screen::take().unwrap();
            let panicked = std::thread::spawn(|| panic!("went wrong")).join();
            assert!(panicked.is_err());
            std::mem::forget(screen);
            // Nothing is left that could give it back later.
            std::process::exit(1);
        }
        Ok("view") => {
            let controls = Controls {
                interrupt: Box::new(|| {}),
                is_ending: Box::new(|| panic!("went wrong")),
            };
            let view = View::open(Picture::new(RunInfo::default()), controls).unwrap();
            let begun = Instant::now();
            while view.is_open() && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::mem::forget(view);
            std::process::exit(1);
        }
        _ => {}
    }
}

/// What a program shows until it ends, byte by byte.
fn shown(mut master: File) -> Receiver<Vec<u8>> {
    let (sent, shown) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = master.read(&mut bytes) {
            if sent.send(bytes[..n].to_vec()).is_err() {
                return;
            }
        }
    });
    shown
}

/// Panics there, and looks at the terminal that is left.
fn panic_there(place: &str) {
    let size = Winsize {
        ws_row: 40,
        ws_col: 120,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pair = openpty(&size, None).unwrap();
    let before = tcgetattr(&pair.slave).unwrap();
    let theirs = || Stdio::from(pair.slave.try_clone().unwrap());
    let child = "view::screen::tests::child";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", child, "--ignored", "--nocapture"])
        .env(WHERE, place)
        .env("TERM", "xterm-256color")
        .env_remove("RUST_BACKTRACE")
        .stdin(theirs())
        .stdout(Stdio::null())
        .stderr(theirs());
    let mut child = command.spawn().unwrap();
    drop(command);
    let told = shown(File::from(pair.master));
    let status = child.wait().unwrap();
    assert!(!status.success(), "{place}: nothing panicked");
    // The kernel keeps what was written for whoever reads; this side holds the other end open, so
    // the words that come last are waited for.
    let [rows, columns] = [40, 120].map(|n| NonZero::new(n).unwrap());
    let mut screen = vt100::Parser::new(rows, columns, 0);
    let mut taken = false;
    let mut bytes = Vec::new();
    while !screen.screen().contents().contains("went wrong") || screen.screen().alternate_screen() {
        match told.recv_timeout(PATIENCE) {
            Ok(more) => bytes.extend(more),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("{place}: {:?}", screen.screen().contents())
            }
        }
        for byte in bytes.drain(..) {
            screen.process(&[byte]);
            taken |= screen.screen().alternate_screen();
        }
    }
    let screen = screen.screen();
    assert!(taken, "{place}: the view never had the terminal");
    assert!(!screen.hide_cursor(), "{place}: {}", screen.contents());
    let after = tcgetattr(&pair.slave).unwrap();
    assert!(before.local_flags.contains(COOKED), "{before:?}");
    assert_eq!(after, before, "{place}");
}

#[test]
fn a_panic_while_a_picture_is_drawn_gives_the_terminal_back() {
    panic_there("drawing");
}

#[test]
fn a_panic_of_another_thread_gives_the_terminal_back() {
    panic_there("elsewhere");
}

#[test]
fn a_panic_of_the_view_gives_the_terminal_back() {
    panic_there("view");
}
