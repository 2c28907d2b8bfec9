//! `import` and `audit`: outputs of the real sysbench and the real pgbench, made here, and documents.

use super::common::{Said, Workdir};
use std::io::Write;
use std::process::{Command, Stdio};
use tidemark_core::Host;
use tidemark_testkit::{shared_mariadb, shared_postgres};

/// What a program prints.
fn printed(program: &str, args: &[String], password: &str) -> String {
    let mut command = Command::new(program);
    command.args(args).env("PGPASSWORD", password);
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{program} is needed: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{program}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// The number after a label, as anyone reads it.
fn number(text: &str, label: &str) -> f64 {
    let rest = text
        .split(label)
        .nth(1)
        .unwrap_or_else(|| panic!("no {label}: {text}"));
    let word = rest
        .trim_start()
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap();
    word.parse().unwrap()
}

fn figure(record: &serde_json::Value, name: &str) -> f64 {
    let figures = record["imported"]["figures"].as_array().unwrap();
    let one = figures
        .iter()
        .find(|f| f["name"] == name && f.get("of").is_none());
    one.unwrap_or_else(|| panic!("no {name}: {record}"))["value"]
        .as_f64()
        .unwrap()
}

fn record(dir: &Workdir) -> serde_json::Value {
    serde_json::from_str(&dir.ok(&["export", "tag:imported"]).out).unwrap()
}

#[test]
fn what_the_real_sysbench_prints_is_taken_over() {
    let server = shared_mariadb().unwrap();
    let database = server.fresh_database("importing").unwrap();
    let target = server.target();
    let Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let args = |verb: &str| -> Vec<String> {
        let words = [
            "oltp_read_write".into(),
            "--db-driver=mysql".into(),
            format!("--mysql-host={host}"),
            format!("--mysql-port={port}"),
            format!("--mysql-user={}", target.user),
            format!("--mysql-password={}", target.password.reveal()),
            format!("--mysql-db={}", database.name()),
            "--tables=2".into(),
            "--table-size=1000".into(),
            "--threads=2".into(),
            "--time=4".into(),
            "--report-interval=1".into(),
            "--percentile=99".into(),
            verb.into(),
        ];
        words.into()
    };
    printed("sysbench", &args("prepare"), "");
    let text = printed("sysbench", &args("run"), "");
    let dir = Workdir::new();
    std::fs::write(dir.path().join("out.txt"), &text).unwrap();
    let said = dir.ok(&["import", "out.txt"]);
    assert!(
        said.out.contains("1 run imported") && !said.out.contains("not understood"),
        "{said:?}"
    );
    let record = record(&dir);
    for (name, label) in [
        ("count", "transactions:"),
        ("read", "read:"),
        ("statement_sum", "total:"),
        ("elapsed_s", "total time:"),
        ("events", "total number of events:"),
        ("min_ms", "min:"),
        ("mean_ms", "avg:"),
        ("max_ms", "max:"),
        ("p99_ms", "99th percentile:"),
        ("sum_ms", "sum:"),
        ("events_avg", "events (avg/stddev):"),
    ] {
        assert_eq!(figure(&record, name), number(&text, label), "{name}");
    }
    assert_eq!(record["sessions"], 2);
    let lines = text.lines().filter(|l| l.contains("thds:")).count();
    assert_eq!(
        record["imported"]["intervals"].as_array().unwrap().len(),
        lines
    );
    let again = dir.ok(&["import", "out.txt"]);
    assert!(
        again.out.contains("already in the store") && again.out.contains("0 runs imported"),
        "{again:?}"
    );
    let judged = dir.run(&["audit", "out.txt"]);
    assert!(
        judged.out.contains(" 0 INVALID") && judged.code == Some(0),
        "{judged:?}"
    );
    let wrong = text.replace(&format!("{:.0}", number(&text, "total:")), "77");
    std::fs::write(dir.path().join("wrong.txt"), wrong).unwrap();
    let judged = dir.run(&["audit", "wrong.txt"]);
    assert!(
        judged.out.contains("summary-mismatch") && judged.code == Some(3),
        "{judged:?}"
    );
}

#[test]
fn what_the_real_pgbench_prints_is_taken_over() {
    let server = shared_postgres().unwrap();
    let database = server.fresh_database("importing").unwrap();
    let target = server.target();
    let Host::Tcp { host, port } = &target.hosts[0] else {
        panic!("no TCP host")
    };
    let place: Vec<String> = [
        "-h".into(),
        host.clone(),
        "-p".into(),
        port.to_string(),
        "-U".into(),
        target.user.clone(),
    ]
    .into();
    let with = |words: &[&str]| -> Vec<String> {
        let words = words.iter().map(|w| (*w).to_string());
        place
            .iter()
            .cloned()
            .chain(words)
            .chain([database.name().to_string()])
            .collect()
    };
    let password = target.password.reveal();
    printed("pgbench", &with(&["-i", "-q"]), password);
    let text = printed(
        "pgbench",
        &with(&["-c", "2", "-T", "4", "-P", "1", "-r"]),
        password,
    );
    let dir = Workdir::new();
    std::fs::write(dir.path().join("out.txt"), &text).unwrap();
    dir.ok(&["import", "out.txt"]);
    let record = record(&dir);
    for (name, label) in [
        ("count", "actually processed:"),
        ("mean_ms", "latency average ="),
        ("stddev_ms", "latency stddev ="),
        ("rate", "tps ="),
    ] {
        assert_eq!(figure(&record, name), number(&text, label), "{name}");
    }
    assert_eq!(record["sessions"], 2);
    let judged = dir.run(&["audit", "out.txt"]);
    assert!(
        judged.out.contains(" 0 INVALID") && judged.code == Some(0),
        "{judged:?}"
    );
}

const TABLE: &str = "## 点查\n\n| 并发 | TPS | 平均延迟 (ms) |\n|---|---|---|\n| 8 | 800 | 10.0 |\n| 16 | 1500 | 5.1 |\n";

#[test]
fn failures_have_a_share_only_where_the_attempts_are_known() {
    for (table, said, zh) in [
        (
            "| 并发 | TPS | 失败数 |\n|---|---|---|\n| 2 | 100 | 30 |\n",
            "30 transactions failed; how many were attempted is not stated.",
            "有 30 个事务失败，原文未给出尝试总数。",
        ),
        // 10 s at 9/s, and 10 failures: a tenth of a hundred.
        (
            "| 并发 | TPS | 失败数 | 测试时间(s) |\n|---|---|---|---|\n| 2 | 9 | 10 | 10 |\n",
            "10 transactions failed with ignored errors (10.0% of all attempts)",
            "有 10 个事务因已忽略的错误而失败（占全部尝试的 10.0%）",
        ),
    ] {
        let dir = Workdir::new();
        std::fs::write(dir.path().join("a.md"), table).unwrap();
        dir.ok(&["import", "a.md"]);
        let record = record(&dir);
        let id = record["id"].as_str().unwrap();
        let shown = dir.ok(&["show", id]).out;
        assert!(shown.contains(said), "{said}: {shown}");
        let shown = dir.ok(&["show", id, "--lang=zh"]).out;
        assert!(shown.contains(zh), "{zh}: {shown}");
    }
}

#[test]
fn nothing_that_import_says_has_a_password_of_the_document() {
    let dir = Workdir::new();
    let text = "sysbench --mysql-password=geheim oltp_read_only --threads=4 run\n\
        mysql -uroot -pgeheim -e 'x'\nPGPASSWORD=geheim psql\nmysql://u:geheim@h/db\n\
        密码：geheim\nCREATE USER 'u'@'%' IDENTIFIED BY 'geheim';\n\n";
    std::fs::write(dir.path().join("a.md"), format!("{text}{TABLE}")).unwrap();
    for words in [&["--explain"][..], &["--dry-run"], &[]] {
        let said = dir.ok(&[&["import", "a.md"], words].concat());
        assert!(!said.all().contains("geheim"), "{said:?}");
        let is_explained = said.out.contains("mysql -uroot -p*** -e");
        assert_eq!(is_explained, words == ["--explain"], "{said:?}");
    }
}

#[test]
fn nothing_that_import_keeps_has_a_password_of_the_document() {
    let dir = Workdir::new();
    let text = "## 点查 (mysql -uroot -pgeheim)\n\n| 并发 | TPS | 配置 |\n|---|---|---|\n\
        | 8 | 800 | mysql -uroot -pgeheim |\n";
    std::fs::write(dir.path().join("a.md"), text).unwrap();
    let said = dir.ok(&["import", "a.md", "--report", "a.html"]).all();
    let page = std::fs::read_to_string(dir.path().join("a.html")).unwrap();
    let kept = record(&dir).to_string();
    assert!(kept.contains("mysql -uroot -p***"), "{kept}");
    for told in [said, page, kept] {
        assert!(!told.contains("geheim"), "{told}");
    }
}

#[test]
fn a_document_becomes_a_report_and_is_explained() {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    std::fs::write(dir.path().join("results/a.md"), TABLE).unwrap();
    dir.ok(&["import", "results", "--report", "out.html", "--lang", "zh"]);
    let page = std::fs::read_to_string(dir.path().join("out.html")).unwrap();
    assert!(
        page.contains("littles-law") && page.contains("点查"),
        "{page}"
    );
    let two = ["--report", "b.html", "--report", "b.csv", "--dry-run"];
    dir.ok(&[&["import", "results"][..], &two].concat());
    assert!(
        ["b.html", "b.csv"]
            .iter()
            .all(|f| dir.path().join(f).is_file())
    );
    let explained = dir.ok(&["import", "--explain", "results/a.md", "--store", "none.db"]);
    assert!(
        explained.out.contains("     1  heading          ## 点查"),
        "{explained:?}"
    );
    assert!(!dir.path().join("none.db").exists());
    dir.ok(&["import", "--dry-run", "results/a.md", "--store", "none.db"]);
    assert!(!dir.path().join("none.db").exists());
    let judged = dir.run(&["audit", "results", "--lang", "zh"]);
    // 16 sessions of 5.1 ms make twice as many.
    assert_eq!(judged.code, Some(3), "{judged:?}");
    assert!(judged.out.contains("[littles-law]"), "{judged:?}");
    std::fs::write(
        dir.path().join("results/a.md"),
        TABLE.replace("5.1", "10.6"),
    )
    .unwrap();
    assert_eq!(dir.run(&["audit", "results"]).code, Some(0));
}

#[test]
fn files_of_folders_are_told_apart_and_copies_are_found() {
    let dir = Workdir::new();
    let text = "\
pgbench (15.4)
progress: 10.0 s, 100.0 tps, lat 80.000 ms stddev 1.000, 0 failed
progress: 20.0 s, 100.0 tps, lat 80.000 ms stddev 1.000, 0 failed
transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: 8
number of threads: 1
duration: 20 s
number of transactions actually processed: 2000
number of failed transactions: 0 (0.000%)
latency average = 80.000 ms
latency stddev = 1.000 ms
initial connection time = 5.000 ms
tps = 100.010000 (without initial connection time)
";
    for (folder, text) in [
        ("results/a", text.to_string()),
        ("results/b", text.replace("100.010000", "100.020000")),
    ] {
        std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join("run.log"), text).unwrap();
    }
    let judged = dir.run(&["audit", "results"]);
    for file in ["(results/a/run.log:1-15)", "(results/b/run.log:1-15)"] {
        assert!(judged.out.contains(file), "{judged:?}");
    }
    assert!(!judged.out.contains("[same-output]"), "{judged:?}");
    std::fs::write(dir.path().join("copy.txt"), text).unwrap();
    let judged = dir.run(&["audit", "copy.txt", "results/a/run.log"]);
    assert!(
        judged.out.contains("[same-output]") && judged.out.contains("copy.txt:1"),
        "{judged:?}"
    );
    // A file that is named twice is no copy.
    let judged = dir.run(&["audit", "copy.txt", "copy.txt"]);
    assert!(!judged.out.contains("[same-output]"), "{judged:?}");
}

