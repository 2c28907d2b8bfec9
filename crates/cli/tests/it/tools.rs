//! What stands beside measuring: private servers, completions, manual pages.

use super::common::{Said, TIDEMARK, Workdir, signal, wait_until};
use std::fs;
use std::process::{Command, Stdio};

/// `tidemark` with sandboxes of its own.
fn command(work: &Workdir, words: &[&str]) -> Command {
    let mut command = work.command(words);
    command.env("XDG_DATA_HOME", work.path().join("data"));
    command
}

fn run(work: &Workdir, words: &[&str]) -> Said {
    Said::of(&command(work, words).output().unwrap())
}

#[test]
fn a_newcomer_measures_a_real_server_in_two_commands() {
    let work = Workdir::new();
    assert!(run(&work, &["up"]).out.contains("tidemark up mariadb"));
    let up = run(
        &work,
        &["up", "mariadb", "--set", "innodb_buffer_pool_size=32M"],
    );
    assert_eq!(up.code, Some(0), "{up:?}");
    let url = up.out.trim();
    assert!(url.starts_with("mysql://tidemark:") && up.out.lines().count() == 1);
    assert!(up.err.contains("tidemark down mariadb"), "{up:?}");
    let target = format!("--target={url}");
    let sysbench = |rest: &[&str]| {
        let words = [
            &["sysbench", "oltp_point_select", &target, "--table-size=100"],
            rest,
        ]
        .concat();
        let said = run(&work, &words);
        assert_eq!(said.code, Some(0), "{said:?}");
    };
    sysbench(&["prepare"]);
    sysbench(&["--threads=2", "--time=1", "run"]);
    let password = url.split(':').nth(2).unwrap().split('@').next().unwrap();
    let record = run(&work, &["show", "last", "--json"]).out;
    assert!(record.contains("mysql://tidemark:***@127.0.0.1") && !record.contains(password));
    let settings: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert!(
        settings["settings"].to_string().contains("33554432"),
        "{settings}"
    );

    // Whoever looks over the shoulder sees no password; who asks for the URL has it whole.
    let listed = run(&work, &["up"]);
    let masked = url.replace(password, "***");
    assert!(
        listed.out.contains("running") && listed.out.contains(&masked),
        "{listed:?}"
    );
    assert!(!listed.all().contains(password), "{listed:?}");
    let again = run(&work, &["up", "mariadb", "--url"]);
    assert_eq!((again.code, again.out.trim()), (Some(0), url));
    let none = run(&work, &["up", "postgres", "--url"]);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(none.err.contains("there are mariadb"), "{none:?}");
    let unknown = run(&work, &["down", "nobody"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("there are mariadb"), "{unknown:?}");
    let down = run(&work, &["down"]);
    assert_eq!(
        (down.code, down.out.as_str()),
        (Some(0), "mariadb is down\n")
    );
    assert_eq!(run(&work, &["down"]).out, "no sandboxes\n");
}

/// A sandbox as the list has it, of a server that is not there: started by another boot.
fn left_by_a_restart(work: &Workdir, name: &str) -> std::path::PathBuf {
    let folder = work.path().join(format!("folder-of-{name}"));
    let home = work.path().join("data/tidemark/sandboxes");
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(folder.join("server/data")).unwrap();
    // The number of a process that lives, and that is none of Tidemark's.
    let process = serde_json::json!({"hostname": "h", "boot_id": "before pid:[1]",
        "pid": std::process::id(), "pid_started": "1"});
    let mark = serde_json::json!({"format": 1, "name": name, "folder": folder,
        "made_folder": true, "engine": "mariadb", "port": 4711, "password": "geheim",
        "starter": process, "server": process, "ready": true});
    fs::write(folder.join("tidemark-sandbox.json"), mark.to_string()).unwrap();
    std::os::unix::fs::symlink(&folder, home.join(name)).unwrap();
    folder
}

#[test]
fn what_a_restart_left_is_told_removed_and_forgotten() {
    let work = Workdir::new();
    let removed = left_by_a_restart(&work, "a");
    let forgotten = left_by_a_restart(&work, "b");
    let unproven = left_by_a_restart(&work, "c");
    fs::remove_file(unproven.join("tidemark-sandbox.json")).unwrap();
    let gone = left_by_a_restart(&work, "d");
    fs::remove_dir_all(&gone).unwrap();
    let listed = run(&work, &["up"]).out;
    let state = |name: &str| {
        let line = listed.lines().find(|l| l.split(' ').next() == Some(name));
        line.unwrap()
            .split("  ")
            .find(|w| !w.is_empty() && *w != name)
            .unwrap()
            .trim()
            .to_string()
    };
    assert_eq!(state("a"), "not running");
    assert_eq!(state("c"), "no sandbox");
    assert_eq!(state("d"), "not running, folder gone");
    let url = run(&work, &["up", "a", "--url"]);
    assert_eq!(url.code, Some(1), "{url:?}");
    assert!(url.err.contains("sandbox a is not running"), "{url:?}");

    let down = run(&work, &["down", "a"]);
    assert_eq!((down.code, removed.exists()), (Some(0), false), "{down:?}");
    let forget = run(&work, &["down", "--forget", "b"]);
    assert_eq!(forget.code, Some(0), "{forget:?}");
    assert!(forgotten.join("tidemark-sandbox.json").exists());
    let down = run(&work, &["down", "c"]);
    assert_eq!(down.code, Some(5), "{down:?}");
    assert!(down.err.contains("tidemark down c --forget"), "{down:?}");
    let forget = run(&work, &["down", "c", "--forget"]);
    assert_eq!(forget.code, Some(0), "{forget:?}");
    assert!(unproven.join("server/data").exists());
    assert_eq!(run(&work, &["down", "d"]).code, Some(0));
    assert!(run(&work, &["up"]).out.contains("no sandboxes"));
}

#[test]
fn ctrl_c_while_a_server_starts_leaves_nothing() {
    let work = Workdir::new();
    let child = command(&work, &["up", "mariadb"]).spawn().unwrap();
    let home = work.path().join("data/tidemark/sandboxes");
    wait_until("it is listed", || {
        fs::read_dir(&home).is_ok_and(|d| d.count() == 1)
    });
    let link = fs::read_link(home.join("mariadb")).unwrap();
    signal(child.id(), "INT");
    let said = Said::of(&child.wait_with_output().unwrap());
    // It may have been up before it heard.
    if said.code == Some(0) {
        run(&work, &["down", "--all"]);
    } else {
        assert_eq!(said.code, Some(130), "{said:?}");
    }
    assert!(!link.exists());
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

#[test]
fn what_a_sandbox_cannot_be_is_said() {
    let work = Workdir::new();
    fs::create_dir(work.path().join("full")).unwrap();
    fs::write(work.path().join("full/diary.txt"), "mine").unwrap();
    for (words, code, part) in [
        (&["up", "mysql"][..], 2, "did you mean mariadb?"),
        (
            &["up", "mariadb", "--set", "port=3306"],
            2,
            "reserved by the sandbox",
        ),
        (&["up", "mariadb", "--set", "=1"], 2, "NAME=VALUE"),
        (
            &["up", "mariadb", "--set", "foo"],
            2,
            "\"foo\" has no value: must be NAME=VALUE",
        ),
        (&["up", "mariadb", "--dir", "full"], 5, "not empty"),
        (
            &["up", "mariadb", "--dir", "/var/lib/mysql-none"],
            5,
            "the system's own",
        ),
        (
            &["up", "postgres", "--version-from", "full"],
            1,
            "was not found",
        ),
        (&["up", "postgres", "--name", "a/b"], 2, "up to 40 letters"),
        (&["up", "--name", "a"], 2, "ENGINE"),
    ] {
        let said = run(&work, words);
        assert_eq!(said.code, Some(code), "{words:?}: {said:?}");
        assert!(said.err.contains(part), "{words:?}: {said:?}");
    }
    assert_eq!(fs::read_dir(work.path().join("full")).unwrap().count(), 1);
}

/// What bash offers for a line whose last word is being typed.
fn offered(work: &Workdir, line: &str) -> Vec<String> {
    let script = r#"
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        read -ra COMP_WORDS <<<"$2"
        if [[ $2 == *' ' ]]; then COMP_WORDS+=(''); fi
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        spec=$(complete -p tidemark)
        function=${spec#* -F }
        "${function%% *}" tidemark "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let file = work.path().join("tidemark.bash");
    if !file.exists() {
        let made = work.ok(&["completions", "bash"]);
        fs::write(&file, made.out).unwrap();
    }
    let out = Command::new("bash")
        .args(["--norc", "-c", script, "bash"])
        .arg(&file)
        .arg(line)
        .output()
        .unwrap();
    let said = Said::of(&out);
    assert_eq!(said.code, Some(0), "{said:?}");
    said.out.lines().map(Into::into).collect()
}

#[test]
fn bash_completes_commands_flags_and_other_tools_words() {
    let work = Workdir::new();
    assert_eq!(offered(&work, "tidemark re"), ["report"]);
    for (line, word) in [
        ("tidemark runs --sta", "--state"),
        ("tidemark runs --state fin", "finished"),
        ("tidemark sysbench oltp_read_w", "oltp_read_write"),
        ("tidemark sysbench --thr", "--threads"),
        ("tidemark sysbench oltp_read_only prew", "prewarm"),
        ("tidemark tpcc prep", "prepare"),
        ("tidemark tpcc --wareh", "--warehouses"),
        ("tidemark tpch --query-", "--query-timeout"),
        ("tidemark ycsb lo", "load"),
        ("tidemark ycsb --property", "--property_file"),
        ("tidemark oltpbench --exec", "--execute"),
        ("tidemark store ch", "check"),
        ("tidemark completions ba", "bash"),
    ] {
        let words = offered(&work, line);
        assert!(words.iter().any(|w| w == word), "{line}: {words:?}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = work.ok(&["completions", shell]).out;
        assert!(script.contains("completions"), "{shell}");
    }
    let unknown = work.run(&["completions", "csh"]);
    assert_eq!(unknown.code, Some(2));
}

#[test]
fn every_command_has_a_manual_page_that_renders() {
    let work = Workdir::new();
    let said = work.ok(&["man", "pages/man1"]);
    let folder = work.path().join("pages/man1");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(
        said.out.starts_with(&format!("{} pages", names.len())),
        "{said:?}"
    );
    for name in [
        "",
        "-runs",
        "-tpcc",
        "-sysbench",
        "-ycsb",
        "-store-check",
        "-up",
        "-man",
    ] {
        assert!(names.contains(&format!("tidemark{name}.1")), "{names:?}");
    }
    let help = Command::new(TIDEMARK).arg("--help").output().unwrap();
    let help = Said::of(&help).out;
    let commands = help.lines().filter_map(|l| l.strip_prefix("  "));
    let commands = commands
        .take_while(|l| !l.starts_with("  "))
        .filter_map(|l| {
            let word = l.split(' ').next()?;
            word.chars().all(|c| c.is_ascii_lowercase()).then_some(word)
        });
    for command in commands.filter(|c| !["help", "tidemark"].contains(c)) {
        assert!(
            names.contains(&format!("tidemark-{command}.1")),
            "{command}"
        );
    }
    for name in &names {
        // groff is in every Debian; its warnings are what a page gets wrong.
        let out = Command::new("groff")
            .args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z"])
            .arg(folder.join(name))
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|e| panic!("groff: {e}; install it: apt-get install groff-base"));
        let said = Said::of(&out);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{name}");
    }
    let tpcc = fs::read_to_string(folder.join("tidemark-tpcc.1")).unwrap();
    assert!(
        tpcc.contains("warehouses") && tpcc.contains("inject"),
        "{tpcc}"
    );

    // An earlier page is replaced; nothing else is.
    work.ok(&["man", "pages/man1"]);
    fs::write(folder.join("tidemark-up.1"), "dear diary").unwrap();
    let refused = work.run(&["man", "pages/man1"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    let kept = fs::read_to_string(folder.join("tidemark-up.1")).unwrap();
    assert_eq!(kept, "dear diary");
}
