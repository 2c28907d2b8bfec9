//! Settings of servers that hold for one step: changed before it, put back after it.
//!
//! Their values before are in the store before anything is changed, so that `resume` puts them back
//! after whatever ended the study.

use super::targets::Reached;
use crate::exit::{ExitCode, Failure};
use std::time::{Duration, Instant};
use tidemark_core::DbError;
use tidemark_drivers::settings::global::{before_change, can_be_changed, change, restore};
use tidemark_drivers::{ConnectOptions, Connector, Session};
use tidemark_runtime::block_on;
use tidemark_store::{ChangedSetting, Store};

/// So long a server that can't be reached is tried again.
const LONGEST_AWAY: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

type Settings = [(String, String)];

fn connector(place: &Reached) -> Result<Connector, DbError> {
    Connector::new(place.admin.clone(), ConnectOptions::default()).map(Connector::must_exist)
}

async fn open(connector: &Connector, host: usize) -> Result<Session, DbError> {
    match connector.hosts().is_empty() {
        true => connector.connect(0).await,
        false => connector.connect_to(host).await,
    }
}

/// Does something on a session to a host; a host is one of several, or the only one.
fn on_host<T: 'static>(
    place: &Reached,
    host: usize,
    work: impl AsyncFnOnce(&mut Session) -> Result<T, DbError> + 'static,
) -> Result<T, Failure> {
    let connector = connector(place)?;
    let done = block_on(async move {
        let mut session = open(&connector, host).await?;
        let done = work(&mut session).await;
        session.close().await;
        done
    });
    let done = done.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    done.map_err(|e| {
        let mut failure = Failure::from(e);
        failure.message = format!("target {}: {}", place.name, failure.message);
        failure
    })
}

fn hosts(place: &Reached) -> Result<usize, Failure> {
    Ok(connector(place)?.hosts().len().max(1))
}

/// How a setting's host is named in the store: names of targets have no slash.
fn key(place: &Reached, host: usize) -> String {
    match host {
        0 => place.name.clone(),
        host => format!("{}/{host}", place.name),
    }
}

/// The server itself, however a study names it.
fn server(place: &Reached, host: usize) -> Result<String, Failure> {
    let connector = connector(place)?;
    let host = connector
        .hosts()
        .get(host)
        .map(|(host, _)| host.to_string());
    Ok(host.unwrap_or_else(|| place.admin.to_string()))
}

/// What another study has changed and not put back is not the server's own: measured beside it, or
/// taken for the value before, it would stay for ever.
fn refuse_changed_by_others(store: &Store, study: &str, server: &str) -> Result<(), Failure> {
    let Some((other, changed)) = store.settings_of_others(study, server)?.into_iter().next() else {
        return Ok(());
    };
    let before = changed.before.as_deref().unwrap_or("its default");
    Err(Failure::new(
        ExitCode::Refused,
        format!(
            "study {other} has changed {} of {server} to {} and not put it back to {before}: wait \
             for its end, or put it back by\n  tidemark study resume {other}",
            changed.name, changed.changed_to
        ),
    ))
}

/// Looks whether all settings of a step can be changed while the server runs.
///
/// # Errors
/// [`Failure`] with the reason, before anything is changed.
pub fn look(
    store: &Store,
    study: &str,
    place: &Reached,
    settings: &Settings,
) -> Result<(), Failure> {
    for host in 0..hosts(place)? {
        refuse_changed_by_others(store, study, &server(place, host)?)?;
        let names: Vec<String> = settings.iter().map(|(name, _)| name.clone()).collect();
        on_host(place, host, async move |session| {
            for name in &names {
                can_be_changed(session, name).await?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Changes settings for a step.
///
/// # Errors
/// [`Failure`] as the server's or the store's; what was changed until then is to be put back.
pub fn apply(
    store: &mut Store,
    study: &str,
    place: &Reached,
    settings: &Settings,
) -> Result<(), Failure> {
    let hosts = hosts(place)?;
    for (name, value) in settings {
        // All hosts first: in a cluster, changing one may change the others.
        let mut before = Vec::with_capacity(hosts);
        for host in 0..hosts {
            refuse_changed_by_others(store, study, &server(place, host)?)?;
            let name = name.clone();
            before.push(on_host(place, host, async move |session| {
                can_be_changed(session, &name).await?;
                before_change(session, &name).await
            })?);
        }
        for (host, before) in before.into_iter().enumerate() {
            let changed = ChangedSetting {
                target: key(place, host),
                server: server(place, host)?,
                name: name.clone(),
                before: before.clone(),
                changed_to: value.clone(),
            };
            store.setting_changes(study, &changed)?;
            let (name, value) = (name.clone(), value.clone());
            let connector = connector(place)?;
            on_host(place, host, async move |session| {
                change(session, &name, &value).await?;
                // A setting may lock everybody out, and then only this session can put it back.
                match open(&connector, host).await {
                    Ok(other) => other.close().await,
                    Err(e) => {
                        restore(session, &name, before.as_deref()).await?;
                        let mut e = e;
                        e.message = format!(
                            "with {name} = {value} no session can be opened any more, so it was put \
                             back: {}",
                            e.message
                        );
                        return Err(e);
                    }
                }
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Puts everything back that a study has changed.
///
/// # Errors
/// [`Failure`] naming the setting, its server, and its value before, when a server can't be reached.
pub fn put_back(store: &mut Store, study: &str, places: &[Reached]) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for changed in store.changed_settings(study)? {
        match put_one_back(&changed, places) {
            Ok(()) => store.setting_restored(study, &changed.target, &changed.name)?,
            Err(failure) => {
                let before = changed.before.as_deref().unwrap_or("its default");
                failed.push(format!(
                    "{} of target {} is still {}, and was {before}: {failure}",
                    changed.name, changed.target, changed.changed_to
                ));
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        ExitCode::Failed,
        format!(
            "settings could not be put back:\n{}\n`tidemark study resume {study}` puts them back \
             when the server can be reached",
            failed.join("\n")
        ),
    ))
}

fn put_one_back(changed: &ChangedSetting, places: &[Reached]) -> Result<(), Failure> {
    let (name, host) = match changed.target.split_once('/') {
        Some((name, host)) => (name, host.parse().unwrap_or(0)),
        None => (changed.target.as_str(), 0),
    };
    let place = places
        .iter()
        .find(|p| p.name == name)
        .ok_or_else(|| Failure::usage(format!("the study has no target {name} any more")))?;
    let begun = Instant::now();
    loop {
        let (name, before) = (changed.name.clone(), changed.before.clone());
        let done = on_host(place, host, async move |session| {
            restore(session, &name, before.as_deref()).await
        });
        match done {
            Err(failure) if is_away(&failure) && begun.elapsed() < LONGEST_AWAY => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            done => return done,
        }
    }
}

/// A server that was restarted, or crashed in a run, comes back. A refused account does not, but
/// waiting costs little beside a setting that stays changed.
fn is_away(failure: &Failure) -> bool {
    failure.code == ExitCode::Connect
}
