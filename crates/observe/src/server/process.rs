//! The processes of a server on this host: CPU, I/O, the quotas of both, context switches, memory.

use super::files_written::FilesWritten;
use super::find;
use super::programs::Programs;
use crate::cgroup::Throttling;
use crate::client::proc::{memory, schedule};
use crate::db::Db;
use crate::io_limits;
use crate::kept_files::KeptFiles;
use crate::own::{Own, Rest};
use crate::source::{Metric, Samples, SeriesSource};
use std::collections::HashMap;
use std::fs;
use tidemark_core::Host;
use tidemark_core::observe::SERVER_PROCESS;
use tidemark_core::record::{Gap, GapKind};
use tidemark_drivers::Connector;

const CPU_USER: Metric = Metric::total("process.cpu-user", "cores", 3, 1.0);
const CPU_SYSTEM: Metric = Metric::total("process.cpu-system", "cores", 3, 1.0);
const CPU_OBSERVING: Metric = Metric::total("process.cpu-observing", "cores", 4, 1e-9);
const RUN_DELAY: Metric = Metric::time("process.run-delay", 1e-6);
const SWITCHES: Metric = Metric::count("process.context-switches");
const RESIDENT: Metric = Metric::gauge("process.resident", "bytes", -4);
const TASKS: Metric = Metric::gauge("process.tasks", "tasks", 0);
/// Lines of `/proc/PID/io`: bytes from and to disks, and system calls.
const IO: [(&str, Metric); 3] = [
    ("read_bytes", Metric::bytes("process.disk-read")),
    ("syscr", Metric::count("process.reads")),
    ("syscw", Metric::count("process.writes")),
];
const WRITTEN: Metric = Metric::bytes("process.disk-written");
/// Ticks of `/proc/PID/stat` in a second: the same on every Linux that this is built for (time(7)).
const USER_HZ: f64 = 100.0;
/// So many tasks have their schedule read each second; of more, every so many seconds.
const TASKS_A_SECOND: usize = 400;
/// Memory is read every so many samples: of many processes it takes long.
const MEMORY_EVERY: u64 = 5;
/// A server whose process has ended is looked for every so many samples.
const FIND_AGAIN_EVERY: u32 = 2;

/// The server's processes: one with its threads, or PostgreSQL's postmaster with its children.
pub(crate) struct ServerProcess {
    connector: Connector,
    own: Own,
    /// The root, where it need not be found.
    named: Option<u32>,
    root: u32,
    /// Samples since the root ended.
    ended_for: u32,
    samples: u64,
    rest: usize,
    /// Nanoseconds on a processor, waiting for one, and times it got one, of each task.
    tasks: HashMap<u32, [u64; 3]>,
    /// The tasks of processes that have several.
    listed: HashMap<u32, Vec<u32>>,
    files: KeptFiles,
    sums: [u64; 3],
    observing_ns: u64,
    cpu: Rest,
    throttling: Throttling,
    reads_io: bool,
    /// Bytes that all have written by the kernel's account, and whether these grew since tasks were looked at.
    write_bytes: f64,
    wrote: bool,
    written: FilesWritten,
    programs: Programs,
}

impl ServerProcess {
    pub fn new(connector: Connector, own: Own) -> Self {
        Self {
            connector,
            own,
            named: None,
            root: 0,
            ended_for: 0,
            samples: 0,
            rest: 0,
            tasks: HashMap::new(),
            listed: HashMap::new(),
            files: KeptFiles::default(),
            sums: [0; 3],
            observing_ns: 0,
            cpu: Rest::default(),
            throttling: Throttling::default(),
            reads_io: true,
            write_bytes: 0.0,
            wrote: true,
            written: FilesWritten::default(),
            programs: Programs::default(),
        }
    }

    /// The process that its user says is the server's.
    pub fn named(connector: Connector, own: Own, pid: u32) -> Self {
        Self {
            named: Some(pid),
            ..Self::new(connector, own)
        }
    }

