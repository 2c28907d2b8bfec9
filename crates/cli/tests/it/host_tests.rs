//! sysbench's tests of the machine, beside the real sysbench.

use super::common::{Running, Said, TIDEMARK, Workdir, signal};
use regex::Regex;
use std::path::Path;
use std::process::Command;

fn real_sysbench(folder: &Path, args: &[&str]) -> Said {
    let output = Command::new("sysbench")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the real sysbench is needed: apt-get install sysbench");
    Said::of(&output)
}

/// What was printed without what differs from run to run, or on purpose.
fn form(text: &str) -> Vec<String> {
    let number = Regex::new(r"\d+(\.\d+)?").unwrap();
    let lines = text.lines().skip(1);
    let lines = lines.take_while(|line| !line.starts_with("run ") && !line.starts_with("stored"));
    let own = |line: &str| {
        let line = line.replace(" (seed ", "");
        let line = line
            .split("from current time")
            .next()
            .unwrap_or_default()
            .to_string();
        let line = number.replace_all(&line, "N").into_owned();
        line.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("( ", "(")
    };
    let mut lines: Vec<String> = lines.map(own).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Both print the same lines in the same order; what Tidemark adds stands behind them.
fn prints_the_same(dir: &Workdir, words: &[&str]) {
    let theirs = real_sysbench(dir.path(), words);
    assert_eq!(theirs.code, Some(0), "{words:?}: {theirs:?}");
    let ours = dir.ok(&[&["sysbench"], words].concat());
    let (theirs, ours) = (form(&theirs.out), form(&ours.out));
    let same = &ours[..theirs.len().min(ours.len())];
    assert_eq!(same, theirs, "{words:?}");
}

#[test]
fn every_test_prints_what_sysbench_prints() {
    let dir = Workdir::new();
    for words in [
        &["cpu", "--cpu-max-prime=100", "--events=5", "run"][..],
        &["cpu", "--events=5", "--threads=2", "--percentile=0", "run"],
        &["memory", "--memory-total-size=1M", "run"],
        &[
            "memory",
            "--memory-oper=none",
            "--memory-total-size=1M",
            "run",
        ],
        &["threads", "--events=3", "--thread-yields=5", "run"],
        &[
            "mutex",
            "--mutex-locks=5",
            "--mutex-loops=5",
            "--threads=2",
            "run",
        ],
    ] {
        prints_the_same(&dir, words);
    }
}

const SMALL: [&str; 3] = ["fileio", "--file-num=2", "--file-total-size=128K"];

fn fileio(more: &[&'static str]) -> Vec<&'static str> {
    [&SMALL[..], more].concat()
}

/// With `sysbench` before it, as Tidemark takes it.
fn ours(more: &[&'static str]) -> Vec<&'static str> {
    [&["sysbench"][..], &fileio(more)].concat()
}

#[test]
fn every_mode_of_files_prints_what_sysbench_prints() {
    let (dir, other) = (Workdir::new(), Workdir::new());
    let prepared = dir.ok(&ours(&["prepare"]));
    let theirs = real_sysbench(other.path(), &fileio(&["prepare"]));
    assert_eq!(form(&prepared.out), form(&theirs.out));
    for more in [
        &["--file-test-mode=seqwr"][..],
        &["--file-test-mode=seqrewr", "--file-merged-requests=2"],
        &["--file-test-mode=seqrd", "--file-fsync-freq=0"],
        &["--file-test-mode=rndrd", "--file-fsync-end=off"],
        &["--file-test-mode=rndwr", "--file-fsync-all=on"],
        &["--file-test-mode=rndrw", "--file-io-mode=mmap"],
        &[
            "--file-test-mode=rndrw",
            "--file-fsync-mode=fdatasync",
            "--file-fsync-freq=3",
        ],
    ] {
        let words = fileio(&[more, &["--events=16", "run"]].concat());
        let theirs = real_sysbench(other.path(), &words);
        assert_eq!(theirs.code, Some(0), "{theirs:?}");
        let ours = dir.ok(&[&["sysbench"][..], &words].concat());
        let (theirs, ours) = (form(&theirs.out), form(&ours.out));
        assert_eq!(&ours[..theirs.len().min(ours.len())], theirs, "{more:?}");
        // As many events, of which the syncs between are some and those at the end none.
        assert_eq!(dir.last_record()["totals"]["all"]["count"], 16);
        // A sequential write may leave its files shorter; both make them anew.
        for again in [
            dir.run(&ours_words("prepare")),
            real_sysbench(other.path(), &fileio(&["prepare"])),
        ] {
            assert_eq!(again.code, Some(0), "{again:?}");
        }
    }
    let cleaned = dir.ok(&ours(&["cleanup"]));
    assert_eq!(form(&cleaned.out), form("v\n\nRemoving test files...\n"));
    assert!(!dir.path().join("test_file.0").exists());
}

fn ours_words(command: &'static str) -> Vec<&'static str> {
    ours(&[command])
}

#[test]
fn intervals_have_sysbenchs_lines() {
    let dir = Workdir::new();
    dir.ok(&ours(&["prepare"]));
    let other = Workdir::new();
    real_sysbench(other.path(), &fileio(&["prepare"]));
    for words in [
        &["cpu", "--time=2", "--report-interval=1", "run"][..],
        &[
            "memory",
            "--memory-total-size=1T",
            "--time=2",
            "--report-interval=1",
            "run",
        ],
        &fileio(&[
            "--file-test-mode=rndrd",
            "--time=2",
            "--report-interval=1",
            "run",
        ]),
    ] {
        let of = |said: Said| {
            let lines = form(&said.out).into_iter();
            lines
                .filter(|line| line.starts_with('['))
                .collect::<Vec<_>>()
        };
        let theirs = of(real_sysbench(other.path(), words));
        let ours = of(dir.ok(&[&["sysbench"][..], words].concat()));
        assert!(!theirs.is_empty(), "{words:?}");
        assert_eq!(ours.first(), theirs.first(), "{words:?}");
    }
}

#[test]
fn a_test_is_a_run_as_any_other() {
    let dir = Workdir::new();
    let cpu = [
        "sysbench",
        "cpu",
        "--cpu-max-prime=500",
        "--events=200",
        "run",
    ];
    let said = dir.ok(&[&cpu[..], &["--report=a.html"]].concat());
    assert!(said.out.contains("events per second:"), "{said:?}");
    let record = dir.last_record();
    assert_eq!(record["workload"], "cpu");
    assert_eq!(record["target"], "host:");
    assert_eq!(record["totals"]["all"]["count"], 200);
    assert!(record["server"].is_null());
    let page = std::fs::read_to_string(dir.path().join("a.html")).unwrap();
    assert!(page.contains("cpu on this machine"), "{page}");
    let first = record["id"].as_str().unwrap().to_string();
    // Again, of its job.
    dir.ok(&["exec", "--from", "last"]);
    assert_eq!(dir.last_record()["totals"]["all"]["count"], 200);
    let job = dir.ok(&[&cpu[..], &["--print-job"]].concat()).out;
    std::fs::write(dir.path().join("job.json"), job).unwrap();
    dir.ok(&["exec", "job.json"]);
    assert!(dir.ok(&["runs"]).out.matches(" cpu ").count() >= 3);
    assert!(dir.ok(&["audit", "last"]).out.len() > 10);
    let compared = dir.ok(&["compare", &first, "last"]);
    assert!(compared.out.contains("Throughput"), "{compared:?}");
    let chinese = dir.ok(&["show", "last", "--lang=zh"]);
    assert!(chinese.out.contains("本机"), "{chinese:?}");
}

#[test]
fn a_schedule_paces_events() {
    let dir = Workdir::new();
    let rate = ["--rate=100", "--time=1", "--arrivals=constant", "run"];
    dir.ok(&[&["sysbench", "cpu", "--cpu-max-prime=100"][..], &rate].concat());
    let count = dir.last_record()["totals"]["all"]["count"]
        .as_u64()
        .unwrap();
    assert!((20..=101).contains(&count), "{count}");
}

#[test]
fn files_of_others_are_safe() {
    let dir = Workdir::new();
    let theirs = dir.path().join("test_file.1");
    std::fs::write(&theirs, [b'x'; 65536]).unwrap();
    let untouched = || assert!(std::fs::read(&theirs).unwrap() == [b'x'; 65536]);
    let refused = |words: &[&str]| {
        let said = dir.run(words);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.err.contains("was not made by Tidemark"), "{said:?}");
        untouched();
    };
    refused(&ours(&["prepare"]));
    assert!(!dir.path().join("test_file.0").exists());
    refused(&ours(&["cleanup"]));
    std::fs::write(dir.path().join("test_file.0"), [b'y'; 65536]).unwrap();
    refused(&ours(&["--file-test-mode=rndwr", "--events=2", "run"]));
    dir.ok(&ours(&["--file-test-mode=rndrd", "--events=2", "run"]));
    dir.ok(&ours(&[
        "--file-test-mode=seqrewr",
        "--events=8",
        "--force",
        "run",
    ]));
    let missing = Workdir::new().run(&ours(&["--file-test-mode=rndrd", "run"]));
    assert_eq!(missing.code, Some(6), "{missing:?}");
    assert!(missing.err.contains("run prepare first"), "{missing:?}");
}

#[test]
fn validation_finds_what_changed_and_reads_sysbenchs_files() {
    let dir = Workdir::new();
    let said = real_sysbench(dir.path(), &fileio(&["--validate=on", "prepare"]));
    assert_eq!(said.code, Some(0), "{said:?}");
    let read = ours(&["--file-test-mode=seqrd", "--validate", "--events=8", "run"]);
    dir.ok(&read);
    let file = dir.path().join("test_file.1");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[20_000] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let said = dir.run(&read);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains("test_file.1 offset 16384"), "{said:?}");
}

/// Two files of a megabyte where none may grow beyond 64 KiB.
fn with_small_files(dir: &Workdir, words: &str) -> Said {
    let line = format!(
        "ulimit -f 64; trap '' XFSZ; exec {TIDEMARK} sysbench fileio --file-num=2 \
         --file-total-size=1M {words}"
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(dir.path());
    Said::of(&shell.output().unwrap())
}

#[test]
fn a_device_that_is_full_leaves_nothing_unsaid() {
    let dir = Workdir::new();
    let said = with_small_files(&dir, "prepare");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("test_file.0"), "{said:?}");
    assert!(
        said.err.contains("the file made until then was removed"),
        "{said:?}"
    );
    assert!(!dir.path().join("test_file.0").exists());
    assert!(!dir.path().join("test_file.tidemark").exists());
}

/// A sequential write makes its files itself: what it leaves when it fails is named.
#[test]
fn a_sequential_write_that_fails_names_the_files_it_leaves() {
    let dir = Workdir::new();
    // Its record's file would be too large, too.
    let said = with_small_files(&dir, "--file-test-mode=seqwr --store=off run");
    assert_eq!(said.code, Some(1), "{said:?}");
    for part in ["these files are left", "test_file.0", "test_file.1"] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    let cleanup = ["sysbench", "fileio", "--file-num=2", "cleanup"];
    dir.ok(&cleanup);
    assert!(!dir.path().join("test_file.0").exists());
}

#[test]
fn ctrl_c_ends_with_a_summary() {
    let dir = Workdir::new();
    let words = ["sysbench", "cpu", "--time=60", "--report-interval=1", "run"];
    let run = Running::start(&dir, &words);
    signal(run.child.id(), "INT");
    let said = run.end();
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.out.contains("total number of events:"), "{said:?}");
    assert_eq!(dir.last_record()["state"], "interrupted");
}

#[test]
fn mistakes_are_told() {
    let dir = Workdir::new();
    for (line, code, part) in [
        (
            "cpu --cpu-max-prim=5 run",
            2,
            "did you mean --cpu-max-prime?",
        ),
        ("cpu --cpu-max-prime=0 run", 2, "--cpu-max-prime=0"),
        ("cpu cleanup", 2, "cpu has nothing to cleanup"),
        (
            "cpu --target=sqlite:a.db run",
            2,
            "--target is for databases",
        ),
        (
            "memory --memory-block-size=3000 run",
            2,
            "--memory-block-size=4096",
        ),
        ("fileio run", 2, "--file-test-mode is missing"),
        (
            "fileio --file-test-mode=rndrd --file-extra-flags=directt run",
            2,
            "did you mean direct?",
        ),
        (
            "mutex --warmup-time=1 run",
            2,
            "--warmup-time=1 does not go with mutex",
        ),
    ] {
        let words: Vec<&str> = ["sysbench"].into_iter().chain(line.split(' ')).collect();
        let said = dir.run(&words);
        assert_eq!(said.code, Some(code), "{line}: {said:?}");
        assert!(said.err.contains(part), "{line}: {said:?}");
    }
    let help = dir.ok(&["sysbench", "fileio", "help"]);
    for option in [
        "--file-test-mode",
        "--file-async-backlog",
        "--threads",
        "--report",
    ] {
        assert!(help.out.contains(option), "{option}");
    }
    assert!(dir.ok(&["sysbench", "--help"]).out.contains("mutex"));
}

#[test]
fn a_study_tells_what_the_machine_can_do() {
    let dir = Workdir::new();
    let text = "name = \"small\"\ntime = \"1s\"\nhost-tests = \"on\"\n[[target]]\nname = \"a\"\n\
                url = \"sqlite:a.db\"\n[[workload]]\nname = \"oltp_point_select\"\n\
                options = { table-size = 100 }\n";
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    let said = dir.ok(&["study", "run", "s.toml"]);
    assert!(said.out.contains("testing this machine"), "{said:?}");
    let record = dir.last_record();
    assert!(record["machine"]["cpu_events_per_s"].as_f64().unwrap() > 0.0);
    assert!(record["machine"]["fsync_mean_ms"].as_f64().unwrap() > 0.0);
    dir.ok(&["report", "small", "-o", "a.md"]);
    let report = std::fs::read_to_string(dir.path().join("a.md")).unwrap();
    assert!(report.contains("fsync test"), "{report}");
    let files = std::fs::read_dir(dir.path()).unwrap();
    let left = files.filter(|f| {
        f.as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("host-tests")
    });
    assert_eq!(left.count(), 0);
}
