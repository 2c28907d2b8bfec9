//! Studies on private servers, which they start and end.

use super::common::study::whole;
use super::common::{Said, Workdir, wait_until};
use std::process::{Child, Command};
use tidemark_store::{Filter, ListedState, Store};

/// `tidemark` with sandboxes of its own.
fn command(dir: &Workdir, args: &[&str]) -> Command {
    let mut command = dir.command(args);
    command.env("XDG_DATA_HOME", dir.path().join("data"));
    command
}

fn run(dir: &Workdir, args: &[&str]) -> Said {
    Said::of(&command(dir, args).output().unwrap())
}

/// A study that ends with the test, however that ends.
struct Study(Child);

impl Study {
    fn start(dir: &Workdir, file: &str) -> Self {
        Self(command(dir, &["study", "run", file]).spawn().unwrap())
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Study {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _gone = self.0.wait();
    }
}

const STUDY: &str = "name = \"versions\"\ntime = 2\n\
    [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = 100 }\n\
    [[factor]]\nname = \"version\"\nvalues = [\n\
    { label = \"one\", target = \"up:postgres?work_mem=9MB\" },\n\
    { label = \"two\", target = \"up:postgres\" },\n]\n";

#[test]
fn private_servers_are_started_found_again_after_a_kill_and_ended() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("v.toml"), STUDY).unwrap();
    let mut study = Study::start(&dir, "v.toml");
    let store = || Store::open_existing(&dir.path().join("store.db"));
    wait_until("a run goes on", || {
        let runs = store().and_then(|s| s.list(&Filter::default()));
        runs.is_ok_and(|runs| runs.iter().any(|r| r.state == ListedState::Running))
    });
    study.kill();
    let left = run(&dir, &["up"]).out;
    assert_eq!(left.matches("running, process").count(), 2, "{left}");
    assert!(!left.contains("in use by"), "{left}");

    // One of them is lost with its data: it is started anew, and loaded again.
    let first = left.lines().find_map(|l| {
        let name = l.split_whitespace().next()?;
        name.ends_with("-1").then_some(name)
    });
    assert_eq!(run(&dir, &["down", first.unwrap()]).code, Some(0));
    let said = run(&dir, &["study", "resume"]);
    whole(&dir, &said, 4);
    let started = said.out.matches("starting a sandbox").count();
    assert_eq!(started, 1, "{said:?}");
    assert_eq!(said.out.matches("load one/sbtest").count(), 1, "{said:?}");
    assert!(run(&dir, &["up"]).out.contains("no sandboxes"));

    let store = store().unwrap();
    let id = store.study("last").unwrap().id;
    let runs = store.runs_of(&id).unwrap();
    assert_eq!(runs.len(), 2);
    let setting = |at: usize| {
        let record = store.get(&runs[at].run.id).unwrap();
        let place = record.study.unwrap();
        let found = record.settings.iter().find(|s| s.name == "work_mem");
        (
            place.factors["version"].clone(),
            found.map(|s| s.value.clone()),
        )
    };
    assert_eq!(setting(0), ("one".into(), Some("9MB".into())));
    assert_eq!(setting(1), ("two".into(), Some("4MB".into())));
    // The study begun last has a name of its own.
    let report = run(&dir, &["report", "study:last", "--format", "md", "-o", "-"]);
    assert!(report.out.starts_with("# versions\n"), "{report:?}");
    let other = run(&dir, &["compare", &runs[0].run.id, "study:last"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.err.contains("is on both sides"), "{other:?}");
    // The password of a private server is in no record either.
    let file = std::fs::read(dir.path().join("store.db")).unwrap();
    assert!(String::from_utf8_lossy(&file).contains("postgres://tidemark:***@127.0.0.1:"));
}

