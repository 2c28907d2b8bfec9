//! `doctor`: what it proves, what it warns of, and what it leaves alone.

use super::common::{Said, Workdir, signal, wait_until};
use serde_json::Value;
use tidemark_testkit::{SandboxEngine, Server, shared_mariadb, shared_postgres};

/// A workload of each family, and how many statements it has at least.
const FAMILIES: [(&str, u64); 4] = [
    ("oltp_read_write", 9),
    ("tpcc", 60),
    ("tpch", 26),
    ("ycsb", 5),
];
/// What PostgreSQL has besides, and its statements.
const OF_POSTGRES: (&str, u64) = ("pgbench", 7);

/// What a doctor told as JSON.
fn told(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"))
}

/// The checks of an area, as (level, check, sentence).
fn checks(told: &Value, area: &str) -> Vec<(String, String, String)> {
    let all = told["checks"].as_array().unwrap().iter();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap().to_string();
    all.filter(|check| check["area"] == area)
        .map(|c| (text(c, "level"), text(c, "check"), text(c, "says")))
        .collect()
}

fn has(checks: &[(String, String, String)], level: &str, check: &str) -> bool {
    checks.iter().any(|(l, c, _)| l == level && c == check)
}

/// Every workload's statements were executed, and nothing was left out but what the engine hasn't got.
fn proves_all_families(said: &Said, is_postgres: bool) -> Value {
    let told = told(said);
    assert_eq!(told["passed"], true, "{said:?}");
    let mut of = checks(&told, "statements");
    let mut families = FAMILIES.to_vec();
    if is_postgres {
        families.push(OF_POSTGRES);
    } else {
        assert!(has(&of, "skipped", OF_POSTGRES.0), "{of:?}");
        of.retain(|(_, check, _)| check != OF_POSTGRES.0);
    }
    assert!(of.iter().all(|(level, ..)| level == "ok"), "{of:?}");
    for (workload, least) in &families {
        let mut all = told["checks"].as_array().unwrap().iter();
        let found = all.find(|c| c["check"] == *workload).unwrap();
        assert!(found["executed"].as_u64().unwrap() >= *least, "{found}");
        // A rare one may not have been drawn, several in the time that a busy machine has.
        assert!(found["prepared"].as_u64().unwrap() <= 6, "{found}");
    }
    // Every script of sysbench, and the others.
    assert_eq!(of.len(), 12 + families.len(), "{of:?}");
    told
}

#[test]
fn a_sqlite_is_proven_and_nothing_is_left_beside_it() {
    let dir = Workdir::new();
    let target = "sqlite:doctor.db";
    dir.ok(&[
        "sysbench",
        "oltp_insert",
        &format!("--target={target}"),
        "prepare",
    ]);
    let before = files(&dir);
    let said = dir.ok(&["doctor", target, "--format=json"]);
    let told = proves_all_families(&said, false);
    assert_eq!(files(&dir), before);
    let sources = checks(&told, "sources");
    assert!(has(&sources, "ok", "client-host"), "{sources:?}");
    assert!(has(&sources, "note", "network"), "{sources:?}");
    let conditions = checks(&told, "conditions");
    // Tidemark's sessions have it so, as those of its runs.
    assert!(has(&conditions, "note", "synchronous"), "{conditions:?}");
    assert!(!conditions.iter().any(|(_, check, _)| check == "round-trip"));
}

