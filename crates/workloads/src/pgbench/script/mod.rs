//! pgbench's scripts: SQL statements and commands that begin with a backslash (PostgreSQL manual,
//! "pgbench", "Custom Scripts").

mod builtin;
mod cut;
mod meta;
#[cfg(test)]
mod tests;

pub use builtin::{BUILTINS, Builtin, builtin};

use super::expression::{Expr, Names};
use std::time::Duration;

/// Most values that a statement takes.
const MOST_VALUES: usize = 255;

/// How statements reach the server (`-M`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As text.
    Simple,
    /// Parsed, bound and executed each time.
    Extended,
    /// Prepared once a session.
    Prepared,
}

impl Mode {
    /// By pgbench's name.
    pub fn named(name: &str) -> Self {
        match name {
            "extended" => Mode::Extended,
            "prepared" => Mode::Prepared,
            _ => Mode::Simple,
        }
    }
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{script}:{line}: {what}")]
pub struct ScriptError {
    /// The script.
    pub script: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// A script, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// What it is called in results.
    pub shown: String,
    /// How often it is chosen, beside the others' weights.
    pub weight: u64,
    /// Its commands.
    pub commands: Vec<PgbenchCommand>,
}

/// A command of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct PgbenchCommand {
    /// Its first line.
    pub line: String,
    /// What it does.
    pub what: CommandKind,
}

/// What a command does. Places are those of commands.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandKind {
    /// Sends a statement.
    Sql(Sql),
    /// `\set`.
    Set {
        /// The variable's place.
        to: usize,
        /// Its value.
        value: Expr,
    },
    /// `\if`, or an `\elif` that is come to from one whose condition did not hold.
    If {
        /// The condition.
        test: Expr,
        /// Where it goes on when that does not hold.
        otherwise: usize,
        /// The `\endif`, of an `\elif`: where a branch before it goes on.
        after_branch: Option<usize>,
    },
    /// `\else`: a branch before it goes on at the `\endif`.
    Else {
        /// The `\endif`.
        end: usize,
    },
    /// `\endif`.
    Endif,
    /// `\sleep`.
    Sleep(Sleep),
    /// `\startpipeline`.
    StartPipeline,
    /// `\endpipeline`.
    EndPipeline,
}

/// How long a `\sleep` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    /// So many units, or a variable's place.
    pub count: Result<u32, usize>,
    /// The unit.
    pub unit: Duration,
}

/// What becomes of a statement's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// They are counted.
    Nothing,
    /// `\gset PREFIX`: the one row's columns become variables.
    One(String),
    /// `\aset PREFIX`: those of the last row of each result do.
    Last(String),
}

/// A piece of a statement's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlPiece {
    /// Text.
    Text(String),
    /// A variable's place, and its text where it has no value.
    Variable(usize, String),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sql {
    /// Its text, cut at the variables.
    pub pieces: Vec<SqlPiece>,
    /// The same with `$1`, `$2`, … for the variables.
    pub numbered: String,
    /// The variables' places, in the order of the numbers.
    pub values: Vec<usize>,
    /// What becomes of its rows.
    pub store: Store,
    /// Whether it stands in a pipeline.
    pub is_piped: bool,
    /// Its number among the statements of all scripts.
    pub number: usize,
}

impl Sql {
    /// Of a statement's text.
    fn new(text: &str, names: &mut Names, number: usize) -> Self {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut numbered = String::new();
        let mut values = Vec::new();
        let mut rest = text;
        while let Some(colon) = rest.find(':') {
            let (before, from) = rest.split_at(colon);
            plain.push_str(before);
            numbered.push_str(before);
            let colons = from.len() - from.trim_start_matches(':').len();
            let name = variable(&from[colons..]);
            // A cast has two; a time's part is no name.
            if colons > 1 || name.is_empty() {
                plain.push_str(&from[..colons]);
                numbered.push_str(&from[..colons]);
                rest = &from[colons..];
                continue;
            }
            let slot = names.slot(name).slot;
            if !plain.is_empty() {
                pieces.push(SqlPiece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(SqlPiece::Variable(slot, format!(":{name}")));
            values.push(slot);
            numbered.push_str(&format!("${}", values.len()));
            rest = &from[1 + name.len()..];
        }
        plain.push_str(rest);
        numbered.push_str(rest);
        if !plain.is_empty() {
            pieces.push(SqlPiece::Text(plain));
        }
        Self {
            pieces,
            numbered,
            values,
            store: Store::Nothing,
            is_piped: false,
            number,
        }
    }
}

/// The name that a text begins with; none begins with a digit.
fn variable(text: &str) -> &str {
    let is = |c: char| super::expression_name(c);
    let end = text.find(|c| !is(c)).unwrap_or(text.len());
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => "",
        false => &text[..end],
    }
}

/// Reads a script; names of variables are added to `names`, and statements are numbered from
/// `numbers` on.
///
/// # Errors
/// [`ScriptError`] with the line.
pub fn read(
    shown: &str,
    text: &str,
    mode: Mode,
    names: &mut Names,
    numbers: &mut usize,
) -> Result<Vec<PgbenchCommand>, ScriptError> {
    let wrong = |line: usize, what: String| ScriptError {
        script: shown.into(),
        line,
        what,
    };
    let mut reader = meta::ScriptReader::new(mode, names, numbers);
    for (line, part) in cut::parts(text) {
        let read = match part {
            cut::ScriptPart::Sql(sql) => reader.sql(&sql),
            cut::ScriptPart::Meta(command) => reader.meta(&command),
        };
        read.map_err(|what| wrong(line, what))?;
    }
    let lines = text.lines().count();
    let commands = reader.finish().map_err(|what| wrong(lines, what))?;
    if commands.is_empty() {
        return Err(wrong(1, "the script has no command".into()));
    }
    Ok(commands)
}
