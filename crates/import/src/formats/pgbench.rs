//! pgbench: `-P` lines, summary, statements (`-r`) and scripts, in the words of every version since 9.

use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{after, labelled, number, seconds, unit_ms, value};
use std::collections::BTreeMap;
use tidemark_core::record::StatedInterval;

const TOOL: &str = "pgbench";

/// Labels of options, and what the option is.
const OPTIONS: [(&str, &str); 10] = [
    ("transaction type", "script"),
    ("scaling factor", "scale"),
    ("query mode", "protocol"),
    ("number of clients", "threads"),
    ("number of threads", "jobs"),
    ("maximum number of tries", "max-tries"),
    ("number of transactions per client", "transactions"),
    ("duration", "time"),
    ("partition method", "partition-method"),
    ("partitions", "partitions"),
];

/// A later moment is seconds since 1970.
const STAMP: f64 = 1e9;

/// Labels of counts, of the run or of a script.
const COUNTS: [(&str, &str); 7] = [
    ("number of transactions actually processed", "count"),
    ("number of failed transactions", "failed"),
    ("number of transactions retried", "retried"),
    ("total number of retries", "retries"),
    ("number of transactions skipped", "skipped"),
    ("number of serialization failures", "serialization_failures"),
    ("number of deadlock failures", "deadlock_failures"),
];

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim_start_matches([' ', '\t', '>']).trim_end();
    if let Some(rest) = plain.strip_prefix("progress: ") {
        let Some(mut one) = progress(rest, line) else {
            return false;
        };
        // With --progress-timestamp it is a moment: the first line tells no length.
        let stamp = Some(one.end_s).filter(|at| *at >= STAMP);
        if let Some(at) = stamp {
            if doc.of(TOOL).is_none_or(|d| d.has_summary) {
                doc.begin(TOOL, line);
            }
            let run = doc.run(TOOL, line);
            let each = run.option_number("report-interval").unwrap_or(0.0);
            one.end_s = at - *run.begin_s.get_or_insert(at - each);
        }
        let goes_back = doc.of(TOOL).is_some_and(|d| {
            d.has_summary
                || d.last_moment().is_some_and(|last| last >= one.end_s)
                    && !d.is_out_of_order(line, one.end_s)
        });
        let run = match goes_back {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.next_interval(one);
        return true;
    }
    if let Some(version) = plain.strip_prefix("pgbench (") {
        let version = version.split([')', ' ']).next().unwrap_or_default();
        if !version.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        doc.begin(TOOL, line).version = Some(version.into());
        return true;
    }
    if let Some((label, value)) = labelled(plain)
        && label == "transaction type"
    {
        // It opens the summary.
        let ended = doc.of(TOOL).is_some_and(|d| d.has_summary);
        let run = match ended {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.has_summary = true;
        run.option("script", value, line, From::Output);
        run.workload = workload(value);
        return true;
    }
    if plain.starts_with("pgbench: error:") || plain.starts_with("pgbench: fatal:") {
        let run = doc.run(TOOL, line);
        let why = plain.split_once(": ").map_or(plain, |(_, why)| why);
        if why.contains("aborted") {
            run.failed
                .get_or_insert_with(|| why.chars().take(300).collect());
        }
        return true;
    }
    // Before version 12 the program's name does not stand before it.
    let is_of_client = plain.starts_with("Client ") || plain.starts_with("client ");
    let is_aborted = is_of_client && plain.contains(" aborted in ")
        || plain.ends_with("Run was aborted; the above results are incomplete.");
    let is_next = doc.command.as_ref().is_some_and(|c| c.tool == TOOL);
    if is_aborted && (is_next || doc.of(TOOL).is_some()) {
        let run = doc.run(TOOL, line);
        run.failed
            .get_or_insert_with(|| plain.chars().take(300).collect());
        return true;
    }
    if let Some(n) = value(plain, "tps =").filter(|_| plain.starts_with("tps =")) {
        // Before version 14 the rate was told twice; since then once, whatever is in it.
        let with = plain.contains("(including") && !plain.contains("(including reconnection");
        let name = if with { "rate_with_connecting" } else { "rate" };
        // Lines of several outputs may be quoted one below the other.
        let run = match doc.of(TOOL).is_some_and(|d| d.has("", name)) {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.has_summary = true;
        run.figure("", name, n, line);
        return true;
    }
    let once = [
        ("number of transactions actually processed:", "count"),
        ("latency average =", "mean_ms"),
        ("latency average:", "mean_ms"),
    ];
    let is_next = doc.of(TOOL).is_some_and(|run| {
        let mut known = once.iter();
        known.any(|(label, name)| plain.starts_with(label) && run.has("", name))
    });
    if is_next {
        doc.begin(TOOL, line);
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let taken = summary(run, plain, line) || statement(run, plain, line);
    if taken {
        doc.touch(line);
    }
    taken
}

fn workload(script: &str) -> String {
    let name = script
        .trim_start_matches("<builtin:")
        .trim_end_matches('>')
        .trim();
    match name {
        n if n.starts_with("TPC-B") => "tpcb-like".into(),
        "select only" => "select-only".into(),
        "simple update" => "simple-update".into(),
        "multiple scripts" => "scripts".into(),
        n => n.rsplit('/').next().unwrap_or(n).chars().take(60).collect(),
    }
}

/// `5.0 s, 1234.5 tps, lat 1.2 ms stddev 0.3, 0 failed, lag 0.1 ms, 5 skipped, 1 retried, 2 retries`.
fn progress(rest: &str, line: u64) -> Option<StatedInterval> {
    let (end, rest) = number(rest)?;
    let rest = rest.trim_start().strip_prefix("s,")?;
    let (rate, rest) = number(rest.trim_start())?;
    let rest = rest.trim_start().strip_prefix("tps")?;
    let mut more = BTreeMap::new();
    for (label, name) in [("stddev", "stddev_ms"), ("lag", "lag_ms")] {
        if let Some(n) = value(rest, label) {
            more.insert(name.to_string(), n.value);
        }
    }
    for part in rest.split(", ") {
        if let Some((n, name @ (" failed" | " skipped" | " retried" | " retries"))) = number(part) {
            more.insert(name.trim_start().to_string(), n.value);
        }
    }
    Some(StatedInterval {
        more,
        line,
        end_s: end.value,
        rate: Some(rate.value),
        mean_ms: value(rest, "lat ").map(|n| n.value),
        ..StatedInterval::default()
    })
}

fn summary(run: &mut Draft, plain: &str, line: u64) -> bool {
    if plain.starts_with("starting vacuum") {
        return true;
    }
    if let Some((label, text)) = labelled(plain) {
        if let Some((_, name)) = OPTIONS.iter().find(|(l, _)| *l == label) {
            let plain = text.trim_end_matches(" s");
            let is_time = *name == "time";
            let said = match is_time {
                true => seconds(plain).map_or(plain.into(), |s| s.to_string()),
                false => plain.into(),
            };
            run.option(name, &said, line, From::Output);
            return true;
        }
        let known = COUNTS.iter().find(|(l, _)| *l == label);
        if let Some((_, name)) = known
            && let Some((n, rest)) = number(text)
        {
            run.figure("", name, n, line);
            // `80/80`: what was asked.
            if let Some((asked, _)) = rest.strip_prefix('/').and_then(number) {
                run.figure("", "asked", asked, line);
            }
            return true;
        }
        if let Some(limit) = label.strip_prefix("number of transactions above the ") {
            if let Some((ms, _)) = number(limit) {
                run.option("latency-limit", &ms.value.to_string(), line, From::Output);
            }
            // `114/1424 (8.006%)`.
            if let Some((n, _)) = number(text) {
                run.figure("", "above_limit", n, line);
            }
            return true;
        }
        if label == "rate limit schedule lag" {
            if !run.options.contains_key("rate") {
                run.option("rate", "on", line, From::Command);
            }
            // `avg 0.754 (max 26.690) ms`.
            for (label, name) in [("avg", "lag_mean_ms"), ("max", "lag_max_ms")] {
                if let Some(n) = value(text, label) {
                    run.figure("", name, n, line);
                }
            }
            return true;
        }
    }
    for (label, name) in [
        ("latency average =", "mean_ms"),
        ("latency average:", "mean_ms"),
        ("latency stddev =", "stddev_ms"),
        ("latency stddev:", "stddev_ms"),
        ("initial connection time =", "connecting_ms"),
        ("average connection time =", "connecting_ms"),
    ] {
        // Of a script of several, with a dash before it.
        let of_script = plain.starts_with('-');
        let text = plain.trim_start_matches(['-', ' ']);
        if let Some(rest) = text.strip_prefix(label)
            && let Some((n, rest)) = number(rest.trim_start())
        {
            let of = if of_script { run.section } else { "" };
            if !of_script || !of.is_empty() {
                let ms = unit_ms(rest).unwrap_or(1.0);
                run.scaled(of, name, n, ms, line);
            }
            return true;
        }
    }
    scripts(run, plain, line)
}

/// `SQL script 1: …` and what stands indented below it.
fn scripts(run: &mut Draft, plain: &str, line: u64) -> bool {
    if let Some(rest) = plain.strip_prefix("SQL script ") {
        run.section = SCRIPTS
            .get(number(rest).map_or(0, |(n, _)| n.value as usize))
            .copied()
            .unwrap_or("script");
        return true;
    }
    // Of the only one, before version 13.
    if plain == "script statistics:" {
        run.section = "";
        return true;
    }
    if plain.starts_with("- weight:") {
        return true;
    }
    // The same counts as the run's.
    let own = plain.strip_prefix("- ").and_then(labelled);
    if let Some((label, text)) = own
        && let Some((_, name)) = COUNTS.iter().find(|(l, _)| *l == label)
        && let Some((n, _)) = number(text)
    {
        let of = run.section;
        if of.is_empty() {
            return true;
        }
        // Since version 19 the count above it has failed and skipped ones, too.
        if *name == "count" {
            let above = run.figures.iter_mut();
            for begun in above.filter(|f| f.of == of && f.name == "count") {
                begun.name = "begun".into();
            }
            if let Some((rate, _)) = after(text, "tps =") {
                run.figure(of, "rate", rate, line);
            }
        }
        run.figure(of, name, n, line);
        return true;
    }
    let Some((n, rest)) = plain.strip_prefix("- ").and_then(number) else {
        return false;
    };
    if run.section.is_empty() || !rest.starts_with(" transactions") {
        return false;
    }
    let of = run.section;
    run.figure(of, "count", n, line);
    if let Some((rate, _)) = after(rest, "tps =") {
        run.figure(of, "rate", rate, line);
    }
    true
}

const SCRIPTS: [&str; 10] = [
    "script", "script 1", "script 2", "script 3", "script 4", "script 5", "script 6", "script 7",
    "script 8", "script 9",
];

/// A statement of `-r`: milliseconds, failures and retries since version 15, the statement.
fn statement(run: &mut Draft, plain: &str, line: u64) -> bool {
    let text = plain.trim_start_matches(['-', ' ']);
    if text.starts_with("statement latencies in milliseconds") {
        run.section = if plain.starts_with('-') {
            run.section
        } else {
            "statements"
        };
        run.option("report-per-command", "on", line, From::Output);
        return true;
    }
    if !run.options.contains_key("report-per-command") {
        return false;
    }
    let Some((ms, rest)) = number(plain) else {
        return false;
    };
    let mut words = rest.trim();
    let mut counts = Vec::new();
    for what in ["failures", "retries"] {
        let Some((n, rest)) = number(words) else {
            break;
        };
        counts.push((what, n));
        words = rest.trim_start();
    }
    // Times have three decimals, or six.
    if words.is_empty() || ms.decimals < 3 {
        return false;
    }
    let name: String = words.chars().take(80).collect();
    run.figure("statements", &format!("{name} ms"), ms, line);
    for (what, n) in counts {
        run.figure("statements", &format!("{name} {what}"), n, line);
    }
    true
}
