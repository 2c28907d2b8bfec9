//! What reports say of a cluster's hosts.

use tidemark_core::record::{
    ClusterDisk, ClusterHost, Component, ComponentSetting, RunRecord, Topology,
};
use tidemark_report::{Lang, Many, RunDigest, html, markdown, text};

fn component(kind: &str, port: u16, in_file: bool, in_database: bool) -> Component {
    Component {
        kind: kind.into(),
        port: Some(port),
        version: if in_database {
            "8.5.3".into()
        } else {
            String::new()
        },
        in_file,
        in_database,
        ..Component::default()
    }
}

fn record() -> RunRecord {
    let host = |host: &str, components| ClusterHost {
        host: host.into(),
        components,
        ..ClusterHost::default()
    };
    RunRecord {
        workload: "oltp_read_only".into(),
        topology: Some(Topology {
            file: Some("topology.yaml".into()),
            listed: true,
            hosts: vec![
                ClusterHost {
                    cpus: Some(16),
                    memory_bytes: Some(64 << 30),
                    disks: vec![ClusterDisk {
                        device: "nvme0n1".into(),
                        size_bytes: Some(1 << 40),
                    }],
                    ..host("kv1<b>", vec![component("tikv", 20160, true, true)])
                },
                host(
                    "db1",
                    vec![
                        component("tidb", 4000, true, false),
                        component("pd", 2379, false, true),
                    ],
                ),
            ],
            settings: vec![ComponentSetting {
                component: "tikv".into(),
                instance: None,
                name: "raftstore.apply-pool-size".into(),
                value: "3".into(),
                default: Some("2".into()),
            }],
        }),
        ..RunRecord::default()
    }
}

#[test]
fn a_page_draws_hosts_and_markdown_has_the_table() {
    let record = record();
    for (lang, words) in [
        (
            Lang::En,
            [
                "Cluster",
                "TiDB:4000 (not listed by the database)",
                "PD:2379 8.5.3 (not in the file)",
            ],
        ),
        (
            Lang::Zh,
            [
                "集群拓扑",
                "TiDB:4000（数据库未列出）",
                "PD:2379 8.5.3（文件中没有）",
            ],
        ),
    ] {
        let page = html(&record, lang).unwrap();
        assert!(page.contains("kv1&lt;b&gt;") && !page.contains("kv1<b>"));
        assert!(page.contains(">TiKV:20160 8.5.3</text>"), "{page}");
        let md = markdown(&record, lang).unwrap();
        for wanted in
            words
                .iter()
                .chain(&["64.0 GiB", "nvme0n1 1.00 TiB", "raftstore.apply-pool-size"])
        {
            assert!(page.contains(wanted), "{wanted}");
            assert!(md.contains(wanted), "{wanted}: {md}");
        }
        // What one reads at once has no room for it.
        assert!(!text(&record, lang).unwrap().contains(words[0]));
    }
    let mut without = record;
    without.topology = None;
    assert!(!html(&without, Lang::En).unwrap().contains(">Cluster<"));
}

#[test]
fn a_drawing_has_only_colours_that_the_style_sheet_replaces() {
    let page = html(&record(), Lang::En).unwrap();
    let (style, body) = page.split_once("</style>").unwrap();
    let used = regex::Regex::new(r##"(fill|stroke)="(#[0-9A-F]{6})""##).unwrap();
    let mut any = false;
    for found in used.captures_iter(body) {
        any = true;
        let selector = format!("[{}=\"{}\"]", &found[1], &found[2]);
        assert!(style.contains(&selector), "{selector}");
    }
    assert!(any);
}

#[test]
fn a_report_of_several_runs_draws_their_cluster_once() {
    let runs = [record(), record()].map(|record| RunDigest::of(&record).unwrap());
    let many = Many {
        runs: runs.into(),
        ..Many::default()
    };
    let page = many.html(Lang::Zh).unwrap();
    assert_eq!(page.matches(">TiKV:20160 8.5.3</text>").count(), 1);
    assert!(page.contains("集群拓扑"));
}
