//! Nodes through Prometheus, by an endpoint of our own: its answers are built from the documentation of
//! Prometheus' HTTP API and of TiDB's dashboards, neither of which is at hand here.

use super::kept::{kept, named, points, sink};
use crate::server::ThroughPrometheus;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::GapKind;
use tidemark_core::series::Series;
use tidemark_observe::{EndpointAccess, Sampling, SamplingResult};

/// Its clock is an hour ahead: only its own time counts.
const AHEAD: f64 = 3600.0;
const EVERY: Duration = Duration::from_millis(200);

/// What it does with a range: its whole reply, by query, start, end and step.
type Ranges = fn(&str, f64, f64, f64) -> String;

fn ok(body: &str) -> String {
    format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}")
}

fn success(result: &str) -> String {
    ok(&format!("{{\"status\":\"success\",\"data\":{result}}}"))
}

fn parameter(path: &str, name: &str) -> String {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.find(|(of, _)| *of == name).map(|(_, value)| value);
    let value = percent_encoding::percent_decode_str(value.unwrap_or_default());
    value.decode_utf8_lossy().into_owned()
}

fn answer(path: &str, ranges: Ranges) -> String {
    let query = parameter(path, "query");
    if path.starts_with("/api/v1/query_range?") {
        let number = |name: &str| parameter(path, name).parse::<f64>().unwrap();
        return ranges(&query, number("start"), number("end"), number("step"));
    }
    assert!(path.starts_with("/api/v1/query?"), "{path}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = now.as_secs_f64() + AHEAD;
    if query == "time()" {
        return success(&format!(
            "{{\"resultType\":\"scalar\",\"result\":[{now},\"{now}\"]}}"
        ));
    }
    let result = if query.starts_with("max(count_over_time(up[5m]))") {
        // Every 200 ms.
        format!("{{\"metric\":{{}},\"value\":[{now},\"1500\"]}}")
    } else {
        assert!(
            query.starts_with("count by (__name__, instance)"),
            "{query}"
        );
        [("tikv_raftstore_region_count", "kv1:20180"), ("tidb_server_connections", "db1:10080")]
            .map(|(name, at)| {
                format!("{{\"metric\":{{\"__name__\":\"{name}\",\"instance\":\"{at}\"}},\"value\":[{now},\"1\"]}}")
            })
            .join(",")
    };
    success(&format!(
        "{{\"resultType\":\"vector\",\"result\":[{result}]}}"
    ))
}

fn serve(ranges: Ranges) -> String {
    serving(move |path| Some(answer(path, ranges)))
}

/// Without an answer it holds the connection.
fn serving(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 8192];
            let n = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..n]).into_owned();
            match answer(request.split(' ').nth(1).unwrap_or_default()) {
                Some(reply) => drop(stream.write_all(reply.as_bytes())),
                None => held.push(stream),
            }
        }
    });
    format!("http://{address}")
}

/// A series of this query has this value at each time; labels in JSON.
fn matrix(of: &[(&str, f64)], (start, end, step): (f64, f64, f64)) -> String {
    let series = of.iter().map(|(labels, value)| {
        let mut values = Vec::new();
        let mut at = start;
        while at <= end {
            values.push(format!("[{at},\"{value}\"]"));
            at += step;
        }
        format!("{{\"metric\":{labels},\"values\":[{}]}}", values.join(","))
    });
    let series: Vec<String> = series.collect();
    format!(
        "{{\"resultType\":\"matrix\",\"result\":[{}]}}",
        series.join(",")
    )
}

fn of_a_cluster(query: &str, start: f64, end: f64, step: f64) -> String {
    let of: &[(&str, f64)] = match query {
        // Of everything that it knows, also what is no node.
        "sum by (instance) (rate(process_cpu_seconds_total[500ms]))" => &[
            ("{\"instance\":\"kv1:20180\"}", 2.5),
            ("{\"instance\":\"db1:10080\"}", 1.25),
            ("{\"instance\":\"prometheus:9090\"}", 0.5),
        ],
        _ if query.contains("tikv_thread_cpu_seconds_total") => &[
            (
                "{\"instance\":\"kv1:20180\",\"name\":\"raftstore_1_0\"}",
                0.25,
            ),
            (
                "{\"instance\":\"kv1:20180\",\"name\":\"raftstore_1_1\"}",
                0.5,
            ),
        ],
        _ if query.starts_with("histogram_quantile(0.99, sum by (le, instance, sql_type)") => &[(
            "{\"instance\":\"db1:10080\",\"sql_type\":\"Select\"}",
            0.004,
        )],
        _ if query.starts_with("sum by (instance, type) (tikv_engine_size_bytes") => {
            &[("{\"instance\":\"kv1:20180\",\"type\":\"write\"}", 80000.0)]
        }
        _ => &[],
    };
    success(&matrix(of, (start, end, step)))
}

fn watched(url: &str, lasting: Duration) -> (Vec<Series>, SamplingResult, Duration) {
    let (sink, chunks) = sink();
    let from = ThroughPrometheus::new(url, &EndpointAccess::default()).at_intervals_of(EVERY);
    let watch = Sampling::start(vec![Box::new(from)], Duration::ZERO, &sink);
    std::thread::sleep(lasting);
    let begun = Instant::now();
    let ended = watch.end();
    let took = begun.elapsed();
    (kept(&chunks), ended, took)
}

