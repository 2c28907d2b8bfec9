//! Lines over time, one by one, beside what the whole run states.

use super::equations::mismatch;
use super::view::ImportedRun;
use crate::Finding;
use crate::thresholds::{
    COUNTED_LATER_S, INTERVALS_WHOLE, PERCENTILES_APART, STATED_APART, STATED_COUNTS_APART,
    STATED_TIME_APART, USERS_SEEN,
};
use tidemark_core::Source;
use tidemark_core::record::StatedInterval;

/// Lines that the whole run or their neighbours deny.
pub(super) fn mismatches(view: &ImportedRun<'_>) -> Vec<Finding> {
    let tool = view.imported.tool.as_str();
    // Lines of other tools may be of several things at one moment.
    let mut found = match view.tool().lines_in_order {
        true => order(view),
        false => Vec::new(),
    };
    match tool {
        "sysbench" => {
            found.extend(sessions(view));
            found.extend(percentile(view));
        }
        "pgbench" => found.extend(clients(view)),
        "benchbase" => found.extend(windows(view)),
        _ => {}
    }
    found.extend(operations(view));
    found
}

/// Time that goes back.
fn order(view: &ImportedRun<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut before: Vec<&StatedInterval> = Vec::new();
    // Lines of types that are printed one after the other have the latest moment of all of them.
    let all = view.imported.intervals.iter();
    for i in all.filter(|i| i.cumulative || i.of.is_empty()) {
        match before.iter_mut().find(|b| b.of == i.of) {
            Some(last) => {
                // Cumulative lines may be of one moment: the last is printed again at the end.
                let is_back = i.end_s < last.end_s || !i.cumulative && i.end_s == last.end_s;
                if is_back {
                    let name = format!("{} time", i.of);
                    found.push(mismatch(
                        name.trim(),
                        i.end_s,
                        "time before",
                        last.end_s,
                        i.line,
                    ));
                }
                *last = i;
            }
            None => before.push(i),
        }
    }
    for last in before.iter().filter(|i| i.cumulative) {
        let end = view.of(&last.of, "elapsed_s");
        if let Some(end) = end.filter(|end| end.high < last.end_s) {
            let name = format!("{} elapsed_s", last.of);
            found.push(mismatch(
                &name,
                end.value,
                "time before",
                last.end_s,
                end.line,
            ));
        }
    }
    found
}

/// More sessions than there were.
fn sessions(view: &ImportedRun<'_>) -> Vec<Finding> {
    // A command may be of another output.
    let option = view.record.options.get("threads");
    let stated = option.filter(|o| o.source == Source::Output);
    let Some(threads) = stated.and_then(|o| o.value.parse::<f64>().ok()) else {
        return Vec::new();
    };
    let lines = view.imported.intervals.iter();
    let more = lines.filter_map(|i| Some((i, i.sessions.filter(|s| *s > threads)?)));
    more.map(|(i, s)| mismatch("thds", s, "threads", threads, i.line))
        .collect()
}

/// Statements of one kind, where each transaction has as many: `each` of all kinds.
pub(super) fn kinds(view: &ImportedRun<'_>, i: &StatedInterval, each: f64) -> Option<Finding> {
    let (rate, count) = (i.rate?, view.count()?.value);
    let length = i.length_s.filter(|l| *l > 0.0)?;
    // Rows that one statement inserts are no statements.
    if each < 0.5 {
        return None;
    }
    let kinds = [
        ("reads", i.read_rate, "read"),
        ("writes", i.write_rate, "write"),
        ("others", i.other_rate, "other"),
    ];
    kinds.into_iter().find_map(|(name, stated, whole)| {
        let (stated, whole) = (stated?, view.all(whole)?);
        let own = whole.value / count;
        let made = rate * own;
        // Transactions in progress at both ends, and those that did not end.
        let open = view.sessions().unwrap_or(1.0) * own.max(1.0) / length;
        let errors = i.error_rate.unwrap_or(0.0) * own.max(1.0);
        let slack = STATED_TIME_APART / 2.0 * stated.max(made) + open + errors + 0.05 * own;
        let apart = (stated - made).abs() > slack;
        apart.then(|| {
            mismatch(
                name,
                stated,
                "tps × statements / transactions",
                made,
                i.line,
            )
        })
    })
}

