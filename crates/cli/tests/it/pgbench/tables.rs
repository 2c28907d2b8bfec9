//! Whose rows are given up, and when.

use super::Bench;

#[test]
fn tables_are_made_anew_only_where_their_rows_are_given_up() {
    let bench = Bench::new("pgbench_foreign");
    bench.real_ok("-i -q");
    bench
        .database
        .query("UPDATE pgbench_accounts SET abalance = 5 WHERE aid = 1")
        .unwrap();
    let said = bench.run("-i");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("--replace"), "{said:?}");
    let said = bench.run("-i -I dtgvp");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(
        said.err.contains("rows that Tidemark did not load"),
        "{said:?}"
    );
    assert!(said.err.contains("--replace"), "{said:?}");
    let balance = "SELECT abalance FROM pgbench_accounts WHERE aid = 1";
    assert_eq!(bench.value(balance), "5");
    bench.ok("-i --replace");
    assert_eq!(bench.value(balance), "0");
    // Now they are.
    bench.ok("-t 5");
    // Rows are given up by those who say so.
    let said = bench.run("-i -s 2");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert_eq!(bench.value("SELECT COUNT(*) FROM pgbench_history"), "5");
    bench.ok("-i -I dtgvp -s 2");
    assert_eq!(
        bench.value("SELECT COUNT(*) FROM pgbench_accounts"),
        "200000"
    );
    assert_eq!(bench.value("SELECT COUNT(*) FROM pgbench_history"), "0");
    // Without the step that drops, nothing is.
    let said = bench.run("-i -I tgvp");
    assert_eq!(said.code, Some(5), "{said:?}");
}

/// The history is emptied by a run that begins, of the rows that are its own.
#[test]
fn a_run_that_is_refused_empties_nothing() {
    let bench = Bench::new("pgbench_refused");
    bench.ok("-i -q");
    bench.ok("-t 5");
    let history = "SELECT COUNT(*) FROM ONLY pgbench_history";
    assert_eq!(bench.value(history), "5");
    // Too few for a percentile.
    let said = bench.run("-t 5 --strict");
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("nothing was started"), "{said:?}");
    assert!(!said.err.contains("vacuum"), "{said:?}");
    assert_eq!(bench.value(history), "5");
    // Rows of somebody's table that inherits from it.
    let query = |sql: &str| bench.database.query(sql).unwrap();
    query("CREATE TABLE mine () INHERITS (pgbench_history)");
    query("INSERT INTO mine (tid, bid, aid, delta) VALUES (1, 1, 1, 0)");
    let said = bench.run("-t 3");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("its rows are kept"), "{said:?}");
    assert_eq!(bench.value("SELECT COUNT(*) FROM mine"), "1");
    assert_eq!(bench.value(history), "8");
}

/// The history of a run before is emptied; rows of which that is not proven are kept, whatever the table
/// looks like.
#[test]
fn a_history_of_somebody_elses_keeps_its_rows() {
    let bench = Bench::new("pgbench_foreign_history");
    bench.ok("-i -q");
    let (query, history) = (
        |sql: &str| bench.database.query(sql).unwrap(),
        "SELECT COUNT(*) FROM pgbench_history",
    );
    bench.ok("-t 3");
    let said = bench.ok("-t 2");
    assert!(!said.err.contains("its rows are kept"), "{said:?}");
    assert_eq!(bench.value(history), "2");
    let pgbenchs = "tid int, bid int, aid int, delta int, mtime timestamp, filler char(22)";
    for (statements, why) in [
        // The mark alone is no proof.
        (
            vec!["ALTER TABLE pgbench_history ADD COLUMN note text".to_string()],
            "note text",
        ),
        (
            vec![
                "DROP TABLE pgbench_history".to_string(),
                "CREATE TABLE pgbench_history (mine int)".to_string(),
                "INSERT INTO pgbench_history VALUES (7), (8)".to_string(),
            ],
            "the columns mine integer",
        ),
        // The columns alone are none.
        (
            vec![
                "DROP TABLE pgbench_history".to_string(),
                format!("CREATE TABLE pgbench_history ({pgbenchs})"),
                "INSERT INTO pgbench_history VALUES (7), (8)".to_string(),
            ],
            "has 2 rows that Tidemark did not load",
        ),
    ] {
        for sql in &statements {
            query(sql);
        }
        let said = bench.ok("-S -t 3");
        for part in [why, "its rows are kept", "add -n"] {
            assert!(said.err.contains(part), "{part}: {said:?}");
        }
        assert_eq!(bench.value(history), "2", "{why}");
        let said = bench.ok("-n -S -t 3");
        assert!(!said.err.contains("pgbench_history"), "{said:?}");
    }
}
