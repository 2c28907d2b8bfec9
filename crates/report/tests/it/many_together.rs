//! Which runs of a document are put together: repeats of one job, clients of one load, and no others.

use super::common::load::option;
use super::common::many::{Cell, document, record, records};
use super::common::well_formed;
use serde_json::Value;
use tidemark_core::record::*;
use tidemark_core::{Engine, Isolation, Source};
use tidemark_report::{Lang, Many, StudyFactor};

fn json(many: &Many) -> Value {
    serde_json::from_str(&many.json().unwrap()).unwrap()
}

fn tps(r: &RunRecord) -> f64 {
    r.totals.all.count as f64 / r.totals.elapsed_s
}

/// Runs of no study with so many transactions a second, one after the other.
fn loose(rates: &[f64]) -> Vec<RunRecord> {
    let each = rates.iter().enumerate().map(|(n, rate)| {
        let cell = Cell {
            workload: "oltp_read_only",
            threads: 4,
            factors: &[],
            transactions_per_s: *rate,
            seconds: 8,
        };
        let mut record = record(&cell, 1, n as u64);
        record.study = None;
        record
    });
    each.collect()
}

fn many(records: &[RunRecord]) -> Many {
    let mut many = document("", records);
    (many.study, many.steps) = (None, Vec::new());
    many
}

/// How many runs each point has, over all workloads.
fn points(told: &Value) -> Vec<usize> {
    let mut all = Vec::new();
    for workload in told["workloads"].as_array().unwrap() {
        for series in workload["series"].as_array().unwrap() {
            for point in series["points"].as_array().unwrap() {
                all.push(point["runs"].as_array().unwrap().len());
            }
        }
    }
    all
}

#[test]
fn runs_of_different_jobs_are_never_one_row() {
    // As many options as one likes, each in one run.
    let names = [
        "order-ranges",
        "sum-ranges",
        "simple-ranges",
        "distinct-ranges",
    ];
    let mut records = loose(&[200.0; 5]);
    for r in &mut records {
        names.iter().for_each(|name| option(r, name, "1"));
        for name in names {
            r.options.get_mut(name).unwrap().source = Source::Default;
        }
    }
    for (r, name) in records[1..].iter_mut().zip(names) {
        option(r, name, "0");
    }
    assert_eq!(points(&json(&many(&records))), [1; 5]);
    let text = many(&records).markdown(Lang::En).unwrap();
    assert!(!text.contains(" ± "), "{text}");
    // Neither are those with a default of another version, a setting, a level, a time of their own.
    type Change = fn(&mut RunRecord);
    let changes: [Change; 6] = [
        |r| {
            option(r, "of-tomorrow", "2");
            r.options.get_mut("of-tomorrow").unwrap().source = Source::Default;
        },
        |r| r.settings[0].value = "4294967296".into(),
        |r| r.isolation = Some(Isolation::ReadCommitted),
        |r| option(r, "time", "30"),
        |r| option(r, "connections", "2"),
        |r| r.server.as_mut().unwrap().version = "11.8.1-MariaDB".into(),
    ];
    for (n, change) in changes.iter().enumerate() {
        let mut records = loose(&[200.0, 200.0, 210.0]);
        change(&mut records[1]);
        let mut found = points(&json(&many(&records)));
        found.sort_unstable();
        assert_eq!(found, [1, 2], "change {n}");
        // Nor in a study whose cell they are all of.
        let place = tidemark_core::StudyPlace {
            study: "s".into(),
            name: "s".into(),
            ..Default::default()
        };
        records
            .iter_mut()
            .for_each(|r| r.study = Some(place.clone()));
        let mut found = points(&json(&document("s", &records)));
        found.sort_unstable();
        assert_eq!(found, [1, 2], "change {n} in a study");
    }
    // What can't matter does not: where results go, which seed, which log is on.
    let mut records = loose(&[200.0, 205.0, 210.0]);
    for (n, r) in records.iter_mut().enumerate() {
        option(r, "out", &format!("{n}.json"));
        option(r, "rand-seed", &n.to_string());
        let version = &mut r.server.as_mut().unwrap().version;
        version.push_str(["", "-log", ""][n]);
    }
    assert_eq!(points(&json(&many(&records))), [3]);
}

