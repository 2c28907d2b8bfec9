//! Users' own Lua scripts, on every engine.

mod as_runs;
mod faults;
mod sysbenchs_own;

use super::common::{Said, Workdir};
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Each engine's target; the databases last as long as their values.
fn targets(purpose: &str) -> Vec<(String, Option<Database>)> {
    let mut all = vec![("--target=sqlite:a.db".to_string(), None)];
    for server in [shared_mariadb().unwrap(), shared_postgres().unwrap()] {
        let name = format!(
            "lua_{purpose}_{}",
            server.engine().to_string().to_lowercase()
        );
        let database = server.fresh_database(&name).unwrap();
        all.push((format!("--target={}", database.url()), Some(database)));
    }
    all
}

fn with_script(name: &str, text: &str) -> Workdir {
    let dir = Workdir::new();
    std::fs::write(dir.path().join(name), text).unwrap();
    // An empty file is a database without tables.
    std::fs::write(dir.path().join("a.db"), "").unwrap();
    dir
}

fn sysbench(dir: &Workdir, args: &[&str]) -> Said {
    dir.ok(&[&["sysbench"], args].concat())
}

/// A number of sysbench's summary.
fn number(said: &Said, name: &str) -> u64 {
    let line = said.out.lines().find(|l| l.trim_start().starts_with(name));
    let line = line.unwrap_or_else(|| panic!("{name}: {said:?}"));
    let digits = line.split(':').nth(1).unwrap().split_whitespace().next();
    digits.unwrap().parse().unwrap()
}

/// Reads, writes and others of a transaction.
fn counts(said: &Said) -> (u64, u64, u64) {
    (
        number(said, "read:"),
        number(said, "write:"),
        number(said, "other:"),
    )
}

const BANK: &str = r#"
#!/usr/bin/env sysbench
-- A script in the style of sysbench 1.0.
if sysbench.cmdline.command == nil then
   error("Command is required")
end
sysbench.cmdline.options = {
   accounts = {"Accounts", 100},
   fee = {"Fee of a transfer", 0.5},
   audit = {"Write an audit row", true},
}
local function tables()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for i = sysbench.tid + 1, 2, sysbench.opt.threads do
      con:query("CREATE TABLE bank" .. i .. " (id INTEGER NOT NULL PRIMARY KEY, money INTEGER, note VARCHAR(40))")
      con:bulk_insert_init("INSERT INTO bank" .. i .. " (id, money, note) VALUES")
      for id = 1, sysbench.opt.accounts do
         con:bulk_insert_next(string.format("(%d, 1000, '%s')", id, sysbench.rand.string("@@@-###")))
      end
      con:bulk_insert_done()
   end
   con:disconnect()
end
sysbench.cmdline.commands = {
   prepare = {tables, sysbench.cmdline.PARALLEL_COMMAND},
   total = {function()
      local con = sysbench.sql.driver():connect()
      print("total " .. con:query_row("SELECT SUM(money) FROM bank1"))
   end},
}
function thread_init()
   assert(sysbench.opt.accounts == 200 and sysbench.opt.fee == 0.5 and sysbench.opt.audit == true)
   drv = sysbench.sql.driver()
   con = drv:connect()
   take = con:prepare("UPDATE bank1 SET money = money - 1 WHERE id = ?")
   from = take:bind_create(sysbench.sql.type.INT)
   take:bind_param(from)
   look = con:prepare("SELECT money, note FROM bank1 WHERE id = ? AND note <> ?")
   id, note = look:bind_create(sysbench.sql.type.INT), look:bind_create(sysbench.sql.type.VARCHAR, 40)
   look:bind_param(id, note)
end
function event(thread_id)
   assert(thread_id == sysbench.tid)
   con:query("BEGIN")
   from:set(sysbench.rand.default(1, sysbench.opt.accounts))
   take:execute()
   id:set(sysbench.rand.uniform(1, sysbench.opt.accounts))
   note:set("nothing")
   local rs = look:execute()
   assert(rs.nrows == 1 and rs.nfields == 2)
   local row = rs:fetch_row()
   assert(tonumber(row[1]) <= 1000 and row[2]:match("^%l%l%l%-%d%d%d"))
   con:query("UPDATE bank2 SET money = money + 1 WHERE id = " .. math.random(1, sysbench.opt.accounts))
   con:query("COMMIT")
