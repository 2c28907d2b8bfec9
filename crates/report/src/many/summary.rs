//! The result in plain words: what was measured, on what, how well it did, and what can't be
//! believed.

use super::cell::PointResults;
use super::contrast::{Contrast, measured};
use super::digest::RunDigest;
use super::document::{Sources, named, runs_said};
use super::labels::{load_label, series_label, series_name};
use super::matrix::{AxisKind, CurvePoint, LoadCurve, Workload};
use super::scaling::still_rises;
use super::server_labels::ServerLabels;
use super::texts::Texts;
use super::{StepState, findings, headline, missing, objective, one_client};
use crate::document::{Block, DocumentPart};
use crate::number::{three, whole};
use crate::texts::fill;
use std::collections::BTreeSet;
use tidemark_analysis::compare::{Metric, Verdict};
use tidemark_analysis::{Severity, compare_measured};
use tidemark_core::record::QueryOutcome;

/// So many names stand in a sentence.
const NAMED: usize = 4;
/// Of more series the best of each workload stands on the first screen.
const MOST_SERIES: usize = 8;
/// And so many of one workload are many.
const MANY: usize = 4;
/// The highest throughput may be no more than chance above one that it is less than so many times as
/// high as, where single runs are too short to tell.
const NEAR: f64 = 1.1;

pub(super) fn part(s: &Sources<'_>, contrasts: &[Contrast]) -> DocumentPart {
    if missing::nothing_measured(s) {
        return DocumentPart::new(s.t.summary, nothing(s));
    }
    let mut blocks = vec![Block::Say(what(s))];
    let factors = headline::by_factor(contrasts).into_iter();
    let factors = factors.map(|of| Block::Lead(headline::of(s, &of)));
    let best = highest(s);
    // What TPC-C is measured in stands before what any factor does.
    let mut cells = s.workloads().flat_map(|(_, cells)| cells.iter().flatten());
    let of_tpcc = cells.all(|cell| cell.counted == 0 || cell.tpmc.is_some());
    match best.as_slice() {
        [one] if contrasts.is_empty() || of_tpcc => {
            blocks.push(Block::Lead(one.clone()));
            blocks.extend(factors);
        }
        _ if of_tpcc => {
            blocks.push(Block::List(best));
            blocks.extend(factors);
        }
        _ => {
            blocks.extend(factors);
            blocks.push(Block::List(best));
        }
    }
    let clients = one_client::sentences(s);
    blocks.extend((!clients.is_empty()).then_some(Block::List(clients)));
    if let Some(objective) = objective::of(s) {
        let judged = s.workloads().flat_map(|(w, cells)| {
            let pairs = w.series.iter().zip(cells);
            pairs.filter_map(move |(series, cells)| {
                objective::sentence(s, objective, w, series, cells)
            })
        });
        let judged: Vec<String> = judged.collect();
        blocks.extend((!judged.is_empty()).then_some(Block::List(judged)));
    }
    let mut said = missing::targets(s);
    said.extend(believed(s));
    blocks.push(Block::List(said));
    DocumentPart::new(s.t.summary, blocks)
}

/// The highest throughput of each series; of many, of each workload alone: the overview has the others.
fn highest(s: &Sources<'_>) -> Vec<String> {
    let all: usize = s.workloads().map(|(w, _)| w.series.len()).sum();
    let mut said = Vec::new();
    for (w, cells) in s.workloads() {
        let pairs = || w.series.iter().zip(cells);
        if all <= MOST_SERIES && w.series.len() < MANY {
            said.extend(pairs().map(|(series, of)| best(s, w, cells, series, of)));
            said.extend(at_equal_load(s, w, cells));
            continue;
        }
        let most = |cells: &Vec<PointResults>| {
            let usable = cells.iter().filter(|cell| cell.usable);
            usable.map(PointResults::tps).fold(-1.0, f64::max)
        };
        let highest = pairs().max_by(|a, b| most(a.1).total_cmp(&most(b.1)));
        said.extend(highest.map(|(series, of)| {
            let mut text = best(s, w, cells, series, of);
            if w.series.len() > 1 {
                text += s.common.gap;
                text += &fill(s.t.best_of_many, &[("n", &w.series.len().to_string())]);
            }
            text
        }));
    }
    said
}

