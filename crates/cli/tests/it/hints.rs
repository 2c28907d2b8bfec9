//! What is told before a run, and runs that do not begin for it.

use super::common::Workdir;

const TARGET: &str = "--target=sqlite:a.db";

fn sysbench<'a>(workload: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let size = "--table-size=100";
    let mut words = vec!["sysbench", workload, TARGET, size];
    words.extend(more);
    words
}

#[test]
fn a_short_run_on_changed_tables_is_told_and_with_strict_does_not_begin() {
    let dir = Workdir::new();
    dir.ok(&sysbench("oltp_insert", &["prepare"]));
    let clean = dir.ok(&sysbench(
        "oltp_insert",
        &["--time=0", "--events=300", "--strict", "run"],
    ));
    assert!(!clean.all().contains("HINT"), "{clean:?}");
    let short = ["--rate=100", "--time=1", "--percentile=99.9", "run"];
    let said = dir.ok(&sysbench("oltp_insert", &short));
    assert!(!said.out.contains("HINT"), "{said:?}");
    let told: Vec<&str> = said
        .err
        .lines()
        .filter(|l| l.starts_with("HINT: "))
        .collect();
    let parts = [
        "--table-size=100, but table sbtest1 has 400 rows",
        "percentile 99.9: it has about 100 transactions, and the percentile needs 10000",
        "1 earlier run changed these tables",
    ];
    assert_eq!(told.len(), parts.len(), "{said:?}");
    for (line, part) in told.iter().zip(parts) {
        assert!(line.contains(part), "{line}");
    }

    let before = dir.last_record()["id"].clone();
    let strict = [&["--strict"], &short[..]].concat();
    let refused = dir.run(&sysbench("oltp_insert", &strict));
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(!refused.out.contains("Running the test"), "{refused:?}");
    assert!(
        refused.err.contains("--strict: nothing was started"),
        "{refused:?}"
    );
    assert!(
        refused.err.contains("2 earlier runs changed these tables"),
        "{refused:?}"
    );
    for part in &parts[1..2] {
        assert!(refused.err.contains(part), "{refused:?}");
    }
    assert_eq!(dir.last_record()["id"], before);
}

#[test]
fn runs_that_only_read_leave_nothing_to_tell() {
    let dir = Workdir::new();
    dir.ok(&sysbench("oltp_read_only", &["prepare"]));
    for _ in 0..2 {
        let words = ["--time=0", "--events=200", "--strict", "run"];
        let said = dir.ok(&sysbench("oltp_read_only", &words));
        assert!(!said.all().contains("HINT"), "{said:?}");
    }
}

#[test]
fn a_study_of_one_repeat_is_told_and_with_strict_does_not_begin() {
    let dir = Workdir::new();
    let study = |repeats: u32| {
        format!(
            "name = \"s\"\ntime = 1\nrepeats = {repeats}\n[[target]]\nname = \"t\"\n\
             url = \"sqlite:a.db\"\n[[workload]]\nname = \"oltp_read_only\"\n\
             options = {{ table-size = 100 }}\n"
        )
    };
    let write = |repeats| std::fs::write(dir.path().join("s.toml"), study(repeats)).unwrap();
    write(1);
    let refused = dir.run(&["study", "run", "s.toml", "--strict"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(
        refused.err.contains("the study has repeats = 1"),
        "{refused:?}"
    );
    assert!(!dir.path().join("a.db").exists());
    let said = dir.ok(&["study", "run", "s.toml"]);
    assert!(
        said.err.contains("HINT: the study has repeats = 1"),
        "{said:?}"
    );
    write(2);
    let said = dir.ok(&["study", "run", "s.toml", "--anew", "--strict"]);
    assert!(!said.all().contains("HINT"), "{said:?}");
}
