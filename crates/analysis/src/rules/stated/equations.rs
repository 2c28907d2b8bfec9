//! Figures that follow from others: totals, rates, sums.

use super::finding;
use super::intervals;
use super::view::{Range, View};
use crate::texts::follows;
use crate::texts::summary_mismatch::{INSTEAD_STATED, STATED};
use crate::thresholds::{BETWEEN_EVENTS_S, STATED_APART, STATED_TIME_APART};
use crate::{Figure, Finding, Severity};

const ID: &str = "summary-mismatch";

/// `name` is what it follows from.
struct Equation {
    of: String,
    name: &'static str,
    follows: &'static str,
    stated: Option<Range>,
    made: Option<Range>,
    share: f64,
    apart: f64,
}

pub(super) fn check(view: &View<'_>) -> Option<Vec<Finding>> {
    let all: Vec<Equation> = of_types(view)
        .into_iter()
        .chain(of_run(view))
        .chain(of_sums(view))
        .chain(of_changes(view))
        .filter(|e| e.stated.is_some() && e.made.is_some())
        .collect();
    let over_time = intervals::mismatches(view);
    if all.is_empty() && over_time.is_none() {
        return None;
    }
    let mut found: Vec<Finding> = Vec::new();
    for e in all {
        let (Some(stated), Some(made)) = (e.stated, e.made) else {
            continue;
        };
        if !stated.may_be(made, e.share, e.apart) {
            let name = match e.of.as_str() {
                "" => e.name.to_string(),
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
    Some(found)
}

pub(super) fn mismatch(name: &str, stated: f64, from: &str, made: f64, line: u64) -> Finding {
    let figures = vec![
        ("line", Figure::Count(line)),
        ("name", Figure::Text(name.into())),
        ("stated", Figure::Number(stated)),
        ("from", follows_from(from)),
        ("made", Figure::Number(made)),
    ];
    finding(ID, Severity::Invalid, STATED, INSTEAD_STATED, figures)
}

/// By how many percent two runs of a table are said to differ. A fall may be stated without its sign,
/// and some divide by the newer figure, or state the ratio.
fn of_changes(view: &View<'_>) -> Vec<Equation> {
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
        let others = [
            usual,
            ratio(new, base, 1.0, -1.0),
            ratio(base, new, 1.0, -1.0),
            ratio(base, new, 1.0, 1.0),
            ratio(new, base, 0.0, 1.0),
        ];
        let meant = others
            .into_iter()
            .find(|made| stated.may_be(*made, 0.0, 0.0));
        all.push(Equation {
            of: name.into(),
            name: "change_percent",
            follows: "(new / old − 1) × 100",
            stated: Some(stated),
            made: Some(meant.unwrap_or(usual)),
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
        ("mean of intervals", follows::INTERVALS),
    ];
    let known = words.iter().find(|(name, _)| *name == from);
    known.map_or(Figure::Text(from.into()), |(_, words)| {
        Figure::Words(*words)
    })
}

fn of_types(view: &View<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    for of in view.parts() {
        let get = |name: &str| view.of(of, name);
        let mut add = |name, follows, stated, made, share, apart| {
            all.push(Equation {
                of: of.into(),
                name,
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
        // YCSB counts what failed apart, and every status.
        let failed = view.of("errors", of);
        let all = match (count, failed) {
            (Some(count), Some(failed)) => Some(count.plus(failed)),
            (count, _) => count,
        };
        add("count", "sum of statuses", all, statuses, STATED_APART, 0.0);
    }
    all
}

fn of_run(view: &View<'_>) -> Vec<Equation> {
    let get = |name: &str| view.all(name);
    let mut all = Vec::new();
    let mut add = |name, follows, stated, made, share, apart| {
        all.push(Equation {
            of: String::new(),
            name,
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
    if view.is_closed() {
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
    if view.imported.tool == "tpcc-mysql" {
        let done = plus(view.of("NewOrder", "in_time"), view.of("NewOrder", "late"));
        let seconds = view.number("time").filter(|s| *s > 0.0);
        let made = done
            .zip(seconds)
            .map(|(n, s)| n.times(Range::exact(60.0 / s, n.line)));
        add(
            "tpmc",
            "NewOrder × 60 / time",
            get("tpmc"),
            made,
            STATED_TIME_APART,
            0.0,
        );
    }
    if view.imported.tool == "pgbench" {
        // The rate leaves out connecting, and the time is the one asked for.
        let asked = view.number("time").filter(|s| *s > 0.0);
        let connecting = get("connecting_ms").map_or(0.0, |ms| ms.high / 1000.0);
        let made = get("rate").zip(asked).map(|(r, s)| {
            r.times(Range {
                low: s - connecting,
                ..Range::exact(s, r.line)
            })
        });
        // What runs at the end is waited for; pgbench does not print its slowest.
        let slow = get("mean_ms").map_or(0.0, |ms| 2.0 * ms.value / 1000.0);
        let late = get("rate").map_or(0.0, |r| r.value * (0.2 + latest(view).max(slow)));
        add(
            "count",
            "rate × time",
            get("count"),
            made,
            STATED_TIME_APART,
            late,
        );
    }
    if view.imported.tool == "mysqlslap" {
        let (least, most) = (get("shortest_s"), get("longest_s"));
        let within = least.zip(most).map(|(a, b)| Range {
            low: a.low,
            high: b.high,
            ..a
        });
        add(
            "elapsed_s",
            "shortest_s … longest_s",
            get("elapsed_s"),
            within,
            0.0,
            0.0,
        );
    }
    all
}

/// Seconds of the slowest transaction: by so much ends may differ.
fn latest(view: &View<'_>) -> f64 {
    view.all("max_ms").map_or(0.0, |ms| ms.value / 1000.0)
}

fn of_sums(view: &View<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    let mut add = |of: &str, name, follows, stated, made, share, apart| {
        all.push(Equation {
            of: of.into(),
            name,
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
    if view.imported.tool == "ycsb" && !view.nested() {
        let of_types = view
            .types()
            .into_iter()
            .filter_map(|of| view.of(of, "count"));
        let done = of_types.reduce(Range::plus);
        // The whole counts what failed, too.
        let done = match (done, view.failed()) {
            (Some(done), Some(failed)) => Some(done.plus(failed)),
            (done, _) => done,
        };
        let made = view
            .all("rate")
            .zip(view.all("elapsed_s"))
            .map(|(r, s)| r.times(s));
        add(
            "",
            "rate × elapsed_s",
            "sum of operations",
            made,
            done,
            STATED_APART,
            0.0,
        );
    }
    if view.imported.tool == "go-ycsb" {
        // All types end together.
        for of in view.types() {
            let by = view
                .all("elapsed_s")
                .map_or(0.0, |s| 1.0 + s.value * STATED_APART);
            add(
                of,
                "elapsed_s",
                "run finished",
                view.of(of, "elapsed_s"),
                view.all("elapsed_s"),
                0.0,
                by,
            );
        }
        let asked = view
            .number("operationcount")
            .filter(|_| view.option("maxexecutiontime").is_none());
        let is_run = view.option("command") != Some("load");
        if let (Some(asked), true, false) = (asked, is_run, view.nested()) {
            let done = match (view.count(), view.failed()) {
                (Some(done), Some(failed)) => Some(done.plus(failed)),
                (done, _) => done,
            };
            let line = view.line_of("operationcount");
            let by = view.sessions().unwrap_or(1.0);
            add(
                "",
                "count",
                "operationcount",
                done,
                Some(Range::exact(asked, line)),
                STATED_APART,
                by,
            );
        }
    }
    all
}
