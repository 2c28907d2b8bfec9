//! The dashboard for Grafana asks for nothing that is not served, and the manual tells of all that is.

use super::common::{error, info, second};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use tidemark_core::record::Phase;
use tidemark_live::Metrics;
use tidemark_testkit::openmetrics::Exposition;

/// A page with everything on it.
fn page() -> Exposition {
    let metrics = Metrics::serve(&"0".parse().unwrap()).unwrap();
    let mut run = info(true);
    run.study = Some(("sweep".into(), "threads=8".into()));
    metrics.started(run);
    metrics.errors(Phase::Measure, &[error("1213", 1, "Deadlock")]);
    (0..4).for_each(|n| metrics.interval(&second(n, true)));
    let mut stream = TcpStream::connect(metrics.address()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Exposition::read(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Every `expr` and `query` of the dashboard.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "expr" || name == "definition" => {
                        found.push(text.clone());
                    }
                    other => queries(other, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|v| queries(v, found)),
        _ => {}
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

#[test]
fn it_asks_for_metrics_and_labels_that_there_are() {
    let path = format!(
        "{}/../../contrib/grafana/tidemark.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut asked = Vec::new();
    queries(&dashboard, &mut asked);
    assert!(asked.len() > 15, "{asked:?}");
    let page = page();
    let served: BTreeSet<&str> = page.samples.keys().map(|(name, _)| name.as_str()).collect();
    let labels = page.samples.keys().flat_map(|(_, labels)| labels.keys());
    let mut labels: BTreeSet<&str> = labels.map(String::as_str).collect();
    // Prometheus puts it on all that it fetches.
    labels.insert("instance");
    let mut used = BTreeSet::new();
    for query in &asked {
        for name in words(query).filter(|w| w.starts_with("tidemark_") || w.starts_with("process_"))
        {
            if name == "tidemark_version" {
                continue;
            }
            assert!(served.contains(name), "{name} of {query} is not served");
            used.insert(name);
        }
        for part in query.split("by (").skip(1) {
            for label in words(part.split(')').next().unwrap()).filter(|w| !w.is_empty()) {
                assert!(labels.contains(label), "{label} of {query} is no label");
            }
        }
    }
    // And what is served is shown, but for what is shown otherwise.
    let elsewhere = ["_sum", "_count"];
    let aside = [
        "tidemark_elapsed_seconds_total",
        "tidemark_ignored_errors_total",
        "tidemark_measuring",
        "tidemark_outcomes_total",
    ];
    for name in served {
        let shown = used.contains(name) || aside.contains(&name);
        assert!(
            shown || elsewhere.iter().any(|s| name.ends_with(s)),
            "{name} is not shown"
        );
    }
}

#[test]
fn the_manual_has_every_family() {
    let path = format!("{}/../../docs/metrics.md", env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(path).unwrap();
    for (family, kind) in &page().families {
        let name = match kind.as_str() {
            "counter" => format!("`{family}_total`"),
            "info" => format!("`{family}_info`"),
            _ => format!("`{family}`"),
        };
        assert!(manual.contains(&name), "{name} is not in docs/metrics.md");
    }
}
