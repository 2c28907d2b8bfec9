//! `--diagnose[=BUDGET]` of a benchmark's run: the experiments follow when it has ended, and are kept in its
//! record. `--may-change-settings` beside it is theirs.

use crate::exit::{ExitCode, Failure};
use crate::frontend::Frontend;
use crate::program;
use crate::record_outputs::last_kept;
use std::os::unix::process::CommandExt;
use std::process::Command;
use tidemark_core::parse_duration;

const FLAG: &str = "--diagnose";
const BUDGET: &str = "3m";
const ALLOWS: &str = "--may-change-settings";

/// Runs a benchmark's command line, and where it says so a diagnosis of the same in the place of this
/// process, whose Ctrl-C is the run's.
///
/// # Errors
/// As the command; [`Failure`] of a budget that is no time.
pub fn run(command: &Frontend, args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    let Some(budget) = words.iter().rev().find_map(|word| budget(word)) else {
        if words.iter().any(|word| word == ALLOWS) {
            return Err(Failure::usage(format!(
                "{ALLOWS}: belongs to {FLAG}; for example {FLAG}={BUDGET} {ALLOWS}"
            )));
        }
        return (command.main)(args, words);
    };
    if !parse_duration(budget).is_ok_and(|time| time >= super::SHORTEST) {
        return Err(Failure::usage(format!(
            "{FLAG}={budget}: must be a time of 20s or more; for example {FLAG}={BUDGET}"
        )));
    }
    let may_change = words.iter().any(|word| word == ALLOWS);
    let kept = |words: &[String]| -> Vec<String> {
        let others = words
            .iter()
            .filter(|word| self::budget(word).is_none() && *word != ALLOWS);
        others.cloned().collect()
    };
    let words = kept(words);
    let code = (command.main)(&kept(args), &words)?;
    if code != ExitCode::Success {
        return Ok(code);
    }
    let failed = |e: std::io::Error| {
        Failure::new(
            ExitCode::Failed,
            format!("{FLAG}: the program can't be started: {e}"),
        )
    };
    let program = program::path().map_err(failed)?;
    let mut diagnosis = Command::new(program);
    diagnosis
        .arg0("tidemark")
        .env_remove(crate::secrets::VARIABLE)
        .args(["diagnose", "--budget", budget])
        .args(may_change.then_some(ALLOWS));
    // A run that is in no store has no record to keep them in.
    if let Some(run) = last_kept() {
        diagnosis.args(["--keep-with", &run]);
    }
    Err(failed(diagnosis.arg(command.word).args(words).exec()))
}

/// The budget that a word asks for.
fn budget(word: &str) -> Option<&str> {
    match word.strip_prefix(FLAG)? {
        "" => Some(BUDGET),
        rest => rest.strip_prefix('='),
    }
}

#[cfg(test)]
mod tests {
    use super::budget;

    #[test]
    fn a_budget_has_a_default() {
        assert_eq!(budget("--diagnose"), Some("3m"));
        assert_eq!(budget("--diagnose=45s"), Some("45s"));
        assert_eq!(budget("--diagnosed"), None);
        assert_eq!(budget("run"), None);
    }
}
