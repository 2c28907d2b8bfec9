//! Figures that follow from others: totals, rates, sums.

use super::finding;
use super::view::{ImportedRun, Range};
use super::{document, intervals, tools};
use crate::texts::follows;
use crate::texts::summary_mismatch::{INSTEAD_STATED, STATED};
use crate::thresholds::{BETWEEN_EVENTS_S, STATED_APART};
use crate::{Figure, Finding, Severity};

pub(super) const ID: &str = "summary-mismatch";

/// A figure of a part, and what it follows from.
pub(super) struct Equation {
    pub of: String,
    pub name: String,
    pub follows: &'static str,
    pub stated: Option<Range>,
    pub made: Option<Range>,
    pub share: f64,
    pub apart: f64,
}

pub(super) fn check(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let all: Vec<Equation> = of_types(view)
        .into_iter()
        .chain(of_run(view))
        .chain(of_sums(view))
        .chain(tools::equations(view))
        .chain(document::equations(view))
        .chain(of_changes(view))
        .chain(of_ratios(view))
        .filter(|e| e.stated.is_some() && e.made.is_some())
        .collect();
    let over_time = intervals::mismatches(view);
    let row = document::other_statements(view);
    let unlikely = tools::unlikely(view);
    if all.is_empty()
        && unlikely.is_empty()
        && over_time.is_none()
        && view.beside("others_statements_each").is_none()
    {
        return None;
    }
    let mut found: Vec<Finding> = row.into_iter().collect();
    for e in all {
        let (Some(stated), Some(made)) = (e.stated, e.made) else {
            continue;
        };
        if !stated.may_be(made, e.share, e.apart) {
            let name = match e.of.as_str() {
                "" => e.name,
                of => format!("{of} {}", e.name),
            };
            found.push(mismatch(
                &name,
                stated.value,
                e.follows,
                made.value,
                stated.line,
            ));
        }
    }
    found.extend(over_time.unwrap_or_default());
    found.extend(unlikely);
    Some(found)
}

pub(super) fn mismatch(name: &str, stated: f64, from: &str, made: f64, line: u64) -> Finding {
    told(Severity::Invalid, name, stated, from, made, line)
}

/// The same where something rare may explain it.
pub(super) fn told(
    severity: Severity,
    name: &str,
    stated: f64,
    from: &str,
    made: f64,
    line: u64,
) -> Finding {
    let figures = vec![
        ("line", Figure::Count(line)),
        ("name", Figure::Text(name.into())),
        ("stated", Figure::Number(stated)),
        ("from", follows_from(from)),
        ("made", Figure::Number(made)),
    ];
    finding(ID, severity, STATED, INSTEAD_STATED, figures)
}

/// By how many percent two runs of a table are said to differ. A fall may be stated without its sign,
/// and some divide by the newer figure, or state the ratio; with a sign that can mean nothing else, rises
/// are positive.
fn of_changes(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    for figure in view.imported.figures.iter().filter(|f| f.of.is_empty()) {
        let Some(name) = figure.name.strip_suffix("_change_percent") else {
            continue;
        };
        let base = view.all(&format!("{name}_base"));
        let (Some(new), Some(base)) = (view.all(name), base) else {
            continue;
        };
        let stated = Range::of(figure);
        let ratio = |a: Range, b: Range, offset: f64, sign: f64| {
            let r = a.per(b);
            let of = |x: f64| sign * (x - offset) * 100.0;
            Range {
                value: of(r.value),
                low: of(r.low).min(of(r.high)),
                high: of(r.low).max(of(r.high)),
                line: figure.line,
            }
        };
        let usual = ratio(new, base, 1.0, 1.0);
        let all_forms = [
            usual,
            ratio(base, new, 1.0, -1.0),
            ratio(new, base, 1.0, -1.0),
            ratio(base, new, 1.0, 1.0),
            ratio(new, base, 0.0, 1.0),
        ];
        let is_signed = view.all(&format!("{name}_change_signed")).is_some();
        let forms = if is_signed { 2 } else { all_forms.len() };
        let meant = all_forms
            .into_iter()
            .take(forms)
            .find(|made| stated.may_be(*made, 0.0, 0.0));
        all.push(Equation {
            of: name.into(),
            name: "change_percent".into(),
            follows: "change",
            stated: Some(stated),
            made: Some(meant.unwrap_or(usual)),
            share: 0.0,
            apart: 0.0,
        });
    }
    all
}

