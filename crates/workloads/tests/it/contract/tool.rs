//! Real sysbench, for comparison.

use std::process::Command;
use tidemark_core::{Host, Protocol, Target};

/// Runs sysbench on a target and gives its exit code and what it printed.
pub fn sysbench(target: &Target, workload: &str, options: &[&str], command: &str) -> (i32, String) {
    let Some(Host::Tcp { host, port }) = target.hosts.first() else {
        panic!("{target} has no TCP address");
    };
    let driver = match target.protocol {
        Protocol::Mysql => "mysql",
        _ => "pgsql",
    };
    let ran = Command::new("sysbench")
        .arg(workload)
        .arg(format!("--db-driver={driver}"))
        .arg(format!("--{driver}-host={host}"))
        .arg(format!("--{driver}-port={port}"))
        .arg(format!("--{driver}-user={}", target.user))
        .arg(format!("--{driver}-password={}", target.password.reveal()))
        .arg(format!("--{driver}-db={}", target.database))
        .args(options)
        .arg(command)
        .output()
        .unwrap_or_else(|e| {
            panic!("sysbench 1.0 is needed for comparison (Debian: apt-get install sysbench): {e}")
        });
    let printed = [ran.stdout, ran.stderr].concat();
    (
        ran.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&printed).into_owned(),
    )
}

/// Runs sysbench, which must succeed.
pub fn sysbench_ok(target: &Target, workload: &str, options: &[&str], command: &str) {
    let ran = sysbench(target, workload, options, command);
    succeeded(&format!("sysbench {workload} {options:?} {command}"), &ran);
}

/// Asserts that what a run of sysbench gave is a success.
pub fn succeeded(what: &str, (code, printed): &(i32, String)) {
    assert_eq!(*code, 0, "{what}: {printed}");
    assert!(!printed.contains("FATAL"), "{what}: {printed}");
}

/// Tables that a script of sysbench's takes, as one of its options.
pub fn tables(workload: &str) -> &'static str {
    match workload {
        "select_random_points" | "select_random_ranges" => "--tables=1",
        _ => "--tables=2",
    }
}
