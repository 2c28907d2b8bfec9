//! What watched a run beside its load is in every report, and what a source gave without a histogram.

use super::common;
use regex::Regex;
use std::collections::BTreeMap;
use tidemark_core::record::{
    DeadTime, Gap, GapKind, Observed, Outage, Quantiles, RunRecord, RunState, StatementCounts,
    TypeStats,
};
use tidemark_core::series::{Measures, Series, SeriesBuilder, SeriesKey};
use tidemark_report::{Lang, ReportError, RunDigest, html, markdown, text};

pub fn series(
    name: &str,
    unit: &str,
    labels: &[(&str, &str)],
    value: impl Fn(i64) -> f64,
) -> Series {
    let mut key = SeriesKey::new("client-host", name, unit, Measures::Rate);
    for (label, value) in labels {
        key = key.with(label, value);
    }
    let mut builder = SeriesBuilder::new(key, 3, 1000);
    for n in (-5..60).filter(|n| !(20..30).contains(n)) {
        builder.push(n * 1000, value(n));
    }
    builder.series().unwrap()
}

pub fn watched() -> RunRecord {
    RunRecord {
        series: vec![
            series("cpu.busy", "ratio", &[("core", "0")], |_| 0.25),
            series("cpu.busy", "ratio", &[("core", "1")], |n| {
                if n < 0 { 1.0 } else { 0.75 }
            }),
            series("cpu.steal", "ratio", &[("core", "0")], |_| 0.0),
            series("threads.run-delay", "ms/s", &[("threads", "load")], |n| {
                n as f64
            }),
            series("memory.resident", "bytes", &[], |_| 11_000_000.0),
            series("network.sent", "bytes/s", &[("interface", "<b>")], |_| {
                2.5e6
            }),
            series("tcp.retransmits", "1/s", &[], |n| {
                f64::from(u8::from(n == 7))
            }),
        ],
        ..common::run(&common::Shape::one_type())
    }
}

#[test]
fn the_clients_host_is_drawn_and_summarised() {
    let record = watched();
    let page = html(&record, Lang::En).unwrap();
    assert!(page.contains("<h2>Client host during the run</h2>"));
    for drawn in [
        "<b>Processors: busy</b><svg",
        "<b>Client threads: run delay</b><svg",
        "<b>Memory: client, resident</b><svg",
        "<b>Network: sent</b><svg",
        "<b>TCP: retransmits</b><svg",
    ] {
        assert!(page.contains(drawn), "{drawn}");
    }
    // What is of no use as a picture is in the table, and what came from outside is escaped.
    assert!(page.contains(">Processors: steal [0]<") && !page.contains("<b>Processors: steal"));
    assert!(!page.contains("[<b>]"));
    // A line breaks where points are missing.
    let line = page
        .split("<b>Memory: client, resident</b>")
        .nth(1)
        .unwrap();
    let line = line.split("</svg>").next().unwrap();
    assert_eq!(line.matches("stroke=\"#0A6C8F\"").count(), 2, "{line}");

    let chinese = html(&record, Lang::Zh).unwrap();
    assert!(chinese.contains("CPU 使用率") && chinese.contains("TCP 重传"));
    let told = markdown(&record, Lang::En).unwrap();
    assert!(
        told.contains("| Processors: busy \\[1\\] | 75.0% | 75.0% | 75.0% |"),
        "{told}"
    );
    assert!(
        told.contains("11 MB") || told.contains("10.5 MiB"),
        "{told}"
    );
    let brief = text(&record, Lang::En).unwrap();
    assert!(
        brief.contains("Client threads: run delay [load]"),
        "{brief}"
    );
    assert!(!brief.contains("Processors: steal"), "{brief}");
}

