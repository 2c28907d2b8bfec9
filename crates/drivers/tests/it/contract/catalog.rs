//! What the catalog tells of tables.

use crate::it::contract::{Backend, Db};
use tidemark_core::{DbError, ErrorClass, held_the_same};
use tidemark_drivers::Session;
use tidemark_drivers::catalog::{self, Column, DropVerdict, Index, Summed};

async fn proven(_: &mut Session, _: &str) -> Result<DropVerdict, DbError> {
    Ok(DropVerdict::Drop)
}

/// Drops a table of the test's.
pub(crate) async fn drop_table(session: &mut Session, table: &str) -> Result<(), DbError> {
    let one = [table.to_string()];
    let drops = catalog::drop_proven(session, &one, proven, || true).await;
    drops.failure.map_or(Ok(()), |(_, error)| Err(error))
}

pub async fn contents_tell_every_change(db: Db) {
    let mut session = db.session().await;
    let none = catalog::contents(&mut session, "t").await.unwrap();
    assert_eq!(none, None);
    let create = "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, amount DECIMAL(9,2), \
                  note VARCHAR(20))";
    session.simple(create).await.unwrap();
    let empty = catalog::contents(&mut session, "t").await.unwrap().unwrap();
    assert!(empty.starts_with("0:-:-:"), "{empty}");
    let rows = "INSERT INTO t VALUES (1, 10.25, 'a'), (2, NULL, ''), (5, -0.5, NULL)";
    session.simple(rows).await.unwrap();
    let loaded = catalog::contents(&mut session, "t").await.unwrap().unwrap();
    assert!(loaded.starts_with("3:1:5:"), "{loaded}");
    assert_eq!(catalog::rows_in(&loaded), Some(3));
    for (change, back) in [
        (
            "UPDATE t SET amount = 10.26 WHERE id = 1",
            "UPDATE t SET amount = 10.25 WHERE id = 1",
        ),
        (
            "UPDATE t SET note = NULL WHERE id = 2",
            "UPDATE t SET note = '' WHERE id = 2",
        ),
        (
            "INSERT INTO t VALUES (3, 1, 'x')",
            "DELETE FROM t WHERE id = 3",
        ),
        (
            "UPDATE t SET id = 4 WHERE id = 2",
            "UPDATE t SET id = 2 WHERE id = 4",
        ),
    ] {
        session.simple(change).await.unwrap();
        let changed = catalog::contents(&mut session, "t").await.unwrap().unwrap();
        assert_ne!(changed, loaded, "{change}");
        session.simple(back).await.unwrap();
        let again = catalog::contents(&mut session, "t").await.unwrap().unwrap();
        assert_eq!(again, loaded, "{back}");
    }
}

pub async fn what_is_summed_in_part_is_not_taken_for_the_whole(db: Db) {
    let mut session = db.session().await;
    let create = "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(20))";
    session.simple(create).await.unwrap();
    let rows: Vec<String> = (1..=200).map(|id| format!("({id}, 'a')")).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    session.simple(&insert).await.unwrap();
    let some = Summed::UpTo(100);
    let sampled = catalog::contents_with(&mut session, "t", some).await;
    let sampled = sampled.unwrap().unwrap();
    assert!(sampled.starts_with("200:1:200:~"), "{sampled}");
    assert_eq!(held_the_same(&sampled, &sampled), None);
    let whole = catalog::contents(&mut session, "t").await.unwrap().unwrap();
    assert_eq!(held_the_same(&whole, &whole), Some(true));
    // None of the 64 places.
    let change = "UPDATE t SET note = 'b' WHERE id = 3";
    session.simple(change).await.unwrap();
    let changed = catalog::contents(&mut session, "t").await.unwrap().unwrap();
    assert_eq!(held_the_same(&whole, &changed), Some(false));
}

