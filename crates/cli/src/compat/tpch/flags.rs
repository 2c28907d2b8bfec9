//! The command line of `tidemark tpch`: go-tpc's flags for TPC-H, with its names, letters and
//! defaults, and what Tidemark has beside them.

use super::{job, tiflash};
use crate::compat::gotpc::GoTpcCommand::{self, Cleanup, Prepare, Run};
use crate::compat::gotpc::Tool;
use crate::compat::gotpc::flags::{
    CONNECTION, COUNT, DROPDATA, Flag, FlagGroup, INTERVAL, ISOLATION, MAX_PROCS, OUTPUT,
    OUTPUT_DIR, OUTPUT_TYPE, TABLES, TIME, flag, up_to_a_year,
};
use crate::exit::Failure;
use crate::native::at_least;
use std::time::Duration;
use tidemark_core::OptionKind::{Bool, Choice, Float, Int, List, Text};
use tidemark_core::OptionValues;

/// `tidemark tpch`.
pub const TOOL: Tool = Tool {
    name: "tpch",
    title: "TPC-H",
    commands: COMMANDS,
    commands_help: "prepare loads and verifies the tables, run executes the queries, cleanup \
                    drops the tables",
    groups: GROUPS,
    idle: IDLE,
    aliases: &[],
    without: WITHOUT,
    shapes: SHAPES,
    example: "--sf 0.1",
    most_used: &[
        "host", "port", "user", "db", "sf", "threads", "queries", "check", "target", "report",
    ],
    first_examples: [
        "tidemark tpch --target sqlite:tpch.db --sf 0.01 prepare",
        "tidemark tpch --target sqlite:tpch.db --sf 0.01 run --check",
    ],
    examples: EXAMPLES,
    files,
    run_spec: job::run_spec,
    after_load: |work, plan, out| match work.options.uint("tiflash-replica") {
        0 => Ok(()),
        _ => tiflash::wait(plan, out),
    },
    check: |_| {
        Err(Failure::usage(
            "TPC-H has no check command; use run --check",
        ))
    },
};

const COMMANDS: &[GoTpcCommand] = &[Prepare, Run, Cleanup];

/// Flags that say what tables there are, for the command that makes them.
const SHAPES: &[&str] = &["sf", "indexes", "foreign-keys", "tiflash-replica"];

/// Queries follow each other; they have no arrivals and no terminals.
const WITHOUT: &[&str] = &[
    "db-ps-mode",
    "think-time",
    "rate-hold",
    "arrivals",
    "max-backlog",
    "find-max",
    "find-from",
    "find-hold",
    "find-confirm",
    "find-precision",
];

/// In how many files a table is written: a part for each thread, but for the two that are the same
/// at every scale.
fn files(table: &str, options: &OptionValues) -> u64 {
    match table {
        "region" | "nation" => 1,
        _ => options.uint("threads"),
    }
}

/// How large it is.
const SCALE: &[Flag] = &[
    flag(
        "sf",
        Float {
            min: 0.01,
            max: 100_000.0,
        },
        "1",
        "scale factor; 1 is some gigabytes, 0.01 and 0.1 make small tables",
    ),
    flag(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "sessions that load, or query in parallel",
    )
    .letter('T'),
];

const RUN: &[Flag] = &[
    flag(
        "queries",
        List,
        "q1,q2,q3,q4,q5,q6,q7,q8,q9,q10,q11,q12,q13,q14,q15,q16,q17,q18,q19,q20,q21,q22",
        "queries, in this order; each thread starts with a different one",
    ),
    flag(
        "check",
        Bool,
        "off",
        "check answers; reference answers are stored for --sf=1 and --sf=0.01 and computed by \
         SQLite for others",
    ),
    flag(
        "use-explain",
        Bool,
        "off",
        "record plans with the time of each step; runs every query once more after the \
         measurement (EXPLAIN ANALYZE)",
    ),
    flag(
        "enable-query-tuning",
        Bool,
        "on",
        "set TiDB variables that help TPC-H, as go-tpc does",
    )
    .only(&[Run]),
    flag(
        "test",
        Choice(&["queries", "power", "throughput", "full"]),
        "queries",
        "queries: run --queries; power: one stream in the specification's order between RF1 and \
         RF2 (5.3.3); throughput: --streams in parallel with one refresh stream (5.3.4); full: \
         both, and QphH",
    )
    .only(&[Run]),
    flag(
        "streams",
        Int { min: 0, max: 500 },
        "0",
        "streams of a throughput test; 0 = the specification's minimum",
    )
    .only(&[Run]),
    flag(
        "refresh",
        Bool,
        "on",
        "run RF1 and RF2 in a power or throughput test; the tables are restored afterwards; the \
         test is refused if rows with these keys were not loaded by Tidemark",
    )
    .only(&[Run]),
    flag(
        "query-timeout",
        up_to_a_year(Duration::ZERO),
        "0s",
        "cancel a query after this time, for example 10m, and continue with the next; 0s = no \
         limit",
    )
    .only(&[Run]),
    flag(
        "seed",
        at_least(0),
        "0",
        "seed of the query parameters (2.4); 0 = the specification's validation values, or from \
         the clock in a power or throughput test without --check",
    )
    .only(&[Run]),
    flag(
        "reference",
        Text,
        "",
        "sqlite:FILE with the same tables, as reference for --check",
    )
    .only(&[Run]),
    TIME,
    COUNT,
    INTERVAL,
];

