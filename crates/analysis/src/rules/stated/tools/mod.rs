//! Equations between figures that one tool alone prints, or that some do.

mod benchmarksql;
mod types;

use super::equations::{Equation, latest, told};
use super::view::{ImportedRun, Range};
use crate::thresholds::{CHANCE, COMMITS_MOST, ORDERS_APART, STATED_APART, STATED_TIME_APART};
use crate::tpcc::{DEFERRED, TYPE_REQUIREMENTS};
use crate::{Finding, Severity};

/// Those of the run's tool.
pub(super) fn equations(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = match view.imported.tool.as_str() {
        "tpcc-mysql" => tpcc_mysql(view),
        "pgbench" => pgbench(view),
        "mysqlslap" => mysqlslap(view),
        "go-tpc" => go_tpc(view),
        "k6" => k6(view),
        "hammerdb" => hammerdb(view),
        "benchbase" => benchbase(view),
        "benchmarksql" => benchmarksql::equations(view),
        _ => Vec::new(),
    };
    all.extend(types::equations(view));
    all
}

/// `sides`: what is stated, and what is made of others.
fn equation(
    name: &str,
    follows: &'static str,
    sides: (Option<Range>, Option<Range>),
    share: f64,
    apart: f64,
) -> Equation {
    Equation {
        of: String::new(),
        name: name.into(),
        follows,
        stated: sides.0,
        made: sides.1,
        share,
        apart,
    }
}

fn plus(a: Option<Range>, b: Option<Range>) -> Option<Range> {
    a.zip(b).map(|(a, b)| a.plus(b))
}

fn tpcc_mysql(view: &ImportedRun<'_>) -> Vec<Equation> {
    let done = plus(view.of("NewOrder", "in_time"), view.of("NewOrder", "late"));
    let seconds = view.number("time").filter(|s| *s > 0.0);
    let made = done
        .zip(seconds)
        .map(|(n, s)| n.times(Range::exact(60.0 / s, n.line)));
    let sides = (view.all("tpmc"), made);
    let follows = "NewOrder × 60 / time";
    vec![equation("tpmc", follows, sides, STATED_TIME_APART, 0.0)]
}

fn pgbench(view: &ImportedRun<'_>) -> Vec<Equation> {
    let get = |name: &str| view.all(name);
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
    let sides = (get("count"), made);
    vec![equation(
        "count",
        "rate × time",
        sides,
        STATED_TIME_APART,
        late,
    )]
}

fn mysqlslap(view: &ImportedRun<'_>) -> Vec<Equation> {
    let get = |name: &str| view.all(name);
    // All but one run took no less than the shortest, and no more than the longest.
    let others = view.number("iterations").map_or(f64::INFINITY, |n| n - 1.0);
    let share = 1.0 / (others + 1.0).max(1.0);
    let within = get("shortest_s").zip(get("longest_s"));
    let within = within.map(|(a, b)| Range {
        low: a.low + (b.low - a.low) * share,
        high: b.high - (b.high - a.high) * share,
        ..a
    });
    let follows = "shortest_s … longest_s";
    let time = equation("elapsed_s", follows, (get("elapsed_s"), within), 0.0, 0.0);
    // Each client has the same number of queries; what is left over goes to none.
    let asked = view.number("number-of-queries").filter(|n| *n > 0.0);
    let made = asked.zip(view.sessions()).map(|(n, clients)| {
        let line = view.line_of("number-of-queries");
        Range::exact(n / clients, line)
    });
    let follows = "number-of-queries / clients";
    let sides = (get("queries_per_client"), made);
    vec![
        time,
        equation("queries_per_client", follows, sides, 0.0, 1.0),
    ]
}

fn go_tpc(view: &ImportedRun<'_>) -> Vec<Equation> {
    let mut all = Vec::new();
    let each = TYPE_REQUIREMENTS.iter().filter(|t| t.name != DEFERRED);
    let each = each.map(|t| view.of(t.name, "per_minute"));
    // Whoever quotes some types' lines has no sum.
    if let Some(sum) = each
        .collect::<Option<Vec<Range>>>()
        .and_then(|all| all.into_iter().reduce(Range::plus))
    {
        // Transactions that failed may be counted in it or not.
        let failed = view.imported.figures.iter();
        let failed = failed.filter(|f| f.of == "failed" && f.name.ends_with(" per_minute"));
        let failed: f64 = failed.map(|f| f.value).sum();
        let sum = Range {
            high: sum.high + failed,
            ..sum
        };
        let sides = (view.all("tpm_total"), Some(sum));
        all.push(equation("tpm_total", "types", sides, STATED_APART, 0.0));
    }
    let errors = view.imported.figures.iter().filter(|f| f.of == "errors");
    for error in errors {
        let count = Range::of(error);
        let get = |name: &str| view.of("failed", &format!("{} {name}", error.name));
        let minute = get("elapsed_s").map(|s| {
            let minute = Range::exact(60.0, count.line);
            count.per(s).times(minute)
        });
        let sum = get("mean_ms").map(|ms| count.times(ms));
        let name = |name: &str| format!("{} ERR {name}", error.name);
        // Latencies are printed to a tenth of a millisecond.
        let cut = count.value * 0.1;
        for (what, follows, made, apart) in [
            ("per_minute", "count / elapsed_s × 60", minute, 0.0),
            ("sum_ms", "count × mean_ms", sum, cut),
        ] {
            let sides = (get(what), made);
            all.push(equation(&name(what), follows, sides, STATED_APART, apart));
        }
    }
    all
}

