//! Opening sessions at real and at false servers.

use crate::it::postgres::support::{connect, connector, run, try_connect};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::OnceLock;
use std::time::Duration;
use tidemark_core::{DbError, ErrorClass, PreparedMode, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_testkit::{SandboxEngine, Server, shared_postgres};

const PASSWORD: &str = "g3h:eim@";
const IN_URL: &str = "g3h%3Aeim%40";

/// A server with an account for each way of authentication, at two addresses, with TLS.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Server::builder(SandboxEngine::Postgres)
            .setting("listen_addresses", "127.0.0.1,127.0.0.2")
            .hba("host all clear 127.0.0.1/32 password")
            .hba("host all md5 127.0.0.1/32 md5")
            .hba("host all trusted 127.0.0.1/32 trust")
            .hba("host all gss 127.0.0.1/32 ident")
            .hba("host all all 127.0.0.2/32 scram-sha-256")
            .tls()
            .start()
            .unwrap();
        let mut sql = String::new();
        for name in ["clear", "scram", "trusted", "gss"] {
            sql += &format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}';");
        }
        sql += &format!(
            "CREATE ROLE single LOGIN CONNECTION LIMIT 1 PASSWORD '{PASSWORD}';
             SET password_encryption = 'md5'; CREATE ROLE md5 LOGIN PASSWORD '{PASSWORD}'"
        );
        server.query(&sql).unwrap();
        server
    })
}

fn url(account: &str, host: &str, rest: &str) -> String {
    format!("postgres://{account}@{host}:{}/{rest}", server().port())
}

fn plain(account: &str) -> String {
    url(account, "127.0.0.1", "sbtest")
}

fn with_tls(account: &str, host: &str, mode: &str) -> String {
    let ca = &server().tls().unwrap().ca;
    url(
        account,
        host,
        &format!("sbtest?tls={mode}&ca={}", ca.display()),
    )
}

/// The reason why there is no session; it never holds the password.
fn refusal(url: String) -> DbError {
    let error = run(async move { try_connect(&url).await.map(|_| ()) }).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused, "{error}");
    for secret in [PASSWORD, IN_URL, "falsch"] {
        assert!(!format!("{error:?}").contains(secret), "{error}");
    }
    error
}

fn user_of(url: String) -> String {
    run(async move {
        let mut session = connect(&url).await;
        let rows = session.query("SELECT current_user").await.unwrap();
        session.close().await;
        rows.text(0, 0).unwrap()
    })
}

#[test]
fn scram_md5_and_trust_open_sessions() {
    for account in ["scram", "md5"] {
        assert_eq!(user_of(plain(&format!("{account}:{IN_URL}"))), account);
    }
    assert_eq!(user_of(plain("trusted")), "trusted");
}

#[test]
fn a_wrong_or_missing_password_is_refused() {
    for account in ["scram", "md5"] {
        let error = refusal(plain(&format!("{account}:falsch")));
        assert_eq!(error.code, "28P01", "{error}");
        assert!(error.message.contains(account), "{error}");
        let error = refusal(plain(account));
        assert!(error.message.contains("the target has none"), "{error}");
    }
    assert_eq!(refusal(plain("nobody:falsch")).code, "28P01");
}

#[test]
fn a_password_in_clear_text_needs_tls() {
    let error = refusal(plain(&format!("clear:{IN_URL}")));
    assert!(error.message.contains("over TLS only"), "{error}");
    let encrypted = with_tls(&format!("clear:{IN_URL}"), "127.0.0.1", "on");
    assert_eq!(user_of(encrypted), "clear");
}

#[test]
fn other_refusals_keep_the_servers_state_and_name_the_host() {
    let error = refusal(url("trusted", "127.0.0.1", "nowhere"));
    assert_eq!(error.code, "3D000", "{error}");
    assert!(error.message.contains("127.0.0.1:"), "{error}");
    // No ident server answers there.
    assert_eq!(refusal(plain("gss")).code, "28000");
    run(async {
        let single = plain(&format!("single:{IN_URL}"));
        let _first = connect(&single).await;
        let error = try_connect(&single).await.unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.class),
            ("53300", ErrorClass::Refused)
        );
    });
}

