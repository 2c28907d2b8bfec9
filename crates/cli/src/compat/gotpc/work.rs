//! A command line that was understood, and what it asks for.

use super::{Tool, flags, target};
use crate::exit::Failure;
use crate::plan::BoundWorkload;
use crate::render::language;
use crate::stdio::Aside;
use tidemark_compat::OutputStyle;
use tidemark_core::{OptionValues, Source, Target};
use tidemark_report::Lang;
use tidemark_workloads::Definition;

/// A command line that was understood.
pub struct GoTpcWork<'a> {
    /// Which command of Tidemark's.
    pub tool: &'a Tool,
    /// The workload's row of the registry.
    pub definition: &'static Definition,
    /// Every option's effective value.
    pub options: &'a OptionValues,
    /// How figures are printed.
    pub style: OutputStyle,
    /// Language of reports.
    pub lang: Lang,
}

impl<'a> GoTpcWork<'a> {
    /// Of these options.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    pub fn new(tool: &'a Tool, options: &'a OptionValues) -> Result<Self, Failure> {
        Ok(Self {
            tool,
            definition: tool.definition()?,
            options,
            style: options.text("output").parse().map_err(Failure::usage)?,
            lang: language(options.text("lang")),
        })
    }

    /// Where lines go that go-tpc does not print.
    pub fn aside(&self) -> Aside {
        Aside::of(self.style)
    }

    /// The target that the flags name.
    ///
    /// # Errors
    /// [`Failure`] of bad usage.
    pub fn target(&self) -> Result<Target, Failure> {
        target::target(self.options)
    }

    /// The workload on the target that the flags name, for commands that make no job.
    ///
    /// # Errors
    /// [`Failure`] of bad usage, or of connection when a host has no address.
    pub fn plan(&self) -> Result<BoundWorkload, Failure> {
        BoundWorkload::new(self.definition, self.options, self.target()?, false)
    }

    /// The command that makes the tables a run needs, as the user would write it.
    pub fn prepare_command(&self) -> String {
        let mut words: Vec<String> = vec!["tidemark".into(), self.tool.name.into()];
        let connects: Vec<&str> = flags::connection().collect();
        for (name, value, source) in self.options.shown() {
            let wanted = self.tool.shapes.contains(&name) || connects.contains(&name);
            if source == Source::CommandLine && wanted {
                words.push(format!("--{name}={value}"));
            }
        }
        words.push("prepare".into());
        crate::shell::line(&words)
    }
}
