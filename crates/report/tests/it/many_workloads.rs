//! Documents of workloads that have figures of their own: TPC-C and TPC-H.

use super::common::many::{Cell, document, record};
use super::common::well_formed;
use tidemark_core::record::*;
use tidemark_report::Lang;

fn run(workload: &str, threads: usize, number: u64) -> RunRecord {
    let cell = Cell {
        workload,
        threads,
        factors: &[],
        transactions_per_s: 60.0 * threads as f64,
        seconds: 6,
    };
    record(&cell, 1, number)
}

#[test]
fn tpc_c_has_its_tpmc() {
    let records = [run("tpcc", 1, 1), run("tpcc", 4, 2)];
    let many = document("TPC-C", &records);
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(page.contains(">tpmC</th>") && page.contains("tpmC (unaudited)"));
    let json: serde_json::Value = serde_json::from_str(&many.json().unwrap()).unwrap();
    // Every transaction of these runs is a New-Order.
    for (point, record) in json["workloads"][0]["series"][0]["points"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&records)
    {
        let tpmc = record.totals.all.count as f64 * 60.0 / record.totals.elapsed_s;
        let told = point["tpmc"]["value"].as_f64().unwrap();
        assert!((told - tpmc).abs() < 1e-6 * tpmc, "{told} for {tpmc}");
    }
}

#[test]
fn tpc_c_leads_with_its_tpmc_before_what_a_factor_does() {
    let mut records = Vec::new();
    for (n, (pool, rate)) in [("small", 5.0), ("large", 7.5)].into_iter().enumerate() {
        let cell = Cell {
            workload: "tpcc",
            threads: 4,
            factors: &[("pool", pool)],
            transactions_per_s: rate,
            seconds: 6,
        };
        records.push(record(&cell, 1, n as u64 + 1));
    }
    let text = document("TPC-C", &records).markdown(Lang::En).unwrap();
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(at("tpmC (unaudited)") < at(" compared with "));
    // So does the overview.
    assert!(at("| tpmC |") < at("| Statements/s |"));
    // Six seconds are too few samples: that stands beside the figure.
    let (_, said) = text.split_at(at("tpmC (unaudited)"));
    let line = said.lines().next().unwrap();
    assert!(
        line.contains("⚠ Suspect") && line.contains("too-short"),
        "{line}"
    );
}

#[test]
fn queries_have_a_row_each_and_no_throughput() {
    let asked = |number: u64, slower: f64, last: QueryOutcome| {
        let mut r = run("tpch", 1, number);
        let took = [("Q1", 2000.0), ("Q2", 500.0), ("Q10", 1000.0)];
        r.queries = took
            .iter()
            .map(|(name, took_ms)| QueryRun {
                name: (*name).into(),
                took_ms: took_ms * slower,
                ..QueryRun::default()
            })
            .collect();
        r.queries[2].outcome = last;
        let place = r.study.as_mut().unwrap();
        place.factors.remove("threads");
        let target = format!("engine {number}");
        place.factors.insert("target".into(), target);
        r
    };
    let records = [
        asked(1, 1.0, QueryOutcome::Done),
        asked(2, 2.0, QueryOutcome::TimedOut),
    ];
    let many = document("TPC-H", &records);
    let page = many.html(Lang::En).unwrap();
    well_formed(&page);
    assert!(!page.contains("<h3>Throughput over") && !page.contains("Scalability</h3>"));
    let text = many.markdown(Lang::En).unwrap();
    assert!(text.contains("| Query | engine 1 | engine 2 |"), "{text}");
    // In the order of their numbers; what was given up says so.
    let rows = [
        "| Q1 | 2.00 | 4.00 |",
        "| Q2 | 0.5 | 1.00 |",
        "| Q10 | 1.00 | timeout |",
    ];
    let at: Vec<usize> = rows
        .iter()
        .map(|row| text.find(row).unwrap_or_else(|| panic!("{row}: {text}")))
        .collect();
    assert!(at.is_sorted(), "{at:?}");
    assert!(text.contains("3 / 3") && text.contains("2 / 3"), "{text}");
}
