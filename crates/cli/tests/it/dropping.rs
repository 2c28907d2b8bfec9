//! Dropping tables as users meet it: what is refused, what fails half-way, and what is ended.

use super::common::{Said, Workdir, signal, wait_until};
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

const SCRIPT: [&str; 2] = ["sysbench", "oltp_read_write"];

fn databases(name: &str) -> [(&'static str, Database); 2] {
    let mariadb = shared_mariadb().unwrap().fresh_database(name).unwrap();
    let postgres = shared_postgres().unwrap().fresh_database(name).unwrap();
    [("mariadb", mariadb), ("postgres", postgres)]
}

fn run(dir: &Workdir, url: &str, more: &[&str]) -> Said {
    let target = format!("--target={url}");
    dir.run(&[&SCRIPT[..], &[target.as_str()], more].concat())
}

fn ok(dir: &Workdir, url: &str, more: &[&str]) {
    let said = run(dir, url, more);
    assert_eq!(said.code, Some(0), "{more:?}: {said:?}");
}

const THREE: [&str; 2] = ["--tables=3", "--table-size=100"];

fn three<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&THREE[..], more].concat()
}

#[test]
fn rows_of_another_sqlite_table_are_left_alone() {
    let dir = Workdir::new();
    let database = || rusqlite::Connection::open(dir.path().join("t.db")).unwrap();
    let url = "sqlite:t.db";
    ok(&dir, url, &three(&["prepare"]));
    database()
        .execute_batch(
            "CREATE TABLE mine (x INT REFERENCES sbtest1 (id) ON DELETE CASCADE, note TEXT);
             INSERT INTO mine VALUES (1, 'kept')",
        )
        .unwrap();
    let kept = || -> String {
        let found = database().query_row("SELECT note FROM mine WHERE x = 1", [], |r| r.get(0));
        found.unwrap()
    };
    for command in [&["cleanup"][..], &["--replace", "prepare"]] {
        let said = run(&dir, url, &three(command));
        assert_eq!(said.code, Some(5), "{said:?}");
        assert!(said.err.contains("table mine"), "{said:?}");
        assert!(said.err.contains("table sbtest1"), "{said:?}");
        assert!(!said.out.contains("'sbtest"), "{said:?}");
        assert_eq!(kept(), "kept");
    }
    ok(&dir, url, &three(&["--force", "prepare"]));
    assert_eq!(kept(), "kept");
    ok(&dir, url, &three(&["--force", "cleanup"]));
    assert_eq!(kept(), "kept");
}

#[test]
fn a_drop_that_fails_says_what_is_true() {
    for (name, database) in databases("half_dropped") {
        let dir = Workdir::new();
        let url = database.url();
        ok(&dir, &url, &three(&["prepare"]));
        database
            .query(
                "CREATE TABLE child (x INTEGER, CONSTRAINT child_x FOREIGN KEY (x) \
                 REFERENCES sbtest2 (id))",
            )
            .unwrap();
        let said = run(&dir, &url, &three(&["cleanup"]));
        assert_eq!(said.code, Some(5), "{name}: {said:?}");
        let said = run(&dir, &url, &three(&["--force", "prepare"]));
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        for words in [
            "table sbtest2 could not be dropped",
            "2 of 3 tables were dropped (sbtest1, sbtest3)",
            "prepare stopped before it created a table",
        ] {
            assert!(said.err.contains(words), "{name}: {words}: {said:?}");
        }
        for words in ["Creating", "Inserting", "rows loaded", "goes on"] {
            assert!(!said.all().contains(words), "{name}: {words}: {said:?}");
        }
        let journal = database.query("SELECT 1 FROM tidemark_load_journal");
        assert!(journal.is_err(), "{name}");
        let said = run(&dir, &url, &three(&["--force", "cleanup"]));
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        assert!(
            said.err.contains("no table was dropped"),
            "{name}: {said:?}"
        );
        database.query("DROP TABLE child").unwrap();
        ok(&dir, &url, &three(&["cleanup"]));
    }
}

