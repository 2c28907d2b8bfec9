//! `tidemark report` as a user calls it: one run, several, a study, what is not there.

use super::common::Workdir;

fn written(dir: &Workdir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).unwrap()
}

/// No commit waits for the disk, whose pauses make a run of a second one that is not counted.
const STUDY: &str = "name = \"threads on SQLite\"\nrepeats = 2\ntime = 1\n\
    objective = \"p99 < 1m\"\n\
    [[target]]\nname = \"sqlite\"\nurl = \"sqlite:study.db\"\nsession = { synchronous = \"OFF\" }\n\
    [[workload]]\nname = \"oltp_update_index\"\noptions = { table-size = 500 }\n\
    [load]\nthreads = [1, 2]\n\
    [[section]]\nplace = \"analysis\"\ntext = \"One thread is enough.\"\n";

fn with_text<'w>(more: &[&'w str]) -> Vec<&'w str> {
    let words = [
        "report",
        "threads on SQLite",
        "--text",
        "words.md",
        "--overwrite",
    ];
    [words.as_slice(), more].concat()
}

#[test]
fn a_study_is_one_document_in_every_form() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("study.toml"), STUDY).unwrap();
    dir.ok(&["study", "run", "study.toml"]);
    let said = dir.ok(&["report", "threads on SQLite"]);
    assert_eq!(said.out, "report.html\n");
    let page = written(&dir, "report.html");
    for words in [
        "<h1>threads on SQLite</h1>",
        "4 runs of oltp_update_index on SQLite",
        "Each point of the matrix has 2 repeats.",
        "2 different loads; fitting the USL needs at least four",
        "tidemark study run ",
        "table-size = 500",
        "All runs (4)",
        // What the children printed is there, folded.
        "SQL statistics:",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Two points are no curve.
    assert!(!page.contains("Throughput over threads"));
    dir.ok(&[
        "report",
        "threads on SQLite",
        "--lang",
        "zh",
        "-o",
        "zh.html",
    ]);
    assert!(written(&dir, "zh.html").contains("结论摘要"));
    let said = dir.ok(&[
        "report",
        "threads on SQLite",
        "--format",
        "md",
        "--out",
        "-",
    ]);
    assert!(said.out.starts_with("# threads on SQLite\n"), "{said:?}");
    assert!(
        said.out.contains("| Threads | Runs | Transactions/s |"),
        "{said:?}"
    );
    assert_eq!(said.out.matches("| ✓ met |").count(), 2, "{said:?}");
    assert!(
        said.out
            .contains("\n## Analysis\n\nOne thread is enough.\n"),
        "{said:?}"
    );
    // Who reads Chinese need not ask for it.
    let mut show = dir.command(&["show", "last"]);
    let output = show.env("TIDEMARK_LANG", "zh_CN.UTF-8").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("每秒") || said.contains("事务"), "{said}");
    // The study's own text, and that of a file with a picture and figures.
    std::fs::write(
        dir.path().join("dot.svg"),
        "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
    )
    .unwrap();
    std::fs::write(dir.path().join("words.md.png"), "secret").unwrap();
    let text = "# Two threads\n\n## Machines\n\n![a dot](dot.svg)\n\n## Result {place=conclusion}\n\n\
                {{tps threads=2}} a second.\n";
    std::fs::write(dir.path().join("words.md"), text).unwrap();
    dir.ok(&with_text(&["--out", "own.html"]));
    let page = written(&dir, "own.html");
    assert!(page.contains("<h1>Two threads</h1>") && page.contains("data:image/svg+xml;base64,"));
    assert!(page.contains(" a second.</p>") && !page.contains("{{"));
    dir.ok(&with_text(&["--out", "own.html", "--title", "Mine"]));
    assert!(written(&dir, "own.html").contains("<h1>Mine</h1>"));
    for (text, why) in [
        (
            "{{tps threads=3}}",
            "no result has threads=3; there are 1, 2",
        ),
        (
            "![a](https://example.org/a.png)",
            "line 1: https://example.org/a.png: a report loads nothing",
        ),
        ("![a](missing.png)", "line 1: missing.png: "),
        (
            "## A {place=end}",
            "place \"end\" is not known; there are conclusion, purpose",
        ),
    ] {
        std::fs::write(dir.path().join("words.md"), text).unwrap();
        let said = dir.run(&with_text(&["--out", "own.html"]));
        assert!(
            said.code == Some(2) && said.err.contains(why),
            "{text}: {said:?}"
        );
    }
    let said = dir.run(&with_text(&["--format", "csv", "--out", "-"]));
    assert!(
        said.err.contains("--text is for reports in html or md"),
        "{said:?}"
    );
    let said = dir.ok(&["report", "threads on SQLite", "--format=csv"]);
    assert_eq!(said.out, "report.csv\n");
    let rows = written(&dir, "report.csv");
    assert_eq!(rows.matches("\r\n").count(), 5, "{rows}");
    assert!(rows.contains("factor_threads"), "{rows}");
    dir.ok(&["report", "threads on SQLite", "-o", "study.json"]);
    let json: serde_json::Value = serde_json::from_str(&written(&dir, "study.json")).unwrap();
    assert_eq!(
        (&json["format"], &json["version"]),
        (&"tidemark-report".into(), &2.into())
    );
    assert_eq!(json["study"]["name"], "threads on SQLite");
    assert_eq!(json["study"]["open"], false);
    assert_eq!(json["study"]["objective"], "p99 < 60s");
    let points = json["workloads"][0]["series"][0]["points"]
        .as_array()
        .unwrap();
    assert_eq!(points.len(), 2);
    assert!(points.iter().all(|p| p["counted"] == 2), "{points:?}");
    // One of its runs alone is a page of its own, and a row of its own.
    let id = json["runs"][0]["id"].as_str().unwrap();
    dir.ok(&["report", id, "--out", "one.html"]);
    assert!(written(&dir, "one.html").contains("Latency distribution"));
    let row = dir.ok(&["report", id, "--format", "csv", "--out", "-"]);
    assert_eq!(row.out.matches("\r\n").count(), 2, "{row:?}");
}

