//! Users' own scripts, shared by clients that do not have their files.

use super::{Agents, Nats, sum};
use crate::common::Workdir;
use tidemark_testkit::{shared_mariadb, shared_postgres};

/// Its parts are tables; what each thread is, each event draws and each command does is in them.
const SHARED: &str = r#"
local names = require("lib.names")
sysbench.cmdline.options = {parts = {"Tables", 4}}
local parallel = sysbench.cmdline.PARALLEL_COMMAND
local function connect() return sysbench.sql.driver():connect() end
local function insert(number, n)
   connect():query("INSERT INTO " .. names.part .. number .. " (tid, n) VALUES (" .. sysbench.tid .. ", " .. n .. ")")
end
sysbench.cmdline.commands = {
   prepare = {function()
      local con = connect()
      for i = sysbench.tid + 1, sysbench.opt.parts, sysbench.opt.threads do
         con:query("CREATE TABLE " .. names.part .. i .. " (tid INTEGER, n INTEGER)")
         print("made " .. i)
      end
   end, parallel},
   once = {function() insert(3, 7) end},
   each = {function() insert(4, 7) end, parallel},
}
function thread_init()
   print("nobody reads it")
   local is_open = pcall(io.open, "/dev/null")
   con = connect()
   con:query("INSERT INTO part1 (tid, n) VALUES (" .. sysbench.tid .. ", " .. (is_open and 1 or 0) .. ")")
   assert(sysbench.opt.threads == 4)
end
function event()
   con:query(require("lib.text").of(sysbench.tid, sysbench.rand.unique(1, 1000000)))
end
"#;
const TEXT: &str = r#"
return {of = function(tid, n)
   return "INSERT INTO part2 (tid, n) VALUES (" .. tid .. ", " .. n .. ")"
end}
"#;

fn with_files() -> Workdir {
    let dir = Workdir::new();
    let folder = dir.path().join("lib");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("names.lua"), "return {part = 'part'}").unwrap();
    std::fs::write(folder.join("text.lua"), TEXT).unwrap();
    std::fs::write(dir.path().join("shared.lua"), SHARED).unwrap();
    dir
}

#[test]
fn clients_that_do_not_have_its_files_share_a_script() {
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let database = server.fresh_database("clients_script").unwrap();
        let (dir, elsewhere, nats) = (with_files(), Workdir::new(), Nats::start());
        let names = ["a", "b"];
        let _agents =
            Agents::start_with(&elsewhere, &nats, &names, &database, &["--scripts=queries"]);
        let (target, url) = (
            format!("--target={}", database.url()),
            format!("--nats={}", nats.url),
        );
        let script = |more: &[&str]| {
            let first = ["sysbench", "shared.lua", &target, "--clients=2", &url];
            dir.run(&[&first[..], &["--threads=4"], more].concat())
        };
        let ask = |sql: &str| database.query(sql).unwrap().trim().to_string();
        for command in ["prepare", "once", "each"] {
            let said = script(&[command]);
            assert_eq!(said.code, Some(0), "{command}: {said:?}");
            assert_eq!(
                said.out.contains("made 1"),
                command == "prepare",
                "{said:?}"
            );
        }
        assert_eq!(ask("SELECT COUNT(*) FROM part3"), "1");
        assert_eq!(ask("SELECT COUNT(DISTINCT tid) FROM part4"), "4");
        let said = script(&["--events=200", "--time=60", "run"]);
        assert!(said.is_done(), "{said:?}");
        // A thread of each number, and none of them opened a file.
        for (of, wanted) in [
            ("COUNT(*)", "4"),
            ("COUNT(DISTINCT tid)", "4"),
            ("MAX(n)", "0"),
        ] {
            assert_eq!(ask(&format!("SELECT {of} FROM part1")), wanted, "{of}");
        }
        assert_eq!(ask("SELECT COUNT(*) FROM part2"), "200");
        assert_eq!(ask("SELECT COUNT(DISTINCT n) FROM part2"), "200");
        let record = dir.last_record();
        assert_eq!(record["workload"], "lua:shared");
        assert_eq!(record["totals"]["all"]["count"], 200);
        assert_eq!(sum(&record, |c| c["sessions"].as_u64().unwrap()), 4);
        assert_eq!(sum(&record, |c| c["all"]["count"].as_u64().unwrap()), 200);
        // The record has the script's name, and not its files.
        let settings = &record["job"]["workload"]["settings"];
        assert_eq!(settings["script"], "shared.lua");
        assert_eq!(settings["script-files"], "");
        // Nobody has set them, and no report lists them.
        let options = record["options"].as_object().unwrap();
        assert!(options.contains_key("script") && !options.contains_key("script-files"));
        let refused = script(&["--lua-ffi=on", "--time=1", "run"]);
        assert_ne!(refused.code, Some(0));
        assert!(refused.all().contains("--scripts=any"), "{refused:?}");
    }
}

