//! `tidemark attach`: takes up a run whose coordinator was killed, and writes its one record.

use super::events::Events;
use super::gather::{Gathering, Listener};
use super::nats_options;
use crate::args;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::messages;
use crate::render::language;
use crate::storing::store_path;
use tidemark_clients::{ClientFacts, ClientsRun, CoordinatorEvent, Offset};
use tidemark_core::record::{ErrorCount, Interval, Phase, RunRecord, Step};
use tidemark_core::{Pacing, RunSpec};
use tidemark_engine::Started;
use tidemark_store::Store;

/// Takes up a run and keeps its record.
///
/// # Errors
/// [`Failure`] when there is none to be taken up, or its record can't be kept.
pub fn attach(words: &args::Attach) -> Result<ExitCode, Failure> {
    let nats = nats_options(words.to.nats.as_deref(), words.to.creds(), words.to.ca())?;
    interrupt::listen();
    let mut store = Store::open(&store_path(words.store.store.as_deref())?)?;
    let version = env!("TIDEMARK_VERSION");
    let (id, entry, run) = ClientsRun::attach(nats, words.run.as_deref(), version)?;
    let Some(head) = entry.record.map(|record| *record) else {
        drop(run);
        return Err(Failure::usage(format!(
            "run {id} is a load of tables, which has no record: run the same command again, and it goes on"
        )));
    };
    let spec = head.job.as_ref().map(|job| job.load.clone());
    let spec = spec.unwrap_or_default();
    // What the next rate would have been is known to the coordinator that was lost.
    let is_led = matches!(spec.pacing, Pacing::Steps(_) | Pacing::FindMax(_));
    let unled = RunSpec {
        pacing: match is_led {
            true => Pacing::Closed,
            false => spec.pacing.clone(),
        },
        ..spec
    };
    let clients = format!("run {id}: {} clients", entry.clients.len());
    say!("{}", messages::in_language(&clients));
    let mut gathering = Gathering::new(&unled, entry.on_loss);
    let facts = entry.clients.iter().map(|client| ClientFacts {
        agent: client.agent.clone(),
        hostname: client.hostname.clone(),
        clock: Offset::default(),
    });
    gathering.chosen(facts.collect());
    if is_led {
        let led = "its rates were led by the coordinator that was lost: it ends after this one";
        say!("{}", messages::in_language(led));
        run.end_steps();
    }
    gathering.begins(tidemark_clients::now_ns(), &run);
    let record = follow(&run, gathering, head)?;
    let held = interrupt::hold();
    if record.id != id {
        return Err(Failure::new(
            ExitCode::Refused,
            format!("run {id} has a record of another run: nothing was kept"),
        ));
    }
    // The coordinator that was lost may have kept its beginning here; an end that it kept stands.
    let kept = store.get(&record.id);
    if kept.is_ok_and(|kept| kept.state != tidemark_core::record::RunState::Running) {
        run.kept();
        return Err(Failure::new(
            ExitCode::Refused,
            format!("the record of run {id} is in this store; tidemark show {id}"),
        ));
    }
    store.take_over(&record)?;
    run.kept();
    drop(held);
    let lang = language("auto");
    say!("{}", crate::texts::progress::stored(lang, &record.id));
    Ok(match &record.state {
        tidemark_core::record::RunState::Failed(why) => {
            eprintln!("tidemark: {why}");
            ExitCode::Failed
        }
        tidemark_core::record::RunState::Interrupted => ExitCode::Interrupted,
        _ => ExitCode::Success,
    })
}

fn follow(
    run: &ClientsRun,
    mut gathering: Gathering,
    head: RunRecord,
) -> Result<RunRecord, Failure> {
    let mut events = Events::of(run);
    let mut quiet = Lines;
    loop {
        let Some(event) = events.look()? else {
            continue;
        };
        match event {
            CoordinatorEvent::Chosen(_) | CoordinatorEvent::Begins(_) => {}
            CoordinatorEvent::Message(client, message) => {
                gathering.message(client, *message, run, &mut quiet)?;
            }
            CoordinatorEvent::Lost { client, why, .. } => {
                gathering.lost(client, why, run, &mut quiet)?
            }
            CoordinatorEvent::Over { clients, .. } => {
                let gathered = gathering.finish(head, &clients, events.is_stopping)?;
                return Ok(gathered.record);
            }
            CoordinatorEvent::Failed(error) => return Err(error.into()),
        }
    }
}

/// Tells what the user must know, and nothing of intervals.
struct Lines;

impl Listener for Lines {
    fn started(&mut self, _: &Started) {}

    fn errors(&mut self, _: Phase, _: &[ErrorCount]) {}

    fn interval(&mut self, _: &Interval) {}

    fn step(&mut self, _: &Step) {}

    fn notice(&mut self, text: &str) {
        eprintln!("{text}");
    }
}
