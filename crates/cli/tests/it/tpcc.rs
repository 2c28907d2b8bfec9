//! `tidemark tpcc` as its users meet it, on every engine.

use super::common::engines::{engines, flags, servers};
use super::common::{Said, Workdir, loaded, signal, wait_until};
use super::{exec, tpch};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use tidemark_testkit::{Database, shared_mariadb};

fn run(dir: &Workdir, connection: &[String], line: &str) -> Said {
    let mut args = vec!["tpcc"];
    args.extend(connection.iter().map(String::as_str));
    args.extend(line.split_whitespace());
    dir.run(&args)
}

fn ok(dir: &Workdir, connection: &[String], line: &str) -> Said {
    let said = run(dir, connection, line);
    assert_eq!(said.code, Some(0), "{line}: {said:?}");
    said
}

/// Operations and their counts, as a parser of go-tpc's summary reads them.
fn summary(out: &str) -> BTreeMap<String, u64> {
    out.lines()
        .filter_map(|line| line.strip_prefix("[Summary] "))
        .map(|line| {
            let (operation, fields) = line.split_once(" - ").unwrap();
            let count = fields.split(", ").find_map(|f| f.strip_prefix("Count: "));
            (
                operation.trim().to_string(),
                count.unwrap().parse().unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_whole_way_on_sqlite() {
    the_whole_way("sqlite");
}

#[test]
fn the_whole_way_on_mariadb() {
    the_whole_way("mariadb");
}

#[test]
fn the_whole_way_on_postgres() {
    the_whole_way("postgres");
}

fn the_whole_way(name: &str) {
    let mut engines = engines(&format!("tpcc_{name}")).into_iter();
    let (_, connection, database) = engines.find(|one| one.0 == name).unwrap();
    let dir = Workdir::new();
    let said = ok(&dir, &connection, "--warehouses 1 prepare -T 2");
    assert!(
        said.out.contains("Verified 'order_line'"),
        "{name}: {said:?}"
    );
    assert!(said.out.contains("conditions hold"), "{name}: {said:?}");
    assert!(said.out.ends_with("Finished\n"), "{name}: {said:?}");

    let line = "run --warehouses 1 -T 4 --connections 2 --count 300 --check-all --price 100USD";
    let said = run(&dir, &connection, line);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("--price=\"100USD\""), "{said:?}");

    let line = "run --warehouses 1 -T 4 --connections 2 --count 300 --check-all --seed 5";
    let said = ok(&dir, &connection, line);
    let counts = summary(&said.out);
    let all: u64 = counts.values().sum();
    assert!((300..310).contains(&all), "{name}: {counts:?}");
    assert!(
        counts["NEW_ORDER"] > 80 && counts["PAYMENT"] > 80,
        "{counts:?}"
    );
    let last = said.out.lines().find(|l| l.starts_with("tpmC: ")).unwrap();
    assert!(
        last.contains(", tpmTotal: ") && last.ends_with('%'),
        "{last}"
    );
    assert!(said.out.contains("Not an audited TPC result"), "{said:?}");
    assert!(said.out.contains("conditions hold"), "{name}: {said:?}");
    let record = dir.last_record();
    assert_eq!(record["workload"], "tpcc");
    let types = record["totals"]["types"].as_object().unwrap();
    assert_eq!(
        types["NewOrder"]["count"].as_u64().unwrap(),
        counts["NEW_ORDER"]
    );
    let shown = dir.ok(&["show", "last", "--lang", "zh"]);
    assert!(shown.out.contains("TPC-C 结果"), "{shown:?}");

    // What serialisation fails is tried again.
    let line = "--warehouses 1 -T 4 --count 100 --isolation 6 run";
    let said = ok(&dir, &connection, line);
    assert!(said.out.contains("serializable"), "{name}: {said:?}");
    let record = dir.last_record();
    assert_eq!(record["options"]["isolation"]["value"], "serializable");

    let said = run(&dir, &connection, "--warehouses 2 --time 1s run");
    assert_eq!(said.code, Some(6), "{name}: {said:?}");
    assert!(said.err.contains("--warehouses=2: 1 "), "{said:?}");
    let said = run(&dir, &connection, "--warehouses 1 prepare");
    assert_eq!(said.code, Some(5), "{name}: {said:?}");

    on_the_loaded_warehouse(name, &dir, &connection, database.as_ref());

    let said = ok(&dir, &connection, "--warehouses 1 cleanup");
    assert!(said.out.contains("Dropping table 'warehouse'"), "{said:?}");
    let said = run(&dir, &connection, "--warehouses 1 --time 1s run");
    assert_eq!(said.code, Some(6), "{name}: {said:?}");
    assert!(
        said.err.contains("run prepare first: tidemark tpcc"),
        "{said:?}"
    );
    assert!(said.err.trim_end().ends_with(" prepare"), "{said:?}");
}

/// What needs no tables of its own: one load serves all.
fn on_the_loaded_warehouse(
    name: &str,
    dir: &Workdir,
    connection: &[String],
    database: Option<&Database>,
) {
    tpch::tables_of_tpcc_are_left_alone(dir, connection);
    let Some(database) = database else {
        return;
    };
    let (_, server) = servers().into_iter().find(|one| one.0 == name).unwrap();
    exec::a_password_is_in_no_job_and_is_asked_for_where_it_is_missing(
        dir, name, server, connection,
    );
    if name == "mariadb" {
        a_password_stays_out_of_messages_process_list_and_record(dir, connection);
    }
    data_that_breaks_conditions_is_told_with_its_rows(dir, connection, database);
}

fn data_that_breaks_conditions_is_told_with_its_rows(
    dir: &Workdir,
    connection: &[String],
    database: &Database,
) {
    database
        .query("UPDATE warehouse SET w_ytd = w_ytd + 1")
        .unwrap();
    let said = run(dir, connection, "--warehouses 1 check");
    assert_eq!(said.code, Some(3), "{said:?}");
    let broken = said
        .out
        .lines()
        .find(|l| l.starts_with("Condition 3.3.2.1:"));
    assert!(broken.unwrap().contains("violated 1 time, "), "{said:?}");
    assert!(said.err.contains("do not hold"), "{said:?}");
    let spoil = "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 4 AND o_id = 7";
    database.query(spoil).unwrap();
    let said = run(dir, connection, "--warehouses 1 --snapshot check");
    assert_eq!(said.code, Some(3), "{said:?}");
    for line in [
        "Condition 3.3.2.4: violated 1 time, first: d_w_id=1, d_id=4, ",
        "Condition 3.3.2.6: violated 1 time, first: o_w_id=1, o_d_id=4, o_id=7, ",
        // Of the warehouse's total two conditions speak.
        "9 of 13 consistency conditions hold",
    ] {
        assert!(said.out.contains(line), "{line}: {said:?}");
    }
    assert!(said.err.contains("4 of 13"), "{said:?}");
    let said = run(dir, connection, "--warehouses 1 --lang zh check");
    assert!(said.out.contains("条件 3.3.2.1：不成立"), "{said:?}");
}

fn a_password_stays_out_of_messages_process_list_and_record(dir: &Workdir, connection: &[String]) {
    let mut connection = connection.to_vec();
    let mut args: Vec<&str> = vec!["tpcc"];
    args.extend(connection.iter().map(String::as_str));
    args.extend([
        "--warehouses",
        "1",
        "--time",
        "2s",
        "--out",
        "r.json",
        "run",
    ]);
    let child = dir.spawn(&args);
    let shown = || std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap();
    wait_until("the password to leave the process list", || {
        shown().contains("-p\0***\0")
    });
    assert!(!shown().contains("-p\0sbtest"), "{}", shown());
    assert!(child.wait_with_output().unwrap().status.success());
    let record = std::fs::read_to_string(dir.path().join("r.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["options"]["password"]["value"], "***");
    let command = record["command"].as_array().unwrap();
    let at = command.iter().position(|w| w == "-p").unwrap();
    assert_eq!(command[at + 1], "***");

    let at = connection.iter().position(|w| w == "-p").unwrap();
    connection[at + 1] = "geheim".into();
    let said = run(dir, &connection, "--warehouses 1 check");
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(!said.all().contains("geheim"), "{said:?}");
}

#[test]
fn intervals_and_json_are_as_go_tpc_prints_them() {
    let dir = Workdir::new();
    let target = ["--target=sqlite:a.db".to_string()];
    loaded::warehouse(&dir, "a.db");
    let line = "run --warehouses 1 --time 2s --interval 1s";
    let said = ok(&dir, &target, line);
    assert!(
        said.out.contains("[Current] NEW_ORDER - Takes(s): "),
        "{said:?}"
    );
    let said = ok(&dir, &target, &format!("{line} --output json"));
    let mut operations = 0;
    for line in said.out.lines() {
        let rows: Vec<BTreeMap<String, String>> = serde_json::from_str(line).unwrap();
        operations += rows.iter().filter(|r| r.contains_key("Takes(s)")).count();
        for row in rows.iter().filter(|r| r.contains_key("tpmC")) {
            assert!(row["efficiency"].ends_with('%'), "{row:?}");
        }
    }
    assert!(operations >= 5, "{said:?}");
    assert!(said.err.contains("TPC-C results"), "{said:?}");
    let said = ok(&dir, &target, &format!("{line} --output table"));
    assert!(said.out.contains("│ OPERATION"), "{said:?}");

    // Users who think a hundredth of the time: no efficiency, and Delivery is deferred.
    let users = "-T 20 --wait --wait-scale 0.01 --time 3s --warmup 1s";
    let said = ok(&dir, &target, &format!("run --warehouses 1 {users}"));
    assert!(
        said.err
            .contains("20 terminals with keying and think times for 1 warehouse"),
        "{said:?}"
    );
    assert!(
        said.out.contains("0.01 times the specification's"),
        "{said:?}"
    );
    let counts = summary(&said.out);
    // Some may be open at the end.
    let open = counts["DELIVERY"].abs_diff(counts["DEFERRED_DELIVERY"]);
    assert!(open <= 20, "{counts:?}");

    // Arrivals on a schedule are told beside go-tpc's lines.
    let said = ok(&dir, &target, "run --warehouses 1 -T 2 --rate 40 --time 2s");
    assert!(said.out.contains("Open loop:"), "{said:?}");
    assert!(said.out.contains("arrived on a schedule"), "{said:?}");
}

#[test]
fn what_is_not_tpccs_is_left_alone() {
    for (name, server) in servers() {
        let database = server.fresh_database(&format!("tpcc_own_{name}")).unwrap();
        let connection = flags(name, server, database.name());
        database
            .query("CREATE TABLE customer (id INTEGER PRIMARY KEY, salary INTEGER)")
            .unwrap();
        database
            .query("INSERT INTO customer VALUES (1, 100)")
            .unwrap();
        let dir = Workdir::new();
        for command in ["prepare --dropdata", "cleanup", "run --time 1s"] {
            let said = run(&dir, &connection, &format!("--warehouses 1 {command}"));
            assert_eq!(said.code, Some(5), "{name} {command}: {said:?}");
            assert!(said.err.contains("customer"), "{said:?}");
        }
        assert!(
            database
                .query("SELECT salary FROM customer")
                .unwrap()
                .contains("100")
        );
        assert!(database.query("SELECT * FROM item").is_err());
    }
}

/// As `run` does, and not condition by condition.
#[test]
fn a_check_without_the_tables_says_what_is_missing() {
    let dir = Workdir::new();
    let connection = ["--target=sqlite:t.db".to_string()];
    let database = || rusqlite::Connection::open(dir.path().join("t.db")).unwrap();
    let told = |line: &str, code: i32, words: &str| {
        let said = run(&dir, &connection, line);
        assert_eq!(said.code, Some(code), "{line}: {said:?}");
        assert!(said.err.contains(words), "{line}: {}", said.err);
        assert!(!said.out.contains("Condition"), "{line}: {}", said.out);
    };
    database()
        .execute("CREATE TABLE district (own INT)", [])
        .unwrap();
    told("check", 5, "table district is not the benchmark's");
    database().execute("DROP TABLE district", []).unwrap();
    told("check", 6, "run prepare first");
    loaded::warehouse(&dir, "t.db");
    told(
        "run --warehouses=1 --time=1s --isolation=read-committed",
        2,
        "--isolation=read-committed: SQLite has serializable",
    );
    database().execute("DROP TABLE history", []).unwrap();
    told("check --warehouses=1", 6, "table history does not exist");
}

#[test]
fn csv_files_hold_what_a_load_holds_and_replace_nothing_unasked() {
    let server = shared_mariadb().unwrap();
    let database = server.fresh_database("tpcc_csv").unwrap();
    let connection = flags("mariadb", server, database.name());
    let dir = Workdir::new();
    ok(&dir, &connection, "--warehouses 2 -T 2 prepare --no-check");
    let csv = "--warehouses 2 -T 3 -D x prepare --output-type csv --output-dir out/csv";
    let said = ok(&dir, &[], csv);
    assert!(
        said.out.contains("Wrote out/csv/x.order_line.1.csv"),
        "{said:?}"
    );
    let folder = dir.path().join("out/csv");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    // As many parts as there are warehouses to share, and items once.
    assert_eq!(files.len(), 8 * 2 + 1, "{files:?}");
    assert!(files.contains(&"x.item.0.csv".to_string()), "{files:?}");
    for (table, order) in [
        ("orders", "o_w_id, o_d_id, o_id"),
        ("order_line", "ol_w_id, ol_d_id, ol_o_id, ol_number"),
        ("warehouse", "w_id"),
    ] {
        let loaded = database
            .query(&format!("SELECT * FROM {table} ORDER BY {order}"))
            .unwrap();
        let written: String = (0..2)
            .map(|n| std::fs::read_to_string(folder.join(format!("x.{table}.{n}.csv"))).unwrap())
            .collect();
        // The client's output has tabs between values and may have a line of names first.
        let loaded: Vec<String> = loaded
            .lines()
            .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()))
            .map(|l| l.replace('\t', ","))
            .collect();
        let written: Vec<&str> = written.lines().collect();
        assert_eq!(loaded.len(), written.len(), "{table}");
        let differs = loaded.iter().zip(&written).find(|(a, b)| a != *b);
        assert_eq!(differs, None, "{table}");
    }

    let before = std::fs::read(folder.join("x.orders.0.csv")).unwrap();
    let said = run(&dir, &[], &format!("{csv} --seed 9"));
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains("--replace"), "{said:?}");
    assert_eq!(
        std::fs::read(folder.join("x.orders.0.csv")).unwrap(),
        before
    );
    ok(&dir, &[], &format!("{csv} --seed 9 --replace"));
    assert_ne!(
        std::fs::read(folder.join("x.orders.0.csv")).unwrap(),
        before
    );
    // Fewer parts would leave one of the other load beside them.
    let fewer = csv.replace("-T 3", "-T 1");
    let said = run(&dir, &[], &format!("{fewer} --replace"));
    assert_eq!(said.code, Some(5), "{said:?}");
    assert!(said.err.contains(".1.csv"), "{said:?}");
}

#[test]
fn a_database_that_the_flags_name_is_made_by_prepare_alone() {
    for (name, server) in servers() {
        // Its name is free as soon as it is dropped.
        let taken = server.fresh_database(&format!("tpcc_new_{name}")).unwrap();
        let free = taken.name().to_string();
        drop(taken);
        // Flags may stand before the word `tpcc`, too.
        let mut connection = flags(name, server, &free);
        connection.push("tpcc".into());
        let dir = Workdir::new();
        let run = |line: &str| {
            let words = connection.iter().map(String::as_str);
            let args: Vec<&str> = words.chain(line.split(' ')).collect();
            dir.run(&args)
        };
        for line in ["--warehouses 1 check", "--warehouses 1 run --time 1s"] {
            let said = run(line);
            assert_eq!(said.code, Some(4), "{name}: {said:?}");
            assert!(said.err.contains(&free), "{said:?}");
        }
        let words = connection.iter().map(String::as_str);
        let load = ["--warehouses", "1", "prepare", "--no-check"];
        let mut child = dir.spawn(&words.chain(load).collect::<Vec<_>>());
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut lines = stdout.lines().map(Result::unwrap);
        let made = format!("Creating database '{free}'...");
        let first = lines.next().unwrap();
        assert!(first.starts_with(&made), "{name}: {first}");
        // From here on it is a load as any.
        assert!(lines.any(|l| l.starts_with("Creating table '")), "{name}");
        signal(child.id(), "INT");
        lines.for_each(drop);
        child.wait().unwrap();
        server.query(&format!("DROP DATABASE {free}")).unwrap();
    }
}
