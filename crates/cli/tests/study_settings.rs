//! Settings of servers that a study changes are put back, whatever ends it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Said, Workdir, signal, wait_until};
use tidemark_testkit::{Engine, Server};

struct Case {
    server: Server,
    url: String,
    /// A setting that can be changed, and a value that it has not.
    name: &'static str,
    to: &'static str,
    /// Asks for its value.
    ask: &'static str,
    /// One that needs a restart.
    fixed: &'static str,
}

impl Case {
    fn value(&self) -> String {
        self.server.query(self.ask).unwrap().trim().to_string()
    }

    fn study(&self, setting: &str, time: u32) -> String {
        format!(
            "name = \"s\"\ntime = {time}\n[[target]]\nname = \"t\"\nurl = \"{}\"\n\
             [[workload]]\nname = \"oltp_point_select\"\noptions = {{ table-size = 100 }}\n\
             [[factor]]\nname = \"setting\"\nvalues = [\n  {{ label = \"as it is\" }},\n  \
             {{ label = \"changed\", set-global = {{ {setting} }} }},\n]\n",
            self.url
        )
    }
}

fn mariadb() -> Case {
    let server = Server::builder(Engine::MariaDb).start().unwrap();
    Case {
        url: server.url(),
        server,
        name: "innodb_flush_log_at_trx_commit",
        to: "1",
        ask: "SELECT @@GLOBAL.innodb_flush_log_at_trx_commit",
        fixed: "innodb_page_size",
    }
}

fn postgres() -> Case {
    let server = Server::builder(Engine::Postgres).start().unwrap();
    Case {
        url: server.url(),
        server,
        name: "work_mem",
        to: "12MB",
        ask: "SHOW work_mem",
        fixed: "shared_buffers",
    }
}

fn killed_and_resumed(case: &Case) {
    let dir = Workdir::new();
    let path = dir.path().join("s.toml");
    let setting = format!("{} = \"{}\"", case.name, case.to);
    std::fs::write(&path, case.study(&setting, 2)).unwrap();
    let before = case.value();
    assert_ne!(before, case.to);
    let mut study = dir.spawn(&["study", "run", "s.toml"]);
    wait_until("the setting is changed", || case.value() == case.to);
    let status = dir.ok(&["study", "status", "last"]).out;
    assert!(
        status.contains(&format!(
            "{} of target t is changed to {}",
            case.name, case.to
        )),
        "{status}"
    );
    signal(study.id(), "KILL");
    study.wait().unwrap();
    assert_eq!(case.value(), case.to, "nobody has put it back yet");
    // No other execution takes that for the server's own value, nor measures with it.
    let refused = dir.run(&["study", "run", "--anew", "s.toml"]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    let left = format!("has changed {} of", case.name);
    assert!(refused.err.contains(&left), "{refused:?}");
    assert!(refused.err.contains("tidemark study resume"), "{refused:?}");
    assert_eq!(case.value(), case.to);
    let said = dir.ok(&["study", "resume"]);
    assert!(said.out.contains("3 of 3 steps done"), "{said:?}");
    assert_eq!(case.value(), before);

    // Also when no step is left to be taken: it is the first thing that resume does.
    let mut study = dir.spawn(&["study", "run", "s.toml"]);
    wait_until("the setting is changed", || case.value() == case.to);
    study.kill().unwrap();
    study.wait().unwrap();
    let db = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    db.execute("UPDATE study_step SET state = 'failed'", [])
        .unwrap();
    let said = dir.run(&["study", "resume"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains("0 of 3 steps done, 3 failed"), "{said:?}");
    assert_eq!(case.value(), before);

    // Ctrl-C puts it back at once.
    let study = dir.spawn(&["study", "run", "s.toml"]);
    wait_until("the setting is changed again", || case.value() == case.to);
    signal(study.id(), "INT");
    let said = Said::of(&study.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:?}");
    assert_eq!(case.value(), before);

    // What can't be changed is refused before anything is touched.
    for (setting, why) in [
        (
            format!("{} = 1", case.fixed),
            "it can't be changed while the server runs",
        ),
        (
            "no_such_setting = 1".into(),
            "the server has no such setting",
        ),
        (
            format!("{}x = 1", case.name),
            &*format!("did you mean {}?", case.name),
        ),
    ] {
        std::fs::write(&path, case.study(&setting, 1)).unwrap();
        let refused = dir.run(&["study", "run", "--anew", "s.toml"]);
        assert_ne!(refused.code, Some(0), "{refused:?}");
        assert!(refused.err.contains(why), "{refused:?}");
        assert!(!refused.out.contains("steps done"), "{refused:?}");
    }
    // What the server does not take fails the step, and is put back.
    std::fs::write(
        &path,
        case.study(&format!("{} = \"nonsense\"", case.name), 1),
    )
    .unwrap();
    let failed = dir.run(&["study", "run", "--anew", "s.toml"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(
        failed.out.contains("2 of 3 steps done, 1 failed"),
        "{failed:?}"
    );
    assert_eq!(case.value(), before);
}

#[test]
fn on_mariadb() {
    let case = mariadb();
    killed_and_resumed(&case);
    // Nobody could come in any more to put it back.
    locks_out(&case, "require_secure_transport = \"ON\"");
    let left = case
        .server
        .query("SELECT @@GLOBAL.require_secure_transport");
    assert_eq!(left.unwrap().trim(), "0");
}

fn locks_out(case: &Case, setting: &str) {
    let dir = Workdir::new();
    std::fs::write(dir.path().join("s.toml"), case.study(setting, 1)).unwrap();
    let said = dir.run(&["study", "run", "s.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let told = "no session can be opened any more, so it was put back";
    let status = dir.ok(&["study", "status", "last"]).out;
    assert!(status.contains(told), "{said:?}\n{status}");
}

#[test]
fn on_postgres_where_nobody_had_set_it_it_is_reset() {
    let case = postgres();
    killed_and_resumed(&case);
    locks_out(&case, "session_preload_libraries = \"no_such_library\"");
    let left = case
        .server
        .query("SELECT count(*) FROM pg_file_settings WHERE name = 'work_mem' AND sourcefile LIKE '%auto.conf'")
        .unwrap();
    assert_eq!(left.trim(), "0");
    // And what somebody had set is set again.
    case.server
        .query("ALTER SYSTEM SET work_mem = '9MB'")
        .unwrap();
    case.server.query("SELECT pg_reload_conf()").unwrap();
    wait_until("the server has read its files", || case.value() == "9MB");
    let dir = Workdir::new();
    let text = case.study("work_mem = \"12MB\"", 1);
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    dir.ok(&["study", "run", "s.toml"]);
    assert_eq!(case.value(), "9MB");
}
