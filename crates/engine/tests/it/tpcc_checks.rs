//! TPC-C's consistency conditions on a loaded warehouse: all hold, and each is broken by the smallest
//! change that breaks it.

use super::place::{Place, Quiet, execute};
use super::tpcc_failures::an_order_whose_commit_has_no_answer_comes_once_and_is_told;
use std::sync::Arc;
use tidemark_core::{OptionValues, Source};
use tidemark_engine::{
    CheckObserver, CheckReport, CheckSpec, ConditionReport, ConditionVerdict, LoadSpec, StopHandle,
    check, prepare,
};
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::{OPTIONS, Tpcc};

impl CheckObserver for Quiet {
    fn progress(&mut self, _: u64, _: u64) {}
    fn verdict(&mut self, _: &ConditionReport) {}
}

fn tpcc(warehouses: &str) -> Arc<dyn Workload> {
    let mut values = OptionValues::defaults([OPTIONS]);
    values
        .set("warehouses", warehouses, Source::CommandLine)
        .unwrap();
    Arc::new(Tpcc::new(&values).unwrap())
}

fn ask(place: &Place, warehouses: &str, snapshot: bool, only: &[&str]) -> CheckReport {
    let only = only.iter().map(ToString::to_string).collect();
    let spec = CheckSpec {
        threads: 2,
        snapshot,
        only: Some(only).filter(|o: &Vec<_>| !o.is_empty()),
    };
    let stop = StopHandle::new();
    let workload = tpcc(warehouses);
    check(&place.connector(), &workload, &spec, &stop, &mut Quiet).unwrap()
}

fn assert_all_hold(case: &str, report: &CheckReport) {
    assert_eq!(report.conditions.len(), 13, "{case}");
    for found in &report.conditions {
        assert_eq!(
            found.verdict,
            ConditionVerdict::Holds,
            "{case} {}: {}",
            found.name,
            found.says.en
        );
    }
}

/// A change, what it breaks with how many violations and where the first is, what it spares though
/// it is near, and the change that takes it back.
struct Break {
    by: &'static str,
    breaks: &'static str,
    violations: u64,
    first: &'static str,
    spares: &'static [&'static str],
    mend: &'static str,
}

const BREAKS: &[Break] = &[
    Break {
        by: "INSERT INTO district (d_id, d_w_id) VALUES (11, 1)",
        breaks: "4.3.3.1",
        violations: 1,
        first: "warehouses=1, districts=11, customers=30000",
        spares: &["3.3.2.3", "3.3.2.5"],
        mend: "DELETE FROM district WHERE d_id = 11",
    },
    Break {
        by: "UPDATE warehouse SET w_ytd = w_ytd + 0.01",
        breaks: "3.3.2.1",
        violations: 1,
        first: "w_id=1, w_ytd=300000.01, sum(d_ytd)=300000",
        spares: &["3.3.2.9"],
        mend: "UPDATE warehouse SET w_ytd = 300000",
    },
    Break {
        by: "UPDATE district SET d_next_o_id = 3003 WHERE d_id = 3",
        breaks: "3.3.2.2",
        violations: 1,
        first: "d_w_id=1, d_id=3, d_next_o_id=3003, max(o_id)=3000, max(no_o_id)=3000",
        spares: &["3.3.2.3", "3.3.2.11"],
        mend: "UPDATE district SET d_next_o_id = 3001",
    },
    Break {
        by: "DELETE FROM new_order WHERE no_d_id = 2 AND no_o_id = 2500",
        breaks: "3.3.2.3",
        violations: 1,
        first: "no_w_id=1, no_d_id=2, min(no_o_id)=2101, max(no_o_id)=3000, count(new_order)=899",
        spares: &["3.3.2.2"],
        mend: "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 2, 2500)",
    },
    Break {
        by: "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 4 AND o_id = 7",
        breaks: "3.3.2.4",
        violations: 1,
        first: "d_w_id=1, d_id=4, ",
        spares: &["3.3.2.7"],
        mend: "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 4 AND o_id = 7",
    },
    Break {
        by: "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 5 AND o_id IN (9, 10)",
        breaks: "3.3.2.5",
        violations: 2,
        first: "o_w_id=1, o_d_id=5, o_id=9, o_carrier_id=NULL, no_o_id=NULL",
        spares: &["3.3.2.6", "3.3.2.11"],
        mend: "UPDATE orders SET o_carrier_id = 1 WHERE o_d_id = 5 AND o_id IN (9, 10)",
    },
    // The district's sum stays.
    Break {
        by: "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 11 THEN 1 ELSE -1 END \
             WHERE o_d_id = 6 AND o_id IN (11, 12)",
        breaks: "3.3.2.6",
        violations: 2,
        first: "o_w_id=1, o_d_id=6, o_id=11, ",
        spares: &["3.3.2.4"],
        mend: "UPDATE orders SET o_ol_cnt = o_ol_cnt - CASE o_id WHEN 11 THEN 1 ELSE -1 END \
               WHERE o_d_id = 6 AND o_id IN (11, 12)",
    },
    // A delivered line of the population has cost nothing.
    Break {
        by: "UPDATE order_line SET ol_delivery_d = NULL \
             WHERE ol_d_id = 7 AND ol_o_id = 13 AND ol_number = 2",
        breaks: "3.3.2.7",
        violations: 1,
        first: "o_w_id=1, o_d_id=7, o_id=13, carriers=1, ",
        spares: &["3.3.2.5", "3.3.2.10"],
        mend: "UPDATE order_line SET ol_delivery_d = '2026-01-01 00:00:00' \
               WHERE ol_d_id = 7 AND ol_o_id = 13 AND ol_number = 2",
    },
    Break {
        by: "UPDATE history SET h_amount = 10.01 WHERE h_d_id = 8 AND h_c_id = 17",
        breaks: "3.3.2.8",
        violations: 1,
        first: "w_id=1, w_ytd=300000",
        spares: &["3.3.2.1", "3.3.2.12"],
        mend: "UPDATE history SET h_amount = 10 WHERE h_d_id = 8 AND h_c_id = 17",
    },
    // The warehouse's sum stays.
    Break {
        by: "UPDATE history SET h_amount = CASE h_d_id WHEN 9 THEN 11 ELSE 9 END \
             WHERE h_d_id IN (9, 10) AND h_c_id = 17",
        breaks: "3.3.2.9",
        violations: 2,
        first: "d_w_id=1, d_id=9, d_ytd=30000",
        spares: &["3.3.2.8"],
        mend: "UPDATE history SET h_amount = 10 WHERE h_d_id IN (9, 10) AND h_c_id = 17",
    },
    // The district's sum stays.
    Break {
        by: "UPDATE history SET h_amount = CASE h_c_id WHEN 18 THEN 11 ELSE 9 END \
             WHERE h_d_id = 10 AND h_c_id IN (18, 19)",
        breaks: "3.3.2.10",
        violations: 2,
        first: "c_w_id=1, c_d_id=10, c_id=18, c_balance=-10",
        spares: &["3.3.2.8", "3.3.2.9", "3.3.2.12"],
        mend: "UPDATE history SET h_amount = 10 WHERE h_d_id = 10 AND h_c_id IN (18, 19)",
    },
    // A delivery that left its new order behind.
    Break {
        by: "UPDATE customer SET c_delivery_cnt = 1 WHERE c_d_id = 1 AND c_id = 20",
        breaks: "3.3.2.11",
        violations: 1,
        first: "d_w_id=1, d_id=1, count(orders)=3000, count(new_order)=900, sum(c_delivery_cnt)=1",
        spares: &["3.3.2.5", "3.3.2.12"],
        mend: "UPDATE customer SET c_delivery_cnt = 0",
    },
    Break {
        by: "UPDATE customer SET c_ytd_payment = 10.01 WHERE c_d_id = 2 AND c_id = 21",
        breaks: "3.3.2.12",
        violations: 1,
        first: "c_w_id=1, c_d_id=2, c_id=21, c_balance=-10",
        spares: &["3.3.2.10"],
        mend: "UPDATE customer SET c_ytd_payment = 10",
    },
];

