//! `compare`: two runs, or two groups of them, beside each other.

use crate::exit::{ExitCode, Failure};
use crate::runs::{open, record_of};
use crate::texts::compare as texts;
use crate::{args, run_selection};
use tidemark_analysis::compare::RegressionLimit;
use tidemark_analysis::{AnalysisError, Comparison, compare};
use tidemark_core::record::RunRecord;
use tidemark_diagnosis::{Changes, Diagnosis, can_diagnose, diagnose};
use tidemark_report::{
    Lang, comparison_json, comparison_markdown, comparison_text, judgement_lines,
};

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        let code = match error {
            AnalysisError::NothingMeasured { .. }
            | AnalysisError::Failed { .. }
            | AnalysisError::Watch { .. } => ExitCode::Usage,
            AnalysisError::Histogram { .. } => ExitCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

/// Prints the comparison; ends with [`ExitCode::Check`] when a limit of `--fail-if` is broken.
pub fn compare_runs(words: &args::Compare) -> Result<ExitCode, Failure> {
    let mut limits = Vec::new();
    for text in &words.fail_if {
        let limit: RegressionLimit = text
            .parse()
            .map_err(|e| Failure::usage(format!("--fail-if: {e}")))?;
        limits.push(limit);
    }
    let (a, b) = (group(words, &words.a)?, group(words, &words.b)?);
    let same = a.iter().find(|r| b.iter().any(|other| other.id == r.id));
    if let Some(same) = same {
        return Err(Failure::usage(format!(
            "run {} is on both sides; for example: tidemark compare OLD,OLD2 NEW,NEW2",
            same.id
        )));
    }
    let comparison = compare(&a, &b)?;
    let diagnoses = (diagnosed(&a, &comparison.a), diagnosed(&b, &comparison.b));
    let bottleneck = Changes::between(&by_ref(&diagnoses.0), &by_ref(&diagnoses.1));
    // The text says so itself; a file that programs read may be looked at by nobody.
    if words.format != "text" {
        tell_unusable(&comparison, words.lang);
    }
    let judged: Vec<(RegressionLimit, bool)> = limits
        .into_iter()
        .map(|limit| (limit, limit.is_broken_by(&comparison)))
        .collect();
    let lang = words.lang;
    crate::stdio::print(&match words.format.as_str() {
        "md" => comparison_markdown(&comparison, &bottleneck, &judged, lang),
        "json" => comparison_json(&comparison, &bottleneck)?,
        _ => comparison_text(&comparison, &bottleneck, &judged, lang),
    });
    // JSON has figures alone: why it ends with that code is said beside it.
    if words.format == "json" {
        for line in judgement_lines(&comparison, &judged, lang) {
            eprintln!("tidemark: {line}");
        }
    }
    Ok(if judged.iter().any(|(_, broken)| *broken) {
        ExitCode::Check
    } else {
        ExitCode::Success
    })
}

/// Diagnoses of the runs that the figures are of.
fn diagnosed(runs: &[RunRecord], figured: &[String]) -> Vec<Diagnosis> {
    let figured = runs.iter().filter(|run| figured.contains(&run.id));
    figured
        .filter(|run| can_diagnose(run))
        .map(diagnose)
        .collect()
}

fn by_ref(of: &[Diagnosis]) -> Vec<&Diagnosis> {
    of.iter().collect()
}

/// Says which runs must not be used, and whether they are in the figures.
fn tell_unusable(comparison: &Comparison, lang: Lang) {
    for run in &comparison.unusable {
        let rules = run.rules.join(", ");
        let said = match run.left_out {
            true => texts::excluded(lang, &run.run, rules),
            false => texts::only_one(lang, &run.run, rules),
        };
        eprintln!("tidemark: {said}");
    }
}

/// The runs of a comma list, in the order of time.
fn group(words: &args::Compare, list: &str) -> Result<Vec<RunRecord>, Failure> {
    let names = list.split(',').map(str::trim).filter(|n| !n.is_empty());
    let mut records: Vec<RunRecord> = Vec::new();
    for name in names {
        for record in records_of(words, name)? {
            if records.iter().any(|r| r.id == record.id) {
                return Err(Failure::usage(format!(
                    "{list:?}: run {} is listed twice; list each run once",
                    record.id
                )));
            }
            records.push(record);
        }
    }
    if records.is_empty() {
        return Err(Failure::usage(format!(
            "{list:?}: no run given; use an id or its beginning or end, last, a record file, \
             tag:NAME, study:ID, or several separated by commas; for example: tidemark compare \
             660a last"
        )));
    }
    // Ids sort by the start of a run.
    records.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(records)
}

/// The runs of one name: of a group those with a result.
fn records_of(words: &args::Compare, name: &str) -> Result<Vec<RunRecord>, Failure> {
    if !["tag:", "study:"].iter().any(|p| name.starts_with(p)) {
        return Ok(vec![record_of(&words.store, name)?]);
    }
    let store = open(&words.store)?;
    let runs = run_selection::group(&store, name)?.unwrap_or_default();
    let ids = run_selection::comparable(runs, name);
    if ids.is_empty() {
        return Err(Failure::usage(format!("{name}: it has no finished run")));
    }
    ids.iter().map(|id| Ok(store.get(id)?)).collect()
}
