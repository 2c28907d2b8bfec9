//! The statements that reach the server: ours, those of the sysbench that is installed, and those
//! that were observed of sysbench 1.0.20 (`tests/data/sysbench-sql`) are the same, in order.

use crate::it::contract::backend::workload;
use crate::it::contract::tool::{sysbench_ok, tables};
use std::fs;
use std::path::Path;
use tidemark_core::{PreparedMode, Protocol, Target};
use tidemark_drivers::{ConnectOptions, Connector, Dialect, Session, catalog};
use tidemark_runtime::block_on;
use tidemark_testkit::{SandboxEngine, Server};
use tidemark_workloads::TablePlan;

/// What sysbench 1.0.20 has; the rest of the registry is ours.
const SCRIPTS: &[&str] = &[
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_insert",
    "oltp_delete",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
    "bulk_insert",
];

/// A private server that logs every statement.
struct Logged {
    server: Server,
    target: Target,
}

impl Logged {
    fn start(engine: SandboxEngine) -> Logged {
        let builder = match engine {
            SandboxEngine::MariaDb => Server::builder(engine)
                .setting("log_output", "TABLE")
                .setting("general_log", "1"),
            SandboxEngine::Postgres => Server::builder(engine)
                .setting("log_statement", "all")
                .setting("log_line_prefix", "[%p] "),
        };
        let server = builder.start().unwrap();
        let target = Target::parse(&server.url()).unwrap();
        Logged { server, target }
    }

    fn is_mysql(&self) -> bool {
        self.target.protocol == Protocol::Mysql
    }

    /// Where the log stands now.
    fn mark(&self) -> usize {
        if self.is_mysql() {
            self.server
                .query("TRUNCATE TABLE mysql.general_log")
                .unwrap();
            return 0;
        }
        fs::read(self.server.log_path()).unwrap().len()
    }

    /// The statements logged since: `prepare …` and `execute …`, without values.
    fn since(&self, mark: usize) -> Vec<String> {
        if self.is_mysql() {
            self.mysql_log()
        } else {
            let log = fs::read(self.server.log_path()).unwrap();
            postgres_log(&String::from_utf8_lossy(&log[mark..]))
        }
    }

    /// The text of every query logged.
    fn mysql_texts(&self) -> String {
        let sql = "SELECT argument FROM mysql.general_log WHERE command_type = 'Query' \
                   AND argument NOT LIKE '%general_log%' ORDER BY event_time";
        self.server.query(sql).unwrap()
    }

    fn mysql_log(&self) -> Vec<String> {
        let sql = "SELECT CONCAT(command_type, ' ', REPLACE(argument, '\n', '\\\\n')) \
                   FROM mysql.general_log WHERE command_type IN ('Prepare', 'Execute', 'Query') \
                   AND argument NOT LIKE '%general_log%' ORDER BY event_time";
        let found = self.server.query(sql).unwrap();
        let lines = found.lines().filter_map(|line| line.split_once(' '));
        lines
            .map(|(command, text)| match command {
                "Prepare" => format!("prepare {}", text.trim()),
                _ => format!("execute {}", without_values(text.trim())),
            })
            .collect()
    }
}

/// `[pid] LOG:  statement: …` and `[pid] LOG:  execute NAME: …`, continued on lines with a tab.
fn postgres_log(log: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut open = false;
    for line in log.lines() {
        if let Some(more) = line.strip_prefix('\t') {
            if let Some(last) = statements.last_mut().filter(|_| open) {
                last.push_str("\\n");
                last.push_str(more);
            }
            continue;
        }
        let text = line.split_once("] LOG:  ").and_then(|(_, entry)| {
            let (what, text) = entry.split_once(": ")?;
            (what == "statement" || what.starts_with("execute ")).then_some(text)
        });
        open = text.is_some();
        statements.extend(text.map(str::to_string));
    }
    let bare = |s: &String| {
        let text = s.trim().trim_end_matches("\\n").trim();
        format!("execute {}", without_values(text))
    };
    statements.iter().map(bare).collect()
}

