//! The `tidemark` command.

fn main() -> std::process::ExitCode {
    tidemark::main_with(None)
}
