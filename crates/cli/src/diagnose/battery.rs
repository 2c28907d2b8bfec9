//! The experiments: pairs of a baseline and a change, in turn, as long as there is time.

use super::changes::{self, ExperimentChange, Why};
use super::child_runs::{ChildRuns, NoRun};
use super::global_setting::GlobalSetting;
use super::ping::{PingsBeside, can_be_asked, ping_alone};
use super::quiet::{PAUSE, busy_now, pause};
use super::run_facts::{self, Facts, opened, rate, round_trips, seconds_for};
use super::together::{Apart, rate_together};
use super::told;
use crate::exit::Failure;
use crate::jobs;
use crate::plan::BoundWorkload;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tidemark_analysis::experiments::{
    Baseline, Evidence, Experiment, ExperimentVerdict, FEWEST_PAIRS, Progress, baseline_goes_first,
    judge, order, ratio, wants_more,
};
use tidemark_core::record::RunRecord;
use tidemark_core::{Job, Pacing, Target};
use tidemark_drivers::Connector;
use tidemark_report::Lang;
use tidemark_stats::{Ratio, median};
use tidemark_store::Store;

/// Runs are so long that about so many go into the budget.
const RUNS_IN_BUDGET: u64 = 180;
/// Seconds of a run at most.
const LONGEST_RUN: u64 = 10;
/// Seconds that a run takes beside its time, as long as nobody knows.
const USUAL_OVERHEAD: f64 = 0.5;

/// What is asked of a diagnosis beside its job.
#[derive(Debug, Clone, Copy)]
pub struct DiagnosisOptions {
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
    begun: Instant,
    budget: Duration,
    lang: Lang,
    /// Of baseline runs as the job has them.
    facts: Facts,
    /// Of the runs on the first hundredth of the rows.
    on_one_percent: Progress,
    /// To a server that is asked beside the load.
    asked: Option<Connector>,
    /// The share of the client's host that was busy before them.
    busy_before: Option<f64>,
    is_embedded: bool,
    /// Sessions that the first one had.
    opened: usize,
    later_ms: f64,
    /// What runs took beside their time, in seconds.
    overheads: Vec<f64>,
    measured: BTreeMap<Experiment, Vec<(f64, f64)>>,
    skipped: BTreeMap<Experiment, Why>,
    /// Experiments that failed when they had pairs enough.
    ended: BTreeSet<Experiment>,
}

/// What was found.
pub struct BatteryResult {
    /// The diagnosis, as its runs have it.
    pub id: String,
    /// What is known of it.
    pub baseline: Baseline,
    /// Whether the database is in the client.
    pub is_embedded: bool,
    /// Milliseconds that the job itself adds to each round trip.
    pub injected_ms: f64,
    /// The lowest and the highest rate of its runs, where they are far apart.
    pub unsteady: Option<(f64, f64)>,
    /// By experiment, throughput over the baseline's, and pairs.
    pub experiments: Vec<(Experiment, Ratio, usize)>,
    /// Experiments that were not made.
    pub skipped: Vec<(Experiment, Why)>,
    /// What they prove.
    pub verdict: ExperimentVerdict,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// What ended it before its time.
    pub ended_by: Option<Failure>,
}

/// An experiment with what it changes.
type Planned = (Experiment, ExperimentChange);