#[test]
fn tls_is_used_and_verified() {
    let account = format!("scram:{IN_URL}");
    for (host, mode) in [
        ("localhost", "verify-full"),
        ("127.0.0.1", "on"),
        ("127.0.0.2", "verify-ca"),
        ("127.0.0.2", "no-verify"),
    ] {
        let url = with_tls(&account, host, mode);
        run(async move {
            let mut session = connect(&url).await;
            let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            let rows = session.query(sql).await.unwrap();
            assert_eq!(rows.text(0, 0).as_deref(), Some("t"), "{host} {mode}");
            // More than one TLS record either way.
            let text = "tide".repeat(50_000);
            let statement = session
                .prepare("SELECT ?, repeat('x', 300000)")
                .await
                .unwrap();
            let values = [tidemark_drivers::Value::Text(&text)];
            let mut rows = tidemark_drivers::RowSet::new();
            for _ in 0..3 {
                session.fetch(&statement, &values, &mut rows).await.unwrap();
                assert_eq!(rows.text(0, 0).as_ref(), Some(&text));
                assert_eq!(rows.text(0, 1).map(|t| t.len()), Some(300_000));
            }
            session.close().await;
        });
    }
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let error = refusal(with_tls(
        &format!("scram:{IN_URL}"),
        "127.0.0.2",
        "verify-full",
    ));
    assert_eq!(error.code, "tls");
    assert!(error.message.contains("for another host"), "{error}");
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let other = Server::builder(SandboxEngine::Postgres)
        .tls()
        .start()
        .unwrap();
    let wrong = &other.tls().unwrap().ca;
    for mode in ["verify-full", "verify-ca"] {
        let rest = format!("sbtest?tls={mode}&ca={}", wrong.display());
        let error = refusal(url(&format!("scram:{IN_URL}"), "localhost", &rest));
        assert_eq!(error.code, "tls");
        assert!(
            error.message.contains("not signed by a trusted CA"),
            "{error}"
        );
    }
}

#[test]
fn a_server_without_tls_is_refused_and_never_spoken_to_in_plain_text() {
    let server = Server::postgres().unwrap();
    let error = refusal(format!("{}?tls=no-verify", server.url()));
    assert_eq!(error.code, "tls");
    assert!(error.message.contains("TLS refused"), "{error}");
    let no = vec![b"N".to_vec(), message(b'R', &[0; 4])];
    let (error, received) = refusal_of_false_server(no, "?tls=no-verify");
    assert_eq!(error.code, "tls");
    assert_eq!(received.len(), 8, "only the request for TLS is sent");
}

/// A server that answers each piece it receives with the next of `answers`, and then closes.
/// Gives its URL's host and what it received.
fn false_server(answers: Vec<Vec<u8>>) -> (String, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        let mut buffer = [0; 4096];
        for answer in answers {
            let n = socket.read(&mut buffer).unwrap_or(0);
            received.extend_from_slice(&buffer[..n]);
            if socket.write_all(&answer).is_err() {
                break;
            }
        }
        received
    });
    (host, thread)
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    out.extend_from_slice(body);
    out
}

fn refusal_of_false_server(answers: Vec<Vec<u8>>, query: &str) -> (DbError, Vec<u8>) {
    let (host, thread) = false_server(answers);
    let error = refusal(format!("postgres://u:{IN_URL}@{host}/db{query}"));
    (error, thread.join().unwrap())
}

#[test]
fn bytes_slipped_in_before_tls_are_refused() {
    let slipped = [b"S".to_vec(), message(b'R', &[0; 4])].concat();
    let (error, received) = refusal_of_false_server(vec![slipped], "?tls=no-verify");
    assert_eq!(error.code, "tls", "{error}");
    assert_eq!(received.len(), 8, "only the request for TLS is sent");
    let too_many = message(b'E', b"SFATAL\0C53300\0Mtoo many\0\0");
    let (error, received) = refusal_of_false_server(vec![too_many], "?tls=no-verify");
    assert!(
        error.message.contains("invalid reply to the TLS request"),
        "{error}"
    );
    assert_eq!(received.len(), 8);
}

#[test]
fn a_server_that_does_not_prove_itself_is_refused() {
    let sasl = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let ok = message(b'R', &[0; 4]);
    let (error, _) = refusal_of_false_server(vec![sasl.clone(), ok], "");
    assert!(error.message.contains("aborted the exchange"), "{error}");
    let nonsense = message(b'R', b"\0\0\0\x0br=foreign,s=AAAA,i=4096");
    let (error, _) = refusal_of_false_server(vec![sasl, nonsense], "");
    assert!(error.message.contains("nonce"), "{error}");
    let other = message(b'R', b"\0\0\0\x0aOAUTHBEARER\0\0");
    let (error, _) = refusal_of_false_server(vec![other], "");
    assert!(error.message.contains("lack SCRAM-SHA-256"), "{error}");
    let gss = message(b'R', b"\0\0\0\x07");
    let (error, _) = refusal_of_false_server(vec![gss], "");
    assert!(error.message.contains("GSSAPI"), "{error}");
}