#[test]
fn ycsbs_workloads_have_rows_and_names_of_their_own() {
    let mut records = loose(&[200.0, 210.0, 220.0, 230.0]);
    for (r, (reads, updates, both)) in records.iter_mut().zip([
        ("0.5", "0.5", "0"),
        ("0.95", "0.05", "0"),
        ("1", "0", "0"),
        ("0.5", "0", "0.5"),
    ]) {
        r.workload = "ycsb".into();
        option(r, "readproportion", reads);
        option(r, "updateproportion", updates);
        option(r, "readmodifywriteproportion", both);
        option(r, "insertproportion", "0");
        option(r, "scanproportion", "0");
        option(r, "requestdistribution", "zipfian");
    }
    let told = json(&many(&records));
    assert_eq!(points(&told), [1; 4]);
    let names = told["workloads"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|w| w["workload"].as_str().unwrap()).collect();
    assert_eq!(names, ["ycsb a", "ycsb b", "ycsb c", "ycsb f"]);
}

#[test]
fn clients_at_one_time_are_added_and_not_averaged() {
    let mut records = loose(&[100.0, 300.0, 200.0]);
    for r in &mut records {
        r.started_at = "2026-11-21T10:00:00Z".into();
    }
    let sum: f64 = records.iter().map(tps).sum();
    let document = many(&records);
    let told = json(&document);
    let point = &told["workloads"][0]["series"][0]["points"][0];
    let value = point["transactions_per_s"]["value"].as_f64().unwrap();
    assert!((value - sum).abs() < 1e-6, "{value} for {sum}");
    assert_eq!(point["transactions_per_s"]["half"], Value::Null);
    assert_eq!(
        (&point["repeats"], &point["counted"]),
        (&1.into(), &3.into())
    );
    assert_eq!(point["users"], 12);
    let text = document.markdown(Lang::En).unwrap();
    for part in [
        "| 3 (1 × 3 clients) |",
        "`overlap`",
        "They are treated as clients of one load",
        "are clients of one load and count as one repeat",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        document
            .markdown(Lang::Zh)
            .unwrap()
            .contains("3（1 次 × 3 个客户端）")
    );
    assert!(!text.contains("was repeated"), "{text}");
    // The seconds of one client are no range of what all made together.
    let mut panel = text
        .lines()
        .filter(|l| l.contains(" by 3 clients together"));
    let panel = panel.next().unwrap_or_else(|| panic!("{text}"));
    assert!(!panel.contains("between"), "{panel}");
    // Only a drawn panel has lines.
    let line = "a line is one client";
    assert!(
        !text.contains(line) && document.html(Lang::En).unwrap().contains(line),
        "{text}"
    );
    // Two such loads one after the other are repeats.
    let mut again = loose(&[100.0, 300.0, 200.0, 105.0, 290.0, 200.0]);
    for r in &mut again[..3] {
        r.started_at = "2026-11-21T10:00:00Z".into();
    }
    for r in &mut again[3..] {
        r.started_at = "2026-11-21T11:00:00Z".into();
    }
    let told = json(&many(&again));
    let point = &told["workloads"][0]["series"][0]["points"][0];
    assert_eq!(
        (&point["repeats"], &point["counted"]),
        (&2.into(), &6.into())
    );
    assert!(point["transactions_per_s"]["half"].is_number());
}

/// Two loads one after the other, each of two clients on different machines that share the data.
fn on_two_machines(workload: &str, shares: [&[(&str, &str)]; 2]) -> Vec<RunRecord> {
    let mut records = loose(&[100.0, 300.0, 290.0, 110.0]);
    for (n, r) in records.iter_mut().enumerate() {
        r.workload = workload.into();
        r.started_at = format!("2026-11-21T1{}:00:00Z", n / 2);
        // The second load's clients were begun in the other order.
        let client = [0, 1, 1, 0][n];
        r.client.hostname = ["one", "two"][client].into();
        r.client.cpu_model = ["Xeon", "EPYC"][client].into();
        r.client.cores = [8, 16][client];
        r.executors = [8, 16][client];
        for (name, value) in shares[client] {
            option(r, name, value);
        }
    }
    records
}

