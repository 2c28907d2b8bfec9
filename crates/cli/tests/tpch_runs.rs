//! `tidemark tpch run` as its users meet it, on every engine, at scale factor 0.01.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, Workdir};
use serde_json::Value;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Name, `--target` and the database of each server; SQLite has none.
fn engines(purpose: &str) -> Vec<(&'static str, String, Option<Database>)> {
    let mut all = vec![("sqlite", "sqlite:a.db".to_string(), None)];
    let servers = [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ];
    for (name, server) in servers {
        let database = server.fresh_database(&format!("{purpose}_{name}")).unwrap();
        all.push((name, database.url(), Some(database)));
    }
    all
}

fn run(dir: &Workdir, target: &str, line: &str) -> Said {
    let mut args = vec!["tpch", "--target", target, "--sf", "0.01"];
    args.extend(line.split_whitespace());
    dir.run(&args)
}

fn ok(dir: &Workdir, target: &str, line: &str) -> Said {
    let said = run(dir, target, line);
    assert_eq!(said.code, Some(0), "{target} {line}: {said:?}");
    said
}

fn json(dir: &Workdir, file: &str) -> Value {
    let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Of each query in the record: its name, its outcome and what was found of its answer.
fn verdicts(record: &Value) -> Vec<(String, String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let queries = record["queries"].as_array().unwrap();
    let one = |q: &Value| {
        (
            text(&q["name"]),
            text(&q["outcome"]),
            text(&q["answer"]["verdict"]),
        )
    };
    queries.iter().map(one).collect()
}

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
fn a_full_test_gives_qphh_and_leaves_the_tables_as_they_were() {
    for (name, target, _kept) in engines("tpch_full") {
        let dir = Workdir::new();
        ok(&dir, &target, "prepare");
        let said = ok(
            &dir,
            &target,
            "run --test full --streams 2 --lang en --out r.json",
        );
        for figure in [
            "QphH@Size",
            "Power@Size",
            "Throughput@Size",
            "Unaudited",
            "RF1",
            "RF2",
        ] {
            assert!(said.out.contains(figure), "{name}: {figure}: {}", said.out);
        }
        let record = json(&dir, "r.json");
        let named = |n: &str| verdicts(&record).iter().filter(|v| v.0 == n).count();
        assert_eq!(
            (named("Q1"), named("RF1"), named("RF2")),
            (3, 3, 3),
            "{name}"
        );
        let notes = record["notes"].to_string();
        assert!(
            notes.contains("put back as they were loaded"),
            "{name}: {notes}"
        );
        let said = ok(&dir, &target, "run --check");
        assert!(
            said.out.contains("22 right, 0 wrong"),
            "{name}: {}",
            said.out
        );
    }
}

#[test]
fn a_broken_row_is_found_and_shown() {
    let (_, target, database) = engines("tpch_broken").remove(2);
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    let database = database.unwrap();
    let broken = "UPDATE lineitem SET l_quantity = l_quantity + 1 WHERE l_orderkey = 1";
    database.query(broken).unwrap();
    let said = run(&dir, &target, "run --check --queries q1,q13 --out r.json");
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.err
            .contains("Q1 answered wrongly: row 3, sum_qty: expected N|O|742802"),
        "{}",
        said.err
    );
    assert!(said.out.contains("Plan of Q1"), "{}", said.out);
    let answers: Vec<_> = verdicts(&json(&dir, "r.json"))
        .into_iter()
        .map(|v| v.2)
        .collect();
    assert_eq!(answers, ["wrong", "right"]);
}