#[test]
fn a_report_of_imported_runs_has_its_charts_beside_it() {
    let dir = Workdir::new();
    let table = "threads,TPS\n1,100\n2,190\n4,350\n8,600\n16,900\n";
    std::fs::write(dir.path().join("a.csv"), table).unwrap();
    let import = ["import", "a.csv", "--report"];
    let said = dir.run(&[&import[..], &["out.txt"]].concat());
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("--report=out.txt: use .html"), "{said:?}");
    assert!(!dir.path().join("store.db").exists(), "nothing is stored");
    let said = dir.ok(&[&import[..], &["out.md"]].concat());
    assert!(said.err.contains(" in out-files"), "{said:?}");
    let text = std::fs::read_to_string(dir.path().join("out.md")).unwrap();
    let linked = text.matches("](out-files/chart-").count();
    let files = std::fs::read_dir(dir.path().join("out-files")).unwrap();
    assert!(linked >= 1 && files.count() == linked, "{text}");
}

#[test]
fn a_folder_may_hold_other_files_too() {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    let put = |name: &str, text: &[u8]| {
        std::fs::write(dir.path().join("results").join(name), text).unwrap();
    };
    put("notes.txt", b"nothing here\n");
    put("picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    let none = dir.run(&["import", "results", "--store", "none.db"]);
    assert!(
        none.code == Some(2) && none.err.contains("2 files"),
        "{none:?}"
    );
    put("a.md", TABLE.as_bytes());
    let some = dir.run(&[
        "import", "results", "--report", "out.html", "--store", "a.db",
    ]);
    assert_eq!(some.code, Some(0), "{some:?}");
    assert!(
        some.err.contains("notes.txt") && some.err.contains("picture.png"),
        "{some:?}"
    );
    // Whoever names a file is told that it was not taken.
    let named = dir.run(&[
        "import",
        "results/a.md",
        "results/notes.txt",
        "--store",
        "b.db",
    ]);
    assert_eq!(named.code, Some(2), "{named:?}");
    // A file that is no record keeps no document out.
    put("package.json", b"{\"name\": \"x\"}\n");
    let odd = dir.run(&["import", "results", "--store", "c.db"]);
    assert!(odd.out.contains("a.md"), "{odd:?}");
}

#[test]
fn what_is_no_output_is_refused() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("prose.txt"), "nothing here\n").unwrap();
    std::fs::write(dir.path().join("binary.txt"), b"\x7fELF\0\0\x01").unwrap();
    for (file, part) in [("prose.txt", "is known"), ("binary.txt", "binary")] {
        for command in ["import", "audit"] {
            let said = dir.run(&[command, file]);
            assert!(said.code == Some(2) && said.err.contains(part), "{said:?}");
        }
    }
}

