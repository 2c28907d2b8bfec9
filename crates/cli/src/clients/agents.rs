//! `tidemark agent` and `tidemark agents`.

use super::scripts::{self, Scripts};
use super::{nats_options, worker};
use crate::args::{self, AgentsCommand};
use crate::columns;
use crate::exit::{ExitCode, Failure};
use crate::render::language;
use crate::texts::agents as texts;
use crate::{interrupt, messages, program, secrets};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidemark_clients::{
    Admit, Agent, ClientsError, Listed, ListedState, NatsOptions, Processes, Ssh, list,
    name_of_host, start_by_ssh,
};
use tidemark_core::{Host, Job, Protocol, Target};
use tidemark_files::read_text;
use tidemark_observe::client_host;
use tidemark_report::Lang;

/// How often it is looked whether the user wants the end.
const LOOK: Duration = Duration::from_millis(50);
/// A server that is not there is tried again after this time.
const AGAIN: Duration = Duration::from_millis(250);
/// A file with a password has no more.
const LONGEST_PASSWORD: u64 = 4096;

/// Waits for runs until it is told to end.
///
/// # Errors
/// [`Failure`] of bad usage, or when NATS can't be reached.
pub fn agent(words: &args::Agent) -> Result<ExitCode, Failure> {
    let nats = nats_options(words.to.nats.as_deref(), words.to.creds(), words.to.ca())?;
    interrupt::listen_saying("the agent ends");
    let host = client_host();
    let failed = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    std::thread::spawn(move || {
        while !interrupt::handle().is_stopped() {
            std::thread::sleep(LOOK);
        }
        asked.store(true, Ordering::Relaxed);
    });
    let name = words.name.clone();
    let name = name.unwrap_or_else(|| name_of_host(&host.hostname));
    let agent = || Agent {
        nats: nats.clone(),
        name: name.clone(),
        version: env!("TIDEMARK_VERSION").into(),
        hostname: host.hostname.clone(),
        cores: host.cores,
        stop: Arc::clone(&stop),
    };
    let mut processes = Processes {
        program: program::path().map_err(failed)?,
        arguments: vec![worker::LOAD.into()],
        admit: Admission {
            password: words.password_file.clone(),
            scripts: Scripts::of(&words.scripts),
            hosts: words.targets.clone(),
        }
        .admit(),
        hidden: hidden(),
    };
    let quiet = words.quiet;
    let mut said = |line: &str| {
        if !quiet {
            say!("{}", messages::in_language(line));
        }
    };
    let (since, wait) = (Instant::now(), words.wait.unwrap_or_default());
    let mut is_told = false;
    loop {
        match agent().run(&mut processes, &mut said) {
            Err(error @ (ClientsError::Connect { .. } | ClientsError::JetStream { .. }))
                if since.elapsed() < wait =>
            {
                if !std::mem::replace(&mut is_told, true) {
                    said(&format!("{error}; trying again"));
                }
                std::thread::sleep(AGAIN);
                if interrupt::handle().is_stopped() {
                    return Ok(ExitCode::Success);
                }
            }
            done => {
                done?;
                return Ok(ExitCode::Success);
            }
        }
    }
}

/// The load asks nothing of NATS, and the agent's command line is not its own.
fn hidden() -> Vec<String> {
    let of_nats = ["NATS_USER", "NATS_PASSWORD", "NATS_CREDS"];
    let all = of_nats.into_iter().chain([secrets::VARIABLE]);
    all.map(String::from).collect()
}

/// What the jobs of an agent may do.
struct Admission {
    /// The file with the database's password.
    password: Option<PathBuf>,
    scripts: Scripts,
    /// The servers that a job may name; any where it is empty.
    hosts: Vec<String>,
}

impl Admission {
    /// What a load gets of the environment beside the agent's own: the password of the file, if there is one.
    /// A job names no other variable than its engine's, so that it can't send another secret of this host to a
    /// server of its choice.
    fn admit(self) -> Admit {
        Box::new(move |job| {
            let target = job.target.parse().map_err(|e| e.to_string())?;
            may_use(&self.hosts, &target)?;
            admitted(job, &target, self.password.as_deref(), self.scripts)
        })
    }
}

