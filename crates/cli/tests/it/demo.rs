//! The README's first command, and what it leaves.

use super::common::Workdir;

#[test]
fn the_demo_leaves_a_record_and_reports_and_can_be_run_again() {
    let dir = Workdir::new();
    for _ in 0..2 {
        let said = dir.ok(&["demo", "--rows=2000", "--time=2"]);
        for part in [
            "Verified 'sbtest1': 2000 rows, keys 1 to 2000",
            "[ 1s ]",
            "SQL statistics:",
            "Checked after the run: sbtest1 has 2000 rows, as before.",
            "report.html",
            "record.json",
            "summary.txt",
        ] {
            assert!(said.out.contains(part), "{part:?} is not in {said:?}");
        }
        let out = dir.path().join("tidemark-out");
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert!(page.contains("<svg") && page.contains("oltp_read_write"));
        assert!(
            !page.contains("http://") || !page.contains("src=\"http"),
            "the page needs no network"
        );
        assert!(std::fs::metadata(out.join("summary.txt")).unwrap().len() > 100);
        let record: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(out.join("record.json")).unwrap())
                .unwrap();
        assert_eq!(record["state"], "finished");
        assert_eq!(record["schema_version"], 5);
        assert_eq!(record["latency_end"], "session");
        assert!(record["client"]["cores"].as_u64().unwrap() > 0);
        assert!(record["settings"].as_array().unwrap().len() > 1);
        assert_eq!(record["tables_before"][0]["rows"], 2000);
        assert_eq!(record["options"]["table-size"]["source"], "command-line");
        assert_eq!(record["options"]["range-size"]["value"], "100");
    }
    let runs = dir.ok(&["runs"]);
    assert_eq!(runs.out.lines().count(), 3, "{runs:?}");
    let shown = dir.ok(&["show", "last"]);
    assert!(shown.out.contains("oltp_read_write"), "{shown:?}");
    dir.ok(&["report", "last", "--out", "again.html", "--lang", "zh"]);
    dir.ok(&["report", "tidemark-out/record.json", "--out", "again.md"]);
    assert!(
        std::fs::read_to_string(dir.path().join("again.html"))
            .unwrap()
            .contains("lang=\"zh")
    );
    let id = dir.last_record()["id"].as_str().unwrap().to_string();
    dir.ok(&["delete", &id, "--yes"]);
    assert_eq!(dir.ok(&["runs"]).out.lines().count(), 2);
}
