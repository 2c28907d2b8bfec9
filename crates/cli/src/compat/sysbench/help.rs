//! `--help`, and `help` of a script.

use super::{host, scripts, titled};
use crate::help::{exit_codes, shown};
use std::fmt::Write;
use tidemark_core::OptionSpec;
use tidemark_lua::OF_JOBS;
use tidemark_workloads::Definition;

pub(super) fn lines(text: &mut String, options: &[OptionSpec]) {
    let shown: Vec<_> = options.iter().map(ToString::to_string).collect();
    let width = shown.iter().map(String::len).max().unwrap_or(0).min(36);
    for (shown, option) in shown.iter().zip(options) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "  {shown:width$}  {} [{}]",
            option.help, option.default
        );
    }
}

/// All general options, scripts and exit codes.
pub fn general() -> String {
    let mut text = format!(
        "Run the sysbench OLTP family with sysbench's own command line\n\n{}\n\n\
         Usage: tidemark sysbench [options]... SCRIPT COMMAND\n\n\
         Commands: prepare prewarm run cleanup help\n\n\
         On a MariaDB or MySQL server (set MYSQL_PWD; on PostgreSQL, PGPASSWORD):\n  \
         tidemark sysbench oltp_read_write --target=mysql://user@127.0.0.1/sbtest --tables=4 prepare\n\n\
         Scripts, or the path of a Lua script of your own:\n",
        shown(&super::FRONTEND.examples),
    );
    let width = scripts().map(|d| d.name.len()).max().unwrap_or(0);
    for definition in scripts() {
        let _ = writeln!(text, "  {:width$}  {}", definition.name, definition.summary);
    }
    text += "\nTests of the machine (no database; options: tidemark sysbench cpu help):\n";
    for test in host::TESTS {
        let _ = writeln!(text, "  {:width$}  {}", test.name, test.summary);
    }
    let titled = titled();
    for group in titled.chunk_by(|(a, _), (b, _)| a == b) {
        let options: Vec<OptionSpec> = group.iter().map(|(_, option)| *option).collect();
        let _ = write!(text, "\n{}:\n", group[0].0);
        lines(&mut text, &options);
    }
    let _ = write!(
        text,
        "\nOptions of a script: tidemark sysbench SCRIPT help\n\n{}\n",
        exit_codes()
    );
    text
}

/// The options of one script.
pub fn of_script(definition: &Definition) -> String {
    let mut text = format!(
        "{}: {}\n\n{} options:\n",
        definition.name, definition.summary, definition.name
    );
    for table in definition.options {
        let asked = table
            .iter()
            .filter(|option| !OF_JOBS.contains(&option.name));
        let asked: Vec<OptionSpec> = asked.copied().collect();
        lines(&mut text, &asked);
    }
    text
}
