//! What loads data and makes runs: the options of a command, from which a job is made, and the command
//! line that a user would type.

use crate::file::{During, NamedValue, Price, Reload, Study};
use crate::matrix::MatrixCell;
use crate::{Existing, Family};
use std::time::Duration;
use tidemark_core::{JobKind, OptionValues, redact_url};
use tidemark_workloads::Word;

/// What is known of the commands.
pub trait Commands {
    /// Whether a family's command has the option, and it makes a part of a job of this kind.
    fn takes(&self, family: &Family, kind: JobKind, option: &str) -> bool;
    /// Whether the option says what the data are.
    fn shapes(&self, family: &Family, option: &str) -> bool;
    /// Whether the option is given as `-p name=value`.
    fn is_property(&self, family: &Family, option: &str) -> bool;
    /// The key of a job that an option makes, whichever command has it.
    fn job_key(&self, option: &str) -> Option<&'static str>;
    /// Every option of a step's command with its effective value, when a job can be made of them.
    ///
    /// # Errors
    /// What is wrong with them.
    fn options(&self, step: &StepCommand, url: &str) -> Result<OptionValues, String>;
}

/// What stands in a study in the place of options that make these keys of a job, or of all below a key
/// that ends with a point.
const SAID_BY_THE_STUDY: &[(&str, &str)] = &[
    (
        "target.password",
        "set it in a [[target]], for example password = \"env:DB_PASSWORD\"",
    ),
    ("target.url", "set the url of a [[target]]"),
    ("load.terminals", LOAD_SAYS_IT),
    ("load.sessions", LOAD_SAYS_IT),
    ("load.pacing", LOAD_SAYS_IT),
    ("load.time", "set time of the study or workload"),
    ("load.warmup", "set warmup of the study or workload"),
    ("outputs.store", RUNS_ARE_STORED),
    ("outputs.record", RUNS_ARE_STORED),
    ("outputs.reports", RUNS_ARE_STORED),
    ("outputs.lang", RUNS_ARE_STORED),
    ("outputs.overwrite", RUNS_ARE_STORED),
    ("force", TABLES_ARE_SAID),
    ("prepare.replace", TABLES_ARE_SAID),
    ("prepare.keep_loaded", TABLES_ARE_SAID),
    ("session.settings", "use session = { … }"),
    ("load.inject_rtt", "use inject-rtt of a factor's values"),
    ("tool.settings.price", "use price of the study"),
];

const LOAD_SAYS_IT: &str = "use [load], for example threads = [8, 16]";
const RUNS_ARE_STORED: &str = "results are stored; tidemark report writes them";
const TABLES_ARE_SAID: &str = "use reload and existing";

/// Why an option can't be given in `options`: the study gives what it makes of a job.
pub(crate) fn said_by_the_study(option: &str, commands: &dyn Commands) -> Option<&'static str> {
    let option = option.replace('_', "-");
    if option == "print-job" {
        return Some("tidemark study plan shows every run");
    }
    let made = commands.job_key(&option)?;
    let of =
        |(key, _): &&(&str, &str)| *key == made || (key.ends_with('.') && made.starts_with(key));
    let found = SAID_BY_THE_STUDY.iter().find(of);
    found.map(|(_, instead)| *instead)
}

/// An option of a step's command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOption {
    /// Its name, without dashes in front.
    pub name: String,
    /// Its value; `on` of a switch.
    pub value: String,
    /// Whether it is a property, which is given as `-p name=value`.
    pub is_property: bool,
    /// The line of the study's file that it stands in, if it stands there.
    pub line: Option<usize>,
}

/// What a step asks of a command: from this its job is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCommand {
    /// What the command does.
    pub kind: JobKind,
    /// Whose command it is.
    pub family: &'static Family,
    /// The workload's name, or the path of its file.
    pub workload: String,
    /// Everything that is said beside workload and target.
    pub options: Vec<CommandOption>,
}

impl StepCommand {
    fn new(cell: &MatrixCell<'_>, kind: JobKind) -> Self {
        Self {
            kind,
            family: cell.workload.family,
            workload: cell.workload.name.clone(),
            options: Vec::new(),
        }
    }

