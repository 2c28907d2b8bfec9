//! The MySQL-protocol driver against a real MariaDB: accounts, sockets and TLS.

use crate::it::mysql::support::{connect, run, text, try_connect};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use std::fs;
use std::path::{Path, PathBuf};
use tidemark_core::{DbError, Engine, ErrorClass, Target};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_testkit::{SandboxEngine as Kind, Server, shared_mariadb};

/// The shared server's URL for another account, database or options.
fn url_of(account: &str, rest: &str) -> String {
    let target = shared_mariadb().unwrap().target().clone();
    format!("mysql://{account}@{}/{rest}", target.hosts[0])
}

fn refused(url: &str) -> DbError {
    let url = url.to_string();
    let error = run(async move { try_connect(&url).await.map(drop) }).unwrap_err();
    assert_eq!(error.class, ErrorClass::Refused, "{error}");
    error
}

#[test]
fn a_wrong_password_is_refused_without_being_shown() {
    let host = shared_mariadb().unwrap().target().hosts[0].to_string();
    for (url, code) in [
        (url_of("sbtest:geheim", "sbtest"), "1045"),
        (url_of("nobody_of_that_name:geheim", "sbtest"), "1045"),
        (url_of("sbtest", "sbtest"), "1045"),
        (url_of("sbtest:sbtest", "no_such_database"), "1049"),
    ] {
        let error = refused(&url);
        assert_eq!(error.code, code, "{error}");
        assert!(error.message.contains(&host), "{error}");
        assert!(!format!("{error:?}").contains("geheim"), "{error}");
    }
}

#[test]
fn accounts_of_every_kind_get_in() {
    let server = Server::builder(Kind::MariaDb)
        .setting("plugin-load-add", "auth_ed25519")
        .start()
        .unwrap();
    server
        .query(
            "CREATE USER native@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('p@w ü');
             CREATE USER nothing@'%';
             CREATE USER curve@'%' IDENTIFIED VIA ed25519 USING PASSWORD('p@w ü');
             GRANT ALL ON sbtest.* TO native@'%', nothing@'%', curve@'%';",
        )
        .unwrap();
    let socket = server.socket_path().display().to_string();
    for (user, account) in [
        ("native", "native:p%40w%20%C3%BC"),
        ("nothing", "nothing"),
        ("curve", "curve:p%40w%20%C3%BC"),
    ] {
        for url in [
            format!("mysql://{account}@127.0.0.1:{}/sbtest", server.port()),
            format!("mysql://{account}@/sbtest?socket={socket}"),
            format!("mariadb://{account}@127.0.0.1:{}", server.port()),
        ] {
            run(async move {
                let mut session = connect(&url).await;
                assert_eq!(session.server().engine, Engine::Mariadb);
                let current = text(&mut session, "SELECT CURRENT_USER()").await;
                assert_eq!(current, format!("{user}@%"));
                session.close().await;
            });
        }
    }
    let port = server.port();
    for account in ["native:geheim", "nothing:geheim", "curve:geheim"] {
        let error = refused(&format!("mysql://{account}@127.0.0.1:{port}/sbtest"));
        assert_eq!(error.code, "1045", "{error}");
        assert!(!error.message.contains("geheim"));
    }
}

#[test]
fn connections_beyond_the_limit_and_unreachable_hosts_are_refused() {
    let server = Server::builder(Kind::MariaDb)
        .setting("max-connections", "10")
        .start()
        .unwrap();
    let url = server.url();
    run(async move {
        // One more is kept for whoever may use it (CONNECTION ADMIN): so fill that one too.
        let mut open = Vec::new();
        let error = loop {
            match try_connect(&url).await {
                Ok(session) => open.push(session),
                Err(error) => break error,
            }
        };
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::Refused, "1040")
        );
        assert!((10..=11).contains(&open.len()));
        // The sessions there are go on.
        assert_eq!(text(&mut open[0], "SELECT 'well'").await, "well");
    });
    let port = server.port();
    server.stop().unwrap();
    let error = refused(&format!("mysql://u:geheim@127.0.0.1:{port}/db"));
    assert!(
        error.message.contains(&format!("127.0.0.1:{port}")),
        "{error}"
    );
    let error = refused("mysql://u:geheim@/db?socket=/nonexistent/mysqld.sock");
    assert!(
        error.message.contains("/nonexistent/mysqld.sock"),
        "{error}"
    );
}