/// The text with `?` for each literal and parameter, and N for a table's number.
fn without_values(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let taken = match c {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '$' => 1 + digits(&rest[1..]),
            '-' if "(,= ".contains(before) && digits(&rest[1..]) > 0 => 1 + digits(&rest[1..]),
            _ if before.is_ascii_alphanumeric() || before == '_' => 0,
            _ => digits(rest),
        };
        if taken > 0 {
            out.push('?');
            before = '?';
            rest = &rest[taken..];
        } else if let Some(number) = rest.strip_prefix("sbtest") {
            out.push_str("sbtestN");
            before = 'N';
            rest = &number[digits(number)..];
        } else {
            out.push(c);
            before = c;
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// What the data file says of one workload.
fn observed(engine: SandboxEngine, name: &str) -> Vec<String> {
    let file = match engine {
        SandboxEngine::MariaDb => "mysql.txt",
        SandboxEngine::Postgres => "postgres.txt",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/sysbench-sql")
        .join(file);
    let text = fs::read_to_string(path).unwrap();
    let section = text.split(&format!("[{name}]\n")).nth(1).unwrap();
    let lines = section.lines().take_while(|l| !l.starts_with('['));
    lines.map(|l| l.trim_end().to_string()).collect()
}

fn without_prepares(statements: &[String]) -> Vec<String> {
    let executed = statements.iter().filter(|s| s.starts_with("execute "));
    executed.cloned().collect()
}

async fn open(target: Target, prepared: PreparedMode) -> Session {
    let options = ConnectOptions {
        prepared,
        ..ConnectOptions::default()
    };
    Connector::new(target, options)
        .unwrap()
        .connect(0)
        .await
        .unwrap()
}

/// One event of ours; four rows of `bulk_insert`.
fn our_event(logged: &Logged, name: &'static str, prepared: PreparedMode) -> Vec<String> {
    let target = logged.target.clone();
    let mark = logged.mark();
    let options = match name {
        "bulk_insert" => Vec::new(),
        _ => vec![("tables", &tables(name)[9..]), ("table-size", "20")],
    };
    block_on(async move {
        let mut session = open(target, prepared).await;
        let workload = workload(name, &options);
        let mut terminal = workload.terminal(0, 1, 1);
        let mut statements = workload.statements();
        statements.prepare(&mut session).await.unwrap();
        for _ in 0..events(name) {
            terminal
                .transaction(&mut session, &statements)
                .await
                .unwrap();
        }
        terminal.finish(&mut session).await.unwrap();
        session.close().await;
    })
    .unwrap();
    from_the_first(logged.since(mark))
}

fn events(name: &str) -> u32 {
    if name == "bulk_insert" { 4 } else { 1 }
}

/// What a driver asks when it connects is not the workload's.
fn from_the_first(statements: Vec<String>) -> Vec<String> {
    let ours = |s: &&String| s.contains("sbtest") || s.ends_with("BEGIN") || s.ends_with("COMMIT");
    statements.iter().filter(ours).cloned().collect()
}

fn sysbench_options(name: &str) -> Vec<&'static str> {
    if name == "bulk_insert" {
        return Vec::new();
    }
    vec![tables(name), "--table-size=20"]
}

fn sysbench_event(logged: &Logged, name: &str, mode: &str) -> Vec<String> {
    let mark = logged.mark();
    let events = format!("--events={}", events(name));
    let mode = format!("--db-ps-mode={mode}");
    let own = sysbench_options(name);
    let options = [
        own.as_slice(),
        &[events.as_str(), mode.as_str(), "--time=0"],
    ]
    .concat();
    sysbench_ok(&logged.target, name, &options, "run");
    logged.since(mark)
}

fn same_statements(engine: SandboxEngine) {
    let logged = Logged::start(engine);
    for name in SCRIPTS {
        let own = &sysbench_options(name);
        let observed = observed(engine, name);
        let fresh = || {
            sysbench_ok(&logged.target, name, own, "cleanup");
            sysbench_ok(&logged.target, name, own, "prepare");
        };
        fresh();
        assert_eq!(
            sysbench_event(&logged, name, "auto"),
            observed,
            "sysbench {name}"
        );
        fresh();
        let ours = our_event(&logged, name, PreparedMode::Server);
        // PostgreSQL logs what is executed only.
        assert_eq!(ours, observed, "{name}");
        fresh();
        let text = our_event(&logged, name, PreparedMode::Text);
        assert_eq!(text, without_prepares(&observed), "{name} as text");
    }
    assert_same_tables(&logged);
}

/// CREATE statements of both tools, in every variant that sysbench has.
fn assert_same_tables(logged: &Logged) {
    let mut variants: Vec<(&'static str, Vec<(&'static str, &'static str)>)> = vec![
        ("oltp_read_write", vec![]),
        ("oltp_read_write", vec![("auto-inc", "off")]),
        ("oltp_read_write", vec![("create-secondary", "off")]),
        ("bulk_insert", vec![]),
    ];
    if logged.is_mysql() {
        // A syntax error of sysbench's on PostgreSQL.
        variants.push(("oltp_read_write", vec![("secondary", "on")]));
        variants.push(("oltp_read_write", vec![("mysql-storage-engine", "myisam")]));
    }
    for (name, options) in variants {
        let given: Vec<String> = options.iter().map(|(n, v)| format!("--{n}={v}")).collect();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        for cleaned in SCRIPTS {
            sysbench_ok(
                &logged.target,
                cleaned,
                &sysbench_options(cleaned),
                "cleanup",
            );
        }
        let mark = logged.mark();
        sysbench_ok(&logged.target, name, &given, "prepare");
        let created = |s: &String| s.starts_with("execute CREATE");
        let theirs = logged.since(mark).into_iter().filter(created);
        // sysbench's bulk_insert takes a table that is there; ours must not mark it as its own.
        let theirs: Vec<_> = theirs.map(|s| s.replace("IF NOT EXISTS ", "")).collect();

        let dialect = block_on({
            let target = logged.target.clone();
            async move { open(target, PreparedMode::Server).await.dialect() }
        })
        .unwrap();
        let plans = workload(name, &options).tables(&dialect, 1).unwrap();
        if !logged.is_mysql() {
            // The primary key comes after the rows here: the tables must be the same in the end.
            assert_same_in_the_end(logged, &plans);
            continue;
        }
        let ours: Vec<_> = plans
            .iter()
            .flat_map(|p| p.create.iter().chain(&p.indexes))
            .map(|sql| {
                let line = sql.trim().replace('\n', "\\n");
                format!("execute {}", without_values(&line))
            })
            .collect();
        assert_eq!(ours, theirs, "{name} {options:?}");
    }
}

/// Describes sysbench's tables, drops them, makes ours, and describes those.
fn assert_same_in_the_end(logged: &Logged, plans: &[TablePlan]) {
    let target = logged.target.clone();
    let plans = plans.to_vec();
    block_on(async move {
        let mut session = open(target, PreparedMode::Server).await;
        for plan in &plans {
            let theirs = catalog::describe_table(&mut session, &plan.name)
                .await
                .unwrap();
            let drop = format!("DROP TABLE {}", plan.name);
            session.query(&drop).await.unwrap();
            for sql in plan.create.iter().chain(&plan.indexes) {
                session.query(sql).await.unwrap();
            }
            let ours = catalog::describe_table(&mut session, &plan.name)
                .await
                .unwrap();
            assert!(ours.is_some());
            assert_eq!(ours, theirs);
        }
    })
    .unwrap();
}

/// Of each group of statements of one kind, the tables that it names.
fn tables_of_groups(log: &str) -> Vec<Vec<u32>> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for text in log.lines().filter(|l| l.contains("sbtest")) {
        let number = text.split("sbtest").nth(1).unwrap();
        let end = number
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(number.len());
        // A DELETE and its INSERT are one group.
        let kind = without_values(text).replace(
            "INSERT INTO sbtestN (id, k, c, pad) VALUES (?, ?, ?, ?)",
            "DELETE FROM sbtestN WHERE id=?",
        );
        match groups.last_mut().filter(|(last, _)| *last == kind) {
            Some((_, tables)) => tables.push(number[..end].parse().unwrap()),
            None => groups.push((kind, vec![number[..end].parse().unwrap()])),
        }
    }
    groups.into_iter().map(|(_, tables)| tables).collect()
}

/// Eight groups (points, four ranges, two updates, DELETE and INSERT) that each stay on a table.
fn assert_groups(tool: &str, log: &str) {
    let groups = tables_of_groups(log);
    let lengths: Vec<_> = groups.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 3, 3, 3, 3, 3, 3, 6], "{tool}: {groups:?}");
    for tables in &groups {
        assert!(tables.iter().all(|t| t == &tables[0]), "{tool}: {groups:?}");
    }
    let first = groups[0][0];
    assert!(groups.iter().any(|g| g[0] != first), "{tool}: {groups:?}");
}

