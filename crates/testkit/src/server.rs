//! A private server's life.

use crate::layout::Layout;
use crate::watchdog::Watchdog;
use crate::{
    Database, Endpoint, Engine, Error, SBTEST, ServerBuilder, TlsFiles, mariadb, postgres,
};
use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidemark_process as process;
use tidemark_sandbox::{Superuser, find, free_port, remove_shared_memory};

/// How long an orderly end may take before SIGKILL.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// Ports tried before giving up: between choosing a free one and the server's taking it, another
/// process may take it.
const PORTS: usize = 5;

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
        Server::builder(Engine::MariaDb).start()
    }

    /// A PostgreSQL server with the default settings.
    ///
    /// # Errors
    /// As for [`ServerBuilder::start`].
    pub fn postgres() -> Result<Server, Error> {
        Server::builder(Engine::Postgres).start()
    }

    /// A server with settings of the test's own.
    pub fn builder(engine: Engine) -> ServerBuilder {
        ServerBuilder::new(engine)
    }

    pub(crate) fn start(builder: ServerBuilder) -> Result<Server, Error> {
        installed(builder.engine)?;
        let mut layout = Layout::create(builder.engine)?;
        let signal = match builder.engine {
            Engine::MariaDb => "KILL",
            // Immediate shutdown: ends the backends too and gives back shared memory.
            Engine::Postgres => "QUIT",
        };
        let mut watchdog = Watchdog::start(signal, &layout.folder)?;
        let account = Superuser {
            name: SBTEST,
            password: SBTEST,
        };
        layout.initialise(&account, &settings(&builder, None), &mut || true)?;
        if builder.engine == Engine::Postgres {
            postgres::admit(&layout, &builder.hba)?;
        }
        let tls = builder
            .tls
            .then(|| TlsFiles::create(&layout.folder, layout.account))
            .transpose()?;
        let mut attempt = 1;
        let (child, endpoint) = loop {
            match launch(&layout, &builder, tls.as_ref(), &mut watchdog) {
                Ok(started) => break started,
                Err(e) if attempt < PORTS && e.is_port_taken() => {
                    attempt += 1;
                    layout.place.port = free_port()?;
                }
                Err(e) => return Err(e),
            }
        };
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
    pub fn engine(&self) -> Engine {
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
        if self.engine() == Engine::Postgres {
            // A stopped postmaster starts nothing new; backends live on for a while after it.
            signal("STOP", &[pid])?;
            let mut all = postgres::backends(pid);
            all.insert(0, pid);
            signal("KILL", &all)?;
            process::wait_until(STOP_LIMIT, || !all[1..].iter().any(|p| process::alive(*p)));
        }
        process::kill_and_reap(&mut child);
        running.killed = true;
        running.watchdog.watch(None)
    }

    /// Ends the server in an orderly way: MariaDB by SIGTERM, PostgreSQL by SIGINT (fast shutdown,
    /// sessions are cut); by SIGKILL after 20 s. Data stays for [`Server::restart`].
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended already.
    pub fn stop(&self) -> Result<(), Error> {
        self.end(match self.engine() {
            Engine::MariaDb => "TERM",
            Engine::Postgres => "INT",
        })
    }

    fn end(&self, name: &str) -> Result<(), Error> {
        let mut running = self.lock();
        let mut child = running
            .child
            .take()
            .ok_or(Error::NotRunning(self.engine()))?;
        // A paused server takes no other signal.
        signal("CONT", &[child.id()])?;
        signal(name, &[child.id()])?;
        let ended = process::wait_until(STOP_LIMIT, || !matches!(child.try_wait(), Ok(None)));
        if !ended {
            process::kill_and_reap(&mut child);
        }
        running.killed = !ended;
        running.watchdog.watch(None)
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
        let (child, _) = loop {
            let launched = launch(
                &self.layout,
                &self.builder,
                self.tls.as_ref(),
                &mut running.watchdog,
            );
            match launched {
                Ok(started) => break started,
                // The port must be the same; an outgoing connection may hold it for a moment.
                Err(e) if e.is_port_taken() && Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(e) => return Err(e),
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
        self.signal_all("STOP")
    }

    /// Lets a paused server go on.
    ///
    /// # Errors
    /// [`Error::NotRunning`] when it has ended.
    pub fn resume(&self) -> Result<(), Error> {
        self.signal_all("CONT")
    }

    fn signal_all(&self, name: &str) -> Result<(), Error> {
        let pid = self.pid().ok_or(Error::NotRunning(self.engine()))?;
        let mut all = vec![pid];
        if self.engine() == Engine::Postgres {
            all.extend(postgres::backends(pid));
        }
        signal(name, &all)
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // A test that panicked while holding it leaves nothing half done.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = match self.engine() {
            Engine::MariaDb => self.end("TERM"),
            Engine::Postgres => self.resume().and_then(|()| self.end("QUIT")),
        };
        if self.engine() == Engine::Postgres && self.lock().killed {
            remove_shared_memory(&self.layout);
        }
    }
}

fn signal(name: &str, pids: &[u32]) -> Result<(), Error> {
    process::signal(name, pids).map_err(Error::io(format!("sending SIG{name}")))
}

/// Starts the server's process and waits until it answers a query.
fn launch(
    layout: &Layout,
    builder: &ServerBuilder,
    tls: Option<&TlsFiles>,
    watchdog: &mut Watchdog,
) -> Result<(Child, Endpoint), Error> {
    let mut command = layout.server(&settings(builder, tls))?;
    // What an earlier start wrote must not be taken for this one's failure.
    let _ = fs::remove_file(&layout.log);
    let mut child = layout
        .logged(&mut command)?
        .spawn()
        .map_err(Error::io(format!("starting {}", layout.engine)))?;
    let answered = watchdog
        .watch(Some(child.id()))
        .and_then(|()| Endpoint::private(layout.engine, layout.port, layout.socket()))
        .and_then(|endpoint| {
            answers(layout, builder, &mut child, &endpoint)?;
            Ok(endpoint)
        });
    match answered {
        Ok(endpoint) => Ok((child, endpoint)),
        Err(e) => {
            process::kill_and_reap(&mut child);
            watchdog.watch(None)?;
            Err(e)
        }
    }
}

fn answers(
    layout: &Layout,
    builder: &ServerBuilder,
    child: &mut Child,
    endpoint: &Endpoint,
) -> Result<(), Error> {
    // A database that is there from the beginning.
    let database = match layout.engine {
        Engine::MariaDb => "mysql",
        Engine::Postgres => "postgres",
    };
    let mut last = None;
    let up = process::wait_until(builder.start_limit, || {
        if let Ok(Some(status)) = child.try_wait() {
            last = Some(layout.failed(format!("it ended with {status}")));
            return true;
        }
        // Asking before the socket is there would only cost a process.
        if !layout.socket().exists() {
            return false;
        }
        match crate::client::query(endpoint, database, "SELECT 1") {
            Ok(_) => {
                last = None;
                true
            }
            Err(e) => {
                let missing = matches!(e, Error::Missing { .. });
                last = Some(match e {
                    Error::Sql { message, .. } => layout.failed(message),
                    other => other,
                });
                missing
            }
        }
    });
    match last {
        Some(e) => Err(e),
        None if up => Ok(()),
        None => Err(layout.failed(format!("no answer within {:?}", builder.start_limit))),
    }
}

/// Every setting of a server: ours, those of TLS, and the test's own, which win.
fn settings(builder: &ServerBuilder, tls: Option<&TlsFiles>) -> Vec<(String, String)> {
    let (own, tls) = match builder.engine {
        Engine::MariaDb => (mariadb::SETTINGS, tls.map(mariadb::tls)),
        Engine::Postgres => (postgres::SETTINGS, tls.map(postgres::tls)),
    };
    let own = own.iter().map(|(n, v)| (n.to_string(), v.to_string()));
    let tls = tls.into_iter().flatten().map(|(n, v)| (n.to_string(), v));
    own.chain(tls).chain(builder.settings.clone()).collect()
}

/// The programs a test server of this kind needs, looked up without starting anything.
fn installed(engine: Engine) -> Result<(), Error> {
    let client: &[&str] = match engine {
        Engine::MariaDb => &["mariadb", "mysql"],
        Engine::Postgres => &["psql"],
    };
    for names in engine.programs().iter().chain([&client]) {
        find(engine, names, None)?;
    }
    Ok(())
}
