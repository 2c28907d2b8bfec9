//! `tidemark` with one family more: a module, and a line.

mod counters;

fn main() -> std::process::ExitCode {
    tidemark::main_with(Some(&counters::FAMILY))
}
