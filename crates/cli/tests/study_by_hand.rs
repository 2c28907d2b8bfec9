//! The commands that a study's reports show make its runs again on another day, when its private
//! servers are gone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, TIDEMARK, Workdir};
use std::path::Path;
use std::process::{Command, Stdio};
use tidemark_core::record::RunRecord;
use tidemark_store::{Filter, Store};

const STUDY: &str = "name = \"flushing\"\ntime = 1\nwarmup = 0\n\
    [[target]]\nname = \"small\"\nurl = \"up:mariadb?innodb_buffer_pool_size=96M\"\n\
    [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = 123 }\n\
    [[factor]]\nname = \"flush\"\nvalues = [\n  { label = \"as it is\" },\n  \
    { label = \"lazy\", set-global = { innodb_flush_log_at_trx_commit = 2 }, \
    session = { sort_buffer_size = 300000 } },\n]\n";

/// `tidemark` with sandboxes of its own.
fn run(dir: &Workdir, args: &[&str]) -> Said {
    let mut command = dir.command(args);
    command.env("XDG_DATA_HOME", dir.path().join("data"));
    Said::of(&command.output().unwrap())
}

/// What a shell makes of the text as it stands, with a store of its own.
fn typed(dir: &Workdir, text: &str, store: &str) -> Said {
    shell(dir, "-ec", text, store)
}

fn shell(dir: &Workdir, flags: &str, text: &str, store: &str) -> Said {
    let folder = Path::new(TIDEMARK).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args([flags, text])
        .current_dir(dir.path())
        .env("PATH", path)
        .env("XDG_DATA_HOME", dir.path().join("data"))
        .env("TIDEMARK_STORE", dir.path().join(store))
        .stdin(Stdio::null())
        .output();
    Said::of(&output.unwrap())
}

/// The runs of a store, oldest first.
fn records(dir: &Workdir, store: &str) -> Vec<RunRecord> {
    let store = Store::open_existing(&dir.path().join(store)).unwrap();
    let runs = store.list(&Filter::default()).unwrap();
    let mut ids: Vec<String> = runs.into_iter().map(|run| run.id).collect();
    ids.sort();
    ids.iter().map(|id| store.get(id).unwrap()).collect()
}

fn setting<'r>(record: &'r RunRecord, name: &str) -> &'r str {
    let found = record.settings.iter().find(|s| s.name == name);
    &found.unwrap().value
}

/// Options as they were measured, but for where the server was.
fn options(record: &RunRecord) -> Vec<(&String, &String)> {
    let options = record.options.iter().filter(|(name, _)| *name != "target");
    options
        .map(|(name, option)| (name, &option.value))
        .collect()
}

/// The last piece of shell in Markdown.
fn shell_of(markdown: &str) -> &str {
    let (_, from) = markdown.rsplit_once("```sh\n").unwrap();
    from.split_once("\n```").unwrap().0
}

/// The code in a page, as it is copied from there.
fn shell_of_page(page: &str) -> String {
    let (_, from) = page
        .split_once("<pre><code>tidemark up ")
        .or_else(|| page.split_once("<pre><code># "))
        .unwrap();
    let code = from.split_once("</code>").unwrap().0;
    let code = code
        .replace("&#34;", "\"")
        .replace("&quot;", "\"")
        .replace("&#39;", "'");
    format!(
        "# {}",
        code.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&#38;", "&")
    )
}