/// That there is no result, and why.
fn nothing(s: &Sources<'_>) -> Vec<Block> {
    let mut said = missing::targets(s);
    said.extend(missing::failed(s));
    said.extend(left_undone(s));
    let mut blocks = vec![Block::Lead(s.t.nothing_measured.into())];
    blocks.extend((!said.is_empty()).then_some(Block::List(said)));
    blocks
}

fn what(s: &Sources<'_>) -> String {
    let (t, runs) = (s.t, &s.many.runs);
    let labels = ServerLabels::of(runs);
    let workloads: Vec<&str> = s.matrix.workloads.iter().map(|w| w.name.as_str()).collect();
    let servers: BTreeSet<String> = runs
        .iter()
        .map(|r| match (labels.server(r), &r.imported) {
            (Some(server), _) => server,
            (None, Some(source)) => fill(t.unstated_server, &[("file", &source.file)]),
            (None, None) => s.common.unknown_server.into(),
        })
        .collect();
    let servers: Vec<String> = servers.into_iter().collect();
    let measured = s
        .common
        .duration(runs.iter().filter_map(|r| r.elapsed()).sum());
    let comma = s.common.comma;
    let files: BTreeSet<&str> = runs
        .iter()
        .filter_map(|r| r.imported.as_ref())
        .map(|source| source.file.as_str())
        .collect();
    let files: Vec<&str> = files.into_iter().collect();
    let imported = runs.iter().all(|r| r.imported.is_some()) && !runs.is_empty();
    let mut text = fill(
        if imported { t.what_imported } else { t.what },
        &[
            ("files", &named(&files, NAMED, t, comma)),
            ("runs", &runs_said(t, runs.len())),
            ("workloads", &named(&workloads, NAMED, t, comma)),
            ("targets", &named(&servers, NAMED, t, comma)),
            ("measured", &measured),
        ],
    );
    let repeats: BTreeSet<usize> = s
        .workloads()
        .flat_map(|(w, cells)| w.points().zip(cells.iter().flatten()))
        // Clients of one load are one repeat.
        .map(|((_, point), cell)| match cell.clients() {
            1 => point.runs.len(),
            _ => cell.repeats_count,
        })
        .collect();
    if let (1, Some(repeats)) = (repeats.len(), repeats.first())
        && *repeats > 1
    {
        text += s.common.gap;
        text += &fill(t.what_repeats, &[("repeats", &repeats.to_string())]);
    }
    text
}

