use super::*;

#[test]
fn command_lines_are_recognised_and_prose_is_not() {
    let c = command(
        "> ./bin/go-ycsb run mysql -P workloads/workloada -p recordcount=1000 --threads 32",
        7,
    )
    .unwrap();
    assert_eq!((c.tool, &*c.workload, c.line), ("go-ycsb", "workloada", 7));
    assert!(c.options.contains(&("recordcount".into(), "1000".into())));
    assert!(c.options.contains(&("threads".into(), "32".into())));
    let c = command(
        "sysbench --threads=8 --config-file=config oltp_point_select --tables=16 run",
        1,
    )
    .unwrap();
    assert_eq!((c.tool, &*c.workload), ("sysbench", "oltp_point_select"));
    let c = command("$ tiup bench tpcc --warehouses 100 -T 16 run", 1).unwrap();
    assert_eq!((c.tool, &*c.workload), ("go-tpc", "tpcc"));
    assert!(c.options.contains(&("threads".into(), "16".into())));
    let c = command("pgbench -c 8 -j2 -T 60 -S bench", 1).unwrap();
    assert!(c.options.contains(&("jobs".into(), "2".into())));
    for (line, text) in [
        (
            "> ./bin/go-tpc tpcc -H h -p geheim -T 8 run",
            "./bin/go-tpc tpcc -H h -p *** -T 8 run",
        ),
        (
            "tiup bench -U root -p geheim tpcc run",
            "go-tpc -U root -p *** tpcc run",
        ),
        (
            "mysqlslap -uroot -pgeheim -c 8",
            "mysqlslap -uroot -p*** -c 8",
        ),
        (
            "tpcc_start -h127.0.0.1 -uroot -p geheim -w10",
            "tpcc_start -h127.0.0.1 -uroot -p *** -w10",
        ),
        (
            "tpcc_start localhost tpcc root geheim 10 32 10 60 | tee -a out.log",
            "tpcc_start localhost tpcc root *** 10 32 10 60 | tee -a out.log",
        ),
        (
            "sysbench --mysql-password='ge heim' oltp_read_only run",
            "sysbench --mysql-password=*** oltp_read_only run",
        ),
        (
            "go-ycsb run mysql -P workloada -p mysql.password=geheim",
            "go-ycsb run mysql -P workloada -p mysql.password=***",
        ),
    ] {
        let c = command(line, 1).unwrap();
        assert_eq!(c.text, text);
        assert!(!format!("{c:?}").contains("heim"), "{c:?}");
        assert_ne!(c.workload, "***");
    }
    let c = command("tpcc_start db1 tpcc root '' 10 32 5 60 2>&1 | tee -a x", 1).unwrap();
    assert_eq!((c.tool, &*c.workload), ("tpcc-mysql", ""));
    for (name, value) in [
        ("host", "db1"),
        ("warehouses", "10"),
        ("threads", "32"),
        ("time", "60"),
    ] {
        assert!(c.options.contains(&(name.into(), value.into())), "{name}");
    }
    assert!(!c.options.iter().any(|(name, _)| name == "password"));
    for prose in [
        "Use sysbench and go-ycsb to test",
        "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)",
        "We ran sysbench with --threads=8",
        "pgbench (15.18)",
        "",
    ] {
        assert_eq!(command(prose, 1), None, "{prose}");
    }
}

#[test]
fn every_format_is_of_a_tool_in_the_table() {
    for format in crate::formats::FORMATS {
        assert_eq!(Tool::named(format.tool).name, format.tool);
    }
}
