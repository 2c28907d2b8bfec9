//! A script as a workload of the registry.

use crate::program::Program;
use crate::script::Script;
use crate::task::{COUNTED_ERRORS, NOTES};
use crate::user::{ScriptUser, Sessions};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tidemark_core::{DbError, ErrorClass, OptionError, OptionValues, Shard};
use tidemark_drivers::catalog::TableDescription;
use tidemark_drivers::{Connector, Dialect, RowSource, RowWriter};
use tidemark_workloads::{
    Definition, PreparedStatements, Prewarm, SCRIPTS, Statements, TablePlan, Terminal, Workload,
};

/// Scripts that were read, with their rows of the registry.
static READ: Mutex<Vec<(Arc<Script>, &'static Definition)>> = Mutex::new(Vec::new());

fn find(is: impl Fn(&Script) -> bool) -> Option<(Arc<Script>, &'static Definition)> {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.iter().rev().find(|(script, _)| is(script)).cloned()
}

/// The row of the registry that a script would have. It stays for as long as the process runs.
pub fn definition_of(script: &Arc<Script>) -> &'static Definition {
    let definition: &'static Definition = Box::leak(Box::new(Definition {
        name: script.name(),
        family: SCRIPTS.name,
        summary: "A Lua script for sysbench",
        options: script.tables(),
        build: workload_of,
    }));
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.push((Arc::clone(script), definition));
    definition
}

/// The script of a row of the registry, if it is one's: several folders may have scripts of one name.
pub fn script_of(definition: &Definition) -> Option<Arc<Script>> {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = read.iter();
    let found = rows.find(|(_, row)| std::ptr::eq(*row, definition));
    found.map(|(script, _)| Arc::clone(script))
}

/// The script of a file, if that was read.
pub fn script_at(path: &Path) -> Option<Arc<Script>> {
    find(|script| script.path() == path).map(|(script, _)| script)
}

/// The workload of options whose `script` was read.
///
/// # Errors
/// [`OptionError::Conflict`] when it was not, when it has no `event()`, or when terminals share
/// sessions: a script's thread has a connection of its own.
pub fn workload_of(options: &OptionValues) -> Result<Arc<dyn Workload>, OptionError> {
    let path = Path::new(options.text("script"));
    let Some(script) = script_at(path) else {
        return Err(OptionError::Conflict(format!(
            "--script={}: was not read; for example --script=./mine.lua",
            path.display()
        )));
    };
    for shares in ["connections", "think-time"] {
        if !["", "0"].contains(&options.text(shares)) {
            return Err(OptionError::Conflict(format!(
                "--{shares}={}: a script's thread has a connection of its own; leave it out",
                options.text(shares)
            )));
        }
    }
    Ok(Arc::new(ScriptWorkload {
        // A process has few workloads.
        types: Box::leak(Box::new([script.name()])),
        program: Arc::new(Program::of(&script, "run", options)),
    }))
}

#[derive(Debug)]
struct ScriptWorkload {
    types: &'static [&'static str; 1],
    program: Arc<Program>,
}

/// Rows of no table.
struct NoRows;

impl RowSource for NoRows {
    fn next_row(&mut self, _row: &mut RowWriter<'_>) -> bool {
        false
    }
}

impl Workload for ScriptWorkload {
    fn name(&self) -> &'static str {
        self.types[0]
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.types
    }

    fn notes(&self) -> &'static [&'static str] {
        NOTES
    }

    fn noted_error(&self) -> Option<(usize, DbError)> {
        let says = "counted by the script (sb_counter_inc)";
        Some((
            COUNTED_ERRORS,
            DbError::new(ErrorClass::Fatal, "script", says),
        ))
    }

    fn shares_by_thread(&self) -> bool {
        true
    }

    fn connects_by(&self, connector: &Connector) {
        self.program.connects_by(connector);
    }

    fn deal(&self, shard: Shard) {
        self.program.deal(shard);
    }

    fn tables(&self, _dialect: &Dialect, _sessions: usize) -> Result<Vec<TablePlan>, OptionError> {
        Ok(Vec::new())
    }

    fn rows(
        &self,
        _table: usize,
        _first: u64,
        _count: u64,
        _seed: u64,
    ) -> Box<dyn RowSource + Send> {
        Box::new(NoRows)
    }

    fn recognises(&self, _found: &TableDescription) -> bool {
        false
    }

    fn can_be(&self, _marked: &TableDescription) -> bool {
        false
    }

    fn needs(&self, _sessions: usize) -> Vec<String> {
        Vec::new()
    }

    fn prewarm(&self, _dialect: &Dialect) -> Vec<Prewarm> {
        Vec::new()
    }

    fn statements(&self) -> Statements {
        let program = Arc::clone(&self.program);
        Statements::Custom(PreparedStatements::by(Box::new(Sessions { program })))
    }

    fn terminal(&self, number: usize, _terminals: usize, seed: u64) -> Terminal {
        Terminal::Custom(Box::new(ScriptUser {
            program: self.program.id,
            number,
            seed: Some(seed),
        }))
    }
}