/// A percentile of the run that is outside those of all its intervals.
fn percentile(view: &ImportedRun<'_>) -> Option<Finding> {
    let all = view.percentiles("");
    let ([(percent, whole)], Some(count)) = (all.as_slice(), view.count()) else {
        return None;
    };
    let mut done = 0.0;
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for i in &view.imported.intervals {
        done += i.rate? * i.length_s?;
        // Where nothing ended there is none.
        let ms = i.percentile_ms?;
        if ms > 0.0 {
            (least, most) = (least.min(ms), most.max(ms));
        }
    }
    // Lines that are left out may hold the slowest.
    let is_whole = (done / count.value - 1.0).abs() <= INTERVALS_WHOLE;
    let is_below = whole.high < least * (1.0 - PERCENTILES_APART);
    let is_above = whole.low > most * (1.0 + PERCENTILES_APART);
    (is_whole && least <= most && (is_below || is_above)).then(|| {
        let nearest = if is_below { least } else { most };
        let name = format!("p{percent}_ms");
        let follows = "percentiles of intervals";
        mismatch(&name, whole.value, follows, nearest, whole.line)
    })
}

/// pgbench's lines: clients × time = transactions × latency, but for what is in progress at both ends.
fn clients(view: &ImportedRun<'_>) -> Vec<Finding> {
    let (Some(clients), true) = (view.sessions(), view.is_closed()) else {
        return Vec::new();
    };
    let whole = |name: &str| view.all(name).map(|r| r.value);
    let failed = view.failed().is_some_and(|n| n.value > 0.0);
    let (share, before) = match (whole("rate"), whole("mean_ms"), whole("stddev_ms")) {
        (Some(rate), Some(mean), Some(deviation)) => {
            let count = view.count().map_or(0.0, |n| n.value);
            let busy = rate * mean / 1000.0 / clients;
            (
                Some(busy.min(1.0)),
                carried(clients, count, mean, deviation),
            )
        }
        _ => (None, 0.0),
    };
    let lines = view.imported.intervals.iter().enumerate();
    let wrong = lines.filter_map(|(at, i)| {
        let (rate, mean, length) = (i.rate?, i.mean_ms?, i.length_s?);
        let deviation = i.more.get("stddev_ms")?;
        let busy = rate * mean / 1000.0;
        let own = carried(clients, rate * length, mean, *deviation) / length;
        let most = clients * (1.0 + STATED_APART) + own;
        // Sessions connect in the first one; latencies of what failed are stated nowhere.
        let is_judged = at > 0 && !failed && i.more.get("failed").is_none_or(|n| *n <= 0.0);
        let least = share.filter(|_| is_judged).map_or(0.0, |share| {
            USERS_SEEN * share * clients - (before.max(own * length)) / length
        });
        (busy > most || busy < least).then(|| {
            let made = clients * share.unwrap_or(1.0) / rate * 1000.0;
            mismatch("lat", mean, "clients / tps", made, i.line)
        })
    });
    wrong.collect()
}

/// Seconds that a transaction of each client, of so many in all, can have taken together: the mean and the
/// standard deviation allow no more.
fn carried(clients: f64, count: f64, mean_ms: f64, deviation_ms: f64) -> f64 {
    (clients * mean_ms + (clients * count).sqrt() * deviation_ms) / 1000.0
}

/// Rows of BenchBase's windows: requests are the throughput times the window, which is the time to the
/// next row's begin.
fn windows(view: &ImportedRun<'_>) -> Vec<Finding> {
    let begin = |i: &StatedInterval| Some(i.end_s - i.length_s?);
    let all: Vec<(&StatedInterval, f64)> = view
        .imported
        .intervals
        .iter()
        .filter_map(|i| Some((i, begin(i)?)))
        .collect();
    let steps: Vec<f64> = all
        .windows(2)
        .map(|two| match two {
            [(_, a), (_, b)] => b - a,
            _ => 0.0,
        })
        .collect();
    let usual = tidemark_stats::median(&steps);
    // Two rows have one step: it may be that rows are missing between them.
    if steps.len() < 2 || usual <= 0.0 || view.imported.intervals_merged {
        return Vec::new();
    }
    let wrong = all.iter().filter_map(|(i, _)| {
        let (count, rate) = (i.count?, i.rate?);
        let made = rate * usual;
        let slack = STATED_APART * count.max(made) + 1.0;
        let follows = "Throughput × seconds";
        ((count - made).abs() > slack).then(|| mismatch("Requests", count, follows, made, i.line))
    });
    wrong.collect()
}

