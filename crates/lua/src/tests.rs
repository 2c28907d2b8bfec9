//! Scripts on an embedded database: what they see, and how they fail.

mod of_clients;

use crate::{Commands, Program, SCRIPT_OPTIONS, Script, ScriptError, definition_of};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tidemark_core::{OptionKind, OptionSpec, OptionValues, Source, Target, option};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_workloads::random::RAND_OPTIONS;

const GENERAL: &[OptionSpec] = &[
    option("threads", OptionKind::Int { min: 1, max: 99 }, "4", ""),
    option("sqlite-password", OptionKind::Password, "", ""),
];

/// A folder with a script and a database.
struct Place {
    folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.lua");
        std::fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    fn read(&self) -> Result<Arc<Script>, ScriptError> {
        Script::read(&self.path, &[], "check")
    }

    fn program(&self, given: &[(&str, &str)]) -> Result<(Arc<Script>, Arc<Program>), ScriptError> {
        let script = self.read()?;
        let tables = script.tables().iter().copied();
        let mut options = OptionValues::defaults(
            [RAND_OPTIONS, GENERAL, SCRIPT_OPTIONS]
                .into_iter()
                .chain(tables),
        );
        for (name, value) in given {
            options.set(name, value, Source::CommandLine).unwrap();
        }
        let program = Arc::new(Program::of(&script, "check", &options));
        let target = Target::sqlite(self.folder.path().join("a.db").display().to_string());
        program.connects_by(&Connector::new(target, ConnectOptions::default()).unwrap());
        Ok((script, program))
    }

    /// Runs `check`.
    fn check(&self, given: &[(&str, &str)]) -> Result<(), ScriptError> {
        let (script, program) = self.program(given)?;
        Commands::command(&program, &script, "check", 4)
    }
}

const CHECK: &str = "sysbench.cmdline.commands = {check = {function() check() end}}\n";

fn check(text: &str) -> Result<(), ScriptError> {
    Place::new(&format!("{CHECK}{text}")).check(&[])
}

/// What a script says that fails in `check`, without the folder; its first line is the second.
fn said(text: &str) -> String {
    let place = Place::new(&format!("{CHECK}{text}"));
    let error = place.check(&[]).unwrap_err().to_string();
    error.replace(&format!("{}/", place.folder.path().display()), "")
}

#[test]
fn values_are_as_luajit_has_them() {
    check(
        "function check()
           assert(tostring(34) == '34' and 'a' .. 10 / 2 == 'a5')
           assert(unpack({1, 2}) == 1 and bit.band(6, 3) == 2)
           assert(type(sysbench.tid) == 'number' and sysbench.opt.threads == 4)
           assert(sysbench.opt.sqlite_password == nil and sysbench.opt.nothing == nil)
           assert(sysbench.cmdline.command == 'check')
           assert(select('#', pcall(error)) == 2)
         end",
    )
    .unwrap();
}

#[test]
fn what_a_thread_sets_in_the_librarys_tables_is_its_own_and_listed() {
    check(
        "function check()
           local opt, seen, before = sysbench.opt, {}, {}
           for name, value in pairs(opt) do before[name] = value end
           assert(before.threads == 4)
           opt.own, opt.threads = 7, 5
           for name, value in pairs(opt) do seen[name] = (seen[name] or 0) + value_of(value) end
           assert(seen.own == 7 and seen.threads == 5, seen.threads)
           for name in pairs(before) do assert(seen[name], name) end
           local functions = 0
           for name, f in pairs(math) do functions = functions + (type(f) == 'function' and 1 or 0) end
           assert(functions > 20 and math.pi > 3)
           -- A table's own metatable, and none at all.
           local words = setmetatable({a = 1}, {__index = {b = 2}})
           for name in pairs(words) do assert(name == 'a') end
           for _, f in pairs({io.write, os.time, table.concat, bit.bor}) do assert(type(f) == 'function') end
           for name, value in pairs({}) do error(name) end
           local ok, why = pcall(pairs, nil)
           assert(not ok and why:find('table expected'), why)
         end
         function value_of(value) return type(value) == 'number' and value or 0 end",
    )
    .unwrap();
    assert_eq!(
        said("function check() for a in pairs(nil) do end end"),
        "s.lua:2: bad argument #1 to 'pairs' (table expected, got nil)"
    );
}