#[test]
fn runs_and_records_are_one_document_and_what_is_not_there_is_said() {
    let dir = Workdir::new();
    let sysbench = [
        "sysbench",
        "oltp_point_select",
        "--target=sqlite:a.db",
        "--tables=1",
        "--table-size=500",
    ];
    dir.ok(&[&sysbench[..], &["prepare"]].concat());
    for run in [
        ["--threads=1", "--time=1", "--out=1.json", "run"],
        ["--threads=2", "--time=1", "--out=2.json", "run"],
    ] {
        dir.ok(&[&sysbench[..], &run].concat());
    }
    // A record's file, and the store's newest run, which is the other.
    let said = dir.ok(&[
        "report", "1.json", "last", "last", "--format", "md", "-o", "-",
    ]);
    assert!(
        said.out.starts_with("# 2 runs: oltp\\_point\\_select\n"),
        "{said:?}"
    );
    assert!(
        said.out.contains("\n| 1 | 1 | ") && said.out.contains("\n| 2 | 1 | "),
        "{said:?}"
    );
    // Groups are what the store's other commands call them.
    dir.ok(&["tag", "last", "+two"]);
    let said = dir.ok(&[
        "report", "1.json", "--tag", "two", "--format", "md", "-o", "-",
    ]);
    assert!(said.out.starts_with("# 2 runs: "), "{said:?}");
    // One run is told whole, however it was selected.
    for format in ["html", "md", "txt", "json"] {
        let of = |what: &[&str]| {
            let words = [&["report"], what, &["--format", format, "-o", "-"]].concat();
            dir.ok(&words).out
        };
        let one = of(&["last"]);
        assert!(one.contains("two"), "{one}");
        for what in [&["tag:two"][..], &["--tag", "two"], &["last", "tag:two"]] {
            assert_eq!(of(what), one, "{what:?}");
        }
    }
    let row = dir.ok(&["report", "tag:two", "--format", "csv", "-o", "-"]);
    assert_eq!(row.out.matches("\r\n").count(), 2, "{row:?}");
    for (words, says) in [
        (vec!["report", "--tag", "tow"], "did you mean two?"),
        (vec!["report", "study:nothing"], "no study nothing"),
        (vec!["report"], "required arguments were not provided"),
        (vec!["report", "nothing"], "no run nothing"),
        (
            vec!["report", "nothing.json"],
            "nothing.json: can't be read",
        ),
        (
            vec!["report", "last", "--format", "pdf"],
            "[possible values: html, md, csv, json, txt]",
        ),
        (
            vec!["report", "1.json", "last", "--format", "txt"],
            "--format md --out -",
        ),
        (
            vec!["report", "last", "--out", "r/x.md"],
            "r/x.md: the folder does not exist; create it, or name a file in another; for example x.md",
        ),
        (
            vec!["export", "last", "--out", "r/x.json"],
            "r/x.json: the folder does not exist",
        ),
        (
            vec!["report", "last", "--out", "a.docx"],
            ".html, .md, .txt, .json or .csv",
        ),
    ] {
        let said = dir.run(&words);
        assert_eq!(said.code, Some(2), "{words:?}: {said:?}");
        assert!(said.err.contains(says), "{words:?}: {said:?}");
    }
}

