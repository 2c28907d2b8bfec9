//! A server that lets log in and then says nothing holds nobody up, and neither does a statement
//! without an end.

use super::common::{Said, Workdir, signal, wait_until};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidemark_testkit::{SandboxEngine, Server, shared};

/// What a command that is silenced may take: four times the connect time-out of a half second, the
/// lock's end, and the machine's own time.
const LONGEST: Duration = Duration::from_secs(20);
const QUICK: &str = "--connect-timeout=500ms";

/// A way to a server that passes so many of the server's messages on, and then those of a login alone.
struct Relay {
    left: Arc<AtomicI64>,
    was_silent: Arc<AtomicBool>,
    url: String,
}

impl Relay {
    fn before(engine: SandboxEngine, url: &str) -> Self {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (account, place) = rest.rsplit_once('@').unwrap();
        let (address, database) = place.split_once('/').unwrap();
        let to: SocketAddr = address.parse().unwrap();
        // What the server says until a session is open: a greeting and an OK; a challenge, its
        // answer and the rest.
        let login = match engine {
            SandboxEngine::MariaDb => 2,
            SandboxEngine::Postgres => 3,
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            left: Arc::new(AtomicI64::new(i64::MAX)),
            was_silent: Arc::default(),
            url: format!(
                "{scheme}://{account}@{}/{database}",
                listener.local_addr().unwrap()
            ),
        };
        let (left, was_silent) = (Arc::clone(&relay.left), Arc::clone(&relay.was_silent));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(to).unwrap();
                let (requests, out) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pass(requests, out, || true));
                let (left, was_silent) = (Arc::clone(&left), Arc::clone(&was_silent));
                let mut said = 0;
                let passes = move || {
                    said += 1;
                    let is_passed = left.fetch_sub(1, Ordering::SeqCst) > 0 || said <= login;
                    was_silent.fetch_or(!is_passed, Ordering::SeqCst);
                    is_passed
                };
                thread::spawn(move || pass(server, client, passes));
            }
        });
        relay
    }

    /// Goes silent after so many more messages.
    fn after(&self, messages: i64) {
        self.was_silent.store(false, Ordering::SeqCst);
        self.left.store(messages, Ordering::SeqCst);
    }

    fn is_silent(&self) -> bool {
        self.was_silent.load(Ordering::SeqCst)
    }
}

