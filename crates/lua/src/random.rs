//! `sysbench.rand`: the distributions that the built-in workloads draw from.

use crate::host::{Context, place};
use crate::program::Program;
use mlua::{Function, Lua, Table, Value, ffi};
use std::cell::Cell;
use std::ffi::c_int;
use std::rc::Rc;
use std::sync::Arc;
use tidemark_core::fnv1a;
use tidemark_workloads::random::{Distribution, Permutation, RandOptions, Rng};

/// Longest text that is drawn.
const LONGEST: usize = 1 << 24;

/// Adds them to the host's table, each as `rand_NAME`.
///
/// # Errors
/// When Lua has no memory.
pub(crate) fn functions(
    lua: &Lua,
    host: &Table,
    program: &Arc<Program>,
    context: &Rc<Context>,
) -> mlua::Result<()> {
    let kinds: [(&str, Over); 6] = [
        ("rand_default", RandOptions::over),
        ("rand_uniform", |_, a, b| Distribution::uniform(a, b)),
        ("rand_gaussian", |r, a, b| r.named("gaussian").over(a, b)),
        ("rand_special", |r, a, b| r.named("special").over(a, b)),
        ("rand_pareto", |r, a, b| r.named("pareto").over(a, b)),
        ("rand_zipfian", |r, a, b| r.named("zipfian").over(a, b)),
    ];
    for (name, over) in kinds {
        let draws = Draws {
            context: Rc::clone(context),
            options: program.rand,
            over,
            last: Cell::new(None),
        };
        host.set(name, draws.function(lua, name)?)?;
    }
    let draws = Rc::clone(context);
    host.set(
        "rand_uniform_double",
        lua.create_function(move |_, ()| Ok(draws.rng.borrow_mut().unit()))?,
    )?;
    let draws = Rc::clone(context);
    host.set(
        "rand_uniform_uint64",
        lua.create_function(move |_, ()| Ok(draws.rng.borrow_mut().bits() as f64))?,
    )?;
    let shared = Arc::clone(program);
    host.set(
        "rand_unique",
        lua.create_function(move |lua, (low, high): (Value, Value)| {
            let (low, high) = match low.is_nil() {
                true => (0, i64::from(u32::MAX)),
                false => range(lua, "rand_unique", &low, &high)?,
            };
            let numbers = high.abs_diff(low).saturating_add(1);
            let next = shared.unique_place(numbers);
            // The same in the processes of all clients, and another for each command.
            let order = Permutation::new(numbers, fnv1a(&shared.command));
            Ok(low.wrapping_add_unsigned(order.of(next)))
        })?,
    )?;
    let draws = Rc::clone(context);
    host.set(
        "rand_string",
        lua.create_function(move |lua, format: mlua::LuaString| {
            let text = filled(&format.as_bytes(), &mut draws.rng.borrow_mut());
            lua.create_string(text)
        })?,
    )?;
    let draws = Rc::clone(context);
    host.set(
        "rand_varstring",
        lua.create_function(move |lua, (least, most): (Value, Value)| {
            let (least, most) = range(lua, "rand_varstring", &least, &most)?;
            if least < 0 || most as usize > LONGEST {
                let place = place(lua);
                return Err(mlua::Error::runtime(format!(
                    "sysbench.rand.varstring({least}, {most}): must be 0 to {LONGEST}: {place}"
                )));
            }
            let mut rng = draws.rng.borrow_mut();
            let length = Distribution::uniform(least, most).draw(&mut rng);
            let format = vec![b'@'; length as usize];
            lua.create_string(filled(&format, &mut rng))
        })?,
    )
}

type Over = fn(&RandOptions, i64, i64) -> Distribution;

/// Draws from ranges of one distribution.
struct Draws {
    context: Rc<Context>,
    options: RandOptions,
    over: Over,
    /// Scripts draw from one range again and again.
    last: Cell<Option<(i64, i64, Distribution)>>,
}

impl Draws {
    fn draw(&self, low: i64, high: i64) -> i64 {
        let distribution = match self.last.get() {
            Some((a, b, known)) if (a, b) == (low, high) => known,
            _ => {
                let made = (self.over)(&self.options, low, high);
                self.last.set(Some((low, high, made)));
                made
            }
        };
        distribution.draw(&mut self.context.rng.borrow_mut())
    }

