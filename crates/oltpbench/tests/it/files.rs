//! Files as users have them, and files with mistakes.
use std::time::Duration;
use tidemark_core::{Arrivals, Host, Isolation, Protocol, TlsMode};
use tidemark_oltpbench::{DatabaseKind, Rate, TPCC, WorkloadFile};

const YUGABYTE: &str = include_str!("../files/yugabyte.xml");
const RUNTIME: &str = include_str!("../files/yugabyte_runtime.xml");
const BENCHBASE: &str = include_str!("../files/benchbase.xml");

fn read(text: &str) -> WorkloadFile {
    WorkloadFile::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

fn tcp(host: &str, port: u16) -> Host {
    Host::Tcp {
        host: host.into(),
        port,
    }
}

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

#[test]
fn a_file_of_the_yugabyte_client() {
    let file = read(YUGABYTE);
    assert_eq!(file.database.kind, Some(DatabaseKind::Postgres));
    assert_eq!(file.isolation, Some(Isolation::RepeatableRead));
    assert_eq!((file.terminals, file.scale_factor), (None, None));
    assert_eq!(file.batch_size, Some(128));
    assert_eq!(
        (file.timing.keying, file.timing.think),
        (Some(true), Some(true))
    );
    assert_eq!(file.foreign_keys_after_load, Some(true));
    assert_eq!(file.connection_timeout, Some(seconds(180)));
    let kinds: Vec<_> = file.transactions.iter().map(|t| (t.kind, t.id)).collect();
    assert_eq!(kinds, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    let [work] = file.works.as_slice() else {
        panic!("{:?}", file.works)
    };
    assert_eq!((work.time, work.warmup), (seconds(1800), Duration::ZERO));
    assert_eq!(work.rate, Rate::PerSecond(10_000.0));
    assert_eq!(work.arrivals, Arrivals::Constant);
    assert_eq!(work.weights, [45.0, 43.0, 4.0, 4.0, 4.0]);
    let remarks: Vec<_> = file.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        ["line 17: <useStoredProcedures> has no effect here: transactions are prepared statements"]
    );
    let target = file.database.target(&["n1", "n2:7000", "[::1]"]).unwrap();
    assert_eq!(target.protocol, Protocol::Postgres);
    assert_eq!(
        target.hosts,
        [tcp("n1", 5433), tcp("n2", 7000), tcp("::1", 5433)]
    );
    assert_eq!(
        (target.user.as_str(), target.database.as_str()),
        ("bench", "shop")
    );
    assert_eq!(target.password.reveal(), "gehe&im");
    assert!(!format!("{file:?}{target}").contains("gehe"));
    let here = file.database.target(&[]).unwrap();
    assert_eq!(here.hosts, [tcp("127.0.0.1", 5433)]);
}

#[test]
fn a_file_of_newer_yugabyte_clients() {
    let file = read(RUNTIME);
    let [work] = file.works.as_slice() else {
        panic!("{:?}", file.works)
    };
    assert_eq!(
        (work.time, work.rate),
        (seconds(600), Rate::PerSecond(10_000.0))
    );
    assert_eq!(work.weights, [45.0, 43.0, 4.0, 4.0, 4.0]);
    assert_eq!(file.remarks.len(), 2);
    assert_eq!(file.isolation, None);
    let target = file.database.target(&[]).unwrap();
    assert_eq!(target.hosts, [tcp("127.0.0.1", 5433)]);
    assert_eq!(target.tls, TlsMode::Disabled);
    assert!(target.password.is_empty());
}

#[test]
fn a_file_of_benchbase() {
    let file = read(BENCHBASE);
    assert_eq!(file.isolation, Some(Isolation::ReadCommitted));
    assert_eq!((file.terminals, file.loader_threads), (Some(20), Some(4)));
    assert_eq!((file.scale_factor, file.seed), (Some(2.0), Some(17)));
    let kinds: Vec<_> = file.transactions.iter().map(|t| (t.kind, t.id)).collect();
    assert_eq!(kinds, [(1, 7), (0, 2), (4, 3)]);
    assert_eq!(file.transactions[2].before, Some(seconds(2)));
    assert_eq!(file.transactions[2].after, Some(seconds(5)));
    let rates: Vec<_> = file.works.iter().map(|w| w.rate).collect();
    assert_eq!(
        rates,
        [Rate::Unlimited, Rate::PerSecond(250.0), Rate::Disabled]
    );
    assert_eq!(file.works[0].weights, [49.5, 50.0, 0.0, 0.0, 0.5]);
    assert_eq!(file.works[0].warmup, seconds(5));
    assert_eq!(file.works[1].weights, [0.0, 0.0, 0.0, 0.0, 100.0]);
    assert_eq!(file.works[1].arrivals, Arrivals::Poisson);
    assert_eq!(file.works[1].active_terminals, Some(5));
    let target = file.database.target(&[]).unwrap();
    assert_eq!(target.protocol, Protocol::Mysql);
    assert_eq!(target.hosts, [tcp("db1", 3307), tcp("db2", 3307)]);
    assert_eq!(
        (target.database.as_str(), target.tls),
        ("shop", TlsMode::Disabled)
    );
    let [remark] = file.remarks.as_slice() else {
        panic!("{:?}", file.remarks)
    };
    assert!(remark.text.contains("useServerPrepStmts"), "{remark}");
}

/// A whole file with `inner` among its elements.
fn with(inner: &str) -> String {
    format!("<parameters>\n{inner}\n</parameters>")
}

/// A whole file with `inner` in its one phase.
fn work(inner: &str) -> String {
    with(&format!("<works>\n<work>{inner}</work>\n</works>"))
}

const REST: &str = "<time>5</time><weights>45,43,4,4,4</weights>";

#[test]
fn mistakes_name_element_line_value_what_is_allowed_and_an_example() {
    let duplicate = "<transactiontypes><transactiontype><name>Payment</name></transactiontype>\
                     <transactiontype><name>payment</name></transactiontype></transactiontypes>";
    for (text, said) in [
        (
            with("<isolation>TRANSACTION_REPEATABLE_RED</isolation>"),
            "line 2: <isolation>TRANSACTION_REPEATABLE_RED</isolation>: must be \
             TRANSACTION_READ_UNCOMMITTED, TRANSACTION_READ_COMMITTED, \
             TRANSACTION_REPEATABLE_READ, TRANSACTION_SERIALIZABLE; did you mean \
             TRANSACTION_REPEATABLE_READ?; for example \
             <isolation>TRANSACTION_REPEATABLE_READ</isolation>",
        ),
        (
            with("<port>70000</port>"),
            "line 2: <port>70000</port>: must be a whole number from 1 to 65535; for example \
             <port>5432</port>",
        ),
        (
            with("<dbtype>oracle</dbtype>"),
            "<dbtype>oracle</dbtype>: must be postgres,",
        ),
        (with("<dbtype>postgras</dbtype>"), "did you mean postgres?"),
        (
            with("<terminals>ten</terminals>"),
            "<terminals>ten</terminals>: must be a whole",
        ),
        (
            with("<scalefactor>-1</scalefactor>"),
            "must be a number above 0",
        ),
        (
            with("<scalefactor>NaN</scalefactor>"),
            "must be a number above 0",
        ),
        (
            with("<useThinkTime>maybe</useThinkTime>"),
            "must be true or false",
        ),
        (
            with("<works></works>"),
            "line 2: <works> has no <work>; for example <work><time>",
        ),
        (
            work(REST),
            "line 3: <work> has no <rate>; for example <rate>unlimited</rate>",
        ),
        (
            work("<rate>5</rate><weights>45,43,4,4,4</weights>"),
            "<work> has no <time>; for example <time>60</time>",
        ),
        (
            work("<rate>5</rate><time>5</time>"),
            "<work> has no <weights>",
        ),
        (
            work(&format!("<rate>fast</rate>{REST}")),
            "<rate>fast</rate>: must be disabled, unlimited, or a number of transactions",
        ),
        (work(&format!("<rate>0</rate>{REST}")), "above 0"),
        (
            work("<rate>5</rate><time>0</time>"),
            "a whole number from 1",
        ),
        (
            work("<rate>5</rate><time>5</time><weights>45,43,4,4</weights>"),
            "<weights>45,43,4,4</weights>: must be 5 numbers, one for each <transactiontype>",
        ),
        (
            work("<rate>5</rate><time>5</time><weights>45,43,4,4,5</weights>"),
            "weights with a sum of 100, not 101",
        ),
        (
            work("<rate>5</rate><time>5</time><weights>45,x,4,4,5</weights>"),
            "numbers from 0 to 100",
        ),
        (
            work("<serial>true</serial>"),
            "terminals run at the same time",
        ),
        (
            with("<works><work arrival=\"often\"/></works>"),
            "<arrival>often</arrival>: must be regular, poisson",
        ),
        (
            with(
                "<transactiontypes><transactiontype><name>NewOder</name></transactiontype></transactiontypes>",
            ),
            "did you mean NewOrder?",
        ),
        (
            with("<transactiontypes><transactiontype/></transactiontypes>"),
            "<transactiontype> has no <name>",
        ),
        (
            with("<transactiontypes/>"),
            "<transactiontypes> has no <transactiontype>",
        ),
        (
            with(duplicate),
            "<transactiontype>Payment</transactiontype>: must be each name",
        ),
        (
            with("<url>postgresql://h/db</url>"),
            "line 2: <url>…</url>: must be a JDBC URL: it begins with jdbc:",
        ),
        (
            with("<url>jdbc:oracle:thin:@h</url>"),
            "jdbc: and one of postgres",
        ),
        (
            with("<dbtype>mysql</dbtype><DBUrl>jdbc:postgresql://h/db</DBUrl>"),
            "<dbtype>mysql</dbtype>: must be the protocol of its URL, postgresql",
        ),
        (
            "<parameter/>".into(),
            "line 1: <parameter>: a workload file begins with <parameters>",
        ),
    ] {
        let error = WorkloadFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}\n{error}");
    }
}

