//! `tidemark oltpbench`: TPC-C with the command line, workload files and output of the OLTPBench
//! family: OLTPBench, BenchBase, the YugabyteDB TPC-C client.

mod efficiency;
mod execution;
mod files;
pub(super) mod help;
mod job;
mod load;
mod options;
mod parse;
mod phases;
mod printer;
mod run;
mod waits;
mod windows;

use crate::exit::{ExitCode, Failure};
use crate::frontend::Frontend;
use crate::interrupt;
use crate::record_outputs::say;
use crate::stdio::{Stdout, print};
use execution::FileExecution;
use parse::Invocation;
use std::time::Duration;
use tidemark_core::{Host, OptionValues};

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "oltpbench",
    about: "Run TPC-C with the command line and workload files of OLTPBench and BenchBase",
    words: "As for OLTPBench, BenchBase and the YugabyteDB TPC-C client; --help lists them",
    main,
    grammar: || Ok(grammar()),
    options: every_option,
    commands: &[],
    examples: [
        "tidemark oltpbench -c workloads/tpcc.xml --create=true --load=true",
        "tidemark oltpbench -c workloads/tpcc.xml --execute=true",
    ],
    has_password_letter: false,
    flags_first: false,
    runs: Some(&job::ADAPTER),
    summaries: &[],
    study: None,
};

fn every_option() -> Vec<tidemark_core::OptionSpec> {
    let groups = options::groups().into_iter();
    let all = groups.flat_map(|group| group.options);
    all.chain(phases::PHASE.iter().copied()).collect()
}

/// The command line as clap has it, for completions and manual pages.
fn grammar() -> clap::Command {
    let command = clap::Command::new("tidemark oltpbench")
        .about(
            "TPC-C with the command line, workload files and output of OLTPBench, BenchBase and \
             the YugabyteDB TPC-C client",
        )
        .override_usage(
            "tidemark oltpbench -c WORKLOAD.xml [options]... --create|--clear|--load|--execute",
        );
    crate::grammar::described(
        crate::help::opened_with(command, &FRONTEND.examples),
        options::titled()
            .into_iter()
            .map(|(title, spec)| (spec, title)),
    )
}

/// Runs a command line of the family: `words` after `oltpbench`, `args` with everything, for the
/// record.
///
/// # Errors
/// [`Failure`] with its exit code.
pub fn main(args: &[String], words: &[String]) -> Result<ExitCode, Failure> {
    let options = match parse::parse(words)? {
        Invocation::Help => {
            print(&crate::help::in_language(&help::text()));
            return Ok(ExitCode::Success);
        }
        Invocation::Do(options) => options,
    };
    let file = execution::read(&options)?;
    let execution = execution::execution(&options, &file)?;
    if options.flag("print-job") {
        return job::print_jobs(&execution, args);
    }
    if let Some(clients) = options.text_opt("clients")
        && ["create", "clear", "load"]
            .iter()
            .any(|step| options.flag(step))
    {
        return Err(Failure::usage(format!(
            "--clients={clients} applies only to --execute: create and load from one client first, for \
             example --create=true --load=true without --clients"
        )));
    }
    interrupt::listen();
    say(&mut Stdout, &header(&execution));
    let delay = options.uint("initial-delay-secs");
    if delay > 0 {
        say(
            &mut Stdout,
            &format!("Delaying execution of workload for {delay} seconds\n"),
        );
        if !run::pause(Duration::from_secs(delay)) {
            return Ok(ExitCode::Interrupted);
        }
    }
    steps(&options, &execution, args)
}

/// Does what is asked for, in the family's order.
fn steps(
    options: &OptionValues,
    execution: &FileExecution,
    args: &[String],
) -> Result<ExitCode, Failure> {
    let out = &mut Stdout;
    if options.flag("create-sql-procedures") {
        say(
            out,
            "No procedures are needed: transactions are prepared statements.\n",
        );
    }
    if options.flag("create") {
        load::create_tables(execution, out)?;
    }
    if options.flag("clear") {
        load::clear(execution, out)?;
    }
    if options.flag("load") {
        load::load(execution, out)?;
    }
    if options.flag("execute") {
        return run::execute(execution, args, out);
    }
    say(out, "Skipping benchmark workload execution\n");
    Ok(ExitCode::Success)
}

/// What was understood, with the family's own line among it.
fn header(execution: &FileExecution) -> String {
    let host = |host: &Host| match host {
        Host::Tcp { host, .. } => host.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let nodes: Vec<String> = execution.target.hosts.iter().map(host).collect();
    let port = execution.target.hosts.iter().find_map(|host| match host {
        Host::Tcp { port, .. } => Some(port.to_string()),
        Host::Unix(_) => None,
    });
    let options = &execution.options;
    let mut text = format!(
        "tidemark {} (OLTPBench output)\nTarget: {}\nConfiguration -> nodes: [{}], port: {}, \
         startWH: {}, warehouses: {}, total warehouses across shards: {}, terminals: {}, \
         dbConnections: {}, loaderThreads: {}\nIsolation: {}\n",
        env!("TIDEMARK_VERSION"),
        execution.target,
        nodes.join(", "),
        port.as_deref().unwrap_or("none"),
        options.uint("first-warehouse"),
        execution.warehouses,
        options.uint("warehouses"),
        execution.terminals,
        execution.sessions,
        execution.loaders,
        options.text("isolation"),
    );
    if !execution.isolated {
        text += "NOTE: the file has no <isolation>; serializable is used, as in OLTPBench\n";
    }
    for remark in &execution.remarks {
        text += &format!("NOTE: {remark}\n");
    }
    text + "\n"
}
