//! What the commands of a study's steps need when they are typed on another day: its private servers
//! are gone, and what it set around a step is put back.

use super::private;
use super::vocabulary::Vocabulary;
use crate::secrets::redact;
use std::collections::BTreeMap;
use tidemark_core::{Protocol, StudyPlace, Target, redact_text, redact_url};
use tidemark_report::{ByHand, Load, PrivateServer};
use tidemark_sandbox::Request;
use tidemark_store::{StepRow, Store, StudyRow};
use tidemark_study::{Commands, Family, Password, Phase, Place, Plan, Step, StepKind, parse};

/// So much of an execution's id tells its servers from others'.
const ID_LETTERS: usize = 6;

/// The commands were looked at when the study began; here they are only told.
struct AsBegun;

impl Commands for AsBegun {
    fn takes(&self, family: Family, phase: Phase, option: &str) -> bool {
        Vocabulary.takes(family, phase, option)
    }

    fn shapes(&self, family: Family, option: &str) -> bool {
        Vocabulary.shapes(family, option)
    }

    fn is_property(&self, family: Family, option: &str) -> bool {
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
    let steps = plan.steps.iter();
    steps.map(|step| needs(study, &plan, step, false)).collect()
}

fn plan(study: &StudyRow) -> Option<Plan> {
    Plan::new(&parse(&study.file).ok()?, &AsBegun).ok()
}

/// The studies of a store, each understood once.
#[derive(Default)]
pub struct Studies(BTreeMap<String, Option<(StudyRow, Plan)>>);

impl Studies {
    /// What the command of a run needs that stands here in a study.
    pub fn of_run(&mut self, store: &Store, place: Option<&StudyPlace>) -> Option<ByHand> {
        let place = place?;
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
        needs(study, plan, plan.steps.iter().find(is_it)?, true)
    }
}

/// What a step needs, if anything; `alone` without the steps before it.
fn needs(study: &StudyRow, plan: &Plan, step: &Step, alone: bool) -> Option<ByHand> {
    let place = plan.places.get(step.place)?;
    let server = private_server(study, place, step.place);
    let settings = step.global.iter();
    let settings = settings.map(|(name, value)| (name.clone(), redact_text(value)));
    let load = step.load.and_then(|load| plan.steps.get(load));
    let by_hand = ByHand {
        load: server
            .as_ref()
            .zip(load.filter(|_| alone))
            .map(|(server, load)| commands_of(load, server)),
        password: password(place),
        settings: settings.collect(),
        server,
    };
    (by_hand != ByHand::default()).then_some(by_hand)
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
fn commands_of(load: &Step, server: &PrivateServer) -> Load {
    let replaces = |word: &&String| *word == "--replace";
    let keeping: Vec<String> = load
        .words
        .iter()
        .filter(|w| !replaces(w))
        .cloned()
        .collect();
    Load {
        replacing: redact(if server.users {
            &keeping
        } else {
            &load.replacing
        }),
        words: redact(&keeping),
    }
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
