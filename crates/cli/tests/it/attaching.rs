//! Series of other collectors come to runs: in the store, in files, and of imported results.

use super::common::{Said, Workdir};
use serde_json::Value;
use std::fs;

const MAPPING: &str = r#"
source = "vmstat"
[time]
column = "at"
format = "epoch"
[[column]]
column = "us"
name = "cpu.user"
unit = "ratio"
scale = 0.01
[[column]]
column = "cs"
name = "switches"
unit = "1/s"
measures = "rate"
labels = { host = "db1" }
"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A run, and a table of the seconds around it.
fn measured() -> (Workdir, Value) {
    let work = Workdir::new();
    let run = |more: &[&str]| {
        let line = [
            "sysbench",
            "oltp_point_select",
            "--target=sqlite:a.db",
            "--table-size=100",
        ];
        work.ok(&[&line[..], more].concat());
    };
    run(&["prepare"]);
    run(&["--time=3", "--think-time=5ms", "--out=run.json", "run"]);
    let record = work.last_record();
    let began: jiff::Timestamp = record["load_began_at"].as_str().unwrap().parse().unwrap();
    let mut table = "at,us,cs\n".to_string();
    for n in -5..30 {
        let at = began.as_second() + n;
        table += &format!("{at},{}.5,{}\n", 20 + n, 1000 + n);
    }
    fs::write(work.path().join("vmstat.csv"), table).unwrap();
    fs::write(work.path().join("vmstat.toml"), MAPPING).unwrap();
    (work, record)
}

fn attach<'a>(to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let line = [
        "import",
        "--series=vmstat.csv",
        "--mapping=vmstat.toml",
        "--to",
        to,
    ];
    [&line[..], more].concat()
}

fn of_vmstat(record: &Value) -> Vec<(String, u64)> {
    let all = record["series"].as_array().unwrap().iter();
    let all = all.filter(|s| s["source"] == "vmstat");
    all.map(|s| {
        (
            s["name"].as_str().unwrap().into(),
            s["count"].as_u64().unwrap(),
        )
    })
    .collect()
}

fn refused(said: &Said, part: &str) {
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains(part), "{part}: {said:?}");
}

