//! Jobs of command lines, and command lines of jobs.
//!
//! A tool's options are parted among the sections of a [`Job`]: where the database is, how load is
//! made, what the workload is set to, where the record goes; what is left is how the tool prints. The
//! other way round a job is put into the tool's options, which are checked as a command line's are.

mod exec;
mod native;
mod schema;
#[cfg(test)]
mod tests;

pub use exec::{exec, no_run, of_words};
pub use schema::schema;

use crate::exit::{ExitCode, Failure};
use crate::output::print;
use crate::plan::session_setup;
use crate::runner::Order;
use native::NATIVE_SETTINGS;
use std::sync::Arc;
use tidemark_core::job::{
    JOB_VERSION, OutputFiles, Settings, TargetAddress, ToolChoice, Watch, WorkloadChoice,
};
use tidemark_core::{Job, OptionSpec, OptionValues, RunSpec, Source, Target};
use tidemark_workloads::random::RAND_OPTIONS;
use tidemark_workloads::{Definition, Workload};

/// An option of the load with the place in a job that it makes, and its value for a job; none leaves
/// it as it is.
#[derive(Debug, Clone, Copy)]
pub struct LoadOption {
    /// The option.
    pub name: &'static str,
    /// The key of the job.
    pub path: &'static str,
    /// Its value, as a user would write it.
    pub value: fn(&Job) -> Option<String>,
}

/// A row of a table of [`LoadOption`]s.
pub const fn load_option(
    name: &'static str,
    path: &'static str,
    value: fn(&Job) -> Option<String>,
) -> LoadOption {
    LoadOption { name, path, value }
}

/// The words of a command line before and after its options.
type Around = (Vec<String>, Vec<String>);

/// A command line that runs load.
#[derive(Debug, Clone, Copy)]
pub struct Adapter {
    /// Its command.
    pub name: &'static str,
    /// Every option of a workload with its default.
    pub defaults: fn(&'static Definition) -> OptionValues,
    /// Whether an option says where the database is.
    pub connects: fn(&str) -> bool,
    /// Options that make the load, beside those of every tool.
    pub load: &'static [LoadOption],
    /// Whether an option makes no part of a run.
    pub is_other: fn(&str) -> bool,
    /// The words that stand before and after the options; none of a tool whose runs no command line
    /// says in full.
    pub words: Option<fn(&Job) -> Around>,
    /// An option as the tool takes it.
    pub word: fn(&str, &str) -> String,
    /// From the words after the command to what is run.
    pub understand: fn(&[String], Vec<String>) -> Result<Order, Failure>,
    /// From options to what is run.
    pub order: fn(OptionValues, &'static Definition, Vec<String>) -> Result<Order, Failure>,
    /// Runs it.
    pub run: fn(&Order) -> Result<ExitCode, Failure>,
}

/// An option as most tools take it.
pub fn dashed(name: &str, value: &str) -> String {
    format!("--{name}={value}")
}

/// Options of every tool that make no part of a run.
const OTHER: &[&str] = &[
    "keep-loaded",
    "replace",
    "chunk-rows",
    "load-method",
    "print-job",
];

impl Adapter {
    /// What is run, of everything that was understood of it.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    pub fn ordered(
        &self,
        options: OptionValues,
        definition: &'static Definition,
        workload: Arc<dyn Workload>,
        target: Target,
        load: RunSpec,
        command: Vec<String>,
    ) -> Result<Order, Failure> {
        Ok(Order {
            job: self.job(&options, definition, &target, load)?,
            definition,
            workload,
            target,
            options,
            command,
        })
    }

    /// The job of these options.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    fn job(
        &self,
        options: &OptionValues,
        definition: &Definition,
        target: &Target,
        load: RunSpec,
    ) -> Result<Job, Failure> {
        let is_elsewhere = |spec: &OptionSpec| {
            is_of_workload(definition, spec.name)
                || (self.connects)(spec.name)
                || spec.name == "target"
                || NATIVE_SETTINGS
                    .iter()
                    .chain(self.load)
                    .any(|o| o.name == spec.name)
                || (self.is_other)(spec.name)
                || OTHER.contains(&spec.name)
        };
        let files = options.text("report").split(',');
        Ok(Job {
            version: JOB_VERSION,
            target: TargetAddress::from(target),
            session: session_setup(options)?,
            workload: WorkloadChoice {
                name: definition.name.into(),
                settings: Settings::of(options, |spec| {
                    is_of_workload(definition, spec.name)
                        && !self.load.iter().any(|o| o.name == spec.name)
                }),
            },
            load,
            watch: watch(options),
            outputs: OutputFiles {
                store: options.text_opt("store").map(String::from),
                record: options.text_opt("out").map(Into::into),
                reports: files.filter(|f| !f.is_empty()).map(Into::into).collect(),
                lang: options.text("lang").into(),
                overwrite: options.flag("overwrite"),
            },
            tool: ToolChoice {
                name: self.name.into(),
                settings: Settings::of(options, |spec| !is_elsewhere(spec)),
            },
            force: options.flag("force"),
            study: None,
            sum_tables: false,
            notes: Vec::new(),
        })
    }

