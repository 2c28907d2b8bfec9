//! Programs on the server's host that are neither the server nor this client: those that use most of the
//! processors.

use super::find;
use crate::kept_files::KeptFiles;
use crate::source::{Metric, Samples};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::time::Instant;

const CPU: Metric = Metric::gauge("programs.cpu", "cores", 3);
/// Processes are counted every so many samples: each takes some microseconds.
const EVERY: u64 = 2;
/// So many programs are told of,
const MOST: usize = 8;
/// from so many cores on.
const LEAST: f64 = 0.05;
/// The parent of the kernel's threads.
const KERNEL: u32 = 2;
/// Ticks of `/proc/PID/stat` in a second (time(7)).
const USER_HZ: f64 = 100.0;

/// What was seen of them.
#[derive(Debug, Default)]
pub(super) struct Programs {
    samples: u64,
    /// When processes were counted, and the ticks of each.
    last: Option<(Instant, HashMap<u32, f64>)>,
    /// Those that are told of, by name.
    told: Vec<String>,
    files: KeptFiles,
}

/// A process by `/proc/PID/stat`.
#[derive(Debug, PartialEq)]
struct Process {
    name: String,
    parent: u32,
    ticks: f64,
}

impl Programs {
    /// Counts all but these processes, and this one.
    pub fn sample(&mut self, server: &[u32], samples: &mut Samples) {
        self.samples += 1;
        if self.samples % EVERY != 1 {
            return;
        }
        let now = Instant::now();
        let found = found(server, &mut self.files);
        let last = self.last.take();
        if let Some((then, before)) = last {
            let seconds = now.saturating_duration_since(then).as_secs_f64();
            let mut cores = BTreeMap::<&str, f64>::new();
            for (id, process) in &found {
                // One that is younger than the last look counts from its birth.
                let before = before.get(id).copied().unwrap_or(0.0);
                let grown = (process.ticks - before).max(0.0) / USER_HZ / seconds;
                *cores.entry(&process.name).or_default() += grown;
            }
            self.tell(&cores, samples);
        }
        let ticks = found.into_iter().map(|(id, process)| (id, process.ticks));
        self.last = Some((now, ticks.collect()));
    }

    fn tell(&mut self, cores: &BTreeMap<&str, f64>, samples: &mut Samples) {
        let mut new: Vec<(&str, f64)> = cores
            .iter()
            .map(|(name, used)| (*name, *used))
            .filter(|(name, used)| *used >= LEAST && !self.told.iter().any(|told| told == name))
            .collect();
        new.sort_by(|a, b| b.1.total_cmp(&a.1));
        let room = MOST.saturating_sub(self.told.len());
        self.told
            .extend(new.into_iter().take(room).map(|(name, _)| name.into()));
        for name in &self.told {
            let used = cores.get(name.as_str()).copied().unwrap_or(0.0);
            samples.tell(&CPU, &[("program", name)], used);
        }
    }
}

/// The processes of this host, without these, this one and the kernel's threads.
fn found(server: &[u32], files: &mut KeptFiles) -> HashMap<u32, Process> {
    files.begin();
    let Ok(all) = fs::read_dir("/proc") else {
        return HashMap::new();
    };
    let ids = all.flatten().filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.parse::<u32>().ok()
    });
    let ids = ids.filter(|id| *id != std::process::id() && !server.contains(id) && *id != KERNEL);
    ids.filter_map(|id| {
        // One that has ended meanwhile is gone.
        let process = process(&files.read(id, "stat", || format!("/proc/{id}/stat")))?;
        if process.parent == KERNEL {
            files.forget(id, "stat");
            return None;
        }
        Some((id, process))
    })
    .collect()
}

/// The processes that a process has started and not waited for.
pub(super) fn children(of: u32) -> Vec<u32> {
    let is_child = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
        stat.ok()
            .and_then(|stat| process(&stat))
            .is_some_and(|read| read.parent == of)
    };
    find::processes().filter(is_child).collect()
}

/// Its name, parent, and ticks in user space and in the kernel (proc_pid_stat(5)).
fn process(stat: &str) -> Option<Process> {
    // The name in brackets may have spaces and brackets.
    let (before, numbers) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let numbers: Vec<&str> = numbers.split_ascii_whitespace().collect();
    let n = |at: usize| numbers.get(at)?.parse::<f64>().ok();
    Some(Process {
        name: name.into(),
        parent: numbers.get(1)?.parse().ok()?,
        ticks: n(11)? + n(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_process_is_read() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 100 20 30 4 20 0 1 0 5";
        let read = process(stat).unwrap();
        assert_eq!((&*read.name, read.parent, read.ticks), ("a b) c", 1, 120.0));
        assert_eq!(process("7 (x"), None);
    }

    #[test]
    fn a_program_that_uses_a_processor_is_named() {
        let mut spinning = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let mut programs = Programs::default();
        let mut samples = Samples::new("server-process", Duration::from_secs(1));
        let begun = Instant::now();
        let mut at = 0;
        let is_told = |samples: &Samples| {
            samples
                .series()
                .iter()
                .any(|s| s.key.labels.get("program").is_some_and(|p| p == "sh"))
        };
        while !is_told(&samples) && begun.elapsed() < Duration::from_secs(60) {
            samples.begin(Some(at));
            at += 1000;
            programs.sample(&[], &mut samples);
            std::thread::sleep(Duration::from_millis(200));
        }
        let mut files = KeptFiles::default();
        let all = found(&[], &mut files);
        let server = found(&[spinning.id()], &mut files);
        spinning.kill().unwrap();
        spinning.wait().unwrap();
        assert!(is_told(&samples), "{:?}", samples.series());
        assert!(all.contains_key(&spinning.id()) && !server.contains_key(&spinning.id()));
        let own = std::process::id();
        assert!(
            !found(&[], &mut files).contains_key(&own),
            "this is the client"
        );
    }
}
