//! The real PgBouncer in front of a PostgreSQL server.

use crate::watchdog::Watchdog;
use crate::{Endpoint, Error, SandboxEngine};
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Child, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tidemark_core::Host;
use tidemark_process as process;
use tidemark_sandbox::{Account, command, find, free_port};

/// How long it may take to listen, on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(30);

/// When a client gives its server session back (pgbouncer.org/config.html, `pool_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolMode {
    /// When it disconnects.
    Session,
    /// After each transaction.
    Transaction,
}

/// A PgBouncer that ends with this value.
#[derive(Debug)]
pub struct PgBouncer {
    child: Child,
    _watchdog: Watchdog,
    port: u16,
    folder: TempDir,
}

impl PgBouncer {
    /// Starts one in front of a server, with so many server sessions for each database.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it is not installed or does not come up.
    pub fn start(server: &Endpoint, mode: PoolMode, pool: u32) -> Result<PgBouncer, Error> {
        // MariaDB's programs are looked for where Debian keeps this one, too.
        let program = find(SandboxEngine::MariaDb, &["pgbouncer"], None).map_err(|_| {
            Error::failed(
                "starting pgbouncer",
                "it was not found; install it with \
                 `apt-get install --no-install-recommends pgbouncer`",
            )
        })?;
        let folder = tempfile::Builder::new()
            .prefix("tmpb")
            .permissions(fs::Permissions::from_mode(0o711))
            .tempdir()
            .map_err(Error::io("making a temporary folder"))?;
        let port = free_port()?;
        let account = Account::for_engine(SandboxEngine::Postgres)?;
        let mut watchdog = Watchdog::start("INT", folder.path())?;
        let target = server.target();
        let Some(Host::Tcp { host, port: behind }) = target.hosts.first() else {
            return Err(Error::failed(
                "starting pgbouncer",
                "the server has no TCP port",
            ));
        };
        let quoted = |text: &str| text.replace('"', "\"\"");
        let files = [
            (
                "users",
                format!(
                    "\"{}\" \"{}\"\n",
                    quoted(&target.user),
                    quoted(target.password.reveal())
                ),
            ),
            (
                "ini",
                format!(
                    "[databases]\n* = host={host} port={behind}\n[pgbouncer]\n\
                     listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
                     auth_type = trust\nauth_file = {at}/users\npool_mode = {mode}\n\
                     default_pool_size = {pool}\nmax_client_conn = 200\nlogfile = {at}/log\n\
                     stats_users = {user}\n",
                    at = folder.path().display(),
                    user = target.user,
                    mode = match mode {
                        PoolMode::Session => "session",
                        PoolMode::Transaction => "transaction",
                    },
                ),
            ),
            ("log", String::new()),
        ];
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(Error::io("writing pgbouncer's files"))?;
            if let Some(account) = account {
                chown(&path, Some(account.uid), Some(account.gid))
                    .map_err(Error::io("giving pgbouncer its files"))?;
            }
        }
        let mut child = command(&program, account, folder.path())
            .arg(folder.path().join("ini"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::io("starting pgbouncer"))?;
        watchdog.watch(Some(child.id()))?;
        let mut ended = false;
        let listens = process::wait_until(START_LIMIT, || {
            ended = !matches!(child.try_wait(), Ok(None));
            ended || TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        if ended || !listens {
            let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            process::kill_and_reap(&mut child);
            return Err(Error::failed("starting pgbouncer", log));
        }
        Ok(PgBouncer {
            child,
            _watchdog: watchdog,
            port,
            folder,
        })
    }

    /// A server's URL by way of it.
    pub fn url(&self, of: &Endpoint) -> String {
        let host = of.target().hosts.first().map(ToString::to_string);
        let here = format!("127.0.0.1:{}", self.port);
        of.url().replacen(&host.unwrap_or_default(), &here, 1)
    }

    /// What it has written into its log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        process::kill_and_reap(&mut self.child);
    }
}
