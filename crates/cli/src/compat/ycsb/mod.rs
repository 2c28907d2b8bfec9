//! `tidemark ycsb`: YCSB with go-ycsb's command line, properties and output.

mod files;
pub mod flags;
mod job;
mod key_probe;
mod lines;
mod load;
pub mod parse;
mod printer;
mod properties;
mod property_reader;
mod run;
mod target;

use job::ADAPTER;

use crate::exit::{ExitCode, Failure};
use crate::frontend::{Frontend, StudySupport};
use crate::interrupt;
use crate::render::language;
use crate::stdio::{Aside, print};
use crate::texts::workloads as summaries;
use parse::{Invocation, YcsbCommand};
use properties::CONNECTION;
use tidemark_compat::OutputStyle;
use tidemark_core::{JobKind, OptionValues, Protocol, Source, Target};
use tidemark_report::Lang;
use tidemark_workloads::Definition;

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "ycsb",
    about: "Run YCSB with the command line and properties of go-ycsb",
    words: "As for go-ycsb: load|run DATABASE [FLAGS]; --help lists them",
    main,
    grammar: || Ok(grammar()),
    options: every_option,
    commands: &[("load", "ycsb load mysql -P workloada")],
    examples: [
        "tidemark ycsb load sqlite -P workloada -p sqlite.db=ycsb.db",
        "tidemark ycsb run sqlite -P workloada -p sqlite.db=ycsb.db --threads 4 --time 10s",
    ],
    has_password_letter: false,
    flags_first: false,
    runs: Some(&job::ADAPTER),
    summaries: &[("ycsb", summaries::ycsb)],
    study: Some(StudySupport {
        takes: |kind, option| kind == JobKind::Run || shapes(option),
        shapes,
        is_property: |option| !flags::is_flag(option),
        options: parse::of_step,
    }),
};

fn shapes(option: &str) -> bool {
    option == "table" || SHAPES.contains(&option)
}

/// Its command line as clap has it, with the words that stand first.
fn grammar() -> clap::Command {
    flags::command_line()
        .mut_arg("COMMAND", |arg| arg.value_parser(["load", "run"]))
        .mut_arg("DB", |arg| arg.value_parser(["mysql", "pg", "sqlite"]))
        .mut_arg("property_file", |arg| {
            arg.value_hint(clap::ValueHint::FilePath)
        })
}

fn every_option() -> Vec<tidemark_core::OptionSpec> {
    let named = flags::flags().chain([&flags::TARGET]);
    named.chain(CONNECTION).copied().collect()
}

/// Runs a go-ycsb command line: `words` after `ycsb`, `args` with everything, for the record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    match parse::parse(definition()?, words)? {
        Invocation::Print(text) => {
            print(&text);
            Ok(ExitCode::Success)
        }
        Invocation::Do(asked) => {
            asked
                .hints
                .iter()
                .for_each(|h| eprintln!("tidemark: WARNING: {h}"));
            interrupt::listen();
            let order = job::order(&asked, args.to_vec())?;
            ADAPTER.perform_by(&order, |order| match asked.kind {
                JobKind::Load => load::load(order, &asked),
                JobKind::Run => run::run(order, &asked),
            })
        }
    }
}

/// The workload's row of the registry.
///
/// # Errors
/// [`Failure`] when this build lacks it.
pub fn definition() -> Result<&'static Definition, Failure> {
    tidemark_workloads::find("ycsb").map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))
}

/// Properties that say what the table is.
pub const SHAPES: &[&str] = &[
    "recordcount",
    "insertstart",
    "insertcount",
    "fieldcount",
    "fieldlength",
    "fieldlengthdistribution",
    "fieldlengthhistogram",
    "dataintegrity",
    "insertorder",
    "zeropadding",
    "keyprefix",
];

/// A command line that was understood.
pub struct YcsbWork<'a> {
    definition: &'static Definition,
    asked: &'a YcsbCommand,
    style: OutputStyle,
    lang: Lang,
}

impl<'a> YcsbWork<'a> {
    fn new(asked: &'a YcsbCommand) -> Result<Self, Failure> {
        let options = &asked.options;
        Ok(Self {
            definition: definition()?,
            asked,
            style: options.text("output").parse().map_err(Failure::usage)?,
            lang: language(options.text("lang")),
        })
    }

    fn options(&self) -> &'a OptionValues {
        &self.asked.options
    }

    /// Where lines go that go-ycsb does not print, or that are no figures.
    fn aside(&self) -> Aside {
        Aside::of(self.style)
    }

    /// The target.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    fn target(&self) -> Result<Target, Failure> {
        target::target(self.asked)
    }

    /// The options as a database of this protocol takes them.
    fn options_on(&self, protocol: Protocol) -> Result<OptionValues, Failure> {
        let mut options = self.options().clone();
        if protocol == Protocol::Postgres {
            // PostgreSQL folds a name without quotes, and so a table of go-ycsb's.
            let folded = options.text("table").to_ascii_lowercase();
            options.set("table", &folded, options.source("table"))?;
        }
        Ok(options)
    }

    /// The properties as go-ycsb shows them.
    fn properties(&self) -> String {
        let lines: String = self
            .asked
            .properties
            .iter()
            .map(|(name, value)| format!("\"{name}\"=\"{value}\"\n"))
            .collect();
        format!(
            "***************** properties *****************\n{lines}\
             **********************************************\n"
        )
    }

    /// The command that loads the table that a run needs, as the user would write it.
    fn load_command(&self) -> String {
        let options = self.options();
        let mut words: Vec<String> = vec!["tidemark".into(), "ycsb".into(), "load".into()];
        words.extend(self.asked.words.iter().cloned());
        for (name, value, source) in options.shown() {
            let connects = CONNECTION.iter().any(|o| o.name == name);
            if source == Source::CommandLine && (connects || SHAPES.contains(&name)) {
                words.extend(["-p".into(), format!("{name}={value}")]);
            }
            if source == Source::CommandLine && ["table", "target"].contains(&name) {
                words.push(format!("--{name}={value}"));
            }
        }
        crate::shell::line(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_loads_has_what_shapes_and_connects_and_no_password() {
        let asked = parse::asked(
            "run mysql -P workloada -p recordcount=5 -p mysql.password=geheim --table t --threads 8",
        );
        let asked = asked.unwrap();
        assert_eq!(
            YcsbWork::new(&asked).unwrap().load_command(),
            "tidemark ycsb load mysql -P workloada -p mysql.password='***' -p recordcount=5 --table=t"
        );
    }
}
