//! Private servers start, answer, are found again, crash, and leave nothing behind.
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};
use tempfile::TempDir;
use tidemark_process::{Signal, alive, arguments, children, kill_and_reap, signal, wait_until};
use tidemark_sandbox::{
    Error, Home, Running, SandboxEngine, SandboxRequest, SandboxState, StartStep,
};

fn home() -> (TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(&dir.path().join("sandboxes"));
    (dir, home)
}

/// Account, password and port of a URL.
fn parts(url: &str) -> (&str, &str, &str) {
    let rest = url.split_once("://").unwrap().1;
    let (account, place) = rest.split_once('@').unwrap();
    let (user, password) = account.split_once(':').unwrap();
    let port = place.split_once(':').unwrap().1;
    (user, password, port.split_once('/').unwrap().0)
}

/// Asks by the server's own client.
fn ask(url: &str, sql: &str) -> Result<String, String> {
    let (user, password, port) = parts(url);
    let mut command = if url.starts_with("mysql") {
        let mut command = Command::new("mariadb");
        command
            .args([
                "--no-defaults",
                "-BN",
                "-h",
                "127.0.0.1",
                "-P",
                port,
                "-u",
                user,
            ])
            .args(["-D", "tidemark", "-e", sql])
            .env("MYSQL_PWD", password);
        command
    } else {
        let mut command = Command::new("psql");
        command
            .args([
                "-XAt",
                "-h",
                "127.0.0.1",
                "-p",
                port,
                "-U",
                user,
                "-d",
                "tidemark",
            ])
            .args(["-c", sql])
            .env("PGPASSWORD", password);
        command
    };
    let out = command.output().unwrap();
    if out.status.success() {
        Ok(String::from_utf8(out.stdout).unwrap().trim().into())
    } else {
        Err(String::from_utf8_lossy(&out.stderr).into_owned())
    }
}

fn pid(running: &Running) -> u32 {
    match running.sandbox().state() {
        SandboxState::Running { pid } => pid,
        other => panic!("{other:?}"),
    }
}

/// The life of one sandbox; what holds for both engines.
fn life(engine: SandboxEngine, setting: (&str, &str), shown: &str) {
    let (_dir, home) = home();
    let mut request = SandboxRequest::new(engine);
    request
        .set(&format!("{}={}", setting.0, setting.1))
        .unwrap();
    let mut steps = Vec::new();
    let running = home
        .start_watched(&request, &mut |step| {
            if steps.last() != Some(&step) {
                steps.push(step);
            }
            true
        })
        .unwrap();
    assert_eq!(steps, [StartStep::Files, StartStep::Start]);
    let url = running.url();
    let (user, password, port) = parts(&url);
    assert_eq!((user, password.len()), ("tidemark", 32));
    assert!(!["3306", "5432"].contains(&port));
    assert_eq!(ask(&url, shown).unwrap(), setting.1);
    ask(&url, "CREATE TABLE t (n INT); INSERT INTO t VALUES (42)").unwrap();
    assert_eq!(ask(&url, "SELECT n FROM t").unwrap(), "42");
    let wrong = url.replace(password, &"0".repeat(32));
    assert!(ask(&wrong, "SELECT 1").is_err(), "any password does");

    // The password is for its owner alone: in no argument, and in no file that others can read.
    let (server, folder) = (pid(&running), running.sandbox().folder().to_path_buf());
    assert!(arguments(server).iter().all(|a| !a.contains(password)));
    for file in files(&folder) {
        let holds = fs::read(&file)
            .is_ok_and(|b| b.windows(password.len()).any(|w| w == password.as_bytes()));
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert!(!holds || mode & 0o077 == 0, "{}", file.display());
    }
    assert!(!format!("{running:?}").contains(password));

    // It is found by its name while it runs, and not started twice.
    assert_eq!(home.find(engine.word()).unwrap().url(), url);
    request.name = Some(engine.word().into());
    let taken = home.start(&request).unwrap_err();
    assert!(matches!(taken, Error::Taken { .. }), "{taken}");

    // Kept, it outlives the value; taken down, nothing is left.
    let kept = running.keep();
    assert!(alive(server));
    assert_eq!(ask(&kept.url(), "SELECT n FROM t").unwrap(), "42");
    let removed = home.down(kept.name()).unwrap();
    assert!(removed.left.is_empty());
    assert!(!alive(server) && !folder.exists());
    assert!(home.list().unwrap().is_empty());
    assert!(matches!(home.down(kept.name()), Err(Error::Unknown { .. })));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => all.extend(files(&entry.path())),
            kind if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
    all
}

#[test]
fn life_of_mariadb() {
    life(
        SandboxEngine::MariaDb,
        ("innodb_flush_log_at_trx_commit", "2"),
        "SELECT @@innodb_flush_log_at_trx_commit",
    );
}

#[test]
fn life_of_postgres() {
    life(
        SandboxEngine::Postgres,
        ("synchronous_commit", "off"),
        "SHOW synchronous_commit",
    );
}

