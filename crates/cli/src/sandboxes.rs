//! `up` and `down`: private servers to try things on.

use crate::args;
use crate::columns::left;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::stdio::print;
use crate::texts::sandboxes as texts;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::time::Duration;
use tidemark_core::{printable, redact_url};
use tidemark_report::Lang;
use tidemark_sandbox::{Error, Home, Sandbox, SandboxRequest, SandboxState, StartStep};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::Request(_) | Error::Unknown { .. } => ExitCode::Usage,
            Error::Folder { .. }
            | Error::Taken { .. }
            | Error::NotOurs { .. }
            | Error::Held { .. }
            | Error::Runs { .. } => ExitCode::Refused,
            Error::GivenUp(_) => ExitCode::Interrupted,
            _ => ExitCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

/// The user's sandboxes.
///
/// # Errors
/// [`Failure`] when the user has no place to list them.
pub fn home() -> Result<Home, Failure> {
    let folder = tidemark_store::data_folder().map_err(|_| {
        Failure::new(
            ExitCode::Failed,
            "no folder for sandboxes; set XDG_DATA_HOME or HOME",
        )
    })?;
    Ok(Home::at(&folder.join("sandboxes")))
}

/// Starts a server, or lists those that run.
pub fn up(words: &args::Up) -> Result<ExitCode, Failure> {
    let home = home()?;
    let Some(engine) = &words.engine else {
        return list(&home, words.lang);
    };
    if words.url {
        return url(&home, engine);
    }
    let mut request = SandboxRequest::new(SandboxRequest::engine(engine)?);
    request.version_from.clone_from(&words.version_from);
    request.folder.clone_from(&words.dir);
    request.name.clone_from(&words.name);
    for setting in &words.set {
        request.set(setting)?;
    }
    interrupt::listen_saying("cancelling the start and removing its files");
    // What was made is removed whole.
    let _held = interrupt::hold();
    let stop = interrupt::handle();
    let lang = words.lang;
    let spinner = spinner();
    let running = home.start_watched(&request, &mut |step| {
        spinner.set_message(match step {
            StartStep::Files => texts::creating(lang, request.engine),
            StartStep::Start => texts::waiting(lang, request.engine),
        });
        !stop.is_stopped()
    });
    spinner.finish_and_clear();
    let sandbox = running?.keep();
    // Standard output is the URL alone, so that a script has it.
    let folder = sandbox.folder().display();
    eprintln!(
        "{}",
        texts::running(lang, request.engine, sandbox.name(), folder)
    );
    print(&format!("{}\n", sandbox.url()));
    Ok(ExitCode::Success)
}

/// Prints the URL of one that runs, for a script.
fn url(home: &Home, name: &str) -> Result<ExitCode, Failure> {
    let sandbox = home.find(name)?;
    let SandboxState::Running { .. } = sandbox.state() else {
        return Err(Error::NotRunning { name: name.into() }.into());
    };
    print(&format!("{}\n", sandbox.url()));
    Ok(ExitCode::Success)
}

fn spinner() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

fn list(home: &Home, lang: Lang) -> Result<ExitCode, Failure> {
    let all = home.list()?;
    if all.is_empty() {
        print(&format!("{}\n", texts::none_start(lang)));
        return Ok(ExitCode::Success);
    }
    let row = |name: &str, state: &str, place: &str| {
        format!("{}  {}  {place}", left(name, 20), left(state, 26))
    };
    let mut text = row(texts::name(lang), texts::state(lang), texts::place(lang)) + "\n";
    for sandbox in &all {
        let state = told(sandbox.state(), lang);
        let line = row(sandbox.name(), &state, &place(sandbox, lang));
        text.push_str(&printable(&line));
        text.push('\n');
    }
    print(&text);
    Ok(ExitCode::Success)
}

fn told(state: SandboxState, lang: Lang) -> String {
    match state {
        SandboxState::Starting { by } => texts::being_started(lang, by),
        SandboxState::Running { pid } => texts::is_running(lang, pid),
        SandboxState::HalfStarted { pid: Some(pid) } => texts::half_started(lang, pid),
        SandboxState::HalfStarted { pid: None } => texts::half_started_not_running(lang).into(),
        SandboxState::Ended => texts::not_running(lang).into(),
        SandboxState::Elsewhere => texts::elsewhere(lang).into(),
        SandboxState::Gone => texts::gone(lang).into(),
        SandboxState::NotOurs => texts::not_ours(lang).into(),
    }
}

fn place(sandbox: &Sandbox, lang: Lang) -> String {
    let SandboxState::Running { .. } = sandbox.state() else {
        return sandbox.folder().display().to_string();
    };
    let url = redact_url(&sandbox.url());
    match sandbox.holders().as_slice() {
        [] => url,
        holders => {
            let holders: Vec<String> = holders.iter().map(ToString::to_string).collect();
            texts::in_use(lang, url, holders.join(", "))
        }
    }
}

/// Stops servers and removes their data.
pub fn down(words: &args::Down) -> Result<ExitCode, Failure> {
    let home = home()?;
    if let (Some(name), true) = (&words.name, words.forget) {
        let folder = home.forget(name)?;
        let said = texts::forgotten(words.lang, name, folder.display());
        print(&format!("{said}\n"));
        return Ok(ExitCode::Success);
    }
    let all = home.list()?;
    let names: Vec<String> = match &words.name {
        Some(name) => vec![name.clone()],
        None if words.all => all.iter().map(|s| s.name().to_string()).collect(),
        None => match all.as_slice() {
            [one] => vec![one.name().into()],
            [] => {
                print(&format!("{}\n", texts::none(words.lang)));
                return Ok(ExitCode::Success);
            }
            several => {
                let names: Vec<&str> = several.iter().map(Sandbox::name).collect();
                return Err(Failure::usage(format!(
                    "there are several sandboxes: {}; for example: tidemark down {}, or tidemark \
                     down --all",
                    names.join(", "),
                    names[0]
                )));
            }
        },
    };
    let mut first_failure = None;
    for name in names {
        let ended = match words.force {
            true => home.force_down(&name),
            false => home.down(&name),
        };
        match ended {
            Ok(removed) if removed.left.is_empty() => {
                print(&format!("{}\n", texts::down(words.lang, name)));
            }
            Ok(removed) => {
                let (folder, left) = (removed.folder.display(), removed.left.join(", "));
                let said = texts::down_with_files(words.lang, name, folder, left);
                print(&format!("{said}\n"));
            }
            // The others are to go all the same.
            Err(error) => {
                let failure = Failure::from(error);
                if first_failure.is_some() {
                    eprintln!("tidemark: {failure}");
                } else {
                    first_failure = Some(failure);
                }
            }
        }
    }
    first_failure.map_or(Ok(ExitCode::Success), Err)
}
