//! k6's JSON: its summary, and each measurement on a line (`--out json`).

use super::json::JsonValue;
use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::number;

/// A summary of `--summary-export` or of `handleSummary`.
pub(super) fn summary(values: &[JsonValue], run: &mut Draft) {
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
pub(super) fn point(values: &[JsonValue], line: u64, doc: &mut Doc) -> bool {
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
