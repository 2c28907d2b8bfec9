//! `--diagnose` of a study: experiments around the job at the knee of each throughput curve, when all steps
//! are over and the databases are still there.

use super::args::ExperimentArgs;
use super::execute::StudyExecution;
use super::interrupt::is_asked_to_end;
use super::put_back::put_back;
use super::settings;
use crate::diagnose::{self, DiagnosisOptions, SHORTEST};
use crate::exit::{ExitCode, Failure};
use crate::texts::study as texts;
use std::collections::BTreeMap;
use std::time::Duration;
use tidemark_core::duration_text::written;
use tidemark_store::{StepState, Store};
use tidemark_study::{JobKind, PlannedStep, StudyPlan};

/// Factors that are a load.
pub(super) const LOADS: [&str; 4] = ["threads", "terminals", "rate", "connections"];
/// Share of the highest throughput from which a load is at the knee: more load brings little more.
const KNEE: f64 = 0.95;
/// Time for each curve where none is given.
const EACH: Duration = Duration::from_secs(180);

/// Runs that differ in nothing but their load.
#[derive(Debug, PartialEq)]
struct Curve {
    name: String,
    /// Places of their steps.
    steps: Vec<usize>,
}

/// A load of a curve with its last good run.
struct CurveLevel {
    step: usize,
    run: String,
}

/// Experiments at each throughput curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedExperiments {
    /// Time for those of one curve.
    pub each: Duration,
    /// Whether settings of a server that is no sandbox may be changed.
    pub may_change_settings: bool,
}

/// The experiments at each throughput curve of a study; `None` where none are asked for.
///
/// # Errors
/// [`Failure`] of a budget that is too small for all of them.
pub fn experiments_asked(
    words: &ExperimentArgs,
    plan: &StudyPlan,
) -> Result<Option<AskedExperiments>, Failure> {
    let Some(budget) = words.diagnose else {
        return Ok(None);
    };
    let count = u32::try_from(curves(plan).len()).unwrap_or(u32::MAX).max(1);
    let each = budget.map_or(EACH, |budget| budget / count);
    if each < SHORTEST {
        let given = budget.map_or_else(String::new, written);
        let curves = tidemark_core::counted(count.into(), "throughput curve", "throughput curves");
        let least = written(SHORTEST.saturating_mul(count));
        return Err(Failure::usage(format!(
            "--diagnose={given}: the study has {curves}, and each needs 20s, which is time for four \
             pairs of short runs; for example --diagnose={least}"
        )));
    }
    Ok(Some(AskedExperiments {
        each,
        may_change_settings: words.may_change_settings,
    }))
}

/// A cell's name without its load.
fn curve_of(step: &PlannedStep) -> String {
    let is_load = |part: &&str| {
        let name = part.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| LOADS.contains(&name))
    };
    let parts = step.cell.split('/').filter(|part| !is_load(part));
    parts.collect::<Vec<_>>().join("/")
}

/// The throughput curves, in the order of their first steps.
fn curves(plan: &StudyPlan) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    let steps = plan.steps.iter().enumerate();
    for (at, step) in steps.filter(|(_, step)| step.kind == JobKind::Run) {
        let name = curve_of(step);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.steps.push(at),
            None => curves.push(Curve {
                name,
                steps: vec![at],
            }),
        }
    }
    curves
}

/// The place of the smallest load that has nearly the highest throughput; loads are in order.
fn knee(rates: &[f64]) -> Option<usize> {
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let is_near = |rate: &f64| *rate > 0.0 && *rate >= KNEE * highest;
    rates.iter().position(is_near)
}