#[test]
fn an_agent_may_run_no_scripts_and_this_host_runs_all() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("clients_no_script")
        .unwrap();
    let (dir, nats) = (with_files(), Nats::start());
    let target = format!("--target={}", database.url());
    let url = format!("--nats={}", nats.url);
    let run = |more: &[&str]| {
        let first = ["sysbench", "shared.lua", &target, "--threads=4"];
        dir.run(&[&first[..], more].concat())
    };
    {
        let _agents = Agents::start(&dir, &nats, &["a"], &database);
        let refused = run(&["--clients=1", &url, "prepare"]);
        assert_ne!(refused.code, Some(0));
        assert!(refused.all().contains("--scripts=off"), "{refused:?}");
        // Its user reads it, too, once.
        let log = std::fs::read_to_string(dir.path().join("agent-a.log")).unwrap();
        let told = log.lines().filter(|line| line.contains(": refused: "));
        let told: Vec<_> = told.collect();
        assert!(
            matches!(told[..], [one] if one.contains("--scripts=off")),
            "{log}"
        );
    }
    // Clients of this host are this user's own.
    for words in [&["prepare"][..], &["--events=8", "--lua-ffi=on", "run"]] {
        let said = run(&[&["--clients=local:2"][..], words].concat());
        assert!(said.is_done(), "{said:?}");
    }
    let opened = database.query("SELECT MIN(n) FROM part1").unwrap();
    assert_eq!(opened.trim(), "1");
    // A script has a size that a message can have.
    let long = format!("{SHARED}\n-- {}", "x".repeat(600 << 10));
    std::fs::write(dir.path().join("shared.lua"), long).unwrap();
    let refused = run(&["--clients=local:2", "--events=8", "run"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("at most 512 KiB"), "{refused:?}");
}

#[test]
fn pgbench_numbers_its_clients_over_all_and_brings_its_scripts() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("clients_pgbench")
        .unwrap();
    let (dir, elsewhere, nats) = (Workdir::new(), Workdir::new(), Nats::start());
    let _agents = Agents::start(&elsewhere, &nats, &["a", "b"], &database);
    database
        .query("CREATE TABLE seen (client INTEGER)")
        .unwrap();
    let text = "INSERT INTO seen VALUES (:client_id);";
    std::fs::write(dir.path().join("own.sql"), text).unwrap();
    let (target, url) = (
        format!("--target={}", database.url()),
        format!("--nats={}", nats.url),
    );
    let clients = ["--clients=2", &url, "-c", "4", "-t", "5"];
    dir.ok(&[&["pgbench", &target, "-n", "-f", "own.sql"][..], &clients].concat());
    for (of, wanted) in [
        ("COUNT(*)", "20"),
        ("COUNT(DISTINCT client)", "4"),
        ("MAX(client)", "3"),
    ] {
        let found = database.query(&format!("SELECT {of} FROM seen")).unwrap();
        assert_eq!(found.trim(), wanted, "{of}");
    }
}