#[test]
fn a_query_that_takes_too_long_is_named_with_its_plan_and_the_others_go_on() {
    for (name, target, _kept) in engines("tpch_limit") {
        let dir = Workdir::new();
        ok(&dir, &target, "prepare");
        let line = "run --query-timeout 1ms --queries q9,q21 --out r.json";
        let said = run(&dir, &target, line);
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        let record = json(&dir, "r.json");
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
fn tables_that_tidemark_did_not_load_are_not_refreshed() {
    let (_, target, database) = engines("tpch_foreign").remove(2);
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    let database = database.unwrap();
    database.query("COMMENT ON TABLE orders IS NULL").unwrap();
    let said = run(&dir, &target, "run --test power");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.err.contains("table orders was not loaded by Tidemark"),
        "{}",
        said.err
    );
    ok(&dir, &target, "run --test power --refresh=off --check");
}

#[test]
fn changes_that_a_killed_run_left_are_put_back() {
    let (_, target, database) = engines("tpch_killed").remove(2);
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    let database = database.unwrap();
    // As a run leaves it that was killed between RF2 and the end.
    for sql in [
        "DELETE FROM lineitem WHERE l_orderkey IN (1, 2, 3)",
        "DELETE FROM orders WHERE o_orderkey IN (1, 2, 3)",
        "DO $$ DECLARE t text; BEGIN FOREACH t IN ARRAY ARRAY['orders', 'lineitem'] LOOP EXECUTE \
         format('COMMENT ON TABLE %I IS %L', t, obj_description(t::regclass) || ' refreshed=1 sf=0.01'); \
         END LOOP; END $$",
    ] {
        database.query(sql).unwrap();
    }
    // Another size's rows would be put into them.
    for scale in ["0.02", "10"] {
        let said = dir.run(&["tpch", "--target", &target, "--sf", scale, "run"]);
        assert_eq!(said.code, Some(6), "{said:?}");
        assert!(!said.out.contains("putting them back"), "{}", said.out);
    }
    // A row that somebody else put there meanwhile is not deleted with RF1's.
    let own = "VALUES (9, 1, 'O', 1.00, '1996-01-02', '5-LOW', 'Clerk#000000951', 0, 'mine')";
    database
        .query(&format!("INSERT INTO orders {own}"))
        .unwrap();
    let said = run(&dir, &target, "run --queries q6");
    assert_eq!(said.code, Some(5), "{said:?}");
    let told = "the row of o_orderkey = 9 is not as it was loaded, nor is it one of RF1's";
    assert!(said.err.contains(told), "{}", said.err);
    let own = "DELETE FROM orders WHERE o_comment = 'mine' RETURNING o_orderkey";
    assert_eq!(database.query(own).unwrap().lines().next(), Some("9"));

    let said = ok(&dir, &target, "run --check --lang en");
    assert!(said.out.contains("putting them back"), "{}", said.out);
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
    assert!(!said.out.contains("row-count"), "{}", said.out);
    let said = ok(&dir, &target, "run --queries q6");
    assert!(!said.out.contains("putting them back"), "{}", said.out);
}

#[test]
fn rows_that_refreshes_would_delete_or_overwrite_are_told_and_left() {
    for (name, target, database) in engines("tpch_own").into_iter().skip(1) {
        let dir = Workdir::new();
        ok(&dir, &target, "prepare");
        let database = database.unwrap();
        let own = "VALUES (9, 1, 'O', 1.00, '1996-01-02', '5-LOW', 'Clerk#000000951', 0, 'mine')";
        for (change, told) in [
            (
                &*format!("INSERT INTO orders {own}"),
                Some("table orders: the row of o_orderkey = 9 was not loaded by Tidemark; RF1"),
            ),
            // A key that no set has.
            (
                "UPDATE orders SET o_orderkey = 16 WHERE o_comment = 'mine'",
                None,
            ),
            (
                "UPDATE lineitem SET l_comment = 'mine' WHERE l_orderkey = 1 AND l_linenumber = 2",
                Some("the row of l_orderkey = 1 AND l_linenumber = 2 is not as it was loaded; RF1"),
            ),
        ] {
            database.query(change).unwrap();
            for test in ["power", "throughput --streams 1"] {
                let said = run(&dir, &target, &format!("run --test {test}"));
                let Some(told) = told else {
                    assert_eq!(said.code, Some(0), "{name} {change}: {said:?}");
                    continue;
                };
                assert_eq!(said.code, Some(5), "{name} {change}: {said:?}");
                assert!(said.err.contains(told), "{name}: {}", said.err);
            }
        }
        let count = "SELECT (SELECT COUNT(*) FROM orders WHERE o_comment = 'mine') \
                     + (SELECT COUNT(*) FROM lineitem WHERE l_comment = 'mine')";
        let left = database.query(count).unwrap();
        assert_eq!(left.trim(), "2", "{name}");
        ok(&dir, &target, "run --test power --refresh=off");
    }
}

#[test]
fn rows_that_are_missing_from_any_table_are_told() {
    for (name, target, database) in engines("tpch_rows").into_iter().skip(1) {
        let dir = Workdir::new();
        ok(&dir, &target, "prepare");
        let said = ok(&dir, &target, "run --queries q6 --lang en");
        assert!(!said.out.contains("row-count"), "{name}: {}", said.out);
        let database = database.unwrap();
        // The first table with other rows is named, in the order in which they are loaded.
        for (change, told) in [
            (
                "DELETE FROM lineitem WHERE l_orderkey = 1",
                "lineitem held 60169 rows; its options ask for 60175",
            ),
            (
                "DELETE FROM partsupp WHERE ps_partkey = 7",
                "partsupp held 7996 rows; its options ask for 8000",
            ),
        ] {
            database.query(change).unwrap();
            let said = ok(&dir, &target, "run --queries q6 --lang en");
            let out = said.out.replace(',', "");
            assert!(out.contains("row-count"), "{name}: {}", said.out);
            assert!(out.contains(told), "{name}: {}", said.out);
        }
    }
}

#[test]
fn threads_count_and_time_are_go_tpcs() {
    let dir = Workdir::new();
    ok(&dir, "sqlite:a.db", "prepare");
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
    ok(&dir, "sqlite:a.db", "prepare");
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
    let (_, target, database) = engines("tpch_size").remove(2);
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    let run_at_10 = || {
        dir.run(&[
            "tpch",
            "--target",
            &target,
            "--sf=10",
            "run",
            "--queries=q6",
        ])
    };
    let said = run_at_10();
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err
            .contains("table orders should have 15000000 rows and has 15000, as at --sf=0.01"),
        "{}",
        said.err
    );
    let unmarked = "COMMENT ON TABLE orders IS NULL";
    database.as_ref().unwrap().query(unmarked).unwrap();
    let said = run_at_10();
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(
        said.err
            .contains("table customer should have 1500000 rows and has 1500, as at --sf=0.01"),
        "{}",
        said.err
    );
}