    /// By what the server says of one of its sessions; a server in a container, by its socket.
    fn find(&self) -> Option<u32> {
        let own = Own::default();
        let mut db = Db::new(&self.connector, &own);
        // Opening is all that is needed.
        let _answer = db.query("SELECT 1");
        let by_task = own.tasks().into_iter().find_map(find::by_task);
        by_task.or_else(|| {
            let host: &Host = self.connector.hosts().first().map(|(host, _)| host)?;
            find::by_socket(host)
        })
    }

    /// A server that was started again has another process.
    fn find_again(&mut self) {
        self.ended_for += 1;
        if self.named.is_none()
            && self.ended_for.is_multiple_of(FIND_AGAIN_EVERY)
            && let Some(root) = self.find()
        {
            (self.root, self.ended_for) = (root, 0);
            self.tasks.clear();
            self.listed.clear();
            self.written.forget();
        }
    }

    /// The root and its children.
    fn processes(&self) -> Vec<u32> {
        let root = self.root;
        let children = fs::read_to_string(format!("/proc/{root}/task/{root}/children"));
        // Kernels may lack that file (CONFIG_PROC_CHILDREN).
        let children = children.map_or_else(
            |_| super::programs::children(root),
            |text| {
                text.split_ascii_whitespace()
                    .filter_map(|c| c.parse().ok())
                    .collect()
            },
        );
        std::iter::once(root).chain(children).collect()
    }

    /// The tasks of a process that has so many. As long as all can be read, they are those that it had.
    fn tasks_of(&mut self, process: u32, threads: usize) -> Vec<u32> {
        if threads == 1 {
            return vec![process];
        }
        match self.listed.get(&process) {
            Some(listed) if listed.len() == threads => listed.clone(),
            _ => self.list(process),
        }
    }

    fn list(&mut self, process: u32) -> Vec<u32> {
        let folder = fs::read_dir(format!("/proc/{process}/task"));
        let tasks = folder.into_iter().flatten().flatten();
        let ids = tasks.filter_map(|task| task.file_name().to_str()?.parse().ok());
        let ids: Vec<u32> = ids.collect();
        self.listed.insert(process, ids.clone());
        ids
    }

    fn schedules(&mut self, processes: &[(u32, usize)], samples: &mut Samples) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let own = self.own.own_tasks();
        let is_first = self.tasks.is_empty();
        // Who writes nothing need not be asked how much each wrote.
        let asks_io = self.reads_io && self.wrote;
        let mut seen = HashMap::with_capacity(self.tasks.len());
        for (process, threads) in processes {
            let mut tasks = self.tasks_of(*process, *threads);
            let mut is_listed = false;
            while let Some(id) = tasks.pop() {
                if seen.contains_key(&id) {
                    continue;
                }
                let path = |file| format!("/proc/{process}/task/{id}/{file}");
                if asks_io {
                    let io = self.files.read(id, "task io", || path("io"));
                    self.written.add(id, &io, is_first);
                }
                let text = self.files.read(id, "schedstat", || path("schedstat"));
                let Some((cpu, delay)) = schedule(&text) else {
                    // It has ended, and another may have come in its place.
                    if !std::mem::replace(&mut is_listed, true) {
                        tasks = self.list(*process);
                    }
                    continue;
                };
                let times = text.split_ascii_whitespace().nth(2);
                let now = [cpu, delay, times.and_then(|t| t.parse().ok()).unwrap_or(0)];
                // What is younger than the last sample counts from its birth.
                let before = match self.tasks.get(&id) {
                    Some(before) => *before,
                    None if is_first => now,
                    None => [0; 3],
                };
                let grown: [u64; 3] = std::array::from_fn(|n| now[n].saturating_sub(before[n]));
                if own.contains(&id) {
                    self.observing_ns += grown[0];
                } else {
                    (0..3).for_each(|n| self.sums[n] += grown[n]);
                }
                seen.insert(id, now);
            }
        }
        self.listed
            .retain(|process, _| processes.iter().any(|(id, _)| id == process));
        if asks_io {
            self.written.looked();
            self.wrote = false;
        }
        if self.reads_io {
            samples.tell(&WRITTEN, &[], self.written.total as f64);
        }
        self.tasks = seen;
        self.rest = self.tasks.len() / TASKS_A_SECOND;
        if self.tasks.is_empty() {
            // The kernel keeps no account of them (CONFIG_SCHED_INFO).
            return;
        }
        samples.tell(&CPU_OBSERVING, &[], self.observing_ns as f64);
        samples.tell(&RUN_DELAY, &[], self.sums[1] as f64);
        samples.tell(&SWITCHES, &[], self.sums[2] as f64);
        samples.tell(&TASKS, &[], self.tasks.len() as f64);
    }

    fn io(&mut self, processes: &[u32], samples: &mut Samples) {
        let mut sums = [0.0; IO.len()];
        let mut write_bytes = 0.0;
        for process in processes {
            let io = || format!("/proc/{process}/io");
            let text = self.files.read(*process, "io", io);
            write_bytes += io_line(&text, "write_bytes").unwrap_or(0.0);
            for (sum, (name, _)) in sums.iter_mut().zip(&IO) {
                *sum += io_line(&text, name).unwrap_or(0.0);
            }
        }
        for ((_, metric), sum) in IO.iter().zip(sums) {
            samples.tell(metric, &[], sum);
        }
        self.wrote |= write_bytes != self.write_bytes;
        self.write_bytes = write_bytes;
    }
}