#[test]
fn mariadb_is_prewarmed_as_sysbench_does_it() {
    let logged = Logged::start(SandboxEngine::MariaDb);
    let size = "--table-size=20";
    for secondary in [false, true] {
        let option = format!("--secondary={}", if secondary { "on" } else { "off" });
        sysbench_ok(
            &logged.target,
            "oltp_read_only",
            &[size, &option],
            "prepare",
        );
        let value = if secondary { "on" } else { "off" };
        let options = [("table-size", "20"), ("secondary", value)];
        let dialect = Dialect::new(tidemark_core::Engine::Mariadb);
        let warmed = workload("oltp_read_only", &options).prewarm(&dialect);
        for sql in warmed.iter().flat_map(|t| &t.statements) {
            logged.server.query(&format!("USE sbtest; {sql}")).unwrap();
        }
        // sysbench asks for the primary key even where there is none, and fails.
        if !secondary {
            logged.mark();
            sysbench_ok(&logged.target, "oltp_read_only", &[size], "prewarm");
            let ours: Vec<_> = warmed[0].statements.iter().map(String::as_str).collect();
            let theirs = logged.mysql_texts();
            assert_eq!(theirs.lines().collect::<Vec<_>>(), ours);
        }
        sysbench_ok(&logged.target, "oltp_read_only", &[size], "cleanup");
    }
}

