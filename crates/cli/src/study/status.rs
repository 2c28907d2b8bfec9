//! `study status`: how far studies are.

use super::args;
use super::execute::invalid_among;
use super::invalid_runs::why_unusable;
use super::outcome::figures;
use super::resume::find;
use super::start::place_of_store;
use crate::columns::{left, row, widest};
use crate::exit::{ExitCode, Failure};
use crate::messages;
use crate::runs::open_if_made;
use crate::texts::study as texts;
use std::time::Duration;
use tidemark_report::Lang;
use tidemark_store::{StepRow, StepState, Store, StudyRow, StudyRun, StudyState};
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
    let lang = words.lang;
    let Some(store) = store else {
        say!("{}", texts::none_yet(lang));
        return Ok(ExitCode::Success);
    };
    match &words.study {
        Some(word) => one(&store, &find(&store, word)?, lang),
        None => all(&store, lang),
    }
}

fn all(store: &Store, lang: Lang) -> Result<ExitCode, Failure> {
    let studies = store.studies()?;
    if studies.is_empty() {
        say!("{}", texts::none_yet(lang));
        return Ok(ExitCode::Success);
    }
    say!(
        "{}",
        line(&[
            texts::id(lang),
            texts::begun(lang),
            texts::state(lang),
            texts::done(lang),
            texts::invalid(lang),
            texts::failed(lang),
            texts::time_left(lang),
            texts::name(lang),
        ])
    );
    for study in studies {
        let steps = store.steps(&study.id)?;
        let count = StepCounts::of(&steps);
        say!(
            "{}",
            line(&[
                &study.id,
                &moment(study.begun_ms),
                state(lang, study.state),
                &format!("{}/{}", count.done, steps.len()),
                &count.invalid.to_string(),
                &count.failed.to_string(),
                &time_left(&study, &steps, lang),
                &study.name,
            ])
        );
    }
    Ok(ExitCode::Success)
}

fn one(store: &Store, study: &StudyRow, lang: Lang) -> Result<ExitCode, Failure> {
    let steps = store.steps(&study.id)?;
    let count = StepCounts::of(&steps);
    let mut out = texts::status_title(lang, format_args!("{:?}", study.name), &study.id) + "\n";
    let process = match (study.state, study.pid) {
        (StudyState::Running | StudyState::PerhapsRunning, Some(pid)) => {
            texts::by_process(lang, pid, &study.hostname)
        }
        _ => String::new(),
    };
    let invalid = invalid_among(count.invalid, lang);
    let mut rows = vec![
        (texts::row_file(lang), study.path.clone()),
        (
            texts::row_begun(lang),
            format!("{} UTC", moment(study.begun_ms)),
        ),
        (
            texts::state(lang),
            format!("{}{process}", state(lang, study.state)),
        ),
        (
            texts::row_steps(lang),
            texts::counts(
                lang,
                count.done,
                invalid,
                count.failed,
                count.skipped,
                count.left,
                steps.len(),
            ),
        ),
    ];
    if count.left > 0 {
        rows.push((texts::time_left(lang), time_left(study, &steps, lang)));
    }
    for changed in store.changed_settings(&study.id)? {
        let (name, target, value) = (&changed.name, &changed.target, &changed.changed_to);
        let said = match &changed.moved_by {
            None => texts::setting_for_step(lang, name, target, value),
            Some(other) => texts::setting_moved(lang, name, target, value, other),
        };
        rows.push((texts::row_setting(lang), said));
    }
    // As wide as all that may stand there.
    let width = widest([texts::row_begun(lang), texts::time_left(lang)]);
    for (head, said) in rows {
        out += &format!("  {}  {said}\n", left(head, width));
    }
    out.push('\n');
    let runs = store.runs_of(&study.id)?;
    for step in &steps {
        out += &of_step(store, &runs, step, lang);
    }
    if count.left > 0 && study.state == StudyState::Unfinished {
        out += &format!("\n{}\n", texts::resume_with(lang, &study.id));
    }
    if count.invalid > 0 && count.left == 0 {
        out += &format!("\n{}\n", texts::repeat_invalid(lang, &study.id));
    }
    crate::stdio::print(&tidemark_core::printable_lines(&out));
    Ok(ExitCode::Success)
}

/// A step, and below it why it has no result.
fn of_step(store: &Store, runs: &[StudyRun], step: &StepRow, lang: Lang) -> String {
    let repeat = match step.repeat {
        0 => String::new(),
        n => texts::step_repeat(lang, n),
    };
    let result = step.run_id.as_ref().and_then(|id| {
        let found = runs.iter().find(|r| r.run.id == *id)?;
        let figures = figures(&found.run, lang);
        Some(format!("  {figures}{}", texts::run_of_step(lang, id)))
    });
    let kind = match step.kind.as_str() {
        "load" => texts::kind_load(lang),
        "run" => texts::kind_run(lang),
        other => other,
    };
    let mut said = format!(
        "{:4}  {}  {}  {}{repeat}{}\n",
        step.seq + 1,
        left(state_of_step(lang, step.state), 8),
        left(kind, 4),
        step.cell,
        result.unwrap_or_default()
    );
    // The store keeps it in English.
    let rule = match (&step.run_id, step.state) {
        (Some(id), StepState::Invalid) => why_unusable(store, id, lang),
        _ => None,
    };
    let told = step.reason.as_deref().map(|r| messages::reason(r, lang));
    if let Some(reason) = rule.as_deref().or(told.as_deref()) {
        said += &format!("      {}\n", reason.replace('\n', "\n      "));
    }
    said
}

/// Columns of the list of studies but the last, with their least widths; numbers stand at the right.
const COLUMNS: [(usize, bool); 7] = [
    (36, false),
    (16, false),
    (10, false),
    (9, true),
    (7, true),
    (6, true),
    (9, true),
];

/// A line of the list of studies.
fn line(cells: &[&str; 8]) -> String {
    row(cells, &COLUMNS)
}

fn state(lang: Lang, state: StudyState) -> &'static str {
    match state {
        StudyState::Running => texts::running(lang),
        StudyState::PerhapsRunning => texts::perhaps_running(lang),
        StudyState::Unfinished => texts::unfinished(lang),
        StudyState::Ended => texts::ended(lang),
    }
}

fn state_of_step(lang: Lang, state: StepState) -> &'static str {
    match state {
        StepState::Waiting => texts::step_waiting(lang),
        StepState::GoingOn => texts::step_going_on(lang),
        StepState::Done => texts::step_ended(lang),
        StepState::Invalid => texts::step_invalid(lang),
        StepState::Failed => texts::step_failed(lang),
        StepState::Skipped => texts::step_skipped(lang),
    }
}

#[derive(Default)]
struct StepCounts {
    done: usize,
    /// Runs that ended and must not be used.
    invalid: usize,
    failed: usize,
    skipped: usize,
    left: usize,
}

impl StepCounts {
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
fn time_left(study: &StudyRow, steps: &[StepRow], lang: Lang) -> String {
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
            return texts::unknown(lang).into();
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
