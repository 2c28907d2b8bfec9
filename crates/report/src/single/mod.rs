//! The document of one run: the result first, then what it was measured on and how to repeat it.

mod tables;

use crate::charts::{self, ChartFigure, Timeline};
use crate::clients;
use crate::command_line::{words_of, wrapped};
use crate::diagnosis;
use crate::digest::Digest;
use crate::document::{Block, Document, DocumentPart, Illustrated, Judged, Role, TextPiece, Width};
use crate::experiments;
use crate::findings::said;
use crate::many::figure_of_run;
use crate::observed;
use crate::section::WorkloadSection;
use crate::series::{self, Side};
use crate::texts::{Lang, Texts, fill};
use crate::topology;
use crate::words::{Words, readable_time};
use crate::{Authored, ReportError, RunDigest};
use tidemark_core::record::RunRecord;
use tidemark_diagnosis::{Diagnosis, can_diagnose, diagnose};

/// How much of a run its document tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Everything, with charts: a page.
    All,
    /// What one looks up, without charts: for issue trackers and wikis.
    Summary,
    /// The same with charts, as files beside it.
    Illustrated,
    /// What one reads at once: for terminals.
    Brief,
}

impl Detail {
    fn has_charts(self) -> bool {
        matches!(self, Detail::All | Detail::Illustrated)
    }
}

/// One run as one self-contained HTML page: no network, light and dark, readable when printed, in
/// colours and without, and with or without scripts. Everything in it that came from outside is
/// escaped.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn html(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    document(record, lang, Detail::All)?.html()
}

/// One run as Markdown, for issue trackers and wikis, with tables as GitHub's Markdown has them. What
/// came from outside is escaped: it can make no heading, link, image or HTML.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn markdown(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    Ok(document(record, lang, Detail::Summary)?.markdown())
}

/// One run as plain text, for terminals and files: a summary in a few dozen lines. Control characters
/// from outside are left out, so that printing it can't change a terminal.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn text(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    Ok(document(record, lang, Detail::Brief)?.text())
}

/// As [`html`], with what the report's author writes.
///
/// # Errors
/// As [`html`], and [`ReportError::Authored`] for a reference to a figure that there is not.
pub fn html_with(
    record: &RunRecord,
    lang: Lang,
    authored: &Authored,
) -> Result<String, ReportError> {
    with(record, lang, Detail::All, authored)?.html()
}

/// As [`markdown`], with what the report's author writes, which is not escaped.
///
/// # Errors
/// As [`html_with`].
pub fn markdown_with(
    record: &RunRecord,
    lang: Lang,
    authored: &Authored,
) -> Result<String, ReportError> {
    Ok(with(record, lang, Detail::Summary, authored)?.markdown())
}

/// As [`markdown_with`], with links to its charts in this folder beside the document.
///
/// # Errors
/// As [`html_with`].
pub fn markdown_illustrated(
    record: &RunRecord,
    lang: Lang,
    authored: &Authored,
    folder: &str,
) -> Result<Illustrated, ReportError> {
    with(record, lang, Detail::Illustrated, authored)?.illustrated(folder)
}

fn with(
    record: &RunRecord,
    lang: Lang,
    detail: Detail,
    authored: &Authored,
) -> Result<Document, ReportError> {
    let document = document(record, lang, detail)?;
    if authored.is_empty() {
        return Ok(document);
    }
    let run = RunDigest::of(record)?;
    Ok(document.with(authored, &|reference| figure_of_run(&run, lang, reference))?)
}

fn document(record: &RunRecord, lang: Lang, detail: Detail) -> Result<Document, ReportError> {
    let digest = Digest::of(record)?;
    let w = Words {
        d: &digest,
        t: lang.texts_of(record.rate_unit()),
    };
    let limits = can_diagnose(record).then(|| diagnose(record));
    let when = match detail {
        Detail::All => {
            let started = match record.is_derived("started_at") {
                true => w.t.not_stated.into(),
                false => readable_time(&record.started_at),
            };
            format!("{started} · {}", record.id)
        }
        Detail::Summary | Detail::Illustrated | Detail::Brief => String::new(),
    };
    Ok(Document {
        lang,
        title: w.title(),
        when,
        opening: opening(&w, lang, limits.as_ref(), detail),
        parts: parts(&w, lang, limits.as_ref(), detail)?,
        contents: None,
        made_by: w.made_by(),
    })
}

