//! sysbench's lines of intermediate results, in all variants of 0.5, 1.0 and 1.1.

use super::json::JsonValue;
use crate::doc::Doc;
use crate::scan::{number, plain_number, value};
use tidemark_core::record::StatedInterval;

/// One line: `[ 10s ] thds: 4 tps: 12.00 qps: 240.00 (r/w/o: 168.00/48.00/24.00) lat (ms,95%): 5.37 …`
/// (1.0, 1.1), `[  10s] threads: 4, tps: 12.00, reads: 168.00, writes: 48.00, response time: 5.37ms (95%), …`
/// (0.5), and the same with `reads/s` or behind `Intermediate results: 4 threads,` (0.5 before).
pub(super) fn interval(text: &str, line: u64) -> Option<StatedInterval> {
    printed(text.as_bytes(), line).or_else(|| searched(text, line))
}

/// The commonest variant, byte by byte as it is printed: files of gigabytes consist of it. Written in
/// any other way, it is [`searched`], which finds the same in this one.
fn printed(text: &[u8], line: u64) -> Option<StatedInterval> {
    let (end_s, rest) = plain_number(text.strip_prefix(b"[ ")?)?;
    let (sessions, rest) = plain_number(rest.strip_prefix(b"s ] thds: ")?)?;
    let (rate, rest) = plain_number(rest.strip_prefix(b" tps: ")?)?;
    let (statements, rest) = plain_number(rest.strip_prefix(b" qps: ")?)?;
    let (read, rest) = plain_number(rest.strip_prefix(b" (r/w/o: ")?)?;
    let (write, rest) = plain_number(rest.strip_prefix(b"/")?)?;
    let (other, rest) = plain_number(rest.strip_prefix(b"/")?)?;
    let (_, rest) = plain_number(rest.strip_prefix(b") lat (ms,")?)?;
    let (latency, rest) = plain_number(rest.strip_prefix(b"%): ")?)?;
    let (errors, rest) = plain_number(rest.strip_prefix(b" err/s: ")?)?;
    let (reconnects, _) = plain_number(rest.strip_prefix(b" reconn/s: ")?)?;
    let figures = [
        end_s, sessions, rate, statements, read, write, other, latency, errors, reconnects,
    ];
    Some(of_figures(figures, line))
}

/// An interval of the ten figures that sysbench has of each, in its order.
fn of_figures(figures: [f64; 10], line: u64) -> StatedInterval {
    let [
        end_s,
        sessions,
        rate,
        statements,
        read,
        write,
        other,
        latency,
        errors,
        reconnects,
    ] = figures;
    StatedInterval {
        line,
        end_s,
        sessions: Some(sessions),
        rate: Some(rate),
        statement_rate: Some(statements),
        read_rate: Some(read),
        write_rate: Some(write),
        other_rate: Some(other),
        percentile_ms: Some(latency),
        error_rate: Some(errors),
        reconnect_rate: Some(reconnects),
        ..StatedInterval::default()
    }
}

/// Any variant, by its labels.
fn searched(text: &str, line: u64) -> Option<StatedInterval> {
    let (end_s, rest) = moment(text)?;
    if let Some(fast) = current(rest, end_s, line) {
        return Some(fast);
    }
    let sessions = value(rest, "threads:")
        .or_else(|| value(rest, "thds:"))
        .or_else(|| value(rest, "results:"))?;
    let first = |labels: &[&str]| labels.iter().find_map(|l| value(rest, l)).map(|n| n.value);
    let one = StatedInterval {
        line,
        end_s,
        sessions: Some(sessions.value),
        rate: first(&["tps:", "eps:"]),
        read_rate: first(&[" reads/s:", " reads:"]),
        write_rate: first(&[" writes/s:", " writes:"]),
        percentile_ms: first(&["response time:", "%):"]),
        error_rate: first(&["errors:", "err/s"]),
        reconnect_rate: first(&["reconnects:", "reconn/s"]),
        ..StatedInterval::default()
    };
    one.rate.is_some().then_some(one)
}

/// The moment in brackets, and what follows.
fn moment(text: &str) -> Option<(f64, &str)> {
    let at = text.find('[').filter(|at| *at < 40)?;
    let (n, rest) = number(text[at + 1..].trim_start())?;
    let rest = rest.trim_start().strip_prefix('s')?.trim_start();
    Some((n.value, rest.strip_prefix(']')?))
}

