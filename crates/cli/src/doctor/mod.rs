//! `doctor`: proves step by step that a target can be used: connection, rights and loading, what a run
//! would observe, what would spoil it, and each statement of each workload.

mod basics;
mod host;
mod own_tables;
mod proof;
mod scratch;
mod server;
mod sources;
mod statements;
mod told;

use crate::args;
use crate::exit::{ExitCode, Failure};
use crate::texts::doctor as texts;
use std::time::Duration;
use tidemark_core::Target;
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_observe::HostCondition;
use told::Teller;

/// For so long the host is looked at before anything else is done.
const LOOK: Duration = Duration::from_secs(1);

/// Checks a target and tells of each step.
///
/// # Errors
/// [`Failure`] of bad usage; a step that fails is told, and its code returned.
pub fn doctor(args: &args::Doctor) -> Result<ExitCode, Failure> {
    let target = crate::target::from_url(&args.target)?;
    let teller = Teller::new(args.lang, args.format == "json");
    teller.line(&texts::target(args.lang, &target));
    let options = ConnectOptions {
        connect_timeout: args.connect_timeout,
        ..ConnectOptions::default()
    };
    let mut code = match Connector::new(target.clone(), options) {
        Ok(connector) => all(args, &target, &connector.must_exist(), &teller),
        Err(error) => basics::failed(&teller, texts::address, &error),
    };
    let warnings = teller.warnings();
    if warnings > 0 && code == ExitCode::Success {
        teller.line(&match args.strict {
            true => texts::strict(args.lang, warnings),
            false => texts::warnings(args.lang, warnings),
        });
        if args.strict {
            code = ExitCode::Check;
        }
    }
    teller.end(&target, code == ExitCode::Success);
    Ok(code)
}

fn all(args: &args::Doctor, target: &Target, connector: &Connector, teller: &Teller) -> ExitCode {
    let condition = HostCondition::over(LOOK);
    let known = match basics::examine(connector, teller) {
        Ok(known) => known,
        Err(code) => return code,
    };
    sources::examine(connector, &known, teller);
    host::examine(&condition, connector, &known, teller);
    server::examine(connector, &known, teller);
    server::left_by_diagnoses(target, teller);
    let code = match args.quick {
        true => ExitCode::Success,
        false => statements::examine(connector, &known, teller),
    };
    if code != ExitCode::Success {
        return code;
    }
    teller.line(match known.keeps_statements {
        true => texts::all_passed(args.lang),
        false => texts::all_but_prepared(args.lang),
    });
    ExitCode::Success
}