/// Commands don't start servers: the plan says how its steps are typed all the same.
#[test]
fn a_plan_tells_how_a_step_on_a_private_server_is_typed() {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("v.toml"), STUDY).unwrap();
    let said = run(&dir, &["study", "plan", "v.toml"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("'--target=up:postgres?work_mem=9MB'"));
    let told = "To run one of these steps by hand";
    assert_eq!(said.out.matches(told).count(), 2, "{said:?}");
    let start = "url=$(tidemark up postgres --set work_mem=9MB)";
    assert!(said.out.contains(start), "{said:?}");
    // That is a command that prints a URL, and the step is one that takes it.
    let url = run(&dir, &["up", "postgres", "--set", "work_mem=9MB"]);
    let step = said.out.lines().find(|l| l.ends_with(" prepare")).unwrap();
    let words = step
        .trim()
        .replace("'--target=up:postgres?work_mem=9MB'", "");
    let target = format!("--target={}", url.out.trim());
    let mut words: Vec<&str> = words.split_whitespace().skip(1).collect();
    words.insert(2, &target);
    let typed = run(&dir, &words);
    assert_eq!(run(&dir, &["down", "--all"]).code, Some(0));
    assert_eq!(typed.code, Some(0), "{url:?} {typed:?}");

    let text = STUDY.replace("up:postgres?work_mem=9MB", "up:postgres?name=mine");
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let said = run(&dir, &["study", "plan", "v.toml"]);
    let started = "url=$(tidemark up postgres --name mine)";
    assert!(said.out.contains(started), "{said:?}");
    assert!(said.out.contains("$(tidemark up mine --url)"), "{said:?}");
}

#[test]
fn what_can_not_be_started_is_refused_with_its_line() {
    let dir = Workdir::new();
    let text = STUDY.replace("\"up:postgres\"", "\"up:postgre\"");
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let said = run(&dir, &["study", "plan", "v.toml"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("v.toml:10: up:postgre: "), "{said:?}");
    assert!(said.err.contains("did you mean postgres?"), "{said:?}");
    // What keeps a study from beginning leaves no server behind.
    let text = STUDY.replace("work_mem=9MB", "no_such_setting=1");
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let said = run(&dir, &["study", "run", "v.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(run(&dir, &["up"]).out.contains("no sandboxes"));
}

#[test]
fn a_server_with_a_name_is_asked_for_by_its_name_alone() {
    let dir = Workdir::new();
    let text = STUDY.replace(
        "up:postgres?work_mem=9MB",
        "up:postgres?name=t&work_mem=9MB",
    );
    std::fs::write(dir.path().join("v.toml"), text).unwrap();
    let refused = run(&dir, &["study", "plan", "v.toml"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains("use up:postgres?name=t alone"),
        "{refused:?}"
    );
}

#[test]
fn servers_are_left_to_the_study_that_uses_them_unless_somebody_insists() {
    let dir = Workdir::new();
    for name in ["mine", "other"] {
        let up = run(&dir, &["up", "postgres", "--name", name]);
        assert_eq!(up.code, Some(0), "{up:?}");
    }
    let text = "name = \"held\"\ntime = 60\n\
        [[target]]\nname = \"users\"\nurl = \"up:postgres?name=mine\"\n\
        [[target]]\nname = \"own\"\nurl = \"up:postgres\"\n\
        [[workload]]\nname = \"oltp_point_select\"\noptions = { table-size = 100 }\n";
    std::fs::write(dir.path().join("h.toml"), text).unwrap();
    let mut study = Study::start(&dir, "h.toml");
    let store = || Store::open_existing(&dir.path().join("store.db"));
    wait_until("a run goes on", || {
        let runs = store().and_then(|s| s.list(&Filter::default()));
        runs.is_ok_and(|runs| runs.iter().any(|r| r.state == ListedState::Running))
    });
    let id = store().unwrap().study("last").unwrap().id;
    let by = format!("in use by process {} (study {id})", study.0.id());
    let listed = run(&dir, &["up"]).out;
    assert_eq!(listed.matches(&by).count(), 2, "{listed}");

    let down = run(&dir, &["down", "--all"]);
    assert_eq!(down.code, Some(5), "{down:?}");
    assert_eq!(down.out, "other is down\n", "nobody uses that one");
    assert_eq!(down.err.matches(&by).count(), 2, "{down:?}");
    assert!(down.err.contains("tidemark down mine --force"), "{down:?}");
    let listed = run(&dir, &["up"]).out;
    assert_eq!(listed.matches("running, process").count(), 2, "{listed}");

    let forced = run(&dir, &["down", "mine", "--force"]);
    assert_eq!(forced.out, "mine is down\n", "{forced:?}");
    // What was used by a process that was killed is used by nobody.
    study.kill();
    let down = run(&dir, &["down", "--all"]);
    assert_eq!(down.code, Some(0), "{down:?}");
    assert!(run(&dir, &["up"]).out.contains("no sandboxes"));
}
