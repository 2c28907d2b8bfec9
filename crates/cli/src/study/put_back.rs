//! Putting back what a study has changed, and what servers have changed with it.

use super::admin_sessions::Hosts;
use super::settings::write_moved;
use super::targets::Reached;
use crate::exit::{ExitCode, Failure};
use std::time::{Duration, Instant};
use tidemark_drivers::settings::global::{Before, Snapshot, moved_since, restore};
use tidemark_store::{ChangedSetting, Store};

/// So long a server that can't be reached is tried again.
const LONGEST_AWAY: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// Puts everything back that a study has changed.
///
/// # Errors
/// [`Failure`] naming the setting, its server, and its value before, when a server can't be reached
/// or does not take it.
pub fn put_back(store: &mut Store, study: &str, places: &[Reached]) -> Result<(), Failure> {
    let mut hosts: Vec<String> = Vec::new();
    for changed in store.changed_settings(study)? {
        if !hosts.contains(&changed.target) {
            hosts.push(changed.target);
        }
    }
    let mut failed = Vec::new();
    for host in &hosts {
        let left = match put_host_back(store, study, host, places) {
            Ok(left) => left,
            Err(failure) => {
                let rows = of_host(store, study, host)?;
                let why = failure.to_string();
                rows.into_iter().map(|row| (row, why.clone())).collect()
            }
        };
        failed.extend(left.iter().map(|(row, why)| {
            let before = row.before.as_deref().unwrap_or("its default");
            format!(
                "{} of target {} is still {} instead of {before}: {why}",
                row.name, row.target, row.changed_to
            )
        }));
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        ExitCode::Failed,
        format!(
            "settings could not be restored:\n{}\n`tidemark study resume {study}` restores them \
             when the server is reachable",
            failed.join("\n")
        ),
    ))
}

/// The settings of one host that wait for being put back, in the order in which they are.
fn of_host(store: &Store, study: &str, host: &str) -> Result<Vec<ChangedSetting>, Failure> {
    let mut rows = store.changed_settings(study)?;
    rows.retain(|row| row.target == host);
    Ok(rows)
}

/// Puts the settings of one host back. Returns those that it does not take, each with the reason.
fn put_host_back(
    store: &mut Store,
    study: &str,
    host: &str,
    places: &[Reached],
) -> Result<Vec<(ChangedSetting, String)>, Failure> {
    let (name, number) = Hosts::of_key(host);
    let place = places
        .iter()
        .find(|p| p.name == name)
        .ok_or_else(|| Failure::usage(format!("the study no longer has a target {name}")))?;
    for row in of_host(store, study, host)? {
        let Some(before) = row.snapshot.as_deref() else {
            continue;
        };
        // A process was killed before it could write down what moved.
        let before: Snapshot = serde_json::from_str(before).unwrap_or_default();
        let found = patiently(place, |hosts| {
            let (name, to, before) = (row.name.clone(), row.changed_to.clone(), before.clone());
            hosts.on(number, async move |session, _| {
                moved_since(session, &before, &name, &to).await
            })
        })?;
        write_moved(store, study, host, &row.name, &found)?;
    }
    let rows = of_host(store, study, host)?;
    let left = patiently(place, |hosts| {
        let settings: Vec<Before> = rows
            .iter()
            .map(|r| (r.name.clone(), r.before.clone()))
            .collect();
        hosts.on(number, async move |session, _| {
            restore(session, &settings).await
        })
    })?;
    let mut still = Vec::new();
    for row in rows {
        match left.iter().find(|(name, _)| *name == row.name) {
            None => store.setting_restored(study, &row.target, &row.name)?,
            Some((_, why)) => still.push((row, why.clone())),
        }
    }
    Ok(still)
}

/// Does something on a target's servers; one that was restarted, or crashed in a run, comes back. A
/// refused account does not, but waiting costs little beside a setting that stays changed.
fn patiently<T>(
    place: &Reached,
    mut work: impl FnMut(&Hosts<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begun = Instant::now();
    loop {
        match Hosts::of(place).and_then(|hosts| work(&hosts)) {
            Err(failure) if failure.code == ExitCode::Connect && begun.elapsed() < LONGEST_AWAY => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            done => return done,
        }
    }
}