#[test]
fn declared_options_have_kinds_and_defaults() {
    let place = Place::new(
        "sysbench.cmdline.options = {
           rows = {'Rows', 100}, ratio = {'Ratio', 0.5}, on = {'Switch', true}, name = {'Name', 'x'},
           none = {'No default'}, listed = {'List', '', sysbench.cmdline.ARG_LIST},
           words = {'Words', {'p', 'q'}}, given = {'Given', 'a', sysbench.cmdline.ARG_LIST}}
         sysbench.cmdline.commands = {check = {function()
           local opt = sysbench.opt
           assert(opt.rows == 2048 and opt.ratio == 0.5 and opt.on == false and opt.name == 'x')
           assert(opt.none == nil)
           -- Lists are tables, as sysbench 1.0.20 was seen to give them.
           assert(type(opt.listed) == 'table' and #opt.listed == 0)
           assert(table.concat(opt.words, ' ') == 'p q' and table.concat(opt.given, ' ') == 'x y z')
         end}}",
    );
    let kinds: Vec<_> = place
        .read()
        .unwrap()
        .options()
        .iter()
        .map(|o| o.name)
        .collect();
    assert_eq!(
        kinds,
        [
            "given", "listed", "name", "none", "on", "ratio", "rows", "words"
        ]
    );
    let given = [("rows", "2K"), ("on", "off"), ("given", "x,y,z")];
    place.check(&given).unwrap();
}

#[test]
fn a_result_lasts_until_the_next_unless_it_is_being_read() {
    check(
        "function check()
           local con = sysbench.sql.driver():connect()
           local three = 'SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3'
           -- One that is being read stays, and so do those inside.
           local sum = 0
           local outer = con:query(three)
           for i = 1, outer.nrows do
             local n = tonumber(outer:fetch_row()[1])
             local inner = con:query(three)
             for j = 1, inner.nrows do sum = sum + n * tonumber(inner:fetch_row()[1]) end
             assert(con:query_row('SELECT 4') == '4')
           end
           assert(sum == 36)
           -- A statement without rows replaces nothing.
           local kept = con:query(three)
           con:query('CREATE TABLE t (id INTEGER PRIMARY KEY)')
           assert(kept:fetch_row()[1] == '1')
           kept:free()
           assert(kept.nrows == 0 and kept:fetch_row() == nil)
           -- One that was never read is replaced.
           local first = con:query(three)
           local second = con:query('SELECT 7')
           assert(first.nrows == 3)
           local ok, message = pcall(first.fetch_row, first)
           assert(not ok and tostring(message):find('replaced this result'))
           assert(second:fetch_row()[1] == '7' and second:fetch_row() == nil)
           -- One without rows has none left, whatever came behind it; what returns no rows is nil.
           local none = con:query('SELECT 1 WHERE 1 = 2')
           con:query('SELECT 7')
           assert(none.nrows == 0 and type(none:fetch_row()) == 'nil')
           assert(tostring(con:query('CREATE TABLE u (id INTEGER)')) == 'nil')
           -- Through an object of the script's that stands for the connection.
           local through = setmetatable({}, {__index = con})
           assert(through:query('SELECT 8'):fetch_row()[1] == '8')
           -- The same of prepared statements.
           local stmt = con:prepare('SELECT 5 UNION ALL SELECT 6')
           local third, fourth = stmt:execute(), stmt:execute()
           ok, message = pcall(third.fetch_row, third)
           assert(not ok and tostring(message):find('replaced this result'))
           assert(fourth:fetch_row()[1] == '5')
           assert(stmt:execute():fetch_row()[1] == '5')
           assert(fourth:fetch_row()[1] == '6' and fourth:fetch_row() == nil)
         end",
    )
    .unwrap();
}

#[test]
fn queries_statements_and_bulk_inserts_reach_the_database() {
    check(
        "function check()
           local drv = sysbench.sql.driver()
           assert(drv:name() == 'sqlite')
           local con = drv:connect()
           con:query('CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT)')
           con:bulk_insert_init('INSERT INTO t VALUES')
           for i = 1, 1000 do con:bulk_insert_next('(' .. i .. ', \\'' .. ('x'):rep(2000) .. '\\')') end
           con:bulk_insert_done()
           local rs = con:query('SELECT id, NULL FROM t ORDER BY id')
           assert(rs.nrows == 1000 and rs.nfields == 2)
           local row = rs:fetch_row()
           assert(row[1] == '1' and row[2] == nil)
           local n = 1
           while rs:fetch_row() do n = n + 1 end
           assert(n == 1000)
           local stmt = con:prepare('UPDATE t SET c = ? WHERE id BETWEEN ? AND ?')
           local c = stmt:bind_create(sysbench.sql.type.VARCHAR, 10)
           local a, b = stmt:bind_create(sysbench.sql.type.INT), stmt:bind_create(sysbench.sql.type.INT)
           assert(c.max_len == 10 and c.type == sysbench.sql.type.VARCHAR and a.max_len == nil)
           local bound, why = pcall(stmt.bind_param, stmt, c, 5)
           assert(not bound and why:match('parameter 2 must be of bind_create%(%), not a number'), why)
           stmt:bind_param(c, a, b)
           c:set('y') a:set(1) b:set('3')
           stmt:execute()
           assert(con:query_row('SELECT COUNT(*) FROM t WHERE c = \\'y\\'') == '3')
           c:set(nil)
           stmt:execute()
           assert(con:query_row('SELECT COUNT(*) FROM t WHERE c IS NULL') == '3')
           con:reconnect()
           stmt:execute()
           con:disconnect()
           assert(not pcall(con.query, con, 'SELECT 1'))
           local done, closed = pcall(stmt.execute, stmt)
           assert(not done and closed:match('the connection is closed'), closed)
           local ok, err = pcall(function() drv:connect():query('SELECT x FROM nowhere') end)
           assert(not ok and err.sql_errmsg:match('nowhere') and err.query == 'SELECT x FROM nowhere')
           assert(con:bulk_insert_init('x') == nil)
         end",
    )
    .unwrap();
}

