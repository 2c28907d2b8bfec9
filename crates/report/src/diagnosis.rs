//! What limits a run, in a document: the verdict, where its latency passes, findings with their evidence.

use crate::charts::{ChartFigure, Shade, Stack, StackChart};
use crate::document::{Block, DocumentPart, Grid, Role};
use crate::number::three;
use crate::texts::{Lang, diagnosis as texts, fill};
use tidemark_diagnosis::{self as diagnosis, Diagnosis, Finding, Part, PartKind, Split};

/// So many types have a bar of their own.
const MOST_TYPES: usize = 8;
/// Parts below this share of a mean are left out of a line of text.
const LEAST: f64 = 0.005;

impl From<Lang> for diagnosis::Lang {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => diagnosis::Lang::En,
            Lang::Zh => diagnosis::Lang::Zh,
        }
    }
}

/// It in a sentence.
pub(crate) fn verdict(limits: &Diagnosis, lang: Lang) -> Block {
    Block::Lead(limits.sentence.in_language(lang.into()).into())
}

/// For a page: with a picture.
pub(crate) fn page(limits: &Diagnosis, lang: Lang) -> DocumentPart {
    let figure = picture(limits, lang).map(|figure| Block::Figures(vec![figure]));
    let t = texts::of(lang);
    let skipped = (!limits.skipped.is_empty()).then(|| {
        let list = Block::List(skipped(limits, lang));
        Block::Fold(t.not_judged.into(), vec![list])
    });
    let blocks = figure
        .into_iter()
        .chain(findings(limits, lang))
        .chain(skipped);
    DocumentPart::new(t.title, blocks.collect()).role(Role::Results)
}

/// For a wiki: without one.
pub(crate) fn summary(limits: &Diagnosis, lang: Lang) -> DocumentPart {
    let mut blocks: Vec<Block> = lines(limits, lang).into_iter().map(Block::Say).collect();
    blocks.extend(findings(limits, lang));
    if !limits.skipped.is_empty() {
        blocks.push(Block::Heading(texts::of(lang).not_judged.into()));
        blocks.push(Block::List(skipped(limits, lang)));
    }
    DocumentPart::new(texts::of(lang).title, blocks).role(Role::Results)
}

/// For a terminal: a few lines.
pub(crate) fn brief(limits: &Diagnosis, lang: Lang) -> DocumentPart {
    let t = texts::of(lang);
    let mut said = lines(limits, lang);
    // The verdict itself stands under the headline.
    let is_verdict = |f: &Finding| f.cause == limits.verdict;
    let verdict = limits.findings.iter().find(|f| is_verdict(f));
    said.extend(verdict.map(|finding| how_to_prove(finding, lang)));
    let others = limits.findings.iter().filter(|f| !is_verdict(f));
    said.extend(others.map(|finding| line(finding, lang)));
    let skipped = limits.skipped.iter().map(|s| s.cause.title(lang.into()));
    let skipped: Vec<&str> = skipped.collect();
    if !skipped.is_empty() {
        let causes = skipped.join(t.comma);
        said.push(fill(t.not_judged_are, &[("causes", &causes)]));
    }
    DocumentPart::new(t.title, vec![Block::List(said)]).role(Role::Results)
}

/// Where the mean passes, a line for all transactions and one for each type.
fn lines(limits: &Diagnosis, lang: Lang) -> Vec<String> {
    let t = texts::of(lang);
    let of_split = |split: &Split| {
        let told = split.parts.iter().filter(|p| split.share(p.ms) >= LEAST);
        let parts: Vec<String> = told.map(|part| part_of(split, part, lang)).collect();
        let values = [
            ("of", split.of.as_deref().unwrap_or(t.all)),
            ("mean", &three(split.mean_ms)),
            ("parts", &parts.join(t.comma)),
        ];
        fill(t.passes, &values)
    };
    limits
        .parts
        .iter()
        .take(1 + MOST_TYPES)
        .map(of_split)
        .collect()
}

fn part_of(split: &Split, part: &Part, lang: Lang) -> String {
    let share = format!("{:.0}", split.share(part.ms) * 100.0);
    let values = [("part", part.title(lang.into())), ("share", &share)];
    fill(texts::of(lang).part, &values)
}