#[test]
fn clients_of_one_load_have_machines_and_shares_of_the_data_of_their_own() {
    for (workload, shares) in [
        ("oltp_read_write", [&[][..], &[][..]]),
        (
            "tpcc",
            [
                &[("first-warehouse", "1"), ("last-warehouse", "9")],
                &[("first-warehouse", "10"), ("last-warehouse", "20")],
            ],
        ),
        (
            "ycsb",
            [
                &[("insertstart", "0"), ("insertcount", "500")],
                &[("insertstart", "500"), ("insertcount", "700")],
            ],
        ),
        (
            "oltp_read_only",
            [
                &[("busy-poll", "0"), ("executors", "8")],
                &[("busy-poll", "500us"), ("executors", "16")],
            ],
        ),
    ] {
        let records = on_two_machines(workload, shares);
        let document = many(&records);
        let told = json(&document);
        assert_eq!(points(&told), [4], "{workload}");
        let point = &told["workloads"][0]["series"][0]["points"][0];
        assert_eq!(
            (&point["repeats"], &point["counted"]),
            (&2.into(), &4.into()),
            "{workload}"
        );
        let text = document.markdown(Lang::En).unwrap();
        assert!(
            text.contains("They are treated as clients of one load"),
            "{text}"
        );
        assert!(
            !text.contains("loaded the same server during this run"),
            "{text}"
        );
        // One after the other they are no repeats of each other.
        let mut apart = records.clone();
        for (n, r) in apart.iter_mut().enumerate() {
            r.started_at = format!("2026-11-21T1{n}:00:00Z");
        }
        assert_eq!(points(&json(&many(&apart))), [2, 2], "{workload}");
    }
    // Another load is another one all the same.
    let mut records = on_two_machines("tpcc", [&[("warehouses", "10")], &[("warehouses", "20")]]);
    records.truncate(2);
    let text = many(&records).markdown(Lang::En).unwrap();
    assert!(
        text.contains("loaded the same server during this run"),
        "{text}"
    );
}

#[test]
fn a_client_that_must_not_be_used_leaves_its_load_without_a_sum() {
    let mut records = loose(&[100.0, 300.0, 200.0]);
    for r in &mut records {
        r.started_at = "2026-11-21T10:00:00Z".into();
    }
    // Every other try of one client failed.
    let totals = &mut records[1].totals;
    totals.ignored_errors = totals.all.count;
    let document = many(&records);
    let told = json(&document);
    for run in told["runs"].as_array().unwrap() {
        assert_eq!(run["usable"], false);
        let found = run["findings"].as_array().unwrap().iter();
        let found: Vec<&Value> = found.filter(|f| f["rule"] == "overlap").collect();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0]["figures"][1],
            serde_json::json!(["unusable", 1]),
            "{}",
            found[0]
        );
    }
    let text = document.markdown(Lang::En).unwrap();
    let says = "They are clients of one load, but 1 of them is invalid, so there";
    assert!(text.contains(says), "{text}");
    assert!(text.contains("Check the findings of that client"), "{text}");
    assert!(!text.contains("% of their time"), "{text}");
    let zh = document.markdown(Lang::Zh).unwrap();
    assert!(zh.contains("但其中 1 个的数据不可采用"), "{zh}");
}

