//! Scripts that several clients share, and scripts that came from another host.

use super::{GENERAL, Place};
use crate::state::ScriptState;
use crate::{Commands, Origin, Program, Script, ScriptError, definition_of, script_at, script_of};
use std::sync::Arc;
use tidemark_core::{OptionValues, Shard};
use tidemark_workloads::random::RAND_OPTIONS;

/// Runs `check` of a script where only what came with it is.
fn elsewhere(place: Place, is_confined: bool) -> Result<(), ScriptError> {
    let (script, program) = program_elsewhere(place, is_confined)?;
    Commands::command(&program, &script, "check", 1)
}

fn program_elsewhere(
    place: Place,
    is_confined: bool,
) -> Result<(Arc<Script>, Arc<Program>), ScriptError> {
    let files = place.read().unwrap().files().unwrap();
    let path = place.path.clone();
    drop(place);
    assert!(!path.exists());
    let origin = Origin {
        files: Some(Arc::new(files)),
        is_confined,
        prints_aside: true,
    };
    let script = Script::read_from(&path, origin, &[], "check")?;
    let tables = script.tables().iter().copied();
    let options = OptionValues::defaults([RAND_OPTIONS, GENERAL].into_iter().chain(tables));
    let program = Arc::new(Program::of(&script, "check", &options));
    Ok((script, program))
}

#[test]
fn a_script_has_its_files_where_they_are_not() {
    let place = Place::new(
        "local lib = require('lib')
         sysbench.cmdline.commands = {check = {function()
           assert(lib.n == 1 and require(\"sub.part\").n == 2)
           assert(sysbench.opt.script_files == nil)
           print('aside')
           require('gone')
         end}}",
    );
    let folder = place.folder.path();
    std::fs::write(folder.join("lib.lua"), "return {n = 1}").unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/part.lua"), "return {n = 2}").unwrap();
    // No part of the script.
    std::fs::write(folder.join("other.lua"), "return {}").unwrap();
    assert_eq!(place.read().unwrap().files().unwrap().len(), 3);
    let error = elsewhere(place, false).unwrap_err().to_string();
    assert!(error.contains("require(\"gone\")"), "{error}");
    let alone = Place::new("function event() end");
    let origin = Origin {
        files: Some(Arc::default()),
        ..Origin::default()
    };
    let error = Script::read_from(&alone.path, origin, &[], "check").unwrap_err();
    assert!(error.to_string().contains("did not come with"), "{error}");
}

#[test]
fn scripts_of_one_name_are_told_apart_by_their_folders() {
    let places = ["", "-- another"].map(|text| Place::new(&format!("function event() end {text}")));
    let scripts = places.each_ref().map(|place| place.read().unwrap());
    assert_eq!(scripts[0].name(), scripts[1].name());
    let rows = scripts.each_ref().map(definition_of);
    for (place, row) in places.iter().zip(rows) {
        assert_eq!(script_of(row).unwrap().path(), place.path);
        assert_eq!(script_at(&place.path).unwrap().path(), place.path);
    }
    assert!(script_at(&places[0].folder.path().join("other.lua")).is_none());
}

/// Were they found all the same, there would be nothing in them.
#[test]
fn the_globals_behind_a_confined_script_have_no_more_than_it() {
    let place = Place::new("function event() end");
    let (_, program) = program_elsewhere(place, true).unwrap();
    let state = ScriptState::new(&program).unwrap();
    let looking = "
        assert(io == nil and package == nil and debug == nil)
        assert(os.execute == nil and os.getenv == nil and os.clock() >= 0)
        assert(dofile == nil and loadfile == nil and print == nil)
        assert(jit.on == nil and jit.os and newproxy == nil)
        assert(not load(string.dump(function() end)))";
    state.lua.load(looking).exec().unwrap();
}

#[test]
fn a_confined_script_reaches_nothing_of_its_host() {
    let place = Place::new(
        "sysbench.cmdline.commands = {check = {function()
           assert(os.time() > 0 and #os.date('%Y') == 4 and os.getenv('PATH') == nil)
           for _, name in ipairs({'open', 'popen', 'lines'}) do
             assert(not pcall(io[name], '/etc/passwd'), name)
           end
           assert(not pcall(os.execute, 'true') and not pcall(os.remove, 'none'))
           io.stdout:write('aside')
           -- The globals of sysbench's own functions are not to be found.
           assert(getfenv(require) == _G and getfenv(tostring) == _G)
           -- Programs are texts.
           assert(load('return 7')() == 7 and loadstring('return 8')() == 8)
           local code = string.dump(function() end)
           assert(not load(code) and not loadstring(code))
           assert(not load(function() local part = code code = nil return part end))
           require('ffi').C.usleep(1)
           io.open('/etc/passwd')
         end}}",
    );
    let error = elsewhere(place, true).unwrap_err().to_string();
    assert!(error.contains("--scripts=any"), "{error}");
    let free = Place::new(
        "sysbench.cmdline.commands = {check = {function()
           assert(io.open('/dev/null') and os.getenv('PATH'))
           -- What its host reads and writes there is not the script's.
           assert(io.stdout == io.stderr and io.output() == io.stderr)
           assert(io.read() == nil and io.stdin:read() == nil)
           assert(io.popen('read word || echo nothing'):read() == 'nothing')
         end}}",
    );
    elsewhere(free, false).unwrap();
}

