//! Runs with loads that sysbench has no words for: what is printed after its summary, and what the
//! reports say.

use super::common::load::{closed, encoded, overloaded, printed, searched, stepped, thinking};

use regex::Regex;
use tidemark_core::Job;
use tidemark_core::record::*;
use tidemark_report::{Lang, Merged, html, markdown, text, totals};
use tidemark_report::{beyond, fewer_sessions};

#[test]
fn a_run_that_sysbench_could_have_made_ends_with_its_summary() {
    let mut record = closed();
    assert_eq!(printed(&record), "");
    // One host is no choice of hosts.
    record.totals.hosts = vec![HostLoad::default()];
    assert_eq!(printed(&record), "");
}

#[test]
fn no_line_of_ours_has_a_name_that_parsers_look_for() {
    let names = Regex::new(
        r"(?m)^\s*(\[ |SQL statistics|queries|read:|write:|other:|total|transactions|ignored errors|reconnects|General|Latency|min:|avg:|max:|sum:|events|execution time|.*th percentile:)",
    )
    .unwrap();
    for record in [
        thinking(),
        overloaded(),
        stepped(),
        searched(true),
        searched(false),
    ] {
        let printed = printed(&record);
        assert!(printed.ends_with("\n\n"), "{printed}");
        assert_eq!(names.find(&printed), None, "{printed}");
    }
}

#[test]
fn fewer_sessions_than_asked_for_are_told_before_and_after() {
    let mut record = overloaded();
    let line = fewer_sessions(&record);
    assert!(line.starts_with("WARNING: 10,000 sessions requested, 500 opened"));
    assert!(printed(&record).starts_with(&line));
    // Records of before don't tell why, and no setting is guessed to be the reason.
    record.fewer_sessions_because = None;
    assert_eq!(
        fewer_sessions(&record),
        "WARNING: 10,000 sessions requested, 500 opened; the results are for 500 sessions\n"
    );
    record.sessions_opened = None;
    assert_eq!(fewer_sessions(&record), "");
    assert!(printed(&record).starts_with("Open loop:"));
}