fn a_loaded_warehouse_keeps_the_conditions_and_each_can_be_broken(name: &str) {
    let places = Place::all("tpcc_checks");
    let (_, place) = places.into_iter().find(|(n, _)| *n == name).unwrap();
    let spec = LoadSpec {
        threads: 2,
        ..LoadSpec::default()
    };
    let stop = StopHandle::new();
    prepare(&place.connector(), &tpcc("1"), &spec, &stop, &mut Quiet).unwrap();
    // In one snapshot; at the end, when all is mended, without one.
    assert_all_hold(name, &ask(&place, "1", true, &[]));
    for case in BREAKS {
        execute(&place, &[case.by]);
        let mut only = vec![case.breaks];
        only.extend(case.spares);
        let report = ask(&place, "1", false, &only);
        assert_eq!(report.conditions.len(), only.len(), "{name}: {}", case.by);
        for found in &report.conditions {
            let said = found.verdict.to_string();
            let expected = if found.name == case.breaks {
                let times = if case.violations == 1 {
                    "time"
                } else {
                    "times"
                };
                let (violations, first) = (case.violations, case.first);
                format!("violated {violations} {times}, first: {first}")
            } else {
                "holds".into()
            };
            assert!(
                said.starts_with(&expected),
                "{name}, {}, {}: {said}",
                case.by,
                found.name
            );
        }
        execute(&place, &[case.mend]);
    }
    assert_all_hold(name, &ask(&place, "1", false, &[]));
    // Warehouses that are not there break no condition but the first.
    let report = ask(&place, "3", true, &[]);
    let broken: Vec<_> = report
        .conditions
        .iter()
        .filter(|c| c.verdict != ConditionVerdict::Holds)
        .map(|c| (c.name, c.verdict.to_string()))
        .collect();
    assert_eq!(broken.len(), 1, "{name}: {broken:?}");
    assert_eq!(broken[0].0, "4.3.3.1");
    let expected = "violated 2 times, first: warehouses=0, districts=0, customers=0";
    assert_eq!(broken[0].1, expected, "{name}");
    // SQLite's commits are answered by the library.
    if name != "sqlite" {
        an_order_whose_commit_has_no_answer_comes_once_and_is_told(name, &place);
        let report = ask(&place, "1", false, &["3.3.2.2", "3.3.2.3", "3.3.2.4"]);
        let held = report
            .conditions
            .iter()
            .all(|c| c.verdict == ConditionVerdict::Holds);
        assert!(held, "{name}: {:?}", report.conditions);
    }
}

#[test]
fn mariadb() {
    a_loaded_warehouse_keeps_the_conditions_and_each_can_be_broken("mariadb");
}

#[test]
fn postgres() {
    a_loaded_warehouse_keeps_the_conditions_and_each_can_be_broken("postgres");
}

#[test]
fn sqlite() {
    a_loaded_warehouse_keeps_the_conditions_and_each_can_be_broken("sqlite");
}

#[test]
fn every_condition_is_broken_once() {
    let dialect = tidemark_drivers::Dialect::new(tidemark_core::Engine::Sqlite);
    let named = tpcc("1").checks(&dialect).into_iter().map(|c| c.name);
    let broken: Vec<_> = BREAKS.iter().map(|b| b.breaks).collect();
    assert_eq!(named.collect::<Vec<_>>(), broken);
}
