//! One workload: the table people paste, how it scales, its charts, its runs over time.

use super::cell::{PointResults, Repeated, Within};
use super::document::Sources;
use super::labels::{factor_name, load_label, load_text, series_label};
use super::latencies::Latencies;
use super::marks::marked;
use super::matrix::{AxisKind, CurvePoint, LoadCurve, Workload};
use super::texts::Texts;
use super::{law, limits, objective, panels, pictures, queries};
use crate::ReportError;
use crate::document::{Block, DocumentPart, Grid};
use crate::number::{three, two, whole};
use crate::texts::fill;
use tidemark_analysis::Severity;

/// A workload with the figures of its points.
pub(super) struct MeasuredWorkload<'s, 'm> {
    pub s: &'s Sources<'m>,
    pub workload: &'m Workload<'m>,
    /// Of each series, each point.
    pub cells: &'m [Vec<PointResults>],
}

impl<'m> MeasuredWorkload<'_, 'm> {
    pub fn series(
        &self,
    ) -> impl Iterator<Item = (&'m LoadCurve<'m>, &'m [PointResults])> + use<'m> {
        let cells = self.cells.iter().map(Vec::as_slice);
        self.workload.series.iter().zip(cells)
    }

    /// Each point with its series and figures.
    pub fn points(
        &self,
    ) -> impl Iterator<Item = (&'m LoadCurve<'m>, &'m CurvePoint<'m>, &'m PointResults)> + use<'m>
    {
        self.series().flat_map(|(series, cells)| {
            let pairs = series.points.iter().zip(cells);
            pairs.map(move |(point, cell)| (series, point, cell))
        })
    }

    /// A series' name; the workload's where there is only one.
    pub fn name(&self, series: &LoadCurve<'_>) -> String {
        match series_label(self.s.t, self.workload, series).as_str() {
            "" => self.workload.name.clone(),
            label => label.into(),
        }
    }

    pub fn load(&self, point: &CurvePoint<'_>) -> String {
        load_label(self.s.t, self.workload.axis.as_ref(), point)
    }

    /// Series and load; the workload's name where neither tells anything.
    pub fn label(&self, series: &LoadCurve<'_>, point: &CurvePoint<'_>) -> String {
        let label = series_label(self.s.t, self.workload, series);
        let parts = [label, self.load(point)];
        let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        match parts.as_slice() {
            [] => self.workload.name.clone(),
            parts => parts.join(", "),
        }
    }

    /// What is behind a point's label for one of its runs, counted from 0: its number, where there are several.
    pub fn repeat(&self, point: &CurvePoint<'_>, run: usize) -> String {
        if point.runs.len() < 2 {
            return String::new();
        }
        let number = fill(self.s.t.repeat_n, &[("n", &(run + 1).to_string())]);
        format!("{}{number}", self.s.common.comma)
    }

    pub fn asks_queries(&self) -> bool {
        let mut points = self.points();
        points.any(|(_, p, _)| p.runs.iter().any(|r| !r.queries.is_empty()))
    }
}

pub(super) fn part<'m>(
    s: &Sources<'m>,
    workload: &'m Workload<'m>,
    cells: &'m [Vec<PointResults>],
) -> Result<DocumentPart, ReportError> {
    let m = MeasuredWorkload { s, workload, cells };
    let mut blocks = vec![Block::Table(results(&m))];
    blocks.extend(remarks(&m).into_iter().map(Block::Fine));
    if m.asks_queries() {
        let figures = queries::figures_of(&m);
        if !figures.is_empty() {
            blocks.push(Block::Figures(figures));
        }
        blocks.push(Block::Heading(s.t.by_query.into()));
        blocks.push(Block::Table(queries::table(&m)));
    } else {
        let fits = law::fits(&m);
        let figures = pictures::figures(&m, &fits)?;
        if !figures.is_empty() {
            blocks.push(Block::Figures(figures));
        }
        if !fits.is_empty() {
            blocks.push(Block::Heading(s.t.scalability.into()));
            blocks.push(Block::List(law::says(&m, &fits)));
        }
        blocks.extend(limits::blocks(&m));
        blocks.extend(experiments(&m));
        let types = by_type(&m);
        if !types.rows.is_empty() {
            let title = s.t.types.into();
            blocks.push(Block::Fold(title, vec![Block::Table(types)]));
        }
        let panels = panels::of(&m);
        if !panels.is_empty() {
            blocks.push(Block::Heading(s.t.over_time.into()));
            blocks.push(Block::OfPanels(s.t.over_time_says.into()));
            blocks.push(Block::Panels(panels));
        }
    }
    Ok(DocumentPart::new(workload.name.clone(), blocks))
}

