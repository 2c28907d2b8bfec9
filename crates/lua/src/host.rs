//! The functions that the prelude calls.

use crate::program::{OptionSeen, Program};
use crate::random;
use crate::sources;
use mlua::{Function, Lua, Table, Value};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use tidemark_core::record::StatementCounts;
use tidemark_core::{Protocol, is_secret_variable};
use tidemark_workloads::random::Rng;

/// What host functions use of the script thread that runs; it is exchanged at each turn.
pub(crate) struct Context {
    pub rng: RefCell<Rng>,
    /// Errors that the script counts itself (`sb_counter_inc`).
    pub errors: Cell<u32>,
    /// Statements that it counts itself.
    pub statements: Cell<StatementCounts>,
    /// It was ended in a loop, because the user asked for an end.
    pub stopped: Cell<bool>,
}

impl Context {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: RefCell::new(Rng::of(&[seed])),
            errors: Cell::new(0),
            statements: Cell::new(StatementCounts::default()),
            stopped: Cell::new(false),
        }
    }
}

/// Modules that need no file.
const BUILT_IN: &[(&str, &str)] = &[
    ("oltp_common", include_str!("lua/oltp_common.lua")),
    ("common", include_str!("lua/common.lua")),
];
/// How their paths begin: no file has such a name.
const INSIDE: &str = "[sysbench] ";
/// Most levels of a stack that are looked through for the script's own.
const DEEPEST: usize = 200;

/// The script's line that runs, as `file.lua:12`.
pub(crate) fn place(lua: &Lua) -> String {
    let own = |debug: &mlua::debug::Debug<'_>| {
        let source = debug.source();
        let file = source.short_src?.into_owned();
        let is_own = !file.starts_with("[sysbench]") && !file.starts_with("[C]");
        let line = debug.current_line().filter(|_| is_own)?;
        Some(format!("{file}:{line}"))
    };
    for level in 0..DEEPEST {
        match lua.inspect_stack(level, own) {
            None => break,
            Some(Some(place)) => return place,
            Some(None) => {}
        }
    }
    "the script".into()
}

/// The table of functions and facts that the prelude takes.
///
/// # Errors
/// When Lua has no memory.
pub(crate) fn functions(
    lua: &Lua,
    program: &Arc<Program>,
    context: &Rc<Context>,
) -> mlua::Result<Table> {
    let host = lua.create_table()?;
    host.set("driver", program.driver())?;
    host.set("command", program.command.as_str())?;
    host.set("script", program.script_text())?;
    host.set("path", program.search_path())?;
    host.set("options", options(lua, program)?)?;
    let globals = lua.create_table()?;
    for (name, value) in &program.globals {
        globals.set(name.as_str(), value.as_str())?;
    }
    host.set("globals", globals)?;
    host.set("secrets", secret_variables().join(" "))?;
    host.set(
        "is_secret",
        lua.create_function(|_, name: String| Ok(is_secret_variable(&name)))?,
    )?;
    host.set("place", lua.create_function(|lua, ()| Ok(place(lua)))?)?;
    let ended = Rc::clone(context);
    host.set(
        "is_stopped",
        lua.create_function(move |_, ()| Ok(ended.stopped.get()))?,
    )?;
    let (aside, confined) = (program.origin.prints_aside, program.origin.is_confined);
    host.set("aside", aside)?;
    host.set("confined", confined)?;
    host.set(
        "print",
        lua.create_function(move |_, text: mlua::LuaString| {
            say(&text.as_bytes(), aside);
            Ok(())
        })?,
    )?;
    files(lua, &host, program)?;
    if program.ffi {
        host.set("ffi", lua.globals().get::<Value>("ffi")?)?;
    }
    let counted = Rc::clone(context);
    host.set(
        "count",
        lua.create_function(move |_, (counter, number): (u32, u32)| {
            count(&counted, counter, number);
            Ok(())
        })?,
    )?;
    random::functions(lua, &host, program, context)?;
    Ok(host)
}

/// Adds to one of sysbench's counters, by its number.
fn count(context: &Context, counter: u32, number: u32) {
    let mut statements = context.statements.get();
    match counter {
        0 => statements.other += u64::from(number),
        1 => statements.read += u64::from(number),
        2 => statements.write += u64::from(number),
        4 => context.errors.set(context.errors.get() + number),
        // An event is what ends; reconnects are counted where they are made.
        _ => {}
    }
    context.statements.set(statements);
}

fn options(lua: &Lua, program: &Program) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, value) in &program.options {
        let name = name.as_str();
        match value {
            OptionSeen::Bool(on) => table.set(name, *on)?,
            OptionSeen::Int(number) => table.set(name, *number)?,
            OptionSeen::Float(number) => table.set(name, *number)?,
            OptionSeen::Text(text) => table.set(name, text.as_str())?,
            OptionSeen::List(words) => table.set(
                name,
                lua.create_sequence_from(words.iter().map(String::as_str))?,
            )?,
        }
    }
    Ok(table)
}