impl SeriesSource for ServerProcess {
    fn name(&self) -> &str {
        SERVER_PROCESS
    }

    fn start(&mut self, gaps: &mut Vec<Gap>) -> Result<(), Gap> {
        let nothing = || Gap::new(GapKind::NoProcess, "");
        self.root = self.named.or_else(|| self.find()).ok_or_else(nothing)?;
        if fs::read_to_string(format!("/proc/{}/io", self.root)).is_err() {
            self.reads_io = false;
            gaps.push(Gap::new(GapKind::ProcessIo, self.root.to_string()));
        }
        Ok(())
    }

    fn sample(&mut self, samples: &mut Samples) -> Result<(), String> {
        self.files.begin();
        let processes = self.processes();
        let mut threads = Vec::with_capacity(processes.len());
        // A process that has ended is in its parent's total, once that has waited for it.
        let mut ticks = [0.0; 2];
        for process in &processes {
            let stat = || format!("/proc/{process}/stat");
            let stat = ProcessStat::read(&self.files.read(*process, "stat", stat));
            // A child that has ended keeps its own total until its parent has it.
            let stat = stat.filter(|stat| *process != self.root || !stat.has_ended());
            if let Some(stat) = stat {
                ticks = [ticks[0] + stat.user, ticks[1] + stat.system];
                threads.push((*process, stat.threads));
            } else if *process == self.root {
                let why = format!("the server's process {process} has ended");
                self.find_again();
                return Err(why);
            }
        }
        if self.reads_io {
            self.io(&processes, samples);
        }
        self.schedules(&threads, samples);
        self.programs.sample(&processes, samples);
        self.throttling.sample(&self.root.to_string(), samples);
        io_limits::sample(&self.root.to_string(), samples);
        let observing = self.observing_ns as f64 * CPU_OBSERVING.scale;
        let user = self.cpu.of(CPU_USER.name, ticks[0] / USER_HZ, observing);
        samples.tell(&CPU_USER, &[], user);
        samples.tell(&CPU_SYSTEM, &[], ticks[1] / USER_HZ);
        if self.samples % MEMORY_EVERY == 1 {
            samples.tell(&RESIDENT, &[], resident(&processes));
        }
        self.samples += 1;
        Ok(())
    }
}

