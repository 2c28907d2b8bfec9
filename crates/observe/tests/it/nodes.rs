//! Nodes of clusters, by endpoints of our own: their texts are written after the manuals of TiDB,
//! CockroachDB and YugabyteDB, which are not at hand here. What the databases are asked for their nodes
//! is asked of PostgreSQL, with tables that are made as theirs.

use super::kept::{kept, mean, named, points, sink};
use crate::server::Nodes;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use tidemark_core::observe::SERVER_NODES;
use tidemark_core::record::{Gap, GapKind};
use tidemark_core::series::Series;
use tidemark_core::{Engine, Observe, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_observe::{EndpointAccess, Observing, Sampling, SamplingResult, sources};
use tidemark_testkit::Server;

/// What an endpoint does with a request.
enum Answer {
    Text(String),
    Raw(&'static [u8]),
    /// It never answers.
    Stalls,
    /// Lines without end.
    Endless,
}

/// An endpoint at an address; the answer to each request, by its path.
fn serve_at(address: &str, answer: impl Fn(&str) -> Answer + Send + 'static) -> String {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..n]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            match answer(path) {
                Answer::Text(text) => {
                    let _gone = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{text}");
                }
                Answer::Raw(bytes) => {
                    let _gone = stream.write_all(bytes);
                }
                Answer::Stalls => held.push(stream),
                Answer::Endless => {
                    std::thread::spawn(move || endless(stream));
                }
            }
        }
    });
    address
}

fn serve(answer: impl Fn(&str) -> Answer + Send + 'static) -> String {
    serve_at("127.0.0.1:0", answer)
}

fn endless(mut stream: TcpStream) {
    let lines = "go_gc_duration_seconds{quantile=\"0.25\"} 2.9e-05\n".repeat(2000);
    let begun = "HTTP/1.0 200 OK\r\n\r\ntikv_engine_size_bytes{db=\"kv\",type=\"write\"} 4096\n";
    let mut sent = stream.write_all(begun.as_bytes());
    while sent.is_ok() {
        sent = stream.write_all(lines.as_bytes());
    }
}

/// A total that grows so much in a second.
fn growing(a_second: f64) -> impl Fn() -> f64 + Send + 'static {
    let begun = Instant::now();
    move || 1e6 + begun.elapsed().as_secs_f64() * a_second
}

fn watched(nodes: Nodes, lasting: Duration) -> (Vec<Series>, SamplingResult, Duration) {
    let (sink, chunks) = sink();
    let nodes = nodes.at_intervals_of(Duration::from_millis(300));
    let watch = Sampling::start(vec![Box::new(nodes)], Duration::ZERO, &sink);
    std::thread::sleep(lasting);
    let begun = Instant::now();
    let ended = watch.end();
    let took = begun.elapsed();
    (kept(&chunks), ended, took)
}

fn of<'s>(series: &'s [Series], name: &str, labels: &[(&str, &str)]) -> &'s Series {
    let all = named(series, SERVER_NODES, name);
    let is_it = |s: &&&Series| {
        let has = |(l, v): &(&str, &str)| s.key.labels.get(*l).is_some_and(|of| of == v);
        labels.iter().all(has)
    };
    let found = all.iter().find(is_it);
    found.unwrap_or_else(|| panic!("{name} {labels:?}: {series:?}"))
}

/// About, on a machine that may be busy.
fn about(value: f64, wanted: f64) -> bool {
    (wanted * 0.5..wanted * 2.0).contains(&value)
}