impl StudyExecution<'_> {
    /// Makes the experiments for each curve that has none yet, and keeps what they show in the record of the
    /// run at its knee. Where something kept one from being made, the code says so.
    ///
    /// # Errors
    /// [`Failure`] when the store or a server's settings can't be written.
    pub(super) fn diagnose(
        &mut self,
        asked: AskedExperiments,
        in_tables: &BTreeMap<String, usize>,
    ) -> Result<ExitCode, Failure> {
        let mut code = ExitCode::Success;
        for curve in curves(self.plan) {
            if is_asked_to_end() {
                return Ok(ExitCode::Interrupted);
            }
            let Some(level) = self.knee_of(&curve)? else {
                self.not_diagnosed(&curve.name, texts::no_valid_run(self.lang));
                continue;
            };
            if self.store.get(&level.run)?.experiments.is_some() {
                continue;
            }
            if !self.has_data(&level, in_tables) {
                let why = texts::data_gone(self.lang, &level.run);
                self.not_diagnosed(&curve.name, &why);
                continue;
            }
            let made = self.experiments_at(&curve, &level, asked);
            // Also after a failure.
            put_back(&mut self.store, &self.id, self.places)?;
            match made {
                Ok(true) => {}
                Ok(false) => return Ok(ExitCode::Interrupted),
                Err(_) if is_asked_to_end() => return Ok(ExitCode::Interrupted),
                Err(failure) => {
                    self.not_diagnosed(&curve.name, &failure.message);
                    code = ExitCode::Failed;
                }
            }
        }
        Ok(code)
    }

    fn not_diagnosed(&self, curve: &str, why: &str) {
        say!("\n{}", texts::not_diagnosed(self.lang, curve, why));
    }

    /// The knee of a curve, of runs that may be used.
    fn knee_of(&self, curve: &Curve) -> Result<Option<CurveLevel>, Failure> {
        let rows = self.store.steps(&self.id)?;
        let runs = self.store.runs_of(&self.id)?;
        let mut levels: Vec<(Vec<f64>, Vec<f64>, CurveLevel)> = Vec::new();
        for at in &curve.steps {
            let row = rows.get(*at).filter(|row| row.state == StepState::Done);
            let run = row.and_then(|row| row.run_id.as_ref());
            let run = run.and_then(|id| runs.iter().find(|run| run.run.id == *id));
            let (Some(run), Some(step)) = (run, self.plan.steps.get(*at)) else {
                continue;
            };
            let load = LOADS.iter().filter_map(|name| step.factors.get(*name));
            let load: Vec<f64> = load.filter_map(|value| value.parse().ok()).collect();
            let rate = run.run.transactions_per_s();
            let level = CurveLevel {
                step: *at,
                run: run.run.id.clone(),
            };
            match levels.iter_mut().find(|(of, ..)| *of == load) {
                Some((_, rates, last)) => {
                    rates.push(rate);
                    *last = level;
                }
                None => levels.push((load, vec![rate], level)),
            }
        }
        levels.sort_by(|(a, ..), (b, ..)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let means = levels
            .iter()
            .map(|(_, rates, _)| tidemark_stats::mean(rates.iter().copied()));
        let at = knee(&means.collect::<Vec<f64>>());
        Ok(at.map(|at| levels.swap_remove(at).2))
    }

    /// Whether the tables hold what the run's load makes, or another load of the same data.
    fn has_data(&self, level: &CurveLevel, in_tables: &BTreeMap<String, usize>) -> bool {
        let load = |at: usize| self.plan.steps.get(at).map(|step| &step.cell);
        let Some(step) = self.plan.steps.get(level.step) else {
            return false;
        };
        let there = in_tables.get(&step.tables).and_then(|at| load(*at));
        there.is_some() && there == step.load.and_then(load)
    }

    /// Makes the experiments around a run's job, prints what they show and keeps it in the run's record;
    /// whether all were made.
    fn experiments_at(
        &mut self,
        curve: &Curve,
        level: &CurveLevel,
        asked: AskedExperiments,
    ) -> Result<bool, Failure> {
        let gone = || Failure::new(ExitCode::Failed, "the step's target does not exist");
        let step = self.plan.steps.get(level.step).ok_or_else(gone)?;
        let place = self.places.get(step.place).ok_or_else(gone)?;
        let mut order = self.order(level.step, step, place, None)?;
        order.job.study = None;
        order.job.sum_tables = false;
        // What no experiment applies to is no failure.
        if let Err(failure) = diagnose::check(&order.job) {
            self.not_diagnosed(&curve.name, &failure.message);
            return Ok(true);
        }
        say!("\n{}", texts::experiments_around(self.lang, &step.cell));
        if !step.global.is_empty() {
            let told = settings::apply(&mut self.store, &self.id, place, &step.global)?;
            told.iter().for_each(|line| say!("{line}"));
        }
        let asked = DiagnosisOptions {
            budget: asked.each,
            may_change_settings: asked.may_change_settings,
            is_text: true,
            lang: self.lang,
        };
        let store = Store::open(self.store.path())?;
        let (found, back) = diagnose::experiments(order.job, Some(order.target), store, &asked)?;
        say!("{}", diagnose::in_words(&found, self.lang).trim_end());
        diagnose::attach(&mut self.store, &level.run, &found)?;
        back?;
        Ok(!found.interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::understand;
    use super::*;

    fn plan(load: &str) -> StudyPlan {
        let text = format!(
            "name = \"s\"\ntime = 1\nrepeats = 2\n[[target]]\nname = \"a\"\nurl = \"sqlite:a.db\"\n\
             [[target]]\nname = \"b\"\nurl = \"sqlite:b.db\"\n[[workload]]\nname = \"oltp_read_only\"\n\
             [load]\n{load}\n"
        );
        understand(text, "s").unwrap().plan
    }

    #[test]
    fn curves_differ_in_more_than_their_load() {
        let curves = curves(&plan("threads = [1, 2]"));
        let names: Vec<&str> = curves.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["a/oltp_read_only", "b/oltp_read_only"]);
        assert!(curves.iter().all(|c| c.steps.len() == 4), "{curves:?}");
    }

    #[test]
    fn the_knee_is_the_smallest_load_with_nearly_the_highest_throughput() {
        assert_eq!(knee(&[100.0, 190.0, 355.0, 370.0, 360.0]), Some(2));
        assert_eq!(knee(&[100.0, 200.0, 400.0]), Some(2));
        assert_eq!(knee(&[400.0, 200.0]), Some(0));
        assert_eq!(knee(&[0.0]), None);
        assert_eq!(knee(&[]), None);
    }

    #[test]
    fn a_budget_is_for_all_curves_together() {
        let plan = plan("threads = [1, 2]");
        let each = |diagnose| {
            let words = ExperimentArgs {
                diagnose,
                may_change_settings: false,
            };
            let asked = experiments_asked(&words, &plan);
            let each = asked.map(|asked| asked.map(|asked| asked.each));
            each.map_err(|failure| failure.message)
        };
        let seconds = |n| Some(Some(Duration::from_secs(n)));
        assert_eq!(each(None), Ok(None));
        assert_eq!(each(Some(None)), Ok(Some(EACH)));
        assert_eq!(each(seconds(60)), Ok(Some(Duration::from_secs(30))));
        let told = each(seconds(30)).unwrap_err();
        for part in ["--diagnose=30s", "2 throughput curves", "--diagnose=40s"] {
            assert!(told.contains(part), "{told}");
        }
    }
}
