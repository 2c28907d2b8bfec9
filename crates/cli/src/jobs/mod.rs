//! Jobs of command lines, and command lines of jobs.
//!
//! A tool's options are parted among the sections of a [`Job`]: where the database is, how load is
//! made, what the workload is set to, where the record goes; what is left is how the tool prints. The
//! other way round a job is put into the tool's options, which are checked as a command line's are.

mod exec;
mod native;
mod schema;
mod taken;
#[cfg(test)]
mod tests;

pub use exec::{exec, of_run, order_of, read};
pub use native::NATIVE_SETTINGS;
pub use schema::schema;
pub use taken::{is_waited_for, of_command_line};

use crate::clients;
use crate::exit::{ExitCode, Failure};
use crate::plan::session_setup;
use crate::runner::JobOrder;
use crate::secrets::is_password_option;
use crate::stdio::print;
use native::PREPARATION;
use std::path::PathBuf;
use tidemark_core::JobKind;
use tidemark_core::job::{
    JOB_VERSION, LoadMethod, OutputFiles, Preparation, Settings, TargetAddress, ToolChoice, Watch,
    WorkloadChoice,
};
use tidemark_core::{
    Job, OptionSpec, OptionValues, RunSpec, Source, Target, is_password_name, redact_urls,
};
use tidemark_workloads::Definition;
use tidemark_workloads::random::RAND_OPTIONS;

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

/// Does what a job asks for.
type Act = fn(&JobOrder) -> Result<ExitCode, Failure>;

