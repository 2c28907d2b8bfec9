//! One workload: the table people paste, how it scales, its charts, its runs over time.

use super::block::{Block, Grid, Panel, Part};
use super::cell::{Cell, Repeated};
use super::document::Sources;
use super::matrix::{AxisKind, Point, Series, Workload};
use super::pictures;
use super::scaling::{Peak, Scaling};
use super::summary::{factor_name, load_label, series_label};
use crate::ReportError;
use crate::charts::{PanelLine, panel};
use crate::number::{seconds, three, two, whole};
use crate::texts::fill;
use tidemark_analysis::Severity;
use tidemark_core::record::QueryOutcome;

/// A workload with the figures of its points.
pub(super) struct Measured<'s, 'm> {
    pub s: &'s Sources<'m>,
    pub workload: &'m Workload<'m>,
    /// Of each series, each point.
    pub cells: &'m [Vec<Cell>],
}

impl<'m> Measured<'_, 'm> {
    pub fn series(&self) -> impl Iterator<Item = (&'m Series<'m>, &'m [Cell])> + use<'m> {
        let cells = self.cells.iter().map(Vec::as_slice);
        self.workload.series.iter().zip(cells)
    }

    /// Each point with its series and figures.
    pub fn points(
        &self,
    ) -> impl Iterator<Item = (&'m Series<'m>, &'m Point<'m>, &'m Cell)> + use<'m> {
        self.series().flat_map(|(series, cells)| {
            let pairs = series.points.iter().zip(cells);
            pairs.map(move |(point, cell)| (series, point, cell))
        })
    }

    /// A series' name; the workload's where there is only one.
    pub fn name(&self, series: &Series<'_>) -> String {
        match series_label(self.s.t, self.workload, series).as_str() {
            "" => self.workload.name.clone(),
            label => label.into(),
        }
    }

    pub fn load(&self, point: &Point<'_>) -> String {
        load_label(self.s.t, self.workload.axis.as_ref(), point)
    }

    /// Series and load; the workload's name where neither tells anything.
    fn label(&self, series: &Series<'_>, point: &Point<'_>) -> String {
        let label = series_label(self.s.t, self.workload, series);
        let parts = [label, self.load(point)];
        let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        match parts.as_slice() {
            [] => self.workload.name.clone(),
            parts => parts.join(", "),
        }
    }

    fn asks_queries(&self) -> bool {
        let mut points = self.points();
        points.any(|(_, p, _)| p.runs.iter().any(|r| !r.queries.is_empty()))
    }
}

pub(super) fn part<'m>(
    s: &Sources<'m>,
    workload: &'m Workload<'m>,
    cells: &'m [Vec<Cell>],
) -> Result<Part, ReportError> {
    let m = Measured { s, workload, cells };
    let mut blocks = vec![Block::Table(results(&m))];
    blocks.extend(remarks(&m).into_iter().map(Block::Fine));
    let queries = m.asks_queries();
    if queries {
        blocks.push(Block::Heading(s.t.by_query.into()));
        blocks.push(Block::Table(by_query(&m)));
    } else {
        let scaling: Vec<(String, Scaling)> = m
            .series()
            .filter_map(|(series, _)| {
                let scaling = Scaling::of(workload.axis.as_ref(), series)?;
                Some((m.name(series), scaling))
            })
            .collect();
        let figures = pictures::figures(&m, &scaling)?;
        if !figures.is_empty() {
            blocks.push(Block::Figures(figures));
        }
        if !scaling.is_empty() {
            blocks.push(Block::Heading(s.t.scalability.into()));
            blocks.push(Block::List(scaling_says(&m, &scaling)));
        }
        let types = by_type(&m);
        if !types.rows.is_empty() {
            let title = s.t.types.into();
            blocks.push(Block::Fold(title, vec![Block::Table(types)]));
        }
        let panels = panels(&m);
        if !panels.is_empty() {
            blocks.push(Block::Heading(s.t.over_time.into()));
            blocks.push(Block::Fine(s.t.over_time_says.into()));
            blocks.push(Block::Panels(panels));
        }
    }
    Ok(Part::new(workload.name.clone(), blocks))
}

