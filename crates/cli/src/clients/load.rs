//! A load of tables by several clients: they share its journal, and each loads what it claims.

use super::several::Several;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::plan::load_spec;
use crate::runner::JobOrder;
use crate::stdio::print;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use tidemark_clients::{CoordinatorEvent, Message};
use tidemark_core::Protocol;
use tidemark_core::job::Clients;
use tidemark_engine::Replace;
use uuid::Uuid;

/// How often it is looked whether the user wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// So long the clients may take to end when the user asks: a load that is asked ends within five seconds,
/// and is lost after ten.
const ENDS: Duration = Duration::from_secs(12);

/// Has the clients load the tables of a job. What the first prints is printed, and the end of the others.
///
/// # Errors
/// [`Failure`] when one is lost or fails: what was loaded stays, and the same command goes on with it.
pub fn load(order: &JobOrder, clients: &Clients) -> Result<ExitCode, Failure> {
    if order.target.protocol == Protocol::Sqlite {
        return Err(Failure::usage(format!(
            "--clients={}: an embedded SQLite database is a file of one host; use a server, or load with \
             one client",
            clients.hosts
        )));
    }
    let several = Several::begin(
        clients,
        &Uuid::now_v7().to_string(),
        (&order.job, &order.target),
        None,
    )?;
    let stop = interrupt::handle();
    let (mut names, mut failed, mut loaded) = (Vec::new(), None, 0);
    let mut is_stopping = false;
    let mut held = None;
    loop {
        if stop.is_stopped() && !std::mem::replace(&mut is_stopping, true) {
            several.run.stop();
            // Chunks in progress come to their end on the other hosts.
            held = Some((Instant::now(), interrupt::hold()));
        }
        // Whoever does not end in this time may be killed; the journal knows what it has done.
        held = held.filter(|(since, _)| since.elapsed() < ENDS);
        let event = match several.run.events.recv_timeout(LOOK) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => {
                let why = "the coordinator's thread ended";
                return Err(Failure::new(ExitCode::Failed, why));
            }
        };
        let name = |client: u32| {
            let name: Option<&String> = names.get(client as usize);
            name.cloned().unwrap_or_default()
        };
        match event {
            CoordinatorEvent::Chosen(facts) => names = facts.into_iter().map(|f| f.agent).collect(),
            CoordinatorEvent::Begins(_) => {}
            CoordinatorEvent::Message(client, message) => match *message {
                Message::Line(line) if client == 0 => print(&format!("{line}\n")),
                Message::Failed { code, message } => {
                    let known = ExitCode::ALL.iter().find(|(known, _)| *known as u8 == code);
                    let code = known.map_or(ExitCode::Failed, |(known, _)| *known);
                    let message = format!("client {}: {message}", name(client));
                    // Others were interrupted because one failed.
                    if failed.as_ref().is_none_or(is_interrupted) {
                        failed = Some(Failure::new(code, message));
                    }
                }
                Message::Loaded => {
                    loaded += 1;
                    eprintln!("client {}: done", name(client));
                }
                _ => {}
            },
            CoordinatorEvent::Lost { client, why, .. } => {
                let message = format!(
                    "client {} is lost: {why}; what was loaded stays: {}",
                    name(client),
                    again(order)
                );
                eprintln!("tidemark: {message}");
                if failed.as_ref().is_none_or(is_interrupted) {
                    failed = Some(Failure::new(ExitCode::Failed, message));
                }
            }
            CoordinatorEvent::Over { .. } => {
                several.kept();
                return match failed {
                    None if loaded == names.len() => Ok(ExitCode::Success),
                    Some(failure) if !is_interrupted(&failure) => Err(failure),
                    None if !is_stopping => Ok(ExitCode::Success),
                    _ => Err(Failure::new(ExitCode::Interrupted, stopped(order))),
                };
            }
            CoordinatorEvent::Failed(error) => return Err(error.into()),
        }
    }
}

fn is_interrupted(failure: &Failure) -> bool {
    failure.code == ExitCode::Interrupted
}

/// What the user is told who ended a load.
fn stopped(order: &JobOrder) -> String {
    format!(
        "interrupted; what was loaded stays: {}; cleanup drops the tables",
        again(order)
    )
}

/// What the same command does with what was loaded.
fn again(order: &JobOrder) -> &'static str {
    if tidemark_lua::script_of(order.definition).is_some() {
        return "a command of a script starts over";
    }
    match load_spec(&order.job).replace {
        Replace::Nothing => "the same command resumes",
        _ => "the same command starts over, without --replace or --force it resumes",
    }
}
