//! What failed, how to repeat it, every run, and what the commands printed.

use super::document::Sources;
use super::labels::run_label;
use super::{StepState, StudyStep};
use crate::command_line::{comment, line, words_of};
use crate::document::{Block, DocumentPart, Grid};
use crate::number::{seconds, three, whole};
use crate::texts::fill;
use crate::words::readable_time;
use tidemark_core::record::RunState;
use tidemark_core::shell_line;

/// What all outputs together may take of a page, in characters: they are a small part of what a page
/// may have.
const ALL_OUTPUTS: usize = 400_000;
/// And one of them at least.
const LEAST_OUTPUT: usize = 500;
/// All command lines together, likewise.
const ALL_COMMANDS: usize = 300_000;

/// Steps that failed or were left out, and runs that have no result; `None` where there are none.
pub(super) fn failures(s: &Sources<'_>) -> Option<DocumentPart> {
    let t = s.t;
    let heads = [t.step, t.state, t.reason];
    let mut grid = Grid::new(heads.map(|h| (h.to_string(), false)));
    for step in &s.many.steps {
        if matches!(step.state, StepState::Failed | StepState::Skipped) {
            let reason = step.reason.clone().unwrap_or("–".into());
            let state = state(s, step.state).to_string();
            grid.rows.push(vec![step_label(s, step), state, reason]);
        }
    }
    for run in &s.many.runs {
        let told = |step: &StudyStep| step.run_id.as_deref() == Some(&run.id);
        if let RunState::Failed(reason) = &run.state
            && !s.many.steps.iter().any(told)
        {
            let row = vec![run_label(s, run), t.run_failed.into(), reason.clone()];
            grid.rows.push(row);
        }
    }
    for one in &s.many.unreadable {
        let row = vec![one.id.clone(), t.unreadable.into(), one.why.clone()];
        grid.rows.push(row);
    }
    (!grid.rows.is_empty()).then(|| DocumentPart::new(t.failures, vec![Block::Table(grid)]))
}

