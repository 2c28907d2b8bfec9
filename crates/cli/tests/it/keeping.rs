//! What is done with runs that are kept: found, labelled, deleted, taken elsewhere, saved.

use super::common::{TIDEMARK, Workdir};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Three short runs, made once: their ids, newest last, and the files of their folder.
struct Three {
    ids: Vec<String>,
    files: Vec<(OsString, Permissions, Vec<u8>)>,
}

static THREE: LazyLock<Three> = LazyLock::new(|| {
    let (work, ids) = made();
    let kept = fs::read_dir(work.path()).unwrap().map(Result::unwrap);
    let kept = kept.filter(|entry| entry.path().is_file());
    let files = kept.map(|entry| {
        let rights = entry.metadata().unwrap().permissions();
        (entry.file_name(), rights, fs::read(entry.path()).unwrap())
    });
    Three {
        ids,
        files: files.collect(),
    }
});

/// A folder of its own with three short runs in its store, newest last; their ids.
pub fn three() -> (Workdir, Vec<String>) {
    let work = Workdir::new();
    for (name, rights, bytes) in &THREE.files {
        let path = work.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, rights.clone()).unwrap();
    }
    (work, THREE.ids.clone())
}

fn made() -> (Workdir, Vec<String>) {
    let work = Workdir::new();
    let run = |name: &str, time: &str| {
        work.ok(&[
            "sysbench",
            name,
            "--db-driver=sqlite",
            "--table-size=100",
            "--threads=2",
            &format!("--time={time}"),
            "run",
        ]);
    };
    for name in ["oltp_point_select", "oltp_read_only"] {
        if name == "oltp_point_select" {
            work.ok(&[
                "sysbench",
                name,
                "--db-driver=sqlite",
                "--table-size=100",
                "prepare",
            ]);
        }
        run(name, "1");
    }
    run("oltp_point_select", "2");
    let mut ids: Vec<String> = work
        .ok(&["runs"])
        .out
        .lines()
        .skip(1)
        .map(|l| l.split(' ').next().unwrap().into())
        .collect();
    ids.reverse();
    assert_eq!(ids.len(), 3);
    (work, ids)
}

pub fn listed(work: &Workdir, flags: &[&str]) -> Vec<String> {
    let out = work.ok(&[&["runs"], flags].concat()).out;
    let ids = out.lines().filter(|l| l.starts_with('0'));
    ids.map(|l| l.split(' ').next().unwrap().into()).collect()
}

