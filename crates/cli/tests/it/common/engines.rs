//! Every engine, with go-tpc's flags to reach it.

use tidemark_testkit::{Database, Endpoint, shared_mariadb, shared_postgres};

/// Name, connection flags and the database of each server; SQLite has none.
pub fn engines(purpose: &str) -> Vec<(&'static str, Vec<String>, Option<Database>)> {
    let sqlite = ("sqlite", vec!["--target=sqlite:a.db".into()], None);
    let mut all = vec![sqlite];
    for (name, server) in servers() {
        let database = server.fresh_database(&format!("{purpose}_{name}")).unwrap();
        all.push((name, flags(name, server, database.name()), Some(database)));
    }
    all
}

/// The shared servers of the tests.
pub fn servers() -> [(&'static str, &'static Endpoint); 2] {
    [
        ("mariadb", shared_mariadb().unwrap()),
        ("postgres", shared_postgres().unwrap()),
    ]
}

/// As a user of go-tpc would write them.
pub fn flags(name: &str, server: &Endpoint, database: &str) -> Vec<String> {
    let target = server.target();
    let (host, port) = target
        .hosts
        .iter()
        .find_map(|h| match h {
            tidemark_core::Host::Tcp { host, port } => Some((host, port)),
            tidemark_core::Host::Unix(_) => None,
        })
        .expect("servers of tests listen on TCP");
    let mut flags = vec![
        format!("-H{host}"),
        "-P".into(),
        port.to_string(),
        format!("-U={}", target.user),
        "-p".into(),
        target.password.reveal().into(),
        "--db".into(),
        database.into(),
    ];
    if name == "postgres" {
        flags.extend(["-d", "postgres", "--conn-params", "sslmode=disable"].map(String::from));
    }
    flags
}
