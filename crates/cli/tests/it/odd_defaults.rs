//! Servers, databases and roles whose defaults change how values read as text: what is loaded is
//! verified, and right answers are right.

use super::common::Workdir;
use tidemark_testkit::{
    PgBouncer, PoolMode, SandboxEngine, Server, shared_mariadb, shared_postgres,
};

/// Every family on one target; each has tables of another name.
fn every_family(dir: &Workdir, url: &str, mode: &str) {
    without_tpcc(dir, url, mode);
    let ok = |line: &str| {
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.extend(["--target", url]);
        dir.ok(&args)
    };
    ok("tpcc prepare --warehouses=1 -T 2");
    ok(&format!(
        "tpcc run --warehouses=1 -T 2 --count=100 --check-all {mode}"
    ));
    ok("tpcc cleanup");
}

fn without_tpcc(dir: &Workdir, url: &str, mode: &str) {
    let ok = |line: &str| {
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.extend(["--target", url]);
        dir.ok(&args)
    };
    dir.ok(&["doctor", url]);
    ok("tpch prepare --sf=0.01 -T 2");
    let said = ok("tpch run --sf=0.01 --count=22 --check").all();
    let wrong = said.lines().filter(|l| l.ends_with("WRONG")).count();
    assert_eq!((said.matches("  right").count(), wrong), (22, 0), "{said}");
    ok("tpch cleanup");
    ok("ycsb load pg -P workloada -p dataintegrity=true");
    ok(&format!(
        "ycsb run pg -P workloada -p dataintegrity=true -p operationcount=200 {mode}"
    ));
    let oltp = "sysbench oltp_read_write --tables=1 --table-size=1000";
    ok(&format!("{oltp} prepare"));
    ok(&format!("{oltp} --events=50 --time=0 {mode} run"));
    // What was changed was committed, each statement by itself, too.
    ok(&format!(
        "{oltp} --skip-trx --events=50 --time=0 {mode} run"
    ));
}

#[test]
fn postgres_databases_with_other_forms_of_dates_bytes_and_texts() {
    let server = shared_postgres().unwrap();
    let database = server.fresh_database("odd_defaults").unwrap();
    for setting in [
        "DateStyle = 'SQL, DMY'",
        "IntervalStyle = 'sql_standard'",
        "bytea_output = 'escape'",
        "standard_conforming_strings = off",
        "array_nulls = off",
        "transform_null_equals = on",
        "quote_all_identifiers = on",
        "extra_float_digits = -15",
        "TimeZone = 'Asia/Kolkata'",
        "client_encoding = 'LATIN1'",
    ] {
        let sql = format!("ALTER DATABASE {} SET {setting}", database.name());
        server.query(&sql).unwrap();
    }
    let dir = Workdir::new();
    every_family(&dir, &database.url(), "");
    let shown = server.query(&format!(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '{}'",
        database.name()
    ));
    assert_eq!(shown.unwrap().trim(), "0");
}

#[test]
fn the_same_by_way_of_a_pooler() {
    let server = shared_postgres().unwrap();
    let database = server.fresh_database("odd_pooled").unwrap();
    for setting in ["DateStyle = 'German'", "standard_conforming_strings = off"] {
        let sql = format!("ALTER DATABASE {} SET {setting}", database.name());
        server.query(&sql).unwrap();
    }
    for mode in [PoolMode::Transaction, PoolMode::Session] {
        let bouncer = PgBouncer::start(server, mode, 8).unwrap();
        let dir = Workdir::new();
        let url = bouncer.url(database.endpoint());
        // What TPC-C reads, TPC-H does too: dates, decimals and texts.
        match mode {
            PoolMode::Transaction => every_family(&dir, &url, "--db-ps-mode=disable"),
            PoolMode::Session => without_tpcc(&dir, &url, ""),
        }
        for table in ["sbtest1", "usertable"] {
            database.query(&format!("DROP TABLE {table}")).unwrap();
        }
    }
}

