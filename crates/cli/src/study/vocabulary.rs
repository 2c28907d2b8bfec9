//! What a study may ask of the commands, and the jobs that its steps become.

use crate::exit::Failure;
use crate::frontend::{self, StudySupport};
use crate::jobs::Adapter;
use crate::runner::Order;
use tidemark_core::OptionValues;
use tidemark_study::{Commands, Family, JobKind, StepCommand};

/// The commands of this program.
pub struct Vocabulary;

/// A family's command, as studies use it; nothing of one that has no command here.
fn command(family: &Family) -> Option<(&'static Adapter, StudySupport)> {
    let found = frontend::find(family.command.word)?;
    found.runs.zip(found.study)
}

impl Commands for Vocabulary {
    fn takes(&self, family: &Family, kind: JobKind, option: &str) -> bool {
        let Some((adapter, support)) = command(family) else {
            return false;
        };
        let is_of_loads = adapter
            .key_of(option)
            .is_some_and(|key| key.starts_with("prepare."));
        match is_of_loads {
            true => kind == JobKind::Load,
            false => (support.takes)(kind, option),
        }
    }

    fn shapes(&self, family: &Family, option: &str) -> bool {
        command(family).is_some_and(|(_, support)| (support.shapes)(option))
    }

    fn is_property(&self, family: &Family, option: &str) -> bool {
        command(family).is_some_and(|(_, support)| (support.is_property)(option))
    }

    fn job_key(&self, option: &str) -> Option<&'static str> {
        let commands = frontend::all().filter(|f| f.study.is_some());
        let mut adapters = commands.filter_map(|f| f.runs);
        adapters.find_map(|adapter| adapter.key_of(option))
    }

    fn options(&self, step: &StepCommand, url: &str) -> Result<OptionValues, String> {
        // What will be started has no address yet.
        let url = match url.strip_prefix("up:") {
            Some(engine) if engine.starts_with("postgres") => "postgres://u@h/d",
            Some(_) => "mysql://u@h/d",
            None => url,
        };
        let order = order(step, url);
        order.map(|o| o.options).map_err(|failure| failure.message)
    }
}

/// The job of a step on the target of this URL, with what a job may not hold.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn order(step: &StepCommand, url: &str) -> Result<Order, Failure> {
    let (adapter, support) =
        command(step.family).ok_or_else(|| Failure::usage("no command of a study"))?;
    let found = (support.options)(step, url)?;
    let words = step.words(url);
    let mut order = (adapter.order)(step.kind, found.values, found.definition, words)?;
    order.job.notes.extend(found.notes);
    Ok(order)
}