#[test]
fn what_is_no_xml_is_told_by_its_place() {
    for (text, said) in [
        ("", "begins with <parameters>"),
        (
            "<parameters>\n<port>1</prt>",
            "line 2, column 8: the end of <port> is expected here",
        ),
        ("<parameters>\n<port>1", "ends before its elements do"),
        (
            "<parameters>\na & b</parameters>",
            "line 2, column 3: an & in a value is written &amp;",
        ),
        (
            "<!DOCTYPE x [<!ENTITY a \"b\">]><parameters>&a;</parameters>",
            "<!DOCTYPE",
        ),
        ("port=5432", "line 1, column 1"),
        (
            "<parameters><a b=\"1\" b=\"2\"/></parameters>",
            "an attribute is given twice",
        ),
        (
            "<parameters><!-- a -- b --></parameters>",
            "must not have --",
        ),
    ] {
        let error = WorkloadFile::parse(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}\n{error}");
    }
}

#[test]
fn no_message_repeats_a_password() {
    for password in [
        "geh<eim",
        "geh&eim",
        "geh&eim;x",
        "</geheim>",
        "geh\u{1}eim",
        "<!geheim",
    ] {
        let said = match WorkloadFile::parse(&with(&format!("<password>{password}</password>"))) {
            Ok(file) => format!("{file:?}"),
            Err(error) => error.to_string(),
        };
        assert!(
            !said.contains("geh") && !said.contains("eim"),
            "{password}: {said}"
        );
    }
    for url in [
        "jdbc:postgresql://u:geheim@h:x/db",
        "jdbc:postgresql://u:geh?eim@h/db",
        "jdbc:mysql://h/db?password=geheim&amp;sslmode=geheim",
        "jdbc:mysql://h/db?password=geheim&amp;ssl=true",
        "jdbd:mysql://h/db?password=geheim",
        // What follows may be the rest of a password that was not escaped.
        "jdbc:mysql://h/db?user=u&amp;password=x&amp;geheim&amp;eim=1",
        // Accounts as other drivers have them.
        "jdbc:oracle:thin:scott/geheim@h:1521:sid",
        "jdbc:oracle:thin:scott/geheim@//h:1521/service",
        "jdbc:db2://h:50000/db:user=u;password=geheim;",
        "jdbc:sqlserver://h:1433;databaseName=db;user=u;password=geheim",
        "jdbc:geheim:x",
        // And at the wrong place of those that are known.
        "jdbc:mysql:u:geheim@h/db",
        "jdbc:mysql:/u:geheim@h/db",
        "jdbc:mysql//u:geheim@h/db",
        "jdbc:postgresql://h/db;password=geheim",
        "jdbc:mariadb://h:1/u:geheim@h/db",
        "jdbc:mysql://u:12/geheim@h/db",
    ] {
        for element in ["url", "dbtype", "DBName", "port", "isolation"] {
            let xml = with(&format!("<{element}>{url}</{element}>"));
            let said = match WorkloadFile::parse(&xml) {
                Ok(file) => {
                    let target = file.database.target(&[]).unwrap();
                    let remarks: Vec<_> = file.remarks.iter().map(ToString::to_string).collect();
                    format!("{file:?} {remarks:?} {target} {target:?}")
                }
                Err(error) => error.to_string(),
            };
            // The kind of database is no secret.
            let said = said.replace("jdbc:geheim:…", "");
            assert!(
                !said.contains("geh") && !said.contains("eim"),
                "<{element}>{url}: {said}"
            );
        }
    }
    let file = read(&with("<dbtype>mysql</dbtype><DBName>db</DBName>"));
    let said = file.database.target(&["u:geheim@h:x"]).unwrap_err();
    assert!(said.to_string().starts_with("…@h:x: a port"), "{said}");
}