end
function thread_done()
   con:disconnect()
end
function cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE bank1")
   con:query("DROP TABLE bank2")
end
"#;

#[test]
fn a_script_prepares_runs_and_cleans_up_on_every_engine() {
    for (target, database) in targets("bank") {
        let dir = with_script("bank.lua", BANK.trim_start());
        let with = |more: &[&str]| {
            let args = ["bank.lua", &target, "--accounts=200", "--threads=2"];
            sysbench(&dir, &[&args[..], more].concat())
        };
        with(&["prepare"]);
        // Two sessions of an embedded database wait for each other.
        let said = with(&[
            "--events=20",
            "--time=60",
            "--mysql-ignore-errors=all",
            "run",
        ]);
        assert_eq!(number(&said, "transactions:"), 20, "{target}");
        if number(&said, "ignored errors:") == 0 {
            assert_eq!(counts(&said), (20, 40, 40), "{target}");
        }
        let record = dir.last_record();
        assert_eq!(record["workload"], "lua:bank");
        assert_eq!(record["totals"]["all"]["count"], 20);
        let total = with(&["total"]);
        assert!(total.out.contains("total 199980"), "{total:?}");
        assert!(dir.ok(&["show", "last"]).out.contains("lua:bank"));
        let mut again = dir.command(&["exec", "--from", "last"]);
        if let Some(database) = &database {
            let password = database.endpoint().target().password.reveal();
            again.env("MYSQL_PWD", password).env("PGPASSWORD", password);
        }
        let again = Said::of(&again.output().unwrap());
        assert_eq!(again.code, Some(0), "{again:?}");
        assert_eq!(number(&again, "transactions:"), 20, "{target}");
        with(&["cleanup"]);
        if let Some(database) = &database {
            assert!(database.query("SELECT 1 FROM bank1").is_err());
        }
        let gone = dir.run(&["sysbench", "bank.lua", &target, "--accounts=200", "run"]);
        assert!(gone.err.contains("bank.lua:"), "{gone:?}");
        assert_ne!(gone.code, Some(0));
    }
}

#[test]
fn a_script_upon_oltp_common_runs_as_the_built_in_one() {
    let custom = "require('oltp_common')\n\
        function prepare_statements()\n\
           prepare_begin() prepare_commit() prepare_point_selects() prepare_simple_ranges()\n\
           prepare_sum_ranges() prepare_order_ranges() prepare_distinct_ranges()\n\
           prepare_index_updates() prepare_non_index_updates() prepare_delete_inserts()\n\
        end\n\
        function event()\n\
           begin() execute_point_selects() execute_simple_ranges() execute_sum_ranges()\n\
           execute_order_ranges() execute_distinct_ranges() execute_index_updates()\n\
           execute_non_index_updates() execute_delete_inserts() commit() check_reconnect()\n\
        end\n";
    for (target, _database) in targets("common") {
        let dir = with_script("oltp_custom.lua", custom);
        let args = |script: &str, more: &[&str]| {
            let shape = ["--tables=2", "--table-size=300"];
            sysbench(&dir, &[&[script, &target], &shape[..], more].concat())
        };
        args("oltp_custom.lua", &["--threads=2", "prepare"]);
        let run = ["--events=20", "--time=60", "run"];
        let (script, built_in) = (
            args("oltp_custom.lua", &[&["--reconnect=7"], &run[..]].concat()),
            args("oltp_read_write", &run),
        );
        assert_eq!(counts(&script), counts(&built_in), "{target}");
        assert_eq!(counts(&script), (280, 80, 40), "{target}");
        assert_eq!(number(&script, "reconnects:"), 2, "{target}");
        // A table of somebody else's that bears the name stays.
        args("oltp_custom.lua", &["cleanup"]);
        for (columns, column) in [
            ("mine INTEGER", "mine"),
            ("id VARCHAR(9), k INTEGER, c CHAR(120), pad CHAR(60)", "id"),
        ] {
            let foreign = FOREIGN.replace("COLUMNS", columns);
            let foreign = foreign.replace("COLUMN", column);
            std::fs::write(dir.path().join("foreign.lua"), foreign).unwrap();
            args("foreign.lua", &["prepare"]);
            let refused = dir.run(&["sysbench", "oltp_custom.lua", &target, "cleanup"]);
            assert!(!refused.is_done(), "{refused:?}");
            let said = format!(
                "table sbtest1 is not sysbench's and was not dropped: it has the columns {column} "
            );
            assert!(refused.err.contains(&said), "{refused:?}");
            let kept = args("foreign.lua", &["cleanup"]);
            assert!(kept.out.contains("mine 7"), "{kept:?}");
        }
    }
}