/// What experiments around the job of points showed.
fn experiments(m: &MeasuredWorkload<'_, '_>) -> Vec<Block> {
    let lang = m.s.lang;
    let all = m.points().flat_map(|(series, point, _)| {
        let label = m.label(series, point);
        let made = point.runs.iter().filter_map(|run| run.experiments.as_ref());
        made.map(|made| (label.clone(), made)).collect::<Vec<_>>()
    });
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return Vec::new();
    }
    let says = all.iter().map(|(label, made)| {
        let sentence = crate::experiments::proven(made, lang);
        format!("{label}{}{sentence}", m.s.common.colon)
    });
    let mut blocks = vec![
        Block::Heading(crate::texts::experiments::of(lang).title.into()),
        Block::List(says.collect()),
    ];
    blocks.extend(crate::experiments::blocks(&all, lang));
    blocks
}

/// A figure with what it may be off by.
pub(super) fn shown(s: &Sources<'_>, value: Option<Repeated>) -> String {
    let Some(value) = value else {
        return "–".into();
    };
    let mean = three(value.value);
    match value.within() {
        None => mean,
        Some(Within::Half(half)) => {
            let values = [("value", &*mean), ("half", &*two(half))];
            fill(s.t.plus_minus, &values)
        }
        Some(Within::Repeats(least, most)) => {
            let (least, most) = (three(least), three(most));
            let values = [("value", &*mean), ("least", &*least), ("most", &*most)];
            fill(s.t.least_to_most, &values)
        }
    }
}

/// How many runs a point's figures are of, of how many; and that some of them are clients of one load.
fn runs(t: &Texts, point: &CurvePoint<'_>, cell: &PointResults) -> String {
    let counted = if cell.usable { cell.counted } else { 0 };
    let runs = match point.runs.len() {
        all if all == counted => all.to_string(),
        all => format!("{counted} / {all}"),
    };
    match cell.clients() {
        1 => runs,
        clients => {
            let repeats = cell.repeats_count.to_string();
            let values = [
                ("runs", runs.as_str()),
                ("repeats", &repeats),
                ("clients", &clients.to_string()),
            ];
            fill(t.runs_of_clients, &values)
        }
    }
}

/// A row a point: factors, load, figures, what the rules say.
fn results(m: &MeasuredWorkload<'_, '_>) -> Grid {
    let (s, t, w) = (m.s, m.s.t, m.workload);
    let asks = m.asks_queries();
    let mut head: Vec<(String, bool)> = Vec::new();
    let factors = w.factors.iter();
    head.extend(factors.map(|f| (factor_name(t, f).to_string(), false)));
    if let Some(axis) = &w.axis {
        head.push((factor_name(t, &axis.name).into(), true));
    }
    if head.is_empty() {
        head.push((s.common.workload.into(), false));
    }
    let number = |name: &str| (name.to_string(), true);
    head.push(number(t.runs));
    head.extend(if asks {
        [t.queries, t.seconds, t.geometric, t.qphh]
            .map(number)
            .to_vec()
    } else {
        let each = price_currency(m).map_or(t.price.into(), |currency| {
            let values = [("text", t.price), ("aside", &*currency)];
            fill(t.parenthesised, &values)
        });
        let heads = [
            t.throughput,
            t.mean,
            t.p95,
            t.p99,
            t.tpmc,
            t.tpm,
            t.efficiency_percent,
        ];
        let mut heads = heads.map(number).to_vec();
        heads.push((each, true));
        heads
    });
    head.push(number(t.errors));
    let objective = objective::of(s).filter(|_| !asks);
    if let Some(objective) = objective {
        let values = [("objective", &*objective.to_string())];
        head.push((fill(t.objective, &values), false));
    }
    head.push((t.finding.into(), false));
    let mut grid = Grid::new(head);
    for (series, point, cell) in m.points() {
        let mut row: Vec<String> = series.values.clone();
        if w.axis.is_some() {
            row.push(load_text(w.axis.as_ref(), point));
        }
        if row.is_empty() {
            row.push(w.name.clone());
        }
        row.push(runs(t, point, cell));
        let figures = if asks {
            queries::figures(s, point, cell)
        } else {
            [
                cell.transactions_per_s,
                cell.mean_ms,
                cell.p95_ms,
                cell.p99_ms,
                cell.tpmc,
                cell.tpm,
                cell.efficiency_percent,
                cell.price_per_tpmc,
            ]
            .map(|value| shown(s, value))
            .to_vec()
        };
        let mark = |figure: String| match figure.as_str() {
            "–" => figure,
            _ => marked(t, cell, figure),
        };
        row.extend(figures.into_iter().map(mark));
        let errors = cell.errors.filter(|_| cell.counted > 0);
        row.push(errors.map_or("–".into(), whole));
        row.extend(objective.map(|objective| objective::word(s, objective, cell)));
        row.push(findings(s, cell, point));
        grid.rows.push(row);
    }
    grid.without_empty_columns()
}

/// The currency of the prices, where there is one and no other.
fn price_currency(m: &MeasuredWorkload<'_, '_>) -> Option<String> {
    let runs = m.points().flat_map(|(_, point, _)| &point.runs);
    let mut currencies = runs.filter_map(|run| Some(run.metrics.price.as_ref()?.currency.as_str()));
    let first = currencies.next()?;
    currencies.all(|other| other == first).then(|| first.into())
}

