//! Words in the wrong place of the command line, and what was probably meant.

use crate::exit::{ExitCode, Failure};
use crate::{frontend, help, messages, secrets};
use clap::error::ErrorKind;
use tidemark_core::printable_document;
use tidemark_workloads::{Family, Word, families};

/// How a target is given.
const TARGET: &str = "give the target after a workload, for example: tidemark sysbench \
                      oltp_read_write --target=mysql://user:password@host:3306/sbtest run; or: \
                      tidemark doctor TARGET";

/// Refuses a first word that is a target, a workload or what is done with one; clap would offer
/// what is spelled nearly like it.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn refuse(word: &str, rest: &[String]) -> Result<(), Failure> {
    if is_target(word) {
        return Err(Failure::usage(format!("{word} is not a command: {TARGET}")));
    }
    if let Some((_, example)) = commands().find(|(command, _)| *command == word) {
        let words: Vec<&str> = frontend::all().map(|f| f.word).collect();
        let (first, others) = words.split_first().unwrap_or((&"", &[]));
        let (last, others) = others.split_last().unwrap_or((&"", &[]));
        let others = others.join(", ");
        return Err(Failure::usage(format!(
            "{word} needs a workload: tidemark {first} WORKLOAD [options]... {word}, or tidemark \
             {others} or {last}; for example: tidemark {example}; tidemark workloads lists the \
             workloads"
        )));
    }
    let is_named = |f: &&Family| f.command.order.first() == Some(&Word::Name);
    let mut families = families().filter(is_named);
    if let Some(family) = families.find(|f| f.names().any(|name| name == word)) {
        let is_command = |w: &&String| commands().any(|(command, _)| command == **w);
        let command = rest.iter().rev().find(is_command);
        let command = command.map_or("run", String::as_str);
        return Err(Failure::usage(format!(
            "{word} is a {family} script: tidemark {family} {word} [options]... {command}"
        )));
    }
    Ok(())
}

/// What is done with workloads, with an example of each.
fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    frontend::all().flat_map(|f| f.commands).copied()
}

/// What clap did not understand, in its own words, or help that was asked for.
pub fn told(error: &clap::Error, words: &[String]) -> ExitCode {
    // Help and version are no errors; clap writes them to the right place.
    if !error.use_stderr() {
        if messages::is_translated() {
            crate::stdio::print(&help::asked_for(error));
        } else {
            // In clap's colours.
            let _ = error.print();
        }
        return ExitCode::Success;
    }
    let mut said = error.render().to_string();
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        said = help::in_language(&said).into_owned();
    }
    let is_as_said = secrets::hide(&said) == said && printable_document(&said) == said;
    if is_as_said && !messages::is_translated() {
        // In clap's colours.
        let _ = error.print();
    } else {
        eprint!("{said}");
    }
    if words.iter().skip(1).any(|word| is_target(word))
        && words.first().is_some_and(|w| w != "doctor" && w != "watch")
    {
        eprintln!("\n{TARGET}");
    }
    ExitCode::Usage
}

/// Whether a word looks like a target.
pub fn is_target(word: &str) -> bool {
    let account = || word.contains('@') && !word.contains(char::is_whitespace);
    !word.starts_with('-') && (word.contains("://") || word.starts_with("sqlite:") || account())
}
