//! Every family of workloads through the real PgBouncer, which gives server sessions out by
//! transaction: it works as text, and leaves nothing in them.

use super::common::Workdir;
use std::collections::BTreeSet;
use tidemark_core::Host;
use tidemark_testkit::{Database, Endpoint, PgBouncer, PoolMode, shared_postgres};

/// Server sessions: fewer than clients, and enough for a load's locks.
const POOL: u32 = 5;

struct Pool {
    database: Database,
    /// The database by way of the pooler.
    url: String,
    bouncer: PgBouncer,
    dir: Workdir,
}

impl Pool {
    fn new(purpose: &str, mode: PoolMode) -> Self {
        let server = shared_postgres().unwrap();
        let database = server.fresh_database(purpose).unwrap();
        // What a load lifts for itself and must leave to others.
        for limit in LIMITS {
            let sql = format!("ALTER DATABASE {} SET {limit} = '1h'", database.name());
            database.query(&sql).unwrap();
        }
        let bouncer = PgBouncer::start(server, mode, POOL).unwrap();
        Self {
            url: bouncer.url(database.endpoint()),
            database,
            bouncer,
            dir: Workdir::new(),
        }
    }

    /// A command of the family on this target, which must end well.
    fn ok(&self, words: &[&str]) -> String {
        let mut args = words.to_vec();
        args.extend(["--target", &self.url]);
        let said = self.dir.run(&args);
        assert_eq!(
            said.code,
            Some(0),
            "{args:?}: {}\n{}",
            said.all(),
            self.bouncer.log()
        );
        said.all()
    }

    /// All server sessions at once: none keeps what a client set or prepared.
    fn assert_nothing_stays(&self) {
        const STATE: &str = "SELECT pg_backend_pid(), \
             (SELECT COUNT(*) FROM pg_prepared_statements), \
             (SELECT string_agg(name || setting, ' ' ORDER BY name) FROM pg_settings \
             WHERE name LIKE '%timeout' AND context = 'user'), \
             current_setting('default_transaction_isolation'), current_setting('work_mem'), \
             (SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND database = \
             (SELECT oid FROM pg_database WHERE datname = current_database())), pg_sleep(1)";
        let by_pooler = Endpoint::from_url(&self.url).unwrap();
        let fresh = self.database.query(STATE).unwrap();
        let words = |line: &str| {
            line.trim()
                .split('\t')
                .map(String::from)
                .collect::<Vec<_>>()
        };
        let fresh = words(&fresh);
        let mut served = BTreeSet::new();
        std::thread::scope(|scope| {
            let asked: Vec<_> = (0..POOL)
                .map(|_| scope.spawn(|| by_pooler.query(STATE).unwrap()))
                .collect();
            for asked in asked {
                let state = words(&asked.join().unwrap());
                assert_eq!(state[1..], fresh[1..]);
                served.insert(state[0].clone());
            }
        });
        assert!(served.len() > 1, "{served:?}");
    }
}

/// Of every PostgreSQL since 14.
const LIMITS: [&str; 4] = [
    "statement_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
];

const OLTP: &[&str] = &[
    "sysbench",
    "oltp_read_write",
    "--tables=2",
    "--table-size=1000",
];

fn oltp<'a>(more: &[&'a str]) -> Vec<&'a str> {
    OLTP.iter().chain(more).copied().collect()
}

#[test]
fn sysbench_runs_as_text_and_says_so_where_it_can_not() {
    let pool = Pool::new("pooled_oltp", PoolMode::Transaction);
    pool.ok(&oltp(&["--threads=2", "prepare"]));
    let set = "--set-session=work_mem=5MB;default_transaction_isolation=repeatable read";
    pool.ok(&oltp(&[
        "--threads=12",
        "--events=400",
        "--time=0",
        "--db-ps-mode=disable",
        set,
        "run",
    ]));
    let record = pool.dir.last_record();
    // Of a setting that each transaction begins with, too.
    assert_eq!(record["isolation"], "repeatable-read");
    assert!(
        record["errors"].to_string().contains("40001"),
        "{}",
        record["errors"]
    );
    assert!(
        record["notes"].to_string().contains("a pooler"),
        "{}",
        record["notes"]
    );
    pool.assert_nothing_stays();

    let target = format!("--target={}", pool.url);
    let refused = pool.dir.run(&oltp(&["--time=1", &target, "run"]));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("--db-ps-mode=disable"), "{refused:?}");
    // Nothing was prepared that the next client would meet.
    pool.assert_nothing_stays();
    let wrong = [
        "--db-ps-mode=disable",
        "--set-session=work_mem=much",
        "--time=1",
        &target,
    ];
    let wrong = pool.dir.run(&oltp(&[&wrong[..], &["run"]].concat()));
    assert!(
        wrong.err.contains("--set-session work_mem=much"),
        "{wrong:?}"
    );
    pool.ok(&oltp(&["cleanup"]));
}

