//! The `tidemark-distance` command: a proxy that makes a server farther away.

use clap::Parser;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tidemark_core::parse_duration;

/// Listens on a free port of the loopback address and passes bytes on, each way a fixed time later.
///
/// It prints "# ready ADDRESS:PORT" and ends with standard input.
#[derive(Debug, Parser)]
#[command(name = "tidemark-distance", version)]
struct Args {
    /// The server
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// How much later bytes are passed on, each way
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "2ms")]
    delay: Duration,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match serve(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _written = writeln!(io::stderr(), "tidemark-distance: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(args: &Args) -> io::Result<()> {
    let address = tidemark_lab::distance(args.to, args.delay)?;
    writeln!(io::stdout(), "# ready {address}")?;
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
