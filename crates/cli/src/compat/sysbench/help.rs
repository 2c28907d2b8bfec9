//! `--help`, and `help` of a script.

use super::options::GROUPS;
use super::scripts;
use crate::exit::ExitCode;
use std::fmt::Write;
use tidemark_core::OptionSpec;
use tidemark_workloads::Definition;

fn lines(text: &mut String, options: &[OptionSpec]) {
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
    let mut text = String::from(
        "Usage:\n  tidemark sysbench [options]... SCRIPT COMMAND\n\n\
         Commands: prepare prewarm run cleanup help\n\n\
         For example, on a MariaDB or MySQL server:\n  \
         tidemark sysbench oltp_read_write --target=mysql://user@127.0.0.1/sbtest --tables=4 prepare\n  \
         tidemark sysbench oltp_read_write --target=mysql://user@127.0.0.1/sbtest --tables=4 --threads=16 run\n\n\
         Scripts (a path before and .lua after the name do not matter):\n",
    );
    let width = scripts().map(|d| d.name.len()).max().unwrap_or(0);
    for definition in scripts() {
        let _ = writeln!(text, "  {:width$}  {}", definition.name, definition.summary);
    }
    for group in GROUPS {
        let _ = write!(text, "\n{}:\n", group.title);
        lines(&mut text, group.options);
    }
    text.push_str("\nExit codes:\n");
    for (code, meaning) in ExitCode::ALL {
        let _ = writeln!(text, "  {:3}  {meaning}", code as u8);
    }
    text.push_str("\nSee 'tidemark sysbench SCRIPT help' for the options of each script.\n");
    text
}

/// The options of one script.
pub fn of_script(definition: &Definition) -> String {
    let mut text = format!(
        "{}: {}\n\n{} options:\n",
        definition.name, definition.summary, definition.name
    );
    for table in definition.options {
        lines(&mut text, table);
    }
    text
}