#[test]
fn an_account_that_may_only_read_is_told_no_more_than_that() {
    for (name, database) in databases("reader") {
        let dir = Workdir::new();
        ok(&dir, &database.url(), &three(&["prepare"]));
        let reader = format!("r_{}", database.name());
        let (make, unmake) = match name {
            "mariadb" => (
                format!(
                    "CREATE USER '{reader}'@'%' IDENTIFIED BY 'reads';
                     GRANT SELECT ON `{}`.* TO '{reader}'@'%'",
                    database.name()
                ),
                format!("DROP USER '{reader}'@'%'"),
            ),
            _ => (
                format!(
                    "CREATE USER \"{reader}\" PASSWORD 'reads';
                     GRANT SELECT ON ALL TABLES IN SCHEMA public TO \"{reader}\""
                ),
                format!("DROP OWNED BY \"{reader}\"; DROP USER \"{reader}\""),
            ),
        };
        database.query(&make).unwrap();
        let url = database.url();
        let (scheme, rest) = url.split_once("//").unwrap();
        let (_, host) = rest.rsplit_once('@').unwrap();
        let url = format!("{scheme}//{reader}:reads@{host}");
        let said = run(&dir, &url, &three(&["--replace", "prepare"]));
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        assert!(said.err.contains("denied"), "{name}: {said:?}");
        for words in ["Creating", "rows loaded", "goes on"] {
            assert!(!said.all().contains(words), "{name}: {words}: {said:?}");
        }
        database.query(&unmake).unwrap();
    }
}

#[test]
fn an_interrupt_ends_a_cleanup() {
    for (name, database) in databases("ended_cleanup") {
        let dir = Workdir::new();
        let url = database.url();
        let many = ["--tables=20", "--table-size=0"];
        ok(
            &dir,
            &url,
            &[&many[..], &["--threads=4", "prepare"]].concat(),
        );
        let target = format!("--target={url}");
        // Somebody reads the tenth: it can't be dropped before he is ended.
        let (reads, find, end) = match name {
            "mariadb" => (
                "LOCK TABLES sbtest10 READ; SELECT SLEEP(600)",
                "SELECT id FROM information_schema.processlist WHERE db = DATABASE() \
                 AND info LIKE '%SLEEP(60%' AND id <> CONNECTION_ID()",
                "KILL ID",
            ),
            _ => (
                "BEGIN; LOCK TABLE sbtest10 IN ACCESS SHARE MODE; SELECT pg_sleep(600)",
                "SELECT a.pid FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid \
                 WHERE l.relation = 'sbtest10'::regclass AND l.granted AND a.query LIKE \
                 '%sleep(60%' AND a.pid <> pg_backend_pid()",
                "SELECT pg_terminate_backend(ID)",
            ),
        };
        let reader = database.endpoint().clone();
        let reader = std::thread::spawn(move || reader.query(reads));
        let mut id = String::new();
        wait_until("somebody reads", || {
            id = database.query(find).unwrap().trim().to_string();
            !id.is_empty()
        });
        let child = dir.spawn(&[&SCRIPT[..], &[target.as_str()], &many, &["cleanup"]].concat());
        wait_until("the first table to go", || {
            database.query("SELECT 1 FROM sbtest1").is_err()
        });
        signal(child.id(), "INT");
        std::thread::sleep(std::time::Duration::from_millis(200));
        database.query(&end.replace("ID", &id)).unwrap();
        assert!(reader.join().unwrap().is_err());
        let said = Said::of(&child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{name}: {said:?}");
        assert!(
            said.err.contains("of 20 tables were dropped"),
            "{name}: {said:?}"
        );
        assert!(said.err.contains("are still there"), "{name}: {said:?}");
        assert!(
            said.err.contains("finishing the current DROP TABLE"),
            "{name}: {said:?}"
        );
        let last = database.query("SELECT COUNT(*) FROM sbtest20").unwrap();
        assert_eq!(last.trim(), "0", "{name}");
        ok(&dir, &url, &[&many[..], &["cleanup"]].concat());
        assert!(database.query("SELECT 1 FROM sbtest20").is_err(), "{name}");
    }
}

#[test]
fn a_run_names_what_is_in_its_tables_place() {
    let mariadb = shared_mariadb().unwrap();
    let database = mariadb.fresh_database("versioned").unwrap();
    let dir = Workdir::new();
    let table = "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
                 c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, \
                 PRIMARY KEY (id)) WITH SYSTEM VERSIONING";
    for (create, words, drop) in [
        (table, "system versioning", "DROP TABLE sbtest1"),
        (
            "CREATE SEQUENCE sbtest1",
            "a sequence",
            "DROP SEQUENCE sbtest1",
        ),
    ] {
        database.query(create).unwrap();
        for command in [&["--events=1", "run"][..], &["prepare"], &["cleanup"]] {
            let said = run(&dir, &database.url(), command);
            assert_eq!(said.code, Some(5), "{command:?}: {said:?}");
            assert!(said.err.contains(words), "{command:?}: {said:?}");
            assert!(!said.err.contains("view"), "{command:?}: {said:?}");
        }
        database.query(drop).unwrap();
    }
}

