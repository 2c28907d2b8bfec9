//! `tidemark tpch run` as its users meet it, on every engine, at scale factor 0.01.

use super::common::Workdir;
use super::common::loaded::{Tpch, tpch_file};
use super::common::tpch::{engines, json, ok, run, verdicts};

#[test]
fn all_22_answers_are_right_on_every_engine() {
    for (name, target, _kept) in engines("tpch_answers") {
        let dir = Workdir::new();
        ok(&dir, &target, "prepare");
        let said = ok(
            &dir,
            &target,
            "run --check --out r.json --report r.md,r.html,r.txt",
        );
        for query in 1..=22 {
            let line = format!("[Summary] Q{query}: ");
            let found = said.out.lines().find_map(|l| l.strip_prefix(&line));
            let seconds = found.and_then(|l| l.strip_suffix('s')).unwrap();
            assert!(seconds.parse::<f64>().is_ok(), "{name}: {seconds}");
        }
        assert!(
            said.out.contains("22 right, 0 wrong"),
            "{name}: {}",
            said.out
        );
        let record = json(&dir, "r.json");
        for (query, outcome, answer) in verdicts(&record) {
            assert_eq!((&*outcome, &*answer), ("done", "right"), "{name} {query}");
        }
        assert_eq!(record["queries"].as_array().unwrap().len(), 22, "{name}");
        let plans = record["plans"].as_object().unwrap();
        assert_eq!(plans.len(), 22, "{name}: {:?}", record["notes"]);
        for file in ["r.md", "r.html", "r.txt"] {
            let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
            assert!(text.contains("TPC-H results"), "{name} {file}");
            for not_its in ["closed loop", "Transactions/s"] {
                assert!(!text.contains(not_its), "{name} {file}: {not_its}");
            }
        }
        // Drawn values have no stored answers: SQLite makes them, on tables of its own.
        let said = ok(
            &dir,
            &target,
            "run --check --seed 3 --queries q1,q6,q15,q18,q22",
        );
        assert!(
            said.out.contains("5 right, 0 wrong"),
            "{name}: {}",
            said.out
        );
    }
}

#[test]
fn a_broken_row_is_found_and_shown() {
    let tables = Tpch::on("postgres", "tpch_broken");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
    let broken = "UPDATE lineitem SET l_quantity = l_quantity + 1 WHERE l_orderkey = 1";
    database.query(broken).unwrap();
    let said = run(dir, target, "run --check --queries q1,q13 --out r.json");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.err
            .contains("Q1 returned a wrong answer: row 3, sum_qty: expected N|O|742802"),
        "{}",
        said.err
    );
    assert!(said.out.contains("Plan of Q1"), "{}", said.out);
    let answers: Vec<_> = verdicts(&json(dir, "r.json"))
        .into_iter()
        .map(|v| v.2)
        .collect();
    assert_eq!(answers, ["wrong", "right"]);
}

#[test]
fn a_query_that_takes_too_long_is_named_with_its_plan_and_the_others_go_on() {
    for name in ["sqlite", "mariadb", "postgres"] {
        let tables = Tpch::on(name, "tpch_limit");
        let line = "run --query-timeout 1ms --queries q9,q21 --out r.json";
        let said = run(&tables.dir, &tables.target, line);
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        let record = json(&tables.dir, "r.json");
        for (query, outcome, _) in verdicts(&record) {
            assert_eq!(outcome, "timed-out", "{name} {query}");
            assert!(
                said.out.contains(&format!("Plan of {query}")),
                "{name}: {}",
                said.out
            );
        }
        assert!(
            said.err.contains("2 of 2 queries have no result: Q9, Q21"),
            "{name}: {}",
            said.err
        );
    }
}

#[test]
fn rows_that_are_missing_from_any_table_are_told() {
    for name in ["mariadb", "postgres"] {
        let tables = Tpch::on(name, "tpch_rows");
        let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
        let said = ok(dir, target, "run --queries q6 --lang en");
        assert!(!said.out.contains("row-count"), "{name}: {}", said.out);
        // The first table with other rows is named, in the order in which they are loaded.
        for (change, told) in [
            (
                "DELETE FROM lineitem WHERE l_orderkey = 1",
                "lineitem held 60169 rows; the options specify 60175",
            ),
            (
                "DELETE FROM partsupp WHERE ps_partkey = 7",
                "partsupp held 7996 rows; the options specify 8000",
            ),
        ] {
            database.query(change).unwrap();
            let said = ok(dir, target, "run --queries q6 --lang en");
            let out = said.out.replace(',', "");
            assert!(out.contains("row-count"), "{name}: {}", said.out);
            assert!(out.contains(told), "{name}: {}", said.out);
        }
    }
}

#[test]
fn threads_count_and_time_are_go_tpcs() {
    let dir = Workdir::new();
    tpch_file(&dir, "a.db");
    let line = "run -T 2 --count 6 --queries q6,q22,q14 --output json --out r.json";
    let said = ok(&dir, "sqlite:a.db", line);
    assert!(
        said.out
            .contains(r#""Operation":"Q14","Prefix":"[Summary] ""#),
        "{}",
        said.out
    );
    let record = json(&dir, "r.json");
    let names: Vec<String> = verdicts(&record).into_iter().map(|v| v.0).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let of = |stream: u64| -> Vec<String> {
        let queries = record["queries"].as_array().unwrap().iter();
        let own = queries.filter(|q| q["stream"] == stream);
        own.map(|q| q["name"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(of(0), ["Q6", "Q22", "Q14"]);
    assert_eq!(of(1), ["Q22", "Q14", "Q6"]);
}

#[test]
fn another_scale_factor_is_refused() {
    let dir = Workdir::new();
    tpch_file(&dir, "a.db");
    let said = dir.run(&["tpch", "--target=sqlite:a.db", "--sf=0.02", "run"]);
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err.contains("should have 3000 rows and has 1500"),
        "{}",
        said.err
    );
}

#[test]
fn tables_too_large_to_be_counted_each_time_are_told_by_their_mark_or_counted_once() {
    let tables = Tpch::on("postgres", "tpch_size");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
    let run_at_10 = || dir.run(&["tpch", "--target", target, "--sf=10", "run", "--queries=q6"]);
    let said = run_at_10();
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err
            .contains("table orders should have 15000000 rows and has 15000, as at --sf=0.01"),
        "{}",
        said.err
    );
    let unmarked = "COMMENT ON TABLE orders IS NULL";
    database.query(unmarked).unwrap();
    let said = run_at_10();
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err
            .contains("table customer should have 1500000 rows and has 1500, as at --sf=0.01"),
        "{}",
        said.err
    );
}

#[test]
fn a_reference_is_sqlite_with_tables_of_the_same_size() {
    let dir = Workdir::new();
    tpch_file(&dir, "a.db");
    dir.ok(&["tpch", "--target=sqlite:other.db", "--sf=0.02", "prepare"]);
    for (reference, said) in [
        (
            "mysql://u@127.0.0.1:1/d",
            "must be a SQLite database with the same tables",
        ),
        (
            "sqlite:other.db",
            "its table customer should have 1500 rows and has 3000",
        ),
    ] {
        let line = format!("run --check --queries q6 --reference {reference}");
        let refused = run(&dir, "sqlite:a.db", &line);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(said), "{}", refused.err);
    }
    let line = "run --check --seed 5 --queries q6 --reference sqlite:a.db";
    let said = ok(&dir, "sqlite:a.db", line);
    assert!(said.out.contains("1 right, 0 wrong"), "{}", said.out);
}