#[test]
fn a_group_of_statements_stays_on_its_table() {
    const COUNTS: [&str; 8] = [
        "point-selects",
        "simple-ranges",
        "sum-ranges",
        "order-ranges",
        "distinct-ranges",
        "index-updates",
        "non-index-updates",
        "delete-inserts",
    ];
    let logged = Logged::start(SandboxEngine::MariaDb);
    let mut given: Vec<String> = COUNTS.iter().map(|name| format!("--{name}=3")).collect();
    given.extend(
        [
            "--tables=30",
            "--table-size=20",
            "--events=1",
            "--db-ps-mode=disable",
        ]
        .map(Into::into),
    );
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    sysbench_ok(&logged.target, "oltp_read_write", &given, "prepare");
    logged.mark();
    sysbench_ok(&logged.target, "oltp_read_write", &given, "run");
    assert_groups("sysbench", &logged.mysql_texts());

    let target = logged.target.clone();
    let mut options: Vec<_> = COUNTS.iter().map(|name| (*name, "3")).collect();
    options.extend([("tables", "30"), ("table-size", "20")]);
    logged.mark();
    block_on(async move {
        let mut session = open(target, PreparedMode::Text).await;
        let workload = workload("oltp_read_write", &options);
        let mut terminal = workload.terminal(0, 1, 1);
        let mut statements = workload.statements();
        statements.prepare(&mut session).await.unwrap();
        terminal
            .transaction(&mut session, &statements)
            .await
            .unwrap();
        session.close().await;
    })
    .unwrap();
    assert_groups("ours", &logged.mysql_texts());
}

#[test]
fn mariadb_receives_what_sysbench_sends() {
    same_statements(SandboxEngine::MariaDb);
}

#[test]
fn postgres_receives_what_sysbench_sends() {
    same_statements(SandboxEngine::Postgres);
}

#[test]
fn values_are_taken_out() {
    for (text, bare) in [
        (
            "SELECT c FROM sbtest12 WHERE id=7",
            "SELECT c FROM sbtestN WHERE id=?",
        ),
        (
            "UPDATE sbtest1 SET k=k+1 WHERE id=$1",
            "UPDATE sbtestN SET k=k+? WHERE id=?",
        ),
        ("VALUES (-139, 6, '12-34')", "VALUES (?, ?, ?)"),
        (
            "CREATE INDEX k_1 ON sbtest1(k)",
            "CREATE INDEX k_1 ON sbtestN(k)",
        ),
    ] {
        assert_eq!(without_values(text), bare);
    }
}
