//! `check`, and the checks after a load and after a run.

use crate::compat::gotpc::GoTpcWork;
use crate::exit::{ExitCode, Failure};
use crate::loading::say;
use crate::looking::describe_counting;
use crate::pacing::terminals_and_sessions;
use crate::plan::BoundWorkload;
use crate::texts::progress as texts;
use crate::{interrupt, progress, ready};
use indicatif::ProgressBar;
use std::io::Write;
use tidemark_engine::{CheckObserver, CheckReport, CheckSpec, ConditionReport, ConditionVerdict};
use tidemark_report::Lang;

/// More sessions than this don't make a check quicker.
const MOST_SESSIONS: usize = 16;

/// The command of its own.
///
/// # Errors
/// As [`after`], and [`ready::tables`].
pub(super) fn alone(work: &GoTpcWork<'_>) -> Result<ExitCode, Failure> {
    let plan = work.plan()?;
    let (_, threads) = terminals_and_sessions(work.options)?;
    let prepare = work.prepare_command();
    let described = describe_counting(&plan.connector, &plan.workload, threads, 0)
        .map_err(|error| ready::failed(error, &prepare))?;
    let needed = plan.workload.needs(threads);
    let insists = work.options.flag("force");
    ready::tables(&needed, &described, insists, &prepare)?;
    let mut out = work.aside();
    let report = ask(work, &plan, threads, &mut out)?;
    judge(&report, When::AnyTime, &mut out)?;
    say(&mut out, "Finished");
    Ok(ExitCode::Success)
}

/// As [`alone`], after a load that is to be checked.
///
/// # Errors
/// As [`after`].
pub(super) fn after_load(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (_, threads) = terminals_and_sessions(work.options)?;
    match work.options.flag("no-check") {
        true => Ok(()),
        false => after(work, plan, threads, out),
    }
}

/// As [`alone`], after the load or run of this command.
///
/// # Errors
/// [`ExitCode::Check`] when a condition does not hold; [`ExitCode::Failed`] when one could not be
/// asked; the engine's failure when none could.
pub(super) fn after(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let report = ask(work, plan, threads, out)?;
    judge(&report, When::After, out)
}

/// When conditions are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// A run of another client may go on.
    AnyTime,
    /// What this client did has ended.
    After,
}

/// Asks every consistency condition (clause 3.3.2) and tells each verdict.
fn ask(
    work: &GoTpcWork<'_>,
    plan: &BoundWorkload,
    threads: usize,
    out: &mut dyn Write,
) -> Result<CheckReport, Failure> {
    let spec = CheckSpec {
        threads: threads.min(MOST_SESSIONS),
        snapshot: work.options.flag("snapshot"),
        only: None,
    };
    let report = {
        let mut observer = CheckPrinter {
            out,
            lang: work.lang,
            bar: None,
        };
        let stop = interrupt::handle();
        tidemark_engine::check(&plan.connector, &plan.workload, &spec, &stop, &mut observer)
    };
    report.map_err(|e| ready::failed(e, &work.prepare_command()))
}

/// Of conditions that compare what a run changes in several statements, and may seem broken while it
/// does.
const CHANGING: &str = "3.3.2.";

