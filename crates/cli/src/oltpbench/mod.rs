//! `tidemark oltpbench`: TPC-C with the command line, workload files and output of the OLTPBench
//! family: OLTPBench, BenchBase, the YugabyteDB TPC-C client.

mod efficiency;
mod files;
mod help;
mod job;
mod load;
mod options;
mod parse;
mod printer;
mod run;
mod waits;
mod windows;

use crate::exit::{ExitCode, Failure};
use crate::frontend::Frontend;
use crate::interrupt;
use crate::output::{Stdout, print};
use crate::outputs::say;
use job::Job;
use parse::Invocation;
use std::time::Duration;
use tidemark_core::{Host, OptionValues};

/// The command.
pub const FRONTEND: Frontend = Frontend {
    word: "oltpbench",
    about: "Run TPC-C with the OLTPBench family's own command line and workload files",
    words: "As for OLTPBench, BenchBase and the YugabyteDB TPC-C client; --help lists them",
    main,
    grammar: || Ok(grammar()),
    options: every_option,
    commands: &[],
    for_beginners: false,
    has_password_letter: false,
    flags_first: false,
    study: None,
};

fn every_option() -> Vec<tidemark_core::OptionSpec> {
    let groups = options::groups().into_iter();
    let all = groups.flat_map(|group| group.options);
    all.chain(job::PHASE.iter().copied()).collect()
}

/// The command line as clap has it, for completions and manual pages.
fn grammar() -> clap::Command {
    let named = options::groups().into_iter().flat_map(|group| {
        let title = group.title;
        group.options.into_iter().map(move |spec| (spec, title))
    });
    crate::grammar::described(
        clap::Command::new("tidemark oltpbench")
            .about(
                "TPC-C with the command line, workload files and output of OLTPBench, BenchBase \
                 and the YugabyteDB TPC-C client",
            )
            .override_usage(
                "tidemark oltpbench -c WORKLOAD.xml [options]... --create|--clear|--load|--execute",
            ),
        named,
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
            print(&help::text());
            return Ok(ExitCode::Success);
        }
        Invocation::Do(options) => options,
    };
    let file = job::read(&options)?;
    let job = job::job(&options, &file)?;
    interrupt::listen();
    say(&mut Stdout, &header(&job));
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
    steps(&options, &job, args)
}

/// Does what is asked for, in the family's order.
fn steps(options: &OptionValues, job: &Job, args: &[String]) -> Result<ExitCode, Failure> {
    let out = &mut Stdout;
    if options.flag("create-sql-procedures") {
        say(
            out,
            "No procedures are needed: transactions are prepared statements.\n",
        );
    }
    if options.flag("create") {
        load::create_tables(job, out)?;
    }
    if options.flag("clear") {
        load::clear(job, out)?;
    }
    if options.flag("load") {
        load::load(job, out)?;
    }
    if options.flag("execute") {
        return run::execute(job, args, out);
    }
    say(out, "Skipping benchmark workload execution\n");
    Ok(ExitCode::Success)
}

/// What was understood, with the family's own line among it.
fn header(job: &Job) -> String {
    let host = |host: &Host| match host {
        Host::Tcp { host, .. } => host.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let nodes: Vec<String> = job.target.hosts.iter().map(host).collect();
    let port = job.target.hosts.iter().find_map(|host| match host {
        Host::Tcp { port, .. } => Some(port.to_string()),
        Host::Unix(_) => None,
    });
    let options = &job.options;
    let mut text = format!(
        "tidemark {} (OLTPBench output)\nTarget: {}\nConfiguration -> nodes: [{}], port: {}, \
         startWH: {}, warehouses: {}, total warehouses across shards: {}, terminals: {}, \
         dbConnections: {}, loaderThreads: {}\nIsolation: {}\n",
        env!("CARGO_PKG_VERSION"),
        job.target,
        nodes.join(", "),
        port.as_deref().unwrap_or("none"),
        options.uint("first-warehouse"),
        job.warehouses,
        options.uint("warehouses"),
        job.terminals,
        job.sessions,
        job.loaders,
        options.text("isolation"),
    );
    if !job.isolated {
        text += "NOTE: the file names no <isolation>: it is serializable, as in the family\n";
    }
    for remark in &job.remarks {
        text += &format!("NOTE: {remark}\n");
    }
    text + "\n"
}
