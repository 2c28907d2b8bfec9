//! The server's account of statements when its server restarts, hangs, takes the right away or the
//! extension, all in the middle of a run: a line, and nobody is held up.

use super::servers::{load, observed, of};
use std::time::Duration;
use tidemark_core::record::GapKind;
use tidemark_observe::SamplingResult;
use tidemark_testkit::{SandboxEngine, Server};

const SOURCE: &str = "server-statements";
/// What ends a run may take, on a machine that is busy.
const SOON: Duration = Duration::from_millis(1500);
/// The account is asked for at the begin.
const BEGUN: Duration = Duration::from_millis(1500);

/// A server that counts statements, and the URL of an account that may read what it counted.
fn counting(engine: SandboxEngine) -> (Server, String) {
    let server = Server::builder(engine);
    let (server, sql) = match engine {
        SandboxEngine::MariaDb => (
            server.setting("performance_schema", "ON"),
            [
                "CREATE USER plain@'%' IDENTIFIED BY 'p'",
                "GRANT SELECT ON performance_schema.* TO plain@'%'",
            ],
        ),
        SandboxEngine::Postgres => (
            server.setting("shared_preload_libraries", "pg_stat_statements"),
            [
                "CREATE EXTENSION pg_stat_statements",
                "CREATE USER plain PASSWORD 'p'",
            ],
        ),
    };
    let server = server.start().unwrap();
    for sql in sql {
        server.query(sql).unwrap();
    }
    let port = server.port();
    let url = match engine {
        SandboxEngine::MariaDb => format!("mysql://plain:p@127.0.0.1:{port}/"),
        SandboxEngine::Postgres => format!("postgres://plain:p@127.0.0.1:{port}/sbtest"),
    };
    (server, url)
}

/// That it was seen, failed then, and said so in a line that has these words.
fn failed(ended: &SamplingResult, took: Duration, words: &str) {
    assert!(took < SOON, "{took:?}");
    let said = of(ended, SOURCE);
    let has_failed = |kind| kind == GapKind::Failed || kind == GapKind::Stalled;
    assert!(said.gaps.iter().any(|g| has_failed(g.kind)), "{ended:?}");
    let line = format!("source {SOURCE}: ");
    let is_told = |note: &&String| note.starts_with(&line) && note.contains(words);
    assert!(ended.notes.iter().any(|note| is_told(&note)), "{ended:?}");
}

/// At the end it waits for what does not come.
fn hangs(server: &Server, url: &str) {
    let (_, ended, took) = observed(url, SOURCE, || {
        std::thread::sleep(BEGUN);
        server.pause().unwrap();
        std::thread::sleep(Duration::from_millis(500));
    });
    server.resume().unwrap();
    failed(&ended, took, "");
    assert!(ended.statements.is_empty(), "{ended:?}");
}

/// Its account begins anew; what was counted before is gone, and no statement is told as more than it was.
fn restarts(server: &Server, url: &str) {
    let (_, ended, took) = observed(url, SOURCE, || {
        std::thread::sleep(BEGUN);
        server.stop().unwrap();
        server.restart().unwrap();
        load(url, &["SELECT 41 + 1"], Duration::from_millis(300));
        std::thread::sleep(Duration::from_millis(2500));
    });
    assert!(took < SOON, "{took:?}");
    assert!(of(&ended, SOURCE).sampled, "{ended:?}");
    let is_it = |text: &str| text.contains("SELECT") && text.contains('+');
    let told = ended.statements.iter().filter(|s| is_it(&s.text));
    let told: Vec<u64> = told.map(|s| s.count).collect();
    let line = format!("source {SOURCE}: ");
    let is_told = ended.notes.iter().any(|n| n.starts_with(&line));
    assert!(is_told || !told.is_empty(), "{ended:?}");
    assert!(told.iter().all(|count| *count < 1_000_000), "{ended:?}");
}

#[test]
fn mariadbs_statements_are_a_line_when_they_cannot_be_had() {
    let (server, url) = counting(SandboxEngine::MariaDb);
    hangs(&server, &url);
    restarts(&server, &url);
    let (_, ended, took) = observed(&url, SOURCE, || {
        std::thread::sleep(BEGUN);
        for sql in [
            "REVOKE SELECT ON performance_schema.* FROM plain@'%'",
            // Sessions keep what they may until they end.
            "KILL USER plain",
        ] {
            server.query(sql).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2500));
    });
    failed(&ended, took, "performance_schema");
}

#[test]
fn postgres_statements_are_a_line_when_they_cannot_be_had() {
    let (server, url) = counting(SandboxEngine::Postgres);
    hangs(&server, &url);
    restarts(&server, &url);
    let (_, ended, took) = observed(&url, SOURCE, || {
        std::thread::sleep(BEGUN);
        server.query("DROP EXTENSION pg_stat_statements").unwrap();
    });
    failed(&ended, took, "pg_stat_statements");
}