fn best(
    s: &Sources<'_>,
    workload: &Workload<'_>,
    all_cells: &[Vec<PointResults>],
    series: &LoadCurve<'_>,
    cells: &[PointResults],
) -> String {
    let s = &s.of_unit(workload.unit());
    let t = s.t;
    let name = series_name(t, workload, series);
    let name = ("workload", name.as_str());
    let pairs = || {
        series
            .points
            .iter()
            .zip(cells)
            .filter(|(_, c)| c.counted > 0)
    };
    // What must not be used is named only where there is nothing else.
    let usable = pairs().filter(|(_, c)| c.usable);
    let most = |a: &(&CurvePoint<'_>, &PointResults), b: &(&CurvePoint<'_>, &PointResults)| {
        a.1.tps().total_cmp(&b.1.tps())
    };
    let Some((point, cell)) = usable.max_by(most).or_else(|| pairs().max_by(most)) else {
        return fill(t.best_none, &[name]);
    };
    let queries = point.figured();
    let queries = queries.iter().find(|r| !r.queries.is_empty());
    let mut text = if let Some(run) = queries {
        let done = run
            .queries
            .iter()
            .filter(|q| q.outcome == QueryOutcome::Done);
        let count = whole(done.count() as u64);
        let seconds = three(run.elapsed_s);
        let values = [name, ("count", &*count), ("seconds", &*seconds)];
        match cell.qphh {
            Some(qphh) => {
                let qphh = three(qphh.value);
                let values = [values.as_slice(), &[("qphh", &*qphh)]].concat();
                fill(t.best_queries_composite, &values)
            }
            None => fill(t.best_queries, &values),
        }
    } else {
        let load = load_label(t, workload.axis.as_ref(), point);
        let tps = three(cell.tps());
        // A latency at one load says nothing beside one at another.
        let latency = match load.is_empty() || best_loads_agree(workload, all_cells) {
            true => latency(t, cell),
            false => String::new(),
        };
        let values = [
            name,
            ("tps", &*tps),
            ("latency", &*latency),
            ("load", load.as_str()),
        ];
        let tpmc = cell.tpmc.map(|tpmc| three(tpmc.value));
        let template = match (&tpmc, load.is_empty()) {
            (None, true) => t.best_only,
            (None, false) => t.best_at,
            (Some(_), true) => t.best_tpmc_only,
            (Some(_), false) => t.best_tpmc_at,
        };
        let tpmc = tpmc.unwrap_or_default();
        let values = [values.as_slice(), &[("tpmc", &*tpmc)]].concat();
        fill(template, &values)
    };
    let mut more = Vec::new();
    if !cell.usable {
        more.push(t.best_invalid.into());
    } else if let Some(suspect) = suspect(s, point) {
        more.push(suspect);
    }
    if let Some(efficiency) = cell.efficiency_percent {
        let percent = three(efficiency.value);
        more.push(fill(t.best_efficiency, &[("percent", &percent)]));
    }
    let price = point
        .figured()
        .into_iter()
        .find_map(|run| run.metrics.price.clone());
    if let Some((price, each)) = price.zip(cell.price_per_tpmc) {
        let (each, amount) = (three(each.value), whole(price.amount.round() as u64));
        let currency = price.currency.as_str();
        let values = [
            ("each", &*each),
            ("amount", &*amount),
            ("currency", currency),
        ];
        more.push(fill(t.best_price, &values));
    }
    let disagree = |run: &&RunDigest| run.findings.iter().any(|f| f.rule == "repeats-disagree");
    if let Some(tps) = cell
        .transactions_per_s
        .filter(|_| point.runs.iter().copied().any(|r| disagree(&r)))
    {
        let (least, most) = (three(tps.least), three(tps.most));
        more.push(fill(t.best_apart, &[("least", &least), ("most", &most)]));
    }
    if cell.usable {
        more.extend(not_told_apart(s, workload, series, cells, point));
    }
    let is_users = workload
        .axis
        .as_ref()
        .is_some_and(|a| a.kind == AxisKind::Users);
    if is_users && still_rises(series, cells) {
        let tried = pairs().next_back();
        more.push(match tried.is_some_and(|(_, highest)| highest.usable) {
            true => t.still_rising.into(),
            false => t.still_rising_usable.into(),
        });
    }
    for sentence in more {
        text += s.common.gap;
        text += &sentence;
    }
    text
}

/// That the figures of a point may mislead, with the rules that say so.
fn suspect(s: &Sources<'_>, point: &CurvePoint<'_>) -> Option<String> {
    let runs = point.figured();
    let findings = runs.iter().flat_map(|run| &run.findings);
    let suspect = findings.filter(|f| f.severity == Severity::Suspect);
    let rules: BTreeSet<&str> = suspect.map(|f| f.rule).collect();
    let rules: Vec<&str> = rules.into_iter().collect();
    let rules = rules.join(s.common.comma);
    (!rules.is_empty()).then(|| fill(s.t.best_suspect, &[("rules", &rules)]))
}

