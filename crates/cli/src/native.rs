//! What every command that loads or runs has beside the options of the tool it stands for.

use std::time::Duration;
use tidemark_core::OptionKind::{
    self, Bool, Choice, Float, Int, Objective, Observe, Text, ThinkTime, Time, Urls,
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
    "prepare statements on the server, or send text (disable), which transaction poolers need",
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
        "sessions shared by the terminals (--threads); 0 = one per terminal",
    ),
    option(
        "think-time",
        ThinkTime,
        "0",
        "pause of a terminal between transactions: 100ms, or exp:12s for exponential pauses with \
         a mean of 12 s",
    ),
    option(
        "connect-rate",
        Float { min: 0.0, max: 1e6 },
        "0",
        "sessions to open per second; 0 = as fast as the target accepts them",
    ),
    option(
        "fewer-sessions",
        Choice(&["fail", "go-on"]),
        "fail",
        "what to do if fewer sessions can be opened than requested",
    ),
    option(
        "rate-hold",
        HOLD,
        "10s",
        "duration of each step of --rate; steps replace --time",
    ),
    option(
        "arrivals",
        Choice(&["poisson", "constant"]),
        "poisson",
        "spacing of arrivals: random like independent users (poisson), or constant",
    ),
    option(
        "max-backlog",
        at_least(1),
        "100000",
        "arrivals that may wait for a free session; more are dropped and counted",
    ),
    option(
        "find-max",
        Objective,
        "",
        "search for the highest rate that meets an SLO, for example 'p99 < 20ms' or 'p95 < 5ms \
         and errors < 0.1%'",
    ),
    option(
        "find-from",
        Float { min: 0.0, max: 1e6 },
        "0",
        "first rate of --find-max; 0 = measure without a schedule and start from that",
    ),
    option(
        "find-hold",
        HOLD,
        "10s",
        "how long --find-max measures each rate",
    ),
    option(
        "find-confirm",
        HOLD,
        "30s",
        "how long --find-max confirms the rate it found",
    ),
    option(
        "find-precision",
        Float {
            min: 0.001,
            max: 0.5,
        },
        "0.05",
        "--find-max stops when rates that meet and miss the SLO are this close; 0.05 = 5 %",
    ),
    option(
        "view",
        Bool,
        "off",
        "show the run in a full-screen view; q closes it and the run continues with plain lines; \
         without a terminal, only lines are printed",
    ),
    option(
        "inject-rtt",
        up_to(MINUTE),
        "0",
        "injected network latency: added to every round trip inside the client",
    ),
    option(
        "statement-timeout",
        up_to(DAY),
        "0",
        "abort a statement and reconnect after TIME; 0 = no limit",
    ),
];

