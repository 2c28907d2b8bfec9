//! The command line of `tidemark tpcc`: go-tpc's flags for TPC-C, with its names, letters and
//! defaults, and what Tidemark has beside them.

use super::{check, plan};
use crate::compat::gotpc::GoTpcCommand::{self, Check, Cleanup, Prepare, Run};
use crate::compat::gotpc::Tool;
use crate::compat::gotpc::flags::{
    CONNECTION, COUNT, DROPDATA, Flag, FlagGroup, IGNORE_ERROR, INTERVAL, ISOLATION, MAX_PROCS,
    OUTPUT, OUTPUT_DIR, OUTPUT_TYPE, SEED, TABLES, TIME, WARMUP, flag,
};
use tidemark_core::OptionKind::{Bool, Choice, Int, Rates, Text};
use tidemark_core::OptionValues;

/// `tidemark tpcc`.
pub const TOOL: Tool = Tool {
    name: "tpcc",
    title: "TPC-C",
    commands: COMMANDS,
    commands_help: "prepare loads and checks the tables, run benchmarks, check verifies the \
                    consistency conditions, cleanup drops the tables",
    groups: GROUPS,
    idle: IDLE,
    aliases: ALIASES,
    // Think times are --wait's.
    without: &["think-time"],
    shapes: SHAPES,
    example: "--warehouses 4",
    most_used: &[
        "host",
        "port",
        "user",
        "db",
        "warehouses",
        "threads",
        "time",
        "target",
        "wait",
        "report",
    ],
    first_examples: [
        "tidemark tpcc --target sqlite:tpcc.db --warehouses 1 prepare",
        "tidemark tpcc --target sqlite:tpcc.db --warehouses 1 -T 4 --time 10s run",
    ],
    examples: EXAMPLES,
    files,
    run_spec: plan::run_spec,
    after_load: check::after_load,
    check: check::alone,
};

const COMMANDS: &[GoTpcCommand] = &[Prepare, Run, Check, Cleanup];

/// Flags that say what tables there are, for the command that makes them.
const SHAPES: &[&str] = &[
    "warehouses",
    "parts",
    "partition-type",
    "use-fk",
    "foreign-keys",
];

/// In how many files a table is written: the catalogue is the same however many warehouses there are,
/// and go-tpc's first thread alone writes it.
fn files(table: &str, options: &OptionValues) -> u64 {
    match table {
        "item" => 1,
        _ => options.uint("threads").clamp(1, options.uint("warehouses")),
    }
}

/// How large it is.
const SCALE: &[Flag] = &[
    flag(
        "warehouses",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "10",
        "number of warehouses, about 80 MB each",
    ),
    flag(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "run: concurrent terminals (emulated users); other commands: sessions. Alias: --terminals",
    )
    .letter('T'),
];

const RUN: &[Flag] = &[
    TIME,
    COUNT,
    flag(
        "wait",
        Bool,
        "off",
        "keying and think times as specified (5.2.5.7); set -T to ten times --warehouses",
    )
    .only(&[Run]),
    flag(
        "weight",
        Text,
        "45,43,4,4,4",
        "percentages of NewOrder, Payment, OrderStatus, Delivery, StockLevel",
    )
    .only(&[Run]),
    ISOLATION,
    IGNORE_ERROR,
    INTERVAL,
    OUTPUT,
    MAX_PROCS,
];

const PREPARE: &[Flag] = &[
    flag(
        "parts",
        Int { min: 1, max: 8192 },
        "1",
        "split every table except item into this many partitions by warehouse; at most \
         --warehouses",
    ),
    flag(
        "partition-type",
        Choice(&["hash", "range", "list-hash", "list-range"]),
        "hash",
        "partition method for --parts, as a name or as go-tpc's number: 1 hash, 2 range, 3 \
         list-hash, 4 list-range",
    ),
    flag(
        "no-check",
        Bool,
        "off",
        "do not check the data after loading",
    )
    .only(&[Prepare]),
    flag("use-fk", Bool, "off", "add the foreign keys after loading").only(&[Prepare]),
    DROPDATA,
    OUTPUT_TYPE,
    OUTPUT_DIR,
    TABLES,
    flag(
        "check-all",
        Bool,
        "off",
        "run: check the consistency conditions (3.3.2.1 to 3.3.2.12) after the run; the check \
         command always checks all",
    ),
    flag(
        "snapshot",
        Bool,
        "off",
        "check all conditions in one snapshot; required during a run",
    )
    .only(&[Check]),
];

/// What go-tpc takes and Tidemark has no use for.
const IDLE: &[Flag] = &[
    flag("max-measure-latency", Text, "", "")
        .only(&[Run])
        .idle("latencies up to an hour are measured"),
    flag("retry-count", Text, "", "")
        .only(&[Prepare])
        .idle("a load waits for a restarting server, and the same command resumes a stopped load"),
    flag("retry-interval", Text, "", "")
        .only(&[Prepare])
        .idle("a load waits for a restarting server, and the same command resumes a stopped load"),
    flag("use-clustered-index", Bool, "on", "")
        .only(&[Prepare])
        .idle("the server's default applies"),
    flag("conn-refresh-interval", Text, "", "")
        .only(&[Run])
        .idle("sessions are spread over all hosts from the start"),
];

/// Tidemark's own, beside what every command has.
const OWN: &[Flag] = &[
    WARMUP,
    SEED,
    flag(
        "price",
        Text,
        "",
        "three-year system price, for example '12345 USD', for price/tpmC",
    ),
    flag(
        "rate",
        Rates,
        "0",
        "transactions per second on a schedule (open loop); 0 = as fast as replies arrive; \
         1000..20000:1000 or 1000,5000 runs the rates in turn, each for --rate-hold",
    ),
];

/// The groups of `--help` but for the workload's own options and those that every command has.
const GROUPS: &[FlagGroup] = &[
    FlagGroup {
        title: "go-tpc: connection",
        flags: CONNECTION,
    },
    FlagGroup {
        title: "go-tpc: scale",
        flags: SCALE,
    },
    FlagGroup {
        title: "go-tpc: run",
        flags: RUN,
    },
    FlagGroup {
        title: "go-tpc: prepare and check",
        flags: PREPARE,
    },
    FlagGroup {
        title: "Tidemark's own",
        flags: OWN,
    },
];

/// Other names of flags.
const ALIASES: &[(&str, &str)] = &[("terminals", "threads")];

const EXAMPLES: &str = "\
On a MariaDB or MySQL server (set MYSQL_PWD; with -d postgres, PGPASSWORD):
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 4 prepare
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 8 --time 5m run
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 check
As specified: 10 terminals per warehouse with keying and think times, on 20 sessions:
  tidemark tpcc --target URL --warehouses 10 -T 100 --connections 20 --wait --time 30m run";
