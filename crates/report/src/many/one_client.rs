//! Whether one client sufficed: the same users by one client and by several.

use super::cell::PointResults;
use super::contrast::{measured, most};
use super::document::Sources;
use super::labels::series_name;
use super::matrix::{AxisKind, CurvePoint, LoadCurve, Workload};
use super::overview::clients;
use crate::compare::{needed_says, values_of};
use crate::number::{three, whole};
use crate::texts::fill;
use tidemark_analysis::compare::{Compared, Metric, TELLING, Verdict};
use tidemark_analysis::compare_measured;

/// The factor of a number of clients, by the name that studies and setups use.
const CLIENTS: &str = "clients";

/// A load with the clients that made it.
struct Load<'m> {
    clients: usize,
    series: &'m LoadCurve<'m>,
    point: &'m CurvePoint<'m>,
    cell: &'m PointResults,
}

/// What loads have in common that differ in their clients alone: factors, users, and a load that is no
/// number of users.
type Common<'m> = (Vec<&'m str>, usize, Option<u64>);

/// A sentence for each load that was made by one client and by several.
pub(super) fn sentences(s: &Sources<'_>) -> Vec<String> {
    let workloads = s.workloads();
    workloads.flat_map(|(w, cells)| of(s, w, cells)).collect()
}

fn of(s: &Sources<'_>, workload: &Workload<'_>, cells: &[Vec<PointResults>]) -> Vec<String> {
    let mut groups: Vec<(Common<'_>, Vec<Load<'_>>)> = Vec::new();
    for (series, cells) in workload.series.iter().zip(cells) {
        for (point, cell) in series.points.iter().zip(cells) {
            let load = Load {
                clients: clients(point, cell),
                series,
                point,
                cell,
            };
            if !cell.usable || !is_told_by_users(workload, &load) {
                continue;
            }
            let common = common(workload, &load);
            match groups.iter_mut().find(|(known, _)| *known == common) {
                Some((_, loads)) => loads.push(load),
                None => groups.push((common, vec![load])),
            }
        }
    }
    let said = groups.iter();
    said.filter_map(|(_, loads)| sentence(s, workload, loads))
        .collect()
}

fn common<'m>(workload: &'m Workload<'_>, load: &Load<'m>) -> Common<'m> {
    let factors = workload.factors.iter().zip(&load.series.values);
    let others = factors.filter(|(name, _)| name.as_str() != CLIENTS);
    let is_users = of_users(workload).is_some();
    let other_load = load.cell.load.filter(|_| !is_users);
    (
        others.map(|(_, value)| value.as_str()).collect(),
        load.cell.users,
        other_load.map(f64::to_bits),
    )
}

/// The name of an axis of users.
fn of_users<'w>(workload: &'w Workload<'_>) -> Option<&'w str> {
    let axis = workload.axis.as_ref();
    let axis = axis.filter(|axis| axis.kind == AxisKind::Users);
    axis.map(|axis| axis.name.as_str())
}

/// Whether the axis says no more of a point than its users and clients do: it has the users of all or of
/// each client, or the clients.
fn is_told_by_users(workload: &Workload<'_>, load: &Load<'_>) -> bool {
    let users = load.cell.users as f64;
    let is_users = |n: f64| n == users || n * load.clients as f64 == users;
    match of_users(workload) {
        None | Some(CLIENTS) => true,
        Some(_) => load.cell.load.is_some_and(is_users),
    }
}

fn sentence(s: &Sources<'_>, workload: &Workload<'_>, loads: &[Load<'_>]) -> Option<String> {
    let s = &s.of_unit(workload.unit());
    let t = s.t;
    let one = loads.iter().find(|load| load.clients == 1)?;
    let mut several: Vec<&Load<'_>> = loads.iter().filter(|load| load.clients > 1).collect();
    several.sort_by_key(|load| load.clients);
    let compared = several.into_iter();
    let compared = compared.filter_map(|load| Some((load.clients, throughput(one, load)?)));
    let compared: Vec<(usize, Compared)> = compared.collect();
    if compared.is_empty() {
        return None;
    }
    let is_more = |of: &Compared| of.verdict == Verdict::Faster;
    let is_limit = compared.iter().any(|(_, of)| is_more(of));
    let suffices = compared.iter().all(|(_, of)| is_no_more(of));
    let template = match (is_limit, suffices) {
        (true, _) => t.clients_limit,
        (false, true) => t.clients_suffice,
        (false, false) => t.clients_unclear,
    };
    let each = compared.iter().map(|(clients, of)| {
        let words = values_of(of, s.lang);
        let word = |n: usize| words.get(n).map_or("–", String::as_str);
        let clients = whole(*clients as u64);
        let values = [
            ("n", clients.as_str()),
            ("tps", word(1)),
            ("change", word(2)),
            ("interval", word(3)),
        ];
        let template = match of.interval {
            Some(_) => t.clients_each,
            None => t.clients_each_unknown,
        };
        fill(template, &values)
    });
    let each = each.collect::<Vec<_>>().join(t.semicolon);
    // The changes are of the comparison's means, and not of the overview's.
    let tps = compared.first().map_or(f64::NAN, |(_, of)| of.a);
    let (users, tps) = (whole(one.cell.users as u64), three(tps));
    let values = [("users", &*users), ("tps", &*tps), ("each", &*each)];
    let mut said = vec![fill(t.clients_compared, &values)];
    let is_repeated = loads.iter().any(|load| load.cell.repeats_count > 1);
    said.extend(is_repeated.then(|| t.clients_means.into()));
    if !is_limit && !suffices {
        let needed = compared.iter().filter_map(|(_, of)| of.needed).reduce(most);
        said.extend(needed.map(|needed| needed_says(needed, s.lang)));
    }
    let name = series_name(t, workload, one.series);
    let said = said.join(s.common.gap);
    Some(fill(template, &[("workload", &name), ("said", &said)]))
}

fn throughput(one: &Load<'_>, several: &Load<'_>) -> Option<Compared> {
    let comparison = compare_measured(&measured(one.point), &measured(several.point));
    let mut metrics = comparison.metrics.into_iter();
    let found = metrics.find(|of| of.metric == Metric::Throughput);
    found.filter(|of| of.verdict != Verdict::Invalid)
}

/// Whether it is shown that several clients made no more that would matter.
fn is_no_more(of: &Compared) -> bool {
    match of.verdict {
        Verdict::Slower => true,
        Verdict::NoDifferenceShown => of.interval.is_some_and(|(_, high)| high <= 1.0 + TELLING),
        _ => false,
    }
}
