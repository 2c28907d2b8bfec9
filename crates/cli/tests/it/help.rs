//! Pages of help: one screen for the whole, examples that work first, options in groups.

use super::common::{Said, Workdir};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Every page: the words before `--help`.
const PAGES: &[&str] = &[
    "demo",
    "sysbench",
    "tpcc",
    "tpch",
    "ycsb",
    "pgbench",
    "oltpbench",
    "exec",
    "schema",
    "study",
    "study plan",
    "study run",
    "study resume",
    "study status",
    "diagnose",
    "watch",
    "agent",
    "agents",
    "agents start",
    "attach",
    "workloads",
    "runs",
    "show",
    "report",
    "compare",
    "tag",
    "note",
    "delete",
    "export",
    "import",
    "audit",
    "store",
    "store check",
    "up",
    "down",
    "doctor",
    "completions",
    "man",
];

fn page(work: &Workdir, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').chain(["--help"]).collect();
    work.ok(&words).out
}

/// The command lines that open a page.
fn examples(page: &str) -> Vec<String> {
    let mut lines = page.lines().skip_while(|l| *l != "Examples:").skip(1);
    let example = |l: &str| l.strip_prefix("  ").map(str::to_string);
    let mut found = Vec::new();
    while let Some(line) = lines.next().and_then(example) {
        found.push(line);
    }
    found
}

#[test]
fn every_page_opens_with_two_examples_before_its_options() {
    let work = Workdir::new();
    let help = work.ok(&["--help"]).out;
    for words in PAGES {
        let first = words.split(' ').next().unwrap();
        assert!(help.contains(&format!("\n  {first} ")), "{first}: {help}");
        let page = page(&work, words);
        let examples = examples(&page);
        assert_eq!(examples.len(), 2, "{words}: {page}");
        let at = page.lines().position(|l| l == "Examples:");
        assert!(at.is_some_and(|at| at <= 3), "{words}: {page}");
        let mine = format!("tidemark {first}");
        assert!(examples[0].starts_with(&mine), "{words}: {examples:?}");
    }
    let named = help.lines().filter_map(|l| l.strip_prefix("  "));
    let named: BTreeSet<&str> = named.filter_map(|l| l.split(' ').next()).collect();
    let known: BTreeSet<&str> = PAGES.iter().filter_map(|p| p.split(' ').next()).collect();
    assert_eq!(named, known);
}

#[test]
fn pages_of_other_tools_tell_whose_an_option_is() {
    let work = Workdir::new();
    for (words, tool) in [
        ("sysbench", "sysbench: general:"),
        ("tpcc", "go-tpc: connection:"),
        ("tpch", "go-tpc: connection:"),
        ("ycsb", "go-ycsb:"),
        ("oltpbench", "OLTPBench: steps, executed in this order:"),
    ] {
        let page = page(&work, words);
        let place = |title: &str| {
            let found = page.lines().position(|l| l == title);
            found.unwrap_or_else(|| panic!("{words} has no {title:?}: {page}"))
        };
        let own = "Tidemark's own: all benchmarks:";
        let titles = ["Most used:", "Most used of Tidemark's own:", tool, own];
        let places = match words {
            "sysbench" => vec![place(titles[0]), place(titles[1]), place(tool)],
            _ => titles.iter().map(|title| place(title)).collect(),
        };
        assert!(places.is_sorted(), "{words}: {places:?}");
        // Not a text that was broken before an option's name.
        let option = |l: &&str| l.starts_with("  -") || l.starts_with("      --");
        let first = page.lines().skip(places[0]).take(places[2] - places[0]);
        assert_eq!(first.filter(option).count(), 10, "{words}: {page}");
    }
}

/// In the order in which a newcomer would type them: what an example needs was made by those before.
const ORDER: &[&str] = &[
    "demo",
    "tag",
    "exec",
    "+after",
    "compare",
    "workloads",
    "schema",
    "runs",
    "show",
    "report",
    "note",
    "export",
    "import",
    "audit",
    "store",
    "store check",
    "completions",
    "man",
    "sysbench",
    "up",
    "doctor",
    "diagnose",
    "watch",
    "down",
    "tpcc",
    "tpch",
    "ycsb",
    "oltpbench",
    "study",
    "study plan",
    "study resume",
    "study status",
    "study run",
    "delete",
];

/// Their examples name hosts; `clients.rs` and `pgbench.rs` type them with what a test has.
const OF_OTHER_HOSTS: [&str; 5] = ["agent", "agents", "agents start", "attach", "pgbench"];

/// Times that stand there, and a test's in their place. Nothing else of an example is another.
const SHORTER: &[(&str, &str)] = &[
    ("--time=10 run", "--time=1 run"),
    ("--time 10s", "--time 1s"),
    ("--time 5s", "--time 1s"),
    ("--budget 30s", "--budget 20s"),
];

#[test]
fn every_example_works_as_it_stands() {
    let work = Workdir::new();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let workloads = work.path().join("workloads");
    std::fs::create_dir(&workloads).unwrap();
    let xml = std::fs::read_to_string(root.join("workloads/tpcc.xml")).unwrap();
    let short = xml.replace("<time>10<", "<time>1<");
    std::fs::write(workloads.join("tpcc.xml"), short).unwrap();
    let studies = work.path().join("studies");
    std::fs::create_dir(&studies).unwrap();
    for name in ["quick-sqlite.toml", "thread-sweep.toml"] {
        let text = std::fs::read_to_string(root.join("studies").join(name)).unwrap();
        // Only times and the number of runs are a test's.
        let short = text
            .replace("\"4s\"", "\"1s\"")
            .replace("warmup = \"1s\"", "warmup = \"0s\"")
            .replace("[1, 2, 4]", "[1]")
            .replace("repeats = 2", "repeats = 1");
        std::fs::write(studies.join(name), short).unwrap();
    }
    let (mut typed, mut used) = (BTreeSet::new(), BTreeSet::new());
    for words in ORDER {
        let lines = match words.strip_prefix('+') {
            Some(tag) => vec![format!("tidemark tag last +{tag}")],
            None => examples(&page(&work, words)),
        };
        for line in lines {
            if typed.insert(line.clone()) {
                shell(&work, &shorter(line, &mut used));
            }
        }
    }
    let pages = PAGES
        .iter()
        .copied()
        .filter(|p| !OF_OTHER_HOSTS.contains(p));
    let pages: BTreeSet<&str> = pages.collect();
    let run: BTreeSet<&str> = ORDER
        .iter()
        .copied()
        .filter(|w| !w.starts_with('+'))
        .collect();
    assert_eq!(pages, run);
    assert_eq!(used.len(), SHORTER.len(), "{used:?}");
}

fn shorter(mut line: String, used: &mut BTreeSet<&str>) -> String {
    for (there, instead) in SHORTER {
        if line.contains(there) {
            used.insert(there);
            line = line.replace(there, instead);
        }
    }
    line
}

fn shell(work: &Workdir, line: &str) {
    let program = Path::new(super::common::TIDEMARK);
    let (folder, path) = (program.parent().unwrap(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line])
        .current_dir(work.path())
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("HOME", work.path())
        .env("XDG_DATA_HOME", work.path().join("data"))
        .env("TIDEMARK_STORE", work.path().join("store.db"))
        .env_remove("MYSQL_PWD")
        .env_remove("PGPASSWORD")
        .stdin(Stdio::null());
    let said = Said::of(&shell.output().unwrap());
    assert!(said.is_done(), "{line}: {said:?}");
}