pub async fn what_is_gone_is_not_dropped_elsewhere(db: Db) {
    let mut session = db.session().await;
    if db.backend() == Backend::Postgres {
        for sql in [
            "CREATE SCHEMA mine",
            "CREATE SCHEMA theirs",
            "CREATE TABLE theirs.a (id INTEGER NOT NULL PRIMARY KEY)",
            "SET search_path = mine, theirs",
        ] {
            session.simple(sql).await.unwrap();
        }
    }
    let look = async |session: &mut Session, table: &str| {
        let found = catalog::describe_table(session, table).await?;
        Ok(found.map_or(DropVerdict::Gone, |_| DropVerdict::Drop))
    };
    let one = ["a".to_string()];
    let drops = catalog::drop_proven(&mut session, &one, look, || true).await;
    assert_eq!((&drops.gone[..], &drops.dropped[..]), (&one[..], &[][..]));
    // Not even by a proof that does not look.
    let drops = catalog::drop_proven(&mut session, &one, proven, || true).await;
    assert_eq!(drops.failure, None);
    if db.backend() == Backend::Postgres {
        let left = session.query("SELECT COUNT(*) FROM theirs.a").await;
        assert_eq!(left.unwrap().int(0, 0), Some(0));
    }
}

pub async fn what_is_not_proven_stays_and_what_is_looked_at_is_held(db: Db) {
    let mut session = db.session().await;
    for table in ["a", "b", "c"] {
        let create = format!("CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY)");
        session.simple(&create).await.unwrap();
    }
    let mut other = db.session().await;
    let quickly = match db.backend() {
        Backend::Mariadb => "SET SESSION lock_wait_timeout=1",
        Backend::Postgres => "SET lock_timeout='300ms'",
        Backend::Sqlite => "PRAGMA busy_timeout=100",
    };
    other.query(quickly).await.unwrap();
    let tables = ["a", "b", "c"].map(String::from);
    let mut refused = 0;
    let proof = async |session: &mut Session, table: &str| {
        assert_eq!(catalog::row_count(session, table).await?, 0);
        let insert = format!("INSERT INTO {table} VALUES (1)");
        refused += u32::from(other.simple(&insert).await.is_err());
        other.rollback().await?;
        Ok(match table {
            "b" => DropVerdict::Keep("table b is mine".into()),
            _ => DropVerdict::Drop,
        })
    };
    let drops = catalog::drop_proven(&mut session, &tables, proof, || true).await;
    assert_eq!(refused, 2, "nobody writes between the look and the drop");
    assert_eq!(drops.dropped, ["a"]);
    assert_eq!(drops.left, ["b", "c"]);
    assert_eq!(drops.kept.as_deref(), Some("table b is mine"));
    // What held it is gone.
    other.simple("INSERT INTO b VALUES (1)").await.unwrap();
    other.close().await;
    assert_eq!(catalog::row_count(&mut session, "b").await.unwrap(), 1);
}

