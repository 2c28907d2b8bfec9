//! `study status`: how far studies are.

use super::args;
use super::execute::invalid_among;
use super::outcome::figures;
use super::resume::find;
use super::start::place_of_store;
use crate::exit::{ExitCode, Failure};
use crate::runs::open_if_made;
use std::fmt::Write;
use std::time::Duration;
use tidemark_store::{StepRow, StepState, Store, StudyRow, StudyState};
use tidemark_study::time_text;

/// Prints all studies, or one.
///
/// # Errors
/// [`Failure`] as the store's.
pub fn status(words: &args::Status) -> Result<ExitCode, Failure> {
    let path = place_of_store(words.store.store.as_deref())?;
    let store = match &words.study {
        None => open_if_made(&path, &words.store)?,
        Some(_) => Some(Store::open_existing(&path)?),
    };
    let Some(store) = store else {
        say!("{NONE}");
        return Ok(ExitCode::Success);
    };
    match &words.study {
        Some(word) => one(&store, &find(&store, word)?),
        None => all(&store),
    }
}

const NONE: &str = "no studies yet; start with: tidemark study run studies/quick-sqlite.toml";

fn all(store: &Store) -> Result<ExitCode, Failure> {
    let studies = store.studies()?;
    if studies.is_empty() {
        say!("{NONE}");
        return Ok(ExitCode::Success);
    }
    say!(
        "{:36}  {:16}  {:10}  {:>9}  {:>7}  {:>6}  {:>9}  name",
        "id",
        "begun (UTC)",
        "state",
        "done",
        "invalid",
        "failed",
        "time left"
    );
    for study in studies {
        let steps = store.steps(&study.id)?;
        let count = Counts::of(&steps);
        say!(
            "{:36}  {:16}  {:10}  {:>9}  {:>7}  {:>6}  {:>9}  {}",
            study.id,
            moment(study.begun_ms),
            study.state.to_string(),
            format!("{}/{}", count.done, steps.len()),
            count.invalid,
            count.failed,
            time_left(&study, &steps),
            study.name
        );
    }
    Ok(ExitCode::Success)
}

fn one(store: &Store, study: &StudyRow) -> Result<ExitCode, Failure> {
    let steps = store.steps(&study.id)?;
    let count = Counts::of(&steps);
    let mut out = String::new();
    // Writing to a text can't fail.
    let _ = writeln!(out, "Study {:?}, execution {}", study.name, study.id);
    let _ = writeln!(out, "  file       {}", study.path);
    let _ = writeln!(out, "  begun      {} UTC", moment(study.begun_ms));
    let process = match (study.state, study.pid) {
        (StudyState::Running | StudyState::PerhapsRunning, Some(pid)) => {
            format!(" by process {pid} on {}", study.hostname)
        }
        _ => String::new(),
    };
    let _ = writeln!(out, "  state      {}{process}", study.state);
    let _ = writeln!(
        out,
        "  steps      {} done, {}{} failed, {} skipped, {} left of {}",
        count.done,
        invalid_among(count.invalid),
        count.failed,
        count.skipped,
        count.left,
        steps.len()
    );
    if count.left > 0 {
        let _ = writeln!(out, "  time left  {}", time_left(study, &steps));
    }
    for changed in store.changed_settings(&study.id)? {
        let why = match &changed.moved_by {
            None => "for the step in progress".into(),
            Some(other) => format!("by the server, with {other}"),
        };
        let _ = writeln!(
            out,
            "  setting    {} of target {} is changed to {} {why}; resume restores it",
            changed.name, changed.target, changed.changed_to
        );
    }
    out.push('\n');
    let runs = store.runs_of(&study.id)?;
    for step in &steps {
        let repeat = match step.repeat {
            0 => String::new(),
            n => format!("  repeat {n}"),
        };
        let result = step.run_id.as_ref().and_then(|id| {
            let found = runs.iter().find(|r| r.run.id == *id)?;
            Some(format!("  {}  run {id}", figures(&found.run)))
        });
        let _ = writeln!(
            out,
            "{:4}  {:8}  {:4}  {}{repeat}{}",
            step.seq + 1,
            step.state.to_string(),
            step.kind,
            step.cell,
            result.unwrap_or_default()
        );
        if let Some(reason) = &step.reason {
            let _ = writeln!(out, "      {}", reason.replace('\n', "\n      "));
        }
    }
    if count.left > 0 && study.state == StudyState::Unfinished {
        let _ = writeln!(out, "\nresume with: tidemark study resume {}", study.id);
    }
    if count.invalid > 0 && count.left == 0 {
        let _ = writeln!(
            out,
            "\nrepeat invalid runs: tidemark study resume {} --retry-invalid",
            study.id
        );
    }
    crate::stdio::print(&tidemark_core::printable_lines(&out));
    Ok(ExitCode::Success)
}

#[derive(Default)]
struct Counts {
    done: usize,
    /// Runs that ended and must not be used.
    invalid: usize,
    failed: usize,
    skipped: usize,
    left: usize,
}

impl Counts {
    fn of(steps: &[StepRow]) -> Self {
        let mut counts = Self::default();
        for step in steps {
            match step.state {
                StepState::Done => counts.done += 1,
                StepState::Invalid => counts.invalid += 1,
                StepState::Failed => counts.failed += 1,
                StepState::Skipped => counts.skipped += 1,
                StepState::Waiting | StepState::GoingOn => counts.left += 1,
            }
        }
        counts
    }
}

/// Time left, by what steps of the same kind took until now.
fn time_left(study: &StudyRow, steps: &[StepRow]) -> String {
    if study.state == StudyState::Ended {
        return "-".into();
    }
    let mut left = 0.0;
    for kind in ["load", "run"] {
        let of_kind = || steps.iter().filter(|s| s.kind == kind);
        let waiting = of_kind().filter(|s| !s.state.is_over()).count();
        if waiting == 0 {
            continue;
        }
        let times: Vec<f64> = of_kind()
            .filter_map(|s| Some((s.ended_ms? - s.begun_ms?) as f64 / 1000.0))
            .collect();
        if times.is_empty() {
            return "unknown".into();
        }
        left += waiting as f64 * times.iter().sum::<f64>() / times.len() as f64;
    }
    time_text(Duration::try_from_secs_f64(left).unwrap_or_default())
}

fn moment(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|t| t.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}