    /// Adds an option of the study's own.
    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.options.push(CommandOption {
            name: name.into(),
            value: value.into(),
            is_property: false,
            line: None,
        });
    }

    /// Adds an option of the file.
    fn add_said(&mut self, option: &NamedValue, commands: &dyn Commands) {
        self.options.push(CommandOption {
            name: option.name.clone(),
            value: option.value.clone(),
            is_property: commands.is_property(self.family, &option.name),
            line: Some(option.line),
        });
    }

    /// The same without one of its options.
    pub(crate) fn without(&self, option: usize) -> Self {
        let mut other = self.clone();
        other.options.remove(option);
        other
    }

    /// The command line that asks for it on a target, as a user would type it; a password is `***`.
    pub fn words(&self, url: &str) -> Vec<String> {
        let command = &self.family.command;
        let mut words = vec!["tidemark".to_string(), command.word.into()];
        for word in command.order {
            match (word, self.kind) {
                (Word::Name, _) => words.push(self.workload.clone()),
                (Word::Target, _) => words.push(format!("--target={}", redact_url(url))),
                (Word::Command, kind) => words.push(command.command(kind).into()),
                (Word::Plain(word), _) => words.push((*word).into()),
                (Word::Options, _) => {
                    words.extend(self.options.iter().flat_map(CommandOption::words));
                }
            }
        }
        words
    }
}

impl CommandOption {
    fn words(&self) -> Vec<String> {
        let said = format!("{}={}", self.name, redact_url(&self.value));
        match self.is_property {
            true => vec!["-p".into(), said],
            false if BARE.contains(&self.name.as_str()) => vec![format!("--{}", self.name)],
            false => vec![format!("--{said}")],
        }
    }
}

/// Switches that the study turns on itself.
const BARE: &[&str] = &["keep-loaded", "replace"];

/// The options of a cell: a factor's win over the workload's, a later factor's over an earlier's.
pub(crate) fn options_of<'c>(cell: &'c MatrixCell<'_>) -> Vec<&'c NamedValue> {
    let mut found: Vec<&NamedValue> = Vec::new();
    let of_values = cell.values.iter().flat_map(|(_, v)| &v.options);
    for option in cell.workload.options.iter().chain(of_values) {
        let same = |o: &&NamedValue| o.name.replace('_', "-") == option.name.replace('_', "-");
        match found.iter().position(same) {
            Some(at) => found[at] = option,
            None => found.push(option),
        }
    }
    found
}

/// Settings of sessions in a load or a run.
pub(crate) fn session_of<'c>(
    study: &'c Study,
    cell: &'c MatrixCell<'_>,
    kind: JobKind,
) -> Vec<&'c NamedValue> {
    let of_target = cell.target.and_then(|t| study.targets.get(t));
    let mut found: Vec<&NamedValue> = of_target.map_or(&[][..], |t| &t.session).iter().collect();
    if kind == JobKind::Run {
        found.extend(&cell.workload.session);
    }
    for (factor, value) in &cell.values {
        if holds(factor.during, kind) {
            found.extend(&value.session);
        }
    }
    found
}

/// Settings of the server in a load or a run.
pub(crate) fn global_of<'c>(cell: &'c MatrixCell<'_>, kind: JobKind) -> Vec<&'c NamedValue> {
    let held = cell.values.iter().filter(|(f, _)| holds(f.during, kind));
    held.flat_map(|(_, v)| &v.set_global).collect()
}

fn rtt_of<'c>(cell: &'c MatrixCell<'_>, kind: JobKind) -> Option<&'c str> {
    let held = cell.values.iter().filter(|(f, _)| holds(f.during, kind));
    held.filter_map(|(_, v)| v.inject_rtt.as_deref())
        .next_back()
}

fn holds(during: During, kind: JobKind) -> bool {
    match during {
        During::Both => true,
        During::Load => kind == JobKind::Load,
        During::Run => kind == JobKind::Run,
    }
}

/// A time as command lines take it.
pub(crate) fn time_word(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{}s", time.as_secs())
    } else {
        format!("{}us", time.as_micros())
    }
}