/// Runs that are left out, and why; then the severest finding of the others in a word with a sign,
/// and which rules spoke.
/// What the rules say of a point's runs.
pub(super) fn findings(s: &Sources<'_>, cell: &PointResults, point: &CurvePoint<'_>) -> String {
    let (t, comma) = (s.t, s.common.comma);
    let mut said = Vec::new();
    if cell.usable && !cell.invalid.is_empty() {
        let values = [
            ("count", &*cell.invalid.len().to_string()),
            ("all", &*point.runs.len().to_string()),
            ("rules", &*point.invalid_rules().join(comma)),
        ];
        said.push(fill(t.left_out, &values));
    }
    let figured = point.figured();
    let word = match figured.iter().filter_map(|r| r.severity()).max() {
        None if figured.is_empty() => t.no_result.into(),
        None => String::new(),
        Some(Severity::Invalid) => format!("✗ {}", s.common.finding_invalid),
        Some(Severity::Suspect) => format!("! {}", s.common.finding_suspect),
        Some(Severity::Note) => format!("· {}", s.common.finding_note),
    };
    let mut rules: Vec<&str> = Vec::new();
    for finding in figured.iter().flat_map(|r| &r.findings) {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    let word = format!("{word} {}", rules.join(comma));
    said.extend(Some(word.trim().to_string()).filter(|w| !w.is_empty()));
    said.join(t.semicolon)
}

/// What must be known to read the table.
fn remarks(m: &MeasuredWorkload<'_, '_>) -> Vec<String> {
    let (t, c) = (m.s.t, m.s.common);
    let runs = || m.points().flat_map(|(_, p, _)| p.runs.iter());
    let mut said: Vec<String> = Vec::new();
    if !m.asks_queries() {
        let open = runs().any(|r| r.open_loop && r.response_times);
        let due = runs().any(|r| !r.open_loop && r.response_times);
        let service = runs().any(|r| !r.response_times && r.counts() && r.imported.is_none());
        said.extend(open.then(|| t.latency_open.into()));
        said.extend(due.then(|| t.latency_due.into()));
        said.extend((service && !open && !due).then(|| c.service_time.into()));
        let stated = runs().any(|r| r.imported.is_some());
        said.extend(stated.then(|| t.latency_stated.into()));
    }
    let any = |is: fn(&PointResults) -> bool| m.points().any(|(_, _, cell)| is(cell));
    said.extend(any(|c| c.usable && !c.invalid.is_empty()).then(|| t.left_out_says.into()));
    said.extend(any(|c| c.counted > 0 && !c.usable).then(|| t.mark_says.into()));
    said.extend(any(|c| c.repeats_count > 1).then(|| t.repeats_say.into()));
    let within = |is: fn(&Within) -> bool| {
        m.points().any(|(_, _, c)| {
            let figures = [c.transactions_per_s, c.mean_ms, c.p95_ms, c.p99_ms];
            let mut within = figures.iter().flatten().filter_map(Repeated::within);
            within.any(|w| is(&w))
        })
    };
    said.extend(within(|w| matches!(w, Within::Half(_))).then(|| t.half_says.into()));
    let apart = within(|w| matches!(w, Within::Repeats(..)));
    said.extend(apart.then(|| t.least_to_most_says.into()));
    said.extend(any(|c| c.clients() > 1).then(|| t.clients_say.into()));
    said
}

/// Each type of each point; empty where there is only one type.
fn by_type(m: &MeasuredWorkload<'_, '_>) -> Grid {
    let (t, c) = (m.s.t, m.s.common);
    let number = |name: &str| (name.to_string(), true);
    let mut grid = Grid::new([
        (t.series.to_string(), false),
        (t.type_name.into(), false),
        number(t.count),
        number(t.throughput),
        number(t.mean),
        number(c.p50_ms),
        number(t.p95),
        number(t.p99),
    ]);
    for (series, point, _) in m.points() {
        let results = point.runs.iter().enumerate().filter(|(_, r)| r.counts());
        for (n, run) in results.filter(|(_, r)| r.types.len() > 1) {
            let mut label = m.label(series, point) + &m.repeat(point, n);
            if !run.usable {
                label = fill(t.mark, &[("text", &label)]);
            }
            for one in &run.types {
                let ms = |of: fn(&Latencies) -> Option<f64>| {
                    one.latency.as_ref().and_then(of).map_or("–".into(), three)
                };
                grid.rows.push(vec![
                    label.clone(),
                    one.name.clone(),
                    whole(one.count),
                    three(one.per_s),
                    ms(|l| l.mean_ms),
                    ms(|l| l.p50_ms),
                    ms(|l| l.p95_ms),
                    ms(|l| l.p99_ms),
                ]);
            }
        }
    }
    grid.without_empty_columns()
}

/// Whether the workload is drawn over users.
pub(super) fn over_users(workload: &Workload<'_>) -> bool {
    let axis = workload.axis.as_ref();
    axis.is_some_and(|a| a.kind == AxisKind::Users)
}