#[test]
fn threads_have_globals_of_their_own_and_share_the_work() {
    let place = Place::new(
        "count = 0
         function string.twice(s) return s .. s end
         math.own = 0
         sysbench.cmdline.commands = {
           check = {function()
             count, math.own = count + 1, math.own + 1
             assert(count == 1 and math.own == 1 and ('a'):twice() == 'aa')
             assert(loadstring('return count')() == 1 and _G.count == 1 and getfenv(0) == _G)
             local con = sysbench.sql.driver():connect()
             con:query('CREATE TABLE t' .. sysbench.tid .. ' (id INTEGER)')
           end, sysbench.cmdline.PARALLEL_COMMAND},
           after = {function()
             local con = sysbench.sql.driver():connect()
             assert(con:query_row('SELECT COUNT(*) FROM sqlite_master') == '4')
           end}}",
    );
    let (script, program) = place.program(&[]).unwrap();
    assert_eq!(
        (script.command("check"), script.command("after")),
        (Some(true), Some(false))
    );
    Commands::command(&program, &script, "check", 4).unwrap();
    Commands::command(&program, &script, "after", 4).unwrap();
    let error = Commands::command(&program, &script, "chek", 4).unwrap_err();
    assert!(error.to_string().contains("check"), "{error}");
}

#[test]
fn draws_keep_to_their_ranges() {
    check(
        "function check()
           for _, name in ipairs({'default', 'uniform', 'gaussian', 'special', 'pareto', 'zipfian'}) do
             for _ = 1, 200 do
               local n = sysbench.rand[name](5, 9)
               assert(n >= 5 and n <= 9 and n % 1 == 0, name)
             end
           end
           local seen = {}
           for _ = 1, 100 do
             local n = sysbench.rand.unique(1, 100)
             assert(n >= 1 and n <= 100 and not seen[n])
             seen[n] = true
           end
           assert(sysbench.rand.string('##-@@'):match('^%d%d%-%l%l$'))
           local n = #sysbench.rand.varstring(3, 7)
           assert(n >= 3 and n <= 7)
           local u = sysbench.rand.uniform_double()
           assert(u >= 0 and u < 1)
           local h = sysbench.histogram.new(1024, 0.001, 100000)
           for i = 1, 100 do h:update(i) end
           local p = h:get_pct_cumulative(50)
           assert(p > 48 and p < 52, p)
         end",
    )
    .unwrap();
}