/// What follows a throughput in a sentence: the 95th percentile, the mean where only that is known,
/// or nothing.
fn latency(t: &Texts, cell: &PointResults) -> String {
    let known = [(t.best_p95, cell.p95_ms), (t.best_mean, cell.mean_ms)];
    let mut known = known.into_iter().filter_map(|(text, ms)| Some((text, ms?)));
    known.next().map_or(String::new(), |(text, ms)| {
        fill(text, &[("ms", &three(ms.value))])
    })
}

/// Loads whose throughput these runs can't tell from the highest, in a sentence.
fn not_told_apart(
    s: &Sources<'_>,
    workload: &Workload<'_>,
    series: &LoadCurve<'_>,
    cells: &[PointResults],
    best: &CurvePoint<'_>,
) -> Option<String> {
    let pairs = series.points.iter().zip(cells);
    let usable: Vec<&CurvePoint<'_>> = pairs.filter(|(_, c)| c.usable).map(|(p, _)| p).collect();
    let of_best = measured(best);
    let is_alike = |point: &&CurvePoint<'_>| {
        if std::ptr::eq(*point, best) {
            return true;
        }
        let comparison = compare_measured(&measured(point), &of_best);
        let mut metrics = comparison.metrics.iter();
        let throughput = metrics.find(|m| m.metric == Metric::Throughput);
        throughput.is_some_and(|of| match of.verdict {
            Verdict::NoDifferenceShown => true,
            // Nothing tells how sure it is: what is near may be as high.
            Verdict::NotEnough => of.ratio < NEAR,
            _ => false,
        })
    };
    let alike: Vec<usize> = (0..usable.len())
        .filter(|n| is_alike(&usable[*n]))
        .collect();
    let (first, last) = (*alike.first()?, *alike.last()?);
    if first == last {
        return None;
    }
    let label = |n: usize| load_label(s.t, workload.axis.as_ref(), usable[n]);
    if last - first + 1 == alike.len() {
        let (from, to) = (label(first), label(last));
        return Some(fill(s.t.not_told_range, &[("from", &from), ("to", &to)]));
    }
    let others = alike.iter().filter(|n| !std::ptr::eq(usable[**n], best));
    let others: Vec<String> = others.map(|n| label(*n)).collect();
    let loads = named(&others, NAMED, s.t, s.common.comma);
    Some(fill(s.t.not_told_list, &[("loads", &loads)]))
}

/// Whether every series has its highest throughput at the same load.
fn best_loads_agree(workload: &Workload<'_>, cells: &[Vec<PointResults>]) -> bool {
    let best = |cells: &Vec<PointResults>| {
        let usable = cells.iter().filter(|cell| cell.usable);
        let best = usable.max_by(|a, b| a.tps().total_cmp(&b.tps()));
        best.and_then(|cell| cell.load).map(f64::to_bits)
    };
    let loads: BTreeSet<Option<u64>> = cells.iter().map(best).collect();
    workload.axis.is_none() || loads.len() < 2
}

/// All series beside each other at one load, where each has its highest throughput at another.
fn at_equal_load(
    s: &Sources<'_>,
    workload: &Workload<'_>,
    cells: &[Vec<PointResults>],
) -> Option<String> {
    let t = s.t;
    let asks = workload
        .points()
        .any(|(_, p)| p.runs.iter().any(|r| !r.queries.is_empty()));
    if asks || best_loads_agree(workload, cells) {
        return None;
    }
    let Some(load) = common_load(cells.iter().map(|of| of.iter().collect())) else {
        return Some(fill(t.at_no_equal_load, &[("workload", &workload.name)]));
    };
    let mut label = String::new();
    let said = workload
        .series
        .iter()
        .zip(cells)
        .filter_map(|(series, cells)| {
            let mut pairs = series.points.iter().zip(cells);
            let (point, cell) = pairs.find(|(_, c)| c.usable && c.load == Some(load))?;
            label = load_label(t, workload.axis.as_ref(), point);
            let tps = three(cell.tps());
            let p95 = cell.p95_ms.map(|p| three(p.value));
            let name = series_label(t, workload, series);
            let values = [("series", &*name), ("tps", &*tps)];
            Some(match &p95 {
                Some(p95) => {
                    let values = [values.as_slice(), &[("p95", p95.as_str())]].concat();
                    fill(t.at_equal_load_of, &values)
                }
                None => fill(t.at_equal_load_rate, &values),
            })
        });
    let said: Vec<String> = said.collect();
    let series = named(&said, NAMED, t, t.semicolon);
    Some(fill(
        t.at_equal_load,
        &[("load", &label), ("series", &series)],
    ))
}