#[test]
fn clients_share_threads_and_unique_numbers() {
    let place = Place::new(
        "local function connect() return sysbench.sql.driver():connect() end
         sysbench.cmdline.commands = {
           first = {function() connect():query('CREATE TABLE seen (tid INTEGER, n INTEGER)') end},
           check = {function()
             assert(sysbench.opt.threads == 4)
             local con = connect()
             for _ = 1, 5 do
               local n = sysbench.rand.unique(1, 20)
               con:query('INSERT INTO seen VALUES (' .. sysbench.tid .. ', ' .. n .. ')')
             end
           end, sysbench.cmdline.PARALLEL_COMMAND},
           last = {function()
             local con = connect()
             assert(con:query_row('SELECT COUNT(*) FROM seen WHERE tid BETWEEN 0 AND 3') == '20')
             assert(con:query_row('SELECT COUNT(DISTINCT tid) FROM seen') == '4')
             assert(con:query_row('SELECT COUNT(DISTINCT n) FROM seen') == '20')
           end}}",
    );
    let client = |command: &str, index: u32, of: u32| {
        let (script, program) = place.program(&[]).unwrap();
        program.deal(Shard { index, of });
        Commands::command(&program, &script, command, 4).unwrap();
    };
    // What one thread does is done once: the table is made by the first.
    for index in [0, 1] {
        client("first", index, 2);
    }
    for index in [0, 1] {
        client("check", index, 2);
    }
    // More clients than threads: some have none.
    client("check", 4, 5);
    client("last", 0, 1);
}

#[test]
fn what_init_draws_as_unique_no_event_draws() {
    let place = Place::new(
        "local function connect() return sysbench.sql.driver():connect() end
         sysbench.cmdline.commands = {
           check = {function()
             local con = connect()
             con:query('CREATE TABLE IF NOT EXISTS drawn (n INTEGER)')
             for _ = 1, 5 do
               con:query('INSERT INTO drawn VALUES (' .. sysbench.rand.unique(1, 10) .. ')')
             end
           end},
           last = {function()
             assert(connect():query_row('SELECT COUNT(DISTINCT n) FROM drawn') == '10')
           end}}",
    );
    let (script, own) = place.program(&[]).unwrap();
    own.draws_from_the_end();
    let (_, of_threads) = place.program(&[]).unwrap();
    for program in [&own, &of_threads] {
        Commands::command(program, &script, "check", 1).unwrap();
    }
    Commands::command(&own, &script, "last", 1).unwrap();
}