/// A command that gets a document on its standard input.
fn piped(dir: &Workdir, args: &[&str], text: &str) -> Said {
    let mut child = dir.command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    Said::of(&child.wait_with_output().unwrap())
}

/// An output of sysbench without its end, with so many transactions a second.
fn cut_output(tps: u32) -> String {
    let lines = (1..=30).map(|s| {
        format!(
            "[ {s}s ] thds: 4 tps: {tps}.00 qps: {tps}.00 (r/w/o: {tps}.00/0.00/0.00) \
             lat (ms,95%): 4.10 err/s: 0.00 reconn/s: 0.00\n"
        )
    });
    let head = "$ sysbench oltp_point_select --threads=4 --report-interval=1 run\n\
                sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 4\n";
    head.to_string() + &lines.collect::<String>()
}

#[test]
fn the_list_calls_an_output_that_is_cut_as_reports_do() {
    let dir = Workdir::new();
    let text = cut_output(1000);
    let said = piped(&dir, &["import", "-"], &text);
    assert!(said.out.contains("is incomplete"), "{said:?}");
    for (lang, called, head) in [
        ("en", "incomplete output", "workload"),
        ("zh", "输出不完整", "负载"),
    ] {
        let list = dir.ok(&["runs", "--lang", lang]).out;
        assert!(list.contains(called), "{list}");
        let mut lines = list.lines();
        let mut place = |word: &str| {
            let line = lines.next().unwrap_or_default();
            let at = line
                .find(word)
                .unwrap_or_else(|| panic!("no {word}: {list}"));
            // Chinese takes two cells a character.
            let cells = line[..at].chars().map(|c| if c.is_ascii() { 1 } else { 2 });
            cells.sum::<usize>()
        };
        assert_eq!(place(head), place("oltp_point_select"), "{list}");
    }
}

