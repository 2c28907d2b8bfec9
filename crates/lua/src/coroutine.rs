//! A coroutine of LuaJIT. What most scripts ask for, again and again, is read where Lua has it: a value
//! that passes through `mlua` is referred to, copied and counted first, which took more of a client's CPU
//! than Lua itself.

use crate::answer::{ScriptAnswer, ScriptRequest, number};
use crate::bind::BindValues;
use crate::loops;
use crate::result_set::KEPT_BYTES;
use crate::state::ScriptState;
use mlua::{Error, Function, IntoLuaMulti, Table, Thread, Value, ffi};
use std::ffi::c_int;

/// A coroutine that waits for a function, or for the answer to what its function asked for.
pub(crate) struct Coroutine {
    thread: Thread,
}

/// What comes with a request, in buffers that are used again.
#[derive(Default)]
pub(crate) struct Asked {
    /// The text of [`ScriptRequest::Query`].
    pub sql: String,
    /// The values of [`ScriptRequest::Execute`].
    pub values: BindValues,
}

impl Asked {
    /// A long text is not kept.
    fn keep_little(&mut self) {
        if self.sql.capacity() > KEPT_BYTES {
            self.sql = String::new();
        }
    }
}

impl Coroutine {
    /// One that waits for its first function.
    ///
    /// # Errors
    /// When Lua has no memory.
    pub fn new(state: &ScriptState, environment: &Table) -> mlua::Result<Self> {
        let thread = loops::untriggered(|| state.lua.create_thread(state.work.clone()))?;
        let made = Self { thread };
        let mut asked = Asked::default();
        made.resume_with(state, environment, &mut asked)?;
        Ok(made)
    }

    /// Calls a function with one argument.
    ///
    /// # Errors
    /// What nothing in the coroutine caught: it is at its end then.
    pub fn call(
        &self,
        state: &ScriptState,
        function: &Function,
        argument: Value,
        asked: &mut Asked,
    ) -> mlua::Result<ScriptRequest> {
        self.resume_with(state, (function, argument), asked)
    }

    /// Tells the function what it asked for.
    ///
    /// # Errors
    /// As [`Coroutine::call`].
    #[allow(unsafe_code)]
    pub fn tell(
        &self,
        state: &ScriptState,
        answer: ScriptAnswer,
        asked: &mut Asked,
    ) -> mlua::Result<ScriptRequest> {
        let thread = self.thread.state();
        let mut numbers = [0.0; 3];
        let told: &[f64] = match &answer {
            ScriptAnswer::Nothing => &[],
            ScriptAnswer::Number(number) => {
                numbers[0] = *number as f64;
                &numbers[..1]
            }
            ScriptAnswer::Rows(rows) if rows.shelf.is_none() => {
                numbers = [rows.rows as f64, rows.columns as f64, rows.number as f64];
                &numbers
            }
            _ => return self.resume_with(state, answer, asked),
        };
        // SAFETY: the coroutine waits, there is room, and these values take no memory.
        unsafe {
            has_room(thread, told.len() as c_int + 1)?;
            ffi::lua_pushboolean(thread, 1);
            for number in told {
                ffi::lua_pushnumber(thread, *number);
            }
        }
        self.resume(state, told.len() as c_int + 1, asked)
    }

    /// Goes on with any values.
    #[allow(unsafe_code)]
    fn resume_with(
        &self,
        state: &ScriptState,
        values: impl IntoLuaMulti,
        asked: &mut Asked,
    ) -> mlua::Result<ScriptRequest> {
        let thread = self.thread.state();
        let (mut count, mut room) = (0, Ok(()));
        // SAFETY: both stacks are of one Lua state, and there is room for what is moved.
        unsafe {
            state.lua.exec_raw::<()>(values, |own| {
                count = ffi::lua_gettop(own);
                room = has_room(thread, count);
                match room {
                    Ok(()) => ffi::lua_xmove(own, thread, count),
                    Err(_) => ffi::lua_settop(own, 0),
                }
            })?;
        }
        room?;
        self.resume(state, count, asked)
    }

    /// Lets the coroutine go on with the uppermost values of its stack until it asks for the next thing.
    #[allow(unsafe_code)]
    fn resume(
        &self,
        state: &ScriptState,
        values: c_int,
        asked: &mut Asked,
    ) -> mlua::Result<ScriptRequest> {
        let thread = self.thread.state();
        let mut count = 0;
        // SAFETY: the coroutine waits, and the values lie on its stack.
        let status = unsafe { ffi::lua_resume(thread, std::ptr::null_mut(), values, &mut count) };
        match status {
            ffi::LUA_YIELD => {}
            ffi::LUA_OK => return Err(Error::CoroutineUnresumable),
            // Its error is the uppermost value.
            _ => return Err(failure(status, self.taken(state, 1)?)),
        }
        match request(thread, count, asked) {
            Some(request) => {
                // SAFETY: what lies there was read.
                unsafe { ffi::lua_settop(thread, 0) };
                Ok(request)
            }
            None => self.taken(state, count),
        }
    }

