//! What a terminal shows of a study that goes on.

use super::common::{TIDEMARK, Workdir, wait_until};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

#[test]
fn progress_fits_into_eighty_columns() {
    let dir = Workdir::new();
    let text = "name = \"wide\"\nwarmup = 1\ntime = 3\n[[target]]\nname = \"a target whose name is long\"\n\
                url = \"sqlite:a.db\"\n[[workload]]\nname = \"oltp_point_select\"\n\
                label = \"a workload whose label is long\"\noptions = { table-size = 100 }\n";
    std::fs::write(dir.path().join("w.toml"), text).unwrap();
    let size = Winsize {
        ws_row: ROWS,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pair = openpty(&size, None).unwrap();
    let theirs = || Stdio::from(pair.slave.try_clone().unwrap());
    let mut study = Command::new(TIDEMARK)
        .args(["study", "run", "w.toml"])
        .current_dir(dir.path())
        .env("TIDEMARK_STORE", dir.path().join("store.db"))
        .env("TERM", "xterm-256color")
        .stdin(theirs())
        .stdout(theirs())
        .stderr(theirs())
        .spawn()
        .unwrap();
    let screen = Arc::new(Mutex::new(vt100::Parser::new(
        ROWS.try_into().unwrap(),
        COLUMNS.try_into().unwrap(),
        0,
    )));
    let mut shown = File::from(pair.master);
    let drawn = Arc::clone(&screen);
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = shown.read(&mut bytes) {
            drawn.lock().unwrap().process(&bytes[..n]);
        }
    });
    let mut seen: Vec<String> = Vec::new();
    wait_until("figures of a run", || {
        let parser = screen.lock().unwrap();
        seen = parser.screen().rows(0, COLUMNS).collect();
        let all = parser.screen().contents();
        all.contains("p95") && all.contains("study  [") && all.contains("tx/s")
    });
    study.kill().unwrap();
    study.wait().unwrap();
    let at = seen.iter().position(|line| line.starts_with("study  ["));
    let [whole, name, step, below @ ..] = &seen[at.unwrap()..] else {
        panic!("{seen:?}");
    };
    assert!(whole.contains("1/2 steps"), "{seen:?}");
    let called = "step   a target whose name is long/a workload whose label is long/threads=1";
    assert!(name.starts_with(called), "{seen:?}");
    assert!(step.starts_with("       ["), "{seen:?}");
    assert!(step.contains(" tx/s  p95 "), "{seen:?}");
    assert!(below.iter().all(|line| line.trim().is_empty()), "{seen:?}");
}
