//! Ends loops that wait for nothing, when the user asked for an end.
//!
//! Only a hook can end one, and a hook that is looked for at each instruction costs LuaJIT's interpreter as
//! much as the instructions. So a state has its hook, but no trigger for it, until the user asks: then a
//! thread of its own gives it one, as LuaJIT's own `lua` does from its signal handler.

use crate::host::{self, Context};
use mlua::{HookTriggers, Lua, VmState, ffi};
use std::cell::Cell;
use std::ffi::c_int;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The hook is called once in so many instructions.
const LOOK_EVERY: u32 = 100_000;
/// A function that runs for so many looks without waiting for anything is a loop: some 50 ms.
const LOOKS_OF_A_LOOP: u32 = 100;
/// A loop is ended so long after the user asked: by then the run knows, too.
const GRACE_OF_A_LOOP: Duration = Duration::from_millis(300);
/// The thread asks so often whether the user asked for an end.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// States whose loops can be ended, and whether the thread runs.
static WATCHED: Mutex<Watched> = Mutex::new(Watched {
    states: Vec::new(),
    has_thread: false,
});

struct Watched {
    states: Vec<Hooked>,
    has_thread: bool,
}

/// A Lua state with the function that `mlua` calls its hooks by.
#[derive(Clone, Copy)]
struct Hooked {
    state: *mut ffi::lua_State,
    hook: ffi::lua_Hook,
}

// SAFETY: only `lua_sethook` is called with it on another thread, which LuaJIT has for ending what runs
// (lj_record.c, LUAJIT_ENABLE_CHECKHOOK: "from a signal handler or another native thread").
#[allow(unsafe_code)]
unsafe impl Send for Hooked {}

/// A state whose loops can be ended, for as long as this lives: it goes before the state does.
pub(crate) struct LoopWatch {
    hooked: Option<Hooked>,
    /// Looks since a script thread was resumed.
    looks: Rc<Cell<u32>>,
}

impl LoopWatch {
    /// Watches a state from here on.
    ///
    /// # Errors
    /// When Lua has no memory, or the system no thread.
    pub fn new(lua: &Lua, context: &Rc<Context>) -> mlua::Result<Self> {
        let looks = Rc::new(Cell::new(0));
        let hook = |triggers: HookTriggers| {
            let (looks, stopping) = (Rc::clone(&looks), Rc::clone(context));
            lua.set_global_hook(triggers, move |lua, _| look(lua, &looks, &stopping))
        };
        hook(HookTriggers::new().every_nth_instruction(LOOK_EVERY))?;
        let hooked = hooked(lua)?;
        // Kept, and not called: each new coroutine has it like this.
        hook(HookTriggers::new())?;
        if let Some(hooked) = hooked {
            watch(hooked)?;
        }
        Ok(Self { hooked, looks })
    }

    /// A script thread begins or goes on.
    pub fn resumed(&self) {
        self.looks.set(0);
    }
}

impl Drop for LoopWatch {
    fn drop(&mut self) {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let own = self.hooked.map(|own| own.state);
        watched.states.retain(|other| Some(other.state) != own);
    }
}

/// Makes a coroutine, with which `mlua` sets the state's hook as it was given: without its trigger. Nobody gives
/// it one meanwhile.
pub(crate) fn untriggered<T>(make: impl FnOnce() -> T) -> T {
    let _watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    make()
}

/// Ends what runs, if it is a loop and the user asked for an end.
fn look(lua: &Lua, looks: &Cell<u32>, context: &Context) -> mlua::Result<VmState> {
    looks.set(looks.get() + 1);
    // Asked first, because time counts from when it was asked.
    let is_asked = crate::is_interrupted_for(GRACE_OF_A_LOOP);
    if looks.get() < LOOKS_OF_A_LOOP || !is_asked {
        return Ok(VmState::Continue);
    }
    let place = host::place(lua);
    context.stopped.set(true);
    Err(mlua::Error::runtime(format!(
        "interrupted in a loop that waits for nothing: {place}"
    )))
}

/// The state with the hook that it has.
#[allow(unsafe_code)]
fn hooked(lua: &Lua) -> mlua::Result<Option<Hooked>> {
    let mut found = None;
    // SAFETY: nothing is left on the stack.
    unsafe {
        lua.exec_raw::<()>((), |state| {
            found = ffi::lua_gethook(state).map(|hook| Hooked { state, hook });
        })?;
    }
    Ok(found)
}

fn watch(hooked: Hooked) -> mlua::Result<()> {
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if !watched.has_thread {
        let thread = std::thread::Builder::new().name("script-loops".into());
        thread
            .spawn(hook_when_asked)
            .map_err(mlua::Error::external)?;
        watched.has_thread = true;
    }
    watched.states.push(hooked);
    Ok(())
}

/// Gives the states' hooks their trigger, once the user has asked for an end; ends with the last state.
fn hook_when_asked() {
    loop {
        std::thread::sleep(ASK_EVERY);
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.states.is_empty() {
            watched.has_thread = false;
            return;
        }
        if crate::is_interrupted() {
            // Again each time: a coroutine that was made since took the trigger away.
            watched.states.iter().for_each(Hooked::trigger);
        }
    }
}

impl Hooked {
    #[allow(unsafe_code)]
    fn trigger(&self) {
        // SAFETY: the state lives: it is forgotten under the lock before it is closed. It is the hook that
        // `mlua` gave it.
        unsafe {
            if ffi::lua_gethookmask(self.state) & ffi::LUA_MASKCOUNT == 0 {
                ffi::lua_sethook(
                    self.state,
                    Some(self.hook),
                    ffi::LUA_MASKCOUNT,
                    LOOK_EVERY as c_int,
                );
            }
        }
    }
}
