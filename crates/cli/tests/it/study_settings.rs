//! Settings of servers that a study changes are put back, whatever ends it.

use super::common::study::whole;
use super::common::{Said, Workdir, signal, wait_until};
use tidemark_store::{Filter, ListedState, StepState, Store};
use tidemark_testkit::{SandboxEngine, Server};

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
    let server = Server::builder(SandboxEngine::MariaDb).start().unwrap();
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
    let server = Server::builder(SandboxEngine::Postgres).start().unwrap();
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
    let left = format!("changed {} of", case.name);
    assert!(refused.err.contains(&left), "{refused:?}");
    assert!(refused.err.contains("tidemark study resume"), "{refused:?}");
    assert_eq!(case.value(), case.to);
    let said = dir.ok(&["study", "resume"]);
    whole(&dir, &said, 3);
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
    let told = "no session can be opened, so it was restored";
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

/// `innodb_io_capacity` above `innodb_io_capacity_max` raises that, too.
#[test]
fn what_the_server_changes_with_a_setting_is_put_back_too() {
    let case = mariadb();
    let ask = "SELECT @@GLOBAL.innodb_io_capacity, @@GLOBAL.innodb_io_capacity_max";
    let values = || case.server.query(ask).unwrap();
    let before = values();
    let dir = Workdir::new();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, case.study("innodb_io_capacity = 54321", 2)).unwrap();
    let db = || rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
    let begin = || {
        let study = dir.spawn(&["study", "run", "--anew", "s.toml"]);
        wait_until(
            "the settings are changed, and what moved is in the store",
            || {
                values().contains("54321")
                    && dir
                        .run(&["study", "status", "last"])
                        .out
                        .contains("innodb_io_capacity_max of target t is changed to ")
            },
        );
        study
    };
    let kill = |mut study: std::process::Child| {
        signal(study.id(), "KILL");
        study.wait().unwrap();
        assert_ne!(values(), before);
    };

    // At its end, which tells it.
    let said = Said::of(&begin().wait_with_output().unwrap());
    whole(&dir, &said, 3);
    let told = "innodb_io_capacity = 54321 made the server of target t also change \
                innodb_io_capacity_max from ";
    assert!(said.out.contains(told), "{said:?}");
    assert_eq!(values(), before);

    // By resume after a kill.
    kill(begin());
    let said = dir.ok(&["study", "resume"]);
    whole(&dir, &said, 3);
    assert_eq!(values(), before);

    // Killed between the change and the look at what moved: the store has the values before.
    kill(begin());
    let most = before.split_whitespace().nth(1).unwrap();
    let snapshot = format!("{{\"innodb_io_capacity_max\":\"{most}\",\"read_only\":\"OFF\"}}");
    db().execute(
        "UPDATE study_setting SET snapshot = ?1 WHERE name = 'innodb_io_capacity'",
        [snapshot],
    )
    .unwrap();
    let gone = db()
        .execute("DELETE FROM study_setting WHERE moved_by IS NOT NULL", [])
        .unwrap();
    assert_eq!(gone, 1);
    dir.ok(&["study", "resume"]);
    assert_eq!(values(), before);

    // What one setting would undo of another is refused.
    let both = "innodb_io_capacity_max = 3000, innodb_io_capacity = 54321";
    std::fs::write(&path, case.study(both, 1)).unwrap();
    let said = dir.run(&["study", "run", "s.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let told = "change innodb_io_capacity_max from the requested 3000 to ";
    assert!(said.out.contains(told), "{said:?}");
    assert_eq!(values(), before);
}

#[test]
fn a_server_that_is_away_when_settings_are_put_back_is_waited_for() {
    let case = mariadb();
    let before = case.value();
    let dir = Workdir::new();
    let setting = format!("{} = \"{}\"", case.name, case.to);
    let text = case.study(&setting, 3).replace(
        "options = { ",
        "options = { on-disconnect = \"fail\", reconnect-timeout = \"1s\", ",
    );
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    let study = dir.spawn(&["study", "run", "s.toml"]);
    let store = || Store::open_existing(&dir.path().join("store.db")).unwrap();
    wait_until("a run goes on with the setting", || {
        case.value() == case.to
            && (store().list(&Filter::default()).unwrap().iter())
                .any(|run| run.state == ListedState::Running)
    });
    case.server.kill9().unwrap();
    wait_until(
        "its step has failed, so that the setting is put back",
        || {
            let id = store().study("last").unwrap().id;
            let steps = store().steps(&id).unwrap();
            steps.iter().any(|s| s.state == StepState::Failed)
        },
    );
    case.server.restart().unwrap();
    let said = Said::of(&study.wait_with_output().unwrap());
    assert_eq!(said.code, Some(1), "{said:?}");
    // A busy machine may spoil the run before it.
    let whole = [
        "2 of 3 steps done, 1 failed",
        "1 of 3 steps done, 1 invalid, 1 failed",
    ];
    let whole = whole.map(|done| said.out.contains(&format!("{done}, 0 skipped, 0 left")));
    assert!(whole.contains(&true), "{said:?}");
    assert_eq!(case.value(), before);
    let id = store().study("last").unwrap().id;
    assert_eq!(store().changed_settings(&id).unwrap(), []);
}

#[test]
fn a_list_of_names_is_a_list_on_postgres_and_admin_has_a_password_of_its_own() {
    let case = postgres();
    let query = |sql: &str| case.server.query(sql).unwrap().trim().to_string();
    query("CREATE SCHEMA \"Odd, name\"");
    query("ALTER SYSTEM SET search_path = public, 'Odd, name'");
    query("SELECT pg_reload_conf()");
    query("CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'geheim'");
    wait_until("the server has read its files", || {
        query("SHOW search_path") == "public, \"Odd, name\""
    });
    let in_file = "SELECT setting FROM pg_file_settings WHERE name = 'search_path' \
                   AND sourcefile LIKE '%auto.conf'";
    let before = query(in_file);
    let admin = format!("postgres://boss@127.0.0.1:{}/postgres", case.server.port());
    let text = case
        .study("search_path = [\"public\", \"pg_temp\"]", 2)
        .replace(
            "[[workload]]",
            &format!("admin = \"{admin}\"\nadmin-password = \"env:BOSS\"\n[[workload]]"),
        );
    let dir = Workdir::new();
    std::fs::write(dir.path().join("s.toml"), text).unwrap();
    let command = |password: Option<&str>| {
        let mut command = dir.command(&["study", "run", "s.toml"]);
        command.env_remove("BOSS");
        command.envs(password.map(|p| ("BOSS", p)));
        command
    };
    let missing = Said::of(&command(None).output().unwrap());
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let told = "target t: admin-password = \"env:BOSS\", and BOSS is not set in the environment";
    assert!(missing.err.contains(told), "{missing:?}");
    let wrong = Said::of(&command(Some("falsch")).output().unwrap());
    assert_eq!(wrong.code, Some(4), "{wrong:?}");
    assert!(wrong.err.contains("boss"), "{wrong:?}");

    let study = command(Some("geheim")).spawn().unwrap();
    wait_until("the list is changed", || {
        query("SHOW search_path") == "public, pg_temp"
    });
    let said = Said::of(&study.wait_with_output().unwrap());
    dir.must_be_done(&said);
    assert_eq!(query(in_file), before);
    assert!(!said.all().contains("geheim"), "{said:?}");
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("geheim") && !text.contains("falsch"));
    }
}