/// How sure a finding is that was told before, and what would prove it.
fn how_to_prove(finding: &Finding, lang: Lang) -> String {
    let values = [
        ("cause", finding.cause.title(lang.into())),
        ("confidence", finding.confidence.title(lang.into())),
        ("next", finding.next.in_language(lang.into())),
    ];
    fill(texts::of(lang).how_to_prove, &values)
}

/// A finding with how sure it is.
fn line(finding: &Finding, lang: Lang) -> String {
    let values = [
        ("cause", finding.cause.title(lang.into())),
        ("confidence", finding.confidence.title(lang.into())),
        ("says", finding.sentence.in_language(lang.into())),
    ];
    fill(texts::of(lang).finding, &values)
}

/// Each finding with what it excludes, the next experiment, and a table of the evidence.
fn findings(limits: &Diagnosis, lang: Lang) -> Vec<Block> {
    let t = texts::of(lang);
    let said = |finding: &Finding| {
        let mut said = vec![line(finding, lang)];
        let excluded = finding.excluded(lang.into());
        if !excluded.is_empty() {
            said.push(fill(t.excludes, &[("causes", &excluded)]));
        }
        let next = finding.next.in_language(lang.into());
        said.push(fill(t.next, &[("next", next)]));
        said.join(lang.texts().gap)
    };
    let list: Vec<String> = limits.findings.iter().map(said).collect();
    let mut grid = Grid::of(&[t.cause, t.metric], &[t.value]);
    grid.head.extend([t.unit.into(), t.time.into()]);
    grid.numbers.extend([false, false]);
    for finding in &limits.findings {
        for evidence in &finding.evidence {
            let (from, to) = (evidence.from_s, evidence.to_s);
            // A share is told as charts tell it.
            let (value, unit) = match evidence.share(lang.into()) {
                Some(share) => (share, String::new()),
                None => {
                    let unit = crate::texts::unit_in(&evidence.unit, lang);
                    (three(evidence.value), unit.into())
                }
            };
            grid.rows.push(vec![
                finding.cause.title(lang.into()).into(),
                evidence.called(lang.into()),
                value,
                unit,
                format!("{from:.0}–{to:.0} s"),
            ]);
        }
    }
    let mut blocks = Vec::new();
    blocks.extend((!list.is_empty()).then_some(Block::List(list)));
    blocks.extend((!grid.rows.is_empty()).then_some(Block::Table(grid)));
    blocks
}

fn skipped(limits: &Diagnosis, lang: Lang) -> Vec<String> {
    let colon = lang.texts().colon;
    let each = limits.skipped.iter().map(|skipped| {
        let (cause, needs) = (
            skipped.cause.title(lang.into()),
            skipped.needs.in_language(lang.into()),
        );
        format!("{cause}{colon}{needs}")
    });
    each.collect()
}

