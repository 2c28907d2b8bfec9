//! The command line of `tidemark tpch`: go-tpc's flags for TPC-H, with its names, letters and
//! defaults, and what Tidemark has beside them.

use crate::gotpc::Command::{self, Cleanup, Prepare};
use crate::gotpc::Tool;
use crate::gotpc::flags::{
    CONNECTION, DROPDATA, Flag, Group, ISOLATION, MAX_PROCS, OUTPUT, OUTPUT_DIR, OUTPUT_TYPE,
    TABLES, flag,
};
use tidemark_core::OptionKind::{Bool, Float, Int, Text};
use tidemark_core::OptionValues;

/// `tidemark tpch`.
pub const TOOL: Tool = Tool {
    name: "tpch",
    title: "TPC-H",
    commands: COMMANDS,
    commands_help: "prepare loads and verifies the tables, cleanup drops them",
    groups: GROUPS,
    idle: IDLE,
    aliases: &[],
    without: WITHOUT,
    shapes: SHAPES,
    example: "--sf 0.1",
    examples: EXAMPLES,
    files,
};

const COMMANDS: &[Command] = &[Prepare, Cleanup];

/// Flags that say what tables there are, for the command that makes them.
const SHAPES: &[&str] = &["sf", "indexes", "foreign-keys", "tiflash-replica"];

/// Queries follow each other; they have no arrivals and no terminals.
const WITHOUT: &[&str] = &[
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
        "sessions that load",
    )
    .letter('T'),
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
];

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
        title: "prepare",
        flags: PREPARE,
    },
];

const EXAMPLES: &str = "\
Begin with, on a MariaDB or MySQL server:
  tidemark tpch -H 127.0.0.1 -P 3306 -U user -D tpch --sf 1 -T 4 prepare
or without a server:
  tidemark tpch --target sqlite:tpch.db --sf 0.1 prepare

MYSQL_PWD or PGPASSWORD in the environment hold the password.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotpc::options_of;
    use crate::gotpc::parse::{grammar, parse};

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
