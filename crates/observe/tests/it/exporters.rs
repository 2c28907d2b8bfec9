//! The host by a real node_exporter, and endpoints that are none or hang.

use super::kept::{kept, mean, named, sink};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tidemark_core::series::Series;
use tidemark_core::{Engine, Observe, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_observe::{
    EndpointAccess, HostExporter, Observing, Sampling, SamplingResult, data_disks, disks_of,
    sources,
};
use tidemark_runtime::block_on;
use tidemark_testkit::shared_mariadb;

/// Ended with the test.
struct Exporter(Child);

impl Drop for Exporter {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

pub fn observed(url: &str, lasting: Duration) -> (Vec<Series>, SamplingResult, Duration) {
    // Nobody listens there: only hosts are observed.
    let target = Target::parse("mysql://u@127.0.0.1:1/d").unwrap();
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    let observe: Observe = "client-host,server-host".parse().unwrap();
    let all = sources(&Observing {
        observe: &observe,
        host: Some(url),
        nodes: None,
        prometheus: None,
        access: EndpointAccess::default(),
        connector: &connector,
        engine: Some(Engine::Mariadb),
        on_client: Some(false),
        pid: None,
        makes_load: true,
        by_clients: false,
    });
    let (sink, chunks) = sink();
    let watch = Sampling::start(all.sources, Duration::ZERO, &sink);
    std::thread::sleep(lasting);
    let begun = Instant::now();
    let ended = watch.end();
    let took = begun.elapsed();
    (kept(&chunks), ended, took)
}

/// A real one that listens, and its URL.
fn exporter() -> (Exporter, String) {
    let port = free_port();
    let program = "/usr/bin/prometheus-node-exporter";
    let started = Command::new(program)
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        // Debian's leaves out the interface that tests use.
        .arg("--collector.netdev.device-exclude=^$")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let exporter =
        Exporter(started.unwrap_or_else(|e| {
            panic!("{program}: {e}; Debian has it as prometheus-node-exporter")
        }));
    let url = format!("http://127.0.0.1:{port}/metrics");
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "it does not listen"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    (exporter, url)
}

/// A server elsewhere names its folder; its host's exporter knows what that is on. Here both are on this
/// host, whose own files say the same.
#[test]
fn an_exporter_tells_the_disk_under_a_remote_servers_data() {
    let (_exporter, url) = exporter();
    let database = shared_mariadb().unwrap().fresh_database("disk").unwrap();
    let target = Target::parse(&database.url()).unwrap();
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    let folder = database.query("SELECT @@datadir").unwrap();
    let exporter = HostExporter {
        url,
        access: EndpointAccess::default(),
    };
    let disks = |observe: Observe, exporter: Option<HostExporter>| {
        let connector = connector.clone();
        let asked = block_on(async move {
            let mut session = connector.connect(0).await.unwrap();
            let target = connector.target();
            data_disks(
                &mut session,
                target,
                &observe,
                Some(false),
                exporter.as_ref(),
            )
            .await
        });
        asked.unwrap()
    };
    let told = disks(Observe::Auto, Some(exporter.clone()));
    let here = disks_of(folder.trim().as_ref());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].holds, folder.trim());
    assert_eq!(
        (&told[0].device, &told[0].file_system),
        (&here[0].device, &here[0].file_system)
    );
    assert!(disks(Observe::Auto, None).is_empty());
    assert!(disks(Observe::Off, Some(exporter)).is_empty());
    // Nobody answers there.
    let nobody = HostExporter {
        url: format!("http://127.0.0.1:{}/metrics", free_port()),
        access: EndpointAccess::default(),
    };
    assert!(disks(Observe::Auto, Some(nobody)).is_empty());
}

#[test]
fn an_exporter_that_is_killed_is_a_line_and_what_it_told_is_kept() {
    let (exporter, url) = exporter();
    let (series, ended, took) = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(2600));
            drop(exporter);
        });
        observed(&url, Duration::from_millis(5300))
    });
    assert!(took < Duration::from_millis(1500), "{took:?}");
    let lines = ended.notes.iter();
    let lines = lines.filter(|n| n.starts_with("source server-host: "));
    assert_eq!(lines.count(), 1, "{ended:?}");
    assert!(!named(&series, "server-host", "cpu.busy").is_empty());
    // The client's host is seen to the end.
    let own = ended.observed.iter().find(|o| o.source == "client-host");
    assert!(own.is_some_and(|own| own.gaps.is_empty()), "{ended:?}");
}

#[test]
fn a_node_exporter_tells_what_the_clients_host_does() {
    let (_exporter, url) = exporter();
    let (series, ended, _) = observed(&url, Duration::from_millis(4300));
    assert!(
        ended
            .observed
            .iter()
            .all(|o| o.sampled && o.gaps.is_empty()),
        "{ended:?}"
    );
    let names = |source: &str| -> BTreeSet<String> {
        let of = series.iter().filter(|s| s.key.source == source);
        of.map(|s| s.key.name.clone()).collect()
    };
    let (client, server) = (names("client-host"), names("server-host"));
    // The client's own threads and memory are no host's.
    let own = ["threads.cpu", "threads.run-delay", "memory.resident"];
    let of_host: Vec<&String> = client
        .iter()
        .filter(|n| !own.contains(&n.as_str()))
        .collect();
    for name in &of_host {
        // What happened once in a while may fall between two looks of one of them.
        assert!(
            server.contains(*name) || name.starts_with("disk."),
            "{name}: {server:?}"
        );
    }
    assert!(of_host.len() >= 18, "{of_host:?}");
    let of = |source: &str, name: &str| mean(named(&series, source, name)[0]);
    let memory = of("server-host", "memory.used") / of("client-host", "memory.used");
    assert!((0.9..1.1).contains(&memory), "{memory}");
    let units = |source: &str| -> BTreeSet<(String, String)> {
        let of = series
            .iter()
            .filter(|s| s.key.source == source && client.contains(&s.key.name));
        of.map(|s| (s.key.name.clone(), s.key.unit.clone()))
            .collect()
    };
    let (clients, servers) = (units("client-host"), units("server-host"));
    assert!(servers.is_subset(&clients), "{servers:?}");
}

#[test]
fn an_endpoint_that_hangs_or_is_none_is_a_line() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", silent.local_addr().unwrap());
    let (_, ended, took) = observed(&url, Duration::from_millis(900));
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert_eq!(
        ended.notes,
        ["source server-host: it had not answered when the run ended"]
    );
    let (_, ended, _) = observed("http://127.0.0.1:1/", Duration::from_millis(300));
    assert!(ended.notes[0].contains("127.0.0.1:1"), "{ended:?}");
    let (_, ended, _) = observed("ftp://db1/", Duration::from_millis(300));
    assert!(
        ended.notes[0].contains("must begin with http:// or https://"),
        "{ended:?}"
    );
}

#[test]
fn what_came_before_an_endpoint_hangs_is_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (answered, stream) in listener.incoming().flatten().enumerate() {
            let mut stream = stream;
            let mut request = [0; 1024];
            let _read = stream.read(&mut request);
            if answered < 9 {
                let body =
                    format!("node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {answered}\n");
                let _sent = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}");
            } else {
                held.push(stream);
            }
        }
    });
    let (series, ended, took) = observed(&url, Duration::from_millis(8800));
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert!(
        ended.notes[0].starts_with("source server-host: "),
        "{ended:?}"
    );
    let user = named(&series, "server-host", "cpu.user");
    assert!(user[0].count >= 4, "{user:?}");
}
