//! What stands for scripts in a build without LuaJIT, which takes half a minute to compile: no script can
//! be read, so that none of what follows ever is.

use crate::file::{Origin, ScriptError, ScriptFiles};
use crate::stat::Stat;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use tidemark_core::{OptionSpec, OptionValues, Shard};
use tidemark_drivers::Connector;
use tidemark_workloads::Definition;

/// A script: there is none.
#[derive(Debug)]
pub struct Script(Infallible);

/// A script with its options: there is none.
#[derive(Debug)]
pub struct Program(Infallible);

/// A script thread outside a measurement: there is none.
#[derive(Debug)]
pub struct Commands(Infallible);

#[allow(missing_docs)] // each is that of a build with LuaJIT
impl Script {
    /// # Errors
    /// Always.
    pub fn read(
        path: &Path,
        _given: &[(String, String)],
        _command: &str,
    ) -> Result<Arc<Self>, ScriptError> {
        Err(ScriptError::Failed(format!(
            "{}: this program was built without Lua scripts; build it with: cargo build --profile dist",
            path.display()
        )))
    }

    /// # Errors
    /// Always.
    pub fn read_from(
        path: &Path,
        _origin: Origin,
        given: &[(String, String)],
        command: &str,
    ) -> Result<Arc<Self>, ScriptError> {
        Self::read(path, given, command)
    }

    /// # Errors
    /// None.
    pub fn files(&self) -> Result<ScriptFiles, ScriptError> {
        match self.0 {}
    }

    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    pub fn name(&self) -> &'static str {
        match self.0 {}
    }

    pub fn options(&self) -> &'static [OptionSpec] {
        match self.0 {}
    }

    pub fn tables(&self) -> &'static [&'static [OptionSpec]] {
        match self.0 {}
    }

    pub fn is_legacy(&self) -> bool {
        match self.0 {}
    }

    pub fn has(&self, _function: &str) -> bool {
        match self.0 {}
    }

    pub fn command(&self, _name: &str) -> Option<bool> {
        match self.0 {}
    }

    pub fn commands(&self) -> Vec<&str> {
        match self.0 {}
    }
}

#[allow(missing_docs)] // as above
impl Program {
    pub fn of(script: &Script, _command: &str, _options: &OptionValues) -> Self {
        match script.0 {}
    }

    pub fn connects_by(&self, _connector: &Connector) {
        match self.0 {}
    }

    pub fn deal(&self, _shard: Shard) {
        match self.0 {}
    }

    pub fn draws_from_the_end(&self) {
        match self.0 {}
    }
}

#[allow(missing_docs)] // as above
impl Commands {
    /// # Errors
    /// None.
    pub fn new(program: &Arc<Program>) -> Result<Self, ScriptError> {
        match program.0 {}
    }

    /// # Errors
    /// None.
    pub fn global(&mut self, _name: &str) -> Result<(), ScriptError> {
        match self.0 {}
    }

    pub fn has_hook(&self, _name: &str) -> bool {
        match self.0 {}
    }

    /// # Errors
    /// None.
    pub fn report(&mut self, _hook: &str, _stat: &Stat) -> Result<(), ScriptError> {
        match self.0 {}
    }

    /// # Errors
    /// None.
    pub fn command(
        program: &Arc<Program>,
        _script: &Script,
        _name: &str,
        _threads: usize,
    ) -> Result<(), ScriptError> {
        match program.0 {}
    }

    pub fn program(&self) -> &Arc<Program> {
        match self.0 {}
    }
}

/// The row of the registry that a script would have.
pub fn definition_of(script: &Arc<Script>) -> &'static Definition {
    match script.0 {}
}

/// The script of a row of the registry: none was read.
pub fn script_of(_definition: &Definition) -> Option<Arc<Script>> {
    None
}

/// The script of a file: none was read.
pub fn script_at(_path: &Path) -> Option<Arc<Script>> {
    None
}