#[test]
fn what_is_not_known_is_said_with_the_nearest_name() {
    let file = read(&with(
        "<isolaton>x</isolaton>\n<DBNAME>x</DBNAME>\n<skew>1</skew>\n<port>1</port><port>2</port>\n\
         <works><work arival=\"x\"><time>1</time><rate>1</rate><weights>100,0,0,0,0</weights>\
         <warmpu>1</warmpu></work></works>",
    ));
    let remarks: Vec<_> = file.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        [
            "line 2: unknown element <isolaton> is ignored; did you mean <isolation>?",
            "line 3: unknown element <DBNAME> is ignored; did you mean <DBName>?",
            "line 4: unknown element <skew> is ignored",
            "line 5: duplicate <port>, first in line 5; this one is ignored",
            "line 6: unknown attribute arival is ignored; did you mean arrival?",
            "line 6: unknown element <warmpu> is ignored; did you mean <warmup>?",
        ]
    );
    assert_eq!(file.database.port, Some(1));
    assert_eq!(file.transactions.len(), TPCC.len());
}

#[test]
fn what_a_target_needs_is_asked_for() {
    let target = |inner: &str, nodes: &[&str]| {
        let file = read(&with(inner));
        file.database.target(nodes).unwrap_err().to_string()
    };
    let said = target("<DBName>d</DBName>", &[]);
    assert_eq!(
        said,
        "line 1: <parameters> has no <dbtype>; for example <dbtype>postgres</dbtype>"
    );
    assert!(target("<dbtype>mysql</dbtype>", &[]).contains("<DBName>tpcc</DBName>"));
    assert!(target("<type>sqlite</type>", &[]).contains("jdbc:sqlite:tpcc.db"));
    let url = "<url>jdbc:mysql://h/d</url>";
    assert!(target(url, &["h:0"]).contains("h:0: a port is a number from 1 to 65535"));
    assert!(target(url, &["a b"]).contains("for example h1,h2:5433"));
}

