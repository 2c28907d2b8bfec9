//! What a script does outside a measurement: commands, `init` and `done`, hooks of reports.

use crate::file::ScriptError;
use crate::program::Program;
use crate::script::Script;
use crate::stat::Stat;
use crate::state::ScriptState;
use crate::task::{Failure, ScriptThread};
use mlua::{Function, Table, Value};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use tidemark_runtime::{Executor, allowed_cores, block_on};

/// A script thread outside a measurement, with the connections that it opens.
pub struct Commands {
    program: Arc<Program>,
    state: Rc<ScriptState>,
    task: Option<Box<ScriptThread>>,
}

fn failed(failure: Failure) -> ScriptError {
    ScriptError::Failed(failure.into_message())
}

impl Commands {
    /// Loads the program's script.
    ///
    /// # Errors
    /// [`ScriptError`] with file and line.
    pub fn new(program: &Arc<Program>) -> Result<Self, ScriptError> {
        let state = Rc::new(ScriptState::new(program).map_err(failed)?);
        let (own, loading) = (Rc::clone(&state), Rc::clone(&state));
        let mut task = Box::new(ScriptThread::new(&own, 0).map_err(failed)?);
        task.is_command = true;
        let (task, loaded) = block_on(async move {
            let loaded = task.load(&loading, &mut None).await;
            (task, loaded)
        })?;
        loaded.map_err(failed)?;
        Ok(Self {
            program: Arc::clone(program),
            state,
            task: Some(task),
        })
    }

    /// Runs a function of the thread.
    fn run(&mut self, function: Function, argument: Value) -> Result<(), ScriptError> {
        let Some(mut task) = self.task.take() else {
            return Ok(());
        };
        let state = Rc::clone(&self.state);
        let (task, done) = block_on(async move {
            let done = task.run(&state, &mut None, &function, argument).await;
            (task, done)
        })?;
        self.task = Some(task);
        done.map(drop).map_err(failed)
    }

    /// Runs a global function (`init`, `done`), if there is one.
    ///
    /// # Errors
    /// [`ScriptError`] with file and line.
    pub fn global(&mut self, name: &str) -> Result<(), ScriptError> {
        match self.task.as_ref().and_then(|task| task.function(name)) {
            Some(function) => self.run(function, Value::Nil),
            None => Ok(()),
        }
    }

    /// Whether the script has a function in `sysbench.hooks`.
    pub fn has_hook(&self, name: &str) -> bool {
        let task = self.task.as_ref();
        task.and_then(|task| task.hook(name)).is_some()
    }

    /// Gives a report to a function in `sysbench.hooks`.
    ///
    /// # Errors
    /// [`ScriptError`] with file and line.
    pub fn report(&mut self, hook: &str, stat: &Stat) -> Result<(), ScriptError> {
        let Some(function) = self.task.as_ref().and_then(|task| task.hook(hook)) else {
            return Ok(());
        };
        let table = stat.table(&self.state).map_err(|e| failed(e.into()))?;
        self.run(function, Value::Table(table))
    }

    /// Runs a command on one thread, or on `threads` where the script says so; of several clients that share
    /// it ([`Program::deal`]) this one's part.
    ///
    /// # Errors
    /// [`ScriptError`] with file and line; [`ScriptError::Lacks`] with the commands that there are.
    pub fn command(
        program: &Arc<Program>,
        script: &Script,
        name: &str,
        threads: usize,
    ) -> Result<(), ScriptError> {
        let Some(parallel) = script.command(name) else {
            return Err(ScriptError::Lacks {
                path: program.script_text(),
                what: format!("command {name}"),
                known: script.commands().join(", "),
            });
        };
        // What one thread does, the first of several clients does.
        if !parallel && program.shard().index > 0 {
            return Ok(());
        }
        if parallel {
            return in_parallel(program, name, threads);
        }
        let mut commands = Self::new(program)?;
        let function = commands.task.as_ref().and_then(|task| of_name(task, name));
        match function {
            Some(function) => commands.run(function, Value::Nil),
            None => Ok(()),
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

/// The function of a command: of the table of commands, or a global one.
fn of_name(task: &ScriptThread, name: &str) -> Option<Function> {
    let declared = || {
        let sysbench: Table = task.environment().get("sysbench").ok()?;
        let cmdline: Table = sysbench.get("cmdline").ok()?;
        match cmdline.get::<Table>("commands").ok()?.get(name).ok()? {
            Value::Table(parts) => parts.get(1).ok(),
            Value::Function(function) => Some(function),
            _ => None,
        }
    };
    declared().or_else(|| task.function(name))
}

/// Runs a command on so many script threads. Those of an embedded database, which block, have a thread
/// of the system each.
fn in_parallel(program: &Arc<Program>, name: &str, threads: usize) -> Result<(), ScriptError> {
    let shard = program.shard();
    let threads = shard.count_usize(threads.max(1));
    let blocks = program.connector().is_some_and(|c| c.is_blocking());
    let cores = allowed_cores().len().max(1);
    let executors = if blocks { threads } else { threads.min(cores) }.max(1);
    let first: Arc<Mutex<Option<ScriptError>>> = Arc::default();
    let failed_with = |slot: &Mutex<Option<ScriptError>>, error| {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    };
    let work: Vec<_> = (0..executors)
        .map(|executor| {
            let (program, name, errors) =
                (Arc::clone(program), name.to_string(), Arc::clone(&first));
            std::thread::spawn(move || {
                let mut tasks = Executor::new()?;
                for local in (executor..threads).step_by(executors) {
                    let number = shard.global_usize(local);
                    let (program, name) = (Arc::clone(&program), name.clone());
                    let errors = Arc::clone(&errors);
                    tasks.spawn(async move {
                        if let Err(failure) = one_of_many(&program, &name, number).await {
                            failed_with(&errors, failed(failure));
                        }
                    });
                }
                tasks.run()
            })
        })
        .collect();
    for thread in work {
        match thread.join() {
            Ok(ended) => ended?,
            Err(_) => failed_with(&first, ScriptError::Failed("a thread panicked".into())),
        }
    }
    let error = first.lock().unwrap_or_else(PoisonError::into_inner).take();
    error.map_or(Ok(()), Err)
}

async fn one_of_many(program: &Arc<Program>, name: &str, number: usize) -> Result<(), Failure> {
    let state = ScriptState::with_room(program)?;
    state.added();
    let mut task = Box::new(ScriptThread::new(&state, number)?);
    task.is_command = true;
    task.load(&state, &mut None).await?;
    if let Some(function) = of_name(&task, name) {
        let number = Value::Integer(number as mlua::Integer);
        task.run(&state, &mut None, &function, number).await?;
    }
    state.ended(task);
    Ok(())
}

impl Stat {
    fn table(&self, state: &ScriptState) -> mlua::Result<Table> {
        let numbers = [
            ("threads_running", self.threads_running as f64),
            ("time_interval", self.time_interval),
            ("time_total", self.time_total),
            ("latency_pct", self.latency_pct),
            ("latency_min", self.latency_min),
            ("latency_max", self.latency_max),
            ("latency_avg", self.latency_avg),
            ("latency_sum", self.latency_sum),
            ("events", self.events as f64),
            ("reads", self.reads as f64),
            ("writes", self.writes as f64),
            ("other", self.other as f64),
            ("errors", self.errors as f64),
            ("reconnects", self.reconnects as f64),
        ];
        state.lua.create_table_from(numbers)
    }
}
