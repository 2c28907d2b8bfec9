//! Reports of studies of which a part, or all, was not measured.

use super::common::Workdir;

/// Nothing listens at port 1.
const DEAD: &str =
    "[[target]]\nname = \"postgres\"\nurl = \"postgres://u:secret@127.0.0.1:1/db\"\n";
const LITE: &str = "[[target]]\nname = \"lite\"\nurl = \"sqlite:study.db\"\n";

fn reported(dir: &Workdir, targets: &str, lang: &str) -> String {
    let study = format!(
        "name = \"some\"\nrepeats = 2\ntime = 1\n{targets}\
         [[workload]]\nname = \"oltp_update_index\"\noptions = {{ table-size = 500 }}\n\
         [load]\nthreads = [1, 2]\n"
    );
    std::fs::write(dir.path().join("study.toml"), study).unwrap();
    let ran = dir.run(&["study", "run", "study.toml"]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let said = dir.ok(&["report", "some", "--lang", lang, "--out", "-"]);
    assert!(!said.out.contains("secret"), "{said:?}");
    said.out
}

#[test]
fn a_target_without_results_is_told() {
    let text = reported(&Workdir::new(), &format!("{LITE}{DEAD}"), "en");
    let said = "- PostgreSQL (target postgres) has no results: 5 of 5 steps failed or were \
                skipped: connect: can't connect to 127.0.0.1:1";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("target lite"), "{text}");
    let text = reported(&Workdir::new(), &format!("{LITE}{DEAD}"), "zh");
    let said = "- PostgreSQL（目标库 postgres）没有任何数据：5 个步骤中有 5 个失败或被跳过";
    assert!(text.contains(said), "{text}");
}

#[test]
fn a_study_without_results_says_that_nothing_was_measured() {
    let text = reported(&Workdir::new(), DEAD, "en");
    for part in [
        "**Nothing was measured: no run has a result.**",
        "Failed: load postgres/sbtest table-size=500: connect: can't connect to 127.0.0.1:1",
        "## Failed or skipped steps",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["0 runs", "-0 s", "Host | System", "## Findings", "All runs"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}
