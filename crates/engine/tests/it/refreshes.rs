//! TPC-H's refresh functions on tables as they are loaded, on real servers and files.

use super::place::{Place, Quiet};
use std::sync::Arc;
use tidemark_core::Source;
use tidemark_drivers::Session;
use tidemark_engine::{LoadSpec, StopHandle, prepare};
use tidemark_runtime::block_on;
use tidemark_workloads::tpch::RefreshSet;
use tidemark_workloads::{Workload, find};

const SCALE: f64 = 0.01;

fn tpch() -> Arc<dyn Workload> {
    let definition = find("tpch").unwrap();
    let mut values = definition.defaults();
    values
        .set("sf", &SCALE.to_string(), Source::CommandLine)
        .unwrap();
    (definition.build)(&values).unwrap()
}

async fn execute(session: &mut Session, transactions: impl Iterator<Item = Vec<String>>) {
    for sql in transactions.flatten() {
        session.simple(&sql).await.unwrap();
    }
}

async fn number(session: &mut Session, sql: &str) -> i64 {
    session.query(sql).await.unwrap().int(0, 0).unwrap()
}

/// Every value of both tables that refreshes change.
async fn rows(session: &mut Session) -> Vec<Vec<Option<String>>> {
    let mut all = Vec::new();
    for (table, key, columns) in [
        ("orders", "o_orderkey", 9),
        ("lineitem", "l_orderkey, l_linenumber", 16),
    ] {
        let sql = format!("SELECT * FROM {table} ORDER BY {key}");
        let found = session.query(&sql).await.unwrap();
        let cell = |row, column| {
            let text = found.text(row, column);
            text.or_else(|| found.get(row, column).map(|cell| format!("{cell:?}")))
        };
        let of_row = |row| (0..columns).map(|column| cell(row, column)).collect();
        all.extend((0..found.len()).map(of_row));
    }
    all
}

/// The first row under the set's keys that is not as it was loaded, and the first that is neither the
/// load's nor RF1's.
async fn strange(session: &mut Session, set: &RefreshSet) -> (Option<String>, Option<String>) {
    let (mut as_loaded, mut known) = (None, None);
    for part in set.known_rows() {
        let found = session.query(&part.sql).await.unwrap();
        as_loaded = as_loaded.or(part.are_as_loaded(&found).err());
        known = known.or(part.are_known(&found).err());
    }
    (
        as_loaded.map(|s| s.to_string()),
        known.map(|s| s.to_string()),
    )
}

/// The second set has the orders 15 to 29: keys from 64 on, and RF1's from 72 on.
async fn rows_of_others_are_told(session: &mut Session, set: &RefreshSet, name: &str) {
    let order = "VALUES (72, 1, 'O', 1.00, '1996-01-02', '5-LOW', 'Clerk#000000951', 0, 'mine')";
    let line = "VALUES (64, 1, 2, 8, 1, 1, 0, 0, 'N', 'O', '1996-01-02', '1996-01-02', \
                '1996-01-02', 'NONE', 'AIR', 'mine')";
    let foreign = "was not loaded by Tidemark";
    let first = "SELECT o_comment FROM orders WHERE o_orderkey = 64";
    let comment = session.query(first).await.unwrap().text(0, 0).unwrap();
    for (change, back, told) in [
        (
            format!("INSERT INTO lineitem {line}"),
            "DELETE FROM lineitem WHERE l_comment = 'mine'".to_string(),
            format!("table lineitem: the row of l_orderkey = 64 AND l_linenumber = 8 {foreign}"),
        ),
        (
            "UPDATE orders SET o_comment = 'mine' WHERE o_orderkey = 64".into(),
            format!("UPDATE orders SET o_comment = '{comment}' WHERE o_orderkey = 64"),
            "table orders: the row of o_orderkey = 64 is not as it was loaded".into(),
        ),
        (
            format!("INSERT INTO orders {order}"),
            "DELETE FROM orders WHERE o_comment = 'mine'".into(),
            // RF1 has an order of that key, and another one.
            format!("table orders: the row of o_orderkey = 72 {foreign}"),
        ),
    ] {
        session.simple(&change).await.unwrap();
        let (as_loaded, known) = strange(session, set).await;
        assert_eq!(as_loaded, Some(told.clone()), "{name}");
        let changed = told.replace(
            "72 was not loaded by Tidemark",
            "72 is not as it was loaded",
        );
        assert_eq!(known, Some(changed), "{name}");
        session.simple(&back).await.unwrap();
    }
    let gone = "DELETE FROM lineitem WHERE l_orderkey = 64 AND l_linenumber = 1";
    session.simple(gone).await.unwrap();
    let (as_loaded, known) = strange(session, set).await;
    let told = "table lineitem: the row of l_orderkey = 64 AND l_linenumber = 1 is missing";
    assert_eq!(as_loaded.as_deref(), Some(told), "{name}");
    assert_eq!(known, None, "{name}");
}

