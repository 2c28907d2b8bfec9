//! A plan, told.

use crate::file::{Reload, RunOrder, Study, StudyWorkload};
use crate::plan::{Plan, PlannedStep};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;
use tidemark_core::{JobKind, counted, redact_url, shell_line};

/// The matrix, the steps with their commands (passwords as `***`), and the expected time.
pub fn plan_text(study: &Study, plan: &Plan) -> String {
    let mut out = format!("Study {:?}\n\n", study.name);
    matrix(&mut out, study, plan);
    out.push_str("\nSteps:\n");
    let width = plan.steps.len().to_string().len();
    for (number, step) in plan.steps.iter().enumerate() {
        tell(&mut out, number + 1, width, step);
    }
    let loads = plan.steps.len() - plan.runs();
    // Writing to a text can't fail.
    let _ = writeln!(
        out,
        "\n{} in {}, {}; expected time: about {}",
        counted(plan.runs() as u64, "run", "runs"),
        counted(plan.cells as u64, "cell", "cells"),
        counted(loads as u64, "load", "loads"),
        time_text(plan.expected())
    );
    out.push_str("(loading times are estimates; nothing was changed)\n");
    out
}

fn matrix(out: &mut String, study: &Study, plan: &Plan) {
    let mut rows: Vec<(String, String)> = Vec::new();
    for place in &plan.places {
        rows.push((
            "target".into(),
            format!("{}  {}", place.name, redact_url(&place.url)),
        ));
    }
    let labels: Vec<&str> = study.workloads.iter().map(|w| w.label.as_str()).collect();
    rows.push(("workloads".into(), labels.join(", ")));
    for factor in &study.factors {
        let values: Vec<&str> = factor.values.iter().map(|v| v.label.as_str()).collect();
        let only = match factor.workloads.as_slice() {
            [] => String::new(),
            only => format!(" (only {})", only.join(", ")),
        };
        rows.push((factor.name.clone(), values.join(", ") + &only));
    }
    // Load levels as they come in cells: workloads may have their own.
    let mut levels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in &plan.steps {
        for word in ["threads", "terminals", "rate", "connections"] {
            if let Some(value) = step.factors.get(word) {
                let seen = levels.entry(word).or_default();
                if !seen.contains(&value.as_str()) {
                    seen.push(value);
                }
            }
        }
    }
    for (word, mut values) in levels {
        values.sort_by(|a, b| {
            let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
            number(a).total_cmp(&number(b))
        });
        let own = |w: &StudyWorkload| w.load.is_some();
        let said = match word {
            "threads" if !study.load.given && !study.workloads.iter().all(own) => {
                " (1 is the default without [load])"
            }
            _ => "",
        };
        rows.push((word.into(), values.join(", ") + said));
    }
    rows.push((
        "each run".into(),
        format!(
            "{} of warm-up, {} measured",
            time_text(study.warmup),
            time_text(study.time)
        ),
    ));
    let order = match study.order {
        RunOrder::Given => "in the order given".to_string(),
        RunOrder::Shuffled => format!("shuffled by seed {}", study.seed),
    };
    rows.push(("repeats".into(), format!("{}, {order}", study.repeats)));
    let reload = match study.reload {
        Reload::Never => "once",
        Reload::PerWorkload => "before each workload",
        Reload::PerRun => "before each run",
    };
    rows.push(("data loaded".into(), reload.into()));
    let width = rows.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    for (name, said) in rows {
        let _ = writeln!(out, "  {name:width$}  {said}");
    }
}

fn tell(out: &mut String, number: usize, width: usize, step: &PlannedStep) {
    let indent = " ".repeat(width + 4);
    let repeat = match step.kind {
        JobKind::Load => String::new(),
        JobKind::Run => format!("  repeat {}", step.repeat),
    };
    let _ = writeln!(
        out,
        "  {number:width$}  {}  {}{repeat}  ({})",
        step.kind.word(),
        step.cell,
        time_text(step.expected)
    );
    let _ = writeln!(out, "{indent}{}", shell_line(&step.words));
    for (name, value) in &step.global {
        let _ = writeln!(
            out,
            "{indent}with the server's {name} = {value}, restored afterwards"
        );
    }
}

/// A time for people: `45 s`, `12 min`, `3 h 20 min`.
pub fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 10.0 && s.fract() > 0.05 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => {
            let minutes = (s / 60.0).round();
            format!(
                "{:.0} h {:.0} min",
                (minutes / 60.0).floor(),
                minutes % 60.0
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        for (seconds, said) in [
            (0.0, "0 s"),
            (1.5, "1.5 s"),
            (60.0, "60 s"),
            (720.0, "12 min"),
            (12_000.0, "3 h 20 min"),
        ] {
            assert_eq!(time_text(Duration::from_secs_f64(seconds)), said);
        }
    }
}