#[test]
fn a_clusters_panels_come_through_prometheus() {
    let url = serve(of_a_cluster);
    let (series, ended, took) = watched(&url, Duration::from_millis(2500));
    assert!(ended.observed[0].sampled, "{ended:?}");
    assert!(took < Duration::from_millis(1500), "{took:?}");
    let only = |name: &str| {
        let all = named(&series, SERVER_NODES, name);
        assert_eq!(all.len(), 1, "{name}: {series:?}");
        all[0]
    };
    let cpu = only("tikv.cpu");
    assert_eq!(cpu.key.labels["instance"], "kv1:20180");
    let cpu = points(cpu);
    assert!(
        cpu.iter()
            .all(|(at, value)| *value == 2.5 && (0..2600).contains(at)),
        "{cpu:?}"
    );
    assert!(cpu.len() >= 3, "{cpu:?}");
    assert_eq!(points(only("tidb.cpu"))[0].1, 1.25);
    // Threads of one pool add up.
    let threads = only("tikv.thread-cpu");
    assert_eq!(threads.key.labels["name"], "raftstore");
    assert_eq!(points(threads)[0].1, 0.75);
    let p99 = only("tidb.query-duration.p99-approx");
    assert_eq!((points(p99)[0].1, p99.key.unit.as_str()), (4.0, "ms"));
    assert_eq!(points(only("tikv.size"))[0].1, 80000.0);
    assert_eq!(only("tikv.size").key.labels["type"], "write");
}

#[test]
fn what_is_wrong_is_one_line_and_delays_nothing() {
    let said = |url: &str| {
        let (series, ended, took) = watched(url, Duration::from_millis(900));
        assert!(took < Duration::from_millis(1500), "{took:?}");
        assert!(series.is_empty(), "{series:?}");
        assert_eq!(ended.notes.len(), 1, "{ended:?}");
        ended.notes[0].clone()
    };
    let fixed = |reply: &'static str| serving(move |_| Some(reply.into()));
    for (reply, wanted) in [
        (
            "HTTP/1.0 401 Unauthorized\r\n\r\n",
            "HTTP status 401; set TIDEMARK_OBSERVE_TOKEN",
        ),
        (
            "HTTP/1.0 404 Not Found\r\n\r\n404 page not found",
            "HTTP status 404: there is no Prometheus",
        ),
        (
            "HTTP/1.0 400 Bad Request\r\n\r\n{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"odd query\"}",
            "HTTP status 400: odd query",
        ),
        (
            "HTTP/1.0 200 OK\r\n\r\n<html>",
            "the reply is not from a Prometheus",
        ),
        ("\x15\x03\x03", "TLS is required; use https://"),
    ] {
        let note = said(&fixed(reply));
        assert!(note.contains(wanted), "{note}");
        assert!(note.contains("--observe-prometheus"), "{note}");
    }
    let note = said(&serving(|_| None));
    assert!(
        note.contains("it had not answered when the run ended"),
        "{note}"
    );
    let empty = "HTTP/1.0 200 OK\r\n\r\n{\"status\":\"success\",\"data\":{\"result\":[1,\"1\"]}}";
    assert!(said(&fixed(empty)).contains("has no metrics of TiDB"));
    assert!(said("http://127.0.0.1:1").contains("127.0.0.1:1"));
}

#[test]
fn parts_that_are_missing_are_said_and_the_rest_is_kept() {
    let url = serve(|query, start, end, step| match query {
        "sum by (instance) (rate(process_cpu_seconds_total[500ms]))" => {
            let of = matrix(&[("{\"instance\":\"kv1:20180\"}", 2.0)], (start, end, step));
            ok(&format!(
                "{{\"status\":\"success\",\"data\":{of},\"warnings\":[\"store s2 is away\"]}}"
            ))
        }
        _ => success(&matrix(&[], (start, end, step))),
    });
    let (series, ended, _) = watched(&url, Duration::from_millis(2500));
    assert!(
        !named(&series, SERVER_NODES, "tikv.cpu").is_empty(),
        "{series:?}"
    );
    // Said once, however often.
    let gaps = ended.observed[0].gaps.iter();
    let partial = gaps.filter(|gap| gap.detail.contains("partial reply: store s2 is away"));
    let kinds: Vec<GapKind> = partial.map(|gap| gap.kind).collect();
    assert_eq!(kinds, [GapKind::Failed], "{ended:?}");
}

#[test]
fn one_that_stalls_later_keeps_what_it_told_and_holds_nobody_up() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let url = serving(move |path| {
        let n = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // Three questions and the first round of about a hundred.
        (n < 150).then(|| answer(path, of_a_cluster))
    });
    let (series, ended, took) = watched(&url, Duration::from_millis(2500));
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert!(ended.observed[0].sampled, "{ended:?}");
    assert!(!named(&series, SERVER_NODES, "tikv.cpu").is_empty());
    assert_eq!(ended.notes.len(), 1, "{ended:?}");
}
