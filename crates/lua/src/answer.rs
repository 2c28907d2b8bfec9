//! What a coroutine asks for when it yields, and what it is told.

use crate::result_set::ResultSet;
use mlua::{FromLuaMulti, IntoLua, IntoLuaMulti, Lua, LuaString, MultiValue, Value};
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass};

/// A request, by the numbers that the prelude has for them.
pub(crate) enum ScriptRequest {
    Idle,
    Done(Value),
    Failed(Value),
    Connect,
    Query(usize, LuaString),
    Prepare(usize, LuaString),
    /// Connection, statement, values.
    Execute(usize, usize, MultiValue),
    /// Connection, a table of sysbench's.
    DropTable(usize, LuaString),
    Disconnect(usize),
    Reconnect(usize),
    Sleep(Duration),
    /// What can't be done, in words.
    Bad(String),
}

/// What a yield of the script's own is told.
const NO_COROUTINE: &str = "coroutine.yield() outside a coroutine of the script's own";

impl FromLuaMulti for ScriptRequest {
    fn from_lua_multi(mut values: MultiValue, lua: &Lua) -> mlua::Result<Self> {
        let Some(Value::Integer(number)) = values.pop_front() else {
            return Ok(ScriptRequest::Bad(NO_COROUTINE.into()));
        };
        let mut next = || values.pop_front().unwrap_or(Value::Nil);
        let place = |value: Value| value.as_usize().unwrap_or(usize::MAX);
        let text = |value: Value, what: &str| {
            let kind = value.type_name();
            let found = lua.coerce_string(value).ok().flatten();
            found.ok_or_else(|| format!("{what}: a string is needed, not a {kind}"))
        };
        Ok(match number {
            0 => ScriptRequest::Idle,
            1 => ScriptRequest::Done(next()),
            2 => ScriptRequest::Failed(next()),
            3 => ScriptRequest::Connect,
            4 | 5 => {
                let (at, what) = (
                    place(next()),
                    if number == 4 { "query()" } else { "prepare()" },
                );
                match (text(next(), what), number) {
                    (Ok(sql), 4) => ScriptRequest::Query(at, sql),
                    (Ok(sql), _) => ScriptRequest::Prepare(at, sql),
                    (Err(words), _) => ScriptRequest::Bad(words),
                }
            }
            6 => ScriptRequest::Execute(place(next()), place(next()), values),
            7 => ScriptRequest::Disconnect(place(next())),
            8 => ScriptRequest::Reconnect(place(next())),
            9 => {
                let seconds = match next() {
                    Value::Integer(seconds) => seconds as f64,
                    Value::Number(seconds) => seconds,
                    _ => 0.0,
                };
                ScriptRequest::Sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default())
            }
            10 => {
                let at = place(next());
                match text(next(), "drop_benchmark_table()") {
                    Ok(table) => ScriptRequest::DropTable(at, table),
                    Err(words) => ScriptRequest::Bad(words),
                }
            }
            _ => ScriptRequest::Bad(NO_COROUTINE.into()),
        })
    }
}

/// An answer.
pub(crate) enum ScriptAnswer {
    Nothing,
    Number(usize),
    Rows(ResultSet),
    /// The server's error with its number among the thread's.
    Failed(DbError, u64),
    /// What the script asked for can't be done; in words, without the place.
    Refused(String),
}

/// MySQL's numbers for a lost connection and one that was refused, which scripts ask for.
const LOST: i64 = 2013;
const REFUSED: i64 = 2003;

/// The number that `err.sql_errno` has.
fn number_of(error: &DbError) -> i64 {
    match error.class {
        ErrorClass::ConnectionLost => LOST,
        ErrorClass::Refused => error.code.parse().unwrap_or(REFUSED),
        _ if error.code.len() == 4 => error.code.parse().unwrap_or(0),
        _ => 0,
    }
}

/// The text that `err.sql_state` has: MySQL's error numbers have these (its manual, "Server Error Message
/// Reference"), and PostgreSQL's code is one.
fn state_of(error: &DbError) -> &str {
    match (error.code.as_str(), error.class) {
        ("1213", _) => "40001",
        ("1022" | "1048" | "1062" | "1451" | "1452", _) => "23000",
        ("1146", _) => "42S02",
        ("1054", _) => "42S22",
        ("1064", _) => "42000",
        (code, _) if code.len() == 5 => code,
        (_, ErrorClass::ConnectionLost) => "08S01",
        _ => "HY000",
    }
}

impl IntoLuaMulti for ScriptAnswer {
    fn into_lua_multi(self, lua: &Lua) -> mlua::Result<MultiValue> {
        let told = Value::Boolean(true);
        Ok(match self {
            ScriptAnswer::Nothing => MultiValue::from_iter([told]),
            ScriptAnswer::Number(number) => {
                MultiValue::from_iter([told, Value::Integer(number as mlua::Integer)])
            }
            ScriptAnswer::Rows(rows) => {
                let rows = lua.create_userdata(rows)?;
                MultiValue::from_iter([told, Value::UserData(rows)])
            }
            ScriptAnswer::Failed(error, number) => MultiValue::from_iter([
                Value::Boolean(false),
                Value::Integer(number_of(&error)),
                state_of(&error).into_lua(lua)?,
                error.message.as_str().into_lua(lua)?,
                Value::Integer(number as mlua::Integer),
            ]),
            ScriptAnswer::Refused(words) => {
                MultiValue::from_iter([Value::Nil, words.into_lua(lua)?])
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_numbers_that_scripts_ask_for() {
        let error = |class, code| DbError::new(class, code, "");
        let deadlock = error(ErrorClass::Retryable, "1213");
        assert_eq!((number_of(&deadlock), state_of(&deadlock)), (1213, "40001"));
        let lost = error(ErrorClass::ConnectionLost, "io");
        assert_eq!((number_of(&lost), state_of(&lost)), (2013, "08S01"));
        let postgres = error(ErrorClass::Retryable, "40P01");
        assert_eq!((number_of(&postgres), state_of(&postgres)), (0, "40P01"));
    }
}
