//! Starts private test servers by hand and keeps them until it is ended.
//!
//! `cargo run -p tidemark-testkit` prints the variables that let tests use them; Ctrl-C ends them.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use tidemark_testkit::{Error, SandboxEngine, Server, variable};

const USAGE: &str = "usage: tidemark-testkit [mariadb] [postgres]

Starts a sandbox of each kind named (both when none is), prints how to reach it as shell
variables, and keeps it until Ctrl-C or the end of standard input.";

fn main() -> ExitCode {
    let mut engines = Vec::new();
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "mariadb" => engines.push(SandboxEngine::MariaDb),
            "postgres" => engines.push(SandboxEngine::Postgres),
            "-h" | "--help" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => {
                eprintln!("tidemark-testkit: unknown word {other}\n{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    if engines.is_empty() {
        engines = vec![SandboxEngine::MariaDb, SandboxEngine::Postgres];
    }
    match hold(&engines) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("tidemark-testkit: {e}");
            ExitCode::FAILURE
        }
    }
}

fn hold(engines: &[SandboxEngine]) -> Result<(), Error> {
    let mut servers = Vec::new();
    for engine in engines {
        let server = Server::builder(*engine).start()?;
        println!("export {}='{}'", variable(*engine), server.url());
        println!("# {engine}: socket {}", server.socket_path().display());
        println!("# {engine}: pid {}", server.pid().unwrap_or(0));
        servers.push(server);
    }
    println!("# ready");
    // Whoever reads may have gone; the servers then end with standard input.
    let _ = io::stdout().flush();
    let _ = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
    Ok(())
}
