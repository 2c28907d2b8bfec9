//! What the commands of a study's steps need when they are typed on another day: its private servers
//! are gone, and what it set around a step is put back.

use super::private;
use super::vocabulary::Vocabulary;
use crate::secrets::redact;
use std::collections::BTreeMap;
use tidemark_core::record::RunRecord;
use tidemark_core::{Protocol, Target, redact_text, redact_url};
use tidemark_report::{ByHand, Data, Load, PrivateServer};
use tidemark_sandbox::Request;
use tidemark_store::{StepRow, Store, StudyRow};
use tidemark_study::{Commands, Family, Password, Phase, Place, Plan, Step, StepKind, parse};

/// So much of an execution's id tells its servers from others'.
const ID_LETTERS: usize = 6;

/// The commands were looked at when the study began; here they are only told.
struct AsBegun;

impl Commands for AsBegun {
    fn takes(&self, family: &Family, phase: Phase, option: &str) -> bool {
        Vocabulary.takes(family, phase, option)
    }

    fn shapes(&self, family: &Family, option: &str) -> bool {
        Vocabulary.shapes(family, option)
    }

    fn is_property(&self, family: &Family, option: &str) -> bool {
        Vocabulary.is_property(family, option)
    }

    fn check(&self, _: &[String]) -> Result<(), String> {
        Ok(())
    }
}

/// What each step needs; nothing where the file is of another version of Tidemark and makes other
/// steps by now.
pub fn of_steps(study: &StudyRow, rows: &[StepRow]) -> Vec<Option<ByHand>> {
    let nothing = || vec![None; rows.len()];
    let Some(plan) = plan(study) else {
        return nothing();
    };
    let is_same = |(row, step): (&StepRow, &Step)| {
        row.kind == step.kind.word() && row.cell == step.cell && row.repeat == step.repeat
    };
    if plan.steps.len() != rows.len() || !rows.iter().zip(&plan.steps).all(is_same) {
        return nothing();
    }
    let of_step = |(number, step): (usize, &Step)| {
        let data = match step.kind {
            StepKind::Load => Some(Data::Loads(number)),
            StepKind::Run => step.load.map(Data::Needs),
        };
        let by_hand = needs(study, &plan, step)?;
        Some(ByHand {
            data: data.filter(|_| by_hand.server.is_some()),
            ..by_hand
        })
    };
    plan.steps.iter().enumerate().map(of_step).collect()
}

/// The plan of a study that was begun, as this Tidemark makes it; its options are not looked at again.
pub fn plan(study: &StudyRow) -> Option<Plan> {
    Plan::new(&parse(&study.file).ok()?, &AsBegun).ok()
}

/// The studies of a store, each understood once.
#[derive(Default)]
pub struct Studies(BTreeMap<String, Option<(StudyRow, Plan)>>);

impl Studies {
    /// What the command of a run of a study needs; nothing where this Tidemark makes another
    /// command of its step.
    pub fn of_run(&mut self, store: &Store, record: &RunRecord) -> Option<ByHand> {
        let place = record.study.as_ref()?;
        let known = self.0.entry(place.study.clone()).or_insert_with(|| {
            let study = store.study(&place.study).ok();
            let study = study.filter(|study| study.id == place.study)?;
            let plan = plan(&study)?;
            Some((study, plan))
        });
        let (study, plan) = known.as_ref()?;
        let is_it = |step: &&Step| {
            step.kind == StepKind::Run && step.cell == place.cell && step.repeat == place.repeat
        };
        let step = plan.steps.iter().find(is_it)?;
        if !is_command_of(step, &record.command) {
            return None;
        }
        let by_hand = needs(study, plan, step).unwrap_or_default();
        let load = by_hand.server.as_ref().zip(step.load);
        let load = load.and_then(|(server, load)| commands_of(plan, load, server));
        let by_hand = ByHand { load, ..by_hand };
        (by_hand != ByHand::default()).then_some(by_hand)
    }
}

/// Whether a run was made by a step's command, but for the program's path and where the server was.
fn is_command_of(step: &Step, command: &[String]) -> bool {
    let rest = |words: &[String]| -> Vec<String> {
        let words = words.iter().skip(1).filter(|w| !w.starts_with("--target="));
        words.cloned().collect()
    };
    rest(&redact(&step.words)) == rest(command)
}