pub async fn a_table_is_described(db: Db) {
    let mut session = db.session().await;
    let key = db.dialect().generated_key_type();
    session
        .simple(&format!(
            "CREATE TABLE sbtest1 (id {key}, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, amount DECIMAL(12,2), note VARCHAR(20), \
             PRIMARY KEY (id))"
        ))
        .await
        .unwrap();
    session
        .simple("CREATE INDEX k_1 ON sbtest1 (k)")
        .await
        .unwrap();
    session
        .simple("CREATE UNIQUE INDEX u_1 ON sbtest1 (note, c)")
        .await
        .unwrap();
    session
        .simple("CREATE TABLE pair (b INTEGER NOT NULL, a INTEGER NOT NULL, PRIMARY KEY (a, b))")
        .await
        .unwrap();
    session
        .simple("CREATE TABLE bare (x BIGINT)")
        .await
        .unwrap();

    let table = catalog::describe_table(&mut session, "sbtest1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(table.name, "sbtest1");
    let shape: Vec<_> = table
        .columns
        .iter()
        .map(|c: &Column| {
            (
                c.name.as_str(),
                c.type_name.as_str(),
                c.nullable,
                c.auto_increment,
            )
        })
        .collect();
    assert_eq!(
        shape,
        [
            ("id", "integer", false, true),
            ("k", "integer", false, false),
            ("c", "char(120)", false, false),
            ("amount", "decimal(12,2)", true, false),
            ("note", "varchar(20)", true, false),
        ]
    );
    assert_eq!(table.columns[0].default, None);
    let default = table.columns[1].default.as_deref().unwrap();
    assert_eq!(default.trim_matches('\''), "0");
    assert_eq!(table.columns[3].default, None);
    assert_eq!(table.primary_key, ["id"]);
    let index = |name: &str, columns: &[&str], unique| Index {
        name: name.into(),
        columns: columns.iter().map(|c| c.to_string()).collect(),
        unique,
    };
    assert_eq!(
        table.indexes,
        [
            index("k_1", &["k"], false),
            index("u_1", &["note", "c"], true)
        ]
    );
    assert_eq!(catalog::secondary_indexes(&table).count(), 1);
    assert_eq!(table.comment, None);

    let pair = catalog::describe_table(&mut session, "pair")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(pair.primary_key, ["a", "b"]);
    assert!(pair.columns.iter().all(|c| !c.auto_increment));
    let bare = catalog::describe_table(&mut session, "bare")
        .await
        .unwrap()
        .unwrap();
    assert!(bare.primary_key.is_empty() && bare.indexes.is_empty());
    assert_eq!(bare.columns[0].type_name, "bigint");
    assert_eq!(
        catalog::list_tables(&mut session).await.unwrap(),
        ["bare", "pair", "sbtest1"]
    );
}

pub async fn a_table_that_is_not_there_is_none(db: Db) {
    let mut session = db.session().await;
    assert_eq!(catalog::describe_table(&mut session, "t").await, Ok(None));
    assert_eq!(catalog::exists(&mut session, "t").await, Ok(false));
    assert_eq!(catalog::table_mark(&mut session, "t").await, Ok(None));
    assert_eq!(catalog::list_tables(&mut session).await, Ok(Vec::new()));
    let missing = catalog::row_count(&mut session, "t").await.unwrap_err();
    assert_eq!(missing.class, ErrorClass::Missing);
    drop_table(&mut session, "t").await.unwrap();

    // A view occupies the name, and is no table.
    session
        .simple("CREATE VIEW t AS SELECT 1 AS a")
        .await
        .unwrap();
    assert_eq!(catalog::exists(&mut session, "t").await, Ok(true));
    assert_eq!(catalog::list_tables(&mut session).await, Ok(Vec::new()));
}

pub async fn names_that_need_quotes(db: Db) {
    let mut session = db.session().await;
    let name = "it's a `quoted` \"name\" \\";
    let quoted = session.dialect().quote(name);
    let column = session.dialect().quote("select");
    session
        .simple(&format!("CREATE TABLE {quoted} ({column} INTEGER)"))
        .await
        .unwrap();
    let table = catalog::describe_table(&mut session, name)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(table.name, name);
    assert_eq!(table.columns[0].name, "select");
    catalog::mark_table(&mut session, name, "tidemark:test")
        .await
        .unwrap();
    let mark = catalog::table_mark(&mut session, name).await.unwrap();
    assert_eq!(mark.as_deref(), Some("tidemark:test"));
    assert_eq!(catalog::row_count(&mut session, name).await, Ok(0));
    assert_eq!(
        catalog::key_range(&mut session, name, "select").await,
        Ok(None)
    );
    drop_table(&mut session, name).await.unwrap();
    assert_eq!(catalog::exists(&mut session, name).await, Ok(false));
}

pub async fn marks_are_read_back_and_go_with_the_table(db: Db) {
    let mut session = db.session().await;
    let create = "CREATE TABLE t (id INTEGER NOT NULL, PRIMARY KEY (id))";
    session.simple(create).await.unwrap();
    session.simple("CREATE TABLE u (id INTEGER)").await.unwrap();
    for mark in ["tidemark:loading rows=10 seed=1", "tidemark:it's \\ loaded"] {
        catalog::mark_table(&mut session, "t", mark).await.unwrap();
        let found = catalog::table_mark(&mut session, "t").await.unwrap();
        assert_eq!(found.as_deref(), Some(mark));
    }
    // An index made later does not take the mark away.
    session.simple("CREATE INDEX t_id ON t (id)").await.unwrap();
    assert!(
        catalog::table_mark(&mut session, "t")
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(catalog::table_mark(&mut session, "u").await, Ok(None));
    assert_eq!(
        catalog::list_tables(&mut session).await.unwrap(),
        ["t", "u"]
    );

    // A table of the same name that someone else makes later is not marked.
    session.simple("DROP TABLE t").await.unwrap();
    session
        .simple("CREATE TABLE t (id INTEGER, mine INTEGER)")
        .await
        .unwrap();
    assert_eq!(catalog::table_mark(&mut session, "t").await, Ok(None));

    session.simple("DROP TABLE t").await.unwrap();
    session.simple(create).await.unwrap();
    catalog::mark_table(&mut session, "t", "tidemark:again")
        .await
        .unwrap();
    drop_table(&mut session, "t").await.unwrap();
    session.simple(create).await.unwrap();
    assert_eq!(catalog::table_mark(&mut session, "t").await, Ok(None));
}

pub async fn rows_and_keys_are_counted(db: Db) {
    let mut session = db.session().await;
    db.make_t(&mut session).await;
    assert_eq!(catalog::row_count(&mut session, "t").await, Ok(0));
    assert_eq!(catalog::key_range(&mut session, "t", "id").await, Ok(None));
    session
        .simple("INSERT INTO t (id) VALUES (-3), (5), (9000000000)")
        .await
        .unwrap();
    assert_eq!(catalog::row_count(&mut session, "t").await, Ok(3));
    assert_eq!(
        catalog::key_range(&mut session, "t", "id").await,
        Ok(Some((-3, 9_000_000_000)))
    );
    let e = catalog::key_range(&mut session, "t", "nope")
        .await
        .unwrap_err();
    assert_eq!(e.class, ErrorClass::Missing);
}

pub async fn tables_with_foreign_keys_are_dropped_in_order(db: Db) {
    let mut session = db.session().await;
    for sql in [
        "CREATE TABLE parent (id INTEGER NOT NULL, PRIMARY KEY (id))",
        "CREATE TABLE child (id INTEGER NOT NULL, up INTEGER NOT NULL, PRIMARY KEY (id), \
         CONSTRAINT child_up FOREIGN KEY (up) REFERENCES parent (id))",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (5, 1)",
    ] {
        session.simple(sql).await.unwrap();
    }
    let named: &[&str] = match db.backend() {
        // It keeps no names.
        Backend::Sqlite => &[],
        _ => &["child_up"],
    };
    let keys = catalog::foreign_keys(&mut session, "child").await.unwrap();
    assert_eq!(keys, named);
    let none = catalog::foreign_keys(&mut session, "parent").await.unwrap();
    assert!(none.is_empty());
    if db.backend() != Backend::Sqlite {
        let alone = drop_table(&mut session, "parent").await;
        assert!(alone.is_err(), "another table needs it");
    }
    let both = ["parent".to_string(), "child".into()];
    let drops = catalog::drop_proven(&mut session, &both, proven, || true).await;
    assert_eq!((drops.failure, drops.left.len()), (None, 0));
    assert_eq!(
        catalog::list_tables(&mut session).await.unwrap(),
        Vec::<String>::new()
    );
}

pub async fn statistics_are_refreshed(db: Db) {
    let mut session = db.session().await;
    let ending = match db.backend() {
        // Else a thread of the server gathers them, too, sooner or later.
        Backend::Mariadb => " STATS_AUTO_RECALC=0",
        Backend::Sqlite => "",
        Backend::Postgres => " WITH (autovacuum_enabled = off)",
    };
    let table = format!("CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, n INTEGER){ending}");
    session.simple(&table).await.unwrap();
    session.simple("CREATE INDEX t_n ON t (n)").await.unwrap();
    let rows: Vec<String> = (0..200).map(|n| format!("({n}, {})", n % 4)).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    session.simple(&insert).await.unwrap();
    // Again, as a load does that was ended after it.
    for _ in 0..2 {
        for sql in db.dialect().refresh("t") {
            session.query(&sql).await.unwrap();
        }
    }
    let (sql, expected) = match db.backend() {
        // Rows, and those of one value of the index.
        Backend::Sqlite => (
            "SELECT stat FROM sqlite_stat1 WHERE tbl = 't' AND idx = 't_n'",
            "200 50",
        ),
        Backend::Mariadb => (
            "SELECT cardinality FROM information_schema.statistics \
             WHERE table_schema = DATABASE() AND table_name = 't' AND index_name = 'PRIMARY'",
            "200",
        ),
        Backend::Postgres => (
            "SELECT c.reltuples || ' ' || s.n_distinct FROM pg_class c \
             JOIN pg_stats s ON s.tablename = c.relname WHERE c.relname = 't' AND s.attname = 'n'",
            "200 4",
        ),
    };
    let found = session.query(sql).await.unwrap();
    let found = (found.text(0, 0)).or_else(|| found.int(0, 0).map(|n| n.to_string()));
    assert_eq!(found.as_deref(), Some(expected));
    assert_eq!(catalog::row_count(&mut session, "t").await, Ok(200));
}