fn shown(s: &Sources<'_>, value: Option<Repeated>) -> String {
    let Some(value) = value else {
        return "–".into();
    };
    match value.half {
        None => three(value.value),
        Some(half) => {
            let values = [("value", &*three(value.value)), ("half", &*two(half))];
            fill(s.t.plus_minus, &values)
        }
    }
}

/// A row a point: factors, load, figures, what the rules say.
fn results(m: &Measured<'_, '_>) -> Grid {
    let (s, t, w) = (m.s, m.s.t, m.workload);
    let queries = m.asks_queries();
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
    head.extend(if queries {
        [t.queries, t.seconds, t.geometric, t.qphh]
            .map(number)
            .to_vec()
    } else {
        [t.throughput, t.mean, t.p95, t.p99, t.tpmc]
            .map(number)
            .to_vec()
    });
    head.push(number(t.errors));
    head.push((t.finding.into(), false));
    let mut grid = Grid::new(head);
    for (series, point, cell) in m.points() {
        let mut row: Vec<String> = series.values.clone();
        if w.axis.is_some() {
            row.push(point.load.as_ref().map_or("–".into(), |(_, l)| l.clone()));
        }
        if row.is_empty() {
            row.push(w.name.clone());
        }
        row.push(match point.runs.len() {
            all if all == cell.counted => all.to_string(),
            all => format!("{} / {all}", cell.counted),
        });
        row.extend(if queries {
            query_figures(s, point, cell)
        } else {
            [
                cell.transactions_per_s,
                cell.mean_ms,
                cell.p95_ms,
                cell.p99_ms,
                cell.tpmc,
            ]
            .map(|value| shown(s, value))
            .to_vec()
        });
        row.push(if cell.counted > 0 {
            whole(cell.errors)
        } else {
            "–".into()
        });
        row.push(severity(s, cell, point));
        grid.rows.push(row);
    }
    grid.without_empty_columns()
}

/// Queries done, seconds of all, geometric mean of those done, QphH.
fn query_figures(s: &Sources<'_>, point: &Point<'_>, cell: &Cell) -> Vec<String> {
    let runs: Vec<_> = point.runs.iter().filter(|r| r.counts()).collect();
    let Some(first) = runs.first() else {
        return vec!["–".to_string(); 4];
    };
    let done = |r: &super::RunDigest| -> Vec<f64> {
        let done = r.queries.iter().filter(|q| q.outcome == QueryOutcome::Done);
        done.map(|q| q.took_s).collect()
    };
    let counts: Vec<String> = runs
        .iter()
        .map(|r| format!("{} / {}", done(r).len(), r.queries.len()))
        .collect();
    let same = counts.iter().all(|c| c == &counts[0]);
    let all_done: Vec<f64> = runs
        .iter()
        .flat_map(|r| done(r))
        .filter(|t| *t > 0.0)
        .collect();
    let logs: f64 = all_done.iter().map(|t| t.ln()).sum();
    let geometric = (logs / all_done.len().max(1) as f64).exp();
    vec![
        if same {
            counts[0].clone()
        } else {
            format!("{} …", done(first).len())
        },
        shown(s, cell.elapsed_s),
        if all_done.is_empty() {
            "–".into()
        } else {
            three(geometric)
        },
        shown(s, cell.qphh),
    ]
}

