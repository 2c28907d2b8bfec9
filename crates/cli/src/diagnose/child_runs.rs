//! Runs of a diagnosis: child processes that keep their records in the store.

use super::TAG;
use crate::exit::{ExitCode, Failure};
use crate::jobs;
use crate::runner::JobOrder;
use crate::study::interrupt::{is_asked_to_end, times_asked};
use crate::study::step_process::{self, StepProcess};
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tidemark_core::record::RunRecord;
use tidemark_core::{Job, StudyPlace, Target};
use tidemark_store::{DIAGNOSIS_IDS, Store};
use uuid::Uuid;

/// How often children are looked at.
const POLL: Duration = Duration::from_millis(10);

/// Makes runs and finds their records.
pub struct ChildRuns {
    store: Store,
    /// The diagnosis.
    pub id: String,
    folder: PathBuf,
    target: Target,
    /// How many runs each cell has.
    made: BTreeMap<String, u32>,
}

/// Why a run gave no throughput.
pub enum NoRun {
    /// The user asked to end.
    Interrupted,
    /// It ended with this.
    Failed(Failure),
}

impl From<Failure> for NoRun {
    fn from(failure: Failure) -> Self {
        NoRun::Failed(failure)
    }
}

impl ChildRuns {
    /// Of a new diagnosis.
    ///
    /// # Errors
    /// [`Failure`] when the current folder is gone.
    pub fn new(store: Store, target: Target) -> Result<Self, Failure> {
        let folder = std::env::current_dir();
        let folder = folder
            .map_err(|e| Failure::new(ExitCode::Failed, format!("the current folder: {e}")))?;
        Ok(Self {
            store,
            id: format!("{DIAGNOSIS_IDS}{}", Uuid::now_v7()),
            folder,
            target,
            made: BTreeMap::new(),
        })
    }

    /// A job as it is run.
    ///
    /// # Errors
    /// [`Failure`] of one that can't be.
    pub fn order(&self, job: &Job) -> Result<JobOrder, Failure> {
        jobs::order_of(job, Some(&self.target))
    }

    /// Where its runs are kept.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Runs jobs at the same time. Their records, with what was measured.
    ///
    /// # Errors
    /// [`NoRun`]; a run that began is in the store all the same.
    pub fn run(&mut self, experiment: &str, jobs: &[Job]) -> Result<Vec<RunRecord>, NoRun> {
        let mut cells = Vec::with_capacity(jobs.len());
        let mut children = Vec::with_capacity(jobs.len());
        for (number, job) in (1..).zip(jobs) {
            let cell = match jobs.len() {
                1 => experiment.to_string(),
                _ => format!("{experiment}/{number}"),
            };
            let mut order = self.order(job)?;
            let made = self.made.entry(cell.clone()).or_default();
            *made += 1;
            order.job.study = Some(StudyPlace {
                study: self.id.clone(),
                name: TAG.into(),
                cell: cell.clone(),
                factors: [("experiment".to_string(), experiment.to_string())].into(),
                repeat: *made,
            });
            cells.push((cell, *made));
            children.push(step_process::start(
                &order,
                &self.folder,
                self.store.path(),
            )?);
        }
        let mut failure = None;
        wait(&mut children, |ended| {
            if let Some(how) = ended.failure() {
                // A reason says what was wrong; the exit code is the child's own.
                let said = ended.complaint().map_or(how, String::from);
                let code = ended.exit_code().unwrap_or(ExitCode::Failed);
                failure.get_or_insert(Failure::new(code, said));
            }
        })?;
        let mut records = Vec::with_capacity(cells.len());
        for (cell, repeat) in &cells {
            let found = self.store.run_at(&self.id, cell, *repeat, 0);
            if let Some((id, _)) = found.map_err(Failure::from)? {
                let ids = [id];
                self.store
                    .tag(&ids, &[TAG.to_string()], &[])
                    .map_err(Failure::from)?;
                records.push(self.store.get(&ids[0]).map_err(Failure::from)?);
            }
        }
        if is_asked_to_end() {
            return Err(NoRun::Interrupted);
        }
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        if records.len() < jobs.len() {
            let lost = "a run succeeded and is not in the store";
            return Err(Failure::new(ExitCode::Failed, lost).into());
        }
        Ok(records)
    }
}

/// Waits for the end of all. The first Ctrl-C lets them end by themselves, the second one ends them.
fn wait(
    children: &mut [StepProcess],
    mut told: impl FnMut(&step_process::ProcessEnd),
) -> Result<(), Failure> {
    let mut asked = 0;
    let mut open: Vec<&mut StepProcess> = children.iter_mut().collect();
    while !open.is_empty() {
        let mut still = Vec::with_capacity(open.len());
        for child in open {
            match child.ended()? {
                Some(ended) => told(&ended),
                None => still.push(child),
            }
        }
        open = still;
        let now = times_asked();
        if now > asked {
            let signal = match now {
                1 => Signal::SIGINT,
                _ => Signal::SIGKILL,
            };
            open.iter().for_each(|child| child.signal(signal));
            asked = now;
        }
        if !open.is_empty() {
            std::thread::sleep(POLL);
        }
    }
    Ok(())
}
