//! Documents of results that other tools stated.

use super::common::many::{Cell, document, law, record, records};
use super::common::well_formed;
use std::collections::BTreeMap;
use tidemark_core::StudyPlace;
use tidemark_core::record::*;
use tidemark_report::{Lang, Many, RunDigest};

/// What a document says of a run: its throughput, and figures of its latency.
fn stated(number: u64, workload: &str, quantiles: Quantiles) -> RunRecord {
    let totals = Totals {
        elapsed_s: 60.0,
        all: TypeStats {
            count: 48_000,
            quantiles: Some(quantiles),
            ..TypeStats::default()
        },
        ..Totals::default()
    };
    RunRecord {
        id: format!("{number:08x}-6493-88fa-8296-a92afa1c8f80"),
        started_at: "2026-11-21T00:00:00.000Z".into(),
        state: RunState::Finished,
        workload: workload.into(),
        target: format!("results.md:{}", number * 40),
        sessions: 32,
        imported: Some(Imported {
            tool: "sysbench".into(),
            tool_version: Some("1.0.19".into()),
            file: "results.md".into(),
            first_line: number * 40,
            last_line: number * 40 + 30,
            ..Imported::default()
        }),
        totals,
        ..RunRecord::default()
    }
}

fn many(records: &[RunRecord]) -> Many {
    Many {
        runs: records.iter().map(|r| RunDigest::of(r).unwrap()).collect(),
        ..Many::default()
    }
}

fn two() -> Vec<RunRecord> {
    let percentile = Quantiles {
        mean_ms: Some(39.27),
        max_ms: Some(354.06),
        percentiles_ms: BTreeMap::from([("95".into(), 42.61)]),
        ..Quantiles::default()
    };
    let mean = Quantiles {
        mean_ms: Some(47.33),
        ..Quantiles::default()
    };
    vec![
        stated(1, "oltp_point_select", percentile),
        stated(2, "ycsb-a", mean),
    ]
}