fn files(dir: &Workdir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    // The log of a file that was closed comes and goes.
    let mut names: Vec<String> = names
        .filter(|n| !n.ends_with("-shm") && !n.ends_with("-wal"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_mariadb_is_proven_and_nothing_of_anybodys_is_touched() {
    // Which databases there are is the server's own.
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting("general-log", "1")
        .start()
        .unwrap();
    let dir = Workdir::new();
    let url = server.url();
    let databases = || server.query("SHOW DATABASES").unwrap();
    let before = databases();
    let said = dir.ok(&["doctor", &url, "--format=json"]);
    let told = proves_all_families(&said, false);
    assert_eq!(databases(), before);
    let conditions = checks(&told, "conditions");
    // Test servers need not survive a crash of the machine.
    assert!(
        has(&conditions, "warning", "innodb_doublewrite"),
        "{conditions:?}"
    );
    assert!(has(&conditions, "warning", "general_log"), "{conditions:?}");
    assert!(has(&conditions, "ok", "server-build"), "{conditions:?}");
    assert!(conditions.iter().any(|(_, check, _)| check == "round-trip"));
    let sources = checks(&told, "sources");
    assert!(has(&sources, "ok", "server-status"), "{sources:?}");

    // A warning changes the code only where that is asked for.
    let strict = dir.run(&["doctor", &url, "--quick", "--strict"]);
    assert_eq!(strict.code, Some(3), "{strict:?}");
    assert!(
        strict
            .out
            .contains("warning  durability: innodb_doublewrite = OFF"),
        "{strict:?}"
    );
    assert!(strict.out.contains("--strict: "), "{strict:?}");

    // An account that may make no database.
    server
        .query(
            "CREATE DATABASE own; CREATE USER lesser IDENTIFIED BY 'geheim'; \
             GRANT ALL ON own.* TO lesser",
        )
        .unwrap();
    let lesser = format!("mysql://lesser:geheim@127.0.0.1:{}/own", server.port());
    dir.ok(&[
        "sysbench",
        "oltp_read_write",
        &format!("--target={lesser}"),
        "prepare",
    ]);
    let rows = "SELECT SUM(k), COUNT(*) FROM own.sbtest1";
    let loaded = server.query(rows).unwrap();
    let said = dir.ok(&["doctor", &lesser]);
    for part in [
        "note     statements cannot be executed: CREATE DATABASE tidemark_doctor failed: ",
        "To allow it: GRANT ALL ON `tidemark_doctor`.* TO 'lesser'@'%'",
        "ok       oltp_read_write: ",
        "statements prepared on its own tables, not executed",
        "skipped  tpcc: its tables were not loaded by Tidemark",
    ] {
        assert!(said.out.contains(part), "{part:?}: {said:?}");
    }
    assert_eq!(server.query(rows).unwrap(), loaded);

    // A database of that name that is somebody else's.
    server
        .query("CREATE DATABASE tidemark_doctor; CREATE TABLE tidemark_doctor.mine (a INT)")
        .unwrap();
    let said = dir.ok(&["doctor", &url]);
    let part = "tidemark_doctor exists and was not created by doctor; it was not touched";
    assert!(said.out.contains(part), "{said:?}");
    let tables = server.query("SHOW TABLES FROM tidemark_doctor").unwrap();
    assert_eq!(tables.trim(), "mine");
}

#[test]
fn a_postgres_is_proven_also_after_a_doctor_that_was_killed() {
    let database = shared_postgres().unwrap().fresh_database("doctor").unwrap();
    let dir = Workdir::new();
    let url = database.url();
    let schemas = || {
        let sql = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tidemark%'";
        database.query(sql).unwrap().trim().to_string()
    };
    let mut killed = dir.spawn(&["doctor", &url]);
    wait_until("a table is there", || {
        let sql = "SELECT count(*) FROM pg_tables WHERE schemaname = 'tidemark_doctor'";
        database.query(sql).unwrap().trim().parse::<u32>().unwrap() > 1
    });
    signal(killed.id(), "KILL");
    killed.wait().unwrap();
    assert_eq!(schemas(), "tidemark_doctor");

    let said = dir.ok(&["doctor", &url, "--format=json"]);
    let told = proves_all_families(&said, true);
    assert_eq!(schemas(), "");
    let conditions = checks(&told, "conditions");
    assert!(has(&conditions, "warning", "fsync"), "{conditions:?}");
    let strict = dir.run(&["doctor", &url, "--quick", "--strict", "--format=json"]);
    assert_eq!(strict.code, Some(3), "{strict:?}");
    assert!(strict.out.contains("\"passed\": false"), "{strict:?}");
}

#[test]
fn a_postgres_schema_of_that_name_is_left_alone_and_rights_are_named() {
    let database = shared_postgres()
        .unwrap()
        .fresh_database("doctor_foreign")
        .unwrap();
    let dir = Workdir::new();
    let role = format!("lesser_{}", database.name());
    database
        .query(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD 'geheim'; GRANT ALL ON SCHEMA public TO {role}"
        ))
        .unwrap();
    let (_, place) = database
        .url()
        .split_once('@')
        .map(|(a, b)| (a.to_string(), b.to_string()))
        .unwrap();
    let lesser = format!("postgres://{role}:geheim@{place}");
    let said = dir.ok(&["doctor", &lesser]);
    for part in [
        "statements cannot be executed: CREATE SCHEMA tidemark_doctor failed: 42501",
        &format!(
            "To allow it: GRANT CREATE ON DATABASE \"{}\" TO \"{role}\"",
            database.name()
        ),
        "skipped  ycsb: its tables were not loaded by Tidemark",
        "all checks passed",
    ] {
        assert!(said.out.contains(part), "{part:?}: {said:?}");
    }

    database
        .query("CREATE SCHEMA tidemark_doctor; CREATE TABLE tidemark_doctor.mine (a INT)")
        .unwrap();
    let said = dir.ok(&["doctor", &database.url()]);
    let part = "tidemark_doctor exists and was not created by doctor; it was not touched";
    assert!(said.out.contains(part), "{said:?}");
    let sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'tidemark_doctor'";
    assert_eq!(database.query(sql).unwrap().trim(), "mine");
    database
        .query(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .unwrap();
}

/// The shared server has other doctors at work at the same time.
#[test]
fn doctors_at_the_same_time_have_places_of_their_own() {
    let server = shared_mariadb().unwrap();
    let databases = ["doctors", "doctors"].map(|name| server.fresh_database(name).unwrap());
    let (one, other) = (Workdir::new(), Workdir::new());
    let mut first = one.spawn(&["doctor", &databases[0].url(), "--format=json"]);
    let said = other.ok(&["doctor", &databases[1].url(), "--format=json"]);
    proves_all_families(&said, false);
    assert!(!said.out.contains(":sbtest@"), "{said:?}");
    assert!(first.wait().unwrap().success());
}