#[test]
fn the_commands_of_steps_on_private_servers_work_on_another_day() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("s.toml"), STUDY).unwrap();
    let study = run(&dir, &["study", "run", "s.toml"]);
    assert_eq!(study.code, Some(0), "{study:?}");
    assert!(run(&dir, &["up"]).out.contains("no private servers"));
    let measured = records(&dir, "store.db");
    let value = |r: &RunRecord| r.study.as_ref().unwrap().factors["flush"].clone();
    let plain = measured.iter().find(|r| value(r) == "as it is").unwrap();
    let lazy = measured.iter().find(|r| value(r) == "lazy").unwrap();
    assert_eq!(setting(plain, "innodb_buffer_pool_size"), "100663296");

    // All of the study.
    let report = run(&dir, &["report", "flushing", "--format=md", "-o", "-"]);
    let shell = shell_of(&report.out);
    assert!(
        shell.contains("(up:mariadb?innodb_buffer_pool_size=96M)"),
        "{shell}"
    );
    let around =
        "# The study had set innodb_flush_log_at_trx_commit = 2 on the server for this command";
    assert_eq!(shell.matches(around).count(), 1, "{shell}");
    let said = typed(&dir, shell, "again.db");
    assert_eq!(said.code, Some(0), "{shell}\n{said:?}");
    assert!(run(&dir, &["up"]).out.contains("no private servers"));
    let again = records(&dir, "again.db");
    assert_eq!(again.len(), 2, "{shell}");
    for (before, now) in measured.iter().zip(&again) {
        assert_eq!(options(before), options(now));
        assert_eq!(before.settings.len(), now.settings.len());
        for was in &before.settings {
            // The command can't set what the study did, and says so.
            let by_study = value(before) == "lazy" && was.name == "innodb_flush_log_at_trx_commit";
            assert!(by_study || setting(now, &was.name) == was.value, "{was:?}");
        }
    }

    // One run, in every form and language.
    let one = |words: &[&str]| {
        let said = run(&dir, &[&["report", &plain.id, "-o", "-"], words].concat());
        assert_eq!(said.code, Some(0), "{said:?}");
        said.out
    };
    let zh = one(&["--format=md", "--lang=zh"]);
    let lines = |shell: &str| -> Vec<String> {
        let lines = shell.lines().map(|line| line.trim().to_string());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let md = one(&["--format=md"]);
    let text = run(&dir, &["show", &plain.id]).out;
    let text = lines(&text).join("\n");
    assert!(text.contains(&lines(shell_of(&md)).join("\n")), "{text}");
    let page = one(&["--format=html"]);
    let of_runs = run(
        &dir,
        &["report", &plain.id, &lazy.id, "--format=md", "-o", "-"],
    );
    for (form, shell, runs) in [
        ("zh", shell_of(&zh), 1),
        ("page", &shell_of_page(&page), 1),
        ("runs", shell_of(&of_runs.out), 2),
    ] {
        let store = format!("{form}.db");
        let said = typed(&dir, shell, &store);
        assert_eq!(said.code, Some(0), "{form}: {shell}\n{said:?}");
        let again = records(&dir, &store);
        assert_eq!(again.len(), runs, "{form}: {shell}");
        assert_eq!(options(plain), options(&again[0]), "{form}");
        assert_eq!(again[0].settings, plain.settings, "{form}");
    }
    let said = run(&dir, &["report", &lazy.id, "--format=md", "-o", "-"]).out;
    assert!(shell_of(&said).contains(around), "{said}");

    let json = run(&dir, &["report", "flushing", "--format=json", "-o", "-"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let line = |pointer: &str| json.pointer(pointer).unwrap().as_str().unwrap().to_string();
    let lines = ["start", "load", "command", "end"].map(|l| line(&format!("/runs/0/by_hand/{l}")));
    let said = typed(&dir, &lines.join("\n"), "json.db");
    assert_eq!(said.code, Some(0), "{lines:?}\n{said:?}");
    assert_eq!(records(&dir, "json.db").len(), 1);
    assert!(line("/steps/0/by_hand/command").ends_with(" prepare"));
}

#[test]
fn a_server_of_the_users_is_taken_where_it_runs_and_is_never_ended() {
    let dir = Workdir::new();
    let text = STUDY.replace("innodb_buffer_pool_size=96M", "name=mine");
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    let study = run(&dir, &["study", "run", "s.toml"]);
    assert_eq!(study.code, Some(0), "{study:?}");
    let report = run(&dir, &["report", "flushing", "--format=md", "-o", "-"]).out;
    let shell = shell_of(&report);
    assert!(!shell.contains("tidemark down"), "{shell}");
    let said = typed(&dir, shell, "again.db");
    assert_eq!(said.code, Some(0), "{shell}\n{said:?}");
    assert_eq!(records(&dir, "again.db").len(), 2, "{shell}\n{said:?}");
    // What is in it by now is left alone.
    let said = typed(&dir, shell, "again.db");
    assert_eq!(said.code, Some(0), "{shell}\n{said:?}");
    assert!(!said.out.contains("Inserting"), "{said:?}");
    let listed = run(&dir, &["up"]).out;
    assert!(
        listed.contains("mine") && listed.contains("running"),
        "{listed}"
    );
    assert_eq!(run(&dir, &["down", "mine"]).code, Some(0));
}

#[test]
fn other_data_in_a_server_of_the_users_are_neither_replaced_nor_measured() {
    let dir = Workdir::new();
    let text = STUDY.replace("innodb_buffer_pool_size=96M", "name=mine");
    let more = "[[workload]]\nname = \"oltp_point_select\"\nlabel = \"more\"\n\
        options = { table-size = 456 }\n";
    std::fs::write(dir.path().join("s.toml"), text + more).unwrap();
    let study = run(&dir, &["study", "run", "s.toml"]);
    assert_eq!(study.code, Some(0), "{study:?}");
    let measured = records(&dir, "store.db");
    let rows = |r: &RunRecord| r.options["table-size"].value.clone();
    let (first, last) = (rows(&measured[0]), rows(&measured[3]));
    assert_ne!(first, last);

    let of_study = run(&dir, &["report", "flushing", "--format=md", "-o", "-"]).out;
    let ids: Vec<&str> = measured.iter().map(|r| &*r.id).collect();
    let of_runs = [&["report"], &*ids, &["--format=md", "-o", "-"]].concat();
    let of_runs = run(&dir, &of_runs).out;
    let of_last = run(&dir, &["report", ids[3], "--format=md", "-o", "-"]).out;
    // The server is empty at first, and then has the first data.
    for (form, report, made) in [
        ("study", &of_study, 2),
        ("runs", &of_runs, 2),
        ("last", &of_last, 0),
    ] {
        let text = shell_of(report);
        assert!(!text.contains("--replace"), "{form}: {text}");
        let store = format!("{form}.db");
        // A plain shell goes on after what fails.
        let said = shell(&dir, "-c", text, &store);
        let again: Vec<String> = match dir.path().join(&store).exists() {
            true => records(&dir, &store).iter().map(rows).collect(),
            false => Vec::new(),
        };
        assert_eq!(again, vec![first.clone(); made], "{form}: {text}\n{said:?}");
        assert!(said.err.contains("add --replace"), "{form}: {said:?}");
        let loading = format!("Inserting {last} records");
        assert!(!said.out.contains(&loading), "{form}: {said:?}");
    }
    assert_eq!(run(&dir, &["down", "mine"]).code, Some(0));
}
