//! What Tidemark does in a sequence, here and in a process that is killed.

use crate::it::ownership::place::{Place, connector};
use nothing::Nothing;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tidemark_core::{Source, StudyLoad};
use tidemark_drivers::Connector;
use tidemark_engine::{
    LoadFailure, LoadObserver, LoadSpec, Replace, StopHandle, create, drop_tables, prepare,
};
use tidemark_workloads::{Workload, find};

/// A load as a command asks for it.
#[derive(Debug, Clone)]
pub struct Load {
    pub tables: u64,
    pub rows: u64,
    pub chunk_rows: u64,
    pub seed: u64,
    pub replace: Replace,
    pub study: Option<StudyLoad>,
    /// As [`LoadSpec::summed_rows`].
    pub summed_rows: u64,
}

impl Load {
    fn workload(&self) -> Arc<dyn Workload> {
        let definition = find("oltp_read_write").unwrap();
        let mut values = definition.defaults();
        for (name, value) in [("tables", self.tables), ("table-size", self.rows)] {
            let set = values.set(name, &value.to_string(), Source::CommandLine);
            set.unwrap();
        }
        (definition.build)(&values).unwrap()
    }

    fn spec(&self) -> LoadSpec {
        LoadSpec {
            chunk_rows: self.chunk_rows,
            seed: self.seed,
            replace: self.replace,
            study: self.study.clone(),
            summed_rows: self.summed_rows,
            ..LoadSpec::default()
        }
    }

    pub fn run(&self, place: &Place) -> Result<(), LoadFailure> {
        self.observed(&place.connector(), &mut Nothing)
    }

    /// The same with somebody who is told how it goes.
    pub fn observed(
        &self,
        connector: &Connector,
        observer: &mut dyn LoadObserver,
    ) -> Result<(), LoadFailure> {
        let stop = StopHandle::new();
        let spec = self.spec();
        prepare(connector, &self.workload(), &spec, &stop, observer).map(drop)
    }

    /// Interrupted after so many events.
    pub fn interrupted(&self, place: &Place, after: u64) {
        let stop = StopHandle::new();
        let mut events = Events {
            left: after,
            end: &|| stop.stop(),
        };
        let spec = self.spec();
        let _ended = prepare(
            &place.connector(),
            &self.workload(),
            &spec,
            &stop,
            &mut events,
        );
    }

    /// The tables alone, as `--create` makes them.
    pub fn create(&self, place: &Place) -> Result<(), LoadFailure> {
        create(
            &place.connector(),
            &self.workload(),
            &self.spec(),
            &mut Nothing,
        )
    }

    pub fn clean(&self, place: &Place, force: bool) -> bool {
        let stop = StopHandle::new();
        drop_tables(&place.connector(), &self.workload(), 1, force, &stop).is_ok()
    }

    /// In a process that kills itself (SIGKILL) after so many events, or is killed after a while.
    pub fn killed(&self, place: &Place, after: u64, wait: Option<Duration>) {
        let study = self.study.as_ref();
        let study = study.map_or(String::new(), |s| s.study.clone());
        let mut words = vec![place.url(), study];
        let numbers = [self.tables, self.rows, self.chunk_rows, self.seed, after];
        words.extend(numbers.map(|n| n.to_string()));
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "it::ownership::a_load_until_it_is_killed"]);
        child.env(CHILD, words.join("\n")).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        if let Some(wait) = wait {
            std::thread::sleep(wait);
            // It may have ended.
            let _gone = child.kill();
        }
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        let is_killed = ended.status.signal() == Some(9);
        assert!(is_killed || said.contains("1 passed"), "{ended:?}");
    }
}

/// As a number of events: the end comes when the first rows are there.
pub const WITH_FIRST_ROWS: u64 = u64::MAX - 1;

/// What a process that loads until it is killed is told by.
const CHILD: &str = "TIDEMARK_LOAD_UNTIL_KILLED";

/// What that process does; any other does nothing.
pub fn be_killed() {
    let Ok(words) = std::env::var(CHILD) else {
        return;
    };
    let words: Vec<String> = words.lines().map(String::from).collect();
    let [url, study, numbers @ ..] = &words[..] else {
        panic!("{words:?}");
    };
    let numbers: Vec<u64> = numbers.iter().map(|n| n.parse().unwrap()).collect();
    let [tables, rows, chunk_rows, seed, after] = numbers[..] else {
        panic!("{words:?}");
    };
    let study = (!study.is_empty()).then(|| StudyLoad {
        study: study.clone(),
        left: tidemark_core::LeftBehind::AsLoaded,
        sums: true,
    });
    let load = Load {
        tables,
        rows,
        chunk_rows,
        seed,
        replace: Replace::Nothing,
        study,
        summed_rows: LoadSpec::default().summed_rows,
    };
    let mut events = Events {
        left: after,
        end: &|| {
            // No destructor and no word to the server.
            let _killed = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
        },
    };
    let stop = StopHandle::new();
    let _ended = prepare(
        &connector(url),
        &load.workload(),
        &load.spec(),
        &stop,
        &mut events,
    );
}

/// Counts what a load tells, and ends it.
struct Events<'a> {
    left: u64,
    end: &'a dyn Fn(),
}

impl Events<'_> {
    fn event(&mut self) {
        match self.left {
            WITH_FIRST_ROWS => {}
            0 => (self.end)(),
            _ => self.left -= 1,
        }
    }
}

impl LoadObserver for Events<'_> {
    fn creating(&mut self, _: &str, _: u64, _: u64) {
        self.event();
    }
    fn progress(&mut self, done: u64, total: u64) {
        if self.left == WITH_FIRST_ROWS && (1..total).contains(&done) {
            self.left = 0;
        }
        self.event();
    }
    fn indexing(&mut self, _: &str) {
        self.event();
    }
    fn verifying(&mut self) {
        self.event();
    }
}

mod nothing {
    /// Hears nothing.
    pub struct Nothing;

    impl tidemark_engine::LoadObserver for Nothing {
        fn creating(&mut self, _: &str, _: u64, _: u64) {}
        fn progress(&mut self, _: u64, _: u64) {}
        fn indexing(&mut self, _: &str) {}
        fn verifying(&mut self) {}
    }
}