const PREPARE: &[Flag] = &[
    flag(
        "tiflash-replica",
        Int { min: 0, max: 100 },
        "0",
        "replicas of every table in TiFlash, TiDB's column store; prepare waits for them",
    )
    .only(&[Prepare]),
    DROPDATA,
    OUTPUT_TYPE,
    OUTPUT_DIR,
    TABLES,
    ISOLATION,
    MAX_PROCS,
    OUTPUT,
];

/// What go-tpc takes and Tidemark has no use for.
const IDLE: &[Flag] = &[
    flag("db-ps-mode", Choice(&["auto", "disable"]), "auto", "")
        .idle("a query is sent as text, and planned with its values"),
    flag("analyze", Bool, "off", "")
        .only(&[Prepare])
        .idle("statistics are refreshed after every load"),
    flag("tidb_build_stats_concurrency", Text, "4", "")
        .only(&[Prepare])
        .idle(ANALYZE),
    flag("tidb_distsql_scan_concurrency", Text, "15", "")
        .only(&[Prepare])
        .idle(ANALYZE),
    flag("tidb_index_serial_scan_concurrency", Text, "1", "")
        .only(&[Prepare])
        .idle(ANALYZE),
    flag("use-plan-replayer", Bool, "off", "")
        .only(&[Run])
        .idle(REPLAYER),
    flag("plan-replayer-dir", Text, "", "")
        .only(&[Run])
        .idle(REPLAYER),
    flag("plan-replayer-file", Text, "", "")
        .only(&[Run])
        .idle(REPLAYER),
];

const REPLAYER: &str = "plans are kept in the record (--out)";

const ANALYZE: &str = "the server's own setting applies";

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
        title: "go-tpc: prepare",
        flags: PREPARE,
    },
];

const EXAMPLES: &str = "\
On a MariaDB or MySQL server (set MYSQL_PWD; with -d postgres, PGPASSWORD):
  tidemark tpch -H 127.0.0.1 -P 3306 -U user -D tpch --sf 1 -T 4 prepare
  tidemark tpch -H 127.0.0.1 -P 3306 -U user -D tpch --sf 1 run --check";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::gotpc::options_of;
    use crate::compat::gotpc::parse::{grammar, parse};

    fn refused(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        parse(&TOOL, &words).unwrap_err().message
    }

    #[test]
    fn defaults_are_go_tpcs() {
        let options = options_of(&TOOL, "prepare");
        for (name, value) in [
            ("sf", "1"),
            ("threads", "1"),
            ("tiflash-replica", "0"),
            ("db", "test"),
            ("port", "4000"),
        ] {
            assert_eq!(options.text(name), value, "{name}");
        }
        let options = options_of(&TOOL, "--sf 0.1 -T 3 -D tpch prepare --analyze");
        assert_eq!((options.float("sf"), options.uint("threads")), (0.1, 3));
    }

    #[test]
    fn flags_that_are_the_workloads_options_take_what_it_takes() {
        let definition = TOOL.definition().unwrap();
        for own in definition.options.iter().copied().flatten() {
            if let Some(flag) = TOOL.flags().find(|f| f.spec.name == own.name) {
                assert_eq!(flag.spec.kind, own.kind, "{}", own.name);
                assert_eq!(flag.spec.default, own.default, "{}", own.name);
            }
        }
    }

    #[test]
    fn no_name_or_letter_is_taken_twice() {
        grammar(&TOOL, TOOL.definition().unwrap()).debug_assert();
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_right() {
        for (line, said) in [
            ("", "for example: tidemark tpch --sf 0.1 prepare"),
            (
                "prepare --sf 0",
                "--sf=0: must be a number from 0.01 to 100000",
            ),
            ("prepare --sff 1", "did you mean --sf?"),
            (
                "cleanup --tiflash-replica 1",
                "--tiflash-replica applies only to prepare",
            ),
        ] {
            let message = refused(line);
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