    /// Takes the uppermost values of its stack.
    #[allow(unsafe_code)]
    fn taken<R: mlua::FromLuaMulti>(&self, state: &ScriptState, count: c_int) -> mlua::Result<R> {
        let thread = self.thread.state();
        // SAFETY: both stacks are of one Lua state, and `mlua` calls this in protected mode, where a lack
        // of room is an error of its own stack.
        unsafe {
            state.lua.exec_raw((), |own| {
                ffi::luaL_checkstack(own, count, std::ptr::null());
                ffi::lua_xmove(thread, own, count);
            })
        }
    }
}

/// Room on a coroutine's stack. That raises no error, which nothing would catch while it waits.
///
/// # Safety
/// The coroutine lives.
///
/// # Errors
/// [`Error::StackError`] when there is none.
#[allow(unsafe_code)]
unsafe fn has_room(thread: *mut ffi::lua_State, count: c_int) -> mlua::Result<()> {
    // SAFETY: as the caller's.
    match unsafe { ffi::lua_checkstack(thread, count) } {
        0 => Err(Error::StackError),
        _ => Ok(()),
    }
}

/// What a coroutine threw.
fn failure(status: c_int, thrown: Value) -> Error {
    match thrown {
        Value::Error(error) => *error,
        Value::String(text) if status == ffi::LUA_ERRMEM => {
            Error::MemoryError(text.to_string_lossy())
        }
        Value::String(text) => Error::RuntimeError(text.to_string_lossy()),
        other => Error::RuntimeError(format!("the script threw a {}", other.type_name())),
    }
}

/// A query, or the execution of a statement, with plain values: nothing is left to `mlua` that Lua would
/// have to make first, such as a text of a number.
fn request(thread: *mut ffi::lua_State, count: c_int, asked: &mut Asked) -> Option<ScriptRequest> {
    match place(thread, 1)? {
        number::QUERY if count == 3 => {
            let connection = place(thread, 2)?;
            let sql = std::str::from_utf8(text(thread, 3)?).ok()?;
            asked.keep_little();
            asked.sql.clear();
            asked.sql.push_str(sql);
            Some(ScriptRequest::Query(connection))
        }
        number::EXECUTE if count >= 3 => {
            let (connection, statement) = (place(thread, 2)?, place(thread, 3)?);
            asked.values.clear();
            for at in 4..=count {
                push(thread, at, &mut asked.values)?;
            }
            Some(ScriptRequest::Execute(connection, statement))
        }
        _ => None,
    }
}

/// A number that counts from zero.
#[allow(unsafe_code)]
fn place(thread: *mut ffi::lua_State, at: c_int) -> Option<usize> {
    // SAFETY: looking at a value of the coroutine's stack changes nothing, and one that is not there is none.
    let number = unsafe {
        (ffi::lua_type(thread, at) == ffi::LUA_TNUMBER).then(|| ffi::lua_tonumber(thread, at))?
    };
    (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)
}

/// A text, for as long as it lies on the stack.
#[allow(unsafe_code)]
fn text<'a>(thread: *mut ffi::lua_State, at: c_int) -> Option<&'a [u8]> {
    let mut length = 0;
    // SAFETY: a string on the stack is neither moved nor freed; of a string nothing has to be made.
    unsafe {
        if ffi::lua_type(thread, at) != ffi::LUA_TSTRING {
            return None;
        }
        let bytes = ffi::lua_tolstring(thread, at, &mut length);
        Some(std::slice::from_raw_parts(bytes.cast(), length))
    }
}

/// Reads a value of a parameter, if it is one.
#[allow(unsafe_code)]
fn push(thread: *mut ffi::lua_State, at: c_int, values: &mut BindValues) -> Option<()> {
    // SAFETY: looking at a value of the coroutine's stack changes nothing.
    match unsafe { ffi::lua_type(thread, at) } {
        ffi::LUA_TNIL => values.null(),
        // SAFETY: as above.
        ffi::LUA_TBOOLEAN => values.int(unsafe { ffi::lua_toboolean(thread, at) }.into()),
        // SAFETY: as above.
        ffi::LUA_TNUMBER => values.number(unsafe { ffi::lua_tonumber(thread, at) }),
        ffi::LUA_TSTRING => values.text(text(thread, at)?),
        _ => return None,
    }
    Some(())
}
