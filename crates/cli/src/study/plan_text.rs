//! A plan, as people read it.

use super::diagnosing::LOADS;
use crate::columns::{left, widest};
use crate::texts::study as texts;
use std::collections::BTreeMap;
use tidemark_core::{redact_url, shell_line};
use tidemark_report::Lang;
use tidemark_study::{
    JobKind, PlannedStep, Reload, RunOrder, Study, StudyPlan, StudyWorkload, time_text,
};

/// The matrix, the steps with their commands (passwords as `***`), and the expected time.
pub fn plan_text(study: &Study, plan: &StudyPlan, lang: Lang) -> String {
    let title = texts::plan_title(lang, format_args!("{:?}", study.name));
    let mut out = format!("{title}\n\n");
    matrix(&mut out, study, plan, lang);
    out += &format!("\n{}\n", texts::steps(lang));
    let width = plan.steps.len().to_string().len();
    for (number, step) in plan.steps.iter().enumerate() {
        tell(&mut out, number + 1, width, step, lang);
    }
    let loads = plan.steps.len() - plan.runs();
    let time = time_text(plan.expected());
    let sum = texts::plan_sum(lang, plan.runs(), plan.cells, loads, time);
    out + &format!("\n{sum}\n")
}

fn matrix(out: &mut String, study: &Study, plan: &StudyPlan, lang: Lang) {
    let mut rows: Vec<(String, String)> = Vec::new();
    for place in &plan.places {
        rows.push((
            texts::target(lang).into(),
            format!("{}  {}", place.name, redact_url(&place.url)),
        ));
    }
    let labels: Vec<&str> = study.workloads.iter().map(|w| w.label.as_str()).collect();
    rows.push((texts::workloads(lang).into(), labels.join(", ")));
    for factor in &study.factors {
        let values: Vec<&str> = factor.values.iter().map(|v| v.label.as_str()).collect();
        let only = match factor.workloads.as_slice() {
            [] => String::new(),
            only => texts::only(lang, only.join(", ")),
        };
        rows.push((factor.name.clone(), values.join(", ") + &only));
    }
    // Load levels as they come in cells: workloads may have their own.
    let mut levels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in &plan.steps {
        for word in LOADS {
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
                texts::default_threads(lang)
            }
            _ => "",
        };
        rows.push((word.into(), values.join(", ") + said));
    }
    rows.push((
        texts::each_run(lang).into(),
        texts::times(lang, time_text(study.warmup), time_text(study.time)),
    ));
    let order = match study.order {
        RunOrder::Given => texts::order_given(lang).to_string(),
        RunOrder::Shuffled => texts::order_shuffled(lang, study.seed),
    };
    rows.push((
        texts::repeats(lang).into(),
        texts::repeats_in_order(lang, study.repeats, order),
    ));
    let reload = match study.reload {
        Reload::Never => texts::loaded_once(lang),
        Reload::PerWorkload => texts::loaded_per_workload(lang),
        Reload::PerRun => texts::loaded_per_run(lang),
    };
    rows.push((texts::data_loaded(lang).into(), reload.into()));
    let width = widest(rows.iter().map(|(name, _)| name.as_str()));
    for (name, said) in rows {
        *out += &format!("  {}  {said}\n", left(&name, width));
    }
}

fn tell(out: &mut String, number: usize, width: usize, step: &PlannedStep, lang: Lang) {
    let indent = " ".repeat(width + 4);
    let (kind, repeat) = match step.kind {
        JobKind::Load => (texts::kind_load(lang), String::new()),
        JobKind::Run => (texts::kind_run(lang), texts::step_repeat(lang, step.repeat)),
    };
    *out += &format!(
        "  {number:width$}  {kind}  {}{repeat}  ({})\n{indent}{}\n",
        step.cell,
        time_text(step.expected),
        shell_line(&step.words)
    );
    for (name, value) in &step.global {
        let with = texts::with_setting(lang, name, value);
        *out += &format!("{indent}{with}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::file;

    fn shown(load: &str) -> String {
        let text = format!(
            "name = \"a\"\n{load}[[target]]\nname = \"t\"\nurl = \"mysql://u:geheim@h/db\"\n\
             [[workload]]\nname = \"oltp_read_only\"\n"
        );
        let read = file::understand(text, "a.toml").unwrap();
        plan_text(&read.study, &read.plan, Lang::En)
    }

    #[test]
    fn a_plan_shows_no_password() {
        let shown = shown("");
        assert!(!shown.contains("geheim"), "{shown}");
        assert!(shown.contains("--target=mysql://u:***@h/db"), "{shown}");
        assert!(
            shown.contains("1 run in 1 cell, 1 load; expected time: about"),
            "{shown}"
        );
    }

    #[test]
    fn a_plan_says_by_what_it_loads_when_the_file_does_not() {
        let said = "threads      1 (1 is the default without [load])\n";
        assert!(shown("").contains(said));
        let shown = shown("[load]\nthreads = 1\n");
        assert!(
            shown.contains("\n  threads      1") && !shown.contains(said),
            "{shown}"
        );
    }
}
