//! A server's settings that hold for some runs of a diagnosis. Their values before are in the user's files
//! before anything is changed, so that the next diagnosis or study of this server restores them after
//! whatever ended this one. While they are changed, and while values before are read, the server's lock is held.

use super::left_settings::{Identity, Left, LeftFile, LeftSetting, LeftSettings, identity};
use super::server_lock::ServerLock;
use crate::exit::{ExitCode, Failure};
use crate::sandboxes::home;
use crate::study::admin_sessions::Hosts;
use crate::study::targets::Reached;
use std::path::Path;
use tidemark_core::{Protocol, Target};
use tidemark_drivers::settings::global::{
    before_change, can_be_changed, change, has_taken_hold, restore,
};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_process::{Liveness, ProcessId, boot_id};
use tidemark_sandbox::SandboxState;
use tidemark_store::Store;

/// The settings of a target's servers that were changed.
pub struct GlobalSetting {
    place: Reached,
    files: LeftSettings,
    changed: Vec<Changed>,
    locks: Vec<ServerLock>,
}

/// A setting that a diagnosis has changed and not put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StillChanged {
    /// Its name.
    pub name: String,
    /// Its value before; `None` where it had none.
    pub before: Option<String>,
    /// Its value now.
    pub now: String,
    /// The process that changed it, if it still runs and puts it back itself.
    pub by: Option<u32>,
}

/// Puts back what earlier diagnoses left of a target's servers, before anything else is measured there.
///
/// # Errors
/// As [`GlobalSetting::put_left_back`].
pub fn restore_left(target: &Target, store: &Path) -> Result<(), Failure> {
    GlobalSetting::new(target, store).put_left_back()
}

/// What diagnoses have changed of a target's servers. Nothing is changed by looking; a server that can't be
/// asked has nothing to tell. Beside the settings: what is said of files that may be of another server.
///
/// # Errors
/// [`Failure`] naming the file that can't be read.
pub fn still_changed(
    target: &Target,
    store: &Path,
) -> Result<(Vec<StillChanged>, Vec<String>), Failure> {
    let setting = GlobalSetting::new(target, store);
    let mut all = (Vec::new(), Vec::new());
    if target.protocol != Protocol::Mysql || setting.files.is_empty() {
        return Ok(all);
    }
    let Ok(hosts) = Hosts::of(&setting.place) else {
        return Ok(all);
    };
    for host in hosts.numbers() {
        let asked = hosts.on(host, async move |session, _| identity(session).await);
        let Ok(identity) = asked else { continue };
        let left = match setting.files.read(&identity)? {
            LeftFile::Nothing => continue,
            LeftFile::Its(left) => left,
            LeftFile::Doubtful { left, file } => {
                all.1.push(doubt(&file, &left, &hosts.server(host)));
                continue;
            }
        };
        let is_alive = left.process.liveness(boot_id().as_deref()) == Liveness::Alive;
        for row in left.settings {
            let name = row.name.clone();
            let now = hosts.on(host, async move |session, _| {
                before_change(session, &name).await
            });
            if now.is_ok_and(|now| now.as_deref() == Some(row.to.as_str())) {
                all.0.push(StillChanged {
                    name: row.name,
                    before: row.before,
                    now: row.to,
                    by: left.process.pid.filter(|_| is_alive),
                });
            }
        }
    }
    Ok(all)
}

/// What was changed of one server.
#[derive(Clone)]
struct Changed {
    host: usize,
    /// For people.
    server: String,
    identity: Identity,
    rows: Vec<LeftSetting>,
}

impl GlobalSetting {
    /// Of this target; nothing is changed yet.
    pub fn new(target: &Target, store: &Path) -> Self {
        Self {
            place: Reached::by(target.clone()),
            files: LeftSettings::of_user(store),
            changed: Vec::new(),
            locks: Vec::new(),
        }
    }

    /// Puts back what an earlier diagnosis of these servers left.
    ///
    /// # Errors
    /// [`Failure`] when another one goes on, or a server does not take its value.
    pub fn put_left_back(&mut self) -> Result<(), Failure> {
        if self.place.target.protocol != Protocol::Mysql || self.files.is_empty() {
            return Ok(());
        }
        // A server that can't be reached is the first run's to tell.
        let Ok(hosts) = Hosts::of(&self.place) else {
            return Ok(());
        };
        for host in hosts.numbers() {
            let asked = hosts.on(host, async move |session, _| identity(session).await);
            let Ok(identity) = asked else { continue };
            let server = hosts.server(host);
            match self.files.read(&identity)? {
                LeftFile::Nothing => continue,
                LeftFile::Its(_) => {}
                LeftFile::Doubtful { left, file } => {
                    eprintln!("tidemark: {}", doubt(&file, &left, &server));
                    continue;
                }
            }
            let _lock = ServerLock::take(&self.place.target, host, &server)?;
            self.settle(&hosts, host, &identity)?;
        }
        Ok(())
    }