/// How many times one run's figure is the other's, either way round.
fn of_ratios(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    for figure in view.imported.figures.iter().filter(|f| f.of.is_empty()) {
        let Some(name) = figure.name.strip_suffix("_ratio") else {
            continue;
        };
        let base = view.all(&format!("{name}_base"));
        let (Some(new), Some(base)) = (view.all(name), base) else {
            continue;
        };
        let stated = Range::of(figure);
        let (usual, other) = (new.per(base), base.per(new));
        let made = match stated.may_be(other, 0.0, 0.0) {
            true => other,
            false => usual,
        };
        all.push(Equation {
            of: name.into(),
            name: "ratio".into(),
            follows: "ratio",
            stated: Some(stated),
            made: Some(made),
            share: 0.0,
            apart: 0.0,
        });
    }
    all
}

/// A formula as it is, words in the reader's language.
fn follows_from(from: &str) -> Figure {
    let words = [
        ("sum of statuses", follows::STATUSES),
        ("sum of clients", follows::CLIENTS),
        ("sum of histogram", follows::HISTOGRAM),
        ("sum of operations", follows::OPERATIONS),
        ("run finished", follows::FINISHED),
        ("count before", follows::BEFORE),
        ("time before", follows::TIME_BEFORE),
        ("percentiles of intervals", follows::PERCENTILES),
        ("types", follows::TYPES),
        ("clients apart", follows::CLIENTS_APART),
        ("other rows", follows::ROWS),
        ("threads", follows::THREADS),
        ("change", follows::CHANGE),
        ("ratio", follows::RATIO),
    ];
    let known = words.iter().find(|(name, _)| *name == from);
    known.map_or(Figure::Text(from.into()), |(_, words)| {
        Figure::Words(*words)
    })
}

fn of_types(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    for of in view.parts() {
        let get = |name: &str| view.of(of, name);
        let mut add = |name: &str, follows, stated, made, share, apart| {
            all.push(Equation {
                of: of.into(),
                name: name.into(),
                follows,
                stated,
                made,
                share,
                apart,
            });
        };
        let (count, elapsed) = (get("count"), get("elapsed_s"));
        let rate = count.zip(elapsed).map(|(n, s)| n.per(s));
        add(
            "rate",
            "count / elapsed_s",
            get("rate"),
            rate,
            STATED_APART,
            0.0,
        );
        let minute = rate.map(|r| r.times(Range::exact(60.0, r.line)));
        add(
            "per_minute",
            "count / elapsed_s × 60",
            get("per_minute"),
            minute,
            STATED_APART,
            0.0,
        );
        // Some tools round each latency to a few hundredths of a millisecond; sysbench does not.
        let sum = count.zip(get("mean_ms")).map(|(n, ms)| n.times(ms));
        let each = if view.imported.tool == "sysbench" {
            0.0
        } else {
            0.04
        };
        let cut = count.map_or(0.0, |n| n.value * each);
        add(
            "sum_ms",
            "count × mean_ms",
            get("sum_ms"),
            sum,
            STATED_APART,
            cut,
        );
        // What a status counts adds up.
        let figures = view.imported.figures.iter();
        let statuses = figures.filter(|f| f.of == of && f.name.starts_with("return_"));
        let statuses = statuses.map(Range::of).reduce(Range::plus);
        // Who counts what failed apart counts every status.
        let failed = view.of("errors", of);
        let all = match (count, failed) {
            (Some(count), Some(failed)) => Some(count.plus(failed)),
            (count, _) => count,
        };
        add("count", "sum of statuses", all, statuses, STATED_APART, 0.0);
    }
    all
}

