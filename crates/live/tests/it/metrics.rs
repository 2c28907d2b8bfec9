//! What is served, read strictly and over real sockets, also by those who mean no good.

use super::common::{error, histogram, info, second};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tidemark_core::record::Phase;
use tidemark_core::series::{Measures, SeriesBuilder, SeriesChunk, SeriesKey};
use tidemark_live::{ClientNow, ClientStage, Metrics, MetricsError, RunInfo, upper_bounds_ns};
use tidemark_testkit::openmetrics::{Exposition, Labels};

const OPEN: &str = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n";

fn serve() -> Metrics {
    Metrics::serve(&"0".parse().unwrap()).unwrap()
}

/// Sends bytes and reads all that is answered.
fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let _refused = stream.write_all(request);
    let mut answer = Vec::new();
    let _cut = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(metrics: &Metrics, path: &str, headers: &str) -> (String, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n");
    let answer = ask(metrics.address(), request.as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    (head.into(), body.into())
}

fn page(metrics: &Metrics) -> Exposition {
    let (head, body) = get(metrics, "/metrics", OPEN);
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    assert!(
        head.contains("application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert!(
        head.contains(&format!("Content-Length: {}", body.len())),
        "{head}"
    );
    Exposition::read(&body).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

#[test]
fn each_of_several_clients_has_figures_of_its_own() {
    let metrics = serve();
    metrics.started(info(false));
    let of = |page: &Exposition, name: &str, client: &str| page.value(name, &[("client", client)]);
    assert_eq!(of(&page(&metrics), "tidemark_client_rate", "a"), None);
    metrics.clients(vec![
        ClientNow {
            name: "a".into(),
            rate: 120.0,
            p95_ns: Some(4_000_000),
            cpus: Some(0.5),
            host_busy: Some(0.25),
            clock_error_ms: 2.0,
            stage: ClientStage::Running,
        },
        ClientNow {
            name: "b".into(),
            stage: ClientStage::Lost,
            ..ClientNow::default()
        },
    ]);
    let now = page(&metrics);
    for (name, value) in [
        ("tidemark_client_running", 1.0),
        ("tidemark_client_rate", 120.0),
        ("tidemark_client_p95_seconds", 0.004),
        ("tidemark_client_cpus", 0.5),
        ("tidemark_client_host_busy", 0.25),
        ("tidemark_client_clock_error_seconds", 0.002),
    ] {
        assert_eq!(of(&now, name, "a"), Some(value), "{name}");
    }
    assert_eq!(of(&now, "tidemark_client_running", "b"), Some(0.0));
    assert_eq!(of(&now, "tidemark_client_p95_seconds", "b"), None);
    metrics.ended();
    assert_eq!(of(&page(&metrics), "tidemark_client_rate", "a"), None);
}

#[test]
fn sums_are_those_of_the_intervals() {
    let metrics = serve();
    assert!(
        page(&metrics)
            .value("process_cpu_seconds_total", &[])
            .unwrap()
            > 0.0
    );
    metrics.started(info(true));
    let begun = page(&metrics);
    let of = |page: &Exposition, kind: &str, phase: &str| {
        page.value(
            "tidemark_transactions_total",
            &[("type", kind), ("phase", phase)],
        )
    };
    // Types that never come are there, too: a rate from nothing to one is right then.
    assert_eq!(of(&begun, "OrderStatus", "measure"), Some(0.0));
    assert_eq!(begun.value("tidemark_measuring", &[]), Some(0.0));
    let mut last = begun;
    for n in 0..12 {
        let phase = if n < 2 { Phase::Warmup } else { Phase::Measure };
        metrics.errors(phase, &[error("1213", 2, "Deadlock")]);
        metrics.interval(&second(n, true));
        let now = page(&metrics);
        for ((name, labels), value) in &last.samples {
            let is_gauge = last.families.get(name).is_some_and(|kind| kind == "gauge");
            let later = now.samples[&(name.clone(), labels.clone())];
            assert!(
                is_gauge || later >= *value,
                "{name} {labels:?}: {value} then {later}"
            );
        }
        last = now;
    }
    // Ten measured seconds: 202 to 211.
    assert_eq!(of(&last, "NewOrder", "measure"), Some(2065.0));
    assert_eq!(of(&last, "NewOrder", "warmup"), Some(401.0));
    let measured = [("phase", "measure")];
    for (name, value) in [
        ("tidemark_elapsed_seconds_total", 10.0),
        ("tidemark_ignored_errors_total", 3.0),
        ("tidemark_reconnects_total", 1.0),
        ("tidemark_delayed_arrivals_total", 70.0),
        ("tidemark_dropped_arrivals_total", 10.0),
        ("tidemark_outage_seconds_total", 0.0),
    ] {
        assert_eq!(last.value(name, &measured), Some(value), "{name}");
    }
    for (name, value) in [
        ("tidemark_sessions", 16.0),
        ("tidemark_concurrency", 12.0),
        ("tidemark_queue_length", 3.0),
        ("tidemark_rate_asked", 500.0),
        ("tidemark_measuring", 1.0),
    ] {
        assert_eq!(last.value(name, &[]), Some(value), "{name}");
    }
    for (name, label, value) in [
        ("tidemark_statements_total", ("group", "write"), 4000.0),
        ("tidemark_outcomes_total", ("outcome", "rolled_back"), 20.0),
    ] {
        assert_eq!(
            last.value(name, &[label, measured[0]]),
            Some(value),
            "{name}"
        );
    }
    let errors = [
        ("class", "retryable"),
        ("code", "1213"),
        ("phase", "measure"),
    ];
    assert_eq!(last.value("tidemark_errors_total", &errors), Some(20.0));
    let run = last.of("tidemark_run_info").next().unwrap().0;
    assert_eq!(
        (run["run"].as_str(), run["workload"].as_str()),
        ("0199a1b2", "tpcc")
    );
    metrics.ended();
    let after = page(&metrics);
    assert_eq!(of(&after, "NewOrder", "measure"), Some(2065.0));
    assert_eq!(after.value("tidemark_sessions", &[]), Some(0.0));
    // Another run begins from nothing, and one in closed loop has no arrivals.
    metrics.started(RunInfo {
        warmup: Duration::ZERO,
        ..info(false)
    });
    let next = page(&metrics);
    assert_eq!(of(&next, "NewOrder", "measure"), Some(0.0));
    assert_eq!(of(&next, "NewOrder", "warmup"), None);
    assert_eq!(next.value("tidemark_queue_length", &[]), None);
}

#[test]
fn buckets_hold_exactly_what_is_not_above_them() {
    let metrics = serve();
    metrics.started(info(true));
    (2..12).for_each(|n| metrics.interval(&second(n, true)));
    let page = page(&metrics);
    for (family, beyond) in [
        ("tidemark_service_time_seconds", 0),
        ("tidemark_server_and_network_time_seconds", 0),
        ("tidemark_response_time_seconds", 500),
    ] {
        let labels = [("phase", "measure"), ("type", "Payment")];
        let labels: Labels = labels.map(|(k, v)| (k.into(), v.into())).into();
        let mut all = histogram(190, Duration::from_micros(900 + beyond));
        let one = all.clone();
        (0..9).for_each(|_| all.merge(&one));
        let buckets = page.buckets(family, &labels);
        assert_eq!(buckets.len(), upper_bounds_ns().count() + 1);
        for (bound, count) in buckets {
            let ns = if bound.is_finite() {
                (bound * 1e9).round() as u64
            } else {
                u64::MAX
            };
            let really: u64 = all
                .occupied()
                .filter(|(e, _)| *e <= ns)
                .map(|(_, n)| n)
                .sum();
            assert_eq!(count, really as f64, "{family} {bound}");
        }
        let sum = page.samples[&(format!("{family}_sum"), labels)];
        assert!((sum - all.sum_ns() as f64 / 1e9).abs() < 1e-9, "{sum}");
    }
}

#[test]
fn whatever_a_server_says_stays_a_label() {
    let metrics = serve();
    let hostile = "\"} 1\n# EOF\n\\n{a=\"<script>";
    let mut run = info(false);
    run.version = hostile.into();
    run.types = vec![hostile.into()];
    run.study = Some((hostile.into(), "cell".into()));
    metrics.started(run);
    metrics.errors(Phase::Measure, &[error(hostile, 1, "x")]);
    let page = page(&metrics);
    let run = page.of("tidemark_run_info").next().unwrap().0;
    assert_eq!(
        (run["version"].as_str(), run["study"].as_str()),
        (hostile, hostile)
    );
    let labels = [("type", hostile), ("phase", "measure")];
    assert_eq!(
        page.value("tidemark_transactions_total", &labels),
        Some(0.0)
    );
    let labels = [
        ("class", "retryable"),
        ("code", hostile),
        ("phase", "measure"),
    ];
    assert_eq!(page.value("tidemark_errors_total", &labels), Some(1.0));
}

#[test]
fn what_is_observed_is_served_while_the_load_goes_on() {
    let metrics = serve();
    metrics.started(info(false));
    let series = |name: &str, state: Option<&str>, points: &[(i64, f64)]| {
        let key = SeriesKey::new("server-activity", name, "sessions", Measures::Gauge);
        let key = match state {
            Some(state) => key.with("state", state).with("1-a", "x"),
            None => key,
        };
        let mut builder = SeriesBuilder::new(key, 3, 1000);
        for (at, value) in points {
            builder.push(*at, *value);
        }
        builder.series().unwrap()
    };
    let observing = metrics.observing();
    let hostile = "\"} 1\n# EOF";
    observing(&SeriesChunk {
        source: "server-activity".into(),
        number: 0,
        series: vec![
            series("sessions", Some(hostile), &[(0, 1.0), (1000, 2.5)]),
            // It was seen before, and no more.
            series("sessions", Some("idle"), &[(0, 9.0)]),
            series("sessions.others", None, &[(0, 4.0)]),
        ],
    });
    let now = page(&metrics);
    let ours = [("source", "server-activity"), ("unit", "sessions")];
    let labels = [
        &ours[..],
        &[
            ("series", "sessions"),
            ("state", hostile),
            ("label_1_a", "x"),
        ],
    ];
    assert_eq!(
        now.value("tidemark_observed", &labels.concat()),
        Some(2.5),
        "{now:?}"
    );
    let labels = [&ours[..], &[("series", "sessions.others")]];
    assert_eq!(now.value("tidemark_observed", &labels.concat()), Some(4.0));
    assert_eq!(now.of("tidemark_observed").count(), 2);
    // What another source has stays, and what comes after the end is not of the load.
    let other = SeriesKey::new("client-host", "cpu.busy", "ratio", Measures::Rate);
    let mut builder = SeriesBuilder::new(other, 3, 1000);
    builder.push(0, 0.5);
    let chunk = SeriesChunk {
        source: "client-host".into(),
        number: 0,
        series: vec![builder.series().unwrap()],
    };
    observing(&chunk);
    assert_eq!(page(&metrics).of("tidemark_observed").count(), 3);
    metrics.ended();
    observing(&chunk);
    assert_eq!(page(&metrics).of("tidemark_observed").count(), 0);
}

#[test]
fn who_knows_no_openmetrics_gets_the_older_format() {
    let metrics = serve();
    metrics.started(info(false));
    metrics.interval(&second(3, false));
    for accept in [
        "Accept: text/plain;version=0.0.4\r\n",
        "accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n",
    ] {
        let (head, body) = get(&metrics, "/metrics", accept);
        assert!(
            head.contains("Content-Type: text/plain; version=0.0.4"),
            "{head}"
        );
        assert!(
            body.contains("# TYPE tidemark_transactions_total counter\n"),
            "{body}"
        );
        assert!(body.contains("# TYPE tidemark_run_info gauge\n"), "{body}");
        assert!(
            !body.contains("# EOF") && !body.contains("# UNIT"),
            "{body}"
        );
    }
    for accept in ["", "Accept: */*\r\n"] {
        let (head, body) = get(&metrics, "/metrics", accept);
        assert!(head.contains("openmetrics-text"), "{head}");
        Exposition::read(&body).unwrap();
    }
}

#[test]
fn what_is_no_request_for_the_page_is_refused() {
    let metrics = serve();
    let address = metrics.address();
    let many = "A: b\r\n".repeat(100);
    let long = "x".repeat(20_000);
    for (request, status) in [
        ("GET /other HTTP/1.1\r\n\r\n".to_string(), "404"),
        (
            "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc".into(),
            "405",
        ),
        (
            "\x16\x03\x01\x02\x00\x01\x00 client hello\r\n\r\n".into(),
            "400",
        ),
        ("GET\r\n\r\n".into(), "400"),
        (format!("GET /metrics HTTP/1.1\r\n{many}\r\n"), "431"),
        (format!("GET /metrics HTTP/1.1\r\nA: {long}"), "431"),
        ("GET /metrics?name[]=a HTTP/1.0\r\n\r\n".into(), "200"),
        ("GET / HTTP/1.1\r\n\r\n".into(), "200"),
    ] {
        let answer = ask(address, request.as_bytes());
        // Who has not read all that was sent may reset the connection before the answer is read.
        let cut = status == "431" && answer.is_empty();
        assert!(
            cut || answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request:.40}: {answer}"
        );
    }
    let head = ask(address, b"HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    page(&metrics);
}

#[test]
fn nobody_waits_for_those_who_are_slow() {
    let metrics = serve();
    metrics.started(info(false));
    let address = metrics.address();
    // Some say nothing, some begin and stop, some ask and never read.
    let mut idle: Vec<TcpStream> = (0..12)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    for stream in idle.iter_mut().step_by(2) {
        stream.write_all(b"GET /metr").unwrap();
    }
    idle[1].write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let start = Instant::now();
    page(&metrics);
    metrics.interval(&second(3, false));
    page(&metrics);
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "{:?}",
        start.elapsed()
    );
    // Of more than there is room for the oldest are sent away, and whoever asks is answered at once.
    let more: Vec<TcpStream> = (0..40)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    let mut first = &idle[0];
    first
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    assert_eq!(first.read(&mut [0; 8]).unwrap_or(0), 0);
    for _ in 0..3 {
        let answer = ask(address, b"GET /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.ends_with("# EOF\n"), "{answer}");
    }
    drop(more);
}

#[test]
fn a_port_that_is_taken_is_named_and_one_that_was_left_is_free() {
    let metrics = serve();
    let address = metrics.address().to_string();
    let taken = Metrics::serve(&address.parse().unwrap()).unwrap_err();
    assert!(matches!(taken, MetricsError::Bind { .. }));
    let message = taken.to_string();
    assert!(
        message.contains(&address) && message.contains("use another port"),
        "{message}"
    );
    drop(metrics);
    let start = Instant::now();
    while Metrics::serve(&address.parse().unwrap()).is_err() {
        assert!(start.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(10));
    }
}
