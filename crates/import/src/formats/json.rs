//! JSON of several tools: summaries of BenchBase and k6, sysbench's report hook, HammerDB's jobs. Each
//! value knows its line.

use super::{hammerdb, styles};
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number};
use tidemark_core::record::StatedInterval;

/// A longer document is no summary.
const LONGEST: usize = 1 << 20;
/// Deeper ones are none either.
const DEEPEST: usize = 20;

/// Lines of a JSON document, until it is whole.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    text: String,
    first: u64,
    depth: i64,
    in_string: bool,
    escaped: bool,
    active: bool,
}

/// What became of a line.
pub(crate) enum Collected {
    /// It is no part of JSON.
    No,
    /// The document goes on.
    More,
    /// It is whole; whether anything was known in it.
    Whole(bool),
}

impl Collector {
    /// Takes a line where one began, or begins.
    pub fn take(&mut self, text: &str, line: u64, doc: &mut Doc) -> Collected {
        if !self.active {
            let plain = text.trim_start();
            let begins = plain.starts_with('{')
                && (plain.len() < 3 || plain.contains('"') || plain.trim() == "{")
                || plain.starts_with("[{\"");
            if !begins {
                return Collected::No;
            }
            *self = Self {
                first: line,
                active: true,
                ..Self::default()
            };
        }
        if text.trim_start().starts_with("```") {
            // A fence ends it, whole or not, and is no part of it.
            self.finish(line.saturating_sub(1), doc);
            return Collected::No;
        }
        if !may_be_json(text) {
            // No JSON goes on like that: what was kept is said to be lost, this line is another's.
            self.give_up(doc);
            return Collected::No;
        }
        for c in text.bytes() {
            match (self.in_string, c) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => self.depth -= 1,
                _ => {}
            }
        }
        // No string goes over lines.
        self.in_string = false;
        self.text.push_str(text);
        self.text.push('\n');
        if self.depth > 0 && self.text.len() < LONGEST {
            return Collected::More;
        }
        Collected::Whole(self.finish(line, doc))
    }
}

impl Collector {
    /// At the end of a document that is cut: whatever is known in the beginning counts.
    pub fn end(&mut self, last: u64, doc: &mut Doc) {
        if self.active {
            self.finish(last, doc);
        }
    }

    fn finish(&mut self, last: u64, doc: &mut Doc) -> bool {
        self.active = false;
        let text = std::mem::take(&mut self.text);
        let mut values = Vec::new();
        Flat {
            text: text.as_bytes(),
            at: 0,
            line: self.first,
            values: &mut values,
        }
        .value("", 0);
        let known = known(&values, self.first, last, doc);
        if !known {
            for (text, line) in text.lines().zip(self.first..) {
                doc.left(text, line);
            }
        }
        known
    }

    fn give_up(&mut self, doc: &mut Doc) {
        self.active = false;
        let text = std::mem::take(&mut self.text);
        for (text, line) in text.lines().zip(self.first..) {
            doc.left(text, line);
        }
    }
}

/// Whether a line can stand in JSON that is written over lines.
fn may_be_json(text: &str) -> bool {
    let plain = text.trim();
    let Some(first) = plain.chars().next() else {
        return true;
    };
    if first == '[' {
        // `[ 10s ] …` is an interval of sysbench, `[READ], …` one of YCSB's figures.
        let inner = plain.get(1..).unwrap_or_default().trim_start();
        return match number(inner) {
            Some((_, rest)) => {
                let rest = rest.trim_start();
                rest.is_empty() || rest.starts_with([',', ']'])
            }
            None => inner.is_empty() || inner.starts_with(['{', '[', '"', ']', 't', 'f', 'n']),
        };
    }
    matches!(first, '{' | '}' | ']' | '"' | ',' | ':' | '-' | '0'..='9')
        || ["true", "false", "null"]
            .iter()
            .any(|w| plain.starts_with(w))
}

/// A value in a document: the names that lead to it, itself, its line.
struct JsonValue {
    path: String,
    text: String,
    line: u64,
}

impl JsonValue {
    fn number(&self) -> Option<Number> {
        number(self.text.trim()).map(|(n, _)| n)
    }
}

/// Every value has its whole path.
const LONGEST_NAME: usize = 200;

/// Reads as much as is well formed.
struct Flat<'t> {
    text: &'t [u8],
    at: usize,
    line: u64,
    values: &'t mut Vec<JsonValue>,
}