/// Spans of outages on a picture, its upright dashed lines, and its axis' labels, each with where it lies.
fn marks(svg: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let all = |pattern: &str| {
        let pattern = Regex::new(pattern).unwrap();
        let found = pattern.captures_iter(svg);
        let found = found.map(|of| {
            let parts = of.iter().skip(1).flatten();
            parts
                .map(|part| part.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        });
        found.collect::<Vec<String>>()
    };
    (
        all(
            r##"<rect x="(\d+)" y="\d+" width="(\d+)" height="\d+" opacity="0.18" fill="#C94F7C""##,
        ),
        all(r##"stroke="#4D5C69" stroke-width="2" points="(\d+),\d+ \d+,\d+ ""##),
        all(r#"<text x="(\d+)" y="\d+" dy="0.76em" text-anchor="middle"[^>]*>\s*(\S+)"#),
    )
}

/// Its host was unreachable from second 12 to 21.
fn with_outage() -> RunRecord {
    let mut record = watched();
    record.outages = vec![Outage {
        host: "db1".into(),
        start_ms: 12_000,
        length_ms: 9000.0,
        ended: true,
        first_error: "refused".into(),
    }];
    record
}

#[test]
fn what_is_observed_is_drawn_at_the_times_of_the_load() {
    let mut record = with_outage();
    let page = html(&record, Lang::En).unwrap();
    let throughput = page.split("<h2>Throughput over time</h2>").nth(1).unwrap();
    let throughput = throughput.split("</svg>").next().unwrap();
    let (outages, checkpoints, labels) = marks(throughput);
    assert_eq!((outages.len(), checkpoints.len()), (1, 0), "{throughput}");
    assert!(labels.len() > 5, "{throughput}");
    // Series that begin or end elsewhere than the load change nothing.
    let of = |page: &str| -> Vec<String> {
        let strips = page.split("<div class=\"panel wide\">").skip(1);
        let strips = strips.map(|strip| strip.split("</svg>").next().unwrap().to_string());
        strips.collect()
    };
    let strips = of(&page);
    assert_eq!(strips.len(), 5);
    for strip in &strips {
        assert_eq!(marks(strip), (outages.clone(), Vec::new(), labels.clone()));
    }
    assert!(page.contains("the same on all of these charts"));

    let mut requested = series("checkpoints.requested", "1/s", &[], |n| {
        f64::from(u8::from(n == 15 || n == 45))
    });
    requested.key.source = "server-status".into();
    record.series.push(requested);
    let page = html(&record, Lang::En).unwrap();
    let strips = of(&page);
    assert_eq!(strips.len(), 6);
    for picture in strips.iter().map(String::as_str).chain([page.as_str()]) {
        let (_, mut checkpoints, _) = marks(picture);
        checkpoints.sort();
        checkpoints.dedup();
        assert_eq!(checkpoints.len(), 2, "{picture}");
    }
    // In the words of throughput and latency, and of both sides.
    let said = page.matches("Dashed vertical lines: checkpoints.");
    assert!(said.count() >= 4);
    let page = html(&record, Lang::Zh).unwrap();
    assert!(page.contains("竖虚线为检查点（checkpoint）。") && page.contains("各图相同"));
}

/// A stall of another cause stands beside an outage; that of the outage is the outage.
#[test]
fn stalls_and_outages_are_both_drawn() {
    let mut record = with_outage();
    let stall = |start_ms, length_ms| DeadTime {
        start_ms,
        length_ms,
        ..DeadTime::default()
    };
    record.dead_times = Some(vec![stall(12_500, 8000.0), stall(40_000, 3000.0)]);
    let page = html(&record, Lang::En).unwrap();
    let throughput = page.split("<h2>Throughput over time</h2>").nth(1).unwrap();
    let picture = throughput.split("</svg>").next().unwrap();
    assert_eq!(marks(picture).0.len(), 2, "{picture}");
    for says in ["a host was unreachable.", "no transaction completed."] {
        assert!(throughput.contains(says), "{says}");
    }
}

/// A panel of a page, from its name to its end.
fn panel_of<'p>(page: &'p str, called: &str) -> &'p str {
    let (_, panel) = page.split_once(&format!("<b>{called}</b>")).unwrap();
    panel.split_once("</div>").unwrap().0
}

#[test]
fn lines_of_a_chart_have_names_and_means_of_their_own() {
    let mut record = watched();
    let threads = [("load", 0.88), ("observing", 0.005), ("other", 0.003)];
    let threads = threads
        .map(|(threads, cores)| series("threads.cpu", "cores", &[("threads", threads)], |_| cores));
    record.series.extend(threads);
    let page = html(&record, Lang::En).unwrap();
    let panel = panel_of(&page, "Client threads: CPU");
    let (_, legend) = panel.split_once("<p class=\"legend\">").unwrap();
    for (colour, name) in [
        ("#0A6C8F", "load: mean 0.88 cores, max 0.88 cores"),
        ("#B05A06", "observing: mean "),
        ("#B3263A", "other: mean "),
    ] {
        let (key, _) = legend.split_once(name).unwrap();
        let key = key.rsplit("<svg").next().unwrap();
        assert!(key.contains(&format!("stroke=\"{colour}\"")), "{legend}");
    }
    // None of all three together, where no thread was ever so busy.
    assert!(!panel.contains("mean 0.29"), "{panel}");
    assert!(
        panel.contains("<title>Client threads: CPU: load: mean 0.88 "),
        "{panel}"
    );
    let chinese = html(&record, Lang::Zh).unwrap();
    let panel = panel_of(&chinese, "压测线程 CPU 用量");
    assert!(panel.contains("施压：平均 0.88 核"), "{panel}");
    let panel = panel_of(&page, "Processors: busy");
    assert!(
        panel.contains(" core 1: mean 75.0%, max 75.0%</span>"),
        "{panel}"
    );
    // A line alone needs none.
    let panel = panel_of(&page, "Memory: client, resident");
    assert!(
        !panel.contains("legend") && panel.contains("<span>mean "),
        "{panel}"
    );
}

#[test]
fn of_many_unlike_lines_the_largest_are_named() {
    let mut record = watched();
    let of = |instance: &str, kind: &str, value: f64| {
        let labels = [("instance", instance), ("type", kind)];
        series("tidb.statements", "1/s", &labels, |_| value)
    };
    let kinds: Vec<String> = (0..8).map(|n| format!("kind{n}")).collect();
    let lines = kinds.iter().enumerate();
    record.series = lines
        .map(|(n, kind)| of("a", kind, n as f64 * 10.0))
        .collect();
    let page = html(&record, Lang::En).unwrap();
    let panel = panel_of(&page, "TiDB: QPS by type");
    assert!(panel.contains("a, kind7: mean 70.0/s"), "{panel}");
    assert!(panel.contains("a, kind2: mean ") && !panel.contains("a, kind1: mean "));
    assert!(panel.contains(" 2 others</span>"), "{panel}");
    // Two lines in grey, and their sign.
    assert_eq!(
        panel.matches("stroke=\"#9AA8B4\"").count(),
        2 * 2 + 1,
        "{panel}"
    );
    // Those alike are told together, others are not.
    let both = ["a", "b", "c"].map(|host| [of(host, "Select", 100.0), of(host, "Insert", 10.0)]);
    record.series = both.into_iter().flatten().collect();
    let told = markdown(&record, Lang::En).unwrap();
    for row in [
        "| TiDB: QPS by type \\[Select\\] | 100/s |",
        "| TiDB: QPS by type \\[Insert\\] | 10.0/s |",
    ] {
        assert!(told.contains(row), "{told}");
    }
}

#[test]
fn many_processors_are_told_together() {
    let mut record = watched();
    let cores: Vec<String> = (0..64).map(|n| n.to_string()).collect();
    let of = |core: &String| series("cpu.busy", "ratio", &[("core", core)], |_| 0.5);
    record.series = cores.iter().map(of).collect();
    let told = markdown(&record, Lang::En).unwrap();
    assert_eq!(told.matches("Processors: busy").count(), 1, "{told}");
    let page = html(&record, Lang::En).unwrap();
    let panel = panel_of(&page, "Processors: busy");
    assert!(
        panel.contains("<span>64 lines: mean 50.0%, max 50.0%</span>"),
        "{panel}"
    );
    assert!(!panel.contains("legend"), "{panel}");
}

#[test]
fn a_cost_is_told_for_each_statement_where_a_transaction_has_several() {
    let mut record = watched();
    let cpu = series("threads.cpu", "cores", &[("threads", "load")], |_| 0.5);
    record.series.push(cpu);
    // Twenty statements a transaction.
    let told = markdown(&record, Lang::En).unwrap();
    let head = "| Item | Per transaction | Per statement | Source |";
    assert!(told.contains(head), "{told}");
    assert!(told.contains("A transaction has 20.0 statements"), "{told}");
    let is_cost = |line: &&str| line.starts_with("| CPU of the client |");
    let cost = told.lines().find(is_cost).unwrap();
    assert_eq!(cost.matches(" µs |").count(), 2, "{cost}");
    let page = html(&record, Lang::Zh).unwrap();
    assert!(page.contains("每条语句") && page.contains("每个事务平均 20.0 条语句"));
    assert!(!told.contains("| Network round trips |") && !page.contains("网络往返次数"));
    for interval in &mut record.intervals {
        interval.statements.round_trips = interval.statements.total() / 4;
    }
    let told = markdown(&record, Lang::En).unwrap();
    let row = "| Network round trips | 5.00 | 0.25 | sessions |";
    assert!(told.contains(row), "{told}");
    assert!(html(&record, Lang::Zh).unwrap().contains("网络往返次数"));
    for interval in &mut record.intervals {
        let count: u64 = interval.types.values().map(|t| t.count).sum();
        interval.statements = StatementCounts {
            read: count,
            ..StatementCounts::default()
        };
    }
    let told = markdown(&record, Lang::En).unwrap();
    assert!(
        told.contains("| Item | Per transaction | Source |"),
        "{told}"
    );
}

#[test]
fn blocked_sessions_are_told_by_what_their_blockers_do() {
    let blocked = |labels: &[(&str, &str)]| series("locks.blocked", "sessions", labels, |_| 0.75);
    let mut record = watched();
    record.series.extend([
        blocked(&[("blocker", "idle-in-transaction")]),
        blocked(&[("blocker", "active"), ("statement", "UPDATE")]),
    ]);
    let (en, zh) = (
        text(&record, Lang::En).unwrap(),
        text(&record, Lang::Zh).unwrap(),
    );
    for named in [
        "Locks: blocked sessions [by sessions idle in transaction]",
        "Locks: blocked sessions [by active sessions, UPDATE]",
    ] {
        assert!(en.contains(named), "{en}");
    }
    assert!(zh.contains("锁：被阻塞的会话 [阻塞者在事务中空闲]"), "{zh}");
    for told in [&en, &zh] {
        assert!(!told.contains("idle-in-transaction"), "{told}");
    }
}

#[test]
fn series_that_cannot_be_read_are_said_to_be() {
    let mut record = watched();
    let mut json = serde_json::to_value(&record.series[4]).unwrap();
    json["values"] = "!".into();
    record.series[4] = serde_json::from_value(json).unwrap();
    for lang in Lang::ALL {
        let page = html(&record, lang).unwrap();
        assert!(
            page.contains("can&#39;t be read")
                || page.contains("can&#x27;t be read")
                || page.contains("无法读取")
        );
    }
    assert!(
        markdown(&record, Lang::En)
            .unwrap()
            .contains("can't be read")
    );
}

#[test]
fn what_a_source_gave_is_told_without_a_histogram() {
    let mut record = common::run(&common::Shape::one_type());
    record.intervals.clear();
    let given = TypeStats {
        count: 1000,
        quantiles: Some(Quantiles {
            mean_ms: Some(3.2),
            percentiles_ms: BTreeMap::from([("95".into(), 7.1)]),
            ..Quantiles::default()
        }),
        ..TypeStats::default()
    };
    record.totals.types = BTreeMap::from([("t".into(), given.clone())]);
    record.totals.all = given;
    for told in [
        html(&record, Lang::En).unwrap(),
        markdown(&record, Lang::En).unwrap(),
        text(&record, Lang::En).unwrap(),
    ] {
        assert!(
            told.contains("3.20 ms") || told.contains("3.2 ms"),
            "{told}"
        );
        assert!(
            told.contains("7.10 ms") || told.contains("7.1 ms"),
            "{told}"
        );
        assert!(told.contains("not-judged"), "{told}");
    }
    let chinese = text(&record, Lang::Zh).unwrap();
    assert!(chinese.contains("以下规则未作判断"), "{chinese}");
}

#[test]
fn what_was_not_observed_is_said_with_how_to_get_it() {
    let gap = |kind, detail: &str| Gap::new(kind, detail);
    let observed = |source: &str, gaps| Observed {
        source: source.into(),
        sampled: true,
        gaps,
    };
    let mut record = watched();
    record.observed = vec![
        observed("client-host", Vec::new()),
        observed(
            "server-activity",
            vec![gap(
                GapKind::OtherSessions,
                "GRANT pg_read_all_stats TO app",
            )],
        ),
        observed(
            "server-status",
            vec![gap(GapKind::Failed, "no <answer>").at(Some(12))],
        ),
    ];
    record.notes = vec![
        "source server-status: no <answer> (second 12)".into(),
        "another".into(),
    ];
    let told = text(&record, Lang::En).unwrap();
    assert!(told.contains("GRANT pg_read_all_stats TO app"), "{told}");
    // Once, though it is a note, too.
    assert_eq!(told.matches("no <answer>").count(), 1, "{told}");
    assert!(
        told.contains("server-status (second 12): no <answer>"),
        "{told}"
    );
    assert!(told.contains("another"), "{told}");
    let page = html(&record, Lang::Zh).unwrap();
    assert!(page.contains("其他账号的会话不可见") && !page.contains("no <answer>"));
    assert!(page.contains("server-status（第 12 秒）"), "{page}");
    record.observed.clear();
    let told = text(&record, Lang::En).unwrap();
    assert!(!told.contains("Not observed"), "{told}");
}

#[test]
fn sessions_are_told_state_by_state() {
    let mut record = watched();
    let state = |wait: &str, value: f64| {
        let labels = [("state", "active"), ("wait", wait)];
        let mut series = series("sessions", "sessions", &labels, |_| value);
        series.key.source = "server-activity".into();
        series.key.measures = Measures::Gauge;
        series
    };
    let waits: Vec<String> = (0..14).map(|n| format!("Lock:kind{n}")).collect();
    let states = waits
        .iter()
        .enumerate()
        .map(|(n, wait)| state(wait, n as f64));
    record.series.extend(states);
    let told = markdown(&record, Lang::En).unwrap();
    assert!(told.contains("Database during the run"), "{told}");
    let (_, told) = told.split_once("Database during the run").unwrap();
    // The ten that sessions were in most, largest first.
    assert!(
        told.contains("kind13") && told.contains("kind4") && !told.contains("kind3\\"),
        "{told}"
    );
    assert!(told.find("kind13") < told.find("kind12"), "{told}");
    // A state that was seen in the last 30 of 50 s was nothing before.
    let labels = [("state", "active"), ("wait", "Lock:late")];
    let mut late = series("sessions", "sessions", &labels, |_| 0.0).key;
    late.source = "server-activity".into();
    let mut builder = SeriesBuilder::new(late, 3, 1000);
    (30..60).for_each(|n| assert!(builder.push(n * 1000, 10.0)));
    let mut with_late = record.clone();
    with_late.series.push(builder.series().unwrap());
    let told = text(&with_late, Lang::En).unwrap();
    let row = told.lines().find(|line| line.contains("Lock:late"));
    let row = row.unwrap_or_else(|| panic!("{told}"));
    assert!(
        row.contains("6.00 sessions") && row.contains("0 sessions"),
        "{row}"
    );
    // So was a disk that was used in the last second.
    let always = series("cpu.busy", "ratio", &[("core", "0")], |_| 0.5);
    let mut disk = series("disk.writes", "1/s", &[("disk", "sdz")], |_| 0.0).key;
    disk.source.clone_from(&always.key.source);
    let mut builder = SeriesBuilder::new(disk, 3, 1000);
    assert!(builder.push(59_000, 500.0));
    let mut with_disk = record.clone();
    with_disk.series.extend([always, builder.series().unwrap()]);
    let told = markdown(&with_disk, Lang::En).unwrap();
    let row = told.lines().find(|line| line.contains("sdz"));
    let row = row.unwrap_or_else(|| panic!("{told}"));
    assert!(row.contains("10.0/s | 0/s | 500/s"), "{row}");
    // Programs are asked for every other second: that is no time without them.
    let always = series("cpu.cores", "cores", &[], |_| 0.5);
    let mut program = series("programs.cpu", "cores", &[("program", "mariadbd")], |_| 0.0).key;
    program.source.clone_from(&always.key.source);
    let mut builder = SeriesBuilder::new(program, 3, 1000);
    (0..60)
        .step_by(2)
        .for_each(|n| assert!(builder.push(n * 1000, 0.8)));
    let mut with_program = record.clone();
    with_program
        .series
        .extend([always, builder.series().unwrap()]);
    let told = markdown(&with_program, Lang::En).unwrap();
    let row = told.lines().find(|line| line.contains("mariadbd"));
    let row = row.unwrap_or_else(|| panic!("{told}"));
    assert!(row.contains("0.8 cores | 0.8 cores"), "{row}");
    let page = html(&record, Lang::En).unwrap();
    let (_, sessions) = page.split_once("<b>Sessions</b><svg").unwrap();
    let (sessions, _) = sessions.split_once("</div>").unwrap();
    assert!(
        sessions.contains("<span>evidence: table locks"),
        "{sessions}"
    );
}

#[test]
fn a_watch_has_series_and_no_figure_of_a_load() {
    let mut record = RunRecord {
        workload: tidemark_core::record::WATCH.into(),
        state: RunState::Finished,
        watched_s: Some(60.0),
        server: watched().server,
        series: watched().series,
        ..RunRecord::default()
    };
    let forms = |record: &RunRecord| {
        let all = Lang::ALL.map(|lang| {
            [
                html(record, lang).unwrap(),
                markdown(record, lang).unwrap(),
                text(record, lang).unwrap(),
            ]
        });
        all.concat()
    };
    for report in forms(&record) {
        let is_chinese = report.contains("观测期间的客户端主机");
        let is_english = report.contains("Client host during the watch");
        assert!(is_chinese != is_english, "{report}");
        for part in [
            "Transactions/s",
            "事务/秒",
            "Statements",
            "语句",
            "NaN",
            "No transaction",
            "没有任何事务",
            "Seed",
        ] {
            assert!(!report.contains(part), "{part}: {report}");
        }
    }
    let said = text(&record, Lang::En).unwrap();
    assert!(said.starts_with("Watch of MariaDB"), "{said}");
    assert!(
        said.contains("Observed for 60 s, with no load of its own."),
        "{said}"
    );
    record.state = RunState::Interrupted;
    let said = text(&record, Lang::En).unwrap();
    assert!(said.contains("stopped this watch after 60 s"), "{said}");
    // Without an end its length is what its series have, and not nothing.
    (record.state, record.watched_s) = (RunState::Running, Some(0.0));
    let said = text(&record, Lang::En).unwrap();
    assert!(said.contains("Observed for 60 s"), "{said}");
    assert!(said.contains("This watch has no end record"), "{said}");
    assert!(matches!(RunDigest::of(&record), Err(ReportError::Watch(_))));
}