#[test]
fn outputs_that_are_cut_are_compared_by_their_tags_as_by_their_ids() {
    let dir = Workdir::new();
    let mut ids: Vec<String> = Vec::new();
    for (tps, tag) in [(1000, "+before"), (2000, "+after"), (0, "+after")] {
        let said = piped(&dir, &["import", "-"], &cut_output(tps));
        assert_eq!(said.code, Some(0), "{said:?}");
        let list = dir.ok(&["runs"]).out;
        let listed = list.lines().skip(1).filter_map(|l| l.split(' ').next());
        let new = listed.filter(|id| ids.iter().all(|known| known != id));
        let new: Vec<String> = new.map(String::from).collect();
        assert_eq!(new.len(), 1, "{list}");
        dir.ok(&["tag", &new[0], tag]);
        ids.extend(new);
    }
    let by_id = dir.ok(&["compare", &ids[0], &ids[1]]);
    let by_tag = dir.ok(&["compare", "tag:before", "tag:after"]);
    assert_eq!(by_tag.out, by_id.out);
    let idle = format!(
        "run {} is excluded: it is an incomplete output without transactions",
        ids[2]
    );
    assert!(by_tag.err.contains(&idle), "{by_tag:?}");
    assert_eq!(by_tag.err.matches("is excluded").count(), 1, "{by_tag:?}");
}