impl Flat<'_> {
    fn blank(&mut self) -> Option<u8> {
        while let Some(b) = self.text.get(self.at) {
            match b {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' | b',' | b':' => {}
                other => return Some(*other),
            }
            self.at += 1;
        }
        None
    }

    fn value(&mut self, path: &str, depth: usize) -> Option<()> {
        if depth > DEEPEST || self.values.len() > 50_000 {
            return None;
        }
        let line = self.line;
        match self.blank()? {
            b'{' => {
                self.at += 1;
                loop {
                    if self.blank()? == b'}' {
                        self.at += 1;
                        return Some(());
                    }
                    let name = self.string().filter(|n| n.len() <= LONGEST_NAME)?;
                    let inner = match path.is_empty() {
                        true => name,
                        false => format!("{path}/{name}"),
                    };
                    self.value(&inner, depth + 1)?;
                }
            }
            b'[' => {
                self.at += 1;
                loop {
                    if self.blank()? == b']' {
                        self.at += 1;
                        return Some(());
                    }
                    self.value(path, depth + 1)?;
                }
            }
            b'"' => {
                let text = self.string()?;
                self.values.push(JsonValue {
                    path: path.into(),
                    text,
                    line: self.line,
                });
            }
            _ => {
                let rest = self.text.get(self.at..)?;
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b'\n' | b' ' | b'\r' | b'\t');
                let end = rest.iter().position(ends).unwrap_or(rest.len());
                if end == 0 {
                    return None;
                }
                let text = String::from_utf8_lossy(rest.get(..end)?).into_owned();
                self.at += end;
                self.values.push(JsonValue {
                    path: path.into(),
                    text,
                    line: self.line.max(line),
                });
            }
        }
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        if self.text.get(self.at) != Some(&b'"') {
            return None;
        }
        let begin = self.at + 1;
        let mut at = begin;
        loop {
            match self.text.get(at)? {
                b'\\' => at += 2,
                b'"' => break,
                b'\n' => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        let text = self.text.get(begin..at)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

fn known(values: &[JsonValue], first: u64, last: u64, doc: &mut Doc) -> bool {
    let has = |path: &str| {
        values
            .iter()
            .any(|v| v.path == path || v.path.starts_with(&format!("{path}/")))
    };
    let text = |path: &str| {
        let found = values.iter().find(|v| v.path == path);
        found.map(|v| v.text.as_str())
    };
    // k6 prints one line for each metric and each measurement (`--out json`).
    match text("type") {
        Some("Point") if has("data/time") && has("data/value") => {
            return k6_point(values, first, doc);
        }
        Some("Metric") if has("data/contains") => return true,
        _ => {}
    }
    if has("Throughput (requests/second)") || has("Latency Distribution") {
        benchbase(values, doc.begin("benchbase", first));
    } else if has("metrics")
        && values
            .iter()
            .any(|v| v.path.starts_with("metrics/iteration") || v.path.starts_with("metrics/vus"))
    {
        k6(values, doc.begin("k6", first));
    } else if has("Operation") || has("tpmC") {
        return go_objects(values, doc);
    } else if values.iter().any(|v| v.path.ends_with("/Takes(s)")) {
        return go_ycsb(values, doc);
    } else if has("tps") && has("time") && has("threads") {
        return sysbench(values, first, doc);
    } else if values
        .iter()
        .any(|v| v.path.to_uppercase().contains("NEWORD/"))
        || has("NOPM")
    {
        hammer(values, doc.run("hammerdb", first));
    } else {
        return false;
    }
    doc.touch(last);
    true
}

/// `25th Percentile Latency (microseconds)` and its like.
fn benchbase(values: &[JsonValue], run: &mut Draft) {
    run.has_summary = true;
    for v in values {
        // Their units have a slash.
        let rates = ["Throughput (requests/second)", "Goodput (requests/second)"];
        let rate = rates.into_iter().find(|name| v.path.ends_with(name));
        let name = rate.unwrap_or(v.path.rsplit('/').next().unwrap_or_default());
        let Some(n) = v.number() else {
            match name {
                "Benchmark Type" => run.workload = v.text.to_lowercase(),
                "DBMS Type" | "DBMS Version" | "isolation" => {
                    run.option(name, &v.text, v.line, From::Output)
                }
                _ => {}
            }
            continue;
        };
        // Older ones are in milliseconds.
        let unit = if name.contains("(milli") { 1.0 } else { 1e-3 };
        let latency = name.split_once(" Latency (").map(|(what, _)| what);
        let figure = match latency {
            Some("Average") => "mean_ms".into(),
            Some("Minimum") => "min_ms".into(),
            Some("Maximum") => "max_ms".into(),
            Some("Median") => "p50_ms".into(),
            Some(what) => match number(what) {
                Some((p, rest)) if rest.ends_with("Percentile") => format!("p{}_ms", p.value),
                _ => continue,
            },
            None => String::new(),
        };
        match name {
            _ if latency.is_some() => run.scaled("", &figure, n, unit, v.line),
            "Elapsed Time (nanoseconds)" => run.scaled("", "elapsed_s", n, 1e-9, v.line),
            "Measured Requests" => run.figure("", "count", n, v.line),
            "Throughput (requests/second)" => run.figure("", "rate", n, v.line),
            "Goodput (requests/second)" => run.figure("", "goodput", n, v.line),
            "terminals" => run.option("threads", &v.text, v.line, From::Output),
            "scalefactor" => run.option("scalefactor", &v.text, v.line, From::Output),
            _ => {}
        }
    }
}

/// A summary of `--summary-export` or of `handleSummary`.
fn k6(values: &[JsonValue], run: &mut Draft) {
    run.has_summary = true;
    // Where nothing says how many there were at most, and their number did not change.
    let vus = |name: &str| {
        let mut found = values.iter().filter(|v| v.path.starts_with("metrics/vus/"));
        found.find(|v| v.path.ends_with(name))
    };
    if let (Some(least), Some(most)) = (vus("/min"), vus("/max"))
        && least.text == most.text
    {
        run.option("threads", &most.text, most.line, From::Output);
    }
    if run.workload.is_empty() {
        run.workload = "k6".into();
    }
    for v in values {
        let Some(n) = v.number() else { continue };
        let path = v.path.replace("/values/", "/");
        match path.as_str() {
            "state/testRunDurationMs" => run.scaled("", "elapsed_s", n, 1e-3, v.line),
            "metrics/iterations/count" => run.figure("", "count", n, v.line),
            "metrics/iterations/rate" => run.figure("", "rate", n, v.line),
            "metrics/vus_max/value" | "metrics/vus_max/max" => {
                run.option("threads", &v.text, v.line, From::Output)
            }
            // How many requests failed, and how many conditions did not hold.
            "metrics/http_req_failed/value" | "metrics/http_req_failed/rate" => {
                run.scaled("", "error_share", n, 100.0, v.line);
            }
            "metrics/http_reqs/count" => run.figure("", "requests", n, v.line),
            "metrics/http_reqs/rate" => run.figure("", "request_rate", n, v.line),
            "metrics/http_req_failed/passes" => run.figure("", "requests_failed", n, v.line),
            "metrics/http_req_failed/fails" => run.figure("", "requests_good", n, v.line),
            "metrics/checks/passes" => run.figure("", "checks_passed", n, v.line),
            "metrics/checks/fails" => run.figure("", "checks_failed", n, v.line),
            _ => {
                let mut parts = path.split('/').skip(1);
                let (Some(of), Some(what)) = (parts.next(), parts.next()) else {
                    continue;
                };
                let of = match of {
                    "iteration_duration" => "",
                    "http_req_duration" => "http_req",
                    other if other.ends_with("_duration") && !other.contains("{") => other,
                    _ => continue,
                };
                match what {
                    "avg" => run.figure(of, "mean_ms", n, v.line),
                    "min" => run.figure(of, "min_ms", n, v.line),
                    "max" => run.figure(of, "max_ms", n, v.line),
                    "med" => run.figure(of, "p50_ms", n, v.line),
                    p => {
                        if let Some((p, _)) = p.strip_prefix("p(").and_then(number) {
                            run.figure(of, &format!("p{}_ms", p.value), n, v.line);
                        }
                    }
                }
            }
        }
    }
}

/// A measurement of k6's: iterations are its transactions.
fn k6_point(values: &[JsonValue], line: u64, doc: &mut Doc) -> bool {
    let get = |path: &str| values.iter().find(|v| v.path == path);
    let at = get("data/time").and_then(|v| v.text.parse::<jiff::Timestamp>().ok());
    let (Some(metric), Some(at), Some(n)) = (
        get("metric"),
        at,
        get("data/value").and_then(JsonValue::number),
    ) else {
        return false;
    };
    let at_s = at.as_nanosecond() as f64 / 1e9;
    let run = doc.run("k6", line);
    run.has_summary = true;
    if run.workload.is_empty() {
        run.workload = "k6".into();
    }
    let samples = run.samples.get_or_insert_default();
    match metric.text.as_str() {
        "iteration_duration" => samples.transaction("", at_s, n.value * 1000.0, line),
        "http_reqs" => samples.more(at_s, "requests", n.value, line),
        "http_req_failed" => samples.more(at_s, "requests_failed", n.value, line),
        "vus_max" => run.option("threads", &n.value.to_string(), line, From::Output),
        _ => {}
    }
    true
}

/// The arrays of objects, one for each type, that go-tpc and go-ycsb print on a line.
fn go_objects(values: &[JsonValue], doc: &mut Doc) -> bool {
    let mut taken = false;
    let mut from = 0;
    while let Some(rest) = values.get(from..).filter(|rest| !rest.is_empty()) {
        // A name that comes again is the next object's.
        let again = rest.iter().enumerate().position(|(at, value)| {
            let before = rest.get(..at).unwrap_or_default();
            before.iter().any(|v| v.path == value.path)
        });
        let object = rest.get(..again.unwrap_or(rest.len())).unwrap_or_default();
        from += object.len().max(1);
        let names: Vec<String> = object.iter().map(|v| v.path.clone()).collect();
        let pairs: Vec<(&str, &str)> = object
            .iter()
            .map(|v| (v.path.as_str(), v.text.as_str()))
            .collect();
        let line = object.first().map_or(0, |v| v.line);
        let Some(words) = styles::in_words(&pairs) else {
            continue;
        };
        taken |= match styles::is_go_ycsb(&names) {
            true => super::ycsb::go(&words, line, doc),
            false => super::go_tpc::take(&words, line, doc),
        };
    }
    taken
}

/// `outputstyle=json` of go-ycsb: an object of each type, with the names of its lines.
fn go_ycsb(values: &[JsonValue], doc: &mut Doc) -> bool {
    let mut taken = false;
    for of in values
        .iter()
        .filter_map(|v| v.path.strip_suffix("/Takes(s)"))
    {
        let own = values.iter().filter(|v| {
            let name = v.path.strip_prefix(of).and_then(|p| p.strip_prefix('/'));
            name.is_some()
        });
        let own: Vec<&JsonValue> = own.collect();
        let line = own.first().map_or(0, |v| v.line);
        let took = own.iter().filter(|v| v.path.ends_with("/Takes(s)"));
        let others = own.iter().filter(|v| !v.path.ends_with("/Takes(s)"));
        let columns = took.chain(others).filter_map(|v| {
            let name = v.path.rsplit('/').next()?;
            (name != "Operation").then_some((name, v.text.as_str()))
        });
        taken |= super::ycsb::columns_of(of, columns, line, doc);
    }
    taken
}

/// An object of the manual's JSON report hook.
fn sysbench(values: &[JsonValue], line: u64, doc: &mut Doc) -> bool {
    let get = |path: &str| {
        values
            .iter()
            .find(|v| v.path == path)
            .and_then(JsonValue::number)
            .map(|n| n.value)
    };
    let Some(end_s) = get("time") else {
        return false;
    };
    let goes_back = doc
        .of("sysbench")
        .is_some_and(|d| d.has_summary || d.last_moment().is_some_and(|last| last >= end_s));
    let run = match goes_back {
        true => doc.begin("sysbench", line),
        false => doc.run("sysbench", line),
    };
    run.next_interval(StatedInterval {
        line,
        end_s,
        sessions: get("threads"),
        rate: get("tps"),
        statement_rate: get("qps/total").or(get("qps")),
        read_rate: get("qps/reads"),
        write_rate: get("qps/writes"),
        other_rate: get("qps/other"),
        percentile_ms: get("latency"),
        error_rate: get("errors"),
        reconnect_rate: get("reconnects"),
        ..StatedInterval::default()
    });
    true
}

/// A job's result or time profile; numbers may be texts.
fn hammer(values: &[JsonValue], run: &mut Draft) {
    run.has_summary = true;
    run.workload = "tpcc".into();
    for v in values {
        let Some(n) = v.number() else { continue };
        let mut parts = v.path.rsplit('/');
        let (name, of) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let of = hammerdb::procedure(of);
        match (of, name) {
            (_, "NOPM") => run.figure("", "nopm", n, v.line),
            (_, "TPM") => run.figure("", "tpm", n, v.line),
            (Some(of), "calls") => run.figure(of, "count", n, v.line),
            (Some(of), "avg_ms") => run.figure(of, "mean_ms", n, v.line),
            (Some(of), "total_ms") => run.figure(of, "sum_ms", n, v.line),
            (Some(of), "min_ms" | "max_ms" | "p50_ms" | "p95_ms" | "p99_ms") => {
                run.figure(of, name, n, v.line)
            }
            _ => {}
        }
    }
}