/// A server that anybody starts gets the password, if it asks for it.
fn may_use(hosts: &[String], target: &Target) -> Result<(), String> {
    let name = |host: &Host| match host {
        Host::Tcp { host, .. } => host.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let mut all = target.hosts.iter().chain(&target.readers).map(name);
    let is_other = |host: &String| !hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    match all.find(is_other).filter(|_| !hosts.is_empty()) {
        Some(other) => Err(format!(
            "{other}: this agent uses databases on {} alone (--targets)",
            hosts.join(", ")
        )),
        None => Ok(()),
    }
}

fn admitted(
    job: &Job,
    target: &Target,
    file: Option<&Path>,
    scripts: Scripts,
) -> Result<Vec<(String, String)>, String> {
    if target.protocol == Protocol::Sqlite {
        return Err("an agent has no SQLite databases; use a server".into());
    }
    scripts.admit(job)?;
    let mut environment = vec![
        (
            worker::PARENT_VARIABLE.to_string(),
            std::process::id().to_string(),
        ),
        (scripts::VARIABLE.to_string(), scripts.word().to_string()),
    ];
    let Some(reference) = &job.target.password else {
        return Ok(environment);
    };
    let own = target.protocol.password_variable();
    if own != Some(reference.env.as_str()) {
        return Err(format!(
            "target.password: an agent takes passwords of {} from {}, and not from {}",
            target.protocol,
            own.unwrap_or("nowhere"),
            reference.env
        ));
    }
    match file {
        Some(file) => {
            let text = read_text(file, LONGEST_PASSWORD)
                .map_err(|e| format!("--password-file={}: {e}", file.display()))?;
            let password = text.trim_end_matches(['\r', '\n']).to_string();
            environment.push((reference.env.clone(), password));
        }
        None if std::env::var_os(&reference.env).is_none_or(|value| value.is_empty()) => {
            return Err(format!(
                "the run needs a password, and this agent has none: set {} where the agent is started, or \
                 use --password-file=FILE there",
                reference.env
            ));
        }
        None => {}
    }
    Ok(environment)
}

/// Lists agents, or starts them on other hosts.
///
/// # Errors
/// [`Failure`] of bad usage, or when NATS or a host can't be reached.
pub fn agents(words: &args::Agents) -> Result<ExitCode, Failure> {
    let to = &words.to;
    let nats = nats_options(to.nats.as_deref(), to.creds(), to.ca())?;
    match &words.command {
        Some(AgentsCommand::Start(start)) => start_all(&nats, start),
        None => {
            let listed = list(&nats, env!("TIDEMARK_VERSION"))?;
            if listed.is_empty() {
                say!("{}", texts::none(language("auto"), &nats.url));
                return Ok(ExitCode::Success);
            }
            say!("{}", table(&listed, language("auto")));
            Ok(ExitCode::Success)
        }
    }
}

fn table(listed: &[Listed], lang: Lang) -> String {
    let head = [
        texts::name(lang),
        texts::host(lang),
        texts::version(lang),
        texts::cores(lang),
        texts::clock(lang),
        texts::state(lang),
    ];
    let rows = listed.iter().map(|agent| {
        let clock = agent.clock.map(|clock| {
            let (ns, error) = (clock.ns as f64 / 1e6, clock.error_ns as f64 / 1e6);
            // Since the start of the host: only its changes mean something.
            format!("{ns:+.3} ± {error:.3} ms")
        });
        [
            agent.name.clone(),
            agent.presence.hostname.clone(),
            agent.presence.version.clone(),
            agent.presence.cores.to_string(),
            clock.unwrap_or_else(|| "-".into()),
            match &agent.state {
                ListedState::Free => texts::free(lang).into(),
                ListedState::Busy(run) => texts::busy(lang, run),
                ListedState::Silent => texts::silent(lang).into(),
                ListedState::OtherVersion => texts::other_version(lang).into(),
            },
        ]
    });
    columns::aligned(&head, rows)
}

fn start_all(nats: &NatsOptions, words: &args::AgentsStart) -> Result<ExitCode, Failure> {
    let failed = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    let mut agent = vec![format!("--nats={}", nats.url)];
    agent.extend(words.scripts.iter().map(|what| format!("--scripts={what}")));
    if !words.targets.is_empty() {
        agent.push(format!("--targets={}", words.targets.join(",")));
    }
    agent.extend(
        nats.creds
            .as_ref()
            .map(|f| format!("--nats-creds={}", f.display())),
    );
    agent.extend(
        nats.ca
            .as_ref()
            .map(|f| format!("--nats-ca={}", f.display())),
    );
    let mut environment = Vec::new();
    if let Some((user, password)) = &nats.user {
        environment.push(("NATS_USER".to_string(), user.clone()));
        environment.push(("NATS_PASSWORD".to_string(), password.clone()));
    }
    for protocol in [Protocol::Mysql, Protocol::Postgres] {
        let Some(name) = protocol.password_variable() else {
            continue;
        };
        if let Ok(value) = std::env::var(name) {
            environment.push((name.to_string(), value));
        }
    }
    let ssh = Ssh {
        command: words.ssh.split_whitespace().map(String::from).collect(),
        program: program::path().map_err(failed)?,
        agent,
        environment,
    };
    let mut result = Ok(ExitCode::Success);
    for host in &words.hosts {
        match start_by_ssh(&ssh, host) {
            Ok(()) => say!("{}", texts::runs(language("auto"), host)),
            Err(error) => {
                eprintln!("tidemark: {error}");
                result = Err(Failure::from(error));
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(
        job: &Job,
        file: Option<&Path>,
        scripts: Scripts,
    ) -> Result<Vec<(String, String)>, String> {
        super::admitted(job, &job.target.parse().unwrap(), file, scripts)
    }

    #[test]
    fn a_job_uses_no_other_host_than_the_agents_user_names() {
        let target = |url: &str| Target::parse(url).unwrap();
        let hosts = ["db1".to_string(), "10.0.0.2".to_string()];
        assert_eq!(may_use(&hosts, &target("mysql://u@DB1:4000/d")), Ok(()));
        assert_eq!(
            may_use(&hosts, &target("postgres://u@db1,10.0.0.2/d")),
            Ok(())
        );
        assert_eq!(may_use(&[], &target("mysql://u@anywhere/d")), Ok(()));
        for url in [
            "mysql://u@evil/d",
            "mysql://u@db1,evil/d",
            "mysql://u@db1.evil/d",
        ] {
            let refused = may_use(&hosts, &target(url)).unwrap_err();
            assert!(
                refused.contains("--targets") && refused.contains("db1, 10.0.0.2"),
                "{refused}"
            );
        }
    }

    fn job(target: &str) -> Job {
        let text = format!(
            r#"{{"version": 1, "target": {target}, "workload": {{"name": "oltp_read_only"}},
                "tool": {{"name": "sysbench"}}}}"#
        );
        Job::from_json(&text).unwrap()
    }

    #[test]
    fn a_job_gets_its_engines_password_and_no_other_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "s3cret\n").unwrap();
        let own = r#"{"url": "mysql://u@h/d", "password": {"env": "MYSQL_PWD"}}"#;
        let environment = admitted(&job(own), Some(&file), Scripts::Off).unwrap();
        assert!(environment.contains(&("MYSQL_PWD".into(), "s3cret".into())));
        let other = r#"{"url": "mysql://u@h/d", "password": {"env": "AWS_SECRET"}}"#;
        let refused = admitted(&job(other), Some(&file), Scripts::Off).unwrap_err();
        assert!(refused.contains("MYSQL_PWD"), "{refused}");
        let none = r#"{"url": "mysql://u@h/d"}"#;
        let environment = admitted(&job(none), Some(&file), Scripts::Off).unwrap();
        // Whose child it is, and what scripts may do.
        assert_eq!(environment.len(), 2);
        let sqlite = r#"{"url": "sqlite:/etc/x.db"}"#;
        assert!(admitted(&job(sqlite), None, Scripts::Any).is_err());
    }

    #[test]
    fn a_script_gets_what_its_agents_user_allows() {
        let script = r#"{"version": 1, "target": {"url": "mysql://u@h/d"},
            "workload": {"name": "lua:a", "settings": {"script": "a.lua"}}, "tool": {"name": "sysbench"}}"#;
        let job = Job::from_json(script).unwrap();
        assert!(admitted(&job, None, Scripts::Off).is_err());
        for scripts in [Scripts::Queries, Scripts::Any] {
            let environment = admitted(&job, None, scripts).unwrap();
            let told = (scripts::VARIABLE.to_string(), scripts.word().to_string());
            assert!(environment.contains(&told), "{environment:?}");
        }
    }
}