/// The bar of all transactions, and one of each type.
fn picture(limits: &Diagnosis, lang: Lang) -> Option<ChartFigure> {
    let t = texts::of(lang);
    let splits: Vec<&Split> = limits.parts.iter().take(1 + MOST_TYPES).collect();
    let mut key: Vec<(&'static str, Shade)> = Vec::new();
    let mut rows = Vec::new();
    let mut stacks = Vec::new();
    for split in &splits {
        let of = split.of.as_deref().unwrap_or(t.all);
        let mut parts = Vec::new();
        for part in &split.parts {
            let name = part.title(lang.into());
            let number = key.iter().position(|(known, _)| *known == name);
            let number = number.unwrap_or_else(|| {
                key.push((name, shade(part, &key)));
                key.len() - 1
            });
            parts.push((number, part.ms));
            let share = format!("{:.1}%", split.share(part.ms) * 100.0);
            rows.push(vec![of.into(), name.into(), three(part.ms), share]);
        }
        let label = fill(t.bar, &[("of", of), ("mean", &three(split.mean_ms))]);
        stacks.push(Stack { label, parts });
    }
    StackChart {
        title: t.where_it_passes.into(),
        says: lines(limits, lang).first().cloned().unwrap_or_default(),
        stacks,
        key: key
            .into_iter()
            .map(|(name, shade)| (name.into(), shade))
            .collect(),
        head: [t.of, t.where_, t.ms, t.share].map(String::from).to_vec(),
        rows,
    }
    .figure()
}

/// A colour for each kind; classes of waits are lighter one after the other.
pub(crate) fn shade(part: &Part, known: &[(&'static str, Shade)]) -> Shade {
    let waits = known
        .iter()
        .filter(|(_, s)| matches!(s, Shade::Of(2, _)))
        .count();
    match part.part {
        PartKind::WaitingForSession => Shade::Of(3, 1.0),
        PartKind::Client => Shade::Of(1, 1.0),
        PartKind::Paused => Shade::Of(3, 0.5),
        PartKind::Network => Shade::Of(5, 1.0),
        PartKind::ServerCpu => Shade::Of(0, 1.0),
        PartKind::ServerAndNetwork => Shade::Of(4, 1.0),
        PartKind::ServerWait => Shade::Of(2, [1.0, 0.75, 0.55, 0.4, 0.3][waits.min(4)]),
        PartKind::Unexplained => Shade::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::unit_in;
    use tidemark_diagnosis::{Cause, Confidence, Evidence, Words};

    #[test]
    fn units_are_words_of_the_language() {
        for unit in [
            "cores",
            "sessions",
            "requests",
            "tasks",
            "rows",
            "transactions",
        ] {
            assert_eq!(unit_in(unit, Lang::En), unit);
            assert!(!unit_in(unit, Lang::Zh).is_ascii(), "{unit}");
        }
        assert_eq!(unit_in("ms", Lang::Zh), "ms");
    }

    #[test]
    fn parts_of_one_picture_are_told_apart() {
        let kinds = [
            PartKind::WaitingForSession,
            PartKind::Client,
            PartKind::Paused,
            PartKind::Network,
            PartKind::ServerCpu,
            PartKind::ServerWait,
            PartKind::ServerAndNetwork,
            PartKind::Unexplained,
        ];
        let shades = kinds.map(|part| {
            let part = Part {
                part,
                class: None,
                ms: 1.0,
            };
            shade(&part, &[])
        });
        for (n, shade) in shades.iter().enumerate() {
            assert!(!shades[..n].contains(shade), "{:?}", kinds[n]);
        }
    }

    #[test]
    fn cpu_is_told_with_the_cores_that_there_are() {
        let evidence = Evidence {
            metric: "client-host cpu.busy".into(),
            value: 1.36,
            unit: "cores".into(),
            cores: Some(2.0),
            from_s: 0.0,
            to_s: 13.0,
        };
        let finding = Finding {
            cause: Cause::TooFewSessions,
            share: 0.3,
            confidence: Confidence::Medium,
            sentence: Words::default(),
            evidence: vec![evidence],
            excludes: Vec::new(),
            next: Words::default(),
        };
        let limits = Diagnosis {
            verdict: Cause::TooFewSessions,
            sentence: Words::default(),
            parts: Vec::new(),
            findings: vec![finding],
            skipped: Vec::new(),
            server_busy: None,
        };
        for (lang, said, called) in [
            (Lang::En, "1.36 of 2 cores (68.0%)", "Processors: busy"),
            (Lang::Zh, "1.36 核，共 2 核（68.0%）", "CPU 使用率"),
        ] {
            let blocks = findings(&limits, lang);
            let grids = blocks.iter().filter_map(|block| match block {
                Block::Table(grid) => Some(grid),
                _ => None,
            });
            let told: Vec<&str> = grids
                .flat_map(|grid| grid.rows.iter().flatten())
                .map(String::as_str)
                .collect();
            assert!(told.contains(&said), "{told:?}");
            assert!(!told.contains(&"cores"), "{told:?}");
            // By its readable name, whatever the record calls it.
            assert!(told.iter().any(|cell| cell.contains(called)), "{told:?}");
            assert!(
                !told.iter().any(|cell| cell.contains("cpu.busy")),
                "{told:?}"
            );
        }
    }
}