/// The load that every series was measured at, with the highest throughput of all together; series
/// without a figure that may be used are not asked.
pub(super) fn common_load<'c>(series: impl Iterator<Item = Vec<&'c PointResults>>) -> Option<f64> {
    let usable = series
        .map(|cells| -> Vec<&PointResults> { cells.into_iter().filter(|c| c.usable).collect() });
    let usable: Vec<Vec<&PointResults>> = usable.filter(|cells| !cells.is_empty()).collect();
    let at = |cells: &Vec<&PointResults>, load: f64| {
        let found = cells.iter().find(|c| c.load == Some(load));
        found.map(|cell| cell.tps())
    };
    let loads = usable.first()?.iter().filter_map(|cell| cell.load);
    let common = loads.filter_map(|load| {
        let each = usable.iter().map(|cells| at(cells, load));
        Some((each.sum::<Option<f64>>()?, load))
    });
    let best = common.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(best.1)
}

/// Findings by severity, and what is left undone.
fn believed(s: &Sources<'_>) -> Vec<String> {
    let (t, runs) = (s.t, &s.many.runs);
    let groups = findings::groups(runs);
    let mut said = Vec::new();
    for (severity, template) in [
        (Severity::Invalid, t.believe_invalid),
        (Severity::Suspect, t.believe_suspect),
        (Severity::Note, t.believe_note),
    ] {
        let of: Vec<_> = groups.iter().filter(|g| g.severity == severity).collect();
        if of.is_empty() {
            continue;
        }
        let rules: Vec<String> = of
            .iter()
            .map(|g| format!("{} {}", g.rule, g.found.len()))
            .collect();
        let has = |r: &&RunDigest| r.findings.iter().any(|f| f.severity == severity);
        let count = runs.iter().filter(has).count();
        said.push(fill(
            template,
            &[
                ("count", &whole(count as u64)),
                ("runs", &whole(runs.len() as u64)),
                ("rules", &rules.join(s.common.comma)),
            ],
        ));
    }
    if said.is_empty() && !runs.is_empty() {
        said.push(t.believe_all.into());
    }
    said.extend(left_undone(s));
    said
}

/// Runs without a result, steps that failed, and what is left to do.
fn left_undone(s: &Sources<'_>) -> Vec<String> {
    let (t, runs) = (s.t, &s.many.runs);
    let mut said = Vec::new();
    let without = runs.iter().filter(|r| !r.counts()).count() + s.many.unreadable.len();
    if without > 0 {
        said.push(fill(t.failed_runs, &[("runs", &runs_said(t, without))]));
    }
    let steps = &s.many.steps;
    let count = |states: &[StepState]| steps.iter().filter(|x| states.contains(&x.state)).count();
    let failed = count(&[StepState::Failed, StepState::Skipped]);
    if failed > 0 {
        said.push(fill(t.failed_steps, &[("count", &whole(failed as u64))]));
    }
    let left = count(&[StepState::Waiting, StepState::GoingOn]);
    if left > 0 {
        let values = [
            ("left", &*whole(left as u64)),
            ("all", &*whole(steps.len() as u64)),
        ];
        said.push(fill(t.open_steps, &values));
    }
    said
}