fn state(s: &Sources<'_>, state: StepState) -> &'static str {
    match state {
        StepState::Waiting => s.t.step_waiting,
        StepState::GoingOn => s.t.step_going_on,
        StepState::Done => s.t.step_done,
        StepState::Failed => s.t.step_failed,
        StepState::Skipped => s.t.step_skipped,
    }
}

/// `run oltp_read_only threads=64 (repeat 2)`.
pub(super) fn step_label(s: &Sources<'_>, step: &StudyStep) -> String {
    let kind = match step.kind.as_str() {
        "load" => s.t.step_of_load,
        "run" => s.t.step_of_run,
        kind => kind,
    };
    let text = format!("{kind} {}", step.cell);
    let several = s
        .many
        .steps
        .iter()
        .any(|o| o.cell == step.cell && o.repeat != step.repeat);
    if several {
        let aside = fill(s.t.repeat_n, &[("n", &step.repeat.to_string())]);
        fill(s.t.parenthesised, &[("text", &text), ("aside", &aside)])
    } else {
        text
    }
}

/// The exact commands: of the study, and of each of its steps or of each run.
pub(super) fn repeat(s: &Sources<'_>) -> DocumentPart {
    let t = s.t;
    let mut blocks = Vec::new();
    if let Some(study) = &s.many.study {
        blocks.push(Block::Say(t.study_command.into()));
        blocks.push(Block::Code("sh", shell_line(&study.command)));
        if !study.file.is_empty() {
            let title = fill(
                t.parenthesised,
                &[("text", t.study_file), ("aside", &study.path)],
            );
            let file = code(s, "toml", &study.file, ALL_COMMANDS);
            blocks.push(Block::Fold(title, file));
        }
    }
    let steps = s.many.steps.iter();
    let mut commands: Vec<(String, Vec<String>)> = steps
        .map(|x| (step_label(s, x), x.command.clone()))
        .collect();
    if commands.is_empty() {
        let runs = s.many.runs.iter();
        commands = runs
            .map(|r| (run_label(s, r), words_of(&r.command, r.imported.is_some())))
            .collect();
    }
    commands.retain(|(_, words)| !words.is_empty());
    if !commands.is_empty() {
        let lines = commands
            .iter()
            .flat_map(|(label, words)| [comment(label), line(words)]);
        let lines = lines.collect::<Vec<_>>().join("\n");
        let count = whole(commands.len() as u64);
        let title = fill(t.each_command, &[("count", &count)]);
        blocks.push(Block::Fold(title, code(s, "sh", &lines, ALL_COMMANDS)));
    }
    blocks.push(Block::Fine(t.passwords.into()));
    DocumentPart::new(t.repeat, blocks)
}

/// A line for each run.
pub(super) fn runs(s: &Sources<'_>) -> DocumentPart {
    let (t, c) = (s.t, s.common);
    let text = |head: &str| (head.to_string(), false);
    let number = |head: &str| (head.to_string(), true);
    let mut grid = Grid::new([
        text(t.id),
        text(t.started),
        text(c.run),
        text(t.state),
        number(t.elapsed),
        number(t.throughput),
        number(t.mean),
        number(t.p95),
        number(t.p99),
        number(t.errors),
        text(t.finding),
        text(t.tags),
        text(t.note),
    ]);
    for run in &s.many.runs {
        let ms = |of: Option<f64>| of.map_or("–".into(), three);
        let latency = run.latency.as_ref();
        let state = match run.state {
            RunState::Running => c.state_running,
            RunState::Finished => c.state_finished,
            RunState::Interrupted if run.imported.is_some() => c.state_output_cut,
            RunState::Interrupted => c.state_interrupted,
            RunState::Failed(_) => c.state_failed,
        };
        let rules: Vec<&str> = run.findings.iter().map(|f| f.rule).collect();
        let mut found = rules.join(", ");
        if run.counts() && !run.usable {
            let text = format!("{} {found}", c.finding_invalid);
            found = fill(t.mark, &[("text", &text)]);
        }
        grid.rows.push(vec![
            run.id.clone(),
            run.started()
                .map_or("–".into(), |at| readable_time(at).replace(" UTC", "")),
            run_label(s, run),
            state.into(),
            run.elapsed().map_or("–".into(), seconds),
            s.rate(three(run.transactions_per_s), run.rate_unit),
            ms(latency.and_then(|l| l.mean_ms)),
            ms(latency.and_then(|l| l.p95_ms)),
            ms(latency.and_then(|l| l.p99_ms)),
            run.errors_stated.map_or("–".into(), whole),
            found,
            run.tags.join(", "),
            run.note.clone(),
        ]);
    }
    let title = fill(t.all_runs, &[("count", &whole(grid.rows.len() as u64))]);
    let table = Block::Table(grid.without_empty_columns());
    DocumentPart::new(t.records, vec![Block::Fold(title, vec![table])])
}

/// What each step printed, so much of it as the page has room for; `None` without steps.
pub(super) fn outputs(s: &Sources<'_>) -> Option<DocumentPart> {
    let printed: Vec<&StudyStep> = s
        .many
        .steps
        .iter()
        .filter(|step| !step.output.trim().is_empty())
        .collect();
    let room = share(&printed);
    let folds = printed.iter().map(|step| {
        let took = step.took_s.map(|took| {
            let time = s.common.duration(took);
            fill(s.t.took, &[("time", &time)])
        });
        let state = state(s, step.state).to_string();
        let aside: Vec<String> = std::iter::once(state).chain(took).collect();
        let title = fill(
            s.t.parenthesised,
            &[
                ("text", &step_label(s, step)),
                ("aside", &aside.join(s.common.comma)),
            ],
        );
        Block::Fold(title, code(s, "text", &step.output, room))
    });
    let blocks: Vec<Block> = folds.collect();
    (!blocks.is_empty()).then(|| DocumentPart {
        // They would be most of the paper.
        screen_only: true,
        ..DocumentPart::new(s.t.outputs, blocks)
    })
}

/// What each output may have: short ones leave their room to long ones.
fn share(steps: &[&StudyStep]) -> usize {
    let mut lengths: Vec<usize> = steps.iter().map(|s| s.output.chars().count()).collect();
    lengths.sort_unstable();
    let (mut room, mut left) = (ALL_OUTPUTS, lengths.len());
    for length in lengths {
        if length > room / left.max(1) {
            break;
        }
        room -= length;
        left -= 1;
    }
    (room / left.max(1)).max(LEAST_OUTPUT)
}

/// The end of a text, which tells how it came out; and what is to be said of the rest.
fn code(s: &Sources<'_>, language: &'static str, text: &str, most: usize) -> Vec<Block> {
    let all = text.chars().count();
    let cut = all.saturating_sub(most);
    let kept: String = text.chars().skip(cut).collect();
    let kept = Block::Code(language, kept.trim_end().into());
    if cut == 0 {
        return vec![kept];
    }
    let values = [("cut", &*whole(cut as u64)), ("all", &*whole(all as u64))];
    vec![Block::Fine(fill(s.t.output_cut, &values)), kept]
}
