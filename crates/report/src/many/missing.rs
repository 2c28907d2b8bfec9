//! What a study was to measure and did not.

use super::commands::step_label;
use super::digest::RunDigest;
use super::document::{Sources, named};
use super::{StepState, StudyStep};
use crate::number::whole;
use crate::texts::fill;

/// So many failures are told at the top; all of them are below.
const TOLD: usize = 4;

/// Whether no run has a result.
pub(super) fn nothing_measured(s: &Sources<'_>) -> bool {
    !s.many.runs.iter().any(RunDigest::counts)
}

/// What failed first, each reason once.
pub(super) fn failed(s: &Sources<'_>) -> Vec<String> {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    let failed = s.many.steps.iter().filter(|x| x.state == StepState::Failed);
    for (step, reason) in failed.filter_map(|x| Some((x, x.reason.as_deref()?))) {
        let label = step_label(s, step);
        match told.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, steps)) => steps.push(label),
            None => told.push((reason, vec![label])),
        }
    }
    let said = told.iter().take(TOLD).map(|(reason, steps)| {
        let steps = named(steps, TOLD, s.t, s.t.semicolon);
        fill(s.t.step_failed_why, &[("step", &steps), ("reason", reason)])
    });
    said.collect()
}

/// A target of a study, with its steps.
struct Target<'m> {
    name: &'m str,
    steps: Vec<&'m StudyStep>,
}

/// Targets of which there is no figure, each with the first reason.
pub(super) fn targets(s: &Sources<'_>) -> Vec<String> {
    let targets = targets_of(&s.many.steps);
    targets
        .iter()
        .filter_map(|t| without_figures(s, t))
        .collect()
}

/// A run's cell is `target/workload/factor=value…`, or begins with the workload where the study's
/// servers are told apart otherwise; a load's is `target/data`.
fn targets_of(steps: &[StudyStep]) -> Vec<Target<'_>> {
    let mut targets: Vec<Target<'_>> = Vec::new();
    for step in steps.iter().filter(|x| x.kind == "run") {
        let mut words = step.cell.split('/');
        if let (Some(name), Some(workload), Some(_)) = (words.next(), words.next(), words.next())
            && !workload.contains('=')
            && !targets.iter().any(|t| t.name == name)
        {
            let is_its = |x: &&StudyStep| x.cell.split('/').next() == Some(name);
            targets.push(Target {
                name,
                steps: steps.iter().filter(is_its).collect(),
            });
        }
    }
    targets
}

fn without_figures(s: &Sources<'_>, target: &Target<'_>) -> Option<String> {
    let steps = &target.steps;
    let run = |step: &StudyStep| {
        let id = step.run_id.as_deref()?;
        s.many.runs.iter().find(|r| r.id == id)
    };
    let has_result = steps.iter().any(|x| run(x).is_some_and(RunDigest::counts));
    let left = |x: &&StudyStep| matches!(x.state, StepState::Waiting | StepState::GoingOn);
    let failed: Vec<_> = steps
        .iter()
        .filter(|x| matches!(x.state, StepState::Failed | StepState::Skipped))
        .collect();
    if has_result || failed.is_empty() || steps.iter().any(left) {
        return None;
    }
    // What was left out was so because of what failed.
    let first = failed.iter().find(|x| x.state == StepState::Failed);
    let reason = first.or(failed.first())?.reason.as_deref();
    let server = steps.iter().find_map(|x| run(x)?.server.as_ref());
    let engine = server.map(|s| s.engine.to_string());
    let engine = engine.or_else(|| steps.iter().find_map(|x| engine_of(&x.command)));
    let name = match engine {
        Some(engine) => fill(
            s.t.engine_target,
            &[("engine", &engine), ("target", target.name)],
        ),
        None => fill(s.t.just_target, &[("target", target.name)]),
    };
    let values = [
        ("target", name.as_str()),
        ("count", &*whole(failed.len() as u64)),
        ("all", &*whole(steps.len() as u64)),
        ("reason", reason.unwrap_or("–")),
    ];
    Some(fill(s.t.target_missing, &values))
}

/// What the URL of a command says of an engine that did not answer; `mysql` may be several.
fn engine_of(command: &[String]) -> Option<String> {
    const ENGINES: [(&str, &str); 7] = [
        ("postgres://", "PostgreSQL"),
        ("postgresql://", "PostgreSQL"),
        ("mariadb://", "MariaDB"),
        ("tidb://", "TiDB"),
        ("yugabyte://", "YugabyteDB"),
        ("cockroach://", "CockroachDB"),
        ("sqlite:", "SQLite"),
    ];
    let of = |word: &String| {
        let begins = |scheme| word.starts_with(scheme) || word.contains(&format!("={scheme}"));
        let found = ENGINES.iter().find(|(scheme, _)| begins(scheme))?;
        Some(found.1.to_string())
    };
    command.iter().find_map(of)
}
