//! Private servers of a study: targets whose URL begins with `up:`.
//!
//! A server is named after the study's execution, so that `resume` finds the one that a killed
//! process left, with its data. It ends with the study's process, also when something fails.

use crate::exit::{ExitCode, Failure};
use crate::sandboxes;
use crate::texts::study as texts;
use tidemark_core::{shell_line, shell_word};
use tidemark_report::Lang;
use tidemark_sandbox::{Error, Hold, Home, Running, SandboxRequest, SandboxState};
use tidemark_study::StudyTarget;

/// A private server; its end is that of this value.
pub struct PrivateServer {
    url: String,
    held: ServerOwner,
}

enum ServerOwner {
    /// Started just now.
    Started(Box<Running>),
    /// An earlier process of this study started it.
    Found {
        home: Home,
        name: String,
        _hold: Hold,
    },
    /// The user's own, named in the URL; it is not the study's to end.
    Users { _hold: Hold },
}

/// Whether a target is a private server, and no URL.
pub fn is_meant(url: &str) -> bool {
    SandboxRequest::is_meant(url)
}

/// Looks whether a server can be asked for so.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn check(url: &str) -> Result<(), Failure> {
    let asked = SandboxRequest::parse(url)?;
    let given =
        !asked.settings.is_empty() || asked.version_from.is_some() || asked.folder.is_some();
    // One that runs is what it was started as: it would be measured under another name.
    match asked.name {
        Some(name) if given => {
            let engine = asked.engine.word();
            Err(Failure::usage(format!(
                "target {url}: a named sandbox may already be running with other settings; use \
                 up:{engine}?name={name} alone, or omit the name so that the study starts its \
                 own sandbox with these settings"
            )))
        }
        _ => Ok(()),
    }
}

/// How steps on private servers are typed by hand, for their commands name no URL; nothing where
/// there are none.
///
/// # Errors
/// As [`check`].
pub fn by_hand(places: &[StudyTarget], lang: Lang) -> Result<String, Failure> {
    let mut told = String::new();
    for place in places.iter().filter(|p| is_meant(&p.url)) {
        let request = SandboxRequest::parse(&place.url)?;
        told.push_str(&format!(
            "\n{}\n  url=$({})\n",
            texts::by_hand(lang, &place.url),
            shell_line(&words(&request))
        ));
        if let Some(name) = &request.name {
            let name = shell_word(name);
            told.push_str(&format!(
                "  url=$(tidemark up {name} --url)    {}\n",
                texts::if_running(lang)
            ));
        }
    }
    Ok(told)
}

/// The words of the command that starts such a server.
fn words(request: &SandboxRequest) -> Vec<String> {
    let mut words = vec![
        "tidemark".to_string(),
        "up".into(),
        request.engine.word().into(),
    ];
    if let Some(folder) = &request.version_from {
        words.extend(["--version-from".into(), folder.display().to_string()]);
    }
    if let Some(name) = &request.name {
        words.extend(["--name".into(), name.clone()]);
    }
    if let Some(folder) = &request.folder {
        words.extend(["--dir".into(), folder.display().to_string()]);
    }
    for (name, value) in &request.settings {
        words.extend(["--set".into(), format!("{name}={value}")]);
    }
    words
}

/// Starts the server of a study's `number`-th target, or finds the one that an earlier process of the
/// study left; gives up when `asked` to end.
///
/// # Errors
/// [`Failure`] of bad usage, and as its start.
pub fn start(
    url: &str,
    study: &str,
    number: usize,
    lang: Lang,
    asked: fn() -> bool,
) -> Result<PrivateServer, Failure> {
    let mut request = SandboxRequest::parse(url)?;
    let home = sandboxes::home()?;
    let users = request.name.clone();
    let name = users.clone().unwrap_or_else(|| name_of(study, number));
    // Nobody is to end it while it is measured.
    let purpose = format!("study {study}");
    if let Ok(there) = home.find(&name) {
        let url = there.url();
        match (there.state(), users) {
            (SandboxState::Running { .. }, Some(_)) => {
                if let Some(engine) = there.engine().filter(|e| *e != request.engine) {
                    return Err(Failure::usage(format!(
                        "target up:{}?name={name}: the sandbox {name} is already running as \
                         {engine}; use up:{}?name={name}, or omit the name so that the study \
                         starts its own sandbox",
                        request.engine.word(),
                        engine.word()
                    )));
                }
                let _hold = home.hold(&name, &purpose)?;
                let held = ServerOwner::Users { _hold };
                return Ok(PrivateServer { url, held });
            }
            (SandboxState::Running { .. }, None) => {
                let _hold = home.hold(&name, &purpose)?;
                let held = ServerOwner::Found { home, name, _hold };
                return Ok(PrivateServer { url, held });
            }
            // Of an earlier process of this study, and its server has ended.
            (_, None) => drop(home.down(&name)?),
            (_, Some(_)) => {}
        }
    }
    request.name = Some(name);
    say!("{}", texts::starting_sandbox(lang, url));
    let running = home.start_for(Some(&purpose), &request, &mut |_| !asked())?;
    Ok(PrivateServer {
        url: running.url(),
        held: ServerOwner::Started(Box::new(running)),
    })
}

/// Ends the server that an earlier process of the study left for its `number`-th target, if it did.
///
/// # Errors
/// [`Failure`] when it can't be ended; it is listed by `tidemark up` then.
pub fn end_left(url: &str, study: &str, number: usize) -> Result<(), Failure> {
    if SandboxRequest::parse(url)?.name.is_some() {
        return Ok(());
    }
    let home = sandboxes::home()?;
    let name = name_of(study, number);
    match home.find(&name) {
        Ok(_) => home.down(&name).map(drop).map_err(not_ended),
        Err(_) => Ok(()),
    }
}

/// The last part of an execution's id is random (RFC 9562, UUID version 7).
fn name_of(study: &str, number: usize) -> String {
    let random = study.rsplit('-').next().unwrap_or(study);
    format!("study-{random}-{number}")
}

impl PrivateServer {
    /// Its URL, with its password.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Whether it was started just now, and so is empty.
    pub fn is_new(&self) -> bool {
        matches!(self.held, ServerOwner::Started(_))
    }

    /// Ends it, unless it is the user's.
    ///
    /// # Errors
    /// [`Failure`] when it can't be ended; it is listed by `tidemark up` then.
    pub fn stop(self) -> Result<(), Failure> {
        let ended = match self.held {
            ServerOwner::Started(running) => running.stop(),
            ServerOwner::Found { home, name, .. } => home.down(&name).map(drop),
            ServerOwner::Users { .. } => Ok(()),
        };
        ended.map_err(not_ended)
    }
}

fn not_ended(error: Error) -> Failure {
    let said = format!("a sandbox could not be stopped: {error}");
    Failure::new(ExitCode::Failed, said)
}