/// What a step needs beside its data, if anything.
fn needs(study: &StudyRow, plan: &Plan, step: &Step) -> Option<ByHand> {
    let place = plan.places.get(step.place)?;
    let by_hand = ByHand {
        server: private_server(study, place, step.place),
        settings: set_for(step),
        password: password(place),
        ..ByHand::default()
    };
    (by_hand != ByHand::default()).then_some(by_hand)
}

fn set_for(step: &Step) -> Vec<(String, String)> {
    let settings = step.global.iter();
    let settings = settings.map(|(name, value)| (name.clone(), redact_text(value)));
    settings.collect()
}

fn private_server(study: &StudyRow, place: &Place, at: usize) -> Option<PrivateServer> {
    if !private::is_meant(&place.url) {
        return None;
    }
    let mut request = Request::parse(&place.url).ok()?;
    let users = request.name.is_some();
    let name = request.name.take().unwrap_or_else(|| {
        // The end of an execution's id is random (RFC 9562, UUID version 7).
        let letters: Vec<char> = study.id.chars().collect();
        let end = &letters[letters.len().saturating_sub(ID_LETTERS)..];
        format!("again-{}-{}", end.iter().collect::<String>(), at + 1)
    });
    request.name = Some(name.clone());
    Some(PrivateServer {
        asked: redact_url(&redact_text(&place.url)),
        name,
        start: redact(&private::words(&request)),
        users,
    })
}

/// What is in a server of the user's is not replaced by a command that was only copied.
fn commands_of(plan: &Plan, number: usize, server: &PrivateServer) -> Option<Load> {
    let load = plan.steps.get(number)?;
    let mut keeping = load.words.clone();
    keeping.retain(|word| word != "--replace");
    let mut replacing = keeping.clone();
    if !server.users {
        // The command's own word stands at its end, where it has one.
        let at = replacing.iter().rposition(|word| word == "prepare");
        replacing.insert(at.unwrap_or(replacing.len()), "--replace".into());
    }
    Some(Load {
        step: number,
        replacing: redact(&replacing),
        words: redact(&keeping),
        settings: set_for(load),
    })
}

/// The variable in which the command took its password.
fn password(place: &Place) -> Option<(String, Option<String>)> {
    let password = place.password.as_ref()?;
    let variable = match Target::parse(&place.url).ok()?.protocol {
        Protocol::Mysql => "MYSQL_PWD",
        Protocol::Postgres => "PGPASSWORD",
        Protocol::Sqlite => return None,
    };
    let is_name = |name: &&String| {
        let mut letters = name.chars();
        let begins = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        begins && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let users = match password {
        Password::Variable(name) => Some(name).filter(is_name).cloned(),
        Password::Given(_) => None,
    };
    Some((variable.into(), users))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = "name = \"s\"\ntime = 1\n[[target]]\nname = \"t\"\nurl = \"up:mariadb\"\n\
        [[workload]]\nname = \"oltp_point_select\"\n[[factor]]\nname = \"f\"\nduring = \"load\"\nvalues = [\n  \
        { label = \"x\", set-global = { sync_binlog = 7 } },\n]\n";

    fn plan() -> Plan {
        Plan::new(&parse(STUDY).unwrap(), &AsBegun).unwrap()
    }

    #[test]
    fn a_load_is_told_with_what_the_study_set_for_it() {
        let server = PrivateServer {
            asked: "up:mariadb".into(),
            name: "again".into(),
            start: Vec::new(),
            users: false,
        };
        let load = commands_of(&plan(), 0, &server).unwrap();
        assert_eq!(load.settings, [("sync_binlog".into(), "7".into())]);
    }

    #[test]
    fn a_run_of_another_command_than_the_steps_is_not_its() {
        let plan = plan();
        let step = plan.steps.iter().find(|s| s.kind == StepKind::Run).unwrap();
        let mut made = step.words.clone();
        made[0] = "/opt/tidemark".into();
        for word in made.iter_mut().filter(|w| w.starts_with("--target=")) {
            *word = "--target=mysql://u@h:1/x".into();
        }
        assert!(is_command_of(step, &made));
        made.push("--skip-trx".into());
        assert!(!is_command_of(step, &made));
    }
}