#[test]
fn each_node_of_a_tidb_cluster_is_told() {
    let (queries, seconds) = (growing(500.0), growing(1.5));
    let tidb = serve(move |_| {
        let (n, s) = (queries(), seconds());
        Answer::Text(format!(
            "# HELP tidb_server_query_total Counter of queries.\n\
             # TYPE tidb_server_query_total counter\n\
             tidb_server_query_total{{resource_group=\"default\",result=\"OK\",type=\"StmtExecute\"}} {n}\n\
             tidb_server_connections{{resource_group=\"default\"}} 64\n\
             tidb_server_handle_query_duration_seconds_bucket{{db=\"sbtest\",resource_group=\"default\",sql_type=\"Select\",le=\"0.0005\"}} 0\n\
             tidb_server_handle_query_duration_seconds_bucket{{db=\"sbtest\",resource_group=\"default\",sql_type=\"Select\",le=\"0.001\"}} {n}\n\
             tidb_server_handle_query_duration_seconds_bucket{{db=\"sbtest\",resource_group=\"default\",sql_type=\"Select\",le=\"+Inf\"}} {n}\n\
             tidb_server_handle_query_duration_seconds_sum{{db=\"sbtest\",resource_group=\"default\",sql_type=\"Select\"}} {s}\n\
             tidb_server_handle_query_duration_seconds_count{{db=\"sbtest\",resource_group=\"default\",sql_type=\"Select\"}} {n}\n\
             pd_client_cmd_handle_cmds_duration_seconds_sum{{type=\"wait\"}} {s}\n\
             pd_client_cmd_handle_cmds_duration_seconds_count{{type=\"wait\"}} {n}\n\
             pd_client_cmd_handle_cmds_duration_seconds_sum{{type=\"get_region\"}} 1\n\
             pd_client_cmd_handle_cmds_duration_seconds_count{{type=\"get_region\"}} 1\n\
             process_start_time_seconds 1.7640000005e+09\n"
        ))
    });
    let cpu = growing(0.4);
    let tikv = serve(move |_| {
        let s = cpu();
        Answer::Text(format!(
            "tikv_thread_cpu_seconds_total{{name=\"grpc_server_0\",tid=\"7\"}} {s}\n\
             tikv_thread_cpu_seconds_total{{name=\"grpc_server_1\",tid=\"8\"}} {s}\n\
             tikv_thread_cpu_seconds_total{{name=\"raftstore_2_0\",tid=\"9\"}} {s}\n\
             tikv_raftstore_append_log_duration_seconds_bucket{{le=\"+Inf\"}} 10\n\
             tikv_raftstore_append_log_duration_seconds_sum 1\n\
             tikv_raftstore_append_log_duration_seconds_count 10\n\
             tikv_engine_size_bytes{{db=\"kv\",type=\"default\"}} 1.5e+09\n"
        ))
    });
    let pd = serve(|_| {
        Answer::Text("pd_cluster_status{type=\"store_up_count\"} 3\npd_hotspot_status{address=\"a\",store=\"1\",type=\"hot_write_region_as_leader\"} 4\n".into())
    });
    let urls = [&tidb, &tikv, &pd].map(|at| format!("http://{at}/metrics"));
    let (series, ended, _) = watched(Nodes::at(&urls.join(", ")), Duration::from_millis(2500));
    assert!(
        ended.observed[0].sampled && ended.observed[0].gaps.is_empty(),
        "{ended:?}"
    );
    let rate = of(
        &series,
        "tidb.commands",
        &[("instance", &tidb), ("type", "StmtExecute")],
    );
    assert!(
        about(mean(rate), 500.0) && rate.key.unit == "1/s",
        "{rate:?}"
    );
    let select = [("instance", tidb.as_str()), ("sql_type", "Select")];
    let duration = of(&series, "tidb.query-duration", &select);
    // Both numbers are of one moment: 1.5 s in 500 queries.
    assert!(
        about(mean(duration), 3.0) && duration.key.unit == "ms",
        "{duration:?}"
    );
    assert!(about(
        mean(of(&series, "tidb.query-duration.rate", &select)),
        500.0
    ));
    let p99 = mean(of(&series, "tidb.query-duration.p99-approx", &select));
    assert!((0.5..=1.0).contains(&p99), "{p99}");
    assert_eq!(named(&series, SERVER_NODES, "tidb.tso-wait").len(), 1);
    assert_eq!(mean(of(&series, "tidb.connections", &[])), 64.0);
    let threads = |name| {
        of(
            &series,
            "tikv.thread-cpu",
            &[("instance", &tikv), ("name", name)],
        )
    };
    assert!(about(mean(threads("grpc_server")), 0.8));
    assert!(about(mean(threads("raftstore")), 0.4));
    assert_eq!(
        mean(of(&series, "tikv.size", &[("type", "default")])),
        1.5e9
    );
    assert_eq!(
        mean(of(&series, "pd.hot-regions", &[("instance", &pd)])),
        4.0
    );
    // Nothing was added to these logs, and a mean of nothing is none.
    assert!(named(&series, SERVER_NODES, "tikv.append-log").is_empty());
    let most = points(rate).len();
    assert!((2..=9).contains(&most), "{rate:?}");
}