/// The options that a cell's load is given.
pub(crate) fn load_options<'c>(
    cell: &'c MatrixCell<'_>,
    commands: &dyn Commands,
) -> Vec<&'c NamedValue> {
    let family = cell.workload.family;
    let mut options = options_of(cell);
    options.retain(|o| {
        let name = o.name.replace('_', "-");
        commands.takes(family, JobKind::Load, &name)
            && (commands.shapes(family, &name) || !commands.takes(family, JobKind::Run, &name))
    });
    options
}

/// What loads a cell's data. Only a file that gives tables away replaces any but the study's own, which
/// the load tells by what is in the database.
pub(crate) fn load_command(
    study: &Study,
    cell: &MatrixCell<'_>,
    commands: &dyn Commands,
) -> StepCommand {
    let mut command = StepCommand::new(cell, JobKind::Load);
    for option in load_options(cell, commands) {
        command.add_said(option, commands);
    }
    let threads = match bulk_threads(cell) {
        Some(threads) => threads,
        None => u64::from(study.load_threads),
    };
    command.add("threads", threads.to_string());
    conditions(&mut command, study, cell);
    if study.reload == Reload::Never {
        command.add("keep-loaded", "on");
    }
    if study.existing == Existing::Replace {
        command.add("replace", "on");
    }
    command
}

/// `bulk_insert` has a table for each of its sessions.
pub(crate) fn bulk_threads(cell: &MatrixCell<'_>) -> Option<u64> {
    (cell.workload.name == "bulk_insert").then_some(cell.level.threads)
}

/// What makes a cell's run.
pub(crate) fn run_command(
    study: &Study,
    cell: &MatrixCell<'_>,
    commands: &dyn Commands,
) -> StepCommand {
    let family = cell.workload.family;
    let mut command = StepCommand::new(cell, JobKind::Run);
    let options = options_of(cell);
    let unsaid = |(name, _): &&(&str, &str)| options.iter().all(|o| o.name != *name);
    for (name, value) in family.command.run_options.iter().filter(unsaid) {
        command.options.push(CommandOption {
            name: (*name).into(),
            value: (*value).into(),
            is_property: commands.is_property(family, name),
            line: None,
        });
    }
    for option in &options {
        let name = option.name.replace('_', "-");
        // What no command knows stands here, to be refused with the nearest that is known.
        if commands.takes(family, JobKind::Run, &name)
            || !commands.takes(family, JobKind::Load, &name)
        {
            command.add_said(option, commands);
        }
    }
    command.add("threads", cell.level.threads.to_string());
    if let Some(rate) = cell.level.rate {
        command.add("rate", rate.to_string());
    }
    if let Some(connections) = cell.level.connections {
        command.add("connections", connections.to_string());
    }
    let searches = options
        .iter()
        .any(|o| o.name.replace('_', "-") == "find-max");
    lengths(&mut command, study, cell, searches);
    if family.command.takes_price
        && let Some(Price { total, currency }) = &study.price
    {
        command.add("price", format!("{total} {currency}"));
    }
    conditions(&mut command, study, cell);
    command
}

/// Warm-up and time, in each family's options; searches set their length themselves, and so do runs that
/// end by themselves.
fn lengths(command: &mut StepCommand, study: &Study, cell: &MatrixCell<'_>, searches: bool) {
    let workload = cell.workload;
    let warmup = workload.warmup.unwrap_or(study.warmup);
    let time = workload.time.unwrap_or(study.time);
    let line = &workload.family.command;
    let word = |time: Duration| match line.whole_seconds {
        true => time.as_secs().to_string(),
        false => time_word(time),
    };
    if workload.family.runs.are_queries() {
        if let Some(time) = workload.time {
            command.add("time", word(time));
        }
        return;
    }
    if !searches {
        command.add("time", word(time));
    }
    if !warmup.is_zero() {
        command.add(line.warmup, word(warmup));
    }
}

/// Distance and settings of sessions.
fn conditions(command: &mut StepCommand, study: &Study, cell: &MatrixCell<'_>) {
    if let Some(rtt) = rtt_of(cell, command.kind) {
        command.add("inject-rtt", rtt);
    }
    let session: Vec<String> = session_of(study, cell, command.kind)
        .iter()
        .map(|s| format!("{}={}", s.name, s.value))
        .collect();
    if !session.is_empty() {
        command.add("set-session", session.join(";"));
    }
}
