//! Several clients on one host, to try it: a NATS server and agents of its own, which end with it.

use crate::connection::NatsOptions;
use crate::error::ClientsError;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tidemark_process::{Signal, kill_and_reap, signal, wait_until};
use uuid::Uuid;

/// Where Debian puts it, which is in few users' PATH.
const BESIDE_PATH: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/local/bin"];
/// The server says where it listens within this time.
const START: Duration = Duration::from_secs(20);
/// A process that was asked to end may take so long.
const END: Duration = Duration::from_secs(3);

/// Where `nats-server` is.
pub fn find_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).chain(BESIDE_PATH.iter().map(PathBuf::from));
    all.map(|folder| folder.join("nats-server"))
        .find(|file| file.is_file())
}

/// A server with agents, in a temporary folder.
pub struct Local {
    /// How it is reached.
    pub nats: NatsOptions,
    agents: Vec<Child>,
    server: Child,
    _folder: TempDir,
}

impl Local {
    /// Starts a server at a free port of 127.0.0.1, and so many agents. `server` and `agent` make the
    /// commands: of the server's program, and of an agent's name.
    ///
    /// # Errors
    /// [`ClientsError`] when there is no server to start, or it does not start.
    pub fn start(
        count: usize,
        server: impl FnOnce(&Path) -> Command,
        agent: impl Fn(&str) -> Command,
    ) -> Result<Self, ClientsError> {
        let Some(program) = find_server() else {
            return Err(ClientsError::Usage(
                "--clients=local: nats-server was not found; install it (Debian: apt-get install \
                 nats-server)"
                    .into(),
            ));
        };
        let failed = |what: &str, e: std::io::Error| ClientsError::System(format!("{what}: {e}"));
        let folder = tempfile::Builder::new()
            .prefix("tidemark-clients-")
            .tempdir()
            .map_err(|e| failed("a folder for nats-server", e))?;
        let (user, password) = ("tidemark".to_string(), Uuid::now_v7().simple().to_string());
        let config = folder.path().join("nats.conf");
        let text = format!(
            "listen: \"127.0.0.1:-1\"\nports_file_dir: {0:?}\nlogfile: {1:?}\n\
             jetstream {{ store_dir: {0:?} }}\n\
             authorization {{ user: {user}, password: \"{password}\" }}\n",
            folder.path(),
            folder.path().join("nats.log"),
        );
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&config)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|e| failed("the configuration of nats-server", e))?;
        let child = server(&program)
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| failed("nats-server can't be started", e))?;
        let mut local = Self {
            nats: NatsOptions {
                user: Some((user.clone(), password.clone())),
                ..NatsOptions::default()
            },
            agents: Vec::new(),
            server: child,
            _folder: folder,
        };
        local.nats.url = local.address()?;
        for number in 1..=count {
            let started = agent(&format!("local-{number}"))
                .arg(format!("--nats={}", local.nats.url))
                .env("NATS_USER", &user)
                .env("NATS_PASSWORD", &password)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn();
            let started = started.map_err(|e| failed("an agent can't be started", e))?;
            local.agents.push(started);
        }
        Ok(local)
    }

    /// Where the server listens, when it does.
    fn address(&mut self) -> Result<String, ClientsError> {
        let folder = self._folder.path().to_path_buf();
        let mut found = None;
        let mut ended = None;
        wait_until(START, || {
            found = ports(&folder);
            ended = self.server.try_wait().ok().flatten();
            found.is_some() || ended.is_some()
        });
        found.ok_or_else(|| {
            let log = std::fs::read_to_string(folder.join("nats.log")).unwrap_or_default();
            let last = log.lines().last().unwrap_or("it says nothing");
            ClientsError::System(format!("nats-server did not start: {last}"))
        })
    }

    /// Whether an agent has ended, and how.
    pub fn ended_agent(&mut self) -> Option<String> {
        let mut agents = self.agents.iter_mut();
        let ended = agents.find_map(|agent| agent.try_wait().ok().flatten());
        ended.map(|status| status.to_string())
    }

    /// Processes of the agents, for tests that end one.
    pub fn agents(&self) -> Vec<u32> {
        self.agents.iter().map(Child::id).collect()
    }
}

/// The address of the file that the server writes when it listens.
fn ports(folder: &Path) -> Option<String> {
    let files = std::fs::read_dir(folder).ok()?;
    let mut names = files.filter_map(Result::ok).map(|file| file.path());
    let file = names.find(|path| path.extension().is_some_and(|e| e == "ports"))?;
    let text = std::fs::read_to_string(file).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value.get("nats")?.get(0)?.as_str()?.to_string())
}

impl Drop for Local {
    fn drop(&mut self) {
        let pids: Vec<u32> = self.agents();
        signal(Signal::SIGTERM, &pids);
        wait_until(END, || {
            let mut agents = self.agents.iter_mut();
            agents.all(|agent| agent.try_wait().is_ok_and(|ended| ended.is_some()))
        });
        self.agents.iter_mut().for_each(kill_and_reap);
        kill_and_reap(&mut self.server);
    }
}
