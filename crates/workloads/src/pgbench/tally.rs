//! What is counted beside transactions: failures, retries, and the time of commands.

use super::Settings;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Why a transaction failed that was not tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A serialization failure, or whatever else may be tried again.
    Serialization,
    /// A deadlock.
    Deadlock,
}

/// A transaction that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedTransaction {
    /// Its client, from 0.
    pub client: usize,
    /// Its script, from 0.
    pub script: usize,
    /// When it ended.
    pub ended: SystemTime,
    /// Why.
    pub kind: FailureKind,
    /// How often it had been tried again.
    pub retries: u64,
}

/// Counts of one script, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptCounts {
    /// Transactions that failed with a serialization failure.
    pub serialization: u64,
    /// Transactions that failed with a deadlock.
    pub deadlock: u64,
    /// Transactions that were tried again.
    pub retried: u64,
    /// How often, in all.
    pub retries: u64,
}

impl ScriptCounts {
    /// Transactions that failed.
    pub fn failed(&self) -> u64 {
        self.serialization + self.deadlock
    }

    /// The counts since an earlier moment.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            serialization: self.serialization.saturating_sub(before.serialization),
            deadlock: self.deadlock.saturating_sub(before.deadlock),
            retried: self.retried.saturating_sub(before.retried),
            retries: self.retries.saturating_sub(before.retries),
        }
    }
}

impl std::ops::AddAssign for ScriptCounts {
    fn add_assign(&mut self, other: Self) {
        self.serialization += other.serialization;
        self.deadlock += other.deadlock;
        self.retried += other.retried;
        self.retries += other.retries;
    }
}

/// What a command came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// How often it ended well.
    pub count: u64,
    /// What that took in all.
    pub time: Duration,
    /// How often it failed, and its transaction with it.
    pub failures: u64,
    /// How often it failed, and its transaction was tried again.
    pub retries: u64,
}

impl CommandCounts {
    /// The counts since an earlier moment.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            count: self.count.saturating_sub(before.count),
            time: self.time.saturating_sub(before.time),
            failures: self.failures.saturating_sub(before.failures),
            retries: self.retries.saturating_sub(before.retries),
        }
    }
}

#[derive(Debug, Default)]
struct CommandTally {
    count: AtomicU64,
    ns: AtomicU64,
    failures: AtomicU64,
    retries: AtomicU64,
}

#[derive(Debug, Default)]
struct ScriptTally {
    serialization: AtomicU64,
    deadlock: AtomicU64,
    retried: AtomicU64,
    retries: AtomicU64,
    commands: Vec<CommandTally>,
}

/// The counts of a run, which all clients share: they change with errors, and with every command
/// where those are timed.
#[derive(Debug, Default)]
pub struct Tally {
    scripts: Vec<ScriptTally>,
    keeps_failures: AtomicBool,
    failures: Mutex<Vec<FailedTransaction>>,
}

const RELAXED: Ordering = Ordering::Relaxed;

impl Tally {
    pub(super) fn new(settings: &Settings) -> Self {
        let scripts = settings.scripts.iter().map(|script| ScriptTally {
            commands: script
                .commands
                .iter()
                .map(|_| CommandTally::default())
                .collect(),
            ..ScriptTally::default()
        });
        Self {
            scripts: scripts.collect(),
            ..Self::default()
        }
    }

    /// The counts of each script.
    pub fn scripts(&self) -> Vec<ScriptCounts> {
        let each = self.scripts.iter().map(|script| ScriptCounts {
            serialization: script.serialization.load(RELAXED),
            deadlock: script.deadlock.load(RELAXED),
            retried: script.retried.load(RELAXED),
            retries: script.retries.load(RELAXED),
        });
        each.collect()
    }

    /// The counts of a script's commands.
    pub fn commands(&self, script: usize) -> Vec<CommandCounts> {
        let commands = self.scripts.get(script).map_or(&[][..], |s| &s.commands);
        let each = commands.iter().map(|command| CommandCounts {
            count: command.count.load(RELAXED),
            time: Duration::from_nanos(command.ns.load(RELAXED)),
            failures: command.failures.load(RELAXED),
            retries: command.retries.load(RELAXED),
        });
        each.collect()
    }

    /// Keeps every failed transaction from here on, for a log.
    pub fn keep_failures(&self) {
        self.keeps_failures.store(true, RELAXED);
    }

    /// The failed transactions since this was asked last.
    pub fn take_failures(&self) -> Vec<FailedTransaction> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *failures)
    }

    pub(super) fn command_done(&self, script: usize, command: usize, took: Duration) {
        if let Some(tally) = self.command(script, command) {
            tally.count.fetch_add(1, RELAXED);
            tally.ns.fetch_add(took.as_nanos() as u64, RELAXED);
        }
    }

    fn command(&self, script: usize, command: usize) -> Option<&CommandTally> {
        self.scripts.get(script)?.commands.get(command)
    }

    pub(super) fn again(&self, script: usize, command: usize) {
        if let Some(tally) = self.command(script, command) {
            tally.retries.fetch_add(1, RELAXED);
        }
    }

    pub(super) fn retried(&self, script: usize, retries: u64) {
        if let Some(tally) = self.scripts.get(script) {
            tally.retried.fetch_add(1, RELAXED);
            tally.retries.fetch_add(retries, RELAXED);
        }
    }

    pub(super) fn failed(&self, failed: FailedTransaction, command: usize) {
        let Some(tally) = self.scripts.get(failed.script) else {
            return;
        };
        match failed.kind {
            FailureKind::Serialization => tally.serialization.fetch_add(1, RELAXED),
            FailureKind::Deadlock => tally.deadlock.fetch_add(1, RELAXED),
        };
        if let Some(command) = self.command(failed.script, command) {
            command.failures.fetch_add(1, RELAXED);
        }
        if failed.retries > 0 {
            self.retried(failed.script, failed.retries);
        }
        if self.keeps_failures.load(RELAXED) {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failures.push(failed);
        }
    }
}