#[test]
fn a_node_that_restarts_leaves_a_gap_and_no_huge_rate() {
    let begun = Instant::now();
    let node = serve(move |path| {
        assert_eq!(path, "/_status/vars");
        let ms = begun.elapsed().as_millis();
        // Another process, which counts from nothing, and fast.
        let (uptime, selects) = match ms {
            ..1500 => (9000.0 + ms as f64 / 1e3, 5_000_000.0 + ms as f64),
            _ => ((ms as f64 - 1500.0) / 1e3, (ms as f64 - 1500.0) * 3.0),
        };
        Answer::Text(format!(
            "sys_uptime{{node_id=\"1\"}} {uptime}\nsql_select_count{{node_id=\"1\"}} {selects}\n"
        ))
    });
    let url = format!("http://{node}/_status/vars");
    let (series, ended, _) = watched(Nodes::at(&url), Duration::from_millis(4000));
    let is_told = |note: &&String| note.contains(&node) && note.contains("it was restarted");
    assert_eq!(ended.notes.iter().filter(is_told).count(), 1, "{ended:?}");
    let selects = points(of(&series, "cockroach.statements", &[("kind", "select")]));
    assert!(
        selects.iter().all(|(_, v)| (300.0..9000.0).contains(v)),
        "{selects:?}"
    );
    let gap = |w: &[(i64, f64)]| w[1].0 - w[0].0 > 300;
    assert!(selects.windows(2).any(gap), "{selects:?}");
}

