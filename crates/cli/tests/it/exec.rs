//! Runs as values: printed, executed, made again; and their schemas.

use super::common::{Said, Workdir, loaded};
use serde_json::Value;
use std::fs;
use tidemark_testkit::{Endpoint, shared_mariadb};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The job that the newest record holds, but for what another run of it has otherwise.
fn last_job(work: &Workdir) -> Value {
    let mut job = work.last_record()["job"].clone();
    job["outputs"] = Value::Null;
    job["watch"] = Value::Null;
    job
}

/// A command line's job runs, the run can be made again from its record, and all are the same run: the
/// record tells the same job, and a comparison finds repeats.
fn runs_again(work: &Workdir, line: &[&str]) {
    let printed = work.ok(&[line, &["--print-job"]].concat()).out;
    assert!(work.run(&["runs"]).out.is_empty() || printed.starts_with('{'));
    fs::write(work.path().join("job.json"), &printed).unwrap();
    work.ok(&["exec", "job.json"]);
    let first = last_job(work);
    let mut asked = json(&printed);
    asked["outputs"] = Value::Null;
    asked["watch"] = Value::Null;
    assert_eq!(first, asked);
    work.ok(&["exec", "--from", "last"]);
    assert_eq!(last_job(work), first);
    // What the tool's own command line asks for is a repeat of it, too.
    let record = work.last_record();
    let command = record["command"].as_array().unwrap();
    let command: Vec<&str> = command.iter().map(|w| w.as_str().unwrap()).collect();
    if command[1] != "exec" {
        work.ok(&command[1..]);
        assert_eq!(last_job(work), first, "{command:?}");
    }
}

#[test]
fn every_tools_run_is_made_again_exactly() {
    let work = Workdir::new();
    let target = "--target=sqlite:a.db";
    let sysbench = ["sysbench", target, "--table-size=200", "--tables=2"];
    work.ok(&[&sysbench[..], &["oltp_read_write", "prepare"]].concat());
    let more = [
        "--events=50",
        "--threads=2",
        "--percentile=50,99",
        "oltp_read_write",
        "run",
    ];
    runs_again(&work, &[&sysbench[..], &more].concat());
    let tpcc = ["tpcc", "--target=sqlite:c.db", "--warehouses=1"];
    loaded::warehouse(&work, "c.db");
    runs_again(&work, &[&tpcc[..], &["--count=20", "-T2", "run"]].concat());
    let tpch = ["tpch", "--target=sqlite:h.db", "--sf=0.01"];
    loaded::tpch_file(&work, "h.db");
    let power = ["--test=power", "--refresh=off", "run"];
    runs_again(&work, &[&tpch[..], &power].concat());
    let ycsb = [
        "sqlite",
        "-Pworkloada",
        "-psqlite.db=y.db",
        "-precordcount=100",
    ];
    work.ok(&[&["ycsb", "load"][..], &ycsb].concat());
    runs_again(
        &work,
        &[&["ycsb", "run"][..], &ycsb, &["-poperationcount=50"]].concat(),
    );
}

