//! The tests and their options.

use super::super::help::lines;
use super::super::options::{GROUPS, OptionGroup};
use crate::native::at_least;
use tidemark_core::OptionKind::{Bool, Choice, Float, Int, List};
use tidemark_core::{OptionSpec, OptionValues, option};
use tidemark_hosttests::files::Mode;

/// A test of the machine.
#[derive(Debug)]
pub struct HostTestRow {
    /// Its name, sysbench's.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
    /// Whether it has files to prepare and to clean up.
    pub has_files: bool,
}

/// Every test.
pub const TESTS: &[HostTestRow] = &[
    HostTestRow {
        name: "cpu",
        summary: "Processor: prime numbers by trial division",
        options: &[option(
            "cpu-max-prime",
            Int {
                min: 1,
                max: 1 << 50,
            },
            "10000",
            "upper limit of the prime numbers",
        )],
        has_files: false,
    },
    HostTestRow {
        name: "memory",
        summary: "Memory: blocks read or written word by word",
        options: MEMORY,
        has_files: false,
    },
    HostTestRow {
        name: "fileio",
        summary: "Files: sequential and random reads, writes and syncs",
        options: FILES,
        has_files: true,
    },
    HostTestRow {
        name: "threads",
        summary: "Scheduler: threads that lock, yield and unlock",
        options: &[
            option("thread-yields", at_least(0), "1000", "yields per event"),
            option(
                "thread-locks",
                Int {
                    min: 1,
                    max: 1 << 20,
                },
                "8",
                "mutexes",
            ),
        ],
        has_files: false,
    },
    HostTestRow {
        name: "mutex",
        summary: "Mutexes: one event per thread, many short locks",
        options: &[
            option(
                "mutex-num",
                Int {
                    min: 1,
                    max: 1 << 24,
                },
                "4096",
                "mutexes",
            ),
            option("mutex-locks", at_least(0), "50000", "locks per thread"),
            option(
                "mutex-loops",
                at_least(0),
                "10000",
                "empty loops before each lock",
            ),
        ],
        has_files: false,
    },
];

const MEMORY: &[OptionSpec] = &[
    option(
        "memory-block-size",
        Int {
            min: 8,
            max: 1 << 40,
        },
        "1K",
        "bytes of a block, a power of two",
    ),
    option(
        "memory-total-size",
        at_least(1),
        "100G",
        "bytes to transfer in total",
    ),
    option(
        "memory-scope",
        Choice(&["global", "local"]),
        "global",
        "one block for all threads, or one per thread",
    ),
    option(
        "memory-hugetlb",
        Bool,
        "off",
        "take blocks from the HugeTLB pool (vm.nr_hugepages)",
    ),
    option(
        "memory-oper",
        Choice(&["read", "write", "none"]),
        "write",
        "what is done to each word",
    ),
    option(
        "memory-access-mode",
        Choice(&["seq", "rnd"]),
        "seq",
        "words in order or at random",
    ),
];

const FILES: &[OptionSpec] = &[
    option(
        "file-num",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "128",
        "files, test_file.0 and so on in the working directory",
    ),
    option(
        "file-block-size",
        Int {
            min: 1,
            max: 1 << 30,
        },
        "16384",
        "bytes of a block",
    ),
    option("file-total-size", at_least(1), "2G", "bytes of all files"),
    option(
        "file-test-mode",
        Choice(Mode::WORDS),
        "",
        "run: which blocks, and what is done to them",
    ),
    option(
        "file-io-mode",
        Choice(&["sync", "async", "mmap"]),
        "sync",
        "pread and pwrite, io_submit, or mmap",
    ),
    option(
        "file-async-backlog",
        Int {
            min: 1,
            max: 1 << 16,
        },
        "128",
        "requests of a thread under way at once, with async",
    ),
    option(
        "file-extra-flags",
        List,
        "",
        "flags of open(2): sync, dsync, direct",
    ),
    option(
        "file-fsync-freq",
        at_least(0),
        "100",
        "sync all files after this many requests; 0 = never",
    ),
    option("file-fsync-all", Bool, "off", "sync after each write"),
    option("file-fsync-end", Bool, "on", "sync all files at the end"),
    option(
        "file-fsync-mode",
        Choice(&["fsync", "fdatasync"]),
        "fsync",
        "how files are synced",
    ),
    option(
        "file-merged-requests",
        Int {
            min: 0,
            max: 1 << 16,
        },
        "0",
        "merge this many sequential blocks into a request; 0 = none",
    ),
    option(
        "file-rw-ratio",
        Float { min: 0.0, max: 1e6 },
        "1.5",
        "reads per write of rndrw",
    ),
    option(
        "force",
        Bool,
        "off",
        "run: overwrite files of these names even if Tidemark did not make them",
    ),
];

/// General options that say something of databases or their tables: tests of the machine have none of
/// them.
pub const OF_DATABASES: &[&str] = &[
    "busy-poll",
    "chunk-rows",
    "clients",
    "connect-rate",
    "connect-timeout",
    "connections",
    "executors",
    "fewer-sessions",
    "force",
    "inject-rtt",
    "keep-loaded",
    "load-method",
    "nats",
    "nats-ca",
    "nats-creds",
    "observe-ca",
    "observe-host",
    "observe-nodes",
    "observe-prometheus",
    "on-client-loss",
    "on-disconnect",
    "reconnect-timeout",
    "replace",
    "scheduling",
    "set-session",
    "setup-timeout",
    "statement-timeout",
    "strict",
    "target",
    "think-time",
    "topology",
];

/// General groups of which sysbench takes all options whatever it tests, and no test of the machine
/// uses any.
fn is_of_databases(group: &OptionGroup) -> bool {
    let titles = ["database", "MySQL", "PostgreSQL", "SQLite"];
    titles.iter().any(|title| group.title.contains(title))
}

/// A general option that has no meaning for tests of the machine, and that sysbench takes all the same.
pub fn is_without_effect(name: &str) -> bool {
    let groups = GROUPS.iter().filter(|group| is_of_databases(group));
    groups
        .flat_map(|group| group.options)
        .any(|o| o.name == name)
}

/// General options of a test under their titles.
fn general() -> impl Iterator<Item = (&'static str, OptionSpec)> {
    let groups = GROUPS.iter().filter(|group| !is_of_databases(group));
    let all = groups.flat_map(|group| group.options.iter().map(|spec| (group.title, *spec)));
    all.filter(|(_, spec)| !OF_DATABASES.contains(&spec.name))
}

/// Every option of a test, as if none were given.
pub fn defaults(test: &HostTestRow) -> OptionValues {
    let general: Vec<OptionSpec> = general().map(|(_, spec)| spec).collect();
    OptionValues::defaults([general.as_slice(), test.options])
}

/// `help` of a test.
pub fn help(test: &HostTestRow) -> String {
    let mut text = format!(
        "{}: {}\n\n{} options:\n",
        test.name, test.summary, test.name
    );
    lines(&mut text, test.options);
    let all: Vec<_> = general().collect();
    for group in all.chunk_by(|(a, _), (b, _)| a == b) {
        let options: Vec<OptionSpec> = group.iter().map(|(_, spec)| *spec).collect();
        text += &format!("\n{}:\n", group[0].0);
        lines(&mut text, &options);
    }
    text
}