#[test]
fn doctor_tells_of_the_pooler_and_of_the_way_out() {
    let pool = Pool::new("pooled_doctor", PoolMode::Transaction);
    let said = pool.dir.ok(&["doctor", &pool.url]).all();
    assert!(said.contains("in transaction mode"), "{said}");
    assert!(said.contains("with --db-ps-mode=disable"), "{said}");
    assert!(!said.contains("(prepared)"), "{said}");
    assert!(said.contains("skipped  statements: a pooler"), "{said}");
    pool.assert_nothing_stays();
    let by_session = Pool::new("pooled_by_session", PoolMode::Session);
    let said = by_session
        .dir
        .ok(&["doctor", &by_session.url, "--quick"])
        .all();
    assert!(said.contains("in session mode"), "{said}");
    assert!(said.contains("drop a table (prepared)"), "{said}");
    let said = pool
        .dir
        .ok(&["doctor", &pool.database.url(), "--quick"])
        .all();
    assert!(!said.contains("pooler"), "{said}");
}

#[test]
fn tpcc_runs_with_its_isolation_level() {
    let pool = Pool::new("pooled_tpcc", PoolMode::Transaction);
    pool.ok(&["tpcc", "prepare", "--warehouses=1", "-T", "2"]);
    let run = ["tpcc", "run", "--warehouses=1", "-T", "8", "--count=200"];
    let more = ["--db-ps-mode=disable", "--isolation=repeatable-read"];
    pool.ok(&[&run[..], &more].concat());
    let record = pool.dir.last_record();
    assert_eq!(record["isolation"], "repeatable-read");
    // That level was in force: at the server's own nothing fails to be serialised.
    let errors = record["errors"].to_string();
    assert!(errors.contains("40001"), "{errors}");
    pool.ok(&["tpcc", "check", "--warehouses=1", "-T", "2"]);
    pool.assert_nothing_stays();
    a_workload_file_with_an_isolation_level_runs(&pool);
}

#[test]
fn tpch_answers_rightly_under_a_time_limit() {
    let pool = Pool::new("pooled_tpch", PoolMode::Transaction);
    pool.ok(&["tpch", "prepare", "--sf=0.01", "-T", "2"]);
    let run = [
        "tpch",
        "run",
        "--sf=0.01",
        "-T",
        "2",
        "--count=44",
        "--check",
    ];
    let said = pool.ok(&[&run[..], &["--query-timeout=60s"]].concat());
    assert!(said.contains("right"), "{said}");
    pool.assert_nothing_stays();
    // The limit is the server's: it is no client's that waits.
    let said = pool
        .dir
        .run(&[&run[..], &["--query-timeout=1ms", "--target", &pool.url]].concat());
    assert!(
        said.all().contains("gave up") || said.all().contains("time"),
        "{said:?}"
    );
    pool.ok(&["tpch", "run", "--sf=0.01", "--test=power"]);
    pool.assert_nothing_stays();
}

#[test]
fn ycsb_loads_and_runs() {
    let pool = Pool::new("pooled_ycsb", PoolMode::Transaction);
    pool.ok(&["ycsb", "load", "pg", "-P", "workloada", "--threads=2"]);
    for workload in ["workloada", "workloade"] {
        let run = [
            "ycsb",
            "run",
            "pg",
            "-P",
            workload,
            "-p",
            "operationcount=2000",
        ];
        pool.ok(&[&run[..], &["--threads=12", "--db-ps-mode=disable"]].concat());
    }
    pool.assert_nothing_stays();
}

