//! The command line of `tidemark tpch`: go-tpc's flags for TPC-H, with its names, letters and
//! defaults, and what Tidemark has beside them.

use super::{job, tiflash};
use crate::compat::gotpc::GoTpcCommand::{self, Cleanup, Prepare, Run};
use crate::compat::gotpc::Tool;
use crate::compat::gotpc::flags::{
    CONNECTION, COUNT, DROPDATA, Flag, Group, INTERVAL, ISOLATION, MAX_PROCS, OUTPUT, OUTPUT_DIR,
    OUTPUT_TYPE, TABLES, TIME, flag, up_to_a_year,
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
    commands_help: "prepare loads and verifies the tables, run asks the queries, cleanup\n                    drops the tables",
    groups: GROUPS,
    idle: IDLE,
    aliases: &[],
    without: WITHOUT,
    shapes: SHAPES,
    example: "--sf 0.1",
    examples: EXAMPLES,
    files,
    run_spec: job::run_spec,
    after_load: |work, plan, out| match work.options.uint("tiflash-replica") {
        0 => Ok(()),
        _ => tiflash::wait(plan, out),
    },
    check: |_| Err(Failure::usage("check is not offered for TPC-H")),
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
        "scale factor: some gigabytes; fractions make small tables, as 0.01 and 0.1",
    ),
    flag(
        "threads",
        Int {
            min: 1,
            max: 1_000_000,
        },
        "1",
        "sessions that load, or that ask at the same time",
    )
    .letter('T'),
];

const RUN: &[Flag] = &[
    flag(
        "queries",
        List,
        "q1,q2,q3,q4,q5,q6,q7,q8,q9,q10,q11,q12,q13,q14,q15,q16,q17,q18,q19,q20,q21,q22",
        "queries, in this order; each thread begins with another one",
    ),
    flag(
        "check",
        Bool,
        "off",
        "compare answers with the right ones, which are stored for --sf=1 and --sf=0.01 and \
         made by SQLite for others",
    ),
    flag(
        "use-explain",
        Bool,
        "off",
        "keep plans with what each step took: the queries are executed once more for it, after \
         the measurement (EXPLAIN ANALYZE)",
    ),
    flag(
        "enable-query-tuning",
        Bool,
        "on",
        "set what is known to help TPC-H on TiDB, as go-tpc does",
    )
    .only(&[Run]),
    flag(
        "test",
        Choice(&["queries", "power", "throughput", "full"]),
        "queries",
        "queries: those of --queries; power: one stream in the specification's order between RF1 \
         and RF2 (5.3.3); throughput: --streams side by side and one of refreshes (5.3.4); full: \
         both, and QphH",
    )
    .only(&[Run]),
    flag(
        "streams",
        Int { min: 0, max: 500 },
        "0",
        "streams of a throughput test; 0 is as many as the specification asks for at least",
    )
    .only(&[Run]),
    flag(
        "refresh",
        Bool,
        "on",
        "change the data by RF1 and RF2 in a power or throughput test; tables are put back as \
         they were loaded afterwards, and where rows under such keys are not the load's the test \
         is refused",
    )
    .only(&[Run]),
    flag(
        "query-timeout",
        up_to_a_year(Duration::ZERO),
        "0s",
        "give a query up after this time, as 10m, and go on with the next; 0s waits for ever",
    )
    .only(&[Run]),
    flag(
        "seed",
        at_least(0),
        "0",
        "draw the values that queries are asked with from this seed (2.4); 0 asks with the \
         specification's validation values, and in a power or throughput test without --check takes \
         a seed from the clock",
    )
    .only(&[Run]),
    flag(
        "reference",
        Text,
        "",
        "sqlite:FILE with the same tables, to compare answers with in --check",
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
        "replicas of every table in TiFlash, TiDB's column store; prepare waits until they are there",
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

const ANALYZE: &str = "the server's own setting decides how it gathers statistics";

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
        title: "prepare",
        flags: PREPARE,
    },
];

const EXAMPLES: &str = "\
Begin with, on a MariaDB or MySQL server:
  tidemark tpch -H 127.0.0.1 -P 3306 -U user -D tpch --sf 1 -T 4 prepare
or without a server:
  tidemark tpch --target sqlite:tpch.db --sf 0.1 prepare
then, with the same flags:
  tidemark tpch --target sqlite:tpch.db --sf 0.1 run --check

MYSQL_PWD or PGPASSWORD in the environment hold the password.";

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
                "--sf=0: allowed is a number from 0.01 to 100000",
            ),
            ("prepare --sff 1", "did you mean --sf?"),
            (
                "cleanup --tiflash-replica 1",
                "--tiflash-replica is only for prepare",
            ),
        ] {
            let message = refused(line);
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