fn opening(w: &Words<'_>, lang: Lang, limits: Option<&Diagnosis>, detail: Detail) -> Vec<Block> {
    let headline = [Block::Headline(pieces(w))];
    let verdict = limits.map(|limits| diagnosis::verdict(limits, lang));
    let headline = headline.into_iter().chain(verdict);
    let warnings = w.warnings().into_iter().map(Block::Warning);
    let mut blocks: Vec<Block> = match detail {
        // On a page they can't be overlooked there.
        Detail::All => warnings.chain(headline).collect(),
        Detail::Summary | Detail::Illustrated | Detail::Brief => headline.chain(warnings).collect(),
    };
    blocks.push(Block::Sentences(w.how_sentences()));
    let figures = w.key_figures();
    if !figures.is_empty() {
        blocks.push(Block::Tiles(figures));
        let kind = w.latency_kind();
        blocks.extend((!kind.is_empty()).then_some(Block::Fine(kind)));
    }
    blocks
}

fn parts(
    w: &Words<'_>,
    lang: Lang,
    limits: Option<&Diagnosis>,
    detail: Detail,
) -> Result<Vec<DocumentPart>, ReportError> {
    let (t, record) = (w.t, w.d.record);
    let page = detail == Detail::All;
    let mut parts = Vec::new();
    let found = said(record, lang)?.into_iter().map(|said| Judged {
        said,
        runs: String::new(),
    });
    let found: Vec<Judged> = found.collect();
    parts.extend(part_of(t.findings, found, Block::Findings));
    parts.extend(limits.map(|limits| match detail {
        Detail::All | Detail::Illustrated => diagnosis::page(limits, lang),
        Detail::Summary => diagnosis::summary(limits, lang),
        Detail::Brief => diagnosis::brief(limits, lang),
    }));
    let made = record.experiments.as_ref();
    parts.extend(made.map(|made| experiments::part(made, lang)));
    let watched = watched_parts(w, lang, limits, detail)?;
    if w.is_watch() {
        parts.extend(watched);
    } else {
        let of_load = load_parts(w, lang, detail.has_charts())?;
        parts.extend(of_load.charts);
        // On a page their charts stand below those of throughput and latency.
        match page {
            true => parts.extend(watched.into_iter().chain(of_load.others)),
            false => parts.extend(of_load.others.into_iter().chain(watched)),
        }
    }
    parts.extend(observed::statements_part(
        record,
        lang,
        detail == Detail::Brief,
    ));
    parts.extend(observed::unseen_part(record, lang));
    if page && !w.is_watch() {
        parts.push(tables::statements(w));
    }
    parts.extend(tables::errors(w));
    let mut target = w.target_facts();
    target.extend(observed::target_facts(record, lang));
    for (head, facts) in [
        (w.run_head(), w.run_facts()),
        (t.target, target),
        (t.client, w.client_facts()),
    ] {
        if facts.is_empty() {
            continue;
        }
        let part = DocumentPart::new(head, vec![Block::Facts(facts)]);
        parts.push(part.width(Width::Third).role(Role::Environment));
    }
    if detail != Detail::Brief {
        let cluster = record.topology.as_ref();
        parts.extend(cluster.map(|of| topology::part(of, lang, detail.has_charts())));
        parts.extend(tables::settings(w, page));
        parts.extend(tables::options(w, page));
    }
    parts.extend(match detail {
        Detail::Brief => tables::wrong_tables(w),
        Detail::All | Detail::Summary | Detail::Illustrated => tables::tables(w),
    });
    parts.extend(part_of(t.not_understood, w.not_understood(), Block::List));
    parts.extend(part_of(t.notes, observed::other_notes(record), Block::List));
    if !record.command.is_empty() {
        let command = words_of(&record.command, record.imported.is_some());
        let mut blocks = vec![Block::Code("sh", wrapped(&command))];
        blocks.extend(page.then(|| Block::Fine(t.repeat_says.into())));
        parts.push(DocumentPart::new(t.repeat, blocks));
    }
    if page && !w.is_watch() {
        parts.push(DocumentPart::new(
            "",
            vec![Block::Fold(t.words.into(), vec![Block::List(words(t))])],
        ));
    }
    Ok(parts)
}

