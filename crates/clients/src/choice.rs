//! Which agents take part in a run.

use crate::connection::NatsOptions;
use crate::error::ClientsError;
use crate::listing::{Listed, ListedState};

/// The agents for a run: so many, or those that are named.
pub(crate) fn choose(
    asked: &str,
    agents: Vec<Listed>,
    options: &NatsOptions,
) -> Result<Vec<Listed>, ClientsError> {
    let count = asked.parse::<usize>().ok();
    let names: Vec<&str> = asked.split(',').collect();
    let is_named = |agent: &Listed| count.is_some() || names.contains(&agent.name.as_str());
    let (mut usable, others): (Vec<Listed>, Vec<Listed>) = agents
        .into_iter()
        .filter(is_named)
        .partition(|agent| agent.state == ListedState::Free);
    let needed = count.unwrap_or(names.len());
    if usable.len() < needed || needed == 0 {
        let mut because: Vec<String> = others.iter().map(why_not).collect();
        if count.is_none() {
            let is_there = |name: &str| usable.iter().chain(&others).any(|a| a.name == name);
            let missing = names.iter().filter(|name| !is_there(name));
            because.extend(missing.map(|name| format!("{name} is missing")));
        }
        return Err(ClientsError::Agents {
            asked: asked.into(),
            needed,
            there: usable.len(),
            because: match because.is_empty() {
                true => String::new(),
                false => format!(" ({})", because.join("; ")),
            },
            url: options.url.clone(),
        });
    }
    if count.is_none() {
        // The first that is named is the first client.
        let place = |agent: &Listed| names.iter().position(|name| *name == agent.name);
        usable.sort_by_key(place);
    }
    usable.truncate(needed);
    Ok(usable)
}

fn why_not(agent: &Listed) -> String {
    let name = &agent.name;
    match &agent.state {
        ListedState::Free => format!("{name} is free"),
        ListedState::Busy(run) => format!("{name} is part of run {run}"),
        ListedState::Silent => format!("{name} does not answer"),
        ListedState::OtherVersion => format!("{name} has version {}", agent.presence.version),
    }
}
