//! Every key of a study file, in one table: reading, messages and documentation take it from here.

use crate::family;
use std::sync::LazyLock;
use tidemark_workloads::families;

/// A part of a study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSection {
    /// Before the first header.
    Top,
    /// `[price]`.
    Price,
    /// `[[section]]`.
    Section,
    /// `[load]`, and `load = { … }` of a workload.
    Load,
    /// `[[target]]`.
    Target,
    /// `[[workload]]`.
    Workload,
    /// `[[factor]]`.
    Factor,
    /// One of a factor's `values`.
    Value,
}

impl FileSection {
    /// As it is written in a file.
    pub fn title(self) -> &'static str {
        match self {
            FileSection::Top => "the top of the file",
            FileSection::Price => "[price]",
            FileSection::Section => "[[section]]",
            FileSection::Load => "[load]",
            FileSection::Target => "[[target]]",
            FileSection::Workload => "[[workload]]",
            FileSection::Factor => "[[factor]]",
            FileSection::Value => "values of a [[factor]]",
        }
    }
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Where it stands.
    pub section: FileSection,
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub allowed: &'static str,
    /// A right example.
    pub example: &'static str,
    /// What it does, and what holds without it.
    pub help: &'static str,
}

const fn key(
    section: FileSection,
    name: &'static str,
    allowed: &'static str,
    example: &'static str,
    help: &'static str,
) -> Key {
    Key {
        section,
        name,
        allowed,
        example,
        help,
    }
}

const TIME: &str = "a time with us, ms, s, m or h, or a whole number of seconds";
const OPTIONS: &str = "a table of the command's options, by their names without dashes";
const SETTINGS: &str = "a table of the server's settings by name";

/// The key of this name.
pub(crate) fn find(section: FileSection, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.section == section && k.name == name)
}

/// The names of a section's keys.
pub(crate) fn names(section: FileSection) -> impl Iterator<Item = &'static str> {
    let of = move |k: &&Key| k.section == section;
    KEYS.iter().filter(of).map(|k| k.name)
}

/// Every key, in the order of the documentation.
pub static KEYS: LazyLock<Vec<Key>> =
    LazyLock::new(|| TABLE.iter().copied().map(with_families).collect());

/// With what the families that there are have to say.
fn with_families(key: Key) -> Key {
    let text = |text: String| -> &'static str { text.leak() };
    match (key.section, key.name) {
        (FileSection::Workload, "name") => {
            let named =
                families().filter_map(|f| f.command.names.first().zip(f.command.names.last()));
            let named = named.map(|(first, last)| format!(", or {first} to {last}"));
            Key {
                allowed: text(format!("{}{}", key.allowed, named.collect::<String>())),
                ..key
            }
        }
        (FileSection::Workload, "family") => {
            let words: Vec<&str> = family::commands().iter().map(|(word, _)| *word).collect();
            let allowed = match words.split_last() {
                Some((last, before)) => format!("{} or {last}", before.join(", ")),
                None => String::new(),
            };
            let Some(files) = families().find(|f| f.command.takes_files) else {
                return Key {
                    allowed: text(allowed),
                    ..key
                };
            };
            Key {
                allowed: text(allowed),
                example: text(format!("family = \"{files}\"")),
                help: text(format!(
                    "needed only for {} with a property file, whose path name then is",
                    files.title
                )),
                ..key
            }
        }
        _ => key,
    }
}