fn of_run(view: &ImportedRun<'_>) -> Vec<Equation> {
    let get = |name: &str| view.all(name);
    let mut all = Vec::new();
    let mut add = |name: &str, follows, stated, made, share, apart| {
        all.push(Equation {
            of: String::new(),
            name: name.into(),
            follows,
            stated,
            made,
            share,
            apart,
        });
    };
    let plus = |a: Option<Range>, b: Option<Range>| a.zip(b).map(|(a, b)| a.plus(b));
    let parts = plus(plus(get("read"), get("write")), get("other"));
    add(
        "statement_sum",
        "read + write + other",
        get("statement_sum"),
        parts,
        0.0,
        0.0,
    );
    add(
        "statements",
        "statement_sum",
        get("statements"),
        get("statement_sum"),
        0.0,
        0.0,
    );
    add(
        "read_write",
        "read + write",
        get("read_write"),
        plus(get("read"), get("write")),
        0.0,
        0.0,
    );
    add(
        "other_operations",
        "other",
        get("other_operations"),
        get("other"),
        0.0,
        0.0,
    );
    let each = |name: &str| get(name).zip(get("elapsed_s")).map(|(n, s)| n.per(s));
    for (rate, count, follows) in [
        ("statement_rate", "statements", "statements / elapsed_s"),
        ("read_write_rate", "read_write", "read_write / elapsed_s"),
        (
            "other_operations_rate",
            "other_operations",
            "other_operations / elapsed_s",
        ),
        (
            "ignored_error_rate",
            "ignored_errors",
            "ignored_errors / elapsed_s",
        ),
        ("reconnect_rate", "reconnects", "reconnects / elapsed_s"),
        ("event_rate", "events", "events / elapsed_s"),
        ("mib_rate", "transferred_mib", "transferred_mib / elapsed_s"),
    ] {
        add(rate, follows, get(rate), each(count), STATED_APART, 0.0);
    }
    let errors = get("ignored_errors").map_or(0.0, |e| e.value);
    let sessions = view.sessions().unwrap_or(0.0);
    // Of transactions that are begun and not ended a tool counts one or the other.
    add(
        "events",
        "count",
        get("events"),
        get("count"),
        0.001,
        errors + sessions,
    );
    if let Some(sessions) = view.sessions() {
        let times =
            |name: &str, by: f64| get(name).map(|v| v.times(Range::exact(sessions * by, v.line)));
        add(
            "events",
            "events_avg × sessions",
            get("events"),
            times("events_avg", 1.0),
            0.001,
            0.0,
        );
        add(
            "sum_ms",
            "time_avg_s × sessions",
            get("sum_ms"),
            times("time_avg_s", 1000.0),
            0.005,
            0.0,
        );
    }
    // A session works no longer than the run lasts, and sysbench's work all the time but for what
    // each event takes to begin and end.
    let busy = get("time_avg_s");
    let between = get("events").zip(view.sessions());
    let between = between.map_or(0.0, |(n, sessions)| n.value / sessions * BETWEEN_EVENTS_S);
    if view.is_closed() && !view.flushes_apart() {
        add(
            "time_avg_s",
            "elapsed_s",
            busy,
            get("elapsed_s"),
            STATED_APART,
            latest(view) + between,
        );
    }
    add(
        "elapsed_s",
        "count / rate",
        get("elapsed_s"),
        get("events").zip(get("rate")).map(|(n, r)| n.per(r)),
        STATED_APART,
        0.0,
    );
    let new_orders = view.of("NewOrder", "per_minute").or_else(|| {
        let made = view
            .of("NewOrder", "count")
            .zip(view.of("NewOrder", "elapsed_s").or(get("elapsed_s")));
        made.map(|(n, s)| n.per(s).times(Range::exact(60.0, n.line)))
    });
    add(
        "tpmc",
        "NewOrder × 60 / elapsed_s",
        get("tpmc"),
        new_orders,
        STATED_APART,
        0.0,
    );
    all
}

/// Seconds of the slowest transaction: by so much ends may differ.
pub(super) fn latest(view: &ImportedRun<'_>) -> f64 {
    view.all("max_ms").map_or(0.0, |ms| ms.value / 1000.0)
}

fn of_sums(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    let mut add = |of: &str, name: &str, follows, stated, made, share, apart| {
        all.push(Equation {
            of: of.into(),
            name: name.into(),
            follows,
            stated,
            made,
            share,
            apart,
        });
    };
    let figures = &view.imported.figures;
    let sum = |keep: &dyn Fn(&str, &str) -> bool| {
        let kept = figures.iter().filter(|f| keep(&f.of, &f.name));
        kept.map(Range::of).reduce(Range::plus)
    };
    for name in ["rate", "tpmc", "nopm", "count", "statement_rate"] {
        let clients = sum(&|of, n| of.starts_with("client ") && n == name);
        add(
            "",
            name,
            "sum of clients",
            view.all(name),
            clients,
            0.001,
            0.0,
        );
    }
    let buckets = sum(&|of, _| of == "histogram");
    let errors = view.all("ignored_errors").map_or(0.0, |e| e.value);
    let events = view.all("events").or(view.all("count"));
    add(
        "",
        "events",
        "sum of histogram",
        events,
        buckets,
        0.001,
        errors,
    );
    all
}