/// Passes bytes on until one end is closed; what is not to pass is swallowed.
fn pass(mut from: TcpStream, mut to: TcpStream, mut passes: impl FnMut() -> bool) {
    let mut buffer = [0; 65536];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if passes() && to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Every command that asks a server something outside a measurement, and what must be there before.
fn commands(url: &str) -> Vec<Vec<String>> {
    let target = format!("--target={url}");
    let sysbench = |command: &str| {
        let words = [
            "sysbench",
            "oltp_read_write",
            &target,
            "--table-size=200",
            "--time=1",
        ];
        // A run's sessions have a limit of their own to be ready.
        let words = words
            .into_iter()
            .chain(["--threads=2", "--thread-init-timeout=3", command]);
        words.map(String::from).collect::<Vec<_>>()
    };
    let tpcc = |command: &str| {
        let words = ["tpcc", &target, "--warehouses=1", command];
        words.map(String::from).to_vec()
    };
    vec![
        vec!["doctor".into(), url.into()],
        sysbench("prepare"),
        sysbench("run"),
        tpcc("check"),
        sysbench("cleanup"),
    ]
}

/// Makes what commands need, on the server itself.
fn make(work: &Workdir, url: &str, command: &[String]) {
    let straight = |words: &[&str]| {
        let target = format!("--target={url}");
        let mut all = words.to_vec();
        all.insert(words.len() - 1, &target);
        work.ok(&all);
    };
    let sysbench = ["sysbench", "oltp_read_write", "--table-size=200", "cleanup"];
    match command.last().unwrap().as_str() {
        "prepare" => straight(&sysbench),
        "run" | "cleanup" => {
            straight(&sysbench);
            straight(&["sysbench", "oltp_read_write", "--table-size=200", "prepare"]);
        }
        _ => {}
    }
}

fn run(work: &Workdir, command: &[String]) -> (Said, Duration) {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let said = work.run(&words);
    (said, begun.elapsed())
}

/// Does the same with every command, each with a way of its own to a database of its own. Beside each
/// other: most of the time they wait.
fn with_each_command<T: Send>(
    engine: SandboxEngine,
    test: impl Fn(&Workdir, &str, &Relay, &[String]) -> T + Sync,
) -> Vec<T> {
    let test = &test;
    thread::scope(|scope| {
        let begun: Vec<_> = (0..commands("").len())
            .map(|number| {
                scope.spawn(move || {
                    let database = shared(engine).unwrap().fresh_database("silent").unwrap();
                    let (url, work) = (database.url(), Workdir::new());
                    let relay = Relay::before(engine, &url);
                    let command = commands(&relay.url).swap_remove(number);
                    test(&work, &url, &relay, &command)
                })
            })
            .collect();
        begun.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn a_silent_server_holds_nobody(engine: SandboxEngine) {
    let silenced = with_each_command(engine, |work, url, relay, command| {
        let mut quick = command.to_vec();
        quick.insert(command.len() - 1, QUICK.into());
        let mut silenced = 0_usize;
        // In the midst of opening, at the first statement, and at later ones.
        for messages in [0, 4, 9, 25] {
            relay.after(i64::MAX);
            make(work, url, command);
            relay.after(messages);
            let (said, took) = run(work, &quick);
            let what = format!("{engine:?} after {messages}: {quick:?} in {took:?}: {said:?}");
            // A short command may end before.
            if !relay.is_silent() {
                continue;
            }
            silenced += 1;
            assert!(took < LONGEST, "{what}");
            assert!(!matches!(said.code, Some(0) | None), "{what}");
            let why = ["silent", "no reply within", "were ready after 3 s"];
            assert!(why.iter().any(|why| said.all().contains(why)), "{what}");
        }
        silenced
    });
    let silenced: usize = silenced.into_iter().sum();
    assert!(silenced >= 12, "{engine:?}: only {silenced} were silenced");
}

#[test]
fn a_mariadb_that_falls_silent_after_a_login_holds_nobody() {
    a_silent_server_holds_nobody(SandboxEngine::MariaDb);
}

#[test]
fn a_postgres_that_falls_silent_after_a_login_holds_nobody() {
    a_silent_server_holds_nobody(SandboxEngine::Postgres);
}

#[test]
fn one_signal_ends_what_waits_for_a_silent_server() {
    for engine in [SandboxEngine::MariaDb, SandboxEngine::Postgres] {
        with_each_command(engine, |work, url, relay, command| {
            relay.after(i64::MAX);
            make(work, url, command);
            // The first statement of a session that is open.
            relay.after(0);
            let mut patient = command.to_vec();
            patient.insert(command.len() - 1, "--connect-timeout=60s".into());
            let words: Vec<&str> = patient.iter().map(String::as_str).collect();
            let child = work.spawn(&words);
            wait_until("the server is asked something", || relay.is_silent());
            thread::sleep(Duration::from_millis(200));
            let begun = Instant::now();
            signal(child.id(), "INT");
            let said = Said::of(&child.wait_with_output().unwrap());
            let took = begun.elapsed();
            let what = format!("{engine:?}: {patient:?} in {took:?}: {said:?}");
            assert!(took < Duration::from_secs(6), "{what}");
            // A command that listens to no signal is ended by it.
            assert!(matches!(said.code, Some(130) | None), "{what}");
        });
    }
}

/// The other commands that ask a server something, as a relay's URL has them, and the files that they
/// read. None of them gets beyond its first statement, so that no tables are needed.
fn other_commands(engine: SandboxEngine, url: &str, work: &Workdir) -> Vec<String> {
    let target = format!("--target={url}");
    let point = ["sysbench", "oltp_point_select", &target, "--table-size=200"];
    let job = work.ok(&[&point[..], &["--time=1", "--print-job", "run"]].concat());
    let study = format!(
        "name = \"silent\"\ntime = 1\n[[target]]\nname = \"silent\"\nurl = \"{url}\"\n\
         [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 200 }}\n\
         [load]\nthreads = [1]\n"
    );
    let script = "function event() db_query('SELECT 1') end\n";
    for (file, text) in [
        ("job.json", job.out),
        ("study.toml", study),
        ("mine.lua", script.into()),
    ] {
        std::fs::write(work.path().join(file), text).unwrap();
    }
    let mut all = vec![
        "study run study.toml".to_string(),
        "exec job.json".into(),
        format!("watch {url} --time=1s"),
        format!("ycsb load --target={url} -P workloadc -p recordcount=200"),
        format!("ycsb run --target={url} -P workloadc -p recordcount=200"),
        format!("tpch --target={url} --sf=0.01 prepare"),
        format!("tpch --target={url} --sf=0.01 run"),
        format!("sysbench mine.lua --target={url} --time=1 run"),
        format!("diagnose sysbench oltp_point_select --target={url} --time=1 run"),
    ];
    if engine == SandboxEngine::Postgres {
        all.push(format!("pgbench --target={url} -i -q"));
        all.push(format!("pgbench --target={url} -S -T1"));
    }
    all
}

/// One command before a server that is silent from the first statement on, ended by one signal.
fn is_ended_by_one_signal(engine: SandboxEngine, url: &str, number: usize) {
    let relay = Relay::before(engine, url);
    relay.after(0);
    let work = Workdir::new();
    let line = other_commands(engine, &relay.url, &work).swap_remove(number);
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = work.command(&words);
    if words[0] == "exec" {
        let account = url.split_once("://").unwrap().1.rsplit_once('@').unwrap().0;
        let (_, password) = account.split_once(':').unwrap();
        command.env("MYSQL_PWD", password);
        command.env("PGPASSWORD", password);
    }
    let child = command.spawn().unwrap();
    wait_until(&line, || relay.is_silent());
    thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    let took = begun.elapsed();
    let what = format!("{engine:?}: {line} in {took:?}: {said:?}");
    assert!(took < Duration::from_secs(6), "{what}");
    assert!(matches!(said.code, Some(130) | None), "{what}");
}

#[test]
fn one_signal_ends_every_other_command_too() {
    for engine in [SandboxEngine::MariaDb, SandboxEngine::Postgres] {
        let database = shared(engine).unwrap().fresh_database("silent").unwrap();
        let url = database.url();
        let commands = other_commands(engine, &url, &Workdir::new()).len();
        // Beside each other: they wait for nothing but the server.
        thread::scope(|scope| {
            let url = &url;
            for number in 0..commands {
                scope.spawn(move || is_ended_by_one_signal(engine, url, number));
            }
        });
    }
}

/// A table that another session keeps locked: what is to change it waits.
struct Locked {
    server: Server,
    work: Workdir,
    target: String,
}

impl Locked {
    fn for_seconds(seconds: u32) -> (Self, thread::JoinHandle<()>) {
        let server = Server::mariadb().unwrap();
        let work = Workdir::new();
        let target = format!("--target={}", server.url());
        let locked = Self {
            server,
            work,
            target,
        };
        locked.work.ok(&locked.words("prepare", &[]));
        let url = locked.server.endpoint().clone();
        let holder = thread::spawn(move || {
            let sql = format!("LOCK TABLES sbtest1 WRITE; SELECT SLEEP({seconds}); UNLOCK TABLES");
            // Ended with the server.
            let _ = url.query(&sql);
        });
        wait_until("the table is locked", || {
            let processes = locked.server.query("SHOW PROCESSLIST").unwrap();
            processes.contains("SLEEP(")
        });
        (locked, holder)
    }

    fn words<'a>(&'a self, command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let words = [
            "sysbench",
            "oltp_read_write",
            &self.target,
            "--table-size=200",
        ];
        let words = words.into_iter().chain(more.iter().copied());
        words.chain([command]).collect()
    }
}

#[test]
fn a_statement_takes_as_long_as_it_may_and_no_longer() {
    // Far longer than a session may take to open: the server lives, so the drop is waited for.
    let (locked, holder) = Locked::for_seconds(4);
    let begun = Instant::now();
    locked.work.ok(&locked.words("cleanup", &[QUICK]));
    assert!(
        begun.elapsed() > Duration::from_secs(2),
        "nothing was locked"
    );
    holder.join().unwrap();
    drop(locked);

    let (locked, holder) = Locked::for_seconds(40);
    let begun = Instant::now();
    let said = locked
        .work
        .run(&locked.words("cleanup", &["--setup-timeout=1s"]));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}: {said:?}");
    assert_ne!(said.code, Some(0), "{said:?}");
    for words in ["--setup-timeout", "1 s"] {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
    drop(locked);
    holder.join().unwrap();
}