const SYSBENCHS: &str = "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
     c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))";

/// A study of two sizes of the same table, on each engine: its exit code and what it printed.
fn two_sizes(dir: &Workdir, url: &str, workload: &str, more: &str) -> Said {
    let text = format!(
        "name = \"sizes\"\ntime = 1\n{more}\n[[target]]\nname = \"t\"\nurl = \"{url}\"\n\
         [[workload]]\nname = \"{workload}\"\n[[factor]]\nname = \"size\"\nvalues = [\n  \
         {{ label = \"small\", options = {{ table-size = 1000 }} }},\n  \
         {{ label = \"large\", options = {{ table-size = 2000 }} }},\n]\n"
    );
    std::fs::write(dir.path().join("sizes.toml"), text).unwrap();
    dir.run(&["study", "run", "--anew", "sizes.toml"])
}

#[test]
fn a_study_replaces_its_own_tables_and_nothing_that_it_has_refused_to_touch() {
    let servers = databases("study_drops");
    let of_servers = servers.iter().map(|(_, database)| database.url());
    // Beside each other: most of it is the time of runs.
    std::thread::scope(|scope| {
        for url in of_servers.chain(["sqlite:s.db".into()]) {
            let servers = &servers;
            scope.spawn(move || replaces_only_its_own(servers, &url));
        }
    });
}

fn replaces_only_its_own(servers: &[(&str, Database)], url: &str) {
    let dir = Workdir::new();
    let execute = |sql: &str| match servers.iter().find(|(_, d)| d.url() == url) {
        Some((_, database)) => database.query(sql).unwrap(),
        None => {
            let file = rusqlite::Connection::open(dir.path().join("s.db")).unwrap();
            if sql.starts_with("SELECT") {
                let rows: i64 = file.query_row(sql, [], |r| r.get(0)).unwrap();
                return rows.to_string();
            }
            file.execute_batch(sql).unwrap();
            String::new()
        }
    };
    let mine = "SELECT COUNT(*) FROM sbtest1 WHERE c = 'mine'";
    // As the real sysbench makes it, and changed by its owner.
    execute(SYSBENCHS);
    execute("INSERT INTO sbtest1 (id, c) VALUES (1, 'mine'), (2, 'mine')");
    let said = two_sizes(&dir, url, "oltp_point_select", "");
    assert_eq!(said.code, Some(1), "{url}: {said:?}");
    assert_eq!(
        said.out.matches("nothing was changed").count(),
        2,
        "{url}: {said:?}"
    );
    assert_eq!(execute(mine).trim(), "2", "{url}");
    execute("DROP TABLE sbtest1");

    // Its own, which its runs have written to.
    let said = two_sizes(
        &dir,
        url,
        "oltp_insert",
        "reload = \"per-run\"\nrepeats = 2",
    );
    assert!(said.is_done(), "{url}: {said:?}");

    // Another study's rows are not its.
    let said = two_sizes(&dir, url, "oltp_insert", "reload = \"per-run\"");
    assert_eq!(said.code, Some(1), "{url}: {said:?}");
    assert!(
        said.out.contains("which this study did not load"),
        "{url}: {said:?}"
    );
    let said = two_sizes(&dir, url, "oltp_insert", "existing = \"replace\"");
    assert!(said.is_done(), "{url}: {said:?}");
}
