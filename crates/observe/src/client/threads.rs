//! What the client's own threads get of the processors, and wait for.

use super::proc::schedule;
use crate::kept_files::KeptFiles;
use crate::source::{Samples, SeriesHandle};
use std::collections::HashMap;
use std::path::Path;

/// So many threads are looked at each second: reading one costs some microseconds. Of more, each look is as
/// many seconds after the last one as keeps to that.
const THREADS_A_SECOND: usize = 200;

/// What threads are for, by how their names begin; of none of these is the last.
const GROUPS: [(&str, &[&str]); 3] = [
    ("load", &["executor-", "stream-"]),
    ("observing", &["sample-", "observe-"]),
    ("other", &[]),
];

/// Groups: threads that make the load, threads that observe, and all others.
pub(super) struct ThreadGroups {
    known: HashMap<u32, Thread>,
    /// Nanoseconds on a processor and waiting for one, of each group.
    sums: [(u64, u64); GROUPS.len()],
    columns: Option<[(SeriesHandle, SeriesHandle); GROUPS.len()]>,
    /// Looks until the next one.
    rest: usize,
    files: KeptFiles,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    group: usize,
    /// A thread takes its name itself, a moment after its birth.
    is_young: bool,
    seen: (u64, u64),
    at_look: u64,
}

impl ThreadGroups {
    pub fn new() -> Self {
        Self {
            known: HashMap::new(),
            sums: [(0, 0); GROUPS.len()],
            columns: None,
            rest: 0,
            files: KeptFiles::default(),
        }
    }

    pub fn sample(&mut self, samples: &mut Samples, look: u64) -> Result<(), String> {
        if self.rest > 0 {
            self.rest -= 1;
            return Ok(());
        }
        self.files.begin();
        let tasks = Path::new("/proc/self/task");
        let refused = |e: std::io::Error| format!("/proc/self/task can't be read: {e}");
        for entry in std::fs::read_dir(tasks).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let Some(id) = entry.file_name().to_str().and_then(|id| id.parse().ok()) else {
                continue;
            };
            let path = || format!("/proc/self/task/{id}/schedstat");
            let text = self.files.read(id, "schedstat", path);
            // One that has ended meanwhile is gone.
            let Some(now) = schedule(&text) else {
                continue;
            };
            let first = self.columns.is_none();
            let thread = self.known.entry(id).or_insert_with(|| Thread {
                group: 0,
                is_young: true,
                // What is younger than the last look counts from its birth.
                seen: if first { now } else { (0, 0) },
                at_look: look,
            });
            if std::mem::replace(&mut thread.is_young, thread.at_look == look) {
                thread.group = group(&entry.path());
            }
            if let Some(sum) = self.sums.get_mut(thread.group) {
                sum.0 += now.0.saturating_sub(thread.seen.0);
                sum.1 += now.1.saturating_sub(thread.seen.1);
            }
            (thread.seen, thread.at_look) = (now, look);
        }
        self.known.retain(|_, thread| thread.at_look == look);
        self.rest = self.known.len() / THREADS_A_SECOND;
        if self.known.is_empty() {
            return Err("this kernel tells no CPU of threads (CONFIG_SCHED_INFO)".into());
        }
        let columns = *self.columns.get_or_insert_with(|| {
            GROUPS.map(|(threads, _)| {
                let labels = [("threads", threads)];
                (
                    samples.rate("threads.cpu", "cores", &labels, 3),
                    samples.rate("threads.run-delay", "ms/s", &labels, 1),
                )
            })
        });
        for ((cpu, delay), (on, waited)) in columns.into_iter().zip(self.sums) {
            samples.total(cpu, on as f64 / 1e9);
            samples.total(delay, waited as f64 / 1e6);
        }
        Ok(())
    }
}

fn group(task: &Path) -> usize {
    let name = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
    let is_of = |(_, begins): &(&str, &[&str])| begins.iter().any(|b| name.starts_with(b));
    GROUPS.iter().position(is_of).unwrap_or(GROUPS.len() - 1)
}