#[test]
fn mariadb_servers_with_other_modes_and_limits() {
    let server = Server::builder(SandboxEngine::MariaDb)
        .setting(
            "sql-mode",
            "ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,EMPTY_STRING_IS_NULL,\
             HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION",
        )
        .setting("div-precision-increment", "0")
        .setting("group-concat-max-len", "4")
        // Of many packets some would be exactly as long.
        .setting("max-allowed-packet", "65536")
        .setting("default-time-zone", "+05:30")
        .setting("autocommit", "0")
        .start()
        .unwrap();
    // No option of the server's command line.
    server
        .query(
            "SET GLOBAL sql_auto_is_null = 1; SET GLOBAL sql_select_limit = 3; \
             SET GLOBAL completion_type = 'CHAIN'; SET GLOBAL lc_time_names = 'de_DE'",
        )
        .unwrap();
    let dir = Workdir::new();
    let database = server.url();
    let one = |line: &str| {
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.extend(["--target", &database]);
        dir.ok(&args)
    };
    dir.ok(&["doctor", &database, "--quick"]);
    one("tpch prepare --sf=0.01 -T 2");
    let said = one("tpch run --sf=0.01 --count=22 --check").all();
    assert_eq!(said.matches("  right").count(), 22, "{said}");
    one("tpch cleanup");
    one("tpcc prepare --warehouses=1 -T 2");
    one("tpcc check --warehouses=1 -T 2");
    // Pieces of a load are packets, too.
    for method in ["bulk", "insert"] {
        let load =
            format!("sysbench oltp_read_only --tables=1 --table-size=20000 --load-method={method}");
        one(&format!("{load} prepare"));
        let rows = server
            .query("SELECT COUNT(*), MAX(id) FROM sbtest1")
            .unwrap();
        assert_eq!(rows.trim(), "20000\t20000", "{method}");
        one(&format!("{load} cleanup"));
    }
    let update = "sysbench oltp_update_index --tables=1 --table-size=1000";
    one(&format!("{update} prepare"));
    // Statements outside transactions are kept, and lock nothing afterwards.
    let before = server.query("SELECT SUM(k) FROM sbtest1").unwrap();
    one(&format!("{update} --threads=4 --events=400 --time=0 run"));
    let after = server.query("SELECT SUM(k) FROM sbtest1").unwrap();
    let sum = |text: &str| text.trim().parse::<i64>().unwrap();
    assert_eq!(sum(&after), sum(&before) + 400);
}

#[test]
fn a_mariadb_database_of_binary_text() {
    let database = shared_mariadb().unwrap().fresh_database("binary").unwrap();
    let sql = format!("ALTER DATABASE {} CHARACTER SET binary", database.name());
    database.query(&sql).unwrap();
    let dir = Workdir::new();
    let target = format!("--target={}", database.url());
    let one = |line: &str| {
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.insert(args.len() - 1, &target);
        dir.ok(&args)
    };
    let oltp = "sysbench oltp_read_write --tables=1 --table-size=1000";
    one(&format!("{oltp} prepare"));
    one(&format!("{oltp} --events=50 --time=0 run"));
    // What was made is known again.
    one(&format!("{oltp} cleanup"));
    one("tpch --sf=0.01 -T 2 prepare");
    let said = one("tpch --sf=0.01 --count=22 --check run").all();
    assert_eq!(said.matches("  right").count(), 22, "{said}");
    // A choice of the user's stays.
    let latin = "--create-table-options=DEFAULT CHARSET=latin1";
    let sysbench = ["sysbench", "oltp_read_write", &target, "--table-size=1000"];
    dir.ok(&[&sysbench[..], &[latin, "prepare"]].concat());
    let made = database.query("SHOW CREATE TABLE sbtest1").unwrap();
    assert!(made.contains("latin1"), "{made}");
}
