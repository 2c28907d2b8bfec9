//! Words in the wrong place of the command line, and what was probably meant.

use crate::exit::{ExitCode, Failure};
use crate::secrets;
use tidemark_core::printable_document;

/// How a target is given.
const TARGET: &str = "a target is given behind a workload, as in: tidemark sysbench \
                      oltp_read_write --target=mysql://user:password@host:3306/sbtest run; or to: \
                      tidemark doctor TARGET";

/// What every family of workloads has.
const COMMANDS: &[&str] = &["prepare", "prewarm", "run", "cleanup", "check", "load"];

/// Refuses a first word that is a target, a workload or what is done with one; clap would offer
/// what is spelled nearly like it.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn refuse(word: &str, rest: &[String]) -> Result<(), Failure> {
    if is_target(word) {
        return Err(Failure::usage(format!("{word} is no command: {TARGET}")));
    }
    if COMMANDS.contains(&word) {
        // Others have their own words for these two.
        let (name, command) = match word {
            "check" => ("tpcc", "check"),
            "load" => ("ycsb", "load mysql -P workloada"),
            command => ("sysbench oltp_read_write", command),
        };
        return Err(Failure::usage(format!(
            "{word} is done with a workload: tidemark sysbench WORKLOAD [options]... {word}, and \
             likewise tidemark tpcc, tpch, ycsb and oltpbench; for example: tidemark {name} \
             {command}; tidemark workloads lists them"
        )));
    }
    let family = tidemark_workloads::registry()
        .iter()
        .find(|d| d.name == word && d.family == "oltp");
    if family.is_some() {
        let command = rest.iter().rev().find(|w| COMMANDS.contains(&w.as_str()));
        let command = command.map_or("run", String::as_str);
        return Err(Failure::usage(format!(
            "{word} is a script of sysbench's: tidemark sysbench {word} [options]... {command}"
        )));
    }
    Ok(())
}

/// What clap did not understand, in its own words, or help that was asked for.
pub fn told(error: &clap::Error, words: &[String]) -> ExitCode {
    // Help and version are no errors; clap writes them to the right place.
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::Success;
    }
    let said = error.render().to_string();
    if secrets::hide(&said) == said && printable_document(&said) == said {
        // In clap's colours.
        let _ = error.print();
    } else {
        eprint!("{said}");
    }
    if words.iter().skip(1).any(|word| is_target(word))
        && words.first().is_some_and(|w| w != "doctor")
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