/// A table of a user's own with sysbench's name, whose cleanup prints what is in it.
const FOREIGN: &str = "local function connect() return sysbench.sql.driver():connect() end
function prepare()
   local con = connect()
   con:query('CREATE TABLE sbtest1 (COLUMNS)')
   con:query('INSERT INTO sbtest1 (COLUMN) VALUES (7)')
end
function cleanup()
   local con = connect()
   print('mine ' .. con:query_row('SELECT COLUMN FROM sbtest1'))
   con:query('DROP TABLE sbtest1')
end
function event() end
";

#[test]
fn an_old_script_runs_without_a_file_beside_it() {
    let old = "pathtest = string.match(test, '(.*/)') or ''\n\
        dofile(pathtest .. 'common.lua')\n\
        function thread_init(thread_id) set_vars() end\n\
        function event(thread_id)\n\
           db_query(begin_query)\n\
           local id = sb_rand(1, oltp_table_size)\n\
           local rs = db_query('SELECT c FROM sbtest1 WHERE id = ' .. id)\n\
           assert(#db_store_results(rs):fetch_row()[1] >= 119)\n\
           db_query('UPDATE sbtest1 SET k = k + 1 WHERE id = ' .. id)\n\
           db_query(commit_query)\n\
        end\n";
    for (target, _database) in targets("old") {
        let dir = with_script("old.lua", old);
        let with = |more: &[&str]| {
            let args = [
                "--test=./old.lua",
                &target,
                "--oltp-table-size=50",
                "--oltp_tables_count=1",
            ];
            sysbench(&dir, &[&args[..], more].concat())
        };
        with(&["prepare"]);
        let said = with(&["--num-threads=1", "--max-requests=10", "run"]);
        assert_eq!(counts(&said), (10, 10, 20), "{target}");
        with(&["cleanup"]);
    }
}

#[test]
fn a_script_without_declarations_runs_again_by_its_job() {
    let plain = "function thread_init() con = sysbench.sql.driver():connect() end\n\
        function event() con:query('SELECT 1') end\n";
    let dir = with_script("plain.lua", plain);
    for own in [&["--lua-ffi=on", "--rows=5"][..], &[]] {
        let first = [
            "plain.lua",
            "--target=sqlite:a.db",
            "--events=4",
            "--time=60",
        ];
        let with = |more: &[&str]| sysbench(&dir, &[&first[..], own, more].concat());
        with(&["run"]);
        let again = dir.ok(&["exec", "--from", "last"]);
        assert_eq!(number(&again, "transactions:"), 4, "{own:?}");
        let job = with(&["--print-job", "run"]).out;
        std::fs::write(dir.path().join("plain.json"), job).unwrap();
        let again = dir.ok(&["exec", "plain.json"]);
        assert_eq!(number(&again, "transactions:"), 4, "{own:?}");
    }
}

