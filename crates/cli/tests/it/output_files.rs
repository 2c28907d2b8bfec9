//! Files that Tidemark writes: its own are written anew, everybody else's stay as they are.

use super::common::{Said, Workdir};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

const POINT: [&str; 4] = [
    "sysbench",
    "oltp_point_select",
    "--db-driver=sqlite",
    "--table-size=100",
];
const THEIRS: &str = "my essay, of which there is no copy\n";

fn run(work: &Workdir, more: &[&str]) -> Said {
    work.run(&[&POINT[..], &["--events=20"], more, &["run"]].concat())
}

/// A folder with two runs in its store.
fn two() -> Workdir {
    let work = Workdir::new();
    work.ok(&[&POINT[..], &["prepare"]].concat());
    for _ in 0..2 {
        assert_eq!(run(&work, &[]).code, Some(0));
    }
    work
}

fn read(work: &Workdir, name: &str) -> String {
    fs::read_to_string(work.path().join(name)).unwrap()
}

fn write(work: &Workdir, name: &str, text: &str) {
    fs::write(work.path().join(name), text).unwrap();
}

fn names(work: &Workdir) -> Vec<String> {
    let entries = fs::read_dir(work.path()).unwrap();
    entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn is_refused(said: &Said, name: &str) {
    is_refused_in("en", said, name);
}

fn is_refused_in(lang: &str, said: &Said, name: &str) {
    assert_eq!(said.code, Some(5), "{said:?}");
    let expected = match lang {
        "zh" => format!("{name}：已存在，且不是 Tidemark 写的"),
        _ => format!("{name}: already exists and was not written by Tidemark"),
    };
    assert!(said.err.contains(&expected), "{said:?}");
    assert!(said.err.contains("--overwrite"), "{said:?}");
}

#[test]
fn reports_replace_reports_of_their_kind_and_no_other_file() {
    let work = two();
    let ids = work.ok(&["runs"]).out;
    let ids: Vec<&str> = ids.lines().skip(1).map(|l| &l[..36]).collect();
    for lang in ["en", "zh"] {
        for (one, ending) in [
            (true, "html"),
            (false, "html"),
            (true, "md"),
            (false, "md"),
            (true, "txt"),
            (true, "json"),
            (false, "json"),
            (true, "csv"),
            (false, "csv"),
        ] {
            let file = format!("written.{ending}");
            let what = if one { &ids[..1] } else { &ids[..] };
            let words = [&["report"], what, &["--lang", lang, "-o", &file]].concat();
            for _ in 0..2 {
                work.ok(&words);
            }
            let ours = read(&work, &file);
            write(&work, &file, THEIRS);
            is_refused_in(lang, &work.run(&words), &file);
            assert_eq!(read(&work, &file), THEIRS);
            work.ok(&[&words[..], &["--overwrite"]].concat());
            assert_eq!(read(&work, &file), ours);
        }
    }
    // One of ours, but not of this kind.
    let words = ["report", "last", "-o", "written.md", "--format", "csv"];
    is_refused(&work.run(&words), "written.md");
    // The default name is no exception.
    write(
        &work,
        "report.html",
        "<!doctype html>\n<title>Annual report</title>\n",
    );
    is_refused(&work.run(&["report", "last"]), "report.html");
    assert!(read(&work, "report.html").contains("Annual"));
    assert!(!names(&work).iter().any(|n| n.ends_with(".new")));
}

#[test]
fn a_run_is_not_made_for_a_file_that_it_may_not_write() {
    let work = two();
    let runs = work.ok(&["runs"]).out;
    for (option, name) in [
        ("--out", "essay.md"),
        ("--report", "essay.md"),
        ("--report", "a.csv"),
    ] {
        write(&work, name, THEIRS);
        let words = format!("{option}={name}");
        is_refused(&run(&work, &[&words]), name);
        assert_eq!(read(&work, name), THEIRS);
        assert_eq!(work.ok(&["runs"]).out, runs, "no run was made");
    }
    assert_eq!(run(&work, &["--out=essay.md", "--overwrite"]).code, Some(0));
    assert!(read(&work, "essay.md").contains("tidemark_version"));
    assert_eq!(
        run(&work, &["--out=essay.md"]).code,
        Some(0),
        "it is a record now"
    );
}

#[test]
fn links_permissions_and_files_beside_are_left_as_they_are() {
    let work = two();
    // What an earlier Tidemark wrote for the time being, and what is the user's.
    write(&work, "a.json.part", THEIRS);
    assert_eq!(run(&work, &["--out=a.json"]).code, Some(0));
    assert_eq!(read(&work, "a.json.part"), THEIRS);
    let file = work.path().join("a.json");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&work, &["--out=a.json"]).code, Some(0));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    // Also a link to one of ours, and one to nothing.
    for target in ["a.json", "new.json"] {
        symlink(target, work.path().join("link.json")).unwrap();
        let before = read(&work, "a.json");
        for more in [
            &["--out=link.json"][..],
            &["--out=link.json", "--overwrite"],
        ] {
            let said = run(&work, more);
            assert_eq!(said.code, Some(5), "{said:?}");
            assert!(
                said.err.contains("link.json: it is a symbolic link"),
                "{said:?}"
            );
        }
        let said = work.run(&["export", "last", "-o", "link.json", "--overwrite"]);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert_eq!(read(&work, "a.json"), before);
        assert!(!names(&work).contains(&"new.json".into()));
        fs::remove_file(work.path().join("link.json")).unwrap();
    }
}

#[test]
fn exports_replace_nothing_unless_told() {
    let work = two();
    for format in ["json", "csv", "hdr", "parquet", "series", "series-parquet"] {
        let words = ["export", "last", "--format", format, "-o", "run.out"];
        write(&work, "run.out", THEIRS);
        let said = work.run(&words);
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.err.contains("--overwrite"), "{said:?}");
        assert_eq!(read(&work, "run.out"), THEIRS);
        work.ok(&[&words[..], &["--overwrite"]].concat());
        assert_ne!(
            fs::read(work.path().join("run.out")).unwrap(),
            THEIRS.as_bytes()
        );
    }
}

#[test]
fn loads_into_files_touch_nothing_beside_them() {
    let work = Workdir::new();
    let words = [
        "tpcc",
        "--warehouses=1",
        "--tables=warehouse,district",
        "prepare",
    ];
    let words = [
        &words[..],
        &["--output-type=csv", "--output-dir=data", "-D", "t"],
    ]
    .concat();
    fs::create_dir(work.path().join("data")).unwrap();
    write(&work, "data/t.warehouse.0.csv.part", THEIRS);
    write(&work, "essay", THEIRS);
    symlink("../essay", work.path().join("data/t.district.0.csv.part")).unwrap();
    work.ok(&words);
    assert_eq!(read(&work, "data/t.warehouse.0.csv.part"), THEIRS);
    assert_eq!(read(&work, "essay"), THEIRS);
    let written = read(&work, "data/t.warehouse.0.csv");
    assert_eq!(work.run(&words).code, Some(5));
    work.ok(&[&words[..], &["--replace"]].concat());
    assert_eq!(read(&work, "data/t.warehouse.0.csv"), written);
    let left = fs::read_dir(work.path().join("data")).unwrap().count();
    assert_eq!(left, 4);
}