    /// As a function of Lua's. Two numbers in order, which scripts draw from with each query, are read where
    /// Lua has them: through `mlua` that costs more than drawing does. It has all else.
    #[allow(unsafe_code)]
    fn function(self, lua: &Lua, name: &'static str) -> mlua::Result<Function> {
        let own = Rc::new(self);
        let draws = Rc::as_ptr(&own).cast_mut().cast();
        let any = lua.create_function(move |lua, (low, high): (Value, Value)| {
            let (low, high) = range(lua, name, &low, &high)?;
            Ok(own.draw(low, high))
        })?;
        // SAFETY: the function made has `any` for its second value, which owns what its first one points to.
        unsafe {
            lua.exec_raw(any, |state| {
                ffi::lua_pushlightuserdata(state, draws);
                ffi::lua_insert(state, -2);
                ffi::lua_pushcclosure(state, draw_plain, 2);
            })
        }
    }
}

/// Draws from two plain numbers, or leaves it to the function that reads anything.
///
/// # Safety
/// Lua calls it as [`Draws::function`] made it.
#[allow(unsafe_code)]
unsafe extern "C-unwind" fn draw_plain(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: the first value points to `Draws` that live as long as the second; nothing here throws but what
    // the second calls, and no value of Rust's waits for its end.
    unsafe {
        let draws = ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast::<Draws>();
        if let (Some(draws), Some(low), Some(high)) =
            (draws.as_ref(), plain(state, 1), plain(state, 2))
            && low <= high
        {
            ffi::lua_pushnumber(state, draws.draw(low, high) as f64);
            return 1;
        }
        let count = ffi::lua_gettop(state);
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
        ffi::lua_insert(state, 1);
        ffi::lua_call(state, count, 1);
        1
    }
}

/// A finite number of Lua's, without its fraction.
///
/// # Safety
/// The state lives.
#[allow(unsafe_code)]
unsafe fn plain(state: *mut ffi::lua_State, at: c_int) -> Option<i64> {
    // SAFETY: looking at a value changes nothing, and one that is not there is none.
    let number = unsafe {
        (ffi::lua_type(state, at) == ffi::LUA_TNUMBER).then(|| ffi::lua_tonumber(state, at))?
    };
    number.is_finite().then_some(number as i64)
}

/// Two numbers in order.
fn range(lua: &Lua, name: &str, low: &Value, high: &Value) -> mlua::Result<(i64, i64)> {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number),
        Value::Number(number) if number.is_finite() => Some(*number as i64),
        // sysbench 0.5's options are texts.
        Value::String(text) => text.to_string_lossy().trim().parse().ok(),
        _ => None,
    };
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => {
            let name = name.replace("rand_", "sysbench.rand.");
            let said = |value: &Value| value.to_string().unwrap_or_default();
            Err(mlua::Error::runtime(format!(
                "{name}({}, {}): must be two numbers, the smaller first: {}",
                said(low),
                said(high),
                place(lua)
            )))
        }
    }
}

/// A text with a digit for each `#` and a letter for each `@`.
pub(crate) fn filled(format: &[u8], rng: &mut Rng) -> Vec<u8> {
    // Digits and letters left in the number that was drawn last.
    let (mut digits, mut left) = (0u64, 0u32);
    format
        .iter()
        .map(|byte| match byte {
            b'#' => {
                if left == 0 {
                    (digits, left) = (rng.below(10u64.pow(18)), 18);
                }
                left -= 1;
                let digit = digits % 10;
                digits /= 10;
                b'0' + digit as u8
            }
            b'@' => b'a' + rng.below(26) as u8,
            other => *other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_filled_evenly_and_kept_otherwise() {
        let mut rng = Rng::of(&[3]);
        let mut counts = [0u32; 10];
        for _ in 0..1_000 {
            let text = filled(b"##-###########@!", &mut rng);
            assert_eq!((text.len(), text[2], text[15]), (16, b'-', b'!'));
            assert!(text[14].is_ascii_lowercase());
            for digit in text.iter().filter(|b| b.is_ascii_digit()) {
                counts[usize::from(digit - b'0')] += 1;
            }
        }
        // 1,300 of each, standard deviation 34.
        assert!(
            counts.iter().all(|c| (1_100..1_500).contains(c)),
            "{counts:?}"
        );
    }
}
