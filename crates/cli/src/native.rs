//! What every command that loads or runs has beside the options of the tool it stands for.

use std::time::Duration;
use tidemark_core::OptionKind::{
    self, Bool, Choice, Float, Int, Objective, Observe, Text, ThinkTime, Time,
};
use tidemark_core::{OptionSpec, option};

/// A whole number that is not below `min`.
pub const fn at_least(min: i64) -> OptionKind {
    Int { min, max: i64::MAX }
}

/// Seconds, a century at most: what is longer overflows clocks.
pub const SECONDS: OptionKind = Int {
    min: 0,
    max: 100 * 365 * 86_400,
};

const DAY: Duration = Duration::from_secs(86_400);
const WEEK: Duration = Duration::from_secs(7 * 86_400);
const MINUTE: Duration = Duration::from_secs(60);

const fn up_to(max: Duration) -> OptionKind {
    Time {
        min: Duration::ZERO,
        max,
    }
}

/// A time in which something can be measured.
const HOLD: OptionKind = Time {
    min: Duration::from_secs(1),
    max: DAY,
};

/// How statements of a run reach the server.
pub const PREPARED: OptionSpec = option(
    "db-ps-mode",
    Choice(&["auto", "disable"]),
    "auto",
    "prepare statements on the server, or send them as text, as poolers need that give server \
     sessions out by transaction",
);

/// How transactions are made to start, and how far away the target seems.
pub const LOAD: &[OptionSpec] = &[
    option(
        "connections",
        Int {
            min: 0,
            max: 1_000_000,
        },
        "0",
        "sessions that the terminals (--threads) share; 0 is one for each",
    ),
    option(
        "think-time",
        ThinkTime,
        "0",
        "a terminal's pause between two transactions: 100ms, or exp:12s for exponential ones around 12 s",
    ),
    option(
        "connect-rate",
        Float { min: 0.0, max: 1e6 },
        "0",
        "sessions opened a second; 0 is as fast as the target takes them",
    ),
    option(
        "fewer-sessions",
        Choice(&["fail", "go-on"]),
        "fail",
        "what to do when fewer sessions can be had than were asked for",
    ),
    option(
        "rate-hold",
        HOLD,
        "10s",
        "how long each step of --rate is held; steps take the place of --time",
    ),
    option(
        "arrivals",
        Choice(&["poisson", "constant"]),
        "poisson",
        "arrivals of --rate: at random as many users make them, or at equal distances",
    ),
    option(
        "max-backlog",
        at_least(1),
        "100000",
        "arrivals that may wait for a free session; beyond them they are dropped and counted",
    ),
    option(
        "find-max",
        Objective,
        "",
        "look for the highest rate that keeps an objective, as 'p99 < 20ms' or 'p95 < 5ms and errors < 0.1%'",
    ),
    option(
        "find-from",
        Float { min: 0.0, max: 1e6 },
        "0",
        "first rate of --find-max; 0 measures without a schedule first and starts from that",
    ),
    option(
        "find-hold",
        HOLD,
        "10s",
        "how long --find-max holds each rate",
    ),
    option(
        "find-confirm",
        HOLD,
        "30s",
        "how long --find-max holds the rate it found once more",
    ),
    option(
        "find-precision",
        Float {
            min: 0.001,
            max: 0.5,
        },
        "0.05",
        "--find-max ends when the rates kept and not kept are this close; 0.05 is 5 %",
    ),
    option(
        "view",
        Bool,
        "off",
        "watch a run in a view that fills the terminal: rates, latencies, types, errors, hosts (TPC-H: \
         each query's times, what each stream asks now); q leaves it, and the run goes on with its \
         lines; without a terminal there are lines alone",
    ),
    option(
        "inject-rtt",
        up_to(MINUTE),
        "0",
        "make every round trip longer by this time, inside the client, as if the target were far away",
    ),
    option(
        "statement-timeout",
        up_to(DAY),
        "0",
        "give a statement and its session up after this time; 0 waits",
    ),
];