/// An authority of the test's own, and what it signed, as PEM files.
struct Authority {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // The server's account reads it too.
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A client's certificate and key.
    fn client(&self) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params
            .distinguished_name
            .push(DnType::CommonName, "a client");
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let files = (self.file("client.pem"), self.file("client-key.pem"));
        fs::write(&files.0, cert.pem()).unwrap();
        fs::write(&files.1, key.serialize_pem()).unwrap();
        files
    }
}

/// The cipher of a session to `url`.
fn cipher(url: String) -> Result<String, DbError> {
    run(async move {
        let mut session = try_connect(&url).await?;
        let rows = session.query("SHOW STATUS LIKE 'Ssl_cipher'").await?;
        Ok(rows.text(0, 1).unwrap())
    })
}

#[test]
fn tls_is_verified_as_the_target_asks() {
    let clients = Authority::new("Tidemark test authority of clients");
    let server = Server::builder(Kind::MariaDb)
        .tls()
        .setting("bind-address", "127.0.0.1,127.0.0.2")
        .setting("ssl-ca", clients.file("ca.pem").to_str().unwrap())
        .start()
        .unwrap();
    let ca = server.tls().unwrap().ca.clone();
    let other = Authority::new("some other authority");
    let url = |host: &str, mode: &str, ca: Option<&Path>| {
        let ca = ca.map_or_else(String::new, |ca| format!("&ca={}", ca.display()));
        format!(
            "mysql://sbtest:sbtest@{host}:{}/sbtest?tls={mode}{ca}",
            server.port()
        )
    };

    assert_eq!(cipher(url("127.0.0.1", "off", None)).unwrap(), "");
    for (host, mode, ca) in [
        ("127.0.0.1", "on", Some(ca.as_path())),
        ("localhost", "verify-full", Some(&ca)),
        ("127.0.0.2", "verify-ca", Some(&ca)),
        ("127.0.0.2", "no-verify", None),
    ] {
        let cipher = cipher(url(host, mode, ca)).unwrap();
        assert!(cipher.starts_with("TLS_"), "{host} {mode}: {cipher}");
    }
    let by_socket = format!(
        "mysql://sbtest:sbtest@/sbtest?socket={}&tls=on&ca={}",
        server.socket_path().display(),
        ca.display()
    );
    assert!(cipher(by_socket).unwrap().starts_with("TLS_"));

    let other = other.file("ca.pem");
    for (host, mode, ca, words) in [
        (
            "127.0.0.1",
            "on",
            Some(other.as_path()),
            "not signed by a trusted CA",
        ),
        (
            "127.0.0.1",
            "verify-ca",
            Some(&other),
            "not signed by a trusted CA",
        ),
        ("127.0.0.2", "verify-full", Some(&ca), "for another host"),
    ] {
        let error = refused(&url(host, mode, ca));
        assert_eq!(error.code, "tls", "{error}");
        assert!(error.message.contains(words), "{error}");
        assert!(error.message.contains(host), "{error}");
    }

    // An account that has to be encrypted: the server says no more than of a wrong password.
    server
        .query("CREATE USER encrypted@'%' REQUIRE SSL; GRANT ALL ON sbtest.* TO encrypted@'%';")
        .unwrap();
    let with_tls = |mode: &str| {
        let ca = ca.display();
        let port = server.port();
        format!("mysql://encrypted@127.0.0.1:{port}/sbtest?tls={mode}&ca={ca}")
    };
    let error = refused(&with_tls("off").replace(&format!("&ca={}", ca.display()), ""));
    assert_eq!(error.code, "1045", "{error}");
    for words in ["REQUIRE SSL", "tls=on"] {
        assert!(error.message.contains(words), "{words}: {error}");
    }
    assert!(cipher(with_tls("on")).unwrap().starts_with("TLS_"));
    // Who is encrypted is refused for something else.
    let error = refused(&with_tls("on").replace("encrypted@", "encrypted:geheim@"));
    assert_eq!(error.code, "1045", "{error}");
    assert!(!error.message.contains("REQUIRE SSL"), "{error}");

    // An account that must show a certificate.
    server
        .query("CREATE USER shown@'%' REQUIRE X509; GRANT ALL ON sbtest.* TO shown@'%';")
        .unwrap();
    let url = format!(
        "mysql://shown@127.0.0.1:{}/sbtest?tls=on&ca={}",
        server.port(),
        ca.display()
    );
    let error = refused(&url);
    assert_eq!(error.code, "1045", "{error}");
    let (cert, key) = clients.client();
    let shown = format!("{url}&cert={}&key={}", cert.display(), key.display());
    assert!(cipher(shown).unwrap().starts_with("TLS_"));
}

