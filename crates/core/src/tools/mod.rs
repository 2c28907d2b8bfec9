//! Other benchmark tools whose outputs are imported: what each one's outputs and command lines are
//! like, in one table. Importers, rules and reports ask it and name no tool.

mod pgbench;
mod tpcc;
mod ycsb;

/// A tool, as far as its outputs and command lines differ from those of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tool {
    /// Its name in records ([`Imported::tool`](crate::record::Imported::tool)).
    pub name: &'static str,
    /// What its outputs are called where formats are listed; `None` where another row's have the name.
    pub title: Option<&'static str>,
    /// Words by which headings call it, in small letters; none where no heading is held against its
    /// output.
    pub called: &'static [&'static str],
    /// Programs that start it.
    pub programs: &'static [&'static str],
    /// Flags whose value stands apart, and the option that each is; `property` is one whose value is
    /// `name=value`. Everything else with a value is written with `=`, or begins with `--` and is
    /// followed by a word.
    pub flags: &'static [(&'static str, &'static str)],
    /// Flags that stand for a command, and the command.
    pub command_flags: &'static [(&'static str, &'static str)],
    /// Whether flags of one letter may have their values right behind.
    pub glues_values: bool,
    /// Whether `-p` is followed by a password.
    pub has_password_letter: bool,
    /// Other tools whose command lines may stand above its outputs.
    pub started_as: &'static [&'static str],
    /// The option that is the arrivals a second asked for.
    pub rate_option: &'static str,
    /// What reports call its standard workloads before their letter, if it has some: the files
    /// `workloada` to `workloadf`, whose rows are the option `recordcount`.
    pub standard_workloads: Option<&'static str>,
    /// Whether its outputs list the properties that commands set with `-p`.
    pub prints_properties: bool,
    /// Whether its outputs end with a summary unless they are cut.
    pub ends_with_summary: bool,
    /// Whether its lines over time look like those of the end, which it announces with its time.
    pub end_is_its_time: bool,
    /// Whether its lines over time follow each other in time.
    pub lines_in_order: bool,
    /// Whether its percentiles are the upper edges of buckets, which may lie above the slowest.
    pub percentiles_in_buckets: bool,
    /// Percentiles are rounded to so many milliseconds, whatever digits they are printed with; 0 where
    /// their digits say it.
    pub percentile_step_ms: f64,
    /// Whether the time that it states holds its start-up.
    pub time_holds_start: bool,
    /// The type that is all others together, if it prints one.
    pub total_type: Option<&'static str>,
    /// Whether its line of each type has the same figures, but for queries'.
    pub types_have_like_figures: bool,
    /// Whether each of its types' times ends with the run.
    pub types_end_with_run: bool,
    /// Whether its rate is of every type's operations, and of those that failed.
    pub rate_is_of_types: bool,
    /// The option that is the number of operations asked for, and the one that ends the run before.
    pub operations_asked: Option<(&'static str, &'static str)>,
    /// Whether its load may rest by itself, which its outputs do not state.
    pub may_rest: bool,
    /// What shows that sessions waited for the reply when no rate is stated.
    pub closed_loop: ClosedLoop,
    /// Figures of records, and what it prints before or behind each, without its unit.
    pub figure_words: &'static [(&'static str, &'static str)],
}

/// What shows that the sessions of a tool waited for the reply when no rate is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedLoop {
    /// Nothing.
    Unknown,
    /// The command or the first lines of the output, which state a rate.
    Head,
    /// Any output: its summary states a rate, or there can be none.
    Output,
}

/// A tool of which nothing is known; tables are of it, too.
const OTHER: Tool = Tool {
    name: "",
    title: None,
    called: &[],
    programs: &[],
    flags: &[],
    command_flags: &[],
    glues_values: false,
    has_password_letter: false,
    started_as: &[],
    rate_option: "rate",
    standard_workloads: None,
    prints_properties: false,
    ends_with_summary: false,
    end_is_its_time: false,
    lines_in_order: false,
    percentiles_in_buckets: false,
    percentile_step_ms: 0.0,
    time_holds_start: false,
    total_type: None,
    types_have_like_figures: false,
    types_end_with_run: false,
    rate_is_of_types: false,
    operations_asked: None,
    may_rest: false,
    closed_loop: ClosedLoop::Unknown,
    figure_words: &[],
};

