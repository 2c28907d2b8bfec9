//! `tidemark pgbench` beside the real pgbench, on a real PostgreSQL.

mod failures;
mod tables;

use super::common::{Said, Workdir, pauses};
use std::path::PathBuf;
use std::process::Command;
use tidemark_core::{Host, Target};
use tidemark_testkit::{Database, shared_postgres};

/// pgbench of the newest version that is there.
fn program() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").unwrap();
    let mut found: Vec<PathBuf> = versions
        .map(|folder| folder.unwrap().path().join("bin/pgbench"))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found
        .pop()
        .expect("pgbench is part of PostgreSQL's package")
}

struct Bench {
    dir: Workdir,
    database: Database,
}

impl Bench {
    fn new(purpose: &str) -> Self {
        Self {
            dir: Workdir::new(),
            database: shared_postgres().unwrap().fresh_database(purpose).unwrap(),
        }
    }

    /// Tidemark's.
    fn run(&self, line: &str) -> Said {
        let url = format!("--target={}", self.database.url());
        let mut args = vec!["pgbench", &url];
        args.extend(line.split_whitespace());
        self.dir.run(&args)
    }

    fn ok(&self, line: &str) -> Said {
        let said = self.run(line);
        assert_eq!(said.code, Some(0), "{line}: {said:?}");
        said
    }

    /// The real one.
    fn real(&self, line: &str) -> Said {
        let target = Target::parse(&self.database.url()).unwrap();
        let Some(Host::Tcp { host, port }) = target.hosts.first() else {
            panic!("{target} has no TCP address");
        };
        let ran = Command::new(program())
            .current_dir(self.dir.path())
            .env("PGPASSWORD", target.password.reveal())
            .args(["-h", host, "-p", &port.to_string(), "-U", &target.user])
            .args(line.split_whitespace())
            .arg(&target.database)
            .output()
            .unwrap();
        Said::of(&ran)
    }

    fn real_ok(&self, line: &str) -> Said {
        let said = self.real(line);
        assert_eq!(said.code, Some(0), "pgbench {line}: {said:?}");
        said
    }