#[test]
fn a_server_can_not_keep_its_client_busy() {
    let sasl = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let hours = message(b'R', b"\0\0\0\x0br=foreign,s=AAAA,i=4294967295");
    let (error, _) = refusal_of_false_server(vec![sasl, hours], "");
    assert!(error.message.contains("4294967295 iterations"), "{error}");
    let again = message(b'R', b"\0\0\0\x05salt");
    let (error, _) = refusal_of_false_server(vec![again; 100], "");
    assert!(error.message.contains("does not finish"), "{error}");
}

#[test]
fn what_comes_behind_the_start_is_a_refusal_too() {
    let ready = [message(b'R', &[0; 4]), message(b'Z', b"I")].concat();
    let more = [ready, message(b'C', b"SELECT 1\0")].concat();
    let (error, _) = refusal_of_false_server(vec![more], "");
    assert!(
        error.message.contains("an unexpected message of type"),
        "{error}"
    );
}

#[test]
fn endless_notices_end_with_the_time_to_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let notices = message(b'N', b"").repeat(20_000);
        while socket.write_all(&notices).is_ok() {}
    });
    let target = Target::parse(&format!("postgres://u@{host}/db")).unwrap();
    let options = ConnectOptions {
        connect_timeout: Duration::from_millis(300),
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target, options).unwrap();
    let begun = std::time::Instant::now();
    let error = run(async move { connector.connect(0).await.map(drop) }).unwrap_err();
    assert!(error.message.contains("no reply within"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    server.join().unwrap();
}

#[test]
fn what_is_no_postgresql_is_said_to_be_none() {
    for answer in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        b"J\0\0\0\x0a5.5.5-10.11.6-MariaDB\0 and so on".to_vec(),
        message(b'R', b""),
        message(b'E', b""),
        Vec::new(),
    ] {
        refusal_of_false_server(vec![answer], "");
    }
    let http = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    let (error, _) = refusal_of_false_server(vec![http], "");
    assert_eq!(error.code, "protocol", "{error}");
}

#[test]
fn what_comes_after_the_start_is_checked_too() {
    let start = [
        message(b'R', &[0; 4]),
        message(b'S', b"server_version\x0015.1\0"),
        message(b'Z', b"I"),
    ]
    .concat();
    for answer in [
        b"nonsense at length".to_vec(),
        message(b'Z', b"I"),
        message(b'?', b""),
        message(b'W', &[0; 3]),
    ] {
        let (error, _) = refusal_of_false_server(vec![start.clone(), answer], "");
        assert_eq!(error.code, "protocol", "{error}");
    }
    let begun = message(b'T', b"\0\x01version\0");
    let (error, _) = refusal_of_false_server(vec![start, begun], "");
    assert_eq!(error.code, "io", "{error}");
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u@{}/db", listener.local_addr().unwrap());
    let options = ConnectOptions {
        connect_timeout: Duration::from_millis(200),
        ..ConnectOptions::default()
    };
    let connector = Connector::new(Target::parse(&url).unwrap(), options).unwrap();
    let error = run(async move { connector.connect(0).await.map(|_| ()) }).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused);
    assert!(error.message.contains("0.2 s"), "{error}");
}

#[test]
fn hundreds_of_sessions_open_at_once_on_one_thread() {
    let connector = std::rc::Rc::new(connector(
        &shared_postgres().unwrap().url(),
        PreparedMode::Server,
    ));
    let mut executor = tidemark_runtime::Executor::new().unwrap();
    let open = std::rc::Rc::new(std::cell::Cell::new(0));
    for number in 0..100 {
        let (connector, open) = (connector.clone(), open.clone());
        executor.spawn(async move {
            let mut session = connector.connect(number).await.unwrap();
            assert_eq!(session.simple("SELECT 1").await.unwrap().rows, 1);
            open.set(open.get() + 1);
        });
    }
    executor.run().unwrap();
    assert_eq!(open.get(), 100);
}
