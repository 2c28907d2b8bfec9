//! `--help`.

use super::options::{SHORT, groups};
use crate::exit::ExitCode;
use std::fmt::Write;
use tidemark_core::{OptionKind, OptionSpec};

const ABOUT: &str = "\
Usage:
  tidemark oltpbench -c WORKLOAD.xml [options]... --create|--clear|--load|--execute

Runs TPC-C as the workload file says, as OLTPBench, BenchBase and the YugabyteDB TPC-C client do.
Flags may have true behind them, as --load=true. For example:
  tidemark oltpbench -c workload_all.xml --nodes=10.0.0.1,10.0.0.2 --warehouses=10 --load=true
  tidemark oltpbench -c workload_all.xml --nodes=10.0.0.1,10.0.0.2 --warehouses=10 --execute=true
";

/// All flags and exit codes.
pub fn text() -> String {
    let mut text = String::from(ABOUT);
    for group in groups() {
        let _ = write!(text, "\n{}:\n", group.title);
        let shown: Vec<String> = group.options.iter().map(shown).collect();
        let width = shown.iter().map(String::len).max().unwrap_or(0).min(36);
        for (shown, option) in shown.iter().zip(&group.options) {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "  {shown:width$}  {} [{}]",
                option.help,
                default(option)
            );
        }
    }
    text.push_str("\nExit codes:\n");
    for (code, meaning) in ExitCode::ALL {
        let _ = writeln!(text, "  {:3}  {meaning}", code as u8);
    }
    text
}

fn shown(option: &OptionSpec) -> String {
    let short = SHORT.iter().find(|(_, long)| *long == option.name);
    let short = short.map_or(String::new(), |(short, _)| format!("-{short}, "));
    match option.kind {
        OptionKind::Bool => format!("{short}--{}[=true|false]", option.name),
        _ => format!("{short}{option}"),
    }
}

fn default(option: &OptionSpec) -> &str {
    match (option.kind, option.default) {
        (OptionKind::Bool, "on") => "true",
        (OptionKind::Bool, _) => "false",
        (_, default) => default,
    }
}
