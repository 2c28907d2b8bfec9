//! Users' own Lua scripts, on every engine.

use super::common::{Said, Workdir, signal};
use std::process::Command;
use std::time::{Duration, Instant};
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
        args("oltp_custom.lua", &["cleanup"]);
    }
}

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
}

#[test]
fn more_connections_than_one_and_lost_ones() {
    let script = "
        function thread_init()
           local drv = sysbench.sql.driver()
           a, b = drv:connect(), drv:connect()
           s = a:prepare('SELECT 1')
        end
        function event()
           a:query('SELECT 2') b:query('SELECT 3') s:execute()
           if reconnected then return end
           reconnected = true
           a:reconnect() b:reconnect()
        end
    ";
    for (target, _database) in targets("two") {
        let dir = with_script("two.lua", script);
        let said = sysbench(&dir, &["two.lua", &target, "--events=10", "run"]);
        assert_eq!(counts(&said), (30, 0, 0), "{target}");
    }
    // The server ends a session: the statement is prepared again on the next one.
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("lua_lost")
        .unwrap();
    let script = "
        function thread_init()
           con = sysbench.sql.driver():connect()
           stmt = con:prepare('SELECT 1')
        end
        local n = 0
        function sysbench.hooks.before_restart_event(err) print('restart', err.sql_errno) end
        function event()
           n = n + 1
           if n == 3 then
              local id = con:query_row('SELECT CONNECTION_ID()')
              sysbench.sql.driver():connect():query('KILL ' .. id)
           end
           stmt:execute()
        end
    ";
    let dir = with_script("lost.lua", script);
    let target = format!("--target={}", database.url());
    let said = sysbench(&dir, &["lost.lua", &target, "--events=10", "run"]);
    assert_eq!(number(&said, "transactions:"), 10, "{said:?}");
    assert_eq!(number(&said, "reconnects:"), 1, "{said:?}");
    assert!(said.out.contains("restart\t"), "{said:?}");
}

#[test]
fn errors_tell_file_line_and_what_is_missing() {
    let failing = |text: &str, more: &[&str]| {
        let dir = with_script("bad.lua", text);
        let args = ["sysbench", "bad.lua", "--target=sqlite:a.db", "--events=3"];
        let said = dir.run(&[&args[..], more].concat());
        assert_ne!(said.code, Some(0), "{said:?}");
        said.err
    };
    for (text, told) in [
        (
            "function event()\n  sysbench.rand.continent(1, 9)\nend",
            "`sysbench.rand.continent` is not in sysbench: bad.lua:2",
        ),
        (
            "function thread_init()\n  error('no luck')\nend\nfunction event() end",
            "bad.lua:2: no luck",
        ),
        (
            "function event()\n  sysbench.sql.driver():connect():query('SELECT x FROM nowhere')\nend",
            "bad.lua:2",
        ),
        ("function evnt() end", "has no event()"),
        ("x = = 1", "bad.lua:1:"),
    ] {
        let err = failing(text, &["run"]);
        assert!(err.contains(told), "{told}: {err}");
    }
    let err = failing("function event() end", &["--think-time=1s", "run"]);
    assert!(err.contains("--think-time"), "{err}");
    let err = failing("function event() end", &["nothing"]);
    assert!(
        err.contains("unknown command nothing; known: help, run"),
        "{err}"
    );
    let grows =
        "function event() t = t or {} for i = 1, 1e9 do t[#t + 1] = ('x'):rep(99) .. i end end";
    let err = failing(grows, &["--lua-memory=16M", "run"]);
    assert!(err.contains("--lua-memory"), "{err}");
}