/// A trigger before each insertion into orders that does `body`.
fn on_orders(database: &Database, each: &str, body: &str) {
    for sql in [
        format!(
            "CREATE OR REPLACE FUNCTION tried() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} \
             RETURN NEW; END $$"
        ),
        format!(
            "CREATE OR REPLACE TRIGGER tried BEFORE INSERT ON orders FOR EACH {each} EXECUTE \
             FUNCTION tried()"
        ),
    ] {
        database.query(&sql).unwrap();
    }
}

fn mark_of_orders(database: &Database) -> String {
    let sql = "SELECT obj_description('orders'::regclass)";
    database.query(sql).unwrap()
}

#[test]
fn tables_that_could_not_be_put_back_are_no_success_and_the_next_run_does_it() {
    let (_, target, database) = engines("tpch_stuck").remove(2);
    let database = database.unwrap();
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    // RF1 adds other keys: it is when the population's are put back that this fails.
    let broken = "IF NEW.o_orderkey = 1 THEN RAISE EXCEPTION 'not today'; END IF;";
    on_orders(&database, "ROW", broken);
    let said = run(&dir, &target, "run --test power");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("they are still changed") && said.err.contains("not today"),
        "{}",
        said.err
    );
    let mark = mark_of_orders(&database);
    assert!(mark.contains("refreshed=1 sf=0.01"), "{mark}");
    // The server's own limit on users' queries is none for putting back.
    on_orders(&database, "STATEMENT", "PERFORM pg_sleep(3);");
    let name = database.query("SELECT CURRENT_DATABASE()").unwrap();
    let name = name.trim();
    let limit = |value: &str| {
        let sql = format!("ALTER DATABASE \"{name}\" SET statement_timeout = '{value}'");
        database.query(&sql).unwrap();
    };
    limit("2s");
    let said = ok(&dir, &target, "run --queries q6");
    assert!(said.out.contains("putting them back"), "{}", said.out);
    limit("0");
    let said = ok(&dir, &target, "run --check");
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
}

#[test]
fn who_changes_the_tables_is_alone_and_puts_them_back_after_ctrl_c() {
    let (_, target, database) = engines("tpch_alone").remove(2);
    let database = database.unwrap();
    let dir = Workdir::new();
    ok(&dir, &target, "prepare");
    on_orders(&database, "STATEMENT", "PERFORM pg_sleep(6);");
    let line = [
        "tpch", "--target", &target, "--sf", "0.01", "run", "--test", "power",
    ];
    let mut first = dir.command(&line);
    let piped = std::process::Stdio::piped;
    let first = first.stdout(piped()).stderr(piped()).spawn().unwrap();
    common::wait_until("the tables are marked", || {
        mark_of_orders(&database).contains("refreshed=1")
    });
    for second in ["run --queries q6", "run --test power"] {
        let said = run(&dir, &target, second);
        assert_eq!(said.code, Some(5), "{second}: {said:?}");
        assert!(
            said.err
                .contains("another Tidemark is loading, dropping or changing tables"),
            "{second}: {}",
            said.err
        );
    }
    common::signal(first.id(), "INT");
    let said = Said::of(&first.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(
        said.out.contains("put back as they were loaded"),
        "{said:?}"
    );
    let mark = mark_of_orders(&database);
    assert!(!mark.contains("refreshed"), "{mark}");
    let said = ok(&dir, &target, "run --check");
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
}

#[test]
fn a_reference_is_sqlite_with_tables_of_the_same_size() {
    let dir = Workdir::new();
    ok(&dir, "sqlite:a.db", "prepare");
    dir.ok(&["tpch", "--target=sqlite:other.db", "--sf=0.02", "prepare"]);
    for (reference, said) in [
        (
            "mysql://u@127.0.0.1:1/d",
            "allowed is a SQLite database with the same tables",
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

#[test]
fn too_few_streams_give_no_qphh_and_tests_draw_their_values() {
    let dir = Workdir::new();
    ok(&dir, "sqlite:a.db", "prepare");
    let line = "run --test full --streams 1 --lang en --out r.json";
    let said = ok(&dir, "sqlite:a.db", line);
    assert!(
        said.out.contains("too few streams (clause 5.3.4): 1"),
        "{}",
        said.out
    );
    assert!(!said.out.contains("QphH@0.01GB"), "{}", said.out);
    let record = json(&dir, "r.json");
    let seed = record["seed"].as_u64().unwrap();
    assert!(seed > 0);
    assert!(
        said.out.contains(&format!("drawn from seed {seed} ")),
        "{}",
        said.out
    );
}