impl Battery {
    /// Of this job.
    ///
    /// # Errors
    /// [`Failure`] of bad usage, or of a setting that an earlier diagnosis left.
    pub fn new(
        job: Job,
        target: Option<Target>,
        store: Store,
        asked: &DiagnosisOptions,
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
            begun: Instant::now(),
            budget: asked.budget,
            lang: asked.lang,
            facts: Facts::default(),
            on_one_percent: Progress::default(),
            asked: None,
            busy_before: None,
            is_embedded: false,
            opened: 0,
            later_ms: 0.0,
            overheads: Vec::new(),
            measured: BTreeMap::new(),
            skipped: BTreeMap::new(),
            ended: BTreeSet::new(),
        })
    }

    /// Makes all experiments for which there is time, and judges what there is.
    ///
    /// # Errors
    /// [`Failure`] of a baseline's run before anything was measured.
    pub fn run(&mut self) -> Result<BatteryResult, Failure> {
        self.begun = Instant::now();
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
        let is_server = !plan.connector.hosts().is_empty();
        self.is_embedded = !is_server;
        self.busy_before = is_server.then(busy_now);
        let first = match self.first_run() {
            Ok(record) => record,
            Err(NoRun::Failed(failure)) => return Err(failure),
            Err(NoRun::Interrupted) => {
                return Err(Failure::new(
                    crate::exit::ExitCode::Interrupted,
                    "interrupted before anything was measured",
                ));
            }
        };
        self.opened = opened(&first);
        self.later_ms = run_facts::later(&first).as_secs_f64() * 1000.0;
        let alone = is_server
            .then(|| ping_alone(plan.connector.clone()))
            .flatten();
        let ping = alone.map(|alone| alone.ms);
        if alone.is_some_and(|alone| !alone.is_pooled) && can_be_asked(&plan.connector, &first) {
            self.asked = Some(plan.connector.clone());
        }
        let trips = round_trips(&first);
        let baseline = self.baseline(trips, ping, only_reads);
        let planned = self.planned(&baseline, &first, only_reads);
        let (interrupted, ended_by) = match self.all(&planned) {
            Ok(()) => (false, None),
            Err(NoRun::Interrupted) => (true, None),
            Err(NoRun::Failed(failure)) if self.has_any() => (false, Some(failure)),
            Err(NoRun::Failed(failure)) => return Err(failure),
        };
        match (interrupted, &ended_by) {
            (true, _) => self.leave_out(&planned, &Why::Interrupted),
            (false, Some(_)) => self.leave_out(&planned, &Why::BaselineFailed),
            (false, None) => {}
        }
        let baseline = self.baseline(trips, ping, only_reads);
        Ok(self.found(baseline, interrupted, ended_by))
    }

    /// Puts settings back, whatever happened.
    ///
    /// # Errors
    /// As [`GlobalSetting::back`].
    pub fn settings_back(&mut self) -> Result<(), Failure> {
        self.setting.back()
    }

    fn baseline(&self, round_trips: f64, ping_ms: Option<f64>, only_reads: bool) -> Baseline {
        Baseline {
            sessions: self.opened,
            rate: self.facts.rate(),
            mean_ms: self.facts.mean_ms(),
            round_trips,
            ping_ms,
            loaded_ping_ms: self.facts.loaded_ping_ms(),
            still: self.facts.still(self.opened),
            client_use: self.facts.client_use(),
            host: self.facts.host(),
            writes: !only_reads,
            later_ms: self.later_ms,
            run_s: self.base.load.time.unwrap_or_default().as_secs_f64(),
        }
    }

    /// The first run of the baseline: runs become longer until each session has several transactions in one.
    /// What it tells of tables, which later runs don't count, is the first one's.
    fn first_run(&mut self) -> Result<RunRecord, NoRun> {
        let mut tables = None;
        loop {
            let mut record = self.baseline_run(None)?;
            let counted = tables.get_or_insert_with(|| record.tables_before.clone());
            record.tables_before.clone_from(counted);
            let now = self.base.load.time.unwrap_or_default();
            let longer = seconds_for(run_facts::mean_ms(&record), now.as_secs(), self.budget);
            self.base.skip_row_counts = true;
            if longer <= now.as_secs() {
                return Ok(record);
            }
            self.base.load.time = Some(Duration::from_secs(longer));
            self.facts = Facts::default();
        }
    }

    /// The baseline, or what a change has in its place.
    fn baseline_run(&mut self, other: Option<&Job>) -> Result<RunRecord, NoRun> {
        let job = other.unwrap_or(&self.base).clone();
        let asked = self.asked.clone().filter(|_| other.is_none());
        let pings = asked.map(PingsBeside::begin);
        let is_asked = pings.is_some();
        let mut made = self.made("baseline", std::slice::from_ref(&job));
        let (waited, is_closed) = pings.map_or((Vec::new(), true), PingsBeside::end);
        if !is_closed {
            self.asked = None;
        }
        if is_asked && matches!(made, Err(NoRun::Failed(_))) {
            // Perhaps the server had no session left.
            self.asked = None;
            made = self.made("baseline", &[job]);
        }
        let record = made?.remove(0);
        if other.is_none() {
            self.facts.add(&record, self.busy_before);
            self.facts.add_pings(waited);
        }
        Ok(record)
    }

    /// Runs at the same time.
    fn made(&mut self, name: &str, jobs: &[Job]) -> Result<Vec<RunRecord>, NoRun> {
        let begun = Instant::now();
        let records = self.runs.run(name, jobs)?;
        let longest = jobs.iter().map(nominal).fold(0.0, f64::max);
        // Counting the rows of large tables takes long, and happens once.
        if jobs.iter().all(|job| job.skip_row_counts) {
            self.overheads
                .push((begun.elapsed().as_secs_f64() - longest).max(0.0));
        }
        Ok(records)
    }

    /// What can be made, in its order.
    fn planned(
        &mut self,
        baseline: &Baseline,
        first: &RunRecord,
        only_reads: bool,
    ) -> Vec<Planned> {
        let mut planned: Vec<Planned> = Vec::new();
        for experiment in order(baseline) {
            match self.possible(experiment, first, only_reads) {
                Ok(change) => planned.push((experiment, change)),
                Err(_) if !self.is_needed(experiment) => {}
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
    ) -> Result<ExperimentChange, Why> {
        let change = changes::change(experiment, &self.base, first, only_reads)?;
        if !change.settings.is_empty() && !self.may_change && !self.setting.is_sandbox() {
            return Err(Why::Permission);
        }
        for job in change.jobs.iter().chain(&change.base) {
            self.runs
                .order(job)
                .map_err(|failure| Why::Failed(failure.message))?;
        }
        Ok(change)
    }

    fn all(&mut self, planned: &[Planned]) -> Result<(), NoRun> {
        for (experiment, change) in planned {
            if !self.is_needed(*experiment) {
                continue;
            }
            if !self.has_time(change, FEWEST_PAIRS) {
                self.skipped.insert(*experiment, Why::Budget);
                continue;
            }
            while self.pairs(*experiment).len() < FEWEST_PAIRS && self.can_go_on(*experiment) {
                self.pair(*experiment, change)?;
            }
        }
        // What is left of the time is for what is undecided.
        loop {
            let mut is_over = true;
            for (experiment, change) in planned {
                let is_open = self.measured.contains_key(experiment)
                    && self.can_go_on(*experiment)
                    && wants_more(*experiment, self.pairs(*experiment));
                if is_open && self.has_time(change, 1) {
                    self.pair(*experiment, change)?;
                    is_over = false;
                }
            }
            if is_over {
                return Ok(());
            }
        }
    }

    /// What was not measured when the diagnosis ended before its time.
    fn leave_out(&mut self, planned: &[Planned], why: &Why) {
        for (experiment, _) in planned {
            if ratio(self.pairs(*experiment)).is_none() && self.is_needed(*experiment) {
                let missed = self.skipped.entry(*experiment);
                missed.or_insert_with(|| why.clone());
            }
        }
    }

    /// A rollback is for those whose commits can't be told not to wait, whether that was known before or
    /// found by trying.
    fn is_needed(&self, experiment: Experiment) -> bool {
        let why = self.skipped.get(&Experiment::NoCommitWait);
        experiment != Experiment::Rollback
            || why.is_some_and(|why| !why.excludes() && !why.is_of_time())
    }

    /// Whether so many pairs go into what is left of the budget, by what runs took until now.
    fn has_time(&self, change: &ExperimentChange, pairs: usize) -> bool {
        let base = nominal(change.base.as_ref().unwrap_or(&self.base));
        let changed = change.jobs.iter().map(nominal).fold(0.0, f64::max);
        let pauses = match change.leaves_work {
            true => PAUSE.as_secs_f64(),
            false => 0.0,
        };
        let overhead = match self.overheads.as_slice() {
            [] => USUAL_OVERHEAD,
            known => median(known),
        };
        let pair = base + changed + 2.0 * overhead + pauses;
        self.begun.elapsed().as_secs_f64() + pair * pairs as f64 <= self.budget.as_secs_f64()
    }

    fn pairs(&self, experiment: Experiment) -> &[(f64, f64)] {
        self.measured.get(&experiment).map_or(&[], Vec::as_slice)
    }

    fn can_go_on(&self, experiment: Experiment) -> bool {
        !self.skipped.contains_key(&experiment) && !self.ended.contains(&experiment)
    }

    /// Whether there is anything to judge.
    fn has_any(&self) -> bool {
        self.measured.values().any(|pairs| ratio(pairs).is_some())
    }

    /// A baseline and a change, in either order. A change that can't run is skipped; a baseline that can't
    /// is the end.
    fn pair(&mut self, experiment: Experiment, change: &ExperimentChange) -> Result<(), NoRun> {
        let is_first = baseline_goes_first(self.pairs(experiment).len());
        let mut before = None;
        if is_first {
            before = Some(self.base_of_pair(change)?);
        }
        let Some(after) = self.changed_run(experiment, change)? else {
            return Ok(());
        };
        pause(change)?;
        let before = match before {
            Some(before) => before,
            None => self.base_of_pair(change)?,
        };
        let pair = match change.is_inverse {
            true => (after, before),
            false => (before, after),
        };
        self.measured.entry(experiment).or_default().push(pair);
        told::pair(
            &told::name(experiment, self.later_ms, self.lang),
            self.pairs(experiment).len(),
            ratio(self.pairs(experiment)),
            self.lang,
        );
        Ok(())
    }

    fn base_of_pair(&mut self, change: &ExperimentChange) -> Result<f64, NoRun> {
        Ok(rate(&self.baseline_run(change.base.as_ref())?))
    }

    /// Throughput with the change; `None` of one that can't be made, which is skipped.
    fn changed_run(
        &mut self,
        experiment: Experiment,
        change: &ExperimentChange,
    ) -> Result<Option<f64>, NoRun> {
        if !change.settings.is_empty()
            && let Err(failure) = self.setting.change(self.runs.store(), &change.settings)
        {
            self.setting.back()?;
            self.give_up(experiment, Why::Failed(failure.message));
            return Ok(None);
        }
        let done = self.made(experiment.id(), &change.jobs);
        self.setting.back()?;
        let why = match done {
            Ok(records) => match rate_of(&records, change, self.opened) {
                Ok(rate) => {
                    if experiment == Experiment::OnePercent {
                        let each = records.iter();
                        each.for_each(|r| run_facts::add_progress(&mut self.on_one_percent, r));
                    }
                    return Ok(Some(rate));
                }
                Err(why) => why,
            },
            Err(NoRun::Failed(failure)) => Why::Failed(failure.message),
            Err(NoRun::Interrupted) => return Err(NoRun::Interrupted),
        };
        self.give_up(experiment, why);
        Ok(None)
    }

    /// Makes no more pairs of it. Those that it has count where they are enough.
    fn give_up(&mut self, experiment: Experiment, why: Why) {
        if self.pairs(experiment).len() >= FEWEST_PAIRS {
            self.ended.insert(experiment);
            return;
        }
        self.measured.remove(&experiment);
        self.skipped.insert(experiment, why);
    }

    fn found(
        &self,
        baseline: Baseline,
        interrupted: bool,
        ended_by: Option<Failure>,
    ) -> BatteryResult {
        let measured = self.measured.iter();
        let experiments: Vec<(Experiment, Ratio, usize)> = measured
            .filter_map(|(e, pairs)| Some((*e, ratio(pairs)?, pairs.len())))
            .collect();
        let excluded = self.skipped.iter().filter(|(_, why)| why.excludes());
        let impossible = self.skipped.iter().filter(|(_, why)| !why.is_of_time());
        let verdict = judge(&Evidence {
            baseline,
            measured: experiments.iter().map(|(e, of, _)| (*e, *of)).collect(),
            excluded: excluded.map(|(e, _)| *e).collect(),
            impossible: impossible.map(|(e, _)| *e).collect(),
            is_crowded: changes::is_crowded(&self.base),
            still_on_one_percent: self.on_one_percent.share_still(self.opened),
        });
        BatteryResult {
            id: self.runs.id.clone(),
            baseline,
            is_embedded: self.is_embedded,
            injected_ms: self.base.load.inject_rtt.as_secs_f64() * 1000.0,
            unsteady: self.facts.unsteady(),
            experiments,
            skipped: self.skipped.clone().into_iter().collect(),
            verdict,
            interrupted,
            ended_by,
        }
    }
}

/// Transactions a second of a change, if it was the change that is meant.
fn rate_of(
    records: &[RunRecord],
    change: &ExperimentChange,
    of_baseline: usize,
) -> Result<f64, Why> {
    let opened = records.iter().map(opened).sum();
    if let Some(why) = change.has_other_sessions(of_baseline, opened) {
        return Err(why);
    }
    match records {
        [only] => Ok(rate(only)),
        several => rate_together(several).map_err(|Apart(seconds)| Why::Apart(seconds)),
    }
}

/// Seconds that a run takes by its job.
fn nominal(job: &Job) -> f64 {
    (job.load.warmup + job.load.time.unwrap_or_default()).as_secs_f64()
}
