//! `up` and `down`: private servers to try things on.

use crate::args;
use crate::exit::{ExitCode, Failure};
use crate::interrupt;
use crate::stdio::print;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::time::Duration;
use tidemark_core::{printable, redact_url};
use tidemark_sandbox::{Error, Home, Request, Sandbox, StartStep, State};

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
        return list(&home);
    };
    if words.url {
        return url(&home, engine);
    }
    let mut request = Request::new(Request::engine(engine)?);
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
    let spinner = spinner();
    let running = home.start_watched(&request, &mut |step| {
        spinner.set_message(match step {
            StartStep::Files => format!("creating the files of {}", request.engine),
            StartStep::Start => format!("waiting until {} responds", request.engine),
        });
        !stop.is_stopped()
    });
    spinner.finish_and_clear();
    let sandbox = running?.keep();
    // Standard output is the URL alone, so that a script has it.
    eprintln!(
        "{engine} is running as sandbox {name} in {folder}\nPrint its URL again: tidemark up \
         {name} --url\nStop it and delete its data: tidemark down {name}",
        engine = request.engine,
        name = sandbox.name(),
        folder = sandbox.folder().display(),
    );
    print(&format!("{}\n", sandbox.url()));
    Ok(ExitCode::Success)
}

/// Prints the URL of one that runs, for a script.
fn url(home: &Home, name: &str) -> Result<ExitCode, Failure> {
    let sandbox = home.find(name)?;
    let State::Running { .. } = sandbox.state() else {
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

fn list(home: &Home) -> Result<ExitCode, Failure> {
    let all = home.list()?;
    if all.is_empty() {
        print("no sandboxes; start one with: tidemark up mariadb\n");
        return Ok(ExitCode::Success);
    }
    let mut text = format!("{:20}  {:26}  where\n", "name", "state");
    for sandbox in &all {
        let line = format!(
            "{:20}  {:26}  {}",
            sandbox.name(),
            told(sandbox.state()),
            place(sandbox)
        );
        text.push_str(&printable(&line));
        text.push('\n');
    }
    print(&text);
    Ok(ExitCode::Success)
}

fn told(state: State) -> String {
    match state {
        State::Starting { by } => format!("being started by {by}"),
        State::Running { pid } => format!("running, process {pid}"),
        State::HalfStarted { pid: Some(pid) } => format!("half started, process {pid}"),
        State::HalfStarted { pid: None } => "half started, not running".into(),
        State::Ended => "not running".into(),
        State::Elsewhere => "in another container".into(),
        State::Gone => "not running, folder gone".into(),
        State::NotOurs => "no sandbox".into(),
    }
}

fn place(sandbox: &Sandbox) -> String {
    let State::Running { .. } = sandbox.state() else {
        return sandbox.folder().display().to_string();
    };
    let url = redact_url(&sandbox.url());
    match sandbox.holders().as_slice() {
        [] => url,
        holders => {
            let holders: Vec<String> = holders.iter().map(ToString::to_string).collect();
            format!("{url}  in use by {}", holders.join(", "))
        }
    }
}

/// Stops servers and removes their data.
pub fn down(words: &args::Down) -> Result<ExitCode, Failure> {
    let home = home()?;
    if let (Some(name), true) = (&words.name, words.forget) {
        let folder = home.forget(name)?;
        print(&format!(
            "{name} is removed from the list; {} was not touched\n",
            folder.display()
        ));
        return Ok(ExitCode::Success);
    }
    let all = home.list()?;
    let names: Vec<String> = match &words.name {
        Some(name) => vec![name.clone()],
        None if words.all => all.iter().map(|s| s.name().to_string()).collect(),
        None => match all.as_slice() {
            [one] => vec![one.name().into()],
            [] => {
                print("no sandboxes\n");
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
            Ok(removed) if removed.left.is_empty() => print(&format!("{name} is down\n")),
            Ok(removed) => print(&format!(
                "{name} is down; files in {} that are not the server's were kept: {}\n",
                removed.folder.display(),
                removed.left.join(", ")
            )),
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
