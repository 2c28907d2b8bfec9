//! `tidemark tpch` as its users meet it, on every engine.

use super::common::engines::engines;
use super::common::{Said, Workdir, signal, wait_until};

fn run(dir: &Workdir, connection: &[String], line: &str) -> Said {
    let mut args: Vec<&str> = line.split_whitespace().collect();
    // Flags of the connection may stand anywhere after the workload's name.
    args.splice(1..1, connection.iter().map(String::as_str));
    dir.run(&args)
}

fn ok(dir: &Workdir, connection: &[String], line: &str) -> Said {
    let said = run(dir, connection, line);
    assert_eq!(said.code, Some(0), "{line}: {said:?}");
    said
}

#[test]
fn tables_are_loaded_verified_and_dropped_on_every_engine() {
    for (name, connection, _database) in engines("tpch") {
        let dir = Workdir::new();
        let options = match name {
            // SQLite has them within CREATE TABLE alone.
            "sqlite" => "",
            _ => "--foreign-keys",
        };
        let load = format!("tpch --sf 0.01 -T 2 {options} prepare --analyze");
        let said = ok(&dir, &connection, &load);
        for verified in [
            "Verified 'region': 5 rows",
            "Verified 'supplier': 100 rows, keys 1 to 100",
            "Verified 'partsupp': 8000 rows",
            "Verified 'orders': 15000 rows",
            "Verified 'lineitem': 60175 rows",
        ] {
            assert!(said.out.contains(verified), "{name}: {said:?}");
        }
        assert!(said.out.ends_with("Finished\n"), "{name}: {said:?}");
        assert!(said.err.contains("--analyze has no effect"), "{said:?}");

        let said = run(&dir, &connection, "tpch --sf 0.01 prepare");
        assert_eq!(said.code, Some(5), "{name}: {said:?}");
        assert!(said.err.contains("nothing was changed"), "{said:?}");

        // Other sizes are other tables, and --dropdata makes place for them.
        let said = ok(
            &dir,
            &connection,
            "tpch --sf 0.02 --indexes=off --dropdata prepare",
        );
        assert!(
            said.out.contains("Verified 'orders': 30000 rows"),
            "{said:?}"
        );

        let said = ok(&dir, &connection, "tpch cleanup");
        assert!(said.out.contains("Dropping table 'lineitem'"), "{said:?}");
        let again = ok(&dir, &connection, "tpch cleanup");
        assert_eq!(again.out, "Finished\n", "{name}");
    }
}

/// `customer` and `orders` are tables of TPC-C, too: those of a loaded warehouse.
pub fn tables_of_tpcc_are_left_alone(dir: &Workdir, connection: &[String]) {
    for line in [
        "tpch --sf 0.01 prepare",
        "tpch --sf 0.01 --replace prepare",
        "tpch cleanup",
    ] {
        let said = run(dir, connection, line);
        assert_eq!(said.code, Some(5), "{line}: {said:?}");
        assert!(said.err.contains("is not the benchmark's"), "{said:?}");
    }
    ok(dir, connection, "tpcc --warehouses 1 check");
}

#[test]
fn a_load_that_was_killed_goes_on() {
    for (name, connection, _database) in engines("tpch_killed") {
        let dir = Workdir::new();
        let line = "tpch --sf 0.02 -T 2 --chunk-rows 500 prepare";
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.splice(1..1, connection.iter().map(String::as_str));
        let mut child = dir.spawn(&args);
        let mut out = child.stdout.take().unwrap();
        // Some chunks are there as soon as the tables are.
        let mut told = String::new();
        wait_until("the load begins", || {
            let mut piece = [0; 4096];
            let n = std::io::Read::read(&mut out, &mut piece).unwrap();
            told.push_str(&String::from_utf8_lossy(&piece[..n]));
            told.contains("into 'lineitem'")
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        signal(child.id(), "KILL");
        child.wait().unwrap();
        let said = ok(&dir, &connection, line);
        for verified in ["'lineitem': 120515 rows", "'orders': 30000 rows"] {
            assert!(said.out.contains(verified), "{name}: {told} {said:?}");
        }
    }
}

#[test]
fn csv_files_hold_dbgens_rows() {
    let dir = Workdir::new();
    let line = "tpch --sf 0.01 -T 2 -D h prepare --output-type csv --output-dir data";
    let said = ok(&dir, &[], line);
    assert!(said.out.contains("86805 rows"), "{said:?}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join("data").join(name)).unwrap();
    assert_eq!(read("h.region.0.csv").lines().count(), 5);
    let halves = [read("h.lineitem.0.csv"), read("h.lineitem.1.csv")];
    let lines: Vec<&str> = halves.iter().flat_map(|half| half.lines()).collect();
    assert_eq!(lines.len(), 60_175);
    assert!(
        lines[0].starts_with("1,1552,93,1,17,24710.35,0.04,0.02,N,O,1996-03-13,1996-02-12,"),
        "{}",
        lines[0]
    );
    let said = run(&dir, &[], line);
    assert_eq!(said.code, Some(5), "{said:?}");
    let said = run(&dir, &[], "tpch prepare --output-type csv");
    assert_eq!(said.code, Some(2), "{said:?}");
}

#[test]
fn what_an_engine_has_not_got_is_refused() {
    let dir = Workdir::new();
    let sqlite = ["--target=sqlite:a.db".to_string()];
    for (options, said_of) in [
        ("--tiflash-replica 1", "--tiflash-replica=1"),
        ("--foreign-keys", "--foreign-keys=on"),
        ("--sf 0.012", "--sf=0.012"),
    ] {
        let said = run(&dir, &sqlite, &format!("tpch {options} prepare"));
        assert!(matches!(said.code, Some(1 | 2)), "{options}: {said:?}");
        assert!(said.err.contains(said_of), "{options}: {said:?}");
    }
}