#[test]
fn the_old_interface_works_without_declarations() {
    let place = Place::new(
        "pathtest = string.match(test, '(.*/)') or ''
         dofile(pathtest .. 'common.lua')
         function check2()
           assert(db_query('SELECT COUNT(*) FROM sbtest2'):fetch_row()[1] == '20')
           assert(sb_rand_uniform(1, oltp_table_size) <= 20 and #sb_rand_str('###') == 3)
         end
         sysbench.cmdline.commands = {check = {function() prepare() check2() cleanup() end}}",
    );
    let given = [
        ("oltp-tables-count".to_string(), "2".to_string()),
        ("oltp-table-size".to_string(), "20".to_string()),
    ];
    let script = Script::read(&place.path, &given, "check").unwrap();
    assert!(script.is_legacy() && script.command("prepare").is_some());
    let tables = script.tables().iter().copied();
    let mut options = OptionValues::defaults([RAND_OPTIONS, GENERAL].into_iter().chain(tables));
    for (name, value) in &given {
        options.set(name, value, Source::CommandLine).unwrap();
    }
    let program = Arc::new(Program::of(&script, "check", &options));
    let target = Target::sqlite(place.folder.path().join("a.db").display().to_string());
    program.connects_by(&Connector::new(target, ConnectOptions::default()).unwrap());
    Commands::command(&program, &script, "check", 1).unwrap();
}

#[test]
fn without_declarations_our_own_options_keep_their_kinds() {
    let place = Place::new("function event() end");
    let given = [("lua-ffi", "false"), ("lua_ffi", "on"), ("rows", "5")];
    let given = given.map(|(name, value)| (name.to_string(), value.to_string()));
    let script = Script::read(&place.path, &given, "run").unwrap();
    let names: Vec<_> = script.options().iter().map(|o| o.name).collect();
    assert_eq!(names, ["rows"]);
}

#[test]
fn modules_are_found_beside_the_script_and_in_folders() {
    let place = Place::new(
        "local a, b = require('lib'), require('sub.part')
         assert(require('lib') == a and a.n == 1 and b == true and from_part == 7)
         require('oltp_common')
         assert(sysbench.cmdline.options.tables and execute_point_selects)
         function check() end
         sysbench.cmdline.commands.check = {check}",
    );
    let folder = place.folder.path();
    std::fs::write(folder.join("lib.lua"), "n = (n or 0) + 1\nreturn {n = n}").unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/part.lua"), "from_part = 7").unwrap();
    place.check(&[]).unwrap();
}

#[test]
fn failures_name_what_is_missing_file_and_line() {
    for (text, told) in [
        (
            "function check()\n sysbench.rand.continent(1)\nend",
            "`sysbench.rand.continent` is not in sysbench: s.lua:3",
        ),
        (
            "function check()\n db_magic()\nend",
            "`db_magic` is neither in the script nor in sysbench: s.lua:3",
        ),
        (
            "function check()\n sysbench.rand.uniform(5, 1)\nend",
            "sysbench.rand.uniform(5, 1): must be two numbers, the smaller first: s.lua:3",
        ),
        ("function check()\n require('gone')\nend", "s.lua:3"),
        (
            "local ffi = require('ffi')\nfunction check()\n ffi.new('int')\nend",
            "ffi.new needs --lua-ffi=on: s.lua:4",
        ),
        (
            "function check()\n os.exit(1)\nend",
            "os.exit(1) was called: s.lua:3",
        ),
        (
            "function check()\n sysbench.sql.driver('mysql')\nend",
            "sysbench.sql.driver(mysql): the target's driver is sqlite: s.lua:3",
        ),
    ] {
        let error = said(text);
        assert!(error.ends_with(told), "{told}: {error}");
    }
    let error = check("function check()\n local x = {}\n x.y.z = 1\nend").unwrap_err();
    assert!(error.to_string().contains("s.lua:4:"), "{error}");
    let error = Place::new("x = = 1").read().unwrap_err();
    assert!(error.to_string().contains("s.lua:1:"), "{error}");
    let error = Place::new("\n\nend").read().unwrap_err();
    assert!(error.to_string().contains("s.lua:3:"), "{error}");
    let error = Place::new("sysbench.sql.driver():connect()")
        .read()
        .unwrap_err();
    assert!(
        error.to_string().contains("connect in a function"),
        "{error}"
    );
}

#[test]
fn memory_is_bounded() {
    let place = Place::new(
        "sysbench.cmdline.commands = {check = {function()
           local kept = {}
           for i = 1, 1e9 do kept[i] = ('x'):rep(1000) .. i end
         end}}",
    );
    let error = place.check(&[("lua-memory", "20M")]).unwrap_err();
    assert!(error.to_string().contains("--lua-memory"), "{error}");
    let whole = Place::new(
        "sysbench.cmdline.commands = {check = {function() return ('x'):rep(2^31 - 100) end}}",
    );
    assert!(whole.check(&[("lua-memory", "20M")]).is_err());
}

#[test]
fn what_sysbench_itself_offers_to_ffi_needs_no_ffi() {
    check(
        "local ffi = require('ffi')
         ffi.cdef('void sb_counter_inc(int, int); int usleep(int);')
         function check()
           ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
           ffi.C.usleep(1000)
           assert(not pcall(function() return ffi.C.getpid end))
         end",
    )
    .unwrap();
    let place = Place::new(
        "local ffi = require('ffi')
         ffi.cdef('int getpid(void);')
         sysbench.cmdline.commands = {check = {function() assert(ffi.C.getpid() > 1) end}}",
    );
    place.check(&[("lua-ffi", "on")]).unwrap();
    assert!(place.check(&[]).is_err());
}

#[test]
fn a_script_is_a_row_of_the_registry() {
    let place = Place::new("sysbench.cmdline.options = {rows = {'Rows', 5}}\nfunction event() end");
    let script = place.read().unwrap();
    let definition = definition_of(&script);
    assert_eq!((definition.name, definition.family), ("lua:s", "scripts"));
    let mut options = definition.defaults();
    let path = place.path.display().to_string();
    options.set("script", &path, Source::CommandLine).unwrap();
    let workload = (definition.build)(&options).unwrap();
    assert_eq!(workload.name(), "lua:s");
    assert_eq!(workload.transaction_types(), ["lua:s"]);
}
