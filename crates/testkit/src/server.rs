//! A private server's life.

use crate::layout::Layout;
use crate::watchdog::Watchdog;
use crate::{
    Database, Endpoint, Error, SBTEST, SandboxEngine, ServerBuilder, TlsFiles, copies, mariadb,
    postgres,
};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_process::{self as process, Signal, signal};
use tidemark_sandbox::{ServerFiles, Superuser, find, remove_shared_memory};

/// How long an orderly end may take before SIGKILL.
const STOP_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug)]
struct Running {
    child: Option<Child>,
    watchdog: Watchdog,
    /// Whether the last end was SIGKILL.
    killed: bool,
}

/// A private server that ends with this value.
///
/// All methods take `&self`: one test thread may drive load while another kills the server.
#[derive(Debug)]
pub struct Server {
    builder: ServerBuilder,
    endpoint: Endpoint,
    tls: Option<TlsFiles>,
    running: Mutex<Running>,
    layout: Layout,
}

impl Server {
    /// A MariaDB server with the default settings.
    ///
    /// # Errors
    /// As for [`ServerBuilder::start`].
    pub fn mariadb() -> Result<Server, Error> {
        Server::builder(SandboxEngine::MariaDb).start()
    }

    /// A PostgreSQL server with the default settings.
    ///
    /// # Errors
    /// As for [`ServerBuilder::start`].
    pub fn postgres() -> Result<Server, Error> {
        Server::builder(SandboxEngine::Postgres).start()
    }

    /// A server with settings of the test's own.
    pub fn builder(engine: SandboxEngine) -> ServerBuilder {
        ServerBuilder::new(engine)
    }

    pub(crate) fn start(builder: ServerBuilder) -> Result<Server, Error> {
        installed(builder.engine)?;
        let mut layout = Layout::create(builder.engine)?;
        let signal = match builder.engine {
            SandboxEngine::MariaDb => "KILL",
            // Immediate shutdown: ends the backends too and gives back shared memory.
            SandboxEngine::Postgres => "QUIT",
        };
        let mut watchdog = Watchdog::start(signal, &layout.folder)?;
        let account = Superuser {
            name: SBTEST,
            password: SBTEST,
        };
        copies::initialise(&layout, &account, &settings(&builder, None))?;
        if builder.engine == SandboxEngine::Postgres {
            postgres::admit(&layout, &builder.hba)?;
        }
        let tls = builder
            .tls
            .then(|| TlsFiles::create(&layout.folder, layout.account))
            .transpose()?;
        let started = &mut |_: &ServerFiles, child: &Child| watchdog.watch(Some(child.id()));
        let settings = settings(&builder, tls.as_ref());
        let limit = builder.start_limit;
        let child = layout
            .place
            .start(&settings, limit, started, &mut || true)?;
        let endpoint = Endpoint::private(builder.engine, layout.port, layout.socket())?;
        Ok(Server {
            builder,
            endpoint,
            tls,
            running: Mutex::new(Running {
                child: Some(child),
                watchdog,
                killed: false,
            }),
            layout,
        })
    }

    /// What kind of server it is.
    pub fn engine(&self) -> SandboxEngine {
        self.layout.engine
    }

    /// Where it listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The target URL over TCP with database `sbtest`, password included.
    pub fn url(&self) -> String {
        self.endpoint.url()
    }

    /// The same by way of the Unix socket.
    pub fn socket_url(&self) -> String {
        self.endpoint.socket_url().unwrap_or_default()
    }

    /// The Unix socket. Its folder is readable by every account.
    pub fn socket_path(&self) -> PathBuf {
        self.layout.socket()
    }

    /// The TCP port; [`Server::restart`] keeps it.
    pub fn port(&self) -> u16 {
        self.layout.port
    }

    /// The server's log.
    pub fn log_path(&self) -> PathBuf {
        self.layout.log.clone()
    }

    /// Its certificate files, when built with [`ServerBuilder::tls`].
    pub fn tls(&self) -> Option<&TlsFiles> {
        self.tls.as_ref()
    }

    /// The process id; `None` when it is not running.
    pub fn pid(&self) -> Option<u32> {
        let running = self.lock();
        let pid = running.child.as_ref()?.id();
        process::alive(pid).then_some(pid)
    }

    /// As [`Endpoint::query`].
    ///
    /// # Errors
    /// As for [`Endpoint::query`].
    pub fn query(&self, sql: &str) -> Result<String, Error> {
        self.endpoint.query(sql)
    }

    /// As [`Endpoint::fresh_database`].
    ///
    /// # Errors
    /// As for [`Endpoint::query`].
    pub fn fresh_database(&self, name: &str) -> Result<Database, Error> {
        self.endpoint.fresh_database(name)
    }