fn judge(report: &CheckReport, when: When, out: &mut dyn Write) -> Result<(), Failure> {
    let count = |wanted: fn(&ConditionVerdict) -> bool| {
        let verdicts = report.conditions.iter().map(|c| &c.verdict);
        verdicts.filter(|v| wanted(v)).count()
    };
    let all = report.conditions.len();
    let held = count(|v| *v == ConditionVerdict::Holds);
    let broken = count(|v| matches!(v, ConditionVerdict::Violated { .. }));
    say(
        out,
        &format!(
            "{held} of {all} consistency conditions hold ({:.2} s{})",
            report.elapsed.as_secs_f64(),
            if report.snapshot {
                ", in one snapshot"
            } else {
                ""
            }
        ),
    );
    match (broken, all - held) {
        (0, 0) => Ok(()),
        (0, unasked) => Err(Failure::new(
            ExitCode::Failed,
            format!("{unasked} of {all} consistency conditions could not be checked: see above"),
        )),
        (broken, _) => {
            let mut conditions = report.conditions.iter();
            let may_seem_so = conditions.any(|c| {
                matches!(c.verdict, ConditionVerdict::Violated { .. })
                    && c.name.starts_with(CHANGING)
            });
            let advice = if may_seem_so && when == When::AnyTime && !report.snapshot {
                ". During a run they hold only in one snapshot: add --snapshot"
            } else {
                ""
            };
            Err(Failure::new(
                ExitCode::Check,
                format!("{broken} of {all} consistency conditions do not hold: see above{advice}"),
            ))
        }
    }
}

/// Tells of each condition as it is found, and shows progress where there is a terminal.
struct CheckPrinter<'a> {
    out: &'a mut dyn Write,
    lang: Lang,
    bar: Option<ProgressBar>,
}

impl CheckObserver for CheckPrinter<'_> {
    fn progress(&mut self, done: u64, total: u64) {
        let bar = self
            .bar
            .get_or_insert_with(|| progress::bar(total, texts::statements(self.lang), self.lang));
        bar.set_position(done);
    }

    fn verdict(&mut self, found: &ConditionReport) {
        let line = line(found, self.lang);
        match &self.bar {
            Some(bar) => bar.suspend(|| say(self.out, &line)),
            None => say(self.out, &line),
        }
    }
}

fn line(found: &ConditionReport, lang: Lang) -> String {
    let (name, seconds) = (found.name, found.seconds);
    match lang {
        Lang::En => format!(
            "Condition {name}: {} ({seconds:.2} s): {}",
            found.verdict, found.says.en
        ),
        Lang::Zh => {
            let verdict = match &found.verdict {
                ConditionVerdict::Holds => "成立".into(),
                ConditionVerdict::Violated { violations, first } => {
                    let columns: Vec<String> = first
                        .iter()
                        .map(|(name, value)| {
                            format!("{name}={}", value.as_deref().unwrap_or("NULL"))
                        })
                        .collect();
                    format!("不成立，共 {violations} 处，首处：{}", columns.join("，"))
                }
                ConditionVerdict::NotAsked(error) => format!("无法检查：{error}"),
            };
            format!(
                "条件 {name}：{verdict}（{seconds:.2} 秒）：{}",
                found.says.zh
            )
        }
    }
}

impl Drop for CheckPrinter<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_workloads::Sentence;

    fn said(broken: &'static str, snapshot: bool, when: When) -> String {
        let conditions = ["4.3.3.1", "3.3.2.1"].map(|name| ConditionReport {
            name,
            says: Sentence { en: "", zh: "" },
            verdict: match name == broken {
                true => ConditionVerdict::Violated {
                    violations: 1,
                    first: Vec::new(),
                },
                false => ConditionVerdict::Holds,
            },
            seconds: 0.0,
        });
        let report = CheckReport {
            conditions: conditions.into(),
            snapshot,
            sessions: 1,
            elapsed: Duration::ZERO,
        };
        let failure = judge(&report, when, &mut Vec::new()).unwrap_err();
        assert_eq!(failure.code, ExitCode::Check);
        failure.message
    }

    #[test]
    fn a_snapshot_is_advised_where_it_may_help() {
        let plain = "1 of 2 consistency conditions do not hold: see above";
        let advised = said("3.3.2.1", false, When::AnyTime);
        assert_eq!(
            advised.strip_prefix(plain).unwrap().split(": ").last(),
            Some("add --snapshot")
        );
        // There was one; nothing goes on; or no run changes it.
        assert_eq!(said("3.3.2.1", true, When::AnyTime), plain);
        assert_eq!(said("3.3.2.1", false, When::After), plain);
        assert_eq!(said("4.3.3.1", false, When::AnyTime), plain);
    }
}
