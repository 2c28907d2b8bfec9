//! The command line of `tidemark tpcc`: go-tpc's flags for TPC-C, with its names, letters and
//! defaults, and what Tidemark has beside them.

use super::{check, plan};
use crate::compat::gotpc::GoTpcCommand::{self, Check, Cleanup, Prepare, Run};
use crate::compat::gotpc::Tool;
use crate::compat::gotpc::flags::{
    CONNECTION, COUNT, DROPDATA, Flag, Group, IGNORE_ERROR, INTERVAL, ISOLATION, MAX_PROCS, OUTPUT,
    OUTPUT_DIR, OUTPUT_TYPE, SEED, TABLES, TIME, WARMUP, flag,
};
use tidemark_core::OptionKind::{Bool, Choice, Int, Rates, Text};
use tidemark_core::OptionValues;

/// `tidemark tpcc`.
pub const TOOL: Tool = Tool {
    name: "tpcc",
    title: "TPC-C",
    commands: COMMANDS,
    commands_help: "prepare loads and checks the tables, run measures, check looks at the \
                    consistency conditions, cleanup drops the tables",
    groups: GROUPS,
    idle: IDLE,
    aliases: ALIASES,
    // Think times are --wait's.
    without: &["think-time"],
    shapes: SHAPES,
    example: "--warehouses 4",
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
        "number of warehouses, of some 80 MB each",
    ),
    flag(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "run: terminals (emulated users) at the same time; else: sessions that \
         load or check. --terminals is another name",
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
        "users key and think as the specification has it (5.2.5.7): then -T \
         should be ten times --warehouses",
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
        "split every table but item into this many partitions by warehouse; at most --warehouses",
    ),
    flag(
        "partition-type",
        Choice(&["hash", "range", "list-hash", "list-range"]),
        "hash",
        "how warehouses are dealt to --parts, as word or as go-tpc's number: 1 \
         hash, 2 range, 3 list-hash, 4 list-range",
    ),
    flag(
        "no-check",
        Bool,
        "off",
        "do not check the data after loading",
    )
    .only(&[Prepare]),
    flag(
        "use-fk",
        Bool,
        "off",
        "make the foreign keys, after the rows",
    )
    .only(&[Prepare]),
    DROPDATA,
    OUTPUT_TYPE,
    OUTPUT_DIR,
    TABLES,
    flag(
        "check-all",
        Bool,
        "off",
        "run: check the consistency conditions (3.3.2.1 to 3.3.2.12) after the \
         run; check asks all of them in any case",
    ),
    flag(
        "snapshot",
        Bool,
        "off",
        "ask all conditions in one snapshot, as they must be while a run goes on",
    )
    .only(&[Check]),
];

/// What go-tpc takes and Tidemark has no use for.
const IDLE: &[Flag] = &[
    flag("max-measure-latency", Text, "", "")
        .only(&[Run])
        .idle("latencies up to an hour are measured"),
    flag("retry-count", Text, "", "").only(&[Prepare]).idle(
        "a load waits for a server that restarts, and the same command goes on \
         with one that was stopped",
    ),
    flag("retry-interval", Text, "", "").only(&[Prepare]).idle(
        "a load waits for a server that restarts, and the same command goes on \
         with one that was stopped",
    ),
    flag("use-clustered-index", Bool, "on", "")
        .only(&[Prepare])
        .idle("the server's own default decides"),
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
        "three-year price of the system, as '12345 USD': then price/tpmC is told",
    ),
    flag(
        "rate",
        Rates,
        "0",
        "transactions a second on a schedule (open loop) instead of as replies \
         come; 1000..20000:1000 and 1000,5000 are held one after the other, \
         each for --rate-hold",
    ),
];

/// The groups of `--help` but for the workload's own options and those that every command has.
const GROUPS: &[Group] = &[
    Group {
        title: "Connection",
        flags: CONNECTION,
    },
    Group {
        title: "Scale",
        flags: SCALE,
    },
    Group {
        title: "run",
        flags: RUN,
    },
    Group {
        title: "prepare and check",
        flags: PREPARE,
    },
    Group {
        title: "Tidemark's own",
        flags: OWN,
    },
];

/// Other names of flags.
const ALIASES: &[(&str, &str)] = &[("terminals", "threads")];

const EXAMPLES: &str = "\
Begin with, on a MariaDB or MySQL server:
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 4 prepare
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 -T 8 --time 5m run
  tidemark tpcc -H 127.0.0.1 -P 3306 -U user -D tpcc --warehouses 4 check
or without a server:
  tidemark tpcc --target sqlite:tpcc.db --warehouses 1 prepare
  tidemark tpcc --target sqlite:tpcc.db --warehouses 1 --time 1m run

As the specification has it, 10 terminals a warehouse who key and think, on 20 sessions:
  tidemark tpcc --target URL --warehouses 10 -T 100 --connections 20 --wait --time 30m run

MYSQL_PWD or PGPASSWORD in the environment hold the password.";
