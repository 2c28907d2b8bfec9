//! Settings of servers that hold for one step: changed before it, [put back](super::put_back) after.
//!
//! Their values before are in the store before anything is changed, so that `resume` puts them back
//! after whatever ended the study. A server may change others of its settings with them: these are
//! found by reading all before and after, and what was read before is in the store until what moved
//! has its own rows there.

use super::admin_sessions::{Hosts, Opener};
use super::targets::Reached;
use crate::exit::{ExitCode, Failure};
use tidemark_core::DbError;
use tidemark_drivers::Session;
use tidemark_drivers::settings::global::{
    Before, Moved, Snapshot, before_change, can_be_changed, change, has_taken_hold, moved, restore,
    snapshot,
};
use tidemark_store::{ChangedSetting, Store};

type Settings = [(String, String)];

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
            "study {other} changed {} of {server} to {} and has not restored it to {before}: \
             wait until it ends, or restore it with\n  tidemark study resume {other}",
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
    let hosts = Hosts::of(place)?;
    for host in hosts.numbers() {
        refuse_changed_by_others(store, study, &hosts.server(host))?;
        let names: Vec<String> = settings.iter().map(|(name, _)| name.clone()).collect();
        hosts.on(host, async move |session, _| {
            for name in &names {
                can_be_changed(session, name).await?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Changes settings for a step. Returns what servers have changed with them.
///
/// # Errors
/// [`Failure`] as the server's or the store's; what was changed until then is to be put back.
pub fn apply(
    store: &mut Store,
    study: &str,
    place: &Reached,
    settings: &Settings,
) -> Result<Vec<String>, Failure> {
    let hosts = Hosts::of(place)?;
    let mut told = Vec::new();
    for (at, (name, value)) in settings.iter().enumerate() {
        for (host, moved) in change_on_all(store, study, &hosts, name, value)? {
            let Moved {
                name: other,
                before,
                after,
            } = &moved;
            let is_other = |(asked, _): &&(String, String)| asked.eq_ignore_ascii_case(other);
            if let Some((_, asked)) = settings[..at].iter().find(is_other) {
                return Err(Failure::new(
                    ExitCode::Failed,
                    format!(
                        "target {}: {name} = {value} made the server change {other} from the \
                         requested {asked} to {after}: use compatible values",
                        place.name
                    ),
                ));
            }
            told.push(format!(
                "{name} = {value} made the server of target {} also change {other} from {before} \
                 to {after}: both are restored",
                hosts.key(host)
            ));
        }
    }
    Ok(told)
}

/// Changes a setting on all hosts, and writes down what moved with it.
fn change_on_all(
    store: &mut Store,
    study: &str,
    hosts: &Hosts<'_>,
    name: &str,
    value: &str,
) -> Result<Vec<(usize, Moved)>, Failure> {
    // All hosts first: in a cluster, changing one may change the others.
    let mut before = Vec::new();
    for host in hosts.numbers() {
        refuse_changed_by_others(store, study, &hosts.server(host))?;
        let name = name.to_string();
        before.push(hosts.on(host, async move |session, _| {
            can_be_changed(session, &name).await?;
            Ok((
                before_change(session, &name).await?,
                snapshot(session).await?,
            ))
        })?);
    }
    for (host, (before, others)) in before.iter().enumerate() {
        let changed = ChangedSetting {
            target: hosts.key(host),
            server: hosts.server(host),
            name: name.into(),
            before: before.clone(),
            changed_to: value.into(),
            moved_by: None,
            snapshot: (!others.is_empty()).then(|| serde_json::json!(others).to_string()),
        };
        store.setting_changes(study, &changed)?;
    }
    let mut changed = Ok(());
    for (host, (before, others)) in before.iter().enumerate() {
        let before = vec![(name.to_string(), before.clone())];
        let (value, others) = (value.to_string(), others.clone());
        changed = hosts.on(host, async move |session, opener| {
            change_on(session, &opener, before, &value, &others).await
        });
        if changed.is_err() {
            break;
        }
    }
    // Whatever came of it. Where it can't be asked now, the snapshot stays for putting back.
    let mut all = Vec::new();
    for (host, (_, others)) in before.iter().enumerate() {
        let Ok(now) = hosts.on(host, async move |session, _| snapshot(session).await) else {
            continue;
        };
        let found = moved(others, &now, name);
        write_moved(store, study, &hosts.key(host), name, &found)?;
        all.extend(found.into_iter().map(|moved| (host, moved)));
    }
    changed.map(|()| all)
}

/// Changes a setting on one host. A setting may lock everybody out, and then only this session can
/// put it back.
async fn change_on(
    session: &mut Session,
    opener: &Opener,
    mut before: Vec<Before>,
    value: &str,
    others: &Snapshot,
) -> Result<(), DbError> {
    let Some((name, _)) = before.first().cloned() else {
        return Ok(());
    };
    change(session, &name, value).await?;
    let mut error = match opener.open().await {
        Ok(mut other) => {
            let held = has_taken_hold(&mut other, &name, value).await;
            other.close().await;
            return held;
        }
        Err(error) => error,
    };
    let now = snapshot(session).await?;
    let moved = moved(others, &now, &name).into_iter();
    before.extend(moved.map(|m| (m.name, Some(m.before))));
    let left = restore(session, &before).await?;
    let outcome = match left.first() {
        None => "so it was restored".to_string(),
        Some((name, why)) => format!("and {name} could not be restored ({why})"),
    };
    error.message = format!(
        "with {name} = {value} no session can be opened, {outcome}: {}",
        error.message
    );
    Err(error)
}

/// Writes down what moved with a setting of a host.
///
/// # Errors
/// [`Failure`] as the store's.
pub fn write_moved(
    store: &mut Store,
    study: &str,
    host: &str,
    name: &str,
    moved: &[Moved],
) -> Result<(), Failure> {
    let rows = moved
        .iter()
        .map(|m| (m.name.as_str(), m.before.as_str(), m.after.as_str()));
    let rows: Vec<_> = rows.collect();
    Ok(store.settings_moved(study, host, name, &rows)?)
}
