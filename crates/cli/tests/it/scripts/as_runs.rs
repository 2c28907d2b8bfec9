//! A script's runs are runs as any other: observed, told per transaction, compared, audited, reported.

use super::{BANK, sysbench, targets, with_script};

#[test]
fn a_scripts_runs_are_observed_compared_audited_and_reported() {
    for (target, database) in targets("as_runs") {
        let dir = with_script("bank.lua", BANK.trim_start());
        let args = ["bank.lua", &target, "--accounts=200", "--threads=1"];
        let with = |more: &[&str]| sysbench(&dir, &[&args[..], more].concat());
        with(&["prepare"]);
        let ids = ["before", "after"].map(|tag| {
            with(&["--time=3", "--tag", tag, "run"]);
            let record = dir.last_record();
            let all = record["observed"].as_array().unwrap().iter();
            let sampled = all.filter(|of| of["sampled"] == true);
            let sampled: Vec<&str> = sampled.map(|of| of["source"].as_str().unwrap()).collect();
            let sources = match &database {
                Some(_) => &[
                    "server-status",
                    "server-activity",
                    "server-process",
                    "network",
                ][..],
                None => &["server-status"],
            };
            for source in sources {
                assert!(sampled.contains(source), "{target}: {source}: {sampled:?}");
            }
            record["id"].as_str().unwrap().to_string()
        });
        let shown = dir.ok(&["show", "last"]).out;
        assert!(shown.contains("Per transaction"), "{target}: {shown}");
        let compared = dir.run(&["compare", "tag:before", "tag:after"]);
        assert_eq!(compared.code, Some(0), "{target}: {compared:?}");
        assert!(compared.out.contains("Throughput (tx/s)"), "{compared:?}");
        let audited = dir.ok(&["audit", &ids[0], &ids[1]]).out;
        assert!(audited.contains("too-short"), "{target}: {audited}");
        dir.ok(&["report", &ids[0], &ids[1], "--out=page.html"]);
        let page = std::fs::read_to_string(dir.path().join("page.html")).unwrap();
        assert!(page.contains("lua:bank"), "{target}");
        with(&["cleanup"]);
    }
}
