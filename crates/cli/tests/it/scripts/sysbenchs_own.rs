//! The scripts of sysbench's package beside the built-in workloads.

use super::super::common::{Said, Workdir};
use super::{counts, number, sysbench};
use std::process::Command;
use tidemark_testkit::Database;

/// Statements of a database by the server's general log, digits left out, sorted.
fn logged(server: &tidemark_testkit::Server, run: impl FnOnce()) -> Vec<String> {
    server.query("SET GLOBAL log_output='TABLE'").unwrap();
    server.query("TRUNCATE mysql.general_log").unwrap();
    server.query("SET GLOBAL general_log=1").unwrap();
    run();
    server.query("SET GLOBAL general_log=0").unwrap();
    let asked = "SELECT REPLACE(CAST(argument AS CHAR), '\\n', ' ') FROM mysql.general_log \
                 WHERE command_type IN ('Query', 'Execute') AND argument LIKE '%sbtest%' \
                 OR command_type IN ('Query', 'Execute') AND argument IN ('BEGIN', 'COMMIT')";
    let text = server.query(asked).unwrap();
    let mut lines: Vec<String> = text.lines().map(normalised).collect();
    lines.sort();
    lines
}

/// A statement with `0` for each number, and one space for many.
fn normalised(statement: &str) -> String {
    let mut text = String::new();
    for c in statement.trim().chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        let c = if c.is_whitespace() { ' ' } else { c };
        if !(text.ends_with(c) && ['0', ' '].contains(&c)) {
            text.push(c);
        }
    }
    text
}

/// The scripts of sysbench's package, copied: where they are they stand for the built-in workloads. Not
/// `bulk_insert.lua`, whose events mostly send nothing, and what sends nothing is no transaction here.
#[test]
fn sysbenchs_own_scripts_send_the_same_statements() {
    let server = tidemark_testkit::Server::mariadb().unwrap();
    let database = server.fresh_database("lua_bundled").unwrap();
    let target = server.endpoint().target();
    let tidemark_core::Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let dir = Workdir::new();
    for entry in std::fs::read_dir("/usr/share/sysbench").expect("apt-get install sysbench") {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "lua") {
            std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let config = format!(
        "db-driver=mysql\nmysql-host={host}\nmysql-port={port}\nmysql-user={}\nmysql-password={}\nmysql-db={}\n",
        target.user,
        target.password.reveal(),
        database.name()
    );
    std::fs::write(dir.path().join("c.cfg"), config).unwrap();
    let both = |script: &str, more: &[&str]| {
        let shape = [
            "--config-file=c.cfg",
            "--tables=1",
            "--table-size=100",
            "--threads=1",
        ];
        let args = [&[script], &shape[..], more].concat();
        let mut said = Vec::new();
        let theirs = logged(&server, || {
            let mut real = Command::new("sysbench");
            let output = real.args(&args).current_dir(dir.path()).output().unwrap();
            let real = Said::of(&output);
            assert_eq!(real.code, Some(0), "{real:?}");
            said.push(real);
        });
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        (theirs, said.remove(0), args)
    };
    let ours = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut said = None;
        let log = logged(&server, || said = Some(sysbench(&dir, &args)));
        (log, said.unwrap())
    };
    for script in [
        "./oltp_read_only.lua",
        "./oltp_read_write.lua",
        "./oltp_write_only.lua",
        "./oltp_point_select.lua",
        "./oltp_update_index.lua",
        "./oltp_update_non_index.lua",
        "./oltp_delete.lua",
        "./oltp_insert.lua",
        "./select_random_points.lua",
        "./select_random_ranges.lua",
    ] {
        let (prepared, _, args) = both(script, &["prepare"]);
        drop_all(&database);
        let (log, _) = ours(&args);
        assert_eq!(log, prepared, "{script}: prepare");
        let run = ["--events=20", "--time=60", "--rand-type=uniform", "run"];
        let (theirs, real, args) = both(script, &run);
        drop_all(&database);
        let again: Vec<&str> = args[..4].iter().map(String::as_str).collect();
        sysbench(&dir, &[&again[..], &["--threads=1", "prepare"]].concat());
        let (log, said) = ours(&args);
        assert_eq!(log, theirs, "{script}");
        // DELETEs of the same key twice count as others.
        if script != "./oltp_delete.lua" {
            assert_eq!(counts(&said), counts(&real), "{script}");
        }
        assert_eq!(number(&said, "total:"), number(&real, "total:"), "{script}");
        let (theirs, _, args) = both(script, &["cleanup"]);
        let (log, _) = ours(&args);
        assert_eq!(log, theirs, "{script}: cleanup");
    }
}

fn drop_all(database: &Database) {
    let tables = database.query("SHOW TABLES").unwrap();
    for table in tables.lines() {
        database.query(&format!("DROP TABLE {table}")).unwrap();
    }
}
