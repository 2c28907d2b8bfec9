//! TPC-H's command line at scale factor 0.01, on every engine.

use super::{Said, Workdir};
use serde_json::Value;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// Name, `--target` and the database of each server; SQLite has none.
pub fn engines(purpose: &str) -> Vec<(&'static str, String, Option<Database>)> {
    let mut all = vec![("sqlite", "sqlite:a.db".to_string(), None)];
    let servers = [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ];
    for (name, server) in servers {
        let database = server.fresh_database(&format!("{purpose}_{name}")).unwrap();
        all.push((name, database.url(), Some(database)));
    }
    all
}

pub fn run(dir: &Workdir, target: &str, line: &str) -> Said {
    let mut args = vec!["tpch", "--target", target, "--sf", "0.01"];
    args.extend(line.split_whitespace());
    dir.run(&args)
}

pub fn ok(dir: &Workdir, target: &str, line: &str) -> Said {
    let said = run(dir, target, line);
    assert_eq!(said.code, Some(0), "{target} {line}: {said:?}");
    said
}

pub fn json(dir: &Workdir, file: &str) -> Value {
    let text = std::fs::read_to_string(dir.path().join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Of each query in the record: its name, its outcome and what was found of its answer.
pub fn verdicts(record: &Value) -> Vec<(String, String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_string();
    let queries = record["queries"].as_array().unwrap();
    let one = |q: &Value| {
        (
            text(&q["name"]),
            text(&q["outcome"]),
            text(&q["answer"]["verdict"]),
        )
    };
    queries.iter().map(one).collect()
}
