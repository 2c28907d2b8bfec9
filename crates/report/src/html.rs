//! One run as one self-contained HTML page.

use crate::by_hand::{self, OneRun};
use crate::charts::{self, Figure};
use crate::digest::Digest;
use crate::findings::{Said, said};
use crate::load_words::Table;
use crate::many::Panel;
use crate::merge::per_second;
use crate::number::{percent, three, whole};
use crate::section::Section;
use crate::texts::{Lang, Texts, fill};
use crate::words::{Words, readable_time, rows_differ};
use crate::{ReportError, TypeLatency, series};
use askama::Template;
use tidemark_analysis::telling_settings;
use tidemark_core::Source;
use tidemark_core::record::{RunRecord, Setting};

/// The page: no network, light and dark, readable when printed, in colours and without, and with
/// or without scripts. Everything in it that came from outside is escaped.
///
/// # Errors
/// [`ReportError::Histogram`] when a latency distribution of the record can't be read.
pub fn html(record: &RunRecord, lang: Lang) -> Result<String, ReportError> {
    html_of(record.into(), lang)
}

/// The same, with what the run's command needs.
pub(crate) fn html_of(run: OneRun<'_>, lang: Lang) -> Result<String, ReportError> {
    let digest = Digest::of(run.record)?;
    let words = Words {
        d: &digest,
        t: lang.texts(),
    };
    let command = by_hand::of_run(run, words.t);
    Ok(Page::of(&words, command, lang)?.render()?)
}

#[derive(Template)]
#[template(path = "run.html")]
struct Page<'a> {
    t: &'static Texts,
    lang: &'static str,
    record: &'a RunRecord,
    title: String,
    started: String,
    headline: Vec<Piece>,
    how: String,
    warnings: Vec<String>,
    key_figures: Vec<(String, String)>,
    latency_kind: String,
    findings: Vec<Said>,
    figures: Vec<Figure>,
    types: Vec<TypeRow>,
    results: Option<Section>,
    load: Vec<(&'static str, String)>,
    load_tables: Vec<Table>,
    watched: Option<Table>,
    watched_panels: Vec<Panel>,
    statements: Vec<StatementRow>,
    fairness: Option<String>,
    errors: Vec<ErrorRow>,
    target: Vec<(&'static str, String)>,
    run: Vec<(&'static str, String)>,
    client: Vec<(&'static str, String)>,
    settings: Vec<&'a Setting>,
    options_given: Vec<OptionRow<'a>>,
    options_default: Vec<OptionRow<'a>>,
    options_default_head: String,
    tables: Vec<TableRow>,
    command: String,
    words: [(&'static str, &'static str); 5],
    made_by: String,
}

/// A piece of a sentence, and whether it is a value.
struct Piece {
    text: String,
    strong: bool,
}

struct TypeRow {
    name: String,
    cells: Vec<String>,
}

struct StatementRow {
    /// Style class.
    kind: &'static str,
    name: &'static str,
    count: String,
    rate: String,
}

struct ErrorRow {
    code: String,
    class: &'static str,
    count: String,
    message: String,
}

struct OptionRow<'a> {
    name: &'a str,
    value: &'a str,
    source: &'static str,
}

struct TableRow {
    name: String,
    before: String,
    after: String,
    expected: String,
    differs: bool,
    keys: String,
}

impl<'a> Page<'a> {
    fn of(w: &Words<'a>, command: String, lang: Lang) -> Result<Self, ReportError> {
        let (d, t, record) = (w.d, w.t, w.d.record);
        let option_rows = |default: bool| -> Vec<OptionRow<'a>> {
            let of_kind = record
                .options
                .iter()
                .filter(|(_, o)| (o.source == Source::Default) == default);
            of_kind
                .map(|(name, o)| OptionRow {
                    name,
                    value: &o.value,
                    source: w.source(o.source),
                })
                .collect()
        };
        let options_default = option_rows(true);
        Ok(Self {
            t,
            lang: lang.tag(),
            record,
            title: w.title(),
            started: readable_time(&record.started_at),
            headline: pieces(w),
            how: w.how(),
            warnings: w.warnings(),
            key_figures: w.key_figures(),
            latency_kind: w.latency_kind(),
            findings: said(record, lang)?,
            figures: figures(d, t)?,
            types: type_rows(w),
            results: Section::of(d, lang),
            load: w.load_facts(),
            load_tables: w.load_tables(),
            watched: series::table(record, lang, false),
            watched_panels: series::panels(record, lang),
            statements: statement_rows(w),
            fairness: (d.totals.fairness.events_avg > 0.0).then(|| w.fairness()),
            errors: record
                .errors
                .iter()
                .map(|e| ErrorRow {
                    code: e.code.clone(),
                    class: w.error_class(e.class),
                    count: whole(e.count),
                    message: e.first_message.clone(),
                })
                .collect(),
            target: w.target_facts(),
            run: w.run_facts(),
            client: w.client_facts(),
            settings: telling_settings(record).collect(),
            options_given: option_rows(false),
            options_default_head: fill(
                t.options_default,
                &[("count", &whole(options_default.len() as u64))],
            ),
            options_default,
            tables: table_rows(record),
            command,
            words: [
                (t.word_transaction, t.word_transaction_says),
                (t.word_session, t.word_session_says),
                (t.word_percentile, t.word_percentile_says),
                (t.word_closed, t.word_closed_says),
                (t.word_open, t.word_open_says),
            ],
            made_by: w.made_by(),
        })
    }
}

fn pieces(w: &Words<'_>) -> Vec<Piece> {
    let (template, values) = w.headline_parts();
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let value = values.iter().find(|(n, _)| *n == name);
        pieces.push(Piece {
            text: before.into(),
            strong: false,
        });
        pieces.push(Piece {
            text: value.map(|(_, v)| v.clone()).unwrap_or_default(),
            strong: true,
        });
        rest = after;
    }
    pieces.push(Piece {
        text: rest.into(),
        strong: false,
    });
    pieces
}

