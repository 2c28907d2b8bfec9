//! Every file in `studies/`, made small and executed on real servers.
mod shrink;

use crate::common::{Said, Workdir, only_the_host_spoils};
use shrink::{Servers, shrink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tidemark_core::record::{AnswerVerdict, QueryOutcome};
use tidemark_store::{StepState, Store};
use tidemark_testkit::{SBTEST, SandboxEngine, Server};

fn examples() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The folder above the one that a program of MariaDB is in.
fn programs_of_mariadb() -> String {
    let program = tidemark_sandbox::find(
        tidemark_sandbox::SandboxEngine::MariaDb,
        &["mariadbd"],
        None,
    );
    let program = program.unwrap();
    program.ancestors().nth(2).unwrap().display().to_string()
}

/// The longest list of threads has more sessions than servers take by default.
fn server(engine: SandboxEngine) -> Server {
    let builder = Server::builder(engine).setting("max_connections", "400");
    builder.start().unwrap()
}

#[test]
fn every_example_is_executed_and_told() {
    let [mariadb, postgres] = [SandboxEngine::MariaDb, SandboxEngine::Postgres].map(server);
    let waiting = Mutex::new(examples());
    assert!(waiting.lock().unwrap().len() >= 10);
    let next = || waiting.lock().unwrap().pop();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(file) = next() {
                    execute(&file, &mariadb, &postgres);
                }
            });
        }
    });
}

fn execute(file: &Path, mariadb: &Server, postgres: &Server) {
    let name = file.file_name().unwrap().to_str().unwrap();
    let databases = [mariadb, postgres].map(|s| s.fresh_database(name).unwrap());
    let servers = Servers {
        mariadb: databases[0].endpoint().clone(),
        postgres: databases[1].endpoint().clone(),
        programs: programs_of_mariadb(),
    };
    let small = shrink(&std::fs::read_to_string(file).unwrap(), &servers);
    let dir = Workdir::new();
    std::fs::write(dir.path().join(name), &small.text).unwrap();
    let tidemark = |args: &[&str]| {
        let mut command = dir.command(args);
        // Private servers have their folders there.
        command.env("XDG_DATA_HOME", dir.path().join("data"));
        command.envs(small.variables.iter().map(|v| (v, SBTEST)));
        Said::of(&command.output().unwrap())
    };
    let mut said = tidemark(&["study", "run", name]);
    // A machine that does much else does not open dozens of sessions in time. A real failure stays.
    for _ in 0..2 {
        if said.all().contains("no session could be opened") {
            said = tidemark(&["study", "resume", "last", "--retry-failed"]);
        }
    }
    assert!(said.is_done(), "{name}: {said:?}\n{}", small.text);

    only_the_host_spoils(&dir.path().join("store.db"));
    let store = Store::open_existing(&dir.path().join("store.db")).unwrap();
    let study = store.study("last").unwrap();
    for step in store.steps(&study.id).unwrap() {
        let is_done = matches!(step.state, StepState::Done | StepState::Invalid);
        assert!(is_done, "{name}: {step:?}");
    }
    let runs = store.runs_of(&study.id).unwrap();
    assert_eq!(runs.len(), small.points, "{name}: {runs:?}");
    for run in runs {
        let record = store.get(&run.run.id).unwrap();
        assert!(run.run.transactions_per_s() > 0.0, "{name}: {run:?}");
        if record.workload != "tpch" {
            continue;
        }
        assert_eq!(record.queries.len(), 22, "{name}: {}", run.cell);
        for query in &record.queries {
            assert_eq!(query.outcome, QueryOutcome::Done, "{name}: {query:?}");
            assert_eq!(query.answer, AnswerVerdict::Right, "{name}: {query:?}");
        }
    }

    let report = tidemark(&["report", &study.id, "--out=report.html"]);
    assert_eq!(report.code, Some(0), "{name}: {report:?}");
    let told = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    for named in &small.named {
        // As a whole: the report has the study's file, too.
        let as_told = [">NAME<", "=NAME<", " NAME/", "/NAME/"].map(|p| p.replace("NAME", named));
        let is_told = as_told.iter().any(|part| told.contains(part));
        assert!(is_told, "{name}: {named} is not in its report");
    }
}
