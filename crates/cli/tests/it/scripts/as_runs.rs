//! A script's runs are runs as any other: observed, told per transaction, compared, audited, reported.

use super::super::common::pauses;
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

#[test]
fn what_a_script_pauses_is_no_wait_for_the_clients_host() {
    let script = "local ffi = require('ffi')
ffi.cdef('int usleep(int);')
function thread_init() con = sysbench.sql.driver():connect() end
function event()
   ffi.C.usleep(10000)
   con:query('SELECT 1')
end
";
    for (target, database) in targets("pauses") {
        let dir = with_script("pauses.lua", script);
        let said = sysbench(
            &dir,
            &["pauses.lua", &target, "--threads=4", "--events=400", "run"],
        );
        let record = serde_json::from_value(dir.last_record()).unwrap();
        pauses::are_the_scripts_own(&record, &said, 4000.0);
        dir.ok(&["report", "last", "--out=page.md"]);
        let page = std::fs::read_to_string(dir.path().join("page.md")).unwrap();
        // An embedded database's transaction has these parts where it is slow enough to be diagnosed.
        let is_told = page.contains("pauses of the script");
        assert!(is_told || database.is_none(), "{target}: {page}");
    }
}