#[test]
fn runs_are_found_labelled_compared_and_deleted() {
    let (work, ids) = three();
    assert_eq!(listed(&work, &["--workload", "oltp_read_only"]), ids[1..2]);
    assert_eq!(listed(&work, &["--engine", "sqlite"]).len(), 3);
    // Standard output holds the list alone, for whoever reads it by program.
    let newest = work.ok(&["runs", "--engine=sqlite", "--limit=1"]);
    assert!(
        newest
            .err
            .ends_with("2 older runs are not shown; --limit=3 lists all\n"),
        "{newest:?}"
    );
    for whole in [&["runs"][..], &["runs", "--limit=3"]] {
        let listed = work.ok(whole).out;
        assert!(!listed.contains("not shown"), "{listed}");
    }
    assert!(listed(&work, &["--engine", "mariadb"]).is_empty());
    assert_eq!(
        listed(&work, &["--target", "SBTEST", "--limit", "1"]),
        ids[2..]
    );
    assert_eq!(listed(&work, &["--state", "finished"]).len(), 3);
    assert!(listed(&work, &["--state", "failed"]).is_empty());
    assert_eq!(listed(&work, &["--since", "1h"]).len(), 3);
    assert_eq!(
        listed(
            &work,
            &["--since", "2000-01-01", "--until", "2100-01-01T12:00"]
        )
        .len(),
        3
    );
    assert!(listed(&work, &["--until", "2d"]).is_empty());
    let bad = work.run(&["runs", "--since", "gestern"]);
    assert_eq!(bad.code, Some(2));
    assert!(
        bad.err.contains("--since=gestern") && bad.err.contains("3d"),
        "{bad:?}"
    );

    let said = work.ok(&["tag", &ids[0], &ids[2], "+before", "+基线"]);
    assert!(
        said.out.contains(&format!("{}  before 基线", ids[0])),
        "{said:?}"
    );
    let unsigned = work.run(&["tag", "last", "after"]);
    assert_eq!(unsigned.code, Some(2), "{unsigned:?}");
    assert!(
        unsigned.err.contains("tidemark tag last +after"),
        "{unsigned:?}"
    );
    work.ok(&["tag", "last", "-before", "+after"]);
    assert_eq!(listed(&work, &["--tag", "before"]), ids[..1]);
    assert_eq!(
        listed(&work, &["--tag", "基线", "--tag", "after"]),
        ids[2..]
    );
    assert!(work.ok(&["runs"]).out.contains("[after, 基线]"));
    assert_eq!(work.ok(&["tag"]).out, "after\nbefore\n基线\n");
    work.ok(&["note", &ids[0], "as delivered"]);
    assert_eq!(work.ok(&["note", &ids[0]]).out, "as delivered\n");
    let shown = work.ok(&["show", &ids[0]]).out;
    assert!(
        shown.contains("as delivered") && shown.contains("before, 基线"),
        "{shown}"
    );
    let json = work.ok(&["show", &ids[0], "--json"]).out;
    assert!(json.contains("\"as delivered\"") && json.contains("\"before\""));
    work.ok(&["note", &ids[1], "a | pipe\nsecond line"]);
    let shown = work.ok(&["show", &ids[1]]).out;
    let mut lines = shown.lines().skip_while(|l| !l.ends_with(" a | pipe"));
    let (first, second) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!(second.trim(), "second line");
    assert_eq!(first.find("a | pipe"), second.find("second line"));

    let compared = work.ok(&["compare", "tag:before", "tag:after"]);
    assert!(compared.out.contains("Throughput"), "{compared:?}");
    let both = work.run(&["compare", "tag:before", "tag:基线"]);
    assert_eq!(both.code, Some(2), "one run is in both: {both:?}");
    let near = work.run(&["compare", "tag:befor", "last"]);
    assert!(near.err.contains("did you mean before?"), "{near:?}");

    let rows = work.ok(&["report", "--tag", "基线", "--format", "csv", "-o", "-"]);
    assert_eq!(rows.out.lines().count(), 3, "{rows:?}");
    let nothing = work.run(&["compare", "study:none", "last"]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.err.contains("no study none"), "{nothing:?}");

    // Nobody is there to be asked.
    let refused = work.run(&["delete", "last"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("--yes"), "{refused:?}");
    let unknown = work.run(&["delete", &ids[0], "ffff", "--yes"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert_eq!(listed(&work, &[]).len(), 3, "all or none");
    work.ok(&["delete", "--tag", "before", &ids[1], "--yes"]);
    assert_eq!(listed(&work, &[]), ids[2..]);
}

/// A terminal that answers a question: the package `bsdutils`, which every Debian has, makes one.
fn answered(work: &Workdir, words: &str, answer: &str) -> String {
    let mut asked = Command::new("script")
        .args(["-qefc", &format!("{TIDEMARK} {words}"), "/dev/null"])
        .current_dir(work.path())
        .env("TIDEMARK_STORE", work.path().join("store.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = asked.stdin.take().unwrap();
    keys.write_all(answer.as_bytes()).unwrap();
    let out = asked.wait_with_output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn whoever_is_at_a_terminal_is_asked_before_runs_go() {
    let (work, ids) = three();
    work.ok(&["note", "last", "the one\nthat was slow"]);
    let kept = answered(&work, "delete last", "\n");
    assert!(kept.contains("Delete this run? [y/N]"), "{kept}");
    assert!(kept.contains("nothing was deleted"), "{kept}");
    let line = |id: &str, text: &str| {
        let line = text.lines().find(|l| l.starts_with(id)).map(str::trim_end);
        line.unwrap_or_else(|| panic!("{id}: {text}")).to_string()
    };
    let started: String = work.last_record()["started_at"].as_str().unwrap().into();
    assert_eq!(
        line(&ids[2], &kept),
        format!(
            "{}  {}  oltp_point_select  sqlite:sbtest.db  \u{201c}the one\u{2026}\u{201d}",
            ids[2],
            started[..16].replace('T', " ")
        )
    );
    assert_eq!(listed(&work, &[]).len(), 3);
    let two = format!("delete {} {}", ids[0], ids[1]);
    let gone = answered(&work, &two, "y\n");
    assert!(gone.contains("Delete these 2 runs? [y/N]"), "{gone}");
    assert!(line(&ids[1], &gone).contains("oltp_read_only"), "{gone}");
    assert_eq!(listed(&work, &[]), ids[2..]);
}

#[test]
fn runs_leave_a_store_and_come_into_another() {
    let (work, ids) = three();
    work.ok(&["tag", "last", "+nightly"]);
    work.ok(&["note", "last", "say \"hi\""]);
    let text = work.ok(&["export", "last"]).out;
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["tags"], serde_json::json!(["nightly"]));
    assert_eq!(record["note"], "say \"hi\"");
    let intervals = record["intervals"].as_array().unwrap().len();
    assert!(intervals >= 2);

    work.ok(&["export", &ids[0], "last", "-o", "out/"]);
    assert_eq!(
        fs::read_to_string(work.path().join(format!("out/{}.json", ids[2]))).unwrap(),
        text
    );
    let again = work.run(&["export", "last", "-o", "out"]);
    assert_eq!(again.code, Some(5), "nothing is overwritten: {again:?}");
    let several = work.run(&["export", &ids[0], "last"]);
    assert!(several.err.contains("-o runs/"), "{several:?}");
    // Nobody means a folder of this name, unless a slash says so.
    let both = ["export", &ids[0], "last", "--format", "csv", "-o"];
    let several = work.run(&[&both[..], &["AB.csv"]].concat());
    assert_eq!(several.code, Some(2), "{several:?}");
    assert!(
        several.err.contains("-o AB.csv: 2 runs need a folder"),
        "{several:?}"
    );
    assert!(several.err.contains("; for example -o AB/"), "{several:?}");
    assert!(!work.path().join("AB.csv").exists());
    work.ok(&[&both[..], &["AB.csv/"]].concat());
    assert!(work.path().join("AB.csv").is_dir());

    let csv = work.ok(&["export", "last", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), intervals + 1);
    // Its ending says so, too.
    work.ok(&["export", "last", "-o", "run.csv"]);
    assert_eq!(
        fs::read_to_string(work.path().join("run.csv")).unwrap(),
        csv
    );
    let said = work.run(&["export", "last", "--format", "json", "-o", "other.csv"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(!work.path().join("other.csv").exists());
    let sum: f64 = csv
        .lines()
        .skip(1)
        .filter(|l| l.contains(",measure,"))
        .map(|l| l.split(',').nth(6).unwrap().parse::<f64>().unwrap())
        .sum();
    assert_eq!(Some(sum), record["totals"]["all"]["count"].as_f64());
    let log = work.ok(&["export", "last", "--format", "hdr", "-o", "run.hlog"]);
    assert_eq!(log.out, "run.hlog\n");
    let log = fs::read_to_string(work.path().join("run.hlog")).unwrap();
    let lines = log.lines().filter(|l| l.contains(",HISTF"));
    assert_eq!(lines.count(), intervals);

    let unread = work.run(&["export", "last", "--format", "parquet"]);
    assert_eq!(unread.code, Some(2), "{unread:?}");
    assert!(unread.err.contains("-o run.parquet"), "{unread:?}");
    let export = ["export", "last", "--format", "parquet", "-o"];
    let said = work.ok(&[&export[..], &["out/"]].concat());
    assert_eq!(said.out, format!("out/{}.parquet\n", ids[2]));
    let file = fs::read(work.path().join(said.out.trim())).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let again = work.run(&[&export[..], &[said.out.trim()]].concat());
    assert_eq!(again.code, Some(5), "{again:?}");
    assert_eq!(fs::read(work.path().join(said.out.trim())).unwrap(), file);

    // What was observed, with the same times in text and as Parquet.
    let series = work.ok(&["export", "last", "--format", "series"]).out;
    let head = series.lines().next().unwrap();
    assert_eq!(
        head.trim_end(),
        "run,start_s,length_s,source,name,labels,unit,measures,value"
    );
    let of_client = |line: &str| {
        line.starts_with(&ids[2]) && line.contains(",client-host,memory.used,,bytes,gauge,")
    };
    assert!(series.lines().any(of_client), "{series}");
    let unread = work.run(&["export", "last", "--format", "series-parquet"]);
    assert_eq!(unread.code, Some(2), "{unread:?}");
    let said = work.ok(&["export", "last", "--format", "series-parquet", "-o", "out/"]);
    assert_eq!(said.out, format!("out/{}.series.parquet\n", ids[2]));
    let file = fs::read(work.path().join(said.out.trim())).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));

    // Into another store, and not twice.
    let other = ["--store", "other.db"];
    let files = [
        format!("out/{}.json", ids[0]),
        format!("out/{}.json", ids[2]),
    ];
    let report = work.run(&["import", &files[0], "--report=r.md", "--store=other.db"]);
    assert_eq!(report.code, Some(2), "{report:?}");
    assert!(report.err.contains("--out r.md"), "{report:?}");
    assert!(!work.path().join("other.db").exists());
    work.ok(&[&["import", &files[0], &files[1]], &other[..]].concat());
    let there = work.ok(&[&["export", ids[2].as_str()], &other[..]].concat());
    assert_eq!(there.out, text);
    // What was taken in was not made there.
    let last = work.run(&[&["export", "last"], &other[..]].concat());
    assert_eq!(last.code, Some(2), "{last:?}");
    assert!(last.err.contains("2 imported runs"), "{last:?}");
    let twice = work.ok(&[&["import", &files[0]], &other[..]].concat());
    assert!(twice.out.contains("already in the store"), "{twice:?}");
}

#[test]
fn a_store_that_is_named_must_be_there_to_be_read() {
    let work = Workdir::new();
    for (words, path) in [
        (&["runs"][..], "mistyped.db"),
        (&["runs"], "no/folder/runs.db"),
        (&["show", "last"], "mistyped.db"),
        (&["report", "last"], "mistyped.db"),
        (&["study", "status"], "mistyped.db"),
    ] {
        let said = work.run(&[words, &["--store", path]].concat());
        assert_eq!(said.code, Some(2), "{words:?}: {said:?}");
        assert!(said.err.contains(path), "{words:?}: {said:?}");
        assert!(said.err.contains("no run store"), "{said:?}");
        assert!(!work.path().join("no").exists());
    }
    // Nobody has runs before the first one.
    let own = work.ok(&["runs"]);
    assert!(own.out.starts_with("no runs yet in "), "{own:?}");
    assert!(own.out.contains("start with: tidemark demo"), "{own:?}");
}

#[test]
fn a_record_that_is_there_keeps_none_of_the_others_out() {
    let (work, ids) = three();
    work.ok(&["export", &ids[0], &ids[1], &ids[2], "-o", "out/"]);
    let file = |n: usize| format!("out/{}.json", ids[n]);
    let import = |files: &[&str]| work.run(&[&["import", "--store=p.db"], files].concat());
    assert_eq!(import(&[&file(0)]).code, Some(0));

    let both = import(&[&file(0), &file(1)]);
    assert_eq!(both.code, Some(0), "{both:?}");
    let lines: Vec<&str> = both.out.lines().collect();
    assert_eq!(
        lines,
        [
            format!(
                "run {} is already in the store; {} was skipped",
                ids[0],
                file(0)
            ),
            format!("imported run {} from {}", ids[1], file(1)),
            "1 record imported, 1 already in the store".into(),
        ]
    );

    // Labels are the user's, here as there.
    work.ok(&["tag", "--store=p.db", &ids[0], "+here"]);
    let labelled = import(&[&file(0)]);
    assert_eq!(labelled.code, Some(0), "{labelled:?}");
    assert!(
        labelled.out.contains("tags and note in the store"),
        "{labelled:?}"
    );
    assert_eq!(work.ok(&["tag", "--store=p.db"]).out, "here\n");

    // Another record of the same id is none of it.
    let text = fs::read_to_string(work.path().join(file(0))).unwrap();
    let mut other: serde_json::Value = serde_json::from_str(&text).unwrap();
    other["seed"] = 99.into();
    fs::write(work.path().join("other.json"), other.to_string()).unwrap();
    let mixed = import(&["other.json", "none.json", &file(2)]);
    assert_eq!(mixed.code, Some(5), "{mixed:?}");
    assert!(mixed.err.contains("with different content"), "{mixed:?}");
    assert!(mixed.err.contains("none.json: can't be read"), "{mixed:?}");
    assert!(
        mixed
            .err
            .ends_with("1 record imported, 0 already in the store, 2 not imported\n"),
        "{mixed:?}"
    );
    assert_eq!(listed(&work, &["--store=p.db"]).len(), 3);
    let kept = work.ok(&["show", &ids[0], "--json", "--store=p.db"]).out;
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_ne!(kept["seed"], 99);
    let alone = import(&["other.json"]);
    assert_eq!(alone.code, Some(5), "{alone:?}");
    assert_eq!(alone.err.lines().count(), 1, "{alone:?}");
}

#[test]
fn records_from_elsewhere_harm_neither_store_nor_terminal() {
    let work = Workdir::new();
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}<script>alert(1)</script>";
    let record = serde_json::json!({
        "schema_version": 1, "id": "0199", "tidemark_version": "0.1.0",
        "started_at": "2026-11-20T10:00:00Z", "state": "failed",
        "reason": "mysql://u:geheim@h/d: gone (PGPASSWORD=geheim)",
        "command": ["tidemark", "sysbench", "--mysql-password=geheim", "mysql://u:geheim@h/d"],
        "workload": hostile, "target": "mysql://u:geheim@h/d", "server": null, "settings": [],
        "options": {"mysql-password": {"value": "geheim", "source": "command-line"},
            "target": {"value": "postgres://h/d?password=geheim", "source": "command-line"}},
        "sessions": 1, "executors": 1, "seed": 1, "client": {
            "hostname": hostile, "os": "", "kernel": "", "cpu_model": "", "cores": 1,
            "memory_bytes": 1},
        "usage": {"cpu_user_s": 0.0, "cpu_system_s": 0.0, "max_resident_bytes": 0},
        "tables_before": [], "tables_after": [], "intervals": [], "errors": [],
        "tags": ["<script>"], "note": hostile,
        "totals": {"elapsed_s": 1.0, "statements": {"read": 0, "write": 0, "other": 0,
            "noop_writes": 0}, "ignored_errors": 0, "reconnects": 0, "types": {},
            "all": {"count": 0, "service": ""}, "fairness": {"events_avg": 0.0,
            "events_stddev": 0.0, "time_avg_s": 0.0, "time_stddev_s": 0.0}},
    });
    let write = |name: &str, value: &serde_json::Value| {
        fs::write(work.path().join(name), value.to_string()).unwrap();
    };
    write("hostile.json", &record);
    // A file is told without being taken into the store.
    for form in ["html", "md", "txt", "json", "csv"] {
        let words = ["report", "hostile.json", "-o", "-", "--format", form];
        let said = work.ok(&words).all();
        assert!(!said.contains("geheim"), "{form}: {said}");
        assert!(form == "csv" || said.contains("***"), "{form}: {said}");
    }
    let several = work.ok(&[
        "report",
        "hostile.json",
        "hostile.json",
        "--format=md",
        "-o",
        "-",
    ]);
    assert!(!several.all().contains("geheim"), "{several:?}");
    work.ok(&["import", "hostile.json"]);
    for words in [
        &["runs"][..],
        &["show", "0199"],
        &["tag"],
        &["tag", "0199"],
        &["note", "0199"],
    ] {
        let said = work.ok(words).all();
        assert!(said.contains("<script>"), "{words:?}: {said}");
        assert!(
            !said.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{words:?}: {said:?}"
        );
    }
    // As it came, but for what is nobody's business.
    let back = work.ok(&["show", "0199", "--json"]).out;
    let back: serde_json::Value = serde_json::from_str(&back).unwrap();
    assert_eq!(back["workload"], hostile);
    assert_eq!(back["options"]["mysql-password"]["value"], "***");
    assert_eq!(back["reason"], "mysql://u:***@h/d: gone (PGPASSWORD=***");
    assert_eq!(back["tags"], record["tags"]);
    assert_eq!(back["note"], hostile);
    for entry in fs::read_dir(work.path()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        let holds = bytes.windows(6).any(|w| w == b"geheim");
        assert_eq!(holds, name == "hostile.json", "{name}");
    }
    for (change, part) in [
        (("id", serde_json::json!("../../x")), "id \"../../x\""),
        (("id", serde_json::json!("last")), "id \"last\""),
        (
            ("schema_version", serde_json::json!(99)),
            "from a newer Tidemark",
        ),
        (("totals", serde_json::json!({})), "not a run record"),
        (("tags", serde_json::json!([""])), "tag \"\": use 1 to"),
        (("tags", serde_json::json!(["x", "a b"])), "tag \"a b\""),
        (("tags", serde_json::json!(["a,b"])), "tag \"a,b\""),
        (("tags", serde_json::json!(["+a"])), "tag \"+a\""),
        (("tags", serde_json::json!(["-a"])), "tag \"-a\""),
        (("tags", serde_json::json!(["a\n"])), "tag \"a\\n\""),
        (("tags", serde_json::json!([hostile])), "use 1 to 64"),
    ] {
        let mut bad = record.clone();
        bad[change.0] = change.1;
        if change.0 == "tags" {
            bad["id"] = "0200".into();
        }
        write("bad.json", &bad);
        let said = work.run(&["import", "bad.json"]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains("bad.json: ") && said.err.contains(part),
            "{said:?}"
        );
    }
    fs::write(work.path().join("deep.json"), "[".repeat(1_000_000)).unwrap();
    assert_eq!(work.run(&["import", "deep.json"]).code, Some(2));
    assert_eq!(work.run(&["import", "/dev/null"]).code, Some(2));
}
