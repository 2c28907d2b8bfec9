//! What a coroutine asks for when it yields, and what it is told.

use crate::result_set::ResultSet;
use mlua::{FromLuaMulti, IntoLua, IntoLuaMulti, Lua, LuaString, MultiValue, Value};
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass};

/// The numbers that the prelude has for requests.
pub(crate) mod number {
    pub const IDLE: usize = 0;
    pub const DONE: usize = 1;
    pub const FAILED: usize = 2;
    pub const CONNECT: usize = 3;
    pub const QUERY: usize = 4;
    pub const PREPARE: usize = 5;
    pub const EXECUTE: usize = 6;
    pub const DISCONNECT: usize = 7;
    pub const RECONNECT: usize = 8;
    pub const SLEEP: usize = 9;
    pub const DROP_TABLE: usize = 10;
}

/// A request.
pub(crate) enum ScriptRequest {
    Idle,
    Done(Value),
    Failed(Value),
    Connect,
    /// Connection; the text is in [`Asked`](crate::coroutine::Asked).
    Query(usize),
    /// Connection, a text that Lua made of another value.
    QueryOf(usize, LuaString),
    Prepare(usize, LuaString),
    /// Connection, statement; the values are in [`Asked`](crate::coroutine::Asked).
    Execute(usize, usize),
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
        let Some(number) = values.pop_front().and_then(|number| number.as_usize()) else {
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
            number::IDLE => ScriptRequest::Idle,
            number::DONE => ScriptRequest::Done(next()),
            number::FAILED => ScriptRequest::Failed(next()),
            number::CONNECT => ScriptRequest::Connect,
            number::QUERY => {
                let at = place(next());
                text(next(), "query()")
                    .map_or_else(ScriptRequest::Bad, |sql| ScriptRequest::QueryOf(at, sql))
            }
            number::PREPARE => {
                let at = place(next());
                text(next(), "prepare()")
                    .map_or_else(ScriptRequest::Bad, |sql| ScriptRequest::Prepare(at, sql))
            }
            // Plain values of an open connection's statement were read before.
            number::EXECUTE => {
                let (at, statement) = (place(next()), place(next()));
                let is_other = |value: &&Value| {
                    !matches!(
                        value,
                        Value::Nil
                            | Value::Boolean(_)
                            | Value::Integer(_)
                            | Value::Number(_)
                            | Value::String(_)
                    )
                };
                match values.iter().find(is_other) {
                    Some(other) => ScriptRequest::Bad(format!(
                        "a parameter is a {}: must be a number, a string or nil",
                        other.type_name()
                    )),
                    None => ScriptRequest::Execute(at, statement),
                }
            }
            number::DISCONNECT => ScriptRequest::Disconnect(place(next())),
            number::RECONNECT => ScriptRequest::Reconnect(place(next())),
            number::SLEEP => {
                let seconds = match next() {
                    Value::Integer(seconds) => seconds as f64,
                    Value::Number(seconds) => seconds,
                    _ => 0.0,
                };
                ScriptRequest::Sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default())
            }
            number::DROP_TABLE => {
                let at = place(next());
                text(next(), "drop_benchmark_table()").map_or_else(ScriptRequest::Bad, |table| {
                    ScriptRequest::DropTable(at, table)
                })
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
            ScriptAnswer::Rows(result) => {
                let number = |number: usize| Value::Number(number as f64);
                let mut all = MultiValue::from_iter([
                    told,
                    number(result.rows),
                    number(result.columns),
                    Value::Number(result.number as f64),
                ]);
                if let Some(shelf) = result.shelf {
                    all.push_back(Value::UserData(lua.create_userdata(shelf)?));
                }
                all
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
