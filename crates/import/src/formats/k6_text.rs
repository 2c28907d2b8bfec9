//! k6's summary at the end of a test as people read it: `iterations.....: 12000  199.9/s`. Its JSON is in
//! `k6_json.rs`.

use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number, seconds, value};

const TOOL: &str = "k6";

pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim().trim_start_matches(['✓', '✗', '█', ' ']);
    if plain.starts_with("running (") && plain.contains(" VUs, ") {
        return running(plain, line, doc);
    }
    if doc.of(TOOL).is_some() && is_frame(text.trim()) {
        doc.touch(line);
        return true;
    }
    // Of a part of the requests: `{ expected_response:true }...: avg=…`.
    if plain.starts_with("{ ") && plain.contains("...: ") && doc.of(TOOL).is_some() {
        doc.touch(line);
        return true;
    }
    let Some((label, rest)) = plain.split_once(':') else {
        return false;
    };
    let name = label.trim_end().trim_end_matches('.');
    let is_name = |name: &str| {
        let mut chars = name.chars();
        chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '{' | '}' | ' '))
    };
    // Dots lead from every name to its figures.
    if label.len() < name.len() + 2 || name.is_empty() || !is_name(name) {
        return false;
    }
    let rest = rest.trim();
    match name {
        "iterations" => {
            let Some((count, after)) = number(rest) else {
                return false;
            };
            let run = open(doc, "", "count", line);
            run.figure("", "count", count, line);
            if let Some((rate, "/s")) = number(after.trim_start()) {
                run.figure("", "rate", rate, line);
            }
        }
        "iteration_duration" => latencies(open(doc, "", "mean_ms", line), "", rest, line),
        "http_req_duration" => {
            latencies(
                open(doc, "http_req", "mean_ms", line),
                "http_req",
                rest,
                line,
            );
        }
        "http_reqs" => {
            let Some((count, after)) = number(rest) else {
                return false;
            };
            let run = open(doc, "", "requests", line);
            run.figure("", "requests", count, line);
            if let Some((rate, "/s")) = number(after.trim_start()) {
                run.figure("", "request_rate", rate, line);
            }
        }
        // `75.00% ✓ 9000 ✗ 3000`, and two lines since version 1: `0.50% 120 out of 24000`.
        "checks" => {
            let (Some(good), Some(bad)) = (value(rest, "✓"), value(rest, "✗")) else {
                return false;
            };
            let run = open(doc, "", "checks_passed", line);
            run.figure("", "checks_passed", good, line);
            run.figure("", "checks_failed", bad, line);
        }
        "checks_succeeded" | "checks_failed" => {
            let count = number(rest).and_then(|(_, after)| {
                let (n, after) = number(after.strip_prefix('%')?.trim_start())?;
                after.trim_start().starts_with("out of").then_some(n)
            });
            let Some(count) = count else { return false };
            let name = match name {
                "checks_failed" => "checks_failed",
                _ => "checks_passed",
            };
            open(doc, "", name, line).figure("", name, count, line);
        }
        "http_req_failed" => {
            let Some((share, after)) = number(rest) else {
                return false;
            };
            let run = open(doc, "", "error_share", line);
            if after.starts_with('%') {
                run.figure("", "error_share", share, line);
            }
        }
        "vus" | "vus_max" => {
            let (Some(least), Some(most)) = (value(rest, "min="), value(rest, "max=")) else {
                return false;
            };
            let run = doc.run(TOOL, line);
            if name == "vus_max" || least.value == most.value {
                run.option("threads", &most.value.to_string(), line, From::Output);
            }
        }
        // Of others nothing is kept.
        _ if doc.of(TOOL).is_some() => doc.touch(line),
        _ => return false,
    }
    true
}

/// Headings, checks and bars of progress.
fn is_frame(plain: &str) -> bool {
    let name = plain.trim_start_matches(['█', ' ']);
    let parts = [
        "TOTAL RESULTS",
        "THRESHOLDS",
        "HTTP",
        "EXECUTION",
        "NETWORK",
        "CUSTOM",
        "GRPC",
        "WEBSOCKET",
        "BROWSER",
        "WEB_VITALS",
    ];
    let is_mark = plain.starts_with(['✓', '✗', '↳']) && !plain.contains("..");
    parts.contains(&name) || is_mark || plain.contains(" [==") || plain.contains("[ 100% ]")
}

/// The run that is going on, or the next one where it has this figure. Iterations stand behind all
/// others but the time.
fn open<'d>(doc: &'d mut Doc, of: &str, name: &str, line: u64) -> &'d mut Draft {
    let is_last = matches!(name, "count" | "elapsed_s") && of.is_empty();
    let is_over = |run: &mut Draft| run.has(of, name) || !is_last && run.has("", "count");
    let run = match doc.of(TOOL).is_some_and(is_over) {
        true => doc.begin(TOOL, line),
        false => doc.run(TOOL, line),
    };
    run.has_summary = true;
    if run.workload.is_empty() {
        run.workload = "k6".into();
    }
    run
}

/// `avg=50.01ms min=40ms med=49ms max=1.2s p(90)=60ms p(95)=70ms`.
fn latencies(run: &mut Draft, of: &str, rest: &str, line: u64) {
    for part in rest.split_whitespace() {
        let Some((label, text)) = part.split_once('=') else {
            continue;
        };
        let (Some(s), Some((printed, _))) = (seconds(text), number(text)) else {
            continue;
        };
        // Digits that are printed are of its own unit, which a thousandth of it is near enough to.
        let decimals = match text.ends_with("ms") {
            true => printed.decimals,
            false => 3,
        };
        let n = Number {
            value: s * 1000.0,
            decimals,
        };
        match label {
            "avg" => run.figure(of, "mean_ms", n, line),
            "min" => run.figure(of, "min_ms", n, line),
            "max" => run.figure(of, "max_ms", n, line),
            "med" => run.figure(of, "p50_ms", n, line),
            p => {
                if let Some((p, _)) = p.strip_prefix("p(").and_then(number) {
                    run.figure(of, &format!("p{}_ms", p.value), n, line);
                }
            }
        }
    }
}

/// `running (1m00.1s), 00/10 VUs, 12000 complete and 0 interrupted iterations`: the last one is the
/// test's.
fn running(plain: &str, line: u64, doc: &mut Doc) -> bool {
    let is_over = plain.contains(", 00/") || plain.contains(", 0/") || plain.contains(", 000/");
    let took = plain.split_once('(').and_then(|(_, t)| t.split_once(')'));
    let took = took.and_then(|(took, _)| seconds(took));
    let (Some(value), true) = (took, is_over) else {
        return doc.of(TOOL).is_some();
    };
    let run = open(doc, "", "elapsed_s", line);
    run.figure("", "elapsed_s", Number { value, decimals: 1 }, line);
    true
}
