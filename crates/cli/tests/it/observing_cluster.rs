//! The options that name a cluster's nodes, its Prometheus and its topology, from the command line to the
//! record and the page. What nodes and Prometheus answer is built from TiDB's and Prometheus'
//! documentation: neither is at hand here.

use super::common::Workdir;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::RunRecord;
use tidemark_core::series::Series;

/// Answers requests by their path; where it listens.
fn serve(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 8192];
            let n = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..n]).into_owned();
            let body = answer(request.split(' ').nth(1).unwrap_or_default());
            let _gone = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}");
        }
    });
    address
}

const TARGET: &str = "--target=sqlite:x.db";

const LINE: [&str; 4] = ["sysbench", "oltp_point_select", TARGET, "--table-size=500"];

/// A folder with tables.
fn prepared() -> Workdir {
    let work = Workdir::new();
    work.ok(&[&LINE[..], &["prepare"]].concat());
    work
}

/// A run of so many seconds, and its record.
fn observed(work: &Workdir, time: &str, options: &[&str]) -> RunRecord {
    work.ok(&[
        &LINE[..],
        &[time, "--think-time=5ms", "--observe=server-nodes"],
        options,
        &["run"],
    ]
    .concat());
    serde_json::from_value(work.last_record()).unwrap()
}

/// The values of a node's series.
fn values(record: &RunRecord, name: &str, instance: &str) -> Vec<f64> {
    let is_it = |s: &&Series| {
        let of = s.key.labels.get("instance");
        s.key.source == SERVER_NODES && s.key.name == name && of.is_some_and(|of| of == instance)
    };
    let found: Vec<&Series> = record.series.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{name} {instance}: {:#?}", record.series);
    let points = found[0].points().unwrap();
    points.map(|point| point.unwrap().value).collect()
}

fn page(work: &Workdir) -> String {
    work.ok(&["report", "last", "--out=page.html"]);
    std::fs::read_to_string(work.path().join("page.html")).unwrap()
}

#[test]
fn nodes_and_their_topology_stand_in_the_record_and_on_the_page() {
    let work = prepared();
    let begun = Instant::now();
    let node = serve(move |path| {
        assert_eq!(path, "/metrics");
        let cpu = 10.0 + 0.5 * begun.elapsed().as_secs_f64();
        format!(
            "tikv_raftstore_region_count{{type=\"region\"}} 7\nprocess_cpu_seconds_total {cpu}\n"
        )
    });
    let file = "pd_servers:\n  - host: pd1\ntidb_servers:\n  - host: db1\n\
                tikv_servers:\n  - host: kv1\n    config:\n      server.grpc-concurrency: 11\n";
    std::fs::write(work.path().join("topology.yaml"), file).unwrap();
    let nodes = format!("--observe-nodes=http://{node}/metrics");
    let options = [nodes.as_str(), "--topology=topology.yaml"];
    // Nodes are asked every five seconds.
    let record = observed(&work, "--time=12", &options);
    let cpu = values(&record, "tikv.cpu", &node);
    assert!(
        !cpu.is_empty() && cpu.iter().all(|of| (0.2..1.0).contains(of)),
        "half a processor: {cpu:?}"
    );
    let topology = record.topology.as_ref().unwrap();
    let hosts: Vec<&str> = topology
        .hosts
        .iter()
        .map(|host| host.host.as_str())
        .collect();
    assert_eq!(hosts, ["pd1", "db1", "kv1"]);
    let page = page(&work);
    for part in [node.as_str(), "kv1", "server.grpc-concurrency", "11"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_prometheus_is_asked_for_the_time_of_the_run() {
    let work = prepared();
    let vector = |result: &str| {
        format!(
            "{{\"status\":\"success\",\"data\":{{\"resultType\":\"vector\",\"result\":[{result}]}}}}"
        )
    };
    let address = serve(move |path| {
        let parameter = |name: &str| {
            let query = path.split_once('?').map_or("", |(_, query)| query);
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let value = pairs.find(|(of, _)| *of == name).map_or("", |(_, v)| v);
            let decoded = percent_encoding::percent_decode_str(value);
            decoded.decode_utf8_lossy().into_owned()
        };
        let query = parameter("query");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = now.as_secs_f64();
        if path.starts_with("/api/v1/query_range?") {
            let number = |name: &str| parameter(name).parse::<f64>().unwrap();
            let (mut at, end, step) = (number("start"), number("end"), number("step"));
            let mut points = Vec::new();
            while at <= end {
                points.push(format!("[{at},\"1.5\"]"));
                at += step;
            }
            let is_cpu = query.contains("process_cpu_seconds_total");
            let of = "{\"instance\":\"kv1:20180\"}";
            let series = format!("{{\"metric\":{of},\"values\":[{}]}}", points.join(","));
            let series = if is_cpu { series } else { String::new() };
            return format!(
                "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{series}]}}}}"
            );
        }
        if query == "time()" {
            return format!(
                "{{\"status\":\"success\",\"data\":{{\"resultType\":\"scalar\",\"result\":[{now},\"{now}\"]}}}}"
            );
        }
        if query.contains("count_over_time") {
            // A scrape a second.
            return vector(&format!("{{\"metric\":{{}},\"value\":[{now},\"300\"]}}"));
        }
        vector(&format!(
            "{{\"metric\":{{\"__name__\":\"tikv_raftstore_region_count\",\
             \"instance\":\"kv1:20180\"}},\"value\":[{now},\"1\"]}}"
        ))
    });
    let prometheus = format!("--observe-prometheus=http://{address}");
    // It is asked every fifteen seconds; the end of a run does not wait for a late answer.
    let record = observed(&work, "--time=20", &[&prometheus]);
    let cpu = values(&record, "tikv.cpu", "kv1:20180");
    assert!(
        !cpu.is_empty() && cpu.iter().all(|of| *of == 1.5),
        "{cpu:?}"
    );
    assert!(page(&work).contains("kv1:20180"));
}

#[test]
fn files_that_are_none_are_refused_before_anything_is_done() {
    let work = Workdir::new();
    std::fs::write(
        work.path().join("odd.yaml"),
        "tikv_server:\n  - host: kv1\n",
    )
    .unwrap();
    for (option, told) in [
        ("--observe-ca=none.pem", "none.pem"),
        ("--topology=none.yaml", "can't be read"),
        ("--topology=odd.yaml", "did you mean tikv_servers?"),
    ] {
        let line = ["sysbench", "oltp_point_select", TARGET, option, "run"];
        let said = work.run(&line);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(
            said.err.contains(option.split('=').next().unwrap()) && said.err.contains(told),
            "{said:?}"
        );
    }
}