/// The commonest variant, without searching.
fn current(rest: &str, end_s: f64, line: u64) -> Option<StatedInterval> {
    let mut rest = rest;
    let mut next = |label: &str| {
        let (n, after) = number(rest.trim_start().strip_prefix(label)?.trim_start())?;
        rest = after;
        Some(n.value)
    };
    let sessions = next("thds:")?;
    let Some(rate) = next("tps:") else {
        // cpu, memory and their like have events only.
        let rate = next("eps:")?;
        return Some(StatedInterval {
            line,
            end_s,
            sessions: Some(sessions),
            rate: Some(rate),
            percentile_ms: value(rest, "%):").map(|n| n.value),
            ..StatedInterval::default()
        });
    };
    let statements = next("qps:")?;
    let read = next("(r/w/o:")?;
    let write = next("/")?;
    let other = next("/")?;
    rest = rest.trim_start().strip_prefix(')')?.trim_start();
    // `lat (ms,95%):`, whatever the percentile.
    let at = rest.strip_prefix("lat (ms").and_then(|r| r.find(':'))?;
    let (latency, after) = number(rest.get("lat (ms".len() + at + 1..)?.trim_start())?;
    rest = after;
    // Some scripts print no colon behind `err/s`.
    let mut next = |label: &str| {
        let text = rest.trim_start().strip_prefix(label)?;
        let (n, after) = number(text.trim_start_matches([':', ' ']))?;
        rest = after;
        Some(n.value)
    };
    Some(StatedInterval {
        line,
        end_s,
        sessions: Some(sessions),
        rate: Some(rate),
        statement_rate: Some(statements),
        read_rate: Some(read),
        write_rate: Some(write),
        other_rate: Some(other),
        percentile_ms: Some(latency.value),
        error_rate: next("err/s"),
        reconnect_rate: next("reconn/s"),
        ..StatedInterval::default()
    })
}

/// Which percentile a line's latency is: `lat (ms,99%): 5.37`, `response time: 5.37ms (99%)`.
pub(super) fn percent(text: &str) -> Option<f64> {
    let behind = |label: &str| {
        let (_, rest) = text.split_once(label)?;
        let (n, rest) = number(rest.trim_start())?;
        rest.trim_start().starts_with('%').then_some(n.value)
    };
    behind("(ms,").or_else(|| behind("ms ("))
}

/// A line of the CSV report hook of the manual: time, threads, tps, qps, reads, writes, others, latency,
/// errors, reconnects.
pub(super) fn csv(text: &str, line: u64) -> Option<StatedInterval> {
    let mut fields = [0.0; 10];
    let mut rest = text.trim();
    for (at, field) in fields.iter_mut().enumerate() {
        // No thousands are separated here.
        let (one, after) = rest.split_once(',').unwrap_or((rest, ""));
        let (n, odd) = number(one.trim())?;
        if !odd.is_empty() || (at < 9 && after.is_empty()) || (at == 9 && rest.contains(',')) {
            return None;
        }
        *field = n.value;
        rest = after;
    }
    Some(of_figures(fields, line))
}

/// An object of the manual's JSON report hook.
pub(super) fn of_json(values: &[JsonValue], line: u64, doc: &mut Doc) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = "[ 10s ] thds: 16 tps: 1003.28 qps: 20065.60 (r/w/o: 14045.92/4013.12/2006.56) \
                        lat (ms,95%): 20.37 err/s: 0.40 reconn/s: 0.10";

    #[test]
    fn the_line_as_it_is_printed_needs_no_search() {
        let one = printed(LINE.as_bytes(), 7).unwrap();
        assert_eq!(Some(&one), searched(LINE, 7).as_ref());
        assert_eq!((one.line, one.end_s, one.rate), (7, 10.0, Some(1003.28)));
        assert_eq!((one.error_rate, one.reconnect_rate), (Some(0.4), Some(0.1)));
        // Other ways of writing it are not its own.
        for other in [
            LINE.replace("[ 10s ]", "[  10s ]"),
            LINE.replace("reconn/s: 0.10", ""),
            LINE.replace("err/s:", "err/s"),
            LINE.replace("1003.28", "1,003.28"),
        ] {
            assert_eq!(printed(other.as_bytes(), 7), None, "{other}");
            assert!(interval(&other, 7).is_some(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn both_ways_find_the_same(
            numbers in prop::collection::vec("[0-9]{1,7}(\\.[0-9]{1,4})?", 11),
            odd in 0usize..40,
            with in "[0-9 .,:e/x-]{0,3}",
            tail in "[ a-z0-9:.,%\u{2502}]{0,12}",
        ) {
            let between = ["[ ", "s ] thds: ", " tps: ", " qps: ", " (r/w/o: ", "/", "/",
                ") lat (ms,", "%): ", " err/s: ", " reconn/s: "];
            let mut text = String::new();
            for (at, (label, number)) in between.iter().zip(&numbers).enumerate() {
                text.push_str(label);
                text.push_str(number);
                // Most lines are as they are printed.
                if at == odd {
                    text.push_str(&with);
                }
            }
            text.push_str(&tail);
            if let Some(one) = printed(text.as_bytes(), 1) {
                prop_assert_eq!(Some(one), searched(&text, 1));
            } else {
                prop_assert!(odd < between.len() || tail.starts_with([',', 'e', '.', '0', '1', '2',
                    '3', '4', '5', '6', '7', '8', '9']));
            }
        }
    }
}
