//! A Lua state, which the script threads of an executor share.

use crate::connection::SharedTexts;
use crate::host::{self, Context};
use crate::loops::LoopWatch;
use crate::program::Program;
use crate::task::{Failure, ScriptThread};
use mlua::state::{GcIncParams, GcMode};
use mlua::{Function, Lua, LuaOptions, StdLib, Table};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A state holds so many values for its host as a C function may have on its stack (LuaJIT's
/// `LUAI_MAXCSTACK`, 8,000): each thread a few, and the values of a statement in progress.
pub(crate) const MOST_TASKS: usize = 512;
/// Script threads that begin between two collections of garbage.
const COLLECT_EVERY: usize = 64;
/// From so many on a state's memory grows to one and a half times what is needed before garbage is
/// collected, and not to twice as much, as is Lua's way.
const MANY: usize = 256;
const PAUSE_OF_MANY: c_int = 150;

const SQL: &str = include_str!("lua/sql.lua");
const REPORTS: &str = include_str!("lua/reports.lua");
const FFI: &str = include_str!("lua/ffi.lua");
const LEGACY: &str = include_str!("lua/legacy.lua");
const PRELUDE: &str = include_str!("lua/prelude.lua");
const CONFINED: &str = include_str!("lua/confined.lua");
/// What messages have for these files, so that no place in them is told as the script's.
const NAME: &str = "=[sysbench]";

thread_local! {
    /// The states of this thread with their programs: sessions never move to another one.
    static STATES: RefCell<Vec<Rc<ScriptState>>> = const { RefCell::new(Vec::new()) };
}

/// A Lua state with what its script threads share.
pub(crate) struct ScriptState {
    /// Before `lua`, which it must not outlive.
    loops: LoopWatch,
    pub program: Arc<Program>,
    pub lua: Lua,
    /// What host functions use of the script thread that runs.
    pub context: Rc<Context>,
    pub environment: Function,
    pub work: Function,
    pub load: Function,
    pub texts: SharedTexts,
    /// Script threads that are not running, by number.
    tasks: RefCell<HashMap<usize, Box<ScriptThread>>>,
    /// How many there are, running or not.
    count: Cell<usize>,
}

impl ScriptState {
    /// A state of the program.
    ///
    /// # Errors
    /// When Lua has no memory.
    pub fn new(program: &Arc<Program>) -> Result<Self, Failure> {
        Self::made(program).map_err(|e| Failure::Script(e.to_string()))
    }

    fn made(program: &Arc<Program>) -> mlua::Result<Self> {
        // Its pcall is LuaJIT's own, because a query may be awaited under it.
        let options = LuaOptions::new();
        let is_confined = program.origin.is_confined;
        let lua = match program.ffi {
            true => with_ffi(options),
            false if is_confined => Lua::new_with(few_libraries(), options)?,
            false => Lua::new_with(StdLib::ALL_SAFE, options)?,
        };
        lua.set_memory_limit(program.memory)?;
        // Compiled loops never look for hooks: nothing would end one.
        lua.load("jit.off()").exec()?;
        if is_confined {
            lua.load(CONFINED).set_name(NAME).exec()?;
        }
        let number = program.states.fetch_add(1, Ordering::Relaxed);
        // No other client draws the same.
        let seed = program.first_seed + program.shard().global(number);
        let context = Rc::new(Context::new(seed));
        let loops = LoopWatch::new(&lua, &context)?;
        let host = host::functions(&lua, program, &context)?;
        lua.globals()
            .get::<Table>("math")?
            .get::<Function>("randomseed")?
            .call::<()>(seed as f64)?;
        let part = |text: &'static str| -> mlua::Result<Table> {
            lua.load(text).set_name(NAME).call(&host)
        };
        let (sql, reports, ffi) = (part(SQL)?, part(REPORTS)?, part(FFI)?);
        let legacy = lua.load(LEGACY).set_name(NAME).into_function()?;
        let prelude = lua.load(PRELUDE).set_name(NAME).into_function()?;
        let made: Table = prelude.call((&host, sql, reports, ffi, legacy))?;
        Ok(Self {
            program: Arc::clone(program),
            environment: made.get("environment")?,
            work: made.get("work")?,
            load: made.get("load")?,
            texts: SharedTexts::default(),
            context,
            loops,
            tasks: RefCell::default(),
            count: Cell::new(0),
            lua,
        })
    }

    /// A state of this thread with room for one more script thread.
    ///
    /// # Errors
    /// When Lua has no memory.
    pub fn with_room(program: &Arc<Program>) -> Result<Rc<Self>, Failure> {
        let found = STATES.with_borrow(|states| {
            let mut own = states.iter().filter(|s| s.program.id == program.id);
            own.find(|s| s.count.get() < MOST_TASKS).cloned()
        });
        if let Some(state) = found {
            return Ok(state);
        }
        let state = Rc::new(Self::new(program)?);
        STATES.with_borrow_mut(|states| states.push(Rc::clone(&state)));
        Ok(state)
    }

    /// Takes a script thread that does nothing, with its state.
    pub fn take(program: usize, number: usize) -> Option<(Rc<Self>, Box<ScriptThread>)> {
        STATES.with_borrow(|states| {
            let mut own = states.iter().filter(|s| s.program.id == program);
            own.find_map(|state| {
                let task = state.tasks.borrow_mut().remove(&number)?;
                Some((Rc::clone(state), task))
            })
        })
    }

    /// Counts a script thread that was made. What each left behind when it began is collected now and then:
    /// by itself Lua does so when its memory has doubled, and that would stay the process's.
    pub fn added(&self) {
        let count = self.count.get() + 1;
        self.count.set(count);
        if count.is_multiple_of(COLLECT_EVERY) {
            // Without memory for it the script's own next step says so.
            let _later = self.lua.gc_collect();
        }
        if count == MANY {
            let pause = GcIncParams::default().pause(PAUSE_OF_MANY);
            self.lua.gc_set_mode(GcMode::Incremental(pause));
        }
    }

    /// Keeps a script thread until it is taken.
    pub fn put(&self, task: Box<ScriptThread>) {
        self.tasks.borrow_mut().insert(task.number(), task);
    }

    /// Forgets a script thread that has ended; with the last one the state goes.
    pub fn ended(&self, task: Box<ScriptThread>) {
        drop(task);
        self.count.set(self.count.get().saturating_sub(1));
        if self.count.get() == 0 {
            let gone = STATES.with_borrow_mut(|states| {
                let at = states.iter().position(|s| std::ptr::eq(&**s, self))?;
                Some(states.swap_remove(at))
            });
            drop(gone);
        }
    }

    /// A script thread begins or goes on.
    pub fn resumed(&self) {
        self.loops.resumed();
        self.context.stopped.set(false);
    }
}

/// The libraries that do nothing beside computing; of `os` the clock is left (`lua/confined.lua`).
fn few_libraries() -> StdLib {
    StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::BIT | StdLib::JIT | StdLib::OS
}

/// With LuaJIT's ffi, which can do anything that C can.
#[allow(unsafe_code)]
fn with_ffi(options: LuaOptions) -> Lua {
    // SAFETY: the user asked for it by --lua-ffi=on: what the script then calls is the script's affair, as
    // it is under sysbench.
    unsafe { Lua::unsafe_new_with(StdLib::ALL, options) }
}