/// A server whose certificate is as `openssl req -x509` makes it.
#[test]
fn a_self_signed_certificate_is_trusted_when_it_is_named() {
    let mut params = CertificateParams::new(vec!["localhost".into()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let files = Authority::new("some other authority");
    let (cert, key_file) = (files.file("server.pem"), files.file("server-key.pem"));
    fs::write(&cert, params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(&key_file, key.serialize_pem()).unwrap();
    let server = Server::builder(Kind::MariaDb)
        .setting("ssl-cert", cert.to_str().unwrap())
        .setting("ssl-key", key_file.to_str().unwrap())
        .start()
        .unwrap();
    let url = |host: &str, query: &str| {
        let port = server.port();
        format!("mysql://sbtest:sbtest@{host}:{port}/sbtest?{query}")
    };
    let own = format!("ca={}", cert.display());
    for (host, mode) in [("localhost", "on"), ("127.0.0.1", "verify-ca")] {
        let cipher = cipher(url(host, &format!("tls={mode}&{own}"))).unwrap();
        assert!(cipher.starts_with("TLS_"), "{host} {mode}: {cipher}");
    }
    let error = refused(&url("127.0.0.1", &format!("tls=on&{own}")));
    assert!(
        error.message.contains("for another host (localhost)"),
        "{error}"
    );
    let other = format!("tls=on&ca={}", files.file("ca.pem").display());
    let error = refused(&url("localhost", &other));
    assert_eq!(error.code, "tls", "{error}");
    let words = ["is self-signed", "ca=FILE", "with a CA", "tls=no-verify"];
    assert!(words.iter().all(|w| error.message.contains(w)), "{error}");
}

#[test]
fn tls_is_never_left_out_in_silence() {
    // The private servers speak TLS only when told to.
    let server = Server::mariadb().unwrap();
    for mode in ["on", "verify-ca", "no-verify"] {
        let ca = Authority::new("unused");
        let error = refused(&format!(
            "{}?tls={mode}&ca={}",
            server.url(),
            ca.file("ca.pem").display()
        ));
        assert_eq!(error.code, "tls", "{error}");
        assert!(error.message.contains("TLS refused"), "{error}");
    }
}

#[test]
fn sessions_are_spread_over_the_hosts() {
    let servers = [Server::mariadb().unwrap(), Server::mariadb().unwrap()];
    let [a, b] = servers.each_ref().map(Server::port);
    let url = format!("mysql://sbtest:sbtest@127.0.0.1:{a},127.0.0.1:{b}/sbtest");
    let connector =
        Connector::new(Target::parse(&url).unwrap(), ConnectOptions::default()).unwrap();
    let ports = run(async move {
        let mut ports = Vec::new();
        for number in 0..4 {
            let mut session = connector.connect(number).await.unwrap();
            ports.push(text(&mut session, "SELECT @@port").await);
        }
        ports
    });
    assert_eq!(ports, [a, b, a, b].map(|port| port.to_string()));
}
