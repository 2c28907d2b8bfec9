//! Starting a sandbox, and holding it.

use crate::home::{ACCOUNT, Home, Sandbox, StartStep};
use crate::marker::Marker;
use crate::programs::{self, Account};
use crate::server_files::{ServerFiles, Superuser};
use crate::{Error, Hold, SandboxRequest, folder, holder, identity, mariadb, stop};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;
use tidemark_process::ProcessId;

/// How long a server may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(120);

/// Sessions that a sandbox takes unless it is told otherwise: more than the servers' own 151 and 100,
/// so that a sweep over threads needs no setting.
const SESSIONS: &str = "1000";

/// A sandbox whose server answers. Unless it is kept, its end is that of this value: the server is
/// stopped and its files are removed.
#[derive(Debug)]
pub struct Running {
    home: Home,
    sandbox: Sandbox,
    /// The server, where this process started it.
    child: Option<Child>,
    /// Whether it outlives this value.
    kept: bool,
    /// That this process uses it, where it said what for.
    _hold: Option<Hold>,
}

impl Running {
    /// The target's URL with its password, which opens nothing but this server, from this machine.
    /// It belongs into no record.
    pub fn url(&self) -> String {
        self.sandbox.url()
    }

    /// Its name, its folder, its log.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Leaves it running, to be found by its name.
    pub fn keep(mut self) -> Sandbox {
        self.kept = true;
        self.sandbox.clone()
    }

    /// Ends the server and removes what was made for it.
    ///
    /// # Errors
    /// As [`Home::down`].
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.kept, true) {
            return Ok(());
        }
        let reaped = self.child.take().map(reap);
        let ended = self.home.down(self.sandbox.name());
        if let (Some(reaped), Ok(_)) = (reaped, &ended) {
            let _ = reaped.join();
        }
        ended.map(drop)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What could not be ended is listed, and can be ended by name.
        let _ = self.end();
    }
}

/// Takes note of a child's end, which would be a zombie else.
fn reap(mut child: Child) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let _ = child.wait();
    })
}

impl Home {
    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    /// As [`Home::start_watched`].
    pub fn start(&self, request: &SandboxRequest) -> Result<Running, Error> {
        self.start_watched(request, &mut |_| true)
    }

    /// Starts a server and waits until it answers. `watch` is told many times a second what is being
    /// done; when it answers no, the start is given up.
    ///
    /// # Errors
    /// [`Error`]: a program is missing, the request makes no sense, the folder is not to be had, the
    /// name is taken, the server does not come up, [`Error::GivenUp`]. Nothing is left of it then.
    pub fn start_watched(
        &self,
        request: &SandboxRequest,
        watch: &mut dyn FnMut(StartStep) -> bool,
    ) -> Result<Running, Error> {
        self.start_for(None, request, watch)
    }

    /// The same, held by this process from its beginning ([`Home::hold`]), if a purpose is told.
    ///
    /// # Errors
    /// As [`Home::start_watched`].
    pub fn start_for(
        &self,
        purpose: Option<&str>,
        request: &SandboxRequest,
        watch: &mut dyn FnMut(StartStep) -> bool,
    ) -> Result<Running, Error> {
        request.check()?;
        for names in request.engine.programs() {
            programs::find(request.engine, names, request.version_from.as_deref())?;
        }
        if let Some(name) = &request.name
            && let Ok(there) = self.find(name)
        {
            return Err(Error::Taken { name: there.name });
        }
        let account = Account::for_engine(request.engine)?;
        let (folder, made_folder) = match &request.folder {
            Some(folder) => folder::asked(folder)?,
            None => (folder::temporary(request.engine.word())?, true),
        };
        let begun = Begun {
            home: self,
            request,
            folder,
            made_folder,
            account,
            purpose,
        };
        begun.start(watch)
    }
}

/// A start for which there is a folder.
struct Begun<'a> {
    home: &'a Home,
    request: &'a SandboxRequest,
    folder: PathBuf,
    made_folder: bool,
    account: Option<Account>,
    purpose: Option<&'a str>,
}

