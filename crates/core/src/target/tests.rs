//! What targets are read from, shown as, and refused for.

use super::*;

#[test]
fn libpqs_keys_are_taken_or_told_what_stands_for_them() {
    let unix = |url: &str| match &Target::parse(url).unwrap().hosts[0] {
        Host::Unix(path) => path.display().to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(
        unix("postgres://b@:5418/db?host=/dir"),
        "/dir/.s.PGSQL.5418"
    );
    assert_eq!(
        unix("postgres://b@/db?host=/dir&port=5419"),
        "/dir/.s.PGSQL.5419"
    );
    assert_eq!(unix("postgres://b@/db?host=/dir"), "/dir/.s.PGSQL.5432");
    let shown = |url: &str| Target::parse(url).unwrap().to_string();
    assert_eq!(
        shown("postgres://b@:5418/db"),
        "postgres://b@127.0.0.1:5418/db"
    );
    assert_eq!(
        shown("postgres://b@h/db?port=5418"),
        "postgres://b@h:5418/db"
    );
    assert_eq!(
        shown("postgres://h/x?user=b&password=geheim&dbname=db"),
        "postgres://b:***@h:5432/db"
    );
    assert_eq!(
        shown("postgres://b@h/db?sslmode=verify-ca&sslrootcert=/a&sslcert=/c&sslkey=/k"),
        "postgres://b@h:5432/db?tls=verify-ca&ca=/a&cert=/c&key=/k"
    );
    for (query, words) in [
        ("sslmode=require", "tls=no-verify"),
        ("sslmode=prefer", "tls=on or tls=off"),
        ("sslmode=x", "must be disable"),
        ("connect_timeout=5", "--connect-timeout=10s"),
        ("options=-c%20x=1", "--set-session="),
        ("application_name=x", "remove it"),
        ("port=0", "1 to 65535"),
    ] {
        let said = Target::parse(&format!("postgres://b@h/db?{query}")).unwrap_err();
        assert!(said.to_string().contains(words), "{said}");
    }
}

use proptest::prelude::*;

#[test]
fn several_hosts_share_the_sessions() {
    let t = Target::parse("mysql://u:p%40w@h1:4000,h2/db").unwrap();
    assert_eq!(t.password.reveal(), "p@w");
    assert_eq!(t.host_for(0).unwrap().to_string(), "h1:4000");
    assert_eq!(t.host_for(1).unwrap().to_string(), "h2:3306");
    assert_eq!(t.host_for(2).unwrap().to_string(), "h1:4000");
    assert_eq!(t.to_string(), "mysql://u:***@h1:4000,h2:3306/db");
}

#[test]
fn sockets_ipv6_and_tls() {
    let t = Target::parse("postgres://u@/db?host=/run/pg").unwrap();
    assert_eq!(t.hosts, [Host::Unix("/run/pg/.s.PGSQL.5432".into())]);
    let t = Target::parse("mysql://u@[::1]:3307/db?tls=on&ca=/ca.pem").unwrap();
    assert_eq!(
        t.hosts,
        [Host::Tcp {
            host: "::1".into(),
            port: 3307
        }]
    );
    assert_eq!(t.tls, TlsMode::VerifyFull);
    assert!(Target::parse("mysql://u@[fe80::1%eth0]/db").is_ok());
    assert_eq!(Target::parse("sqlite:a.db").unwrap().database, "a.db");
}

#[test]
fn paths_are_shown_as_a_url_can_name_them() {
    let t = Target::parse("postgres://user@/db?host=/var/run,mysql:/").unwrap();
    let shown = "postgres://user@/db?socket=/var/run%2Cmysql://.s.PGSQL.5432";
    assert_eq!(t.to_string(), shown);
    assert_eq!(Target::parse(shown).unwrap(), t);
    let t = Target::parse("mysql://u@h/db?ca=/a%26tls=off%23 %25,b@c%3Fd&cert=/证书").unwrap();
    assert_eq!(t.ca.as_deref(), Some("/a&tls=off# %,b@c?d".as_ref()));
    let shown = t.to_string();
    assert!(
        shown.ends_with("ca=/a%26tls=off%23%20%25%2Cb%40c%3Fd&cert=/证书"),
        "{shown}"
    );
    assert_eq!(Target::parse(&shown).unwrap(), t);
}

#[test]
fn a_host_is_one_name() {
    for (url, words) in [
        ("mysql://u@h/db?host=a,b", "\"a,b\""),
        ("mysql://u@h/db?host=a%2Fb", "\"a/b\""),
        ("mysql://u@a b/db", "\"a b\""),
        ("mysql://u@[::1]3306/db", "unexpected 3306"),
        ("mysql://u@[zz]/db", "an IPv6 address, such as [::1]"),
        ("mysql://u@[127.0.0.1]/db", "an IPv6 address, such as [::1]"),
        ("mysql://u@/db?host=[zz]", "an IPv6 address, such as [::1]"),
    ] {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn errors_never_show_the_password() {
    for url in [
        "mysql://u:geheim/x@h/db",
        "mysql://u:geheim?x@h/db",
        "mysqk://u:geheim@h/db",
        "mysql://u:geheim@h:99999/db",
        "mysql://u:geheim@h/db?tsl=on",
        "u:geheim@h/db",
        "mysql:u:geheim@h",
        "mysql:/u:geheim@h",
        "mysql//u:geheim@h",
        "u:geheim@tcp(h)/db",
        "u:geheim://x@h/db",
        "host=h password=geheim",
        "mysql://u:geheim",
        "mysql://u:geheim/db",
        "mysql://u:geheim?tls=on",
        "mysql://u@corp:geheim/db",
        "mysql://u:p@s/geheim@h/db",
        "mysql://u2:p@s/s:w?o#r%d é&[geheim]@h/db",
        "mysql://u:p@s?tls=geheim@h/db",
        "mysql://u:p@s?role=geheim@h/db",
        "mysql://u:p@s?tls=on&tls=geheim@h/db",
        "mysql://u:p@[geheim?x@h/db",
    ] {
        let e = Target::parse(url).unwrap_err().to_string();
        assert!(!e.contains("geheim"), "{e}");
        assert!(e.contains("for example"), "{e}");
    }
    assert!(
        Target::parse("mysqk://h/db")
            .unwrap_err()
            .to_string()
            .contains("mysql?")
    );
}

#[test]
fn a_password_that_is_not_escaped_is_told_how() {
    for url in [
        "u:pw@h/db",
        "mysql://u:pw",
        "mysql://u:p@s/s@h/db",
        "mysql://u:p@s/s?o@h/db",
        "mysql://u:p/w@h/db",
    ] {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains("@ is %40"), "{error}");
    }
}

#[test]
fn a_key_is_given_once_and_with_a_value() {
    for (url, words) in [
        ("mysql://u@h/db?tls=on&tls=off", "tls is given twice"),
        ("mysql://u@h/db?role=read&role=any", "role is given twice"),
        ("mysql://u@/db?socket=", "write socket=/run/mysqld/"),
        ("postgres://u@/db?host=", "write host=/run/postgresql"),
        ("mysql://u@h/db?tls=on&ca=", "ca= is empty"),
        ("mysql://u@h/db?sslmode=require", "write tls=no-verify"),
        ("mysql://u@h/db?ssl-ca=/x", "did you mean ca?"),
    ] {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn examples_are_of_the_protocol_that_was_meant() {
    for (url, example) in [
        (
            "postgres://u@h/db?sslmode=require",
            "for example postgres://",
        ),
        ("host=h user=u", "for example postgres://"),
        (
            "postgres://u@h/d,postgres://v@h/d",
            "for example postgres://",
        ),
        ("mysql://u@h/db?ssl=on", "for example mysql://"),
        ("sqllite:x.db", "for example sqlite:"),
        ("u@h", "for example mysql://"),
    ] {
        let error = Target::parse(url).unwrap_err().to_string();
        assert!(error.contains(example), "{error}");
    }
}

proptest! {
    #[test]
    fn shown_targets_parse_again(user in "[a-z@:/ é]{1,8}", db in "[a-z?&= ]{1,8}", port in 1u16..) {
        let given = Target {
            protocol: Protocol::Mysql,
            hosts: vec![Host::Tcp { host: "h".into(), port }],
            readers: vec![Host::Tcp { host: "r".into(), port: 1 }],
            user, password: Secret::default(), database: db,
            tls: TlsMode::VerifyCa, ca: None, cert: None, key: None,
        };
        prop_assert_eq!(Target::parse(&given.to_string()).unwrap(), given);
    }
}