/// Memory of all of them: each one's own, and what the largest maps of files and shared memory.
fn resident(processes: &[u32]) -> f64 {
    let (mut own, mut shared) = (0, 0);
    for process in processes {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let of = |name| memory(&status, name).unwrap_or(0);
        own += of("RssAnon");
        shared = shared.max(of("RssFile") + of("RssShmem"));
    }
    (own + shared) as f64
}

/// What `/proc/PID/stat` says of a process (proc_pid_stat(5)).
#[derive(Debug, PartialEq)]
struct ProcessStat {
    /// Ticks in user space, with those of children that were waited for.
    user: f64,
    /// The same in the kernel.
    system: f64,
    threads: usize,
    /// Whether its first thread has ended, and its parent has not waited for it.
    is_zombie: bool,
}

impl ProcessStat {
    /// Whether nothing of it runs any more.
    fn has_ended(&self) -> bool {
        self.is_zombie && self.threads <= 1
    }

    fn read(stat: &str) -> Option<Self> {
        // The name in brackets may have spaces.
        let numbers = stat.rsplit_once(')')?.1;
        let numbers: Vec<&str> = numbers.split_ascii_whitespace().collect();
        let n = |at: usize| numbers.get(at)?.parse::<f64>().ok();
        Some(Self {
            user: n(11)? + n(13)?,
            system: n(12)? + n(14)?,
            threads: numbers.get(17)?.parse().ok()?,
            is_zombie: numbers.first() == Some(&"Z"),
        })
    }
}

/// A number of `/proc/PID/io`.
pub(super) fn io_line(text: &str, name: &str) -> Option<f64> {
    let rest = text
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(": "))?;
    rest.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Duration;
    use tidemark_core::Target;
    use tidemark_drivers::ConnectOptions;

    #[test]
    fn a_task_that_took_the_place_of_another_is_read_at_once() {
        let target = Target::parse("mysql://u@127.0.0.1/d").unwrap();
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        let own = std::process::id();
        let mut server = ServerProcess::named(connector, Own::default(), own);
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let mut samples = Samples::new(SERVER_PROCESS, Duration::from_secs(1));
        samples.begin(Some(0));
        // As many as were listed, and none of them is left.
        server.listed.insert(own, vec![ended.id(); 2]);
        server.schedules(&[(own, 2)], &mut samples);
        assert!(server.tasks.contains_key(&own), "{:?}", server.tasks);
    }

    #[test]
    fn a_server_that_nobody_waited_for_has_ended() {
        let target = Target::parse("mysql://u@127.0.0.1/d").unwrap();
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        let mut server = ServerProcess::named(connector, Own::default(), ended.id());
        server.root = ended.id();
        let mut samples = Samples::new(SERVER_PROCESS, Duration::from_secs(1));
        let mut second = 0;
        let why = loop {
            samples.begin(Some(second * 1000));
            if let Err(why) = server.sample(&mut samples) {
                break why;
            }
            second += 1;
            assert!(second < 1000, "it never ends");
            std::thread::sleep(Duration::from_millis(10));
        };
        ended.wait().unwrap();
        assert!(why.contains("has ended"), "{why}");
    }

    #[test]
    fn a_process_is_read() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 100 20 30 4 20 0 6 0 5";
        let read = ProcessStat {
            user: 130.0,
            system: 24.0,
            threads: 6,
            is_zombie: false,
        };
        assert_eq!(ProcessStat::read(stat), Some(read));
        let ended = "7 (a b) c) Z 1 7 7 0 -1 4194560 1 2 3 4 100 20 30 4 20 0 1 0 5";
        assert!(ProcessStat::read(ended).unwrap().has_ended());
        // Others of its threads work on.
        assert!(
            !ProcessStat::read(&stat.replace(" S ", " Z "))
                .unwrap()
                .has_ended()
        );
        assert_eq!(ProcessStat::read("7 (x"), None);
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8\n";
        assert_eq!(io_line(io, "read_bytes"), Some(4096.0));
        assert_eq!(io_line(io, "syscr"), None);
        assert!(resident(&[std::process::id()]) > 1e6);
    }
}
