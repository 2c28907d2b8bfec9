//! TPC-H's power and throughput tests: what RF1 and RF2 change, and whose rows they leave alone.

use super::common;
use super::common::loaded::{Tpch, tpch_file};
use super::common::tpch::{engines, json, ok, run, verdicts};
use super::common::{Said, Workdir};
use tidemark_testkit::Database;

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
            notes.contains("the tables were restored"),
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
fn tables_that_tidemark_did_not_load_are_not_refreshed() {
    let tables = Tpch::on("postgres", "tpch_foreign");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
    database.query("COMMENT ON TABLE orders IS NULL").unwrap();
    let said = run(dir, target, "run --test power");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.err.contains("table orders was not loaded by Tidemark"),
        "{}",
        said.err
    );
    ok(dir, target, "run --test power --refresh=off --check");
}

#[test]
fn changes_that_a_killed_run_left_are_put_back() {
    let tables = Tpch::on("postgres", "tpch_killed");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
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
        let said = dir.run(&["tpch", "--target", target, "--sf", scale, "run"]);
        assert_eq!(said.code, Some(6), "{said:?}");
        assert!(!said.out.contains("restoring them"), "{}", said.out);
    }
    // A row that somebody else put there meanwhile is not deleted with RF1's.
    let own = "VALUES (9, 1, 'O', 1.00, '1996-01-02', '5-LOW', 'Clerk#000000951', 0, 'mine')";
    database
        .query(&format!("INSERT INTO orders {own}"))
        .unwrap();
    let said = run(dir, target, "run --queries q6");
    assert_eq!(said.code, Some(5), "{said:?}");
    let told = "the row of o_orderkey = 9 is not as it was loaded and is not one of RF1's, so \
                restoring the tables would delete or overwrite it. Move it";
    assert!(said.err.contains(told), "{}", said.err);
    let own = "DELETE FROM orders WHERE o_comment = 'mine' RETURNING o_orderkey";
    assert_eq!(database.query(own).unwrap().lines().next(), Some("9"));

    let said = ok(dir, target, "run --check --lang en");
    assert!(said.out.contains("restoring them"), "{}", said.out);
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
    assert!(!said.out.contains("row-count"), "{}", said.out);
    let said = ok(dir, target, "run --queries q6");
    assert!(!said.out.contains("restoring them"), "{}", said.out);
}

#[test]
fn rows_that_refreshes_would_delete_or_overwrite_are_told_and_left() {
    for name in ["mariadb", "postgres"] {
        let tables = Tpch::on(name, "tpch_own");
        let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
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
                let said = run(dir, target, &format!("run --test {test}"));
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
        ok(dir, target, "run --test power --refresh=off");
    }
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
    let tables = Tpch::on("postgres", "tpch_stuck");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
    // RF1 adds other keys: it is when the population's are put back that this fails.
    let broken = "IF NEW.o_orderkey = 1 THEN RAISE EXCEPTION 'not today'; END IF;";
    on_orders(database, "ROW", broken);
    let said = run(dir, target, "run --test power");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("still have the changes of RF1 and RF2")
            && said.err.contains("not today"),
        "{}",
        said.err
    );
    let mark = mark_of_orders(database);
    assert!(mark.contains("refreshed=1 sf=0.01"), "{mark}");
    // The server's own limit on users' queries is none for putting back.
    on_orders(database, "STATEMENT", "PERFORM pg_sleep(3);");
    let name = database.query("SELECT CURRENT_DATABASE()").unwrap();
    let name = name.trim();
    let limit = |value: &str| {
        let sql = format!("ALTER DATABASE \"{name}\" SET statement_timeout = '{value}'");
        database.query(&sql).unwrap();
    };
    limit("2s");
    let said = ok(dir, target, "run --queries q6");
    assert!(said.out.contains("restoring them"), "{}", said.out);
    limit("0");
    let said = ok(dir, target, "run --check");
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
}

#[test]
fn who_changes_the_tables_is_alone_and_puts_them_back_after_ctrl_c() {
    let tables = Tpch::on("postgres", "tpch_alone");
    let (dir, target, database) = (&tables.dir, &tables.target, tables.database());
    on_orders(database, "STATEMENT", "PERFORM pg_sleep(6);");
    let line = [
        "tpch", "--target", target, "--sf", "0.01", "run", "--test", "power",
    ];
    let mut first = dir.command(&line);
    let piped = std::process::Stdio::piped;
    let first = first.stdout(piped()).stderr(piped()).spawn().unwrap();
    common::wait_until("the tables are marked", || {
        mark_of_orders(database).contains("refreshed=1")
    });
    for second in ["run --queries q6", "run --test power"] {
        let said = run(dir, target, second);
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
    assert!(said.out.contains("the tables were restored"), "{said:?}");
    let mark = mark_of_orders(database);
    assert!(!mark.contains("refreshed"), "{mark}");
    let said = ok(dir, target, "run --check");
    assert!(said.out.contains("22 right, 0 wrong"), "{}", said.out);
}

#[test]
fn too_few_streams_give_no_qphh_and_tests_draw_their_values() {
    let dir = Workdir::new();
    tpch_file(&dir, "a.db");
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
        said.out.contains(&format!("generated from seed {seed} ")),
        "{}",
        said.out
    );
}
