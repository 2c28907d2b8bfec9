//! How a run that came to its end ends.

use crate::exit::{ExitCode, Failure};
use tidemark_core::record::{AnswerVerdict, QueryOutcome, QueryRun, RunRecord};

/// Success, if every query was answered and no answer is wrong; with `check`, if each was compared.
///
/// # Errors
/// What is missing or wrong.
pub(super) fn verdict(record: &RunRecord, check: bool) -> Result<ExitCode, Failure> {
    let queries = &record.queries;
    let wrong = queries.iter().find_map(|q| match &q.answer {
        AnswerVerdict::Wrong(difference) => Some((q, difference)),
        _ => None,
    });
    if let Some((query, difference)) = wrong {
        return Err(Failure::new(
            ExitCode::Check,
            format!("{} returned a wrong answer: {difference}", query.name),
        ));
    }
    let not_done = queries.iter().filter(|q| q.outcome != QueryOutcome::Done);
    let names: Vec<&str> = not_done.map(|q| q.name.as_str()).collect();
    if names.is_empty() {
        return match unchecked(queries) {
            Some(said) if check => Err(Failure::new(ExitCode::Check, said)),
            _ => Ok(ExitCode::Success),
        };
    }
    Err(Failure::new(
        ExitCode::Failed,
        format!(
            "{} of {} queries have no result: {}; see above",
            names.len(),
            queries.len(),
            names.join(", ")
        ),
    ))
}

/// What is said of answers that were not compared.
fn unchecked(queries: &[QueryRun]) -> Option<String> {
    let left = |q: &&QueryRun| q.name.starts_with('Q') && q.answer == AnswerVerdict::Unchecked;
    let names: Vec<&str> = queries.iter().filter(left).map(|q| &*q.name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "--check: {} of {} queries have no reference answer and were not checked: {}",
            names.len(),
            queries.len(),
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_left_an_answer_unchecked_is_no_success() {
        let query = |name: &str, answer| QueryRun {
            name: name.into(),
            answer,
            ..QueryRun::default()
        };
        let mut record = RunRecord {
            queries: vec![query("Q1", AnswerVerdict::Right)],
            ..RunRecord::default()
        };
        assert_eq!(verdict(&record, true), Ok(ExitCode::Success));
        record.queries.push(query("Q2", AnswerVerdict::Unchecked));
        let failure = verdict(&record, true).unwrap_err();
        assert_eq!(failure.code, ExitCode::Check);
        assert!(failure.message.contains("1 of 2 queries"), "{failure}");
        assert!(failure.message.ends_with(": Q2"), "{failure}");
        assert_eq!(verdict(&record, false), Ok(ExitCode::Success));
    }
}