    fn script(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn value(&self, sql: &str) -> String {
        self.database.query(sql).unwrap().trim().to_string()
    }
}

/// What stands behind a label of the summary.
fn stated(out: &str, label: &str) -> String {
    let line = out.lines().find(|line| line.starts_with(label));
    let line = line.unwrap_or_else(|| panic!("no {label}: {out}"));
    line[label.len()..]
        .trim_start_matches([':', '=', ' '])
        .into()
}

/// Labels of a summary, without figures.
fn shape(out: &str) -> Vec<String> {
    let from = out
        .lines()
        .skip_while(|l| !l.starts_with("transaction type"));
    from.map(|line| {
        let words = line.split_whitespace();
        let words = words.map(|w| w.trim_matches(|c: char| "()%/".contains(c)));
        let plain = words.filter(|w| !w.starts_with(|c: char| c.is_ascii_digit()));
        plain.collect::<Vec<_>>().join(" ")
    })
    .collect()
}

#[test]
fn tables_and_summaries_are_those_of_pgbench_both_ways() {
    let bench = Bench::new("pgbench_both_ways");
    bench.ok("-i -q -s 1 --foreign-keys");
    for run in [
        "-c 2 -j 1 -t 20 -r",
        "-S -M prepared -c 2 -j 1 -t 20",
        "-N -c 1 -t 10 -L 1000",
        "-b tpcb-like@2 -b select-only@1 -c 2 -j 2 -t 30 --max-tries=5 --failures-detailed",
        "-S -R 500 -L 900 -c 2 -j 1 -T 1",
    ] {
        let (theirs, ours) = (bench.real_ok(run), bench.ok(run));
        assert_eq!(
            shape(&ours.out),
            shape(&theirs.out),
            "{run}\n{theirs:?}\n{ours:?}"
        );
    }
    // And tables of pgbench's own.
    bench.real_ok("-i -q -s 2");
    let said = bench.ok("-c 2 -t 25");
    assert_eq!(stated(&said.out, "scaling factor"), "2");
    assert_eq!(
        stated(&said.out, "number of transactions actually processed"),
        "50/50"
    );
    assert_eq!(bench.value("SELECT COUNT(*) FROM pgbench_history"), "50");
    let sums = "SELECT (SELECT SUM(abalance) FROM pgbench_accounts) = (SELECT SUM(delta) FROM \
                pgbench_history) AND (SELECT SUM(bbalance) FROM pgbench_branches) = (SELECT \
                SUM(tbalance) FROM pgbench_tellers)";
    assert_eq!(bench.value(sums), "t");
    // Its history is not ours to empty.
    let said = bench.ok("-t 1");
    assert!(
        said.err
            .contains("pgbench_history has 50 rows that Tidemark did not load: its rows are kept"),
        "{said:?}"
    );
    assert_eq!(bench.value("SELECT COUNT(*) FROM pgbench_history"), "51");
}

/// As pgbench does it: `-t` is for each client, also for one that is slow.
#[test]
fn each_client_does_its_own_transactions() {
    let bench = Bench::new("pgbench_each");
    bench.database.query("CREATE TABLE did (who int)").unwrap();
    let script =
        "\\if :client_id = 0\n\\sleep 20 ms\n\\endif\nINSERT INTO did VALUES (:client_id);\n";
    bench.script("slow.sql", script);
    let done =
        "SELECT string_agg(n::text, ',') FROM (SELECT COUNT(*) AS n FROM did GROUP BY who) AS d";
    for more in ["", "-R 200"] {
        bench.database.query("TRUNCATE did").unwrap();
        bench.ok(&format!("-n -c 3 -j 2 -t 10 -f slow.sql {more}"));
        assert_eq!(bench.value(done), "10,10,10", "{more}");
    }
}

#[test]
fn scripts_branch_store_sleep_and_send_pipelines() {
    let bench = Bench::new("pgbench_scripts");
    bench
        .database
        .query("CREATE TABLE seen (what text, n int)")
        .unwrap();
    let scripts = [
        (
            "branch.sql",
            "\\set n 2\n\\if :n = 1\nINSERT INTO seen VALUES ('one', :n);\n\\elif :n = 2\n\
             INSERT INTO seen VALUES ('two', :n);\n\\else\nINSERT INTO seen VALUES ('other', :n);\n\
             \\endif\n",
        ),
        (
            "gset.sql",
            "SELECT 4 AS four, NULL AS none \\gset p_\nSELECT 1 AS a WHERE false \\aset\n\
             \\set sum :p_four + 1\n\\sleep 1 ms\nINSERT INTO seen VALUES ('gset', :sum);\n",
        ),
        (
            "pipe.sql",
            "\\startpipeline\nINSERT INTO seen VALUES ('pipe', 1);\n\\set x 7\n\
             INSERT INTO seen VALUES ('pipe', :x);\n\\endpipeline\n",
        ),
    ];
    for (name, text) in scripts {
        bench.script(name, text);
    }
    for mode in ["simple", "extended", "prepared"] {
        bench.ok(&format!("-n -M {mode} -t 3 -f branch.sql"));
        bench.ok(&format!("-n -M {mode} -t 3 -f gset.sql"));
        if mode != "simple" {
            bench.ok(&format!("-n -M {mode} -t 3 -f pipe.sql --out={mode}.json"));
        }
    }
    // A pause is the script's own.
    bench.script("pause.sql", "\\sleep 10 ms\nSELECT 1;\n");
    let said = bench.ok("-n -c 4 -t 60 -f pause.sql --out=pause.json");
    let record = std::fs::read(bench.dir.path().join("pause.json")).unwrap();
    let record = serde_json::from_slice(&record).unwrap();
    pauses::are_the_scripts_own(&record, &said, 2400.0);
    // A pipeline is one, and two statements.
    let record = std::fs::read(bench.dir.path().join("extended.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let statements = &record["totals"]["statements"];
    assert_eq!(statements["write"].as_u64(), Some(6), "{statements}");
    assert_eq!(statements["round_trips"].as_u64(), Some(3), "{statements}");
    let count = |what: &str, n: i64| {
        bench.value(&format!(
            "SELECT COUNT(*) FROM seen WHERE what = '{what}' AND n = {n}"
        ))
    };
    assert_eq!(count("two", 2), "9");
    assert_eq!(count("gset", 5), "9");
    assert_eq!(
        (count("pipe", 1), count("pipe", 7)),
        ("6".into(), "6".into())
    );
    let others = "SELECT COUNT(*) FROM seen WHERE what IN ('one', 'other')";
    assert_eq!(bench.value(others), "0");
    // Results of several statements at once.
    bench.script(
        "several.sql",
        "SELECT 4 AS four \\; SELECT 5 AS five \\aset\nINSERT INTO seen VALUES ('sum', :four + :five);\n",
    );
    bench.ok("-n -t 1 -f several.sql");
    assert_eq!(count("sum", 9), "1");
    // Weights.
    bench.script("a.sql", "INSERT INTO seen VALUES ('a', 0);\n");
    bench.script("b.sql", "INSERT INTO seen VALUES ('b', 0);\n");
    let said = bench.ok("-n -t 300 -f a.sql@3 -f b.sql@1 --random-seed=5");
    let b: u32 = count("b", 0).parse().unwrap();
    assert!((45..=105).contains(&b), "{b} of 300: {said:?}");
    assert_eq!(count("a", 0), (300 - b).to_string());
    // What goes wrong is named with its place.
    bench.script("wrong.sql", "SELECT 1;\n\\set x 1 / :zero\n");
    let said = bench.run("-n -t 1 -D zero=0 -f wrong.sql");
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("division by zero"), "{said:?}");
    assert!(said.err.contains("command 2"), "{said:?}");
    bench.script("bad.sql", "\\seet x 1\n");
    let said = bench.run("-n -t 1 -f bad.sql");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(
        said.err.contains("bad.sql:1: unknown command \\seet"),
        "{said:?}"
    );
}

/// Expressions, of which the values are compared with pgbench's own.
const EXPRESSIONS: &[&str] = &[
    "5 / 3",
    "-5 / 3",
    "-5 % 3",
    "5 % -3",
    "7.0 / 2",
    "1 / 3.0",
    "1e300 * 1e10",
    "1.0 / 0",
    "2 + 3 * 4 - 1",
    "2 - 3 - 4",
    "- - 3",
    "-2 * -3",
    "+ 4",
    "1 | 2 + 4",
    "~1 + 2",
    "~1 | 4",
    "1 << 2 << 1",
    "-8 >> 1",
    "1 # 3 & 2",
    "1 << 64",
    "5 = 5.0",
    "5 <> 4",
    "5 != 5",
    "1 + 1 = 2 and 2 < 3 or false",
    "not 1 = 2",
    "not null",
    "null and false",
    "false and null",
    "null or true",
    "true or null",
    "1 is null",
    "1 is true",
    "true is true",
    "true is not false",
    "null isnull",
    "1 notnull",
    "1 is not null is true",
    "null = null",
    "null + 1",
    "case when 0 then 1 when 2.5 then 2 else 3 end",
    "case when null then 1 end",
    "case when true then null else 1 end",
    "abs(-17)",
    "abs(-1.5)",
    "double(5432)",
    "exp(1.0)",
    "ln(2.718281828459045)",
    "sqrt(2)",
    "pow(2, 10)",
    "power(2.0, 0.5)",
    "pi()",
    "greatest(5, 4, 3, 2)",
    "greatest(1, 2.5)",
    "least(5, 4, 3, 2.1)",
    "least(null, 1)",
    "mod(54, 32)",
    "mod(-54, 32)",
    "int(5.4 + 3.8)",
    "int(2.5)",
    "int(3.5)",
    "int(-2.5)",
    "hash(10, 5432)",
    "hash_fnv1a(10, 5432)",
    "hash_murmur2(-1, 7)",
    "hash(3)",
    "permute(0, 1)",
    "permute(5, 8, 1)",
    "permute(0, 100, 5432)",
    "permute(99, 100, 5432)",
    "permute(12345, 1000000, 77)",
    "permute(-5, 1000, 3)",
    "permute(7, 1024)",
    "random(3, 3)",
    ":client_id + :scale",
    ":text + 1",
    ":word",
    "123456789012345678",
    "0.1 + 0.2",
    "1e15 + 0.0",
    "1e-5 * 1",
    "9223372036854775807",
    "-9223372036854775808",
];

/// Expressions that end the run.
const WITHOUT_VALUE: &[&str] = &[
    "9223372036854775807 + 1",
    "-9223372036854775808 / -1",
    "1 / 0",
    "1 % 0",
    "true + 1",
    "5 or 0",
    "true = true",
    "int(1e30)",
    "random(2, 1)",
    "random_gaussian(1, 2, 1.0)",
    "random_zipfian(1, 2, 1.0)",
    "permute(1, 0)",
    ":nothing",
];

/// What `debug()` prints, line by line.
fn debugged(said: &Said) -> Vec<&str> {
    let lines = said.err.lines().filter(|l| l.starts_with("debug("));
    lines.filter_map(|l| Some(l.split_once("): ")?.1)).collect()
}

#[test]
fn expressions_have_pgbenchs_values() {
    let bench = Bench::new("pgbench_expressions");
    let line = "-n -t 1 -D text=41.5 -D word=true -D default_seed=5432 -f e.sql";
    let set = |expression: &&str| format!("\\set x debug({expression})\n");
    bench.script("e.sql", &EXPRESSIONS.iter().map(set).collect::<String>());
    let (theirs, ours) = (bench.real_ok(line), bench.ok(line));
    let (theirs, ours) = (debugged(&theirs), debugged(&ours));
    assert_eq!(theirs.len(), EXPRESSIONS.len());
    assert_eq!(ours.len(), EXPRESSIONS.len());
    for ((expression, theirs), ours) in EXPRESSIONS.iter().zip(theirs).zip(ours) {
        assert_eq!(ours, theirs, "{expression}");
    }
    for expression in WITHOUT_VALUE {
        bench.script("e.sql", &set(expression));
        let (theirs, ours) = (bench.real(line), bench.run(line));
        let codes = (theirs.code, ours.code);
        assert_eq!(codes, (Some(2), Some(1)), "{expression}: {ours:?}");
        assert_eq!(debugged(&theirs), debugged(&ours), "{expression}");
    }
}

#[test]
fn logs_are_read_back() {
    let bench = Bench::new("pgbench_logs");
    bench.ok("-i -q");
    bench.ok("-S -c 2 -t 100 -l --log-prefix=each -R 5000");
    bench.ok("-S -c 2 -T 2 -l --log-prefix=sum --aggregate-interval=1");
    let file = |prefix: &str| {
        let files = std::fs::read_dir(bench.dir.path()).unwrap();
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        let name = names.into_iter().find(|n| n.starts_with(prefix)).unwrap();
        (
            std::fs::read_to_string(bench.dir.path().join(&name)).unwrap(),
            name,
        )
    };
    let (text, each) = file("each.");
    assert_eq!(text.lines().count(), 200);
    assert!(text.lines().all(|l| l.split(' ').count() == 7), "{text}");
    let imported = bench.dir.ok(&["import", &each, "--explain"]);
    assert!(imported.out.contains("pgbench-log"), "{imported:?}");
    let (text, sum) = file("sum.");
    assert!(text.lines().all(|l| l.split(' ').count() == 15), "{text}");
    let imported = bench.dir.ok(&["import", &sum, "--explain"]);
    assert!(imported.out.contains("pgbench-log"), "{imported:?}");
    // As it was recorded.
    let said = bench.dir.ok(&["show", "last", "--json"]);
    assert!(said.out.contains("pgbench"), "{said:?}");
}

#[test]
fn rates_progress_and_limits_are_told() {
    let bench = Bench::new("pgbench_rates");
    bench.ok("-i -q");
    let said = bench.ok("-S -c 2 -T 3 -R 50 -P 1 -L 5000 --max-tries=3");
    let lines: Vec<&str> = said
        .err
        .lines()
        .filter(|l| l.starts_with("progress: "))
        .collect();
    assert!((2..=4).contains(&lines.len()), "{said:?}");
    for part in [
        " tps, lat ",
        " stddev ",
        " failed, lag ",
        " skipped, ",
        " retried, ",
    ] {
        assert!(lines.iter().all(|l| l.contains(part)), "{part}: {lines:?}");
    }
    let done: u64 = stated(&said.out, "number of transactions actually processed")
        .parse()
        .unwrap();
    assert!((30..=300).contains(&done), "{said:?}");
    assert!(
        said.out.contains("rate limit schedule lag: avg"),
        "{said:?}"
    );
    let said = bench.ok("-S -t 5 -C");
    assert!(
        said.out.contains("(including reconnection times)"),
        "{said:?}"
    );
    // Everything is late for a session that sleeps, and is not begun.
    bench.script("slow.sql", "\\sleep 300 ms\nSELECT 1;\n");
    let said = bench.ok("-n -c 1 -T 3 -R 50 -L 20 -f slow.sql");
    let skipped = stated(&said.out, "number of transactions skipped");
    let skipped: u64 = skipped.split(' ').next().unwrap().parse().unwrap();
    assert!(skipped >= 20, "{said:?}");
}

#[test]
fn serialization_failures_are_counted_or_tried_again() {
    let bench = Bench::new("pgbench_failures");
    bench.database.query("CREATE TABLE one (n int)").unwrap();
    bench.database.query("INSERT INTO one VALUES (0)").unwrap();
    bench.script(
        "clash.sql",
        "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM one;\n\\sleep 2 ms\n\
         UPDATE one SET n = n + 1;\nEND;\n",
    );
    let said = bench.ok("-n -c 4 -t 25 -f clash.sql --failures-detailed -l -r");
    let done = stated(&said.out, "number of transactions actually processed");
    let done: u64 = done.split('/').next().unwrap().parse().unwrap();
    let failed = stated(&said.out, "number of serialization failures");
    let failed: u64 = failed.split(' ').next().unwrap().parse().unwrap();
    assert!(failed > 0, "{said:?}");
    assert_eq!(done + failed, 100, "{said:?}");
    assert_eq!(bench.value("SELECT n FROM one"), done.to_string());
    assert!(said.out.contains("UPDATE one SET n = n + 1;"), "{said:?}");
    let said = bench.ok("-n -c 4 -t 25 -f clash.sql --max-tries=1000");
    assert_eq!(
        stated(&said.out, "number of transactions actually processed"),
        "100/100",
        "{said:?}"
    );
    assert_eq!(bench.value("SELECT n FROM one"), (done + 100).to_string());
    assert_ne!(
        stated(&said.out, "total number of retries"),
        "0",
        "{said:?}"
    );
}

#[test]
fn a_run_is_recorded_and_made_again_from_its_record() {
    let bench = Bench::new("pgbench_again");
    bench.ok("-i -q");
    bench.script("mine.sql", "SELECT :n;\n");
    bench.ok("-c 2 -t 10 -D n=3 -f mine.sql@2 -S --out=run.json --report=run.md");
    let record = std::fs::read_to_string(bench.dir.path().join("run.json")).unwrap();
    assert!(record.contains("SELECT :n;"), "the script is not kept");
    let report = std::fs::read_to_string(bench.dir.path().join("run.md")).unwrap();
    assert!(
        report.contains("mine.sql") && report.contains("select-only"),
        "{report}"
    );
    // The file need not be there any more.
    std::fs::remove_file(bench.dir.path().join("mine.sql")).unwrap();
    let password = Target::parse(&bench.database.url()).unwrap().password;
    let mut exec = bench.dir.command(&["exec", "--from", "last"]);
    let done = exec.env("PGPASSWORD", password.reveal()).output().unwrap();
    let said = Said::of(&done);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("SQL script 1: mine.sql"), "{said:?}");
    bench.dir.ok(&["audit", "last"]);
    bench.dir.ok(&["report", "last"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = Workdir::new();
    for (words, code, said) in [
        (
            "--target=sqlite:a.db -S",
            2,
            "PostgreSQL, YugabyteDB and CockroachDB only",
        ),
        (
            "--target=mysql://u@h/d -i",
            2,
            "PostgreSQL, YugabyteDB and CockroachDB only",
        ),
        ("--cliemt=3", 2, "did you mean --client?"),
        ("-h 127.0.0.1 -p 1 -U u -S", 4, ""),
    ] {
        let mut args = vec!["pgbench"];
        args.extend(words.split_whitespace());
        let ran = dir.run(&args);
        assert_eq!(ran.code, Some(code), "{words}: {ran:?}");
        assert!(ran.err.contains(said), "{words}: {ran:?}");
    }
    for (name, value) in [
        ("PGSSLMODE", "requre"),
        ("PGDATABASE", "postgres://u:pw@h/d"),
    ] {
        let mut command = dir.command(&["pgbench", "-h", "127.0.0.1", "-U", "u", "-S"]);
        let ran = Said::of(&command.env(name, value).output().unwrap());
        assert_eq!(ran.code, Some(2), "{name}: {ran:?}");
        assert!(
            ran.err.contains(name) && !ran.err.contains("u:pw"),
            "{name}: {ran:?}"
        );
    }
    let bench = Bench::new("pgbench_nothing");
    let said = bench.run("-S -t 1");
    assert_eq!(said.code, Some(6), "{said:?}");
    assert!(said.err.contains("tidemark pgbench -i"), "{said:?}");
}

#[test]
fn every_example_of_its_page_is_a_run_or_a_load() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("my.sql"), "SELECT 1;\n").unwrap();
    let page = dir.ok(&["pgbench", "--help"]).out;
    let examples: Vec<&str> = page
        .lines()
        .filter_map(|line| line.trim().split_once("tidemark pgbench "))
        .map(|(_, words)| words)
        .filter(|words| words.contains("-T ") || words.contains("-i "))
        .collect();
    assert!(examples.len() >= 4, "{page}");
    for words in examples {
        let mut args = vec!["pgbench"];
        args.extend(words.split_whitespace());
        args.push("--print-job");
        let job = dir.ok(&args).out;
        assert!(job.contains("\"pgbench\""), "{words}: {job}");
    }
}