const TABLE: &[Key] = &[
    key(
        FileSection::Top,
        "name",
        "a text without /",
        "name = \"thread sweep\"",
        "name of the study, which finds its results",
    ),
    key(
        FileSection::Top,
        "repeats",
        "a whole number from 1 to 1000",
        "repeats = 3",
        "repeats of each cell of the matrix (1); two or more give confidence intervals",
    ),
    key(
        FileSection::Top,
        "warmup",
        TIME,
        "warmup = \"10s\"",
        "warm-up before each measurement, not included in the results (0)",
    ),
    key(
        FileSection::Top,
        "time",
        TIME,
        "time = \"60s\"",
        "duration of each measurement (60s); TPC-H runs its queries once unless its workload has \
         a time",
    ),
    key(
        FileSection::Top,
        "order",
        "given or shuffled",
        "order = \"shuffled\"",
        "execution order: as written (given), or shuffled within each repeat, so that drift of \
         the machine affects all alike",
    ),
    key(
        FileSection::Top,
        "seed",
        "a whole number",
        "seed = 1",
        "seed of the shuffle (1); equal seeds give equal orders",
    ),
    key(
        FileSection::Top,
        "reload",
        "never, per-workload or per-run",
        "reload = \"per-run\"",
        "when data is reloaded: never (each data size once), before each workload, or before \
         each run",
    ),
    key(
        FileSection::Top,
        "existing",
        "keep or replace",
        "existing = \"replace\"",
        "what to do with existing benchmark tables: keep uses those that Tidemark loaded with \
         the same settings and refuses others; replace drops them, before and during the study",
    ),
    key(
        FileSection::Top,
        "load-threads",
        "a whole number from 1 to 1000",
        "load-threads = 4",
        "sessions that load (4)",
    ),
    key(
        FileSection::Top,
        "on-failure",
        "go-on or stop",
        "on-failure = \"stop\"",
        "after a failed step: continue (go-on), or stop and wait for resume",
    ),
    key(
        FileSection::Top,
        "host-tests",
        "on or off",
        "host-tests = \"on\"",
        "on: test this machine for some seconds first (CPU, memory, fsync in the study's folder) and \
         put the figures into every record and the report (off)",
    ),
    key(
        FileSection::Top,
        "objective",
        "an SLO, as for --find-max",
        "objective = \"p99 < 20ms\"",
        "SLO by which the report judges results",
    ),
    key(
        FileSection::Top,
        "price",
        "a table",
        "price = { total = 12345.0, currency = \"USD\" }",
        "three-year system price, for TPC-C's price/tpmC",
    ),
    key(
        FileSection::Top,
        "load",
        "a table",
        "load = { threads = [8, 16] }",
        "load levels of workloads without their own (threads = 1)",
    ),
    key(
        FileSection::Top,
        "target",
        "tables that begin with [[target]]",
        "[[target]] name = \"a\", url = \"…\"",
        "the databases, one table each",
    ),
    key(
        FileSection::Top,
        "workload",
        "tables that begin with [[workload]]",
        "[[workload]] name = \"oltp_read_only\"",
        "the workloads, one table each",
    ),
    key(
        FileSection::Top,
        "factor",
        "tables that begin with [[factor]]",
        "[[factor]] name = \"size\", values = […]",
        "other varied factors, one table each",
    ),
    key(
        FileSection::Top,
        "title",
        "a text",
        "title = \"Two disks\"",
        "title of the report (name)",
    ),
    key(
        FileSection::Top,
        "text",
        "a Markdown text",
        "text = \"Which disk?\"",
        "your text in the report, as --text",
    ),
    key(
        FileSection::Top,
        "section",
        "tables that begin with [[section]]",
        "[[section]] place = \"analysis\", text = \"…\"",
        "sections of yours in the report",
    ),
    key(
        FileSection::Section,
        "place",
        "conclusion, purpose, topology, machines, changes or analysis",
        "place = \"analysis\"",
        "where it stands",
    ),
    key(
        FileSection::Section,
        "title",
        "a text",
        "title = \"Why it stops\"",
        "its heading (that of the place)",
    ),
    key(
        FileSection::Section,
        "text",
        "a Markdown text",
        "text = \"The disk is full.\"",
        "what it says",
    ),
    key(
        FileSection::Price,
        "total",
        "a number above 0",
        "total = 12345.0",
        "the price",
    ),
    key(
        FileSection::Price,
        "currency",
        "a word of up to 12 bytes without digits",
        "currency = \"USD\"",
        "its currency",
    ),
    key(
        FileSection::Load,
        "threads",
        "a whole number from 1, or a list",
        "threads = [8, 16, 32]",
        "concurrent sessions (1)",
    ),
    key(
        FileSection::Load,
        "terminals",
        "a whole number from 1, or a list",
        "terminals = [10, 100]",
        "TPC-C's word for the same: emulated users",
    ),
    key(
        FileSection::Load,
        "rates",
        "a number above 0, or a list",
        "rates = [1000, 2000]",
        "arrivals per second, independent of replies (open loop)",
    ),
    key(
        FileSection::Load,
        "connections",
        "a whole number from 1, or a list",
        "connections = [20]",
        "sessions shared by the threads or terminals",
    ),
    key(
        FileSection::Target,
        "name",
        "a text without /",
        "name = \"mariadb\"",
        "name in results",
    ),
    key(
        FileSection::Target,
        "url",
        "a target's URL, or up: and an engine for a sandbox, with settings as \
         up:mariadb?innodb_buffer_pool_size=1G&max_connections=5000",
        "url = \"mysql://root@127.0.0.1:3306/sbtest\"",
        "where it is",
    ),
    key(
        FileSection::Target,
        "admin",
        "a target's URL",
        "admin = \"mysql://root@127.0.0.1:3306/mysql\"",
        "account that changes settings (set-global), if url's may not",
    ),
    key(
        FileSection::Target,
        "admin-password",
        "env: and a variable's name, or a text",
        "admin-password = \"env:ADMIN_PASSWORD\"",
        "password of admin's account; the variable's value is used and never stored",
    ),
    key(
        FileSection::Target,
        "password",
        "env: and a variable's name, or a text",
        "password = \"env:DB_PASSWORD\"",
        "password of url's account; the variable's value is used and never stored",
    ),
    key(
        FileSection::Target,
        "session",
        SETTINGS,
        "session = { sort_buffer_size = 262144 }",
        "session variables, in loads and runs",
    ),
    key(
        FileSection::Workload,
        "name",
        "a workload's name (tidemark workloads)",
        "name = \"oltp_read_only\"",
        "which",
    ),
    key(
        FileSection::Workload,
        "label",
        "a text without /",
        "label = \"small\"",
        "label in results, to distinguish two of one name (its name)",
    ),
    key(
        FileSection::Workload,
        "family",
        "",
        "family = \"sysbench\"",
        "",
    ),
    key(
        FileSection::Workload,
        "options",
        OPTIONS,
        "options = { tables = 4, table-size = 100000 }",
        "options of its commands; those that shape the data also apply to the load",
    ),
    key(
        FileSection::Workload,
        "load",
        "a table, as [load]",
        "load = { threads = [8, 16] }",
        "its own load levels",
    ),
    key(
        FileSection::Workload,
        "warmup",
        TIME,
        "warmup = \"10s\"",
        "replaces the study's",
    ),
    key(
        FileSection::Workload,
        "time",
        TIME,
        "time = \"60s\"",
        "replaces the study's",
    ),
    key(
        FileSection::Workload,
        "session",
        SETTINGS,
        "session = { sort_buffer_size = 262144 }",
        "session variables of its runs",
    ),
    key(
        FileSection::Factor,
        "name",
        "a text without / and not target, workload, threads, terminals, rate or connections",
        "name = \"size\"",
        "name in results",
    ),
    key(
        FileSection::Factor,
        "values",
        "a list of tables",
        "values = [{ label = \"100k\", options = { table-size = 100000 } }]",
        "its values; each is combined with everything else",
    ),
    key(
        FileSection::Factor,
        "during",
        "load, run or both",
        "during = \"both\"",
        "when set-global, session and inject-rtt apply (run)",
    ),
    key(
        FileSection::Factor,
        "workloads",
        "a list of workloads' labels",
        "workloads = [\"oltp_read_only\"]",
        "the only workloads that it applies to (all)",
    ),
    key(
        FileSection::Value,
        "label",
        "a text without /",
        "label = \"100k\"",
        "name in results",
    ),
    key(
        FileSection::Value,
        "options",
        OPTIONS,
        "options = { table-size = 100000 }",
        "options of the commands; override the workload's",
    ),
    key(
        FileSection::Value,
        "session",
        SETTINGS,
        "session = { tidb_txn_mode = \"optimistic\" }",
        "session variables",
    ),
    key(
        FileSection::Value,
        "set-global",
        SETTINGS,
        "set-global = { innodb_flush_log_at_trx_commit = 2 }",
        "server settings: changed before each step, always restored after it",
    ),
    key(
        FileSection::Value,
        "inject-rtt",
        TIME,
        "inject-rtt = \"20ms\"",
        "injected network latency, added inside the client",
    ),
    key(
        FileSection::Value,
        "target",
        "a target's URL, or up: and an engine",
        "target = \"up:mariadb\"",
        "the database, in a study without [[target]]",
    ),
];