/// Lines that count all operations from the run's begin: beside their rate and the types' counts.
fn operations(view: &ImportedRun<'_>) -> Vec<Finding> {
    let lines = &view.imported.intervals;
    let mut found = Vec::new();
    if !lines.iter().any(|i| i.more.contains_key("operations")) {
        return found;
    }
    let gaps = lines.windows(2).map(|two| match two {
        [a, b] => b.end_s - a.end_s,
        _ => 0.0,
    });
    let gaps: Vec<f64> = gaps.collect();
    let usual = tidemark_stats::median(&gaps);
    let (mut last, mut end) = (0.0, 0.0);
    for i in lines {
        let Some(all) = i.more.get("operations").copied() else {
            continue;
        };
        let done = all - last;
        if done < 0.0 {
            found.push(mismatch("operations", all, "count before", last, i.line));
            last = all;
            continue;
        }
        last = all;
        let gap = i.end_s - std::mem::replace(&mut end, i.end_s);
        // Lines may have been left out before it.
        let (Some(rate), Some(length)) = (i.rate, i.length_s) else {
            continue;
        };
        if gap > usual + 1.0 || gap > length + 1.0 {
            continue;
        }
        // Seconds are printed whole.
        let made = rate * length;
        let slack = STATED_APART * made.max(done) + rate.max(done / length);
        if (done - made).abs() > slack {
            let follows = "current ops/sec × seconds";
            found.push(mismatch("operations", done, follows, made, i.line));
        }
        found.extend(types(i, done, length));
    }
    let total = view.all("rate").zip(view.all("elapsed_s"));
    let total = total.map(|(rate, s)| rate.times(s));
    if let Some(total) = total.filter(|t| t.high * (1.0 + STATED_APART) < last) {
        let name = "rate × elapsed_s";
        found.push(mismatch(
            name,
            total.value,
            "count before",
            last,
            total.line,
        ));
    }
    found
}

/// Types of a status line: their counts are the operations, and each mean lies between its ends.
fn types(i: &StatedInterval, done: f64, length: f64) -> Option<Finding> {
    let of = |name: &'static str| {
        let all = i.more.iter();
        all.filter_map(move |(key, n)| Some((key.strip_suffix(name)?.trim_end(), *n)))
    };
    for (kind, mean) in of(" mean_ms") {
        let get = |name: &str| i.more.get(&format!("{kind} {name}")).copied();
        let (least, most) = (get("min_ms"), get("max_ms"));
        // Ends are the edges of a histogram's buckets.
        let is_low = least.is_some_and(|ms| mean < ms * (1.0 - STATED_APART));
        let is_high = most.is_some_and(|ms| mean > ms * (1.0 + STATED_APART));
        if is_low || is_high {
            let bound = if is_low { least } else { most };
            let name = format!("{kind} Avg");
            return Some(mismatch(&name, mean, "Min … Max", bound?, i.line));
        }
    }
    let apart = ["CLEANUP", "READ-MODIFY-WRITE"];
    let counted: Vec<(&str, f64)> = of(" count").collect();
    let has_nested = counted.iter().any(|(kind, _)| apart.contains(kind));
    let counts = counted
        .iter()
        .filter(|(kind, _)| !kind.starts_with("Intended-") && !apart.contains(kind));
    let sum: f64 = counts.map(|(_, n)| n).sum();
    // Counts are taken shortly after the operations.
    let slack = STATED_COUNTS_APART * sum.max(done) + COUNTED_LATER_S * done / length;
    let differs = (sum - done).abs() > slack && sum > 0.0 && !has_nested;
    differs.then(|| mismatch("operations", done, "sum of operations", sum, i.line))
}