fn figures(d: &Digest<'_>, t: &'static Texts) -> Result<Vec<Figure>, ReportError> {
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

fn type_rows(w: &Words<'_>) -> Vec<TypeRow> {
    let row = |name: &str, latency: &TypeLatency| {
        let ms = |p| latency.percentile_ms(p).map_or("–".into(), three);
        TypeRow {
            name: name.into(),
            cells: vec![
                whole(latency.count),
                percent(latency.count as f64, w.d.all.count as f64),
                three(per_second(latency.count, w.d.totals.elapsed_s)),
                latency.mean_ms().map_or("–".into(), three),
                ms(50.0),
                ms(95.0),
                ms(99.0),
                ms(100.0),
            ],
        }
    };
    let mut rows: Vec<TypeRow> = w.d.types.iter().map(|(name, l)| row(name, l)).collect();
    if rows.len() > 1 {
        rows.push(row(w.t.total, &w.d.all));
    }
    rows
}

fn statement_rows(w: &Words<'_>) -> Vec<StatementRow> {
    let (s, t) = (&w.d.totals.statements, w.t);
    [
        ("", t.reads, s.read),
        ("", t.writes, s.write),
        ("", t.others, s.other),
        ("part", t.noop_writes, s.noop_writes),
        ("total", t.total, s.total()),
    ]
    .into_iter()
    .map(|(kind, name, count)| StatementRow {
        kind,
        name,
        count: whole(count),
        rate: three(per_second(count, w.d.totals.elapsed_s)),
    })
    .collect()
}

fn table_rows(record: &RunRecord) -> Vec<TableRow> {
    let before = |name: &str| record.tables_before.iter().find(|t| t.table == name);
    let after = |name: &str| record.tables_after.iter().find(|t| t.table == name);
    let mut names: Vec<&str> = Vec::new();
    for t in record.tables_before.iter().chain(&record.tables_after) {
        if !names.contains(&t.table.as_str()) {
            names.push(&t.table);
        }
    }
    let none = || "–".to_string();
    names
        .into_iter()
        .map(|name| {
            let (before, after) = (before(name), after(name));
            TableRow {
                name: name.into(),
                before: before.map_or_else(none, |t| whole(t.rows)),
                after: after.map_or_else(none, |t| whole(t.rows)),
                expected: after
                    .or(before)
                    .and_then(|t| t.expected_rows)
                    .map_or_else(none, whole),
                differs: after.is_some_and(rows_differ),
                keys: match after.map(|t| (t.min_key, t.max_key)) {
                    Some((Some(min), Some(max))) => format!("{min} … {max}"),
                    _ => none(),
                },
            }
        })
        .collect()
}