/// What was watched, the client's host first.
fn watched_parts(
    w: &Words<'_>,
    lang: Lang,
    limits: Option<&Diagnosis>,
    detail: Detail,
) -> Result<Vec<DocumentPart>, ReportError> {
    let (t, record) = (w.t, w.d.record);
    let time = Timeline::of(w.d);
    let mut parts = Vec::new();
    for side in Side::ALL {
        let Some(table) = series::table(record, side, lang, detail == Detail::Brief) else {
            continue;
        };
        let mut watched = DocumentPart::from(table);
        if detail == Detail::All {
            let panels = series::panels(&time, record, side, limits, lang)?;
            if !panels.is_empty() {
                let axis = fill(t.strips_say, &[("axis", time.axis_name(t))]);
                let mut says = vec![axis];
                says.extend(time.says(t).into_iter().map(String::from));
                watched.blocks.insert(0, Block::Panels(panels));
                watched.blocks.insert(0, Block::OfPanels(says.join(t.gap)));
            }
        }
        parts.push(watched);
    }
    Ok(parts)
}

/// What there is to say of a load: a watch has none.
struct LoadParts {
    /// Its results, and charts of them.
    charts: Vec<DocumentPart>,
    others: Vec<DocumentPart>,
}

fn load_parts(w: &Words<'_>, lang: Lang, has_charts: bool) -> Result<LoadParts, ReportError> {
    let t = w.t;
    let mut charts: Vec<DocumentPart> = Vec::new();
    charts.extend(WorkloadSection::of(w.d, lang).map(DocumentPart::from));
    if has_charts {
        let figures = figures(w.d, t)?;
        let block = match figures.is_empty() {
            true => Block::Fine(t.no_chart.into()),
            false => Block::Figures(figures),
        };
        charts.push(DocumentPart::new("", vec![block]).role(Role::Results));
    }
    let mut parts: Vec<DocumentPart> = Vec::new();
    parts.extend(tables::types(w));
    parts.extend(part_of(t.load, w.load_facts(), Block::Facts));
    parts.extend(w.load_tables().into_iter().map(DocumentPart::from));
    let clients = clients::table(w.d.record, t)?;
    parts.extend((!clients.rows.is_empty()).then(|| DocumentPart::from(clients)));
    parts.extend(observed::costs_part(w.d.record, lang));
    Ok(LoadParts {
        charts,
        others: parts,
    })
}

/// Nothing where there is nothing to tell.
fn part_of<T>(title: &str, items: Vec<T>, block: fn(Vec<T>) -> Block) -> Option<DocumentPart> {
    (!items.is_empty()).then(|| DocumentPart::new(title, vec![block(items)]))
}

/// What the words mean that every report has.
pub(crate) fn words(t: &Texts) -> Vec<String> {
    let words = [
        (t.word_transaction, t.word_transaction_says),
        (t.word_session, t.word_session_says),
        (t.word_percentile, t.word_percentile_says),
        (t.word_closed, t.word_closed_says),
        (t.word_open, t.word_open_says),
    ];
    words
        .map(|(word, says)| format!("{word}{}{says}", t.colon))
        .to_vec()
}

fn pieces(w: &Words<'_>) -> Vec<TextPiece> {
    let (template, values) = w.headline_parts();
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(n, _)| *n == name);
        pieces.push(TextPiece {
            text: before.into(),
            is_value: false,
        });
        pieces.push(TextPiece {
            text: value.map(|(_, v)| v.clone()).unwrap_or_default(),
            is_value: true,
        });
        rest = after;
    }
    pieces.push(TextPiece {
        text: rest.into(),
        is_value: false,
    });
    pieces
}

fn figures(d: &Digest<'_>, t: &'static Texts) -> Result<Vec<ChartFigure>, ReportError> {
    let mut figures = Vec::new();
    // Of queries that were asked once each there is no throughput over time.
    let flows = d.record.queries.is_empty();
    if !d.points.is_empty() {
        if flows {
            figures.push(charts::throughput(d, t)?);
        }
        figures.push(charts::latency(d, t)?);
    }
    figures.extend(charts::by_rate(d, t)?);
    figures.extend(charts::distribution(d, t)?);
    figures.extend(charts::curve(d, t)?);
    if !d.points.is_empty() {
        if flows && d.types.len() > 1 {
            figures.push(charts::throughput_by_type(d, t)?);
        }
        if d.kind.is_open_loop() {
            figures.push(charts::queue(d, t)?);
        }
        if d.totals.ignored_errors > 0 || d.totals.reconnects > 0 {
            figures.push(charts::errors(d, t)?);
        }
    }
    Ok(figures)
}