/// A command that loads prints its job in the place of doing it, and the job does the same.
#[test]
fn every_tools_load_is_a_job() {
    let work = Workdir::new();
    let target = "--target=sqlite:a.db";
    let sysbench = ["sysbench", "oltp_read_write", target, "--table-size=200"];
    let ycsb = ["-P", "workloada", "-p", "recordcount=300", target];
    for (load, rows) in [
        ([&sysbench[..], &["prepare"]].concat(), 200),
        ([&["ycsb", "load"], &ycsb[..]].concat(), 300),
        (vec!["tpch", "prepare", "--sf=0.01", target], 60_175),
    ] {
        let printed = work.ok(&[&load[..], &["--print-job"]].concat()).out;
        let asked = json(&printed);
        assert_eq!(asked["prepare"]["replace"], false, "{printed}");
        fs::write(work.path().join("load.json"), &printed).unwrap();
        let said = work.ok(&["exec", "load.json"]);
        assert!(said.out.contains(&format!(": {rows} rows")), "{said:?}");
        // The tables are there now, and the job does not say that they may go.
        let again = work.run(&["exec", "load.json"]);
        assert_eq!(again.code, Some(5), "{again:?}");
        let mut asked = asked;
        asked["prepare"]["replace"] = true.into();
        fs::write(work.path().join("load.json"), asked.to_string()).unwrap();
        work.ok(&["exec", "load.json"]);
    }
    // A tool whose loads are no jobs.
    let mut job = json(
        &work
            .ok(&[&sysbench[..], &["--print-job", "prepare"]].concat())
            .out,
    );
    job["tool"]["name"] = "oltpbench".into();
    job["tool"]["settings"] = serde_json::json!({});
    job["workload"] = serde_json::json!({"name": "tpcc"});
    fs::write(work.path().join("load.json"), job.to_string()).unwrap();
    let refused = work.run(&["exec", "load.json"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("oltpbench"), "{refused:?}");
}

#[test]
fn the_phases_of_a_workload_file_are_a_list_of_jobs() {
    let work = Workdir::new();
    let file = "<parameters><type>SQLITE</type><url>jdbc:sqlite:a.db</url>\
                <scalefactor>1</scalefactor><terminals>2</terminals><works>\
                <work><time>1</time><rate>unlimited</rate><weights>45,43,4,4,4</weights></work>\
                <work><time>1</time><rate>20</rate><weights>20,20,20,20,20</weights></work>\
                </works></parameters>";
    fs::write(work.path().join("w.xml"), file).unwrap();
    loaded::warehouse(&work, "a.db");
    let execute = ["oltpbench", "-c", "w.xml", "--execute=true"];
    let printed = work.ok(&[&execute[..], &["--print-job"]].concat()).out;
    assert_eq!(json(&printed).as_array().unwrap().len(), 2);
    fs::write(work.path().join("jobs.json"), &printed).unwrap();
    let said = work.ok(&["exec", "jobs.json"]);
    assert_eq!(said.out.matches("tidemark show").count(), 2, "{}", said.out);
    let second = last_job(&work);
    assert_eq!(second["load"]["pacing"]["rate"], 20.0);
    work.ok(&["exec", "--from", "last"]);
    assert_eq!(last_job(&work), second);
}

/// On a loaded warehouse, whose server the flags name.
pub fn a_password_is_in_no_job_and_is_asked_for_where_it_is_missing(
    work: &Workdir,
    name: &str,
    server: &Endpoint,
    flags: &[String],
) {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let password = server.target().password.reveal();
    assert!(!password.is_empty(), "servers of tests have passwords");
    let variable = match name {
        "mariadb" => "MYSQL_PWD",
        _ => "PGPASSWORD",
    };
    let tpcc = [&["tpcc"][..], &flags, &["--warehouses=1", "--count=5"]].concat();
    let job = work.ok(&[&tpcc[..], &["--print-job", "run"]].concat()).out;
    // The account's name may be the same word.
    let secret = format!(":{password}@");
    assert!(!job.contains(&secret), "{job}");
    assert_eq!(json(&job)["target"]["password"]["env"], variable);
    work.ok(&[&tpcc[..], &["run"]].concat());
    let record = work.ok(&["show", "last", "--json"]).out;
    assert!(!record.contains(&secret), "{record}");
    assert!(
        record.contains("sbtest") && !record.contains("\"password\": \""),
        "{record}"
    );
    let said = work.run(&["exec", "--from", "last"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("target.password:"), "{said:?}");
    assert!(said.err.contains(variable), "{said:?}");
    let mut with = work.command(&["exec", "--from", "last"]);
    let said = Said::of(&with.env(variable, password).output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    // Flags or a URL: it is the same run, and the two are repeats of each other.
    let listed = work.ok(&["runs"]).out;
    let ids = listed.lines().filter(|line| line.starts_with('0'));
    let ids: Vec<&str> = ids.filter_map(|line| line.split(' ').next()).collect();
    let compared = work.ok(&["compare", ids[1], ids[0]]);
    for differing in ["driver", "conn-params", "user", "host", "target"] {
        assert!(!compared.all().contains(differing), "{compared:?}");
    }
}

#[test]
fn the_same_run_goes_to_another_database_and_to_other_files() {
    let work = Workdir::new();
    let shape = ["sysbench", "oltp_point_select", "--table-size=100"];
    let at = |target: &'static str, words: &[&str]| {
        work.ok(&[&shape[..], &[target], words].concat());
    };
    at("--target=sqlite:a.db", &["prepare"]);
    at("--target=sqlite:b.db", &["prepare"]);
    at(
        "--target=sqlite:a.db",
        &["--events=20", "--out=a.json", "--report=a.md", "run"],
    );
    // The files of before are left alone.
    fs::remove_file(work.path().join("a.json")).unwrap();
    let again = ["exec", "--from", "last", "--target", "sqlite:b.db"];
    work.ok(&[&again[..], &["--out", "b.json", "--report", "b.md"]].concat());
    assert!(!work.path().join("a.json").exists());
    let record = json(&fs::read_to_string(work.path().join("b.json")).unwrap());
    assert_eq!(record["target"], "sqlite:b.db");
    assert!(work.path().join("b.md").exists());
    // A record's file will do, too.
    work.ok(&["exec", "--from", "b.json"]);
}

#[test]
fn what_is_no_job_runs_nothing() {
    let work = Workdir::new();
    let job = work
        .ok(&[
            "sysbench",
            "oltp_read_only",
            "--target=sqlite:a.db",
            "--print-job",
            "run",
        ])
        .out;
    let cut = &job[..job.len() / 2];
    let newer = job.replace("\"version\": 1", "\"version\": 99");
    let secret = job.replace("sqlite:a.db", "mysql://u:geheim@127.0.0.1/d");
    let unknown = job.replace("\"terminals\"", "\"treminals\"");
    for (text, said) in [
        (cut, "truncated"),
        (newer.as_str(), "version: 99 is newer than the 1"),
        (secret.as_str(), "target.url: a job contains no secrets"),
        (
            unknown.as_str(),
            "load.treminals: unknown key; did you mean terminals?",
        ),
        ("", "truncated"),
        ("[]", "the list has no jobs"),
    ] {
        fs::write(work.path().join("bad.json"), text).unwrap();
        let refused = work.run(&["exec", "bad.json"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("bad.json: "), "{refused:?}");
        assert!(refused.err.contains(said), "{said}: {refused:?}");
        assert!(!refused.all().contains("geheim"), "{refused:?}");
    }
    assert!(!work.path().join("a.db").exists());
    let missing = work.run(&["exec", "none.json"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

/// The published schemas hold for what is written, and refuse what is not.
#[test]
fn jobs_and_records_are_as_their_schemas_say() {
    let schema = |of: &str| {
        let text = Workdir::new().ok(&["schema", of]).out;
        jsonschema::validator_for(&json(&text)).unwrap()
    };
    let (job, record) = (schema("job"), schema("record"));
    let diagnosis = schema("diagnosis");
    let database = shared_mariadb()
        .unwrap()
        .fresh_database("exec_schema")
        .unwrap();
    for target in ["sqlite:a.db".to_string(), database.url()] {
        let work = Workdir::new();
        let target = format!("--target={target}");
        let shape = ["sysbench", "oltp_read_write", &target, "--table-size=100"];
        work.ok(&[&shape[..], &["prepare"]].concat());
        let run = [
            &shape[..],
            &["--time=2", "--rate=50..100:50", "--rate-hold=1s", "run"],
        ];
        let run = run.concat();
        let run: Vec<&str> = run.into_iter().filter(|w| *w != "--time=2").collect();
        let printed = work.ok(&[&run[..], &["--print-job"]].concat()).out;
        let mut one = json(&printed);
        assert!(job.is_valid(&one), "{printed}");
        work.ok(&run);
        let written = work.last_record();
        let wrong: Vec<String> = record
            .iter_errors(&written)
            .map(|e| e.to_string())
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        let trips = &written["totals"]["statements"]["round_trips"];
        let is_embedded = target.contains("sqlite:");
        assert_eq!(trips.is_null(), is_embedded, "{trips}");
        let limits = &written["diagnosis"];
        assert!(diagnosis.is_valid(limits), "{limits:#}");
        assert!(!diagnosis.is_valid(&one));
        one["load"]["treminals"] = 1.into();
        assert!(!job.is_valid(&one));
        let mut other = written;
        other["totals"] = "none".into();
        assert!(!record.is_valid(&other));
    }
}

/// Three clients, by hand one after the other, do what one would.
#[test]
fn shards_of_a_job_are_the_whole() {
    let work = Workdir::new();
    let target = "--target=sqlite:a.db";
    let line = [
        "sysbench",
        target,
        "--table-size=200",
        "--threads=4",
        "--events=91",
    ];
    work.ok(&[&line[..], &["oltp_insert", "prepare"]].concat());
    let printed = work
        .ok(&[&line[..], &["oltp_insert", "run", "--print-job"]].concat())
        .out;
    fs::write(work.path().join("job.json"), &printed).unwrap();
    let mut sum = [0, 0];
    for (shard, events, sessions) in [("1/3", 31, 2), ("2/3", 30, 1), ("3/3", 30, 1)] {
        let said = work.ok(&["exec", "job.json", "--shard", shard]);
        let told = format!("Client {shard}: {sessions} of 4 sessions");
        assert!(said.err.contains(&told), "{said:?}");
        let record = work.last_record();
        assert_eq!(record["totals"]["all"]["count"], events, "{shard}");
        assert_eq!(record["sessions"], sessions, "{shard}");
        assert_eq!(record["job"]["load"]["sessions"], 4, "{shard}");
        assert_eq!(record["job"]["load"]["shard"]["of"], 3, "{shard}");
        sum[0] += events;
        sum[1] += sessions;
        // Each found what those before it had left, and nothing was inserted twice.
        assert_eq!(record["tables_after"][0]["rows"], 200 + sum[0], "{shard}");
    }
    assert_eq!(sum, [91, 4]);
    // A record's job is its shard, and the key may stand in the file.
    let mut job = json(&printed);
    job["load"]["shard"] = serde_json::json!({"index": 2, "of": 3});
    fs::write(work.path().join("third.json"), job.to_string()).unwrap();
    work.ok(&["exec", "third.json"]);
    assert_eq!(work.last_record()["totals"]["all"]["count"], 30);
    for (shard, said) in [
        ("4/3", "clients are numbered 1 to 3"),
        ("three", "as 1/3"),
        ("1/9", "load.shard: 9 clients can't share 4 sessions"),
    ] {
        let refused = work.run(&["exec", "job.json", "--shard", shard]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(said), "{refused:?}");
    }
}