#[test]
fn hooks_replace_reports_and_sort_errors() {
    let script = "
        function init() print('init') end
        function done() print('done') end
        function sysbench.hooks.report_intermediate(stat)
           assert(stat.time_interval > 0 and stat.threads_running == 1 and stat.latency_pct > 0)
           sysbench.report_csv(stat)
        end
        function sysbench.hooks.report_cumulative(stat)
           print('mine', stat.events, stat.reads, stat.errors, stat.latency_max >= stat.latency_avg)
        end
        function sysbench.hooks.sql_error_ignorable(err)
           return err.sql_errmsg:match('nowhere') ~= nil
        end
        function sysbench.hooks.before_restart_event(err)
           restarts = (restarts or 0) + 1
           assert(err.query == 'SELECT * FROM nowhere' and err.connection == con)
        end
        function thread_init()
           con = sysbench.sql.driver():connect()
        end
        n = 0
        function event()
           n = n + 1
           if n % 5 == 0 then con:query('SELECT * FROM nowhere') end
           con:query('SELECT 1')
        end
        function thread_done() print('restarts ' .. restarts) end
    ";
    for (target, _database) in targets("hooks") {
        let dir = with_script("hooks.lua", script);
        let run = ["hooks.lua", &target, "--events=20", "--time=60", "run"];
        let said = sysbench(&dir, &run);
        // The fifth, tenth, fifteenth and twentieth of 24 fail.
        for part in [
            "init\n",
            "done\n",
            "mine\t20\t20\t4\ttrue\n",
            "restarts 4\n",
        ] {
            assert!(said.out.contains(part), "{target}: {part}: {said:?}");
        }
        assert!(!said.out.contains("SQL statistics"), "{said:?}");
        assert_eq!(dir.last_record()["totals"]["ignored_errors"], 4);
    }
    let dir = with_script(
        "hooks.lua",
        &script
            .replace("n % 5 == 0", "false")
            .replace(
                "con:query('SELECT 1')",
                "con:query('SELECT 1') require('ffi').C.usleep(1000)",
            )
            .replace(".. restarts", ""),
    );
    let said = sysbench(
        &dir,
        &[
            "hooks.lua",
            "--target=sqlite:a.db",
            "--time=2",
            "--report-interval=1",
            "run",
        ],
    );
    let lines = said.out.lines().filter(|l| l.starts_with("1,1,"));
    assert_eq!(lines.count(), 1, "{said:?}");
    // A checkpoint is reported by the hook, too, and the end by what came behind it.
    let words = [
        "hooks.lua",
        "--target=sqlite:a.db",
        "--time=2",
        "--report-checkpoints=1",
    ];
    let said = sysbench(&dir, &[&words[..], &["run"]].concat());
    assert!(
        said.out.contains("[ 1s ] Checkpoint report:\nmine\t"),
        "{said:?}"
    );
    let mine = said.out.lines().filter_map(|l| l.strip_prefix("mine\t"));
    let events: Vec<u64> = mine
        .map(|l| l.split('\t').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(events.len(), 2, "{said:?}");
    let all = dir.last_record()["totals"]["all"]["count"]
        .as_u64()
        .unwrap();
    assert_eq!(events.iter().sum::<u64>(), all, "{said:?}");
    assert!(events.iter().all(|n| *n < all), "{said:?}");
}

#[test]
fn help_lists_what_a_script_declares() {
    let dir = with_script("bank.lua", BANK.trim_start());
    let said = sysbench(&dir, &["./bank.lua", "help"]);
    for part in [
        "--accounts=N",
        "Accounts [100]",
        "--audit[=on|off]",
        "--lua-memory",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn a_study_runs_a_script() {
    let dir = with_script("bank.lua", BANK.trim_start());
    let study = "name = \"scripts\"\ntime = \"1s\"\nrepeats = 1\n[[target]]\nname = \"lite\"\n\
                 url = \"sqlite:study.db\"\n[[workload]]\nname = \"bank.lua\"\n\
                 options = { accounts = 200 }\n";
    std::fs::write(dir.path().join("scripts.toml"), study).unwrap();
    dir.ok(&["study", "run", "scripts.toml"]);
    let csv = dir.ok(&["report", "scripts", "--format=csv", "-o", "-"]);
    assert!(csv.out.contains("bank"), "{csv:?}");
}

#[test]
fn many_script_threads_share_an_executor() {
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("lua_many")
        .unwrap();
    let script = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
           assert(con:query_row('SELECT ' .. sysbench.tid) == tostring(sysbench.tid))
        end
    ";
    let dir = with_script("many.lua", script);
    let target = format!("--target={}", database.url());
    let run = [
        "many.lua",
        &target,
        "--threads=64",
        "--events=6400",
        "--rate=3000",
        "run",
    ];
    let said = sysbench(&dir, &run);
    assert_eq!(number(&said, "transactions:"), 6400, "{said:?}");
    let said = sysbench(
        &dir,
        &[
            "many.lua",
            &target,
            "--threads=64",
            "--executors=2",
            "--time=1",
            "run",
        ],
    );
    assert!(number(&said, "transactions:") >= 64, "{said:?}");
}
