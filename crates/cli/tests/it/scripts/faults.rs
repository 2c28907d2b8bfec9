//! Scripts that fail, lose connections, do not end, or ask for what they may not have.

use super::super::common::{Said, Workdir, signal};
use super::{counts, number, sysbench, targets, with_script};
use std::io::Read;
use std::time::{Duration, Instant};
use tidemark_testkit::shared_mariadb;

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

/// Starts a script that says when it is in its loop, interrupts it then, and tells how it ended.
fn interrupted(target: &str, text: &str, command: &str) -> (Workdir, Said) {
    let dir = with_script("loop.lua", text);
    let mut child = dir.spawn(&["sysbench", "loop.lua", target, "--time=1", command]);
    let mut out = String::new();
    let mut from = child.stdout.take().unwrap();
    let mut byte = [0];
    while !out.contains("in it") {
        assert_eq!(from.read(&mut byte).unwrap(), 1, "{out}");
        out.push(byte[0] as char);
    }
    let asked = Instant::now();
    signal(child.id(), "INT");
    from.read_to_string(&mut out).unwrap();
    let mut said = Said::of(&child.wait_with_output().unwrap());
    said.out = out;
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(!said.err.contains("forced exit"), "{said:?}");
    assert!(asked.elapsed() < Duration::from_secs(60));
    (dir, said)
}

#[test]
fn an_endless_loop_ends_with_ctrl_c_and_its_summary() {
    let loops = [
        "print('in it') while true do end",
        "print('in it') while true do pcall(function() while true do end end) end",
        "print('in it')
         while true do
            coroutine.resume(coroutine.create(function() while true do end end))
         end",
    ];
    for text in loops {
        let event = format!("function event() {text} end");
        let (dir, said) = interrupted("--target=sqlite:a.db", &event, "run");
        assert!(said.out.contains("SQL statistics:"), "{text}: {said:?}");
        assert_eq!(dir.last_record()["state"], "interrupted", "{text}");
    }
    let prepare = format!("function event() end function prepare() {} end", loops[0]);
    let (_, said) = interrupted("--target=sqlite:a.db", &prepare, "prepare");
    assert!(said.err.contains("loop.lua:1"), "{said:?}");
}

/// Statements whose replies come at once, on threads of their own, give nobody else a turn.
#[test]
fn a_loop_that_catches_everything_does_not_catch_ctrl_c() {
    let event = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
           print('in it')
           while true do pcall(function() con:query('SELECT 1') end) end
        end
    ";
    for (target, _database) in targets("caught") {
        let (dir, said) = interrupted(&target, event, "run");
        assert!(said.out.contains("SQL statistics:"), "{target}: {said:?}");
        assert_eq!(dir.last_record()["state"], "interrupted", "{target}");
    }
}

/// The same loop is cut off by the run's own limit.
#[test]
fn a_loop_that_catches_everything_is_cut_off_by_a_forced_shutdown() {
    let event = "
        function thread_init() con = sysbench.sql.driver():connect() end
        function event()
           while true do pcall(function() con:query('SELECT 1') end) end
        end
    ";
    let dir = with_script("loop.lua", event);
    let args = ["sysbench", "loop.lua", "--target=sqlite:a.db", "--time=1"];
    let said = dir.run(&[&args[..], &["--forced-shutdown=1", "run"]].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("were aborted"), "{said:?}");
}

#[test]
fn a_script_reads_no_password() {
    let script = r##"
        sysbench.cmdline.options = {}
        local function look_into(name, text)
           assert(not tostring(text):match('geheim'), name)
        end
        sysbench.cmdline.commands = {look = {function()
           for name, value in pairs(sysbench.opt) do look_into(name, value) end
           look_into('mysql_password', mysql_password)
           assert(os.getenv('MYSQL_PWD') == nil and os.getenv('HOME_OF_TEST') == 'here')
           -- The state's own globals, by what built-in functions have for theirs, and by metatables.
           for _, way in ipairs({require, tostring, dofile, pcall, 0, 1, 2, 3, 4}) do
              local ok, env = pcall(getfenv, way)
              if ok then look_into('getfenv', env.os.getenv('MYSQL_PWD')) end
           end
           local env = _G
           while getmetatable(env) do
              env = getmetatable(env).__index
              if env.os then look_into('metatable', env.os.getenv('MYSQL_PWD')) end
           end
           -- What the kernel shows of this process.
           local own = io.open('/proc/self/environ')
           look_into('environ', own:read('*a'))
           local shell = io.popen('cat /proc/$PPID/environ; echo "[$MYSQL_PWD$PGPASSWORD]" "$HOME_OF_TEST"')
           local said = shell:read('*a')
           look_into('parent', said)
           print((said:match('%[%].*')))
        end}}
    "##;
    let dir = with_script("look.lua", script);
    let mut command = dir.command(&[
        "sysbench",
        "look.lua",
        "--target=mysql://u:geheim3@127.0.0.1:1/db",
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

/// As sysbench counts them: beside the transactions, which end all the same.
#[test]
fn errors_that_a_script_counts_are_the_runs() {
    let text = r#"
local ffi = require("ffi")
ffi.cdef("void sb_counter_inc(int, int);")
local con
function thread_init()
   con = sysbench.sql.driver():connect()
end
function event()
   con:query("SELECT 1")
   ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
end
"#;
    let dir = with_script("counts.lua", text.trim_start());
    let words = [
        "counts.lua",
        "--target=sqlite:a.db",
        "--events=20",
        "--time=60",
    ];
    let said = sysbench(&dir, &[&words[..], &["run"]].concat());
    assert_eq!(number(&said, "transactions:"), 20, "{said:?}");
    assert_eq!(number(&said, "ignored errors:"), 20, "{said:?}");
    let record = dir.last_record();
    assert_eq!(record["totals"]["ignored_errors"], 20);
    assert_eq!(record["errors"][0]["code"], "script");
    assert_eq!(record["errors"][0]["count"], 20);
    let shown = dir.ok(&["show", "last"]).out;
    assert!(shown.contains("counted by the script"), "{shown}");
}