    /// The options of a job.
    ///
    /// # Errors
    /// [`Failure`] of bad usage, naming the key and what is allowed.
    pub fn options(
        &self,
        job: &Job,
        definition: &'static Definition,
    ) -> Result<OptionValues, Failure> {
        let mut options = (self.defaults)(definition);
        let sections = [
            ("workload.settings", &job.workload.settings),
            ("tool.settings", &job.tool.settings),
        ];
        for (path, settings) in sections {
            let applied = settings.apply(&mut options, Source::CommandLine);
            applied.map_err(|e| Failure::usage(format!("{path}.{e}")))?;
        }
        let set = |options: &mut OptionValues, name: &str, value: &str, path: &str| {
            let parsed = options.spec(name).and_then(|spec| spec.parse(value));
            let parsed = parsed.map_err(|e| Failure::usage(format!("{path}: {e}")))?;
            // What nobody asked for has its default, unless that depends on the machine.
            let depends = name == "busy-poll" && tidemark_runtime::is_short_of_cpu();
            if depends || !options.holds(name, &parsed) {
                let set = options.set(name, value, Source::CommandLine);
                set.map_err(|e| Failure::usage(format!("{path}: {e}")))?;
            }
            Ok::<(), Failure>(())
        };
        for LoadOption { name, path, value } in NATIVE_SETTINGS.iter().chain(self.load) {
            if let Some(value) = value(job).filter(|_| options.has(name) && !(self.is_other)(name))
            {
                set(&mut options, name, &value, path)?;
            }
        }
        set(&mut options, "target", &job.target.url, "target.url")?;
        Ok(options)
    }

    /// The command line that asks for a job, in the tool's words, of the job's options.
    pub fn command_line(&self, job: &Job, options: &OptionValues) -> Option<Vec<String>> {
        let (before, after) = self.words?(job);
        let mut line = vec!["tidemark".to_string(), self.name.into()];
        line.extend(before);
        for (name, value, source) in options.shown() {
            if source == Source::CommandLine {
                line.push((self.word)(name, value));
            }
        }
        line.extend(after);
        Some(line)
    }

    /// Runs what was asked for, or prints its job where that was asked for.
    ///
    /// # Errors
    /// Those of the run.
    pub fn perform(&self, order: &Order) -> Result<ExitCode, Failure> {
        self.perform_by(order, self.run)
    }

    /// The same with another function that runs it.
    ///
    /// # Errors
    /// Those of the run.
    pub fn perform_by(
        &self,
        order: &Order,
        run: impl FnOnce(&Order) -> Result<ExitCode, Failure>,
    ) -> Result<ExitCode, Failure> {
        if order.options.flag("print-job") {
            print(&format!("{}\n", order.job.to_json()));
            return Ok(ExitCode::Success);
        }
        run(order)
    }
}

/// Who watches, as the options say.
pub fn watch(options: &OptionValues) -> Watch {
    Watch {
        view: options.flag("view"),
        metrics: options.text_opt("metrics").map(String::from),
        metrics_linger: options.time("metrics-linger"),
    }
}

/// Whether an option is a workload's own: of its tables, of the random numbers', or the check of rows
/// that every workload of sysbench's can be asked for.
fn is_of_workload(definition: &Definition, name: &str) -> bool {
    let own = definition.options.iter().copied().flatten();
    own.chain(RAND_OPTIONS).any(|o| o.name == name) || name == "validate"
}
