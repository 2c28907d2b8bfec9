//! What runs used of processors, disks and the network stands in a study's report, a row a run.

use super::common::many::{document, records};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_core::{Engine, ServerInfo};
use tidemark_report::Lang;

fn series(source: &str, name: &str, value: f64) -> Series {
    let key = SeriesKey::new(source, name, "1/s", Measures::Rate);
    let mut builder = SeriesBuilder::new(key, 3, 1000);
    for second in 0..6 {
        builder.push(second * 1000, value);
    }
    builder.series().unwrap()
}

#[test]
fn each_run_has_a_row_and_what_is_missing_is_said() {
    let mut records = records(
        &["oltp_read_write"],
        &[4, 8],
        ("durability", &[("1", 1.0)]),
        2,
        6,
    );
    assert_eq!(records.len(), 4);
    let none = document("observed", &records);
    let told = none.markdown(Lang::En).unwrap();
    assert!(!told.contains("Cost of a transaction by run"), "{told}");
    let (_, part) = told.split_once("## Resources by run").unwrap();
    let (part, _) = part.split_once("\n## ").unwrap();
    assert!(
        part.contains("--observe=auto") && !part.contains('|'),
        "{part}"
    );
    for (n, record) in records.iter_mut().enumerate() {
        record.series = vec![
            series("server-process", "process.cpu-user", 1.5),
            series("server-process", "process.cpu-system", 0.5),
            series("server-status", "log.syncs", 321.0),
            series("server-status", "network.sent", 1024.0),
            series("server-status", "network.received", 2048.0),
        ];
        if n < 3 {
            record.series.push(series("server-host", "cpu.busy", 0.75));
        }
    }
    let many = document("observed", &records);
    for (lang, title, missing) in [
        (
            Lang::En,
            "Resources by run",
            "Not collected (–): Database host CPU (%) (1 of 4 runs), Disk writes/s.",
        ),
        (
            Lang::Zh,
            "各次压测的资源用量",
            "未采集（–）：数据库主机 CPU（%）（4 次中 1 次）、磁盘写次数/秒。",
        ),
    ] {
        let page = many.html(lang).unwrap();
        assert!(page.contains(title) && page.contains(missing), "{page}");
        let told = many.markdown(lang).unwrap();
        let (_, part) = told.split_once(&format!("## {title}")).unwrap();
        let rows = part
            .lines()
            .filter(|line| line.contains("| 2.00 | – | 321 | 3.00 KiB/s |"));
        assert_eq!(rows.count(), 4, "{part}");
        assert!(
            part.contains("| 75.0 | 2.00 |") && part.contains("| – | 2.00 |"),
            "{part}"
        );
    }
    for (lang, title, head) in [
        (
            Lang::En,
            "Cost of a transaction by run",
            "| Workload | Server CPU | Flushes | Network |",
        ),
        (
            Lang::Zh,
            "各次压测的单事务开销",
            "| 服务器 CPU | 刷盘次数 | 网络 |",
        ),
    ] {
        let told = many.markdown(lang).unwrap();
        let (_, part) = told.split_once(&format!("## {title}")).unwrap();
        let (part, _) = part.split_once("\n## ").unwrap();
        assert!(part.contains(head), "{part}");
        let rows = part.lines().filter(|line| line.contains(" µs | "));
        assert_eq!(rows.count(), 4, "{part}");
    }
    let csv = many.csv();
    let network: Vec<&str> = csv
        .lines()
        .map(|line| line.rsplit(',').nth(1).unwrap())
        .collect();
    assert_eq!(
        network,
        ["network_bytes_per_s", "3072", "3072", "3072", "3072"]
    );
    assert!(
        csv.lines().nth(1).unwrap().ends_with(",75,2,,321,3072,"),
        "{csv}"
    );
    assert!(
        csv.lines().nth(4).unwrap().ends_with(",,2,,321,3072,"),
        "{csv}"
    );
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    assert_eq!(json["runs"][0]["resources"]["server_cores"], 2.0);
}

#[test]
fn an_embedded_databases_host_is_the_clients() {
    let mut records = records(
        &["oltp_read_write"],
        &[1],
        ("durability", &[("1", 1.0)]),
        2,
        6,
    );
    for record in &mut records {
        record.target_on_client = None;
        record.server = Some(ServerInfo {
            engine: Engine::Sqlite,
            version: "3.50.4".into(),
        });
        record.series = vec![series("client-host", "cpu.busy", 0.75)];
    }
    let many = document("embedded", &records);
    let missing = "Not collected (–): Disk writes/s, Flushes/s.";
    for (lang, title, says) in [
        (
            Lang::En,
            "Resources by run",
            ["works in the client's process", missing],
        ),
        (
            Lang::Zh,
            "各次压测的资源用量",
            ["嵌入式数据库", "未采集（–）：磁盘写次数/秒、刷盘次数/秒。"],
        ),
    ] {
        let told = many.markdown(lang).unwrap();
        let (_, part) = told.split_once(&format!("## {title}")).unwrap();
        assert!(part.contains("| 75.0 | – | – | – | – |"), "{part}");
        assert!(says.iter().all(|says| part.contains(says)), "{part}");
    }
}
