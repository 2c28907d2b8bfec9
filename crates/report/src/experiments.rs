//! What experiments around a job showed: names and numbers of them, and their part of a document.

use crate::document::{Block, DocumentPart, Grid, Role};
use crate::number::three;
use crate::texts::{Lang, experiments as texts, fill};
use tidemark_analysis::experiments::{Class, Experiment};
use tidemark_core::record::{Experiments, MeasuredChange, SkippedChange};
use tidemark_diagnosis::Confidence;

/// What an experiment is called; replies come later by so many milliseconds.
pub fn experiment_name(experiment: Experiment, later_ms: f64, lang: Lang) -> String {
    let t = texts::of(lang);
    let name = match experiment {
        Experiment::Rtt => return fill(t.rtt, &[("ms", &three(later_ms))]),
        Experiment::SessionsTwice => t.sessions_twice,
        Experiment::SessionsHalf => t.sessions_half,
        Experiment::SecondClient => t.second_client,
        Experiment::DisjointKeys => t.disjoint_keys,
        Experiment::OnePercent => t.one_percent,
        Experiment::NoCommitWait => t.no_commit_wait,
        Experiment::Rollback => t.rollback,
        Experiment::Text => t.text_protocol,
        Experiment::ReadsOnly => t.reads_only,
        Experiment::WritesOnly => t.writes_only,
    };
    name.into()
}

/// A ratio of throughputs as percent more or less, with its sign: `+61`, `−3`, `0`.
pub fn percent_change(ratio: f64) -> String {
    let percent = ((ratio - 1.0) * 100.0).round().max(-100.0);
    match percent {
        // Nothing is told of intervals of two pairs beyond their being wide.
        wide if wide >= 100_000.0 => "∞".into(),
        0.0 => "0".into(),
        more if more > 0.0 => format!("+{more}"),
        less => format!("−{}", -less),
    }
}

/// By the id that a record has; one of a newer version is told by its id.
fn name(id: &str, later_ms: f64, lang: Lang) -> String {
    let mut all = Experiment::ALL.into_iter();
    let known = all.find(|experiment| experiment.id() == id);
    known.map_or_else(|| id.into(), |known| experiment_name(known, later_ms, lang))
}

/// The verdict in a sentence.
fn sentence(found: &Experiments, lang: Lang) -> &str {
    match lang {
        Lang::En => &found.sentence,
        Lang::Zh => &found.sentence_zh,
    }
}

fn reason(skipped: &SkippedChange, lang: Lang) -> &str {
    match lang {
        Lang::En => &skipped.reason,
        Lang::Zh => &skipped.reason_zh,
    }
}

/// It with how sure it is, where something is proven; the words are those that records have.
pub fn sentence_and_confidence(
    sentence: &str,
    confidence: &str,
    verdict: &str,
    lang: Lang,
) -> String {
    let known = match confidence {
        "high" => Some(Confidence::High),
        "medium" => Some(Confidence::Medium),
        "low" => Some(Confidence::Low),
        _ => None,
    };
    match known.filter(|_| verdict != Class::None.cause()) {
        Some(known) => {
            let values = [
                ("sentence", sentence),
                ("confidence", known.title(lang.into())),
            ];
            fill(texts::of(lang).with_confidence, &values)
        }
        None => sentence.into(),
    }
}

/// The verdict with how sure it is.
pub(crate) fn proven(found: &Experiments, lang: Lang) -> String {
    let sentence = sentence(found, lang);
    sentence_and_confidence(sentence, &found.confidence, &found.verdict, lang)
}

/// The part of one run's document.
pub(crate) fn part(found: &Experiments, lang: Lang) -> DocumentPart {
    let says = Block::Say(proven(found, lang));
    let all = [(String::new(), found)];
    let blocks = std::iter::once(says).chain(blocks(&all, lang));
    DocumentPart::new(texts::of(lang).title, blocks.collect()).role(Role::Results)
}

/// A table of all changes, of runs by what they are called, and below it what was not made.
pub(crate) fn blocks(all: &[(String, &Experiments)], lang: Lang) -> Vec<Block> {
    let t = texts::of(lang);
    let has_labels = all.iter().any(|(label, _)| !label.is_empty());
    let first = if has_labels { t.run } else { t.experiment };
    let second = has_labels.then_some(t.experiment);
    let heads: Vec<&str> = std::iter::once(first).chain(second).collect();
    let mut grid = Grid::of(&heads, &[t.throughput, t.interval, t.pairs]);
    for (label, found) in all {
        let row = |change: &MeasuredChange| {
            let high = change.high.map_or("∞".into(), percent_change);
            let mut row: Vec<String> = has_labels.then(|| label.clone()).into_iter().collect();
            row.extend([
                name(&change.experiment, found.later_ms, lang),
                format!("{} %", percent_change(change.ratio)),
                format!("{}…{high}", percent_change(change.low)),
                change.pairs.to_string(),
            ]);
            row
        };
        grid.rows.extend(found.measured.iter().map(row));
    }
    let mut blocks = Vec::new();
    if !grid.rows.is_empty() {
        blocks.push(Block::Table(grid));
    }
    for (label, found) in all {
        let skipped = found.skipped.iter();
        let skipped: Vec<String> = skipped
            .map(|skipped| {
                let values = [
                    (
                        "experiment",
                        &*name(&skipped.experiment, found.later_ms, lang),
                    ),
                    ("reason", reason(skipped, lang)),
                ];
                fill(t.skipped, &values)
            })
            .collect();
        let values = [
            ("sessions", &*found.sessions.to_string()),
            ("rate", &*three(found.transactions_per_s)),
            ("id", &*found.id),
        ];
        let baseline = fill(t.baseline, &values);
        let said = match skipped.is_empty() {
            true => baseline,
            // It ends with a command, after which no full stop stands.
            false => {
                let skipped = skipped.join(t.semicolon);
                let not_made = fill(t.not_made, &[("experiments", &skipped)]);
                not_made + lang.texts().gap + &baseline
            }
        };
        blocks.push(Block::Fine(match label.is_empty() {
            true => said,
            false => format!("{label}{}{said}", lang.texts().colon),
        }));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_percent_with_their_sign() {
        for (ratio, said) in [
            (1.02, "+2"),
            (0.97, "−3"),
            (1.0, "0"),
            (0.0, "−100"),
            (1e4, "∞"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(percent_change(ratio), said);
        }
        assert_eq!(name("sessions-x2", 0.0, Lang::En), "sessions ×2");
        assert_eq!(
            name(Experiment::Rtt.id(), 1.5, Lang::En),
            "replies 1.50 ms later"
        );
        assert_eq!(
            name("from-a-newer-version", 0.0, Lang::En),
            "from-a-newer-version"
        );
    }
}