#[test]
fn a_document_on_standard_input_is_imported_and_judged() {
    let dir = Workdir::new();
    let said = piped(&dir, &["import", "-"], TABLE);
    assert_eq!(said.code, Some(0), "{said:?}");
    let kept = dir.ok(&["runs"]).out;
    assert_eq!(kept.matches("imported").count(), 2, "{kept}");
    // 16 sessions of 5.1 ms make twice as many.
    let judged = piped(&dir, &["audit", "-"], TABLE);
    assert_eq!(judged.code, Some(3), "{judged:?}");
    assert!(judged.out.contains("[littles-law]"), "{judged:?}");
    let judged = piped(&dir, &["audit", "-"], &TABLE.replace("5.1", "10.6"));
    assert_eq!(judged.code, Some(0), "{judged:?}");
    // What no rule could judge is told as by an import.
    let odd = "| threads | TPS |\n|---|---|\n| 8 | 1000 |\n| 16 | 10-12 |\n";
    let judged = piped(&dir, &["audit", "-"], odd);
    let told = "-: 1 line of outputs and tables was not understood:\n  line 4: TPS: 10-12\n";
    assert!(judged.out.contains(told), "{judged:?}");
    for command in ["import", "audit"] {
        let said = piped(&dir, &[command, "-"], "nothing here\n");
        assert!(
            said.code == Some(2) && said.err.contains("is known"),
            "{said:?}"
        );
    }
}