#[test]
fn pgbench_runs_in_the_modes_that_prepare_nothing() {
    let pool = Pool::new("pooled_pgbench", PoolMode::Transaction);
    let target = format!("--target={}", pool.url);
    let run = |line: &str| {
        let mut args = vec!["pgbench", target.as_str()];
        args.extend(line.split_whitespace());
        pool.dir.run(&args)
    };
    let ok = |line: &str| {
        let said = run(line);
        let log = pool.bouncer.log();
        assert_eq!(said.code, Some(0), "{line}: {said:?}\n{log}");
    };
    let history = || {
        let rows = pool.database.query("SELECT COUNT(*) FROM pgbench_history");
        rows.unwrap().trim().to_string()
    };
    ok("-i -q");
    for mode in ["simple", "extended"] {
        // The history of the run before is emptied through the pooler, too.
        ok(&format!("-M {mode} -c 12 -t 20"));
        assert_eq!(history(), "240", "{mode}");
    }
    let piped = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\n";
    std::fs::write(pool.dir.path().join("piped.sql"), piped).unwrap();
    ok("-n -M extended -c 12 -t 5 -f piped.sql");
    ok("-n -S -C -c 4 -t 5");
    pool.assert_nothing_stays();
    let refused = run("-M prepared -c 2 -t 1");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for part in ["transaction mode", "-M simple or -M extended"] {
        assert!(refused.err.contains(part), "{part}: {refused:?}");
    }
    assert_eq!(history(), "240", "emptied by a run that was refused");
    pool.assert_nothing_stays();
}

#[test]
fn a_script_runs_as_text_and_says_so_where_it_can_not() {
    let pool = Pool::new("pooled_script", PoolMode::Transaction);
    let script = "require('oltp_common')\n\
        function prepare_statements()\n\
           prepare_begin() prepare_commit() prepare_point_selects() prepare_index_updates()\n\
        end\n\
        function event()\n\
           begin() execute_point_selects() execute_index_updates() commit()\n\
        end\n";
    std::fs::write(pool.dir.path().join("pooled.lua"), script).unwrap();
    let shape = ["sysbench", "pooled.lua", "--tables=2", "--table-size=500"];
    let with = |more: &[&'static str]| [&shape[..], more].concat();
    let text = "--db-ps-mode=disable";
    pool.ok(&with(&["--threads=2", text, "prepare"]));
    pool.ok(&with(&[
        "--threads=12",
        "--events=240",
        "--time=0",
        text,
        "run",
    ]));
    let record = pool.dir.last_record();
    assert_eq!(record["totals"]["all"]["count"], 240, "{record}");
    pool.assert_nothing_stays();
    pool.ok(&with(&[text, "cleanup"]));
    let gone = pool.database.query("SELECT to_regclass('sbtest2') IS NULL");
    assert_eq!(gone.unwrap().trim(), "t");
    pool.assert_nothing_stays();
    // What it prepares in one server session is not in the next.
    let refused = [&with(&["prepare"])[..], &["--target", &pool.url]].concat();
    let refused = pool.dir.run(&refused);
    assert!(!refused.is_done(), "{refused:?}");
    assert!(refused.err.contains("--db-ps-mode=disable"), "{refused:?}");
}

/// On tables that are loaded.
fn a_workload_file_with_an_isolation_level_runs(pool: &Pool) {
    let by_pooler = Endpoint::from_url(&pool.url).unwrap();
    let target = by_pooler.target();
    let Some(Host::Tcp { host, port }) = target.hosts.first() else {
        panic!("{target}")
    };
    let types = [
        "NewOrder",
        "Payment",
        "OrderStatus",
        "Delivery",
        "StockLevel",
    ]
    .map(|name| format!("<transactiontype><name>{name}</name></transactiontype>"));
    let file = format!(
        "<?xml version=\"1.0\"?><parameters><type>POSTGRES</type>\
         <driver>org.postgresql.Driver</driver>\
         <url>jdbc:postgresql://{host}:{port}/{}</url><username>{}</username>\
         <password>{}</password><isolation>TRANSACTION_SERIALIZABLE</isolation>\
         <scalefactor>1</scalefactor><terminals>4</terminals><loaderThreads>2</loaderThreads>\
         <works><work><time>1</time><rate>unlimited</rate><weights>45,43,4,4,4</weights></work>\
         </works><transactiontypes>{}</transactiontypes></parameters>",
        target.database,
        target.user,
        target.password.reveal(),
        types.concat(),
    );
    std::fs::write(pool.dir.path().join("w.xml"), file).unwrap();
    let run = ["oltpbench", "-c", "w.xml", "--execute"];
    pool.dir.ok(&[&run[..], &["--db-ps-mode=disable"]].concat());
    assert_eq!(pool.dir.last_record()["isolation"], "serializable");
    pool.assert_nothing_stays();
}