#[test]
fn stated_latencies_are_told_as_far_as_they_are_known() {
    let text = many(&two()).markdown(Lang::En).unwrap();
    for said in [
        "# results.md",
        "2 runs of oltp\\_point\\_select, ycsb-a, imported from results.md.",
        "oltp\\_point\\_select: 800 transactions/s; 95% completed within 42.6 ms.",
        "ycsb-a: 800 transactions/s; mean latency 47.3 ms.",
        "| oltp\\_point\\_select | 1 | 800 | 39.3 | 42.6 |",
        "as their tool states them",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // Nothing is told of hosts that nobody knows.
    for unknown in [
        "Client hosts",
        "Service time",
        "an unreached target",
        "– ms",
    ] {
        let terms = text.find("## Terms").unwrap_or(text.len());
        assert!(!text[..terms].contains(unknown), "{unknown}: {text}");
    }
    let chinese = many(&two()).markdown(Lang::Zh).unwrap();
    assert!(chinese.contains("导入自 results.md") && chinese.contains("平均延迟 47.3 ms"));
    assert!(!chinese.contains("– ms"), "{chinese}");
}

#[test]
fn an_output_that_is_cut_has_the_results_of_its_lines() {
    let mut cut = two();
    cut[1].state = RunState::Interrupted;
    let text = many(&cut).markdown(Lang::En).unwrap();
    assert!(text.contains("ycsb-a: 800 transactions/s"), "{text}");
    assert!(!text.contains("without a result"), "{text}");
    // A run of our own was stopped before its time.
    let mut own = records(&["oltp_read_write"], &[4], ("size", &[("1k", 1.0)]), 2, 6);
    own[1].state = RunState::Interrupted;
    let text = document("own", &own).markdown(Lang::En).unwrap();
    assert!(text.contains("1 run without a result"), "{text}");
}

#[test]
fn a_run_of_which_only_a_rate_is_known_has_no_latency() {
    let text = many(&[stated(1, "oltp_insert", Quantiles::default())]);
    let text = text.markdown(Lang::En).unwrap();
    assert!(
        text.contains("oltp\\_insert: 800 transactions/s."),
        "{text}"
    );
    assert!(!text.contains("– ms"), "{text}");
}

#[test]
fn stated_intervals_are_drawn_with_what_they_state() {
    let mut records = two();
    for record in &mut records {
        let p95 = BTreeMap::from([("95".into(), 43.39)]);
        let latency = Quantiles {
            percentiles_ms: p95,
            ..Quantiles::default()
        };
        let quantiles = (record.workload != "ycsb-a").then_some(latency);
        record.intervals = (0..6)
            .map(|n| Interval {
                start_ms: n * 10_000,
                length_ms: 10_000.0,
                phase: Phase::Measure,
                types: BTreeMap::from([(
                    "transaction".into(),
                    TypeStats {
                        count: 8000,
                        quantiles: quantiles.clone(),
                        ..TypeStats::default()
                    },
                )]),
                ..Interval::default()
            })
            .collect();
    }
    let text = many(&records).markdown(Lang::En).unwrap();
    assert!(
        text.contains("p95 between 43.4 and 43.4 ms, over 60 s"),
        "{text}"
    );
    assert!(text.contains("between 800 and 800, over 60 s"), "{text}");
}

#[test]
fn one_table_has_all_workloads_and_loads() {
    let workloads = ["oltp_read_write", "oltp_point_select"];
    let records = records(
        &workloads,
        &[1, 8, 64],
        ("durability", &[("1", 1.0), ("2", 1.4)]),
        1,
        6,
    );
    let many = document("All", &records);
    let text = many.markdown(Lang::En).unwrap();
    let overview = text
        .split("## Overview")
        .nth(1)
        .unwrap_or_else(|| panic!("{text}"));
    let overview = overview.split("\n## ").next().unwrap();
    assert!(
        overview.contains(
            "| Workload | durability | Threads | Transactions/s | Statements/s | Average (ms) |"
        ),
        "{overview}"
    );
    let rows = overview.lines().filter(|line| line.starts_with("| oltp"));
    assert_eq!(rows.count(), 12, "{overview}");
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(page.contains("<table class=\"sortable\">"));
    // One row alone is the table that the workload has anyway.
    let cell = Cell {
        workload: "oltp_read_write",
        threads: 8,
        factors: &[],
        transactions_per_s: law(60.0, 0.03, 0.0006, 8.0),
        seconds: 6,
    };
    let one = document("One", &[record(&cell, 1, 1)]);
    assert!(!one.markdown(Lang::En).unwrap().contains("## Overview"));
}

/// A row of a table that states nothing but a rate.
fn rate_alone(rate: f64) -> RunRecord {
    let mut run = stated(1, "slow", Quantiles::default());
    run.sessions = 0;
    run.totals = Totals {
        elapsed_s: 1.0,
        ..Totals::default()
    };
    let imported = run.imported.as_mut().unwrap();
    imported.tool = "table".into();
    imported.figures.push(StatedFigure {
        name: "rate".into(),
        value: rate,
        line: 40,
        ..StatedFigure::default()
    });
    run
}

#[test]
fn a_stated_rate_below_one_is_a_result_and_told_as_stated() {
    let text = many(&[rate_alone(0.4)]).markdown(Lang::En).unwrap();
    assert!(text.contains("0.4"), "{text}");
    assert!(!text.to_lowercase().contains("no result"), "{text}");
    assert!(!text.contains("| 0 |"), "{text}");
}

#[test]
fn what_nobody_stated_of_one_run_is_left_out() {
    let text = tidemark_report::text(&rate_alone(1.5), Lang::En).unwrap();
    assert!(text.contains("1.50 transactions/s."), "{text}");
    assert!(text.contains("slow, from results.md:40"), "{text}");
    for unknown in [
        "Seed",
        "Executor threads",
        "Usable cores",
        "Memory",
        "unreached",
        "completed within",
        "0 sessions",
        "no errors",
    ] {
        assert!(!text.contains(unknown), "{unknown}: {text}");
    }
}

#[test]
fn each_document_is_one_series() {
    let of = |file: &str, line: u64, sessions: usize| {
        let mut run = stated(line, "oltp_point_select", Quantiles::default());
        run.id = format!("{line:08x}-6493-88fa-8296-{:012x}", file.len());
        run.target = format!("{file}:{line}");
        run.sessions = sessions;
        run.imported.as_mut().unwrap().file = file.into();
        run.study = Some(StudyPlace {
            study: format!("import-runs/{file}"),
            name: format!("runs/{file}"),
            cell: sessions.to_string(),
            factors: BTreeMap::from([("threads".into(), sessions.to_string())]),
            repeat: 1,
        });
        run
    };
    let runs = [
        of("before.md", 1, 16),
        of("before.md", 9, 32),
        of("after.md", 1, 16),
        of("after.md", 9, 32),
    ];
    let text = many(&runs).markdown(Lang::En).unwrap();
    let peaks = text.matches("peak throughput").count();
    assert_eq!(peaks, 2, "{text}");
    assert!(!text.contains("before.md:1"), "{text}");
}

#[test]
fn clients_of_one_test_of_a_document_are_added() {
    let client = |n: u64, mean_ms: f64, test: &str| {
        let quantiles = Quantiles {
            mean_ms: Some(mean_ms),
            max_ms: Some(300.0 + n as f64),
            percentiles_ms: BTreeMap::from([("95".into(), 42.61)]),
            ..Quantiles::default()
        };
        let mut run = stated(n, "oltp_point_select", quantiles);
        run.study = Some(StudyPlace {
            study: "import-results.md".into(),
            name: "results.md".into(),
            cell: "32".into(),
            factors: BTreeMap::from([("threads".into(), "32".into())]),
            repeat: n as u32,
        });
        let imported = run.imported.as_mut().unwrap();
        imported.client = Some(n.to_string());
        imported.test = Some(test.into());
        run
    };
    let both = [client(1, 40.0, "a"), client(2, 50.0, "a")];
    let text = many(&both).markdown(Lang::En).unwrap();
    // Percentiles of both cannot be known.
    assert!(
        text.contains("| 2 (1 × 2 clients) | 1,600 | 45.0 |"),
        "{text}"
    );
    assert!(!text.contains("compared with"), "{text}");
    let apart = [client(1, 40.0, "a"), client(2, 50.0, "b")];
    let text = many(&apart).markdown(Lang::En).unwrap();
    assert!(!text.contains("1,600"), "{text}");
}

/// A run of which a rate alone is stated, in this unit.
fn in_unit(number: u64, workload: &str, unit: RateUnit, name: &str, value: f64) -> RunRecord {
    let mut record = stated(number, workload, Quantiles::default());
    record.totals.elapsed_s = 1.0;
    record.totals.all.count = 0;
    if let Some(imported) = &mut record.imported {
        imported.tool = "table".into();
        imported.rate_unit = unit;
        imported.derived = vec!["started_at".into(), "elapsed_s".into()];
        imported.figures = vec![StatedFigure {
            name: name.into(),
            value,
            ..StatedFigure::default()
        }];
        imported.not_understood = vec![LeftLines {
            first: 7,
            last: 9,
            text: "odd words".into(),
        }];
    }
    record
}

#[test]
fn a_rate_is_told_in_its_unit_and_no_count_beside_it() {
    let qps = in_unit(
        1,
        "read_only",
        RateUnit::Statements,
        "statement_rate",
        25_600.0,
    );
    let nopm = in_unit(2, "TPC-C", RateUnit::NewOrders, "nopm", 42_123.0);
    let tps = in_unit(3, "read_write", RateUnit::Transactions, "rate", 812.0);
    let alone = many(std::slice::from_ref(&qps)).markdown(Lang::En).unwrap();
    let end = |text: &str| text.find("## Terms").unwrap_or(text.len());
    assert!(alone.contains("25,600 statements/s"), "{alone}");
    assert!(!alone[..end(&alone)].contains("ransactions/s"), "{alone}");
    let chinese = many(std::slice::from_ref(&nopm))
        .markdown(Lang::Zh)
        .unwrap();
    assert!(chinese.contains("42,123 NOPM"), "{chinese}");
    assert!(chinese.contains("文档时间"), "{chinese}");
    let mixed = many(&[qps.clone(), nopm.clone(), tps]);
    let text = mixed.markdown(Lang::En).unwrap();
    for said in [
        "25,600 statements/s",
        "42,123 New-Orders/min",
        "812 transactions/s",
        "| results.md | 7–9 | odd words |",
        "document of 2026",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&mixed.json().unwrap()).unwrap();
    let run = &json["runs"][1];
    assert_eq!(run["rate_unit"], "new-orders");
    assert_eq!(run["throughput"], 42_123.0);
    assert!(run["transactions_per_s"].is_null() && run["transactions"].is_null());
    let csv = mixed.csv();
    let row = csv.lines().nth(2).unwrap();
    // No errors are known, and none a second.
    assert!(row.ends_with(",42123,,1,0,,,,,,,"), "{row}");
    assert!(row.contains(",,finished,"), "{row}");
    // One run's own report.
    let text = tidemark_report::markdown(&nopm, Lang::En).unwrap();
    assert!(text.contains("42,123 New-Orders/min"), "{text}");
    for said in ["not stated", "Lines 7–9: odd words"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text[..end(&text)].contains("closed loop"), "{text}");
}

#[test]
fn a_run_of_tpc_c_leads_with_the_tpmc_that_is_stated() {
    let mut run = in_unit(1, "TPC-C", RateUnit::Transactions, "tpm_total", 100_466.0);
    let tpmc = StatedFigure {
        name: "tpmc".into(),
        value: 45_210.0,
        ..StatedFigure::default()
    };
    run.imported.as_mut().unwrap().figures.push(tpmc);
    let text = tidemark_report::text(&run, Lang::En).unwrap();
    let headline = "45,210 tpmC, as the tool counts it; 1,674 transactions/s.";
    assert!(text.contains(headline), "{text}");
    let place = |said: &str| text.find(said).unwrap_or_else(|| panic!("{said}: {text}"));
    assert!(
        place("  tpmC, as the tool counts it") < place("  Transactions/s"),
        "{text}"
    );
    let chinese = tidemark_report::markdown(&run, Lang::Zh).unwrap();
    assert!(
        chinese.contains("45,210 tpmC（按该工具的统计），"),
        "{chinese}"
    );
}

#[test]
fn what_a_document_does_not_state_is_null() {
    let figure = |name: &str, value: f64| StatedFigure {
        name: name.into(),
        value,
        ..StatedFigure::default()
    };
    let table = in_unit(1, "read_write", RateUnit::Transactions, "rate", 812.0);
    let whole = stated(2, "read_write", Quantiles::default());
    let mut quoted = whole.clone();
    let mut asked = whole.clone();
    asked.rate = Some(800.0);
    // A count without a time, and a share of errors without a count.
    let mut counted = in_unit(3, "read_write", RateUnit::Transactions, "error_share", 5.0);
    counted.totals.all.count = 90_000;
    let mut clean = counted.clone();
    for (run, added) in [
        (&mut quoted, None),
        (&mut clean, Some(figure("error_share", 0.0))),
    ] {
        let imported = run.imported.as_mut().unwrap();
        imported.tool_version = None;
        imported.figures = added.into_iter().collect();
    }
    let json = |run: &RunRecord| -> serde_json::Value {
        let text = many(std::slice::from_ref(run)).json().unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["runs"][0].clone()
    };
    let of = json(&table);
    for name in [
        "open_loop",
        "errors",
        "elapsed_s",
        "transactions",
        "statements_per_s",
    ] {
        assert!(of[name].is_null(), "{name}: {}", of[name]);
    }
    assert_eq!(
        (&json(&whole)["open_loop"], &json(&whole)["elapsed_s"]),
        (&false.into(), &60.0.into())
    );
    let mut unstated = whole.clone();
    unstated.sessions = 0;
    let mut counts = whole.clone();
    let reconnects = figure("reconnects", 0.0);
    counts.imported.as_mut().unwrap().figures.push(reconnects);
    let of = |run: &RunRecord| {
        (
            json(run)["sessions"].clone(),
            json(run)["reconnects"].clone(),
        )
    };
    assert_eq!(
        of(&unstated),
        (serde_json::Value::Null, serde_json::Value::Null)
    );
    assert_eq!(of(&counts), (32.into(), 0.into()));
    let told = many(std::slice::from_ref(&unstated));
    let points: serde_json::Value = serde_json::from_str(&told.json().unwrap()).unwrap();
    let point = &points["workloads"][0]["series"][0]["points"][0];
    assert!(point["users"].is_null(), "{point}");
    let csv = told.csv();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    for name in ["sessions", "reconnects"] {
        let at = head.iter().position(|column| *column == name).unwrap();
        assert_eq!(row[at], "", "{name}: {csv}");
    }
    assert!(json(&quoted)["open_loop"].is_null());
    assert_eq!(json(&asked)["open_loop"], true);
    let of = json(&counted);
    assert!(of["throughput"].is_null() && of["errors"].is_null(), "{of}");
    assert_eq!(json(&clean)["errors"], 0);
    let text = tidemark_report::markdown(&counted, Lang::En).unwrap();
    assert!(text.contains("does not state a throughput"), "{text}");
    for wrong in ["90,000 transactions/s", "No statement failed"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    let text = many(&[counted]).markdown(Lang::En).unwrap();
    assert!(!text.contains("90,000 transactions/s"), "{text}");
}

#[test]
fn how_sessions_waited_is_told_only_where_the_tool_is_known() {
    let mut run = stated(1, "queries", Quantiles::default());
    let says = |run: &RunRecord| tidemark_report::text(run, Lang::En).unwrap();
    assert!(says(&run).contains("closed loop"), "{}", says(&run));
    for tool in ["hammerdb", "mysqlslap", "k6"] {
        if let Some(imported) = &mut run.imported {
            imported.tool = tool.into();
        }
        assert!(!says(&run).contains("closed loop"), "{}", says(&run));
        assert!(
            says(&run).contains("does not state whether"),
            "{}",
            says(&run)
        );
    }
}

#[test]
fn rates_of_two_units_stand_in_no_table_together() {
    let qps = in_unit(
        1,
        "read_only",
        RateUnit::Statements,
        "statement_rate",
        25_600.0,
    );
    let tps = in_unit(2, "read_only", RateUnit::Transactions, "rate", 812.0);
    let text = many(&[qps, tps]).markdown(Lang::En).unwrap();
    assert!(
        text.contains("read\\_only (QPS)") && text.contains("read\\_only (TPS)"),
        "{text}"
    );
}