#[test]
fn terminals_wait_apart_from_the_database() {
    let printed = printed(&thinking());
    for line in [
        "Terminals:\n",
        "    terminals on sessions:               1000 on 50\n",
        "    think time:                          exp:12s\n",
        "    waiting for a session (ms):          mean 1.50, p50 1.50, p95 2.1",
        "    service time (ms):                   mean ",
        "    injected network latency (ms):       20.00\n",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert!(!printed.contains("Open loop"), "{printed}");
}

#[test]
fn an_open_loop_says_what_did_not_come_in_time() {
    let record = overloaded();
    let printed = printed(&record);
    let dropped = record.totals.dropped_arrivals;
    for line in [
        "WARNING: 10,000 sessions requested, 500 opened (this process may open 564 files (ulimit \
         -n)); the results are for 500 sessions\n",
        "    arrivals asked:                      1800.00 per sec.\n",
        "    arrival spacing:                     constant\n",
        "    delayed, no session free:            310    (0.",
        "    dropped, backlog full:               93     (0.",
        "    scheduling delay (ms):               mean 3.00",
        "WARNING: the backlog reached its limit of 5000 (--max-backlog): 93 arrivals were dropped",
        "WARNING: the client started transactions late",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert_eq!(dropped, 93);
    // Late by less than anybody can tell.
    let mut punctual = record;
    punctual.totals.lateness = Some(encoded(0.05));
    punctual.totals.dropped_arrivals = 0;
    let printed = self::printed(&punctual);
    assert!(
        !printed.contains("the client started transactions late"),
        "{printed}"
    );
    assert!(!printed.contains("its limit"), "{printed}");
}

#[test]
fn outages_and_hosts_are_listed() {
    let record = overloaded();
    let printed = printed(&record);
    for line in [
        "    10.0.3.12:3306     10.30     1.40    yes  2002: Connection refused\n",
        "    10.0.3.11:3306     29.00     1.00     no  2013: Lost connection\n",
        "    a host was unreachable:              1.40 s of 30.",
        "    10.0.3.11:3306   any       250       31000  25.00%\n",
        "    10.0.3.12:3306  read       250       93000  75.00%\n",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    // The other host went on.
    assert!(!printed.contains("outside of that"), "{printed}");
    let mut one = record;
    one.totals.hosts.truncate(1);
    let totals = &one.totals;
    let rate = totals.all.count as f64 / (totals.elapsed_s - 1.4);
    let printed = self::printed(&one);
    let line = format!(
        "    throughput outside of that:          {rate:.2} per sec. (including the backlog \
         processed afterwards)\n"
    );
    assert!(printed.contains(&line), "{line}: {printed}");
    let report = text(&one, Lang::En).unwrap();
    assert!(
        report.contains("the backlog processed afterwards"),
        "{report}"
    );
    // In closed loop nothing waits.
    one.rate = None;
    one.intervals.iter_mut().for_each(|i| i.rate = None);
    let printed = self::printed(&one);
    let line = format!("{rate:.2} per sec.\n");
    assert!(printed.contains(&line), "{line}: {printed}");
}

#[test]
fn an_imported_rate_that_is_not_stated_is_no_closed_loop() {
    let mut record = closed();
    record.imported = Some(Imported {
        tool: "pgbench".into(),
        ..Imported::default()
    });
    assert!(text(&record, Lang::En).unwrap().contains("(closed loop)"));
    let on = EffectiveOption {
        value: "on".into(),
        source: tidemark_core::Source::CommandLine,
    };
    record.options.insert("rate".into(), on);
    let report = text(&record, Lang::En).unwrap();
    assert!(report.contains("(open loop)"), "{report}");
    assert!(!report.contains("closed loop"), "{report}");
}

#[test]
fn nobody_stopped_a_run_whose_output_is_cut() {
    let mut record = closed();
    record.state = RunState::Interrupted;
    assert!(
        text(&record, Lang::En)
            .unwrap()
            .contains("The user stopped")
    );
    record.imported = Some(Imported {
        tool: "sysbench".into(),
        ..Imported::default()
    });
    for (lang, said, never) in [
        (Lang::En, "no complete summary", "The user stopped"),
        (Lang::Zh, "没有完整的汇总", "用户中止"),
    ] {
        let report = text(&record, lang).unwrap();
        assert!(report.contains(said) && !report.contains(never), "{report}");
    }
}

/// `-R` with `-L` of pgbench: what is late is skipped, and no backlog was full.
#[test]
fn arrivals_that_were_skipped_late_are_told_as_such() {
    let mut record = overloaded();
    let job = r#"{"version": 1, "target": {"url": "postgres://u@h:1/d"}, "workload": {"name": "pgbench"},
        "load": {"skip_late": "20ms"}, "tool": {"name": "pgbench"}}"#;
    record.job = Job::list_from_json(job).unwrap().pop();
    let report = text(&record, Lang::En).unwrap();
    let said = "93 arrivals were more than 20.0 ms late and were skipped";
    assert!(report.contains(said), "{report}");
    assert!(report.contains("Arrivals skipped, too late"), "{report}");
    assert!(!report.contains("backlog full"), "{report}");
    let report = text(&record, Lang::Zh).unwrap();
    assert!(
        report.contains("过迟而跳过") && report.contains("而被跳过"),
        "{report}"
    );
    let printed = printed(&record);
    assert!(printed.contains("skipped, too late"), "{printed}");
    assert!(
        printed.contains("93 arrivals were more than 20 ms late"),
        "{printed}"
    );
    assert!(!printed.contains("backlog"), "{printed}");
}

#[test]
fn arrivals_that_were_never_served_are_told() {
    let mut record = overloaded();
    let served = record.totals.all.count;
    record.totals.unserved_arrivals = 900;
    let share = |n: u64| n as f64 * 100.0 / (served + 93 + 900) as f64;
    let said = printed(&record);
    for line in [
        format!(
            "    still waiting at the end:            900    ({:.2}%)\n",
            share(900)
        ),
        format!(
            "    dropped, backlog full:               93     ({:.2}%)\n",
            share(93)
        ),
        "WARNING: 900 arrivals (".into(),
        "%) were due but not served at the end; no latency includes them: the load exceeded".into(),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
    for (lang, warning, fact) in [
        (
            Lang::En,
            "were due but not served at the end",
            "Still waiting at the end",
        ),
        (Lang::Zh, "到结束时仍未处理完", "结束时仍未处理"),
    ] {
        for report in [
            html(&record, lang).unwrap(),
            text(&record, lang).unwrap(),
            markdown(&record, lang).unwrap(),
        ] {
            assert!(report.contains("900"), "{report}");
            assert!(
                report.contains(warning) && report.contains(fact),
                "{report}"
            );
        }
    }
    // The few that any end cuts off are no reason to warn.
    record.totals.unserved_arrivals = served / 2000;
    let said = printed(&record);
    assert!(said.contains("still waiting at the end"), "{said}");
    assert!(!said.contains("were due but not served"), "{said}");
    let report = text(&record, Lang::En).unwrap();
    assert!(!report.contains("were due but not served"), "{report}");
}

#[test]
fn a_generator_late_for_its_terminals_is_told() {
    let mut record = thinking();
    assert!(!printed(&record).contains("lateness"));
    record.totals.lateness = Some(encoded(3.0));
    let said = printed(&record);
    let (_, terminals) = said.split_once("Terminals:\n").unwrap();
    assert!(
        terminals.contains("    scheduling delay (ms):               mean 3.00"),
        "{said}"
    );
    assert!(
        said.contains("WARNING: the client started transactions late"),
        "{said}"
    );
    let report = text(&record, Lang::En).unwrap();
    assert!(
        report.contains("The client started transactions late"),
        "{report}"
    );
    record.totals.lateness = Some(encoded(0.05));
    let said = printed(&record);
    assert!(said.contains("scheduling delay"), "{said}");
    assert!(
        !said.contains("the client started transactions late"),
        "{said}"
    );
}

#[test]
fn what_a_server_says_stays_on_its_line() {
    let mut record = overloaded();
    record.outages[0].first_error = "gone\n    transactions:   9\u{1b}[31m".into();
    let printed = printed(&record);
    assert!(
        printed.contains("gone     transactions:   9 [31m\n"),
        "{printed}"
    );
}

#[test]
fn reports_say_what_is_printed() {
    type Render = fn(&RunRecord, Lang) -> Result<String, tidemark_report::ReportError>;
    let forms: [Render; 3] = [html, text, markdown];
    let cases: [(RunRecord, &[&str], &[&str]); 4] = [
        (
            thinking(),
            &[
                "1,000 terminals shared 50 sessions",
                "within",
                "of being due",
                "Each terminal paused between transactions: exp:12s",
                "The client added 20.0 ms",
                "of which waiting for a session",
                "Statement timeout",
            ],
            &["1,000 个终端共用 50 个会话", "其中：等待会话"],
        ),
        (
            overloaded(),
            &[
                "10,000 sessions were requested and 500 could be opened",
                "The client started transactions late",
                "93 arrivals found the backlog full",
                "1,800 per second",
                "Arrival spacing",
                "constant",
                "Hosts were unreachable for 1.4 s of 30 s",
                "time: 10.0.3.12:3306 (1.4 s), 10.0.3.11:3306 (1 s, not over at the end).",
                "1 s, not over at the end",
                "Connection refused",
                "75.0%",
            ],
            &[
                "压测客户端发起事务有延迟",
                "结束时仍未恢复",
                "只读",
                "曾有主机无法连接：10.0.3.12:3306（1.4 秒）、10.0.3.11:3306（",
            ],
        ),
        (
            stepped(),
            &[
                "at 3 rates in turn, from 1,000 to 3,000 per second",
                "Served/s",
                "in steps",
            ],
            &["3 档速率"],
        ),
        (
            searched(true),
            &[
                "12,400 per second, confirmed over 30 s (p99 17.1 ms)",
                "late in 1 of 5 steps",
                "missed: p99 112 ms",
                "bisect",
            ],
            &["12,400 个，经 30 秒复测确认", "未满足：p99 112 ms"],
        ),
    ];
    for (record, english, chinese) in cases {
        for render in forms {
            let plain = |lang| {
                let report = render(&record, lang).unwrap();
                assert!(!report.contains("NaN"), "{report}");
                report
                    .replace('\\', "")
                    .replace("&#60;", "<")
                    .replace("&#62;", ">")
            };
            let (en, zh) = (plain(Lang::En), plain(Lang::Zh));
            for said in english {
                assert!(en.contains(said), "{said}: {en}");
            }
            for said in chinese {
                assert!(zh.contains(said), "{said}: {zh}");
            }
            let chinese = en.chars().find(|c| ('\u{4e00}'..='\u{9fff}').contains(c));
            assert_eq!(chinese, None);
        }
    }
}

#[test]
fn outages_and_rates_are_drawn() {
    let page = html(&overloaded(), Lang::En).unwrap();
    // The first shows where the latency is spent.
    let first = page.split("<figure").nth(2).unwrap();
    assert!(first.contains("fill=\"#C94F7C\""), "a band for each outage");
    assert!(first.contains("a host was unreachable"));
    let calm = html(&closed(), Lang::En).unwrap();
    let drawn = calm.split("</style>").nth(1).unwrap();
    assert!(!drawn.contains("#C94F7C"));
    let mut stalled = closed();
    stalled.dead_times = Some(vec![DeadTime {
        start_ms: 2000,
        length_ms: 900.0,
        side: DeadSide::Target,
        deadlocks: 0,
    }]);
    let stalled = html(&stalled, Lang::En).unwrap();
    let drawn = stalled.split("</style>").nth(1).unwrap();
    assert!(drawn.contains("fill=\"#C94F7C\"") && drawn.contains("no transaction completed."));
    let page = html(&stepped(), Lang::En).unwrap();
    assert!(page.contains("<h2>Latency by rate</h2>"));
    let figures = || page.split("<figure").skip(1);
    let figure = figures().find(|f| f.contains("Latency by rate")).unwrap();
    assert_eq!(figure.matches("<tr data-x").count(), 3);
    let first = page.split("<figure").nth(2).unwrap();
    assert!(first.contains("<th scope=\"col\">requested</th>"));
    // One rate makes no curve.
    let mut one = stepped();
    one.steps.truncate(1);
    assert!(!html(&one, Lang::En).unwrap().contains("Latency by rate"));
}

#[test]
fn sums_carry_waits_arrivals_outages_and_hosts() {
    let record = overloaded();
    let measured = || {
        record
            .intervals
            .iter()
            .filter(|i| i.phase == Phase::Measure)
    };
    let sum = totals(&record.intervals).unwrap();
    assert_eq!(sum.delayed_arrivals, 10 * measured().count() as u64);
    assert_eq!(sum.dropped_arrivals, 3 * measured().count() as u64);
    assert!((sum.outage_s - 1.4).abs() < 1e-9);
    // What its last interval left.
    let last = measured().next_back().unwrap();
    let left = last.queue_length + last.concurrency;
    assert!(left > 0);
    assert_eq!(sum.unserved_arrivals, left);
    assert_eq!(totals(&closed().intervals).unwrap().unserved_arrivals, 0);
    let statements: Vec<_> = sum
        .hosts
        .iter()
        .map(|h| (h.sessions, h.statements))
        .collect();
    assert_eq!(statements, [(250, 31_000), (250, 93_000)]);
    let merged = Merged::of(measured()).unwrap();
    let wait = merged.all().wait.unwrap();
    // 1,000 in each interval with transactions.
    let with = measured().filter(|i| !i.types.is_empty()).count() as u64;
    assert_eq!(wait.count(), 1000 * with);
    assert!(sum.all.wait.is_some());
    assert_eq!(merged.rate, Some(1800.0));
    // Two roles of one host are two.
    let mut intervals = record.intervals.clone();
    intervals
        .iter_mut()
        .for_each(|i| i.hosts[1].host = i.hosts[0].host.clone());
    assert_eq!(totals(&intervals).unwrap().hosts.len(), 2);
}

#[test]
fn what_can_not_be_read_is_an_error_that_says_where() {
    let broken = EncodedHistogram("%".into());
    let mut record = stepped();
    record.steps[1].totals.all.service = broken.clone();
    let error = text(&record, Lang::En).unwrap_err().to_string();
    assert!(error.contains("step 2"), "{error}");
    let mut record = overloaded();
    record.totals.lateness = Some(broken);
    let error = beyond(&record).unwrap_err();
    assert!(error.to_string().contains("scheduling delay"), "{error}");
}