#[test]
fn runs_that_overlap_in_part_are_no_repeats_and_have_no_sum() {
    let mut records = loose(&[100.0, 300.0, 200.0]);
    records[0].started_at = "2026-11-21T10:00:00Z".into();
    records[1].started_at = "2026-11-21T10:00:05Z".into();
    let document = many(&records);
    let told = json(&document);
    let point = &told["workloads"][0]["series"][0]["points"][0];
    assert_eq!(point["counted"], 1);
    let value = point["transactions_per_s"]["value"].as_f64().unwrap();
    assert!((value - tps(&records[2])).abs() < 1e-6, "{value}");
    assert_eq!(point["invalid"].as_array().unwrap().len(), 2);
    let page = document.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(
        page.contains("neither independent repeats nor clients of one load"),
        "{page}"
    );
    assert!(document.csv().contains(",overlap,"), "{}", document.csv());
    // Different work at one time is told beside it, and stands.
    records[1].started_at = "2026-11-21T12:00:05Z".into();
    records[2].started_at = "2026-11-21T10:00:05Z".into();
    records[2].workload = "oltp_insert".into();
    let told = json(&many(&records));
    let found = |n: usize| -> Vec<&str> {
        let of = told["runs"][n]["findings"].as_array().unwrap().iter();
        of.map(|f| f["rule"].as_str().unwrap()).collect()
    };
    assert!(found(0).contains(&"overlap") && found(2).contains(&"overlap"));
    assert!(!found(1).contains(&"overlap"));
    assert_eq!(told["runs"][0]["usable"], true);
}

#[test]
fn repeats_that_disagree_show_themselves_and_no_interval() {
    let records = loose(&[1036.0, 1105.0, 164.0]);
    let text = many(&records).markdown(Lang::En).unwrap();
    assert!(text.contains("`repeats-disagree`"), "{text}");
    assert!(text.contains(" … ") && !text.contains(" ± "), "{text}");
    assert!(
        text.contains("In parentheses: minimum and maximum over the repeats"),
        "{text}"
    );
    assert!(text.contains("Its repeats reached between "), "{text}");
    // The slow repeat is in every column: a mean latency is not above the 95th percentile.
    let told = json(&many(&records));
    let point = &told["workloads"][0]["series"][0]["points"][0];
    let value = |name: &str| point[name]["value"].as_f64().unwrap();
    assert!(value("mean_ms") < value("p95_ms"), "{point}");
    assert!(value("p50_ms") > 3.0 * point["p50_ms"]["least"].as_f64().unwrap() / 2.0);
    let zh = many(&records).markdown(Lang::Zh).unwrap();
    assert!(zh.contains("其均值不能代表任何一次"), "{zh}");
}

/// A factor of two values over threads, each best at another load.
fn crossing() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (value, rates) in [
        ("off", [100.0, 300.0, 250.0]),
        ("on", [320.0, 200.0, 150.0]),
    ] {
        for (threads, rate) in [8, 16, 32].into_iter().zip(rates) {
            let cell = Cell {
                workload: "oltp_read_write",
                threads,
                factors: &[("batching", value)],
                transactions_per_s: rate,
                seconds: 6,
            };
            records.push(record(&cell, 1, records.len() as u64));
        }
    }
    records
}

#[test]
fn series_are_put_beside_each_other_at_equal_loads() {
    let records = crossing();
    let page = document("crossing", &records).html(Lang::En).unwrap();
    // Both curves of the distributions are of one load.
    let head = "<th scope=\"col\">percentile</th><th scope=\"col\">batching=off, 16 threads</th>\
                <th scope=\"col\">batching=on, 16 threads</th></tr>";
    assert!(page.contains(head), "{page}");
    assert!(page.contains("At 16 threads, which all were measured with: batching=off "));
    assert!(!page.contains("at 8 threads; 95%"), "{page}");
    // Without a common load there is nothing to compare.
    let apart: Vec<RunRecord> = records
        .into_iter()
        .filter(|r| {
            let off = r.study.as_ref().unwrap().factors["batching"] == "off";
            off == (r.sessions == 16)
        })
        .collect();
    let text = document("apart", &apart).html(Lang::En).unwrap();
    assert!(text.contains("no load was measured on all"), "{text}");
}

