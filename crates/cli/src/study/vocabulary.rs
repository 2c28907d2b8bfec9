//! What a study may ask of the commands, and the jobs that its steps become.

use crate::exit::Failure;
use crate::frontend::{self, StudySupport};
use crate::jobs::Adapter;
use crate::runner::JobOrder;
use tidemark_core::OptionValues;
use tidemark_study::{Commands, Family, JobKind, StepCommand};
use tidemark_workloads::SCRIPTS;

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
            // What a script takes is known when it is read: its options are set then.
            false => *family == SCRIPTS || (support.takes)(kind, option),
        }
    }

    fn shapes(&self, family: &Family, option: &str) -> bool {
        let Some((_, support)) = command(family) else {
            return false;
        };
        // A script's own options say what it loads and what it runs on.
        let is_of_script = *family == SCRIPTS
            && ![JobKind::Load, JobKind::Run]
                .into_iter()
                .any(|kind| (support.takes)(kind, option));
        is_of_script || (support.shapes)(option)
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
pub fn order(step: &StepCommand, url: &str) -> Result<JobOrder, Failure> {
    let (adapter, support) =
        command(step.family).ok_or_else(|| Failure::usage("not a command of a study"))?;
    let found = (support.options)(step, url)?;
    let words = step.words(url);
    let mut order = (adapter.order)(step.kind, found.values, found.definition, words)?;
    order.job.notes.extend(found.notes);
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::super::file::understand;

    fn study(workload: &str, options: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "name = \"s\"\ntime = 5\n[[target]]\nname = \"t\"\nurl = \"sqlite:a.db\"\n\
             [[workload]]\nname = \"{workload}\"\noptions = {{ {options} }}\n"
        );
        let read = understand(text, "s").map_err(|failure| failure.message)?;
        Ok(read.plan.steps.iter().map(|s| s.words.join(" ")).collect())
    }

    #[test]
    fn what_a_command_does_not_take_is_told_with_its_line() {
        for (workload, option, said) in [
            (
                "oltp_insert",
                "tabels = 2",
                "--tabels; did you mean --tables?",
            ),
            (
                "tpcc",
                "warehoses = 4",
                "--warehoses; did you mean --warehouses?",
            ),
            ("tpcc", "use_fk = true", "--use_fk; did you mean --use-fk?"),
            (
                "tpcc",
                "output-type = \"csv\"",
                "--output-type=csv and --print-job cannot be combined",
            ),
            (
                "tpcc",
                "wait = true, find-max = \"p99 < 1s\"",
                "--wait and --find-max",
            ),
            (
                "workloada",
                "recordcuont = 5",
                "recordcuont (-p); did you mean recordcount?",
            ),
        ] {
            let told = study(workload, option).unwrap_err();
            assert!(told.contains(&format!("s:8: {workload}: ")), "{told}");
            assert!(told.contains(said), "{told}");
        }
    }

    #[test]
    fn what_the_study_says_itself_no_option_says() {
        for (option, key) in [
            ("threads", "use [load]"),
            ("terminals", "use [load]"),
            ("threadcount", "use [load]"),
            ("connections", "use [load]"),
            ("rate", "use [load]"),
            ("time", "time of the study"),
            ("maxexecutiontime", "time of the study"),
            ("warmup", "warmup of the study"),
            ("warmup-time", "warmup of the study"),
            ("warmuptime", "warmup of the study"),
            ("mysql-password", "set it in a [[target]]"),
            ("password", "set it in a [[target]]"),
            ("private-key", "set it in a [[target]]"),
            ("mysql-host", "set the url"),
            ("db-driver", "set the url"),
            ("conn-params", "set the url"),
            ("config-file", "set the url"),
            ("target", "set the url"),
            ("store", "results are stored"),
            ("report", "results are stored"),
            ("lang", "results are stored"),
            ("replace", "reload and existing"),
            ("dropdata", "reload and existing"),
            ("keep-loaded", "reload and existing"),
            ("force", "reload and existing"),
            ("set_session", "session = "),
            ("inject-rtt", "use inject-rtt"),
            ("price", "price of the study"),
            ("print-job", "study plan shows"),
        ] {
            let told = study("tpcc", &format!("{option} = 1")).unwrap_err();
            assert!(told.contains(&format!("s:8: option {option}: ")), "{told}");
            assert!(told.contains(key), "{told}");
        }
    }

    #[test]
    fn runs_of_a_study_bear_its_tag() {
        let steps = study("tpcc", "tag = \"before\"").unwrap();
        assert!(steps[1].contains("tag=before"), "{steps:?}");
    }

    #[test]
    fn what_only_a_load_needs_is_given_to_the_load() {
        for (workload, options) in [
            ("oltp_insert", "chunk-rows = 7, load-method = \"insert\""),
            ("tpcc", "chunk-rows = 7, no-check = true"),
            ("workloada", "batch-size = 7, load-method = \"insert\""),
        ] {
            let steps = study(workload, options).unwrap();
            assert!(steps[0].contains("=7 "), "{steps:?}");
            for of_load in ["=7", "load-method", "no-check"] {
                assert!(!steps[1].contains(of_load), "{steps:?}");
            }
        }
    }
}