/// A command line that loads tables or runs load.
#[derive(Debug, Clone, Copy)]
pub struct Adapter {
    /// Its command.
    pub name: &'static str,
    /// Every option of a workload with its default.
    pub defaults: fn(&'static Definition) -> OptionValues,
    /// Whether an option says where the database is.
    pub connects: fn(&str) -> bool,
    /// Options with a place in the job, beside those of every tool.
    pub placed: &'static [LoadOption],
    /// Whether an option makes no part of a job of this kind.
    pub is_other: fn(JobKind, &str) -> bool,
    /// The words that stand before and after the options; none of a tool whose runs no command line
    /// says in full.
    pub words: Option<fn(&Job) -> Around>,
    /// An option as the tool takes it.
    pub word: fn(&str, &str) -> String,
    /// From options to what is done.
    pub order:
        fn(JobKind, OptionValues, &'static Definition, Vec<String>) -> Result<JobOrder, Failure>,
    /// Makes and fills the tables; none of a tool whose loads are no jobs.
    pub load: Option<Act>,
    /// Makes load and measures.
    pub run: Act,
}

/// An option as most tools take it.
pub fn dashed(name: &str, value: &str) -> String {
    format!("--{name}={value}")
}

impl Adapter {
    /// What is done, of everything that was understood of it.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    pub fn ordered(
        &self,
        kind: JobKind,
        options: OptionValues,
        definition: &'static Definition,
        target: Target,
        load: RunSpec,
        command: Vec<String>,
    ) -> Result<JobOrder, Failure> {
        Ok(JobOrder {
            job: self.job(kind, &options, definition, &target, load)?,
            definition,
            workload: (definition.build)(&options)?,
            target,
            options,
            command,
            lead: None,
        })
    }

    /// The job of these options.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    fn job(
        &self,
        kind: JobKind,
        options: &OptionValues,
        definition: &Definition,
        target: &Target,
        load: RunSpec,
    ) -> Result<Job, Failure> {
        let is_elsewhere = |spec: &OptionSpec| {
            is_of_workload(definition, spec.name)
                || (self.connects)(spec.name)
                || ["target", "print-job"].contains(&spec.name)
                || self.placed().any(|o| o.name == spec.name)
                || (self.is_other)(kind, spec.name)
        };
        Ok(Job {
            version: JOB_VERSION,
            target: TargetAddress::from(target),
            session: session_setup(options)?,
            workload: WorkloadChoice {
                name: definition.name.into(),
                settings: Settings::of(options, |spec| {
                    is_of_workload(definition, spec.name)
                        && !self.placed.iter().any(|o| o.name == spec.name)
                }),
            },
            prepare: (kind == JobKind::Load).then(|| preparation(options)),
            load,
            clients: clients::of_options(options)?,
            watch: watch(options),
            outputs: outputs(options),
            tool: ToolChoice {
                name: self.name.into(),
                settings: Settings::of(options, |spec| !is_elsewhere(spec)),
            },
            force: options.flag("force"),
            strict: options.flag("strict"),
            study: None,
            sum_tables: false,
            skip_row_counts: false,
            machine: None,
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
        let is_other = |name: &str| (self.is_other)(job.kind(), name);
        options_of(job, (self.defaults)(definition), self.placed(), is_other)
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

    /// Every option with a place in a job.
    fn placed(&self) -> impl Iterator<Item = &'static LoadOption> {
        let all = [NATIVE_SETTINGS, PREPARATION, self.placed];
        all.into_iter().flatten()
    }

    /// The key of a job that an option makes, if the tool has it.
    pub fn key_of(&self, option: &str) -> Option<&'static str> {
        let placed = self.placed().find(|placed| placed.name == option);
        match (placed, option) {
            (Some(placed), _) => Some(placed.path),
            (None, name) if is_password_name(name) || is_password_option(name) => {
                Some("target.password")
            }
            (None, "target") => Some("target.url"),
            (None, name) if (self.connects)(name) => Some("target.url"),
            (None, "price") => Some("tool.settings.price"),
            _ => None,
        }
    }

    /// Does what was asked for, or prints its job where that was asked for.
    ///
    /// # Errors
    /// Those of the run or the load; [`Failure`] of bad usage where the tool makes no loads by jobs.
    pub fn perform(&self, order: &JobOrder) -> Result<ExitCode, Failure> {
        let act = match order.job.kind() {
            JobKind::Run => self.run,
            JobKind::Load => self.load.ok_or_else(|| {
                let name = self.name;
                Failure::usage(format!("prepare: tidemark {name} cannot load from a job"))
            })?,
        };
        self.perform_by(order, act)
    }

    /// The same with another function that does it, unless several clients do.
    ///
    /// # Errors
    /// Those of the function.
    pub fn perform_by(
        &self,
        order: &JobOrder,
        act: impl FnOnce(&JobOrder) -> Result<ExitCode, Failure>,
    ) -> Result<ExitCode, Failure> {
        if taken::take(order) {
            return Ok(ExitCode::Success);
        }
        if order.options.flag("print-job") {
            print(&format!("{}\n", order.job.to_json()));
            return Ok(ExitCode::Success);
        }
        if let Some(several) = &order.job.clients {
            clients::must_be_possible(&order.job, several)?;
            if order.job.kind() == JobKind::Load && self.load.is_some() {
                return clients::load(order, several);
            }
        }
        act(order)
    }
}

/// Sets a tool's options to what a job says.
///
/// # Errors
/// [`Failure`] of bad usage, naming the key and what is allowed.
pub fn options_of(
    job: &Job,
    mut options: OptionValues,
    placed: impl Iterator<Item = &'static LoadOption>,
    is_other: impl Fn(&str) -> bool,
) -> Result<OptionValues, Failure> {
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
    for LoadOption { name, path, value } in placed {
        if let Some(value) = value(job).filter(|_| options.has(name) && !is_other(name)) {
            set(&mut options, name, &value, path)?;
        }
    }
    if options.has("target") {
        set(&mut options, "target", &job.target.url, "target.url")?;
    }
    Ok(options)
}

/// Where the record goes, as the options say.
pub fn outputs(options: &OptionValues) -> OutputFiles {
    let files = options.text("report").split(',');
    OutputFiles {
        store: options.text_opt("store").map(String::from),
        record: options.text_opt("out").map(Into::into),
        reports: files.filter(|f| !f.is_empty()).map(Into::into).collect(),
        lang: options.text("lang").into(),
        overwrite: options.flag("overwrite"),
        tags: options
            .text("tag")
            .split(',')
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(String::from)
            .collect(),
        note: options.text("note").into(),
    }
}

/// How tables are made, as the options say.
fn preparation(options: &OptionValues) -> Preparation {
    Preparation {
        replace: options.flag("replace") || options.flag("dropdata"),
        keep_loaded: options.flag("keep-loaded"),
        chunk_rows: options.uint("chunk-rows"),
        method: match options.text("load-method") {
            "insert" => LoadMethod::Insert,
            "bulk" => LoadMethod::Bulk,
            _ => LoadMethod::Auto,
        },
        left: None,
    }
}

/// Who watches, as the options say.
pub fn watch(options: &OptionValues) -> Watch {
    // One with a password is refused, and the job becomes a part of the record.
    let url = |name| options.text_opt(name).map(redact_urls);
    Watch {
        view: options.flag("view"),
        metrics: options.text_opt("metrics").map(String::from),
        metrics_linger: options.time("metrics-linger"),
        // Checked when it was set.
        observe: options.text("observe").parse().unwrap_or_default(),
        observe_host: url("observe-host"),
        observe_nodes: url("observe-nodes"),
        observe_prometheus: url("observe-prometheus"),
        observe_ca: options.text_opt("observe-ca").map(PathBuf::from),
        topology: options.text_opt("topology").map(PathBuf::from),
    }
}

/// Whether an option is a workload's own: of its tables, of the random numbers', or the check of rows
/// that every workload of sysbench's can be asked for.
fn is_of_workload(definition: &Definition, name: &str) -> bool {
    let own = definition.options.iter().copied().flatten();
    own.chain(RAND_OPTIONS).any(|o| o.name == name) || name == "validate"
}