#[test]
fn charts_of_markdown_are_files_beside_it() {
    let dir = Workdir::new();
    let sysbench = [
        "sysbench",
        "oltp_point_select",
        "--target=sqlite:a.db",
        "--tables=1",
        "--table-size=500",
    ];
    dir.ok(&[&sysbench[..], &["prepare"]].concat());
    let run = ["--threads=1", "--time=2", "--report=run.md", "run"];
    // What is in the way of the charts is told before the run.
    std::fs::write(dir.path().join("run-files"), "mine").unwrap();
    let said = dir.run(&[&sysbench[..], &run].concat());
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("run-files: already exists"), "{said:?}");
    assert_eq!(written(&dir, "run-files"), "mine");
    assert!(!dir.path().join("run.md").exists());
    std::fs::remove_file(dir.path().join("run-files")).unwrap();
    let said = dir.ok(&[&sysbench[..], &run].concat());
    assert!(said.err.contains(" in run-files"), "{said:?}");
    let report = ["report", "last", "--format", "md", "-o", "own.md"];
    // What is there may be the user's.
    std::fs::write(dir.path().join("own-files"), "mine").unwrap();
    let said = dir.run(&report);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("own-files: already exists"), "{said:?}");
    assert!(!dir.path().join("own.md").exists());
    // Nothing is looked up and read before.
    let said = dir.run(&["report", "none", "--format", "md", "-o", "own.md"]);
    assert_eq!(said.code, Some(5), "{said:?}");
    std::fs::remove_file(dir.path().join("own-files")).unwrap();
    // Written, and again by the same command.
    for _ in 0..2 {
        let said = dir.ok(&report);
        assert_eq!(said.out, "own.md\n");
        assert!(said.err.contains(" in own-files"), "{said:?}");
    }
    let text = written(&dir, "own.md");
    let linked = text.matches("](own-files/chart-").count();
    let files = std::fs::read_dir(dir.path().join("own-files")).unwrap();
    assert!(linked >= 1 && files.count() == linked, "{text}");
    // A run's own report has them, too.
    let of_run = written(&dir, "run.md");
    assert_eq!(of_run.matches("](run-files/chart-").count(), linked);
    let files = std::fs::read_dir(dir.path().join("run-files")).unwrap();
    assert_eq!(files.count(), linked);
    // A chart of a longer report that was there goes with it.
    let more = format!("own-files/chart-{:02}.svg", linked + 1);
    let link = format!("![more]({more})\n\n");
    let (body, end) = text.rsplit_once("\nMade by").unwrap();
    std::fs::write(
        dir.path().join("own.md"),
        format!("{body}{link}\nMade by{end}"),
    )
    .unwrap();
    std::fs::copy(
        dir.path().join("own-files/chart-01.svg"),
        dir.path().join(&more),
    )
    .unwrap();
    let said = dir.ok(&report);
    assert!(said.err.contains("1 chart of the earlier"), "{said:?}");
    assert!(!dir.path().join(&more).exists());
    let first = "own-files/chart-01.svg";
    assert!(text.contains(first), "{text}");
    let chart = written(&dir, first);
    assert!(
        chart.starts_with("<svg ") && !chart.contains("<script"),
        "{chart}"
    );
    // One of the same name that Tidemark did not make stays.
    std::fs::write(dir.path().join(first), "<svg>mine</svg>").unwrap();
    let said = dir.run(&report);
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.err.contains("chart-01.svg: already exists"),
        "{said:?}"
    );
    assert_eq!(written(&dir, first), "<svg>mine</svg>");
    dir.ok(&[&report[..], &["--overwrite"]].concat());
    assert_eq!(written(&dir, first), chart);
    // Printed, it has words alone, and a sentence says how to get the others.
    let said = dir.ok(&["report", "last", "--format", "md", "-o", "-"]);
    assert!(!said.out.contains("!["), "{said:?}");
    assert!(said.err.contains("--out report.md"), "{said:?}");
}