    /// Kills every process of the server at once, as a power cut would.
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended already.
    pub fn kill9(&self) -> Result<(), Error> {
        let mut running = self.lock();
        let mut child = running
            .child
            .take()
            .ok_or(Error::NotRunning(self.engine()))?;
        let pid = child.id();
        if self.engine() == SandboxEngine::Postgres {
            // A stopped postmaster starts nothing new; backends live on for a while after it.
            signal(Signal::SIGSTOP, &[pid]);
            let mut all = postgres::backends(pid);
            all.insert(0, pid);
            signal(Signal::SIGKILL, &all);
            process::wait_until(STOP_LIMIT, || !all[1..].iter().any(|p| process::alive(*p)));
        }
        process::kill_and_reap(&mut child);
        running.killed = true;
        Ok(running.watchdog.watch(None)?)
    }

    /// Ends the server in an orderly way: MariaDB by SIGTERM, PostgreSQL by SIGINT (fast shutdown,
    /// sessions are cut); by SIGKILL after 20 s. Data stays for [`Server::restart`].
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended already.
    pub fn stop(&self) -> Result<(), Error> {
        self.end(match self.engine() {
            SandboxEngine::MariaDb => Signal::SIGTERM,
            SandboxEngine::Postgres => Signal::SIGINT,
        })
    }

    fn end(&self, name: Signal) -> Result<(), Error> {
        let mut running = self.lock();
        let mut child = running
            .child
            .take()
            .ok_or(Error::NotRunning(self.engine()))?;
        // A paused server takes no other signal.
        signal(Signal::SIGCONT, &[child.id()]);
        signal(name, &[child.id()]);
        let ended = process::wait_until(STOP_LIMIT, || !matches!(child.try_wait(), Ok(None)));
        if !ended {
            process::kill_and_reap(&mut child);
        }
        running.killed = !ended;
        Ok(running.watchdog.watch(None)?)
    }

    /// Ends the server if it runs, and starts it again with its data, port and socket.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not come up again.
    pub fn restart(&self) -> Result<(), Error> {
        match self.stop() {
            Ok(()) | Err(Error::NotRunning(_)) => {}
            Err(e) => return Err(e),
        }
        let mut running = self.lock();
        let end = Instant::now() + self.builder.start_limit;
        let settings = settings(&self.builder, self.tls.as_ref());
        let limit = self.builder.start_limit;
        let watchdog = &mut running.watchdog;
        let started = &mut |_: &ServerFiles, child: &Child| watchdog.watch(Some(child.id()));
        let child = loop {
            let launched = self.layout.launch(&settings, limit, started, &mut || true);
            match launched {
                Ok(child) => break child,
                // The port must be the same; an outgoing connection may hold it for a moment.
                Err(e) if e.is_port_taken() && Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(e) => {
                    running.watchdog.watch(None)?;
                    return Err(e.into());
                }
            }
        };
        running.child = Some(child);
        running.killed = false;
        Ok(())
    }

    /// Freezes the server (SIGSTOP): connections stay open and nothing is answered.
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended.
    pub fn pause(&self) -> Result<(), Error> {
        self.signal_all(Signal::SIGSTOP)
    }

    /// Lets a paused server go on.
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended.
    pub fn resume(&self) -> Result<(), Error> {
        self.signal_all(Signal::SIGCONT)
    }

    fn signal_all(&self, name: Signal) -> Result<(), Error> {
        let pid = self.pid().ok_or(Error::NotRunning(self.engine()))?;
        let mut all = vec![pid];
        if self.engine() == SandboxEngine::Postgres {
            all.extend(postgres::backends(pid));
        }
        signal(name, &all);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // A test that panicked while holding it leaves nothing half done.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = match self.engine() {
            // Nobody reads its files any more: writing its pages would take a second.
            SandboxEngine::MariaDb => self.kill9(),
            SandboxEngine::Postgres => self.resume().and_then(|()| self.end(Signal::SIGQUIT)),
        };
        if self.engine() == SandboxEngine::Postgres && self.lock().killed {
            remove_shared_memory(&self.layout);
        }
    }
}

/// Every setting of a server: ours, those of TLS, and the test's own, which win.
fn settings(builder: &ServerBuilder, tls: Option<&TlsFiles>) -> Vec<(String, String)> {
    let (own, tls) = match builder.engine {
        SandboxEngine::MariaDb => (mariadb::SETTINGS, tls.map(mariadb::tls)),
        SandboxEngine::Postgres => (postgres::SETTINGS, tls.map(postgres::tls)),
    };
    let own = own.iter().map(|(n, v)| (n.to_string(), v.to_string()));
    let tls = tls.into_iter().flatten().map(|(n, v)| (n.to_string(), v));
    own.chain(tls).chain(builder.settings.clone()).collect()
}

/// The programs a test server of this kind needs, looked up without starting anything.
fn installed(engine: SandboxEngine) -> Result<(), Error> {
    let client: &[&str] = match engine {
        SandboxEngine::MariaDb => &["mariadb", "mysql"],
        SandboxEngine::Postgres => &["psql"],
    };
    for names in engine.programs().iter().chain([&client]) {
        find(engine, names, None)?;
    }
    Ok(())
}
