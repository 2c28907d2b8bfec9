//! The experiments: pairs of a baseline and a change, in turn, as long as there is time.

use super::changes::{self, Change, Why};
use super::child_runs::{ChildRuns, NoRun, rate};
use super::client_cpu::may_use;
use super::global_setting::GlobalSetting;
use super::ping::ping_ms;
use super::told;
use crate::exit::Failure;
use crate::jobs;
use crate::plan::BoundWorkload;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tidemark_analysis::experiments::{
    Baseline, Evidence, Experiment, Verdict, is_decided, judge, order,
};
use tidemark_core::record::RunRecord;
use tidemark_core::{Job, Pacing, Target};
use tidemark_report::Lang;
use tidemark_stats::Ratio;
use tidemark_store::Store;

/// Pairs of every experiment for which there is time. Student's factor over the root of their number is
/// 2.5 of three, 1.6 of four and 1.2 of five: more short pairs tell more than fewer long ones.
const FEWEST_PAIRS: usize = 4;
/// What is undecided after so many is near its limit.
const MOST_PAIRS: usize = 12;
/// Runs are so long that about so many go into the budget.
const RUNS_IN_BUDGET: u64 = 180;
/// Seconds of a run at most.
const LONGEST_RUN: u64 = 10;
const LEVEL: f64 = 0.95;

/// What is asked of a diagnosis beside its job.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Time for all experiments.
    pub budget: Duration,
    /// Whether settings of a server that is no sandbox may be changed.
    pub may_change_settings: bool,
    /// Whether the result is for people.
    pub is_text: bool,
    /// Language of what is printed.
    pub lang: Lang,
}

/// A diagnosis that goes on.
pub struct Battery {
    runs: ChildRuns,
    base: Job,
    setting: GlobalSetting,
    may_change: bool,
    budget: Duration,
    lang: Lang,
    /// Of all baseline runs.
    rates: Vec<f64>,
    client_use: f64,
    measured: BTreeMap<Experiment, Vec<(f64, f64)>>,
    skipped: BTreeMap<Experiment, Why>,
}

/// What was found.
pub struct Found {
    /// The diagnosis, as its runs have it.
    pub id: String,
    /// What is known of it.
    pub baseline: Baseline,
    /// By experiment, throughput over the baseline's, and pairs.
    pub experiments: Vec<(Experiment, Ratio, usize)>,
    /// Experiments that were not made.
    pub skipped: Vec<(Experiment, Why)>,
    /// What they prove.
    pub verdict: Verdict,
    /// Whether the user ended it.
    pub interrupted: bool,
}

/// An experiment with what it changes.
type Planned = (Experiment, Change);

impl Battery {
    /// Of this job.
    ///
    /// # Errors
    /// [`Failure`] of bad usage, or of a setting that an earlier diagnosis left.
    pub fn new(
        job: Job,
        target: Option<Target>,
        store: Store,
        asked: &Asked,
    ) -> Result<Self, Failure> {
        let seconds = (asked.budget.as_secs() / RUNS_IN_BUDGET).clamp(1, LONGEST_RUN);
        let base = changes::baseline(&job, seconds);
        let order = jobs::order_of(&base, target.as_ref())?;
        let had_schedule = job.load.pacing != Pacing::Closed;
        if had_schedule && asked.is_text {
            told::aside(crate::texts::diagnose::closed_loop(asked.lang));
        }
        let mut setting = GlobalSetting::new(&order.target, store.path());
        setting.put_left_back()?;
        Ok(Self {
            runs: ChildRuns::new(store, order.target)?,
            base,
            setting,
            may_change: asked.may_change_settings,
            budget: asked.budget,
            lang: asked.lang,
            rates: Vec::new(),
            client_use: 0.0,
            measured: BTreeMap::new(),
            skipped: BTreeMap::new(),
        })
    }

    /// Makes all experiments for which there is time.
    ///
    /// # Errors
    /// [`Failure`] of the baseline's runs, or of settings that can't be put back.
    pub fn run(&mut self) -> Result<Found, Failure> {
        let begun = Instant::now();
        let order = self.runs.order(&self.base)?;
        let plan = BoundWorkload::of(&order)?;
        let only_reads = plan.workload.only_reads();
        told::begins(
            &self.base,
            only_reads,
            self.budget,
            &self.runs.id,
            self.lang,
        );
        let one = Instant::now();
        let first = match self.baseline_run() {
            Ok(record) => record,
            Err(NoRun::Failed(failure)) => return Err(failure),
            Err(NoRun::Interrupted) => {
                return Err(Failure::new(
                    crate::exit::ExitCode::Interrupted,
                    "interrupted before anything was measured",
                ));
            }
        };
        let mut pair_time = one.elapsed() * 2;
        let is_server = !plan.connector.hosts().is_empty();
        let ping = is_server.then(|| ping_ms(plan.connector.clone())).flatten();
        let statements = first.totals.statements.total() as f64;
        let mut baseline = Baseline {
            sessions: self.base.load.terminals.max(1),
            rate: rate(std::slice::from_ref(&first)),
            round_trips: statements / (first.totals.all.count as f64).max(1.0),
            ping_ms: ping,
            client_use: self.client_use,
            writes: !only_reads,
        };
        let planned = self.planned(&baseline, &first, only_reads);
        let done = self.all(&planned, begun, &mut pair_time);
        // What is said first is the failure of a run.
        let back = self.setting.back();
        let interrupted = match done {
            Ok(()) => false,
            Err(NoRun::Interrupted) => true,
            Err(NoRun::Failed(failure)) => return Err(failure),
        };
        back?;
        baseline.rate = self.rates.iter().sum::<f64>() / self.rates.len() as f64;
        baseline.client_use = self.client_use;
        Ok(self.found(baseline, interrupted))
    }