/// The tools.
pub static TOOLS: &[Tool] = &[
    Tool {
        name: "sysbench",
        title: Some("sysbench"),
        called: &["sysbench"],
        programs: &["sysbench"],
        ends_with_summary: true,
        lines_in_order: true,
        closed_loop: ClosedLoop::Head,
        figure_words: &[
            ("statement_sum", "total"),
            ("count", "transactions"),
            ("rate", "transactions per sec."),
            ("statements", "queries"),
            ("statement_rate", "queries per sec."),
            ("read_write", "read/write requests"),
            ("read_write_rate", "read/write requests per sec."),
            ("other_operations", "other operations"),
            ("other_operations_rate", "other operations per sec."),
            ("ignored_errors", "ignored errors"),
            ("ignored_error_rate", "ignored errors per sec."),
            ("reconnect_rate", "reconnects per sec."),
            ("elapsed_s", "total time"),
            ("events", "total number of events"),
            ("event_rate", "events/s (eps)"),
            ("transferred_mib", "MiB transferred"),
            ("mib_rate", "MiB/sec"),
            ("min", "min"),
            ("mean", "avg"),
            ("max", "max"),
            ("sum", "sum"),
            ("events_avg", "events (avg/stddev)"),
            ("time_avg_s", "execution time (avg/stddev)"),
        ],
        ..OTHER
    },
    tpcc::GO_TPC,
    ycsb::GO,
    ycsb::JAVA,
    pgbench::PGBENCH,
    pgbench::LOG,
    Tool {
        name: "benchbase",
        title: Some("BenchBase"),
        called: &["benchbase", "oltpbench"],
        programs: &["oltpbenchmark", "benchbase.jar", "tpccbenchmark"],
        flags: &[
            ("-b", "benchmark"),
            ("-c", "config"),
            ("-s", "report-interval"),
        ],
        may_rest: true,
        figure_words: &[
            ("min", "Minimum Latency"),
            ("p50", "Median Latency"),
            ("max", "Maximum Latency"),
            ("mean", "Average Latency"),
            ("elapsed_s", "Elapsed Time"),
            ("count", "Measured Requests"),
            ("rate", "Throughput"),
            ("goodput", "Goodput"),
        ],
        ..OTHER
    },
    tpcc::HAMMERDB,
    Tool {
        name: "mysqlslap",
        title: Some("mysqlslap"),
        called: &["mysqlslap"],
        programs: &["mysqlslap", "mariadb-slap"],
        flags: &[
            ("-u", "user"),
            ("-h", "host"),
            ("-P", "port"),
            ("-S", "socket"),
            ("-i", "iterations"),
            ("-q", "query"),
            ("-e", "engine"),
            ("-c", "threads"),
        ],
        glues_values: true,
        has_password_letter: true,
        figure_words: &[
            ("elapsed_s", "Average number of seconds"),
            ("shortest_s", "Minimum number of seconds"),
            ("longest_s", "Maximum number of seconds"),
            ("queries_per_client", "Average number of queries per client"),
        ],
        ..OTHER
    },
    tpcc::TPCC_MYSQL,
    tpcc::BENCHMARKSQL,
    Tool {
        name: "k6",
        title: Some("k6"),
        programs: &["k6"],
        may_rest: true,
        figure_words: &[
            ("count", "iterations"),
            ("rate", "iterations/s"),
            ("requests", "http_reqs"),
            ("request_rate", "http_reqs/s"),
            ("error_share", "http_req_failed (%)"),
            ("http_req", "http_req_duration"),
        ],
        ..OTHER
    },
    Tool {
        name: "hdr-log",
        title: Some("HdrHistogram logs"),
        may_rest: true,
        ..OTHER
    },
    Tool {
        name: "tidemark",
        programs: &["tidemark"],
        ..OTHER
    },
];

impl Tool {
    /// The one of this name in records; one of which nothing is known where the table has none.
    pub fn named(name: &str) -> &'static Self {
        TOOLS.iter().find(|t| t.name == name).unwrap_or(&OTHER)
    }

    /// The one that a program starts, named without its folder.
    pub fn of_program(program: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|t| t.programs.contains(&program))
    }

    /// The option that a flag is whose value stands apart.
    pub fn flag(&self, flag: &str) -> Option<&'static str> {
        let found = self.flags.iter().find(|(known, _)| *known == flag);
        found.map(|(_, option)| *option)
    }

    /// The command that a flag stands for.
    pub fn command_flag(&self, flag: &str) -> Option<&'static str> {
        let found = self.command_flags.iter().find(|(known, _)| *known == flag);
        found.map(|(_, command)| *command)
    }

    /// Whether a workload of a record is one of its standard workloads, as reports call them.
    pub fn has_standard_workload(&self, workload: &str) -> bool {
        let rest = self
            .standard_workloads
            .and_then(|name| workload.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_programs_and_flags_are_each_of_one_thing() {
        let mut seen = BTreeSet::new();
        for tool in TOOLS {
            assert!(seen.insert(("name", tool.name, "")), "{}", tool.name);
            if let Some(title) = tool.title {
                assert!(seen.insert(("title", title, "")), "{title}");
            }
            for program in tool.programs {
                assert!(seen.insert(("program", *program, "")), "{program}");
            }
            for (flag, _) in tool.flags.iter().chain(tool.command_flags) {
                assert!(seen.insert(("flag", tool.name, *flag)), "{flag}");
            }
            for other in tool.started_as {
                assert_eq!(Tool::named(other).name, *other);
            }
        }
    }

    #[test]
    fn tools_are_found_and_unknown_ones_have_no_properties() {
        for program in ["tpcc_start", "mariadb-slap", "benchbase.jar"] {
            assert!(Tool::of_program(program).is_some(), "{program}");
        }
        assert_eq!(Tool::of_program("dstat"), None);
        let unknown = Tool::named("table");
        assert_eq!((unknown.name, unknown.rate_option), ("", "rate"));
        assert_eq!(Tool::named("pgbench").flag("-T"), Some("time"));
        assert_eq!(Tool::named("pgbench").flag("--time"), None);
        for tool in TOOLS.iter().filter(|t| t.standard_workloads.is_some()) {
            let name = tool.standard_workloads.unwrap();
            assert!(tool.has_standard_workload(&format!("{name}-a")));
            assert!(!tool.has_standard_workload(name));
            assert!(!tool.has_standard_workload("a"));
        }
        assert!(!unknown.has_standard_workload("-a"));
    }
}