#[test]
fn the_files_order_is_kept_and_its_first_value_is_the_base() {
    let factor = |name: &str, values: &[&str], changes: &[&str]| StudyFactor {
        name: name.into(),
        values: values.iter().map(|v| (*v).to_string()).collect(),
        changes: changes.iter().map(|c| (*c).to_string()).collect(),
    };
    let two = ("durability", &[("2", 1.4), ("1", 1.0)][..]);
    let made = records(&["oltp_read_write"], &[4], two, 2, 6);
    let mut many = document("order", &made);
    let text = many.markdown(Lang::En).unwrap();
    assert!(text.contains("durability: 2 compared with 1"), "{text}");
    assert!(text.contains("setting innodb\\_flush\\_log"), "{text}");
    let set = "setting innodb_flush_log_at_trx_commit";
    many.study.as_mut().unwrap().factors = vec![factor("durability", &["2", "1"], &[set])];
    let text = many.markdown(Lang::En).unwrap();
    assert!(text.contains("durability: 1 compared with 2"), "{text}");
    // What the factor sets is what is compared, and nothing besides.
    assert!(text.contains("No other recorded difference."), "{text}");
    let told = json(&many);
    let series = told["workloads"][0]["series"].as_array().unwrap();
    assert_eq!(series[0]["factors"]["durability"], "2");
    let pair = &told["comparison"]["pairs"][0]["comparison"];
    assert_eq!(pair["differences"], serde_json::json!([]));
}

#[test]
fn a_price_is_in_every_output_of_a_study() {
    let mut records = Vec::new();
    for n in 0..2 {
        let cell = Cell {
            workload: "tpcc",
            threads: 4,
            factors: &[],
            transactions_per_s: 100.0,
            seconds: 6,
        };
        let mut r = record(&cell, n as u32 + 1, n);
        option(&mut r, "price", "60000 EUR");
        option(&mut r, "warehouses", "10");
        records.push(r);
    }
    let document = document("price", &records);
    // 100 New-Orders a second are 6,000 a minute: 10 EUR each.
    let text = document.markdown(Lang::En).unwrap();
    assert!(text.contains("| Price/tpmC (EUR) |"), "{text}");
    assert!(text.contains("EUR (60,000 EUR over three years)"), "{text}");
    let told = json(&document);
    let each = &told["workloads"][0]["series"][0]["points"][0]["price_per_tpmc"]["value"];
    assert!((each.as_f64().unwrap() - 10.0).abs() < 0.5, "{each}");
    assert_eq!(told["runs"][0]["price"]["currency"], "EUR");
    let csv = document.csv();
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(
        ",usable,price,price_currency,price_per_tpmC,client_cpu_percent,efficiency_percent,NOPM,TPM,clients,clients_missing,errors_per_s,\
         server_host_cpu_percent,server_cpu_cores,disk_writes_per_s,flushes_per_s,network_bytes_per_s,\
         round_trips_per_transaction"
    ));
    assert!(lines.next().unwrap().contains(",true,60000,EUR,"), "{csv}");
}

#[test]
fn targets_are_called_as_short_as_tells_them_apart() {
    for (versions, places, labels) in [
        (
            ["10.11.19-a", "11.8.2-a"],
            ["h1", "h1"],
            ["MariaDB 10.11.19", "MariaDB 11.8.2"],
        ),
        (
            ["10.11.19-a", "10.11.19-b"],
            ["h1", "h1"],
            ["MariaDB 10.11.19-a", "MariaDB 10.11.19-b"],
        ),
        (
            ["10.11.19-a", "10.11.19-a"],
            ["h1", "h2"],
            ["MariaDB 10.11.19 h1:1/d", "MariaDB 10.11.19 h2:1/d"],
        ),
    ] {
        let mut records = loose(&[100.0, 200.0]);
        for (record, (version, place)) in records.iter_mut().zip(versions.iter().zip(places)) {
            record.target = format!("mysql://u:***@{place}:1/d");
            let server = record.server.as_mut().unwrap();
            (server.engine, server.version) = (Engine::Mariadb, (*version).into());
        }
        let text = many(&records).markdown(Lang::En).unwrap();
        let (summary, _) = text.split_once("\n## ").unwrap();
        let summary = text[summary.len()..].split("\n## ").nth(1).unwrap();
        for label in labels {
            assert!(
                summary.contains(&format!("({label})")),
                "{label}: {summary}"
            );
        }
    }
}