#[test]
fn a_table_of_another_collector_comes_to_a_run_and_is_told() {
    let (work, before) = measured();
    let dry = work.ok(&attach("last", &["--dry-run"]));
    assert!(dry.out.contains("would be attached to run"), "{dry:?}");
    let chinese = work.ok(&attach("last", &["--dry-run", "--lang=zh"]));
    assert!(chinese.out.contains("跳过压测期间（2"), "{chinese:?}");
    assert_eq!(work.last_record(), before);

    let said = work.ok(&attach("last", &[]));
    assert!(said.out.contains("vmstat cpu.user: "), "{said:?}");
    assert!(said.out.contains("vmstat switches [db1]: "), "{said:?}");
    assert!(said.out.contains(" rows outside the run (2"), "{said:?}");
    assert!(said.out.contains("attached 2 series to run "), "{said:?}");
    let record = work.last_record();
    let series = of_vmstat(&record);
    assert_eq!(series.len(), 2);
    // Three seconds, and moments at both ends.
    assert!(
        series.iter().all(|(_, n)| (3..=5).contains(n)),
        "{series:?}"
    );
    let shown = work.ok(&["show", "last"]).out;
    for part in [
        "Series of other collectors",
        "vmstat: cpu.user",
        "vmstat: switches [db1]",
        "from vmstat.csv by vmstat.toml",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let chinese = work.ok(&["show", "last", "--lang=zh"]).out;
    assert!(chinese.contains("其他采集工具的指标"), "{chinese}");
    let page = work.ok(&["report", "last", "--format=html", "--out=-"]).out;
    assert!(page.contains("<b>vmstat: cpu.user</b><svg"));
    // Nothing else of the run is another one.
    let mut rest = record.clone();
    for (key, value) in before.as_object().unwrap() {
        if key != "series" && key != "notes" {
            assert_eq!(&record[key], value, "{key}");
        }
    }
    rest["series"]
        .as_array_mut()
        .unwrap()
        .retain(|s| s["source"] != "vmstat");
    assert_eq!(rest["series"], before["series"]);

    // The same again takes the place of what was there.
    let again = work.ok(&attach("last", &[]));
    assert!(
        again.out.contains("in place of 2 attached earlier"),
        "{again:?}"
    );
    assert_eq!(work.last_record(), record);
    // So does one whose unit was wrong.
    let unit = MAPPING.replacen("\"ratio\"", "\"cores\"", 1);
    fs::write(work.path().join("vmstat.toml"), unit).unwrap();
    let again = work.ok(&attach("last", &[]));
    assert!(
        again.out.contains("in place of 2 attached earlier"),
        "{again:?}"
    );
    fs::write(work.path().join("vmstat.toml"), MAPPING).unwrap();
    work.ok(&attach("last", &[]));
    assert_eq!(work.last_record(), record);
    // It travels.
    fs::write(
        work.path().join("export.json"),
        work.ok(&["export", "last"]).out,
    )
    .unwrap();
    work.ok(&["import", "export.json", "--store=other.db"]);
    let id = record["id"].as_str().unwrap();
    let other = json(&work.ok(&["show", id, "--json", "--store=other.db"]).out);
    assert_eq!(of_vmstat(&other), series);
    work.ok(&["store", "check"]);

    // A record in a file is written anew as well.
    work.ok(&attach("run.json", &[]));
    let file = json(&fs::read_to_string(work.path().join("run.json")).unwrap());
    assert_eq!(of_vmstat(&file), series);
}

#[test]
fn what_cannot_be_attached_is_refused_and_the_run_stays() {
    let (work, before) = measured();
    let put = |name: &str, text: &str| fs::write(work.path().join(name), text).unwrap();
    put("vmstat.toml", &MAPPING.replace("\"epoch\"", "\"epcoh\""));
    refused(
        &work.run(&attach("last", &[])),
        "vmstat.toml: line 5: format in [time]",
    );
    put("vmstat.toml", &MAPPING.replace("\"us\"", "\"usr\""));
    refused(
        &work.run(&attach("last", &[])),
        "vmstat.csv: line 1 has no column \"usr\"; did you mean \"us\"?",
    );
    put("vmstat.toml", MAPPING);
    put("vmstat.csv", "at,us,cs\n1000000000,1,1\n1000000600,1,1\n");
    let outside = work.run(&attach("last", &[]));
    refused(
        &outside,
        "none of its 2 rows is within the run: it has 2001-09-09 01:46:40 UTC to 2001-09-09 01:56:40 UTC",
    );
    assert!(
        outside.err.contains("and the run was from 20"),
        "{outside:?}"
    );
    put("vmstat.csv", "");
    refused(&work.run(&attach("last", &[])), "vmstat.csv: it is empty");
    fs::write(work.path().join("vmstat.csv"), [0_u8, 159, 146, 150]).unwrap();
    refused(&work.run(&attach("last", &[])), "binary");
    fs::remove_file(work.path().join("vmstat.csv")).unwrap();
    refused(&work.run(&attach("last", &[])), "vmstat.csv: ");
    refused(
        &work.run(&attach("last", &["--run-start=2026-11-25T10:00:00Z"])),
        "applies only to imported runs",
    );
    refused(&work.run(&attach("none", &[])), "none");
    refused(&work.run(&["import", "--series=vmstat.csv"]), "--mapping");
    refused(
        &work.run(&["import", "--mapping=vmstat.toml", "x.md"]),
        "--series",
    );
    refused(&work.run(&["import"]), "FILE");
    assert_eq!(work.last_record(), before);
}

#[test]
fn an_imported_result_says_when_it_began_by_hand() {
    let work = Workdir::new();
    let put = |name: &str, text: &str| fs::write(work.path().join(name), text).unwrap();
    put(
        "result.txt",
        "sysbench 1.0.20 (using system LuaJIT)\nNumber of threads: 8\nSQL statistics:\n    \
         transactions: 600 (10.00 per sec.)\nGeneral statistics:\n    total time: 60.0000s\n",
    );
    let said = work.ok(&["import", "result.txt"]).out;
    let line = said
        .lines()
        .find(|l| l.starts_with("imported run "))
        .unwrap();
    let id = line.split(' ').nth(2).unwrap().to_string();
    put("vmstat.toml", MAPPING);
    let rows: String = (0..100)
        .map(|n| format!("{},5,{n}\n", 1_795_586_400 + n))
        .collect();
    put("vmstat.csv", &format!("at,us,cs\n{rows}"));
    refused(&work.run(&attach(&id, &[])), "add --run-start");
    refused(
        &work.run(&attach(&id, &["--run-start=gestern"])),
        "--run-start=gestern",
    );
    let start = "--run-start=2026-11-25T14:00:10+08:00";
    let said = work.ok(&attach(&id, &[start]));
    assert!(said.out.contains("39 rows outside the run"), "{said:?}");
    let record = json(&work.ok(&["show", &id, "--json"]).out);
    assert_eq!(
        of_vmstat(&record),
        [("cpu.user".into(), 61), ("switches".into(), 61)]
    );
    assert_eq!(record["tags"], serde_json::json!(["imported"]));
    work.ok(&["report", &id, "--out=r.html"]);
}