#[test]
fn what_rf1_adds_belongs_to_the_tables_and_undoing_leaves_every_row_as_it_was() {
    for (name, place) in Place::all("refreshes") {
        let (connector, workload) = (place.connector(), tpch());
        let stop = StopHandle::new();
        prepare(
            &connector,
            &workload,
            &LoadSpec::default(),
            &stop,
            &mut Quiet,
        )
        .unwrap();
        let checked = block_on(async move {
            let mut session = connector.connect(0).await.unwrap();
            let before = rows(&mut session).await;
            let dialect = session.dialect();
            let set = RefreshSet::new(&workload, SCALE, 2, dialect).unwrap();

            assert_eq!(strange(&mut session, &set).await, (None, None), "{name}");
            // A key that is there already would be refused.
            execute(&mut session, set.insertions()).await;
            let (as_loaded, known) = strange(&mut session, &set).await;
            let added = "was not loaded by Tidemark";
            assert!(as_loaded.is_some_and(|s| s.ends_with(added)), "{name}");
            assert_eq!(known, None, "{name}");
            let count = "SELECT COUNT(*) FROM orders";
            assert_eq!(number(&mut session, count).await, 15_015, "{name}");
            let added = "o_orderkey % 32 BETWEEN 8 AND 15";
            for (sql, expected) in [
                (format!("SELECT COUNT(*) FROM orders WHERE {added}"), 15),
                // Of the customers that order (clause 4.2.3).
                (
                    format!(
                        "SELECT COUNT(*) FROM orders JOIN customer ON o_custkey = c_custkey \
                         WHERE {added} AND o_custkey % 3 <> 0 AND o_totalprice > 0"
                    ),
                    15,
                ),
                // None that is there already under another key.
                (
                    format!(
                        "SELECT COUNT(*) FROM orders new JOIN orders old \
                         ON new.o_custkey = old.o_custkey AND new.o_totalprice = old.o_totalprice \
                         AND new.o_orderkey <> old.o_orderkey WHERE new.{added}"
                    ),
                    0,
                ),
                // Of a part that the supplier has.
                (
                    "SELECT COUNT(*) FROM lineitem LEFT JOIN partsupp \
                     ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey \
                     WHERE l_orderkey % 32 BETWEEN 8 AND 15 AND ps_partkey IS NULL"
                        .into(),
                    0,
                ),
                (
                    "SELECT COUNT(DISTINCT l_orderkey) FROM lineitem \
                     WHERE l_orderkey % 32 BETWEEN 8 AND 15"
                        .into(),
                    15,
                ),
            ] {
                assert_eq!(number(&mut session, &sql).await, expected, "{name}: {sql}");
            }

            execute(&mut session, set.deletions()).await;
            assert_eq!(number(&mut session, count).await, 15_000, "{name}");
            assert_eq!(strange(&mut session, &set).await.1, None, "{name}");
            execute(&mut session, set.undoing()).await;
            assert!(rows(&mut session).await == before, "{name}: rows differ");
            assert_eq!(before.len(), 75_175, "{name}");
            assert_eq!(strange(&mut session, &set).await, (None, None), "{name}");
            rows_of_others_are_told(&mut session, &set, name).await;
        });
        checked.unwrap();
    }
}