/// The severest finding in a word with a sign, and which rules spoke.
fn severity(s: &Sources<'_>, cell: &Cell, point: &Point<'_>) -> String {
    let word = match cell.severity {
        None if cell.counted == 0 => return s.t.no_result.into(),
        None => return String::new(),
        Some(Severity::Invalid) => format!("✗ {}", s.common.finding_invalid),
        Some(Severity::Suspect) => format!("! {}", s.common.finding_suspect),
        Some(Severity::Note) => format!("· {}", s.common.finding_note),
    };
    let mut rules: Vec<&str> = Vec::new();
    for finding in point.runs.iter().flat_map(|r| &r.findings) {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    format!("{word} {}", rules.join(s.common.comma))
}

/// What must be known to read the table.
fn remarks(m: &Measured<'_, '_>) -> Vec<String> {
    let (t, c) = (m.s.t, m.s.common);
    let runs = || m.points().flat_map(|(_, p, _)| p.runs.iter());
    let mut said: Vec<String> = Vec::new();
    if !m.asks_queries() {
        let open = runs().any(|r| r.open_loop && r.response_times);
        let due = runs().any(|r| !r.open_loop && r.response_times);
        let service = runs().any(|r| !r.response_times && r.counts());
        said.extend(open.then(|| t.latency_open.into()));
        said.extend(due.then(|| t.latency_due.into()));
        said.extend((service && !open && !due).then(|| c.service_time.into()));
    }
    let repeated = m.points().any(|(_, _, cell)| cell.counted > 1);
    said.extend(repeated.then(|| t.repeats_say.into()));
    said
}

/// Each series' fit in words, or why there is none.
fn scaling_says(m: &Measured<'_, '_>, scaling: &[(String, Scaling)]) -> Vec<String> {
    let several = scaling.len() > 1;
    let said = scaling.iter().map(|(name, scaling)| {
        let says = scaling_sentence(m, scaling);
        match several {
            true => format!("{name}{}{says}", m.s.t.colon),
            false => says,
        }
    });
    said.collect()
}

fn scaling_sentence(m: &Measured<'_, '_>, scaling: &Scaling) -> String {
    let t = m.s.t;
    let axis = m.workload.axis.as_ref();
    let name = axis.map_or("", |a| factor_name(t, &a.name)).to_lowercase();
    let most = m.points().filter_map(|(_, p, _)| Some(p.load.as_ref()?.0));
    let most = three(most.fold(0.0, f64::max));
    let (usl, peak, knee) = match scaling {
        Scaling::Fitted { usl, peak, knee } => (usl, peak, knee),
        Scaling::BadFit(r2) => return fill(t.usl_bad_fit, &[("r2", &three(r2 * 100.0))]),
        Scaling::Not(tidemark_stats::UslError::TooFewLoads(n)) => {
            return fill(t.usl_few, &[("loads", &n.to_string())]);
        }
        Scaling::Not(_) => return t.usl_none.into(),
    };
    let percent = |v: f64| three(v * 100.0);
    let (sigma, kappa) = (usl.sigma, usl.kappa);
    let mut said = vec![fill(
        t.usl_says,
        &[
            ("sigma", &percent(sigma.value)),
            ("sigma_low", &percent(sigma.interval.0)),
            ("sigma_high", &percent(sigma.interval.1)),
            ("kappa", &small(kappa.value)),
            ("kappa_low", &small(kappa.interval.0)),
            ("kappa_high", &small(kappa.interval.1)),
            ("lambda", &three(usl.lambda.value)),
            ("r2", &percent(usl.r_squared)),
        ],
    )];
    if let Some(knee) = knee {
        let load = whole(knee.load.round() as u64);
        said.push(fill(t.usl_knee, &[("load", &load), ("name", &name)]));
    }
    said.push(match peak {
        Peak::At { point, loads } => {
            let users = |v: f64| whole(v.round() as u64);
            fill(
                t.usl_peak,
                &[
                    ("load", &users(point.load)),
                    ("low", &users(loads.0)),
                    ("high", &users(loads.1)),
                    ("tps", &three(point.throughput)),
                    ("name", &name),
                ],
            )
        }
        Peak::Beyond => fill(t.usl_beyond, &[("most", &most), ("name", &name)]),
        Peak::Unsure => t.usl_unsure.into(),
    });
    said.join(m.s.common.gap)
}

/// Coherency is a few millionths as often as not.
fn small(value: f64) -> String {
    if value > 0.0 && value < 0.0001 {
        format!("{value:.2e}")
    } else {
        three(value)
    }
}

/// Each type of each point; empty where there is only one type.
fn by_type(m: &Measured<'_, '_>) -> Grid {
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
        for run in point
            .runs
            .iter()
            .filter(|r| r.counts() && r.types.len() > 1)
        {
            let mut label = m.label(series, point);
            if point.runs.len() > 1 {
                let n = point.runs.iter().position(|r| r.id == run.id).unwrap_or(0) + 1;
                label += m.s.common.comma;
                label += &fill(t.repeat_n, &[("n", &n.to_string())]);
            }
            for one in &run.types {
                let ms = |of: fn(&crate::load::Spread) -> f64| {
                    one.latency.as_ref().map_or("–".into(), |l| three(of(l)))
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
    grid
}

/// A row a query, a column a point: means over streams and repeats, in seconds.
fn by_query(m: &Measured<'_, '_>) -> Grid {
    let t = m.s.t;
    let mut names: Vec<String> = Vec::new();
    let mut head = vec![(t.query.to_string(), false)];
    for (series, point, _) in m.points() {
        head.push((m.label(series, point), true));
        for query in point.runs.iter().flat_map(|r| &r.queries) {
            if !names.contains(&query.name) {
                names.push(query.name.clone());
            }
        }
    }
    // Q2 before Q10.
    names.sort_by_key(|n| {
        let digits: String = n.chars().filter(char::is_ascii_digit).collect();
        (
            n.starts_with("RF"),
            digits.parse::<u64>().unwrap_or(0),
            n.clone(),
        )
    });
    let mut grid = Grid::new(head);
    for name in names {
        let cells = m.points().map(|(_, point, _)| {
            let of = point.runs.iter().flat_map(|r| &r.queries);
            let of: Vec<_> = of.filter(|q| q.name == name).collect();
            let failed = of.iter().find(|q| q.outcome != QueryOutcome::Done);
            match failed.map(|q| &q.outcome) {
                Some(QueryOutcome::TimedOut) => t.timed_out.to_string(),
                Some(_) => t.query_failed.into(),
                None if of.is_empty() => "–".into(),
                None => three(of.iter().map(|q| q.took_s).sum::<f64>() / of.len() as f64),
            }
        });
        let row = std::iter::once(name.clone()).chain(cells).collect();
        grid.rows.push(row);
    }
    grid
}

/// A small picture for each point that has a series.
fn panels(m: &Measured<'_, '_>) -> Vec<Panel> {
    let t = m.s.t;
    let mut panels = Vec::new();
    for (series, point, _) in m.points() {
        let runs: Vec<_> = point.runs.iter().filter(|r| r.series.len() > 1).collect();
        let samples = || runs.iter().flat_map(|r| &r.series);
        let ends = |of: &dyn Fn(&super::digest::Sample) -> Option<f64>| {
            let values: Vec<f64> = samples().filter_map(of).collect();
            let low = values.iter().copied().reduce(f64::min)?;
            Some((low, values.iter().copied().reduce(f64::max)?))
        };
        let Some((low, high)) = ends(&|s| Some(s.transactions_per_s)) else {
            continue;
        };
        let rates = samples().map(|s| s.transactions_per_s);
        let mean = rates.sum::<f64>() / samples().count() as f64;
        let p95 = ends(&|s| s.p95_ms);
        let length = runs.iter().map(|r| r.elapsed_s).fold(0.0, f64::max);
        let label = m.label(series, point);
        let ms = |of: fn((f64, f64)) -> f64| p95.map_or("–".into(), |ends| three(of(ends)));
        let (p95_low, p95_high) = (ms(|e| e.0), ms(|e| e.1));
        let (low, high, tps) = (three(low), three(high), three(mean));
        let says = fill(
            t.panel_says,
            &[
                ("label", &label),
                ("tps", &tps),
                ("low", &low),
                ("high", &high),
                ("p95_low", &p95_low),
                ("p95_high", &p95_high),
                ("length", &format!("{} s", seconds(length))),
            ],
        );
        let lines: Vec<PanelLine> = runs
            .iter()
            .map(|r| PanelLine {
                points: r
                    .series
                    .iter()
                    .map(|s| (s.at_s, s.transactions_per_s, s.p95_ms))
                    .collect(),
            })
            .collect();
        panels.push(Panel {
            svg: panel(&lines, &says),
            label,
            says,
            figures: vec![
                fill(
                    t.panel_tps,
                    &[("tps", &tps), ("low", &low), ("high", &high)],
                ),
                fill(t.panel_p95, &[("low", &p95_low), ("high", &p95_high)]),
            ],
        });
    }
    panels
}

/// Whether the workload is drawn over users.
pub(super) fn over_users(workload: &Workload<'_>) -> bool {
    let axis = workload.axis.as_ref();
    axis.is_some_and(|a| a.kind == AxisKind::Users)
}