#[test]
fn endpoints_that_are_none_are_lines_and_the_others_go_on() {
    let cpu = growing(1.0);
    let good = serve(move |_| {
        let s = cpu();
        Answer::Text(format!(
            "process_cpu_seconds_total {s}\ntikv_engine_size_bytes{{db=\"kv\",type=\"a\\\"b\\\\\"}} NaN\n\
             tikv_engine_size_bytes{{db=\"kv\",type=\"write\"}} 80000\n\
             tikv_engine_size_bytes{{db=\"kv\",type=\"write\"}} 80000\n\
             broken{{ 7\n\n{{}} 1\ntikv_engine_size_bytes{{db=\"kv\",type=\"lock\"}} +Inf\n"
        ))
    });
    type Bad = (fn() -> Answer, &'static str);
    let bad: [Bad; 6] = [
        (|| Answer::Stalls, "no reply within 3 s"),
        (
            || Answer::Raw(b"HTTP/1.1 500 Internal Server Error\r\n\r\noops"),
            "HTTP status 500",
        ),
        (
            || Answer::Text("<!DOCTYPE html>\n<html><body>Welcome</body></html>\n".into()),
            "the reply has no metrics of",
        ),
        (|| Answer::Raw(b""), "without a reply"),
        (|| Answer::Raw(b"\x15\x03\x01\x00\x02\x02\x0a"), ""),
        (
            || Answer::Raw(b"HTTP/1.1 308 Permanent Redirect\r\nLocation: https://db1/\r\n\r\n"),
            "",
        ),
    ];
    for (answer, wanted) in bad {
        let wrong = serve(move |_| answer());
        let urls = format!("http://{wrong}/metrics,http://{good}/metrics");
        // A stalled one is waited for before the others are sampled.
        let lasting = match wanted.starts_with("no reply") {
            true => Duration::from_millis(6500),
            false => Duration::from_millis(1800),
        };
        let (series, ended, took) = watched(Nodes::at(&urls), lasting);
        assert!(took < Duration::from_millis(1500), "{wanted}: {took:?}");
        let gaps = &ended.observed[0].gaps;
        let tls = Gap::new(GapKind::NodeTls, wrong.as_str());
        match wanted.is_empty() {
            true => assert!(gaps.contains(&tls), "{ended:?}"),
            false => {
                assert_eq!(gaps[0].kind, GapKind::NodeSilent, "{ended:?}");
                let said = &gaps[0].detail;
                assert!(said.starts_with(&wrong) && said.contains(wanted), "{said}");
            }
        }
        // Said once, and no failure.
        assert_eq!((gaps.len(), ended.notes.len()), (1, 0), "{ended:?}");
        assert!(about(
            mean(of(&series, "tikv.cpu", &[("instance", &good)])),
            1.0
        ));
        assert_eq!(
            mean(of(&series, "tikv.size", &[("type", "write")])),
            80000.0
        );
        assert_eq!(named(&series, SERVER_NODES, "tikv.size").len(), 1);
    }
}

#[test]
fn a_text_without_end_holds_nobody_up() {
    let node = serve(|_| Answer::Endless);
    let url = format!("http://{node}/metrics");
    let (_, ended, took) = watched(Nodes::at(&url), Duration::from_millis(4500));
    assert!(took < Duration::from_millis(1500), "{took:?}");
    // Cut after many bytes, or after seconds where the machine is slow.
    let gaps = format!("{:?}", ended.observed[0].gaps);
    let said = ["longer than 32 MiB", "no reply within 3 s", "no reply"];
    assert!(
        said.iter().any(|said| gaps.contains(said)) || gaps == "[]",
        "{gaps}"
    );
}

#[test]
fn nodes_that_cannot_be_had_say_why() {
    let of = |urls: &str| {
        let (series, ended, _) = watched(Nodes::at(urls), Duration::from_millis(400));
        assert!(series.is_empty() && !ended.observed[0].sampled, "{ended:?}");
        ended.observed[0].gaps.clone()
    };
    let gaps = of("http://127.0.0.1:1/metrics");
    assert_eq!(gaps[0].kind, GapKind::NodeSilent);
    assert!(gaps[0].detail.starts_with("127.0.0.1:1: "), "{gaps:?}");
    let gaps = of("https://127.0.0.1:1/metrics");
    assert_eq!(gaps[0].kind, GapKind::NodeSilent);
    let gaps = of("db1");
    assert!(
        gaps[0].detail.contains("--observe-nodes: db1: "),
        "{gaps:?}"
    );
}

fn connector(url: &str) -> Connector {
    Connector::new(Target::parse(url).unwrap(), ConnectOptions::default()).unwrap()
}

#[test]
fn cockroachs_list_of_nodes_is_asked_for() {
    let selects = growing(100.0);
    let node = serve(move |_| {
        let n = selects();
        Answer::Text(format!(
            "sql_select_count{{node_id=\"1\"}} {n}\nliveness_livenodes 1\n"
        ))
    });
    let (host, port) = node.rsplit_once(':').unwrap();
    let server = Server::postgres().unwrap();
    for sql in [
        "CREATE SCHEMA crdb_internal",
        "CREATE TABLE crdb_internal.gossip_nodes (node_id INT, address TEXT, is_live BOOL)",
        "INSERT INTO crdb_internal.gossip_nodes VALUES (1, '127.0.0.1:26257', true), \
         (2, '127.0.0.9:26257', false)",
        "CREATE TABLE crdb_internal.node_runtime_info (component TEXT, field TEXT, value TEXT)",
        &format!(
            "INSERT INTO crdb_internal.node_runtime_info VALUES ('DB', 'Host', 'x:1'), \
             ('UI', 'Scheme', 'http'), ('UI', 'Host', '{host}'), ('UI', 'Port', '{port}')"
        ),
        "CREATE USER plain PASSWORD 'p'",
    ] {
        server.query(sql).unwrap();
    }
    let asked = |url: &str| {
        let nodes = Nodes::of(Engine::Cockroach, &connector(url));
        watched(nodes, Duration::from_millis(2500))
    };
    let (series, ended, _) = asked(&server.url());
    assert!(ended.observed[0].gaps.is_empty(), "{ended:?}");
    let rate = of(&series, "cockroach.statements", &[("instance", &node)]);
    assert!(about(mean(rate), 100.0), "{rate:?}");
    let (_, ended, _) = asked(&format!(
        "postgres://plain:p@127.0.0.1:{}/sbtest",
        server.port()
    ));
    let refused = Gap::new(
        GapKind::NodesRefused,
        "GRANT SYSTEM VIEWCLUSTERMETADATA TO plain",
    );
    assert_eq!(ended.observed[0].gaps, [refused], "{ended:?}");
}

#[test]
fn yugabytes_list_of_nodes_is_asked_for() {
    // Ports are fixed there: a loopback address of this test alone has them.
    let id = std::process::id();
    let host = format!("127.{}.{}.9", 64 + id % 64, id / 64 % 256);
    let reads = growing(200.0);
    let text = move |path: &str| {
        assert!(path.contains("reset_histograms=false"), "{path}");
        let n = reads();
        Answer::Text(format!(
            "handler_latency_yb_tserver_TabletServerService_Read_count{{metric_type=\"server\",exported_instance=\"n1:9000\"}} {n} 1700000000000\n\
             handler_latency_yb_tserver_TabletServerService_Read_sum{{metric_type=\"server\",exported_instance=\"n1:9000\"}} {} 1700000000000\n\
             cpu_utime{{metric_type=\"server\"}} {n} 1700000000000\n",
            n * 400.0
        ))
    };
    serve_at(&format!("{host}:9000"), text);
    serve_at(&format!("{host}:13000"), |_| {
        Answer::Text("yb_ysqlserver_connection_total{metric_type=\"server\"} 12\n".into())
    });
    let server = Server::postgres().unwrap();
    let made = format!(
        "CREATE FUNCTION yb_servers() RETURNS TABLE (host TEXT, port BIGINT, node_type TEXT) \
         LANGUAGE SQL AS $$ SELECT '{host}'::TEXT, 5433::BIGINT, 'primary'::TEXT $$"
    );
    server.query(&made).unwrap();
    let nodes = Nodes::of(Engine::Yugabyte, &connector(&server.url()));
    let (series, ended, _) = watched(nodes, Duration::from_millis(2500));
    // Nobody answers as a master there, and nothing is said of it.
    assert!(
        ended.observed[0].gaps.is_empty() && ended.notes.is_empty(),
        "{ended:?}"
    );
    let tserver = format!("{host}:9000");
    let at = [("instance", tserver.as_str())];
    assert!(about(mean(of(&series, "yugabyte.read.rate", &at)), 200.0));
    assert!((0.39..0.41).contains(&mean(of(&series, "yugabyte.read", &at))));
    assert!(about(
        mean(of(&series, "yugabyte.cpu", &[("mode", "user")])),
        0.2
    ));
    assert_eq!(mean(of(&series, "yugabyte.connections", &[])), 12.0);
}

#[test]
fn a_database_without_such_a_list_says_so() {
    let server = Server::mariadb().unwrap();
    let nodes = Nodes::of(Engine::Tidb, &connector(&server.url()));
    let (_, ended, _) = watched(nodes, Duration::from_millis(900));
    let gaps = &ended.observed[0].gaps;
    assert!(
        gaps[0].kind == GapKind::Failed && gaps[0].detail.to_lowercase().contains("cluster_info"),
        "{ended:?}"
    );
}

#[test]
fn only_clusters_have_nodes() {
    let connector = connector("mysql://u@127.0.0.1:1/d");
    let of = |engine, nodes, observe: &str| {
        let observe: Observe = observe.parse().unwrap();
        let all = sources(&Observing {
            observe: &observe,
            host: None,
            nodes,
            prometheus: None,
            access: EndpointAccess::default(),
            connector: &connector,
            engine: Some(engine),
            on_client: Some(false),
            pid: None,
            makes_load: true,
            by_clients: false,
        });
        let has = all.sources.iter().any(|s| s.name() == SERVER_NODES);
        let unseen: Vec<String> = all.unseen.into_iter().map(|o| o.source).collect();
        (has, unseen)
    };
    let unseen = |of: &[&str]| of.iter().map(ToString::to_string).collect::<Vec<_>>();
    for engine in [Engine::Tidb, Engine::Cockroach, Engine::Yugabyte] {
        let told = of(engine, None, "auto");
        let others = ["server-host", "server-activity", "server-statements"];
        assert_eq!(told, (true, unseen(&others)));
        assert_eq!(
            of(engine, None, "server-status"),
            (false, unseen(&["server-status"]))
        );
    }
    assert_eq!(
        of(Engine::Mariadb, None, "server-nodes"),
        (false, unseen(&["server-nodes"]))
    );
    assert_eq!(of(Engine::Mariadb, None, "auto").1, ["server-host"]);
    // On another host, or of an engine that has none.
    for (engine, source) in [
        (Engine::Mariadb, "server-process"),
        (Engine::Sqlite, "server-activity"),
    ] {
        assert_eq!(of(engine, None, source), (false, unseen(&[source])));
    }
    assert_eq!(
        of(Engine::Mariadb, Some("http://db1"), "server-nodes"),
        (true, Vec::new())
    );
    assert_eq!(
        of(Engine::Tidb, Some("http://db1"), "off"),
        (false, Vec::new())
    );
}