#[test]
fn an_endless_loop_ends_with_ctrl_c() {
    for (name, text) in [
        (
            "event",
            "function event() print('in it') while true do end end",
        ),
        (
            "prepare",
            "function event() end function prepare() print('in it') while true do end end",
        ),
    ] {
        let dir = with_script("loop.lua", text);
        let command = if name == "event" { "run" } else { "prepare" };
        let args = [
            "sysbench",
            "loop.lua",
            "--target=sqlite:a.db",
            "--time=1",
            command,
        ];
        let mut child = dir.spawn(&args);
        let mut out = String::new();
        use std::io::Read;
        let mut from = child.stdout.take().unwrap();
        let mut byte = [0];
        while !out.contains("in it") {
            assert_eq!(from.read(&mut byte).unwrap(), 1, "{out}");
            out.push(byte[0] as char);
        }
        let asked = Instant::now();
        signal(child.id(), "INT");
        let output = child.wait_with_output().unwrap();
        let said = Said::of(&output);
        assert_ne!(said.code, Some(0), "{said:?}");
        assert!(!said.err.contains("forced exit"), "{said:?}");
        assert!(said.err.contains("loop.lua:1"), "{said:?}");
        assert!(asked.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn a_script_reads_no_password() {
    let script = "
        sysbench.cmdline.options = {}
        sysbench.cmdline.commands = {look = {function()
           for name, value in pairs(getmetatable(sysbench.opt).__index) do
              assert(not tostring(value):match('geheim'), name)
           end
           assert(os.getenv('MYSQL_PWD') == nil and os.getenv('HOME_OF_TEST') == 'here')
           local shell = io.popen('echo \"[$MYSQL_PWD$PGPASSWORD]\" \"$HOME_OF_TEST\"')
           print(shell:read('*a'))
        end}}
    ";
    let dir = with_script("look.lua", script);
    let mut command = dir.command(&[
        "sysbench",
        "look.lua",
        "--target=sqlite:a.db",
        "--db-driver=sqlite",
        "look",
    ]);
    command
        .env("MYSQL_PWD", "geheim")
        .env("PGPASSWORD", "geheim2")
        .env("HOME_OF_TEST", "here");
    let said = Said::of(&command.output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("[] here"), "{said:?}");
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

/// Statements of a database by the server's general log, digits left out, sorted.
fn logged(server: &tidemark_testkit::Server, run: impl FnOnce()) -> Vec<String> {
    server.query("SET GLOBAL log_output='TABLE'").unwrap();
    server.query("TRUNCATE mysql.general_log").unwrap();
    server.query("SET GLOBAL general_log=1").unwrap();
    run();
    server.query("SET GLOBAL general_log=0").unwrap();
    let asked = "SELECT REPLACE(CAST(argument AS CHAR), '\\n', ' ') FROM mysql.general_log \
                 WHERE command_type IN ('Query', 'Execute') AND argument LIKE '%sbtest%' \
                 OR command_type IN ('Query', 'Execute') AND argument IN ('BEGIN', 'COMMIT')";
    let text = server.query(asked).unwrap();
    let mut lines: Vec<String> = text.lines().map(normalised).collect();
    lines.sort();
    lines
}

/// A statement with `0` for each number, and one space for many.
fn normalised(statement: &str) -> String {
    let mut text = String::new();
    for c in statement.trim().chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        let c = if c.is_whitespace() { ' ' } else { c };
        if !(text.ends_with(c) && ['0', ' '].contains(&c)) {
            text.push(c);
        }
    }
    text
}

/// The scripts of sysbench's package, copied: where they are they stand for the built-in workloads. Not
/// `bulk_insert.lua`, whose events mostly send nothing, and what sends nothing is no transaction here.
#[test]
fn sysbenchs_own_scripts_send_the_same_statements() {
    let server = tidemark_testkit::Server::mariadb().unwrap();
    let database = server.fresh_database("lua_bundled").unwrap();
    let target = server.endpoint().target();
    let tidemark_core::Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let dir = Workdir::new();
    for entry in std::fs::read_dir("/usr/share/sysbench").expect("apt-get install sysbench") {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "lua") {
            std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let config = format!(
        "db-driver=mysql\nmysql-host={host}\nmysql-port={port}\nmysql-user={}\nmysql-password={}\nmysql-db={}\n",
        target.user,
        target.password.reveal(),
        database.name()
    );
    std::fs::write(dir.path().join("c.cfg"), config).unwrap();
    let both = |script: &str, more: &[&str]| {
        let shape = [
            "--config-file=c.cfg",
            "--tables=1",
            "--table-size=100",
            "--threads=1",
        ];
        let args = [&[script], &shape[..], more].concat();
        let mut said = Vec::new();
        let theirs = logged(&server, || {
            let mut real = Command::new("sysbench");
            let output = real.args(&args).current_dir(dir.path()).output().unwrap();
            let real = Said::of(&output);
            assert_eq!(real.code, Some(0), "{real:?}");
            said.push(real);
        });
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        (theirs, said.remove(0), args)
    };
    let ours = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut said = None;
        let log = logged(&server, || said = Some(sysbench(&dir, &args)));
        (log, said.unwrap())
    };
    for script in [
        "./oltp_read_only.lua",
        "./oltp_read_write.lua",
        "./oltp_write_only.lua",
        "./oltp_point_select.lua",
        "./oltp_update_index.lua",
        "./oltp_update_non_index.lua",
        "./oltp_delete.lua",
        "./oltp_insert.lua",
        "./select_random_points.lua",
        "./select_random_ranges.lua",
    ] {
        let (prepared, _, args) = both(script, &["prepare"]);
        drop_all(&database);
        let (log, _) = ours(&args);
        assert_eq!(log, prepared, "{script}: prepare");
        let run = ["--events=20", "--time=60", "--rand-type=uniform", "run"];
        let (theirs, real, args) = both(script, &run);
        drop_all(&database);
        let again: Vec<&str> = args[..4].iter().map(String::as_str).collect();
        sysbench(&dir, &[&again[..], &["--threads=1", "prepare"]].concat());
        let (log, said) = ours(&args);
        assert_eq!(log, theirs, "{script}");
        // DELETEs of the same key twice count as others.
        if script != "./oltp_delete.lua" {
            assert_eq!(counts(&said), counts(&real), "{script}");
        }
        assert_eq!(number(&said, "total:"), number(&real, "total:"), "{script}");
        let (theirs, _, args) = both(script, &["cleanup"]);
        let (log, _) = ours(&args);
        assert_eq!(log, theirs, "{script}: cleanup");
    }
}

fn drop_all(database: &Database) {
    let tables = database.query("SHOW TABLES").unwrap();
    for table in tables.lines() {
        database.query(&format!("DROP TABLE {table}")).unwrap();
    }
}