#[test]
fn jdbc_urls_say_where_the_database_is() {
    let shown = |url: &str| {
        let url = url.replace('&', "&amp;");
        let file = read(&with(&format!("<url>{url}</url>")));
        file.database.target(&[]).unwrap().to_string()
    };
    for (url, target) in [
        (
            "jdbc:postgresql://h1:5433,h2/db",
            "postgres://@h1:5433,h2:5433/db",
        ),
        ("jdbc:postgresql:db", "postgres://@127.0.0.1:5432/db"),
        (
            "jdbc:yugabytedb://h/db?load-balance=true",
            "postgres://@h:5433/db",
        ),
        (
            "jdbc:postgresql://h/db?user=u&password=p&sslmode=verify-ca&sslrootcert=/ca.pem",
            "postgres://u:***@h:5432/db?tls=verify-ca&ca=/ca.pem",
        ),
        (
            "jdbc:mysql:loadbalance://a,b/db",
            "mysql://@a:3306,b:3306/db",
        ),
        (
            "jdbc:mysql://u:p@h/db?useSSL=true",
            "mysql://u:***@h:3306/db?tls=verify-full",
        ),
        (
            "jdbc:mysql://h/db?sslMode=VERIFY_IDENTITY",
            "mysql://@h:3306/db?tls=verify-full",
        ),
        (
            "jdbc:mariadb://[::1]:4000/a%20b",
            "mysql://@[::1]:4000/a%20b",
        ),
        (
            "jdbc:mariadb://h/db?sslMode=trust&useSSL=true",
            "mysql://@h:3306/db?tls=no-verify",
        ),
        ("jdbc:sqlite:bench.db?journal_mode=wal", "sqlite:bench.db"),
        ("jdbc:sqlite:file:bench.db", "sqlite:bench.db"),
    ] {
        assert_eq!(shown(url), target);
    }
}