/// Prints what a script says.
fn say(text: &[u8], aside: bool) {
    // A script has no other place to say that nobody reads.
    let _unread = if aside {
        std::io::stderr().write_all(text)
    } else {
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text);
        written.and_then(|()| out.flush())
    };
}

/// Finding and compiling the script's files.
fn files(lua: &Lua, host: &Table, program: &Arc<Program>) -> mlua::Result<()> {
    let own = Arc::clone(program);
    host.set(
        "exists",
        lua.create_function(move |_, path: String| {
            let is_there = own.origin.is_file(&path);
            Ok(is_there.then_some(path))
        })?,
    )?;
    host.set(
        "built_in",
        lua.create_function(|_, name: String| Ok(built_in(&name)))?,
    )?;
    let own = Arc::clone(program);
    host.set(
        "find",
        lua.create_function(move |_, path: String| {
            if own.origin.is_file(&path) {
                return Ok(Some(path));
            }
            let stem = Path::new(&path).file_stem().unwrap_or_default();
            Ok(built_in(&stem.to_string_lossy()))
        })?,
    )?;
    let compiled: RefCell<Vec<(String, Function)>> = RefCell::default();
    let own = Arc::clone(program);
    let compile = move |lua: &Lua, path: String| -> mlua::Result<Value> {
        let known = compiled.borrow().iter().find(|(p, _)| *p == path).cloned();
        if let Some((_, made)) = known {
            return Ok(Value::Function(made));
        }
        match self::compile(lua, &path, &own) {
            Ok(made) => {
                compiled.borrow_mut().push((path, made.clone()));
                Ok(Value::Function(made))
            }
            Err(message) => Ok(Value::String(lua.create_string(message)?)),
        }
    };
    host.set("compile", lua.create_function(compile)?)
}

/// The path that stands for a module without a file.
fn built_in(name: &str) -> Option<String> {
    let known = BUILT_IN.iter().any(|(module, _)| *module == name);
    known.then(|| format!("{INSIDE}{name}"))
}

/// A function that makes the file's function: each thread's has globals of its own, and all share the
/// code.
fn compile(lua: &Lua, path: &str, program: &Program) -> Result<Function, String> {
    let inside = path.strip_prefix(INSIDE).and_then(|name| {
        let mut all = BUILT_IN.iter();
        all.find(|(module, _)| *module == name)
            .map(|(_, text)| *text)
    });
    let (source, name) = match inside {
        Some(text) => (text.as_bytes().to_vec(), format!("={path}")),
        None => {
            let source = program.origin.read(path)?;
            sources::remember(path, &source);
            program.has_read(path);
            (source, format!("@{path}"))
        }
    };
    let source = without_interpreter(&source);
    let load = |text: &[u8]| {
        let chunk = lua.load(text.to_vec()).set_name(name.as_str());
        chunk.set_mode(mlua::chunk::ChunkMode::Text).into_function()
    };
    let said = |error: mlua::Error| match error {
        mlua::Error::SyntaxError { message, .. } => message,
        other => other.to_string(),
    };
    // By itself, so that an `end` too many is an error.
    load(source).map_err(said)?;
    // On the first line: lines keep their numbers.
    let wrapped = [b"return function(...) ", source, b"\nend"].concat();
    load(&wrapped).map_err(said)
}

/// Without a byte order mark, and without `#!…`, whose line stays.
fn without_interpreter(source: &[u8]) -> &[u8] {
    let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    match source.first() {
        Some(b'#') => {
            let end = source.iter().position(|b| *b == b'\n');
            &source[end.unwrap_or(source.len())..]
        }
        _ => source,
    }
}

/// The variables that programs started by a script don't get.
fn secret_variables() -> Vec<String> {
    let known = [Protocol::Mysql, Protocol::Postgres];
    let known = known.iter().filter_map(|p| p.password_variable());
    let is_plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let set = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> = known.map(String::from).chain(set).collect();
    names.retain(|name| is_secret_variable(name) && is_plain(name));
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_scripts_get_no_password() {
        assert!(secret_variables().contains(&"MYSQL_PWD".to_string()));
    }

    #[test]
    fn an_interpreters_line_keeps_its_place() {
        assert_eq!(without_interpreter(b"#!/usr/bin/sysbench\nx"), b"\nx");
        assert_eq!(without_interpreter(b"\xef\xbb\xbfx = 1"), b"x = 1");
        assert_eq!(without_interpreter(b"#!alone"), b"");
    }
}
