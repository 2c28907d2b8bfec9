//! The `tidemark` command.
fn main() {}