fn k6(view: &ImportedRun<'_>) -> Vec<Equation> {
    let get = |name: &str| view.all(name);
    let per = |n: &str, each: &str| get(n).zip(get(each)).map(|(n, each)| n.per(each));
    let percent = get("requests_failed").zip(get("requests"));
    let percent = percent.map(|(bad, all)| bad.per(all).times(Range::exact(100.0, bad.line)));
    let requests = plus(get("requests_failed"), get("requests_good"));
    vec![
        // Both rates are of the whole run.
        equation(
            "count / rate",
            "requests / request_rate",
            (per("count", "rate"), per("requests", "request_rate")),
            STATED_APART,
            0.0,
        ),
        equation(
            "requests",
            "requests_failed + requests_good",
            (get("requests"), requests),
            0.0,
            0.0,
        ),
        equation(
            "error_share",
            "requests_failed / requests",
            (get("error_share"), percent),
            STATED_APART,
            0.0,
        ),
    ]
}

fn hammerdb(view: &ImportedRun<'_>) -> Vec<Equation> {
    let asked = view.number("time").filter(|s| *s > 0.0);
    let minutes = asked.map(|s| Range::exact(s / 60.0, view.line_of("time")));
    // Both are whole minutes.
    let stated = view.all("minutes_elapsed");
    let stated = stated.map(|n| Range::exact(n.value, n.line));
    let sides = (stated, minutes);
    vec![equation("minutes_elapsed", "time / 60", sides, 0.0, 0.0)]
}

/// BenchBase's goodput is of all transactions that were completed; those that it measured are among all
/// that came to an end. What came to an end is counted in the warm-up as well.
fn benchbase(view: &ImportedRun<'_>) -> Vec<Equation> {
    let sum = |outcome: &str| {
        let figures = view.imported.figures.iter();
        let kept = figures.filter(|f| f.name == outcome || f.of == outcome);
        kept.map(Range::of).reduce(Range::plus)
    };
    let Some(completed) = sum("completed") else {
        return Vec::new();
    };
    let elapsed = view.all("elapsed_s");
    let good = view.all("goodput").zip(elapsed).map(|(r, s)| r.times(s));
    let follows = "goodput × elapsed_s";
    let good = equation(
        "completed",
        follows,
        (Some(completed), good),
        STATED_APART,
        0.0,
    );
    let measured = sum("aborted").map_or(completed, |aborted| completed.plus(aborted));
    let ended = sum("errors").map_or(measured, |errors| measured.plus(errors));
    // A transaction of each terminal is in progress at the end.
    let is_all = view.number("warmup-time") == Some(0.0);
    let open = view.sessions().filter(|_| is_all);
    let among = Range {
        low: open.map_or(0.0, |open| measured.low - open),
        high: ended.high,
        ..measured
    };
    let count = (view.all("count"), Some(among));
    vec![good, equation("count", "types", count, STATED_APART, 0.0)]
}

/// Figures that contradict each other unless something rare explains it.
pub(super) fn unlikely(view: &ImportedRun<'_>) -> Vec<Finding> {
    match view.imported.tool.as_str() {
        "benchmarksql" => benchmarksql::unlikely(view),
        _ => orders_of_all(view).into_iter().collect(),
    }
}

/// HammerDB's New-Orders a minute beside all transactions: of 23 transactions 10 are New-Orders. The
/// database may commit more often than that, and others may use it, but nothing makes fewer of them,
/// unless its script was changed.
fn orders_of_all(view: &ImportedRun<'_>) -> Option<Finding> {
    let is_its = view.imported.tool == "hammerdb";
    let (all, orders) = view.all("tpm").zip(view.all("nopm")).filter(|_| is_its)?;
    // Of no New-Order, and of more than there are transactions, other rules speak.
    let orders = Some(orders).filter(|n| n.value > 0.0 && n.value <= all.value)?;
    let made = orders.value * 23.0 / 10.0;
    let apart = ORDERS_APART + CHANCE / orders.value.sqrt();
    let is_few = all.high < made * (1.0 - apart);
    let is_many = all.low > made * COMMITS_MOST * (1.0 + apart);
    (is_few || is_many).then(|| {
        let from = "NOPM × 23 / 10";
        told(Severity::Suspect, "tpm", all.value, from, made, all.line)
    })
}