#[test]
fn two_of_one_kind_run_side_by_side_and_end_with_their_values() {
    let (dir, home) = home();
    let folder = dir.path().join("mine");
    let mut request = SandboxRequest::parse("up:postgres?max_connections=33").unwrap();
    let first = home.start(&request).unwrap();
    request.folder = Some(folder.clone());
    // The server's account passes through a folder that is closed to others only as its owner.
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let second = home.start(&request).unwrap();
    assert_eq!(second.sandbox().name(), "postgres-2");
    assert_eq!(
        second.sandbox().folder(),
        fs::canonicalize(&folder).unwrap()
    );
    assert_eq!(ask(&second.url(), "SHOW max_connections").unwrap(), "33");
    assert_ne!(parts(&first.url()).1, parts(&second.url()).1);
    let (one, two) = (pid(&first), pid(&second));
    fs::write(folder.join("diary.txt"), "mine").unwrap();
    drop(first);
    assert!(!alive(one) && alive(two));
    second.stop().unwrap();
    assert!(!alive(two));
    assert_eq!(
        fs::read_to_string(folder.join("diary.txt")).unwrap(),
        "mine"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert!(home.list().unwrap().is_empty());
}

#[test]
fn what_cannot_start_says_why_and_leaves_nothing() {
    let (dir, home) = home();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let folder = dir.path().join("box");
    for (target, word) in [
        (
            "up:mariadb?no-such-variable=1",
            "MariaDB did not start: [ERROR] ",
        ),
        (
            "up:mariadb?innodb_flush_method=sideways",
            "MariaDB did not start: [ERROR] ",
        ),
        (
            "up:postgres?no_such_variable=1",
            "PostgreSQL did not start: FATAL: ",
        ),
        (
            "up:postgres?shared_buffers=sideways",
            "PostgreSQL did not start: FATAL: ",
        ),
    ] {
        let mut request = SandboxRequest::parse(target).unwrap();
        request.folder = Some(folder.clone());
        let error = home.start(&request).unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
        let said = error.to_string();
        let first = said.lines().next().unwrap();
        let setting = &target[target.find('?').unwrap() + 1..target.find('=').unwrap()];
        assert!(first.starts_with(word), "{said}");
        assert!(
            first.replace('-', "_").contains(&setting.replace('-', "_")),
            "{said}"
        );
        assert!(said.lines().count() <= 7, "{said}");
        assert!(!folder.exists() && home.list().unwrap().is_empty());
    }
    let nowhere = format!("up:mariadb?version-from={}", dir.path().display());
    let error = home
        .start(&SandboxRequest::parse(&nowhere).unwrap())
        .unwrap_err();
    assert!(matches!(error, Error::Missing { .. }), "{error}");
    let request = SandboxRequest::new(SandboxEngine::Postgres);
    let error = home.start_watched(&request, &mut |_| false).unwrap_err();
    assert_eq!(error, Error::GivenUp(SandboxEngine::Postgres));
    let late = home.start_watched(&request, &mut |step| step == StartStep::Files);
    assert!(matches!(late, Ok(_) | Err(Error::GivenUp(_))));
    drop(late);
    assert!(home.list().unwrap().is_empty());
}

#[test]
fn a_server_that_ended_by_itself_is_seen_and_cleared_away() {
    let (_dir, home) = home();
    let kept = home
        .start(&SandboxRequest::new(SandboxEngine::MariaDb))
        .unwrap();
    let server = pid(&kept);
    let name = kept.keep().name().to_string();
    signal(Signal::SIGKILL, &[server]);
    // It is this process's child still, and a zombie has ended.
    assert!(wait_until(Duration::from_secs(10), || !alive(server)));
    let found = home.find(&name).unwrap();
    assert_eq!(found.state(), SandboxState::Ended);
    home.down(&name).unwrap();
    assert!(!found.folder().exists());
}

const STARTER: &str = "TIDEMARK_TEST_STARTER";

/// This program as one that starts a sandbox.
fn starting(test: &str, home: &Path, engine: SandboxEngine) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", &format!("it::sandbox::{test}"), "--nocapture"])
        .env(STARTER, format!("{}={}", engine.word(), home.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The same, to be killed on the way.
fn starter(test: &str, home: &Path, engine: SandboxEngine) -> Child {
    starting(test, home, engine).spawn().unwrap()
}

/// Whoever starts a sandbox is killed at moments all along the way. Whatever is there then is listed
/// and can be taken down, and no process and no file of it is left.
#[test]
fn a_start_killed_anywhere_can_be_taken_down() {
    let test = "a_start_killed_anywhere_can_be_taken_down";
    if let Ok(given) = env::var(STARTER) {
        let (engine, home) = given.split_once('=').unwrap();
        let request = SandboxRequest::new(SandboxRequest::engine(engine).unwrap());
        let running = Home::at(home.as_ref()).start(&request).unwrap();
        running.keep();
        return;
    }
    let mut seen = Vec::new();
    for (engine, after_ms) in [
        (SandboxEngine::Postgres, 60),
        (SandboxEngine::MariaDb, 250),
        (SandboxEngine::Postgres, 700),
        (SandboxEngine::MariaDb, 1200),
    ] {
        let (dir, home) = home();
        let place = dir.path().join("sandboxes");
        let mut child = starter(test, &place, engine);
        // From the moment it is listed.
        let begun = Instant::now();
        assert!(wait_until(Duration::from_secs(20), || {
            !home.list().unwrap().is_empty()
        }));
        std::thread::sleep(Duration::from_millis(after_ms));
        let early = matches!(
            home.list().unwrap()[0].state(),
            SandboxState::Starting { .. }
        );
        if early {
            let busy = home.down(engine.word()).unwrap_err();
            let goes_on = matches!(busy, Error::Starting { .. });
            assert!(goes_on || child.try_wait().unwrap().is_some(), "{busy}");
        }
        kill_and_reap(&mut child);
        let listed = home.list().unwrap();
        let [sandbox] = listed.as_slice() else {
            panic!("{listed:?}");
        };
        seen.push(sandbox.state());
        let folder = sandbox.folder().to_path_buf();
        // What makes the files would go on without its parent.
        let removed = home.down(engine.word());
        assert!(removed.is_ok(), "{removed:?}: {sandbox:?}");
        assert!(home.list().unwrap().is_empty());
        assert!(begun.elapsed() < Duration::from_secs(60));
        let ended = || !folder.exists() && servers_in(&folder).is_empty();
        let cleared = wait_until(Duration::from_secs(20), ended);
        assert!(cleared, "{}: {:?}", folder.display(), servers_in(&folder));
    }
    let half = |s: &SandboxState| matches!(s, SandboxState::HalfStarted { .. });
    assert!(seen.iter().any(half), "{seen:?}");
}

/// Passwords that whoever starts a server has in the environment are not in the server's, which runs
/// as another account.
#[test]
fn no_secret_of_the_environment_reaches_a_server() {
    let test = "no_secret_of_the_environment_reaches_a_server";
    if let Ok(given) = env::var(STARTER) {
        let (engine, home) = given.split_once('=').unwrap();
        let request = SandboxRequest::new(SandboxRequest::engine(engine).unwrap());
        let running = Home::at(home.as_ref()).start(&request).unwrap();
        running.keep();
        return;
    }
    for engine in SandboxEngine::ALL {
        let (dir, home) = home();
        let status = starting(test, &dir.path().join("sandboxes"), engine)
            .env("DB_PASSWORD", "geheim-4711")
            .env("PGPASSWORD", "geheim-4711")
            .env("VAULT_TOKEN", "geheim-4711")
            .status()
            .unwrap();
        assert!(status.success());
        let SandboxState::Running { pid } = home.find(engine.word()).unwrap().state() else {
            panic!("{:?}", home.list());
        };
        let of = |pid: &u32| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut all = children(pid);
        all.push(pid);
        let seen: Vec<u8> = all.iter().flat_map(of).collect();
        home.down(engine.word()).unwrap();
        let seen = String::from_utf8_lossy(&seen);
        assert!(seen.contains("LC_ALL=C"), "{seen}");
        assert!(!seen.contains("geheim"), "{seen}");
    }
}

/// Processes that name the folder among their arguments.
fn servers_in(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| alive(*pid))
        .map(|pid| arguments(pid).join(" "))
        .filter(|words| words.contains(&folder))
        .collect()
}

#[test]
fn a_sandbox_is_ended_only_if_its_mark_says_so() {
    let (dir, home) = home();
    let running = home
        .start(&SandboxRequest::new(SandboxEngine::Postgres))
        .unwrap();
    let server = pid(&running);
    let folder = running.sandbox().folder().to_path_buf();
    // A name that leads to somebody's folder.
    let theirs = dir.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("server.log"), "mine").unwrap();
    std::os::unix::fs::symlink(&theirs, dir.path().join("sandboxes/x")).unwrap();
    let error = home.down("x").unwrap_err();
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    assert!(theirs.join("server.log").exists());
    // And one with a copy of a mark.
    let mark = "tidemark-sandbox.json";
    fs::copy(folder.join(mark), theirs.join(mark)).unwrap();
    let error = home.down("x").unwrap_err();
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    assert!(theirs.join("server.log").exists() && alive(server));
    // A mark that names a process which is none of its own: it is left alone, the files go.
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    let text = fs::read_to_string(folder.join(mark)).unwrap();
    let forged = text.replace(
        &format!("\"pid\": {server}"),
        &format!("\"pid\": {}", other.id()),
    );
    assert_ne!(forged, text);
    let mut file = fs::File::create(folder.join(mark)).unwrap();
    file.write_all(forged.as_bytes()).unwrap();
    running.stop().unwrap();
    assert!(alive(other.id()));
    assert!(!alive(server), "known by its data folder");
    kill_and_reap(&mut other);
}