/// Target, store, reports, sessions and loading.
pub const NATIVE: &[OptionSpec] = &[
    option(
        "target",
        Text,
        "",
        "database URL, replaces --db-driver and its options; for example \
         mysql://user@h1:4000,h2:4000/db; with replicas \
         mysql://user@primary/db,mysql://user@replica/db?role=read",
    ),
    option(
        "out",
        Text,
        "",
        "write the run record to this JSON file; replaces only records that Tidemark wrote",
    ),
    option(
        "report",
        Text,
        "",
        "write a report to this file (.html, .md, .txt, .json, .csv); repeat it or separate \
         files with commas; replaces only reports that Tidemark wrote",
    ),
    option(
        "overwrite",
        Bool,
        "off",
        "replace any existing file named by --out and --report",
    ),
    option(
        "lang",
        Choice(&["auto", "en", "zh"]),
        "auto",
        "language of the report; auto: that of TIDEMARK_LANG, else LANG",
    ),
    option(
        "tag",
        Text,
        "",
        "tags of the run, separated by commas, as tidemark tag adds them",
    ),
    option(
        "note",
        Text,
        "",
        "note of the run, as tidemark note sets it",
    ),
    option(
        "store",
        Text,
        "",
        "run store file, or off; TIDEMARK_STORE sets another default",
    ),
    option(
        "metrics",
        Text,
        "",
        "serve metrics for Prometheus (OpenMetrics) on this port of the loopback address, or on \
         ADDRESS:PORT; port 0 picks and prints a free one",
    ),
    option(
        "metrics-linger",
        up_to(DAY),
        "0",
        "keep serving --metrics for this time after a run, so that the last values are scraped",
    ),
    option(
        "observe",
        Observe,
        "auto",
        "observe hosts and database during a run: auto = every available source, off = none, or a list \
         of client-host, server-host, server-process, server-status, server-nodes, server-activity, \
         server-statements, network",
    ),
    option(
        "observe-host",
        Urls,
        "",
        "URL of a node_exporter on a remote database host, for example http://db1:9100/metrics",
    ),
    option(
        "observe-nodes",
        Urls,
        "",
        "URLs of the metrics of TiDB, CockroachDB or YugabyteDB nodes, separated by commas, for example \
         http://db1:10080/metrics; by default the database lists its nodes",
    ),
    option(
        "clients",
        Text,
        "",
        "run from several hosts as one: how many of the agents at --nats (3), which (a,b,c), or how many \
         on this host, to try it (local:3)",
    ),
    option(
        "nats",
        Text,
        "",
        "NATS server at which the agents wait, for example nats://load0:4222 or tls://load0:4222; its \
         default is NATS_URL, its credential NATS_USER and NATS_PASSWORD",
    ),
    option(
        "nats-creds",
        Text,
        "",
        "file with the credential of an account of NATS",
    ),
    option(
        "nats-ca",
        Text,
        "",
        "file with the certificate authority of NATS; by default the system's",
    ),
    option(
        "on-client-loss",
        Choice(&["fail", "continue"]),
        "fail",
        "what to do if one of several clients is lost: end the run, or continue with the others",
    ),
    option(
        "observe-prometheus",
        Urls,
        "",
        "URL of a Prometheus that has the nodes' metrics, for example http://prometheus:9090; asked in \
         place of the nodes",
    ),
    option(
        "observe-ca",
        Text,
        "",
        "PEM file of the certificate authority that https:// URLs of --observe-* are verified with; \
         default: the system's",
    ),
    option(
        "topology",
        Text,
        "",
        "TiUP's topology.yaml of the target's cluster: its hosts and settings become part of the record",
    ),
    option(
        "print-job",
        Bool,
        "off",
        "run, prepare: print the run or load as a JSON job for tidemark exec, and do nothing else",
    ),
    option(
        "strict",
        Bool,
        "off",
        "run: refuse to start (exit code 5) if a hint says that the figures would mislead",
    ),
    option(
        "executors",
        at_least(0),
        "0",
        "client threads that drive the sessions; 0 = one per core",
    ),
    option(
        "scheduling",
        Choice(&["batch", "normal"]),
        "batch",
        "scheduling class of client threads: batch leaves the CPU to a server on the same \
         machine, normal takes it at every reply",
    ),
    option(
        "busy-poll",
        up_to(Duration::from_millis(10)),
        "500us",
        "open loop: busy-poll this long before an arrival, so that it is sent on time; 0 = \
         sleep, which uses less CPU and is tens of microseconds late (default on one core or \
         under a CPU quota)",
    ),
    option(
        "connect-timeout",
        Time {
            min: Duration::from_millis(1),
            max: DAY,
        },
        "10s",
        "time limit for opening a session; outside the measurement, a server is given up if it \
         replies neither to a statement nor to three new sessions",
    ),
    option(
        "setup-timeout",
        up_to(WEEK),
        "24h",
        "time limit for a statement outside the measurement, such as an index build; 0 = no limit",
    ),
    option(
        "on-disconnect",
        Choice(&["reconnect", "fail"]),
        "reconnect",
        "what to do if a session is lost during a run",
    ),
    option(
        "reconnect-timeout",
        up_to(DAY),
        "30s",
        "how long to try to reconnect a lost session",
    ),
    option(
        "set-session",
        Text,
        "",
        "session variables, for example 'sort_buffer_size=262144;tx_isolation=SERIALIZABLE'",
    ),
    option(
        "keep-loaded",
        Bool,
        "off",
        "prepare: keep tables that Tidemark already loaded with the same settings; skips \
         verification of loaded tables",
    ),
    option(
        "replace",
        Bool,
        "off",
        "prepare: drop existing tables of this benchmark",
    ),
    option(
        "force",
        Bool,
        "off",
        "prepare, cleanup: drop tables of these names even if they are not this benchmark's; \
         run, check: use them",
    ),
    option(
        "chunk-rows",
        at_least(0),
        "0",
        "prepare: rows per commit; 0 = automatic",
    ),
    option(
        "load-method",
        Choice(&["auto", "bulk", "insert"]),
        "auto",
        "prepare: COPY or LOAD DATA where supported, or INSERT",
    ),
];
