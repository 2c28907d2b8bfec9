//! A server's setting that holds for some runs of a diagnosis. Its value before is in a file beside the
//! store before anything is changed, so that the next diagnosis puts it back after whatever ended this one.

use crate::exit::{ExitCode, Failure};
use crate::sandboxes::home;
use crate::study::admin_sessions::Hosts;
use crate::study::targets::Reached;
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tidemark_core::Target;
use tidemark_drivers::settings::global::{
    Before, before_change, can_be_changed, change, has_taken_hold, restore,
};
use tidemark_drivers::{ConnectOptions, Connector};
use tidemark_process::{Liveness, ProcessId, boot_id};
use tidemark_sandbox::State;
use tidemark_store::Store;

/// The settings of a target's servers that were changed.
pub struct GlobalSetting {
    place: Reached,
    file: PathBuf,
    changed: Vec<Changed>,
}

/// One of them.
#[derive(Clone)]
struct Changed {
    host: usize,
    server: String,
    before: Before,
    to: String,
}

impl GlobalSetting {
    /// Of this target; nothing is changed yet.
    pub fn new(target: &Target, store: &Path) -> Self {
        let mut file = store.as_os_str().to_owned();
        file.push("-diagnose-settings.json");
        Self {
            place: Reached::by(target.clone()),
            file: file.into(),
            changed: Vec::new(),
        }
    }

    /// Puts back what an earlier diagnosis of these servers left.
    ///
    /// # Errors
    /// [`Failure`] when another one goes on, or a server does not take its value.
    pub fn put_left_back(&mut self) -> Result<(), Failure> {
        let text = match fs::read_to_string(&self.file) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            text => text.map_err(|e| self.failed(e))?,
        };
        let left: Value = serde_json::from_str(&text).map_err(|e| self.failed(e))?;
        let text_of = |row: &Value, key: &str| row[key].as_str().map(String::from);
        let hosts = Hosts::of(&self.place)?;
        let servers: Vec<String> = hosts.numbers().map(|host| hosts.server(host)).collect();
        let rows = left["settings"].as_array().cloned().unwrap_or_default();
        let rows = rows.iter().filter_map(|row| {
            let server = text_of(row, "server")?;
            let host = servers.iter().position(|own| *own == server)?;
            Some(Changed {
                host,
                server,
                before: (text_of(row, "name")?, text_of(row, "before")),
                to: text_of(row, "to")?,
            })
        });
        let own: Vec<Changed> = rows.collect();
        if own.is_empty() {
            return Ok(());
        }
        // A process that can't be seen from here is one of before a restart.
        let process: ProcessId =
            serde_json::from_value(left["process"].clone()).map_err(|e| self.failed(e))?;
        let is_own = process.pid == Some(std::process::id());
        if !is_own && process.liveness(boot_id().as_deref()) == Liveness::Alive {
            return Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "process {} runs a diagnosis that has changed {} of {}: wait until it ends",
                    process.pid.unwrap_or_default(),
                    own[0].before.0,
                    own[0].server
                ),
            ));
        }
        for row in &own {
            eprintln!(
                "tidemark: an earlier diagnosis left {} of {} at {}: restoring it",
                row.before.0, row.server, row.to
            );
        }
        self.changed = own;
        self.back()
    }

    /// Whether a setting may be changed: on the user's sandboxes, and where the user says so.
    pub fn is_sandbox(&self) -> bool {
        let Ok(hosts) = Hosts::of(&self.place) else {
            return false;
        };
        let servers: Vec<String> = hosts.numbers().map(|host| hosts.server(host)).collect();
        let all = home().and_then(|home| Ok(home.list()?));
        let running = all.unwrap_or_default().into_iter();
        let running = running.filter(|sandbox| matches!(sandbox.state(), State::Running { .. }));
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

    /// Changes a setting on all servers.
    ///
    /// # Errors
    /// [`Failure`] as the server's; what was changed is put back by [`GlobalSetting::back`].
    pub fn change(&mut self, store: &Store, name: &str, value: &str) -> Result<(), Failure> {
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
            let named = name.to_string();
            let before = hosts.on(host, async move |session, _| {
                can_be_changed(session, &named).await?;
                before_change(session, &named).await
            })?;
            changed.push(Changed {
                host,
                server,
                before: (name.into(), before),
                to: value.into(),
            });
        }
        self.changed = changed;
        self.write_down()?;
        for host in hosts.numbers() {
            let (name, value) = (name.to_string(), value.to_string());
            hosts.on(host, async move |session, opener| {
                change(session, &name, &value).await?;
                let mut other = opener.open().await?;
                let held = has_taken_hold(&mut other, &name, &value).await;
                other.close().await;
                held
            })?;
        }
        Ok(())
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// [`Failure`] naming the setting, its server and its value before.
    pub fn back(&mut self) -> Result<(), Failure> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let hosts = Hosts::of(&self.place)?;
        let mut failed = Vec::new();
        for row in &self.changed {
            let before = vec![row.before.clone()];
            let left = hosts.on(row.host, async move |session, _| {
                restore(session, &before).await
            });
            let why = match left {
                Ok(left) => left.first().map(|(_, why)| why.clone()),
                Err(failure) => Some(failure.message),
            };
            if let Some(why) = why {
                failed.push((row.clone(), why));
            }
        }
        if failed.is_empty() {
            self.changed.clear();
            return fs::remove_file(&self.file).map_err(|e| self.failed(e));
        }
        let said = failed.iter().map(|(row, why)| {
            let before = row.before.1.as_deref().unwrap_or("its default");
            format!(
                "{} of {} is still {} instead of {before}: {why}",
                row.before.0, row.server, row.to
            )
        });
        let said: Vec<String> = said.collect();
        self.changed = failed.into_iter().map(|(row, _)| row).collect();
        self.write_down()?;
        Err(Failure::new(
            ExitCode::Failed,
            format!(
                "settings could not be restored:\n{}\nthe next tidemark diagnose of this server restores \
                 them",
                said.join("\n")
            ),
        ))
    }

    fn write_down(&self) -> Result<(), Failure> {
        let row = |row: &Changed| {
            json!({
                "server": row.server, "name": row.before.0, "before": row.before.1, "to": row.to,
            })
        };
        let rows: Vec<Value> = self.changed.iter().map(row).collect();
        let process = ProcessId::own("");
        let text = json!({"process": process, "settings": rows}).to_string();
        fs::write(&self.file, text).map_err(|e| self.failed(e))
    }

    fn failed(&self, error: impl std::fmt::Display) -> Failure {
        let file = self.file.display();
        Failure::new(ExitCode::Failed, format!("{file}: {error}"))
    }
}

impl Drop for GlobalSetting {
    /// Whatever happened.
    fn drop(&mut self) {
        if let Err(failure) = self.back() {
            eprintln!("tidemark: {failure}");
        }
    }
}
