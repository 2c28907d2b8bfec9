//! A load of tables by several clients: they share its journal, and each loads what it claims.

use super::several::Several;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::runner::Order;
use crate::stdio::print;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tidemark_clients::{Event, Message};
use tidemark_core::Protocol;
use tidemark_core::job::Clients;
use uuid::Uuid;

/// How often it is looked whether the user wants the end.
const LOOK: Duration = Duration::from_millis(50);

/// Has the clients load the tables of a job. What the first prints is printed, and the end of the others.
///
/// # Errors
/// [`Failure`] when one is lost or fails: what was loaded stays, and the same command goes on with it.
pub fn load(order: &Order, clients: &Clients) -> Result<ExitCode, Failure> {
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
    let (mut names, mut failed) = (Vec::new(), None);
    let mut is_stopping = false;
    loop {
        if stop.is_stopped() && !std::mem::replace(&mut is_stopping, true) {
            several.run.stop();
        }
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
            Event::Chosen(facts) => names = facts.into_iter().map(|f| f.agent).collect(),
            Event::Begins(_) => {}
            Event::Message(client, message) => match *message {
                Message::Line(line) if client == 0 => print(&format!("{line}\n")),
                Message::Failed { code, message } => {
                    let known = ExitCode::ALL.iter().find(|(known, _)| *known as u8 == code);
                    let code = known.map_or(ExitCode::Failed, |(known, _)| *known);
                    let message = format!("client {}: {message}", name(client));
                    failed.get_or_insert(Failure::new(code, message));
                }
                Message::Loaded => eprintln!("client {}: done", name(client)),
                _ => {}
            },
            Event::Lost { client, why, .. } => {
                let message = format!(
                    "client {} is lost: {why}; what was loaded stays: the same command resumes",
                    name(client)
                );
                eprintln!("tidemark: {message}");
                failed.get_or_insert(Failure::new(ExitCode::Failed, message));
            }
            Event::Over { .. } => {
                several.kept();
                return match failed {
                    _ if is_stopping => Ok(ExitCode::Interrupted),
                    Some(failure) => Err(failure),
                    None => Ok(ExitCode::Success),
                };
            }
            Event::Failed(error) => return Err(error.into()),
        }
    }
}