impl Begun<'_> {
    fn start(&self, watch: &mut dyn FnMut(StartStep) -> bool) -> Result<Running, Error> {
        let entered = folder::usable(&self.folder, self.account).and_then(|()| self.enter());
        let mut marker = match entered {
            Ok(marker) => marker,
            Err(error) => {
                let _ = folder::remove(&self.folder, self.made_folder);
                return Err(error);
            }
        };
        let answered = self.held().and_then(|hold| {
            let child = self.serve(&mut marker, watch)?;
            Ok((child, self.home.find(&marker.name)?, hold))
        });
        match answered {
            Ok((child, sandbox, hold)) => Ok(Running {
                home: self.home.clone(),
                sandbox,
                child: Some(child),
                kept: false,
                _hold: hold,
            }),
            Err(error) => {
                // The server has been ended where there was one. What can't be removed stays listed.
                let _ = folder::remove(&self.folder, self.made_folder)
                    .and_then(|_| stop::unlist(self.home, &marker.name, &self.folder));
                Err(error)
            }
        }
    }

    fn held(&self) -> Result<Option<Hold>, Error> {
        let enter = |purpose| holder::enter(&self.folder, purpose);
        self.purpose.map(enter).transpose()
    }

    /// Marks the folder and lists it: from here on it can be found and taken down, whatever happens
    /// to this process.
    fn enter(&self) -> Result<Marker, Error> {
        let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let mut marker = Marker {
            format: 1,
            name: String::new(),
            folder: self.folder.clone(),
            made_folder: self.made_folder,
            engine: self.request.engine,
            port: 0,
            password: identity::secret()?,
            starter: ProcessId::own(hostname.trim()),
            server: None,
            ready: false,
        };
        let word = self.request.engine.word();
        let numbered = (2..).map(|n| format!("{word}-{n}"));
        let mut names: Box<dyn Iterator<Item = String>> = match &self.request.name {
            Some(name) => Box::new(std::iter::once(name.clone())),
            None => Box::new(std::iter::once(word.to_string()).chain(numbered).take(1000)),
        };
        loop {
            let Some(name) = names.next() else {
                let name = self.request.name.clone().unwrap_or_else(|| word.into());
                return Err(Error::Taken { name });
            };
            marker.name = name;
            marker.write()?;
            if self.home.enter(&marker.name, &self.folder)? {
                return Ok(marker);
            }
        }
    }

    /// Makes the server's files and starts it; when it returns an error no process is left.
    fn serve(
        &self,
        marker: &mut Marker,
        watch: &mut dyn FnMut(StartStep) -> bool,
    ) -> Result<Child, Error> {
        let mut place = ServerFiles {
            engine: self.request.engine,
            account: self.account,
            folder: self.folder.join("server"),
            log: self.folder.join("server.log"),
            port: 0,
            programs: self.request.version_from.clone(),
        };
        DirBuilder::new()
            .mode(0o711)
            .create(&place.folder)
            .map_err(Error::io("making the server's folder"))?;
        place.make()?;
        let superuser = Superuser {
            name: ACCOUNT,
            password: &marker.password.clone(),
        };
        let settings = settings(self.request);
        place.initialise(&superuser, &settings, &mut || watch(StartStep::Files))?;
        let hostname = marker.starter.hostname.clone();
        let started = &mut |place: &ServerFiles, child: &Child| {
            marker.port = place.port;
            marker.server = Some(ProcessId::of(&hostname, child.id()));
            marker.write()
        };
        let child = place.start(&settings, START_LIMIT, started, &mut || {
            watch(StartStep::Start)
        });
        let child = child.inspect_err(|_| marker.server = None)?;
        // It holds the password, and the server has read it.
        let _ = fs::remove_file(mariadb::accounts(&place));
        marker.ready = true;
        match marker.write() {
            Ok(()) => Ok(child),
            Err(error) => {
                stop::end_child(&place, child);
                Err(error)
            }
        }
    }
}

/// What every sandbox has beside the server's own defaults, and what is asked for.
fn settings(request: &SandboxRequest) -> Vec<(String, String)> {
    let mut settings = vec![("max_connections".to_string(), SESSIONS.to_string())];
    settings.extend(request.settings.iter().cloned());
    settings
}