    /// Restores what a process that has ended left of a server, whose lock is held.
    fn settle(&self, hosts: &Hosts<'_>, host: usize, identity: &Identity) -> Result<(), Failure> {
        let server = hosts.server(host);
        let left = match self.files.read(identity)? {
            LeftFile::Nothing => return Ok(()),
            LeftFile::Its(left) => left,
            // Its values now may be those left there, and the file may have the name of ours.
            LeftFile::Doubtful { left, file } => {
                let says = doubt(&file, &left, &server);
                return Err(Failure::new(ExitCode::Refused, says));
            }
        };
        // A process that can't be seen from here does not hold the lock, and has ended.
        let is_own = left.process.pid == Some(std::process::id());
        if !is_own && left.process.liveness(boot_id().as_deref()) == Liveness::Alive {
            return Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "process {} runs a diagnosis that has changed settings of {server}: wait until it ends",
                    left.process.pid.unwrap_or_default(),
                ),
            ));
        }
        let mut rows = Vec::new();
        for row in left.settings {
            let name = row.name.clone();
            let now = hosts.on(host, async move |session, _| {
                before_change(session, &name).await
            })?;
            // Who has given it another value since, or started the server again, has put it right.
            if now.as_deref() == Some(row.to.as_str()) {
                eprintln!(
                    "tidemark: an earlier diagnosis left {} of {server} at {}: restoring it",
                    row.name, row.to
                );
                rows.push(row);
            }
        }
        let changed = Changed {
            host,
            server,
            identity: identity.clone(),
            rows,
        };
        match self.restored(hosts, changed)? {
            None => Ok(()),
            Some((_, said)) => Err(not_restored(&said)),
        }
    }

    /// Whether a setting may be changed: on the user's sandboxes, and where the user says so.
    pub fn is_sandbox(&self) -> bool {
        let Ok(hosts) = Hosts::of(&self.place) else {
            return false;
        };
        let servers: Vec<String> = hosts.numbers().map(|host| hosts.server(host)).collect();
        let all = home().and_then(|home| Ok(home.list()?));
        let running = all.unwrap_or_default().into_iter();
        let running =
            running.filter(|sandbox| matches!(sandbox.state(), SandboxState::Running { .. }));
        let own: Vec<String> = running
            .filter_map(|sandbox| Target::parse(&sandbox.url()).ok())
            .filter_map(|target| Connector::new(target, ConnectOptions::default()).ok())
            .flat_map(|connector| {
                let hosts = connector.hosts().iter();
                hosts.map(|(host, _)| host.to_string()).collect::<Vec<_>>()
            })
            .collect();
        !servers.is_empty() && servers.iter().all(|server| own.contains(server))
    }

    /// Changes settings on all servers.
    ///
    /// # Errors
    /// [`Failure`] as the server's, or when another has changed one; what was changed is put back by
    /// [`GlobalSetting::back`].
    pub fn change(
        &mut self,
        store: &Store,
        settings: &[(&'static str, &'static str)],
    ) -> Result<(), Failure> {
        let hosts = Hosts::of(&self.place)?;
        let mut changed = Vec::new();
        for host in hosts.numbers() {
            let server = hosts.server(host);
            if let Some((study, _)) = store.settings_of_others("", &server)?.first() {
                return Err(Failure::new(
                    ExitCode::Refused,
                    format!("study {study} has changed settings of {server}"),
                ));
            }
            let lock = ServerLock::take(&self.place.target, host, &server)?;
            self.locks.push(lock);
            let identity = hosts.on(host, async move |session, _| identity(session).await)?;
            self.settle(&hosts, host, &identity)?;
            let key = identity.key();
            if let Some(other) = changed.iter().find(|c: &&Changed| c.identity.key() == key) {
                return Err(Failure::new(
                    ExitCode::Refused,
                    format!(
                        "{server} and {} name themselves alike ({key}): what is changed of one could \
                         not be told from what is changed of the other",
                        other.server
                    ),
                ));
            }
            let mut rows = Vec::new();
            for (setting, to) in settings {
                let name = setting.to_string();
                let before = hosts.on(host, async move |session, _| {
                    can_be_changed(session, &name).await?;
                    before_change(session, &name).await
                })?;
                rows.push(row(setting, before, to, &server)?);
            }
            changed.push(Changed {
                host,
                server,
                identity,
                rows,
            });
        }
        for one in changed {
            // What could not be written down is not changed, and needs no restoring.
            self.write_down(&one)?;
            self.changed.push(one);
        }
        for host in hosts.numbers() {
            let settings = settings.to_vec();
            hosts.on(host, async move |session, opener| {
                for (name, value) in &settings {
                    change(session, name, value).await?;
                }
                let mut other = opener.open().await?;
                let mut held = Ok(());
                for (name, value) in &settings {
                    held = held.and(has_taken_hold(&mut other, name, value).await);
                }
                other.close().await;
                held
            })?;
        }
        Ok(())
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// [`Failure`] naming the settings, their servers and their values before.
    pub fn back(&mut self) -> Result<(), Failure> {
        if self.changed.is_empty() {
            self.locks.clear();
            return Ok(());
        }
        let hosts = Hosts::of(&self.place)?;
        let (mut left, mut said) = (Vec::new(), Vec::new());
        for one in std::mem::take(&mut self.changed) {
            match self.restored(&hosts, one.clone()) {
                Ok(None) => {}
                Ok(Some((rest, why))) => {
                    left.push(rest);
                    said.extend(why);
                }
                Err(failure) => {
                    said.push(failure.message);
                    left.push(one);
                }
            }
        }
        self.changed = left;
        self.locks.clear();
        match said.is_empty() {
            true => Ok(()),
            false => Err(not_restored(&said)),
        }
    }

    /// Restores what was changed of a server. What could not be, and why.
    fn restored(
        &self,
        hosts: &Hosts<'_>,
        mut one: Changed,
    ) -> Result<Option<(Changed, Vec<String>)>, Failure> {
        let rows = one.rows.clone();
        let before = rows
            .iter()
            .map(|row| (row.name.clone(), row.before.clone()));
        let before: Vec<_> = before.collect();
        let left = hosts.on(one.host, async move |session, _| {
            restore(session, &before).await
        });
        let why = |row: &LeftSetting| match &left {
            Ok(left) => {
                let found = left.iter().find(|(name, _)| *name == row.name);
                found.map(|(_, why)| why.clone())
            }
            Err(failure) => Some(failure.message.clone()),
        };
        let failed: Vec<(LeftSetting, String)> = rows
            .into_iter()
            .filter_map(|row| why(&row).map(|why| (row, why)))
            .collect();
        if failed.is_empty() {
            self.files.remove(&one.identity)?;
            return Ok(None);
        }
        let said = failed.iter().map(|(row, why)| {
            let before = row.before.as_deref().unwrap_or("its default");
            format!(
                "{} of {} is still {} instead of {before}: {why}",
                row.name, one.server, row.to
            )
        });
        let said = said.collect();
        one.rows = failed.into_iter().map(|(row, _)| row).collect();
        self.write_down(&one)?;
        Ok(Some((one, said)))
    }

    fn write_down(&self, one: &Changed) -> Result<(), Failure> {
        self.files.write(&Left {
            identity: one.identity.key(),
            started: one.identity.started,
            process: ProcessId::own(""),
            settings: one.rows.clone(),
        })
    }
}