/// Target, store, reports, sessions and loading.
pub const NATIVE: &[OptionSpec] = &[
    option(
        "target",
        Text,
        "",
        "URL of the target instead of --db-driver and its options, as mysql://user@h1:4000,h2:4000/db; \
         with replicas mysql://user@primary/db,mysql://user@replica/db?role=read",
    ),
    option(
        "out",
        Text,
        "",
        "write the run record to this file, as JSON; a record of Tidemark's that is there is replaced, no other file",
    ),
    option(
        "report",
        Text,
        "",
        "write a report to this file; its ending says how: .html, .md, .txt, .json, .csv; several are joined by commas or given one by one; reports of Tidemark's that are there are replaced, no other files",
    ),
    option(
        "overwrite",
        Bool,
        "off",
        "replace files named by --out and --report that are there, whoever wrote them",
    ),
    option(
        "lang",
        Choice(&["en", "zh"]),
        "en",
        "language of the report",
    ),
    option(
        "store",
        Text,
        "",
        "file of the run store, or off; TIDEMARK_STORE sets another default",
    ),
    option(
        "metrics",
        Text,
        "",
        "serve a run's figures as OpenMetrics for Prometheus at this port of the loopback address, \
         or at ADDRESS:PORT; port 0 takes a free one and tells it",
    ),
    option(
        "metrics-linger",
        up_to(DAY),
        "0",
        "go on serving --metrics for this time after a run's end, so that the last figures are \
         fetched, too",
    ),
    option(
        "observe",
        Observe,
        "auto",
        "record what hosts and database did during a run: auto is each source that can be had, off none; \
         or a list of client-host, server-host, server-process, server-status, server-activity",
    ),
    option(
        "observe-host",
        Text,
        "",
        "URL of a node_exporter on the database's host, as http://db1:9100/metrics, if that is another host",
    ),
    option(
        "print-job",
        Bool,
        "off",
        "run, prepare: print the run or the load as JSON, for tidemark exec, and do nothing else",
    ),
    option(
        "executors",
        at_least(0),
        "0",
        "threads that drive the sessions; 0 is one a core",
    ),
    option(
        "scheduling",
        Choice(&["batch", "normal"]),
        "batch",
        "batch leaves the processor to a server on the same machine; normal takes it at every reply",
    ),
    option(
        "busy-poll",
        up_to(Duration::from_millis(10)),
        "500us",
        "open loop: how long before an arrival its thread stays awake for it, so that it is sent in \
         time; 0 sleeps until then, which takes less CPU and is tens of microseconds late, and is \
         the default with one core or under a CPU quota, as containers have",
    ),
    option(
        "connect-timeout",
        Time {
            min: Duration::from_millis(1),
            max: DAY,
        },
        "10s",
        "time within which one session must be open; outside the measurement, a server that answers \
         neither a statement nor, three times, a session opened beside it is given up",
    ),
    option(
        "setup-timeout",
        up_to(WEEK),
        "24h",
        "how long a statement outside the measurement may take, as one that builds an index or counts \
         rows; 0 is no limit",
    ),
    option(
        "on-disconnect",
        Choice(&["reconnect", "fail"]),
        "reconnect",
        "what to do when a session is lost during a run",
    ),
    option(
        "reconnect-timeout",
        up_to(DAY),
        "30s",
        "how long a lost session is tried again",
    ),
    option(
        "set-session",
        Text,
        "",
        "settings that every session takes for itself, as 'sort_buffer_size=262144;tx_isolation=SERIALIZABLE'",
    ),
    option(
        "keep-loaded",
        Bool,
        "off",
        "prepare: end well when the tables bear the mark of this very load by Tidemark, and leave them as \
         they are; the mark is believed and no row is looked at, but a run tells rows that are missing",
    ),
    option(
        "replace",
        Bool,
        "off",
        "prepare: drop tables of this benchmark that are there already",
    ),
    option(
        "force",
        Bool,
        "off",
        "prepare, cleanup: drop tables of that name even if they are not this benchmark's; run, check: use \
         them",
    ),
    option(
        "chunk-rows",
        at_least(0),
        "0",
        "prepare: rows committed together; 0 chooses",
    ),
    option(
        "load-method",
        Choice(&["auto", "bulk", "insert"]),
        "auto",
        "prepare: COPY or LOAD DATA where the server takes it, or INSERT",
    ),
];