    /// Puts settings back, whatever happened.
    ///
    /// # Errors
    /// As [`GlobalSetting::back`].
    pub fn settings_back(&mut self) -> Result<(), Failure> {
        self.setting.back()
    }

    fn baseline_run(&mut self) -> Result<RunRecord, NoRun> {
        let mut records = self
            .runs
            .run("baseline", std::slice::from_ref(&self.base))?;
        let record = records.remove(0);
        self.rates.push(rate(std::slice::from_ref(&record)));
        let usage = &record.usage;
        if let Some(seconds) = usage.seconds.filter(|s| *s > 0.0) {
            let share = usage.work_s() / seconds / may_use(record.client.cores);
            let n = self.rates.len() as f64;
            self.client_use += (share - self.client_use) / n;
        }
        Ok(record)
    }

    /// What can be made, in its order.
    fn planned(
        &mut self,
        baseline: &Baseline,
        first: &RunRecord,
        only_reads: bool,
    ) -> Vec<Planned> {
        let mut planned = Vec::new();
        for experiment in order(baseline) {
            match self.possible(experiment, first, only_reads) {
                Ok(change) => planned.push((experiment, change)),
                Err(why) => {
                    self.skipped.insert(experiment, why);
                }
            }
        }
        planned
    }

    fn possible(
        &self,
        experiment: Experiment,
        first: &RunRecord,
        only_reads: bool,
    ) -> Result<Change, Why> {
        let change = changes::change(experiment, &self.base, first, only_reads)?;
        if change.setting.is_some() && !self.may_change && !self.setting.is_sandbox() {
            return Err(Why::Permission);
        }
        for job in &change.jobs {
            self.runs
                .order(job)
                .map_err(|failure| Why::Failed(failure.message))?;
        }
        Ok(change)
    }

    fn all(
        &mut self,
        planned: &[Planned],
        begun: Instant,
        pair_time: &mut Duration,
    ) -> Result<(), NoRun> {
        for (experiment, change) in planned {
            let needed = *pair_time * FEWEST_PAIRS as u32;
            if begun.elapsed() + needed > self.budget {
                self.skipped.insert(*experiment, Why::Budget);
                continue;
            }
            while self.pairs(*experiment) < FEWEST_PAIRS && self.can_go_on(*experiment) {
                self.pair(*experiment, change, pair_time)?;
            }
        }
        // What is left of the time is for what is undecided.
        loop {
            let mut is_over = true;
            for (experiment, change) in planned {
                let is_open = self.measured.contains_key(experiment)
                    && self.can_go_on(*experiment)
                    && self.pairs(*experiment) < MOST_PAIRS
                    && !self
                        .ratio(*experiment)
                        .is_some_and(|of| is_decided(*experiment, &of));
                if is_open && begun.elapsed() + *pair_time <= self.budget {
                    self.pair(*experiment, change, pair_time)?;
                    is_over = false;
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }

    fn pairs(&self, experiment: Experiment) -> usize {
        self.measured.get(&experiment).map_or(0, Vec::len)
    }

    fn can_go_on(&self, experiment: Experiment) -> bool {
        !self.skipped.contains_key(&experiment)
    }

    fn ratio(&self, experiment: Experiment) -> Option<Ratio> {
        Ratio::of_pairs(self.measured.get(&experiment)?, LEVEL)
    }

    /// A baseline and a change. A change that can't run is skipped; a baseline that can't is the end.
    fn pair(
        &mut self,
        experiment: Experiment,
        change: &Change,
        pair_time: &mut Duration,
    ) -> Result<(), NoRun> {
        let begun = Instant::now();
        let before = rate(&[self.baseline_run()?]);
        let changed = self.changed_run(experiment, change)?;
        let Some(after) = changed else {
            return Ok(());
        };
        *pair_time = begun.elapsed().max(*pair_time);
        let pair = match change.is_inverse {
            true => (after, before),
            false => (before, after),
        };
        self.measured.entry(experiment).or_default().push(pair);
        told::pair(
            experiment,
            self.pairs(experiment),
            self.ratio(experiment),
            self.lang,
        );
        Ok(())
    }

    fn changed_run(
        &mut self,
        experiment: Experiment,
        change: &Change,
    ) -> Result<Option<f64>, NoRun> {
        if let Some((name, value)) = change.setting
            && let Err(failure) = self.setting.change(self.runs.store(), name, value)
        {
            self.setting.back()?;
            self.skipped
                .insert(experiment, Why::Failed(failure.message));
            return Ok(None);
        }
        let done = self.runs.run(experiment.id(), &change.jobs);
        self.setting.back()?;
        match done {
            Ok(records) => Ok(Some(rate(&records))),
            Err(NoRun::Failed(failure)) => {
                self.measured.remove(&experiment);
                self.skipped
                    .insert(experiment, Why::Failed(failure.message));
                Ok(None)
            }
            Err(interrupted) => Err(interrupted),
        }
    }

    fn found(&self, baseline: Baseline, interrupted: bool) -> Found {
        let measured = self.measured.iter();
        let experiments: Vec<(Experiment, Ratio, usize)> = measured
            .filter_map(|(e, pairs)| Some((*e, Ratio::of_pairs(pairs, LEVEL)?, pairs.len())))
            .collect();
        let excluded = self.skipped.iter().filter(|(_, why)| why.excludes());
        let verdict = judge(&Evidence {
            baseline,
            measured: experiments.iter().map(|(e, of, _)| (*e, *of)).collect(),
            excluded: excluded.map(|(e, _)| *e).collect(),
        });
        Found {
            id: self.runs.id.clone(),
            baseline,
            experiments,
            skipped: self.skipped.clone().into_iter().collect(),
            verdict,
            interrupted,
        }
    }
}
