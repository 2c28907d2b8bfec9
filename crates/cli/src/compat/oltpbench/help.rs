//! `--help`.

use super::options::{SHORT, titled};
use crate::help;
use std::fmt::Write;
use tidemark_core::{OptionKind, OptionSpec};

const ABOUT: &str = "\
Usage: tidemark oltpbench -c WORKLOAD.xml [options]... --create|--clear|--load|--execute

Flags can be followed by true, as in --load=true. On servers (set MYSQL_PWD or PGPASSWORD):
  tidemark oltpbench -c workload_all.xml --nodes=10.0.0.1,10.0.0.2 --warehouses=10 --load=true
  tidemark oltpbench -c workload_all.xml --nodes=10.0.0.1,10.0.0.2 --warehouses=10 --execute=true
";

/// All flags and exit codes.
pub fn text() -> String {
    let examples = help::shown(&super::FRONTEND.examples);
    let mut text = format!(
        "Run TPC-C from a workload file, as OLTPBench, BenchBase and the YugabyteDB TPC-C client \
         do\n\n{examples}\n\n{ABOUT}"
    );
    let titled = titled();
    for group in titled.chunk_by(|(a, _), (b, _)| a == b) {
        let _ = write!(text, "\n{}:\n", group[0].0);
        let shown: Vec<String> = group.iter().map(|(_, option)| shown(option)).collect();
        let width = shown.iter().map(String::len).max().unwrap_or(0).min(36);
        for (shown, (_, option)) in shown.iter().zip(group) {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "  {shown:width$}  {} [{}]",
                option.help,
                default(option)
            );
        }
    }
    let _ = write!(text, "\n{}\n", help::exit_codes());
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