/// A setting to change, unless it has the value already: that is not what the server had before, or nothing
/// is to be changed.
fn row(name: &str, before: Option<String>, to: &str, server: &str) -> Result<LeftSetting, Failure> {
    if before.as_deref() == Some(to) {
        return Err(Failure::new(
            ExitCode::Refused,
            format!("{name} of {server} is {to} already: something else has changed it"),
        ));
    }
    Ok(LeftSetting {
        name: name.into(),
        before,
        to: to.into(),
    })
}

/// What is said of settings that a diagnosis left at a server of this place.
fn doubt(file: &Path, left: &Left, server: &str) -> String {
    let settings = left.settings.iter().map(|row| {
        let before = row.before.as_deref().unwrap_or("its default");
        format!("{} at {} instead of {before}", row.name, row.to)
    });
    let settings: Vec<String> = settings.collect();
    format!(
        "{}: a diagnosis left {} at a server that cannot be distinguished from {server}: nothing \
         is restored; put them back where they are still so, then remove the file",
        file.display(),
        settings.join(", ")
    )
}

fn not_restored(said: &[String]) -> Failure {
    Failure::new(
        ExitCode::Failed,
        format!(
            "settings could not be restored:\n{}\nthe next tidemark diagnose or study of this server \
             restores them",
            said.join("\n")
        ),
    )
}

impl Drop for GlobalSetting {
    /// Whatever happened.
    fn drop(&mut self) {
        if let Err(failure) = self.back() {
            eprintln!("tidemark: {failure}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_changed_already_is_no_value_before() {
        let said = row("sync_binlog", Some("0".into()), "0", "h:1").unwrap_err();
        assert!(said.message.contains("sync_binlog of h:1 is 0"), "{said}");
        let row = row("sync_binlog", Some("1".into()), "0", "h:1").unwrap();
        assert_eq!(row.before.as_deref(), Some("1"));
    }

    #[test]
    fn doubts_name_the_file_the_settings_and_the_server() {
        let left = Left {
            identity: String::new(),
            started: None,
            process: ProcessId::own(""),
            settings: vec![row("sync_binlog", Some("1".into()), "0", "h:1").unwrap()],
        };
        let said = doubt(Path::new("/x/1.json"), &left, "h:1");
        for part in ["/x/1.json", "sync_binlog at 0 instead of 1", "h:1"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
